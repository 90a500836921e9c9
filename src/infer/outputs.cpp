#include "outputs.h"

#include <algorithm>
#include <memory>
#include <set>

namespace entangle::infer {
namespace {

using relation::CleanTerm;
using relation::CleanTermPtr;

const char* const kPartialHint = "only as a sum over ranks: is an all-reduce missing?";

}  // namespace

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

bool Outputs::follows(TermId term, TermId expected) {
  EGraph& graph = joint_.graph();
  graph.rebuild();
  for (const int reopen : {0, 1, 2}) {
    for (const int window : {0, 2, 4}) {
      if (graph.find(term) == graph.find(expected)) {
        return true;
      }
      LocalProblem problem(joint_, oracle_);
      problem.add_operand(term);
      problem.add_operand(expected);
      for (const TermId member : std::vector<TermId>(joint_.members(expected))) {
        if (graph.original(member).op != rules::kNoOp) {
          problem.add_definition(member);
        }
      }
      problem.reopen(reopen);
      problem.add_window(window);
      problem.saturate(program_, limits_);
      problem.import_equalities(0);
    }
  }
  return graph.find(term) == graph.find(expected);
}

std::vector<CleanTermPtr> Outputs::expressions(LocalProblem& problem, TermId term, bool outputs_only,
                                               bool partial_sums, bool once) {
  static const std::vector<Owner> kNone;
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

std::vector<std::string> Outputs::relations(TermId term) {
  LocalProblem problem(joint_, oracle_);
  problem.add_operand(term);
  egraph::Limits none = limits_;
  none.rounds = 0;
  problem.saturate(program_, none);
  std::vector<std::string> texts;
  OutputReport report;
  for (const auto& clean : expressions(problem, term, false, true, false)) {
    describe(problem, *clean, false, report);
  }
  return report.relations;
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
    if (holds && outputs_only && !names_outputs_only(expected.clean)) {
      report.notes.push_back("`" + expected.text +
                             "` holds, but it names a tensor that is no output of its rank");
      holds = false;
    }
    all_hold = all_hold && holds;
    report.expectations.push_back({expected.text, holds});
  }
  LocalProblem problem(joint_, oracle_);
  problem.add_operand(question.term);
  problem.add_window(2);
  problem.saturate(program_, limits_);
  problem.import_equalities(0);
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
  if (!question.expected.empty()) {
    report.ok = all_hold;
    if (report.relations.empty()) {
      const auto sums = expressions(problem, question.term, outputs_only, true, false);
      for (const auto& expression : sums) {
        describe(problem, *expression, outputs_only, report);
      }
    }
    if (!report.ok && clean.empty() && !report.relations.empty()) {
      report.notes.push_back(kPartialHint);
    }
  } else if (!clean.empty()) {
    report.ok = true;
  } else {
    const auto sums = expressions(problem, question.term, outputs_only, true, false);
    for (const auto& expression : sums) {
      describe(problem, *expression, outputs_only, report);
    }
    if (!sums.empty()) {
      report.notes.push_back(kPartialHint);
    }
  }
  if (report.relations.empty()) {
    report.relations = relations(question.term);
    if (outputs_only && !report.relations.empty() && !report.ok) {
      report.notes.push_back("only with tensors that are no outputs of their ranks");
    }
  }
  return report;
}

}  // namespace entangle::infer
