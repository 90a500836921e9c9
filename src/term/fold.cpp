// Constants: the one element of an application whose operands are each one scalar everywhere.
#include "term/application.h"

namespace entangle::term {

using rules::Builtin;
using rules::Expr;
using rules::ExprKind;
using sym::Int;
using sym::Scalar;
using tensor::Attr;

namespace {

Maybe from_scalar(const std::optional<Scalar>& scalar) {
  return scalar ? Maybe(Value(Attr::of(*scalar))) : std::nullopt;
}

}  // namespace

std::optional<Scalar> converted(const Scalar& value, tensor::DType from, tensor::DType to) {
  if (tensor::is_integer(from)) {
    return tensor::is_integer(to) || tensor::is_wide_float(to) ? std::optional(value) : std::nullopt;
  }
  const std::optional<mpq_class> number = value.as_rational();
  if (!number || !tensor::is_wide_float(from) || !tensor::is_integer(to)) return std::nullopt;
  mpz_class whole;
  mpz_tdiv_q(whole.get_mpz_t(), number->get_num_mpz_t(), number->get_den_mpz_t());
  return whole.fits_slong_p() ? std::optional(Scalar(mpq_class(whole))) : std::nullopt;
}

Folding::Folding(const rules::RuleSet& rules, smt::Oracle& oracle) : Clauses(oracle), rules_(rules) {
  for (const rules::Law& law : rules.laws()) {
    if (law.slots.empty() && law.left.kind == ExprKind::scalar_call) closed_laws_.push_back(&law);
  }
}

std::optional<Scalar> Folding::run(const Signature& signature, const Attr& attrs, Types children,
                                   std::span<const Scalar> values) {
  const rules::Operator& op = *signature.op;
  if (op.random) return std::nullopt;
  if (op.rearranges && !children.empty()) {
    for (const Scalar& value : values) {
      if (!(value == values[0])) return std::nullopt;
    }
    return values[0];
  }
  values_ = values;
  bind(signature, attrs, children);
  Maybe result;
  if (op.value) {
    result = evaluate(*op.value, frame());
  } else if (op.elementwise) {
    // The scalar function of the same name, attributes first.
    std::vector<Scalar> arguments;
    for (const Attr& attr : attrs.as_list()) {
      const std::optional<Scalar> argument = Value(attr).to_scalar();
      if (!argument) return std::nullopt;
      arguments.push_back(*argument);
    }
    arguments.insert(arguments.end(), values.begin(), values.end());
    return function(op.name, arguments);
  }
  return result ? result->to_scalar() : std::nullopt;
}

Maybe Folding::element(const Value& tensor) const {
  const Term* term = tensor.as_term();
  return term != nullptr ? Maybe(Value(Attr::of(values_[term->id]))) : std::nullopt;
}

Maybe Folding::common_element(const std::vector<Value>& tensors) const {
  Maybe common;
  for (const Value& tensor : tensors) {
    const Term* term = tensor.as_term();
    if (term == nullptr || !(values_[term->id] == values_[tensors[0].as_term()->id])) return std::nullopt;
    if (!common) common = element(tensor);
  }
  return common;
}

Maybe Folding::evaluate_special(const Expr& expr, Frame& frame) {
  switch (expr.kind) {
    case ExprKind::index: {
      // Wherever the index points: the operand is the same everywhere.
      const Maybe tensor = evaluate(expr.args[0], frame);
      return tensor ? element(*tensor) : std::nullopt;
    }
    case ExprKind::reduction:
      return reduction(expr, frame);
    default:
      return std::nullopt;
  }
}

Maybe Folding::call_special(const Expr& expr, Frame& frame) {
  if (expr.builtin != Builtin::block) return std::nullopt;
  const Maybe tensors = evaluate(argument(expr, 0), frame);
  return tensors && tensors->as_list() != nullptr ? common_element(*tensors->as_list()) : std::nullopt;
}

Maybe Folding::reduction(const Expr& expr, Frame& frame) {
  const Maybe bound = evaluate(expr.args[0], frame);
  if (!bound) return std::nullopt;
  Int count = 1;
  const std::vector<Value>* sizes = bound->as_list();
  for (const Value& size : sizes != nullptr ? std::span<const Value>(*sizes) : std::span(&*bound, 1)) {
    if (size.as_int() == nullptr) return std::nullopt;
    // Below 0 there is nothing, as there is at 0.
    if (is_yes(oracle().less_equal(0, *size.as_int()))) {
      count *= *size.as_int();
    } else if (is_yes(oracle().less_equal(*size.as_int(), 0))) {
      count = 0;
    } else {
      return std::nullopt;
    }
  }
  // The bound variable stays unbound: an element that depends on it has no single value.
  const Restore restore(frame, expr.binders);
  const Maybe value = evaluate(expr.args[1], frame);
  const std::optional<Scalar> element = value ? value->to_scalar() : std::nullopt;
  if (!element || count.is_poison()) return std::nullopt;
  if (expr.builtin == Builtin::max || expr.builtin == Builtin::min) {
    return is_yes(oracle().less(0, count)) ? from_scalar(element) : std::nullopt;
  }
  return expr.builtin == Builtin::sum ? from_scalar(Scalar(count) * *element) : std::nullopt;
}

std::optional<Scalar> Folding::function(const std::string& name, std::span<const Scalar> arguments) {
  if (std::optional<Scalar> exact = exact_value(oracle(), name, arguments)) return exact;
  for (const rules::Law* law : closed_laws_) {
    if (law->left.name != name || law->left.args.size() != arguments.size() || law->condition) continue;
    Frame none;
    bool same = true;
    for (std::size_t i = 0; i < arguments.size() && same; ++i) {
      const Maybe value = evaluate(law->left.args[i], none);
      const std::optional<Scalar> scalar = value ? value->to_scalar() : std::nullopt;
      same = scalar && *scalar == arguments[i];
    }
    if (!same) continue;
    const Maybe result = evaluate(law->right, none);
    return result ? result->to_scalar() : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace entangle::term
