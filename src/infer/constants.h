// What tensors hold that are computed from listed numbers alone.
//
// A manifest says which tensors are equal; of constants it can be seen whether they are.
#pragma once

#include "entangle/egraph/egraph.h"

namespace entangle::infer {

// Whether both terms are computed from constants alone and have different elements. Sizes are constant where
// that can be told; what is too large to compute, or not defined, is not known to differ.
bool differ(egraph::EGraph& graph, egraph::TermId a, egraph::TermId b);

}  // namespace entangle::infer
