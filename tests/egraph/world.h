// A small algebra, an e-graph over it, and short ways to write terms.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "entangle/egraph/egraph.h"
#include "entangle/egraph/match.h"
#include "entangle/egraph/saturate.h"
#include "entangle/support/diagnostic.h"

namespace entangle::egraph {

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
op transpose(x: tensor; perm: perm(x)): clean, rearranges, free {
  require len(perm) == rank(x);
  shape   [x.shape[p] for p in perm];
  value   i => x[permute(i, inverse(perm))];
  maps    all(k < rank(x)): k <- x.(perm[k]);
  linear  x;
}
op merge(x: tensor; dim: axis(x)): clean, rearranges, free {
  require dim + 1 < rank(x);
  let n = x.shape[dim + 1];
  shape   x.shape[:dim] ++ [x.shape[dim] * n] ++ x.shape[dim + 2:];
  value   i => x[i[:dim] ++ [i[dim] floordiv n, i[dim] mod n] ++ i[dim + 1:]];
  maps    before(k < dim): k <- x.k;
  maps    after(k < rank(x) - dim - 2): dim + 1 + k <- x.(dim + 2 + k);
  linear  x;
}
op split(x: tensor; dim: axis(x), inner: int): clean, rearranges, free {
  require divides(inner, x.shape[dim]);
  shape   x.shape[:dim] ++ [x.shape[dim] / inner, inner] ++ x.shape[dim + 1:];
  value   i => x[i[:dim] ++ [i[dim] * inner + i[dim + 1]] ++ i[dim + 2:]];
  maps    before(k < dim): k <- x.k;
  maps    after(k < rank(x) - dim - 1): dim + 2 + k <- x.(dim + 1 + k);
  linear  x;
}
op bcast(x: tensor; axes: axis(result)*, sizes: int*): rearranges, free {
  require len(axes) == len(sizes);
  shape   insert_at(x.shape, axes, sizes);
  value   i => x[i without axes];
  maps    old(k < rank(x)): complement(axes, rank(x) + len(axes))[k] <- x.k;
  linear  x;
}
op squeeze(x: tensor; dim: axis(x)): clean, rearranges, free {
  require x.shape[dim] == 1;
  shape   x.shape without dim;
  value   i => x[i[:dim] ++ [0] ++ i[dim:]];
}
op const(; value: scalar, to: dtype): free { shape []; dtype to; value i => value; }
op iota(; start: int, n: int, to: dtype): free { shape [n]; dtype to; value i => start + i[0]; }
op add_n(xs: tensor+): elementwise, commutative, clean, free { value i => sum(x[i] for x in xs); }
op max_n(xs: tensor+): elementwise, commutative { value i => max(x[i] for x in xs); }
op mul(xs: tensor+): elementwise, commutative { value i => product(x[i] for x in xs); linear xs; }
op scale(x: tensor; c: scalar): elementwise { value i => c * x[i]; linear x; }
op exp(x: tensor): elementwise;
op neg(x: tensor): elementwise { value i => -x[i]; linear x; }
op sub(x: tensor, y: tensor): elementwise { value i => x[i] - y[i]; }
op ge(x: tensor, y: tensor): elementwise { require x.dtype == y.dtype; dtype b8; value i => if x[i] >= y[i] then 1 else 0; }
op where(m: tensor, x: tensor, y: tensor): elementwise {
  require m.dtype == b8 and x.dtype == y.dtype;
  dtype x.dtype;
  value i => if m[i] == 1 then x[i] else y[i];
}
op reduce_sum(x: tensor; dim: axis(x)) {
  shape   x.shape without dim;
  value   i => sum(k < x.shape[dim]: x[i[:dim] ++ [k] ++ i[dim:]]);
  maps    before(k < dim): k <- x.k;
  maps    after(k < rank(x) - dim - 1): dim + k <- x.(dim + 1 + k);
  reduces sum inner: x.dim;
  linear  x;
}
op reduce_max(x: tensor; dim: axis(x)) {
  shape   x.shape without dim;
  value   i => max(k < x.shape[dim]: x[i[:dim] ++ [k] ++ i[dim:]]);
  maps    before(k < dim): k <- x.k;
  maps    after(k < rank(x) - dim - 1): dim + k <- x.(dim + 1 + k);
  reduces max inner: x.dim;
}
op contract(x: tensor, y: tensor; nb: count(batch), nc: count(inner)) {
  let fx = rank(x) - nb - nc;
  let fy = rank(y) - nb - nc;
  require nb >= 0 and nc >= 1 and fx >= 0 and fy >= 0 and x.dtype == y.dtype;
  require x.shape[:nb] == y.shape[:nb] and x.shape[nb + fx:] == y.shape[nb : nb + nc];
  shape   x.shape[: nb + fx] ++ y.shape[nb + nc :];
  value   i => sum(k < x.shape[nb + fx :]: x[i[: nb + fx] ++ k] * y[i[:nb] ++ k ++ i[nb + fx :]]);
  maps    batch(k < nb): k <- x.k, y.k;
  maps    rows(k < fx): nb + k <- x.(nb + k);
  maps    columns(k < fy): nb + fx + k <- y.(nb + nc + k);
  reduces sum inner(k < nc): x.(nb + fx + k), y.(nb + k);
  linear  x, y;
}
)";

// An attribute, from whatever is handy.
struct A {
  tensor::Attr attr;
  A(int value) : attr(tensor::Attr::of(sym::Int(value))) {}  // NOLINT(implicit)
  A(sym::Int value) : attr(tensor::Attr::of(value)) {}       // NOLINT(implicit)
  A(sym::Scalar value) : attr(tensor::Attr::of(value)) {}    // NOLINT(implicit)
  A(tensor::DType value) : attr(tensor::Attr::of(value)) {}  // NOLINT(implicit)
  A(const std::vector<int>& values) : attr(list(values)) {}  // NOLINT(implicit)

  static tensor::Attr list(const std::vector<int>& values) {
    std::vector<sym::Int> ints(values.begin(), values.end());
    return tensor::Attr::ints(ints);
  }
};

using sym::Int;
using tensor::DType;
using Shape = std::vector<Int>;

class World {
 public:
  // `lemmas` is added to the operators; it must load without errors.
  explicit World(const std::string& lemmas = "", sym::Facts facts = {},
                 const std::string& operators = kOperators)
      : rules_(load(operators + lemmas)),
        oracle(std::move(facts)),
        typing(*rules_, oracle),
        program(*rules_),
        graph(std::make_unique<EGraph>(typing, oracle)) {}

  TermId leaf(const std::string& name, const Shape& shape, DType dtype = DType::f32) {
    return graph->leaf({shape, dtype}, name);
  }
  rules::OpId op(const std::string& name) const {
    const rules::OpId id = rules_->find_op(name);
    REQUIRE(id != rules::kNoOp);
    return id;
  }
  static tensor::Attr attrs(const std::vector<A>& values) {
    std::vector<tensor::Attr> list;
    for (const A& value : values) {
      list.push_back(value.attr);
    }
    return tensor::Attr::list(list);
  }
  // op(children; attrs), normalised.
  TermId make(const std::string& name, const std::vector<TermId>& children,
              const std::vector<A>& values = {}) {
    const TermId id = graph->make(op(name), attrs(values), children);
    INFO(graph->last_error());
    REQUIRE(id != kNoTerm);
    return id;
  }
  // The same, exactly as given.
  TermId exact(const std::string& name, const std::vector<TermId>& children,
               const std::vector<A>& values = {}) {
    const TermId id = graph->make_exact(op(name), attrs(values), children);
    INFO(graph->last_error());
    REQUIRE(id != kNoTerm);
    return id;
  }
  TermId full(sym::Scalar value, const Shape& shape, DType dtype = DType::f32) {
    const std::optional<TermId> id = graph->evaluator().full(value, {shape, dtype});
    REQUIRE(id.has_value());
    return *id;
  }
  bool same(TermId a, TermId b) const { return graph->find(a) == graph->find(b); }
  bool has(TermId id, const std::string& name, const std::vector<TermId>& children,
           const std::vector<A>& values = {}) const {
    const TermId found = graph->find_node(op(name), attrs(values), children);
    return found != kNoTerm && same(found, id);
  }
  Outcome saturate(const Limits& limits = {}) { return egraph::saturate(*graph, program, limits); }
  const rules::Lemma& lemma(const std::string& name) const {
    for (const rules::Lemma& lemma : rules_->lemmas()) {
      if (lemma.name == name) {
        return lemma;
      }
    }
    FAIL("no lemma " << name);
    return rules_->lemmas()[0];
  }
  const rules::RuleSet& rules() const { return *rules_; }

  // Everything in it, as text.
  std::string dump() const {
    std::string text;
    for (const TermId id : graph->classes()) {
      text += std::to_string(id) + ": " + tensor::to_string(graph->type(id)) + " " + graph->print(id) + "\n";
      for (const TermId node : graph->node_ids(id)) {
        text += "  " + graph->print_original(node) + "\n";
      }
    }
    return text;
  }

 private:
  static std::shared_ptr<const rules::RuleSet> load(const std::string& text) {
    const rules::Loaded loaded = rules::load_rules_text("test.rules", text, {});
    for (const support::Diagnostic& diagnostic : loaded.diagnostics) {
      if (diagnostic.severity == support::Severity::error) {
        MESSAGE(support::render(diagnostic));
      }
    }
    REQUIRE(loaded.ok());
    return loaded.rules;
  }

  std::shared_ptr<const rules::RuleSet> rules_;

 public:
  smt::Oracle oracle;
  term::Typing typing;
  Program program;
  std::unique_ptr<EGraph> graph;
};

}  // namespace entangle::egraph
