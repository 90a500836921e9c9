// Which elements of distributed tensors the input relations use.
#pragma once

#include <vector>

#include "entangle/relation/manifest.h"
#include "entangle/relation/resolve.h"
#include "relation/types.h"

namespace entangle::relation {

// One alternative of the relation of a sequential input.
struct TypedAlternative {
  const Related* related = nullptr;
  const RelatedForm* form = nullptr;
  Typed typed;
};

// Throws Failure (used-twice, claimed-twice) unless each element of a distributed tensor stands for at most
// one element of the sequential inputs, the same one in all alternatives; inputs that are assumed to be equal
// count as one. Elements are told apart by boxes: what cannot be shown to be disjoint counts as common, and
// what is not seen to be placed in the same way as placed differently.
void check_elements(const std::vector<TypedAlternative>& alternatives,
                    const std::vector<TensorEquality>& equal, const Sides& sides, term::Typing& typing);

}  // namespace entangle::relation
