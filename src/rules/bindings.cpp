#include "rules/bindings.h"

#include <utility>

namespace entangle::rules {
namespace {

void set(std::vector<bool>& bound, Slot slot) {
  if (slot >= bound.size()) bound.resize(slot + 1);
  bound[slot] = true;
}

bool has(const std::vector<bool>& bound, Slot slot) {
  return slot < bound.size() && bound[slot];
}

void bind_comprehension(const Expr& pattern, std::vector<bool>& bound, std::vector<Need>& needs) {
  std::vector<bool> inside = bound;
  for (const Slot slot : pattern.binders) set(inside, slot);
  bind_pattern(pattern.args[0], inside, needs);
  if (pattern.args.size() > 2) free_variables(pattern.args[2], inside, needs);
  // What the pattern gives the binders is collected in the lists.
  const Expr& over = pattern.args[1];
  if (over.kind == ExprKind::variable) {
    set(inside, over.slot);
  } else if (over.kind == ExprKind::call && over.builtin == Builtin::zip) {
    for (const Expr& list : over.args) {
      if (list.kind == ExprKind::variable) {
        set(inside, list.slot);
      } else {
        free_variables(list, bound, needs);
      }
    }
  } else {
    free_variables(over, bound, needs);
  }
  bound = std::move(inside);
}

}  // namespace

void bind_pattern(const Expr& pattern, std::vector<bool>& bound, std::vector<Need>& needs) {
  switch (pattern.kind) {
    case ExprKind::variable:
      set(bound, pattern.slot);
      return;
    case ExprKind::apply:
    case ExprKind::list:
    case ExprKind::star:
    case ExprKind::generic:
      for (const Expr& arg : pattern.args) bind_pattern(arg, bound, needs);
      // First those that are variables, then those that are computed from them.
      for (const Expr& attr : pattern.attrs) {
        if (attr.kind == ExprKind::variable || attr.kind == ExprKind::list) bind_pattern(attr, bound, needs);
      }
      for (const Expr& attr : pattern.attrs) {
        if (attr.kind != ExprKind::variable && attr.kind != ExprKind::list) bind_pattern(attr, bound, needs);
      }
      return;
    case ExprKind::call:
      if (pattern.builtin == Builtin::uniform) {
        for (const Expr& arg : pattern.args) bind_pattern(arg, bound, needs);
        return;
      }
      break;
    case ExprKind::comprehension:
      bind_comprehension(pattern, bound, needs);
      return;
    case ExprKind::literal:
    case ExprKind::wildcard:
      return;
    default:
      break;
  }
  free_variables(pattern, {}, needs);
}

void free_variables(const Expr& expr, const std::vector<bool>& bound, std::vector<Need>& needs) {
  if (expr.kind == ExprKind::variable) {
    if (!has(bound, expr.slot)) needs.push_back({expr.slot, expr.span});
    return;
  }
  if (expr.kind == ExprKind::has) {
    // Variables of the pattern that are not bound outside are its own.
    free_variables(expr.args[0], bound, needs);
    std::vector<bool> inside = bound;
    std::vector<Need> inner;
    bind_pattern(expr.args[1], inside, inner);
    for (const Need& need : inner) {
      if (!has(inside, need.slot)) needs.push_back(need);
    }
    if (expr.args.size() > 2) free_variables(expr.args[2], inside, needs);
    return;
  }
  if (!expr.binders.empty()) {
    std::vector<bool> inside = bound;
    for (const Slot slot : expr.binders) set(inside, slot);
    for (const Expr& arg : expr.args) free_variables(arg, inside, needs);
    for (const Expr& attr : expr.attrs) free_variables(attr, inside, needs);
    return;
  }
  for (const Expr& arg : expr.args) free_variables(arg, bound, needs);
  for (const Expr& attr : expr.attrs) free_variables(attr, bound, needs);
}

void bind_conditions(std::vector<Expr>& conjuncts, std::vector<bool>& bound, std::vector<Need>& needs) {
  for (Expr& conjunct : conjuncts) {
    const bool equation = conjunct.kind == ExprKind::binary && conjunct.operation == Operation::equal;
    const auto unbound = [&](const Expr& side) {
      return side.kind == ExprKind::variable && !has(bound, side.slot);
    };
    if (equation && !unbound(conjunct.args[0]) && unbound(conjunct.args[1])) {
      std::swap(conjunct.args[0], conjunct.args[1]);
    }
    if (equation && unbound(conjunct.args[0])) {
      std::vector<Need> inner;
      free_variables(conjunct.args[1], bound, inner);
      needs.insert(needs.end(), inner.begin(), inner.end());
      set(bound, conjunct.args[0].slot);
      continue;
    }
    free_variables(conjunct, bound, needs);
  }
}

}  // namespace entangle::rules
