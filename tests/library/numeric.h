// The operators of rules/core.rules in floating point, written independently of their `value` clauses: what
// the lemmas have made equal must have equal elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "entangle/egraph/egraph.h"

namespace entangle::library {

struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> elements;  // row-major

  double at(const std::vector<std::size_t>& index) const;
};

// op(children; attrs); nothing for an operator whose values are not known here.
std::optional<Array> apply(const std::string& op, const tensor::Attr& attrs,
                           const std::vector<const Array*>& children,
                           const std::vector<tensor::TensorType>& types, const tensor::TensorType& result);

// Elements of a leaf: scrambled, the same for the same seed. Booleans are 0 or 1, integers small.
Array scrambled(const tensor::TensorType& type, std::uint64_t seed);

struct Difference {
  std::string lemma_hint;  // the two terms
  std::string what;
};

// Evaluates every node of every class and compares it with its class, and with the bounds of that. Elements
// that are not finite are not compared (they come from divisions by zero and logarithms of negative numbers).
class Check {
 public:
  Check(egraph::EGraph& graph, std::uint64_t seed) : graph_(graph), seed_(seed) {}

  // The first difference, or nothing.
  std::optional<Difference> run();
  std::size_t compared() const { return compared_; }
  // Elements of which bounds are known.
  std::size_t bounded() const { return bounded_; }

 private:
  const Array* value(egraph::TermId id, std::size_t depth);
  std::optional<Array> node_value(const term::NodeView& node, egraph::TermId of, std::size_t depth);

  egraph::EGraph& graph_;
  std::uint64_t seed_;
  std::size_t compared_ = 0;
  std::size_t bounded_ = 0;
  std::unordered_map<egraph::TermId, Array> values_;
  std::unordered_map<egraph::TermId, bool> busy_;
};

}  // namespace entangle::library
