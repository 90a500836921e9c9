// Making resolved expressions.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rules/expressions.h"

namespace entangle::rules {

inline Expr make(ExprKind kind, support::Span span) {
  Expr expr;
  expr.kind = kind;
  expr.span = span;
  return expr;
}

inline Typed finish(Expr&& expr, Ty&& type) {
  expr.type = type.type;
  return {std::move(expr), std::move(type)};
}

inline Typed finish(Expr&& expr, const Ty& type) {
  return finish(std::move(expr), Ty(type));
}

// What could not be resolved: of any type.
inline Typed broken(support::Span span) {
  return finish(make(ExprKind::wildcard, span), ty(Base::any));
}

inline Typed literal(tensor::Attr value, Ty type, support::Span span) {
  Expr expr = make(ExprKind::literal, span);
  expr.value = value;
  return finish(std::move(expr), std::move(type));
}

inline bool is_literal(const Expr& expr, tensor::Attr::Kind kind) {
  return expr.kind == ExprKind::literal && expr.value.kind() == kind;
}

// Whether it is a literal, or a variable in the place of which one may stand.
inline bool may_be_literal(const Expr& expr) {
  return expr.kind == ExprKind::literal || expr.kind == ExprKind::variable;
}

// Whether an argument of a definition may stand wherever its parameter is mentioned: otherwise it is computed
// once, under a name.
inline bool stands_in_place(const Expr& argument, std::size_t mentioned) {
  return mentioned < 2 || argument.kind == ExprKind::variable || argument.kind == ExprKind::literal ||
         argument.kind == ExprKind::wildcard;
}

// A name that no variable has.
inline std::string fresh_name(const std::string& name, const std::vector<Variable>& slots) {
  const auto taken = [&](const std::string& text) {
    return std::any_of(slots.begin(), slots.end(), [&](const Variable& v) { return v.name == text; });
  };
  std::string fresh = name;
  for (int n = 1; taken(fresh); ++n) fresh = name + "_" + std::to_string(n);
  return fresh;
}

// The number a literal is, as a scalar.
inline std::optional<sym::Scalar> number_of(const Expr& expr) {
  if (is_literal(expr, tensor::Attr::Kind::integer)) return sym::Scalar(expr.value.as_int());
  if (is_literal(expr, tensor::Attr::Kind::scalar)) return expr.value.as_scalar();
  return std::nullopt;
}

// An integer where it is one, unless a scalar is wanted.
inline Typed number_literal(const sym::Scalar& value, bool scalar, support::Span span) {
  const std::optional<sym::Int> integer = value.is_infinite() ? std::nullopt : value.as_int();
  if (integer && !scalar) return literal(tensor::Attr::of(*integer), ty(Base::integer), span);
  return literal(tensor::Attr::of(value), ty(Base::scalar), span);
}

// -value of a number.
inline std::optional<Typed> negated(const Expr& value, support::Span span) {
  const std::optional<sym::Scalar> number = number_of(value);
  if (!number) return std::nullopt;
  return number_literal(-*number, is_literal(value, tensor::Attr::Kind::scalar), span);
}

inline bool wants_scalar(const Type* hint) {
  return hint != nullptr && hint->base == Base::scalar && hint->depth == 0;
}

}  // namespace entangle::rules
