// Hash-consing: one immutable copy of each distinct value, for the life of the process. Safe for concurrent
// use.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace entangle::sym::detail {

// T has a `hash` that depends on its content. Same(a, b) says whether two contents are the same.
template <class T, class Same>
class Interner {
 public:
  const T* intern(T value) {
    Shard& shard = shards_[value.hash % shards_.size()];
    const std::lock_guard lock(shard.mutex);
    const auto [first, last] = shard.values.equal_range(value.hash);
    for (auto it = first; it != last; ++it) {
      if (Same()(*it->second, value)) {
        return it->second.get();
      }
    }
    const std::uint64_t hash = value.hash;
    return shard.values.emplace(hash, std::make_unique<const T>(std::move(value)))->second.get();
  }

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_multimap<std::uint64_t, std::unique_ptr<const T>> values;
  };
  std::array<Shard, 16> shards_;
};

}  // namespace entangle::sym::detail
