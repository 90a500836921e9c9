// IdMap: a map from term ids, or other small numbers, to numbers, for what lives as long as one local
// problem.
//
// It is an array over all ids that is never cleared: an entry counts if it has the stamp of the map in use.
// Arrays come from a pool, so that the next problem finds them as large as they have to be.
//
// IdQueue: a set of ids from which the least is taken.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "entangle/term/store.h"

namespace entangle::infer {

class IdPool {
 public:
  struct Slot {
    std::uint32_t stamp = 0;
    std::uint32_t value = 0;
  };
  struct Table {
    std::vector<Slot> slots;
    std::uint32_t stamp = 0;
  };

  // A table without an entry that has its stamp.
  Table take() {
    Table table;
    if (!free_.empty()) {
      table = std::move(free_.back());
      free_.pop_back();
    }
    if (++table.stamp == 0) {
      table = {{}, 1};
    }
    return table;
  }
  void give_back(Table table) { free_.push_back(std::move(table)); }

 private:
  std::vector<Table> free_;
};

class IdMap {
 public:
  explicit IdMap(IdPool& pool) : pool_(pool), table_(pool.take()) {}
  ~IdMap() { pool_.give_back(std::move(table_)); }
  IdMap(const IdMap&) = delete;
  IdMap& operator=(const IdMap&) = delete;

  // The entry of `id`, made from `value` if there was none, and whether there was none. The pointer is valid
  // until the next insertion.
  std::pair<std::uint32_t*, bool> emplace(term::TermId id, std::uint32_t value) {
    if (id >= table_.slots.size()) {
      table_.slots.resize(std::max<std::size_t>(std::size_t{id} + 1, 2 * table_.slots.size()));
    }
    IdPool::Slot& slot = table_.slots[id];
    const bool fresh = slot.stamp != table_.stamp;
    if (fresh) {
      slot = {table_.stamp, value};
      ++size_;
    }
    return {&slot.value, fresh};
  }
  // Null when there is none.
  const std::uint32_t* find(term::TermId id) const {
    return id < table_.slots.size() && table_.slots[id].stamp == table_.stamp ? &table_.slots[id].value
                                                                              : nullptr;
  }
  bool contains(term::TermId id) const { return find(id) != nullptr; }
  std::uint32_t size() const { return size_; }

 private:
  IdPool& pool_;
  IdPool::Table table_;
  std::uint32_t size_ = 0;
};

// A set of ids.
class IdSet {
 public:
  explicit IdSet(IdPool& pool) : map_(pool) {}
  // Whether it is new.
  bool insert(term::TermId id) { return map_.emplace(id, 0).second; }
  bool contains(term::TermId id) const { return map_.contains(id); }

 private:
  IdMap map_;
};

// A bit for each id, and one for each word of these. Empty before and after each use, so that it is cleared
// by that and may be as long as there are ids.
class IdQueue {
 public:
  void push(term::TermId id) {
    const std::size_t word = id / kBits;
    if (word >= words_.size()) {
      words_.resize(2 * word + 1);
      marks_.resize(words_.size() / kBits + 1);
    }
    words_[word] |= bit(id);
    marks_[word / kBits] |= bit(word);
    first_ = std::min(first_, word / kBits);
  }
  // kNoTerm when there is none.
  term::TermId pop() {
    while (first_ < marks_.size() && marks_[first_] == 0) {
      ++first_;
    }
    if (first_ >= marks_.size()) {
      return term::kNoTerm;
    }
    const std::size_t word = first_ * kBits + lowest(marks_[first_]);
    const std::size_t id = word * kBits + lowest(words_[word]);
    words_[word] &= words_[word] - 1;
    if (words_[word] == 0) {
      marks_[first_] &= marks_[first_] - 1;
    }
    return static_cast<term::TermId>(id);
  }

 private:
  static constexpr std::size_t kBits = 64;
  static std::uint64_t bit(std::size_t number) { return std::uint64_t{1} << number % kBits; }
  static std::size_t lowest(std::uint64_t word) { return static_cast<std::size_t>(std::countr_zero(word)); }

  std::vector<std::uint64_t> words_, marks_;
  std::size_t first_ = 0;  // of marks_: none before it is set
};

}  // namespace entangle::infer
