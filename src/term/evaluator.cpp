#include "entangle/term/evaluator.h"

#include "term/builder.h"

namespace entangle::term {

using rules::Base;
using rules::Builtin;
using rules::Expr;
using rules::ExprKind;
using rules::Operation;
using smt::Truth;
using sym::Int;
using sym::Scalar;
using tensor::Attr;
using tensor::TensorType;

namespace {

// A value as an attribute of the type a parameter has.
std::optional<Attr> coerced(const Value& value, const rules::Type& type, std::size_t depth) {
  if (depth > 0) {
    const std::vector<Value>* list = value.as_list();
    if (list == nullptr) return value.is_none() ? value.to_attr() : std::nullopt;
    std::vector<Attr> entries;
    entries.reserve(list->size());
    for (const Value& entry : *list) {
      const std::optional<Attr> attr = coerced(entry, type, depth - 1);
      if (!attr) return std::nullopt;
      entries.push_back(*attr);
    }
    return Attr::list(entries);
  }
  switch (type.base) {
    case Base::scalar:
      if (const std::optional<Scalar> scalar = value.to_scalar()) return Attr::of(*scalar);
      break;
    case Base::integer:
    case Base::axis:
    case Base::count:
      if (value.as_int() == nullptr) {
        const Attr* attr = value.as_attr();
        if (attr != nullptr && attr->kind() == Attr::Kind::scalar) {
          if (const std::optional<Int> integer = attr->as_scalar().as_int()) return Attr::of(*integer);
        }
      }
      break;
    case Base::boolean:
      if (const std::optional<bool> truth = value.to_bool()) return Attr::of(*truth);
      break;
    default:
      break;
  }
  return value.to_attr();
}

// Integers in the form in which equal ones are most often the same.
Value normalised(const smt::Oracle& oracle, Value value) {
  const Int* integer = value.as_int();
  return integer != nullptr && !integer->is_constant() ? Value(oracle.normalise(*integer)) : value;
}

// Flattens lists of terms; numbers are noted as places to fill in.
bool collect(const Value& value, const Store& store, std::vector<TermId>& into,
             std::vector<std::pair<std::size_t, Scalar>>& numbers) {
  if (const Term* term = value.as_term()) {
    if (term->id == kNoTerm) return false;
    into.push_back(store.find(term->id));
    return true;
  }
  if (const std::vector<Value>* list = value.as_list()) {
    for (const Value& entry : *list) {
      if (!collect(entry, store, into, numbers)) return false;
    }
    return true;
  }
  std::optional<Scalar> number = value.to_scalar();
  if (!number) return false;
  numbers.emplace_back(into.size(), std::move(*number));
  into.push_back(kNoTerm);
  return true;
}

}  // namespace

const TensorType* Evaluator::Impl::type_of(const Value& value) const {
  if (const Term* term = value.as_term()) return term->id == kNoTerm ? nullptr : &store.type(term->id);
  return value.as_type();
}

void Evaluator::Impl::forget() {
  failed_ = nullptr;
  untyped_.expr = nullptr;
  layout_failed_ = nullptr;
  reason_.clear();
  predicate_steps_ = 0;
}

const std::string& Evaluator::Impl::reason() {
  if (!reason_.empty()) return reason_;
  if (failed_ != nullptr) reason_ = "`" + rules::to_string(*failed_) + "` is undefined";
  std::string why;
  if (layout_failed_ != nullptr && layout_failed_ == failed_) {
    why = layout.reason();
  } else if (untyped_.expr != nullptr && untyped_.expr == failed_) {
    std::vector<const TensorType*> types;
    for (const TermId child : untyped_.children) types.push_back(&store.type(child));
    typing.type_of(untyped_.op, untyped_.attrs, types, &why);
  }
  if (!why.empty()) reason_ += (reason_.empty() ? "" : ": ") + why;
  return reason_;
}

std::optional<TermId> Evaluator::Impl::explained(std::optional<TermId> result) {
  if (!result && depth_ == 1) reason_ = layout.reason();
  return result;
}

// --- building

Maybe Evaluator::Impl::make(const Expr& expr, rules::OpId op, const Attr& attrs,
                            const std::vector<TermId>& children) {
  const TermId id = store.make(op, attrs, children);
  if (id != kNoTerm) return Value(Term{id});
  // The reason is worked out when somebody asks.
  if (depth_ == 1) {
    untyped_.expr = &expr;
    untyped_.op = op;
    untyped_.attrs = attrs;
    untyped_.children.assign(children.begin(), children.end());
  }
  return std::nullopt;
}

bool Evaluator::Impl::operands(const rules::Operator& op, const std::vector<Expr>& args, Frame& frame,
                               std::vector<TermId>& into) {
  std::vector<std::pair<std::size_t, Scalar>> numbers;
  for (const Expr& arg : args) {
    const bool star = arg.kind == ExprKind::star;
    const Maybe value = evaluate(star ? arg.args[0] : arg, frame);
    if (!value || (star && value->as_list() == nullptr)) return false;
    if (!collect(*value, store, into, numbers)) return false;
  }
  if (numbers.empty()) return true;
  // All operands have one type: that of any tensor among them.
  if (!op.elementwise || op.dtype) return false;
  for (const TermId id : into) {
    if (id == kNoTerm) continue;
    const TensorType type = store.type(id);
    for (const auto& [place, number] : numbers) {
      const std::optional<TermId> filled = layout.full(number, type);
      if (!filled) return false;
      into[place] = *filled;
    }
    return true;
  }
  return false;
}

std::optional<Attr> Evaluator::Impl::attributes(const rules::Operator& op, const Expr& expr, Frame& frame) {
  std::vector<Attr> values;
  values.reserve(op.attributes.size());
  for (std::size_t a = 0; a < op.attributes.size(); ++a) {
    const rules::Parameter& parameter = op.attributes[a];
    Maybe value;
    if (a < expr.attrs.size()) {
      value = evaluate(expr.attrs[a], frame);
    } else if (parameter.default_value) {
      Frame none;
      value = evaluate(*parameter.default_value, none);
    }
    const std::optional<Attr> attr =
        value ? coerced(normalised(oracle(), *value), parameter.type, parameter.type.depth) : std::nullopt;
    if (!attr) return std::nullopt;
    values.push_back(*attr);
  }
  return Attr::list(values);
}

Maybe Evaluator::Impl::apply(const Expr& expr, Frame& frame) {
  if (expr.op == rules::kNoOp) return std::nullopt;
  const rules::Operator& op = store.rules().op(expr.op);
  std::vector<TermId> children;
  if (!operands(op, expr.args, frame, children)) return std::nullopt;
  const std::optional<Attr> attrs = attributes(op, expr, frame);
  return attrs ? make(expr, expr.op, *attrs, children) : std::nullopt;
}

Maybe Evaluator::Impl::generic(const Expr& expr, Frame& frame) {
  const Focus* focus = frame.focus;
  if (focus == nullptr || expr.args.empty()) return std::nullopt;
  std::vector<TermId> children = focus->children;
  const std::optional<TermId> replaced = operand(expr.args[0], frame, &store.type(children[focus->operand]));
  if (!replaced) return std::nullopt;
  const Correspondence* correspondence = focus->correspondence;
  if (expr.args.size() > 1 && !expr.binders.empty()) {
    const bool with_axis = expr.binders.size() > 1;
    if (with_axis && correspondence == nullptr) return std::nullopt;
    const Restore restore(frame, expr.binders);
    for (std::size_t j = 0; j < children.size(); ++j) {
      // A trait without axis speaks of all other operands.
      if (j == focus->operand || (with_axis && correspondence->operands[j] == kNoAxis)) continue;
      frame.slots[expr.binders[0]] = Value(Term{store.find(focus->children[j])});
      if (with_axis) frame.slots[expr.binders[1]] = Value(Int(correspondence->operands[j]));
      const std::optional<TermId> other = operand(expr.args[1], frame, nullptr);
      if (!other) return std::nullopt;
      children[j] = *other;
    }
  }
  children[focus->operand] = *replaced;
  if (expr.shift == rules::Shift::none) return make(expr, focus->op, focus->attrs, children);
  if (correspondence == nullptr) return std::nullopt;
  std::vector<const TensorType*> types;
  types.reserve(children.size());
  for (const TermId child : focus->children) types.push_back(&store.type(child));
  const std::optional<Attr> attrs =
      typing.shifted(focus->op, focus->attrs, types, *correspondence, expr.shift);
  return attrs ? make(expr, focus->op, *attrs, children) : std::nullopt;
}

Maybe Evaluator::Impl::evaluate_special(const Expr& expr, Frame& frame) {
  if (expr.kind == ExprKind::apply) return apply(expr, frame);
  if (expr.kind == ExprKind::generic) return generic(expr, frame);
  return std::nullopt;
}

std::optional<TermId> Evaluator::Impl::operand(const Expr& expr, Frame& frame, const TensorType* type) {
  const Maybe value = evaluate(expr, frame);
  if (!value) return std::nullopt;
  if (const Term* term = value->as_term()) {
    return term->id == kNoTerm ? std::nullopt : std::optional(store.find(term->id));
  }
  const std::optional<Scalar> number = type != nullptr ? value->to_scalar() : std::nullopt;
  if (!number) {
    if (failed_ == nullptr) failed_ = &expr;
    return std::nullopt;
  }
  return layout.full(*number, *type);
}

// --- built-in functions

std::optional<TermId> Evaluator::Impl::tensor(const Expr& expr, Frame& frame) {
  const Maybe value = evaluate(expr, frame);
  const Term* term = value ? value->as_term() : nullptr;
  return term != nullptr && term->id != kNoTerm ? std::optional(store.find(term->id)) : std::nullopt;
}

std::optional<std::vector<Int>> Evaluator::Impl::sizes(const Expr& expr, Frame& frame) {
  const Maybe value = evaluate(expr, frame);
  const std::vector<Value>* list = value ? value->as_list() : nullptr;
  if (list == nullptr) return std::nullopt;
  std::vector<Int> result;
  result.reserve(list->size());
  for (const Value& size : *list) {
    if (size.as_int() == nullptr || size.as_int()->is_poison()) return std::nullopt;
    result.push_back(size.as_int()->is_constant() ? *size.as_int() : oracle().normalise(*size.as_int()));
  }
  return result;
}

Maybe Evaluator::Impl::laid_out(const Expr& expr, std::optional<TermId> result) {
  if (result) return Value(Term{store.find(*result)});
  layout_failed_ = &expr;
  return std::nullopt;
}

Maybe Evaluator::Impl::call_special(const Expr& expr, Frame& frame) {
  switch (expr.builtin) {
    case Builtin::tiling: {
      const std::optional<TermId> x = tensor(argument(expr, 0), frame);
      const std::optional<std::int64_t> axis = constant(evaluate(argument(expr, 1), frame));
      if (!x || !axis || *axis < 0 || static_cast<std::size_t>(*axis) >= store.type(*x).rank()) {
        return std::nullopt;
      }
      const std::vector<Int> cuts = store.tiling(*x, static_cast<std::size_t>(*axis));
      if (cuts.empty()) return std::nullopt;
      return Value(std::vector<Value>(cuts.begin(), cuts.end()));
    }
    case Builtin::uniform: {
      const std::optional<TermId> x = locate(argument(expr, 0), frame);
      const std::optional<Scalar> c = x && *x != kNoTerm ? store.uniform(*x) : std::nullopt;
      return c ? Maybe(Value(Attr::of(*c))) : std::nullopt;
    }
    case Builtin::interval_low:
    case Builtin::interval_high: {
      const std::optional<TermId> x = locate(argument(expr, 0), frame);
      if (!x || *x == kNoTerm) return std::nullopt;
      const Interval interval = store.interval(*x);
      const std::optional<Int>& bound = expr.builtin == Builtin::interval_low ? interval.low : interval.high;
      return bound ? Maybe(Value(*bound)) : std::nullopt;
    }
    case Builtin::full:
    case Builtin::full_like: {
      const Maybe value = evaluate(argument(expr, 0), frame);
      const std::optional<Scalar> c = value ? value->to_scalar() : std::nullopt;
      if (!c) return std::nullopt;
      TensorType type;
      if (expr.builtin == Builtin::full_like) {
        const Maybe like = evaluate(argument(expr, 1), frame);
        const TensorType* found = like ? type_of(*like) : nullptr;
        if (found == nullptr) return std::nullopt;
        type = *found;
      } else {
        std::optional<std::vector<Int>> shape = sizes(argument(expr, 1), frame);
        const Maybe dtype = shape ? evaluate(argument(expr, 2), frame) : std::nullopt;
        const Attr* attr = dtype ? dtype->as_attr() : nullptr;
        if (attr == nullptr || attr->kind() != Attr::Kind::dtype) return std::nullopt;
        type = {std::move(*shape), attr->as_dtype()};
      }
      return laid_out(expr, layout.full(*c, type));
    }
    case Builtin::reshape:
    case Builtin::broadcast_to: {
      const std::optional<TermId> x = tensor(argument(expr, 0), frame);
      const std::optional<std::vector<Int>> shape = x ? sizes(argument(expr, 1), frame) : std::nullopt;
      if (!shape) return std::nullopt;
      return laid_out(expr, expr.builtin == Builtin::reshape ? layout.reshape(*x, *shape)
                                                             : layout.broadcast_to(*x, *shape));
    }
    case Builtin::fresh: {
      std::optional<std::vector<Int>> shape = sizes(argument(expr, 0), frame);
      const Maybe dtype = shape ? evaluate(argument(expr, 1), frame) : std::nullopt;
      const Attr* attr = dtype ? dtype->as_attr() : nullptr;
      if (attr == nullptr || attr->kind() != Attr::Kind::dtype) return std::nullopt;
      return Value(Term{store.fresh({std::move(*shape), attr->as_dtype()}, "fresh")});
    }
    default:
      return std::nullopt;
  }
}

// --- the public side

Evaluator::Evaluator(Store& store, Typing& typing, PatternHost* patterns)
    : impl_(std::make_shared<Impl>(store, typing, patterns)) {}

std::optional<Value> Evaluator::evaluate(const Expr& expr, Frame& frame) {
  const Impl::Entry entry(*impl_);
  return impl_->evaluate(expr, frame);
}

Truth Evaluator::holds(const Expr& expr, Frame& frame) {
  const Impl::Entry entry(*impl_);
  return impl_->condition(expr, frame);
}

std::optional<TermId> Evaluator::evaluate_term(const Expr& expr, Frame& frame, const TensorType* type) {
  const Impl::Entry entry(*impl_);
  return impl_->operand(expr, frame, type);
}

std::optional<TermId> Evaluator::reshape(TermId x, const std::vector<Int>& sizes) {
  const Impl::Entry entry(*impl_);
  return impl_->explained(impl_->layout.reshape(x, sizes));
}

std::optional<TermId> Evaluator::broadcast_to(TermId x, const std::vector<Int>& shape) {
  const Impl::Entry entry(*impl_);
  return impl_->explained(impl_->layout.broadcast_to(x, shape));
}

std::optional<TermId> Evaluator::full(const Scalar& c, const TensorType& type) {
  const Impl::Entry entry(*impl_);
  return impl_->explained(impl_->layout.full(c, type));
}

const std::string& Evaluator::reason() const {
  return impl_->reason();
}

}  // namespace entangle::term
