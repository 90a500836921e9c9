// Conditions that look at terms: named, constant, has, predicates, `forall y @ b`.
#include "term/builder.h"

namespace entangle::term {

using rules::Builtin;
using rules::Expr;
using rules::ExprKind;
using rules::Operation;
using smt::Truth;
using sym::Int;

namespace {

// Recursive predicates walk through classes, which may be cyclic and large.
constexpr std::size_t kMaxPredicateDepth = 64;
constexpr std::size_t kMaxPredicateSteps = 4096;

bool is_unbound(const Expr& expr, const Frame& frame) {
  return expr.kind == ExprKind::variable && expr.slot < frame.slots.size() && !frame.value(expr.slot);
}

}  // namespace

Truth Evaluator::Impl::condition(const Expr& expr, Frame& frame) {
  if (expr.kind == ExprKind::binary && expr.operation == Operation::logical_and) {
    const Truth first = condition(expr.args[0], frame);
    return is_no(first) ? first : first & condition(expr.args[1], frame);
  }
  if (expr.kind == ExprKind::binary && expr.operation == Operation::equal) {
    for (const std::size_t side : {0, 1}) {
      if (!is_unbound(expr.args[side], frame)) continue;
      Maybe value = evaluate(expr.args[1 - side], frame);
      if (!value) return Truth::unknown;
      frame.slots[expr.args[side].slot] = std::move(value);
      return Truth::yes;
    }
  }
  return holds(expr, frame);
}

std::optional<TermId> Evaluator::Impl::locate(const Expr& expr, Frame& frame) {
  if (host != nullptr && (expr.kind == ExprKind::apply || expr.kind == ExprKind::generic)) {
    const TermId found = host->lookup(expr, frame);
    return found == kNoTerm ? found : store.find(found);
  }
  const Maybe value = evaluate(expr, frame);
  const Term* term = value ? value->as_term() : nullptr;
  if (term == nullptr) return std::nullopt;
  return term->id == kNoTerm ? kNoTerm : store.find(term->id);
}

Truth Evaluator::Impl::holds_special(const Expr& expr, Frame& frame) {
  switch (expr.kind) {
    case ExprKind::call: {  // named, constant, defined
      const std::optional<TermId> id = locate(argument(expr, 0), frame);
      if (!id) return Truth::unknown;
      if (*id == kNoTerm) return Truth::no;
      if (expr.builtin == Builtin::constant) return smt::truth(store.uniform(*id).has_value());
      return smt::truth(expr.builtin == Builtin::named ? store.named(*id) : store.defined(*id));
    }
    case ExprKind::has: {
      const std::optional<TermId> id = locate(expr.args[0], frame);
      if (!id || host == nullptr) return Truth::unknown;
      if (*id == kNoTerm) return Truth::no;
      const Expr* filter = expr.args.size() > 2 ? &expr.args[2] : nullptr;
      return smt::truth(host->has_match(*id, expr.args[1], filter, frame));
    }
    case ExprKind::others:
      return others(expr, frame);
    case ExprKind::predicate:
      return predicate(expr, frame);
    default:
      return Truth::unknown;
  }
}

Truth Evaluator::Impl::others(const Expr& expr, Frame& frame) {
  const Focus* focus = frame.focus;
  if (focus == nullptr) return Truth::unknown;
  const Restore restore(frame, expr.binders);
  Truth truth = Truth::yes;
  for (std::size_t j = 0; j < focus->children.size() && !is_no(truth); ++j) {
    if (j == focus->operand) continue;
    // Without an axis (linear, elementwise) all other operands count.
    const int axis = focus->correspondence != nullptr ? focus->correspondence->operands[j] : kNoAxis;
    if (focus->correspondence != nullptr && axis == kNoAxis) continue;
    if (!expr.binders.empty()) frame.slots[expr.binders[0]] = Value(Term{store.find(focus->children[j])});
    if (expr.binders.size() > 1 && axis != kNoAxis) frame.slots[expr.binders[1]] = Value(Int(axis));
    truth = truth & holds(expr.args[0], frame);
  }
  return truth;
}

Truth Evaluator::Impl::predicate(const Expr& expr, Frame& frame) {
  auto [known, added] = predicates_.try_emplace(&expr, nullptr);
  if (added) known->second = store.rules().find_predicate(expr.name);
  const rules::Predicate* predicate = known->second;
  if (predicate == nullptr || predicate->parameters != expr.args.size()) return Truth::unknown;
  if (calls_.size() >= kMaxPredicateDepth || ++predicate_steps_ > kMaxPredicateSteps) return Truth::unknown;

  Call call{predicate, {}};
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    if (predicate->slots[i].type.base == rules::Base::tensor && predicate->slots[i].type.depth == 0) {
      const std::optional<TermId> id = locate(expr.args[i], frame);
      if (!id) return Truth::unknown;
      if (*id == kNoTerm) return Truth::no;  // nothing is said of a term that does not exist
      call.arguments.emplace_back(Term{*id});
    } else {
      Maybe value = evaluate(expr.args[i], frame);
      if (!value) return Truth::unknown;
      call.arguments.push_back(std::move(*value));
    }
  }
  // A predicate that needs itself does not hold: the least of the solutions is meant.
  for (const Call& open : calls_) {
    if (open.predicate != predicate) continue;
    bool same = true;
    for (std::size_t i = 0; i < call.arguments.size() && same; ++i) {
      same = is_yes(equal(open.arguments[i], call.arguments[i]));
    }
    if (same) return Truth::no;
  }
  Frame inner;
  inner.slots.assign(predicate->slots.size(), std::nullopt);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) inner.slots[i] = call.arguments[i];
  calls_.push_back(std::move(call));
  const Truth truth = condition(predicate->body, inner);
  calls_.pop_back();
  return truth;
}

}  // namespace entangle::term
