// Questions about numbers near the ends of 64 bits, where sums and differences do not fit: never a crash, and
// never an answer that is wrong of the integers meant.
#include <doctest/doctest.h>
#include <gmpxx.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "entangle/smt/oracle.h"

namespace entangle::smt {

namespace {

using sym::Facts;
using sym::Int;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kEnds[] = {kLeast, kLeast + 1, -2, -1, 0, 1, 2, kLargest - 1, kLargest};

const Int s0 = Int::symbol("s0");

mpz_class large(std::int64_t value) {
  return {static_cast<long>(value)};
}

mpz_class quotient_of(const mpz_class& a, const mpz_class& b) {
  mpz_class result;
  mpz_fdiv_q(result.get_mpz_t(), a.get_mpz_t(), b.get_mpz_t());
  return result;
}

// What is written, and what it means where s0 is x.
struct Sample {
  Int value;
  std::function<mpz_class(const mpz_class& x)> meaning;
};

std::vector<Sample> samples() {
  std::vector<Sample> result;
  for (const std::int64_t c : kEnds) {
    const mpz_class n = large(c);
    result.push_back({c, [n](const mpz_class&) { return n; }});
    result.push_back({s0 + c, [n](const mpz_class& x) { return mpz_class(x + n); }});
    result.push_back({Int(c) - s0, [n](const mpz_class& x) { return mpz_class(n - x); }});
    result.push_back({c * s0 + c, [n](const mpz_class& x) { return mpz_class(n * x + n); }});
    result.push_back({c * s0 - 1, [n](const mpz_class& x) { return mpz_class(n * x - 1); }});
    result.push_back({floordiv(s0 + c, Int(3)), [n](const mpz_class& x) { return quotient_of(x + n, 3); }});
    result.push_back({floordiv(3 * s0, Int(c)),
                      [n](const mpz_class& x) { return n == 0 ? mpz_class(0) : quotient_of(3 * x, n); }});
    result.push_back({max(2 * s0, s0 + c), [n](const mpz_class& x) {
                        const mpz_class other = x + n;
                        return std::max<mpz_class>(2 * x, other);
                      }});
    result.push_back({min(s0, Int(c)), [n](const mpz_class& x) { return std::min<mpz_class>(x, n); }});
  }
  std::erase_if(result, [](const Sample& one) { return one.value.is_poison(); });
  return result;
}

std::vector<Sample> every(std::size_t step, const std::vector<Sample>& all) {
  std::vector<Sample> result;
  for (std::size_t i = 0; i < all.size(); i += step) {
    result.push_back(all[i]);
  }
  return result;
}

enum class Relation : std::uint8_t { equal, less_equal, divides };
constexpr Relation kRelations[] = {Relation::equal, Relation::less_equal, Relation::divides};

bool holds(Relation relation, const mpz_class& a, const mpz_class& b) {
  switch (relation) {
    case Relation::equal:
      return a == b;
    case Relation::less_equal:
      return a <= b;
    case Relation::divides:
      return mpz_divisible_p(b.get_mpz_t(), a.get_mpz_t()) != 0;
  }
  return false;
}

Truth answer(Oracle* oracle, Relation relation, Int a, Int b) {
  switch (relation) {
    case Relation::equal:
      return oracle->equal(a, b);
    case Relation::less_equal:
      return oracle->less_equal(a, b);
    case Relation::divides:
      return oracle->divides(a, b);
  }
  return Truth::unknown;
}

// Sizes, of which the largest are next to the end.
std::vector<mpz_class> points() {
  std::vector<mpz_class> result;
  for (int i = 0; i < 4; ++i) {
    result.emplace_back(1 + i);
    result.emplace_back(large(kLargest - i));
  }
  return result;
}

// What the answers are of the points, `where` there are any; counts those that are decided.
std::size_t check(Oracle* oracle, const std::vector<Sample>& asked, const std::vector<mpz_class>& where) {
  std::size_t decided = 0;
  for (const Sample& a : asked) {
    for (const Sample& b : asked) {
      for (const Relation relation : kRelations) {
        const Truth truth = answer(oracle, relation, a.value, b.value);
        decided += truth == Truth::unknown ? 0 : 1;
        for (const mpz_class& x : where) {
          const bool expected = holds(relation, a.meaning(x), b.meaning(x));
          if (is_yes(truth) != expected && truth != Truth::unknown) {
            CAPTURE(static_cast<int>(relation));
            CAPTURE(to_string(a.value));
            CAPTURE(to_string(b.value));
            CAPTURE(x.get_str());
            FAIL_CHECK(to_string(truth));
          }
        }
      }
    }
  }
  return decided;
}

}  // namespace

TEST_CASE("answers near the ends of 64 bits are right of the integers meant") {
  const std::vector<Sample> asked = samples();
  Oracle any({}, {.use_solver = false});
  CHECK(check(&any, asked, points()) > 3000);
  Facts facts;
  facts.add_le(s0, 4);
  Oracle small(facts, {.use_solver = false});
  std::vector<mpz_class> where = points();
  std::erase_if(where, [](const mpz_class& x) { return x > 4; });
  CHECK(check(&small, asked, where) > 8000);
}

TEST_CASE("the solver is asked about such numbers as about others") {
  Oracle oracle({}, {.steps = 2000});
  CHECK(check(&oracle, every(11, samples()), points()) > 40);
}

TEST_CASE("facts about numbers near the ends of 64 bits") {
  const std::vector<Sample> stated = every(4, samples());
  const std::vector<Sample> asked = {
      {s0, [](const mpz_class& x) { return x; }},
      {s0 - 1, [](const mpz_class& x) { return mpz_class(x - 1); }},
      {3, [](const mpz_class&) { return mpz_class(3); }},
      {kLargest - 1, [](const mpz_class&) { return large(kLargest - 1); }},
  };
  std::size_t decided = 0;
  for (const Sample& a : stated) {
    for (const Sample& b : stated) {
      for (const Relation relation : kRelations) {
        Facts facts;
        switch (relation) {
          case Relation::equal:
            facts.add_equal(a.value, b.value);
            break;
          case Relation::less_equal:
            facts.add_le(a.value, b.value);
            break;
          case Relation::divides:
            facts.add_divides(a.value, b.value);
            break;
        }
        std::vector<mpz_class> where = points();
        std::erase_if(where, [&](const mpz_class& x) {
          return !holds(relation, a.meaning(x), b.meaning(x)) ||
                 (relation == Relation::divides && a.meaning(x) == 0);
        });
        CAPTURE(static_cast<int>(relation));
        CAPTURE(to_string(a.value));
        CAPTURE(to_string(b.value));
        if (facts.contradictory()) {
          REQUIRE(where.empty());
          continue;
        }
        REQUIRE(facts.to_strings() != std::vector<std::string>{"false"});
        Oracle oracle(facts, {.use_solver = false});
        decided += check(&oracle, asked, where);
      }
    }
  }
  CHECK(decided > 5000);
}

TEST_CASE("comparisons whose difference does not fit are decided by the ranges of both sides") {
  Facts facts;
  facts.add_le(s0, 4);
  Oracle oracle(facts);
  CHECK(oracle.less_equal(kLargest, s0 - 3) == Truth::no);
  CHECK(oracle.less_equal(s0 - 3, kLargest) == Truth::yes);
  CHECK(oracle.equal(s0 - 3, kLargest) == Truth::no);
  CHECK(oracle.equal(kLeast + 9, s0 * 5) == Truth::no);
  Oracle open;
  CHECK(open.less_equal(kLargest, s0 - 3) == Truth::unknown);
  CHECK(open.unknowns() == std::vector<Unknown>{{"9223372036854775807 <= s0 - 3", Why::undefined}});
}

}  // namespace entangle::smt
