#include "entangle/smt/oracle.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "entangle/smt/query_cache.h"
#include "entangle/smt/solver.h"
#include "entangle/smt/term.h"
#include "entangle/support/hash.h"

namespace entangle::smt {

using sym::Int;

namespace {

constexpr unsigned kSamples = 32;

// The divisors in it, also those inside arguments, that are not constants.
void collect_divisors(Int value, std::vector<Int>* divisors) {
  for (const sym::Term& term : sym::terms_of(value)) {
    for (const sym::Factor& factor : term.monomial->factors) {
      for (const Int argument : factor.atom->arguments) {
        collect_divisors(argument, divisors);
      }
      if (factor.atom->kind == sym::AtomKind::floordiv && !factor.atom->arguments[1].is_constant()) {
        divisors->push_back(factor.atom->arguments[1]);
      }
    }
  }
}

}  // namespace

std::string to_string(Truth truth) {
  switch (truth) {
    case Truth::no:
      return "no";
    case Truth::unknown:
      return "unknown";
    case Truth::yes:
      return "yes";
  }
  return {};
}

std::string to_string(Why why) {
  switch (why) {
    case Why::depends:
      return "depends on the values";
    case Why::gave_up:
      return "the solver reached its limit";
    case Why::solver_off:
      return "the solver is off";
    case Why::undefined:
      return "undefined";
  }
  return {};
}

Statistics& Statistics::operator+=(const Statistics& other) {
  asked += other.asked;
  fast += other.fast;
  cache_hits += other.cache_hits;
  bounds += other.bounds;
  solver += other.solver;
  unknown += other.unknown;
  gave_up += other.gave_up;
  return *this;
}

std::size_t Oracle::KeyHash::operator()(const Key& key) const noexcept {
  return support::hash_combine(
      support::hash_combine(static_cast<std::uint64_t>(key.question), key.left.hash()), key.right.hash());
}

Oracle::Oracle(sym::Facts facts, Options options) : facts_(std::move(facts)), options_(options) {
  const auto add = [this](Key key) {
    std::vector<Int> symbols = sym::symbols_of(key.left);
    const std::vector<Int> right = sym::symbols_of(key.right);
    symbols.insert(symbols.end(), right.begin(), right.end());
    other_facts_.push_back({key, std::move(symbols)});
  };
  for (const Int value : facts_.zero()) {
    add({Question::equal, value, 0});
  }
  for (const Int value : facts_.nonnegative()) {
    add({Question::less_equal, value, 0});
  }
  for (const auto& [divisor, dividend] : facts_.divisibilities()) {
    add({Question::divides, divisor, dividend});
  }
}

Truth Oracle::ask(Question question, Int a, Int b) {
  ++statistics_.asked;
  const Int right = facts_.core(b);
  Int left = facts_.core(a);
  if (question == Question::divides && left.is_constant() && left.value() < 0 && !(-left).is_poison()) {
    left = -left;
  }
  Key key{question, left, right};
  if (question == Question::equal || question == Question::less_equal) {
    Int difference = right - left;
    if (!difference.is_constant() && !difference.is_poison()) {
      // Without the content; the sign of an equation does not matter.
      const std::int64_t constant = sym::constant_term(difference);
      const std::int64_t common = sym::content(difference - Int(constant));
      if (question == Question::equal) {
        const Int reduced = constant % common == 0 ? *sym::exact_div(difference, common) : difference;
        const Int negated = -reduced;
        difference = sym::compare(negated, reduced) < 0 ? negated : reduced;
      } else {
        difference =
            *sym::exact_div(difference - Int(constant), common) + sym::floordiv(Int(constant), common);
      }
    }
    key = {question, difference, 0};
    if (difference.is_constant()) {
      ++statistics_.fast;
      return truth(question == Question::equal ? difference == Int(0) : difference.value() >= 0);
    }
  } else if (!left.is_poison() && (right == Int(0) || sym::exact_div(right, left))) {
    ++statistics_.fast;
    return Truth::yes;
  } else if (left.is_constant() && right.is_constant()) {
    ++statistics_.fast;
    return Truth::no;
  }
  if (key.left.is_poison() || key.right.is_poison()) {
    // Two values may have no difference that fits into 64 bits, and yet be comparable.
    if (const auto truth = by_ranges(question, left, right)) {
      ++statistics_.bounds;
      return *truth;
    }
    ++statistics_.unknown;
    remember(question, a, b, Why::undefined);
    return Truth::unknown;
  }
  const auto it = cache_.find(key);
  if (it != cache_.end()) {
    ++statistics_.cache_hits;
    return counted(it->second, question, a, b);
  }
  const Reply reply = decide(key);
  ++(reply.by == By::solver ? statistics_.solver : statistics_.bounds);
  cache_.emplace(key, reply);
  return counted(reply, question, a, b);
}

Truth Oracle::counted(const Reply& reply, Question question, Int a, Int b) {
  if (reply.truth == Truth::unknown) {
    ++statistics_.unknown;
    statistics_.gave_up += reply.why == Why::depends ? 0 : 1;
    remember(question, a, b, reply.why);
  }
  return reply.truth;
}

Oracle::Reply Oracle::decide(const Key& key) const {
  if (const auto truth = by_bounds(key)) {
    return {*truth, By::bounds, Why::depends};
  }
  std::vector<Int> symbols = sym::symbols_of(key.left);
  for (const Int symbol : sym::symbols_of(key.right)) {
    symbols.push_back(symbol);
  }
  const std::vector<const Fact*> facts = connected(&symbols);
  const Seen seen = by_samples(key, facts, symbols);
  if (seen.true_somewhere && seen.false_somewhere) {
    return {Truth::unknown, By::bounds, Why::depends};
  }
  if (!options_.use_solver) {
    return {Truth::unknown, By::bounds, Why::solver_off};
  }
  return by_solver(key, facts, symbols, seen);
}

std::optional<Truth> Oracle::by_ranges(Question question, Int left, Int right) const {
  const sym::Interval low = facts_.core_bounds(left);
  const sym::Interval high = facts_.core_bounds(right);
  if (question == Question::less_equal && low.upper && high.lower && *low.upper <= *high.lower) {
    return Truth::yes;
  }
  const bool above = low.lower && high.upper && *low.lower > *high.upper;
  const bool below = low.upper && high.lower && *low.upper < *high.lower;
  const bool never =
      question == Question::less_equal ? above : question == Question::equal && (above || below);
  return never ? std::optional(Truth::no) : std::nullopt;
}

std::optional<Truth> Oracle::by_bounds(const Key& key) const {
  if (key.question == Question::divides) {
    return divides_by_bounds(key.left, key.right);
  }
  const sym::Interval range = facts_.core_bounds(key.left);
  if (key.question == Question::equal) {
    if (!range.contains(0)) {
      return Truth::no;
    }
    const std::int64_t constant = sym::constant_term(key.left);
    if (constant % sym::content(key.left - Int(constant)) != 0) {
      return Truth::no;
    }
  } else {
    if (range.lower && *range.lower >= 0) {
      return Truth::yes;
    }
    if (range.upper && *range.upper < 0) {
      return Truth::no;
    }
  }
  return std::nullopt;
}

std::optional<Truth> Oracle::divides_by_bounds(Int d, Int n) const {
  if (d == Int(0)) {
    const sym::Interval range = facts_.core_bounds(n);
    return range.contains(0) ? std::nullopt : std::optional(Truth::no);
  }
  const Int remainder = facts_.core(sym::mod(n, d));
  if (remainder == Int(0)) {
    return Truth::yes;
  }
  if (!remainder.is_poison() && !facts_.core_bounds(remainder).contains(0)) {
    return Truth::no;
  }
  // d | known | multiple, and d divides what is left of n.
  for (const auto& [divisor, dividend] : facts_.divisibilities()) {
    if (!sym::exact_div(divisor, d)) {
      continue;
    }
    const sym::Term leading = sym::terms_of(dividend).front();
    for (const sym::Term& term : sym::terms_of(n)) {
      const auto times = sym::exact_div(sym::from_term(term), sym::from_term(leading));
      const Int rest = times ? n - *times * dividend : Int::poison();
      if (!rest.is_poison() && facts_.core(sym::mod(rest, d)) == Int(0)) {
        return Truth::yes;
      }
    }
  }
  return std::nullopt;
}

// The facts that are connected with the symbols, whose symbols are added.
std::vector<const Oracle::Fact*> Oracle::connected(std::vector<Int>* symbols) const {
  std::set<Int, sym::ContentLess> reached(symbols->begin(), symbols->end());
  std::vector<const Fact*> result;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Fact& fact : other_facts_) {
      if (std::find(result.begin(), result.end(), &fact) == result.end() &&
          std::any_of(fact.symbols.begin(), fact.symbols.end(),
                      [&reached](Int symbol) { return reached.contains(symbol); })) {
        reached.insert(fact.symbols.begin(), fact.symbols.end());
        result.push_back(&fact);
        changed = true;
      }
    }
  }
  symbols->assign(reached.begin(), reached.end());
  return result;
}

std::optional<bool> Oracle::holds(const Key& key, const sym::Valuation& at) {
  const auto left = sym::evaluate(key.left, at);
  const auto right = sym::evaluate(key.right, at);
  if (!left || !right) {
    return std::nullopt;
  }
  switch (key.question) {
    case Question::equal:
      return *left == 0;
    case Question::less_equal:
      return *left >= 0;
    case Question::divides:
      return *left == 0 || *left == -1 ? *left == -1 || *right == 0 : *right % *left == 0;
    case Question::consistent:
      return true;
  }
  return std::nullopt;
}

// Within its bounds, the index-th value of a symbol: first the same power of two for all symbols, then
// numbers of growing size that depend on the name.
std::int64_t Oracle::sample(Int symbol, unsigned index) const {
  constexpr unsigned kPowers = 8;
  const sym::Interval range = facts_.core_bounds(symbol);
  std::int64_t value = std::int64_t{1} << index % kPowers;
  if (index >= kPowers) {
    constexpr std::array<std::int64_t, 4> kSizes = {3, 8, 32, 257};
    const std::uint64_t random = support::hash_combine(symbol.hash(), index);
    const std::int64_t least = range.lower.value_or(-2);
    if (__builtin_add_overflow(least, static_cast<std::int64_t>(random >> 1) % kSizes[index % kSizes.size()],
                               &value)) {
      value = least;
    }
  }
  value = range.upper ? std::min(value, *range.upper) : value;
  return range.lower ? std::max(value, *range.lower) : value;
}

Oracle::Seen Oracle::by_samples(const Key& key, const std::vector<const Fact*>& facts,
                                const std::vector<Int>& symbols) const {
  Seen seen;
  sym::Valuation at;
  for (unsigned index = 0; index < kSamples && !(seen.true_somewhere && seen.false_somewhere); ++index) {
    for (const Int symbol : symbols) {
      at[symbol] = sample(symbol, index);
    }
    const bool satisfied = std::all_of(facts.begin(), facts.end(), [&at](const Fact* fact) {
      return holds(fact->key, at) == std::optional(true);
    });
    if (const auto truth = satisfied ? holds(key, at) : std::nullopt) {
      (*truth ? seen.true_somewhere : seen.false_somewhere) = true;
    }
  }
  return seen;
}

Oracle::Reply Oracle::by_solver(const Key& key, const std::vector<const Fact*>& facts,
                                const std::vector<Int>& symbols, Seen seen) const {
  Limits limits;
  limits.steps = options_.steps;
  Solver solver(limits);
  std::vector<Int> divisors;
  const auto statement = [&divisors](const Key& one) {
    collect_divisors(one.left, &divisors);
    collect_divisors(one.right, &divisors);
    const Term left = from_int(one.left);
    const Term right = from_int(one.right);
    switch (one.question) {
      case Question::equal:
        return eq(left, 0);
      case Question::less_equal:
        return left >= 0;
      case Question::divides:
        return ite(eq(left, 0), eq(right, 0), eq(mod(right, left), 0));
      case Question::consistent:
        break;
    }
    return Term::boolean(true);
  };
  for (const Int symbol : symbols) {
    const sym::Interval range = facts_.core_bounds(symbol);
    const Term variable = Term::symbol(symbol);
    if (range.lower) {
      solver.add(variable >= Term::integer(*range.lower));
    }
    if (range.upper) {
      solver.add(variable <= Term::integer(*range.upper));
    }
  }
  for (const Fact* fact : facts) {
    solver.add(statement(fact->key));
  }
  const Term claim = statement(key);
  for (const Int divisor : divisors) {
    solver.add(ne(from_int(divisor), 0));
  }
  bool gave_up = false;
  if (!seen.false_somewhere) {
    const Answer answer = QueryCache::shared().implies(solver, claim, options_.steps);
    if (answer == Answer::unsat) {
      return {Truth::yes, By::solver, Why::depends};
    }
    gave_up = answer == Answer::unknown;
  }
  if (!seen.true_somewhere) {
    const Answer answer = QueryCache::shared().implies(solver, !claim, options_.steps);
    if (answer == Answer::unsat) {
      return {Truth::no, By::solver, Why::depends};
    }
    gave_up |= answer == Answer::unknown;
  }
  return {Truth::unknown, By::solver, gave_up ? Why::gave_up : Why::depends};
}

std::optional<Int> Oracle::exact_div(Int n, Int d) {
  if (n.is_constant() && d.is_constant()) [[likely]] {
    ++statistics_.asked;
    ++statistics_.fast;
    return sym::exact_div(n, d);
  }
  if (!is_yes(divides(d, n)) || !is_no(equal(d, 0))) {
    return std::nullopt;
  }
  const Int dividend = facts_.core(n);
  const Int divisor = facts_.core(d);
  const Int quotient = sym::exact_div(dividend, divisor).value_or(sym::floordiv(dividend, divisor));
  const Int result = facts_.visible(facts_.core(quotient));
  return result.is_poison() ? std::nullopt : std::optional(result);
}

std::optional<std::strong_ordering> Oracle::compare(Int a, Int b) {
  const Truth at_most = less_equal(a, b);
  if (at_most == Truth::no) {
    return std::strong_ordering::greater;
  }
  if (at_most == Truth::unknown) {
    return std::nullopt;
  }
  const Truth at_least = less_equal(b, a);
  if (at_least == Truth::unknown) {
    return std::nullopt;
  }
  return at_least == Truth::yes ? std::strong_ordering::equal : std::strong_ordering::less;
}

Truth Oracle::equal(const std::vector<Int>& a, const std::vector<Int>& b) {
  if (a.size() != b.size()) {
    return Truth::no;
  }
  Truth result = Truth::yes;
  for (std::size_t i = 0; i < a.size() && result != Truth::no; ++i) {
    result = result & equal(a[i], b[i]);
  }
  return result;
}

Truth Oracle::consistent() {
  ++statistics_.asked;
  if (facts_.contradictory()) {
    ++statistics_.fast;
    return Truth::no;
  }
  const Key key{Question::consistent, 0, 0};
  const auto it = cache_.find(key);
  if (it != cache_.end()) {
    ++statistics_.cache_hits;
    return counted(it->second, Question::consistent, 0, 0);
  }
  std::vector<Int> symbols;
  for (const Fact& fact : other_facts_) {
    symbols.insert(symbols.end(), fact.symbols.begin(), fact.symbols.end());
  }
  const std::vector<const Fact*> facts = connected(&symbols);
  Reply reply{Truth::yes, By::bounds, Why::depends};
  if (!by_samples(key, facts, symbols).true_somewhere) {
    if (options_.use_solver) {
      // With nothing to claim, `no` means that there is no model.
      reply = by_solver(key, facts, symbols, {.true_somewhere = false, .false_somewhere = true});
      if (reply.truth == Truth::unknown && reply.why == Why::depends) {
        reply.truth = Truth::yes;
      }
    } else {
      reply = {Truth::unknown, By::bounds, Why::solver_off};
    }
  }
  ++(reply.by == By::solver ? statistics_.solver : statistics_.bounds);
  cache_.emplace(key, reply);
  return counted(reply, Question::consistent, 0, 0);
}

void Oracle::remember(Question question, Int a, Int b, Why why) {
  if (!undecided_ && question != Question::consistent) {
    const auto relation = question == Question::equal        ? Undecided::Relation::equal
                          : question == Question::less_equal ? Undecided::Relation::less_equal
                                                             : Undecided::Relation::divides;
    undecided_ = Undecided{relation, a, b, why};
  }
  const auto same_kind = std::count_if(unknowns_.begin(), unknowns_.end(),
                                       [why](const Unknown& unknown) { return unknown.why == why; });
  if (static_cast<std::size_t>(same_kind) >= options_.remembered_unknowns) {
    return;
  }
  std::string text;
  switch (question) {
    case Question::equal:
      text = sym::to_string(a) + " == " + sym::to_string(b);
      break;
    case Question::less_equal:
      text = sym::to_string(a) + " <= " + sym::to_string(b);
      break;
    case Question::divides:
      text = sym::to_string(a) + " divides " + sym::to_string(b);
      break;
    case Question::consistent:
      text = "the assumptions can be satisfied";
      break;
  }
  const Unknown unknown{std::move(text), why};
  if (std::find(unknowns_.begin(), unknowns_.end(), unknown) == unknowns_.end()) {
    unknowns_.push_back(unknown);
  }
}

}  // namespace entangle::smt
