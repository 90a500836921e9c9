#include "egraph/run.h"

#include <algorithm>
#include <utility>

#include "egraph/impl.h"

namespace entangle::egraph {

using rules::Expr;
using rules::ExprKind;
using term::Value;

// --- Values

smt::Truth Run::equal(const Value& a, const Value& b) const {
  if (const sym::Int* x = a.as_int()) {
    if (const sym::Int* y = b.as_int()) {
      return graph_.oracle().equal(*x, *y);
    }
  }
  if (const term::Term* x = a.as_term()) {
    const term::Term* y = b.as_term();
    return smt::truth(y != nullptr && x->id != kNoTerm && y->id != kNoTerm &&
                      graph_.find(x->id) == graph_.find(y->id));
  }
  if (const std::vector<Value>* x = a.as_list()) {
    const std::vector<Value>* y = b.as_list();
    if (y == nullptr || x->size() != y->size()) {
      return smt::Truth::no;
    }
    smt::Truth all = smt::Truth::yes;
    for (std::size_t i = 0; i < x->size() && !is_no(all); ++i) {
      all = all & equal((*x)[i], (*y)[i]);
    }
    return all;
  }
  if (const tensor::TensorType* x = a.as_type()) {
    const tensor::TensorType* y = b.as_type();
    return y == nullptr || x->dtype != y->dtype ? smt::Truth::no : graph_.oracle().equal(x->shape, y->shape);
  }
  const tensor::Attr* x = a.as_attr();
  const tensor::Attr* y = b.as_attr();
  if (x != nullptr && y != nullptr && *x == *y) {
    return smt::Truth::yes;
  }
  const std::optional<sym::Scalar> p = a.to_scalar();
  const std::optional<sym::Scalar> q = b.to_scalar();
  return p && q ? equal_scalars(graph_.oracle(), *p, *q) : smt::Truth::no;
}

bool Run::bound(const Expr& expr) const {
  std::vector<rules::Slot> local;
  return bound(expr, local);
}

bool Run::bound(const Expr& expr, std::vector<rules::Slot>& local) const {
  if (expr.kind == ExprKind::variable) {
    return std::find(local.begin(), local.end(), expr.slot) != local.end() ||
           (expr.slot < frame_.slots.size() && frame_.slots[expr.slot].has_value());
  }
  if (expr.kind == ExprKind::wildcard) {
    return false;
  }
  const std::size_t before = local.size();
  local.insert(local.end(), expr.binders.begin(), expr.binders.end());
  const auto check = [&](const Expr& part) { return bound(part, local); };
  const bool all = std::all_of(expr.args.begin(), expr.args.end(), check) &&
                   std::all_of(expr.attrs.begin(), expr.attrs.end(), check);
  local.resize(before);
  return all;
}

bool Run::bind(rules::Slot slot, Value value, Next next) {
  frame_.slots[slot] = std::move(value);
  const bool stop = next();
  frame_.slots[slot].reset();
  return stop;
}

bool Run::value(const Expr& pattern, const Value& value, Next next) {
  switch (pattern.kind) {
    case ExprKind::wildcard:
      return next();
    case ExprKind::variable: {
      if (pattern.slot >= frame_.slots.size()) {
        return false;
      }
      const std::optional<Value>& known = frame_.slots[pattern.slot];
      if (known) {
        return is_yes(equal(*known, value)) && next();
      }
      return bind(pattern.slot, value, next);
    }
    case ExprKind::literal:
      return is_yes(equal(Value(pattern.value), value)) && next();
    case ExprKind::list: {
      const std::vector<Value>* values = value.as_list();
      if (values == nullptr) {
        return false;
      }
      Items items;
      flatten(pattern.args, items);
      return entries(items.span(), *values, next);
    }
    default: {
      Pending pending{&pattern, value};
      if (bound(pattern)) {
        return holds_now(pending) && next();
      }
      pending_.push_back(std::move(pending));
      const bool stop = next();
      pending_.pop_back();
      return stop;
    }
  }
}

bool Run::entries(Exprs patterns, std::span<const Value> values, Next next) {
  if (patterns.empty()) {
    return values.empty() && next();
  }
  const Expr& first = *patterns[0];
  if (first.kind != ExprKind::star) {
    if (values.empty()) {
      return false;
    }
    auto rest = [&] { return entries(patterns.subspan(1), values.subspan(1), next); };
    return value(first, values[0], rest);
  }
  for (std::size_t length = 0; length <= values.size(); ++length) {
    const Value run(std::vector<Value>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(length)));
    auto rest = [&] { return entries(patterns.subspan(1), values.subspan(length), next); };
    if (value(first.args[0], run, rest)) {
      return true;
    }
  }
  return false;
}

// --- Expressions over variables that are bound only later in the pattern

bool Run::holds_now(const Pending& pending) {
  const std::optional<Value> result = graph_.evaluator().evaluate(*pending.pattern, frame_);
  return result && is_yes(equal(*result, pending.value));
}

bool Run::check_pending(std::size_t base, Next next) {
  Small<std::size_t, 8> checked;
  bool all = true;
  for (std::size_t i = base; i < pending_.size() && all; ++i) {
    if (!pending_[i].done && bound(*pending_[i].pattern)) {
      all = holds_now(pending_[i]);
      pending_[i].done = true;
      checked.push(i);
    }
  }
  const bool stop = all && next();
  for (const std::size_t i : checked) {
    pending_[i].done = false;
  }
  return stop;
}

bool Run::settled(Next next) {
  for (const Pending& pending : pending_) {
    if (!pending.done && (!bound(*pending.pattern) || !holds_now(pending))) {
      return false;
    }
  }
  return next();
}

bool Run::conditions(std::span<const Expr> conjuncts, std::span<const Expr* const> more, Next next,
                     bool* failed) {
  Small<rules::Slot, 16> unbound;
  for (rules::Slot slot = 0; slot < frame_.slots.size(); ++slot) {
    if (!frame_.slots[slot]) {
      unbound.push(slot);
    }
  }
  const auto check = [&](const Expr& conjunct) { return is_yes(graph_.evaluator().holds(conjunct, frame_)); };
  bool stop = false;
  if (!std::all_of(conjuncts.begin(), conjuncts.end(), check)) {
    if (failed != nullptr) {
      *failed = true;
    }
  } else if (std::all_of(more.begin(), more.end(), [&](const Expr* conjunct) { return check(*conjunct); })) {
    ++successes_;
    stop = next();
  }
  for (const rules::Slot slot : unbound) {
    frame_.slots[slot].reset();
  }
  return stop;
}

// --- Classes and applications

bool Run::demanded(const Expr& pattern, TermId id) const {
  return std::all_of(demands_.begin(), demands_.end(), [&](const Demand& demand) {
    const bool meant = demand.pattern != nullptr
                           ? demand.pattern == &pattern
                           : pattern.kind == ExprKind::variable && pattern.slot == demand.slot;
    if (!meant || demand.kind == Demand::Kind::alone) {
      return true;
    }
    const Class& data = graph_.impl().class_of(id);
    return demand.kind == Demand::Kind::uniform ? data.uniform != kNone
                                                : data.named == (demand.kind == Demand::Kind::named);
  });
}

bool Run::in_class(const Expr& pattern, TermId id, const Path* path, Next next) {
  id = graph_.find(id);
  const EGraph::Impl& inside = graph_.impl();
  switch (pattern.kind) {
    case ExprKind::wildcard:
      return next();
    case ExprKind::variable: {
      if (pattern.slot >= frame_.slots.size()) {
        return false;
      }
      const std::optional<Value>& known = frame_.slots[pattern.slot];
      if (known) {
        return is_yes(equal(*known, Value(term::Term{id}))) && next();
      }
      return demanded(pattern, id) && bind(pattern.slot, term::Term{id}, next);
    }
    case ExprKind::literal: {
      const std::optional<sym::Scalar> known = graph_.uniform(id);
      return known && is_yes(equal(Value(pattern.value), Value(tensor::Attr::of(*known)))) && next();
    }
    case ExprKind::call:
      if (pattern.builtin == rules::Builtin::uniform && pattern.args.size() == 1) {
        const std::optional<sym::Scalar> known = graph_.uniform(id);
        return known && value(pattern.args[0], Value(tensor::Attr::of(*known)), next);
      }
      break;
    case ExprKind::apply:
    case ExprKind::generic: {
      for (const Path* at = path; at != nullptr; at = at->outer) {
        if (at->id == id) {
          return false;
        }
      }
      const Class& data = inside.classes[id];
      const bool any = pattern.kind == ExprKind::generic;
      if ((!any && (data.operators & rules::operator_bit(pattern.op)) == 0) || !demanded(pattern, id)) {
        return false;
      }
      Ids candidates;
      for (TermId at = data.first; at != kNoTerm; at = inside.nodes[at].next_in_class) {
        const Node& node = inside.nodes[at];
        if (node.state == NodeState::live && (any ? node.op != rules::kNoOp : node.op == pattern.op)) {
          candidates.push(at);
        }
      }
      const Path here{id, path};
      for (const TermId at : candidates) {
        const Node node = inside.nodes[at];
        const auto is_own = [&](TermId child) { return inside.find(child) == id; };
        if (path != nullptr && std::any_of(node.children, node.children + node.count, is_own)) {
          continue;
        }
        const term::NodeView view{node.op, node.attrs, node.span()};
        if (any ? generic(pattern, view, &here, next) : application(pattern, view, &here, next)) {
          return true;
        }
      }
      return false;
    }
    default:
      break;
  }
  // Any other expression: what it evaluates to.
  if (!bound(pattern)) {
    return false;
  }
  const std::optional<Value> result = graph_.evaluator().evaluate(pattern, frame_);
  if (!result) {
    return false;
  }
  if (result->as_term() != nullptr) {
    return is_yes(equal(*result, Value(term::Term{id}))) && next();
  }
  const std::optional<sym::Scalar> known = graph_.uniform(id);
  return known && is_yes(equal(*result, Value(tensor::Attr::of(*known)))) && next();
}

bool Run::at(const Expr& pattern, const term::NodeView& application_view, TermId owner, Next next) {
  if (owner != kNoTerm && !demanded(pattern, owner)) {
    return false;
  }
  const Path here{owner == kNoTerm ? kNoTerm : graph_.find(owner), nullptr};
  if (pattern.kind == ExprKind::generic) {
    return generic(pattern, application_view, &here, next);
  }
  return pattern.kind == ExprKind::apply && application(pattern, application_view, &here, next);
}

bool Run::application(const Expr& pattern, const term::NodeView& node, const Path* path, Next next) {
  if (pattern.op != node.op || node.attrs.kind() != tensor::Attr::Kind::list) {
    return false;
  }
  Items items;
  flatten(pattern.args, items);
  if (std::none_of(items.begin(), items.end(), [](const Expr* item) { return is_run(*item); }) &&
      items.size() != node.children.size()) {
    return false;
  }
  const std::size_t base = pending_.size();
  auto operands_done = [&] { return check_pending(base, next); };
  auto attributes_done = [&] {
    return graph_.impl().commutative(node.op) ? any_order(items.span(), node.children, path, operands_done)
                                              : sequence(items.span(), node.children, path, operands_done);
  };
  return attributes(pattern, node.attrs.as_list(), 0, attributes_done);
}

bool Run::attributes(const Expr& pattern, std::span<const tensor::Attr> attrs, std::size_t from, Next next) {
  while (from < pattern.attrs.size() && pattern.attrs[from].kind == ExprKind::wildcard) {
    ++from;
  }
  if (from >= pattern.attrs.size()) {
    return next();
  }
  if (from >= attrs.size()) {
    return false;
  }
  auto rest = [&] { return attributes(pattern, attrs, from + 1, next); };
  return value(pattern.attrs[from], Value(attrs[from]), rest);
}

std::vector<TermId> Run::anchors(const Expr& pattern) const {
  const EGraph::Impl& inside = graph_.impl();
  if (pattern.kind == ExprKind::apply) {
    Items items;
    flatten(pattern.args, items);
    for (const Expr* item : items) {
      const Expr& inner = item->kind == ExprKind::star ? item->args[0] : *item;
      if (inner.kind != ExprKind::variable || inner.slot >= frame_.slots.size() ||
          !frame_.slots[inner.slot]) {
        continue;
      }
      const Value* known = &*frame_.slots[inner.slot];
      if (const std::vector<Value>* list = known->as_list()) {
        if (list->empty()) {
          continue;
        }
        known = &list->front();
      }
      if (const term::Term* term = known->as_term()) {
        return graph_.user_nodes(term->id, pattern.op);
      }
    }
    std::vector<TermId> result;
    for (TermId at = inside.first_of_op[pattern.op]; at != kNoTerm; at = inside.nodes[at].next_of_op) {
      if (inside.nodes[at].state == NodeState::live) {
        result.push_back(at);
      }
    }
    std::sort(result.begin(), result.end());
    return result;
  }
  std::vector<TermId> result;
  if (pattern.kind == ExprKind::generic) {
    for (TermId at = 0; at < inside.nodes.size(); ++at) {
      const Node& node = inside.nodes[at];
      if (node.state == NodeState::live && node.op != rules::kNoOp) {
        result.push_back(at);
      }
    }
  }
  return result;
}

}  // namespace entangle::egraph
