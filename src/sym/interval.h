// Interval arithmetic on symbolic integers.
#pragma once

#include <functional>

#include "entangle/sym/facts.h"

namespace entangle::sym::detail {

Interval intersect(const Interval& a, const Interval& b);

// Bounds of a value, given those of its symbols.
Interval bounds_of(Int value, const std::function<Interval(Int)>& symbol_bounds);

std::int64_t floor_of_quotient(std::int64_t a, std::int64_t b);
std::int64_t ceiling_of_quotient(std::int64_t a, std::int64_t b);

}  // namespace entangle::sym::detail
