// Nearest: a tensor of the ranks that is almost the one that was looked for.
//
// Where a relation is missing the ranks mostly hold the right tensor up to a factor or up to a few terms: a
// product that no all-reduce has added up lacks the parts of the other ranks, a bias that each rank adds
// before the all-reduce is in it n times, an average is 1/n of the sum. Both tensors are written as sums of
// what the rules take them apart into, and these are compared. What is said is an equation that follows from
// the rules, as everything that is said of tensors; what it may mean is put as a question.
#pragma once

#include <optional>
#include <string>

#include "programs.h"
#include "walk.h"

namespace entangle::infer {

// Of a result of the sequential program, e.g. "`r0.y` (tp.py:20) is `y` without `r1.p`: is an all-reduce of
// `p` missing?". Nothing where no tensor is that near.
std::optional<std::string> nearest(Programs& programs, Walk& walk, const egraph::Program& program,
                                   const egraph::Limits& limits, graph::NodeIndex node);

// What a collective reduces with: its argument `op`. Nothing where the node is no collective or has none.
std::optional<std::string> reduction_of(const Programs& programs, const graph::TensorRef& tensor);
bool is_collective(const Programs& programs, const graph::TensorRef& tensor);

// `r0.y` (tp.py:20)
std::string with_place(const Programs& programs, const graph::TensorRef& tensor);

}  // namespace entangle::infer
