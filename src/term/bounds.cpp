// Bounds of integer elements, from those of the operands: intervals instead of numbers in the value clause.
#include <algorithm>

#include "term/application.h"

namespace entangle::term {

using rules::Builtin;
using rules::Expr;
using rules::ExprKind;
using rules::Operation;
using sym::Int;
using sym::Scalar;
using tensor::Attr;

namespace {

Interval point(const Int& value) {
  return {value, value};
}

std::optional<Int> whole(const Value& value) {
  if (const Int* integer = value.as_int()) return *integer;
  const std::optional<Scalar> scalar = value.to_scalar();
  return scalar && !scalar->is_infinite() ? scalar->as_int() : std::nullopt;
}

std::optional<Int> plus(const std::optional<Int>& a, const std::optional<Int>& b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}
std::optional<Int> minus(const std::optional<Int>& a) {
  return a ? std::optional(-*a) : std::nullopt;
}

}  // namespace

Interval Bounding::run(const Signature& signature, const Attr& attrs, Types children,
                       std::span<const Interval> intervals, const tensor::TensorType& type) {
  const rules::Operator& op = *signature.op;
  if (op.converts) {
    // What is below 0 is another number as a byte.
    const bool same = tensor::is_integer(children[0]->dtype) &&
                      (type.dtype != tensor::DType::u8 ||
                       (intervals[0].low && is_yes(oracle().less_equal(0, *intervals[0].low))));
    return same ? intervals[0] : Interval{};
  }
  if (!op.value || op.random) return {};
  intervals_ = intervals;
  type_ = &type;
  index_ = op.value_index;
  positions_.clear();
  bind(signature, attrs, children);
  return of(*op.value, frame());
}

// Of scalar functions that every rule library means the same by, as in `exact_value`.
Interval Bounding::function(const Expr& expr, Frame& frame) {
  if (!tensor::is_integer(type_->dtype) || (expr.name != "floor_div" && expr.name != "remainder")) return {};
  const Interval x = of(expr.args[0], frame);
  const Interval divisor = of(expr.args[1], frame);
  const std::optional<Int>& by = divisor.low;
  if (!by || by != divisor.high || !is_yes(oracle().less(0, *by))) return {};
  if (expr.name == "floor_div") {
    const auto quotient = [&](const std::optional<Int>& end) {
      return end ? std::optional(sym::floordiv(*end, *by)) : std::nullopt;
    };
    return {quotient(x.low), quotient(x.high)};
  }
  const bool same =
      x.low && x.high && is_yes(oracle().less_equal(0, *x.low)) && is_yes(oracle().less(*x.high, *by));
  return same ? x : Interval{Int(0), *by - 1};
}

Interval Bounding::greatest(const Interval& a, const Interval& b, bool larger) {
  // The end that both have a share in, and the one that either gives a bound for.
  const Interval outer = hull(a, b);
  const auto inner = [&](const std::optional<Int>& x, const std::optional<Int>& y) {
    if (!x || !y) return x ? x : y;
    return is_yes(oracle().less_equal(*x, *y)) == larger ? y : x;
  };
  return larger ? Interval{inner(a.low, b.low), outer.high} : Interval{outer.low, inner(a.high, b.high)};
}

Interval Bounding::hull(const Interval& a, const Interval& b) {
  // The end that is known to be the outer one.
  const auto outer = [&](const std::optional<Int>& x, const std::optional<Int>& y, bool greater) {
    if (!x || !y) return std::optional<Int>();
    if (is_yes(oracle().less_equal(*x, *y))) return greater ? y : x;
    if (is_yes(oracle().less_equal(*y, *x))) return greater ? x : y;
    return std::optional<Int>();
  };
  return {outer(a.low, b.low, false), outer(a.high, b.high, true)};
}

Interval Bounding::of(const Expr& expr, Frame& frame) {
  if (const Maybe exact = evaluate(expr, frame)) {
    if (const std::optional<Int> value = whole(*exact)) return point(*value);
  }
  switch (expr.kind) {
    case ExprKind::variable: {
      const auto found = std::ranges::find(positions_, expr.slot, &std::pair<rules::Slot, Interval>::first);
      return found != positions_.end() ? found->second : Interval{};
    }
    case ExprKind::unary: {
      if (expr.operation != Operation::negate) return {};
      const Interval inner = of(expr.args[0], frame);
      return {minus(inner.high), minus(inner.low)};
    }
    case ExprKind::binary:
      return binary(expr, frame);
    case ExprKind::conditional:
      if (const smt::Truth truth = holds(expr.args[0], frame); truth != smt::Truth::unknown) {
        return of(expr.args[truth == smt::Truth::yes ? 1 : 2], frame);
      }
      return hull(of(expr.args[1], frame), of(expr.args[2], frame));
    case ExprKind::index:
      return element(expr, frame);
    case ExprKind::reduction:
      return reduction(expr, frame);
    case ExprKind::aggregate:
      return aggregate(expr, frame);
    case ExprKind::scalar_call:
      return function(expr, frame);
    case ExprKind::call:
      return expr.builtin == Builtin::block ? common(evaluate(argument(expr, 0), frame)) : Interval{};
    default:
      return {};
  }
}

Interval Bounding::binary(const Expr& expr, Frame& frame) {
  const Interval a = of(expr.args[0], frame);
  const Interval b = of(expr.args[1], frame);
  switch (expr.operation) {
    case Operation::add:
      return {plus(a.low, b.low), plus(a.high, b.high)};
    case Operation::subtract:
      return {plus(a.low, minus(b.high)), plus(a.high, minus(b.low))};
    case Operation::multiply:
      return a.low && a.low == a.high   ? times(*a.low, b)
             : b.low && b.low == b.high ? times(*b.low, a)
                                        : Interval{};
    default:
      return {};
  }
}

Interval Bounding::times(const Int& factor, const Interval& interval) {
  const auto product = [&](const std::optional<Int>& end) {
    return end ? std::optional(factor * *end) : std::nullopt;
  };
  if (is_yes(oracle().less_equal(0, factor))) return {product(interval.low), product(interval.high)};
  if (is_yes(oracle().less_equal(factor, 0))) return {product(interval.high), product(interval.low)};
  return {};
}

// An entry of a list, a position, or an element of an operand, wherever the index points.
Interval Bounding::element(const Expr& expr, Frame& frame) {
  const Expr& base = expr.args[0];
  if (base.kind == ExprKind::variable && base.slot == index_) {
    const std::optional<std::int64_t> axis = constant(evaluate(expr.args[1], frame));
    if (!axis || *axis < 0 || static_cast<std::size_t>(*axis) >= type_->rank()) return {};
    return {Int(0), type_->shape[static_cast<std::size_t>(*axis)] - 1};
  }
  const Maybe of_what = evaluate(base, frame);
  if (!of_what) return {};
  return of_what->as_list() != nullptr ? common(of_what) : operand(*of_what);
}

Interval Bounding::operand(const Value& tensor) const {
  const Term* term = tensor.as_term();
  return term != nullptr ? intervals_[term->id] : Interval{};
}

Interval Bounding::common(const Maybe& list) {
  const std::vector<Value>* entries = list ? list->as_list() : nullptr;
  std::optional<Interval> all;
  for (std::size_t k = 0; entries != nullptr && k < entries->size(); ++k) {
    const std::optional<Int> number = whole((*entries)[k]);
    const Interval one = number ? point(*number) : operand((*entries)[k]);
    all = all ? hull(*all, one) : one;
  }
  return all.value_or(Interval{});
}

Interval Bounding::reduction(const Expr& expr, Frame& frame) {
  const Maybe count = evaluate(expr.args[0], frame);
  const std::optional<Int> n = count ? whole(*count) : std::nullopt;
  if (!n || expr.binders.size() != 1) return {};
  const Restore restore(frame, expr.binders);
  positions_.emplace_back(expr.binders[0], Interval{Int(0), *n - 1});
  const Interval body = of(expr.args[1], frame);
  positions_.pop_back();
  switch (expr.builtin) {
    case Builtin::max:
    case Builtin::min:
      return body;
    case Builtin::sum:
      return is_yes(oracle().less_equal(0, *n)) ? times(*n, body) : Interval{};
    default:
      return {};
  }
}

Interval Bounding::aggregate(const Expr& expr, Frame& frame) {
  std::optional<Interval> all;
  const bool larger = expr.builtin == Builtin::max;
  if ((!larger && expr.builtin != Builtin::sum && expr.builtin != Builtin::min) || expr.args.size() > 2)
    return {};
  each(expr, 0, expr.args[1], frame, [&] {
    const Interval one = of(expr.args[0], frame);
    if (!all) {
      all = one;
    } else if (expr.builtin == Builtin::sum) {
      all = Interval{plus(all->low, one.low), plus(all->high, one.high)};
    } else {
      all = greatest(*all, one, larger);
    }
    return true;
  });
  return all.value_or(Interval{});
}

}  // namespace entangle::term
