#include "prove/symbolic.h"

#include <algorithm>

#include "entangle/support/text.h"

namespace entangle::prove {

using eval::Undefined;
using rules::Expr;
using rules::ExprKind;
using rules::Operation;
using sym::Int;
using tensor::Attr;
using tensor::DType;

namespace {

constexpr std::int64_t kUnrolled = 12;  // terms of a sum that is written out
constexpr std::size_t kNestedLaws = 64;
constexpr std::size_t kLaws = 100'000;

std::optional<mpq_class> literal(const Expr& expr) {
  if (expr.kind == ExprKind::unary && expr.operation != Operation::logical_not) {
    const auto value = literal(expr.args[0]);
    return value ? std::optional<mpq_class>(-*value) : std::nullopt;
  }
  if (expr.kind != ExprKind::literal) return std::nullopt;
  if (expr.value.kind() == Attr::Kind::scalar) return expr.value.as_scalar().as_rational();
  if (expr.value.kind() != Attr::Kind::integer || !expr.value.as_int().is_constant()) return std::nullopt;
  return mpq_class(static_cast<long>(expr.value.as_int().value()));
}

// Of the laws of one function the more special ones come first.
int generality(const Expr& expr) {
  int result = 0;
  for (const Expr& arg : expr.args) {
    if (arg.kind == ExprKind::variable) result = std::max(result, 2);
    if (arg.kind == ExprKind::binary) result = std::max(result, 1);
  }
  return result;
}

// Runs on every way out.
template <class F>
struct Finally {
  F run;
  ~Finally() { run(); }
};
template <class F>
Finally(F) -> Finally<F>;

}  // namespace

Symbolic::Symbolic(const eval::Terms& terms, Space space)
    : terms_(terms),
      space_(std::move(space)),
      algebra_({[this](const Atom& atom) -> std::optional<Poly> {
                  for (const rules::Law* law : inverses_) {
                    const Expr& pattern = law->left.args[1];
                    Bindings bindings;
                    if (pattern.name != atom.name || pattern.args.size() != atom.arguments.size()) continue;
                    bool same = true;
                    for (std::size_t k = 0; k < pattern.args.size(); ++k) {
                      same = same && match(pattern.args[k], atom.arguments[k], bindings);
                    }
                    if (same) return evaluate(law->right, bindings, atom.truth, atom.integer);
                  }
                  return std::nullopt;
                },
                [this](Int value) {
                  if (nonnegative(value - 1) == std::optional(true) ||
                      nonnegative(-value - 1) == std::optional(true))
                    return true;
                  return !asks_elements(value) && !asks_positions(value) &&
                         smt::is_no(space_.oracle().equal(value, 0));
                },
                [this](Int value) { return nonnegative(value - 1) == std::optional(true); },
                [this](Int value) { return nonnegative(value); }}) {
  for (const rules::Law& law : terms.rules().laws()) {
    if (law.condition) continue;
    if (law.left.kind == ExprKind::scalar_call) laws_.push_back(&law);
    if (law.left.kind == ExprKind::binary && law.left.operation == Operation::divide &&
        law.left.args[1].kind == ExprKind::scalar_call && literal(law.left.args[0]) == mpq_class(1)) {
      inverses_.push_back(&law);
    }
  }
  std::ranges::stable_sort(laws_, {}, [](const rules::Law* law) { return generality(law->left); });
}

Poly Symbolic::element(term::TermId id, const std::vector<Int>& given) {
  std::vector<Int> index;
  for (const Int entry : given) index.push_back(space_.simplified(entry));
  const term::NodeView node = terms_.node(id);
  const tensor::TensorType& type = terms_.type(id);
  if (index.size() != type.rank()) {
    throw Undefined{"an element of " + tensor::to_string(type) + " at " +
                        support::counted(index.size(), "number", "numbers"),
                    true};
  }
  const DType dtype = type.dtype;
  if (node.op == rules::kNoOp) {
    for (std::size_t k = 0; k < index.size(); ++k) within(index[k], type.shape[k]);
    return algebra_.leaf(id, index, dtype == DType::b8, tensor::is_integer(dtype));
  }
  const rules::Operator& op = terms_.rules().op(node.op);
  if (op.random) throw Undefined{op.name + " is random"};
  if (!op.value) return row(id, index);
  inside_.push_back(id);
  const Finally leave{[this] { inside_.pop_back(); }};
  eval::Clause<Symbolic> clause(*this, op, node.attrs, node.children);
  return clause.element(index);
}

void Symbolic::within(Int place, Int size) {
  if (!within_) return;
  const auto outside = [&] {
    return Undefined{"not shown: 0 <= " + sym::to_string(place) + " < " + sym::to_string(size), true};
  };
  const Int rest = space_.simplified(size - 1 - place);
  if (nonnegative(place) == std::optional(true) && nonnegative(rest) == std::optional(true)) return;
  // Elements that the place depends on are bounded by truths, if by anything.
  const bool elements = asks_elements(place) || asks_elements(size);
  if ((elements || !guards_.empty()) && within_(*this, place, size)) return;
  if (elements) throw outside();
  bool inside = false;
  try {
    inside = space_.less_equal(0, place) && space_.less_equal(0, rest);
  } catch (const Undefined&) {
    // No position to be cut at.
    inside = within_(*this, place, size);
  }
  if (!inside) throw outside();
}

// What depends on a row only: the row stands for what is not mapped.
Poly Symbolic::row(term::TermId id, const std::vector<Int>& index) {
  const term::NodeView node = terms_.node(id);
  const rules::Operator& op = terms_.rules().op(node.op);
  std::vector<const tensor::TensorType*> types;
  for (const term::TermId child : node.children) types.push_back(&terms_.type(child));
  const term::AxisInfo& info = terms_.typing().axes(node.op, node.attrs, types);
  std::vector<bool> mapped_result(index.size());
  std::vector<std::vector<std::optional<Int>>> at;
  for (const auto* type : types) at.emplace_back(type->rank());
  for (const term::Correspondence& one : info.maps) {
    mapped_result[static_cast<std::size_t>(one.result)] = true;
    for (std::size_t j = 0; j < one.operands.size(); ++j) {
      if (one.operands[j] != term::kNoAxis) {
        at[j][static_cast<std::size_t>(one.operands[j])] = index[static_cast<std::size_t>(one.result)];
      }
    }
  }
  std::string name = op.name;
  std::vector<Poly> arguments;
  for (std::size_t r = 0; r < index.size(); ++r) {
    if (!mapped_result[r]) arguments.push_back(algebra_.lifted(index[r]));
  }
  const std::function<void(const Attr&, const rules::Type&)> attribute = [&](const Attr& attr,
                                                                             const rules::Type& type) {
    if (attr.kind() == Attr::Kind::list) {
      name += "[";
      for (const Attr& entry : attr.as_list()) attribute(entry, type);
      name += "]";
    } else if (attr.kind() == Attr::Kind::integer && type.base == rules::Base::axis) {
      // Which of the axes that are not mapped.
      const auto axis = attr.as_int().constant();
      if (!axis || at.empty() || *axis < 0 || static_cast<std::size_t>(*axis) >= at[0].size()) {
        name += " " + tensor::to_string(attr);
        return;
      }
      std::size_t place = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(*axis); ++k) place += at[0][k] ? 0U : 1U;
      name += at[0][static_cast<std::size_t>(*axis)] ? " mapped" : " row " + std::to_string(place);
    } else if (attr.kind() == Attr::Kind::integer && type.base != rules::Base::count) {
      arguments.push_back(algebra_.lifted(attr.as_int()));
    } else if (attr.kind() == Attr::Kind::scalar) {
      arguments.push_back(algebra_.scalar(attr.as_scalar()));
    } else if (attr.kind() != Attr::Kind::integer) {
      name += " " + tensor::to_string(attr);
    }
  };
  for (std::size_t k = 0; k < op.attributes.size(); ++k) {
    attribute(node.attrs.as_list()[k], op.attributes[k].type);
  }
  std::vector<Entry> entries;
  for (std::size_t j = 0; j < node.children.size(); ++j) {
    Entry entry;
    std::vector<Int> inner;
    for (std::size_t k = 0; k < at[j].size(); ++k) {
      if (at[j][k]) {
        inner.push_back(*at[j][k]);
      } else {
        entry.ranges.emplace_back(algebra_.fresh(), types[j]->shape[k]);
        inner.push_back(entry.ranges.back().first);
      }
    }
    for (const Range& range : entry.ranges) space_.push(range.first, range.second);
    const Finally leave{[&] {
      for (std::size_t k = 0; k < entry.ranges.size(); ++k) space_.pop();
    }};
    entry.body = element(node.children[j], inner);
    entries.push_back(entry);
  }
  const DType dtype = terms_.type(id).dtype;
  return algebra_.row(name, std::move(arguments), std::move(entries), dtype == DType::b8,
                      tensor::is_integer(dtype));
}

// ---------------------------------------------------------------- numbers and truths

Int Symbolic::index(const Number& number) {
  const auto value = algebra_.integer(number);
  if (!value) throw Undefined{"an index that is no integer"};
  return *value;
}

Poly Symbolic::arithmetic(Operation operation, const Number& a, const Number& b) {
  switch (operation) {
    case Operation::add:
      return algebra_.add(a, b);
    case Operation::subtract:
      return algebra_.subtract(a, b);
    case Operation::multiply:
      return algebra_.multiply(a, b);
    case Operation::divide:
      return algebra_.multiply(a, algebra_.reciprocal(b));
    default:
      throw Undefined{"integer division of elements"};
  }
}

bool Symbolic::asks_elements(Int value) const {
  const std::vector<Int> symbols = sym::symbols_of(value);
  return std::ranges::any_of(symbols, [&](Int symbol) { return algebra_.named(symbol) != nullptr; });
}

bool Symbolic::asks_positions(Int value) const {
  const std::vector<Int> symbols = sym::symbols_of(value);
  return std::ranges::any_of(symbols, [&](Int symbol) { return space_.is_position(symbol); });
}

// Elements with known bounds count as positions.
std::optional<bool> Symbolic::nonnegative(Int value) {
  std::size_t pushed = 0;
  for (const Int symbol : sym::symbols_of(value)) {
    const Poly* inner = algebra_.named(symbol);
    const auto id = inner != nullptr ? inner->atom() : std::nullopt;
    if (!id) continue;
    const Atom& atom = algebra_.atom(*id);
    if (atom.truth) {
      space_.push({symbol, 0, 1});
      ++pushed;
    }
    if (atom.kind != Atom::Kind::leaf) continue;
    const term::Interval bounds = terms_.interval(atom.tensor);
    if (!bounds.low || !bounds.high) continue;
    space_.push({symbol, *bounds.low, *bounds.high});
    ++pushed;
  }
  const Finally leave{[&] {
    for (; pushed > 0; --pushed) space_.pop();
  }};
  return space_.nonnegative(value);
}

TruthValue Symbolic::compare(Operation operation, const Number& a, const Number& b) {
  const Poly difference = algebra_.subtract(b, a);
  if (const auto integer = algebra_.integer(difference)) return compare(operation, 0, *integer);
  switch (operation) {
    case Operation::equal:
      return {algebra_.is_zero(difference)};
    case Operation::less:
      return opposite({algebra_.is_nonnegative(Algebra::scaled(difference, -1))});
    case Operation::less_equal:
      return {algebra_.is_nonnegative(difference)};
    case Operation::greater:
      return opposite({algebra_.is_nonnegative(difference)});
    default:
      return {algebra_.is_nonnegative(Algebra::scaled(difference, -1))};
  }
}

TruthValue Symbolic::compare(Operation operation, Int a, Int b) {
  switch (operation) {
    case Operation::greater:
      return compare(Operation::less, b, a);
    case Operation::greater_equal:
      return compare(Operation::less_equal, b, a);
    case Operation::less:
      return opposite(compare(Operation::less_equal, b, a));
    default:
      break;
  }
  const Int difference = space_.simplified(b - a);
  if (!asks_elements(difference)) {
    return truth(operation == Operation::equal ? space_.equal(a, b) : space_.less_equal(a, b));
  }
  if (operation == Operation::equal) {
    if (nonnegative(difference - 1) == std::optional(true) ||
        nonnegative(-difference - 1) == std::optional(true)) {
      return truth(false);
    }
    return {algebra_.is_zero(algebra_.lifted(difference))};
  }
  if (const auto decided = nonnegative(difference)) return truth(*decided);
  return {algebra_.is_nonnegative(algebra_.lifted(difference))};
}

// Asked for where it is not known; of elements it must be.
bool Symbolic::at_most(Int a, Int b) {
  const Int difference = space_.simplified(b - a);
  if (const auto decided = nonnegative(difference)) return *decided;
  if (asks_elements(difference)) throw Undefined{"a number that depends on elements"};
  return space_.less_equal(a, b);
}

// Positions are taken apart by divisors of at least 1.
Int Symbolic::floordiv(Int a, Int b) {
  if (at_most(1, b)) return sym::floordiv(a, b);
  if (!at_most(b, -1)) throw Undefined{"an integer division by 0"};
  return sym::floordiv(-a, -b);
}

Int Symbolic::quotient(Int a, Int b) {
  const Int result = floordiv(a, b);
  if (!space_.equal(b * result, a)) throw Undefined{"an inexact division"};
  return result;
}

TruthValue Symbolic::divides(Int k, Int n) {
  if (at_most(k, 0) && at_most(0, k)) return compare(Operation::equal, n, 0);
  return compare(Operation::equal, mod(n, k), 0);
}

std::optional<bool> Symbolic::known(const Truth& a) {
  const auto value = a.value.constant();
  return value ? std::optional(*value != 0) : std::nullopt;
}

// ---------------------------------------------------------------- scalar functions

Poly Symbolic::function(const std::string& name, const std::vector<std::variant<Number, Attr>>& arguments) {
  std::string full = name;
  std::vector<Poly> numbers;
  for (const auto& argument : arguments) {
    if (const auto* number = std::get_if<Number>(&argument)) {
      numbers.push_back(*number);
    } else {
      full += " " + tensor::to_string(std::get<Attr>(argument));
    }
  }
  const term::NodeView node = terms_.node(inside_.back());
  const DType to = terms_.type(inside_.back()).dtype;
  const bool truth = to == DType::b8;
  const rules::Operator& op = terms_.rules().op(node.op);
  if (op.converts) {
    const DType from = terms_.type(node.children[0]).dtype;
    const bool whole = tensor::is_integer(from) && (tensor::is_integer(to) || tensor::is_wide_float(to));
    if (from == to || from == DType::b8 || whole) return numbers[0];
    if (truth) return opposite({algebra_.is_zero(numbers[0])}).value;
    full += " from " + std::string(tensor::to_string(from));
  }
  if (op.name == name && numbers.size() == 1 && !op.linear.empty()) {
    std::vector<const tensor::TensorType*> types;
    for (const term::TermId child : node.children) types.push_back(&terms_.type(child));
    if (terms_.typing().axes(node.op, node.attrs, types).linear[0]) {
      return linear(full, numbers[0], truth, tensor::is_integer(to));
    }
  }
  return apply(full, std::move(numbers), truth, tensor::is_integer(to));
}

// Of each term; scalars and truths are factors.
Poly Symbolic::linear(const std::string& name, const Poly& value, bool truth, bool integer) {
  Poly result;
  for (const auto& [product, coefficient] : value.terms) {
    Poly outside = Algebra::constant(coefficient);
    Poly inside = Algebra::constant(1);
    for (const auto& [id, exponent] : product) {
      const Atom& atom = algebra_.atom(id);
      bool scalar = atom.kind == Atom::Kind::number || atom.truth;
      if (atom.kind == Atom::Kind::reciprocal) {
        const auto inner = atom.arguments[0].atom();
        scalar = inner && algebra_.atom(*inner).kind == Atom::Kind::number;
      }
      Poly one;
      one.terms[{{id, exponent}}] = 1;
      (scalar ? outside : inside) = algebra_.multiply(scalar ? outside : inside, one);
    }
    result =
        algebra_.add(result, algebra_.multiply(outside, algebra_.function(name, {inside}, truth, integer)));
  }
  return result;
}

Poly Symbolic::apply(const std::string& name, std::vector<Poly> arguments, bool truth, bool integer) {
  return algebra_.cases(std::move(arguments), [&](std::vector<Poly>& given) {
    for (const rules::Law* law : laws_) {
      if (law->left.name != name || law->left.args.size() != given.size()) continue;
      Bindings bindings;
      bool same = true;
      for (std::size_t k = 0; k < given.size(); ++k)
        same = same && match(law->left.args[k], given[k], bindings);
      if (!same) continue;
      if (lawful_ >= kNestedLaws || ++laws_used_ > kLaws) {
        throw Undefined{"laws of `" + name + "` that do not end"};
      }
      ++lawful_;
      const Finally leave{[this] { --lawful_; }};
      return evaluate(law->right, bindings, truth, integer);
    }
    return algebra_.function(name, given, truth, integer);
  });
}

bool Symbolic::match(const Expr& pattern, const Poly& value, Bindings& bindings) {
  if (const auto number = literal(pattern)) return value.constant() == number;
  switch (pattern.kind) {
    case ExprKind::variable: {
      const auto [at, added] = bindings.emplace(pattern.slot, value);
      return added || at->second == value;
    }
    case ExprKind::scalar_call: {
      const auto id = value.atom();
      if (!id) return false;
      const Atom atom = algebra_.atom(*id);
      if (atom.kind != Atom::Kind::function || atom.name != pattern.name ||
          atom.arguments.size() != pattern.args.size()) {
        return false;
      }
      for (std::size_t k = 0; k < pattern.args.size(); ++k) {
        if (!match(pattern.args[k], atom.arguments[k], bindings)) return false;
      }
      return true;
    }
    case ExprKind::binary: {
      // One part, and the rest.
      Poly first;
      if (pattern.operation == Operation::add) {
        if (value.terms.empty()) return false;
        const auto& [product, coefficient] = *value.terms.begin();
        if (value.terms.size() > 1) {
          first.terms[product] = coefficient;
        } else if (coefficient.get_den() == 1 && abs(coefficient) > 1) {
          first.terms[product] = sgn(coefficient);
        } else {
          return false;
        }
        return match(pattern.args[0], first, bindings) &&
               match(pattern.args[1], algebra_.subtract(value, first), bindings);
      }
      if (pattern.operation != Operation::multiply || value.terms.size() != 1) return false;
      const auto& [product, coefficient] = *value.terms.begin();
      Poly rest;
      if (coefficient != 1 && !product.empty()) {
        first = Algebra::constant(coefficient);
        rest.terms[product] = 1;
      } else if (product.size() > 1 || (product.size() == 1 && product[0].second > 1)) {
        first.terms[{{product[0].first, 1}}] = 1;
        Product others = product;
        if (--others[0].second == 0) others.erase(others.begin());
        rest.terms[others] = 1;
      } else {
        return false;
      }
      return match(pattern.args[0], first, bindings) && match(pattern.args[1], rest, bindings);
    }
    default:
      return false;
  }
}

Poly Symbolic::evaluate(const Expr& expr, const Bindings& bindings, bool truth, bool integer) {
  if (const auto number = literal(expr)) return Algebra::constant(*number);
  const auto part = [&](std::size_t k) { return evaluate(expr.args[k], bindings, truth, integer); };
  switch (expr.kind) {
    case ExprKind::variable:
      return bindings.at(expr.slot);
    case ExprKind::unary:
      return Algebra::scaled(part(0), -1);
    case ExprKind::binary:
      return arithmetic(expr.operation, part(0), part(1));
    case ExprKind::scalar_call: {
      std::vector<Poly> arguments;
      for (std::size_t k = 0; k < expr.args.size(); ++k) arguments.push_back(part(k));
      return apply(expr.name, std::move(arguments), truth, integer);
    }
    default:
      throw Undefined{"a law that is not understood"};
  }
}

// ---------------------------------------------------------------- sums and maxima

Poly Symbolic::joined(rules::Builtin builtin, const Poly& a, const Poly& b) {
  return builtin == rules::Builtin::sum ? algebra_.add(a, b) : larger(a, b);
}

Poly Symbolic::reduce(rules::Builtin builtin, Int n, const std::function<Number(Int)>& body) {
  if (builtin != rules::Builtin::sum && builtin != rules::Builtin::max) throw Undefined{"a reduction"};
  const Int size = space_.simplified(n);
  if (!at_most(0, size)) {
    if (builtin == rules::Builtin::max) throw Undefined{"a maximum of nothing"};
    return {};
  }
  return piece(builtin, 0, size, body);
}

Poly Symbolic::piece(rules::Builtin builtin, Int begin, Int size, const std::function<Number(Int)>& body) {
  if (const auto count = size.constant(); count && *count <= kUnrolled) {
    if (*count <= 0 && builtin == rules::Builtin::max) throw Undefined{"a maximum of nothing"};
    if (*count <= 0) return {};
    Poly result = body(begin);
    for (std::int64_t k = 1; k < *count; ++k) result = joined(builtin, result, body(begin + k));
    return result;
  }
  if (builtin == rules::Builtin::max && space_.nonnegative(size - 1) != std::optional(true)) {
    if (!space_.less_equal(1, size)) throw Undefined{"a maximum of nothing"};
  }
  const Int position = algebra_.fresh();
  std::optional<Breakpoint> breakpoint;
  std::optional<Int> inner;
  {
    space_.push(position, size);
    const Finally leave{[this] { space_.pop(); }};
    try {
      const Poly value = body(begin + position);
      return builtin == rules::Builtin::sum ? algebra_.sum(position, size, value)
                                            : algebra_.maximum(position, size, value);
    } catch (const Breakpoint& thrown) {
      if (!(thrown.position == position)) throw;
      breakpoint = thrown;
    } catch (const SplitPosition& thrown) {
      if (!(thrown.position == position)) throw;
      inner = thrown.inner;
    }
  }
  if (inner) {
    return piece(builtin, 0, *sym::exact_div(size, *inner), [&](Int row) {
      return piece(builtin, 0, *inner, [&](Int column) { return body(begin + row * *inner + column); });
    });
  }
  const Int at = breakpoint->at;
  if (!space_.less_equal(0, at) || !space_.less_equal(at, size)) throw Undefined{"a sum that is cut outside"};
  const Poly first = piece(builtin, begin, at, body);
  return joined(builtin, first, piece(builtin, begin + at, size - at, body));
}

}  // namespace entangle::prove
