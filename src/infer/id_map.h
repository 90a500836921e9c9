// IdMap: a small hash map from term ids and other numbers below kNoTerm, for sets and numberings that live as
// long as one local problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "entangle/term/store.h"

namespace entangle::infer {

template <class T>
class IdMap {
 public:
  // The entry of `id`, made from `value` if there was none, and whether there was none. The pointer is valid
  // until the next insertion.
  std::pair<T*, bool> emplace(term::TermId id, T value) {
    if (2 * (size_ + 1) > slots_.size()) {
      grow();
    }
    Slot& slot = slots_[place(id)];
    if (slot.id == id) {
      return {&slot.value, false};
    }
    slot = {id, value};
    ++size_;
    return {&slot.value, true};
  }
  // Null when there is none.
  const T* find(term::TermId id) const {
    if (slots_.empty()) {
      return nullptr;
    }
    const Slot& slot = slots_[place(id)];
    return slot.id == id ? &slot.value : nullptr;
  }
  bool contains(term::TermId id) const { return find(id) != nullptr; }
  std::uint32_t size() const { return size_; }

 private:
  struct Slot {
    term::TermId id = term::kNoTerm;
    T value{};
  };

  // Where `id` is or would be.
  std::size_t place(term::TermId id) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (id * 0x9e3779b97f4a7c15ULL >> 32) & mask;
    while (slots_[at].id != id && slots_[at].id != term::kNoTerm) {
      at = (at + 1) & mask;
    }
    return at;
  }
  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : 2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.id != term::kNoTerm) {
        slots_[place(slot.id)] = slot;
      }
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::uint32_t size_ = 0;
};

// A set of term ids.
class IdSet {
 public:
  // Whether it is new.
  bool insert(term::TermId id) { return map_.emplace(id, {}).second; }
  bool contains(term::TermId id) const { return map_.contains(id); }

 private:
  struct Nothing {};
  IdMap<Nothing> map_;
};

}  // namespace entangle::infer
