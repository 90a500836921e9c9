// Making resolved expressions.
#pragma once

#include <optional>
#include <string>
#include <utility>

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

inline bool wants_scalar(const Type* hint) {
  return hint != nullptr && hint->base == Base::scalar && hint->depth == 0;
}

}  // namespace entangle::rules
