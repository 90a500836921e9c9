// Store: where terms live, as seen by the code that evaluates rule expressions.
//
// A TermId names a class of equal terms. There is one implementation, egraph::EGraph; the interface keeps
// typing and evaluation free of the e-graph's inside. `make` is the only way to build a term: it normalises
// (smart constructors), types, and hash-conses. A term that cannot be typed is not built: `make` returns
// kNoTerm, which callers treat as "undefined".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/smt/oracle.h"
#include "entangle/sym/scalar.h"
#include "entangle/tensor/attr.h"
#include "entangle/tensor/type.h"

namespace entangle::term {

using TermId = std::uint32_t;
inline constexpr TermId kNoTerm = ~TermId{0};

// One application in a class. `attrs` is a list with one entry per attribute parameter of `op`.
struct NodeView {
  rules::OpId op = rules::kNoOp;  // kNoOp: a leaf
  tensor::Attr attrs;
  std::span<const TermId> children;
};

// Known bounds of an integer tensor's elements, inclusive; a missing bound is unknown.
struct Interval {
  std::optional<sym::Int> low, high;
  bool operator==(const Interval&) const = default;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual const rules::RuleSet& rules() const = 0;
  virtual smt::Oracle& oracle() const = 0;
  // The class of op(children; attrs), or kNoTerm when it has no type (or a question could not be decided).
  virtual TermId make(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) = 0;
  // A leaf nothing is known of but its type, different from every other term.
  virtual TermId fresh(const tensor::TensorType& type, const std::string& label) = 0;

  virtual TermId find(TermId id) const = 0;
  // Whether two terms are known to be equal.
  virtual bool same(TermId a, TermId b) const { return find(a) == find(b); }
  // The reference stays valid as long as the store.
  virtual const tensor::TensorType& type(TermId id) const = 0;
  // The scalar all elements of the class are known to be.
  virtual std::optional<sym::Scalar> uniform(TermId id) const = 0;
  virtual Interval interval(TermId id) const = 0;
  // Whether every element is a number the program determines (not uninitialised memory).
  virtual bool defined(TermId id) const = 0;
  // Whether the class holds a tensor of the distributed program.
  virtual bool named(TermId id) const = 0;
  // Calls `visit` for the nodes of the class with this operator, in a fixed order, until it returns true.
  // Terms may be built and classes joined meanwhile. Returns whether a call returned true.
  virtual bool any_node(TermId id, rules::OpId op, const std::function<bool(const NodeView&)>& visit) = 0;
  // Cut points 0 = c0 < c1 < … < ck = size of existing slices of the class that tile `axis`, k >= 2, or
  // empty.
  virtual std::vector<sym::Int> tiling(TermId id, std::size_t axis) const = 0;
};

}  // namespace entangle::term
