#include "entangle/sym/int.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "fold.h"
#include "interner.h"

namespace entangle::sym {

namespace detail {

const Polynomial kPoison;

}  // namespace detail

namespace {

constexpr std::uint32_t kMaxDegree = 4096;

using Terms = std::vector<Term>;

// --- Interning
// ------------------------------------------------------------------------------------------------

struct SameAtom {
  bool operator()(const Atom& a, const Atom& b) const {
    return a.kind == b.kind && a.name == b.name && a.arguments == b.arguments;
  }
};
struct SameMonomial {
  bool operator()(const Monomial& a, const Monomial& b) const { return a.factors == b.factors; }
};
struct SamePolynomial {
  bool operator()(const Polynomial& a, const Polynomial& b) const { return a.terms == b.terms; }
};

struct Tables {
  detail::Interner<Atom, SameAtom> atoms;
  detail::Interner<Monomial, SameMonomial> monomials;
  detail::Interner<Polynomial, SamePolynomial> polynomials;
};

// Never destroyed: Ints may be used by destructors of other static objects.
Tables& tables() {
  static Tables& instance = *new Tables;
  return instance;
}

const Atom* make_atom(AtomKind kind, std::string name, std::vector<Int> arguments) {
  std::uint64_t hash = support::hash_combine(static_cast<std::uint64_t>(kind) + 1, support::hash_bytes(name));
  for (const Int argument : arguments) {
    hash = support::hash_combine(hash, argument.hash());
  }
  return tables().atoms.intern({kind, std::move(name), std::move(arguments), hash});
}

const Monomial* make_monomial(std::vector<Factor> factors) {
  std::uint32_t degree = 0;
  std::uint64_t hash = 17;
  for (const Factor& factor : factors) {
    degree += factor.exponent;
    hash = support::hash_combine(support::hash_combine(hash, factor.atom->hash), factor.exponent);
  }
  return tables().monomials.intern({std::move(factors), degree, hash});
}

const Monomial* unit() {
  static const Monomial* const instance = make_monomial({});
  return instance;
}

// The Int with these terms, which are sorted and have no zero coefficients.
Int finish(Terms terms) {
  if (terms.empty()) {
    return 0;
  }
  if (terms.size() == 1 && terms.front().monomial == unit()) {
    return terms.front().coefficient;
  }
  if (terms.size() > kMaxTerms) {
    return Int::poison();
  }
  std::uint64_t hash = 29;
  for (const Term& term : terms) {
    hash = support::hash_combine(support::hash_combine(hash, term.monomial->hash),
                                 static_cast<std::uint64_t>(term.coefficient));
  }
  return detail::from_polynomial(tables().polynomials.intern({std::move(terms), hash}), hash);
}

// --- Orders
// ---------------------------------------------------------------------------------------------------

std::strong_ordering compare_atoms(const Atom* a, const Atom* b) {
  if (a == b) {
    return std::strong_ordering::equal;
  }
  if (a->kind != b->kind) {
    return a->kind <=> b->kind;
  }
  if (const auto order = a->name.compare(b->name); order != 0) {
    return order <=> 0;
  }
  return std::lexicographical_compare_three_way(a->arguments.begin(), a->arguments.end(),
                                                b->arguments.begin(), b->arguments.end(),
                                                [](Int left, Int right) { return compare(left, right); });
}

// Graded lexicographic: an admissible order, so that division by one polynomial has a unique remainder. The
// atom that is first in content order weighs most.
std::strong_ordering compare_monomials(const Monomial* a, const Monomial* b) {
  if (a == b) {
    return std::strong_ordering::equal;
  }
  if (a->degree != b->degree) {
    return a->degree <=> b->degree;
  }
  for (std::size_t i = 0; i < a->factors.size() && i < b->factors.size(); ++i) {
    const Factor& left = a->factors[i];
    const Factor& right = b->factors[i];
    if (left.atom != right.atom) {
      return compare_atoms(right.atom, left.atom);
    }
    if (left.exponent != right.exponent) {
      return left.exponent <=> right.exponent;
    }
  }
  return a->factors.size() <=> b->factors.size();
}

bool before(const Term& a, const Term& b) {
  return compare_monomials(a.monomial, b.monomial) > 0;
}

// --- Arithmetic on terms
// --------------------------------------------------------------------------------------
//
// These return nothing when 64 bits or the limits are exceeded.

std::optional<Terms> add_scaled(const Terms& a, std::int64_t scale, const Terms& b) {
  Terms result;
  result.reserve(a.size() + b.size());
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    std::strong_ordering order = std::strong_ordering::equal;
    if (left == a.end()) {
      order = std::strong_ordering::less;
    } else if (right == b.end()) {
      order = std::strong_ordering::greater;
    } else {
      order = compare_monomials(left->monomial, right->monomial);
    }
    if (order > 0) {
      result.push_back(*left++);
      continue;
    }
    Term term{0, right->monomial};
    if (__builtin_mul_overflow(right->coefficient, scale, &term.coefficient)) {
      return std::nullopt;
    }
    if (order == 0) {
      if (__builtin_add_overflow(left->coefficient, term.coefficient, &term.coefficient)) {
        return std::nullopt;
      }
      ++left;
    }
    ++right;
    if (term.coefficient != 0) {
      result.push_back(term);
    }
  }
  return result;
}

std::optional<const Monomial*> multiply_monomials(const Monomial* a, const Monomial* b) {
  if (a == unit()) {
    return b;
  }
  if (b == unit()) {
    return a;
  }
  if (a->degree + b->degree > kMaxDegree) {
    return std::nullopt;
  }
  std::vector<Factor> factors;
  factors.reserve(a->factors.size() + b->factors.size());
  auto left = a->factors.begin();
  auto right = b->factors.begin();
  while (left != a->factors.end() && right != b->factors.end()) {
    const auto order = compare_atoms(left->atom, right->atom);
    if (order < 0) {
      factors.push_back(*left++);
    } else if (order > 0) {
      factors.push_back(*right++);
    } else {
      factors.push_back({left->atom, left->exponent + right->exponent});
      ++left;
      ++right;
    }
  }
  factors.insert(factors.end(), left, a->factors.end());
  factors.insert(factors.end(), right, b->factors.end());
  return make_monomial(std::move(factors));
}

// a/b, if it is a monomial.
std::optional<const Monomial*> divide_monomials(const Monomial* a, const Monomial* b) {
  if (b == unit()) {
    return a;
  }
  if (a == b) {
    return unit();
  }
  std::vector<Factor> factors;
  auto divisor = b->factors.begin();
  for (const Factor& factor : a->factors) {
    if (divisor != b->factors.end() && divisor->atom == factor.atom) {
      if (divisor->exponent > factor.exponent) {
        return std::nullopt;
      }
      if (divisor->exponent < factor.exponent) {
        factors.push_back({factor.atom, factor.exponent - divisor->exponent});
      }
      ++divisor;
    } else {
      factors.push_back(factor);
    }
  }
  if (divisor != b->factors.end()) {
    return std::nullopt;
  }
  return make_monomial(std::move(factors));
}

const Monomial* common_monomial(const Monomial* a, const Monomial* b) {
  std::vector<Factor> factors;
  for (const Factor& factor : a->factors) {
    for (const Factor& other : b->factors) {
      if (factor.atom == other.atom) {
        factors.push_back({factor.atom, std::min(factor.exponent, other.exponent)});
      }
    }
  }
  return make_monomial(std::move(factors));
}

// The terms, sorted, those of one monomial added up.
std::optional<Terms> collect(Terms terms) {
  std::sort(terms.begin(), terms.end(), before);
  Terms result;
  for (std::size_t i = 0; i < terms.size();) {
    Term term = terms[i];
    for (++i; i < terms.size() && terms[i].monomial == term.monomial; ++i) {
      if (__builtin_add_overflow(term.coefficient, terms[i].coefficient, &term.coefficient)) {
        return std::nullopt;
      }
    }
    if (term.coefficient != 0) {
      result.push_back(term);
    }
  }
  return result;
}

std::optional<Terms> multiply_terms(const Terms& a, const Terms& b) {
  if (a.size() * b.size() > 64 * kMaxTerms) {
    return std::nullopt;
  }
  Terms result;
  result.reserve(a.size() * b.size());
  for (const Term& left : a) {
    for (const Term& right : b) {
      Term term;
      const auto monomial = multiply_monomials(left.monomial, right.monomial);
      if (!monomial || __builtin_mul_overflow(left.coefficient, right.coefficient, &term.coefficient)) {
        return std::nullopt;
      }
      term.monomial = *monomial;
      result.push_back(term);
    }
  }
  return collect(std::move(result));
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

struct Division {
  Terms quotient;
  Terms remainder;
};

// a = quotient * b + remainder for a divisor b with a positive leading coefficient c: no term of the
// remainder is divisible by b's leading monomial unless its coefficient lies in [0, c). That makes both
// unique. With `exact`, gives up at the first term of the remainder.
std::optional<Division> divide(const Terms& a, const Terms& b, bool exact) {
  const Term leading = b.front();
  Division result;
  Terms work = a;
  for (std::size_t steps = 0; !work.empty(); ++steps) {
    if (steps > kMaxTerms) {
      return std::nullopt;
    }
    const Term term = work.front();
    const auto monomial = divide_monomials(term.monomial, leading.monomial);
    const std::int64_t coefficient = monomial ? floor_quotient(term.coefficient, leading.coefficient) : 0;
    if (coefficient != 0) {
      result.quotient.push_back({coefficient, *monomial});
      const auto product = multiply_terms({{coefficient, *monomial}}, b);
      const auto rest = product ? add_scaled(work, -1, *product) : std::nullopt;
      if (!rest) {
        return std::nullopt;
      }
      work = *rest;
      if (work.empty() || work.front().monomial != term.monomial) {
        continue;
      }
    }
    if (exact) {
      return std::nullopt;
    }
    result.remainder.push_back(work.front());
    work.erase(work.begin());
  }
  return result;
}

std::int64_t gcd_of(std::int64_t a, std::int64_t b) {
  // The magnitude of the least int64 is none; as a divisor, 1 is always right.
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  return a == kLeast || b == kLeast ? 1 : std::gcd(a, b);
}

// The single atom that the monomial is, to the power of 1.
const Atom* only_atom(const Monomial* monomial) {
  return monomial->factors.size() == 1 && monomial->factors.front().exponent == 1
             ? monomial->factors.front().atom
             : nullptr;
}

bool has_atom(const Terms& terms, AtomKind kind) {
  return std::any_of(terms.begin(), terms.end(), [kind](const Term& term) {
    return std::any_of(term.monomial->factors.begin(), term.monomial->factors.end(),
                       [kind](const Factor& factor) { return factor.atom->kind == kind; });
  });
}

Int poison_unless(const std::optional<Terms>& terms) {
  return terms ? finish(*terms) : Int::poison();
}

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

void collect_symbols(Int value, std::vector<Int>* symbols) {
  if (value.is_constant()) {
    return;
  }
  for (const Term& term : value.polynomial()->terms) {
    for (const Factor& factor : term.monomial->factors) {
      if (factor.atom->kind == AtomKind::symbol) {
        symbols->push_back(from_atom(factor.atom));
      }
      for (const Int argument : factor.atom->arguments) {
        collect_symbols(argument, symbols);
      }
    }
  }
}

std::optional<std::int64_t> evaluate_atom(const Atom* atom, const Valuation& valuation) {
  if (atom->kind == AtomKind::symbol) {
    const auto it = valuation.find(from_atom(atom));
    return it == valuation.end() ? std::nullopt : std::optional(it->second);
  }
  std::optional<std::int64_t> result;
  for (const Int argument : atom->arguments) {
    const auto value = evaluate(argument, valuation);
    if (!value) {
      return std::nullopt;
    }
    if (!result) {
      result = value;
    } else if (atom->kind == AtomKind::max) {
      result = std::max(*result, *value);
    } else {
      result = floordiv(Int(*result), Int(*value)).constant();
    }
    if (!result) {
      return std::nullopt;
    }
  }
  return result;
}

Int substitute_atom(const Atom* atom, const Substitution& substitution) {
  if (atom->kind == AtomKind::symbol) {
    const Int symbol = from_atom(atom);
    const auto it = substitution.find(symbol);
    return it == substitution.end() ? symbol : it->second;
  }
  std::vector<Int> arguments;
  for (const Int argument : atom->arguments) {
    arguments.push_back(substitute(argument, substitution));
  }
  if (arguments == atom->arguments) {
    return from_atom(atom);
  }
  if (atom->kind == AtomKind::floordiv) {
    return floordiv(arguments[0], arguments[1]);
  }
  Int result = arguments.front();
  for (const Int argument : arguments) {
    result = max(result, argument);
  }
  return result;
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
  return poison_unless(add_scaled(terms_of(a), 1, terms_of(b)));
}

Int subtract(Int a, Int b) {
  if (a.is_poison() || b.is_poison()) {
    return Int::poison();
  }
  return poison_unless(add_scaled(terms_of(a), -1, terms_of(b)));
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

Int substitute(Int value, const Substitution& substitution) {
  if (value.is_constant() || value.is_poison() || substitution.empty()) {
    return value;
  }
  std::vector<Int> symbols;
  collect_symbols(value, &symbols);
  if (std::none_of(symbols.begin(), symbols.end(),
                   [&substitution](Int symbol) { return substitution.contains(symbol); })) {
    return value;
  }
  Int result = 0;
  for (const Term& term : value.polynomial()->terms) {
    Int product = term.coefficient;
    for (const Factor& factor : term.monomial->factors) {
      product *= pow(substitute_atom(factor.atom, substitution), factor.exponent);
    }
    result += product;
  }
  return result;
}

std::vector<Int> symbols_of(Int value) {
  std::vector<Int> result;
  if (!value.is_poison()) {
    collect_symbols(value, &result);
  }
  std::sort(result.begin(), result.end(), ContentLess());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

bool mentions(Int value, Int symbol) {
  std::vector<Int> symbols;
  if (!value.is_poison()) {
    collect_symbols(value, &symbols);
  }
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

std::optional<std::int64_t> evaluate(Int value, const Valuation& valuation) {
  if (value.is_constant()) {
    return value.value();
  }
  if (value.is_poison()) {
    return std::nullopt;
  }
  Int result = 0;
  for (const Term& term : value.polynomial()->terms) {
    Int product = term.coefficient;
    for (const Factor& factor : term.monomial->factors) {
      const auto base = evaluate_atom(factor.atom, valuation);
      if (!base) {
        return std::nullopt;
      }
      product *= pow(Int(*base), factor.exponent);
    }
    result += product;
  }
  return result.constant();
}

}  // namespace entangle::sym
