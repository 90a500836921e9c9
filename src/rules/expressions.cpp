#include "rules/expressions.h"

#include <algorithm>
#include <charconv>

#include "entangle/support/text.h"
#include "rules/build.h"

namespace entangle::rules {

using syntax::Node;
using syntax::NodeKind;
using tensor::Attr;

namespace {

const Type kBoolean = base_type(Base::boolean);
const Type kTensor = base_type(Base::tensor);

}  // namespace

void Expressions::report(std::string_view id, support::Span span, std::string message,
                         std::string suggestion) {
  diagnostics_.push_back(support::error(std::string(id), span, std::move(message), std::move(suggestion)));
}

// --- the frame

// Inside a definition the variables of its users, which its arguments mention, keep their names.
std::string Expressions::own_name(const std::string& name) const {
  const auto taken = [&](const std::string& text) {
    const auto user = scope_.begin() + static_cast<std::ptrdiff_t>(visible_);
    const bool implicit = lowering_ != nullptr && visible_ > 0 && is_implicit(text);
    return implicit || std::any_of(scope_.begin(), user, [&](const Entry& entry) {
             return entry.slot != kNoSlot && slots_[entry.slot].name == text;
           });
  };
  std::string fresh = name;
  for (int n = 1; taken(fresh); ++n) fresh = name + "_" + std::to_string(n);
  return fresh;
}

Slot Expressions::declare(const syntax::Name& name, Ty type) {
  const auto slot = static_cast<Slot>(slots_.size());
  slots_.push_back({own_name(name.text), type.type, name.span});
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
    report(id::type, expr.span, "expected " + describe(expected) + ", not none",
           expected.base == Base::name ? "a name that reads so is written in quotes: `\"none\"`" : "");
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
      return tuple(node);
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

bool Expressions::is_implicit(std::string_view name) const {
  if (name == "result" || name == "site" || name == "draw") return true;
  return lowering_->kind == LoweringKind::collective && (name == "r" || name == "n" || name == "members");
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
  } else if (node.text == "draw") {
    slot = &lowering_->draw;
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
  std::string otherwise;
  if (hint != nullptr && hint->base == Base::dtype) {
    what = "unknown dtype or variable";
    std::vector<std::string> dtypes;
    for (int i = 0; i <= static_cast<int>(tensor::DType::b8); ++i) {
      dtypes.emplace_back(tensor::to_string(static_cast<tensor::DType>(i)));
    }
    otherwise = "the dtypes are " + support::join_list(dtypes);
    names.insert(names.end(), dtypes.begin(), dtypes.end());
  }
  std::string suggestion = support::did_you_mean(node.text, names);
  report(id::unknown_variable, node.span, what + " `" + node.text + "`",
         suggestion.empty() ? std::move(otherwise) : std::move(suggestion));
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

}  // namespace entangle::rules
