#include "interval.h"

#include <algorithm>
#include <string>

#include "fold.h"
#include "polynomial.h"

namespace entangle::sym::detail {

namespace {

using Bound = std::optional<std::int64_t>;

Bound plus(const Bound& a, const Bound& b) {
  std::int64_t result = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &result) ? Bound(result) : std::nullopt;
}

Interval add(const Interval& a, const Interval& b) {
  return {plus(a.lower, b.lower), plus(a.upper, b.upper)};
}

// An end of an interval: a number, or an infinity of that sign.
struct End {
  Bound value;
  int infinity;
};

Interval multiply(const Interval& a, const Interval& b) {
  const End left[] = {{a.lower, -1}, {a.upper, 1}};
  const End right[] = {{b.lower, -1}, {b.upper, 1}};
  const auto sign = [](const End& end) {
    return !end.value ? end.infinity : *end.value < 0 ? -1 : *end.value > 0 ? 1 : 0;
  };
  Interval result;
  bool lower_known = true;
  bool upper_known = true;
  for (const End& x : left) {
    for (const End& y : right) {
      std::int64_t product = 0;
      const int direction = sign(x) * sign(y);
      if (direction == 0) {
        product = 0;
      } else if (!x.value || !y.value || __builtin_mul_overflow(*x.value, *y.value, &product)) {
        (direction < 0 ? lower_known : upper_known) = false;
        continue;
      }
      result.lower = result.lower ? std::min(*result.lower, product) : product;
      result.upper = result.upper ? std::max(*result.upper, product) : product;
    }
  }
  return {lower_known ? result.lower : std::nullopt, upper_known ? result.upper : std::nullopt};
}

Interval power(const Interval& base, std::uint32_t exponent) {
  Interval result{1, 1};
  for (std::uint32_t i = 0; i < exponent; ++i) {
    result = multiply(result, base);
  }
  if (exponent % 2 == 0) {
    result.lower = std::max<std::int64_t>(result.lower.value_or(0), 0);
  }
  return result;
}

class Bounds {
 public:
  explicit Bounds(const std::function<Interval(Int)>& symbol_bounds) : symbol_bounds_(symbol_bounds) {}

  Interval of(Int value) const {
    if (value.is_poison()) {
      return {};
    }
    if (value.is_constant()) {
      return {value.value(), value.value()};
    }
    const Folded folded = fold(value);
    Interval result = of_polynomial(folded.rest);
    for (const FoldedPart& part : folded.parts) {
      result = add(result, multiply(of_polynomial(part.factor), of_part(part)));
    }
    if (folded.parts.empty()) {
      return result;
    }
    return intersect(intersect(result, of_polynomial(value)), of_remainders(folded));
  }

 private:
  // A remainder lies between 0 and the divisor minus 1, whatever that is: s1 - mod(s0, s1) is at least 1.
  Interval of_remainders(const Folded& folded) const {
    Int least = folded.rest;
    Int most = folded.rest;
    for (const FoldedPart& part : folded.parts) {
      const Interval factor = of_polynomial(part.factor);
      const Interval divisor = of(part.arguments.back());
      const bool positive = factor.lower && *factor.lower >= 0;
      const bool negative = factor.upper && *factor.upper <= 0;
      if (part.kind != FoldedKind::mod || !divisor.lower || *divisor.lower < 1 || (!positive && !negative)) {
        return {};
      }
      (positive ? most : least) += part.factor * (part.arguments[1] - 1);
    }
    if (least.is_poison() || most.is_poison()) {
      return {};
    }
    return {of_polynomial(least).lower, of_polynomial(most).upper};
  }

  // Once as it is and once with each atom x as its lower bound plus something that is not negative: s0*s1 -
  // s0 is nonnegative because (1 + x)*(1 + y) - (1 + x) has no negative coefficient.
  Interval of_polynomial(Int value) const {
    const std::vector<Term> terms = terms_of(value);
    Interval plain{0, 0};
    std::unordered_map<const Atom*, std::pair<Int, Interval>> shifted;
    std::uint32_t degree = 0;
    for (const Term& term : terms) {
      Interval product{term.coefficient, term.coefficient};
      degree = std::max(degree, term.monomial->degree);
      for (const Factor& factor : term.monomial->factors) {
        const Interval range = of_atom(factor.atom);
        product = multiply(product, power(range, factor.exponent));
        if (!shifted.contains(factor.atom)) {
          const Int offset = Int::symbol("#" + std::to_string(shifted.size()));
          Interval rest;
          Int replacement = offset;
          if (range.lower) {
            rest = {0, range.upper ? (Int(*range.upper) - Int(*range.lower)).constant() : std::nullopt};
            replacement = Int(*range.lower) + offset;
          } else if (range.upper) {
            rest = {0, std::nullopt};
            replacement = Int(*range.upper) - offset;
          }
          shifted.emplace(factor.atom, std::pair(replacement, rest));
        }
      }
      plain = add(plain, product);
    }
    if ((plain.lower && plain.upper) || degree < 1 || degree > 8 || terms.size() > 64) {
      return plain;
    }
    return intersect(plain, of_shifted(terms, shifted));
  }

  static Interval of_shifted(const std::vector<Term>& terms,
                             const std::unordered_map<const Atom*, std::pair<Int, Interval>>& shifted) {
    std::unordered_map<const Atom*, Interval> offsets;
    for (const auto& [atom, entry] : shifted) {
      for (const Term& term : terms_of(entry.first)) {
        if (term.monomial->degree > 0) {
          offsets[term.monomial->factors.front().atom] = entry.second;
        }
      }
    }
    Int moved = 0;
    for (const Term& term : terms) {
      Int product = term.coefficient;
      for (const Factor& factor : term.monomial->factors) {
        product *= pow(shifted.at(factor.atom).first, factor.exponent);
      }
      moved += product;
    }
    if (moved.is_poison()) {
      return {};
    }
    Interval result{0, 0};
    for (const Term& term : terms_of(moved)) {
      Interval product{term.coefficient, term.coefficient};
      for (const Factor& factor : term.monomial->factors) {
        product = multiply(product, power(offsets.at(factor.atom), factor.exponent));
      }
      result = add(result, product);
    }
    return result;
  }

  Interval of_atom(const Atom* atom) const {
    if (atom->kind == AtomKind::symbol) {
      return symbol_bounds_(from_atom(atom));
    }
    const auto it = known_.find(atom);
    return it != known_.end() ? it->second : known_.emplace(atom, of_composite(atom)).first->second;
  }

  Interval of_composite(const Atom* atom) const {
    switch (atom->kind) {
      case AtomKind::symbol:
        break;
      case AtomKind::floordiv:
        return of_quotient(of(atom->arguments[0]), of(atom->arguments[1]));
      case AtomKind::max: {
        Interval result = of(atom->arguments.front());
        for (const Int argument : atom->arguments) {
          const Interval range = of(argument);
          result.lower = !result.lower  ? range.lower
                         : !range.lower ? result.lower
                                        : std::max(result.lower, range.lower);
          result.upper = result.upper && range.upper ? std::max(result.upper, range.upper) : std::nullopt;
        }
        return result;
      }
    }
    return {};
  }

  static Interval of_quotient(const Interval& dividend, const Interval& divisor) {
    Interval result;
    if (!divisor.lower || *divisor.lower < 1 || (divisor.upper && *divisor.upper < 1)) {
      return result;
    }
    // Of a nonnegative end the quotient is nearest to 0 for the greatest divisor, of a negative one nearest
    // to -1.
    const auto least_magnitude = [&divisor](std::int64_t end) {
      return divisor.upper ? floor_quotient(end, *divisor.upper) : end < 0 ? -1 : 0;
    };
    if (dividend.lower) {
      result.lower = *dividend.lower < 0 ? floor_quotient(*dividend.lower, *divisor.lower)
                                         : least_magnitude(*dividend.lower);
    }
    if (dividend.upper) {
      result.upper = *dividend.upper < 0 ? least_magnitude(*dividend.upper)
                                         : floor_quotient(*dividend.upper, *divisor.lower);
    }
    return result;
  }

  Interval of_part(const FoldedPart& part) const {
    if (part.kind == FoldedKind::mod) {
      const Interval divisor = of(part.arguments[1]);
      if (divisor.lower && *divisor.lower >= 1) {
        return {0, divisor.upper ? Bound(*divisor.upper - 1) : std::nullopt};
      }
      if (divisor.upper && *divisor.upper <= -1) {
        return {divisor.lower ? Bound(*divisor.lower + 1) : std::nullopt, 0};
      }
      return {};
    }
    Interval result = of(part.arguments.front());
    for (const Int argument : part.arguments) {
      const Interval range = of(argument);
      result.upper = !result.upper  ? range.upper
                     : !range.upper ? result.upper
                                    : std::min(result.upper, range.upper);
      result.lower = result.lower && range.lower ? std::min(result.lower, range.lower) : std::nullopt;
    }
    return result;
  }

  const std::function<Interval(Int)>& symbol_bounds_;
  mutable std::unordered_map<const Atom*, Interval> known_;
};

}  // namespace

Interval intersect(const Interval& a, const Interval& b) {
  Interval result = a;
  if (b.lower && (!a.lower || *b.lower > *a.lower)) {
    result.lower = b.lower;
  }
  if (b.upper && (!a.upper || *b.upper < *a.upper)) {
    result.upper = b.upper;
  }
  return result;
}

Interval bounds_of(Int value, const std::function<Interval(Int)>& symbol_bounds) {
  return Bounds(symbol_bounds).of(value);
}

}  // namespace entangle::sym::detail
