#include "entangle/term/typing.h"

#include "fixture.h"

namespace entangle::term::test {

namespace {

using sym::Scalar;

const Scalar kMinusInfinity = Scalar::infinity(true);

std::string folded(World& world, const std::string& op, std::vector<Attr> values,
                   std::vector<TensorType> types, std::vector<Scalar> scalars) {
  const auto result = world.typing.fold(world.op(op), Attr::list(values), pointers(types), scalars);
  return result ? to_string(*result) : "nothing";
}

}  // namespace

TEST_CASE("constants are computed exactly") {
  World world;
  const TensorType x = type({4, 6});
  const TensorType m = type({4, 6}, DType::b8);
  const Attr half = Attr::of(Scalar::ratio(1, 2));
  CHECK(folded(world, "const", {half, Attr::of(DType::f32)}, {}, {}) == "1/2");
  CHECK(folded(world, "add_n", {}, {x, x, x}, {1, Scalar::ratio(1, 3), 2}) == "10/3");
  CHECK(folded(world, "mul", {}, {x, x}, {3, Scalar::ratio(1, 3)}) == "1");
  CHECK(folded(world, "mul", {}, {x, x}, {0, kMinusInfinity}) == "nothing");
  CHECK(folded(world, "max_n", {}, {x, x}, {kMinusInfinity, 3}) == "3");
  CHECK(folded(world, "scale", {half}, {x}, {3}) == "3/2");
  CHECK(folded(world, "ge", {}, {x, x}, {3, 3}) == "1");
  CHECK(folded(world, "ge", {}, {x, x}, {kMinusInfinity, 3}) == "0");
  CHECK(folded(world, "where", {}, {m, x, x}, {1, 5, 7}) == "5");
  CHECK(folded(world, "where", {}, {m, x, x}, {0, 5, 7}) == "7");
  CHECK(folded(world, "exp", {}, {x}, {0}) == "1");
  CHECK(folded(world, "exp", {}, {x}, {kMinusInfinity}) == "0");
  CHECK(folded(world, "exp", {}, {x}, {1}) == "nothing");
  CHECK(folded(world, "log", {}, {x}, {1}) == "0");
  CHECK(folded(world, "pow", {Attr::of(Scalar(-1))}, {x}, {4}) == "1/4");
  CHECK(folded(world, "pow", {half}, {x}, {4}) == "2");
  CHECK(folded(world, "pow", {half}, {x}, {3}) == "nothing");
  CHECK(folded(world, "dropout", {half, number(0)}, {x}, {3}) == "nothing");
}

TEST_CASE("a sum over a negative range is 0, and one of unknown length has no value") {
  World world(R"(
    op times(x: tensor; n: int) { shape []; value i => sum(k < n: x[[0]]); }
    op twice(x: tensor; n: int, m: int) { shape []; value i => sum(k < [n, m]: x[[0]]); }
  )");
  const TensorType x = type({4});
  const sym::Int s0 = sym::Int::symbol("s0");
  const sym::Int s1 = sym::Int::symbol("s1");
  CHECK(folded(world, "times", {number(3)}, {x}, {5}) == "15");
  CHECK(folded(world, "times", {number(0)}, {x}, {5}) == "0");
  CHECK(folded(world, "times", {number(-3)}, {x}, {5}) == "0");
  CHECK(folded(world, "times", {Attr::of(s0)}, {x}, {5}) == "5*s0");
  CHECK(folded(world, "times", {Attr::of(-s0)}, {x}, {5}) == "0");
  CHECK(folded(world, "times", {Attr::of(s0 - s1)}, {x}, {5}) == "nothing");
  CHECK(folded(world, "twice", {number(2), number(3)}, {x}, {5}) == "30");
  CHECK(folded(world, "twice", {number(-2), number(-3)}, {x}, {5}) == "0");
  CHECK(folded(world, "twice", {number(-2), Attr::of(s0)}, {x}, {5}) == "0");
}

TEST_CASE("what rearranges has the value of its operands; reductions count") {
  World world;
  const sym::Int s0 = sym::Int::symbol("s0");
  CHECK(folded(world, "concat", {number(0)}, {type({2}), type({3})}, {7, 7}) == "7");
  CHECK(folded(world, "concat", {number(0)}, {type({2}), type({3})}, {7, 8}) == "nothing");
  CHECK(folded(world, "bcast", {numbers({0}), numbers({5})}, {type({})}, {7}) == "7");
  CHECK(folded(world, "slice", {number(0), number(0), number(1)}, {type({2})}, {kMinusInfinity}) == "-inf");
  CHECK(folded(world, "reduce_sum", {number(1)}, {type({2, 5})}, {3}) == "15");
  CHECK(folded(world, "reduce_sum", {number(0)}, {type({s0, 5})}, {3}) == "3*s0");
  CHECK(folded(world, "reduce_sum", {number(0)}, {type({2})}, {kMinusInfinity}) == "nothing");
  CHECK(folded(world, "reduce_max", {number(0)}, {type({s0, 5})}, {3}) == "3");
  CHECK(folded(world, "contract", {number(0), number(2)}, {type({2, 3, 4}), type({3, 4, 5})}, {2, 3}) ==
        "72");
  const TensorType index = type({3}, DType::i64);
  CHECK(folded(world, "take", {number(0)}, {type({10, 2}), index}, {5, 9}) == "5");
  CHECK(folded(world, "take", {number(0)}, {type({10, 2}), index}, {5, 10}) == "0");
  CHECK(folded(world, "take", {number(0)}, {type({s0, 2}), index}, {5, 10}) == "nothing");
  CHECK(folded(world, "take", {number(0)}, {type({s0, 2}), index}, {0, 10}) == "0");
  // The element depends on the index.
  CHECK(folded(world, "iota", {number(0), number(5), Attr::of(DType::i64)}, {}, {}) == "nothing");
  const auto scalars = [](std::vector<int> values) {
    std::vector<Attr> entries;
    for (const int value : values) entries.push_back(Attr::of(Scalar(value)));
    return Attr::list(entries);
  };
  CHECK(folded(world, "lit", {scalars({1, 2}), Attr::of(DType::i64)}, {}, {}) == "nothing");
  CHECK(folded(world, "lit", {scalars({2, 2}), Attr::of(DType::i64)}, {}, {}) == "2");
}

TEST_CASE("a constant is a value of its type") {
  World world(R"(
    op halve(x: tensor): elementwise { value i => x[i] / 2; }
    op whole(x: tensor; to: dtype): elementwise { dtype to; value i => if is_integer(to) then floor(x[i]) else x[i]; }
    function floor(a);
    function cube(a);
    law cube_of_two(): cube(2) == 8;
    op cube(x: tensor): elementwise;
    op floor_div(x: tensor, y: tensor): elementwise;
    op remainder(x: tensor, y: tensor): elementwise;
  )");
  CHECK(folded(world, "halve", {}, {type({2})}, {3}) == "3/2");
  CHECK(folded(world, "halve", {}, {type({2}, DType::i64)}, {3}) == "nothing");
  CHECK(folded(world, "halve", {}, {type({2}, DType::i64)}, {4}) == "2");
  CHECK(folded(world, "halve", {}, {type({2}, DType::b8)}, {1}) == "nothing");
  CHECK(folded(world, "add_n", {}, {type({2}, DType::i8), type({2}, DType::i8)}, {100, 100}) == "nothing");
  CHECK(folded(world, "add_n", {}, {type({2}, DType::i16), type({2}, DType::i16)}, {100, 100}) == "200");
  CHECK(folded(world, "whole", {Attr::of(DType::i64)}, {type({2})}, {Scalar::ratio(-5, 2)}) == "-3");
  CHECK(folded(world, "whole", {Attr::of(DType::f16)}, {type({2})}, {Scalar::ratio(-5, 2)}) == "-5/2");
  CHECK(folded(world, "cube", {}, {type({2})}, {2}) == "8");
  CHECK(folded(world, "cube", {}, {type({2})}, {3}) == "nothing");
  const TensorType whole = type({2}, DType::i64);
  CHECK(folded(world, "floor_div", {}, {whole, whole}, {-7, 2}) == "-4");
  CHECK(folded(world, "floor_div", {}, {whole, whole}, {-7, -2}) == "3");
  CHECK(folded(world, "floor_div", {}, {whole, whole}, {7, 0}) == "nothing");
  CHECK(folded(world, "remainder", {}, {whole, whole}, {-7, 2}) == "1");
  CHECK(folded(world, "remainder", {}, {whole, whole}, {7, -2}) == "-1");
  CHECK(folded(world, "remainder", {}, {type({2}), type({2})}, {Scalar::ratio(5, 2), 2}) == "1/2");
}

}  // namespace entangle::term::test
