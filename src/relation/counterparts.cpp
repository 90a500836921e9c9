#include "relation/counterparts.h"

#include <algorithm>
#include <functional>
#include <set>

namespace entangle::relation {

using egraph::TermId;

const std::vector<Owner>& Counterparts::owners(TermId id) {
  const auto [it, fresh] = owners_.try_emplace(id);
  if (fresh) {
    it->second = options_.owners(id);
    std::ranges::stable_sort(it->second, {}, &Owner::rank);
  }
  return it->second;
}

std::span<const Owner> Counterparts::owners_on(TermId id, int rank) {
  const auto range = std::ranges::equal_range(owners(id), rank, {}, &Owner::rank);
  return {range.begin(), range.end()};
}

std::vector<int> Counterparts::ranks_of(const Leaves& leaves) {
  std::vector<int> ranks;
  for (const Owner& owner : owners(leaves.front())) {
    ranks.push_back(owner.rank);
  }
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::erase_if(ranks, [&](int rank) {
    return !std::ranges::all_of(leaves, [&](TermId id) { return !owners_on(id, rank).empty(); });
  });
  return ranks;
}

bool Counterparts::counterpart(const Leaves& a, int rank_a, const Leaves& b, int rank_b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    const std::span<const Owner> others = owners_on(b[k], rank_b);
    const bool found = std::ranges::any_of(owners_on(a[k], rank_a), [&](const Owner& x) {
      return std::ranges::any_of(others,
                                 [&](const Owner& y) { return x.name == y.name || x.place == y.place; });
    });
    if (!found) {
      return false;
    }
  }
  return true;
}

// By augmenting paths.
bool Counterparts::assign(const std::vector<Leaves>& leaves, int first_rank) {
  std::vector<std::vector<int>> possible(leaves.size());
  for (std::size_t k = 1; k < leaves.size(); ++k) {
    for (const int rank : ranks_of(leaves[k])) {
      if (rank != first_rank && counterpart(leaves.front(), first_rank, leaves[k], rank)) {
        possible[k].push_back(rank);
      }
    }
    if (possible[k].empty()) {
      return false;
    }
  }
  std::unordered_map<int, std::size_t> taken;
  const std::function<bool(std::size_t, std::set<int>&)> place = [&](std::size_t k, std::set<int>& seen) {
    for (const int rank : possible[k]) {
      if (!seen.insert(rank).second) {
        continue;
      }
      const auto holder = taken.find(rank);
      if (holder == taken.end() || place(holder->second, seen)) {
        taken[rank] = k;
        return true;
      }
    }
    return false;
  };
  for (std::size_t k = 1; k < leaves.size(); ++k) {
    std::set<int> seen;
    if (!place(k, seen)) {
      return false;
    }
  }
  return true;
}

bool Counterparts::on_different_ranks(const std::vector<Leaves>& leaves) {
  return std::ranges::any_of(ranks_of(leaves.front()), [&](int rank) { return assign(leaves, rank); });
}

}  // namespace entangle::relation
