// Forms: proofs of a lemma, form by form.
//
// A form fixes ranks, axes, list lengths, operators and element types; sizes, offsets, scalars and elements
// are symbolic. All forms within the limits are enumerated; where a question about sizes is not decided, both
// answers are looked at. A form is proved when the right side has the left side's type and the elements at
// any index are equal.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/smt/solver.h"
#include "prove/builder.h"
#include "prove/counterexample.h"
#include "prove/symbolic.h"

namespace entangle::prove {

// Answers of the solver, by the text of the question.
using AskSolver = std::function<bool(const std::vector<smt::Term>& assertions)>;

struct FormResults {
  std::size_t instances = 0;  // cases of forms where the lemma applies
  std::size_t proved = 0;
  std::size_t vacuous = 0;  // of them, where the right side is undefined: there nothing is claimed
  std::size_t bounded = 0;  // proved for small sizes only
  std::string unproved;     // the first that is not proved, and why
  std::string limited;      // the first that is proved for small sizes only
  bool refuted = false;     // by an instance of a case
  bool evaluated = false;   // whether the sides agreed on an instance of a case that is proved
  bool complete = true;     // whether all forms were looked at
  std::string limit;        // where the search stopped, if it did
  bool gave_up = false;     // for the time that has passed
  std::set<std::size_t> ranks;
  std::set<rules::OpId> operators;  // whose values were looked at
  std::size_t longest = 0;          // list, or number of operands
  std::size_t highest = 0;          // rank of a tensor
  std::uint64_t questions = 0;      // that reached the solver
  std::size_t runs = 0;
};

class Forms {
 public:
  // `unsatisfiable`: whether the solver shows that the assertions contradict each other. The replayer is
  // given instances of what is not proved.
  Forms(const rules::RuleSet& rules, const Subject& subject, rules::OpId op, const Limits& limits,
        AskSolver unsatisfiable, Replayer& replayer);

  FormResults run();

 private:
  struct World;
  enum class Verdict : std::uint8_t { infeasible, proved, vacuous, unproved };

  void explore(Scenario scenario);
  Verdict attempt(Scenario& scenario, Chooser& chooser);
  void record(Scenario& scenario, Verdict verdict, bool small);
  bool small_sizes(const Scenario& scenario);
  enum class Concrete : std::uint8_t { defined, undefined, undecided };
  static std::vector<sym::Valuation> guessed(const World& world, std::size_t most);
  std::optional<sym::Valuation> admitted(World& world, bool* surely);
  static std::optional<sym::Valuation> model_sizes(World& world, smt::Solver& solver, bool* surely = nullptr);
  Concrete with_sizes(const Scenario& scenario, const sym::Valuation& sizes,
                      const std::function<void(World&, const std::vector<TermId>&)>& run);
  bool defined_for_some_sizes(World& world);
  void refute(World& world);
  void evaluate(World& world);
  void condition(World& world, const rules::Expr& expr);
  std::vector<TermId> right_side(World& world);
  // Told the difference of two elements at an index that is cut no further; false when it is not shown to be
  // 0.
  using Judge = std::function<bool(Symbolic&, const Poly&)>;
  void compare(World& world, TermId left, TermId right, const Judge& judge);
  void compare_at(World& world, TermId left, TermId right, std::vector<sym::Int> index, const Space& space,
                  const Judge& judge);
  // Whether the place is inside, where the guards hold.
  bool within(World& world, Symbolic& symbolic, sym::Int place, sym::Int size);
  static std::string spelled(Symbolic& symbolic, Poly difference);
  void enumerate(World& world);
  bool equal_elements(World& world, Symbolic& symbolic, const Poly& difference);
  bool contradict(const std::vector<smt::Term>& assertions);
  std::vector<smt::Term> assertions(World& world, Symbolic& symbolic);

  const rules::RuleSet& rules_;
  const Subject& subject_;
  const Vocabulary vocabulary_;
  const rules::Lemma& lemma_;
  const rules::OpId op_;
  const Limits limits_;
  const AskSolver unsatisfiable_;
  Replayer& replayer_;
  FormResults results_;
  std::size_t depth_ = 0;
  std::size_t small_instances_ = 0;
  std::size_t candidates_ = 0;
  std::size_t evaluations_ = 0;
  std::string why_;
  std::string about_;
  std::vector<std::size_t> chosen_;          // of the form that is looked at
  std::optional<sym::Valuation> suspected_;  // sizes for which something outside may be read
  bool small_ = false;
  bool applies_ = false;  // whether the lemma applies to the form that is looked at
};

}  // namespace entangle::prove
