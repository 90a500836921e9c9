#include "entangle/eval/floating.h"

#include <cmath>
#include <limits>

#include "entangle/eval/interpret.h"
#include "eval/concrete.h"
#include "eval/functions.h"

namespace entangle::eval {

using rules::Operation;
using sym::Int;
using tensor::Attr;
using tensor::DType;
using Index = std::vector<std::int64_t>;

namespace {

double converted(double x, DType from, DType to) {
  if (to == DType::b8) return x == 0 ? 0 : 1;
  return tensor::is_integer(to) && !tensor::is_integer(from) ? std::trunc(x) : x;
}

// Elements as doubles, for Clause.
struct Real : Concrete<double> {
  const egraph::EGraph& graph;
  std::function<const RealArray&(egraph::TermId)> array;
  DType dtype;    // of the result
  DType operand;  // of the first operand
  bool converts;  // what the operator does

  static double number(const sym::Scalar& scalar) {
    const auto value = scalar.as_double();
    if (!value) throw Undefined{"a symbolic number"};
    return *value;
  }
  static double lifted(Int value) { return static_cast<double>(whole(value)); }
  static Int index(double value) {
    if (value != std::trunc(value) || std::abs(value) > 9e15) throw Undefined{"an index that is no integer"};
    return Int(static_cast<std::int64_t>(value));
  }
  static double arithmetic(Operation operation, double a, double b) {
    switch (operation) {
      case Operation::add:
        return a + b;
      case Operation::subtract:
        return a - b;
      case Operation::multiply:
        return a * b;
      case Operation::divide:
        return a / b;
      case Operation::floordiv:
      case Operation::mod: {
        if (a != std::trunc(a) || b != std::trunc(b) || b == 0) {
          throw Undefined{"an integer division of fractions, or by 0"};
        }
        const double quotient = std::floor(a / b);
        return operation == Operation::floordiv ? quotient : a - b * quotient;
      }
      default:
        throw Undefined{"no arithmetic"};
    }
  }
  static double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
  double function(const std::string& name, const std::vector<std::variant<double, Attr>>& arguments) const {
    if (converts) {
      return converted(std::get<double>(arguments.back()), operand, dtype);
    }
    const auto value = scalar_function(name, arguments);
    if (!value) throw Undefined{"nothing is known of the function `" + name + "`"};
    return *value;
  }
  double element(egraph::TermId id, const std::vector<Int>& index) const {
    return element_of(array(id), index, [&] { return graph.print_original(id); });
  }
  static double reduce(rules::Builtin builtin, Int n, const std::function<double(Int)>& body) {
    const bool sum = builtin == rules::Builtin::sum;
    double result = sum ? 0 : -std::numeric_limits<double>::infinity();
    const std::int64_t count = whole(n);
    for (std::int64_t k = 0; k < count; ++k) result = sum ? result + body(k) : larger(result, body(k));
    return result;
  }
  const tensor::TensorType& type(egraph::TermId id) const { return graph.type(id); }
};

}  // namespace

Floating::Floating(const egraph::EGraph& graph, Inside inside) : graph_(graph), inside_(std::move(inside)) {}

const RealArray* Floating::value(egraph::TermId id) {
  if (const auto found = values_.find(id); found != values_.end()) return &found->second;
  try {
    return &values_.emplace(id, compute(id)).first->second;
  } catch (const Undefined& undefined) {
    why_ = undefined.what;
    return nullptr;
  }
}

RealArray Floating::compute(egraph::TermId id) {
  const term::NodeView node = graph_.original(id);
  if (node.op == rules::kNoOp) throw Undefined{"nothing is said of " + graph_.label(id)};
  const rules::Operator& op = graph_.rules().op(node.op);
  const tensor::TensorType& type = graph_.type(id);
  RealArray result;
  for (const Int size : type.shape) {
    if (!size.is_constant()) throw Undefined{"a symbolic size"};
    result.shape.push_back(size.value());
  }
  const std::vector<egraph::TermId> children(node.children.begin(), node.children.end());
  std::vector<const RealArray*> operands;
  for (const egraph::TermId child : children) {
    const RealArray* operand = value(child);
    if (operand == nullptr) throw Undefined{why_};
    operands.push_back(operand);
  }
  if (!op.value) {
    std::optional<RealArray> inside =
        inside_ ? inside_({op, node.attrs, operands, type}) : std::optional<RealArray>();
    if (!inside) throw Undefined{"the operator `" + op.name + "` has no `value`"};
    return std::move(*inside);
  }
  const auto array = [&](egraph::TermId child) -> const RealArray& { return values_.at(child); };
  const DType operand = children.empty() ? type.dtype : graph_.type(children[0]).dtype;
  Real real{{}, graph_, array, type.dtype, operand, op.converts};
  Clause<Real> clause(real, op, node.attrs, children);
  for_each_index(result.shape, [&](const Index& at) {
    result.elements.push_back(clause.element(std::vector<Int>(at.begin(), at.end())));
  });
  return result;
}

}  // namespace entangle::eval
