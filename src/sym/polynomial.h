// Polynomials over atoms: hash-consed atoms and monomials, their orders, and arithmetic on sorted lists of
// terms.
//
// The arithmetic returns nothing when 64 bits or the limits are exceeded. Lists of terms are sorted
// (`before`) and have no zero coefficients, unless said otherwise.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "entangle/sym/int.h"

namespace entangle::sym::detail {

using Terms = std::vector<Term>;

const Atom* make_atom(AtomKind kind, std::string name, std::vector<Int> arguments);
const Monomial* make_monomial(std::vector<Factor> factors);
// The monomial of constants.
const Monomial* unit();
// The Int with these terms.
Int finish(Terms terms);
Int poison_unless(const std::optional<Terms>& terms);

// Graded lexicographic: an admissible order, so that division by one polynomial has a unique remainder. The
// atom that is first in content order weighs most.
std::strong_ordering compare_monomials(const Monomial* a, const Monomial* b);

std::optional<Terms> add_terms(const Terms& a, const Terms& b);
std::optional<Terms> subtract_terms(const Terms& a, const Terms& b);
std::optional<Terms> multiply_terms(const Terms& a, const Terms& b);
// The terms, in any order, sorted; those of one monomial added up.
std::optional<Terms> collect(Terms terms);

const Monomial* common_monomial(const Monomial* a, const Monomial* b);
// The single atom that the monomial is, to the power of 1; null otherwise.
const Atom* only_atom(const Monomial* monomial);
bool has_atom(const Terms& terms, AtomKind kind);

struct Division {
  Terms quotient;
  Terms remainder;
};

// a = quotient * b + remainder for a divisor b with a positive leading coefficient c: no term of the
// remainder is divisible by b's leading monomial unless its coefficient lies in [0, c). That makes both
// unique. With `exact`, gives up at the first term of the remainder.
std::optional<Division> divide(const Terms& a, const Terms& b, bool exact);

// Rounded towards minus infinity, or towards plus infinity. b is not 0, and a / b fits.
std::int64_t floor_quotient(std::int64_t a, std::int64_t b);
std::int64_t ceiling_quotient(std::int64_t a, std::int64_t b);
std::int64_t gcd_of(std::int64_t a, std::int64_t b);

}  // namespace entangle::sym::detail
