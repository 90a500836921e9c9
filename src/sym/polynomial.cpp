#include "polynomial.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "interner.h"

namespace entangle::sym::detail {

namespace {

// Sizes are products of few sizes; what is beyond is as good as a number that is too large.
constexpr std::uint32_t kMaxDegree = 16;

}  // namespace

// --- Interning
// ------------------------------------------------------------------------------------------------

namespace {

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
  Interner<Atom, SameAtom> atoms;
  Interner<Monomial, SameMonomial> monomials;
  Interner<Polynomial, SamePolynomial> polynomials;
};

// Never destroyed: Ints may be used by destructors of other static objects.
Tables& tables() {
  static Tables& instance = *new Tables;
  return instance;
}

}  // namespace

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
  return from_polynomial(tables().polynomials.intern({std::move(terms), hash}), hash);
}

// --- Orders
// ---------------------------------------------------------------------------------------------------

namespace {

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

}  // namespace

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

namespace {

bool before(const Term& a, const Term& b) {
  return compare_monomials(a.monomial, b.monomial) > 0;
}

}  // namespace

// --- Arithmetic on terms
// --------------------------------------------------------------------------------------

namespace {

// The terms of a and b; `combine` makes the coefficient of those of b, from that of a, and says whether it
// overflows.
template <class Combine>
std::optional<Terms> combined(const Terms& a, const Terms& b, const Combine& combine) {
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
    const std::int64_t first = order == 0 ? left++->coefficient : 0;
    Term term = *right++;
    if (combine(first, term.coefficient, &term.coefficient)) {
      return std::nullopt;
    }
    if (term.coefficient != 0) {
      result.push_back(term);
    }
  }
  return result;
}

}  // namespace

std::optional<Terms> add_terms(const Terms& a, const Terms& b) {
  return combined(a, b, [](std::int64_t x, std::int64_t y, std::int64_t* sum) {
    return __builtin_add_overflow(x, y, sum);
  });
}

// Not by adding the negated terms: m - m is 0 also for the least m, whose negative is none.
std::optional<Terms> subtract_terms(const Terms& a, const Terms& b) {
  return combined(a, b, [](std::int64_t x, std::int64_t y, std::int64_t* difference) {
    return __builtin_sub_overflow(x, y, difference);
  });
}

namespace {

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

}  // namespace

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

std::int64_t ceiling_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

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
      const auto rest = product ? subtract_terms(work, *product) : std::nullopt;
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

}  // namespace entangle::sym::detail
