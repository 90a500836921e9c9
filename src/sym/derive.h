// Shared by what derives facts and what answers questions about them.
#pragma once

#include <string>
#include <unordered_map>

#include "entangle/sym/int.h"
#include "interval.h"

namespace entangle::sym::detail {

// What a symbol is known to lie in if nothing is said: sizes are at least 1.
inline constexpr Interval kSize{1, std::nullopt};

// The bounds of a value from those of its symbols.
Interval plain_bounds(Int core, const std::unordered_map<Int, Interval>& bounds);

std::string in_parentheses(Int value);

}  // namespace entangle::sym::detail
