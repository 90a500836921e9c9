#include "entangle/support/sha256.h"

#include <array>
#include <bit>
#include <cstdint>

namespace entangle::support {

namespace {

constexpr std::size_t kBlock = 64;

constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

class State {
 public:
  void add(const char* block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t k = 0; k < 16; ++k) {
      for (std::size_t j = 0; j < 4; ++j) {
        w[k] = w[k] << 8U | static_cast<unsigned char>(block[4 * k + j]);
      }
    }
    for (std::size_t k = 16; k < 64; ++k) {
      const std::uint32_t a = std::rotr(w[k - 15], 7) ^ std::rotr(w[k - 15], 18) ^ (w[k - 15] >> 3U);
      const std::uint32_t b = std::rotr(w[k - 2], 17) ^ std::rotr(w[k - 2], 19) ^ (w[k - 2] >> 10U);
      w[k] = w[k - 16] + a + w[k - 7] + b;
    }
    auto [a, b, c, d, e, f, g, h] = words_;
    for (std::size_t k = 0; k < 64; ++k) {
      const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[k] + w[k];
      const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> next = {a, b, c, d, e, f, g, h};
    for (std::size_t k = 0; k < 8; ++k) words_[k] += next[k];
  }

  std::string digest() const {
    std::string result;
    for (const std::uint32_t word : words_) {
      for (const unsigned shift : {24U, 16U, 8U, 0U}) result.push_back(static_cast<char>(word >> shift));
    }
    return result;
  }

 private:
  std::array<std::uint32_t, 8> words_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

}  // namespace

std::string sha256(std::string_view bytes) {
  State state;
  const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) state.add(bytes.data());
  std::string last(bytes);
  last.push_back('\x80');
  while (last.size() % kBlock != kBlock - 8) last.push_back('\0');
  for (int shift = 56; shift >= 0; shift -= 8) last.push_back(static_cast<char>(bits >> shift));
  for (std::size_t at = 0; at < last.size(); at += kBlock) state.add(last.data() + at);
  return state.digest();
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    result += {kDigits[byte >> 4U], kDigits[byte & 0xfU]};
  }
  return result;
}

}  // namespace entangle::support
