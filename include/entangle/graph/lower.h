// Lowering: the graphs of all ranks (or the one sequential graph) as canonical terms of one e-graph.
//
// Nodes are lowered by the rule set's `lower`, `collective`, `send` and `recv` declarations, in execution
// order; of several declarations for an operator the first that applies is used. Equal computations of
// different ranks become one term (hash-consing); a collective is the tensor expression its rule gives of all
// members' operands, so its result is often one term for all ranks. Computed types are checked against the
// recorded ones.
//
// What no declaration describes is never an error:
//   * An operator with tensor operands is *opaque*: taken as a pure function of its operands and attributes.
//     It becomes `opaque(operands; operator, attributes, result, shape, dtype)` if the rule set declares an
//     operator `opaque(xs: tensor*; op: name, attrs: any, index: int, shape: int*, to: dtype)`, and otherwise
//     a leaf that is shared by equal applications (equal at the time of lowering).
//   * An operator without tensor operands, a random one (a lowering that uses a `random` operator), an
//     unknown collective and an in-place operator without `mutates` are *blocked*: each result is an unknown
//     of its own, so that nothing that depends on it can be related. In place are operators whose name ends
//     in `_` (`add_`, `add_.Tensor`); what is blocked includes later uses of the tensors it may have changed
//     and of their views.
//
// Deterministic. The graphs must outlive the result.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "entangle/egraph/egraph.h"
#include "entangle/graph/graph.h"

namespace entangle::graph {

using egraph::kNoTerm;
using egraph::TermId;

// A result of a node of a rank: what the program calls a tensor.
struct TensorRef {
  std::uint32_t rank = 0;  // index into the graphs given
  NodeIndex node = kNoNode;
  std::uint32_t result = 0;  // 0 unless the node has several
  bool operator==(const TensorRef&) const = default;
  auto operator<=>(const TensorRef&) const = default;
};

enum class Kind : std::uint8_t {
  none,      // the result is None, or the node was not reached (Lowered::mismatch)
  leaf,      // a placeholder, or a node of LowerOptions::cut
  constant,  // a constant, or a size
  lowered,   // by a rule
  pick,      // getitem of another node
  opaque,    // a function nothing is known of
  blocked,   // an unknown value
};

// One node of one rank.
struct LoweredNode {
  std::span<TermId> results;  // of Lowered::terms; kNoTerm: None
  Kind kind = Kind::none;
  std::string reason;                   // opaque, blocked: why
  const rules::Lowering* by = nullptr;  // the declaration that applied, if one did
};

// An application of an opaque operator, one per distinct result.
struct OpaqueUse {
  std::string op;
  tensor::Attr attrs;  // the arguments; operands are replaced by their numbers
  std::uint32_t result = 0;
  std::vector<TermId> operands;
  TermId term = kNoTerm;
  TensorRef at;  // where it was met first
};

struct BlockedUse {
  TensorRef at;
  std::string reason;  // e.g. "`foo.bar_` changes its operand in place and does not say which"
};

// A look-up: `table` is read (take) or written (put_add) at `index`, axis and out-of-range behaviour as in
// the term. In range or not: that is for the caller to show.
struct LookUp {
  TermId term = kNoTerm;  // the application of `take` or `put_add` as built
  TensorRef at;
};

// What a node draws at random: an application of an operator marked `drawn`.
struct Draw {
  TermId term = kNoTerm;
  TensorRef at;
  std::int64_t site = 0;  // the number of this call among those of its operator in its graph, from 1
};

// What a symbol stands for: a size that depends on data (the number of nonzero elements, say) is recorded as
// a symbol where it arises; where a lowering knows it all the same, this is it. That node stays opaque: lower
// again under this fact.
struct FoundSize {
  sym::Int symbol, size;
  TensorRef at;
};

// The ranks disagree on their collectives: a finding, not bad input.
struct Mismatch {
  enum class What : std::uint8_t { op, arguments, shape, group, count, send, deadlock };
  struct Place {
    std::uint32_t rank = 0;
    NodeIndex node = kNoNode;  // kNoNode: the rank has finished
  };
  What what = What::op;
  std::vector<Place> places;  // at least two, by rank; the first two disagree
  std::string message;  // e.g. "rank 0 runs `all_reduce` where rank 1 runs `all_gather` (2nd collective of
                        // group `tp`)"
};

struct Lowered {
  Lowered() = default;
  Lowered(Lowered&&) = default;
  Lowered& operator=(Lowered&&) = default;

  std::vector<const Graph*> graphs;
  std::vector<std::vector<LoweredNode>> nodes;  // [rank][node]
  std::vector<std::vector<TermId>> terms;       // [rank], of all results
  std::optional<Mismatch> mismatch;             // nodes behind it are not lowered
  std::vector<OpaqueUse> opaque;
  std::vector<std::string> opaque_ops;  // their operators, each once, sorted: "taken as a pure function"
  std::vector<BlockedUse> blocked;
  std::map<std::pair<std::uint32_t, NodeIndex>, TermId> at_start;  // of inputs that are changed in place
  std::vector<LookUp> lookups;
  std::vector<Draw> draws;  // in the order of lowering
  std::vector<FoundSize> found_sizes;
  std::vector<std::string> warnings;  // e.g. recorded types that could not be compared

  const Node& node(const TensorRef& tensor) const { return graphs[tensor.rank]->nodes[tensor.node]; }
  // kNoTerm for a result that is None.
  TermId term(const TensorRef& tensor) const {
    return nodes[tensor.rank][tensor.node].results[tensor.result];
  }
  // The value an input comes with; of other nodes their first result.
  TermId term_at_start(std::uint32_t rank, NodeIndex node) const {
    const auto changed = at_start.find({rank, node});
    return changed != at_start.end() ? changed->second : nodes[rank][node].results[0];
  }
  // `r1.mm`, `mm` when there is one graph; `r1.split[2]` for one of several results.
  std::string describe(const TensorRef& tensor) const;
  // All tensors, ordered by (rank, node, result). A `pick` repeats the tensor it picks.
  std::vector<TensorRef> tensors() const;
};

// Which tensors a class holds. Built from the classes as they are now: build it anew after merges.
class Owners {
 public:
  Owners() = default;
  Owners(const Lowered& lowered, const egraph::EGraph& graph);
  // In the order of Lowered::tensors(); empty when the class holds no tensor of the program.
  const std::vector<TensorRef>& of(TermId canonical) const;

 private:
  std::unordered_map<TermId, std::vector<TensorRef>> by_class_;
};

struct LowerOptions {
  // The leaf of an input; called once for each placeholder without a value and each cut node, in order. When
  // empty (or kNoTerm is returned): a leaf of its own, labelled as Lowered::describe.
  std::function<TermId(const TensorRef&, const tensor::TensorType&)> leaf;
  // Nodes at which the program is cut: their results are leaves, whatever computes them.
  std::function<bool(std::uint32_t rank, NodeIndex node)> cut;
  // What `draw` is in the lowering of a node, the site-th call of its operator, with operands of these
  // classes. When empty -site: calls draw at one place that have the same number in their graphs.
  std::function<std::int64_t(std::uint32_t rank, NodeIndex node, std::int64_t site,
                             const std::vector<TermId>& operands)>
      draw;
  // Marks every result as a tensor of the distributed program (EGraph::set_named).
  bool mark_named = false;
  // Whether what the body of a lowering builds is kept, to be built again for operands of the same types. The
  // terms are the same: off is for comparison.
  bool recipes = true;
};

// An error is bad input: a recorded type that contradicts the computed one, operands that do not fit their
// operator, a group that does not fit the ranks.
support::Result<Lowered> lower(const std::vector<Graph>& graphs, egraph::EGraph& target,
                               const LowerOptions& options = {});

}  // namespace entangle::graph
