#include "rules/expressions.h"

#include <algorithm>
#include <charconv>

#include "entangle/support/text.h"

namespace entangle::rules {

using syntax::Node;
using syntax::NodeKind;
using tensor::Attr;

namespace {

const Type kInteger = base_type(Base::integer);
const Type kIntegers = base_type(Base::integer, 1);
const Type kBoolean = base_type(Base::boolean);
const Type kTensor = base_type(Base::tensor);

Expr make(ExprKind kind, support::Span span) {
  Expr expr;
  expr.kind = kind;
  expr.span = span;
  return expr;
}

Typed finish(Expr expr, Ty type) {
  expr.type = type.type;
  return {std::move(expr), std::move(type)};
}

Typed literal(Attr value, Ty type, support::Span span) {
  Expr expr = make(ExprKind::literal, span);
  expr.value = value;
  return finish(std::move(expr), std::move(type));
}

bool is_literal(const Expr& expr, Attr::Kind kind) {
  return expr.kind == ExprKind::literal && expr.value.kind() == kind;
}

// The number a literal is, as a scalar.
std::optional<sym::Scalar> number_of(const Expr& expr) {
  if (is_literal(expr, Attr::Kind::integer)) return sym::Scalar(expr.value.as_int());
  if (is_literal(expr, Attr::Kind::scalar)) return expr.value.as_scalar();
  return std::nullopt;
}

// An integer where it is one, unless a scalar is wanted.
Typed number_literal(const sym::Scalar& value, bool scalar, support::Span span) {
  const std::optional<sym::Int> integer = value.is_infinite() ? std::nullopt : value.as_int();
  if (integer && !scalar) return literal(Attr::of(*integer), ty(Base::integer), span);
  return literal(Attr::of(value), ty(Base::scalar), span);
}

// What could not be resolved: of any type.
Typed broken(support::Span span) {
  return finish(make(ExprKind::wildcard, span), ty(Base::any));
}

bool wants_scalar(const Type* hint) {
  return hint != nullptr && hint->base == Base::scalar && hint->depth == 0;
}

}  // namespace

void Expressions::report(std::string_view id, support::Span span, std::string message,
                         std::string suggestion) {
  diagnostics_.push_back(support::error(std::string(id), span, std::move(message), std::move(suggestion)));
}

// --- the frame

Slot Expressions::declare(const syntax::Name& name, Ty type) {
  const auto slot = static_cast<Slot>(slots_.size());
  slots_.push_back({name.text, type.type, name.span});
  used_.resize(slots_.size());
  scope_.push_back({name.text, slot, std::move(type), std::nullopt});
  return slot;
}

Slot Expressions::declare(const Parameter& parameter) {
  const auto slot = static_cast<Slot>(slots_.size());
  slots_.push_back({parameter.name, parameter.type, parameter.span});
  used_.resize(slots_.size());
  scope_.push_back({parameter.name, slot, {parameter.type, {}}, std::nullopt});
  return slot;
}

const Expressions::Entry* Expressions::find(std::string_view name) const {
  for (std::size_t i = scope_.size(); i-- > visible_;) {
    if (scope_[i].name == name) return &scope_[i];
  }
  return nullptr;
}

// --- checking

Expr Expressions::want(const Node& node, const Type& expected) {
  Typed typed = resolve(node, &expected);
  check(typed, expected);
  return std::move(typed.expr);
}

void Expressions::check(Typed& typed, const Type& expected) {
  Expr& expr = typed.expr;
  if (expected.depth == 0) {
    if (expected.base == Base::tensor) {
      as_tensor(typed);
      return;
    }
    if (expected.base == Base::scalar && is_literal(expr, Attr::Kind::integer)) {
      typed = number_literal(sym::Scalar(expr.value.as_int()), true, expr.span);
      return;
    }
  }
  if (is_literal(expr, Attr::Kind::none) && !expected.optional && !is_any(expected) &&
      place_ != Place::collective && place_ != Place::lowering && place_ != Place::definition) {
    report(id::type, expr.span, "expected " + describe(expected) + ", not none");
    return;
  }
  if (!fits(expected, typed.ty.type)) {
    report(id::type, expr.span, "expected " + describe(expected) + ", this is " + describe(typed.ty.type));
    typed.ty = ty(Base::any);
  }
}

void Expressions::as_tensor(Typed& typed) {
  Expr& expr = typed.expr;
  std::optional<sym::Scalar> value = number_of(expr);
  if (is_literal(expr, Attr::Kind::boolean)) value = sym::Scalar(expr.value.as_bool() ? 1 : 0);
  if (value) {
    if (place_ != Place::pattern) {
      report(
          id::number_as_tensor, expr.span, "a number has no shape: it cannot stand for a tensor here",
          "write `full_like(" + to_string(expr) + ", x)` or `full(" + to_string(expr) + "; shape, dtype)`");
      typed.ty = ty(Base::any);
      return;
    }
    Expr uniform = make(ExprKind::call, expr.span);
    uniform.builtin = Builtin::uniform;
    uniform.name = "uniform";
    uniform.args.push_back(number_literal(*value, true, expr.span).expr);
    typed = finish(std::move(uniform), ty(Base::tensor));
    return;
  }
  if (is_literal(expr, Attr::Kind::none)) {
    report(id::type, expr.span, "expected a tensor, not none");
  } else if (!fits(kTensor, typed.ty.type)) {
    std::string suggestion;
    if (typed.ty.type.depth == 1 && typed.ty.type.base == Base::tensor) {
      suggestion = "only operators with a list parameter take lists";
    } else if (typed.ty.type.base == Base::scalar || typed.ty.type.base == Base::integer) {
      suggestion = "`full_like(c, x)` is a tensor of x's type all of whose elements are c";
    }
    report(id::type, expr.span, "expected a tensor, this is " + describe(typed.ty.type), suggestion);
  }
}

std::vector<Expr> Expressions::conjuncts(const Node& node) {
  if (node.kind == NodeKind::binary && node.operation == Operation::logical_and) {
    std::vector<Expr> result = conjuncts(node.children[0]);
    for (Expr& more : conjuncts(node.children[1])) result.push_back(std::move(more));
    return result;
  }
  std::vector<Expr> result;
  if (place_ == Place::when && node.kind == NodeKind::binary && node.operation == Operation::equal) {
    if (std::optional<Expr> equation = defining_equation(node)) {
      result.push_back(std::move(*equation));
      return result;
    }
  }
  result.push_back(want(node, kBoolean));
  return result;
}

// `v == e` or `e == v` where v is declared nowhere: a variable of its own.
std::optional<Expr> Expressions::defining_equation(const Node& node) {
  const auto undeclared = [&](const Node& side) {
    return side.kind == NodeKind::name && bare_unknown(side) && side.text != "_" &&
           !tensor::parse_dtype(side.text);
  };
  const bool turned = !undeclared(node.children[0]);
  const Node& name = node.children[turned ? 1 : 0];
  const Node& of = node.children[turned ? 0 : 1];
  if (!undeclared(name) || bare_unknown(of)) return std::nullopt;
  Typed value = resolve(of);
  if (turned && (value.ty.type.base == Base::dtype || value.ty.type.base == Base::any)) return std::nullopt;
  // What is compared with a name is a name.
  if (value.ty.type.base == Base::name && value.expr.kind == ExprKind::variable) return std::nullopt;
  Expr variable = make(ExprKind::variable, name.span);
  variable.name = name.text;
  variable.type = value.ty.type;
  declare({name.text, name.span}, value.ty);
  scope_.back().name = name.text;
  variable.slot = scope_.back().slot;
  Expr expr = make(ExprKind::binary, node.span);
  expr.operation = Operation::equal;
  expr.type = kBoolean;
  expr.args.push_back(std::move(variable));
  expr.args.push_back(std::move(value.expr));
  return expr;
}

// --- expressions

Typed Expressions::resolve(const Node& node, const Type* hint) {
  return resolve_here(node, hint);
}

Typed Expressions::resolve_here(const Node& node, const Type* hint) {
  switch (node.kind) {
    case NodeKind::missing:
      return literal(Attr(), ty(Base::any), node.span);
    case NodeKind::name:
      return name(node, hint);
    case NodeKind::number:
      return number(node, hint);
    case NodeKind::string:
      return literal(Attr::name(node.text), ty(Base::name), node.span);
    case NodeKind::member:
      return member(node, hint);
    case NodeKind::index:
      return index(node);
    case NodeKind::range:
      return range(node, hint);
    case NodeKind::call:
      return call(node, hint);
    case NodeKind::tuple:
      return tuple(node, hint);
    case NodeKind::list:
      return list(node, hint);
    case NodeKind::comprehension:
      return comprehension(node, hint);
    case NodeKind::unary:
      return unary(node, hint);
    case NodeKind::binary:
      return binary(node, hint);
    case NodeKind::with:
      return with(node, hint);
    case NodeKind::without:
      return without(node, hint);
    case NodeKind::conditional:
      return conditional(node, hint);
    case NodeKind::let:
      return let(node, hint);
    case NodeKind::forall:
    case NodeKind::exists:
      return quantifier(node);
    case NodeKind::others:
      return others(node);
    case NodeKind::star:
      report(id::not_here, node.span, "`*` belongs before an operand or an entry of a list");
      break;
    case NodeKind::computed:
      report(id::unknown_member, node.span, "only axis clauses put an expression after a dot");
      break;
  }
  return broken(node.span);
}

Typed Expressions::name(const Node& node, const Type* hint) {
  if (const Entry* entry = find(node.text)) {
    if (entry->alias) {
      Typed result{*entry->alias, entry->ty};
      result.expr.span = node.span;
      return result;
    }
    used_[entry->slot] = true;
    Expr expr = make(ExprKind::variable, node.span);
    expr.slot = entry->slot;
    expr.name = slots_[entry->slot].name;
    return finish(std::move(expr), entry->ty);
  }
  if (node.text == "_") {
    if (place_ != Place::pattern) report(id::not_here, node.span, "`_` is for patterns");
    return finish(make(ExprKind::wildcard, node.span), ty(Base::any));
  }
  if (node.text == "true" || node.text == "false") {
    return literal(Attr::of(node.text == "true"), ty(Base::boolean), node.span);
  }
  if (node.text == "none") return literal(Attr(), ty(Base::any), node.span);
  if (node.text == "inf") return number_literal(sym::Scalar::infinity(), true, node.span);
  if (place_ == Place::leaf) return leaf(node.text, node.span, hint);
  if (lowering_ != nullptr && visible_ == 0) {
    Typed result = implicit(node);
    if (result.expr.slot != kNoSlot) return result;
  }
  return unknown_name(node, hint);
}

// A tensor of the programs, or where an integer is wanted a symbol.
Typed Expressions::leaf(const std::string& name, support::Span span, const Type* hint) {
  if (hint != nullptr && hint->base == Base::name) return literal(Attr::name(name), ty(Base::name), span);
  if (const auto dtype = tensor::parse_dtype(name);
      dtype && (hint == nullptr || hint->base != Base::tensor)) {
    return literal(Attr::of(*dtype), ty(Base::dtype), span);
  }
  Expr expr = make(ExprKind::variable, span);
  expr.name = name;
  Ty type = ty(Base::any);
  if (hint != nullptr && hint->base == Base::tensor) type = ty(Base::tensor);
  if (hint != nullptr && is_integer_like(*hint)) type = ty(Base::integer);
  return finish(std::move(expr), std::move(type));
}

// The variables every lowering has, made when they are first mentioned.
Typed Expressions::implicit(const Node& node) {
  Slot* slot = nullptr;
  Ty type = ty(Base::any);
  const bool collective = lowering_->kind == LoweringKind::collective;
  if (node.text == "result") {
    slot = &lowering_->result_types;
  } else if (node.text == "site") {
    slot = &lowering_->site;
    type = ty(Base::integer);
  } else if (collective && node.text == "r") {
    slot = &lowering_->rank_in_group;
    type = ty(Base::integer);
  } else if (collective && node.text == "n") {
    slot = &lowering_->group_size;
    type = ty(Base::integer);
  } else if (collective && node.text == "members") {
    slot = &lowering_->group_ranks;
    type = ty(Base::integer, 1);
  }
  Expr expr = make(ExprKind::variable, node.span);
  if (slot != nullptr) {
    if (*slot == kNoSlot) {
      *slot = static_cast<Slot>(slots_.size());
      slots_.push_back({node.text, type.type, node.span});
      used_.resize(slots_.size());
    }
    used_[*slot] = true;
    expr.slot = *slot;
    expr.name = node.text;
  }
  return finish(std::move(expr), std::move(type));
}

Typed Expressions::unknown_name(const Node& node, const Type* hint) {
  const std::optional<tensor::DType> dtype = tensor::parse_dtype(node.text);
  if (hint != nullptr && hint->base == Base::name) {
    return literal(Attr::name(node.text), ty(Base::name), node.span);
  }
  if (dtype) {
    return literal(Attr::of(*dtype), ty(Base::dtype), node.span);
  }
  if (local_variables_ && place_ == Place::pattern) {
    const Type type = hint == nullptr ? base_type(Base::any) : *hint;
    declare({node.text, node.span}, {type, {}});
    // The syntax tree outlives the scope, and so does the name in it.
    scope_.back().name = node.text;
    Expr expr = make(ExprKind::variable, node.span);
    expr.slot = scope_.back().slot;
    expr.name = node.text;
    used_[expr.slot] = true;
    return finish(std::move(expr), {type, {}});
  }
  if (hint != nullptr && hint->base == Base::any) {
    return literal(Attr::name(node.text), ty(Base::name), node.span);
  }
  std::vector<std::string> names;
  for (std::size_t i = visible_; i < scope_.size(); ++i) names.emplace_back(scope_[i].name);
  std::string what = "unknown variable";
  if (hint != nullptr && hint->base == Base::dtype) {
    what = "unknown dtype or variable";
    for (int i = 0; i <= static_cast<int>(tensor::DType::b8); ++i) {
      names.emplace_back(tensor::to_string(static_cast<tensor::DType>(i)));
    }
  }
  report(id::unknown_variable, node.span, what + " `" + node.text + "`",
         support::did_you_mean(node.text, names));
  return broken(node.span);
}

Typed Expressions::number(const Node& node, const Type* hint) {
  const bool integer = node.text.find_first_not_of("0123456789") == std::string::npos;
  if (integer && !wants_scalar(hint)) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
    if (error != std::errc() || end != node.text.data() + node.text.size()) {
      report(id::type, node.span, "the integer has more than 64 bits", "write it as a scalar, with `.0`");
    }
    return literal(Attr::of(value), ty(Base::integer), node.span);
  }
  const std::optional<sym::Scalar> value = sym::Scalar::from_decimal_text(node.text);
  if (!value) {
    report(id::type, node.span, "the number is too large or too small");
    return broken(node.span);
  }
  return literal(Attr::of(*value), ty(Base::scalar), node.span);
}

Typed Expressions::unary(const Node& node, const Type* hint) {
  Expr expr = make(ExprKind::unary, node.span);
  expr.operation = node.operation;
  if (node.operation == Operation::logical_not) {
    expr.args.push_back(want(node.children[0], kBoolean));
    return finish(std::move(expr), ty(Base::boolean));
  }
  Typed operand = resolve(node.children[0], hint);
  if (const std::optional<sym::Scalar> value = number_of(operand.expr)) {
    return number_literal(-*value, is_literal(operand.expr, Attr::Kind::scalar), node.span);
  }
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
  expr.operation = node.operation;
  std::vector<Ty> types;
  for (const Node& child : node.children) {
    Typed side = resolve(child, wants_scalar(hint) ? hint : nullptr);
    if (!is_number(side.ty.type)) {
      std::string suggestion;
      if (side.ty.type.base == Base::tensor && side.ty.type.depth == 0) {
        suggestion = "tensors are combined by operators, such as `add_n(a, b)`";
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
  Ty type = ty(Base::any);
  if (is_integer_like(types[0].type) && is_integer_like(types[1].type)) {
    type = ty(Base::integer);
  } else if (!is_any(types[0].type) && !is_any(types[1].type)) {
    type = ty(Base::scalar);
  }
  return finish(std::move(expr), std::move(type));
}

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
  expr.args.push_back(std::move(base.expr));
  expr.args.push_back(want(node.children[1], kInteger));
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
    return finish(std::move(expr), ty(Base::any));
  }
  return finish(std::move(expr), entry_of(base.ty));
}

// x[v], x[a, b] in values.
Typed Expressions::element(Typed base, const Node& node) {
  Expr expr = make(ExprKind::index, node.span);
  if (place_ != Place::value) {
    report(id::not_here, node.span, "elements of tensors are for `value` clauses");
  }
  expr.args.push_back(std::move(base.expr));
  if (node.children.size() == 2) {
    Typed at = resolve(node.children[1]);
    if (!is_integer_like(at.ty.type)) {
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

Typed Expressions::tuple(const Node& node, const Type* hint) {
  static_cast<void>(hint);
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
  if (names.size() == 1) {
    into.binders.push_back(declare(names[0], entry));
    into.binder_names.push_back(names[0].text);
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
    into.binder_names.push_back(names[i].text);
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
  Expr over = bind(node.names, node.children[1], expr);
  if (pattern) place_ = Place::pattern;
  Typed body = pattern ? operand(node.children[0]) : resolve(node.children[0], hint ? &entry_hint : nullptr);
  expr.args.push_back(std::move(body.expr));
  expr.args.push_back(std::move(over));
  if (node.children.size() > 2) {
    if (pattern) report(id::pattern, node.children[2].span, "a pattern for a list has no `if`");
    expr.args.push_back(want(node.children[2], kBoolean));
  }
  leave(mark);
  return finish(std::move(expr), list_of(std::move(body.ty)));
}

Typed Expressions::let(const Node& node, const Type* hint) {
  if (place_ == Place::pattern) report(id::pattern, node.span, "`let` cannot stand in a pattern");
  const std::size_t mark = enter();
  Expr expr = make(ExprKind::let, node.span);
  Typed value = resolve(node.children[0]);
  bind_names(node.names, value.ty, expr);
  Typed body = resolve(node.children[1], hint);
  leave(mark);
  expr.args.push_back(std::move(value.expr));
  expr.args.push_back(std::move(body.expr));
  return finish(std::move(expr), std::move(body.ty));
}

Typed Expressions::quantifier(const Node& node) {
  Expr expr = make(node.kind == NodeKind::forall ? ExprKind::forall : ExprKind::exists, node.span);
  if (node.names.empty() || node.children.size() < 2) {
    report(id::generic, node.span, "only `forall` ranges over the other operands: `forall y @ b: c`");
    return finish(std::move(expr), ty(Base::boolean));
  }
  const std::size_t mark = enter();
  expr.args.push_back(bind(node.names, node.children[0], expr));
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
  expr.binders.push_back(declare(node.names[0], ty(Base::tensor)));
  expr.binders.push_back(declare(node.names[1], ty(Base::axis)));
  for (const syntax::Name& bound : node.names) expr.binder_names.push_back(bound.text);
  expr.args.push_back(want(node.children[0], kBoolean));
  leave(mark);
  return finish(std::move(expr), ty(Base::boolean));
}

}  // namespace entangle::rules
