// The parts of a canonical polynomial that are better read as `mod` and `min`: a - b*floordiv(a, b) and
// a + b - max(a, b). Used for printing and for bounds.
#pragma once

#include <vector>

#include "entangle/sym/int.h"

namespace entangle::sym::detail {

enum class FoldedKind : std::uint8_t { mod, min };

// factor * kind(arguments), where the factor has one term.
struct FoldedPart {
  Int factor;
  FoldedKind kind = FoldedKind::mod;
  std::vector<Int> arguments;
};

struct Folded {
  std::vector<FoldedPart> parts;
  Int rest;
};

// The value is the sum of the parts and the rest. Folds only where that leaves fewer terms.
Folded fold(Int value);

}  // namespace entangle::sym::detail
