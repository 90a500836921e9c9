// Symbolic integers: what sizes, offsets and strides are made of.
//
// An Int is a 64-bit constant or a polynomial with 64-bit coefficients over *atoms*: symbols, floor divisions
// and maxima. It is always in canonical form, so that == (one comparison of 16 bytes) decides whether two
// Ints have the same normal form: then they are equal for all values of their symbols. Ints with different
// normal forms may still be equal, under assumptions or beyond what the normal form sees: ask smt::Oracle.
//
//   * mod(a, b) is a - b*floordiv(a, b) and min(a, b) is -max(-a, -b), so that identities such as
//     b*floordiv(a, b) + mod(a, b) == a and min(a, b) + max(a, b) == a + b hold by normal form. to_string
//     folds them back into `mod` and `min`.
//   * Division rounds towards minus infinity, mod takes the sign of the divisor. Division by the constant
//   zero is
//     poison. Normal forms agree with the written expression wherever that is defined; they may be defined
//     where it is not (floordiv(s*a, s) is a even for s = 0).
//   * Whatever overflows 64 bits (or grows beyond kMaxTerms terms) is poison. Everything computed from poison
//   is
//     poison. Poison == poison as values, but no question about it is ever answered with yes.
//
// Arithmetic on constants is inline and takes no lock. Everything else is hash-consed in process-wide tables
// that are safe for concurrent use and live as long as the process. hash(), compare() and to_string() depend
// on the content only, never on addresses or on the order of creation.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "entangle/support/check.h"
#include "entangle/support/diagnostic.h"
#include "entangle/support/hash.h"

namespace entangle::sym {

class Int;
struct Atom;
struct Monomial;
struct Polynomial;

inline constexpr std::size_t kMaxTerms = 4096;

namespace detail {
extern const Polynomial kPoison;
Int add(Int a, Int b);
Int subtract(Int a, Int b);
Int multiply(Int a, Int b);
Int floordiv(Int a, Int b);
Int mod(Int a, Int b);
Int max(Int a, Int b);
Int min(Int a, Int b);
std::optional<Int> exact_div(Int a, Int b);
Int from_polynomial(const Polynomial* polynomial, std::uint64_t hash);
}  // namespace detail

class Int {
 public:
  // Zero.
  constexpr Int() = default;
  // A constant. Unsigned values beyond int64 are poison.
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr Int(T value) : Int(make(value)) {}  // NOLINT(implicit)

  // The symbol of that name; one name is one symbol in the whole process.
  static Int symbol(std::string_view name);
  // The result of what cannot be computed.
  static constexpr Int poison() { return Int(&detail::kPoison, -1); }

  constexpr bool is_constant() const { return polynomial_ == nullptr; }
  constexpr bool is_poison() const { return polynomial_ == &detail::kPoison; }
  // Whether this is a single symbol.
  bool is_symbol() const;
  // The value of a constant.
  constexpr std::optional<std::int64_t> constant() const {
    return is_constant() ? std::optional(value_) : std::nullopt;
  }
  // The value of what is known to be a constant.
  std::int64_t value() const {
    ENTANGLE_CHECK(is_constant(), "Int::value of a symbolic integer");
    return value_;
  }
  // The name of a symbol; check is_symbol() first.
  const std::string& name() const;
  // The polynomial behind a symbolic integer; null for a constant.
  constexpr const Polynomial* polynomial() const { return polynomial_; }

  // The same normal form. Poison equals poison here.
  friend constexpr bool operator==(const Int&, const Int&) = default;

  std::uint64_t hash() const {
    return support::mix(static_cast<std::uint64_t>(value_) + (is_constant() ? 0x9e3779b97f4a7c15ULL : 0));
  }

 private:
  friend Int detail::from_polynomial(const Polynomial* polynomial, std::uint64_t hash);

  constexpr Int(const Polynomial* polynomial, std::int64_t value) : polynomial_(polynomial), value_(value) {}
  template <class T>
  static constexpr Int make(T value) {
    return std::in_range<std::int64_t>(value) ? Int(nullptr, static_cast<std::int64_t>(value)) : poison();
  }

  const Polynomial* polynomial_ = nullptr;
  std::int64_t value_ = 0;  // the constant, or the hash of the polynomial
};

static_assert(sizeof(Int) == 16);

inline Int operator+(Int a, Int b) {
  if (a.is_constant() && b.is_constant()) [[likely]] {
    std::int64_t result = 0;
    return __builtin_add_overflow(*a.constant(), *b.constant(), &result) ? Int::poison() : Int(result);
  }
  return detail::add(a, b);
}

inline Int operator-(Int a, Int b) {
  if (a.is_constant() && b.is_constant()) [[likely]] {
    std::int64_t result = 0;
    return __builtin_sub_overflow(*a.constant(), *b.constant(), &result) ? Int::poison() : Int(result);
  }
  return detail::subtract(a, b);
}

inline Int operator*(Int a, Int b) {
  if (a.is_constant() && b.is_constant()) [[likely]] {
    std::int64_t result = 0;
    return __builtin_mul_overflow(*a.constant(), *b.constant(), &result) ? Int::poison() : Int(result);
  }
  return detail::multiply(a, b);
}

inline Int operator-(Int a) {
  return Int(0) - a;
}
inline Int& operator+=(Int& a, Int b) {
  return a = a + b;
}
inline Int& operator-=(Int& a, Int b) {
  return a = a - b;
}
inline Int& operator*=(Int& a, Int b) {
  return a = a * b;
}

// The greatest integer not above a/b.
inline Int floordiv(Int a, Int b) {
  if (a.is_constant() && b.is_constant() && *a.constant() >= 0 && *b.constant() > 0) [[likely]] {
    return *a.constant() / *b.constant();
  }
  return detail::floordiv(a, b);
}

// a - b*floordiv(a, b).
inline Int mod(Int a, Int b) {
  if (a.is_constant() && b.is_constant() && *a.constant() >= 0 && *b.constant() > 0) [[likely]] {
    return *a.constant() % *b.constant();
  }
  return detail::mod(a, b);
}

inline Int max(Int a, Int b) {
  if (a.is_constant() && b.is_constant()) [[likely]] {
    return *a.constant() < *b.constant() ? b : a;
  }
  return detail::max(a, b);
}

inline Int min(Int a, Int b) {
  if (a.is_constant() && b.is_constant()) [[likely]] {
    return *b.constant() < *a.constant() ? b : a;
  }
  return detail::min(a, b);
}

// The Int q with q*b == a as polynomials; none when there is no such q, b is 0 or either is poison.
inline std::optional<Int> exact_div(Int a, Int b) {
  if (a.is_constant() && b.is_constant() && *b.constant() > 0) [[likely]] {
    return *a.constant() % *b.constant() == 0 ? std::optional(Int(*a.constant() / *b.constant()))
                                              : std::nullopt;
  }
  return detail::exact_div(a, b);
}

// a, divided by those of the symbols that it mentions for which `nonzero` holds as often as that goes: it is
// 0 where the result is. 0 stays 0.
Int without_factors(Int a, const std::function<bool(Int symbol)>& nonzero);

// a multiplied with itself `exponent` times; pow(a, 0) is 1.
Int pow(Int a, unsigned exponent);
// The sum and the product of a list; 0 and 1 for the empty one.
Int sum(const std::vector<Int>& values);
Int product(const std::vector<Int>& values);

// A total order by content, the same in every run: constants by value, then polynomials, then poison. It says
// nothing about the order of the integers meant.
std::strong_ordering compare(Int a, Int b);

// For ordered containers: compare(a, b) < 0.
struct ContentLess {
  bool operator()(Int a, Int b) const { return compare(a, b) < 0; }
};

// --- Looking inside
// -------------------------------------------------------------------------------------------
//
// All of these are interned: two pointers are equal exactly if the contents are.

enum class AtomKind : std::uint8_t {
  symbol,    // name
  floordiv,  // arguments: dividend, divisor
  max,       // arguments: two or more, in content order
};

struct Atom {
  AtomKind kind = AtomKind::symbol;
  std::string name;
  std::vector<Int> arguments;
  std::uint64_t hash = 0;
};

struct Factor {
  const Atom* atom = nullptr;
  std::uint32_t exponent = 0;

  bool operator==(const Factor&) const = default;
};

// A product of powers of atoms, in the content order of the atoms.
struct Monomial {
  std::vector<Factor> factors;
  std::uint32_t degree = 0;
  std::uint64_t hash = 0;
};

struct Term {
  std::int64_t coefficient = 0;
  const Monomial* monomial = nullptr;

  bool operator==(const Term&) const = default;
};

// A sum of terms, highest degree first, the constant last; no coefficient is 0.
struct Polynomial {
  std::vector<Term> terms;
  std::uint64_t hash = 0;
};

// The terms of any Int but poison; none for 0.
std::vector<Term> terms_of(Int value);
// The Int with just that term; the Int of an atom.
Int from_term(const Term& term);
Int from_atom(const Atom* atom);
// The constant term.
std::int64_t constant_term(Int value);
// The greatest common divisor of all coefficients; 0 for 0.
std::int64_t content(Int value);

// --- Text
// -----------------------------------------------------------------------------------------------------

// Readable, e.g. `2*s0 + 1`, `(s0 + 1)//8`, `mod(s0, 8)`, `max(3, s0) - 3`; parse_int_expr reads it back.
std::string to_string(Int value);

// Reads an expression of integers: literals, names ([A-Za-z_][A-Za-z0-9_.]*), + - * // % ** (literal
// exponent), parentheses, and Mod, FloorDiv, CleanDiv, Min, Max in either case, as in `"2*s0+1"` or `"Mod(s0,
// 8)"`. `/` is accepted only where it is exact as polynomials. Each symbol x becomes `prefix` + x: symbols
// belong to their file. Errors (`sym/syntax`, `sym/overflow`) point into `text` through `at`, when that is
// the span of the text.
support::Result<Int> parse_int_expr(std::string_view text, std::string_view prefix = {},
                                    support::Span at = {});

}  // namespace entangle::sym

template <>
struct std::hash<entangle::sym::Int> {
  std::size_t operator()(entangle::sym::Int value) const noexcept { return value.hash(); }
};

namespace entangle::sym {

// --- Symbols
// --------------------------------------------------------------------------------------------------

// What symbols stand for; keys are symbols (Int::symbol).
using Substitution = std::unordered_map<Int, Int>;
using Valuation = std::unordered_map<Int, std::int64_t>;

// All symbols in it at once replaced; others stay.
Int substitute(Int value, const Substitution& substitution);
// The symbols in it, also those inside atoms, in content order.
std::vector<Int> symbols_of(Int value);
// Whether it depends on the symbol.
bool mentions(Int value, Int symbol);
// Its value; none if a symbol has none, a divisor is zero, or 64 bits overflow.
std::optional<std::int64_t> evaluate(Int value, const Valuation& valuation);

}  // namespace entangle::sym
