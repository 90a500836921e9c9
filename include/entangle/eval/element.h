// Elements: single elements of terms, as terms of the solver.
//
// The element of an application at an index vector follows from its operator's `value` clause; a leaf is a
// function of the index that nothing is known of but the interval of its class. Integer tensors have integer
// elements, b8 tensors boolean ones, the others real ones. What a `value` clause cannot say without a
// quantifier (sums and maxima over an axis), and operators without one, become functions of the index, too:
// less is known then, nothing wrong. Deterministic; not for concurrent use.
#pragma once

#include <unordered_map>
#include <vector>

#include "entangle/egraph/egraph.h"
#include "entangle/smt/term.h"

namespace entangle::eval {

class Elements {
 public:
  explicit Elements(const egraph::EGraph& graph);

  // The element of `term` at `index` (integers, one per axis).
  smt::Term at(egraph::TermId term, const std::vector<smt::Term>& index);
  // Fresh index variables for a tensor's axes; that they are inside the shape is among the facts.
  std::vector<smt::Term> fresh_index(egraph::TermId term);
  // An integer of the graph as the solver sees it; what is known of its symbols is among the facts.
  smt::Term integer(sym::Int value);
  // What holds of the leaves, indices and symbols met so far.
  std::vector<smt::Term> facts() const;

 private:
  class Domain;
  smt::Term leaf(egraph::TermId term, const std::vector<smt::Term>& index);
  smt::Term constant(const sym::Scalar& value, smt::Sort sort);
  void note_interval(egraph::TermId term, const smt::Term& element);
  // Whether what is known of an application's interval is what its value clause says from its operands'.
  bool follows_from_operands(const term::NodeView& node, egraph::TermId term) const;

  const egraph::EGraph& graph_;
  std::vector<smt::Term> facts_;
  std::vector<sym::Int> symbols_;
  std::size_t indices_ = 0;
  int depth_ = 0;
};

}  // namespace entangle::eval
