// Placements written out as clean expressions.
//
// Over a line of ranks r0 … rn: Shard(d) is concat(r0.x, …, rn.x; d), Partial is add_n(r0.x, …, rn.x),
// Replicate is n + 1 alternatives. Over a mesh every axis is expanded so, the first axis outermost: as in
// DTensor, a later axis divides what the earlier ones left. With the mesh {dp: 2, tp: 2} (rank = 2*dp + tp)
// {dp: Shard(0), tp: Shard(0)} is concat(concat(r0.x, r1.x; 0), concat(r2.x, r3.x; 0); 0). Alternatives of
// a replicated axis take every leaf from the same place of that axis. An axis of one rank adds no operator.
#pragma once

#include <string>
#include <vector>

#include "entangle/relation/clean.h"
#include "entangle/relation/manifest.h"
#include "entangle/support/diagnostic.h"

namespace entangle::relation {

struct Expansion {
  std::vector<Clean> alternatives;  // each equals the tensor; at least one
  // Groups of ranks that hold the same value of the tensor because an axis replicates it. Groups that the
  // alternatives already state (plain Replicate) are among them.
  std::vector<std::vector<std::size_t>> replicas;
};

// The form of a tensor called `tensor` on every rank, of `rank` axes (for negative dims).
// Errors: bad-axis, missing-operator; for expressions bad-expression, not-clean, unknown-rank.
support::Result<Expansion> expand(const Manifest& manifest, const rules::RuleSet& rules,
                                  const std::string& tensor, std::size_t rank, const Form& form);

}  // namespace entangle::relation
