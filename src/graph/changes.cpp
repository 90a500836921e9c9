// Operators that change their operands.
#include <algorithm>

#include "lowerer.h"

namespace entangle::graph {

// The tensors that a node's results may be views of, as far as the terms show it: those whose elements they
// hold, which may be picked one by one, and the operands of operators nothing is known of. (A join copies its
// operands, but a window of elements is one, too.)
std::set<TermId> Lowerer::bases(std::uint32_t rank, NodeIndex node) const {
  std::set<TermId> result;
  for_each_below(ranks_[rank].terms(node), [&](TermId term, const term::NodeView& view) {
    const std::span<const TermId> children = view.children;
    const bool known = view.op != rules::kNoOp && !children.empty();
    const bool opaque = view.op != rules::kNoOp && view.op == opaque_;
    if (known && view.op == take_) {
      return children.first(1);
    }
    const bool holds_operands = known && (opaque || target_.rules().op(view.op).rearranges);
    if (!holds_operands || opaque) {
      result.insert(target_.find(term));
    }
    return holds_operands ? children : std::span<const TermId>();
  });
  return result;
}

// Its bases, but constants by names of their own: a node made one if none of its operands holds it.
std::set<TermId> Lowerer::memory(std::uint32_t rank, NodeIndex node) {
  RankState& state = ranks_[rank];
  std::set<TermId> result;
  for (const TermId base : bases(rank, node)) {
    const term::NodeView view = target_.original(base);
    if (view.op == rules::kNoOp || !view.children.empty()) {
      result.insert(base);
      continue;
    }
    bool made = true;
    const auto call = [&](TermId name) {
      state.constants[node].emplace_back(base, name);
      result.insert(name);
      made = false;
    };
    for_each_operand(node_of(rank, node), [&](NodeIndex operand) {
      bool named = false;
      if (const auto held = state.constants.find(operand); held != state.constants.end()) {
        for (const auto& [constant, name] : std::vector(held->second)) {
          if (target_.find(constant) == base) {
            call(name);
            named = true;
          }
        }
      }
      // Of what has become a constant since it was held it is not known which.
      if (!named && bases(rank, operand).contains(base)) {
        call(base);
      }
    });
    if (made) {
      call(--state.last_constant);
    }
  }
  return result;
}

// Says what the nodes before `end` hold, as far as it is not said yet.
void Lowerer::hold_nodes(std::uint32_t rank, NodeIndex end) {
  RankState& state = ranks_[rank];
  const auto& merges = target_.merge_log();
  for (; state.seen_merges < merges.size(); ++state.seen_merges) {
    state.aliases.same(merges[state.seen_merges].first, merges[state.seen_merges].second);
  }
  for (const NodeIndex node : state.renewed) {
    state.aliases.hold(node, bases(rank, node));
  }
  state.renewed.clear();
  while (state.aliases.held() < end) {
    const NodeIndex node = state.aliases.held();
    state.aliases.hold(node, memory(rank, node));
    if (lowered_.nodes[rank][node].kind == Kind::pick) {
      const NodeIndex source = node_of(rank, node).args[0].ref()->node;
      if (state.aliases.linked(source)) {
        state.aliases.link(node, source);
      }
    }
  }
}

// Whether a node after this one names an earlier one, or it is an output.
bool Lowerer::needed_after(std::uint32_t rank, NodeIndex node, NodeIndex earlier) const {
  return ranks_[rank].last_use[earlier] > node;
}

// The earlier nodes some of whose elements these operands of a node hold, which it changes, or their views.
// What a node that changes operands by its name returns shares them, too.
std::vector<NodeIndex> Lowerer::sharing(std::uint32_t rank, NodeIndex node,
                                        const std::vector<NodeIndex>& operands) {
  RankState& state = ranks_[rank];
  const Graph& graph = *state.graph;
  if (state.last_use.empty()) {
    state.last_use.resize(graph.nodes.size(), 0);
    for (NodeIndex user = 0; user < graph.nodes.size(); ++user) {
      for_each_operand(graph.nodes[user], [&](NodeIndex operand) { state.last_use[operand] = user; });
    }
    for (const NodeIndex output : graph.outputs) {
      state.last_use[output] = kNoNode;
    }
  }
  hold_nodes(rank, node);
  return state.aliases.change(operands, node, operation_of(rank, node).may_change_operands,
                              [&](NodeIndex earlier) { return needed_after(rank, node, earlier); });
}

// An operator that works in place by its name has run, with `mutates`: what it changed has its new value in
// the results of the operator. Later nodes that name the old tensor, or a view of it, would mean the new
// value: they get an unknown.
void Lowerer::retire(std::uint32_t rank, NodeIndex node) {
  const Graph& graph = *ranks_[rank].graph;
  const Node& at = node_of(rank, node);
  if (at.mutates.empty() || !operation_of(rank, node).changes_operands) {
    return;
  }
  std::vector<NodeIndex> operands;
  for (std::size_t k = 0; k < at.mutates.size(); ++k) {
    if (const Arg* arg = mutated_argument(at, k)) {
      for_each_ref(*arg, [&](NodeIndex operand) { operands.push_back(operand); });
    }
  }
  for (const NodeIndex earlier : sharing(rank, node, operands)) {
    if (!needed_after(rank, node, earlier)) {
      continue;
    }
    const std::string reason = "`" + at.name + "` (" + at.op +
                               ") changes it in place: its new value is a result of `" + at.name + "`";
    if (std::find(graph.outputs.begin(), graph.outputs.end(), earlier) != graph.outputs.end()) {
      block(rank, earlier, reason);
    } else {
      const std::span<const TermId> before = ranks_[rank].terms(earlier);
      std::vector<TermId> terms(before.begin(), before.end());
      for (std::size_t k = 0; k < terms.size(); ++k) {
        if (terms[k] != kNoTerm) {
          const TensorRef ref{rank, earlier, static_cast<std::uint32_t>(k)};
          terms[k] = target_.fresh(target_.type(terms[k]), lowered_.describe(ref));
          lowered_.blocked.push_back({ref, reason});
        }
      }
      ranks_[rank].stale[earlier] = std::move(terms);
    }
    ranks_[rank].renewed.push_back(earlier);
  }
}

// The arguments of a node for parameters that the declaration marks as changed.
static std::vector<const Arg*> marked_arguments(const Node& at, const rules::Lowering& lowering) {
  std::vector<const Arg*> result;
  for (std::size_t k = 0; k < lowering.parameters.size(); ++k) {
    if (!lowering.parameters[k].changed) {
      continue;
    }
    if (const Arg* arg = k < at.args.size() ? &at.args[k] : at.kwarg(lowering.parameters[k].name)) {
      result.push_back(arg);
    }
  }
  return result;
}

// What a node without `mutates` may have changed: the operands that are marked as changed by the declaration
// that applied, or by any when none did. Where it changes operands by its name or gives no result, when it is
// described the operands of its first argument, or those it is given to write to; else all, as where it is a
// collective that is not described.
std::vector<NodeIndex> Lowerer::changed_operands(std::uint32_t rank, NodeIndex node,
                                                 const rules::Lowering* by) {
  const Node& at = node_of(rank, node);
  std::vector<NodeIndex> operands;
  const auto add = [&](NodeIndex operand) {
    if (!ranks_[rank].sizes[operand]) {
      operands.push_back(operand);
    }
  };
  const auto add_marked = [&](const rules::Lowering& lowering) {
    for (const Arg* arg : marked_arguments(at, lowering)) {
      for_each_ref(*arg, add);
    }
  };
  // Tensors by keywords that no declaration knows.
  const auto add_foreign = [&] {
    for (const auto& keyword : at.kwargs) {
      if (is_foreign(at.op, keyword)) {
        for_each_ref(keyword.second, add);
      }
    }
  };
  if (by != nullptr) {
    add_marked(*by);
  } else {
    for (const std::size_t index : operation_of(rank, node).marking) {
      const rules::Lowering& lowering = target_.rules().lowerings()[index];
      add_marked(lowering);
      if (std::ranges::any_of(lowering.parameters, &rules::Parameter::changed)) {
        add_foreign();  // what is changed may go by another name there
      }
    }
  }
  if (!operation_of(rank, node).may_change_operands && !without_result(at) &&
      !is_unknown_collective(rank, node)) {
    return operands;
  }
  if (operation_of(rank, node).writes_keywords) {
    add_foreign();
  } else if (writes_out(at.op)) {
    for (const auto& [key, arg] : at.kwargs) {
      if (key.starts_with("out")) {
        for_each_ref(arg, add);
      }
    }
  } else if (by != nullptr && !at.args.empty()) {
    for_each_ref(at.args[0], add);
  }
  if (operands.empty()) {
    for_each_operand(at, add);
  }
  return operands;
}

// An operator without `mutates` has run: what it may have changed, and the views of that, are unknown from
// here on. `by`: the declaration that applied, if one did.
void Lowerer::spoil(std::uint32_t rank, NodeIndex node, const rules::Lowering* by) {
  const Node& at = node_of(rank, node);
  const std::vector<NodeIndex> changed =
      at.mutates.empty() ? changed_operands(rank, node, by) : std::vector<NodeIndex>();
  if (changed.empty()) {
    return;
  }
  const std::string reason =
      "`" + at.name + "` (" + at.op + ") " +
      (without_result(at) ? "gives no result: it may change it" : "changes it in place and does not say so");
  for (const NodeIndex earlier : sharing(rank, node, changed)) {
    if (lowered_.nodes[rank][earlier].kind != Kind::blocked || needed_after(rank, node, earlier)) {
      block(rank, earlier, reason);
      ranks_[rank].renewed.push_back(earlier);
    }
  }
}

}  // namespace entangle::graph
