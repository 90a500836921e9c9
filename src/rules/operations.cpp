// Unary and binary operations.
#include <algorithm>

#include "rules/build.h"

namespace entangle::rules {

using syntax::Node;
using syntax::NodeKind;
using tensor::Attr;

namespace {

const Type kBoolean = base_type(Base::boolean);

}  // namespace

Typed Expressions::unary(const Node& node, const Type* hint) {
  Expr expr = make(ExprKind::unary, node.span);
  expr.operation = node.operation;
  if (node.operation == Operation::logical_not) {
    expr.args.push_back(want(node.children[0], kBoolean));
    return finish(std::move(expr), ty(Base::boolean));
  }
  Typed operand = resolve(node.children[0], hint);
  if (std::optional<Typed> number = negated(operand.expr, node.span)) return std::move(*number);
  if (!is_number(operand.ty.type)) {
    report(id::type, operand.expr.span, "expected a number, this is " + describe(operand.ty.type),
           operand.ty.type.base == Base::tensor ? "`scale(x; -1)` negates a tensor" : "");
  }
  Ty type = is_integer_like(operand.ty.type) ? ty(Base::integer) : operand.ty;
  expr.args.push_back(std::move(operand.expr));
  return finish(std::move(expr), std::move(type));
}

Typed Expressions::binary(const Node& node, const Type* hint) {
  switch (node.operation) {
    case Operation::logical_and:
    case Operation::logical_or: {
      Expr expr = make(ExprKind::binary, node.span);
      expr.operation = node.operation;
      for (const Node& child : node.children) expr.args.push_back(want(child, kBoolean));
      return finish(std::move(expr), ty(Base::boolean));
    }
    case Operation::equal:
    case Operation::not_equal:
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
    case Operation::in:
      return comparison(node);
    case Operation::append: {
      Expr expr = make(ExprKind::binary, node.span);
      expr.operation = node.operation;
      Ty type;
      for (std::size_t i = 0; i < 2; ++i) {
        Typed side = resolve(node.children[i], hint);
        if (!is_any(side.ty.type) && list_depth(side.ty.type) == 0) {
          report(id::type, side.expr.span, "`++` appends lists, this is " + describe(side.ty.type),
                 "a list of one entry is written [x]");
        }
        if (side.ty.type.base == Base::perm) side.ty = ty(Base::integer, 1);
        const bool nonempty = type.type.nonempty || side.ty.type.nonempty;
        type = i == 0 ? side.ty : join(type, side.ty);
        if (type.type.depth == 1) type.type.nonempty = nonempty;
        expr.args.push_back(std::move(side.expr));
      }
      return finish(std::move(expr), std::move(type));
    }
    default:
      return arithmetic(node, hint);
  }
}

bool Expressions::bare_unknown(const Node& node) const {
  if (node.kind == NodeKind::list) {
    return !node.children.empty() && std::all_of(node.children.begin(), node.children.end(),
                                                 [&](const Node& n) { return bare_unknown(n); });
  }
  return node.kind == NodeKind::name && find(node.text) == nullptr && node.text != "true" &&
         node.text != "false" && node.text != "none" && node.text != "inf";
}

Typed Expressions::comparison(const Node& node) {
  const bool contains = node.operation == Operation::in;
  // A name is told from a variable by what it is compared with.
  const std::size_t first = bare_unknown(node.children[0]) && !bare_unknown(node.children[1]) ? 1 : 0;
  Typed sides[2];
  sides[first] = resolve(node.children[first]);
  Type hint = sides[first].ty.type;
  if (contains) {
    if (first == 0) {
      ++hint.depth;
    } else {
      hint = entry_of(sides[1].ty).type;
    }
  }
  const bool names = hint.base == Base::name || hint.base == Base::dtype || hint.base == Base::scalar ||
                     (hint.base == Base::any && sides[first].expr.kind != ExprKind::literal &&
                      sides[first].expr.kind != ExprKind::index);
  sides[1 - first] = resolve(node.children[1 - first], names ? &hint : nullptr);
  Expr expr = make(ExprKind::binary, node.span);
  expr.args.reserve(2);
  expr.operation = node.operation;
  const Type& left = sides[0].ty.type;
  Type right = sides[1].ty.type;
  if (contains) {
    if (!is_any(right) && list_depth(right) == 0) {
      report(id::type, sides[1].expr.span, "expected a list after `in`, this is " + describe(right));
    }
    right = entry_of(sides[1].ty).type;
  }
  const bool none =
      is_literal(sides[0].expr, Attr::Kind::none) || is_literal(sides[1].expr, Attr::Kind::none);
  if (!contains && (node.operation != Operation::equal && node.operation != Operation::not_equal)) {
    for (const Typed& side : sides) {
      if (!is_number(side.ty.type)) {
        report(id::type, side.expr.span, "expected a number, this is " + describe(side.ty.type));
      }
    }
  } else if (!none && !fits(left, right) && !fits(right, left)) {
    report(id::type, node.span, "cannot compare " + describe(left) + " with " + describe(right));
  } else if (left.base == Base::tensor && right.base == Base::tensor && place_ != Place::pattern) {
    report(id::type, node.span, "tensors cannot be compared in an expression",
           "use one variable for both, or `given` a == b");
  }
  for (Typed& side : sides) expr.args.push_back(std::move(side.expr));
  return finish(std::move(expr), ty(Base::boolean));
}

Typed Expressions::arithmetic(const Node& node, const Type* hint) {
  Expr expr = make(ExprKind::binary, node.span);
  expr.args.reserve(2);
  expr.operation = node.operation;
  std::vector<Ty> types;
  if (node.operation == Operation::multiply && node.children[1].kind == NodeKind::star) {
    report(id::not_here, node.children[1].span, "there is no `**`", std::string(kNoPower));
    return broken(node.span);
  }
  for (const Node& child : node.children) {
    Typed side = resolve(child, wants_scalar(hint) ? hint : nullptr);
    if (!is_number(side.ty.type)) {
      std::string suggestion;
      if (side.ty.type.base == Base::tensor && side.ty.type.depth == 0) {
        suggestion =
            "tensors are combined by operators, such as `add_n(a, b)`; `broadcast_to(b; a.shape)` brings one "
            "to "
            "the shape of the other";
      } else if (side.ty.type.depth > 0 && node.operation == Operation::add) {
        suggestion = "lists are appended with `++`";
      }
      report(id::type, side.expr.span, "expected a number, this is " + describe(side.ty.type), suggestion);
      side.ty = ty(Base::any);
    }
    types.push_back(side.ty);
    expr.args.push_back(std::move(side.expr));
  }
  const std::optional<sym::Scalar> a = number_of(expr.args[0]);
  const std::optional<sym::Scalar> b = number_of(expr.args[1]);
  if (node.operation == Operation::divide && a && b) {
    // 1/8 is a number.
    const std::optional<sym::Scalar> quotient = *a / *b;
    if (!quotient) {
      report(id::type, node.span, "division by zero");
      return broken(node.span);
    }
    const bool scalar = wants_scalar(hint) || is_literal(expr.args[0], Attr::Kind::scalar) ||
                        is_literal(expr.args[1], Attr::Kind::scalar);
    return number_literal(*quotient, scalar, node.span);
  }
  if (node.operation == Operation::divide && may_be_literal(expr.args[0]) && may_be_literal(expr.args[1])) {
    depends_on_literals_ = true;
  }
  Ty type = ty(Base::any);
  if (is_integer_like(types[0].type) && is_integer_like(types[1].type)) {
    type = ty(Base::integer);
  } else if (!is_any(types[0].type) && !is_any(types[1].type)) {
    type = ty(Base::scalar);
  }
  return finish(std::move(expr), std::move(type));
}

}  // namespace entangle::rules
