// Definedness: every look-up of the distributed program must be in range.
//
// A look-up of the sequential program is taken to be in range (a listed assumption); from that and from the
// ranges under `assume` every look-up of the distributed program must be shown to be in range, too. What
// cannot be shown stays an obligation, and the verdict is not `refines`.
#pragma once

#include <string>
#include <vector>

#include "programs.h"

namespace entangle::infer {

// Gives the ranges that the look-ups of the sequential program imply to their indices. Call after lowering.
// Returns those that are out of range whatever the inputs, as text for the user: nothing may rest on them.
std::vector<std::string> assume_sequential_lookups(Programs& programs);

// Open obligations, as text for the user: which look-up of which rank, in which source line, and its range.
std::vector<std::string> open_lookups(Programs& programs);

}  // namespace entangle::infer
