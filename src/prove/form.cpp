#include "prove/form.h"

#include <algorithm>

#include "entangle/smt/solver.h"
#include "entangle/support/hash.h"
#include "prove/symbolic.h"

namespace entangle::prove {

using eval::Undefined;
using rules::Expr;
using sym::Int;
using tensor::TensorType;
using term::kNoTerm;
using term::Value;

namespace {

constexpr std::size_t kDepth = 90;       // questions asked of one form
constexpr std::int64_t kEnumerated = 6;  // values of an integer that must be known
constexpr std::size_t kCases = 200;      // parts of the result's index
constexpr std::int64_t kSmall = 3;       // sizes when all of them are tried
constexpr std::size_t kSmallSymbols = 4;
constexpr std::size_t kCandidates = 12;  // cases that are not proved and evaluated
constexpr std::uint64_t kGuesses = 24;   // sizes that are tried
constexpr std::int64_t kSmaller = 6;     // of one size, where the sides differ
constexpr std::uint32_t kModelSteps = 200'000;
constexpr std::uint64_t kWeight = 10;  // of a question with a higher limit than those about sizes

class NoPatterns final : public term::PatternHost {
 public:
  bool has_match(TermId, const Expr&, const Expr*, const term::Frame&) override { return false; }
  TermId lookup(const Expr&, term::Frame&) override { return kNoTerm; }
};

}  // namespace

// Everything that depends on what is assumed of the sizes.
struct Forms::World {
  World(const rules::RuleSet& rules, const Subject& subject, rules::OpId op, const Limits& limits,
        Scenario& given, Chooser& chooser, std::uint64_t& asked)
      : scenario(given),
        questions(asked),
        oracle(given.facts(), {true, 20'000, 16}),
        typing(rules, oracle),
        terms(typing),
        evaluator(terms, typing, &patterns),
        builder(subject, op, limits, given, chooser, typing, terms, evaluator) {
    terms.tile_with([this](TermId id, std::size_t axis) { return builder.tiling(id, axis); });
  }
  ~World() { questions += oracle.statistics().solver; }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  Scenario& scenario;
  std::uint64_t& questions;  // that reached the solver
  smt::Oracle oracle;
  term::Typing typing;
  eval::Terms terms;
  NoPatterns patterns;
  term::Evaluator evaluator;
  Builder builder;
  std::size_t cases = 0;
};

Forms::Forms(const rules::RuleSet& rules, const Subject& subject, rules::OpId op, const Limits& limits,
             AskSolver unsatisfiable, Replayer& replayer)
    : rules_(rules),
      subject_(subject),
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
  if (lemma_.right.kind == rules::ExprKind::variable) {
    const auto& value = world.builder.frame().slots[lemma_.right.slot];
    if (value && value->as_list() != nullptr) {
      std::vector<TermId> ids;
      for (const Value& entry : *value->as_list()) ids.push_back(entry.as_term()->id);
      if (ids.size() != left.size()) throw Infeasible{};
      return ids;
    }
  }
  const TensorType type = world.terms.type(left[0]);
  const auto id = world.evaluator.evaluate_term(lemma_.right, world.builder.frame(), &type);
  if (id && *id != kNoTerm) return {*id};
  fork_if_undecided(world.oracle);
  enumerate(world);
  return {};
}

Forms::Verdict Forms::attempt(Scenario& scenario, Chooser& chooser) {
  applies_ = false;
  World world(rules_, subject_, op_, limits_, scenario, chooser, results_.questions);
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

// ---------------------------------------------------------------- small sizes

// Sizes that the case admits. None: `surely` says whether it admits none.
std::optional<sym::Valuation> Forms::admitted(World& world, bool* surely) {
  const std::vector<Scenario::Symbol> open = world.scenario.open();
  *surely = false;
  for (std::uint64_t n = 0; n < kGuesses; ++n) {
    sym::Valuation sizes;
    std::uint64_t state = n;
    for (const Scenario::Symbol& one : open) {
      state = support::mix(state + 0x9e3779b97f4a7c15ULL);
      sizes[one.symbol] = (one.size ? 1 : 0) + static_cast<std::int64_t>(state % 4);
    }
    if (world.scenario.admits(sizes)) return sizes;
  }
  Symbolic symbolic(world.terms, Space(world.oracle));
  smt::Solver solver({kModelSteps, {}, 0});
  for (const smt::Term& assertion : assertions(world, symbolic)) solver.add(assertion);
  results_.questions += kWeight;
  const smt::Answer answer = solver.check();
  if (answer != smt::Answer::sat) {
    *surely = answer == smt::Answer::unsat;
    return std::nullopt;
  }
  sym::Valuation sizes;
  for (const Scenario::Symbol& one : open) {
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
  World world(rules_, subject_, op_, limits_, *instance, chooser, results_.questions);
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

// Evaluates an instance of a case that is not proved; where the sides differ, smaller ones, too.
void Forms::refute(World& world) {
  ++candidates_;
  bool none = false;
  auto sizes = admitted(world, &none);
  const auto differs = [&](const sym::Valuation& tried) {
    bool result = false;
    with_sizes(world.scenario, tried, [&](World& instance, const std::vector<TermId>& right) {
      result =
          replayer_.compare({instance.terms, instance.builder.left(), right, instance.builder.equations(),
                             instance.builder.describe()}) == Replayer::Answer::differ;
    });
    return result;
  };
  if (!sizes || !differs(*sizes)) return;
  results_.refuted = true;
  if (!replayer_.minimises()) return;
  for (const Scenario::Symbol& one : world.scenario.open()) {
    const std::int64_t least = one.size ? 1 : 0;
    const std::int64_t now = sizes->at(one.symbol);
    for (std::int64_t value = least; value < now && value < least + kSmaller; ++value) {
      sym::Valuation tried = *sizes;
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

// ---------------------------------------------------------------- elements

void Forms::compare(World& world, TermId left, TermId right, const Judge& judge) {
  const TensorType& a = world.terms.type(left);
  const TensorType& b = world.terms.type(right);
  const auto differ = [&]() -> Undefined {
    return {"the types are not shown to be equal: " + tensor::to_string(a) + " and " + tensor::to_string(b)};
  };
  if (a.dtype != b.dtype || a.rank() != b.rank()) throw differ();
  Space space(world.oracle);
  for (std::size_t k = 0; k < a.rank(); ++k) {
    if (!space.equal(space.simplified(a.shape[k]), space.simplified(b.shape[k]))) throw differ();
  }
  std::vector<Int> index;
  for (std::size_t k = 0; k < a.rank(); ++k) {
    const Int size = space.simplified(a.shape[k]);
    if (size == Int(1)) {
      index.emplace_back(0);
      continue;
    }
    index.push_back(Int::symbol("i" + std::to_string(k)));
    space.push(index.back(), size);
  }
  compare_at(world, left, right, index, space, judge);
}

// Cuts the index where an element depends on where it falls.
void Forms::compare_at(World& world, TermId left, TermId right, std::vector<Int> index, const Space& space,
                       const Judge& judge) {
  if (++world.cases > kCases) throw Undefined{"too many cases"};
  Symbolic symbolic(world.terms, space);
  const auto owned = [&](Int position) {
    const auto at = std::ranges::find(space.positions(), position, &Space::Position::symbol);
    return at == space.positions().end() ? nullptr : &*at;
  };
  std::optional<Breakpoint> cut;
  std::optional<SplitPosition> split;
  const auto asked = [&](const std::function<void()>& question) {
    try {
      question();
      return false;
    } catch (const Breakpoint& thrown) {
      if (owned(thrown.position) == nullptr) throw;
      cut = thrown;
    } catch (const SplitPosition& thrown) {
      if (owned(thrown.position) == nullptr) throw;
      cut.reset();
      split = thrown;
    }
    return true;
  };
  if (!asked([&] {
        const Poly x = symbolic.element(left, index);
        const Poly y = symbolic.element(right, index);
        const Poly difference = symbolic.algebra().subtract(x, y);
        if (difference.is_zero() || judge(symbolic, difference)) return;
        throw Undefined{"the solver does not show that the elements are equal"};
      })) {
    return;
  }
  // Where it is cut may depend on other positions, which are cut first.
  for (std::size_t n = 0; cut && !split; ++n) {
    const Breakpoint tried = *cut;
    Space rest = space;
    bool inside = true;
    if (!asked([&] {
          inside = rest.less_equal(0, tried.at) && rest.less_equal(tried.at, owned(tried.position)->high + 1);
        })) {
      if (!inside) throw Undefined{"an index that is cut outside"};
      break;
    }
    if (n > 8) throw Undefined{"an index that is cut everywhere"};
  }
  std::vector<std::pair<Int, std::vector<Space::Position>>> parts;  // by what it is replaced
  const Int position = split ? split->position : cut->position;
  const Space::Position* at = owned(position);
  if (split) {
    const Int row = Int::symbol(position.name() + "r");
    const Int column = Int::symbol(position.name() + "c");
    parts.push_back(
        {row * split->inner + column,
         {{row, 0, *sym::exact_div(at->high + 1, split->inner) - 1}, {column, 0, split->inner - 1}}});
  } else {
    const Int below = Int::symbol(position.name() + "a");
    const Int above = Int::symbol(position.name() + "b");
    parts.push_back({below, {{below, 0, cut->at - 1}}});
    parts.push_back({cut->at + above, {{above, 0, at->high - cut->at}}});
  }
  for (const auto& [by, positions] : parts) {
    Space inner(world.oracle);
    for (const Space::Position& one : space.positions()) {
      if (one.symbol == position) {
        for (const Space::Position& part : positions) inner.push(part);
      } else {
        inner.push({one.symbol, one.low, sym::substitute(one.high, {{position, by}})});
      }
    }
    std::vector<Int> replaced;
    for (const Int entry : index) replaced.push_back(sym::substitute(entry, {{position, by}}));
    compare_at(world, left, right, std::move(replaced), inner, judge);
  }
}

// The difference with its positions numbered, and their ranges.
std::string Forms::spelled(Symbolic& symbolic, Poly difference) {
  std::string ranges;
  std::size_t count = 0;
  for (const Space::Position& one : symbolic.space().positions()) {
    const Int number = Int::symbol("at" + std::to_string(count++));
    difference = symbolic.algebra().substitute(difference, one.symbol, number);
    ranges += sym::to_string(one.low) + ".." + sym::to_string(one.high) + " ";
  }
  return ranges + symbolic.algebra().readable(difference);
}

std::vector<smt::Term> Forms::assertions(World& world, Symbolic& symbolic) {
  std::vector<smt::Term> result;
  for (const Scenario::Symbol& one : world.scenario.open()) {
    if (one.size) result.push_back(smt::Term::integer(1) <= smt::from_int(one.symbol));
  }
  for (const Scenario::Assumption& assumption : world.scenario.assumptions()) {
    const smt::Term l = smt::from_int(assumption.left);
    const smt::Term r = smt::from_int(assumption.right);
    switch (assumption.relation) {
      case Scenario::Relation::equal:
        result.push_back(smt::eq(l, r));
        break;
      case Scenario::Relation::less_equal:
        result.push_back(l <= r);
        break;
      case Scenario::Relation::divides:
        result.push_back(smt::eq(smt::mod(r, l), smt::Term::integer(0)));
        break;
    }
  }
  for (const Space::Position& one : symbolic.space().positions()) {
    result.push_back(smt::from_int(one.low) <= smt::from_int(one.symbol));
    result.push_back(smt::from_int(one.symbol) <= smt::from_int(one.high));
  }
  return result;
}

bool Forms::equal_elements(World& world, Symbolic& symbolic, const Poly& difference) {
  Algebra& algebra = symbolic.algebra();
  const auto zero = [&](const Poly& value, const std::vector<Range>& ranges) {
    std::vector<smt::Term> facts = assertions(world, symbolic);
    for (const auto& [at, size] : ranges) {
      facts.push_back(smt::Term::integer(0) <= smt::from_int(at));
      facts.push_back(smt::from_int(at) < smt::from_int(size));
    }
    const smt::Term term = algebra.term(value, facts);
    // Elements with known bounds.
    std::vector<AtomId> atoms;
    algebra.collect(value, atoms);
    for (const AtomId id : atoms) {
      const Atom& atom = algebra.atom(id);
      if (atom.kind != Atom::Kind::leaf) continue;
      const term::Interval bounds = world.terms.interval(atom.tensor);
      if (!bounds.low || !bounds.high) continue;
      Poly element;
      element.terms[{{id, 1}}] = 1;
      const smt::Term one = algebra.term(element, facts);
      facts.push_back(smt::to_real(smt::from_int(*bounds.low)) <= one);
      facts.push_back(one <= smt::to_real(smt::from_int(*bounds.high)));
    }
    facts.push_back(smt::ne(term, smt::Term::real(0)));
    return contradict(facts);
  };
  // Sums over the same positions are one sum, and that of zeros is zero.
  Poly rest = difference;
  const std::vector<Algebra::SumTerm> sums = algebra.sums_of(difference);
  std::vector<bool> done(sums.size());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (done[k]) continue;
    std::vector<Range> ranges;
    for (const auto& [at, size] : sums[k].entry.ranges) ranges.emplace_back(algebra.fresh(), size);
    Poly body;
    Poly whole;
    for (std::size_t j = k; j < sums.size(); ++j) {
      const Entry& entry = sums[j].entry;
      if (done[j] || !std::ranges::equal(entry.ranges, ranges, {}, &Range::second, &Range::second)) continue;
      Poly renamed = entry.body;
      for (std::size_t n = 0; n < ranges.size(); ++n) {
        renamed = algebra.substitute(renamed, entry.ranges[n].first, ranges[n].first);
      }
      body = algebra.add(body, algebra.multiply(sums[j].factor, renamed));
      whole = algebra.add(whole, sums[j].whole);
      done[j] = true;
    }
    if (body.is_zero() || zero(body, ranges)) rest = algebra.subtract(rest, whole);
  }
  return rest.is_zero() || zero(rest, {});
}

}  // namespace entangle::prove
