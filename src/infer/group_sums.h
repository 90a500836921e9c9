// Sums over all groups of ranks.
//
// Where several groups each add up what their members hold (tensor-parallel groups of a data-parallel
// program), what is added up over all ranks is the sum of the groups' sums. No program holds that sum when an
// all-reduce over the other groups is missing, but it is where the sequential program and the groups' sums
// meet: so it is written down with the distributed program, one for each collective that every group runs
// under one name.
#pragma once

#include "programs.h"

namespace entangle::infer {

// Call when the distributed program has been lowered and before it is closed.
void add_group_sums(Programs& programs);

}  // namespace entangle::infer
