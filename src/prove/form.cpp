#include "prove/form.h"

#include <algorithm>

#include "entangle/smt/solver.h"
#include "prove/form_world.h"
#include "prove/right_side.h"

namespace entangle::prove {

using eval::Undefined;
using rules::Expr;
using sym::Int;
using term::kNoTerm;
using term::Value;

namespace {

constexpr std::size_t kDepth = 90;        // questions asked of one form
constexpr std::int64_t kEnumerated = 6;   // values of an integer that must be known
constexpr std::size_t kCandidates = 12;   // cases that are not proved and evaluated
constexpr std::size_t kEvaluations = 40;  // cases that are proved and evaluated, until one could be

}  // namespace

Forms::Forms(const rules::RuleSet& rules, const Subject& subject, rules::OpId op, const Limits& limits,
             AskSolver unsatisfiable, Replayer& replayer)
    : rules_(rules),
      subject_(subject),
      vocabulary_(rules, subject, op),
      lemma_(subject.lemma),
      op_(op),
      limits_(limits),
      unsatisfiable_(std::move(unsatisfiable)),
      replayer_(replayer) {}

bool Forms::contradict(const std::vector<smt::Term>& assertions) {
  results_.questions += kWeight;
  return unsatisfiable_(assertions);
}

FormResults Forms::run() {
  explore({});
  return std::move(results_);
}

void Forms::record(Scenario& scenario, Verdict verdict, bool small) {
  if (verdict == Verdict::infeasible) return;
  if (small) {
    if (verdict == Verdict::unproved) throw Undefined{why_};
    ++small_instances_;
    return;
  }
  ++results_.instances;
  if (verdict == Verdict::proved) ++results_.proved;
  if (verdict == Verdict::vacuous) ++results_.vacuous;
  if (verdict != Verdict::unproved) return;
  const std::string text =
      about_ + (scenario.to_string().empty() ? "" : " with " + scenario.to_string()) + ": " + why_;
  if (small_sizes(scenario)) {
    ++results_.bounded;
    if (results_.limited.empty()) results_.limited = text;
  } else if (results_.unproved.empty()) {
    results_.unproved = text;
  }
}

void Forms::explore(Scenario scenario) {
  if (results_.refuted) return;
  if (const smt::Patience* patience = smt::Patience::current(); patience != nullptr && patience->is_lost()) {
    results_.complete = false;
    results_.gave_up = true;
    return;
  }
  if (depth_ > kDepth || results_.runs >= limits_.runs || results_.questions >= limits_.questions) {
    results_.complete = false;
    if (results_.limit.empty()) results_.limit = about_ + " and beyond";
    return;
  }
  ++depth_;
  const std::size_t given = scenario.choices.size();
  const std::vector<std::size_t> prefix = scenario.choices;
  const std::size_t before = results_.instances;
  std::vector<Chooser::Choice> made;
  {
    Scenario tried = scenario;
    std::vector<Scenario> next;
    Chooser chooser(prefix);
    const auto taken = [&](Scenario from) {
      from.choices.clear();
      for (const Chooser::Choice& choice : chooser.made()) from.choices.push_back(choice.taken);
      if (from.choices.size() < prefix.size()) from.choices = prefix;
      return from;
    };
    try {
      ++results_.runs;
      const Verdict verdict = attempt(tried, chooser);
      Scenario now = taken(tried);
      record(now, verdict, small_);
    } catch (const Fork& fork) {
      Scenario yes = taken(tried);
      if (!yes.refused(fork.question) && fork.question.why != smt::Why::undefined) {
        // `a < b` is asked as `b <= a`: there either answer may be the required one.
        if (!fork.required || fork.question.relation == Scenario::Relation::less_equal) {
          if (fork.question.relation == Scenario::Relation::divides && !yes.may_split())
            results_.complete = false;
          for (Scenario& no : taken(tried).without(fork.question)) next.push_back(std::move(no));
        }
        if (yes.assume(fork.question.relation, fork.question.left, fork.question.right)) {
          next.insert(next.begin(), std::move(yes));
        }
      } else if (applies_) {
        // Whether it holds is not seen though it is assumed not to.
        about_ += "?";
        why_ = "a question is not decided: " + sym::to_string(fork.question.left) + " and " +
               sym::to_string(fork.question.right);
        record(yes, Verdict::unproved, small_);
      }
    } catch (const MoreSymbols&) {
      Scenario more = taken(tried);
      more.declare_more();
      next.push_back(std::move(more));
    } catch (const Quotient& quotient) {
      Scenario split = taken(tried);
      if (split.may_split()) {
        if (split.split(quotient)) next.push_back(std::move(split));
      } else {
        why_ = "too many quotients";
        record(split, Verdict::unproved, small_);
      }
    }
    made = chooser.made();
    for (Scenario& one : next) explore(std::move(one));
  }
  // The choices that were made on the way, from the last to the first.
  for (std::size_t place = made.size(); place-- > given;) {
    const bool found = results_.instances > before;
    if (made[place].parametric && found) continue;
    for (std::size_t option = made[place].taken + 1; option < made[place].options; ++option) {
      Scenario other = scenario;
      other.choices.clear();
      for (std::size_t k = 0; k < place; ++k) other.choices.push_back(made[k].taken);
      other.choices.push_back(option);
      const std::size_t then = results_.instances;
      explore(std::move(other));
      if (made[place].parametric && results_.instances > then) break;
    }
  }
  --depth_;
}

// An integer of few values may have to be known: the least of them is asked for.
void Forms::enumerate(World& world) {
  for (const Scenario::Symbol& one : world.scenario.open()) {
    const auto least = world.oracle.facts().bounds(one.symbol).lower;
    if (!least || !smt::is_yes(world.oracle.less_equal(one.symbol, *least + kEnumerated))) continue;
    // Of assumptions that contradict each other everything follows.
    const smt::Truth consistent = world.oracle.consistent();
    if (smt::is_no(consistent)) throw Infeasible{};
    if (!smt::is_yes(consistent)) return;
    throw Fork{{smt::Undecided::Relation::equal, one.symbol, Int(*least), smt::Why::depends}};
  }
}

// A condition that is not decided is asked for; one that is undefined does not hold.
void Forms::condition(World& world, const Expr& expr) {
  world.oracle.forget_undecided();
  const smt::Truth truth = world.evaluator.holds(expr, world.builder.frame());
  if (smt::is_yes(truth)) return;
  if (smt::is_no(truth)) throw Infeasible{};
  fork_if_undecided(world.oracle, conjunctive(expr));
  enumerate(world);
  throw Infeasible{};
}

std::vector<TermId> Forms::right_side(World& world) {
  world.oracle.forget_undecided();
  const std::vector<TermId>& left = world.builder.left();
  const std::vector<TermId> right =
      right_terms(world.evaluator, lemma_, world.builder.frame(), left.size(), world.terms.type(left[0]));
  if (!right.empty()) return right;
  fork_if_undecided(world.oracle);
  enumerate(world);
  return {};
}

Forms::Verdict Forms::attempt(Scenario& scenario, Chooser& chooser) {
  applies_ = false;
  suspected_.reset();
  World world(rules_, subject_, vocabulary_, op_, limits_, scenario, chooser, results_.questions);
  if (world.oracle.facts().contradictory()) return Verdict::infeasible;
  try {
    world.builder.run();
    results_.longest = std::max(results_.longest, world.builder.longest());
    for (const Expr& expr : lemma_.when) condition(world, expr);
    applies_ = true;
    about_ = world.builder.describe();
    chosen_.clear();
    for (const Chooser::Choice& choice : chooser.made()) chosen_.push_back(choice.taken);
    std::vector<TermId> left = world.builder.left();
    const std::vector<TermId> right = right_side(world);
    if (!small_) {
      results_.ranks.insert(world.terms.type(left[0]).rank());
      results_.highest = std::max(results_.highest, world.builder.highest());
    }
    for (std::size_t id = 0; id < world.terms.size(); ++id) {
      const rules::OpId op = world.terms.node(static_cast<term::TermId>(id)).op;
      if (op != rules::kNoOp) results_.operators.insert(op);
    }
    if (right.empty()) {
      if (!subject_.total && (small_ || !defined_for_some_sizes(world))) return Verdict::vacuous;
      why_ = "the right side is not shown to be defined: " + world.evaluator.reason();
      return Verdict::unproved;
    }
    std::set<std::string> given;
    for (const auto& [a, b] : world.builder.equations()) {
      compare(world, a, b, [&](Symbolic& symbolic, const Poly& difference) {
        given.insert(spelled(symbolic, difference));
        return true;
      });
    }
    for (std::size_t k = 0; k < left.size(); ++k) {
      compare(world, left[k], right[k], [&](Symbolic& symbolic, const Poly& difference) {
        return given.contains(spelled(symbolic, difference)) || equal_elements(world, symbolic, difference);
      });
    }
    if (limits_.evaluate && !small_ && !results_.evaluated && evaluations_ < kEvaluations) evaluate(world);
    return Verdict::proved;
  } catch (const Infeasible&) {
    return Verdict::infeasible;
  } catch (const Undefined& undefined) {
    why_ = undefined.what;
  } catch (const Breakpoint&) {
    why_ = "a position is cut where it cannot be";
  } catch (const SplitPosition&) {
    why_ = "a position is taken apart where it cannot be";
  }
  // Nothing is to be shown where the assumptions contradict each other.
  Symbolic symbolic(world.terms, Space(world.oracle));
  std::vector<smt::Term> facts = assertions(world, symbolic);
  if (contradict(facts)) return Verdict::infeasible;
  if (!small_ && candidates_ < kCandidates) refute(world);
  return Verdict::unproved;
}

}  // namespace entangle::prove
