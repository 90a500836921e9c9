#include "definedness.h"

#include <optional>
#include <set>

#include "entangle/eval/element.h"
#include "entangle/smt/bounds.h"
#include "entangle/smt/solver.h"

namespace entangle::infer {
namespace {

struct Bounded {
  TermId index = kNoTerm;
  sym::Int size;  // indices must be in 0 .. size - 1
};

// The operand that holds the indices and the size of the axis looked up, by the declarations of `take` and
// `put_add`: the second operand; the axis behind the batch axes, or the attribute `size`.
Bounded bounded(const EGraph& graph, TermId lookup) {
  const auto node = graph.original(lookup);
  const rules::Operator& op = graph.rules().op(node.op);
  const auto attrs = node.attrs.as_list();
  for (std::size_t k = 0; k < op.attributes.size(); ++k) {
    if (op.attributes[k].name == "size") {
      return {node.children[1], attrs[k].as_int()};
    }
  }
  const auto batch = static_cast<std::size_t>(attrs[0].as_int().value());
  return {node.children[1], graph.type(node.children[0]).shape.at(batch)};
}

bool inside(const EGraph& graph, const Bounded& lookup) {
  const term::Interval interval = graph.interval(lookup.index);
  if (interval.low && interval.high && smt::is_yes(graph.oracle().nonnegative(*interval.low)) &&
      smt::is_yes(graph.oracle().less(*interval.high, lookup.size))) {
    return true;
  }
  eval::Elements elements(graph);
  const auto at = elements.fresh_index(lookup.index);
  const smt::Term element = elements.at(lookup.index, at);
  const smt::Term in_range = (smt::Term::integer(0) <= element) && (element < elements.integer(lookup.size));
  if (smt::follows_by_bounds(elements.facts(), in_range)) {
    return true;
  }
  smt::Solver solver;
  for (const smt::Term& fact : elements.facts()) {
    solver.add(fact);
  }
  return solver.check_implies(in_range) == smt::Answer::unsat;
}

std::string title(const graph::Node& node) {
  return "the look-up `" + node.name + "` (" + node.op + (node.loc.empty() ? "" : ", " + node.loc) + ")";
}

// Gives an interval to a class and to everything that it is rearranged from, as far as each of their elements
// is an element of the class.
void narrow(Programs& programs, TermId term, const term::Interval& interval, std::set<TermId>& seen) {
  EGraph& graph = *programs.graph;
  if (!seen.insert(graph.find(term)).second) {
    return;
  }
  graph.set_interval(term, interval);
  for (const TermId member : graph.node_ids(term)) {
    const auto node = graph.original(member);
    if (node.op == rules::kNoOp || !graph.rules().op(node.op).rearranges) {
      continue;
    }
    sym::Int operands = 0;
    for (const TermId child : node.children) {
      operands += sym::product(graph.type(child).shape);
    }
    if (smt::is_yes(graph.oracle().less_equal(operands, sym::product(graph.type(member).shape)))) {
      for (const TermId child : std::vector<TermId>(node.children.begin(), node.children.end())) {
        narrow(programs, child, interval, seen);
      }
    }
  }
}

// The terms that matter: everything, unless `given` cuts the programs. Then only what the expected tensors
// are computed from, down to the tensors under `given`: what lies behind these is asserted, not computed.
std::optional<std::set<TermId>> relevant_terms(Programs& programs) {
  if (programs.resolved.given.empty() || programs.resolved.expect.empty()) {
    return std::nullopt;
  }
  std::vector<TermId> stack = programs.mentioned(programs.resolved.expect);
  const std::vector<TermId> asserted = programs.mentioned(programs.resolved.given);
  const std::set<TermId> cut(asserted.begin(), asserted.end());
  std::set<TermId> relevant;
  while (!stack.empty()) {
    const TermId term = stack.back();
    stack.pop_back();
    if (!cut.contains(term) && relevant.insert(term).second) {
      const auto children = programs.graph->original(term).children;
      stack.insert(stack.end(), children.begin(), children.end());
    }
  }
  return relevant;
}

}  // namespace

std::vector<std::string> assume_sequential_lookups(Programs& programs) {
  const EGraph& graph = *programs.graph;
  std::vector<std::string> impossible;
  for (const graph::LookUp& lookup : programs.lowered_sequential.lookups) {
    const Bounded range = bounded(graph, lookup.term);
    const term::Interval known = graph.interval(range.index);
    if ((known.high && smt::is_yes(graph.oracle().less(*known.high, 0))) ||
        (known.low && smt::is_yes(graph.oracle().less_equal(range.size, *known.low)))) {
      impossible.push_back("the sequential program: " + title(programs.lowered_sequential.node(lookup.at)) +
                           " is never in range 0.." + sym::to_string(range.size - 1));
      continue;
    }
    std::set<TermId> seen;
    narrow(programs, range.index, {sym::Int(0), range.size - 1}, seen);
  }
  return impossible;
}

std::vector<std::string> open_lookups(Programs& programs) {
  assume_sequential_lookups(programs);  // of what has been found equal since, too
  EGraph& graph = *programs.graph;
  std::vector<std::string> open;
  std::set<std::pair<TermId, std::string>> shown;
  const auto relevant = relevant_terms(programs);
  for (const graph::LookUp& lookup : programs.lowered_ranks.lookups) {
    if (relevant && !relevant->contains(lookup.term)) {
      continue;
    }
    const Bounded range = bounded(graph, lookup.term);
    if (!shown.emplace(graph.find(range.index), sym::to_string(range.size)).second) {
      continue;
    }
    if (inside(graph, range)) {
      continue;
    }
    open.push_back("rank " + std::to_string(lookup.at.rank) + ": " +
                   title(programs.lowered_ranks.node(lookup.at)) + " is not shown to be in range 0.." +
                   sym::to_string(range.size - 1) +
                   ": mask its index, or state the range of the indices under `assume`");
  }
  return open;
}

}  // namespace entangle::infer
