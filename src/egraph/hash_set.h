// A set of hashes: open addressing in one array, which only grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace entangle::egraph {

// 0 is not among them.
class HashSet {
 public:
  bool contains(std::uint64_t hash) const {
    if (slots_.empty()) {
      return false;
    }
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == hash || slots_[at] == 0) {
        return slots_[at] == hash;
      }
    }
  }
  // Whether it was new.
  bool insert(std::uint64_t hash) {
    if (contains(hash)) {
      return false;
    }
    if ((size_ + 1) * 2 > slots_.size()) {
      std::vector<std::uint64_t> old = std::move(slots_);
      slots_.assign(std::max<std::size_t>(64, old.size() * 2), 0);
      for (const std::uint64_t entry : old) {
        if (entry != 0) {
          place(entry);
        }
      }
    }
    place(hash);
    ++size_;
    return true;
  }
  void clear() {
    std::fill(slots_.begin(), slots_.end(), 0);
    size_ = 0;
  }

 private:
  void place(std::uint64_t hash) {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != 0) {
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = hash;
  }

  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

}  // namespace entangle::egraph
