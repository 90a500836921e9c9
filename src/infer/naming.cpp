#include "naming.h"

#include <algorithm>

#include "entangle/relation/clean.h"

namespace entangle::infer {

using graph::kNoNode;
using graph::NodeIndex;
using graph::TensorRef;

SequentialNames::SequentialNames(const graph::Lowered& lowered) : lowered_(lowered) {
  TermId reached = 0;
  bool any = false;
  const auto& nodes = lowered.nodes.front();
  for (NodeIndex n = 0; n < nodes.size(); ++n) {
    for (std::uint32_t k = 0; k < nodes[n].results.size(); ++k) {
      const TermId term = nodes[n].results[k];
      if (term == kNoTerm) {
        continue;
      }
      reached = any ? std::max(reached, term) : term;
      any = true;
      any_result_of_.emplace(term, TensorRef{0, n, k});
      if (!lowered.graphs.front()->nodes[n].several) {
        result_of_.emplace(term, n);
      }
    }
    reach_.push_back(any ? reached + 1 : 0);
  }
}

std::optional<NodeIndex> SequentialNames::node_of(TermId term) const {
  if (const auto it = any_result_of_.find(term); it != any_result_of_.end()) {
    return it->second.node;
  }
  const auto it = std::ranges::upper_bound(reach_, term);
  if (it == reach_.end()) {
    return std::nullopt;
  }
  return static_cast<NodeIndex>(it - reach_.begin());
}

bool SequentialNames::is_result(TermId term) const {
  return any_result_of_.contains(term);
}

std::string SequentialNames::name(TermId term) const {
  if (const auto it = result_of_.find(term); it != result_of_.end()) {
    return lowered_.graphs.front()->nodes[it->second].name;
  }
  if (const auto it = any_result_of_.find(term); it != any_result_of_.end()) {
    return lowered_.describe(it->second);
  }
  const auto node = node_of(term);
  return node ? lowered_.graphs.front()->nodes[*node].name : "?";
}

Place SequentialNames::place(TermId term) const {
  Place place;
  place.tensor = name(term);
  NodeIndex index = kNoNode;
  if (const auto it = result_of_.find(term); it != result_of_.end()) {
    index = it->second;
  } else if (const auto node = node_of(term)) {
    index = *node;
  }
  if (index != kNoNode) {
    const graph::Node& node = lowered_.graphs.front()->nodes[index];
    place.op = node.op;
    place.loc = node.loc;
  }
  return place;
}

DistributedNames::DistributedNames(const graph::Lowered& lowered, Joint& joint) : lowered_(lowered) {
  std::unordered_map<std::string, std::uint32_t> names;
  std::unordered_map<std::string, std::uint32_t> places;
  const auto number = [](std::unordered_map<std::string, std::uint32_t>& table, const std::string& key) {
    return table.emplace(key, static_cast<std::uint32_t>(table.size())).first->second;
  };
  for (const TensorRef& tensor : lowered.tensors()) {
    const TermId term = lowered.term(tensor);
    if (term == kNoTerm || lowered.nodes[tensor.rank][tensor.node].kind == graph::Kind::blocked) {
      continue;
    }
    const graph::Node& node = lowered.node(tensor);
    const auto& outputs = lowered.graphs[tensor.rank]->outputs;
    const auto index = static_cast<std::uint32_t>(tensors_.size());
    first_.emplace(term, tensors_.size());
    tensors_.push_back(tensor);
    output_.push_back(std::ranges::find(outputs, tensor.node) != outputs.end());
    const std::string result = "[" + std::to_string(tensor.result) + "]";
    joint.add_owner(term, Owner{static_cast<int>(tensor.rank), index, number(names, node.name + result),
                                number(places, std::to_string(tensor.node) + " " + node.op + result)});
  }
  for (const auto& nodes : lowered.nodes) {
    TermId reached = 0;
    auto& reach = reach_.emplace_back();
    for (const auto& node : nodes) {
      for (const TermId term : node.results) {
        reached = term == kNoTerm ? reached : std::max(reached, term + 1);
      }
      reach.push_back(reached);
    }
  }
}

std::string DistributedNames::name(const TensorRef& tensor) const {
  const graph::Node& node = lowered_.node(tensor);
  std::string name = node.name;
  if (node.several) {
    name += "[" + std::to_string(tensor.result) + "]";
  }
  return relation::to_string(relation::Leaf{tensor.rank, name});
}

std::string DistributedNames::name(const std::vector<Owner>& owners, bool prefer_outputs) const {
  ENTANGLE_CHECK(!owners.empty(), "the name of a class that is no tensor");
  const auto better = [&](const Owner& a, const Owner& b) {
    const bool several_a = lowered_.node(tensor(a)).several;
    const bool several_b = lowered_.node(tensor(b)).several;
    if (prefer_outputs && is_output(a) != is_output(b)) {
      return is_output(a);
    }
    return std::tuple(a.rank, several_a, a.tensor) < std::tuple(b.rank, several_b, b.tensor);
  };
  return name(tensor(*std::ranges::min_element(owners, better)));
}

Place DistributedNames::place(TermId term) const {
  Place place;
  if (const auto it = first_.find(term); it != first_.end()) {
    const TensorRef& tensor = tensors_[it->second];
    const graph::Node& node = lowered_.node(tensor);
    return {static_cast<int>(tensor.rank), name(tensor), node.op, node.loc, {}};
  }
  // A value inside a lowering: the node that built it first.
  for (std::size_t rank = 0; rank < reach_.size(); ++rank) {
    const auto it = std::ranges::upper_bound(reach_[rank], term);
    if (it != reach_[rank].end()) {
      const graph::Node& node = lowered_.graphs[rank]->nodes[it - reach_[rank].begin()];
      return {static_cast<int>(rank),
              relation::to_string(relation::Leaf{rank, node.name}),
              node.op,
              node.loc,
              {}};
    }
  }
  return place;
}

}  // namespace entangle::infer
