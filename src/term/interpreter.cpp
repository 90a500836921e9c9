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

namespace {

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
          return true;
        default:
          return false;
      }
    default:
      return false;
  }
}

Maybe from_scalar(std::optional<Scalar> scalar) {
  if (!scalar) return std::nullopt;
  return Value(Attr::of(*scalar));
}

// Longer lists than any shape or any number of ranks are a mistake in a rule.
constexpr std::size_t kMaxList = 1 << 16;

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
  Maybe result = dispatch(expr, frame);
  if (result && result->as_int() != nullptr && result->as_int()->is_poison()) result.reset();
  if (!result) undefined(expr);
  return result;
}

Maybe Interpreter::dispatch(const Expr& expr, Frame& frame) {
  switch (expr.kind) {
    case ExprKind::literal:
      return Value(expr.value);
    case ExprKind::variable:
      return expr.slot < frame.slots.size() ? frame.slots[expr.slot] : std::nullopt;
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
  if (!place || *place < 0 || static_cast<std::size_t>(*place) >= entries->size()) return std::nullopt;
  return (*entries)[static_cast<std::size_t>(*place)];
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
    if (value->as_list() == nullptr) return std::nullopt;
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
    if (a == nullptr || b == nullptr) return std::nullopt;
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

// --- conditions

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
  if (expr.builtin == Builtin::named || expr.builtin == Builtin::constant) return holds_special(expr, frame);
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

// --- built-in functions

Maybe Interpreter::call(const Expr& expr, Frame& frame) {
  if (is_condition(expr)) return as_condition(expr, frame);
  switch (expr.builtin) {
    case Builtin::rank:
    case Builtin::axes:
    case Builtin::shape:
    case Builtin::dtype: {
      const Maybe value = evaluate(argument(expr, 0), frame);
      if (!value) return std::nullopt;
      const tensor::TensorType* type = type_of(*value);
      static const tensor::Shape no_axes;
      // A number in a tensor's place has no axes.
      if (type == nullptr && !is_number(*value)) return std::nullopt;
      const tensor::Shape& shape = type != nullptr ? type->shape : no_axes;
      if (expr.builtin == Builtin::dtype) {
        return type != nullptr ? Maybe(Value(Attr::of(type->dtype))) : std::nullopt;
      }
      if (expr.builtin == Builtin::rank) return Value(Int(shape.size()));
      std::vector<Value> values;
      values.reserve(shape.size());
      for (std::size_t k = 0; k < shape.size(); ++k) {
        values.emplace_back(expr.builtin == Builtin::axes ? Int(k) : shape[k]);
      }
      return Value(std::move(values));
    }
    case Builtin::offsets:
    case Builtin::block_at: {
      const Maybe blocks = evaluate(argument(expr, 0), frame);
      const std::optional<std::int64_t> axis = constant(evaluate(argument(expr, 1), frame));
      if (!blocks || blocks->as_list() == nullptr || !axis || *axis < 0) return std::nullopt;
      const bool find = expr.builtin == Builtin::block_at;
      const Maybe low = find ? evaluate(argument(expr, 2), frame) : std::nullopt;
      const Maybe high = find ? evaluate(argument(expr, 3), frame) : std::nullopt;
      if (find && (!low || !high || low->as_int() == nullptr || high->as_int() == nullptr))
        return std::nullopt;
      Int offset = 0;
      std::vector<Value> offsets;
      for (std::size_t k = 0; k < blocks->as_list()->size(); ++k) {
        const tensor::TensorType* type = type_of((*blocks->as_list())[k]);
        if (type == nullptr || static_cast<std::size_t>(*axis) >= type->rank()) return std::nullopt;
        const Int next = offset + type->shape[static_cast<std::size_t>(*axis)];
        if (find && is_yes(oracle_.equal(offset, *low->as_int())) &&
            is_yes(oracle_.equal(next, *high->as_int()))) {
          return Value(Int(k));
        }
        offsets.emplace_back(offset);
        offset = next;
      }
      return find ? std::nullopt : Maybe(Value(std::move(offsets)));
    }
    case Builtin::tiling:
    case Builtin::uniform:
    case Builtin::interval_low:
    case Builtin::interval_high:
    case Builtin::full:
    case Builtin::full_like:
    case Builtin::reshape:
    case Builtin::broadcast_to:
    case Builtin::fresh:
    case Builtin::block:
      return call_special(expr, frame);
    default:
      break;
  }
  std::vector<Value> arguments;
  arguments.reserve(argument_count(expr));
  for (std::size_t i = 0; i < argument_count(expr); ++i) {
    Maybe value = evaluate(argument(expr, i), frame);
    if (!value) return std::nullopt;
    arguments.push_back(std::move(*value));
  }
  switch (expr.builtin) {
    case Builtin::sum:
    case Builtin::product:
    case Builtin::min:
    case Builtin::max: {
      const bool one_list = arguments.size() == 1 && arguments[0].as_list() != nullptr;
      return combine(expr.builtin, one_list ? std::span<const Value>(*arguments[0].as_list()) : arguments);
    }
    case Builtin::scalar_of:
      return arguments.size() == 1 ? from_scalar(arguments[0].to_scalar()) : std::nullopt;
    case Builtin::range: {
      const std::optional<std::int64_t> first = arguments.size() == 2 ? constant(arguments[0]) : 0;
      const std::optional<std::int64_t> last = constant(arguments.back());
      if (!first || !last || *last - *first > static_cast<std::int64_t>(kMaxList)) return std::nullopt;
      std::vector<Value> values;
      for (std::int64_t k = *first; k < *last; ++k) values.emplace_back(Int(k));
      return Value(std::move(values));
    }
    default:
      return list_function(*this, expr.builtin, arguments);
  }
}

}  // namespace entangle::term
