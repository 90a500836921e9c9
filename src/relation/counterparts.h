// Counterparts: whether the terms of a sum may be those of different ranks.
//
// Terms are counterparts if their leaves are, place by place: tensors of the same name, or at the same place
// in the program, on their ranks. A leaf that several ranks hold may be taken as the tensor of any of them.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "entangle/relation/extract.h"

namespace entangle::relation {

class Counterparts {
 public:
  // The options outlive it; what they say of owners is remembered.
  explicit Counterparts(const ExtractOptions& options) : options_(options) {}

  // Whether each term can be given a rank of its own on which its leaves are counterparts of those of the
  // first one. `leaves`: of every term, in order; not empty.
  bool on_different_ranks(const std::vector<std::vector<egraph::TermId>>& leaves);

 private:
  using Leaves = std::vector<egraph::TermId>;

  // Ascending by rank.
  const std::vector<Owner>& owners(egraph::TermId id);
  std::span<const Owner> owners_on(egraph::TermId id, int rank);
  // The ranks that hold every one of the leaves, ascending.
  std::vector<int> ranks_of(const Leaves& leaves);
  bool counterpart(const Leaves& a, int rank_a, const Leaves& b, int rank_b);
  // A matching of the terms but the first to ranks other than `first_rank`, that of the first.
  bool assign(const std::vector<Leaves>& leaves, int first_rank);

  const ExtractOptions& options_;
  std::unordered_map<egraph::TermId, std::vector<Owner>> owners_;
};

}  // namespace entangle::relation
