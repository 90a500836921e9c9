// What the tests of this module share.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

// A few operators to build examples with.
inline const std::string kOperators = R"(
op concat(xs: tensor+; dim: axis(xs)): clean, rearranges, free {
  require forall x in xs: rank(x) == rank(xs[0]) and x.dtype == xs[0].dtype;
  require forall x in xs, k in axes(x): k == dim or x.shape[k] == xs[0].shape[k];
  shape   xs[0].shape with [dim] = sum(x.shape[dim] for x in xs);
  value   i => block(xs, dim, i);
  maps    other(k < rank(xs[0]) if k != dim): k <- xs.k;
}
op slice(x: tensor; dim: axis(x), begin: int, end: int): clean, rearranges, free {
  require 0 <= begin < end <= x.shape[dim];
  shape   x.shape with [dim] = end - begin;
  value   i => x[i with [dim] = i[dim] + begin];
  maps    other(k < rank(x) if k != dim): k <- x.k;
  linear  x;
}
op merge(x: tensor; dim: axis(x)): clean, rearranges, free {
  let n = x.shape[dim + 1];
  shape x.shape[:dim] ++ [x.shape[dim] * n] ++ x.shape[dim + 2:];
  value i => x[i[:dim] ++ [i[dim] floordiv n, i[dim] mod n] ++ i[dim + 1:]];
  maps before(k < dim): k <- x.k;  maps after(k < rank(x) - dim - 2): dim + 1 + k <- x.(dim + 2 + k);
  linear x;
}
op split(x: tensor; dim: axis(x), inner: int): clean, rearranges, free {
  shape x.shape[:dim] ++ [x.shape[dim] / inner, inner] ++ x.shape[dim + 1:];
  value i => x[i[:dim] ++ [i[dim] * inner + i[dim + 1]] ++ i[dim + 2:]];
  linear x;
}
op transpose(x: tensor; perm: perm(x)): clean, rearranges, free {
  shape [x.shape[p] for p in perm];
  value i => x[permute(i, inverse(perm))];
  maps  all(k < rank(x)): k <- x.(perm[k]);
  linear x;
}
op add_n(xs: tensor+): elementwise, commutative, clean, free { value i => sum(x[i] for x in xs); linear xs; }
op scale(x: tensor; c: scalar): elementwise { value i => c * x[i]; linear x; }
op cast(x: tensor; to: dtype): elementwise { dtype to; }
op exp(x: tensor): elementwise;
op reduce(x: tensor; dim: axis(x), by: name) { shape x.shape without dim; value i => 0; }
op const(; value: scalar, to: dtype) { shape []; dtype to; value i => value; }
op contract(x: tensor, y: tensor; nb: count(batch), nc: count(inner)) {
  let fx = rank(x) - nb - nc;   let fy = rank(y) - nb - nc;
  require nb >= 0 and nc >= 1 and fx >= 0 and fy >= 0 and x.dtype == y.dtype;
  require x.shape[:nb] == y.shape[:nb] and x.shape[nb + fx:] == y.shape[nb : nb + nc];
  shape x.shape[: nb + fx] ++ y.shape[nb + nc :];
  value i => sum(k < x.shape[nb + fx :]: x[i[: nb + fx] ++ k] * y[i[:nb] ++ k ++ i[nb + fx :]]);
  maps batch(k < nb): k <- x.k, y.k;
  maps rows(k < fx): nb + k <- x.(nb + k);
  maps columns(k < fy): nb + fx + k <- y.(nb + nc + k);
  reduces sum inner(k < nc): x.(nb + fx + k), y.(nb + k);
  linear x, y;
}
)";

// The rule set of a text without errors or warnings.
inline std::shared_ptr<const RuleSet> rules_of(const std::string& text) {
  const Loaded loaded = load_rules_text("test.rules", text, {});
  std::string problems;
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) problems += support::render(diagnostic);
  REQUIRE(problems == "");
  return loaded.rules;
}

inline bool is_numeric(const Type& type) {
  return type.base == Base::integer || type.base == Base::scalar || type.base == Base::axis ||
         type.base == Base::count;
}

// 2 as an integer and as a scalar are written alike.
inline bool same_value(const tensor::Attr& a, const tensor::Attr& b) {
  using Kind = tensor::Attr::Kind;
  const auto scalar = [](const tensor::Attr& attr) {
    return attr.kind() == Kind::integer ? sym::Scalar(attr.as_int()) : attr.as_scalar();
  };
  const auto number = [](const tensor::Attr& attr) {
    return attr.kind() == Kind::integer || attr.kind() == Kind::scalar;
  };
  return a == b || (number(a) && number(b) && scalar(a) == scalar(b));
}

// Whether two expressions are the same but for places in the source and numbers of slots: `renamed` pairs the
// slots, and must stay one to one.
inline bool same(const Expr& a, const Expr& b, std::vector<std::pair<Slot, Slot>>& renamed) {
  const auto slots = [&](Slot x, Slot y) {
    for (const auto& [left, right] : renamed) {
      if (left == x || right == y) return left == x && right == y;
    }
    renamed.emplace_back(x, y);
    return true;
  };
  if (a.kind != b.kind || a.operation != b.operation || a.shift != b.shift || !same_value(a.value, b.value) ||
      a.name != b.name || a.op != b.op || a.binders.size() != b.binders.size() ||
      a.args.size() != b.args.size() || a.attrs.size() != b.attrs.size() ||
      a.binder_names != b.binder_names) {
    return false;
  }
  const bool called =
      a.kind == ExprKind::call || a.kind == ExprKind::aggregate || a.kind == ExprKind::reduction;
  if (called && a.builtin != b.builtin) return false;
  const bool numeric = is_numeric(a.type) && is_numeric(b.type);
  // The text does not hold the types of the parameters of definitions.
  const bool unknown = b.type.base == Base::any;
  if ((a.type.base != b.type.base && !numeric && !unknown) || a.type.depth != b.type.depth) return false;
  if ((a.slot == kNoSlot) != (b.slot == kNoSlot) || (a.slot != kNoSlot && !slots(a.slot, b.slot)))
    return false;
  for (std::size_t i = 0; i < a.binders.size(); ++i) {
    if (!slots(a.binders[i], b.binders[i])) return false;
  }
  for (std::size_t i = 0; i < a.args.size(); ++i) {
    if (!same(a.args[i], b.args[i], renamed)) return false;
  }
  for (std::size_t i = 0; i < a.attrs.size(); ++i) {
    if (!same(a.attrs[i], b.attrs[i], renamed)) return false;
  }
  return true;
}

inline bool same(const Expr& a, const Expr& b) {
  std::vector<std::pair<Slot, Slot>> renamed;
  return same(a, b, renamed);
}

}  // namespace entangle::rules
