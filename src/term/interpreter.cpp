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

namespace {

// Numbers that are too long to go on with are not defined.
Maybe from_scalar(std::optional<Scalar> scalar) {
  if (!scalar || !scalar->is_short()) return std::nullopt;
  return Value(Attr::of(*scalar));
}

}  // namespace

const Expr& Interpreter::argument(const Expr& expr, std::size_t index) {
  return index < expr.args.size() ? expr.args[index] : expr.attrs[index - expr.args.size()];
}

std::optional<std::int64_t> Interpreter::constant(const Maybe& value) {
  if (!value) return std::nullopt;
  if (const Int* integer = value->as_int()) return integer->constant();
  // `1/1` and other scalars that are integers may stand for one.
  const std::optional<Scalar> scalar = value->to_scalar();
  const std::optional<Int> integer = scalar ? scalar->as_int() : std::nullopt;
  return integer ? integer->constant() : std::nullopt;
}

Maybe Interpreter::evaluate(const Expr& expr, Frame& frame) {
  const Expr* before = failed_;
  Maybe result = dispatch(expr, frame);
  if (result && result->as_int() != nullptr && result->as_int()->is_poison()) result.reset();
  // What failed inside does not matter where there is a value all the same.
  if (result) {
    failed_ = before;
  } else if (failed_ == nullptr) {
    failed_ = &expr;
  }
  return result;
}

Maybe Interpreter::dispatch(const Expr& expr, Frame& frame) {
  switch (expr.kind) {
    case ExprKind::literal:
      return Value(expr.value);
    case ExprKind::variable:
      return frame.value(expr.slot);
    case ExprKind::unary:
      if (expr.operation == Operation::negate) {
        const Maybe value = evaluate(expr.args[0], frame);
        if (!value) return std::nullopt;
        if (const Int* integer = value->as_int()) return Value(-*integer);
        const std::optional<Scalar> scalar = value->to_scalar();
        return scalar ? from_scalar(-*scalar) : std::nullopt;
      }
      return as_condition(expr, frame);
    case ExprKind::binary:
      return binary(expr, frame);
    case ExprKind::conditional:
      return conditional(expr, frame);
    case ExprKind::index:
      return index(expr, frame);
    case ExprKind::range:
      return range(expr, frame);
    case ExprKind::with:
      return with(expr, frame);
    case ExprKind::without:
      return without(expr, frame);
    case ExprKind::list:
    case ExprKind::tuple:
      return list(expr, frame);
    case ExprKind::comprehension:
      return comprehension(expr, frame);
    case ExprKind::fold:
      return accumulate(expr, frame);
    case ExprKind::let:
      return let(expr, frame);
    case ExprKind::aggregate:
      return aggregate(expr, frame);
    case ExprKind::call:
      return call(expr, frame);
    case ExprKind::forall:
    case ExprKind::exists:
    case ExprKind::others:
    case ExprKind::has:
    case ExprKind::predicate:
      return as_condition(expr, frame);
    case ExprKind::scalar_call:
      return scalar_call(expr, frame);
    case ExprKind::apply:
    case ExprKind::generic:
    case ExprKind::reduction:
      return evaluate_special(expr, frame);
    case ExprKind::wildcard:
    case ExprKind::star:
    case ExprKind::use:
      return std::nullopt;
  }
  return std::nullopt;
}

Maybe Interpreter::as_condition(const Expr& expr, Frame& frame) {
  const Truth truth = holds(expr, frame);
  if (truth == Truth::unknown) return std::nullopt;
  return Value::of(truth == Truth::yes);
}

// --- lists

Maybe Interpreter::index(const Expr& expr, Frame& frame) {
  const Expr& base = expr.args[0];
  // x.shape[d] is by far the most frequent: no list is made for it.
  if (base.kind == ExprKind::call && base.builtin == Builtin::shape) {
    const Maybe of = evaluate(argument(base, 0), frame);
    const tensor::TensorType* type = of ? type_of(*of) : nullptr;
    if (type == nullptr) return std::nullopt;
    const std::optional<std::int64_t> place = constant(evaluate(expr.args[1], frame));
    if (!place || *place < 0 || static_cast<std::size_t>(*place) >= type_of(*of)->rank()) return std::nullopt;
    return Value(type_of(*of)->shape[static_cast<std::size_t>(*place)]);
  }
  const Maybe value = evaluate(base, frame);
  if (!value) return std::nullopt;
  const std::vector<Value>* entries = value->as_list();
  if (entries == nullptr) return evaluate_special(expr, frame);  // the element of a tensor
  const std::optional<std::int64_t> place = constant(evaluate(expr.args[1], frame));
  if (!place && indifferent()) return common(*entries);
  if (!place || *place < 0 || static_cast<std::size_t>(*place) >= entries->size()) return std::nullopt;
  return (*entries)[static_cast<std::size_t>(*place)];
}

Maybe Interpreter::common(std::span<const Value> values) {
  if (values.empty()) return std::nullopt;
  for (const Value& value : values.subspan(1)) {
    if (!is_yes(equal(values[0], value))) return std::nullopt;
  }
  return values[0];
}

Maybe Interpreter::range(const Expr& expr, Frame& frame) {
  const Maybe value = evaluate(expr.args[0], frame);
  const std::vector<Value>* entries = value ? value->as_list() : nullptr;
  if (entries == nullptr) return std::nullopt;
  const auto size = static_cast<std::int64_t>(entries->size());
  const auto bound = [&](const Expr& at, std::int64_t missing) -> std::optional<std::int64_t> {
    const Maybe place = evaluate(at, frame);
    return place && place->is_none() ? missing : constant(place);
  };
  const std::optional<std::int64_t> begin = bound(expr.args[1], 0);
  const std::optional<std::int64_t> end = begin ? bound(expr.args[2], size) : std::nullopt;
  if (!end || *begin < 0 || *begin > *end || *end > size) return std::nullopt;
  return Value(std::vector<Value>(entries->begin() + *begin, entries->begin() + *end));
}

Maybe Interpreter::with(const Expr& expr, Frame& frame) {
  const Maybe value = evaluate(expr.args[0], frame);
  if (!value || value->as_list() == nullptr) return std::nullopt;
  const std::optional<std::int64_t> place = constant(evaluate(expr.args[1], frame));
  std::vector<Value> entries = *value->as_list();
  if (!place || *place < 0 || static_cast<std::size_t>(*place) >= entries.size()) return std::nullopt;
  const Maybe entry = evaluate(expr.args[2], frame);
  if (!entry) return std::nullopt;
  entries[static_cast<std::size_t>(*place)] = *entry;
  return Value(std::move(entries));
}

Maybe Interpreter::without(const Expr& expr, Frame& frame) {
  const Maybe value = evaluate(expr.args[0], frame);
  const std::vector<Value>* entries = value ? value->as_list() : nullptr;
  const Maybe places = entries != nullptr ? evaluate(expr.args[1], frame) : std::nullopt;
  if (!places) return std::nullopt;
  std::vector<bool> removed(entries->size(), false);
  const auto remove = [&](const Value& at) {
    const std::optional<std::int64_t> place = constant(at);
    if (!place || *place < 0 || static_cast<std::size_t>(*place) >= removed.size()) return false;
    removed[static_cast<std::size_t>(*place)] = true;
    return true;
  };
  if (const std::vector<Value>* several = places->as_list()) {
    for (const Value& place : *several) {
      if (!remove(place)) return std::nullopt;
    }
  } else if (!remove(*places)) {
    return std::nullopt;
  }
  std::vector<Value> rest;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    if (!removed[i]) rest.push_back((*entries)[i]);
  }
  return Value(std::move(rest));
}

Maybe Interpreter::list(const Expr& expr, Frame& frame) {
  std::vector<Value> entries;
  entries.reserve(expr.args.size());
  for (const Expr& arg : expr.args) {
    const bool star = arg.kind == ExprKind::star;
    Maybe value = evaluate(star ? arg.args[0] : arg, frame);
    if (!value) return std::nullopt;
    if (!star) {
      entries.push_back(std::move(*value));
      continue;
    }
    if (value->as_list() == nullptr || entries.size() + value->as_list()->size() > kMaxList)
      return std::nullopt;
    entries.insert(entries.end(), value->as_list()->begin(), value->as_list()->end());
  }
  return Value(std::move(entries));
}

Maybe Interpreter::conditional(const Expr& expr, Frame& frame) {
  const Truth truth = holds(expr.args[0], frame);
  if (truth != Truth::unknown) return evaluate(expr.args[truth == Truth::yes ? 1 : 2], frame);
  if (!indifferent()) return std::nullopt;
  Maybe first = evaluate(expr.args[1], frame);
  const Maybe second = first ? evaluate(expr.args[2], frame) : std::nullopt;
  return second && is_yes(equal(*first, *second)) ? first : std::nullopt;
}

bool Interpreter::bind(std::span<const rules::Slot> binders, const Value& item, Frame& frame) {
  if (binders.size() == 1) {
    frame.slots[binders[0]] = item;
    return true;
  }
  const std::vector<Value>* parts = item.as_list();
  if (parts == nullptr || parts->size() != binders.size()) return false;
  for (std::size_t i = 0; i < binders.size(); ++i) frame.slots[binders[i]] = (*parts)[i];
  return true;
}

Maybe Interpreter::comprehension(const Expr& expr, Frame& frame) {
  std::vector<Value> results;
  bool defined = true;
  const bool ran = each(expr, 0, expr.args[1], frame, [&] {
    if (expr.args.size() > 2) {
      const Truth keep = holds(expr.args[2], frame);
      if (keep == Truth::no) return true;
      if (keep == Truth::unknown) return defined = false;
    }
    Maybe value = evaluate(expr.args[0], frame);
    if (!value) return defined = false;
    results.push_back(std::move(*value));
    return true;
  });
  if (!ran || !defined) return std::nullopt;
  return Value(std::move(results));
}

Maybe Interpreter::accumulate(const Expr& expr, Frame& frame) {
  Maybe accumulator = evaluate(expr.args[0], frame);
  if (!accumulator) return std::nullopt;
  const rules::Slot slot = expr.binders[0];
  const Restore restore(frame, std::span(expr.binders).first(1));
  frame.slots[slot] = std::move(accumulator);
  const bool ran = each(expr, 1, expr.args[1], frame, [&] {
    frame.slots[slot] = evaluate(expr.args[2], frame);
    return frame.slots[slot].has_value();
  });
  return ran ? frame.slots[slot] : std::nullopt;
}

Maybe Interpreter::let(const Expr& expr, Frame& frame) {
  const Maybe value = evaluate(expr.args[0], frame);
  if (!value) return std::nullopt;
  const Restore restore(frame, expr.binders);
  if (!bind(expr.binders, *value, frame)) return std::nullopt;
  return evaluate(expr.args[1], frame);
}

Maybe Interpreter::aggregate(const Expr& expr, Frame& frame) {
  // As [e for x in xs], then combined.
  const Maybe values = comprehension(expr, frame);
  return values ? combine(expr.builtin, *values->as_list()) : std::nullopt;
}

Maybe Interpreter::combine(Builtin builtin, std::span<const Value> values) {
  const bool ordered = builtin == Builtin::max || builtin == Builtin::min;
  if (values.empty()) {
    if (ordered) return std::nullopt;
    return Value(Int(builtin == Builtin::product ? 1 : 0));
  }
  Maybe result = values[0];
  if (!is_number(*result)) return std::nullopt;
  for (std::size_t i = 1; i < values.size() && result; ++i) {
    result = ordered ? extreme(*result, values[i], builtin == Builtin::max)
                     : arithmetic(builtin == Builtin::product ? Operation::multiply : Operation::add, *result,
                                  values[i]);
  }
  return result;
}

// --- numbers

Maybe Interpreter::binary(const Expr& expr, Frame& frame) {
  if (is_condition(expr)) return as_condition(expr, frame);
  const Maybe left = evaluate(expr.args[0], frame);
  const Maybe right = left ? evaluate(expr.args[1], frame) : std::nullopt;
  if (!right) return std::nullopt;
  if (expr.operation == Operation::append) {
    const std::vector<Value>* a = left->as_list();
    const std::vector<Value>* b = right->as_list();
    if (a == nullptr || b == nullptr || a->size() + b->size() > kMaxList) return std::nullopt;
    std::vector<Value> both;
    both.reserve(a->size() + b->size());
    both.insert(both.end(), a->begin(), a->end());
    both.insert(both.end(), b->begin(), b->end());
    return Value(std::move(both));
  }
  return arithmetic(expr.operation, *left, *right,
                    expr.type.base == rules::Base::scalar && expr.type.depth == 0);
}

Maybe Interpreter::arithmetic(Operation operation, const Value& a, const Value& b, bool as_scalar) {
  const Int* x = a.as_int();
  const Int* y = b.as_int();
  if (x != nullptr && y != nullptr) {
    switch (operation) {
      case Operation::add:
        return Value(*x + *y);
      case Operation::subtract:
        return Value(*x - *y);
      case Operation::multiply:
        return Value(*x * *y);
      case Operation::floordiv:
      case Operation::mod:
        if (!is_no(oracle_.equal(*y, 0))) return std::nullopt;
        return Value(operation == Operation::mod ? mod(*x, *y) : floordiv(*x, *y));
      case Operation::divide:
        if (const std::optional<Int> quotient = oracle_.exact_div(*x, *y)) return Value(*quotient);
        if (!as_scalar || !is_no(oracle_.equal(*y, 0))) return std::nullopt;
        break;
      default:
        return std::nullopt;
    }
  }
  const std::optional<Scalar> p = a.to_scalar();
  const std::optional<Scalar> q = b.to_scalar();
  if (!p || !q) return std::nullopt;
  switch (operation) {
    case Operation::add:
      return from_scalar(*p + *q);
    case Operation::subtract:
      return from_scalar(*p - *q);
    case Operation::multiply:
      return from_scalar(*p * *q);
    case Operation::divide:
      return from_scalar(*p / *q);
    case Operation::floordiv:
    case Operation::mod: {
      // Of elements: defined for integers, whatever they were written as.
      const std::optional<Int> n = p->as_int();
      const std::optional<Int> d = q->as_int();
      return n && d ? arithmetic(operation, Value(*n), Value(*d)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Maybe Interpreter::scalar_call(const Expr& expr, Frame& frame) {
  std::vector<Scalar> arguments;
  for (const Expr& arg : expr.args) {
    const Maybe value = evaluate(arg, frame);
    std::optional<Scalar> scalar = value ? value->to_scalar() : std::nullopt;
    if (!scalar) return std::nullopt;
    arguments.push_back(std::move(*scalar));
  }
  return from_scalar(function(expr.name, arguments));
}

std::optional<Scalar> Interpreter::function(const std::string& name, std::span<const Scalar> arguments) {
  return exact_value(oracle_, name, arguments);
}

Maybe Interpreter::extreme(const Value& a, const Value& b, bool larger) {
  const Int* x = a.as_int();
  const Int* y = b.as_int();
  if (x != nullptr && y != nullptr) {
    if (is_yes(oracle_.less_equal(*x, *y))) return larger ? b : a;
    if (is_yes(oracle_.less_equal(*y, *x))) return larger ? a : b;
    return Value(larger ? max(*x, *y) : min(*x, *y));
  }
  const std::optional<Scalar> p = a.to_scalar();
  const std::optional<Scalar> q = b.to_scalar();
  if (!p || !q) return std::nullopt;
  if (is_yes(scalars_less(oracle_, *p, *q, true))) return larger ? b : a;
  if (is_yes(scalars_less(oracle_, *q, *p, true))) return larger ? a : b;
  return std::nullopt;
}

}  // namespace entangle::term
