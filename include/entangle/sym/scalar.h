// Exact scalars, as in attributes: `1/sqrt(64)`, `1e-05`, `1/s0`, `-inf`.
//
// A Scalar is q * P/Q with a rational q and Ints P, Q (both 1 for a number), or one of +inf and -inf. It is
// kept reduced: common monomials, contents and exact polynomial quotients of P and Q are cancelled, so that
// == means the same value for numbers, and for symbolic scalars equal as far as this reduction sees. Q is
// taken to be nonzero: it is a product of sizes. Infinities are constants of their own: they can be negated
// and compared; all other arithmetic on them is undefined and says so by returning nothing. Numbers are exact
// without limit (small ones without allocation); what would overflow in P or Q is undefined.
//
// Value type; safe for concurrent use as such.
#pragma once

#include <gmpxx.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "entangle/sym/int.h"

namespace entangle::sym {

class Scalar {
 public:
  // Zero.
  Scalar() = default;
  Scalar(std::integral auto value) : Scalar(Int(value)) {}  // NOLINT(implicit)
  // The Int must not be poison.
  Scalar(Int value);  // NOLINT(implicit)
  explicit Scalar(const mpq_class& value);

  static Scalar infinity(bool negative = false);
  // numerator/denominator; the denominator must not be 0.
  static Scalar ratio(std::int64_t numerator, std::int64_t denominator);

  // Exactly what the text says: "0.1" is 1/10; "1e-05", "-inf", "Infinity". None for anything else, "nan"
  // too, and for exponents beyond +-5000.
  static std::optional<Scalar> from_decimal_text(std::string_view text);

  bool is_infinite() const { return kind_ != Kind::finite; }
  // Finite and without symbols.
  bool is_number() const { return !is_infinite() && numerator_ == Int(1) && denominator_ == Int(1); }
  bool is_zero() const { return is_number() && big_ == nullptr && small_numerator_ == 0; }
  bool is_one() const {
    return is_number() && big_ == nullptr && small_numerator_ == 1 && small_denominator_ == 1;
  }

  // q of q * P/Q; for infinities, 1 or -1.
  mpq_class coefficient() const;
  // Whether it takes a few thousand digits at most. (Exact numbers that are squared again and again double in
  // length each time.)
  bool is_short() const;
  // P and Q of q * P/Q, without the rational factor.
  Int numerator() const { return numerator_; }
  Int denominator() const { return denominator_; }

  // The number, if it is one.
  std::optional<mpq_class> as_rational() const;
  // The integer, symbolic or not, if it is one as a polynomial and fits.
  std::optional<Int> as_int() const;
  // The nearest double of a number or an infinity.
  std::optional<double> as_double() const;

  Scalar operator-() const;
  friend std::optional<Scalar> operator+(const Scalar& a, const Scalar& b);
  friend std::optional<Scalar> operator-(const Scalar& a, const Scalar& b);
  friend std::optional<Scalar> operator*(const Scalar& a, const Scalar& b);
  // None, too, for division by zero.
  friend std::optional<Scalar> operator/(const Scalar& a, const Scalar& b);

  // base ** exponent where that is exact: integer exponents (of magnitude up to 1024), and roots of numbers
  // that are perfect powers (pow(1/64, -1/2) is 8). pow(x, 0) is 1; none for 0 to a negative power.
  friend std::optional<Scalar> pow(const Scalar& base, const Scalar& exponent);

  friend bool operator==(const Scalar& a, const Scalar& b);
  std::uint64_t hash() const;

 private:
  enum class Kind : std::uint8_t { finite, plus_infinity, minus_infinity };

  static std::optional<Scalar> make(const mpq_class& q, Int p, Int d);
  void set_rational(const mpq_class& q);
  bool is_small() const { return big_ == nullptr; }

  Kind kind_ = Kind::finite;
  std::int64_t small_numerator_ = 0;  // q, unless big_
  std::int64_t small_denominator_ = 1;
  std::shared_ptr<const mpq_class> big_;
  Int numerator_ = 1;
  Int denominator_ = 1;
};

// The order of two numbers or infinities; of symbolic scalars, only that they are the same.
std::optional<std::strong_ordering> compare(const Scalar& a, const Scalar& b);
// A total order by content, the same in every run; for containers.
std::strong_ordering content_order(const Scalar& a, const Scalar& b);

// `1/8`, `-3`, `1/s0`, `2*s0/3`, `(s0 + 1)/(2*s1)`, `-inf`.
std::string to_string(const Scalar& value);

// The value where the symbols have these; none where it is undefined (a denominator is 0, a symbol is
// missing).
std::optional<Scalar> evaluate(const Scalar& value, const Valuation& valuation);

}  // namespace entangle::sym

template <>
struct std::hash<entangle::sym::Scalar> {
  std::size_t operator()(const entangle::sym::Scalar& value) const noexcept { return value.hash(); }
};
