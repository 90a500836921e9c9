#include "group_sums.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace entangle::infer {
namespace {

// The sum that a term is a part or another arrangement of; kNoTerm if there is none.
TermId sum_inside(const EGraph& graph, TermId term) {
  for (;;) {
    const auto node = graph.original(term);
    if (node.op == rules::kNoOp) {
      return kNoTerm;
    }
    const rules::Operator& op = graph.rules().op(node.op);
    if (op.name == "add_n") {
      return term;
    }
    if (!op.rearranges || node.children.size() != 1) {
      return kNoTerm;
    }
    term = node.children.front();
  }
}

}  // namespace

void add_group_sums(Programs& programs) {
  EGraph& graph = *programs.graph;
  const graph::Lowered& lowered = programs.lowered_ranks;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<TermId>>
      sums;  // by name and number of the result
  for (const graph::TensorRef& tensor : lowered.tensors()) {
    const graph::LoweredNode& node = lowered.nodes[tensor.rank][tensor.node];
    const TermId term = lowered.term(tensor);
    if (term == kNoTerm || node.by == nullptr || node.by->kind != rules::LoweringKind::collective) {
      continue;
    }
    const TermId sum = sum_inside(graph, term);
    if (sum == kNoTerm) {
      continue;
    }
    std::vector<TermId>& of_name = sums[{lowered.node(tensor).name, tensor.result}];
    if (std::ranges::find(of_name, sum) == of_name.end()) {
      of_name.push_back(sum);
    }
  }
  const rules::OpId add = graph.rules().find_op("add_n");
  for (const auto& entry : sums) {
    const std::vector<TermId>& groups = entry.second;
    const auto like_the_first = [&](TermId sum) { return graph.type(sum) == graph.type(groups.front()); };
    if (groups.size() > 1 && std::ranges::all_of(groups, like_the_first)) {
      graph.make_exact(add, tensor::Attr::list({}), groups);
    }
  }
}

}  // namespace entangle::infer
