// Drawn: whether what the sequential program draws at random is what the ranks draw.
//
// An operator marked `drawn`, such as dropout, is reasoned about as a pointwise function of its operand, one
// for each of its calls: an element sees the mask of the sequential element that it equals. Taken alone that
// is too much wherever two elements of one tensor are equal by construction (copies along an axis, a row
// looked up twice, one block joined twice): their masks are drawn apart, and a program that copies *after*
// dropout is another program. So the masks must correspond element by element: every sequential tensor that
// is drawn must be put together, without loss, from tensors that the ranks draw at the same call, each of
// them once, and no other tensor drawn by the ranks may reach the outputs in question. Replicas of one drawn
// tensor are taken to share a seed; that is listed among the assumptions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs.h"
#include "programs.h"

namespace entangle::infer {

// The first drawn tensor that breaks the correspondence, or none. `wanted` are the sequential terms that were
// to be resolved; called after the walk.
std::optional<Failing> drawn_apart(Programs& programs, const std::vector<TermId>& wanted,
                                   const std::vector<Question>& questions);

// What is assumed of the masks of the ranks; empty when they draw nothing.
std::vector<std::string> drawn_assumptions(Programs& programs);

}  // namespace entangle::infer
