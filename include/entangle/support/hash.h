// Hashing that is the same in every run and on every machine: used for memo keys and ordered output, so it
// never looks at addresses. Not meant to resist an adversary.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace entangle::support {

// A bijective mix of 64 bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

// The hash of the sequence (seed, value); order matters.
constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) {
  return mix(seed + 0x9e3779b97f4a7c15ULL + mix(value + 0x632be59bd9b4e019ULL) * 3);
}

// The hash of the bytes, eight at a time, and of how many they are. Every step is a bijection of what went
// before: a change within one word always changes the hash.
constexpr std::uint64_t hash_bytes(std::string_view bytes) {
  constexpr std::uint64_t kOdd = 0x9fb21c651e98df25ULL;
  const auto word = [&](std::size_t at, std::size_t size) {
    std::uint64_t result = 0;
    if (!std::is_constant_evaluated() && std::endian::native == std::endian::little && size == 8) {
      std::memcpy(&result, bytes.data() + at, 8);
      return result;
    }
    for (std::size_t k = 0; k < size; ++k) {
      result |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + k])) << (8 * k);
    }
    return result;
  };
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ bytes.size();
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    hash = (hash ^ word(at, 8)) * kOdd;
    hash ^= hash >> 32;
  }
  if (at < bytes.size()) hash = (hash ^ word(at, bytes.size() - at)) * kOdd;
  return mix(hash);
}

// The same of words.
constexpr std::uint64_t hash_words(std::span<const std::uint64_t> words) {
  constexpr std::uint64_t kOdd = 0x9fb21c651e98df25ULL;
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ words.size();
  for (const std::uint64_t word : words) {
    hash = (hash ^ word) * kOdd;
    hash ^= hash >> 32;
  }
  return mix(hash);
}

}  // namespace entangle::support
