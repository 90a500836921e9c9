#include "egraph/print.h"

#include <limits>

#include "entangle/support/text.h"

namespace entangle::egraph {

std::string Printer::application(rules::OpId op, const tensor::Attr& attrs,
                                 const std::vector<std::string>& operands) const {
  std::string text = graph_.rule_set.op(op).name + "(" + support::join(operands, ", ");
  std::vector<std::string> values;
  if (attrs.kind() == tensor::Attr::Kind::list) {
    for (const tensor::Attr& attr : attrs.as_list()) {
      values.push_back(tensor::to_string(attr));
    }
  }
  if (!values.empty()) {
    text += "; " + support::join(values, ", ");
  }
  return text + ")";
}

std::string Printer::original(TermId id) const {
  std::size_t budget = kBudget;
  return original(id, budget);
}

std::string Printer::original(TermId id, std::size_t& budget) const {
  const Node& node = graph_.nodes[id];
  if (node.op == rules::kNoOp) {
    return graph_.labels[node.hash];
  }
  if (budget == 0) {
    return "t" + std::to_string(id);
  }
  --budget;
  std::vector<std::string> operands;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    operands.push_back(original(node.given[i], budget));
  }
  return application(node.op, node.attrs, operands);
}

void Printer::find_costs() {
  constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max() / 2;
  cost_.assign(graph_.nodes.size(), kUnknown);
  choice_.assign(graph_.nodes.size(), kNoTerm);
  for (bool changed = true; changed;) {
    changed = false;
    for (TermId id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (node.state == NodeState::dead) {
        continue;
      }
      std::uint64_t cost = 1;
      for (const TermId child : node.span()) {
        cost += cost_[graph_.find(child)];
      }
      const TermId root = graph_.find(id);
      if (cost < cost_[root]) {
        cost_[root] = static_cast<std::uint32_t>(cost);
        choice_[root] = id;
        changed = true;
      }
    }
  }
}

std::string Printer::cheapest(TermId id) {
  if (cost_.empty()) {
    find_costs();
  }
  const TermId choice = choice_[graph_.find(id)];
  ENTANGLE_CHECK(choice != kNoTerm, "a class without a term");
  const Node& node = graph_.nodes[choice];
  if (node.op == rules::kNoOp) {
    return graph_.labels[node.hash];
  }
  std::vector<std::string> operands;
  for (const TermId child : node.span()) {
    operands.push_back(cheapest(child));
  }
  return application(node.op, node.attrs, operands);
}

std::string EGraph::print(TermId id) const {
  return Printer(*impl_).cheapest(id);
}

std::string EGraph::print_original(TermId id) const {
  return Printer(*impl_).original(id);
}

}  // namespace entangle::egraph
