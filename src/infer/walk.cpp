#include "walk.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace entangle::infer {

// What a local problem consists of beside the operator and its operands, and how far it may grow.
struct Walk::Reach {
  int steps;  // see Selection::add_window
  Selection::Window window;
  int reopen;  // see Selection::reopen
  Effort effort;
};

namespace {

// Small problems first, and with little effort. Two steps suffice for forward programs, four for training
// steps, eight where the ranks compute a loss in other steps than the program; re-opening brings back how an
// operand was made, which its relation hides. What carries nothing is mostly made of like applications alone.
using enum Selection::Window;
constexpr Walk::Reach kReaches[] = {
    {1, own, 0, Effort::small},   {2, alike, 0, Effort::small}, {2, alike, 0, Effort::full},
    {4, alike, 0, Effort::small}, {8, alike, 0, Effort::small}, {8, alike, 0, Effort::full},
    {2, all, 2, Effort::full},    {8, all, 0, Effort::full},    {8, all, 2, Effort::full},
};
// The small ones of the first are made at once; if no result is carried the large one among them, too, and
// the first that re-opens if it is no larger than this. The others are put off: mostly a consumer that
// carries the operator is resolved by small problems.
constexpr std::size_t kFirst = 3;
constexpr std::size_t kReopening = 6;
constexpr std::size_t kMostAtOnce = 300;  // applications
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

}  // namespace

Walk::Walk(Joint& joint, smt::Oracle& oracle, const egraph::Program& program, const WalkOptions& options)
    : joint_(joint),
      oracle_(oracle),
      program_(program),
      options_(options),
      memo_(joint),
      done_(joint.ids()) {}

bool Walk::out_of_time() {
  result_.out_of_time = result_.out_of_time || (options_.limits.expired && options_.limits.expired());
  return result_.out_of_time;
}

void Walk::compare_alternatives(const std::vector<TermId>& inputs) {
  for (const TermId input : inputs) {
    if (out_of_time()) {
      return;
    }
    Selection selection(joint_);
    selection.add_operand(input);
    LocalProblem problem(selection, oracle_);
    const egraph::Outcome outcome = problem.saturate(program_, options_.limits, Effort::small);
    const auto& clashes = problem.graph().clashes();
    ++result_.problems;
    result_.largest = std::max<std::uint64_t>(result_.largest, problem.graph().node_count());
    result_.counters.add(outcome.counters);
    result_.clashes.insert(result_.clashes.end(), clashes.begin(), clashes.end());
    import_equalities(selection, problem.equalities(), static_cast<std::uint32_t>(result_.problems));
  }
}

void Walk::run(const std::vector<TermId>& wanted, const std::vector<TermId>& asked) {
  std::vector<TermId> needed;
  IdSet met(joint_.ids());
  std::vector<TermId> stack = wanted;
  while (!stack.empty()) {
    const TermId term = stack.back();
    stack.pop_back();
    if (done_.contains(term) || !met.insert(term)) {
      continue;
    }
    needed.push_back(term);
    if (resolved(term)) {
      continue;
    }
    const auto node = joint_.graph().original(term);
    stack.insert(stack.end(), node.children.begin(), node.children.end());
  }
  std::ranges::sort(needed);
  std::vector<TermId> questions = asked;
  std::ranges::sort(questions);
  std::size_t done = 0;
  for (const TermId term : needed) {
    if (options_.progress) {
      options_.progress(done++, needed.size(), term);
    }
    if (before_ && !before_(term)) {
      result_.given_up = true;
      return;
    }
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
    if (!put_off_.empty() && !carried_by(term)) {
      settle_all(unresolved_below(term));
    }
    solve(term, Stage::at_once);
    if (std::ranges::binary_search(questions, term)) {
      settle_with_operands(term);
    }
    if (!resolved(term)) {
      result_.unresolved.push_back(term);
    }
  }
  std::ranges::sort(result_.unresolved);
  // Where it ends is to be found: what could be resolved is.
  if (std::ranges::any_of(questions, [&](TermId term) { return !resolved(term); })) {
    settle_all(result_.unresolved);
  }
  std::ranges::sort(result_.limit_hit);
  std::erase_if(result_.unresolved, [&](TermId term) { return resolved(term); });
}

std::optional<std::vector<TermId>> Walk::carried_by(TermId term) {
  std::vector<TermId> carried = unresolved_below(term, options_.most_carried);
  if (carried.size() > options_.most_carried) {
    return std::nullopt;
  }
  return carried;
}

std::vector<TermId> Walk::unresolved_below(TermId term, std::size_t enough) {
  std::set<TermId> found;
  std::vector<TermId> stack{term};
  while (!stack.empty() && found.size() <= enough) {
    const TermId at = stack.back();
    stack.pop_back();
    for (const TermId child : joint_.graph().original(at).children) {
      if (resolved(child) || joint_.graph().original(child).op == rules::kNoOp) {
        continue;
      }
      if (found.insert(child).second) {
        stack.push_back(child);
      }
    }
  }
  return {found.begin(), found.end()};
}

bool Walk::solve(TermId term, Stage stage) {
  const auto carried = carried_by(term);
  if (!carried) {
    return false;
  }
  const std::span<const Reach> all(kReaches);
  std::vector<Reach> reaches;
  const auto add = [&](std::span<const Reach> some, Effort effort) {
    std::ranges::copy_if(some, std::back_inserter(reaches),
                         [&](const Reach& reach) { return reach.effort == effort; });
  };
  if (stage == Stage::at_once) {
    add(all.first(kFirst), Effort::small);
    if (std::ranges::none_of(*carried, [&](TermId below) { return joint_.is_result(below); })) {
      if (carried->empty() || joint_.is_result(term)) {
        add(all.first(kFirst), Effort::full);
      }
      reaches.push_back(all[kReopening]);
    }
  } else {
    add(all.subspan(kFirst), Effort::small);
    if (stage == Stage::put_off) {
      add(all.subspan(kFirst), Effort::full);
      add(all.first(kFirst), Effort::full);  // mostly a part of one that was taken to its end
    }
  }
  carried_at_[term] = *carried;
  Tried& tried = put_off_[term];
  bool solved = false;
  for (const Reach& reach : reaches) {
    if (reach.window == own && !carried->empty()) {
      continue;
    }
    // Values inside a lowering are carried into its result cheaply; only results are worth large problems.
    if ((reach.reopen > 0 || reach.steps > 4) && !joint_.is_result(term)) {
      continue;
    }
    const std::size_t most = stage == Stage::at_once && reach.reopen > 0 ? kMostAtOnce : kAnySize;
    if (out_of_time() || (solved = attempt(term, *carried, reach, most, tried))) {
      break;
    }
  }
  if (solved || stage != Stage::at_once) {
    put_off_.erase(term);
  }
  if (solved) {
    carried_at_.erase(term);
  }
  return solved;
}

bool Walk::settle(TermId term, bool again, Stage stage) {
  if (resolved(term) || joint_.graph().original(term).op == rules::kNoOp) {
    return false;
  }
  if (again && carried_by(term) != carried_at_[term]) {
    put_off_.erase(term);
    return solve(term, Stage::at_once) || solve(term, stage);
  }
  return put_off_.contains(term) && solve(term, stage);
}

bool Walk::settle_all(const std::vector<TermId>& terms, std::optional<TermId> above) {
  std::set<TermId> covered;
  const auto cover = [&](TermId term) {
    if (const auto carried = carried_by(term)) {
      covered.insert(carried->begin(), carried->end());
    }
  };
  for (const TermId term : terms) {
    if (put_off_.contains(term)) {
      cover(term);
    }
  }
  if (above) {
    cover(*above);
  }
  const auto stage_of = [&](TermId term) {
    return covered.contains(term) && carries(term) ? Stage::put_off_small : Stage::put_off;
  };
  bool any = false;
  for (const TermId term : terms) {
    any = settle(term, any, stage_of(term)) || any;
  }
  for (const TermId term : terms) {
    if (promising_.erase(term) > 0) {
      any = (!resolved(term) && solve(term, Stage::put_off)) || any;
    } else if (any) {
      settle(term, true, stage_of(term));
    }
  }
  return any;
}

void Walk::settle_with_operands(TermId term) {
  // What it carries is a part of its own problems.
  if (!resolved(term) && !settle(term, false, Stage::put_off) && settle_all(unresolved_below(term), term)) {
    settle(term, true, Stage::put_off);
  }
}

void Walk::add_operands(const std::vector<TermId>& terms, Selection& selection) const {
  for (const TermId definition : terms) {
    for (const TermId child : joint_.graph().original(definition).children) {
      if (std::ranges::find(terms, child) == terms.end()) {
        selection.add_operand(child);
      }
    }
  }
}

bool Walk::attempt(TermId term, const std::vector<TermId>& carried, const Reach& reach, std::size_t most,
                   Tried& tried) {
  Selection selection(joint_);
  std::vector<TermId> terms = carried;
  terms.push_back(term);
  add_operands(terms, selection);
  if (reach.reopen > 0) {
    selection.reopen(reach.reopen);
  }
  for (const TermId definition : terms) {
    selection.add_definition(definition);
  }
  selection.add_window(reach.steps, reach.window);
  if (selection.applications().size() > most || (reach.window == own && selection.window().empty())) {
    return false;
  }
  const std::vector<TermId> included = selection.included();
  // What nothing new came of in the end answers for all its parts.
  if (std::ranges::any_of(tried, [&](const auto& before) {
        return before.second == Taken::to_the_end && std::ranges::includes(before.first, included);
      })) {
    return false;
  }
  const Taken taken = reach.effort == Effort::small ? Taken::little : Taken::far;
  const auto [before, fresh] = tried.emplace(included, taken);
  if (!fresh && before->second >= taken) {
    return false;
  }
  before->second = taken;
  std::rotate(terms.begin(), terms.end() - 1, terms.end());
  const Solution& solution =
      solution_of(selection, terms, reach.effort, joint_.is_result(term) ? Leaves::tensors : Leaves::values);
  if (solution.outcome.stop == egraph::Stop::expired) {
    result_.out_of_time = true;
    return false;
  }
  ++result_.problems;
  const auto number = static_cast<std::uint32_t>(result_.problems);
  result_.largest = std::max<std::uint64_t>(result_.largest, solution.nodes);
  result_.counters.add(solution.outcome.counters);
  result_.clashes.insert(result_.clashes.end(), solution.clashes.begin(), solution.clashes.end());
  import_equalities(selection, solution.equalities, number);
  if (!solution.solved()) {
    if (solution.outcome.stop == egraph::Stop::saturated) {
      before->second = Taken::to_the_end;
    } else if (reach.effort == Effort::full) {
      result_.limit_hit.push_back(term);
    }
    for (std::size_t k = 1; k < solution.relations.size(); ++k) {
      if (!solution.relations[k].empty() && carries(terms[k])) {
        promising_.insert(terms[k]);
      }
    }
    return false;
  }
  const egraph::Reason reason{egraph::Reason::Kind::relation, number, "relation found"};
  for (std::size_t k = 0; k < terms.size(); ++k) {
    for (const auto& clean : solution.relations[k]) {
      joint_.relate(terms[k], *clean, selection.classes(), reason);
    }
    if (solution.relations[k].empty()) {
      result_.solved_across.insert(terms[k]);
    }
  }
  return true;
}

Walk::Drawn Walk::drawn_alike(TermId term, const std::function<bool(TermId)>& may_be_used) {
  settle_all(unresolved_below(term));
  Drawn result;
  std::vector<TermId> before;
  for (const Reach& reach : kReaches) {
    if (reach.effort != Effort::small || out_of_time()) {
      break;
    }
    Selection selection(joint_);
    for (const TermId child : joint_.graph().original(term).children) {
      selection.add_operand(child);
    }
    selection.add_definition(term);
    selection.add_window(reach.steps, reach.window);
    if (std::vector<TermId> included = selection.included(); included == before) {
      continue;
    } else {
      before = std::move(included);
    }
    selection.take_like(term, may_be_used);
    const Solution& solution = solution_of(selection, {term}, reach.effort, Leaves::drawn);
    ++result_.problems;
    result_.counters.add(solution.outcome.counters);
    if (solution.solved()) {
      result = {solution.relations.front(), selection.like()};
      break;
    }
  }
  return result;
}

const Solution& Walk::solution_of(const Selection& selection, const std::vector<TermId>& terms, Effort effort,
                                  Leaves leaves) {
  MemoKey key = memo_.key(selection, terms, effort, leaves);
  if (const Solution* known = options_.memo ? memo_.find(key, selection, terms) : nullptr) {
    ++result_.by_memo;
    return *known;
  }
  const std::uint64_t undecided = oracle_.statistics().unknown;
  LocalProblem problem(selection, oracle_, leaves);
  Solution solution;
  solution.outcome = problem.relate(program_, options_.limits, effort, terms.front());
  solution.nodes = problem.graph().node_count();
  solution.clashes = problem.graph().clashes();
  solution.equalities = problem.equalities();
  for (const TermId term : terms) {
    solution.relations.push_back(problem.relations(term));
    if (!solution.solved() && effort == Effort::small) {
      break;
    }
  }
  // What was given up for want of time is kept, too: nothing is asked for any more.
  // On disk, only what would be reported in the same way.
  const bool keep = solution.outcome.stop != egraph::Stop::expired && solution.clashes.empty() &&
                    oracle_.statistics().unknown == undecided;
  return memo_.store(std::move(key), std::move(solution), keep);
}

void Walk::select(TermId term, Selection& selection) {
  std::vector<TermId> terms = carried_by(term).value_or(std::vector<TermId>());
  terms.push_back(term);
  add_operands(terms, selection);
  for (const TermId definition : terms) {
    selection.add_definition(definition);
  }
}

std::vector<TermId> Walk::considered(TermId term) {
  Selection selection(joint_);
  for (const TermId child : joint_.graph().original(term).children) {
    selection.add_operand(child);
  }
  selection.add_window(1);
  return selection.window();
}

}  // namespace entangle::infer
