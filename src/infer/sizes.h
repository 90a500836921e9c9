// Sizes that depend on data: what a symbol that arises at a node stands for.
//
// Lowering may know it (a mask that holds everywhere); else an operator that both programs, or two ranks,
// apply to equal operands gives results of equal sizes. The second kind may need a walk first, to show that
// the operands are equal. Under what is found both programs are resolved and lowered again.
#pragma once

#include <vector>

#include "programs.h"

namespace entangle::infer {

// Adds to `sizes` what follows from the programs as they are lowered and related by now; false when that is
// nothing new.
bool find_sizes(Programs& programs);

// The operands of sequential nodes whose results have sizes that may become known once the operands are
// resolved.
std::vector<TermId> operands_of_sizes(Programs& programs);

}  // namespace entangle::infer
