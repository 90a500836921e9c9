// Conditions without terms: connectives, comparisons, quantifiers.
#include "term/interpreter.h"

namespace entangle::term {

using rules::Builtin;
using rules::Expr;
using rules::ExprKind;
using rules::Operation;
using smt::Truth;
using sym::Int;
using sym::Scalar;
using tensor::Attr;

bool is_comparison(Operation operation) {
  return operation >= Operation::equal && operation <= Operation::greater_equal;
}

bool is_number(const Value& value) {
  if (value.as_int() != nullptr) return true;
  const Attr* attr = value.as_attr();
  return attr != nullptr && (attr->kind() == Attr::Kind::scalar || attr->kind() == Attr::Kind::boolean);
}

bool is_condition(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::forall:
    case ExprKind::exists:
    case ExprKind::others:
    case ExprKind::has:
    case ExprKind::predicate:
      return true;
    case ExprKind::unary:
      return expr.operation == Operation::logical_not;
    case ExprKind::binary:
      return is_comparison(expr.operation) || expr.operation == Operation::in ||
             expr.operation == Operation::logical_and || expr.operation == Operation::logical_or;
    case ExprKind::call:
      switch (expr.builtin) {
        case Builtin::divides:
        case Builtin::is_float:
        case Builtin::is_wide_float:
        case Builtin::is_integer:
        case Builtin::is_bool:
        case Builtin::is_none:
        case Builtin::is_tensor:
        case Builtin::named:
        case Builtin::constant:
        case Builtin::defined:
          return true;
        default:
          return false;
      }
    default:
      return false;
  }
}

Truth Interpreter::holds(const Expr& expr, Frame& frame) {
  switch (expr.kind) {
    case ExprKind::binary:
      return holds_binary(expr, frame);
    case ExprKind::unary:
      if (expr.operation == Operation::logical_not) return !holds(expr.args[0], frame);
      break;
    case ExprKind::forall:
    case ExprKind::exists:
      return quantified(expr, frame);
    case ExprKind::conditional: {
      const Truth truth = holds(expr.args[0], frame);
      if (truth != Truth::unknown) return holds(expr.args[truth == Truth::yes ? 1 : 2], frame);
      return Truth::unknown;
    }
    case ExprKind::let: {
      const Maybe value = evaluate(expr.args[0], frame);
      if (!value) return Truth::unknown;
      const Restore restore(frame, expr.binders);
      return bind(expr.binders, *value, frame) ? holds(expr.args[1], frame) : Truth::unknown;
    }
    case ExprKind::others:
    case ExprKind::has:
    case ExprKind::predicate:
      return holds_special(expr, frame);
    case ExprKind::call:
      if (is_condition(expr)) return holds_call(expr, frame);
      break;
    default:
      break;
  }
  const Maybe value = evaluate(expr, frame);
  const std::optional<bool> truth = value ? value->to_bool() : std::nullopt;
  return truth ? smt::truth(*truth) : Truth::unknown;
}

Truth Interpreter::holds_binary(const Expr& expr, Frame& frame) {
  const Expr& left = expr.args[0];
  const Expr& right = expr.args[1];
  switch (expr.operation) {
    case Operation::logical_and: {
      const Truth truth = holds(left, frame);
      return is_no(truth) ? truth : truth & holds(right, frame);
    }
    case Operation::logical_or: {
      const Truth truth = holds(left, frame);
      return is_yes(truth) ? truth : truth | holds(right, frame);
    }
    case Operation::in: {
      const Maybe value = evaluate(left, frame);
      const Maybe values = value ? evaluate(right, frame) : std::nullopt;
      if (!values || values->as_list() == nullptr) return Truth::unknown;
      Truth truth = Truth::no;
      for (const Value& entry : *values->as_list()) {
        truth = truth | equal(*value, entry);
        if (is_yes(truth)) break;
      }
      return truth;
    }
    default: {
      if (!is_comparison(expr.operation)) return Truth::unknown;
      const Maybe a = evaluate(left, frame);
      const Maybe b = a ? evaluate(right, frame) : std::nullopt;
      return b ? compare(expr.operation, *a, *b) : Truth::unknown;
    }
  }
}

Truth Interpreter::compare(Operation operation, const Value& a, const Value& b) {
  switch (operation) {
    case Operation::equal:
      return equal(a, b);
    case Operation::not_equal:
      return !equal(a, b);
    case Operation::greater:
      return compare(Operation::less, b, a);
    case Operation::greater_equal:
      return compare(Operation::less_equal, b, a);
    default:
      break;
  }
  const bool or_equal = operation == Operation::less_equal;
  const Int* x = a.as_int();
  const Int* y = b.as_int();
  if (x != nullptr && y != nullptr) return or_equal ? oracle_.less_equal(*x, *y) : oracle_.less(*x, *y);
  const std::optional<Scalar> p = a.to_scalar();
  const std::optional<Scalar> q = b.to_scalar();
  return p && q ? scalars_less(oracle_, *p, *q, or_equal) : Truth::unknown;
}

Truth Interpreter::equal(const Value& a, const Value& b) {
  if (a.as_int() != nullptr && b.as_int() != nullptr) return oracle_.equal(*a.as_int(), *b.as_int());
  const std::vector<Value>* xs = a.as_list();
  const std::vector<Value>* ys = b.as_list();
  if (xs != nullptr && ys != nullptr) {
    if (xs->size() != ys->size()) return Truth::no;
    Truth truth = Truth::yes;
    for (std::size_t i = 0; i < xs->size() && !is_no(truth); ++i) truth = truth & equal((*xs)[i], (*ys)[i]);
    return truth;
  }
  if (a.as_term() != nullptr && b.as_term() != nullptr) {
    // Two classes that are not known to be equal may still be.
    return same_term(*a.as_term(), *b.as_term()) ? Truth::yes : Truth::unknown;
  }
  if (a.as_type() != nullptr && b.as_type() != nullptr) {
    if (a.as_type()->dtype != b.as_type()->dtype) return Truth::no;
    return oracle_.equal(a.as_type()->shape, b.as_type()->shape);
  }
  if (a.is_none() || b.is_none()) return smt::truth(a.is_none() && b.is_none());
  if (is_number(a) && is_number(b)) {
    const std::optional<Scalar> p = a.to_scalar();
    const std::optional<Scalar> q = b.to_scalar();
    return p && q ? scalars_equal(oracle_, *p, *q) : Truth::unknown;
  }
  if (a.as_attr() != nullptr && b.as_attr() != nullptr) return smt::truth(*a.as_attr() == *b.as_attr());
  // A tensor and a number are not compared; a list and a name are different.
  return a.as_term() != nullptr || b.as_term() != nullptr ? Truth::unknown : Truth::no;
}

Truth Interpreter::quantified(const Expr& expr, Frame& frame) {
  const bool all = expr.kind == ExprKind::forall;
  Truth truth = smt::truth(all);
  const bool ran = each(expr, 0, expr.args[0], frame, [&] {
    const Truth here = holds(expr.args[1], frame);
    truth = all ? truth & here : truth | here;
    return all ? !is_no(truth) : !is_yes(truth);
  });
  return ran ? truth : Truth::unknown;
}

Truth Interpreter::holds_call(const Expr& expr, Frame& frame) {
  if (expr.builtin == Builtin::named || expr.builtin == Builtin::constant ||
      expr.builtin == Builtin::defined) {
    return holds_special(expr, frame);
  }
  const Maybe value = evaluate(argument(expr, 0), frame);
  if (!value) return Truth::unknown;
  switch (expr.builtin) {
    case Builtin::divides: {
      const Maybe n = evaluate(argument(expr, 1), frame);
      if (!n || n->as_int() == nullptr || value->as_int() == nullptr) return Truth::unknown;
      return oracle_.divides(*value->as_int(), *n->as_int());
    }
    case Builtin::is_none:
      return smt::truth(value->is_none());
    case Builtin::is_tensor:
      return smt::truth(value->as_term() != nullptr);
    default:
      break;
  }
  const Attr* attr = value->as_attr();
  if (attr == nullptr || attr->kind() != Attr::Kind::dtype) return Truth::unknown;
  const tensor::DType dtype = attr->as_dtype();
  switch (expr.builtin) {
    case Builtin::is_float:
      return smt::truth(tensor::is_float(dtype));
    case Builtin::is_wide_float:
      return smt::truth(tensor::is_wide_float(dtype));
    case Builtin::is_integer:
      return smt::truth(tensor::is_integer(dtype));
    case Builtin::is_bool:
      return smt::truth(dtype == tensor::DType::b8);
    default:
      return Truth::unknown;
  }
}

}  // namespace entangle::term
