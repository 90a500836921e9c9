// Forms with constant sizes: where a case is not proved.

#include <algorithm>

#include "entangle/smt/solver.h"
#include "entangle/support/hash.h"
#include "prove/form_world.h"

namespace entangle::prove {

using eval::Undefined;
using rules::Expr;

namespace {

constexpr std::int64_t kSmall = 3;  // sizes when all of them are tried
constexpr std::size_t kSmallSymbols = 4;
constexpr std::uint64_t kGuesses = 24;  // sizes that are tried
constexpr std::size_t kTried = 4;       // of the sizes that a case admits
constexpr std::int64_t kSmaller = 6;    // of one size, where the sides differ

}  // namespace

// Small sizes that the case admits, and other numbers of either sign.
std::vector<sym::Valuation> Forms::guessed(const World& world, std::size_t most) {
  std::vector<sym::Valuation> result;
  for (std::uint64_t n = 0; n < kGuesses && result.size() < most; ++n) {
    sym::Valuation sizes;
    std::uint64_t state = n;
    for (const Scenario::Symbol& one : world.scenario.open()) {
      state = support::mix(state + 0x9e3779b97f4a7c15ULL);
      const auto number = static_cast<std::int64_t>(state % 4);
      sizes[one.symbol] = one.size ? number + 1 : n % 3 == 2 ? -number : number;
    }
    if (world.scenario.admits(sizes)) result.push_back(std::move(sizes));
  }
  return result;
}

// Sizes that the case admits. None: `surely` says whether it admits none.
std::optional<sym::Valuation> Forms::admitted(World& world, bool* surely) {
  const std::vector<Scenario::Symbol> open = world.scenario.open();
  *surely = false;
  if (auto small = guessed(world, 1); !small.empty()) return std::move(small[0]);
  Symbolic symbolic(world.terms, Space(world.oracle));
  smt::Solver solver({kModelSteps, {}, 0});
  for (const smt::Term& assertion : assertions(world, symbolic)) solver.add(assertion);
  results_.questions += kWeight;
  return model_sizes(world, solver, surely);
}

// Of a model of the solver's assertions, if it finds one. None: `surely` says whether there is none.
std::optional<sym::Valuation> Forms::model_sizes(World& world, smt::Solver& solver, bool* surely) {
  const smt::Answer answer = solver.check();
  if (surely != nullptr) *surely = answer == smt::Answer::unsat;
  if (answer != smt::Answer::sat) return std::nullopt;
  sym::Valuation sizes;
  for (const Scenario::Symbol& one : world.scenario.open()) {
    const auto value = solver.model().integer(smt::from_int(one.symbol));
    if (!value) return std::nullopt;
    sizes[one.symbol] = *value;
  }
  return sizes;
}

// The case that is looked at, with these sizes; nothing is done where it has no such instance.
Forms::Concrete Forms::with_sizes(const Scenario& scenario, const sym::Valuation& sizes,
                                  const std::function<void(World&, const std::vector<TermId>&)>& run) {
  std::optional<Scenario> instance = scenario.at(sizes);
  if (!instance) return Concrete::undecided;
  instance->choices = chosen_;
  const std::vector<std::size_t> choices = chosen_;
  Chooser chooser(choices);
  World world(rules_, subject_, vocabulary_, op_, limits_, *instance, chooser, results_.questions);
  try {
    world.builder.run();
    for (const Expr& expr : lemma_.when) condition(world, expr);
    const std::vector<TermId> right = right_side(world);
    if (right.empty()) return Concrete::undefined;
    run(world, right);
    return Concrete::defined;
  } catch (const Infeasible&) {
    return Concrete::undefined;
  } catch (const Fork&) {
    return Concrete::undecided;
  } catch (const Undefined&) {
    return Concrete::undecided;
  }
}

// Whether the right side is defined for some sizes that the case admits: then it must not count as undefined.
bool Forms::defined_for_some_sizes(World& world) {
  if (world.scenario.open().empty()) return false;
  bool none = false;
  const auto sizes = admitted(world, &none);
  if (!sizes) return !none;
  return with_sizes(world.scenario, *sizes, [](World&, const std::vector<TermId>&) {}) != Concrete::undefined;
}

// Evaluates an instance of a case that is proved.
void Forms::evaluate(World& world) {
  ++evaluations_;
  bool none = false;
  const auto sizes = admitted(world, &none);
  if (!sizes) return;
  with_sizes(world.scenario, *sizes, [&](World& instance, const std::vector<TermId>& right) {
    const Replayer::Answer answer = replayer_.compare({instance.terms,
                                                       instance.builder.left(),
                                                       right,
                                                       instance.builder.equations(),
                                                       instance.builder.describe(),
                                                       {},
                                                       subject_.inside});
    if (answer == Replayer::Answer::agree) results_.evaluated = true;
    if (answer == Replayer::Answer::differ) results_.refuted = true;
  });
}

// Evaluates an instance of a case that is not proved; where the sides differ, smaller ones, too.
void Forms::refute(World& world) {
  ++candidates_;
  std::vector<sym::Valuation> candidates = guessed(world, kTried);
  if (suspected_ && world.scenario.admits(*suspected_)) candidates.push_back(*suspected_);
  bool none = false;
  if (const auto model = candidates.empty() ? admitted(world, &none) : std::nullopt) {
    candidates.push_back(*model);
    // It may be at the edge of where the sides differ.
    for (const Scenario::Symbol& one : world.scenario.open()) {
      for (const int step : {1, -1}) {
        sym::Valuation beside = *model;
        beside[one.symbol] += step;
        if (world.scenario.admits(beside)) candidates.push_back(std::move(beside));
      }
    }
  }
  const auto differs = [&](const sym::Valuation& tried) {
    bool result = false;
    with_sizes(world.scenario, tried, [&](World& instance, const std::vector<TermId>& right) {
      result = replayer_.compare({instance.terms,
                                  instance.builder.left(),
                                  right,
                                  instance.builder.equations(),
                                  instance.builder.describe(),
                                  {},
                                  subject_.inside}) == Replayer::Answer::differ;
    });
    return result;
  };
  const auto found = std::ranges::find_if(candidates, differs);
  if (found == candidates.end()) return;
  sym::Valuation sizes = *found;
  results_.refuted = true;
  if (!replayer_.minimises()) return;
  for (const Scenario::Symbol& one : world.scenario.open()) {
    const std::int64_t least = one.size ? 1 : 0;
    const std::int64_t now = sizes.at(one.symbol);
    for (std::int64_t value = least; value < now && value < least + kSmaller; ++value) {
      sym::Valuation tried = sizes;
      tried[one.symbol] = value;
      if (!world.scenario.admits(tried) || !differs(tried)) continue;
      sizes = std::move(tried);
      break;
    }
  }
}

// Whether the case is proved for each choice of small sizes.
bool Forms::small_sizes(const Scenario& scenario) {
  const std::vector<Scenario::Symbol> open = scenario.open();
  const auto sizes = static_cast<std::size_t>(std::ranges::count_if(open, &Scenario::Symbol::size));
  if (sizes > kSmallSymbols) return false;
  const std::size_t depth = depth_;
  const std::string why = why_;
  const std::string about = about_;
  bool proved = true;
  small_ = true;
  small_instances_ = 0;
  const std::function<void(const Scenario&, std::size_t)> from = [&](const Scenario& now, std::size_t next) {
    while (next < open.size() && !open[next].size) ++next;
    if (next == open.size()) {
      explore(now);
      return;
    }
    for (std::int64_t size = 1; size <= kSmall; ++size) {
      Scenario one = now;
      if (one.value(open[next].symbol) == open[next].symbol && one.replace(open[next].symbol, size)) {
        from(one, next + 1);
      }
    }
  };
  try {
    from(scenario, 0);
  } catch (const Undefined&) {
    proved = false;
  }
  small_ = false;
  depth_ = depth;
  why_ = why;
  about_ = about;
  return proved && results_.complete && small_instances_ > 0;
}

}  // namespace entangle::prove
