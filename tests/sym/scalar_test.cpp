#include "entangle/sym/scalar.h"

#include <doctest/doctest.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "random.h"

namespace entangle::sym {

namespace {

const Int s0 = Int::symbol("s0");
const Int s1 = Int::symbol("s1");

Scalar ratio(std::int64_t numerator, std::int64_t denominator) {
  return Scalar::ratio(numerator, denominator);
}

std::string text(const std::optional<Scalar>& value) {
  return value ? to_string(*value) : "undefined";
}

std::string decimal(std::string_view written) {
  return text(Scalar::from_decimal_text(written));
}

}  // namespace

TEST_CASE("numbers are exact and reduced") {
  CHECK(Scalar() == Scalar(0));
  CHECK(Scalar().is_zero());
  CHECK(Scalar(1).is_one());
  CHECK(ratio(2, 16) == ratio(1, 8));
  CHECK(ratio(1, -8) == ratio(-1, 8));
  CHECK(text(ratio(1, 8)) == "1/8");
  CHECK(text(Scalar(-3)) == "-3");
  CHECK(ratio(1, 3) + ratio(1, 6) == std::optional(ratio(1, 2)));
  CHECK(ratio(1, 3) - ratio(1, 3) == std::optional(Scalar(0)));
  CHECK(Scalar(2) - Scalar(2) == std::optional(Scalar(0)));
  CHECK(ratio(2, 3) * ratio(3, 2) == std::optional(Scalar(1)));
  CHECK(Scalar(1) / Scalar(8) == std::optional(ratio(1, 8)));
  CHECK(Scalar(1) / Scalar(0) == std::nullopt);
  CHECK(Scalar(4).as_int() == std::optional(Int(4)));
  CHECK(ratio(1, 2).as_int() == std::nullopt);
  CHECK(ratio(1, 2).as_rational() == std::optional(mpq_class(1, 2)));
  CHECK(ratio(1, 2).hash() == ratio(2, 4).hash());
}

TEST_CASE("large numbers") {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const Scalar large = (Scalar(largest) * Scalar(largest)).value();
  CHECK(text(large) == "85070591730234615847396907784232501249");
  CHECK(large / Scalar(largest) == std::optional(Scalar(largest)));
  CHECK(text(Scalar(largest) + Scalar(1)) == "9223372036854775808");
  CHECK(text(-Scalar(std::numeric_limits<std::int64_t>::min())) == "9223372036854775808");
  CHECK(Scalar(std::numeric_limits<std::int64_t>::min()).as_int() ==
        std::optional(Int(std::numeric_limits<std::int64_t>::min())));
  CHECK(large.as_int() == std::nullopt);
  CHECK(-(-large) == large);
  CHECK((-large).hash() != large.hash());
  CHECK((large - large).value().is_zero());
}

TEST_CASE("decimal text is read exactly") {
  CHECK(decimal("0.1") == "1/10");
  CHECK(decimal("1e-05") == "1/100000");
  CHECK(decimal("-2.50") == "-5/2");
  CHECK(decimal("1E3") == "1000");
  CHECK(decimal("1e+3") == "1000");
  CHECK(decimal(".5") == "1/2");
  CHECK(decimal("3.") == "3");
  CHECK(decimal("+7") == "7");
  CHECK(decimal("-0.0") == "0");
  CHECK(decimal("inf") == "inf");
  CHECK(decimal("-inf") == "-inf");
  CHECK(decimal("Infinity") == "inf");
  CHECK(decimal("-Infinity") == "-inf");
  for (const char* bad : {"", "nan", "-", ".", "e5", "1e", "1e+", "1e+-5", "1.2.3", "1x", "0x10", " 1", "1 ",
                          "--1", "1e99999", "1e9999999999999999999"}) {
    CAPTURE(bad);
    CHECK(decimal(bad) == "undefined");
  }
}

TEST_CASE("the nearest double of a number is the one whose text it was read from") {
  CHECK(Scalar::infinity().as_double() == std::optional<double>(INFINITY));
  CHECK(Scalar(s0).as_double() == std::nullopt);
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isfinite(value) && std::fpclassify(value) == FP_NORMAL) {
      std::array<char, 32> shortest{};
      const auto [end, code] = std::to_chars(shortest.data(), shortest.data() + shortest.size(), value);
      REQUIRE(code == std::errc());
      const auto read = Scalar::from_decimal_text(std::string_view(shortest.data(), end));
      REQUIRE(read->as_double() == std::optional(value));
    }
  }
}

TEST_CASE("symbolic scalars cancel") {
  CHECK(text(Scalar(1) / Scalar(s0)) == "1/s0");
  CHECK(text(Scalar(2) / Scalar(3 * s0)) == "2/(3*s0)");
  CHECK(text(Scalar(2 * s0) / Scalar(3)) == "2*s0/3");
  CHECK(text(Scalar(s0 + 1) / Scalar(2 * s1)) == "(s0 + 1)/(2*s1)");
  CHECK(text(Scalar(s0) / Scalar(s0 + 1)) == "s0/(s0 + 1)");
  CHECK(text(Scalar(-2 * s0) / Scalar(s1 * s1 * s0)) == "-2/(s1**2)");
  CHECK(text(Scalar(s0) / Scalar(s0 * s1 * 4)) == "1/(4*s1)");
  CHECK(text(Scalar(1) / Scalar(s0 * s1)) == "1/(s0*s1)");
  CHECK(text(Scalar(floordiv(s0, Int(8))) * ratio(1, 2)) == "(s0//8)/2");
  CHECK(Scalar(s0) / Scalar(s0) == std::optional(Scalar(1)));
  CHECK(Scalar(s0 * s0 - 1) / Scalar(s0 + 1) == std::optional(Scalar(s0 - 1)));
  CHECK(Scalar(s0 + 1) / Scalar(s0 * s0 - 1) == Scalar(1) / Scalar(s0 - 1));
  CHECK(*(Scalar(1) / Scalar(s0)) * Scalar(s0) == std::optional(Scalar(1)));
  CHECK(*(Scalar(1) / Scalar(s0)) + *(Scalar(1) / Scalar(s0)) == Scalar(2) / Scalar(s0));
  CHECK(*(Scalar(1) / Scalar(s0)) - *(Scalar(1) / Scalar(s0)) == std::optional(Scalar(0)));
  CHECK(*(Scalar(1) / Scalar(2 * s0)) + *(Scalar(1) / Scalar(3 * s0)) == Scalar(5) / Scalar(6 * s0));
  CHECK(*(Scalar(1) / Scalar(s0)) + Scalar(1) == Scalar(s0 + 1) / Scalar(s0));
  CHECK(*(Scalar(1) / Scalar(s0)) + *(Scalar(1) / Scalar(s0 * s1)) == Scalar(s1 + 1) / Scalar(s0 * s1));
  CHECK(Scalar(4 * s0).as_int() == std::optional(4 * s0));
  CHECK((Scalar(s0) / Scalar(2))->as_int() == std::nullopt);
  CHECK((Scalar(1) / Scalar(s0))->as_int() == std::nullopt);
  CHECK_FALSE(Scalar(s0).is_number());
}

TEST_CASE("infinities") {
  const Scalar inf = Scalar::infinity();
  CHECK(-inf == Scalar::infinity(true));
  CHECK(-inf != inf);
  for (const Scalar& other : {Scalar(0), Scalar(1), inf, -inf, Scalar(s0)}) {
    CHECK(inf + other == std::nullopt);
    CHECK(other - inf == std::nullopt);
    CHECK(inf * other == std::nullopt);
    CHECK(other / inf == std::nullopt);
    CHECK(inf / other == std::nullopt);
    CHECK(pow(inf, other) == std::nullopt);
  }
  CHECK(!inf.is_number());
  CHECK(!inf.is_zero());
  CHECK(inf.as_int() == std::nullopt);
  CHECK(inf.as_rational() == std::nullopt);
}

TEST_CASE("order") {
  const Scalar inf = Scalar::infinity();
  using std::strong_ordering;
  CHECK(compare(ratio(1, 3), ratio(1, 2)) == std::optional(strong_ordering::less));
  CHECK(compare(ratio(1, 2), ratio(2, 4)) == std::optional(strong_ordering::equal));
  CHECK(compare(-inf, Scalar(5)) == std::optional(strong_ordering::less));
  CHECK(compare(inf, -inf) == std::optional(strong_ordering::greater));
  CHECK(compare(inf, inf) == std::optional(strong_ordering::equal));
  CHECK(compare(Scalar(s0), inf) == std::optional(strong_ordering::less));
  CHECK(compare(Scalar(s0), Scalar(1)) == std::nullopt);
  CHECK(compare(Scalar(s0), Scalar(s0)) == std::optional(strong_ordering::equal));
  CHECK(content_order(-inf, Scalar(-7)) < 0);
  CHECK(content_order(Scalar(7), Scalar(s0)) < 0);
  CHECK(content_order(Scalar(s0), inf) < 0);
  CHECK(content_order(Scalar(s0), Scalar(2 * s0)) < 0);
}

TEST_CASE("powers") {
  CHECK(pow(Scalar(64), ratio(1, 2)) == std::optional(Scalar(8)));
  CHECK(pow(Scalar(64), ratio(-1, 2)) == std::optional(ratio(1, 8)));
  CHECK(pow(ratio(1, 64), ratio(-1, 2)) == std::optional(Scalar(8)));
  CHECK(pow(Scalar(8), ratio(2, 3)) == std::optional(Scalar(4)));
  CHECK(pow(Scalar(2), ratio(1, 2)) == std::nullopt);
  CHECK(pow(Scalar(-4), ratio(1, 2)) == std::nullopt);
  CHECK(pow(Scalar(-2), Scalar(3)) == std::optional(Scalar(-8)));
  CHECK(pow(ratio(2, 3), Scalar(-2)) == std::optional(ratio(9, 4)));
  CHECK(pow(Scalar(0), Scalar(0)) == std::optional(Scalar(1)));
  CHECK(pow(Scalar(0), Scalar(-1)) == std::nullopt);
  CHECK(pow(Scalar(0), ratio(1, 2)) == std::optional(Scalar(0)));
  CHECK(pow(Scalar(2), Scalar(5000)) == std::nullopt);
  CHECK(pow(Scalar(s0), Scalar(-2)) == Scalar(1) / Scalar(s0 * s0));
  CHECK(pow(Scalar(s0), ratio(1, 2)) == std::nullopt);
  CHECK(pow(Scalar(2), Scalar(s0)) == std::nullopt);
}

TEST_CASE("evaluation") {
  const Scalar value = (Scalar(s0 + 1) / Scalar(2 * s1)).value();
  CHECK(evaluate(value, {{s0, 3}, {s1, 4}}) == std::optional(ratio(1, 2)));
  CHECK(evaluate(value, {{s0, 3}, {s1, 0}}) == std::nullopt);
  CHECK(evaluate(value, {{s0, 3}}) == std::nullopt);
  CHECK(evaluate(Scalar::infinity(), {}) == std::optional(Scalar::infinity()));
}

TEST_CASE("random scalars agree with rational arithmetic at random points") {
  testing::Generator generator(17);
  const auto random_scalar = [&generator] {
    for (;;) {
      const Int p = generator.expression(2).value;
      const Int q = generator.expression(2).value;
      if (!p.is_poison() && !q.is_poison() && q != 0) {
        return ((Scalar(p) / Scalar(q)).value() * ratio(generator.number(-6, 6), generator.number(1, 6)))
            .value();
      }
    }
  };
  int compared = 0;
  for (int round = 0; round < 1500; ++round) {
    const Scalar a = random_scalar();
    const Scalar b = random_scalar();
    const Valuation at = generator.valuation(1, 12);
    const auto x = evaluate(a, at);
    const auto y = evaluate(b, at);
    if (!x || !y) {
      continue;
    }
    const std::pair<std::optional<Scalar>, std::optional<Scalar>> pairs[] = {
        {a + b, *x + *y},
        {a - b, *x - *y},
        {a * b, *x * *y},
        {a / b, *x / *y},
        {pow(a, Scalar(3)), pow(*x, Scalar(3))}};
    for (const auto& [symbolic, numeric] : pairs) {
      if (!symbolic || !numeric) {
        continue;
      }
      const auto value = evaluate(*symbolic, at);
      if (value) {
        CAPTURE(to_string(a));
        CAPTURE(to_string(b));
        REQUIRE(to_string(*value) == to_string(*numeric));
        ++compared;
      }
    }
  }
  CHECK(compared > 4000);
}

TEST_CASE("a number that is squared again and again is too long at some time") {
  Scalar number = Scalar::ratio(3, 7);
  int squarings = 0;
  for (; number.is_short(); ++squarings) {
    number = (number * number).value();
  }
  CHECK(squarings == 13);  // 2^13 (log2 3 + log2 7) > 2^15
  CHECK(Scalar::from_decimal_text("1e5000")->is_short());
  CHECK(Scalar::from_decimal_text("-1.5e-5000")->is_short());
  CHECK(Scalar::infinity().is_short());
}

}  // namespace entangle::sym
