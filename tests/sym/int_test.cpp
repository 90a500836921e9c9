#include "entangle/sym/int.h"

#include <doctest/doctest.h>

#include <thread>

#include "random.h"

namespace entangle::sym {

namespace {

Int parse(std::string_view text) {
  const auto result = parse_int_expr(text);
  INFO(text);
  REQUIRE(result.ok());
  return *result;
}

std::string show(std::string_view text) {
  return to_string(parse(text));
}

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

const Int s0 = Int::symbol("s0");
const Int s1 = Int::symbol("s1");

}  // namespace

TEST_CASE("constants") {
  static_assert(Int(3).is_constant());
  static_assert(Int(3) == Int(3L));
  CHECK(!Int(3).is_poison());
  CHECK(Int() == Int(0));
  CHECK(Int(2) + Int(3) == 5);
  CHECK(Int(2) - Int(3) == -1);
  CHECK(Int(2) * Int(3) == 6);
  CHECK(-Int(2) == -2);
  CHECK(floordiv(Int(7), Int(2)) == 3);
  CHECK(floordiv(Int(-7), Int(2)) == -4);
  CHECK(floordiv(Int(7), Int(-2)) == -4);
  CHECK(floordiv(Int(-7), Int(-2)) == 3);
  CHECK(mod(Int(-7), Int(2)) == 1);
  CHECK(mod(Int(7), Int(-2)) == -1);
  CHECK(min(Int(3), Int(-3)) == -3);
  CHECK(max(Int(3), Int(-3)) == 3);
  CHECK(exact_div(6, 3) == std::optional(Int(2)));
  CHECK(exact_div(6, -3) == std::optional(Int(-2)));
  CHECK(exact_div(7, 3) == std::nullopt);
  CHECK(exact_div(7, 0) == std::nullopt);
  CHECK(exact_div(0, 7) == std::optional(Int(0)));
  CHECK(Int(std::uint64_t{1} << 63).is_poison());
  CHECK(Int(5).value() == 5);
  CHECK_THROWS_AS(static_cast<void>(s0.value()), support::InternalError);
}

TEST_CASE("overflow is poison, and poison spreads") {
  const Int poison = Int::poison();
  CHECK((Int(kLargest) + 1).is_poison());
  CHECK((Int(kLeast) - 1).is_poison());
  CHECK((Int(kLargest) * 2).is_poison());
  CHECK((-Int(kLeast)).is_poison());
  CHECK(floordiv(Int(kLeast), Int(-1)).is_poison());
  CHECK(floordiv(s0, Int(0)).is_poison());
  CHECK(mod(s0, Int(0)).is_poison());
  CHECK((s0 * kLargest * 2).is_poison());
  CHECK((s0 * kLargest + s0).is_poison());
  CHECK((s0 * kLargest + kLargest + 1).is_poison());
  for (const Int other : {Int(0), Int(1), s0, poison}) {
    CHECK((poison + other).is_poison());
    CHECK((other - poison).is_poison());
    CHECK((poison * other).is_poison());
    CHECK(floordiv(poison, other).is_poison());
    CHECK(floordiv(other, poison).is_poison());
    CHECK(mod(other, poison).is_poison());
    CHECK(min(other, poison).is_poison());
    CHECK(max(poison, other).is_poison());
    CHECK(exact_div(poison, other) == std::nullopt);
    CHECK(exact_div(other, poison) == std::nullopt);
  }
  CHECK(!poison.is_constant());
  CHECK(evaluate(poison, {}) == std::nullopt);
  CHECK(symbols_of(poison).empty());
  CHECK(to_string(poison) == "poison");
  CHECK(pow(s0, 5000).is_poison());
}

TEST_CASE("polynomials are canonical") {
  CHECK(s0 + s1 == s1 + s0);
  CHECK(s0 - s0 == 0);
  CHECK(s0 * 0 == 0);
  CHECK((s0 + 1) * (s0 - 1) == s0 * s0 - 1);
  CHECK((s0 + s1) * (s0 + s1) == s0 * s0 + 2 * s0 * s1 + s1 * s1);
  CHECK(s0 != s1);
  CHECK(s0.is_symbol());
  CHECK(s0.name() == "s0");
  CHECK(!(s0 + 1).is_symbol());
  CHECK(!(2 * s0).is_symbol());
  CHECK(sum({s0, 1, s0}) == 2 * s0 + 1);
  CHECK(product({s0, 2, s0}) == 2 * s0 * s0);
  CHECK(pow(s0 + 1, 2) == s0 * s0 + 2 * s0 + 1);
  CHECK(content(4 * s0 + 6) == 2);
  CHECK(constant_term(4 * s0 + 6) == 6);
}

TEST_CASE("exact division") {
  CHECK(exact_div(s0 * s1, s0) == std::optional(s1));
  CHECK(exact_div(4 * s0 + 8, 4) == std::optional(s0 + 2));
  CHECK(exact_div(4 * s0 + 8, -4) == std::optional(-s0 - 2));
  CHECK(exact_div(s0 * s0 - 1, s0 + 1) == std::optional(s0 - 1));
  CHECK(exact_div(1 - s0 * s0, 1 - s0) == std::optional(s0 + 1));
  CHECK(exact_div(s0 * s0 - 1, 2 * s0 + 2) == std::nullopt);
  CHECK(exact_div(s0, s1) == std::nullopt);
  CHECK(exact_div(s0, 2) == std::nullopt);
  CHECK(exact_div(0, s0) == std::optional(Int(0)));
}

TEST_CASE("division, remainder, minimum and maximum are simplified") {
  CHECK(floordiv(8 * s0 + 7, Int(8)) == s0);
  CHECK(floordiv(8 * s0 - 1, Int(8)) == s0 - 1);
  CHECK(floordiv(s0, Int(1)) == s0);
  CHECK(floordiv(s0, Int(-1)) == -s0);
  CHECK(floordiv(6 * s0 + 5, Int(4)) == s0 + 1 + floordiv(s0, Int(2)));
  CHECK(floordiv(floordiv(s0, Int(2)), Int(4)) == floordiv(s0, Int(8)));
  CHECK(floordiv(floordiv(s0, s1), Int(4)) == floordiv(s0, 4 * s1));
  CHECK(floordiv(floordiv(s0, Int(2)) + 3, Int(4)) == floordiv(s0 + 6, Int(8)));
  CHECK(floordiv(s0 * s1, s0) == s1);
  CHECK(floordiv(s0 * s1 + s0, s1 + 1) == s0);
  CHECK(floordiv(2 * s0, 2 * s1) == floordiv(s0, s1));
  CHECK(floordiv(s0 * s1, s0 * s0) == floordiv(s1, s0));
  CHECK(mod(8 * s0, Int(8)) == 0);
  CHECK(mod(8 * s0 + 3, Int(8)) == 3);
  CHECK(mod(9 * s0, Int(8)) == mod(s0, Int(8)));
  CHECK(mod(s0 * s1, s1) == 0);
  CHECK(mod(mod(s0, Int(8)), Int(8)) == mod(s0, Int(8)));
  CHECK(mod(mod(s0, Int(4)), Int(8)) == mod(s0, Int(4)));
  CHECK(floordiv(mod(s0, Int(4)), Int(8)) == 0);
  CHECK(floordiv(8 * s1 + mod(s0, Int(8)), Int(8)) == s1);
  CHECK(8 * floordiv(s0, Int(8)) + mod(s0, Int(8)) == s0);
  CHECK(s1 * floordiv(s0, s1) + mod(s0, s1) == s0);
  CHECK(min(s0, s1) + max(s0, s1) == s0 + s1);
  CHECK(max(s0, s0 + 3) == s0 + 3);
  CHECK(min(s0, s0 + 3) == s0);
  CHECK(max(s0 + 1, s1 + 1) == max(s0, s1) + 1);
  CHECK(max(4 * s0, 4 * s1) == 4 * max(s0, s1));
  CHECK(max(max(s0, s1), Int(3)) == max(s0, max(Int(3), s1)));
  CHECK(min(min(s0, s1), Int(3)) == min(s0, min(Int(3), s1)));
  CHECK(max(s0, s0) == s0);
}

TEST_CASE("text") {
  CHECK(to_string(2 * s0 + 1) == "2*s0 + 1");
  CHECK(to_string(-s0) == "-s0");
  CHECK(to_string(1 - s0) == "-s0 + 1");
  CHECK(to_string(s1 * s0 * s0 * 3 - 4 * s1) == "3*s0**2*s1 - 4*s1");
  CHECK(show("s0//8") == "s0//8");
  CHECK(show("-(s0//8)") == "-(s0//8)");
  CHECK(show("2*(s0//8)") == "2*(s0//8)");
  CHECK(show("s1*(s0//8)**2") == "s1*(s0//8)**2");
  CHECK(show("(s0+1)//s1") == "(s0 + 1)//s1");
  CHECK(show("s0//(s1+1)") == "s0//(s1 + 1)");
  CHECK(show("s0 % 8") == "mod(s0, 8)");
  CHECK(show("2*(s0 % 8)*s1 + s1 - 1") == "s1 + 2*s1*mod(s0, 8) - 1");
  CHECK(show("min(s0, s1)") == "min(s0, s1)");
  CHECK(show("min(s0, 8)") == "min(8, s0)");
  CHECK(show("-min(s0, s1, s0*s1)") == "-min(s0, s1, s0*s1)");
  CHECK(show("max(s0, 3)*2 - s0") == "-s0 + 2*max(3, s0)");
  CHECK(to_string(Int(kLeast)) == "-9223372036854775808");
  CHECK(to_string(kLeast * s0) == "-9223372036854775808*s0");
}

TEST_CASE("parsing") {
  CHECK(parse("s0") == s0);
  CHECK(parse(" 2*s0+1 ") == 2 * s0 + 1);
  CHECK(parse("s0//8") == floordiv(s0, Int(8)));
  CHECK(parse("(s0+1)*4") == 4 * s0 + 4);
  CHECK(parse("Mod(s0, 8)") == mod(s0, Int(8)));
  CHECK(parse("PythonMod(s0, 8)") == mod(s0, Int(8)));
  CHECK(parse("s0 % 8") == mod(s0, Int(8)));
  CHECK(parse("FloorDiv(s0, 2)") == floordiv(s0, Int(2)));
  CHECK(parse("CleanDiv(s0, 2)") == floordiv(s0, Int(2)));
  CHECK(parse("Max(1, s0, s1)") == max(max(s0, s1), Int(1)));
  CHECK(parse("Min(1, s0)") == min(s0, Int(1)));
  CHECK(parse("-s0**2") == -(s0 * s0));
  CHECK(parse("-s0//8") == floordiv(-s0, Int(8)));
  CHECK(parse("2 - -3 + +1") == 6);
  CHECK(parse("7//2*2") == 6);
  CHECK(parse("-7 % 4") == 1);
  CHECK(parse("8*s0/4") == 2 * s0);
  CHECK(parse("r0.s0 + a_1.b") == Int::symbol("r0.s0") + Int::symbol("a_1.b"));
  CHECK(parse("9223372036854775807") == kLargest);
  CHECK(parse("-9223372036854775808") == kLeast);
  CHECK(parse("s0 + floordiv(-9223372036854775808, 2)") == s0 + kLeast / 2);
  CHECK(parse("(s0 - 9223372036854775808 )+ 1") == s0 + kLeast + 1);
  CHECK(parse(to_string(s0 + kLeast)) == s0 + kLeast);
  CHECK(parse(to_string(s0 * kLeast)) == s0 * kLeast);
  CHECK(*parse_int_expr("2*s0 + Max(s1, 1)", "r0.") ==
        2 * Int::symbol("r0.s0") + max(Int::symbol("r0.s1"), Int(1)));
}

TEST_CASE("parse errors") {
  struct Case {
    const char* text;
    const char* id;
    const char* message;
  };
  const Case cases[] = {
      {"", "sym/syntax", "an operand is missing"},
      {"s0 +", "sym/syntax", "an operand is missing"},
      {"s0 s1", "sym/syntax", "unexpected `s`"},
      {"(s0", "sym/syntax", "expected `)`"},
      {"(s0, 1)", "sym/syntax", "expected `)`, not `,`"},
      {"s0)", "sym/syntax", "unexpected `)`"},
      {"2x", "sym/syntax", "`2x` is not an integer"},
      {"2.5", "sym/syntax", "`2.5` is not an integer"},
      {"s0/2", "sym/inexact", "`/` does not divide exactly"},
      {"s0//0", "sym/undefined", "division by zero"},
      {"s0 % (1 - 1)", "sym/undefined", "division by zero"},
      {"mod(s0, 0)", "sym/undefined", "division by zero"},
      {"foo(s0)", "sym/unknown-function", "unknown function `foo`"},
      {"mod(s0)", "sym/syntax", "`mod` takes 2 arguments, not 1"},
      {"s0**s1", "sym/syntax", "an exponent must be a number from 0 to 64"},
      {"s0**-1", "sym/syntax", "unexpected `-`"},
      {"99999999999999999999", "sym/overflow", "the number does not fit into 64 bits"},
      {"9223372036854775808", "sym/overflow", "the number does not fit into 64 bits"},
      {"s0 - 9223372036854775808*2", "sym/overflow", "the number does not fit into 64 bits"},
      {"-9223372036854775808 - 1", "sym/overflow", "the value does not fit into 64 bits"},
      {"9223372036854775807 + 1", "sym/overflow", "the value does not fit into 64 bits"},
      {"s0 @ 1", "sym/syntax", "unexpected `@`"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.text);
    const auto result = parse_int_expr(one.text);
    REQUIRE(!result.ok());
    CHECK(result.error().id == one.id);
    CHECK(result.error().message ==
          "in the integer expression `" + std::string(one.text) + "`: " + one.message);
  }
  CHECK(parse_int_expr(std::string(100000, '(')).error().id == "sym/syntax");
  CHECK(parse_int_expr(std::string(100000, '-') + "1").error().id == "sym/syntax");
  CHECK(parse_int_expr("Mx(s0, 1)").error().suggestion == "did you mean `Max`?");
  const support::FileId file = support::add_source("g.json", "\"s0 @ 1\"");
  CHECK(parse_int_expr("s0 @ 1", "", support::span_at(file, 1, 6)).error().span ==
        support::Span{file, 1, 5, 1});
}

TEST_CASE("substitution and evaluation") {
  const Int value = parse("s0*s1 + s0//8 + max(s1, 2)");
  CHECK(substitute(value, {{s0, 8 * s1}}) == 8 * s1 * s1 + s1 + max(s1, Int(2)));
  CHECK(substitute(s0 - s1, {{s0, s1}, {s1, s0}}) == s1 - s0);
  CHECK(substitute(value, {{s0, 16}, {s1, 3}}) == 48 + 2 + 3);
  CHECK(substitute(value, {}) == value);
  CHECK(symbols_of(value) == std::vector<Int>{s0, s1});
  CHECK(symbols_of(5).empty());
  CHECK(mentions(value, s1));
  CHECK(!mentions(floordiv(s0, Int(3)), s1));
  CHECK(evaluate(value, {{s0, 16}, {s1, 3}}) == std::optional<std::int64_t>(53));
  CHECK(evaluate(value, {{s0, 16}}) == std::nullopt);
  CHECK(evaluate(floordiv(s0, s1), {{s0, 16}, {s1, 0}}) == std::nullopt);
  CHECK(evaluate(s0 * s0, {{s0, kLargest}}) == std::nullopt);
}

TEST_CASE("the content order") {
  CHECK(compare(s0, s1) < 0);
  CHECK(compare(1, s0) < 0);
  CHECK(compare(-5, 3) < 0);
  CHECK(compare(s0 * s0, s1) > 0);
  CHECK(compare(s0, s0) == 0);
  CHECK(compare(s0, Int::poison()) < 0);
  CHECK(compare(Int::symbol("r0.s0"), Int::symbol("r1.s0")) < 0);
}

TEST_CASE("threads agree on what is the same") {
  std::vector<std::vector<Int>> results(4);
  std::vector<std::thread> threads;
  for (std::vector<Int>& result : results) {
    threads.emplace_back([&result] {
      for (int i = 0; i < 300; ++i) {
        const Int t = Int::symbol("t" + std::to_string(i));
        result.push_back(floordiv(t * t + i, Int(7)) + max(t, Int(i)));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(results[1] == results[0]);
  CHECK(results[2] == results[0]);
  CHECK(results[3] == results[0]);
}

TEST_CASE("random expressions mean what was written") {
  testing::Generator generator(7);
  int compared = 0;
  for (int round = 0; round < 4000; ++round) {
    const testing::Written written = generator.expression(static_cast<int>(generator.number(1, 4)));
    if (written.value.is_poison()) {
      continue;
    }
    for (int point = 0; point < 8; ++point) {
      const Valuation at = generator.valuation(point < 4 ? 1 : -20, 20);
      const auto expected = written.meaning(at);
      if (!expected) {
        continue;
      }
      const auto actual = evaluate(written.value, at);
      if (actual) {
        CAPTURE(to_string(written.value));
        REQUIRE(*actual == static_cast<std::int64_t>(*expected));
        ++compared;
      }
    }
  }
  CHECK(compared > 20000);
}

TEST_CASE("random expressions survive printing, and substitution commutes with evaluation") {
  testing::Generator generator(11);
  for (int round = 0; round < 2000; ++round) {
    const Int value = generator.expression(3).value;
    if (value.is_poison()) {
      continue;
    }
    const std::string text = to_string(value);
    CAPTURE(text);
    const auto again = parse_int_expr(text);
    REQUIRE(again.ok());
    REQUIRE(*again == value);
    REQUIRE(again->hash() == value.hash());

    const Int replacement = generator.expression(2).value;
    const Int replaced = substitute(value, {{s0, replacement}});
    Valuation at = generator.valuation(1, 9);
    const auto expected = evaluate(replaced, at);
    const auto inner = evaluate(replacement, at);
    if (!inner) {
      continue;
    }
    at[s0] = *inner;
    const auto actual = evaluate(value, at);
    if (expected && actual) {
      REQUIRE(*expected == *actual);
    }
  }
}

TEST_CASE("sums and products of random polynomials obey the laws of a ring, exact division inverts them") {
  testing::Generator generator(13);
  const auto polynomial = [&generator] {
    Int result = generator.number(-5, 5);
    for (const Int symbol : generator.symbols()) {
      result = result * symbol * generator.number(0, 1) + generator.number(-3, 3) * symbol + result;
    }
    return result;
  };
  for (int round = 0; round < 2000; ++round) {
    const Int a = polynomial();
    const Int b = polynomial();
    const Int c = polynomial();
    REQUIRE(a + b == b + a);
    REQUIRE((a + b) + c == a + (b + c));
    REQUIRE(a * b == b * a);
    REQUIRE((a * b) * c == a * (b * c));
    REQUIRE(a * (b + c) == a * b + a * c);
    REQUIRE(a - b == -(b - a));
    if (b != 0) {
      REQUIRE(exact_div(a * b, b) == std::optional(a));
      REQUIRE(floordiv(a * b, b) == a);
      REQUIRE(mod(a * b + c, b) == mod(c, b));
      REQUIRE(b * floordiv(a, b) + mod(a, b) == a);
    }
    REQUIRE(max(a, max(b, c)) == max(max(c, a), b));
    REQUIRE(min(a + c, b + c) == min(a, b) + c);
    const auto order = compare(a, b);
    REQUIRE((order == 0) == (a == b));
    REQUIRE((compare(b, a) < 0) == (order > 0));
  }
}

TEST_CASE("a product of too many sizes is as good as a number that is too large") {
  const Int s = Int::symbol("s");
  CHECK_FALSE(pow(s, 16).is_poison());
  CHECK(pow(s, 17).is_poison());
  CHECK((pow(s, 9) * pow(Int::symbol("t"), 8)).is_poison());
}

}  // namespace entangle::sym
