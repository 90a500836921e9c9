// Numbers without a sign, which are read as ideal numbers: where what is computed of them is known to wrap
// around, or could become negative, it is not the same.
//
// XLA writes `a - 1` as `a + 4294967295`: a sum or product with a constant in the upper half of its type
// counts as one that wraps. Sums of what is not known are taken to fit, as all whole numbers are.
#include <algorithm>
#include <array>
#include <utility>

#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

using tensor::Attr;

namespace {

// Operators whose results are elements of their first operand, if need be of another type.
constexpr std::array<std::string_view, 9> kMoving = {"hlo.copy",    "hlo.convert",   "hlo.broadcast",
                                                     "hlo.reshape", "hlo.transpose", "hlo.reverse",
                                                     "hlo.slice",   "hlo.gather",    "hlo.dynamic_slice"};
// And of any of them.
constexpr std::array<std::string_view, 6> kChoosing = {
    "hlo.pad", "hlo.concatenate", "hlo.select", "hlo.maximum", "hlo.dynamic_update_slice", "hlo.clamp"};

// What two numbers give, or one of more than 64 bits.
std::optional<std::uint64_t> combined(std::string_view op, std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (op.ends_with("add")) {
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  }
  if (op.ends_with("multiply")) {
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  }
  return b < 64 && (a << b) >> b == a ? std::optional(a << b) : std::nullopt;
}

}  // namespace

std::optional<Greatest> HloReader::greatest(const Arg& arg) const {
  if (const Arg::Ref* ref = arg.ref()) {
    const auto found = greatest_.find(ref->node);
    return found == greatest_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<Greatest> most;
  for (const Arg& one : arg.list() != nullptr ? *arg.list() : Arg::List()) {
    if (const std::optional<Greatest> next = greatest(one); next && (!most || most->number < next->number)) {
      most = Greatest{next->number, false};
    }
  }
  return most;
}

void HloReader::note_greatest(NodeIndex index, const Shape& shape) {
  const Node& node = graph_.nodes[index];
  const std::optional<Range> range = range_of(shape.dtype);
  if (!range || !node.kwargs.empty()) {
    return;
  }
  std::optional<Greatest> most;
  if (is_one_of(node.op, kMoving)) {
    most = greatest(node.args[0]);
  } else if (is_one_of(node.op, kChoosing)) {
    most = greatest(Arg{Arg::List(node.args)});
  } else if (node.op == "hlo.add" || node.op == "hlo.multiply" || node.op == "hlo.shift_left") {
    const std::optional<Greatest> a = greatest(node.args[0]);
    const std::optional<Greatest> b = greatest(node.args[1]);
    if (a && b && a->whole && b->whole) {
      if (const auto both = combined(node.op, a->number, b->number)) {
        most = Greatest{*both, true};
      }
    }
  }
  if (most && most->number <= range->greatest) {
    greatest_[index] = *most;
  }
}

bool HloReader::outside(NodeIndex index, const Shape& shape) {
  const std::optional<Range> range = range_of(shape.dtype);
  bool good = true;
  std::uint64_t most = 0;
  const auto look = [&](const Attr& value, const auto& self) -> void {
    if (value.kind() == Attr::Kind::list) {
      for (const Attr& entry : value.as_list()) {
        self(entry, self);
      }
    } else if (value.kind() == Attr::Kind::integer && value.as_int().value() < 0) {
      good = good && range->holds(value.as_int().value());
    } else if (value.kind() != Attr::Kind::boolean) {
      const std::optional<std::uint64_t> number = natural(value);
      good = good && number && *number <= range->greatest;
      most = std::max(most, number.value_or(0));
    }
  };
  if (range) {
    look(*graph_.nodes[index].value, look);
  }
  if (is_unsigned(shape)) {
    greatest_[index] = Greatest{most, true};
  }
  return !good;
}

bool HloReader::wraps(const Call& call) const {
  const std::string_view opcode = call.instruction.opcode.text;
  const Shape& result = call.instruction.shape;
  if (opcode == "shift-right-logical") {
    return !is_unsigned(result);
  }
  const std::optional<Range> range = range_of(result.dtype);
  if (!is_unsigned(result) || !range) {
    return false;
  }
  if (opcode == "subtract" || opcode == "negate" || opcode == "not" || opcode == "shift-right-arithmetic") {
    return true;
  }
  const auto known = [&](std::size_t k) { return greatest(Arg{Arg::Ref{call.operands[k].node}}); };
  if (opcode == "convert") {
    const Shape& operand = *call.operands[0].shape;
    const std::optional<Greatest> most = known(0);
    return (!is_unsigned(operand) && operand.dtype != "pred") || (most && most->number > range->greatest);
  }
  if (opcode != "add" && opcode != "multiply" && opcode != "shift-left") {
    return false;
  }
  const std::optional<Greatest> a = known(0);
  const std::optional<Greatest> b = known(1);
  if (a && b && a->whole && b->whole) {
    const std::optional<std::uint64_t> both = combined(opcode, a->number, b->number);
    return !both || *both > range->greatest;
  }
  const std::uint64_t half = range->greatest / 2;
  const bool shifts = opcode == "shift-left";
  const auto large = [&](std::uint64_t number) {
    return shifts ? number >= 64 || (std::uint64_t{1} << number) > half : number > half;
  };
  return (a && a->number > half) || (b && large(b->number));
}

}  // namespace entangle::graph::hlo
