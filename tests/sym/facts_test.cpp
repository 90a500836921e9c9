#include "entangle/sym/facts.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "entangle/support/text.h"

#include "random.h"

namespace entangle::sym {

namespace {

const Int s0 = Int::symbol("s0");
const Int s1 = Int::symbol("s1");
const Int s2 = Int::symbol("s2");

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("nothing is known but that sizes are positive") {
  const Facts facts;
  CHECK(facts.empty());
  CHECK(!facts.contradictory());
  CHECK(facts.normalise(s0 + 1) == s0 + 1);
  CHECK(facts.bounds(s0) == Interval{1, std::nullopt});
  CHECK(facts.bounds(-s0) == Interval{std::nullopt, -1});
  CHECK(facts.bounds(s0 * s1 - s0) == Interval{0, std::nullopt});
  CHECK(facts.bounds(mod(s0, Int(8))) == Interval{0, 7});
  CHECK(facts.bounds(s1 - mod(s0, s1)).lower == std::optional<std::int64_t>(1));
  CHECK(facts.bounds(floordiv(s0 + 7, Int(8))) == Interval{1, std::nullopt});
  CHECK(facts.bounds(min(s0, Int(4))) == Interval{1, 4});
  CHECK(facts.bounds(max(s0, Int(4))) == Interval{4, std::nullopt});
  CHECK(facts.bounds(Int(3)) == Interval{3, 3});
  CHECK(facts.bounds(Int::poison()) == Interval{});
  CHECK(facts.to_strings().empty());
}

TEST_CASE("equalities are solved for the later name") {
  const Int r0 = Int::symbol("r0.s0");
  const Int r1 = Int::symbol("r1.s0");
  const Int r2 = Int::symbol("r2.s0");
  Facts facts;
  facts.add_equal(r1, r2);
  facts.add_equal(r0, r1);
  CHECK(facts.normalise(r2) == r0);
  CHECK(facts.normalise(r1 + r2 * 2) == 3 * r0);
  facts.add_equal(s0, r0 + r1 + r2);
  CHECK(facts.normalise(s0) == 3 * r0);
  CHECK(facts.normalise(floordiv(s0, r1)) == 3);
  CHECK(facts.to_strings() == Lines{"r1.s0 == r0.s0", "r2.s0 == r0.s0", "s0 == 3*r0.s0"});
  CHECK(!facts.contradictory());
  facts.add_equal(s0, 6);
  CHECK(facts.normalise(r2) == 2);
  facts.add_equal(r2, 3);
  CHECK(facts.contradictory());
  CHECK(facts.to_strings() == Lines{"false"});
}

TEST_CASE("divisibility makes a symbol a multiple") {
  Facts facts;
  facts.add_divides(8, s0);
  CHECK(facts.normalise(mod(s0, Int(8))) == 0);
  CHECK(facts.normalise(mod(s0, Int(4))) == 0);
  CHECK(facts.normalise(floordiv(s0, Int(4))) == 2 * floordiv(s0, Int(8)));
  CHECK(facts.normalise(8 * floordiv(s0, Int(8))) == s0);
  CHECK(facts.normalise(s0 * s1) == s0 * s1);
  CHECK(facts.normalise(floordiv(s0, Int(16))) == floordiv(s0, Int(16)));
  CHECK(facts.bounds(s0) == Interval{8, std::nullopt});
  CHECK(to_string(facts.core(s0)) == "8*(s0//8)");
  CHECK(facts.core(s0) != s0);
  facts.add_divides(6, s0);
  CHECK(facts.bounds(s0) == Interval{24, std::nullopt});
  CHECK(facts.to_strings() == Lines{"s0 % 24 == 0"});
  facts.add_le(s0, 30);
  CHECK(facts.normalise(s0) == 24);
}

TEST_CASE("divisibility by symbols, also in a chain") {
  const Int tp = Int::symbol("tp");
  Facts facts;
  facts.add_divides(tp, s0);
  CHECK(facts.normalise(tp * floordiv(s0, tp)) == s0);
  CHECK(facts.normalise(mod(s0, tp)) == 0);
  CHECK(facts.normalise(floordiv(s0 * s1, tp)) == s1 * floordiv(s0, tp));
  CHECK(facts.bounds(floordiv(s0, tp)) == Interval{1, std::nullopt});
  facts.add_divides(4, tp);
  CHECK(facts.normalise(mod(s0, Int(4))) == 0);
  CHECK(facts.normalise(tp * floordiv(s0, tp)) == s0);
  CHECK(facts.normalise(4 * floordiv(tp, Int(4))) == tp);
  CHECK(facts.to_strings() == Lines{"s0 % tp == 0", "tp % 4 == 0"});
  // Dividing each other they are equal, which is left to the solver.
  facts.add_divides(s0, tp);
  CHECK(!facts.contradictory());
  CHECK(facts.divisibilities().size() == 1);
}

TEST_CASE("divisibility of other values") {
  Facts facts;
  facts.add_divides(8, 2 * s0);
  CHECK(facts.normalise(mod(s0, Int(4))) == 0);
  facts.add_divides(8, s1 + s2);
  CHECK(facts.to_strings() == Lines{"(s1 + s2) % 8 == 0", "s0 % 4 == 0"});
  facts.add_divides(3, 6);
  facts.add_divides(s1, s1 * s2);
  CHECK(facts.to_strings() == Lines{"(s1 + s2) % 8 == 0", "s0 % 4 == 0"});
  facts.add_divides(4, 6);
  CHECK(facts.contradictory());
  Facts zero;
  zero.add_divides(0, s0);
  CHECK(zero.contradictory());
}

TEST_CASE("bounds are propagated") {
  Facts facts;
  facts.add_le(s0, s1);
  facts.add_le(s1 + s2, 10);
  CHECK(facts.bounds(s1) == Interval{1, 9});
  CHECK(facts.bounds(s0) == Interval{1, 9});
  CHECK(facts.bounds(s1 - s0).lower == std::optional<std::int64_t>(0));
  CHECK(facts.normalise(max(s0, s1)) == s1);
  CHECK(facts.normalise(min(s0, s1)) == s0);
  CHECK(facts.normalise(floordiv(s0, Int(10))) == 0);
  CHECK(facts.normalise(mod(s0 - 1, s1)) == s0 - 1);
  CHECK(facts.to_strings() == Lines{"-s0 + s1 >= 0", "-s1 - s2 + 10 >= 0", "s0 <= 9", "s1 <= 9", "s2 <= 9"});
  facts.add_le(9, s0);
  CHECK(facts.normalise(s2) == 1);
  CHECK(facts.normalise(s0) == 9);
  facts.add_le(2, s2);
  CHECK(facts.contradictory());
}

TEST_CASE("declared symbols") {
  Facts facts;
  facts.declare_symbol("u0", 0);
  facts.declare_symbol("k", std::nullopt);
  const Int u0 = Int::symbol("u0");
  const Int k = Int::symbol("k");
  CHECK(facts.bounds(u0) == Interval{0, std::nullopt});
  CHECK(facts.bounds(k) == Interval{});
  CHECK(facts.bounds(k * k) == Interval{0, std::nullopt});
  CHECK(facts.to_strings() == Lines{"k >= -inf", "u0 >= 0"});
  facts.add_le(k, -3);
  CHECK(facts.bounds(k) == Interval{std::nullopt, -3});
  facts.add_equal(s0, u0);
  // s0 is at least 1, so u0 is, too.
  CHECK(facts.bounds(u0).lower == std::optional<std::int64_t>(1));
  CHECK(!facts.contradictory());
  facts.add_le(u0, 0);
  CHECK(facts.contradictory());
}

TEST_CASE("sizes are positive") {
  Facts facts;
  facts.add_equal(s0 + s1, 1);
  CHECK(facts.contradictory());
  Facts odd;
  odd.add_equal(2 * s0 + 4 * s1, 7);
  CHECK(odd.contradictory());
  Facts poison;
  poison.add_equal(Int::poison(), 1);
  CHECK(poison.empty());
}

TEST_CASE("what all terms of an equality are multiples of is left out, if it is positive") {
  Facts facts;
  facts.add_equal(s0 * s1 * s1, 4 * s0 * s1);
  CHECK(facts.normalise(s1) == 4);
  CHECK(facts.to_strings() == Lines{"s1 == 4"});
  Facts none;
  none.add_equal(s0 * s1, 0);
  CHECK(none.contradictory());
  // A number that may be 0, until it is said not to be.
  Facts any;
  any.declare_symbol("s0", std::nullopt);
  any.add_equal(s0 * s1, s0 * 3);
  CHECK(any.normalise(s1) == s1);
  any.add_le(1, s0);
  CHECK(any.normalise(s1) == 3);
}

TEST_CASE("the order in which facts are added does not matter") {
  Facts facts;
  facts.add_le(s0, s1);
  facts.add_divides(8, s2);
  facts.declare_symbol("s1", 4);
  CHECK(facts.to_strings() == Lines{"-s0 + s1 >= 0", "s1 >= 4", "s2 % 8 == 0"});
  Facts reordered;
  reordered.declare_symbol("s1", 4);
  reordered.add_divides(8, s2);
  reordered.add_le(s0, s1);
  CHECK(reordered.to_strings() == facts.to_strings());
}

TEST_CASE("random facts: normal forms and bounds hold for all values that satisfy the facts") {
  testing::Generator generator(23);
  constexpr std::int64_t kMost = 9;
  int satisfiable = 0;
  int contradictory = 0;
  for (int round = 0; round < 150; ++round) {
    Facts facts;
    std::vector<std::function<bool(const Valuation&)>> conditions;
    const auto holds = [&conditions](const Valuation& at) {
      return std::all_of(conditions.begin(), conditions.end(), [&at](const auto& c) { return c(at); });
    };
    const auto simple = [&generator]() -> Int {
      const auto& symbols = generator.symbols();
      Int value = generator.number(0, 6);
      for (const Int symbol : symbols) {
        value += generator.number(-1, 2) * generator.number(0, 1) * symbol;
      }
      return generator.number(0, 5) == 0 ? generator.expression(2).value : value;
    };
    const auto count = generator.number(1, 4);
    for (int i = 0; i < count; ++i) {
      const Int a = simple();
      const Int b = simple();
      switch (generator.number(0, 3)) {
        case 0:
          facts.add_equal(a, b);
          conditions.emplace_back([a, b](const Valuation& at) { return evaluate(a, at) == evaluate(b, at); });
          break;
        case 1:
          facts.add_le(a, b);
          conditions.emplace_back([a, b](const Valuation& at) { return evaluate(a, at) <= evaluate(b, at); });
          break;
        case 2: {
          const Int d = generator.number(2, 4);
          const Int n = generator.symbols()[static_cast<std::size_t>(generator.number(0, 2))];
          facts.add_divides(d, n);
          conditions.emplace_back([d, n](const Valuation& at) { return *evaluate(n, at) % d.value() == 0; });
          break;
        }
        default: {
          const Int d = generator.symbols()[static_cast<std::size_t>(generator.number(0, 2))];
          facts.add_divides(d, b);
          conditions.emplace_back([d, b](const Valuation& at) {
            const auto n = evaluate(b, at);
            return n && *n % *evaluate(d, at) == 0;
          });
        }
      }
    }
    contradictory += facts.contradictory() ? 1 : 0;
    std::vector<Int> values;
    std::vector<Int> normal_forms;
    std::vector<Interval> ranges;
    for (int i = 0; i < 6; ++i) {
      values.push_back(generator.expression(3).value);
      normal_forms.push_back(facts.normalise(values.back()));
      ranges.push_back(facts.bounds(values.back()));
    }
    CAPTURE(support::join(facts.to_strings(), "; "));
    Valuation at;
    bool any = false;
    for (std::int64_t x = 1; x <= kMost; ++x) {
      for (std::int64_t y = 1; y <= kMost; ++y) {
        for (std::int64_t z = 1; z <= kMost; ++z) {
          at[generator.symbols()[0]] = x;
          at[generator.symbols()[1]] = y;
          at[generator.symbols()[2]] = z;
          if (!holds(at)) {
            continue;
          }
          any = true;
          REQUIRE(!facts.contradictory());
          for (std::size_t i = 0; i < values.size(); ++i) {
            const Int value = values[i];
            const auto expected = evaluate(value, at);
            if (!expected) {
              continue;
            }
            CAPTURE(to_string(value));
            const auto actual = evaluate(normal_forms[i], at);
            if (actual) {
              REQUIRE(*actual == *expected);
            }
            REQUIRE(ranges[i].contains(*expected));
          }
          for (const Int value : facts.zero()) {
            REQUIRE(evaluate(facts.visible(value), at) == std::optional<std::int64_t>(0));
          }
          for (const Int value : facts.nonnegative()) {
            REQUIRE(evaluate(facts.visible(value), at) >= std::optional<std::int64_t>(0));
          }
        }
      }
    }
    satisfiable += any ? 1 : 0;
    for (const Int value : values) {
      if (!facts.contradictory() && !value.is_poison()) {
        const Int normal = facts.normalise(value);
        CAPTURE(to_string(value));
        CAPTURE(to_string(normal));
        CAPTURE(to_string(facts.normalise(normal)));
        REQUIRE(facts.normalise(normal) == normal);
      }
    }
  }
  CHECK(satisfiable > 40);
  CHECK(contradictory > 5);
}

}  // namespace entangle::sym
