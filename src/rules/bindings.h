// Which variables of a lemma have a value when its right side is built.
#pragma once

#include <functional>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

// A variable, where it is needed.
struct Need {
  Slot slot = kNoSlot;
  support::Span span;
};

// Marks the slots that matching `pattern` gives a value, and collects the variables that it needs to have one
// already (those inside expressions of attributes).
void bind_pattern(const Expr& pattern, std::vector<bool>& bound, std::vector<Need>& needs);
// The variables of an expression that are neither bound nor made inside of it.
void free_variables(const Expr& expr, const std::vector<bool>& bound, std::vector<Need>& needs);
// Orders nothing: goes through the conjuncts, and lets `v == e` give v a value; `e == v` is turned round.
void bind_conditions(std::vector<Expr>& conjuncts, std::vector<bool>& bound, std::vector<Need>& needs);

}  // namespace entangle::rules
