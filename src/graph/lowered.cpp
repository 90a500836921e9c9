#include "entangle/graph/lower.h"

namespace entangle::graph {

std::string Lowered::describe(const TensorRef& tensor) const {
  const Node& at = node(tensor);
  std::string text = graphs.size() == 1 ? at.name : "r" + std::to_string(tensor.rank) + "." + at.name;
  if (at.several) {
    text += "[" + std::to_string(tensor.result) + "]";
  }
  return text;
}

std::vector<TensorRef> Lowered::tensors() const {
  std::vector<TensorRef> result;
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) {
    for (NodeIndex node = 0; node < nodes[rank].size(); ++node) {
      const std::span<const TermId> results = nodes[rank][node].results;
      for (std::uint32_t i = 0; i < results.size(); ++i) {
        if (results[i] != kNoTerm) {
          result.push_back({rank, node, i});
        }
      }
    }
  }
  return result;
}

Owners::Owners(const Lowered& lowered, const egraph::EGraph& graph) {
  for (const TensorRef& tensor : lowered.tensors()) {
    by_class_[graph.find(lowered.term(tensor))].push_back(tensor);
  }
}

const std::vector<TensorRef>& Owners::of(TermId canonical) const {
  static const std::vector<TensorRef> kNone;
  const auto found = by_class_.find(canonical);
  return found == by_class_.end() ? kNone : found->second;
}

}  // namespace entangle::graph
