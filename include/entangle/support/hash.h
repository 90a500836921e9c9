// Hashing that is the same in every run and on every machine: used for memo keys and ordered output, so it
// never looks at addresses. Not meant to resist an adversary.
#pragma once

#include <cstdint>
#include <string_view>

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

// FNV-1a of the bytes, mixed.
constexpr std::uint64_t hash_bytes(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return mix(hash);
}

}  // namespace entangle::support
