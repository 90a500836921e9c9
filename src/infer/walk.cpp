#include "walk.h"

#include <algorithm>

namespace entangle::infer {

// What a local problem consists of beside the operator and its operands, and how far it may grow.
struct Walk::Reach {
  int window;  // see LocalProblem::add_window
  bool alike;
  int reopen;  // see LocalProblem::reopen
  Effort effort;
};

namespace {

// Small problems first, and with little effort. Two steps suffice for forward programs, four for training
// steps, eight where the ranks compute a loss in other steps than the program; re-opening brings back how an
// operand was made, which its relation hides.
constexpr Walk::Reach kReaches[] = {
    {1, true, 0, Effort::small}, {2, true, 0, Effort::small}, {4, true, 0, Effort::small},
    {8, true, 0, Effort::small}, {2, true, 0, Effort::full},  {8, true, 0, Effort::full},
    {2, false, 2, Effort::full}, {8, false, 0, Effort::full}, {8, false, 2, Effort::full},
};

}  // namespace

Walk::Walk(Joint& joint, smt::Oracle& oracle, const egraph::Program& program, const WalkOptions& options)
    : joint_(joint), oracle_(oracle), program_(program), options_(options) {}

bool Walk::out_of_time() {
  result_.out_of_time =
      result_.out_of_time || (options_.deadline && std::chrono::steady_clock::now() > *options_.deadline);
  return result_.out_of_time;
}

void Walk::run(const std::vector<TermId>& wanted) {
  std::set<TermId> needed;
  std::vector<TermId> stack = wanted;
  while (!stack.empty()) {
    const TermId term = stack.back();
    stack.pop_back();
    if (done_.contains(term) || !needed.insert(term).second || resolved(term)) {
      continue;
    }
    const auto node = joint_.graph().original(term);
    stack.insert(stack.end(), node.children.begin(), node.children.end());
  }
  for (const TermId term : needed) {
    done_.insert(term);
    const auto node = joint_.graph().original(term);
    if (node.op == rules::kNoOp) {
      if (!resolved(term)) {
        result_.unresolved.push_back(term);
      }
      continue;
    }
    ++result_.operators;
    if (resolved(term)) {
      ++result_.by_lookup;
      continue;
    }
    if (!out_of_time()) {
      solve(term);
    }
    if (!resolved(term)) {
      result_.unresolved.push_back(term);
    }
  }
  std::ranges::sort(result_.unresolved);
  std::erase_if(result_.unresolved, [&](TermId term) { return resolved(term); });
}

std::optional<std::vector<TermId>> Walk::carried_by(TermId term) {
  std::set<TermId> carried;
  std::vector<TermId> stack{term};
  while (!stack.empty()) {
    const TermId at = stack.back();
    stack.pop_back();
    for (const TermId child : joint_.graph().original(at).children) {
      if (resolved(child) || joint_.graph().original(child).op == rules::kNoOp) {
        continue;
      }
      if (carried.insert(child).second) {
        stack.push_back(child);
      }
    }
    if (carried.size() > options_.most_carried) {
      return std::nullopt;
    }
  }
  return std::vector<TermId>(carried.begin(), carried.end());
}

void Walk::solve(TermId term) {
  const auto carried = carried_by(term);
  if (!carried) {
    return;
  }
  Tried tried;
  for (const Reach& reach : kReaches) {
    // Values inside a lowering are carried into its result cheaply; only results are worth large problems.
    if ((reach.reopen > 0 || reach.window > 4) && !joint_.is_result(term)) {
      continue;
    }
    if (out_of_time() || attempt(term, *carried, reach, tried)) {
      return;
    }
  }
}

bool Walk::attempt(TermId term, const std::vector<TermId>& carried, const Reach& reach, Tried& tried) {
  LocalProblem problem(joint_, oracle_,
                       joint_.is_result(term) ? LocalProblem::Leaves::tensors : LocalProblem::Leaves::values);
  std::vector<TermId> terms = carried;
  terms.push_back(term);
  for (const TermId definition : terms) {
    for (const TermId child : joint_.graph().original(definition).children) {
      if (std::ranges::find(terms, child) == terms.end()) {
        problem.add_operand(child);
      }
    }
  }
  if (reach.reopen > 0) {
    problem.reopen(reach.reopen);
  }
  for (const TermId definition : terms) {
    problem.add_definition(definition);
  }
  problem.add_window(reach.window, reach.alike);
  const auto [before, fresh] = tried.emplace(problem.included(), reach.effort);
  if (!fresh) {
    if (before->second == Effort::full || reach.effort == Effort::small) {
      return false;
    }
    before->second = Effort::full;
  }
  const egraph::Outcome outcome = problem.relate(program_, options_.limits, reach.effort, term);
  ++result_.problems;
  result_.largest = std::max<std::uint64_t>(result_.largest, problem.graph().node_count());
  result_.counters.add(outcome.counters);
  const auto& clashes = problem.graph().clashes();
  result_.clashes.insert(result_.clashes.end(), clashes.begin(), clashes.end());
  const auto number = static_cast<std::uint32_t>(result_.problems);
  if (!problem.import(term, number)) {
    if (outcome.stop == egraph::Stop::saturated) {
      before->second = Effort::full;  // more effort finds no more
    } else if (reach.effort == Effort::full) {
      result_.limit_hit.push_back(term);
    }
    return false;
  }
  for (const TermId definition : carried) {
    if (!problem.import(definition, number)) {
      result_.solved_across.insert(definition);
    }
  }
  return true;
}

std::vector<TermId> Walk::considered(TermId term) {
  LocalProblem problem(joint_, oracle_);
  for (const TermId child : joint_.graph().original(term).children) {
    problem.add_operand(child);
  }
  problem.add_window(1);
  return problem.window();
}

}  // namespace entangle::infer
