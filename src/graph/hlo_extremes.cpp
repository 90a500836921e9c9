// Reductions of values together with their places: which element is the greatest, or the least, and where the
// first of such is.
//
// The computation is known by what it computes. One that only compares and chooses depends on nothing but
// which of the two values is greater, and which of the two places: it is carried out for all nine cases.
#include <array>
#include <map>

#include "hlo_reader.h"

namespace entangle::graph::hlo {

namespace {

using Four = std::array<int, 4>;  // a value and its place, twice

bool is_scalar(const Shape& shape) {
  return !shape.tuple && !shape.dynamic && shape.sizes.empty();
}

std::optional<bool> compared(const Instruction& instruction, int a, int b) {
  const Attribute* direction = instruction.find("direction");
  const Attribute* type = instruction.find("type");
  if (direction == nullptr || (type != nullptr && type->value.text == "TOTALORDER")) {
    return std::nullopt;
  }
  const std::map<std::string_view, bool> holds = {{"EQ", a == b}, {"NE", a != b}, {"LT", a < b},
                                                  {"LE", a <= b}, {"GT", a > b},  {"GE", a >= b}};
  const auto found = holds.find(direction->value.text);
  return found != holds.end() ? std::optional(found->second) : std::nullopt;
}

// One instruction that compares or chooses.
std::optional<int> chosen(const Instruction& instruction, const std::vector<int>& operands) {
  const std::string_view opcode = instruction.opcode.text;
  const bool truths = instruction.shape.dtype == "pred";
  if (opcode == "copy" && operands.size() == 1) {
    return operands[0];
  }
  if (opcode == "not" && operands.size() == 1 && truths) {
    return 1 - operands[0];
  }
  if (opcode == "select" && operands.size() == 3) {
    return operands[0] != 0 ? operands[1] : operands[2];
  }
  if (operands.size() != 2) {
    return std::nullopt;
  }
  if (opcode == "compare") {
    return compared(instruction, operands[0], operands[1]);
  }
  if (truths && (opcode == "and" || opcode == "or")) {
    return opcode == "and" ? operands[0] & operands[1] : operands[0] | operands[1];
  }
  return std::nullopt;
}

// The value and the place that the computation chooses of these.
std::optional<std::array<int, 2>> carried_out(const Computation& computation, const Four& given) {
  std::vector<int> values(computation.instructions.size());
  for (std::size_t k = 0; k < given.size(); ++k) {
    values[computation.parameters[k]] = given[k];
  }
  for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (instruction.opcode.text == "parameter") {
      continue;
    }
    std::vector<int> operands;
    for (const Operand& operand : instruction.operands) {
      const auto found = computation.index.find(operand.name.text);
      if (found == computation.index.end() || found->second >= i) {
        return std::nullopt;
      }
      operands.push_back(values[found->second]);
    }
    if (i == computation.root) {
      return operands.size() == 2 ? std::optional(std::array<int, 2>{operands[0], operands[1]})
                                  : std::nullopt;
    }
    const std::optional<int> value =
        is_scalar(instruction.shape) ? chosen(instruction, operands) : std::nullopt;
    if (!value) {
      return std::nullopt;
    }
    values[i] = *value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view HloReader::extreme(const Computation& computation) {
  const auto shape = [&](std::size_t k) -> const Shape& {
    return computation.instructions[computation.parameters[k]].shape;
  };
  if (computation.parameters.size() != 4 ||
      computation.instructions[computation.root].opcode.text != "tuple" || shape(0).dtype != shape(2).dtype ||
      shape(1).dtype != shape(3).dtype || !range_of(shape(1).dtype)) {
    return {};
  }
  for (std::size_t k = 0; k < 4; ++k) {
    if (!is_scalar(shape(k)) || shape(k).dtype == "pred") {
      return {};
    }
  }
  static constexpr std::array<std::array<int, 2>, 3> kOrders = {{{0, 1}, {1, 1}, {1, 0}}};
  const auto computes = [&](bool greatest) {
    for (const auto& [v, w] : kOrders) {
      for (const auto& [p, q] : kOrders) {
        const bool first = v == w ? p <= q : (v > w) == greatest;
        // Places differ from values.
        const auto found = carried_out(computation, {v, 10 + p, w, 10 + q});
        if (!found || *found != std::array<int, 2>{first ? v : w, 10 + (first ? p : q)}) {
          return false;
        }
      }
    }
    return true;
  };
  return computes(true) ? "max" : computes(false) ? "min" : "";
}

// Of an array and its positions along the axis, which begins with what is no better than anything.
bool HloReader::reduce_to_place(Call& call, const Computation& body, Result& out) {
  const std::string_view which = extreme(body);
  Integers axes;
  if (which.empty() || !integers(call, "dimensions", axes)) {
    call.used.erase("to_apply");
    return !error_ && generic(call, out);
  }
  const std::vector<Result>& operands = call.operands;
  const auto is_positions = [&](const Result& value) {
    if (value.tuple || value.of || value.node == kNoNode || graph_.nodes[value.node].op != "hlo.iota") {
      return false;
    }
    const tensor::Attr* axis = graph_.nodes[value.node].args[0].literal();
    return axis != nullptr && axis->kind() == tensor::Attr::Kind::integer && axis->as_int() == axes[0];
  };
  const Node* place = constant_of(operands[3]);
  const bool begins = place != nullptr && place->value &&
                      place->value->kind() == tensor::Attr::Kind::integer && place->value->as_int() == 0;
  if (axes.size() != 1 || operands[0].node == kNoNode || !is_positions(operands[1]) ||
      !is_identity({which, {}}, operands[2]) || !begins) {
    call.used.erase("to_apply");
    call.used.erase("dimensions");
    return generic(call, out);
  }
  if (!are_axes(axes, operands[0].shape->sizes.size())) {
    return malformed(call, "dimensions");
  }
  return finish(call, {"hlo.arg" + std::string(which), {arg(operands[0]), number(axes[0])}, {}, {}}, out);
}

}  // namespace entangle::graph::hlo
