#include "fixture.h"

namespace entangle::term::test {

namespace {

using sym::Int;

const Int s0 = Int::symbol("s0");
const Int s1 = Int::symbol("s1");

std::string reshaped(World& world, std::vector<Int> from, std::vector<Int> to) {
  const TermId x = world.leaf("x", std::move(from));
  const std::optional<TermId> result = world.evaluator.reshape(x, to);
  if (!result) return "undefined";
  for (std::size_t k = 0; k < to.size(); ++k) {
    const Int size = world.store.type(*result).shape[k];
    CHECK((to[k] == Int(-1) || is_yes(world.oracle.equal(size, to[k]))));
  }
  CHECK(world.store.type(*result).rank() == to.size());
  return world.store.print(*result);
}

std::string broadcast(World& world, std::vector<Int> from, const std::vector<Int>& to) {
  return world.text(world.evaluator.broadcast_to(world.leaf("x", std::move(from)), to));
}

}  // namespace

TEST_CASE("reshape") {
  World world;
  CHECK(reshaped(world, {2, 3}, {2, 3}) == "x");
  CHECK(reshaped(world, {2, 3}, {6}) == "merge(x; 0)");
  CHECK(reshaped(world, {6}, {2, 3}) == "split(x; 0, 3)");
  CHECK(reshaped(world, {2, 3, 4}, {2, 12}) == "merge(x; 1)");
  CHECK(reshaped(world, {2, 3, 4}, {24}) == "merge(merge(x; 0); 0)");
  CHECK(reshaped(world, {24}, {2, 3, 4}) == "split(split(x; 0, 4); 0, 3)");
  CHECK(reshaped(world, {6, 4}, {3, 8}) == "split(merge(x; 0); 0, 8)");
  CHECK(reshaped(world, {4, 6, 10}, {2, 12, 5, 2}) == "split(split(merge(x; 0); 0, 12); 2, 2)");
  CHECK(reshaped(world, {2, 12, 5}, {-1, 4, 5}) == "split(merge(x; 0); 0, 4)");
  CHECK(reshaped(world, {2, 12}, {-1}) == "merge(x; 0)");
  CHECK(reshaped(world, {2, 3}, {-1, -1}) == "undefined");
  CHECK(reshaped(world, {2, 3}, {4}) == "undefined");
  CHECK(reshaped(world, {2, 3}, {-1, 4}) == "undefined");
  CHECK(world.evaluator.reason() == "cannot reshape [2, 3] to [-1, 4]");
}

TEST_CASE("unit axes come and go as squeeze and bcast, and stay where nothing happens") {
  World world;
  CHECK(reshaped(world, {2, 1, 3}, {2, 3}) == "squeeze(x; 1)");
  CHECK(reshaped(world, {2, 3}, {2, 1, 3}) == "bcast(x; [1], [1])");
  CHECK(reshaped(world, {1, 1}, {}) == "squeeze(squeeze(x; 1); 0)");
  CHECK(reshaped(world, {}, {1, 1}) == "bcast(x; [0, 1], [1, 1])");
  CHECK(reshaped(world, {1, 8, 32}, {1, 8, 4, 8}) == "split(x; 2, 8)");
  CHECK(reshaped(world, {1, 8, 32}, {8, 32}) == "squeeze(x; 0)");
  CHECK(reshaped(world, {2, 1, 3, 4}, {2, 12, 1}) == "bcast(merge(squeeze(x; 1); 1); [2], [1])");
  CHECK(reshaped(world, {4, 1}, {1, 4}) == "bcast(squeeze(x; 1); [0], [1])");
}

TEST_CASE("reshape of symbolic sizes") {
  sym::Facts facts;
  facts.add_divides(8, s1);
  World world({}, facts);
  CHECK(reshaped(world, {s0, 4, 8}, {s0, 32}) == "merge(x; 1)");
  CHECK(reshaped(world, {s0, s1}, {s0 * s1}) == "merge(x; 0)");
  CHECK(reshaped(world, {s0, 3, s1}, {3 * s0, s1}) == "merge(x; 0)");
  CHECK(reshaped(world, {s0 * 6}, {s0, 2, 3}) == "split(split(x; 0, 3); 0, 2)");
  CHECK(reshaped(world, {s0, 32}, {-1, 4, 8}) == "split(x; 1, 8)");
  CHECK(reshaped(world, {s0, s1}, {-1}) == "merge(x; 0)");
  CHECK(reshaped(world, {s1, 3}, {*world.oracle.exact_div(s1, 8), 8, 3}) == "split(x; 0, 8)");
  CHECK(reshaped(world, {s1, 3}, {-1, 8, 3}) == "split(x; 0, 8)");
  CHECK(reshaped(world, {s0, 3}, {-1, 2, 3}) == "undefined");
  CHECK(reshaped(world, {s0}, {s1}) == "undefined");
}

TEST_CASE("broadcasting adds axes; an axis of size one is replaced") {
  World world;
  CHECK(broadcast(world, {3}, {3}) == "x");
  CHECK(broadcast(world, {3}, {2, 3}) == "bcast(x; [0], [2])");
  CHECK(broadcast(world, {}, {2, 3}) == "bcast(x; [0, 1], [2, 3])");
  CHECK(broadcast(world, {2, 1, 3}, {4, 2, 5, 3}) == "bcast(squeeze(x; 1); [0, 2], [4, 5])");
  CHECK(broadcast(world, {1, 1}, {5, 1}) == "bcast(squeeze(x; 0); [0], [5])");
  CHECK(broadcast(world, {1, 3}, {5, -1}) == "bcast(squeeze(x; 0); [0], [5])");
  CHECK(broadcast(world, {1, s0}, {s1, s0}) == "bcast(squeeze(x; 0); [0], [s1])");
  CHECK(broadcast(world, {2}, {3}) == "undefined");
  CHECK(broadcast(world, {2, 3}, {3}) == "undefined");
}

TEST_CASE("constants") {
  World world;
  const auto full = [&](sym::Scalar c, const TensorType& of) {
    return world.text(world.evaluator.full(c, of));
  };
  CHECK(full(2, type({})) == "const(; 2, f32)");
  CHECK(full(sym::Scalar::ratio(1, 2), type({2, 3}, DType::f16)) ==
        "bcast(const(; 1/2, f16); [0, 1], [2, 3])");
  CHECK(full(sym::Scalar::infinity(true), type({s0})) == "bcast(const(; -inf, f32); [0], [s0])");
}

}  // namespace entangle::term::test
