// Extraction: the clean expressions of a class.
//
// A clean expression rearranges tensors of the distributed program (operators marked `clean`, unit axes) or
// adds up one term of each of several ranks (a partial sum). Which classes are such tensors, and of which
// rank, is said by the caller; constants are clean leaves. The cheapest expression of each class is found by
// a fixpoint over the classes; ties are broken by the order of creation, so the result is deterministic.
//
// A partial sum takes at most one term from each rank, and its terms must be counterparts of each other: the
// same rearrangement of tensors that have the same name, or the same place in the program, on their ranks.
// `a + b` of two tensors of one rank is a computation and never extracted. A multiple of a tensor, `scale(x;
// n)`, is the sum of the replicas that n ranks hold.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "entangle/egraph/egraph.h"

namespace entangle::relation {

// A tensor of one rank that a class is known to equal. Two owners are counterparts when their names or their
// places agree; both are numbers handed out by the caller.
struct Owner {
  int rank = 0;
  std::uint32_t tensor = 0;  // the caller's own number of the tensor
  std::uint32_t name = 0;
  std::uint32_t place = 0;
};

struct CleanTerm;
using CleanTermPtr = std::shared_ptr<const CleanTerm>;

// A leaf (`op` is kNoOp; `id` its class), or an application; constants are applications of operators without
// operands.
struct CleanTerm {
  egraph::TermId id = egraph::kNoTerm;  // the class it was extracted from
  rules::OpId op = rules::kNoOp;
  tensor::Attr attrs;
  std::vector<CleanTermPtr> children;

  bool is_leaf() const { return op == rules::kNoOp; }
};

struct ExtractOptions {
  // The owners of a class; empty when it is no tensor of the distributed program.
  std::function<const std::vector<Owner>&(egraph::TermId)> owners;
  bool partial_sums = true;
  // Whether the terms of a partial sum must be counterparts on different ranks.
  bool counterparts = true;
  // Each element of a tensor of a rank at most once.
  bool elements_once = false;
  // How many alternatives to return at most; one per kind of outermost operator.
  std::size_t most = 4;
};

// Clean expressions of the class of `root`, best first: the leaf if it is one, then rearrangements, then
// partial sums. Empty when there is none.
std::vector<CleanTermPtr> extract(egraph::EGraph& graph, egraph::TermId root, const ExtractOptions& options);

// Whether extract would return anything; cheaper.
bool extractable(egraph::EGraph& graph, egraph::TermId root, const ExtractOptions& options);

// Whether a partial sum is inside.
bool has_partial_sum(const CleanTerm& clean, const rules::RuleSet& rules);
// Whether every element of every leaf is used at most once (a leaf may be used once per owner).
bool uses_elements_once(const CleanTerm& clean, egraph::EGraph& graph, const ExtractOptions& options);
// The leaves, left to right, repetitions included.
std::vector<egraph::TermId> leaves_of(const CleanTerm& clean);
// In the language's spelling; `leaf` names a leaf.
std::string print(const CleanTerm& clean, const rules::RuleSet& rules,
                  const std::function<std::string(egraph::TermId)>& leaf);

}  // namespace entangle::relation
