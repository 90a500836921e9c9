#include "outputs.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "nearest.h"

namespace entangle::infer {
namespace {

using relation::CleanTerm;
using relation::CleanTermPtr;

const char* const kTwiceHint = "only by using an element of the ranks' outputs more than once";
const char* const kConstantHint = "it is a constant, which no output of the ranks holds";
const char* const kPermutedHint = "permuted: the ranks hold its elements in another order";

// How far around a tensor an equation with what is expected is looked for, small problems first.
struct Reach {
  int window;
  int reopen;
};
constexpr Reach kReaches[] = {{0, 0}, {2, 0}, {2, 1}, {4, 2}};

bool same_form(const relation::Clean& a, const relation::Clean& b) {
  return a.op == b.op && a.attrs == b.attrs && std::ranges::equal(a.children, b.children, same_form);
}

}  // namespace

bool depends(const graph::Graph& graph, graph::NodeIndex node, graph::NodeIndex on) {
  std::set<graph::NodeIndex> seen;
  std::vector<graph::NodeIndex> stack{node};
  while (!stack.empty()) {
    const graph::NodeIndex at = stack.back();
    stack.pop_back();
    if (at == on) {
      return true;
    }
    if (at > on && seen.insert(at).second) {
      graph::for_each_operand(graph.nodes[at], [&](graph::NodeIndex ref) { stack.push_back(ref); });
    }
  }
  return false;
}

Outputs::Outputs(Programs& programs, Walk& walk, const egraph::Program& program, const egraph::Limits& limits)
    : programs_(programs),
      joint_(*programs.joint),
      walk_(walk),
      oracle_(*programs.oracle),
      program_(program),
      limits_(limits) {}

bool Outputs::names_outputs_only(const relation::Clean& clean) const {
  return std::ranges::all_of(relation::leaves(clean), [&](const relation::Clean* leaf) {
    const graph::Graph& graph = programs_.ranks[leaf->leaf.rank];
    return std::ranges::find(graph.outputs, graph.find(leaf->leaf.name)) != graph.outputs.end();
  });
}

bool Outputs::counterparts(const relation::Leaf& a, const relation::Leaf& b) const {
  const graph::NodeIndex place_a = programs_.ranks[a.rank].find(a.name);
  const graph::NodeIndex place_b = programs_.ranks[b.rank].find(b.name);
  return a.name == b.name || (place_a == place_b && programs_.ranks[a.rank].nodes[place_a].op ==
                                                        programs_.ranks[b.rank].nodes[place_b].op);
}

// Place by place the terms of a sum must be counterparts on different ranks.
bool Outputs::sums_over_ranks(const relation::Clean& clean) const {
  if (!clean.is_leaf() && joint_.graph().rules().op(clean.op).elementwise) {
    std::vector<std::vector<const relation::Clean*>> leaves;
    for (const relation::Clean& term : clean.children) {
      leaves.push_back(relation::leaves(term));
      if (!same_form(clean.children.front(), term)) {
        return false;
      }
    }
    for (std::size_t place = 0; place < leaves.front().size(); ++place) {
      std::set<std::size_t> ranks;
      for (const auto& of_term : leaves) {
        if (!ranks.insert(of_term[place]->leaf.rank).second ||
            !counterparts(leaves.front()[place]->leaf, of_term[place]->leaf)) {
          return false;
        }
      }
    }
  }
  return std::ranges::all_of(clean.children,
                             [&](const relation::Clean& child) { return sums_over_ranks(child); });
}

CleanTermPtr Outputs::over_classes(const relation::Clean& clean) {
  auto term = std::make_shared<CleanTerm>();
  term->id = joint_.graph().find(programs_.build(clean));
  term->op = clean.op;
  term->attrs = clean.attrs;
  for (const relation::Clean& child : clean.children) {
    term->children.push_back(over_classes(child));
  }
  return term;
}

// Why an expectation that holds is none that the user can rely on; "" if it is one.
std::string Outputs::objection(const relation::Clean& clean, bool outputs_only) {
  if (outputs_only && !names_outputs_only(clean)) {
    return "it names a tensor that is no output of its rank";
  }
  if (!sums_over_ranks(clean)) {
    return "it adds tensors that are not counterparts of each other on different ranks";
  }
  std::unordered_map<TermId, std::vector<Owner>> outputs;
  relation::ExtractOptions options;
  options.owners = [&](TermId id) -> const std::vector<Owner>& {
    std::vector<Owner>& some = outputs[id];
    some.clear();
    std::ranges::copy_if(joint_.owners(id), std::back_inserter(some),
                         [&](const Owner& o) { return programs_.distributed->is_output(o); });
    return some;
  };
  if (outputs_only && !relation::uses_elements_once(*over_classes(clean), joint_.graph(), options)) {
    return "it uses an element more than once";
  }
  return "";
}

// Whether the elements are moved about: not put together in the order of the ranks, and of each tensor in its
// own order.
bool Outputs::permuted(LocalProblem& problem, const CleanTerm& clean, bool outputs_only, Last& last) {
  if (clean.is_leaf()) {
    std::optional<int> next;
    for (const Owner& owner : problem.owners(clean.id)) {
      if (owner.rank >= last.rank && (!outputs_only || programs_.distributed->is_output(owner))) {
        next = std::min(owner.rank, next.value_or(owner.rank));
      }
    }
    last.rank = next.value_or(last.rank);
    return !next;
  }
  const std::string& op = joint_.graph().rules().op(clean.op).name;
  if (op == "slice" && clean.children.front()->is_leaf()) {
    const TermId leaf = problem.graph().find(clean.children.front()->id);
    const sym::Int begin = clean.attrs.as_list()[1].as_int();
    if (leaf == last.sliced && smt::is_yes(oracle_.less(begin, last.begin))) {
      return true;
    }
    last.sliced = leaf;
    last.begin = begin;
  }
  static const std::set<std::string> kInOrder{"concat", "slice", "merge", "split", "squeeze", "bcast"};
  return !(clean.children.empty() || kInOrder.contains(op)) ||
         std::ranges::any_of(clean.children, [&](const CleanTermPtr& child) {
           return permuted(problem, *child, outputs_only, last);
         });
}

bool Outputs::follows(TermId term, TermId expected) {
  EGraph& graph = joint_.graph();
  graph.rebuild();
  for (const Reach& reach : kReaches) {
    if (graph.find(term) == graph.find(expected)) {
      return true;
    }
    Selection selection(joint_);
    selection.add_operand(term);
    selection.add_operand(expected);
    for (const TermId member : joint_.members(expected)) {
      if (graph.original(member).op != rules::kNoOp) {
        selection.add_definition(member);
      }
    }
    selection.reopen(reach.reopen);
    selection.add_window(reach.window);
    LocalProblem problem(selection, oracle_);
    walk_.result().counters.add(problem.equate(program_, limits_, term, expected).counters);
    import_equalities(selection, problem.equalities(), 0);
  }
  return graph.find(term) == graph.find(expected);
}

std::vector<CleanTermPtr> Outputs::expressions(LocalProblem& problem, TermId term, bool outputs_only,
                                               bool partial_sums, bool once) {
  auto filtered = std::make_shared<std::unordered_map<TermId, std::vector<Owner>>>();
  relation::ExtractOptions options;
  options.partial_sums = partial_sums;
  options.elements_once = once;
  options.owners = [this, &problem, outputs_only, filtered](TermId id) -> const std::vector<Owner>& {
    const auto& all = problem.owners(id);
    if (!outputs_only || all.empty()) {
      return all;
    }
    const TermId key = problem.graph().find(id);
    auto it = filtered->find(key);
    if (it == filtered->end()) {
      std::vector<Owner> some;
      std::ranges::copy_if(all, std::back_inserter(some),
                           [&](const Owner& o) { return programs_.distributed->is_output(o); });
      it = filtered->emplace(key, std::move(some)).first;
    }
    return it->second;
  };
  return relation::extract(problem.graph(), problem.local(term), options);
}

void Outputs::describe(LocalProblem& problem, const CleanTerm& clean, bool outputs_only,
                       OutputReport& report) {
  const auto leaf = [&](TermId id) { return programs_.distributed->name(problem.owners(id), outputs_only); };
  report.relations.push_back(relation::print(clean, joint_.graph().rules(), leaf));
}

std::vector<Outputs::Relation> Outputs::relations_of(TermId term) {
  Selection selection(joint_);
  selection.add_operand(term);
  LocalProblem problem(selection, oracle_);
  egraph::Limits none = limits_;
  none.rounds = 0;
  problem.saturate(program_, none);
  std::vector<Relation> result;
  for (const auto& clean : expressions(problem, term, false, true, false)) {
    OutputReport report;
    describe(problem, *clean, false, report);
    Relation relation{
        report.relations.front(), relation::has_partial_sum(*clean, joint_.graph().rules()), {}};
    for (const TermId leaf : relation::leaves_of(*clean)) {
      const auto& owners = problem.owners(leaf);
      if (!owners.empty()) {
        relation.leaves.push_back(programs_.distributed->tensor(owners.front()));
      }
    }
    result.push_back(std::move(relation));
  }
  return result;
}

std::vector<std::string> Outputs::relations(TermId term) {
  std::vector<std::string> texts;
  for (Relation& relation : relations_of(term)) {
    texts.push_back(std::move(relation.text));
  }
  return texts;
}

// Why a relation over tensors that are no outputs will not do.
std::string Outputs::no_output(const Relation& relation) const {
  std::vector<graph::TensorRef> hidden;
  for (const graph::TensorRef& leaf : relation.leaves) {
    const std::vector<graph::NodeIndex>& outputs = programs_.ranks[leaf.rank].outputs;
    if (std::ranges::find(outputs, leaf.node) == outputs.end()) {
      hidden.push_back(leaf);
    }
  }
  if (hidden.empty()) {
    return "only with tensors that are no outputs of their ranks";
  }
  const graph::TensorRef& first = hidden.front();
  const std::string name = with_place(programs_, first);
  if (relation.leaves.size() > 1) {
    return "only with " + name +
           (hidden.size() > 1 ? " and others, which are no outputs" : ", which is no output") +
           " of their ranks";
  }
  std::string said = "it is " + name + ", which is no output of rank " + std::to_string(first.rank);
  const graph::Graph& graph = programs_.ranks[first.rank];
  for (const graph::NodeIndex output : graph.outputs) {
    if (depends(graph, output, first.node)) {
      return said + "; the output `r" + std::to_string(first.rank) + "." + graph.nodes[output].name +
             "` is computed from it";
    }
  }
  return said;
}

OutputReport Outputs::answer(const Question& question) {
  OutputReport report;
  report.tensor = question.tensor;
  const bool outputs_only = question.is_output;
  if (!walk_.resolved(question.term)) {
    report.notes.push_back("no relation was found");
    for (const Expected& expected : question.expected) {
      report.expectations.push_back({expected.text, false});
    }
    return report;
  }
  bool all_hold = true;
  for (const Expected& expected : question.expected) {
    if (!expected.mismatch.empty()) {
      report.notes.push_back(expected.mismatch);
    }
    const TermId built = expected.mismatch.empty() ? programs_.build(expected.clean) : kNoTerm;
    bool holds = built != kNoTerm && follows(question.term, built);
    if (const std::string why = holds ? objection(expected.clean, outputs_only) : ""; !why.empty()) {
      report.notes.push_back("`" + expected.text + "` holds, but " + why);
      holds = false;
    }
    all_hold = all_hold && holds;
    report.expectations.push_back({expected.text, holds});
  }
  Selection selection(joint_);
  selection.add_operand(question.term);
  selection.add_window(2);
  LocalProblem problem(selection, oracle_);
  walk_.result().counters.add(problem.saturate(program_, limits_).counters);
  import_equalities(selection, problem.equalities(), 0);
  const auto clean = expressions(problem, question.term, outputs_only, false, outputs_only);
  for (const auto& expression : clean) {
    describe(problem, *expression, outputs_only, report);
  }
  if (!clean.empty() && programs_.ranks.size() > 1) {
    std::set<int> ranks;
    for (const TermId leaf : relation::leaves_of(*clean.front())) {
      for (const Owner& owner : problem.owners(leaf)) {
        if (!outputs_only || programs_.distributed->is_output(owner)) {
          ranks.insert(owner.rank);
        }
      }
    }
    if (ranks.size() == 1) {
      report.notes.push_back("held by rank " + std::to_string(*ranks.begin()) + " only");
    }
  }
  // A constant can be read off anything: that says nothing of what the ranks return.
  const auto held = [](const CleanTermPtr& expression) { return !relation::leaves_of(*expression).empty(); };
  const bool any_held = std::ranges::any_of(clean, held);
  report.ok = question.expected.empty() ? any_held : all_hold;
  if (!clean.empty() && !any_held && !report.ok) {
    report.notes.push_back(kConstantHint);
  }
  if (clean.empty()) {
    const auto sums = expressions(problem, question.term, outputs_only, true, false);
    for (const auto& expression : sums) {
      describe(problem, *expression, outputs_only, report);
    }
    if (!sums.empty() && !report.ok) {
      std::vector<TermId> leaves = relation::leaves_of(*sums.front());
      std::ranges::sort(leaves);
      const bool partial = relation::has_partial_sum(*sums.front(), joint_.graph().rules()) &&
                           std::ranges::adjacent_find(leaves) == leaves.end();
      report.notes.push_back(partial ? kPartialHint : kTwiceHint);
    }
  } else if (Last last; question.expected.empty() && permuted(problem, *clean.front(), outputs_only, last)) {
    report.notes.push_back(kPermutedHint);
  }
  if (report.relations.empty()) {
    const std::vector<Relation> known = relations_of(question.term);
    for (const Relation& relation : known) {
      report.relations.push_back(relation.text);
    }
    if (outputs_only && !known.empty() && !report.ok) {
      report.notes.push_back(no_output(known.front()));
    }
  }
  return report;
}

}  // namespace entangle::infer
