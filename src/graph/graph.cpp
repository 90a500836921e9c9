#include "entangle/graph/graph.h"

namespace entangle::graph {

const Arg* Node::kwarg(std::string_view key) const {
  for (const auto& [name_of, arg] : kwargs) {
    if (name_of == key) {
      return &arg;
    }
  }
  return nullptr;
}

NodeIndex Graph::find(const std::string& node_name) const {
  const auto found = index.find(node_name);
  return found == index.end() ? kNoNode : found->second;
}

const Group* Graph::find_group(std::string_view group_name) const {
  for (const Group& group : groups) {
    if (group.name == group_name) {
      return &group;
    }
  }
  return nullptr;
}

std::vector<std::string> Graph::node_names() const {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const Node& node : nodes) {
    names.push_back(node.name);
  }
  return names;
}

std::string symbol_prefix(std::optional<std::size_t> rank) {
  return rank ? "r" + std::to_string(*rank) + "." : std::string();
}

}  // namespace entangle::graph
