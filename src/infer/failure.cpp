#include "failure.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "nearest.h"

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

// Of the operators without a relation, how many are compared with what the ranks have.
constexpr std::size_t kFollowed = 3;

// "; did you mean `aten.mm.default`?", or "". An operator of another spelling, or without its overload, is
// nearer than one that differs in letters.
std::string did_you_mean(const rules::RuleSet& rules, const std::string& op) {
  std::string plain = op;
  for (std::size_t at = plain.find("::"); at != std::string::npos; at = plain.find("::")) {
    plain.replace(at, 2, ".");
  }
  for (const char* prefix : {"torch.ops.", "torch."}) {
    if (plain.starts_with(prefix)) {
      plain = plain.substr(std::string_view(prefix).size());
    }
  }
  std::vector<std::string> names;
  for (std::size_t k = 0; k < rules.lowerings().size(); ++k) {
    names.emplace_back(rules.lowerings().head(k).op);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  for (const std::string& spelling : {plain, "aten." + plain}) {
    for (const std::string& name : {spelling, spelling + ".default", spelling + ".Tensor"}) {
      if (std::ranges::binary_search(names, name)) {
        return "; did you mean `" + name + "`?";
      }
    }
  }
  const std::string near = support::did_you_mean(plain, names);
  return near.empty() ? "" : "; " + near;
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

Localisation::Localisation(Programs& programs, Walk& walk, Outputs& outputs, const egraph::Program& program,
                           const egraph::Limits& limits)
    : programs_(programs), walk_(walk), outputs_(outputs), program_(program), limits_(limits) {}

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

std::string Localisation::reason(NodeIndex node) const {
  const graph::LoweredNode& lowered = programs_.lowered_sequential.nodes[0][node];
  const std::string& op = programs_.sequential_graph().nodes[node].op;
  switch (lowered.kind) {
    case graph::Kind::leaf:
      return "nothing is known of this tensor";
    case graph::Kind::blocked:
      return "nothing is known of this tensor" + (lowered.reason.empty() ? "" : ": " + lowered.reason);
    case graph::Kind::opaque: {
      const rules::RuleSet& rules = programs_.graph->rules();
      if (!rules.lowerings_of(op).empty()) {
        return "nothing is known of what it computes: " + lowered.reason;
      }
      return "no rule describes `" + op + "`" + did_you_mean(rules, op);
    }
    default:
      return "no way was found to put it together from tensors of the ranks";
  }
}

std::string Localisation::about_sum(NodeIndex node, const Outputs::Relation& sum) const {
  const std::string& operand = programs_.sequential_graph().nodes[node].name;
  const auto is_input = [&](const graph::TensorRef& leaf) {
    const std::vector<NodeIndex>& inputs = programs_.ranks[leaf.rank].inputs;
    return std::ranges::find(inputs, leaf.node) != inputs.end();
  };
  const auto is_sum = [&](const relation::RelatedForm& form) {
    const std::vector<relation::Clean>& all = form.expansion.alternatives;
    return std::ranges::all_of(all, [&](const relation::Clean& clean) {
      return !clean.is_leaf() && programs_.graph->rules().op(clean.op).elementwise;
    });
  };
  if (std::ranges::all_of(sum.leaves, is_input)) {
    return "`" + operand + "` is a sum of the ranks' inputs by the manifest (" + sum.text +
           "): is that meant?";
  }
  for (const graph::TensorRef& leaf : sum.leaves) {
    const graph::Graph& graph = programs_.ranks[leaf.rank];
    for (NodeIndex user = leaf.node + 1; user < graph.nodes.size(); ++user) {
      bool uses = false;
      graph::for_each_operand(graph.nodes[user], [&](NodeIndex ref) { uses = uses || ref == leaf.node; });
      const graph::TensorRef tensor{leaf.rank, user, 0};
      if (!uses || !is_collective(programs_, tensor)) {
        continue;
      }
      const auto reduction = reduction_of(programs_, tensor);
      return "`" + operand + "` is the sum " + sum.text + ", which " + with_place(programs_, tensor) +
             (reduction && *reduction != "sum"
                  ? " reduces with `" + *reduction + "`: is `sum` meant?"
                  : " does not give: is it the right collective, over the right ranks?");
    }
  }
  const std::string said = "`" + operand + "` is known only as a sum over ranks";
  for (const relation::Related& input : programs_.resolved.inputs) {
    if (std::ranges::any_of(input.forms, is_sum) &&
        depends(programs_.sequential_graph(), node, input.tensor)) {
      return said + ", as the manifest says of `" + programs_.sequential_graph().nodes[input.tensor].name +
             "`: is that meant, or is an all-reduce missing?";
    }
  }
  return said + ": is an all-reduce missing?";
}

std::vector<std::string> Localisation::not_understood(const std::vector<graph::TensorRef>& tensors,
                                                      graph::Kind kind) const {
  std::vector<std::string> result;
  for (std::uint32_t rank = 0; rank < programs_.ranks.size(); ++rank) {
    const graph::Graph& graph = programs_.ranks[rank];
    for (NodeIndex user = 0; user < graph.nodes.size(); ++user) {
      const graph::LoweredNode& lowered = programs_.lowered_ranks.nodes[rank][user];
      if (lowered.kind != kind) {
        continue;
      }
      bool uses = false;
      graph::for_each_operand(graph.nodes[user], [&](NodeIndex ref) {
        uses = uses || std::ranges::any_of(tensors, [&](const graph::TensorRef& tensor) {
                 return tensor.rank == rank && tensor.node == ref;
               });
      });
      if (uses) {
        const rules::RuleSet& rules = programs_.graph->rules();
        const std::string& op = graph.nodes[user].op;
        const std::string why = rules.lowerings_of(op).empty()
                                    ? "no rule describes `" + op + "`" + did_you_mean(rules, op)
                                    : lowered.reason;
        result.push_back("nothing is known of " + with_place(programs_, {rank, user, 0}) + ": " + why);
      }
    }
    if (!result.empty()) {
      return result;  // mostly the other ranks do the same
    }
  }
  return result;
}

std::string Localisation::about_range(NodeIndex node) const {
  // Where it is computed from one input of integers, that is what the manifest can speak of.
  const graph::Graph& graph = programs_.sequential_graph();
  std::vector<NodeIndex> from;
  for (const NodeIndex input : graph.inputs) {
    const TermId id = term(input);
    if (id != kNoTerm && tensor::is_integer(programs_.graph->type(id).dtype) && depends(graph, node, input)) {
      from.push_back(input);
    }
  }
  const std::string& name = graph.nodes[from.size() == 1 ? from.front() : node].name;
  return "nothing is known of the range of `" + name + "`: if there is one, state it under `assume` (`" +
         name + " in [0, N)`)";
}

std::vector<std::string> Localisation::hints(NodeIndex at, const std::vector<NodeIndex>& unresolved) {
  std::vector<graph::TensorRef> around;
  std::vector<std::string> sums;
  for (const NodeIndex operand : operands(at)) {
    if (term(operand) == kNoTerm) {
      continue;
    }
    const std::vector<Outputs::Relation> known = outputs_.relations_of(term(operand));
    for (const Outputs::Relation& relation : known) {
      around.insert(around.end(), relation.leaves.begin(), relation.leaves.end());
    }
    const bool sums_only = !known.empty() && std::ranges::all_of(known, [](const auto& relation) {
      return relation.partial_sum;
    });
    if (sums_only && !unresolved.empty()) {
      sums.push_back(about_sum(operand, known.front()));
    }
  }
  for (const TermId candidate : walk_.considered(term(at))) {
    if (const auto tensor = programs_.distributed->tensor_at(candidate)) {
      around.push_back(*tensor);
    }
  }
  // What a collective that is not understood gives may be just what is looked for.
  std::vector<std::string> result = not_understood(around, graph::Kind::blocked);
  if (!result.empty()) {
    return result;
  }
  std::vector<NodeIndex> tried = unresolved.empty() ? std::vector{at} : unresolved;
  tried.resize(std::min(tried.size(), kFollowed));
  for (const NodeIndex node : tried) {
    if (auto near = nearest(programs_, walk_, program_, limits_, node)) {
      result.push_back(std::move(*near));
      break;
    }
  }
  if (result.empty()) {
    result = std::move(sums);
  }
  const std::vector<std::string> opaque = not_understood(around, graph::Kind::opaque);
  result.insert(result.end(), opaque.begin(), opaque.end());
  // Indices that may be anything, a loss's "ignore me" among them.
  for (const NodeIndex operand : operands(at)) {
    const TermId id = term(operand);
    const bool open = id != kNoTerm && tensor::is_integer(programs_.graph->type(id).dtype) &&
                      !programs_.joint->of_constants(id) &&
                      !(programs_.graph->interval(id).low && programs_.graph->interval(id).high);
    if (open && result.empty() && !unresolved.empty()) {
      result.push_back(about_range(operand));
    }
  }
  return result;
}

Failing Localisation::describe(NodeIndex output, const OutputReport& report) {
  Failing failing;
  const std::vector<NodeIndex> nodes = cone(output);
  const NodeIndex at = culprit(output);
  if (nodes.empty()) {
    failing.reason =
        report.notes.empty() ? "a relation was found, but not the expected one" : report.notes.front();
  } else {
    failing.reason = reason(at);
  }
  failing.at = place(at, true);
  std::vector<NodeIndex> chain;
  for (const NodeIndex node : nodes) {
    if (node >= at) {
      failing.chain.push_back(place(node, false));
      chain.push_back(node);
    }
  }
  for (const NodeIndex operand : operands(at)) {
    const TermId id = term(operand);
    if (id == kNoTerm) {
      continue;
    }
    failing.operands.push_back(place(operand, true));
    const auto value = programs_.graph->uniform(id);
    if (value && failing.operands.back().relations.empty()) {
      failing.operands.back().relations.push_back(sym::to_string(*value));
    }
  }
  std::set<std::pair<int, std::string>> considered;
  for (const TermId candidate : walk_.considered(term(at))) {
    Place where = programs_.distributed->place(candidate);
    if (!where.tensor.empty() && considered.emplace(where.rank, where.tensor).second) {
      failing.considered.push_back(std::move(where));
    }
  }
  // A sum that an all-reduce would add up says it all.
  if (failing.reason != kPartialHint) {
    failing.hints = hints(at, chain);
  }
  return failing;
}

}  // namespace entangle::infer
