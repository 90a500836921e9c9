// One rank while its graph is lowered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "entangle/egraph/egraph.h"
#include "entangle/graph/graph.h"
#include "entangle/graph/lower.h"
#include "entangle/smt/oracle.h"

namespace entangle::graph {

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
// Besides, where nothing says otherwise: `__iadd__`, `operator.iadd`, `lib.scale_inplace`.
bool may_change_operands(std::string_view op);

// Assertions, sends, and what is there for what it does to its operands.
inline bool without_result(const Node& node) {
  return std::none_of(node.results.begin(), node.results.end(),
                      [](const auto& type) { return type.has_value(); });
}

struct RankState {
  const Graph* graph = nullptr;
  std::vector<LoweredNode>* nodes = nullptr;
  std::vector<std::optional<sym::Int>> sizes;    // of nodes that are sizes
  std::set<sym::Int, sym::ContentLess> symbols;  // that occur in recorded types
  std::map<std::string, std::int64_t> sites;     // calls of each operator so far; see site()
  NodeIndex at = 0;                              // the next node

  std::map<NodeIndex, std::vector<TermId>> stale;  // what is left of tensors that were changed in place
  // Of tensors that were changed in place, and of what the operators that did so returned: what they were
  // views of.
  std::map<NodeIndex, std::set<TermId>> shared;

  // The terms of a node's results as they are for the next node.
  const std::vector<TermId>& terms(NodeIndex node) const {
    const auto changed = stale.find(node);
    return changed == stale.end() ? (*nodes)[node].results : changed->second;
  }
  // The number of the present call of an operator; calls in place and others are counted together.
  std::int64_t site(const std::string& op) const {
    return sites.at(named_in_place(op) ? out_of_place(op) : op);
  }
  void count_site(const std::string& op) { ++sites[named_in_place(op) ? out_of_place(op) : op]; }
  // An argument that is a size: a number, or an expression in symbols of this graph.
  std::optional<sym::Int> size_expression(const std::string& text) const;
  std::string describe(NodeIndex node) const { return "`" + graph->nodes[node].name + "`"; }
};

RankState start(const Graph& graph, std::vector<LoweredNode>& nodes);

// Whether two types agree: `unknown` where sizes are not known to be equal.
smt::Truth same_type(smt::Oracle& oracle, const tensor::TensorType& a, const tensor::TensorType& b);
tensor::TensorType normalised(const smt::Oracle& oracle, tensor::TensorType type);

}  // namespace entangle::graph
