// What is told of operators and lemmas from their form alone.
#include <algorithm>
#include <utility>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {
namespace {

// Operators that must be among the nodes of the operands of what the pattern matches.
std::uint64_t operands_of(const Expr& pattern) {
  std::uint64_t result = 0;
  for (const Expr& arg : pattern.args) {
    switch (arg.kind) {
      case ExprKind::apply:
        result |= operator_bit(arg.op);
        break;
      case ExprKind::star:
      case ExprKind::list:
        result |= operands_of(arg);
        break;
      case ExprKind::comprehension:
        if (arg.args[0].kind == ExprKind::apply) result |= operator_bit(arg.args[0].op);
        break;
      default:
        break;
    }
  }
  return result;
}

LemmaHead::Opening opening_of(const Lemma& lemma, bool backwards) {
  LemmaHead::Opening result;
  const std::vector<Goal> goals = goals_of(lemma, backwards);
  if (goals.empty()) return result;
  const Expr& first = *goals.front().pattern;
  if (first.kind == ExprKind::apply) {
    result.kind = LemmaHead::Opening::Kind::application;
    result.op = first.op;
  } else if (lemma.generic) {
    result.kind = LemmaHead::Opening::Kind::generic;
  }
  result.operands = operands_of(first);
  return result;
}

// op(x; a, b) => x
bool is_transparent(const Lemma& lemma) {
  const auto is_variable = [](const Expr& expr) { return expr.kind == ExprKind::variable; };
  const Expr& left = lemma.left;
  return left.kind == ExprKind::apply && lemma.when.empty() && lemma.trigger.empty() &&
         left.args.size() == 1 && is_variable(left.args[0]) && !left.args[0].type.is_list() &&
         std::all_of(left.attrs.begin(), left.attrs.end(), is_variable) && is_variable(lemma.right) &&
         lemma.right.slot == left.args[0].slot;
}

}  // namespace

bool is_pattern(const Expr& expr) {
  return expr.kind == ExprKind::apply ||
         (expr.kind == ExprKind::generic && expr.args.size() == 1 && expr.shift == Shift::none);
}

std::vector<Goal> goals_of(const Lemma& lemma, bool backwards) {
  std::vector<Goal> goals;
  if (backwards && lemma.direction != Direction::both) return goals;
  for (const Given& given : lemma.given) {
    // Of two patterns in one class, the one that says where to look comes first.
    const Expr* first = &given.pattern;
    const Expr* second = given.equal_to ? &*given.equal_to : nullptr;
    if (second != nullptr && !is_pattern(*first) && is_pattern(*second)) std::swap(first, second);
    goals.push_back({first, false});
    if (second != nullptr) goals.push_back({second, true});
  }
  const Expr& left = backwards ? lemma.right : lemma.left;
  const bool left_is_goal = is_pattern(left);
  if (left_is_goal) goals.push_back({&left, false});
  if (goals.empty() || !is_pattern(*goals[0].pattern) || (backwards && !left_is_goal)) goals.clear();
  return goals;
}

OperatorHead head_of(const Operator& op) {
  OperatorHead head;
  head.name = op.name;
  for (const Trait trait : {Trait::maps, Trait::maps_pair, Trait::reduces_sum, Trait::reduces_max,
                            Trait::linear, Trait::elementwise}) {
    if (has_trait(op, trait)) {
      head.traits = static_cast<std::uint8_t>(head.traits | 1U << static_cast<unsigned>(trait));
    }
  }
  return head;
}

LemmaHead head_of(const Lemma& lemma) {
  LemmaHead head;
  head.normalise = lemma.normalise && lemma.given.empty();
  head.transparent = is_transparent(lemma);
  if (lemma.generic) head.trait = lemma.generic->trait;
  head.forward = opening_of(lemma, false);
  head.backward = opening_of(lemma, true);
  return head;
}

}  // namespace entangle::rules
