#include "entangle/sym/int.h"

#include <algorithm>
#include <numeric>

#include "fold.h"
#include "polynomial.h"

namespace entangle::sym {

namespace detail {

const Polynomial kPoison;

}  // namespace detail

namespace {

using detail::add_terms;
using detail::collect;
using detail::common_monomial;
using detail::compare_monomials;
using detail::divide;
using detail::finish;
using detail::floor_quotient;
using detail::gcd_of;
using detail::has_atom;
using detail::make_atom;
using detail::make_monomial;
using detail::multiply_terms;
using detail::only_atom;
using detail::poison_unless;
using detail::subtract_terms;
using detail::Terms;
using detail::unit;

// floordiv(a, b) where a is a sum of remainders mod(x, m) and a multiple of b, if the remainders together
// stay within one step: (mod(x, 4) + 8*y)//8 is y.
std::optional<Int> divide_remainders(Int a, std::int64_t b) {
  const detail::Folded folded = detail::fold(a);
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  for (const detail::FoldedPart& part : folded.parts) {
    if (part.kind != detail::FoldedKind::mod || !part.factor.is_constant() ||
        !part.arguments[1].is_constant()) {
      return std::nullopt;
    }
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(part.factor.value(), part.arguments[1].value() - 1, &reach) ||
        __builtin_add_overflow(reach < 0 ? lower : upper, reach, reach < 0 ? &lower : &upper)) {
      return std::nullopt;
    }
  }
  if (folded.parts.empty()) {
    return std::nullopt;
  }
  const auto division = divide(terms_of(folded.rest), {{b, unit()}}, false);
  if (!division) {
    return std::nullopt;
  }
  const Int remainder = finish(division->remainder);
  if (!remainder.is_constant() || __builtin_add_overflow(lower, remainder.value(), &lower) ||
      __builtin_add_overflow(upper, remainder.value(), &upper) ||
      floor_quotient(lower, b) != floor_quotient(upper, b)) {
    return std::nullopt;
  }
  return finish(division->quotient) + Int(floor_quotient(lower, b));
}

// floordiv of a remainder of divide() by a constant above 1.
Int floordiv_by_constant(Terms dividend, std::int64_t divisor) {
  std::int64_t constant = 0;
  if (!dividend.empty() && dividend.back().monomial == unit()) {
    constant = dividend.back().coefficient;
    dividend.pop_back();
  }
  std::int64_t common = divisor;
  for (const Term& term : dividend) {
    common = gcd_of(common, term.coefficient);
  }
  if (dividend.empty()) {
    return floor_quotient(constant, divisor);
  }
  if (common > 1) {
    for (Term& term : dividend) {
      term.coefficient /= common;
    }
    constant = floor_quotient(constant, common);
    divisor /= common;
  }
  // floordiv(floordiv(x, m) + t, b) is floordiv(x + m*t, m*b).
  for (const Term& term : dividend) {
    const Atom* const atom = only_atom(term.monomial);
    if (divisor == 1 || term.coefficient != 1 || atom == nullptr || atom->kind != AtomKind::floordiv) {
      continue;
    }
    const Int rest = finish(dividend) + Int(constant) - from_term(term);
    const Int outer = atom->arguments[1] * Int(divisor);
    const Int inner = atom->arguments[0] + atom->arguments[1] * rest;
    if (!outer.is_poison() && !inner.is_poison()) {
      return detail::floordiv(inner, outer);
    }
  }
  if (constant != 0) {
    dividend.push_back({constant, unit()});
  }
  const Int reduced = finish(std::move(dividend));
  return divisor == 1 ? reduced : from_atom(make_atom(AtomKind::floordiv, {}, {reduced, Int(divisor)}));
}

// floordiv of a nonzero remainder of divide() by a polynomial with a positive leading coefficient.
Int floordiv_by_polynomial(Int dividend, Int divisor) {
  if (dividend.is_poison()) {
    return dividend;
  }
  const std::int64_t common = gcd_of(content(dividend), content(divisor));
  const Terms above = terms_of(dividend);
  const Terms below = terms_of(divisor);
  const Monomial* monomial = below.front().monomial;
  for (const Terms* terms : {&above, &below}) {
    for (const Term& term : *terms) {
      monomial = common_monomial(monomial, term.monomial);
    }
  }
  if (common > 1 || monomial != unit()) {
    const Int factor = from_term({common, monomial});
    return floordiv(exact_div(dividend, factor).value(), exact_div(divisor, factor).value());
  }
  return from_atom(make_atom(AtomKind::floordiv, {}, {dividend, divisor}));
}

constexpr std::size_t kMaxArguments = 32;

// Replaces arguments such as 2*max(x, y) + t by 2*x + t and 2*y + t; returns whether there was one. Lists
// that would get too long stay nested.
bool flatten_max(std::vector<Int>* arguments) {
  for (std::size_t i = 0; i < arguments->size(); ++i) {
    const Int argument = (*arguments)[i];
    for (const Term& term : terms_of(argument)) {
      const Atom* const atom = only_atom(term.monomial);
      if (atom == nullptr || atom->kind != AtomKind::max || term.coefficient < 0 ||
          arguments->size() + atom->arguments.size() > kMaxArguments) {
        continue;
      }
      const Int rest = argument - from_term(term);
      arguments->erase(arguments->begin() + static_cast<std::ptrdiff_t>(i));
      for (const Int inner : atom->arguments) {
        arguments->push_back(Int(term.coefficient) * inner + rest);
      }
      return true;
    }
  }
  return false;
}

// The polynomial of the least coefficients, monomial by monomial; what all arguments of a maximum share.
Int least_coefficients(const std::vector<Int>& values) {
  std::unordered_map<const Monomial*, std::pair<std::int64_t, std::size_t>> least;
  for (const Int value : values) {
    for (const Term& term : terms_of(value)) {
      const auto [it, added] = least.try_emplace(term.monomial, term.coefficient, 1);
      if (!added) {
        it->second.first = std::min(it->second.first, term.coefficient);
        ++it->second.second;
      }
    }
  }
  Terms terms;
  for (const auto& [monomial, entry] : least) {
    const std::int64_t coefficient =
        entry.second == values.size() ? entry.first : std::min<std::int64_t>(entry.first, 0);
    if (coefficient != 0) {
      terms.push_back({coefficient, monomial});
    }
  }
  return poison_unless(collect(std::move(terms)));
}

bool has_poison(const std::vector<Int>& values) {
  return std::any_of(values.begin(), values.end(), [](Int value) { return value.is_poison(); });
}

// The arguments without those that another exceeds by a constant.
std::vector<Int> without_dominated(const std::vector<Int>& arguments) {
  std::vector<Int> kept;
  for (const Int argument : arguments) {
    bool dominated = false;
    for (std::size_t i = 0; i < kept.size() && !dominated; ++i) {
      const Int difference = argument - kept[i];
      if (difference.is_constant()) {
        kept[i] = difference.value() > 0 ? argument : kept[i];
        dominated = true;
      }
    }
    if (!dominated) {
      kept.push_back(argument);
    }
  }
  return kept;
}

// A maximum is shift + factor*max(...) where the arguments share neither a summand nor a constant factor.
Int max_of(std::vector<Int> arguments) {
  Int shift = 0;
  Int factor = 1;
  do {
    while (!has_poison(arguments) && flatten_max(&arguments)) {
    }
    if (has_poison(arguments)) {
      return Int::poison();
    }
    arguments = without_dominated(arguments);
    const Int least = least_coefficients(arguments);
    shift += factor * least;
    std::int64_t common = 0;
    for (Int& argument : arguments) {
      argument -= least;
      if (argument.is_poison()) {
        return argument;
      }
      common = gcd_of(common, content(argument));
    }
    if (arguments.size() == 1) {
      return shift;
    }
    for (Int& argument : arguments) {
      argument = exact_div(argument, common).value();
    }
    factor *= common;
    // Taking away what the arguments share may have laid bare a maximum in one of them.
  } while (flatten_max(&arguments));
  std::sort(arguments.begin(), arguments.end(), ContentLess());
  return shift + factor * from_atom(make_atom(AtomKind::max, {}, std::move(arguments)));
}

}  // namespace

namespace detail {

Int from_polynomial(const Polynomial* polynomial, std::uint64_t hash) {
  return Int(polynomial, static_cast<std::int64_t>(hash));
}

Int add(Int a, Int b) {
  if (a.is_poison() || b.is_poison()) {
    return Int::poison();
  }
  return poison_unless(add_terms(terms_of(a), terms_of(b)));
}

Int subtract(Int a, Int b) {
  if (a.is_poison() || b.is_poison()) {
    return Int::poison();
  }
  return poison_unless(subtract_terms(terms_of(a), terms_of(b)));
}

Int multiply(Int a, Int b) {
  if (a.is_poison() || b.is_poison()) {
    return Int::poison();
  }
  return poison_unless(multiply_terms(terms_of(a), terms_of(b)));
}

Int floordiv(Int a, Int b) {
  if (a.is_poison() || b.is_poison() || b == Int(0)) {
    return Int::poison();
  }
  Terms divisor = terms_of(b);
  if (divisor.front().coefficient < 0) {
    return detail::floordiv(-a, -b);
  }
  if (b == Int(1)) {
    return a;
  }
  if (a.is_constant() && b.is_constant()) {
    return floor_quotient(a.value(), b.value());
  }
  const Terms dividend = terms_of(a);
  if (b.is_constant() && has_atom(dividend, AtomKind::floordiv)) {
    if (const auto result = divide_remainders(a, b.value())) {
      return *result;
    }
  }
  auto division = divide(dividend, divisor, false);
  if (!division) {
    return Int::poison();
  }
  const Int quotient = finish(std::move(division->quotient));
  if (division->remainder.empty()) {
    return quotient;
  }
  return quotient + (b.is_constant() ? floordiv_by_constant(std::move(division->remainder), b.value())
                                     : floordiv_by_polynomial(finish(std::move(division->remainder)), b));
}

Int mod(Int a, Int b) {
  return a - b * sym::floordiv(a, b);
}

Int max(Int a, Int b) {
  if (a.is_poison() || b.is_poison()) {
    return Int::poison();
  }
  return max_of({a, b});
}

Int min(Int a, Int b) {
  return -sym::max(-a, -b);
}

std::optional<Int> exact_div(Int a, Int b) {
  if (a.is_poison() || b.is_poison() || b == Int(0)) {
    return std::nullopt;
  }
  if (b == Int(1)) {
    return a;
  }
  if (a == b) {
    return 1;
  }
  const Terms divisor = terms_of(b);
  if (divisor.front().coefficient < 0) {
    const Int numerator = -a;
    const Int denominator = -b;
    if (numerator.is_poison() || denominator.is_poison()) {
      return std::nullopt;
    }
    return sym::exact_div(numerator, denominator);
  }
  auto division = divide(terms_of(a), divisor, true);
  return division ? std::optional(finish(std::move(division->quotient))) : std::nullopt;
}

Folded fold(Int value) {
  Folded result{{}, value};
  bool changed = !value.is_constant() && !value.is_poison();
  while (changed) {
    changed = false;
    const Terms terms = terms_of(result.rest);
    for (const Term& term : terms) {
      for (const Factor& factor : term.monomial->factors) {
        const Atom* const atom = factor.atom;
        if (factor.exponent != 1 || atom->kind == AtomKind::symbol) {
          continue;
        }
        const Int one = from_atom(atom);
        const Int scale = sym::exact_div(from_term(term), one).value();
        FoldedPart part;
        if (atom->kind == AtomKind::floordiv) {
          // scale*floor = factor*(a - b*floor) - factor*a  with  factor = -scale/b
          const auto quotient = sym::exact_div(-scale, atom->arguments[1]);
          if (!quotient) {
            continue;
          }
          part = FoldedPart{*quotient, FoldedKind::mod, atom->arguments};
        } else {
          // scale*max(xs) = scale*(t - min(t - xs)) for any t
          std::vector<Int> negated;
          for (const Int argument : atom->arguments) {
            negated.push_back(-argument);
          }
          if (has_poison(negated)) {
            continue;
          }
          const Int shift = -least_coefficients(negated);
          part = FoldedPart{-scale, FoldedKind::min, {}};
          for (const Int argument : negated) {
            part.arguments.push_back(shift + argument);
          }
          std::sort(part.arguments.begin(), part.arguments.end(), ContentLess());
        }
        const Int whole = part.kind == FoldedKind::mod
                              ? part.factor * (part.arguments[0] - part.arguments[1] * one)
                              : part.factor * std::accumulate(part.arguments.begin() + 1,
                                                              part.arguments.end(), part.arguments.front(),
                                                              [](Int a, Int b) { return sym::min(a, b); });
        const Int rest = result.rest - whole;
        if (rest.is_poison() || terms_of(rest).size() + 1 >= terms.size()) {
          continue;
        }
        result.parts.push_back(std::move(part));
        result.rest = rest;
        changed = true;
        break;
      }
      if (changed) {
        break;
      }
    }
  }
  return result;
}

}  // namespace detail

Int Int::symbol(std::string_view name) {
  ENTANGLE_CHECK(!name.empty(), "a symbol without a name");
  return from_atom(make_atom(AtomKind::symbol, std::string(name), {}));
}

bool Int::is_symbol() const {
  if (is_constant() || is_poison() || polynomial_->terms.size() != 1 ||
      polynomial_->terms.front().coefficient != 1) {
    return false;
  }
  const Atom* const atom = only_atom(polynomial_->terms.front().monomial);
  return atom != nullptr && atom->kind == AtomKind::symbol;
}

const std::string& Int::name() const {
  ENTANGLE_CHECK(is_symbol(), "Int::name of something else than a symbol");
  return polynomial_->terms.front().monomial->factors.front().atom->name;
}

Int pow(Int a, unsigned exponent) {
  Int result = 1;
  for (unsigned i = 0; i < exponent && !result.is_poison(); ++i) {
    // Constants of magnitude up to 1 stay themselves, others overflow soon.
    if (a == Int(0) || a == Int(1)) {
      return a;
    }
    if (a == Int(-1)) {
      return exponent % 2 == 0 ? 1 : -1;
    }
    result *= a;
  }
  return result;
}

Int sum(const std::vector<Int>& values) {
  return std::accumulate(values.begin(), values.end(), Int(0), [](Int a, Int b) { return a + b; });
}

Int product(const std::vector<Int>& values) {
  return std::accumulate(values.begin(), values.end(), Int(1), [](Int a, Int b) { return a * b; });
}

std::strong_ordering compare(Int a, Int b) {
  if (a == b) {
    return std::strong_ordering::equal;
  }
  if (a.is_constant() && b.is_constant()) {
    return a.value() <=> b.value();
  }
  const auto rank = [](Int value) { return value.is_constant() ? 0 : value.is_poison() ? 2 : 1; };
  if (rank(a) != rank(b)) {
    return rank(a) <=> rank(b);
  }
  const Terms& left = a.polynomial()->terms;
  const Terms& right = b.polynomial()->terms;
  return std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end(),
                                                [](const Term& x, const Term& y) -> std::strong_ordering {
                                                  if (x.monomial == y.monomial) {
                                                    return x.coefficient <=> y.coefficient;
                                                  }
                                                  // Lower degrees first; of one degree, in the order of the
                                                  // atoms.
                                                  if (x.monomial->degree != y.monomial->degree) {
                                                    return x.monomial->degree <=> y.monomial->degree;
                                                  }
                                                  return compare_monomials(y.monomial, x.monomial);
                                                });
}

std::vector<Term> terms_of(Int value) {
  ENTANGLE_CHECK(!value.is_poison(), "terms of poison");
  if (!value.is_constant()) {
    return value.polynomial()->terms;
  }
  return value == Int(0) ? Terms{} : Terms{{value.value(), unit()}};
}

Int from_term(const Term& term) {
  return term.coefficient == 0 ? Int(0) : finish({term});
}

Int from_atom(const Atom* atom) {
  return finish({{1, make_monomial({{atom, 1}})}});
}

std::int64_t constant_term(Int value) {
  const Terms terms = terms_of(value);
  return !terms.empty() && terms.back().monomial == unit() ? terms.back().coefficient : 0;
}

std::int64_t content(Int value) {
  std::int64_t result = 0;
  for (const Term& term : terms_of(value)) {
    result = gcd_of(result, term.coefficient);
  }
  return result;
}

}  // namespace entangle::sym
