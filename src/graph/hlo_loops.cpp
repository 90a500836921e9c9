// Loops that are known to run so many times, which are read as that many copies of their body, and branches:
// the one that is known to be taken, or a choice between the values of both.
//
// The count is found by running the condition and the body on the whole numbers and truths that are known:
// counters, not arrays. What is not known, or would not be what it is in ideal numbers, stays unknown.
#include <algorithm>
#include <array>
#include <utility>

#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

namespace {

constexpr int kDeepest = 100;

bool is_scalar(const Shape& shape) {
  return !shape.tuple && shape.sizes.empty();
}

std::optional<std::int64_t> of_type(std::int64_t value, const Shape& shape) {
  const std::optional<Range> range = range_of(shape.dtype);
  return is_scalar(shape) && range && range->holds(value) ? std::optional(value) : std::nullopt;
}

std::optional<bool> compared(std::string_view direction, std::int64_t a, std::int64_t b) {
  if (direction == "EQ") return a == b;
  if (direction == "NE") return a != b;
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  if (direction == "GE") return a >= b;
  return std::nullopt;
}

std::optional<std::int64_t> combined(std::string_view opcode, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (opcode == "add") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (opcode == "subtract")
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (opcode == "multiply")
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (opcode == "minimum") return std::min(a, b);
  if (opcode == "maximum") return std::max(a, b);
  return std::nullopt;
}

bool fits(const Known& known, const Shape& shape) {
  return !known.tuple || (shape.tuple && std::ranges::equal(known.parts, shape.parts, fits));
}

}  // namespace

// What one instruction gives, of what is known of its operands.
Known HloReader::known_result(const Instruction& instruction, const std::vector<const Known*>& operands,
                              int depth) {
  const std::string_view opcode = instruction.opcode.text;
  Known result;
  const auto number = [&](std::size_t k) {
    return k < operands.size() && !operands[k]->tuple ? operands[k]->value : std::nullopt;
  };
  if (opcode == "tuple") {
    result.tuple = true;
    for (const Known* one : operands) {
      result.parts.push_back(*one);
    }
    return result;
  }
  if (opcode == "get-tuple-element") {
    const Attribute* index = instruction.find("index");
    const std::optional<std::int64_t> place =
        index != nullptr ? hlo::integer(index->value.text) : std::nullopt;
    const bool inside = place && *place >= 0 && operands.size() == 1 &&
                        static_cast<std::size_t>(*place) < operands[0]->parts.size();
    return inside ? operands[0]->parts[static_cast<std::size_t>(*place)] : result;
  }
  if (opcode == "fusion" || opcode == "call") {
    const Attribute* body = instruction.find(opcode == "call" ? "to_apply" : "calls");
    const std::vector<const Computation*> called =
        body != nullptr ? computations_in(body->value.text) : std::vector<const Computation*>();
    return called.size() == 1 ? known_result(*called[0], operands, depth + 1) : result;
  }
  const Shape& shape = instruction.shape;
  if (!is_scalar(shape)) {
    return result;
  }
  if (opcode == "constant") {
    const std::string text = compact(instruction.arguments.text);
    const std::optional<bool> flag = shape.dtype == "pred" ? truth(text) : std::nullopt;
    const std::optional<std::int64_t> value = flag ? std::optional<std::int64_t>(*flag) : hlo::integer(text);
    result.value = value ? of_type(*value, shape) : std::nullopt;
  } else if (opcode == "copy" || opcode == "convert") {
    result.value = number(0) ? of_type(*number(0), shape) : std::nullopt;
  } else if (opcode == "compare") {
    const Attribute* direction = instruction.find("direction");
    if (direction != nullptr && number(0) && number(1)) {
      result.value = compared(direction->value.text, *number(0), *number(1));
    }
  } else if (operands.size() == 2 && number(0) && number(1) && shape.dtype != "pred") {
    const std::optional<std::int64_t> value = combined(opcode, *number(0), *number(1));
    result.value = value ? of_type(*value, shape) : std::nullopt;
  }
  return result;
}

Known HloReader::known_result(const Computation& computation, const std::vector<const Known*>& parameters,
                              int depth) {
  steps_ += computation.instructions.size();
  if (depth > kDeepest || steps_ > most_nodes_ || parameters.size() != computation.parameters.size()) {
    return {};
  }
  std::vector<Known> values(computation.instructions.size());
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    values[computation.parameters[k]] = *parameters[k];
  }
  for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (instruction.opcode.text == "parameter") {
      continue;
    }
    std::vector<const Known*> operands;
    for (const Operand& operand : instruction.operands) {
      const auto found = computation.index.find(operand.name.text);
      if (found == computation.index.end() || found->second >= i) {
        return {};
      }
      operands.push_back(&values[found->second]);
    }
    values[i] = known_result(instruction, operands, depth);
    if (!fits(values[i], instruction.shape)) {  // else tuples of tuples could be larger than the text
      return {};
    }
  }
  return std::move(values[computation.root]);
}

Known HloReader::known(const Result& value) const {
  Known result;
  result.tuple = value.tuple;
  for (const Result& part : value.parts) {
    result.parts.push_back(known(part));
  }
  Result at = value;
  while (!at.tuple && !at.of && at.node != kNoNode && graph_.nodes[at.node].op == operator_name("copy")) {
    at.node = graph_.nodes[at.node].args[0].ref()->node;
  }
  const Node* node = constant_of(at);
  if (node != nullptr && node->value && value.shape != nullptr) {
    const tensor::Attr& number = *node->value;
    if (number.kind() == tensor::Attr::Kind::boolean) {
      result.value = number.as_bool() ? 1 : 0;
    } else if (number.kind() == tensor::Attr::Kind::integer && number.as_int().is_constant()) {
      result.value = of_type(number.as_int().value(), *value.shape);
    }
  }
  return result;
}

// How many nodes the computation becomes where it is read inside.
std::size_t HloReader::size_of(const Computation& computation, int depth) {
  const auto [place, added] = sizes_.try_emplace(&computation, 0);
  if (added) {
    std::size_t size = computation.instructions.size();
    for (const Instruction& instruction : computation.instructions) {
      const std::string_view opcode = instruction.opcode.text;
      const bool inside =
          opcode == "fusion" || opcode == "call" || opcode == "async-start" || opcode == "while";
      const Attribute* body = instruction.find(opcode == "call"    ? "to_apply"
                                               : opcode == "while" ? "body"
                                                                   : "calls");
      if (inside && body != nullptr && depth < kDeepest) {
        for (const Computation* one : computations_in(body->value.text)) {
          size += size_of(*one, depth + 1);
        }
      }
    }
    sizes_[&computation] = std::min(size, most_nodes_);
  }
  return sizes_[&computation];
}

std::optional<std::size_t> HloReader::trips(const Computation& condition, const Computation& body,
                                            const Result& start) {
  constexpr std::size_t kMostOfInstruction = 3;  // nodes that one instruction becomes
  const std::size_t size = kMostOfInstruction * std::max<std::size_t>(size_of(body), 1);
  const std::size_t most = (most_nodes_ - std::min(most_nodes_, graph_.nodes.size())) / size;
  Known state = known(start);
  for (std::size_t count = 0; count <= most && steps_ <= most_nodes_; ++count) {
    const Known goes = known_result(condition, {&state}, 0);
    if (!goes.value) {
      return std::nullopt;
    }
    if (*goes.value == 0) {
      return count;
    }
    state = known_result(body, {&state}, 0);
  }
  return std::nullopt;
}

bool HloReader::loop(Call& call, Result& out) {
  const Computation* condition = called(call, "condition");
  const Computation* body = condition != nullptr ? called(call, "body") : nullptr;
  if (body == nullptr) {
    return false;
  }
  if (call.operands.size() != 1 || body->parameters.size() != 1 || condition->parameters.size() != 1) {
    return fail("operands", call.instruction.name,
                "`while`, its condition and its body have one operand each");
  }
  const Shape& shape = body->instructions[body->parameters[0]].shape;
  if (!has_shape(call.operands[0], shape)) {
    return fail("result-type", call.instruction.operands[0].name,
                quoted(call.instruction.operands[0].name.text) + " has another type than the parameter of " +
                    quoted(body->name.text));
  }
  const std::optional<std::size_t> count = trips(*condition, *body, call.operands[0]);
  if (!count) {
    call.used.clear();
    return generic(call, out);
  }
  Result value = call.operands[0];
  for (std::size_t k = 0; k < *count; ++k) {
    const std::string path = call.path + std::to_string(k);
    const std::string& name = k + 1 == *count ? call.name : path;
    Result next;
    if (!computation(*body, {value}, path + "/", name, call.loc, next)) {
      return false;
    }
    if (!has_shape(next, shape)) {
      return fail("result-type", body->name,
                  quoted(body->name.text) + " gives another type than it takes, in a loop");
    }
    value = std::move(next);
  }
  return named(call, value, out);
}

// For every array of two values the one or the other, called after the call.
bool HloReader::chosen(const Call& call, const Result& first, const Result& second, std::size_t& count,
                       Result& out) {
  out.tuple = first.tuple;
  for (std::size_t k = 0; k < first.parts.size(); ++k) {
    if (!chosen(call, first.parts[k], second.parts[k], count, out.parts.emplace_back())) {
      return false;
    }
  }
  if (first.tuple || first.node == kNoNode) {
    return true;
  }
  const std::string name =
      call.instruction.shape.tuple ? call.name + "{" + std::to_string(count++) + "}" : call.name;
  Draft draft{operator_name("select"), {arg(call.operands[0]), arg(first), arg(second)}, {}, {}};
  if (dynamic(*first.shape) || dynamic(*second.shape)) {
    draft.unknown = "sizes of `conditional` are known only when it runs";
  }
  return add(name, call.instruction.name, call.loc, std::move(draft), *first.shape, out);
}

// What the branches do must depend on their operands alone where both are read: only one of them runs.
bool HloReader::conditional(Call& call, Result& out) {
  std::vector<const Computation*> branches;
  if (const Text* list = optional(call, "branch_computations")) {
    branches = computations_in(list->text);
    if (branches.empty()) {
      return malformed(call, "branch_computations");
    }
  } else {
    for (const char* attribute : {"true_computation", "false_computation"}) {
      branches.push_back(called(call, attribute));
      if (branches.back() == nullptr) {
        return false;
      }
    }
  }
  if (call.operands.size() != branches.size() + 1 || call.operands[0].node == kNoNode) {
    return fail("operands", call.instruction.name,
                "`conditional` has an index, and an operand for each branch");
  }
  for (std::size_t k = 0; k < branches.size(); ++k) {
    const Computation& branch = *branches[k];
    if (branch.parameters.size() != 1 ||
        !has_shape(call.operands[k + 1], branch.instructions[branch.parameters[0]].shape)) {
      return fail("result-type", call.instruction.operands[k + 1].name,
                  quoted(call.instruction.operands[k + 1].name.text) +
                      " has another type than the parameter of " + quoted(branch.name.text));
    }
  }
  const bool truth = call.operands[0].shape->dtype == "pred";
  const auto read = [&](std::size_t k, const std::string& root, Result& result) {
    return computation(*branches[k], {call.operands[k + 1]}, call.path + std::to_string(k) + "/", root,
                       call.loc, result) &&
           (has_shape(result, call.instruction.shape) ||
            fail("result-type", branches[k]->name,
                 quoted(branches[k]->name.text) + " gives another type than " +
                     quoted(call.instruction.name.text)));
  };
  if (const std::optional<std::int64_t> index = known(call.operands[0]).value) {
    const auto last = static_cast<std::int64_t>(branches.size()) - 1;
    const std::int64_t taken = truth ? 1 - *index : *index < 0 || *index > last ? last : *index;
    Result result;
    return read(static_cast<std::size_t>(taken), call.name, result) && named(call, result, out);
  }
  const auto pure = [&](const Computation* branch) { return !meaning(*branch).empty(); };
  if (!truth || branches.size() != 2 || !std::ranges::all_of(branches, pure)) {
    call.used.clear();
    return generic(call, out);
  }
  Result first;
  Result second;
  std::size_t count = 0;
  return read(0, call.path + "0", first) && read(1, call.path + "1", second) &&
         chosen(call, first, second, count, out);
}

}  // namespace entangle::graph::hlo
