// Interval arithmetic on symbolic integers.
#pragma once

#include <functional>

#include "entangle/sym/facts.h"

namespace entangle::sym::detail {

Interval intersect(const Interval& a, const Interval& b);

// Bounds of a value, given those of its symbols.
Interval bounds_of(Int value, const std::function<Interval(Int)>& symbol_bounds);

}  // namespace entangle::sym::detail
