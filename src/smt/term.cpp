#include "entangle/smt/term.h"

#include <algorithm>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>
#include <unordered_map>
#include <utility>

#include "entangle/support/check.h"
#include "node.h"

namespace entangle::smt {

namespace {

bool is_arithmetic(const Term& term) {
  return term.sort() != Sort::boolean;
}

bool is_constant(const Term& term, long value) {
  return term.kind() == Kind::constant && is_arithmetic(term) && *term.as_rational() == value;
}

void check_sort(const Term& term, Sort sort) {
  ENTANGLE_CHECK(term.sort() == sort, "a term of the wrong sort: " + to_string(term));
}

// Brings numbers to a common sort: reals, if one of them is real.
Sort join_sorts(std::vector<Term>* terms, Sort sort) {
  for (const Term& term : *terms) {
    ENTANGLE_CHECK(is_arithmetic(term), "arithmetic on a boolean: " + to_string(term));
    sort = term.sort() == Sort::real ? Sort::real : sort;
  }
  if (sort == Sort::real) {
    for (Term& term : *terms) {
      term = to_real(term);
    }
  }
  return sort;
}

// Sums and products, flattened, with the constants folded into one at the end.
Term combine(Kind kind, std::vector<Term> terms, Sort sort) {
  sort = join_sorts(&terms, sort);
  const bool adding = kind == Kind::add;
  mpq_class constant = adding ? 0 : 1;
  std::vector<Term> rest;
  for (const Term& term : terms) {
    const std::vector<Term> parts = term.kind() == kind ? term.arguments() : std::vector<Term>{term};
    for (const Term& part : parts) {
      if (const auto value = part.kind() == Kind::constant ? part.as_rational() : std::nullopt) {
        constant = adding ? mpq_class(constant + *value) : mpq_class(constant * *value);
      } else {
        rest.push_back(part);
      }
    }
  }
  if (!adding && constant == 0) {
    return TermFactory::constant(0, sort);
  }
  if (constant != (adding ? 0 : 1) || rest.empty()) {
    rest.push_back(TermFactory::constant(constant, sort));
  }
  return rest.size() == 1 ? rest.front() : TermFactory::make(kind, sort, std::move(rest));
}

// Conjunctions and disjunctions, flattened and without repetitions.
Term junction(Kind kind, const std::vector<Term>& terms) {
  const bool neutral = kind == Kind::logical_and;
  std::vector<Term> kept;
  for (const Term& term : terms) {
    check_sort(term, Sort::boolean);
    for (const Term& part : term.kind() == kind ? term.arguments() : std::vector<Term>{term}) {
      if (const auto value = part.as_boolean()) {
        if (*value != neutral) {
          return part;
        }
      } else if (std::find(kept.begin(), kept.end(), part) == kept.end()) {
        kept.push_back(part);
      }
    }
  }
  if (kept.empty()) {
    return Term::boolean(neutral);
  }
  return kept.size() == 1 ? kept.front() : TermFactory::make(kind, Sort::boolean, std::move(kept));
}

mpz_class euclidean_quotient(const mpz_class& a, const mpz_class& b) {
  mpz_class remainder;
  const mpz_class magnitude = abs(b);
  mpz_fdiv_r(remainder.get_mpz_t(), a.get_mpz_t(), magnitude.get_mpz_t());
  return (a - remainder) / b;
}

Term integer_operation(Kind kind, const Term& a, const Term& b) {
  check_sort(a, Sort::integer);
  check_sort(b, Sort::integer);
  if (is_constant(b, 1)) {
    return kind == Kind::div ? a : Term::integer(0);
  }
  if (a.kind() == Kind::constant && b.kind() == Kind::constant && !is_constant(b, 0)) {
    const mpz_class x = a.as_rational()->get_num();
    const mpz_class y = b.as_rational()->get_num();
    const mpz_class quotient = euclidean_quotient(x, y);
    return Term::integer(kind == Kind::div ? quotient : mpz_class(x - y * quotient));
  }
  return TermFactory::make(kind, Sort::integer, {a, b});
}

Term order(Kind kind, const Term& a, const Term& b) {
  std::vector<Term> sides = {a, b};
  join_sorts(&sides, Sort::integer);
  if (sides[0].kind() == Kind::constant && sides[1].kind() == Kind::constant) {
    const int sign = cmp(*sides[0].as_rational(), *sides[1].as_rational());
    return Term::boolean(kind == Kind::less ? sign < 0 : sign <= 0);
  }
  if (sides[0] == sides[1]) {
    return Term::boolean(kind == Kind::less_equal);
  }
  return TermFactory::make(kind, Sort::boolean, std::move(sides));
}

// The same operation on other arguments, simplified anew.
Term with_arguments(const Term& term, const std::vector<Term>& arguments) {
  switch (term.kind()) {
    case Kind::constant:
    case Kind::variable:
      return term;
    case Kind::apply:
      return term.function()(arguments);
    case Kind::add:
    case Kind::multiply:
      return combine(term.kind(), arguments, term.sort());
    case Kind::divide:
      return arguments[0] / arguments[1];
    case Kind::div:
    case Kind::mod:
      return integer_operation(term.kind(), arguments[0], arguments[1]);
    case Kind::to_real:
      return to_real(arguments[0]);
    case Kind::ite:
      return ite(arguments[0], arguments[1], arguments[2]);
    case Kind::equal:
      return eq(arguments[0], arguments[1]);
    case Kind::less_equal:
    case Kind::less:
      return order(term.kind(), arguments[0], arguments[1]);
    case Kind::logical_not:
      return !arguments[0];
    case Kind::logical_and:
    case Kind::logical_or:
      return junction(term.kind(), arguments);
  }
  return term;
}

using Replacements = std::unordered_map<Term, Term>;

Term replace(const Term& term, Replacements* known) {
  const auto it = known->find(term);
  if (it != known->end()) {
    return it->second;
  }
  const auto replaced = [&](const Term& argument) { return replace(argument, known); };
  const auto arguments = term.arguments() | ranges::views::transform(replaced) | ranges::to<std::vector>();
  const Term result = arguments == term.arguments() ? term : with_arguments(term, arguments);
  known->emplace(term, result);
  return result;
}

Term atom_term(const sym::Atom* atom) {
  if (atom->kind == sym::AtomKind::symbol) {
    return Term::variable(atom->name, Sort::integer);
  }
  Term result = from_int(atom->arguments.front());
  for (std::size_t i = 1; i < atom->arguments.size(); ++i) {
    const Term argument = from_int(atom->arguments[i]);
    result = atom->kind == sym::AtomKind::max ? max(result, argument) : floordiv(result, argument);
  }
  return result;
}

}  // namespace

// --- Functions
// ------------------------------------------------------------------------------------------------

Function::Function(std::string name, std::vector<Sort> domain, Sort range)
    : data_(std::make_shared<const Data>(Data{std::move(name), std::move(domain), range})) {}

bool Function::operator==(const Function& other) const {
  return data_ == other.data_ || (data_->name == other.data_->name && data_->domain == other.data_->domain &&
                                  data_->range == other.data_->range);
}

Term Function::operator()(std::vector<Term> arguments) const {
  ENTANGLE_CHECK(arguments.size() == domain().size(), "wrong number of arguments of " + name());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (domain()[i] == Sort::real) {
      arguments[i] = to_real(arguments[i]);
    }
    check_sort(arguments[i], domain()[i]);
  }
  Term::Node content;
  content.kind = Kind::apply;
  content.sort = range();
  content.arguments = std::move(arguments);
  content.function = *this;
  return TermFactory::make(std::move(content));
}

// --- Operations
// -----------------------------------------------------------------------------------------------

Term operator+(const Term& a, const Term& b) {
  return combine(Kind::add, {a, b}, Sort::integer);
}

Term operator-(const Term& a) {
  return combine(Kind::multiply, {a, Term::integer(-1)}, Sort::integer);
}

Term operator-(const Term& a, const Term& b) {
  if (a == b && is_arithmetic(a)) {
    return TermFactory::constant(0, a.sort());
  }
  return a + (-b);
}

Term operator*(const Term& a, const Term& b) {
  return combine(Kind::multiply, {a, b}, Sort::integer);
}

Term operator/(const Term& a, const Term& b) {
  const Term x = to_real(a);
  const Term y = to_real(b);
  if (const auto divisor = y.as_rational(); divisor && *divisor != 0) {
    return x * Term::real(1 / *divisor);
  }
  return TermFactory::make(Kind::divide, Sort::real, {x, y});
}

Term sum(std::vector<Term> terms, Sort sort) {
  return combine(Kind::add, std::move(terms), sort);
}

Term product(std::vector<Term> terms, Sort sort) {
  return combine(Kind::multiply, std::move(terms), sort);
}

Term div(const Term& a, const Term& b) {
  return integer_operation(Kind::div, a, b);
}

Term mod(const Term& a, const Term& b) {
  return integer_operation(Kind::mod, a, b);
}

Term floordiv(const Term& a, const Term& b) {
  if (const auto divisor = b.as_rational()) {
    return *divisor < 0 ? div(-a, -b) : div(a, b);
  }
  return ite(Term(0) < b, div(a, b), div(-a, -b));
}

Term floormod(const Term& a, const Term& b) {
  return a - b * floordiv(a, b);
}

Term max(const Term& a, const Term& b) {
  return ite(b <= a, a, b);
}

Term to_real(const Term& a) {
  ENTANGLE_CHECK(is_arithmetic(a), "a boolean where a real is expected: " + to_string(a));
  if (a.sort() == Sort::real) {
    return a;
  }
  return a.kind() == Kind::constant ? Term::real(*a.as_rational())
                                    : TermFactory::make(Kind::to_real, Sort::real, {a});
}

Term eq(const Term& a, const Term& b) {
  std::vector<Term> sides = {a, b};
  if (is_arithmetic(a) || is_arithmetic(b)) {
    join_sorts(&sides, Sort::integer);
  } else if (a.kind() == Kind::constant || b.kind() == Kind::constant) {
    const Term& constant = a.kind() == Kind::constant ? a : b;
    const Term& other = a.kind() == Kind::constant ? b : a;
    return constant.is_true() ? other : !other;
  }
  if (sides[0] == sides[1]) {
    return Term::boolean(true);
  }
  if (sides[0].kind() == Kind::constant && sides[1].kind() == Kind::constant) {
    return Term::boolean(false);
  }
  return TermFactory::make(Kind::equal, Sort::boolean, std::move(sides));
}

Term ne(const Term& a, const Term& b) {
  return !eq(a, b);
}

Term operator<(const Term& a, const Term& b) {
  return order(Kind::less, a, b);
}

Term operator<=(const Term& a, const Term& b) {
  return order(Kind::less_equal, a, b);
}

Term operator>(const Term& a, const Term& b) {
  return b < a;
}

Term operator>=(const Term& a, const Term& b) {
  return b <= a;
}

Term operator!(const Term& a) {
  check_sort(a, Sort::boolean);
  if (const auto value = a.as_boolean()) {
    return Term::boolean(!*value);
  }
  return a.kind() == Kind::logical_not ? a.arguments().front()
                                       : TermFactory::make(Kind::logical_not, Sort::boolean, {a});
}

Term operator&&(const Term& a, const Term& b) {
  return junction(Kind::logical_and, {a, b});
}

Term operator||(const Term& a, const Term& b) {
  return junction(Kind::logical_or, {a, b});
}

Term all_of(std::vector<Term> terms) {
  return junction(Kind::logical_and, terms);
}

Term any_of(std::vector<Term> terms) {
  return junction(Kind::logical_or, terms);
}

Term ite(const Term& condition, const Term& then, const Term& otherwise) {
  check_sort(condition, Sort::boolean);
  std::vector<Term> branches = {then, otherwise};
  if (is_arithmetic(then) || is_arithmetic(otherwise)) {
    join_sorts(&branches, Sort::integer);
  }
  if (const auto value = condition.as_boolean()) {
    return branches[*value ? 0 : 1];
  }
  if (branches[0] == branches[1]) {
    return branches[0];
  }
  const Sort sort = branches[0].sort();
  return TermFactory::make(Kind::ite, sort, {condition, branches[0], branches[1]});
}

Term substitute(const Term& term, const std::vector<Term>& from, const std::vector<Term>& to) {
  ENTANGLE_CHECK(from.size() == to.size(), "a substitution of lists of different length");
  Replacements known;
  for (std::size_t i = 0; i < from.size(); ++i) {
    check_sort(to[i], from[i].sort());
    known.emplace(from[i], to[i]);
  }
  return replace(term, &known);
}

Term from_int(sym::Int value) {
  std::vector<Term> sum_terms;
  for (const sym::Term& term : sym::terms_of(value)) {
    std::vector<Term> factors = {Term::integer(term.coefficient)};
    for (const sym::Factor& factor : term.monomial->factors) {
      const Term atom = atom_term(factor.atom);
      factors.insert(factors.end(), factor.exponent, atom);
    }
    sum_terms.push_back(product(std::move(factors)));
  }
  return sum(std::move(sum_terms));
}

}  // namespace entangle::smt
