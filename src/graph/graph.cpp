#include "entangle/graph/graph.h"

#include <algorithm>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>
#include <utility>

namespace entangle::graph {

const Arg* Node::kwarg(std::string_view key) const {
  for (const auto& [name_of, arg] : kwargs) {
    if (name_of == key) {
      return &arg;
    }
  }
  return nullptr;
}

const Arg* mutated_argument(const Node& node, std::size_t k) {
  if (const Arg* arg = node.kwarg(node.mutates[k])) {
    return arg;
  }
  std::size_t place = 0;
  for (std::size_t j = 0; j < k; ++j) {
    place += node.kwarg(node.mutates[j]) == nullptr ? 1 : 0;
  }
  return place < node.args.size() ? &node.args[place] : nullptr;
}

std::size_t mutated_tensors(const Node& node) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < node.mutates.size(); ++k) {
    const Arg* arg = mutated_argument(node, k);
    if (arg != nullptr && arg->list() != nullptr) {
      for_each_ref(*arg, [&](NodeIndex) { ++count; });
    } else {
      ++count;
    }
  }
  return count;
}

Nodes::Nodes(const Nodes& other) : nodes_(other.nodes_) {
  keep(other);
}

Nodes& Nodes::operator=(Nodes other) {
  std::swap(nodes_, other.nodes_);
  std::swap(own_, other.own_);
  std::swap(kept_, other.kept_);
  return *this;
}

void Nodes::keep(const Nodes& other) {
  const auto keep_block = [&](const std::shared_ptr<const Block>& block) {
    if (block != nullptr && std::ranges::find(kept_, block) == kept_.end()) {
      kept_.push_back(block);
    }
  };
  keep_block(other.own_);
  std::ranges::for_each(other.kept_, keep_block);
}

Node& Nodes::add(Node node) {
  if (own_ == nullptr) {
    own_ = std::make_shared<Block>();
  }
  Node& added = own_->emplace_back(std::move(node));
  nodes_.push_back(&added);
  return added;
}

void Nodes::add(const Nodes& other, NodeIndex node) {
  keep(other);
  nodes_.push_back(&other[node]);
}

NodeIndex Graph::find(std::string_view node_name) const {
  const auto found = names->find(node_name);
  return found == names->end() ? kNoNode : found->second;
}

support::Span Graph::span(NodeIndex node) const {
  return support::span_at(file, texts[node].name, texts[node].name_length);
}

support::Span Graph::span(NodeIndex node, const Arg& arg) const {
  return support::span_at(file, texts[node].offset + arg.offset);
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
  return nodes | ranges::views::transform(&Node::name) | ranges::to<std::vector>();
}

bool Graph::defines(NodeIndex node, sym::Int size) const {
  if (!size.is_symbol()) {
    return false;
  }
  const auto mentions = [&](const Node& earlier) {
    const auto in_type = [&](const std::optional<tensor::TensorType>& type) {
      return type && std::ranges::any_of(type->shape, [&](sym::Int s) { return sym::mentions(s, size); });
    };
    return std::ranges::any_of(earlier.results, in_type) ||
           (earlier.size && sym::mentions(*earlier.size, size));
  };
  return std::none_of(nodes.begin(), nodes.begin() + node, mentions);
}

std::string symbol_prefix(std::optional<std::size_t> rank) {
  return rank ? "r" + std::to_string(*rank) + "." : std::string();
}

}  // namespace entangle::graph
