// Calls that bind names or take many values: sums and their like over lists and indices, and folds.
#include "entangle/support/text.h"
#include "rules/build.h"

namespace entangle::rules {

using syntax::Item;
using syntax::Node;
using syntax::NodeKind;

namespace {

const Type kInteger = base_type(Base::integer);
const Type kBoolean = base_type(Base::boolean);

}  // namespace

// sum, max, min, product: of a list, of several numbers, over a list, or over an index.
Typed Expressions::number_call(const Node& node, const BuiltinInfo& info, const Type* hint) {
  if (node.parts->items.size() == 1 && node.parts->attributes.empty()) {
    if (node.parts->items[0].kind == Item::Kind::comprehension) return aggregate(node, info.builtin, hint);
    if (node.parts->items[0].kind == Item::Kind::colon) return reduction(node, info.builtin);
  }
  Typed result = finish(make(ExprKind::call, node.span), ty(Base::any));
  result.expr.builtin = info.builtin;
  result.expr.name = info.name;
  const std::vector<const Node*> arguments = plain_arguments(node);
  const bool list = arguments.size() == 1;
  if (arguments.empty() || (!list && (info.builtin == Builtin::sum || info.builtin == Builtin::product))) {
    report(id::arity, node.children[0].span,
           "`" + std::string(info.name) + "` takes a list" +
               (info.builtin == Builtin::min || info.builtin == Builtin::max ? " or several numbers" : ""),
           arguments.empty() ? "" : "tensors are added with `add_n`, numbers with `+`");
    return result;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Typed argument = resolve(*arguments[i], list ? nullptr : hint);
    Ty entry = list ? entry_of(argument.ty) : argument.ty;
    if (list && !is_any(argument.ty.type) && list_depth(argument.ty.type) == 0) {
      report(id::type, argument.expr.span, "expected a list, this is " + describe(argument.ty.type));
      entry = ty(Base::any);
    } else if (!is_number(entry.type)) {
      report(id::type, argument.expr.span,
             "expected " + std::string(list ? "a list of numbers" : "a number") + ", this is " +
                 describe(argument.ty.type),
             entry.type.base == Base::tensor ? "tensors are added with `add_n`" : "");
      entry = ty(Base::any);
    }
    if (is_integer_like(entry.type)) entry = ty(Base::integer);
    result.ty = i == 0 ? entry : join(result.ty, entry);
    result.expr.args.push_back(std::move(argument.expr));
  }
  result.expr.type = result.ty.type;
  return result;
}

Typed Expressions::aggregate(const Node& node, Builtin builtin, const Type* hint) {
  const Item& item = node.parts->items[0];
  Expr expr = make(ExprKind::aggregate, node.span);
  expr.builtin = builtin;
  expr.name = node.children[0].text;
  const std::size_t mark = enter();
  Expr over = bind(item.names, item.parts[1], expr);
  Typed body = resolve(item.parts[0], hint);
  if (!is_number(body.ty.type)) {
    report(id::type, body.expr.span, "expected a number, this is " + describe(body.ty.type),
           body.ty.type.base == Base::tensor ? "tensors are added with `add_n([... for ...])`" : "");
    body.ty = ty(Base::any);
  }
  expr.args.push_back(std::move(body.expr));
  expr.args.push_back(std::move(over));
  if (item.parts.size() > 2) expr.args.push_back(want(item.parts[2], kBoolean));
  leave(mark);
  if (is_integer_like(body.ty.type)) body.ty = ty(Base::integer);
  return finish(std::move(expr), std::move(body.ty));
}

// sum(k < n: e)
Typed Expressions::reduction(const Node& node, Builtin builtin) {
  const Item& item = node.parts->items[0];
  const Node& range = item.parts[0];
  Expr expr = make(ExprKind::reduction, node.span);
  expr.builtin = builtin;
  expr.name = node.children[0].text;
  if (range.kind != NodeKind::binary || range.operation != Operation::less ||
      range.children[0].kind != NodeKind::name || (builtin != Builtin::sum && builtin != Builtin::max)) {
    report(id::syntax, item.span,
           "expected `" + expr.name + "(k < n: e)` or `" + expr.name + "(e for x in xs)`");
    return finish(std::move(expr), ty(Base::any));
  }
  if (place_ != Place::value) {
    report(id::not_here, node.span, "`" + expr.name + "(k < n: e)` is for `value` clauses",
           "elsewhere: `" + expr.name + "(e for k in range(n))`");
  }
  const std::size_t mark = enter();
  Typed bound = resolve(range.children[1]);
  const bool vector = list_depth(bound.ty.type) > 0;
  if (vector) {
    check(bound, base_type(Base::integer, 1));
  } else {
    check(bound, kInteger);
  }
  const Node& index = range.children[0];
  declare({index.text, index.span}, ty(Base::integer, vector ? 1 : 0));
  scope_.back().name = index.text;
  expr.binders.push_back(scope_.back().slot);
  expr.binder_names.push_back(slots_[expr.binders.back()].name);
  Typed body = resolve(item.parts[1]);
  if (!is_any(body.ty.type) && !is_number(body.ty.type) && body.ty.type.base != Base::boolean) {
    report(id::type, body.expr.span, "`" + expr.name + "` is of numbers, this is " + describe(body.ty.type),
           body.ty.type.base == Base::tensor && body.ty.type.depth == 0 ? "an element of it is `x[i]`" : "");
  }
  expr.args.push_back(std::move(bound.expr));
  expr.args.push_back(std::move(body.expr));
  leave(mark);
  return finish(std::move(expr), ty(Base::any));
}

// fold(acc = e; x in xs: e)
Typed Expressions::fold(const Node& node) {
  Expr expr = make(ExprKind::fold, node.span);
  const auto wrong = [&] {
    report(id::syntax, node.span, "expected `fold(acc = e; x in xs: e)`");
    return finish(std::move(expr), ty(Base::any));
  };
  if (node.parts->items.size() != 1 || node.parts->items[0].kind != Item::Kind::named ||
      node.parts->attributes.empty() || node.parts->items[0].parts[0].kind != NodeKind::name ||
      node.parts->attributes.back().kind != Item::Kind::colon) {
    return wrong();
  }
  const Item& last = node.parts->attributes.back();
  const Node& in = last.parts[0];
  if (in.kind != NodeKind::binary || in.operation != Operation::in || in.children[0].kind != NodeKind::name) {
    return wrong();
  }
  const std::size_t mark = enter();
  Typed start = resolve(node.parts->items[0].parts[1]);
  Typed over = resolve(in.children[1]);
  if (!is_any(over.ty.type) && list_depth(over.ty.type) == 0) {
    report(id::type, over.expr.span, "expected a list, this is " + describe(over.ty.type));
    over.ty = ty(Base::any);
  }
  Ty accumulated = start.ty;
  if (accumulated.type.base == Base::axis || accumulated.type.base == Base::count)
    accumulated = ty(Base::integer);
  accumulated.type.nonempty = false;
  const auto bind_one = [&](const Node& name, Ty type) {
    declare({name.text, name.span}, std::move(type));
    scope_.back().name = name.text;
    expr.binders.push_back(scope_.back().slot);
    expr.binder_names.push_back(slots_[expr.binders.back()].name);
  };
  bind_one(node.parts->items[0].parts[0], accumulated);
  std::vector<const Node*> names;
  for (std::size_t i = 0; i + 1 < node.parts->attributes.size(); ++i) {
    const Item& item = node.parts->attributes[i];
    if (item.kind != Item::Kind::plain || item.parts[0].kind != NodeKind::name) return wrong();
    names.push_back(&item.parts[0]);
  }
  names.push_back(&in.children[0]);
  const Ty entry = entry_of(over.ty);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Ty part = names.size() == 1                            ? entry
              : entry.is_tuple() && i < entry.parts.size() ? entry.parts[i]
                                                           : ty(Base::any);
    bind_one(*names[i], std::move(part));
  }
  if (names.size() > 1 && entry.is_tuple() && entry.parts.size() != names.size()) {
    report(id::arity, names[0]->span,
           std::to_string(names.size()) + " names for entries of " + std::to_string(entry.parts.size()) +
               " parts");
  }
  Typed body = resolve(last.parts[1]);
  if (!fits(accumulated.type, body.ty.type)) {
    report(id::type, body.expr.span,
           "the value folded is " + describe(accumulated.type) + " at first, and here " +
               describe(body.ty.type));
  }
  expr.args.push_back(std::move(start.expr));
  expr.args.push_back(std::move(over.expr));
  expr.args.push_back(std::move(body.expr));
  leave(mark);
  return finish(std::move(expr), join(accumulated, body.ty));
}

}  // namespace entangle::rules
