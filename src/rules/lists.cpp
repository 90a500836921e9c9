// Members, entries, lists and what goes through them.
#include <algorithm>

#include "entangle/support/text.h"
#include "rules/build.h"

namespace entangle::rules {

using syntax::Node;
using syntax::NodeKind;
using tensor::Attr;

namespace {

const Type kInteger = base_type(Base::integer);
const Type kIntegers = base_type(Base::integer, 1);
const Type kBoolean = base_type(Base::boolean);
const Type kTensor = base_type(Base::tensor);

}  // namespace

Typed Expressions::member(const Node& node, const Type* hint) {
  const Node& of = node.children[0];
  if (place_ == Place::leaf && of.kind == NodeKind::name) {
    std::string name = of.text + "." + node.text;
    for (const std::string_view last : {".shape", ".dtype"}) {
      if (!name.ends_with(last) || (hint != nullptr && hint->base == Base::tensor)) continue;
      name.resize(name.size() - last.size());
      const Type tensor = kTensor;
      return property(leaf(name, of.span, &tensor), std::string(last.substr(1)), node.span);
    }
    return leaf(name, node.span, hint);
  }
  return property(resolve(of), node.text, node.span);
}

Typed Expressions::property(Typed base, const std::string& name, support::Span span) {
  const Type& type = base.ty.type;
  Expr expr = make(ExprKind::call, span);
  Ty result = ty(Base::any);
  if (name == "shape") {
    expr.builtin = Builtin::shape;
    result = ty(Base::integer, 1);
    if (!allowed(info(Builtin::shape), place_)) {
      report(id::size_dependent, span,
             "axis clauses may depend on attributes, ranks and dtypes, not on sizes");
    }
  } else if (name == "dtype") {
    expr.builtin = Builtin::dtype;
    result = ty(Base::dtype);
  } else {
    report(id::unknown_member, span, "there is no `." + name + "`: tensors have `.shape` and `.dtype`",
           name == "rank" ? "the rank is `rank(x)`" : support::did_you_mean(name, {"shape", "dtype"}));
    return broken(span);
  }
  expr.name = name;
  if (!fits(kTensor, type)) {
    report(id::type, base.expr.span, "only tensors have `." + name + "`, this is " + describe(type),
           type.depth > 0 ? "of one of its entries: `xs[0]." + name + "`" : "");
  }
  expr.args.push_back(std::move(base.expr));
  return finish(std::move(expr), std::move(result));
}

namespace {

bool is_negative(const Expr& expr) {
  const std::optional<sym::Scalar> value = number_of(expr);
  return value && value->is_number() && sgn(value->coefficient()) < 0;
}

}  // namespace

Typed Expressions::index(const Node& node) {
  Typed base = resolve(node.children[0]);
  if (base.ty.type.base == Base::tensor && base.ty.type.depth == 0) return element(std::move(base), node);
  if (node.children.size() != 2) {
    report(id::arity, node.span, "a list takes one index");
    return broken(node.span);
  }
  const Type& type = base.ty.type;
  if (!is_any(type) && list_depth(type) == 0) {
    report(id::type, base.expr.span, "only lists have entries, this is " + describe(type));
  }
  Expr expr = make(ExprKind::index, node.span);
  expr.args.reserve(2);
  expr.args.push_back(std::move(base.expr));
  expr.args.push_back(want(node.children[1], kInteger));
  if (is_negative(expr.args[1])) {
    const std::string list = to_string(expr.args[0]);
    report(id::length, node.span,
           "`" + list + "` has no entry `" + to_string(expr.args[1]) + "`: entries are counted from 0",
           "the last one is `" + list + "[len(" + list + ") - 1]`");
    return finish(std::move(expr), ty(Base::any));
  }
  if (base.ty.is_tuple()) {
    const Expr& at = expr.args[1];
    if (is_literal(at, Attr::Kind::integer)) {
      const auto place = at.value.as_int().constant().value_or(-1);
      if (place < 0 || static_cast<std::size_t>(place) >= base.ty.parts.size()) {
        report(id::arity, node.span, "the tuple has " + std::to_string(base.ty.parts.size()) + " entries");
        return finish(std::move(expr), ty(Base::any));
      }
      const Ty part = base.ty.parts[static_cast<std::size_t>(place)];
      if (expr.args[0].kind == ExprKind::tuple) {
        Expr entry = std::move(expr.args[0].args[static_cast<std::size_t>(place)]);
        return finish(std::move(entry), part);
      }
      return finish(std::move(expr), part);
    }
    depends_on_literals_ = true;
    return finish(std::move(expr), ty(Base::any));
  }
  return finish(std::move(expr), entry_of(base.ty));
}

namespace {

// Whether an expression whose type does not say so is one number: made of elements of tensors.
bool is_computed_number(const Expr& expr) {
  if (expr.kind == ExprKind::index) {
    const Type& base = expr.args[0].type;
    return base.base == Base::tensor && base.depth == 0;
  }
  return expr.kind == ExprKind::unary || expr.kind == ExprKind::reduction ||
         (expr.kind == ExprKind::binary && expr.operation != Operation::append);
}

}  // namespace

// x[v], x[a, b] in values.
Typed Expressions::element(Typed base, const Node& node) {
  Expr expr = make(ExprKind::index, node.span);
  if (place_ != Place::value) {
    report(id::not_here, node.span, "elements of tensors are for `value` clauses");
  }
  expr.args.push_back(std::move(base.expr));
  if (node.children.size() == 2) {
    Typed at = resolve(node.children[1]);
    if (!is_integer_like(at.ty.type) && !is_computed_number(at.expr)) {
      check(at, kIntegers);
      expr.args.push_back(std::move(at.expr));
      return finish(std::move(expr), ty(Base::any));
    }
    Expr vector = make(ExprKind::list, at.expr.span);
    vector.type = kIntegers;
    vector.args.push_back(std::move(at.expr));
    expr.args.push_back(std::move(vector));
    return finish(std::move(expr), ty(Base::any));
  }
  Expr vector = make(ExprKind::list, node.span);
  vector.type = kIntegers;
  for (std::size_t i = 1; i < node.children.size(); ++i)
    vector.args.push_back(want(node.children[i], kInteger));
  expr.args.push_back(std::move(vector));
  return finish(std::move(expr), ty(Base::any));
}

Typed Expressions::range(const Node& node, const Type* hint) {
  Typed base = resolve(node.children[0], hint);
  if (!is_any(base.ty.type) && list_depth(base.ty.type) == 0) {
    report(id::type, base.expr.span, "only lists have ranges, this is " + describe(base.ty.type));
  }
  Expr expr = make(ExprKind::range, node.span);
  Ty type = base.ty.type.base == Base::perm ? ty(Base::integer, 1) : base.ty;
  type.type.nonempty = false;
  expr.args.push_back(std::move(base.expr));
  for (std::size_t i = 1; i < 3; ++i) {
    const Node& bound = node.children[i];
    expr.args.push_back(bound.kind == NodeKind::missing ? resolve(bound).expr : want(bound, kInteger));
  }
  return finish(std::move(expr), std::move(type));
}

Typed Expressions::with(const Node& node, const Type* hint) {
  Typed base = resolve(node.children[0], hint);
  if (!is_any(base.ty.type) && list_depth(base.ty.type) == 0) {
    report(id::type, base.expr.span, "`with` replaces an entry of a list, this is " + describe(base.ty.type));
  }
  Expr expr = make(ExprKind::with, node.span);
  Ty type = base.ty.type.base == Base::perm ? ty(Base::integer, 1) : base.ty;
  expr.args.push_back(std::move(base.expr));
  expr.args.push_back(want(node.children[1], kInteger));
  expr.args.push_back(want(node.children[2], entry_of(type).type));
  return finish(std::move(expr), std::move(type));
}

Typed Expressions::without(const Node& node, const Type* hint) {
  Typed base = resolve(node.children[0], hint);
  if (!is_any(base.ty.type) && list_depth(base.ty.type) == 0) {
    report(id::type, base.expr.span,
           "`without` takes entries out of a list, this is " + describe(base.ty.type));
  }
  Expr expr = make(ExprKind::without, node.span);
  Ty type = base.ty.type.base == Base::perm ? ty(Base::integer, 1) : base.ty;
  type.type.nonempty = false;
  expr.args.push_back(std::move(base.expr));
  Typed at = resolve(node.children[1]);
  if (!is_integer_like(at.ty.type)) check(at, kIntegers);
  expr.args.push_back(std::move(at.expr));
  return finish(std::move(expr), std::move(type));
}

Typed Expressions::conditional(const Node& node, const Type* hint) {
  Expr expr = make(ExprKind::conditional, node.span);
  expr.args.reserve(3);
  expr.args.push_back(want(node.children[0], kBoolean));
  Typed yes = resolve(node.children[1], hint);
  Typed no = resolve(node.children[2], hint);
  const Type& a = yes.ty.type;
  const Type& b = no.ty.type;
  const bool none = is_literal(yes.expr, Attr::Kind::none) || is_literal(no.expr, Attr::Kind::none);
  if (!none && !fits(a, b) && !fits(b, a)) {
    report(id::type, node.span, "the branches differ: " + describe(a) + " and " + describe(b));
  }
  Ty type = none ? ty(Base::any) : join(yes.ty, no.ty);
  expr.args.push_back(std::move(yes.expr));
  expr.args.push_back(std::move(no.expr));
  return finish(std::move(expr), std::move(type));
}

Typed Expressions::list(const Node& node, const Type* hint) {
  Expr expr = make(ExprKind::list, node.span);
  expr.args.reserve(node.children.size());
  Type entry_hint;
  if (hint != nullptr) {
    entry_hint = entry_of({*hint, {}}).type;
    if (is_any(*hint)) entry_hint = *hint;
  }
  Ty type = ty(Base::any, 0);
  bool first = true;
  bool nonempty = false;
  for (const Node& child : node.children) {
    Ty entry;
    if (child.kind == NodeKind::star) {
      Typed inner = resolve(child.children[0], hint);
      if (!is_any(inner.ty.type) && list_depth(inner.ty.type) == 0) {
        report(id::type, child.span, "`*` spreads a list, this is " + describe(inner.ty.type));
      }
      entry = entry_of(inner.ty);
      nonempty = nonempty || inner.ty.type.nonempty;
      Expr star = make(ExprKind::star, child.span);
      star.type = inner.ty.type;
      star.args.push_back(std::move(inner.expr));
      expr.args.push_back(std::move(star));
    } else {
      Typed inner = resolve(child, hint != nullptr ? &entry_hint : nullptr);
      if (place_ == Place::pattern && entry_hint.base == Base::tensor) as_tensor(inner);
      entry = inner.ty;
      nonempty = true;
      expr.args.push_back(std::move(inner.expr));
    }
    if (!first && !fits(type.type, entry.type) && !fits(entry.type, type.type)) {
      report(
          id::type, child.span,
          "the entries of a list are of one type: " + describe(type.type) + " and " + describe(entry.type));
    }
    type = first ? entry : join(type, entry);
    first = false;
  }
  type = list_of(std::move(type));
  type.type.nonempty = nonempty;
  return finish(std::move(expr), std::move(type));
}

Typed Expressions::tuple(const Node& node) {
  if (place_ != Place::lowering && place_ != Place::collective && place_ != Place::definition &&
      visible_ == 0) {
    report(id::not_here, node.span, "tuples are for lowerings and definitions", "a list is written [a, b]");
  }
  Expr expr = make(ExprKind::tuple, node.span);
  Ty type = ty(Base::any);
  for (const Node& child : node.children) {
    Typed part = resolve(child);
    type.parts.push_back(part.ty);
    expr.args.push_back(std::move(part.expr));
  }
  return finish(std::move(expr), std::move(type));
}

void Expressions::bind_names(const std::vector<syntax::Name>& names, const Ty& entry, Expr& into) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto earlier = names.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(names.begin(), earlier, [&](const syntax::Name& n) { return n.text == names[i].text; })) {
      report(id::duplicate, names[i].span, "the name `" + names[i].text + "` is there twice");
    }
  }
  if (names.size() == 1) {
    into.binders.push_back(declare(names[0], entry));
    into.binder_names.push_back(slots_[into.binders.back()].name);
    return;
  }
  const bool known = entry.is_tuple();
  if (known && entry.parts.size() != names.size()) {
    report(id::arity, names[0].span,
           std::to_string(names.size()) + " names for entries of " + std::to_string(entry.parts.size()) +
               " parts");
  } else if (!known && !is_any(entry.type) && list_depth(entry.type) == 0) {
    report(id::type, names[0].span,
           std::to_string(names.size()) + " names for one value: each entry is " + describe(entry.type),
           "several lists are gone through together with `zip(xs, ys)`");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    Ty part = ty(Base::any);
    if (known && i < entry.parts.size()) {
      part = entry.parts[i];
    } else if (!known) {
      part = entry_of(entry);
    }
    into.binders.push_back(declare(names[i], part));
    into.binder_names.push_back(slots_[into.binders.back()].name);
  }
}

Expr Expressions::bind(const std::vector<syntax::Name>& names, const Node& list, Expr& into) {
  Typed over = resolve(list);
  if (!is_any(over.ty.type) && list_depth(over.ty.type) == 0) {
    report(id::type, over.expr.span, "expected a list, this is " + describe(over.ty.type),
           is_integer_like(over.ty.type) ? "`range(n)` is the list of the integers below n" : "");
    over.ty = ty(Base::any);
  }
  bind_names(names, entry_of(over.ty), into);
  return std::move(over.expr);
}

Typed Expressions::comprehension(const Node& node, const Type* hint) {
  const std::size_t mark = enter();
  Expr expr = make(ExprKind::comprehension, node.span);
  Type entry_hint;
  if (hint != nullptr) entry_hint = is_any(*hint) ? *hint : entry_of({*hint, {}}).type;
  const bool pattern = place_ == Place::pattern;
  if (pattern) place_ = Place::when;
  Expr over = bind(node.parts->names, node.children[1], expr);
  if (pattern) place_ = Place::pattern;
  Typed body = pattern ? operand(node.children[0]) : resolve(node.children[0], hint ? &entry_hint : nullptr);
  expr.args.push_back(std::move(body.expr));
  expr.args.push_back(std::move(over));
  if (node.children.size() > 2) {
    // In a pattern it says which matches to take, like a trigger.
    if (pattern) place_ = Place::trigger;
    expr.args.push_back(want(node.children[2], kBoolean));
    if (pattern) place_ = Place::pattern;
  }
  leave(mark);
  return finish(std::move(expr), list_of(std::move(body.ty)));
}

Typed Expressions::let(const Node& node, const Type* hint) {
  if (place_ == Place::pattern) report(id::pattern, node.span, "`let` cannot stand in a pattern");
  const std::size_t mark = enter();
  Expr expr = make(ExprKind::let, node.span);
  expr.args.reserve(2);
  Typed value = resolve(node.children[0]);
  bind_names(node.parts->names, value.ty, expr);
  Typed body = resolve(node.children[1], hint);
  leave(mark);
  expr.args.push_back(std::move(value.expr));
  expr.args.push_back(std::move(body.expr));
  return finish(std::move(expr), std::move(body.ty));
}

Typed Expressions::quantifier(const Node& node) {
  Expr expr = make(node.kind == NodeKind::forall ? ExprKind::forall : ExprKind::exists, node.span);
  if (node.parts->names.empty() || node.children.size() < 2) {
    report(id::generic, node.span, "only `forall` ranges over the other operands: `forall y @ b: c`");
    return finish(std::move(expr), ty(Base::boolean));
  }
  const std::size_t mark = enter();
  expr.args.push_back(bind(node.parts->names, node.children[0], expr));
  expr.args.push_back(want(node.children[1], kBoolean));
  leave(mark);
  return finish(std::move(expr), ty(Base::boolean));
}

Typed Expressions::others(const Node& node) {
  Expr expr = make(ExprKind::others, node.span);
  if (place_ != Place::trigger) {
    report(id::not_here, node.span, "`forall y @ b` is for triggers");
  } else if (generic_ == nullptr || generic_->axis == kNoSlot) {
    report(id::generic, node.span, "`forall y @ b` needs an operator variable with an axis",
           "`lemma name<f: maps a -> r>(...)`");
  }
  const std::size_t mark = enter();
  expr.binders.push_back(declare(node.parts->names[0], ty(Base::tensor)));
  expr.binders.push_back(declare(node.parts->names[1], ty(Base::axis)));
  for (const Slot bound : expr.binders) expr.binder_names.push_back(slots_[bound].name);
  expr.args.push_back(want(node.children[0], kBoolean));
  leave(mark);
  return finish(std::move(expr), ty(Base::boolean));
}

}  // namespace entangle::rules
