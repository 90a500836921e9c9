// What tensors hold that are computed from listed numbers alone.
//
// A manifest says which tensors are equal; of constants it can be seen whether they are.
#pragma once

#include <string>
#include <vector>

#include "entangle/egraph/egraph.h"

namespace entangle::infer {

struct Programs;

// Whether both terms are computed from constants alone and have different elements. Sizes are constant where
// that can be told; what is too large to compute, or not defined, is not known to differ.
bool differ(egraph::EGraph& graph, egraph::TermId a, egraph::TermId b);

// The inputs of the sequential program that could be anything, but are related to listed numbers of the
// ranks: what is proved holds of these values only. As assumptions, a text each.
std::vector<std::string> inputs_taken_as_constants(const Programs& programs);

}  // namespace entangle::infer
