// Definitions in the places of their uses.
#pragma once

#include <cstdint>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

// Whether the body of a definition is resolved anew for each use, or the uses that allow it share it. That
// takes a third of the time and finds the same in rules without errors; what is said of errors may differ.
enum class Bodies : std::uint8_t { shared, anew };

// Puts in the place of every use (ExprKind::use) in a lowering the body of the definition, with the arguments
// in the places of its parameters: an argument that is needed more than once is computed once. Variables of
// the body become variables of the lowering under names of their own, so that its text means the same.
Lowerings::Finish expanding(Definitions definitions);

}  // namespace entangle::rules
