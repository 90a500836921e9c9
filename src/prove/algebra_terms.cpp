// Polynomials as terms of the solver.
#include "prove/algebra.h"

#include <algorithm>

namespace entangle::prove {

using smt::Sort;
using smt::Term;
using sym::Int;

void Algebra::collect(const Poly& value, std::vector<AtomId>& atoms) const {
  for (const auto& [product, coefficient] : value.terms) {
    for (const auto& [id, exponent] : product) {
      if (std::ranges::find(atoms, id) != atoms.end()) continue;
      atoms.push_back(id);
      for (const Poly& argument : atoms_[id].arguments) collect(argument, atoms);
      for (const Entry& entry : atoms_[id].entries) {
        if (entry.ranges.empty()) collect(entry.body, atoms);
      }
      for (const Int entry : atoms_[id].index) {
        for (const Int symbol : sym::symbols_of(entry)) {
          if (const Poly* inner = named(symbol)) collect(*inner, atoms);
        }
      }
    }
  }
}

Term Algebra::term(Int value, std::vector<Term>& facts) {
  std::vector<Term> from;
  std::vector<Term> to;
  for (const Int symbol : sym::symbols_of(value)) {
    const Poly* inner = named(symbol);
    if (inner == nullptr) continue;
    const Atom& atom = atoms_[*inner->atom()];
    from.push_back(smt::from_int(symbol));
    std::vector<Term> index;
    for (const Int entry : atom.index) index.push_back(term(entry, facts));
    to.push_back(atom.kind == Atom::Kind::leaf && !atom.truth
                     ? smt::Function("x" + std::to_string(atom.tensor),
                                     std::vector<Sort>(index.size(), Sort::integer), Sort::integer)(index)
                     : Term::variable("integer " + atom.text, Sort::integer));
  }
  return smt::substitute(smt::from_int(value), from, to);
}

Term Algebra::boolean(const Atom& given, std::vector<Term>& facts) {
  const Atom atom = given;
  if (atom.kind == Atom::Kind::zero || atom.kind == Atom::Kind::nonnegative) {
    if (const auto whole = integer(atom.arguments[0])) {
      const Term value = term(*whole, facts);
      return atom.kind == Atom::Kind::zero ? smt::eq(value, Term::integer(0)) : Term::integer(0) <= value;
    }
  }
  if (atom.kind == Atom::Kind::zero) return smt::eq(term(atom.arguments[0], facts), Term::real(0));
  if (atom.kind == Atom::Kind::nonnegative) return Term::real(0) <= term(atom.arguments[0], facts);
  if (atom.kind != Atom::Kind::leaf) return Term::variable("truth " + atom.text, Sort::boolean);
  std::vector<Term> index;
  for (const Int entry : atom.index) index.push_back(term(entry, facts));
  return smt::Function("x" + std::to_string(atom.tensor), std::vector<Sort>(index.size(), Sort::integer),
                       Sort::boolean)(index);
}

// What is least of all that is no less than any: one of them. The greatest over a range is some number.
Term Algebra::maximum_term(const Atom& given, std::vector<Term>& facts) {
  const Atom atom = given;
  const Term greatest = Term::variable(atom.text, Sort::real);
  std::vector<Term> one_of_them;
  for (const Entry& entry : atom.entries) {
    const Term one = entry.ranges.empty() ? term(entry.body, facts)
                                          : Term::variable("greatest " + text(entry), Sort::real);
    facts.push_back(one <= greatest);
    one_of_them.push_back(smt::eq(greatest, one));
  }
  facts.push_back(smt::any_of(one_of_them));
  return greatest;
}

Term Algebra::term(const Poly& value, std::vector<Term>& facts) {
  if (const auto truth = truth_in(value)) {
    const Term condition = boolean(atoms_[*truth], facts);
    const Term yes = term(with_atom(value, *truth, true), facts);
    return smt::ite(condition, yes, term(with_atom(value, *truth, false), facts));
  }
  std::vector<Term> sum;
  for (const auto& [product, coefficient] : value.terms) {
    std::vector<Term> factors{Term::real(coefficient)};
    for (const auto& [id, exponent] : product) {
      const Atom atom = atoms_[id];
      Term one;
      switch (atom.kind) {
        case Atom::Kind::leaf: {
          std::vector<Term> index;
          for (const Int entry : atom.index) index.push_back(term(entry, facts));
          one =
              smt::Function("x" + std::to_string(atom.tensor), std::vector<Sort>(index.size(), Sort::integer),
                            atom.integer ? Sort::integer : Sort::real)(index);
          if (atom.integer) one = smt::to_real(one);
          break;
        }
        case Atom::Kind::number:
          one = smt::to_real(term(atom.number, facts));
          break;
        case Atom::Kind::function: {
          std::vector<Term> arguments;
          for (const Poly& argument : atom.arguments) arguments.push_back(term(argument, facts));
          one = smt::Function(atom.name, std::vector<Sort>(arguments.size(), Sort::real),
                              Sort::real)(arguments);
          break;
        }
        case Atom::Kind::reciprocal: {
          one = Term::variable(atom.text, Sort::real);
          const Term of = term(atom.arguments[0], facts);
          facts.push_back(smt::ite(smt::eq(of, Term::real(0)), smt::eq(one, Term::real(0)),
                                   smt::eq(one * of, Term::real(1))));
          break;
        }
        case Atom::Kind::maximum:
          one = maximum_term(atom, facts);
          break;
        default:
          one = Term::variable(atom.text, Sort::real);
      }
      for (unsigned k = 0; k < exponent; ++k) factors.push_back(one);
    }
    sum.push_back(smt::product(factors, Sort::real));
  }
  return smt::sum(sum, Sort::real);
}

}  // namespace entangle::prove
