#include "entangle/term/typing.h"

#include <ctime>

#include "fixture.h"

namespace entangle::term::test {

namespace {

const sym::Int s0 = sym::Int::symbol("s0");
const sym::Int s1 = sym::Int::symbol("s1");

std::string typed(World& world, const std::string& op, std::vector<Attr> values,
                  std::vector<TensorType> types) {
  std::string why;
  const auto result = world.typing.type_of(world.op(op), Attr::list(values), pointers(types), &why);
  return result ? tensor::to_string(*result) : why;
}

}  // namespace

TEST_CASE("shapes and element types") {
  World world;
  CHECK(typed(world, "concat", {number(1)}, {type({2, 3}), type({2, 4})}) == "f32[2, 7]");
  CHECK(typed(world, "slice", {number(0), number(1), number(4)}, {type({8, 3})}) == "f32[3, 3]");
  CHECK(typed(world, "transpose", {numbers({2, 0, 1})}, {type({2, 3, 4})}) == "f32[4, 2, 3]");
  CHECK(typed(world, "merge", {number(1)}, {type({2, 3, 4})}) == "f32[2, 12]");
  CHECK(typed(world, "split", {number(0), number(4)}, {type({8, 3})}) == "f32[2, 4, 3]");
  CHECK(typed(world, "bcast", {numbers({0, 2}), numbers({5, 6})}, {type({3})}) == "f32[5, 3, 6]");
  CHECK(typed(world, "squeeze", {number(1)}, {type({2, 1, 3})}) == "f32[2, 3]");
  CHECK(typed(world, "const", {Attr::of(sym::Scalar(2)), Attr::of(DType::i64)}, {}) == "i64[]");
  CHECK(typed(world, "iota", {number(0), number(5), Attr::of(DType::i64)}, {}) == "i64[5]");
  CHECK(typed(world, "add_n", {}, {type({2, 3}), type({2, 3}), type({2, 3})}) == "f32[2, 3]");
  CHECK(typed(world, "exp", {}, {type({2}, DType::bf16)}) == "bf16[2]");
  CHECK(typed(world, "cast", {Attr::of(DType::f16)}, {type({2})}) == "f16[2]");
  CHECK(typed(world, "where", {}, {type({2}, DType::b8), type({2}), type({2})}) == "f32[2]");
  CHECK(typed(world, "reduce_sum", {number(0)}, {type({2, 3})}) == "f32[3]");
  CHECK(typed(world, "contract", {number(1), number(1)}, {type({5, 2, 3}), type({5, 3, 4})}) ==
        "f32[5, 2, 4]");
  CHECK(typed(world, "contract", {number(0), number(2)}, {type({2, 3, 4}), type({3, 4, 5, 6})}) ==
        "f32[2, 5, 6]");
  CHECK(typed(world, "take", {number(0)}, {type({10, 8}), type({2, 3}, DType::i64)}) == "f32[2, 3, 8]");
  CHECK(typed(world, "sum_over", {numbers({0, 2})}, {type({2, 3, 4})}) == "f32[3]");
}

TEST_CASE("what has no type, and why") {
  World world;
  CHECK(typed(world, "slice", {number(0), number(4), number(12)}, {type({8})}) ==
        "slice(f32[8]; 0, 4, 12): requires `end <= x.shape[dim]`");
  CHECK(typed(world, "squeeze", {number(0)}, {type({8})}) ==
        "squeeze(f32[8]; 0): requires `x.shape[dim] == 1`");
  CHECK(typed(world, "squeeze", {number(1)}, {type({8})}) ==
        "squeeze(f32[8]; 1): `1` is no value of `dim: axis(x)`");
  CHECK(typed(world, "merge", {number(0)}, {type({8})}) == "merge(f32[8]; 0): requires `dim + 1 < rank(x)`");
  CHECK(typed(world, "bcast", {numbers({0, 3}), numbers({5, 6})}, {type({3})}) ==
        "bcast(f32[3]; [0, 3], [5, 6]): its shape is undefined");
  CHECK(typed(world, "transpose", {numbers({0, 0})}, {type({2, 3})}) ==
        "transpose(f32[2, 3]; [0, 0]): `[0, 0]` is no value of `perm: perm(x)`");
  CHECK(typed(world, "transpose", {numbers({0})}, {type({2, 3})}) ==
        "transpose(f32[2, 3]; [0]): `[0]` is no value of `perm: perm(x)`");
  CHECK(typed(world, "add_n", {}, {type({2, 3}), type({3, 2})}) ==
        "add_n(f32[2, 3], f32[3, 2]): the shapes differ");
  CHECK(typed(world, "add_n", {}, {type({2}), type({2}, DType::f16)}) ==
        "add_n(f32[2], f16[2]): the element types differ");
  CHECK(typed(world, "add_n", {}, {}) == "add_n(): takes at least 1 operand, not 0");
  CHECK(typed(world, "exp", {}, {type({2}), type({2})}) == "exp(f32[2], f32[2]): takes 1 operand, not 2");
  CHECK(typed(world, "exp", {number(0)}, {type({2})}) == "exp(f32[2]; 0): takes 0 attributes");
  CHECK(typed(world, "scale", {number(2)}, {type({2})}) ==
        "scale(f32[2]; 2): `2` is no value of `c: scalar`");
  // The answer is the same when it is remembered.
  CHECK(typed(world, "squeeze", {number(0)}, {type({8})}) ==
        "squeeze(f32[8]; 0): requires `x.shape[dim] == 1`");
}

TEST_CASE("symbolic sizes are questions to the oracle") {
  sym::Facts facts;
  facts.add_divides(8, s0);
  facts.add_le(4, s1);
  World world({}, facts);
  CHECK(typed(world, "split", {number(0), number(4)}, {type({s0})}) == "f32[2*(s0//8), 4]");
  CHECK(typed(world, "slice", {number(0), number(0), number(4)}, {type({s1})}) == "f32[4]");
  CHECK(typed(world, "slice", {number(0), number(0), number(5)}, {type({s1})}) ==
        "slice(f32[s1]; 0, 0, 5): cannot decide `end <= x.shape[dim]`");
  CHECK(typed(world, "concat", {number(0)}, {type({s0}), type({s1}), type({2 * s0})}) == "f32[3*s0 + s1]");
  CHECK(typed(world, "add_n", {}, {type({s0}), type({s1})}) ==
        "add_n(f32[s0], f32[s1]): cannot decide whether the shapes are equal");
  CHECK(typed(world, "contract", {number(0), number(1)}, {type({2, s0}), type({s0, 3})}) == "f32[2, 3]");
}

TEST_CASE("a type that is known is found quickly") {
  World world;
  const std::vector<TensorType> types(4, type({16, 128, 64}));
  const std::vector<const TensorType*> children = pointers(types);
  const rules::OpId op = world.op("concat");
  const Attr attributes = attrs({number(1)});
  REQUIRE(world.typing.type_of(op, attributes, children));
  const std::clock_t start = std::clock();
  std::size_t rank = 0;
  constexpr int kTimes = 20000;
  for (int i = 0; i < kTimes; ++i) {
    rank += world.typing.type_of(op, attributes, children)->rank();
    rank += world.typing.axes(op, attributes, children).maps.size();
  }
  const double each = static_cast<double>(std::clock() - start) * 1e6 / CLOCKS_PER_SEC / kTimes;
  CHECK(rank == 5 * kTimes);
  MESSAGE("a type and its axes: ", each, " microseconds of processor time");
#ifdef __OPTIMIZE__
  CHECK(each < 5);  // well under one where nothing else runs
#endif
}

}  // namespace entangle::term::test
