// The side-condition oracle: questions about symbolic integers under given facts.
//
// `yes` means: for all values of the symbols that satisfy the facts. `no` means: for none of them. Everything
// else is `unknown`: it depends on the values, or the solver gave up, or poison is involved (see Unknown). An
// unknown is never a proof: users treat it as `no`.
//
// A question about constants is answered inline. Otherwise, in this order: the normal form under the facts,
// the cache, bounds and divisibility, a few sample values that satisfy the facts (to refute), and the solver
// with a limit in steps. Divisors are taken to be nonzero, as in sym. Answers depend only on the facts, the
// question and the limits, never on what was asked before. An Oracle is used by one thread at a time; give
// each thread its own and add up their statistics.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "entangle/sym/facts.h"
#include "entangle/sym/int.h"

namespace entangle::smt {

enum class Truth : std::uint8_t { no, unknown, yes };

// Kleene's connectives: unknown where the operands do not decide.
constexpr Truth operator!(Truth a) {
  return a == Truth::yes ? Truth::no : a == Truth::no ? Truth::yes : Truth::unknown;
}
constexpr Truth operator&(Truth a, Truth b) {
  return a < b ? a : b;
}
constexpr Truth operator|(Truth a, Truth b) {
  return a < b ? b : a;
}
constexpr Truth truth(bool value) {
  return value ? Truth::yes : Truth::no;
}
constexpr bool is_yes(Truth a) {
  return a == Truth::yes;
}
constexpr bool is_no(Truth a) {
  return a == Truth::no;
}
std::string to_string(Truth truth);

// How many questions were asked and by what they were answered.
struct Statistics {
  std::uint64_t asked = 0;
  std::uint64_t fast = 0;        // constants, or the same normal form
  std::uint64_t cache_hits = 0;  // asked before
  std::uint64_t bounds = 0;      // bounds, divisibility, samples
  std::uint64_t solver = 0;      // the solver
  std::uint64_t unknown = 0;     // of all answers, those that were `unknown`; of these,
  std::uint64_t gave_up = 0;     // those where the solver reached its limit or was off

  Statistics& operator+=(const Statistics& other);
  bool operator==(const Statistics&) const = default;
};

enum class Why : std::uint8_t {
  depends,     // true for some values, false for others
  gave_up,     // the solver reached its limit
  solver_off,  // not decided without the solver, which is switched off
  undefined,   // poison, or a product that overflows
};

std::string to_string(Why why);

// A question that was not answered.
struct Unknown {
  std::string question;  // e.g. `s0 <= 2*s1`
  Why why;

  bool operator==(const Unknown&) const = default;
};

// The same with its operands. `less_equal` is left <= right, `divides` is left | right.
struct Undecided {
  enum class Relation : std::uint8_t { equal, less_equal, divides };
  Relation relation;
  sym::Int left;
  sym::Int right;
  Why why;
};

struct OracleOptions {
  bool use_solver = true;
  std::uint32_t steps = 500'000;         // Z3's rlimit, per query
  std::size_t remembered_unknowns = 16;  // of each kind
};

class Oracle {
 public:
  using Options = OracleOptions;

  Oracle() : Oracle(sym::Facts()) {}
  explicit Oracle(sym::Facts facts, Options options = {});

  const sym::Facts& facts() const { return facts_; }
  const Options& options() const { return options_; }

  Truth equal(sym::Int a, sym::Int b) {
    if (a.is_constant() && b.is_constant()) [[likely]] {
      return constants(*a.constant() == *b.constant());
    }
    return ask(Question::equal, a, b);
  }
  Truth less_equal(sym::Int a, sym::Int b) {
    if (a.is_constant() && b.is_constant()) [[likely]] {
      return constants(*a.constant() <= *b.constant());
    }
    return ask(Question::less_equal, a, b);
  }
  Truth less(sym::Int a, sym::Int b) {
    if (a.is_constant() && b.is_constant()) [[likely]] {
      return constants(*a.constant() < *b.constant());
    }
    return !ask(Question::less_equal, b, a);
  }
  Truth nonnegative(sym::Int a) { return less_equal(0, a); }
  // Whether d divides n; d = 0 divides only 0.
  Truth divides(sym::Int d, sym::Int n) {
    if (d.is_constant() && n.is_constant() && *d.constant() > 0) [[likely]] {
      return constants(*n.constant() % *d.constant() == 0);
    }
    return ask(Question::divides, d, n);
  }

  // n/d where d is known to be nonzero and to divide n; normalised. With the fact that 8 divides s0,
  // exact_div(s0, 8) is `s0//8`.
  std::optional<sym::Int> exact_div(sym::Int n, sym::Int d);
  // The order of a and b, where it is known.
  std::optional<std::strong_ordering> compare(sym::Int a, sym::Int b);
  // Whether two lists are equal, element by element; `no` for different lengths.
  Truth equal(const std::vector<sym::Int>& a, const std::vector<sym::Int>& b);
  // facts().normalise.
  sym::Int normalise(sym::Int a) const { return facts_.normalise(a); }
  // Whether the facts can be satisfied.
  Truth consistent();

  const Statistics& statistics() const { return statistics_; }
  // The first unanswered questions, each once, in the order they were asked.
  const std::vector<Unknown>& unknowns() const { return unknowns_; }
  // The first question that was not answered since forget_undecided(), which is the whole life at first.
  const std::optional<Undecided>& undecided() const { return undecided_; }
  void forget_undecided() { undecided_.reset(); }

 private:
  enum class Question : std::uint8_t { equal, less_equal, divides, consistent };
  enum class By : std::uint8_t { bounds, solver };
  // In core form: `left == 0` for equal, `left >= 0` for less_equal, `left | right` for divides.
  struct Key {
    Question question;
    sym::Int left;
    sym::Int right;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Reply {
    Truth truth = Truth::unknown;
    By by = By::bounds;
    Why why = Why::depends;  // of an unknown
  };
  // A fact that neither substitution nor bounds express.
  struct Fact {
    Key key;
    std::vector<sym::Int> symbols;
  };
  // What is seen so far of the truth of a question.
  struct Seen {
    bool true_somewhere = false;
    bool false_somewhere = false;
  };

  Truth constants(bool value) {
    ++statistics_.asked;
    ++statistics_.fast;
    return truth(value);
  }
  Truth ask(Question question, sym::Int a, sym::Int b);
  Truth counted(const Reply& reply, Question question, sym::Int a, sym::Int b);
  Reply decide(const Key& key) const;
  std::optional<Truth> by_ranges(Question question, sym::Int left, sym::Int right) const;
  std::optional<Truth> by_bounds(const Key& key) const;
  std::optional<Truth> divides_by_bounds(sym::Int d, sym::Int n) const;
  Seen by_samples(const Key& key, const std::vector<const Fact*>& facts,
                  const std::vector<sym::Int>& symbols) const;
  Reply by_solver(const Key& key, const std::vector<const Fact*>& facts, const std::vector<sym::Int>& symbols,
                  Seen seen) const;
  std::vector<const Fact*> connected(std::vector<sym::Int>* symbols) const;
  std::int64_t sample(sym::Int symbol, unsigned index) const;
  void remember(Question question, sym::Int a, sym::Int b, Why why);

  static std::optional<bool> holds(const Key& key, const sym::Valuation& at);

  sym::Facts facts_;
  Options options_;
  std::vector<Fact> other_facts_;
  Statistics statistics_;
  std::unordered_map<Key, Reply, KeyHash> cache_;
  std::vector<Unknown> unknowns_;
  std::optional<Undecided> undecided_;
};

}  // namespace entangle::smt
