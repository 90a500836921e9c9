#include "entangle/eval/element.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "entangle/eval/clause.h"

namespace entangle::eval {
namespace {

using egraph::kNoTerm;
using egraph::TermId;
using rules::Operation;
using smt::Sort;
using tensor::Attr;

// Deeper terms are functions of the index: the solver would not see through them anyway.
constexpr int kMaxDepth = 64;

Sort sort_of(tensor::DType dtype) {
  if (dtype == tensor::DType::b8) {
    return Sort::boolean;
  }
  return tensor::is_integer(dtype) ? Sort::integer : Sort::real;
}

smt::Term as_number(const smt::Term& term) {
  return term.sort() == Sort::boolean ? smt::ite(term, smt::Term::integer(1), smt::Term::integer(0)) : term;
}

smt::Term as_boolean(const smt::Term& term) {
  return term.sort() == Sort::boolean ? term : smt::ne(term, smt::Term::integer(0));
}

smt::Term as_sort(const smt::Term& term, Sort sort) {
  if (sort == Sort::boolean) {
    return as_boolean(term);
  }
  const smt::Term number = as_number(term);
  return sort == Sort::real && number.sort() == Sort::integer ? smt::to_real(number) : number;
}

}  // namespace

// Solver terms for index entries, elements and truths: three types, so that a clause can tell them apart.
class Elements::Domain {
 public:
  struct Index {
    smt::Term term;
    Index operator-() const { return {-term}; }
    friend Index operator+(const Index& a, const Index& b) { return {a.term + b.term}; }
    friend Index operator-(const Index& a, const Index& b) { return {a.term - b.term}; }
    friend Index operator*(const Index& a, const Index& b) { return {a.term * b.term}; }
  };
  struct Number {
    smt::Term term;
  };
  struct Truth {
    smt::Term term;
  };

  explicit Domain(Elements& elements) : elements_(elements) {}

  Index sized(sym::Int value) { return {elements_.integer(value)}; }
  static std::optional<std::int64_t> constant(const Index& value) { return value.term.as_integer(); }
  static Index floordiv(const Index& a, const Index& b) { return {smt::floordiv(a.term, b.term)}; }
  static Index mod(const Index& a, const Index& b) { return {smt::floormod(a.term, b.term)}; }
  static Number number(const sym::Scalar& value) {
    const auto rational = value.as_rational();
    if (!rational) throw Undefined{"a number that is no fraction"};
    return {smt::Term::real(*rational)};
  }
  static Number lifted(const Index& value) { return {value.term}; }
  static Index index(const Number& value) {
    const smt::Term number = as_number(value.term);
    if (number.sort() != Sort::integer) throw Undefined{"an index that is no integer"};
    return {number};
  }
  static Number arithmetic(Operation operation, const Number& left, const Number& right) {
    const smt::Term a = as_number(left.term);
    const smt::Term b = as_number(right.term);
    switch (operation) {
      case Operation::add:
        return {a + b};
      case Operation::subtract:
        return {a - b};
      case Operation::multiply:
        return {a * b};
      case Operation::divide:
        return {a / b};
      case Operation::floordiv:
        return {smt::floordiv(a, b)};
      case Operation::mod:
        return {smt::floormod(a, b)};
      default:
        throw Undefined{"no arithmetic"};
    }
  }
  static Number larger(const Number& a, const Number& b) {
    return {smt::max(as_number(a.term), as_number(b.term))};
  }
  static Number choose(const Truth& condition, const Number& yes, const Number& no) {
    if (yes.term.sort() == no.term.sort()) return {smt::ite(condition.term, yes.term, no.term)};
    const smt::Term a = as_number(yes.term);
    const smt::Term b = as_number(no.term);
    const Sort sort = a.sort() == b.sort() ? a.sort() : Sort::real;
    return {smt::ite(condition.term, as_sort(a, sort), as_sort(b, sort))};
  }
  static Truth compare(Operation operation, const Number& left, const Number& right) {
    const smt::Term a = as_number(left.term);
    const smt::Term b = as_number(right.term);
    switch (operation) {
      case Operation::equal:
        return {smt::eq(a, b)};
      case Operation::less:
        return {a < b};
      case Operation::less_equal:
        return {a <= b};
      case Operation::greater:
        return {a > b};
      default:
        return {a >= b};
    }
  }
  static Truth compare(Operation operation, const Index& a, const Index& b) {
    return compare(operation, lifted(a), lifted(b));
  }
  static Truth divides(const Index& k, const Index& n) {
    return {smt::eq(smt::floormod(n.term, k.term), smt::Term::integer(0))};
  }
  static Index quotient(const Index& a, const Index& b) { return {smt::floordiv(a.term, b.term)}; }
  static Truth both(const Truth& a, const Truth& b) { return {a.term && b.term}; }
  static Truth opposite(const Truth& a) { return {!a.term}; }
  static Truth truth(bool value) { return {smt::Term::boolean(value)}; }
  static std::optional<bool> known(const Truth& a) {
    return a.term.is_true() ? std::optional(true) : a.term.is_false() ? std::optional(false) : std::nullopt;
  }
  static Number function(const std::string& name, const std::vector<std::variant<Number, Attr>>& arguments) {
    std::vector<smt::Term> terms;
    for (const auto& argument : arguments) {
      const auto* number = std::get_if<Number>(&argument);
      if (number == nullptr) throw Undefined{"a function of a name"};
      terms.push_back(as_sort(number->term, Sort::real));
    }
    return {smt::Function(name, std::vector<Sort>(terms.size(), Sort::real), Sort::real)(terms)};
  }
  Number element(TermId id, const std::vector<Index>& index) {
    std::vector<smt::Term> at;
    for (const Index& entry : index) at.push_back(entry.term);
    return {elements_.at(id, at)};
  }
  // Nothing without a quantifier.
  static Number reduce(rules::Builtin, const Index&, const std::function<Number(Index)>&) {
    throw Undefined{"a sum over an axis"};
  }
  const tensor::TensorType& type(TermId id) const { return elements_.graph_.type(id); }

 private:
  Elements& elements_;
};

Elements::Elements(const egraph::EGraph& graph) : graph_(graph) {}

smt::Term Elements::integer(sym::Int value) {
  const sym::Int core = graph_.oracle().facts().core(value);
  if (core.is_poison()) {
    // Some integer: nothing is known of it.
    return smt::Term::variable("i" + std::to_string(indices_++), Sort::integer);
  }
  for (const sym::Int symbol : sym::symbols_of(core)) {
    if (std::ranges::find(symbols_, symbol) == symbols_.end()) {
      symbols_.push_back(symbol);
    }
  }
  return smt::from_int(core);
}

std::vector<smt::Term> Elements::fresh_index(TermId term) {
  std::vector<smt::Term> index;
  for (const sym::Int size : graph_.type(term).shape) {
    index.push_back(smt::Term::variable("i" + std::to_string(indices_++), Sort::integer));
    facts_.push_back(smt::Term::integer(0) <= index.back());
    facts_.push_back(index.back() < integer(size));
  }
  return index;
}

std::vector<smt::Term> Elements::facts() const {
  std::vector<smt::Term> result = facts_;
  const sym::Facts& facts = graph_.oracle().facts();
  for (const sym::Int symbol : symbols_) {
    const sym::Interval bounds = facts.core_bounds(symbol);
    if (bounds.lower) {
      result.push_back(smt::Term::integer(*bounds.lower) <= smt::from_int(symbol));
    }
    if (bounds.upper) {
      result.push_back(smt::from_int(symbol) <= smt::Term::integer(*bounds.upper));
    }
  }
  for (const sym::Int zero : facts.zero()) {
    result.push_back(smt::eq(smt::from_int(zero), smt::Term::integer(0)));
  }
  for (const sym::Int value : facts.nonnegative()) {
    result.push_back(smt::Term::integer(0) <= smt::from_int(value));
  }
  return result;
}

smt::Term Elements::constant(const sym::Scalar& value, Sort sort) {
  if (const auto number = value.as_int(); number && sort != Sort::real) {
    return as_sort(integer(*number), sort);
  }
  if (const auto number = value.as_rational()) {
    return as_sort(smt::Term::real(*number), Sort::real);
  }
  // An infinity, or a ratio of sizes: a constant nothing is known of.
  return smt::Term::variable("constant " + sym::to_string(value), sort);
}

void Elements::note_interval(TermId term, const smt::Term& element) {
  if (element.sort() != Sort::integer) {
    return;
  }
  const term::Interval interval = graph_.interval(term);
  if (interval.low) {
    facts_.push_back(integer(*interval.low) <= element);
  }
  if (interval.high) {
    facts_.push_back(element <= integer(*interval.high));
  }
}

bool Elements::follows_from_operands(const term::NodeView& node, TermId term) const {
  if (!tensor::is_integer(graph_.type(term).dtype)) {
    return false;
  }
  std::vector<const tensor::TensorType*> types;
  std::vector<term::Interval> intervals;
  for (const TermId child : node.children) {
    types.push_back(&graph_.type(child));
    intervals.push_back(graph_.interval(child));
  }
  return graph_.typing().bounds(node.op, node.attrs, types, intervals, graph_.type(term)) ==
         graph_.interval(term);
}

smt::Term Elements::leaf(TermId term, const std::vector<smt::Term>& index) {
  const Sort sort = sort_of(graph_.type(term).dtype);
  const std::string name = "t" + std::to_string(graph_.find(term));
  const smt::Term element = smt::Function(name, std::vector<Sort>(index.size(), Sort::integer), sort)(index);
  note_interval(term, element);
  return element;
}

smt::Term Elements::at(TermId term, const std::vector<smt::Term>& index) {
  const Sort sort = sort_of(graph_.type(term).dtype);
  if (const auto value = graph_.uniform(term)) {
    return constant(*value, sort);
  }
  const term::NodeView node = graph_.original(term);
  if (node.op == rules::kNoOp || depth_ >= kMaxDepth) {
    return leaf(term, index);
  }
  const rules::Operator& op = graph_.rules().op(node.op);
  if (!op.value || op.random) {
    return leaf(term, index);
  }
  ++depth_;
  std::optional<smt::Term> value;
  try {
    Domain domain(*this);
    std::vector<Domain::Index> entries;
    for (const smt::Term& entry : index) entries.push_back({entry});
    value = Clause<Domain>(domain, op, node.attrs, node.children).element(entries).term;
  } catch (const Undefined&) {
    // Less is known then.
  }
  --depth_;
  if (!value) {
    return leaf(term, index);
  }
  const smt::Term element = as_sort(*value, sort);
  if (!follows_from_operands(node, term)) {
    note_interval(term, element);
  }
  return element;
}

}  // namespace entangle::eval
