#include "prove/expressions.h"

#include <algorithm>

namespace entangle::prove {

using rules::Expr;
using rules::ExprKind;
using rules::Slot;
using tensor::Attr;
using tensor::DType;

bool structured(const Expr& expr) {
  if (expr.kind == ExprKind::star) return structured(expr.args[0]);
  return expr.kind == ExprKind::apply || expr.kind == ExprKind::generic ||
         expr.kind == ExprKind::comprehension;
}

bool asks_dtype(const rules::RuleSet& rules, const Expr& expr) {
  if (expr.kind == ExprKind::literal && expr.value.kind() == tensor::Attr::Kind::dtype) return true;
  if (expr.kind == ExprKind::apply &&
      std::ranges::any_of(rules.op(expr.op).attributes,
                          [](const rules::Parameter& one) { return one.type.base == rules::Base::dtype; })) {
    return true;
  }
  if (expr.kind == ExprKind::call) {
    switch (expr.builtin) {
      case rules::Builtin::dtype:
      case rules::Builtin::is_float:
      case rules::Builtin::is_wide_float:
      case rules::Builtin::is_integer:
      case rules::Builtin::is_bool:
        return true;
      default:
        break;
    }
  }
  const auto inside = [&](const Expr& part) { return asks_dtype(rules, part); };
  return std::ranges::any_of(expr.args, inside) || std::ranges::any_of(expr.attrs, inside);
}

namespace {

bool asks_sizes(const Expr& expr) {
  if (expr.kind == ExprKind::call &&
      (expr.builtin == rules::Builtin::shape || expr.builtin == rules::Builtin::uniform)) {
    return true;
  }
  return std::ranges::any_of(expr.args, asks_sizes);
}

}  // namespace

bool conjunctive(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::literal:
    case ExprKind::variable:
      return true;
    case ExprKind::binary:
      switch (expr.operation) {
        case rules::Operation::logical_or:
          // Ranks and axes are known: such an alternative is decided without a question.
          if (asks_sizes(expr.args[0]) && asks_sizes(expr.args[1])) return false;
          break;
        case rules::Operation::not_equal:
        case rules::Operation::in:
          return false;
        default:
          break;
      }
      break;
    case ExprKind::call:
      switch (expr.builtin) {
        case rules::Builtin::shape:
        case rules::Builtin::rank:
        case rules::Builtin::dtype:
        case rules::Builtin::axes:
        case rules::Builtin::len:
        case rules::Builtin::zip:
        case rules::Builtin::pairs:
        case rules::Builtin::divides:
        case rules::Builtin::uniform:
        case rules::Builtin::scalar_of:
        case rules::Builtin::is_bool:
        case rules::Builtin::is_integer:
        case rules::Builtin::is_float:
        case rules::Builtin::is_wide_float:
          break;
        default:
          return false;
      }
      break;
    case ExprKind::list:
    case ExprKind::index:
    case ExprKind::range:
    case ExprKind::forall:
      break;
    default:
      return false;
  }
  return std::ranges::all_of(expr.args, conjunctive);
}

namespace {

// The element type that a requirement asks of a tensor parameter.
std::optional<DType> required_dtype(const Expr& requirement, Slot parameter, bool only) {
  const auto asked = [&](const Expr& expr) {
    return expr.kind == ExprKind::call && expr.builtin == rules::Builtin::dtype && !expr.args.empty() &&
           expr.args[0].kind == ExprKind::variable && expr.args[0].slot == parameter;
  };
  if (!only && requirement.kind == ExprKind::call && requirement.builtin == rules::Builtin::is_integer &&
      asked(requirement.args[0])) {
    return DType::i64;
  }
  if (requirement.kind != ExprKind::binary) return std::nullopt;
  if (requirement.operation == rules::Operation::equal && asked(requirement.args[0]) &&
      requirement.args[1].kind == ExprKind::literal &&
      requirement.args[1].value.kind() == Attr::Kind::dtype) {
    return requirement.args[1].value.as_dtype();
  }
  if (requirement.operation != rules::Operation::logical_and) return std::nullopt;
  const auto first = required_dtype(requirement.args[0], parameter, only);
  return first ? first : required_dtype(requirement.args[1], parameter, only);
}

}  // namespace

std::optional<DType> required_dtype(const rules::Operator& op, std::size_t parameter, bool only) {
  // Operands are parameters one by one only where there is no list.
  if (std::ranges::any_of(op.tensors, [](const rules::Parameter& one) { return one.type.is_list(); }))
    return {};
  for (const Expr& requirement : op.requires_) {
    if (const auto dtype = required_dtype(requirement, op.tensors[parameter].slot, only)) return dtype;
  }
  return std::nullopt;
}

void mark_known(const Expr& expr, std::vector<bool>& uniform, std::vector<bool>& interval) {
  if (expr.kind == ExprKind::call && !expr.args.empty() && expr.args[0].kind == ExprKind::variable &&
      expr.args[0].slot < uniform.size()) {
    if (expr.builtin == rules::Builtin::uniform) uniform[expr.args[0].slot] = true;
    if (expr.builtin == rules::Builtin::interval_low || expr.builtin == rules::Builtin::interval_high) {
      interval[expr.args[0].slot] = true;
    }
  }
  // [uniform(u) for u in us]
  if (expr.kind == ExprKind::comprehension && expr.binders.size() == 1 && expr.args.size() > 1 &&
      expr.args[1].kind == ExprKind::variable) {
    std::vector<bool> inner(std::max<std::size_t>(uniform.size(), expr.binders[0] + 1));
    std::vector<bool> other(inner.size());
    mark_known(expr.args[0], inner, other);
    if (inner[expr.binders[0]] && expr.args[1].slot < uniform.size()) uniform[expr.args[1].slot] = true;
  }
  for (const Expr& arg : expr.args) mark_known(arg, uniform, interval);
  for (const Expr& attr : expr.attrs) mark_known(attr, uniform, interval);
}

std::vector<rules::OpId> operators_with(const rules::RuleSet& rules, rules::Trait trait) {
  std::vector<rules::OpId> result;
  for (const rules::Operator& op : rules.operators()) {
    if (has_trait(op, trait)) result.push_back(op.id);
  }
  return result;
}

namespace {

bool mentions_function(const Expr& expr, const std::string& name) {
  if (expr.kind == ExprKind::scalar_call && expr.name == name) return true;
  return std::ranges::any_of(expr.args, [&](const Expr& arg) { return mentions_function(arg, name); });
}

}  // namespace

std::string signature(const rules::RuleSet& rules, const rules::Operator& op) {
  std::string text;
  for (const bool flag :
       {op.elementwise, op.commutative, op.clean, op.rearranges, op.free, op.random, op.drawn, op.converts}) {
    text += flag ? "1" : "0";
  }
  for (const rules::Parameter& one : op.tensors) text += " " + rules::to_string(one.type);
  for (const rules::Parameter& one : op.attributes) text += "; " + rules::to_string(one.type);
  const auto add = [&](const Expr& expr) { text += " | " + rules::to_string(expr); };
  for (const rules::Let& let : op.lets) add(let.value);
  for (const Expr& one : op.requires_) add(one);
  if (op.shape) add(*op.shape);
  if (op.dtype) add(*op.dtype);
  for (const rules::AxisClause& clause : op.axes) {
    text += " axes " + std::to_string(static_cast<int>(clause.kind));
    for (const auto* part : {&clause.bound, &clause.filter, &clause.result}) {
      if (*part) add(**part);
    }
    for (const auto& operand : clause.operands) {
      text += " of " + std::to_string(operand.parameter);
      add(operand.axis);
    }
  }
  for (const rules::LinearClause& linear : op.linear) {
    text += " linear " + std::to_string(linear.parameter);
    if (linear.condition) add(*linear.condition);
  }
  // The operator's own function, unless something is known of it.
  const bool own = op.value && op.value->kind == ExprKind::scalar_call && op.value->name == op.name &&
                   op.linear.empty() && std::ranges::none_of(rules.laws(), [&](const rules::Law& law) {
                     return mentions_function(law.left, op.name) || mentions_function(law.right, op.name);
                   });
  if (own) {
    text += " own";
    for (const Expr& arg : op.value->args) add(arg);
  } else {
    text += " " + op.name;
  }
  return text;
}

}  // namespace entangle::prove
