#include "entangle/smt/oracle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "entangle/smt/solver.h"

namespace entangle::smt {

namespace {

using sym::Facts;
using sym::floordiv;
using sym::Int;
using sym::mod;

const Int s0 = Int::symbol("s0");
const Int s1 = Int::symbol("s1");
const Int s2 = Int::symbol("s2");

constexpr Truth yes = Truth::yes;
constexpr Truth no = Truth::no;
constexpr Truth unknown = Truth::unknown;

}  // namespace

// Must stay the first test of this file that creates an oracle: whether the solver was used is a property of
// the process, so it is asked relative to the start.
TEST_CASE("constants and normal forms do not need the solver") {
  const bool before = solver_was_used();
  Oracle oracle;
  CHECK(oracle.equal(3, 3) == yes);
  CHECK(oracle.equal(3, 4) == no);
  CHECK(oracle.less(3, 4) == yes);
  CHECK(oracle.less_equal(4, 3) == no);
  CHECK(oracle.divides(4, 8) == yes);
  CHECK(oracle.divides(4, 6) == no);
  CHECK(oracle.divides(-4, 8) == yes);
  CHECK(oracle.divides(0, 0) == yes);
  CHECK(oracle.divides(0, 3) == no);
  CHECK(oracle.nonnegative(0) == yes);
  CHECK(oracle.exact_div(8, 4) == std::optional(Int(2)));
  CHECK(oracle.exact_div(8, 3) == std::nullopt);
  CHECK(oracle.compare(3, 4) == std::optional(std::strong_ordering::less));
  CHECK(oracle.equal({1, 2}, {1, 2}) == yes);
  CHECK(oracle.equal({1, 2}, {1, 2, 3}) == no);
  CHECK(oracle.equal({1, s0}, {2, s1}) == no);
  CHECK(oracle.equal((s0 + 1) * (s0 + 1), s0 * s0 + 2 * s0 + 1) == yes);
  CHECK(oracle.equal(s0 + 1, s0) == no);
  CHECK(oracle.less(s0, s0 + 1) == yes);
  CHECK(oracle.divides(s0, s0 * s1) == yes);
  CHECK(oracle.statistics().bounds == 0);
  CHECK(oracle.statistics().fast == oracle.statistics().asked);
  CHECK(solver_was_used() == before);
}

TEST_CASE("Kleene's connectives") {
  CHECK((yes & unknown) == unknown);
  CHECK((no & unknown) == no);
  CHECK((yes | unknown) == yes);
  CHECK((no | unknown) == unknown);
  CHECK(!yes == no);
  CHECK(!no == yes);
  CHECK(!unknown == unknown);
  CHECK(truth(true) == yes);
  CHECK(is_yes(yes));
  CHECK(!is_yes(unknown));
  CHECK(is_no(no));
  CHECK(to_string(unknown) == "unknown");
}

TEST_CASE("bounds, divisibility and samples") {
  Facts facts;
  facts.add_divides(8, s0);
  facts.add_le(s1, s2);
  Oracle oracle(facts);
  CHECK(oracle.less_equal(1, s1) == yes);
  CHECK(oracle.less_equal(8, s0) == yes);
  CHECK(oracle.less(s0, 8) == no);
  CHECK(oracle.equal(s0, 0) == no);
  CHECK(oracle.divides(4, s0) == yes);
  CHECK(oracle.divides(8, s0 * s1) == yes);
  CHECK(oracle.divides(8, s0 + 1) == no);
  CHECK(oracle.divides(2, 2 * s1 + 1) == no);
  CHECK(oracle.divides(8, s1) == unknown);
  CHECK(oracle.equal(s0, s1) == unknown);
  CHECK(oracle.less_equal(s1, s2) == yes);
  CHECK(oracle.less_equal(s1 - 3, s2) == yes);
  CHECK(oracle.less(s2, s1) == no);
  CHECK(oracle.exact_div(s0, 8) == std::optional(floordiv(s0, Int(8))));
  CHECK(oracle.exact_div(s0 * s1, 4) == std::optional(2 * s1 * floordiv(s0, Int(8))));
  CHECK(oracle.exact_div(s0, s1) == std::nullopt);
  CHECK(oracle.compare(s1, s2) == std::nullopt);
  CHECK(oracle.compare(s0, 3) == std::optional(std::strong_ordering::greater));
  // Only that s0 may equal s1 was found by the solver.
  CHECK(oracle.statistics().solver == 1);
}

TEST_CASE("what needs the solver") {
  Facts facts;
  facts.add_le(s0 * s1, 12);
  facts.add_equal(s0 * s2, 12);
  Oracle oracle(facts);
  CHECK(oracle.less_equal(s1, s2) == yes);
  CHECK(oracle.statistics().solver == 1);
  CHECK(oracle.less_equal(s1, s2) == yes);
  CHECK(oracle.less_equal(2 * s1, 2 * s2) == yes);
  CHECK(oracle.statistics().cache_hits == 2);
  CHECK(oracle.statistics().solver == 1);
  CHECK(oracle.equal(s0, 5) == no);
  CHECK(oracle.consistent() == yes);

  Oracle without(facts, {.use_solver = false});
  CHECK(without.less_equal(s1, s2) == unknown);
  CHECK(without.statistics().gave_up == 1);
  CHECK(without.unknowns() == std::vector<Unknown>{{"s1 <= s2", Why::solver_off}});
}

TEST_CASE("divisibility that is not of a symbol") {
  Facts facts;
  facts.add_divides(8, s0 + s1);
  Oracle oracle(facts);
  CHECK(oracle.divides(8, s0 + s1) == yes);
  CHECK(oracle.divides(4, s0 + s1) == yes);
  CHECK(oracle.divides(4, s0 * s2 + s1 * s2) == yes);
  CHECK(oracle.divides(4, s0 + s1 + 8 * s2) == yes);
  CHECK(oracle.divides(4, s0 + s1 + 2) == no);
  CHECK(oracle.exact_div(s0 + s1, 8) == std::optional(floordiv(s0 + s1, Int(8))));
}

TEST_CASE("facts that contradict each other beyond bounds") {
  Facts facts;
  facts.add_equal(s0 * s0, 2 * s1 * s1);
  facts.add_le(s1, 3);
  CHECK(!facts.contradictory());
  Oracle oracle(facts);
  CHECK(oracle.consistent() == no);
  CHECK(Oracle().consistent() == yes);
  Facts plain;
  plain.add_equal(s0, 0);
  CHECK(Oracle(plain).consistent() == no);
}

TEST_CASE("unknowns are counted and remembered, each once") {
  Oracle oracle;
  CHECK(oracle.equal(s0, s1) == unknown);
  CHECK(oracle.equal(s0, s1) == unknown);
  CHECK(oracle.less_equal(Int::poison(), 1) == unknown);
  CHECK(oracle.equal(Int::poison(), Int::poison()) == unknown);
  CHECK(oracle.exact_div(Int::poison(), 3) == std::nullopt);
  CHECK(oracle.divides(3, Int::poison()) == unknown);
  CHECK(oracle.statistics().unknown == 6);
  CHECK(oracle.statistics().gave_up == 0);
  CHECK(oracle.unknowns() == std::vector<Unknown>{{"s0 == s1", Why::depends},
                                                  {"poison <= 1", Why::undefined},
                                                  {"poison == poison", Why::undefined},
                                                  {"3 divides poison", Why::undefined}});
  Oracle brief(Facts(), {.remembered_unknowns = 2});
  for (int i = 2; i < 10; ++i) {
    CHECK(brief.equal(s0, i) == unknown);
  }
  CHECK(brief.unknowns().size() == 2);
  CHECK(brief.unknowns()[0].question == "s0 == 2");

  Statistics total = oracle.statistics();
  total += brief.statistics();
  CHECK(total.unknown == 14);
  CHECK(to_string(Why::depends) == "depends on the values");
}

TEST_CASE("a limit in steps is an unknown") {
  Oracle oracle(Facts(), {.steps = 1});
  // s0**3 + s1**3 == s2**3 has no solution in positive integers.
  CHECK(oracle.equal(s0 * s0 * s0 + s1 * s1 * s1, s2 * s2 * s2) == unknown);
  CHECK(oracle.statistics().gave_up == 1);
  CHECK(oracle.unknowns().at(0).why == Why::gave_up);
}

TEST_CASE("answers agree with brute force over small ranges") {
  std::mt19937 random(31);
  const auto number = [&random](int lower, int upper) {
    return std::uniform_int_distribution<int>(lower, upper)(random);
  };
  const std::vector<Int> symbols = {s0, s1};
  constexpr int kMost = 6;
  const auto value = [&]() -> Int {
    Int result = number(-4, 6);
    for (const Int symbol : symbols) {
      result += number(-2, 2) * symbol;
    }
    switch (number(0, 5)) {
      case 0:
        return result * symbols[static_cast<std::size_t>(number(0, 1))];
      case 1:
        return floordiv(result, Int(number(2, 4)));
      case 2:
        return mod(result, Int(number(2, 4)));
      case 3:
        return max(result, s0);
      default:
        return result;
    }
  };
  std::uint64_t decided = 0;
  Statistics total;
  for (int round = 0; round < 60; ++round) {
    Facts facts;
    facts.add_le(s0, kMost);
    facts.add_le(s1, kMost);
    std::vector<std::function<bool(const sym::Valuation&)>> conditions;
    if (number(0, 1) == 0) {
      const Int a = value();
      const Int b = value();
      facts.add_le(a, b);
      conditions.emplace_back([a, b](const auto& at) { return *evaluate(a, at) <= *evaluate(b, at); });
    }
    if (number(0, 2) == 0) {
      const int d = number(2, 3);
      facts.add_divides(d, s1);
      conditions.emplace_back([d](const auto& at) { return at.at(s1) % d == 0; });
    }
    std::vector<sym::Valuation> points;
    for (int x = 1; x <= kMost; ++x) {
      for (int y = 1; y <= kMost; ++y) {
        sym::Valuation at = {{s0, x}, {s1, y}};
        if (std::all_of(conditions.begin(), conditions.end(), [&at](const auto& c) { return c(at); })) {
          points.push_back(std::move(at));
        }
      }
    }
    Oracle oracle(facts);
    REQUIRE(oracle.consistent() == truth(!points.empty()));
    if (points.empty()) {
      continue;
    }
    for (int i = 0; i < 8; ++i) {
      const Int a = value();
      const Int b = value();
      const Int d = number(0, 2) == 0 ? s0 : Int(number(2, 4));
      const auto expected = [&points](const auto& predicate) {
        const bool all = std::all_of(points.begin(), points.end(), predicate);
        const bool none = std::none_of(points.begin(), points.end(), predicate);
        return all ? yes : none ? no : unknown;
      };
      CAPTURE(to_string(a));
      CAPTURE(to_string(b));
      CAPTURE(to_string(d));
      // With every symbol bounded, the solver decides everything.
      REQUIRE(oracle.equal(a, b) ==
              expected([&](const auto& at) { return evaluate(a, at) == evaluate(b, at); }));
      REQUIRE(oracle.less_equal(a, b) ==
              expected([&](const auto& at) { return *evaluate(a, at) <= *evaluate(b, at); }));
      REQUIRE(oracle.less(a, b) ==
              expected([&](const auto& at) { return *evaluate(a, at) < *evaluate(b, at); }));
      const Truth divides =
          expected([&](const auto& at) { return *evaluate(a, at) % *evaluate(d, at) == 0; });
      REQUIRE(oracle.divides(d, a) == divides);
      const auto quotient = oracle.exact_div(a, d);
      REQUIRE(quotient.has_value() == (divides == yes));
      if (quotient) {
        for (const sym::Valuation& at : points) {
          REQUIRE(*evaluate(*quotient, at) * *evaluate(d, at) == *evaluate(a, at));
        }
      }
      decided += divides == unknown ? 0 : 1;
    }
    total += oracle.statistics();
  }
  CHECK(decided > 20);
  CHECK(total.gave_up == 0);
  CHECK(total.asked == total.fast + total.bounds + total.solver + total.cache_hits);
}

}  // namespace entangle::smt
