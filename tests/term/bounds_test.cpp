#include "entangle/term/typing.h"
#include "fixture.h"

namespace entangle::term::test {

namespace {

using sym::Int;

std::string shown(const std::optional<Int>& end) {
  return end ? sym::to_string(*end) : "?";
}

std::string bounds(World& world, const std::string& op, std::vector<Attr> values,
                   std::vector<TensorType> types, std::vector<Interval> intervals) {
  const Attr attrs = Attr::list(values);
  const auto type = world.typing.type_of(world.op(op), attrs, pointers(types));
  REQUIRE(type);
  const Interval result = world.typing.bounds(world.op(op), attrs, pointers(types), intervals, *type);
  return shown(result.low) + ".." + shown(result.high);
}

}  // namespace

TEST_CASE("bounds of integers follow from those of the operands") {
  World world(R"(
    op last_greatest(x: tensor; dim: axis(x)) {
      shape x.shape without dim;
      dtype i64;
      value i => max(k < x.shape[dim]: if x[i[:dim] ++ [k] ++ i[dim:]] >= max(j < x.shape[dim]: x[i[:dim] ++ [j] ++ i[dim:]])
                                       then k else 0);
    }
    op least(xs: tensor+): elementwise { value i => min(x[i] for x in xs); }
    op floor_div(x: tensor, y: tensor): elementwise;
    op remainder(x: tensor, y: tensor): elementwise;
    op whole(x: tensor; to: dtype): elementwise, converts { dtype to; }
  )");
  const TensorType x = type({4, 6}, DType::i64);
  const TensorType m = type({4, 6}, DType::b8);
  const Int s0 = Int::symbol("s0");
  const Interval a{Int(-2), Int(5)};
  const Interval b{Int(3), Int(4)};
  CHECK(bounds(world, "add_n", {}, {x, x}, {a, b}) == "1..9");
  CHECK(bounds(world, "add_n", {}, {x, x}, {a, {Int(3), std::nullopt}}) == "1..?");
  CHECK(bounds(world, "add_n", {}, {x, x}, {a, {Int(0), s0 - 1}}) == "-2..s0 + 4");
  CHECK(bounds(world, "max_n", {}, {x, x}, {a, b}) == "3..5");
  CHECK(bounds(world, "max_n", {}, {x, x}, {{}, b}) == "3..?");
  CHECK(bounds(world, "max_n", {}, {x, x}, {{Int(0), s0}, {Int(2), std::nullopt}}) == "2..?");
  CHECK(bounds(world, "least", {}, {x, x}, {a, b}) == "-2..4");
  CHECK(bounds(world, "least", {}, {x, x}, {a, {}}) == "?..5");
  CHECK(bounds(world, "floor_div", {}, {x, x}, {a, {Int(3), Int(3)}}) == "-1..1");
  CHECK(bounds(world, "floor_div", {}, {x, x}, {a, b}) == "?..?");
  CHECK(bounds(world, "floor_div", {}, {x, x}, {{Int(0), 4 * s0}, {Int(4), Int(4)}}) == "0..s0");
  CHECK(bounds(world, "remainder", {}, {x, x}, {{}, {Int(3), Int(3)}}) == "0..2");
  CHECK(bounds(world, "remainder", {}, {x, x}, {a, {Int(3), Int(3)}}) == "0..2");
  CHECK(bounds(world, "remainder", {}, {x, x}, {{Int(0), Int(2)}, {Int(7), Int(7)}}) == "0..2");
  CHECK(bounds(world, "remainder", {}, {x, x}, {a, {Int(-3), Int(-3)}}) == "?..?");
  CHECK(bounds(world, "remainder", {}, {type({4}), type({4})}, {{}, {Int(3), Int(3)}}) == "?..?");
  CHECK(bounds(world, "scale", {Attr::of(sym::Scalar(3))}, {x}, {a}) == "-6..15");
  CHECK(bounds(world, "scale", {Attr::of(sym::Scalar(-1))}, {x}, {a}) == "-5..2");
  CHECK(bounds(world, "scale", {Attr::of(sym::Scalar::ratio(1, 2))}, {x}, {a}) == "?..?");
  CHECK(bounds(world, "where", {}, {m, x, x}, {{}, a, b}) == "-2..5");
  CHECK(bounds(world, "where", {}, {m, x, x}, {{}, a, {}}) == "?..?");
  CHECK(bounds(world, "iota", {number(3), number(5), Attr::of(DType::i64)}, {}, {}) == "3..7");
  CHECK(bounds(world, "iota", {number(0), Attr::of(s0), Attr::of(DType::i64)}, {}, {}) == "0..s0 - 1");
  CHECK(bounds(world, "reduce_max", {number(1)}, {x}, {a}) == "-2..5");
  CHECK(bounds(world, "reduce_sum", {number(1)}, {x}, {a}) == "-12..30");
  CHECK(bounds(world, "last_greatest", {number(1)}, {type({4, 6})}, {{}}) == "0..5");
  // 0 where the index is outside of the table.
  CHECK(bounds(world, "take", {number(0)}, {type({7}, DType::i64), x}, {b, {}}) == "0..4");
  CHECK(bounds(world, "whole", {Attr::of(DType::i32)}, {x}, {a}) == "-2..5");
  CHECK(bounds(world, "whole", {Attr::of(DType::u8)}, {x}, {a}) == "?..?");
  CHECK(bounds(world, "whole", {Attr::of(DType::u8)}, {x}, {b}) == "3..4");
  CHECK(bounds(world, "whole", {Attr::of(DType::i64)}, {type({4})}, {{}}) == "?..?");
}

}  // namespace entangle::term::test
