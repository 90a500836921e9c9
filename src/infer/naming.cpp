#include "naming.h"

#include <algorithm>

#include "entangle/relation/clean.h"
#include "entangle/support/hash.h"

namespace entangle::infer {

using graph::kNoNode;
using graph::NodeIndex;
using graph::TensorRef;

namespace {

// A text of a graph, and a number that belongs to it.
struct Text {
  std::string_view text;
  std::uint64_t number = 0;
  bool operator==(const Text&) const = default;
};
struct TextHash {
  std::size_t operator()(const Text& key) const {
    return support::hash_combine(std::hash<std::string_view>()(key.text), key.number);
  }
};
using Numbers = std::unordered_map<Text, std::uint32_t, TextHash>;

// Calls visit(term) for everything below `term` that `known` does not hold, operands after their users.
template <class Known, class Visit>
void for_each_inside(const EGraph& graph, TermId term, const Known& known, const Visit& visit) {
  std::vector<TermId> stack{term};
  while (!stack.empty()) {
    const TermId at = stack.back();
    stack.pop_back();
    for (const TermId child : graph.original(at).children) {
      if (!known(child)) {
        visit(child);
        stack.push_back(child);
      }
    }
  }
}

}  // namespace

const SequentialNames::Tables& SequentialNames::tables() const {
  if (tables_) {
    return *tables_;
  }
  Tables& found = tables_.emplace();
  const auto& nodes = lowered_.nodes.front();
  for (NodeIndex n = 0; n < nodes.size(); ++n) {
    for (std::uint32_t k = 0; k < nodes[n].results.size(); ++k) {
      const TermId term = nodes[n].results[k];
      if (term == kNoTerm) {
        continue;
      }
      found.any_result_of.emplace(term, TensorRef{0, n, k});
      if (!lowered_.graphs.front()->nodes[n].several) {
        found.result_of.emplace(term, n);
      }
      if (nodes[n].kind == graph::Kind::leaf) {
        continue;  // what the manifest relates it to is nobody's computation
      }
      const auto known = [&](TermId t) {
        return found.any_result_of.contains(t) || found.inside.contains(t);
      };
      for_each_inside(graph_, term, known, [&](TermId t) { found.inside.emplace(t, n); });
    }
  }
  return found;
}

std::optional<NodeIndex> SequentialNames::node_of(TermId term) const {
  if (const auto it = tables().any_result_of.find(term); it != tables().any_result_of.end()) {
    return it->second.node;
  }
  const auto it = tables().inside.find(term);
  return it == tables().inside.end() ? std::nullopt : std::optional(it->second);
}

bool SequentialNames::is_result(TermId term) const {
  return tables().any_result_of.contains(term);
}

std::string SequentialNames::name(TermId term) const {
  if (const auto it = tables().result_of.find(term); it != tables().result_of.end()) {
    return lowered_.graphs.front()->nodes[it->second].name;
  }
  if (const auto it = tables().any_result_of.find(term); it != tables().any_result_of.end()) {
    return lowered_.describe(it->second);
  }
  const auto node = node_of(term);
  return node ? lowered_.graphs.front()->nodes[*node].name : "?";
}

Place SequentialNames::place(TermId term) const {
  Place place;
  place.tensor = name(term);
  NodeIndex index = kNoNode;
  if (const auto it = tables().result_of.find(term); it != tables().result_of.end()) {
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

DistributedNames::DistributedNames(const graph::Lowered& lowered, Joint& joint)
    : lowered_(lowered), graph_(joint.graph()) {
  std::vector<std::vector<bool>> outputs;  // by rank and node
  for (const graph::Graph* graph : lowered.graphs) {
    std::vector<bool>& of_rank = outputs.emplace_back(graph->nodes.size(), false);
    for (const NodeIndex output : graph->outputs) {
      of_rank[output] = true;
    }
  }
  first_.resize(graph_.term_count(), kNone);
  Numbers names;
  Numbers places;
  const auto number = [](Numbers& table, std::string_view text, std::uint64_t more) {
    return table.emplace(Text{text, more}, static_cast<std::uint32_t>(table.size())).first->second;
  };
  // The numbers for a single result of each node of the first rank: mostly the others are like it.
  struct Known {
    std::uint32_t name = kNoNode, place = kNoNode;
  };
  const graph::Nodes& first = lowered.graphs.front()->nodes;
  std::vector<Known> of_first(first.size());
  for (const TensorRef& tensor : lowered.tensors()) {
    const TermId term = lowered.term(tensor);
    if (term == kNoTerm || lowered.nodes[tensor.rank][tensor.node].kind == graph::Kind::blocked) {
      continue;
    }
    const graph::Node& node = lowered.node(tensor);
    const auto index = static_cast<std::uint32_t>(tensors_.size());
    first_[term] = std::min(first_[term], index);
    tensors_.push_back(tensor);
    output_.push_back(outputs[tensor.rank][tensor.node]);
    const bool alike = tensor.result == 0 && tensor.node < first.size();
    Known numbers = alike ? of_first[tensor.node] : Known();
    const bool same = alike && &node == &first[tensor.node];
    if (numbers.name == kNoNode || (!same && node.name != first[tensor.node].name)) {
      numbers.name = number(names, node.name, tensor.result);
    }
    if (numbers.place == kNoNode || (!same && node.op != first[tensor.node].op)) {
      numbers.place = number(places, node.op, std::uint64_t{tensor.node} << 32 | tensor.result);
    }
    if (alike && tensor.rank == 0) {
      of_first[tensor.node] = numbers;
    }
    joint.add_owner(term, Owner{static_cast<int>(tensor.rank), index, numbers.name, numbers.place});
  }
}

void DistributedNames::look_inside() const {
  inside_.emplace();
  for (const TensorRef& tensor : tensors_) {
    const auto known = [&](TermId t) { return is_tensor(t) || inside_->contains(t); };
    for_each_inside(graph_, lowered_.term(tensor), known, [&](TermId t) { inside_->emplace(t, tensor); });
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

std::optional<TensorRef> DistributedNames::tensor_at(TermId term) const {
  return is_tensor(term) ? std::optional(tensors_[first_[term]]) : std::nullopt;
}

Place DistributedNames::place(TermId term) const {
  const bool named = is_tensor(term);
  if (!named && !inside_) {
    look_inside();
  }
  if (!named && !inside_->contains(term)) {
    return {};
  }
  const TensorRef& tensor = named ? tensors_[first_[term]] : inside_->at(term);
  const graph::Node& node = lowered_.node(tensor);
  const std::string result = node.several ? "[" + std::to_string(tensor.result) + "]" : "";
  return {static_cast<int>(tensor.rank), node.name + result, node.op, node.loc, {}};
}

}  // namespace entangle::infer
