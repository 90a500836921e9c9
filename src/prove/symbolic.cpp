#include "prove/symbolic.h"

#include <algorithm>

namespace entangle::prove {

using eval::Undefined;
using rules::Operation;
using smt::Sort;
using smt::Term;
using sym::Int;
using tensor::Attr;
using tensor::DType;

namespace {

Term real(const Term& term) {
  return term.sort() == Sort::integer ? smt::to_real(term) : term;
}

bool mentions(const Term& term, const Term& variable);

// The largest parts of a term that do not mention the variable, each once; no constants.
void collect_fixed(const Term& term, const Term& variable, std::vector<Term>& into) {
  if (!mentions(term, variable)) {
    const bool constant = term.kind() == smt::Kind::constant;
    if (!constant && std::ranges::find(into, term) == into.end()) into.push_back(term);
    return;
  }
  if (term == variable) return;
  for (const Term& part : term.arguments()) collect_fixed(part, variable, into);
}

bool mentions(const Term& term, const Term& variable) {
  const std::vector<Term> variables = smt::variables_of(term);
  return std::ranges::find(variables, variable) != variables.end();
}

}  // namespace

// The quotient of what is below its divisor is 0.
Int Symbolic::simplified(Int value) const {
  if (below_.empty() || value.is_constant() || value.is_poison()) return value;
  Int result = 0;
  for (const sym::Term& term : sym::terms_of(value)) {
    Int product = term.coefficient;
    const std::vector<sym::Factor> none;
    for (const sym::Factor& factor : term.monomial == nullptr ? none : term.monomial->factors) {
      Int atom = sym::from_atom(factor.atom);
      if (factor.atom->kind == sym::AtomKind::floordiv) {
        const Int part = simplified(factor.atom->arguments[0]);
        const Int whole = simplified(factor.atom->arguments[1]);
        const bool zero = std::ranges::find(below_, std::pair(part, whole)) != below_.end();
        atom = zero ? Int(0) : sym::floordiv(part, whole);
      }
      product *= sym::pow(atom, factor.exponent);
    }
    result += product;
  }
  return result;
}

Term Symbolic::element(term::TermId id, const std::vector<Int>& given) {
  std::vector<Int> index;
  for (const Int entry : given) index.push_back(simplified(entry));
  const term::NodeView node = terms_.node(id);
  const DType dtype = terms_.type(id).dtype;
  if (node.op == rules::kNoOp) {
    std::vector<Number> arguments;
    for (const Int entry : index) arguments.push_back(smt::from_int(entry));
    return named("leaf " + std::to_string(id), dtype, arguments);
  }
  const rules::Operator& op = terms_.rules().op(node.op);
  if (!op.value || op.random) throw Undefined{op.name + " has no value"};
  inside_.push_back(id);
  eval::Clause<Symbolic> clause(*this, op, node.attrs, node.children);
  const Term result = clause.element(index);
  inside_.pop_back();
  return result;
}

Term Symbolic::named(const std::string& name, DType dtype, const std::vector<Number>& arguments) {
  std::vector<Sort> domain;
  for (const Number& argument : arguments) domain.push_back(argument.sort());
  if (dtype == DType::b8) {
    return smt::ite(smt::Function(name, domain, Sort::boolean)(arguments), Term::integer(1),
                    Term::integer(0));
  }
  return smt::Function(name, domain, tensor::is_integer(dtype) ? Sort::integer : Sort::real)(arguments);
}

Term Symbolic::number(const sym::Scalar& scalar) {
  if (const auto value = scalar.as_rational()) {
    if (const auto integer = scalar.as_int(); integer && integer->is_constant())
      return smt::from_int(*integer);
    return Term::real(*value);
  }
  if (scalar.is_infinite()) throw Undefined{"an infinity"};
  const Term top = smt::to_real(smt::from_int(scalar.numerator()));
  // A product of symbols divides as a product of their reciprocals: the solver is better at products.
  const std::vector<sym::Term> terms = sym::terms_of(scalar.denominator());
  if (terms.size() != 1)
    return Term::real(scalar.coefficient()) * (top / real(smt::from_int(scalar.denominator())));
  Term result = Term::real(scalar.coefficient() / mpq_class(static_cast<long>(terms[0].coefficient))) * top;
  const std::vector<sym::Factor> none;
  for (const sym::Factor& factor : terms[0].monomial == nullptr ? none : terms[0].monomial->factors) {
    const Int symbol = sym::from_atom(factor.atom);
    const Term reciprocal = Term::variable("reciprocal of " + sym::to_string(symbol), Sort::real);
    facts_.push_back(smt::eq(reciprocal * real(smt::from_int(symbol)), Term::real(1)));
    for (std::uint32_t k = 0; k < factor.exponent; ++k) result = result * reciprocal;
  }
  return result;
}

Int Symbolic::index(const Number& number) {
  if (const auto constant = number.as_integer()) return *constant;
  if (number.sort() != Sort::integer) throw Undefined{"an index that is no integer"};
  if (depth_ > 0) throw Undefined{"an index read inside a sum"};
  const Int symbol = Int::symbol("element " + smt::to_string(number));
  facts_.push_back(smt::eq(smt::from_int(symbol), number));
  return symbol;
}

Term Symbolic::arithmetic(Operation operation, const Number& a, const Number& b) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return real(a) / real(b);
    default:
      throw Undefined{"integer division of elements"};
  }
}

Term Symbolic::choose(const Truth& condition, const Number& a, const Number& b) {
  if (a.sort() == b.sort()) return smt::ite(condition.term, a, b);
  return smt::ite(condition.term, real(a), real(b));
}

Condition Symbolic::compare(Operation operation, const Number& a, const Number& b) {
  const bool same = a.sort() == b.sort();
  const Term x = same ? a : real(a);
  const Term y = same ? b : real(b);
  switch (operation) {
    case Operation::equal:
      return {smt::eq(x, y), {}, false};
    case Operation::less:
      return {x < y, {}, false};
    case Operation::less_equal:
      return {x <= y, {}, false};
    case Operation::greater:
      return {y < x, {}, false};
    default:
      return {y <= x, {}, false};
  }
}

Condition Symbolic::compare(Operation operation, Int a, Int b) {
  using Relation = Condition::Atom::Relation;
  const auto made = [](const Term& term, Condition::Atom atom) {
    if (term.as_boolean()) return Condition{term, {}, term.is_true()};
    return Condition{term, {atom}, true};
  };
  const Term x = smt::from_int(a);
  const Term y = smt::from_int(b);
  switch (operation) {
    case Operation::equal:
      return made(smt::eq(x, y), {Relation::equal, a, b});
    case Operation::less:
      return made(x < y, {Relation::less_equal, a + 1, b});
    case Operation::less_equal:
      return made(x <= y, {Relation::less_equal, a, b});
    case Operation::greater:
      return made(y < x, {Relation::less_equal, b + 1, a});
    default:
      return made(y <= x, {Relation::less_equal, b, a});
  }
}

Condition Symbolic::divides(Int k, Int n) {
  const Term term = smt::eq(smt::mod(smt::from_int(n), smt::from_int(k)), Term::integer(0));
  if (term.as_boolean()) return {term, {}, term.is_true()};
  return {term, {{Condition::Atom::Relation::divides, k, n}}, true};
}

Condition Symbolic::both(const Truth& a, const Truth& b) {
  Condition result{a.term && b.term, a.atoms, a.only_atoms && b.only_atoms};
  result.atoms.insert(result.atoms.end(), b.atoms.begin(), b.atoms.end());
  return result;
}

Term Symbolic::function(const std::string& name, const std::vector<std::variant<Number, Attr>>& arguments) {
  std::string full = name;
  std::vector<Number> numbers;
  for (const auto& argument : arguments) {
    if (const auto* number = std::get_if<Number>(&argument)) {
      numbers.push_back(real(*number));
    } else {
      full += " " + tensor::to_string(std::get<Attr>(argument));
    }
  }
  const DType to = terms_.type(inside_.back()).dtype;
  if (name == "cast" && numbers.size() == 1) {
    const DType from = terms_.type(terms_.node(inside_.back()).children[0]).dtype;
    const Number& x = std::get<Number>(arguments.back());
    if (from == to || from == DType::b8) return tensor::is_integer(to) || to == from ? x : real(x);
    if (to == DType::b8)
      return smt::ite(smt::eq(numbers[0], Term::real(0)), Term::integer(0), Term::integer(1));
    full += " from " + std::string(tensor::to_string(from));
  }
  if (name == "pow" && numbers.size() == 2) {
    const auto exponent = numbers[0].as_rational();
    if (exponent && *exponent == 1) return numbers[1];
    if (exponent && *exponent == 2) return numbers[1] * numbers[1];
  }
  return named(full, to, numbers);
}

Term Symbolic::outside(rules::Builtin builtin, Int n, const Number& k, const Number& body) {
  if (body.kind() == smt::Kind::ite && !mentions(body.arguments()[0], k)) {
    return smt::ite(body.arguments()[0], outside(builtin, n, k, body.arguments()[1]),
                    outside(builtin, n, k, body.arguments()[2]));
  }
  if (!mentions(body, k)) {
    return builtin == rules::Builtin::sum ? body * smt::from_int(n) : body;
  }
  const bool sum = builtin == rules::Builtin::sum;
  if (sum && body.kind() == smt::Kind::add) {
    std::vector<Term> parts;
    for (const Term& part : body.arguments()) parts.push_back(outside(builtin, n, k, part));
    return smt::sum(parts, body.sort());
  }
  if (sum && body.kind() == smt::Kind::multiply) {
    std::vector<Term> constant;
    std::vector<Term> rest;
    for (const Term& part : body.arguments()) (mentions(part, k) ? rest : constant).push_back(part);
    if (!constant.empty()) {
      return smt::product(constant, body.sort()) * outside(builtin, n, k, smt::product(rest, body.sort()));
    }
  }
  // What does not depend on the position becomes an argument, so that the solver may compare it.
  std::vector<Term> arguments;
  collect_fixed(body, k, arguments);
  std::vector<Term> places;
  for (std::size_t j = 0; j < arguments.size(); ++j) {
    places.push_back(Term::variable("argument " + std::to_string(j), arguments[j].sort()));
  }
  std::string name = (sum ? "sum: " : "max: ") + smt::to_string(smt::substitute(body, arguments, places));
  std::vector<Sort> domain{Sort::integer};
  for (const Term& argument : arguments) {
    domain.push_back(argument.sort());
    name += argument.sort() == Sort::integer ? " i" : argument.sort() == Sort::real ? " r" : " b";
  }
  arguments.insert(arguments.begin(), smt::from_int(n));
  return smt::Function(name, domain, body.sort())(arguments);
}

Term Symbolic::reduce(rules::Builtin builtin, Int n, const std::function<Number(Int)>& body) {
  if (builtin != rules::Builtin::sum && builtin != rules::Builtin::max) throw Undefined{"a reduction"};
  if (n == Int(1)) return body(0);
  ++depth_;
  const Int k = Int::symbol("position " + std::to_string(depth_));
  const Number inner = body(k);
  --depth_;
  return outside(builtin, n, smt::from_int(k), inner);
}

}  // namespace entangle::prove
