#include "relation/names.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "entangle/support/text.h"
#include "relation/failure.h"

namespace entangle::relation {

namespace {

using graph::Graph;
using graph::NodeIndex;

// Unless it is the name of a tensor.
bool is_glob(const std::string& name) {
  return name.find_first_of("*?[") != std::string::npos;
}

std::vector<NodeIndex> candidates(const Graph& sequential, Section section) {
  std::vector<NodeIndex> result;
  if (section == Section::outputs || section == Section::expect) {
    result = sequential.outputs;
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }
  for (NodeIndex node = 0; node < sequential.nodes.size(); ++node) {
    if (section == Section::given || is_input(sequential.nodes[node])) result.push_back(node);
  }
  return result;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<NodeIndex>& nodes) {
  std::vector<std::string> result;
  for (const NodeIndex node : nodes) result.push_back(graph.nodes[node].name);
  return result;
}

// The nearest names, or all of them where they are few and none is near.
std::string suggest(const std::string& name, const std::vector<std::string>& names, const std::string& what) {
  std::string result = support::did_you_mean(name, names);
  if (!result.empty() || names.empty()) return result;
  std::vector<std::string> first;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) first.push_back("`" + names[i] + "`");
  if (first.size() < names.size()) first.push_back(std::to_string(names.size() - first.size()) + " more");
  return what + " " + support::join_list(first);
}

[[noreturn]] void unknown(const Graph& sequential, Section section, const Text& name) {
  if (is_glob(name.text)) {
    static constexpr const char* kWhat[] = {"input", "tensor", "output", "output"};
    const std::string what = kWhat[static_cast<std::size_t>(section)];
    fail(Problem::no_match, name.span, "no " + what + " of the sequential graph matches `" + name.text + "`",
         suggest(name.text, names_of(sequential, candidates(sequential, section)), "its " + what + "s are"));
  }
  const bool output = section == Section::outputs || section == Section::expect;
  // Nearest among the names the section is meant for, then among all.
  std::vector<NodeIndex> likely = candidates(sequential, section);
  std::string suggestion = support::did_you_mean(name.text, names_of(sequential, likely));
  if (suggestion.empty()) suggestion = support::did_you_mean(name.text, sequential.node_names());
  if (suggestion.empty()) {
    suggestion = suggest(name.text, names_of(sequential, likely), output ? "its outputs are" : "there are");
  }
  fail(output ? Problem::unknown_output : Problem::unknown_tensor, name.span,
       "the sequential graph has no tensor `" + name.text + "`", std::move(suggestion));
}

}  // namespace

bool is_input(const graph::Node& node) {
  return node.op == "placeholder" || node.op == "constant";
}

std::vector<NodeIndex> match(const Graph& sequential, Section section, const Text& name) {
  if (const NodeIndex node = sequential.find(name.text); node != graph::kNoNode) return {node};
  std::vector<NodeIndex> result;
  if (is_glob(name.text)) {
    for (const NodeIndex node : candidates(sequential, section)) {
      if (fnmatch(name.text.c_str(), sequential.nodes[node].name.c_str(), 0) == 0) result.push_back(node);
    }
  }
  if (result.empty()) unknown(sequential, section, name);
  return result;
}

std::vector<Assigned> assign(const Graph& sequential, Section section, const std::vector<Entry>& entries) {
  std::map<NodeIndex, const Entry*> assigned;
  std::set<NodeIndex> exact;
  for (const Entry& entry : entries) {
    const bool named = sequential.find(entry.name.text) != graph::kNoNode;
    for (const NodeIndex node : match(sequential, section, entry.name)) {
      if (!named && exact.contains(node)) continue;
      assigned[node] = &entry;
      if (named) exact.insert(node);
    }
  }
  std::vector<Assigned> result;
  for (const auto& [node, entry] : assigned) result.push_back({node, entry});
  return result;
}

NodeIndex find_leaf(const Sides& sides, const Clean& leaf) {
  const Graph& graph = sides.ranks.at(leaf.leaf.rank);
  const NodeIndex node = graph.find(leaf.leaf.name);
  if (node != graph::kNoNode) return node;
  fail(Problem::unknown_leaf, leaf.span,
       "rank " + std::to_string(leaf.leaf.rank) + " has no tensor `" + leaf.leaf.name + "` (" + graph.path +
           ")",
       support::did_you_mean(leaf.leaf.name, graph.node_names()));
}

std::optional<TensorId> find_tensor(const Sides& sides, const std::string& name) {
  if (const NodeIndex node = sides.sequential.find(name); node != graph::kNoNode)
    return TensorId{std::nullopt, node};
  if (const std::optional<Leaf> leaf = parse_leaf(name); leaf && leaf->rank < sides.ranks.size()) {
    const NodeIndex node = sides.ranks[leaf->rank].find(leaf->name);
    if (node != graph::kNoNode) return TensorId{leaf->rank, node};
  }
  return std::nullopt;
}

std::vector<std::string> symbols(const Sides& sides) {
  std::set<std::string> names;
  const auto add = [&](sym::Int value) {
    if (value.is_constant()) return;
    for (const sym::Int symbol : sym::symbols_of(value)) names.insert(symbol.name());
  };
  const auto add_graph = [&](const Graph& graph) {
    for (const graph::Node& node : graph.nodes) {
      if (node.size) add(*node.size);
      for (const auto& type : node.results) {
        if (!type) continue;
        for (const sym::Int size : type->shape) add(size);
      }
    }
  };
  add_graph(sides.sequential);
  for (const Graph& graph : sides.ranks) add_graph(graph);
  return {names.begin(), names.end()};
}

}  // namespace entangle::relation
