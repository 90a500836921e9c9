#include "entangle/term/typing.h"

#include "fixture.h"
#include "numeric.h"

namespace entangle::term::test {

namespace {

using rules::Shift;
using Axis = std::vector<int>;

struct Case {
  std::string op;
  std::vector<Attr> attrs;
  std::vector<TensorType> types;
};

// Every size is a product of two, so that each axis can be split.
std::vector<Case> cases() {
  const DType i64 = DType::i64;
  return {
      {"concat", {number(1)}, {type({4, 6, 2}), type({4, 3, 2}), type({4, 6, 2})}},
      {"concat", {number(0)}, {type({4, 6, 2}), type({2, 6, 2})}},
      {"slice", {number(1), number(1), number(4)}, {type({4, 6, 4})}},
      {"slice", {number(0), number(1), number(3)}, {type({4, 6})}},
      {"slice", {number(2), number(0), number(2)}, {type({4, 6, 4})}},
      {"transpose", {numbers({2, 0, 1})}, {type({4, 6, 8})}},
      {"transpose", {numbers({1, 2, 0})}, {type({4, 6, 8})}},
      {"transpose", {numbers({3, 0, 2, 1})}, {type({2, 4, 6, 4})}},
      {"merge", {number(0)}, {type({2, 4, 6})}},
      {"merge", {number(1)}, {type({4, 2, 4, 6})}},
      {"split", {number(0), number(2)}, {type({6, 4, 6})}},
      {"split", {number(1), number(3)}, {type({4, 6, 4})}},
      {"split", {number(2), number(2)}, {type({4, 6, 4})}},
      {"bcast", {numbers({1}), numbers({3})}, {type({4, 6})}},
      {"bcast", {numbers({0, 2, 4}), numbers({2, 3, 2})}, {type({4, 6})}},
      {"bcast", {numbers({1, 2}), numbers({2, 3})}, {type({4, 6})}},
      {"squeeze", {number(1)}, {type({4, 1, 6})}},
      {"squeeze", {number(0)}, {type({1, 4, 6})}},
      {"add_n", {}, {type({4, 6}), type({4, 6}), type({4, 6})}},
      {"where", {}, {type({4, 6}, DType::b8), type({4, 6}), type({4, 6})}},
      {"scale", {Attr::of(sym::Scalar(3))}, {type({4, 6})}},
      {"reduce_sum", {number(0)}, {type({4, 6, 4})}},
      {"reduce_sum", {number(1)}, {type({4, 6, 4})}},
      {"reduce_max", {number(2)}, {type({4, 6, 4})}},
      {"contract", {number(0), number(1)}, {type({4, 6}), type({6, 8})}},
      {"contract", {number(1), number(1)}, {type({4, 6, 2}), type({4, 2, 6})}},
      {"contract", {number(2), number(2)}, {type({4, 2, 6, 4, 2}), type({4, 2, 4, 2, 4})}},
      {"contract", {number(1), number(2)}, {type({4, 4, 2, 4, 2}), type({4, 4, 2})}},
      {"take", {number(0)}, {type({6, 4}), type({4, 6}, i64)}},
      {"take", {number(1)}, {type({4, 6, 4, 6}), type({4, 6}, i64)}},
      {"take", {number(2)}, {type({4, 2, 6, 4}), type({4, 2}, i64)}},
      {"sum_over", {numbers({0, 2})}, {type({4, 6, 4, 2})}},
      {"sum_over", {numbers({2, 1})}, {type({4, 6, 4})}},
  };
}

std::string describe(const Case& one, const Correspondence& axis) {
  std::string text =
      one.op + " " + to_string(Attr::list(one.attrs)) + ": " + std::to_string(axis.result) + " <-";
  for (const int operand : axis.operands) text += " " + std::to_string(operand);
  return text;
}

// The axis as two, the second of size `inner`; two as one.
TensorType with_split(TensorType type, int axis, sym::Int inner) {
  if (axis == kNoAxis) return type;
  const auto at = type.shape.begin() + axis;
  *at = *exact_div(*at, inner);
  type.shape.insert(at + 1, inner);
  return type;
}

std::vector<Array> arrays(const Case& one) {
  std::vector<Array> result;
  for (std::size_t j = 0; j < one.types.size(); ++j) {
    const bool boolean = one.types[j].dtype == DType::b8;
    result.push_back(filled(one.types[j], static_cast<std::int64_t>(j) + 1, boolean ? 2 : 7));
  }
  return result;
}

// Splitting the axis of every operand, applying, and comparing with the split of the result; and back.
void check_split(World& world, const Case& one, const Correspondence& axis, bool may_fail) {
  INFO(describe(one, axis));
  const rules::OpId op = world.op(one.op);
  const Attr attributes = Attr::list(one.attrs);
  const auto before = world.typing.type_of(op, attributes, pointers(one.types));
  REQUIRE(before);
  const auto attrs = world.typing.shifted(op, attributes, pointers(one.types), axis, Shift::split);
  if (may_fail && !attrs) return;
  REQUIRE(attrs);
  std::vector<TensorType> types;
  for (std::size_t j = 0; j < one.types.size(); ++j) {
    types.push_back(with_split(one.types[j], axis.operands[j], 2));
  }
  std::string why;
  const auto after = world.typing.type_of(op, *attrs, pointers(types), &why);
  REQUIRE_MESSAGE(after, why);
  CHECK(tensor::to_string(*after) == tensor::to_string(with_split(*before, axis.result, 2)));

  const std::vector<Array> wholes = arrays(one);
  std::vector<Array> parts;
  for (std::size_t j = 0; j < wholes.size(); ++j) parts.push_back(reshaped(wholes[j], types[j]));
  const Array whole = computed(world, op, attributes, wholes, *before);
  CHECK(computed(world, op, *attrs, parts, *after).elements == whole.elements);

  // Joining what was split leads back.
  const AxisInfo& info = world.typing.axes(op, *attrs, pointers(types));
  const auto& list = axis.result == kNoAxis ? info.sums : info.maps;
  bool found = false;
  for (const Correspondence& left : list) {
    if (left.result != axis.result || left.operands != axis.operands) continue;
    found = true;
    const auto back = world.typing.shifted(op, *attrs, pointers(types), left, Shift::join);
    REQUIRE(back);
    CHECK(to_string(*back) == to_string(attributes));
  }
  CHECK(found);
}

// An axis of size one: dropped in every operand that has it, it is dropped in the result.
void check_drop(World& world, Case one, const Correspondence& axis) {
  INFO(describe(one, axis));
  const rules::OpId op = world.op(one.op);
  const Attr attributes = Attr::list(one.attrs);
  std::vector<TensorType> types = one.types;
  for (std::size_t j = 0; j < types.size(); ++j) {
    if (axis.operands[j] == kNoAxis) continue;
    one.types[j].shape[static_cast<std::size_t>(axis.operands[j])] = 1;
    types[j].shape.erase(types[j].shape.begin() + axis.operands[j]);
  }
  auto before = world.typing.type_of(op, attributes, pointers(one.types));
  REQUIRE(before);
  const auto attrs = world.typing.shifted(op, attributes, pointers(one.types), axis, Shift::drop);
  REQUIRE(attrs);
  std::string why;
  const auto after = world.typing.type_of(op, *attrs, pointers(types), &why);
  REQUIRE_MESSAGE(after, why);
  const std::vector<Array> wholes = arrays(one);
  std::vector<Array> parts;
  for (std::size_t j = 0; j < wholes.size(); ++j) parts.push_back(reshaped(wholes[j], types[j]));
  CHECK(computed(world, op, *attrs, parts, *after).elements ==
        computed(world, op, attributes, wholes, *before).elements);
  before->shape.erase(before->shape.begin() + axis.result);
  CHECK(tensor::to_string(*after) == tensor::to_string(*before));
}

Axis axis_of(const Correspondence& one) {
  Axis result = {one.result};
  result.insert(result.end(), one.operands.begin(), one.operands.end());
  return result;
}

std::vector<Axis> axes_of(const std::vector<Correspondence>& list) {
  std::vector<Axis> result;
  for (const Correspondence& one : list) result.push_back(axis_of(one));
  return result;
}

}  // namespace

TEST_CASE("axis correspondences") {
  World world;
  const auto info = [&](const std::string& op, std::vector<Attr> values,
                        std::vector<TensorType> types) -> auto& {
    return world.typing.axes(world.op(op), Attr::list(values), pointers(types));
  };
  const std::vector<Axis> none;
  const auto& concat = info("concat", {number(1)}, {type({2, 3, 4}), type({2, 5, 4})});
  CHECK(axes_of(concat.maps) == std::vector<Axis>{{0, 0, 0}, {2, 2, 2}});
  CHECK(concat.linear == std::vector<bool>{false, false});
  const auto& contract =
      info("contract", {number(1), number(2)}, {type({2, 3, 4, 5}), type({2, 4, 5, 6, 7})});
  CHECK(axes_of(contract.maps) == std::vector<Axis>{{0, 0, 0}, {1, 1, -1}, {2, -1, 3}, {3, -1, 4}});
  CHECK(axes_of(contract.sums) == std::vector<Axis>{{-1, 2, 1}, {-1, 3, 2}});
  CHECK(contract.linear == std::vector<bool>{true, true});
  const auto& where = info("where", {}, {type({2, 3}, DType::b8), type({2, 3}), type({2, 3})});
  CHECK(axes_of(where.maps) == std::vector<Axis>{{0, 0, 0, 0}, {1, 1, 1, 1}});
  const auto& transpose = info("transpose", {numbers({1, 2, 0})}, {type({2, 3, 4})});
  CHECK(axes_of(transpose.maps) == std::vector<Axis>{{0, 1}, {1, 2}, {2, 0}});
  const auto& bcast = info("bcast", {numbers({0, 2}), numbers({5, 6})}, {type({2, 3})});
  CHECK(axes_of(bcast.maps) == std::vector<Axis>{{1, 0}, {3, 1}});
  const auto& maximum = info("reduce_max", {number(1)}, {type({2, 3})});
  CHECK(axes_of(maximum.maps) == std::vector<Axis>{{0, 0}});
  CHECK(axes_of(maximum.maxima) == std::vector<Axis>{{-1, 1}});
  CHECK(axes_of(maximum.sums) == none);
  CHECK(info("cast", {Attr::of(DType::f16)}, {type({2})}).linear == std::vector<bool>{true});
  CHECK(info("cast", {Attr::of(DType::i64)}, {type({2})}).linear == std::vector<bool>{false});
  CHECK(info("cast", {Attr::of(DType::f16)}, {type({2}, DType::b8)}).linear == std::vector<bool>{false});
  CHECK(info("mul", {}, {type({2}), type({2}), type({2})}).linear == std::vector<bool>{true, true, true});
  // One answer for all sizes.
  CHECK(&info("cast", {Attr::of(DType::f16)}, {type({2})}) ==
        &info("cast", {Attr::of(DType::f16)}, {type({3})}));
}

TEST_CASE("attributes follow a split, and joining leads back") {
  World world;
  for (const Case& one : cases()) {
    const AxisInfo& info = world.typing.axes(world.op(one.op), Attr::list(one.attrs), pointers(one.types));
    for (const Correspondence& axis : info.maps) check_split(world, one, axis, false);
    for (const Correspondence& axis : info.sums) check_split(world, one, axis, one.op == "reduce_sum");
    CHECK(!(info.maps.empty() && info.sums.empty()));
  }
}

TEST_CASE("attributes follow a dropped axis") {
  World world;
  for (const Case& one : cases()) {
    const AxisInfo& info = world.typing.axes(world.op(one.op), Attr::list(one.attrs), pointers(one.types));
    for (const Correspondence& axis : info.maps) check_drop(world, one, axis);
  }
}

TEST_CASE("what attributes cannot express") {
  World world;
  const auto shifted = [&](const Case& one, std::size_t place, bool sums, Shift shift) {
    const auto types = pointers(one.types);
    const Attr attributes = Attr::list(one.attrs);
    const AxisInfo& info = world.typing.axes(world.op(one.op), attributes, types);
    const auto result = world.typing.shifted(world.op(one.op), attributes, types,
                                             (sums ? info.sums : info.maps)[place], shift);
    return result ? to_string(*result) : "nothing";
  };
  // reduce_sum sums one axis; a split one would be two.
  CHECK(shifted({"reduce_sum", {number(0)}, {type({4, 6})}}, 0, true, Shift::split) == "nothing");
  CHECK(shifted({"sum_over", {numbers({0, 2})}, {type({4, 6, 4})}}, 0, true, Shift::split) == "[[0, 1, 3]]");
  CHECK(shifted({"sum_over", {numbers({0, 1})}, {type({4, 6, 4})}}, 0, true, Shift::join) == "[[0]]");
  CHECK(shifted({"sum_over", {numbers({0, 2})}, {type({4, 6, 4})}}, 1, true, Shift::drop) == "[[0]]");
  // Neighbours of the result that are no neighbours in the operand.
  CHECK(shifted({"transpose", {numbers({1, 0, 2})}, {type({4, 6, 8})}}, 0, false, Shift::join) == "nothing");
  CHECK(shifted({"transpose", {numbers({1, 2, 0})}, {type({4, 6, 8})}}, 0, false, Shift::join) == "[[1, 0]]");
  CHECK(shifted({"transpose", {numbers({1, 2, 0})}, {type({4, 6, 8})}}, 1, false, Shift::join) == "nothing");
  CHECK(shifted({"squeeze", {number(1)}, {type({4, 1, 6})}}, 0, false, Shift::join) == "nothing");
  CHECK(shifted({"slice", {number(2), number(0), number(1)}, {type({4, 6, 8})}}, 0, false, Shift::join) ==
        "[1, 0, 1]");
  // A batch axis and a row are not one axis of either kind.
  CHECK(shifted({"contract", {number(1), number(1)}, {type({4, 6, 2}), type({4, 2, 6})}}, 0, false,
                Shift::join) == "nothing");
  CHECK(shifted({"contract", {number(2), number(1)}, {type({4, 2, 6, 2}), type({4, 2, 2, 6})}}, 0, false,
                Shift::join) == "[1, 1]");
  CHECK(shifted({"contract", {number(0), number(2)}, {type({4, 6, 2}), type({6, 2, 6})}}, 0, true,
                Shift::join) == "[0, 1]");
  CHECK(shifted({"add_n", {}, {type({4, 6}), type({4, 6})}}, 0, false, Shift::none) == "[]");
}

}  // namespace entangle::term::test
