#include "failure.h"

#include <algorithm>
#include <set>

namespace entangle::infer {
namespace {

using graph::kNoNode;
using graph::Node;
using graph::NodeIndex;

void add_refs(const Node& node, std::vector<NodeIndex>& out) {
  const auto add = [&](NodeIndex ref) {
    if (std::ranges::find(out, ref) == out.end()) {
      out.push_back(ref);
    }
  };
  for (const graph::Arg& arg : node.args) {
    graph::for_each_ref(arg, add);
  }
  for (const auto& [key, arg] : node.kwargs) {
    graph::for_each_ref(arg, add);
  }
}

}  // namespace

std::vector<NodeIndex> needed_nodes(const Programs& programs, const std::vector<NodeIndex>& wanted) {
  std::set<NodeIndex> needed;
  std::vector<NodeIndex> stack = wanted;
  while (!stack.empty()) {
    const NodeIndex node = stack.back();
    stack.pop_back();
    if (needed.insert(node).second && programs.resolved.given_for(node) == nullptr) {
      add_refs(programs.sequential_graph().nodes[node], stack);
    }
  }
  return {needed.begin(), needed.end()};
}

Localisation::Localisation(Programs& programs, Walk& walk, Outputs& outputs)
    : programs_(programs), walk_(walk), outputs_(outputs) {}

TermId Localisation::term(NodeIndex node) const {
  return programs_.lowered_sequential.term({0, node, 0});
}

bool Localisation::resolved(NodeIndex node) {
  const TermId id = term(node);
  return id == kNoTerm || walk_.resolved(id);
}

std::vector<NodeIndex> Localisation::operands(NodeIndex node) const {
  const auto& nodes = programs_.sequential_graph().nodes;
  std::vector<NodeIndex> refs;
  add_refs(nodes[node], refs);
  std::vector<NodeIndex> result;
  for (const NodeIndex ref : refs) {
    if (nodes[ref].several) {
      add_refs(nodes[ref], result);
    } else {
      result.push_back(ref);
    }
  }
  return result;
}

std::vector<NodeIndex> Localisation::cone(NodeIndex node) {
  std::set<NodeIndex> found;
  std::vector<NodeIndex> stack{node};
  while (!stack.empty()) {
    const NodeIndex at = stack.back();
    stack.pop_back();
    if (resolved(at) || !found.insert(at).second) {
      continue;
    }
    const auto below = operands(at);
    stack.insert(stack.end(), below.begin(), below.end());
  }
  return {found.begin(), found.end()};
}

NodeIndex Localisation::culprit(NodeIndex output) {
  const std::vector<NodeIndex> nodes = cone(output);
  NodeIndex first = kNoNode;
  for (const NodeIndex node : nodes) {
    const auto below = operands(node);
    if (std::ranges::any_of(below, [&](NodeIndex n) { return std::ranges::binary_search(nodes, n); })) {
      continue;
    }
    // What a consumer was resolved in spite of is to blame only if nothing else is.
    if (!walk_.result().solved_across.contains(term(node))) {
      return node;
    }
    first = first == kNoNode ? node : first;
  }
  return first == kNoNode ? output : first;
}

Place Localisation::place(NodeIndex node, bool with_relations) {
  const auto& nodes = programs_.sequential_graph().nodes;
  Place place;
  place.tensor = nodes[node].name;
  place.op = nodes[node].op;
  place.loc = nodes[node].loc;
  if (programs_.lowered_sequential.nodes[0][node].kind == graph::Kind::pick) {
    std::vector<NodeIndex> refs;
    add_refs(nodes[node], refs);
    place.op = nodes[refs.front()].op;
    place.loc = place.loc.empty() ? nodes[refs.front()].loc : place.loc;
  }
  if (with_relations && term(node) != kNoTerm) {
    place.relations = outputs_.relations(term(node));
  }
  return place;
}

Failing Localisation::describe(NodeIndex output, const OutputReport& report) {
  Failing failing;
  const std::vector<NodeIndex> nodes = cone(output);
  const NodeIndex at = culprit(output);
  if (nodes.empty()) {
    failing.reason =
        report.notes.empty() ? "a relation was found, but not the expected one" : report.notes.front();
  } else if (const graph::Kind kind = programs_.lowered_sequential.nodes[0][at].kind;
             kind == graph::Kind::leaf || kind == graph::Kind::blocked) {
    failing.reason = "nothing is known of this tensor";
  } else {
    failing.reason = "no clean relation to the distributed program was found";
  }
  failing.at = place(at, true);
  for (const NodeIndex node : nodes) {
    if (node >= at) {
      failing.chain.push_back(place(node, false));
    }
  }
  for (const NodeIndex operand : operands(at)) {
    const TermId id = term(operand);
    if (id != kNoTerm && !programs_.joint->constant(id)) {
      failing.operands.push_back(place(operand, true));
    }
  }
  for (const Place& operand : failing.operands) {
    const auto is_sum = [](const std::string& relation) {
      return relation.find("add_n(") != std::string::npos;
    };
    if (!nodes.empty() && !operand.relations.empty() && std::ranges::all_of(operand.relations, is_sum)) {
      failing.reason +=
          "; `" + operand.tensor + "` is known only as a sum over ranks: is an all-reduce missing?";
    }
  }
  std::set<std::pair<int, std::string>> considered;
  for (const TermId candidate : walk_.considered(term(at))) {
    Place where = programs_.distributed->place(candidate);
    if (!where.tensor.empty() && considered.emplace(where.rank, where.tensor).second) {
      failing.considered.push_back(std::move(where));
    }
  }
  return failing;
}

}  // namespace entangle::infer
