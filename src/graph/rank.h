// One rank while its graph is lowered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "aliases.h"
#include "entangle/egraph/egraph.h"
#include "entangle/graph/graph.h"
#include "entangle/graph/lower.h"
#include "entangle/smt/oracle.h"

namespace entangle::graph {

// The first word of a name (words stand between dots, colons and slashes) that satisfies `wanted`: its place.
template <class Wanted>
std::optional<std::pair<std::size_t, std::size_t>> find_word(std::string_view op, const Wanted& wanted) {
  std::size_t start = 0;
  for (std::size_t end = 0; end <= op.size(); ++end) {
    if (end < op.size() && op[end] != '.' && op[end] != ':' && op[end] != '/') {
      continue;
    }
    if (wanted(op.substr(start, end - start))) {
      return std::pair(start, end);
    }
    start = end + 1;
  }
  return std::nullopt;
}

// What an operator is called that works in place by its name, without that: `add` of `add_`,
// `aten.add.Tensor` of `aten.add_.Tensor`, `foo::bar` of `foo::bar_`. "" for other names.
std::string out_of_place(std::string_view op);
inline bool named_in_place(std::string_view op) {
  return !out_of_place(op).empty();
}
// Whether an operator writes to a given tensor by its name: `aten.add.out`, `lib.gather_out.default`.
bool writes_out(std::string_view op);
inline bool changes_operands(std::string_view op) {
  return named_in_place(op) || writes_out(op);
}
// Whether a tensor given by this keyword is there to be written to: `out`, or what the overload is called
// after, as in `aten.topk.values(x, 2; values=v, indices=i)` and `aten.max.dim_max(x, 0; max=m, …)`.
bool writes_keyword(std::string_view op, std::string_view keyword);
// Besides, where nothing says otherwise: `__iadd__`, `operator.iadd`, `lib.scale_inplace`.
bool may_change_operands(std::string_view op);

// Assertions, sends, and what is there for what it does to its operands.
inline bool without_result(const Node& node) {
  return std::none_of(node.results.begin(), node.results.end(),
                      [](const auto& type) { return type.has_value(); });
}

// What is known of an operator by its name, and by whether it is given tensors to write to.
struct Operation {
  // What is declared for it. What works in place and is not declared itself is what it is called without
  // that.
  std::span<const std::uint32_t> declarations;
  std::span<const std::uint32_t> marks;  // declarations that say what it changes
  // Those that say what it changes; of what writes to given tensors, and is not declared, those of the form
  // without that.
  std::span<const std::uint32_t> marking;
  bool borrowed = false;                           // of what it is called without working in place
  const rules::Lowering* communication = nullptr;  // the declaration that says that ranks run it together
  bool changes_operands = false;
  bool may_change_operands = false;
  bool writes_keywords = false;  // to all tensors by keyword that no declaration knows
  std::size_t site = 0;          // where its calls are counted; those in place and others together
};

struct RankState {
  const Graph* graph = nullptr;
  std::vector<LoweredNode>* nodes = nullptr;
  std::vector<std::optional<sym::Int>> sizes;    // of nodes that are sizes
  std::set<sym::Int, sym::ContentLess> symbols;  // that occur in recorded types
  std::vector<const Operation*> operations;      // of the nodes
  std::vector<std::int64_t> sites;               // calls so far, by Operation::site
  NodeIndex at = 0;                              // the next node

  std::map<NodeIndex, std::vector<TermId>> stale;  // what is left of tensors that were changed in place
  // For operators that change their operands; none of it is kept up to date before the first.
  Aliases aliases;
  // Of nodes that hold constants: what each constant is called there. (Equal constants share no memory.)
  std::map<NodeIndex, std::vector<std::pair<TermId, TermId>>> constants;
  TermId last_constant = kNoTerm;  // names are given downwards
  std::vector<NodeIndex> renewed;  // nodes that have other terms than when they were held there
  std::size_t seen_merges = 0;
  std::vector<NodeIndex> last_use;  // of each node the last that names it; of outputs beyond all

  // The terms of a node's results as they are for the next node.
  std::span<const TermId> terms(NodeIndex node) const {
    const auto changed = stale.find(node);
    return changed == stale.end() ? (*nodes)[node].results : std::span<const TermId>(changed->second);
  }
  // An argument that is a size: a number, or an expression in symbols of this graph.
  std::optional<sym::Int> size_expression(const std::string& text) const;
  std::string describe(NodeIndex node) const { return "`" + graph->nodes[node].name + "`"; }
};

// `terms` are those of all results.
RankState start(const Graph& graph, std::vector<LoweredNode>& nodes, std::vector<TermId>& terms);

// Whether two types agree: `unknown` where sizes are not known to be equal.
smt::Truth same_type(smt::Oracle& oracle, const tensor::TensorType& a, const tensor::TensorType& b);
tensor::TensorType normalised(const smt::Oracle& oracle, tensor::TensorType type);

}  // namespace entangle::graph
