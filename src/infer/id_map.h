// IdMap: a map from term ids, or other small numbers, to numbers, for what lives as long as one local
// problem.
//
// It is an array over all ids that is never cleared: an entry counts if it has the stamp of the map in use.
// Arrays come from a pool, so that the next problem finds them as large as they have to be.
#pragma once

#include <algorithm>
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

}  // namespace entangle::infer
