#include "entangle/sym/scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace entangle::sym {

namespace {

static_assert(sizeof(long) == sizeof(std::int64_t), "GMP takes 64-bit integers as long");

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

mpq_class fraction(const mpz_class& numerator, const mpz_class& denominator) {
  mpq_class result(numerator, denominator);
  result.canonicalize();
  return result;
}

mpz_class power_of(const mpz_class& base, unsigned long exponent) {
  mpz_class result;
  mpz_pow_ui(result.get_mpz_t(), base.get_mpz_t(), exponent);
  return result;
}

std::uint64_t hash_of(const mpz_class& value) {
  std::uint64_t hash = sgn(value) < 0 ? 3 : 5;
  for (std::size_t i = 0; i < mpz_size(value.get_mpz_t()); ++i) {
    hash = support::hash_combine(hash, mpz_getlimbn(value.get_mpz_t(), static_cast<mp_size_t>(i)));
  }
  return hash;
}

// The positive monomial that divides every term of both.
Int common_factor(Int a, Int b) {
  const std::vector<Term> left = terms_of(a);
  const std::vector<Term> right = terms_of(b);
  Int result = 1;
  for (const Factor& factor : left.front().monomial->factors) {
    std::uint32_t exponent = factor.exponent;
    for (const std::vector<Term>* terms : {&left, &right}) {
      for (const Term& term : *terms) {
        const auto& factors = term.monomial->factors;
        const auto it = std::find_if(factors.begin(), factors.end(),
                                     [&factor](const Factor& other) { return other.atom == factor.atom; });
        exponent = it == factors.end() ? 0 : std::min(exponent, it->exponent);
      }
    }
    result *= pow(from_atom(factor.atom), exponent);
  }
  return result;
}

// Takes the content, with the sign of the leading coefficient, out of a polynomial that is not 0.
std::int64_t take_content(Int* value) {
  if (value->is_constant()) {
    return std::exchange(*value, 1).value();
  }
  std::int64_t common = content(*value);
  if (terms_of(*value).front().coefficient < 0) {
    common = -common;
  }
  *value = exact_div(*value, common).value_or(*value);
  return terms_of(*value).front().coefficient < 0 ? 1 : common;
}

std::optional<mpz_class> exact_root(const mpz_class& value, unsigned long degree) {
  if (sgn(value) < 0) {
    return std::nullopt;
  }
  mpz_class root;
  return mpz_root(root.get_mpz_t(), value.get_mpz_t(), degree) != 0 ? std::optional(root) : std::nullopt;
}

}  // namespace

Scalar::Scalar(Int value) {
  ENTANGLE_CHECK(!value.is_poison(), "a scalar made of poison");
  if (value.is_constant()) {
    if (value.value() == kLeast) {
      set_rational(mpq_class(value.value()));
    } else {
      small_numerator_ = value.value();
    }
    return;
  }
  *this = make(mpq_class(1), value, 1).value();
}

Scalar::Scalar(const mpq_class& value) {
  set_rational(value);
}

Scalar Scalar::infinity(bool negative) {
  Scalar result;
  result.kind_ = negative ? Kind::minus_infinity : Kind::plus_infinity;
  return result;
}

Scalar Scalar::ratio(std::int64_t numerator, std::int64_t denominator) {
  ENTANGLE_CHECK(denominator != 0, "a ratio with denominator 0");
  return Scalar(fraction(mpz_class(numerator), mpz_class(denominator)));
}

void Scalar::set_rational(const mpq_class& q) {
  // The least int64 counts as large, so that small ones can be negated.
  const auto fits = [](const mpz_class& z) { return z.fits_slong_p() && z.get_si() != kLeast; };
  if (fits(q.get_num()) && fits(q.get_den())) {
    small_numerator_ = q.get_num().get_si();
    small_denominator_ = q.get_den().get_si();
    big_ = nullptr;
  } else {
    small_numerator_ = 0;
    small_denominator_ = 1;
    big_ = std::make_shared<const mpq_class>(q);
  }
}

// q * p/d, reduced; none when d is 0 or one of them is poison.
std::optional<Scalar> Scalar::make(const mpq_class& q, Int p, Int d) {
  if (p.is_poison() || d.is_poison() || d == Int(0)) {
    return std::nullopt;
  }
  Scalar result;
  if (sgn(q) == 0 || p == Int(0)) {
    return result;
  }
  const std::int64_t above = take_content(&p);
  const std::int64_t below = take_content(&d);
  if (!p.is_constant() && !d.is_constant()) {
    const Int common = common_factor(p, d);
    p = exact_div(p, common).value();
    d = exact_div(d, common).value();
  }
  if (const auto quotient = exact_div(p, d)) {
    p = *quotient;
    d = 1;
  } else if (const auto inverse = exact_div(d, p)) {
    p = 1;
    d = *inverse;
  }
  result.set_rational(q * fraction(mpz_class(above), mpz_class(below)));
  result.numerator_ = p;
  result.denominator_ = d;
  return result;
}

std::optional<Scalar> Scalar::from_decimal_text(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower == "inf" || lower == "infinity") {
    return infinity(negative);
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string digits;
  long scale = 0;
  bool point = false;
  std::size_t i = 0;
  for (; i < lower.size() && (is_digit(lower[i]) || (lower[i] == '.' && !point)); ++i) {
    if (lower[i] == '.') {
      point = true;
    } else {
      digits += lower[i];
      scale -= point ? 1 : 0;
    }
  }
  if (digits.empty() || digits.size() > 5000) {
    return std::nullopt;
  }
  if (i < lower.size()) {
    int exponent = 0;
    const bool plus = lower[i] == 'e' && i + 1 < lower.size() && lower[i + 1] == '+';
    const char* const begin = lower.data() + i + (plus ? 2 : 1);
    const char* const end = lower.data() + lower.size();
    const bool starts_well = lower[i] == 'e' && begin < end && (is_digit(*begin) || (!plus && *begin == '-'));
    const auto [stop, code] = std::from_chars(begin, end, exponent);
    if (!starts_well || code != std::errc() || stop != end || std::abs(exponent) > 5000) {
      return std::nullopt;
    }
    scale += exponent;
  }
  const mpz_class power = power_of(10, static_cast<unsigned long>(std::abs(scale)));
  mpz_class number(digits, 10);
  number = negative ? mpz_class(-number) : number;
  return Scalar(scale < 0 ? fraction(number, power) : mpq_class(number * power));
}

bool Scalar::is_short() const {
  constexpr std::size_t kMostBits = std::size_t{1} << 15;
  return big_ == nullptr ||
         mpz_sizeinbase(big_->get_num_mpz_t(), 2) + mpz_sizeinbase(big_->get_den_mpz_t(), 2) <= kMostBits;
}

mpq_class Scalar::coefficient() const {
  if (is_infinite()) {
    return kind_ == Kind::plus_infinity ? 1 : -1;
  }
  return big_ ? *big_ : mpq_class(mpz_class(small_numerator_), mpz_class(small_denominator_));
}

std::optional<mpq_class> Scalar::as_rational() const {
  return is_number() ? std::optional(coefficient()) : std::nullopt;
}

std::optional<Int> Scalar::as_int() const {
  if (is_infinite() || denominator_ != Int(1)) {
    return std::nullopt;
  }
  if (is_small()) {
    // Contents are part of the coefficient, so the denominator divides nothing in the numerator.
    const Int result = Int(small_numerator_) * numerator_;
    return small_denominator_ == 1 && !result.is_poison() ? std::optional(result) : std::nullopt;
  }
  if (big_->get_den() == 1 && big_->get_num().fits_slong_p()) {
    const Int result = Int(big_->get_num().get_si()) * numerator_;
    return result.is_poison() ? std::nullopt : std::optional(result);
  }
  return std::nullopt;
}

std::optional<double> Scalar::as_double() const {
  if (is_infinite()) {
    return kind_ == Kind::plus_infinity ? std::numeric_limits<double>::infinity()
                                        : -std::numeric_limits<double>::infinity();
  }
  if (!is_number()) {
    return std::nullopt;
  }
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (is_small() && small_numerator_ <= kExact && small_numerator_ >= -kExact &&
      small_denominator_ <= kExact) {
    return static_cast<double>(small_numerator_) / static_cast<double>(small_denominator_);
  }
  // mpq_get_d truncates: choose between its result and the next double away from zero.
  const mpq_class exact = coefficient();
  const double below = exact.get_d();
  const double next = std::nextafter(below, sgn(exact) < 0 ? -std::numeric_limits<double>::infinity()
                                                           : std::numeric_limits<double>::infinity());
  if (!std::isfinite(below) || !std::isfinite(next)) {
    return below;
  }
  const mpq_class to_below = abs(exact - mpq_class(below));
  const mpq_class to_next = abs(mpq_class(next) - exact);
  if (to_below != to_next) {
    return to_below < to_next ? below : next;
  }
  // A tie goes to the even one: the one that is twice as coarse as the other allows.
  int exponent = 0;
  const double significand = std::frexp(below, &exponent);
  return std::fmod(std::ldexp(significand, 53), 2.0) == 0.0 ? below : next;
}

Scalar Scalar::operator-() const {
  Scalar result = *this;
  if (is_infinite()) {
    result.kind_ = kind_ == Kind::plus_infinity ? Kind::minus_infinity : Kind::plus_infinity;
  } else if (is_small()) {
    result.small_numerator_ = -small_numerator_;
  } else {
    result.set_rational(-*big_);
  }
  return result;
}

std::optional<Scalar> operator+(const Scalar& a, const Scalar& b) {
  if (a.is_infinite() || b.is_infinite()) {
    return std::nullopt;
  }
  if (a.is_zero()) {
    return b;
  }
  if (b.is_zero()) {
    return a;
  }
  if (a.numerator_ == b.numerator_ && a.denominator_ == b.denominator_) {
    std::int64_t sum = 0;
    if (a.is_small() && b.is_small() && a.small_denominator_ == 1 && b.small_denominator_ == 1 &&
        !__builtin_add_overflow(a.small_numerator_, b.small_numerator_, &sum) && sum != kLeast && sum != 0) {
      Scalar result = a;
      result.small_numerator_ = sum;
      return result;
    }
    return Scalar::make(a.coefficient() + b.coefficient(), a.numerator_, a.denominator_);
  }
  // Over a common denominator; the rational factors become integers.
  const mpq_class left = a.coefficient();
  const mpq_class right = b.coefficient();
  mpz_class denominator;
  mpz_lcm(denominator.get_mpz_t(), left.get_den_mpz_t(), right.get_den_mpz_t());
  mpz_class p = left.get_num() * (denominator / left.get_den());
  mpz_class q = right.get_num() * (denominator / right.get_den());
  mpz_class common;
  mpz_gcd(common.get_mpz_t(), p.get_mpz_t(), q.get_mpz_t());
  p /= common;
  q /= common;
  if (!p.fits_slong_p() || !q.fits_slong_p()) {
    return std::nullopt;
  }
  const mpq_class factor = fraction(common, denominator);
  // If one denominator is a multiple of the other, that is the common one.
  Int left_scale = b.denominator_;
  Int right_scale = a.denominator_;
  if (const auto ratio = exact_div(b.denominator_, a.denominator_)) {
    left_scale = *ratio;
    right_scale = 1;
  } else if (const auto inverse = exact_div(a.denominator_, b.denominator_)) {
    left_scale = 1;
    right_scale = *inverse;
  }
  return Scalar::make(
      factor, Int(p.get_si()) * a.numerator_ * left_scale + Int(q.get_si()) * b.numerator_ * right_scale,
      a.denominator_ * left_scale);
}

std::optional<Scalar> operator-(const Scalar& a, const Scalar& b) {
  return a + (-b);
}

std::optional<Scalar> operator*(const Scalar& a, const Scalar& b) {
  if (a.is_infinite() || b.is_infinite()) {
    return std::nullopt;
  }
  if (a.is_number() && b.is_number()) {
    std::int64_t product = 0;
    if (a.is_small() && b.is_small() && a.small_denominator_ == 1 && b.small_denominator_ == 1 &&
        !__builtin_mul_overflow(a.small_numerator_, b.small_numerator_, &product) && product != kLeast) {
      return Scalar(product);
    }
    return Scalar(mpq_class(a.coefficient() * b.coefficient()));
  }
  return Scalar::make(a.coefficient() * b.coefficient(), a.numerator_ * b.numerator_,
                      a.denominator_ * b.denominator_);
}

std::optional<Scalar> operator/(const Scalar& a, const Scalar& b) {
  if (a.is_infinite() || b.is_infinite() || b.is_zero()) {
    return std::nullopt;
  }
  return Scalar::make(a.coefficient() / b.coefficient(), a.numerator_ * b.denominator_,
                      a.denominator_ * b.numerator_);
}

std::optional<Scalar> pow(const Scalar& base, const Scalar& exponent) {
  const auto power = exponent.as_rational();
  if (!power || base.is_infinite()) {
    return std::nullopt;
  }
  if (sgn(*power) == 0) {
    return Scalar(1);
  }
  if (abs(power->get_num()) > 1024 || power->get_den() > 1024 || (base.is_zero() && sgn(*power) < 0)) {
    return std::nullopt;
  }
  const auto degree = power->get_den().get_ui();
  const auto times = static_cast<unsigned>(mpz_get_ui(power->get_num_mpz_t()));  // of the magnitude
  mpq_class q = base.coefficient();
  if (degree != 1) {
    if (!base.is_number()) {
      return std::nullopt;
    }
    const auto above = exact_root(q.get_num(), degree);
    const auto below = exact_root(q.get_den(), degree);
    if (!above || !below) {
      return std::nullopt;
    }
    q = fraction(*above, *below);
  }
  q = fraction(power_of(q.get_num(), times), power_of(q.get_den(), times));
  const Int p = pow(base.numerator_, times);
  const Int d = pow(base.denominator_, times);
  return sgn(*power) < 0 ? Scalar::make(1 / q, d, p) : Scalar::make(q, p, d);
}

bool operator==(const Scalar& a, const Scalar& b) {
  return a.kind_ == b.kind_ && a.small_numerator_ == b.small_numerator_ &&
         a.small_denominator_ == b.small_denominator_ && a.numerator_ == b.numerator_ &&
         a.denominator_ == b.denominator_ && (a.big_ == nullptr) == (b.big_ == nullptr) &&
         (a.big_ == nullptr || *a.big_ == *b.big_);
}

std::uint64_t Scalar::hash() const {
  std::uint64_t hash = support::hash_combine(static_cast<std::uint64_t>(kind_), numerator_.hash());
  hash = support::hash_combine(hash, denominator_.hash());
  if (big_) {
    return support::hash_combine(support::hash_combine(hash, hash_of(big_->get_num())),
                                 hash_of(big_->get_den()));
  }
  return support::hash_combine(support::hash_combine(hash, static_cast<std::uint64_t>(small_numerator_)),
                               static_cast<std::uint64_t>(small_denominator_));
}

std::optional<std::strong_ordering> compare(const Scalar& a, const Scalar& b) {
  if (a == b) {
    return std::strong_ordering::equal;
  }
  const auto sign = [](const Scalar& value) { return value.is_infinite() ? sgn(value.coefficient()) : 0; };
  const bool known = (a.is_infinite() || a.is_number()) && (b.is_infinite() || b.is_number());
  if (!known) {
    // A symbolic scalar is finite.
    return a.is_infinite() || b.is_infinite() ? std::optional(sign(a) <=> sign(b)) : std::nullopt;
  }
  if (a.is_infinite() || b.is_infinite()) {
    return sign(a) <=> sign(b);
  }
  return cmp(a.coefficient(), b.coefficient()) <=> 0;
}

std::strong_ordering content_order(const Scalar& a, const Scalar& b) {
  const auto rank = [](const Scalar& value) {
    return value.is_infinite() ? (sgn(value.coefficient()) < 0 ? 0 : 3) : value.is_number() ? 1 : 2;
  };
  if (rank(a) != rank(b)) {
    return rank(a) <=> rank(b);
  }
  if (const auto order = compare(a.numerator(), b.numerator()); order != 0) {
    return order;
  }
  if (const auto order = compare(a.denominator(), b.denominator()); order != 0) {
    return order;
  }
  return cmp(a.coefficient(), b.coefficient()) <=> 0;
}

std::string to_string(const Scalar& value) {
  const mpq_class q = value.coefficient();
  if (value.is_infinite()) {
    return sgn(q) < 0 ? "-inf" : "inf";
  }
  if (value.is_number()) {
    return q.get_str();
  }
  // factor*value: the factor is left out where it is 1, a sum is put in parentheses where it is not alone.
  const auto product = [](const mpz_class& factor, Int symbolic, bool alone) {
    if (symbolic == Int(1)) {
      return factor.get_str();
    }
    const std::string text = to_string(symbolic);
    const bool several = terms_of(symbolic).size() > 1 || text.find(' ') != std::string::npos ||
                         text.find("//") != std::string::npos;
    const bool grouped = several && !(alone && factor == 1);
    const std::string factor_text = factor == 1 ? "" : factor == -1 ? "-" : factor.get_str() + "*";
    return factor_text + (grouped ? "(" + text + ")" : text);
  };
  const mpz_class denominator = q.get_den();
  const bool divided = denominator != 1 || value.denominator() != Int(1);
  std::string text = product(q.get_num(), value.numerator(), !divided);
  if (divided) {
    std::string below = product(denominator, value.denominator(), false);
    if (denominator != 1 && value.denominator() != Int(1)) {
      below = "(" + below + ")";
    } else if (denominator == 1 && below.front() != '(' && below.find('*') != std::string::npos) {
      below = "(" + below + ")";
    }
    text += "/" + below;
  }
  return text;
}

namespace {

std::optional<Scalar> rebuild(const Scalar& value, const std::optional<Int>& p, const std::optional<Int>& d) {
  if (!p || !d || p->is_poison() || d->is_poison()) {
    return std::nullopt;
  }
  const auto above = Scalar(value.coefficient()) * Scalar(*p);
  return above ? *above / Scalar(*d) : std::nullopt;
}

}  // namespace

std::optional<Scalar> evaluate(const Scalar& value, const Valuation& valuation) {
  if (value.is_infinite() || value.is_number()) {
    return value;
  }
  const auto p = evaluate(value.numerator(), valuation);
  const auto d = evaluate(value.denominator(), valuation);
  return p && d ? rebuild(value, Int(*p), Int(*d)) : std::nullopt;
}

}  // namespace entangle::sym
