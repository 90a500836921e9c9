// What computations compute that are not read as nodes.
#include <algorithm>
#include <array>

#include "entangle/support/sha256.h"
#include "entangle/support/text.h"
#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

using sym::Scalar;
using tensor::Attr;

namespace {

constexpr int kDeepest = 100;

// Operators whose results their operands do not determine, or that exchange values with other devices or the
// host; so do all that begin or end so, and those with one of these attributes.
constexpr std::array<std::string_view, 9> kImpure = {
    "rng",          "rng-bit-generator", "rng-get-and-update-state", "infeed", "outfeed", "send", "recv",
    "partition-id", "replica-id"};
constexpr std::array<std::string_view, 6> kBeginnings = {"all-",        "collective-",    "cross-replica-",
                                                         "ragged-all-", "reduce-scatter", "async-"};
constexpr std::array<std::string_view, 3> kEnds = {"-start", "-update", "-done"};
constexpr std::array<std::string_view, 4> kCommunication = {"channel_id", "replica_groups",
                                                            "source_target_pairs", "use_global_device_ids"};

// Custom calls whose results are this device's own part, or are put together from those of all devices.
constexpr std::array<std::string_view, 4> kOfDevices = {"SPMDFullToShardShape", "SPMDShardToFullShape",
                                                        "xla.sdy.GlobalToLocalShape",
                                                        "xla.sdy.LocalToGlobalShape"};

// Says nothing of what is computed.
bool is_remark(const Instruction& instruction, std::string_view attribute) {
  return attribute == "metadata" || attribute == "origin" || attribute == "sharding" ||
         (attribute == "frontend_attributes" && instruction.opcode.text != "custom-call");
}

}  // namespace

std::string with_layout(const Shape& shape) {
  std::string result;
  if (shape.tuple) {
    for (const Shape& part : shape.parts) {
      result += (result.empty() ? "" : ",") + with_layout(part);
    }
    return "(" + result + ")";
  }
  for (const std::int64_t size : shape.sizes) {
    result += (result.empty() ? "" : ",") + std::to_string(size);
  }
  result = std::string(shape.dtype) + "[" + result;
  const std::optional<Integers> order = major_to_minor(shape.layout, shape.sizes.size());
  const bool standard = order && std::ranges::is_sorted(*order);
  return result + (standard ? "]" : "]{" + compact(shape.layout) + "}");
}

std::string HloReader::marks(const Call& call) {
  std::string operands;
  const auto look = [&](const Result& value, const auto& self) -> void {
    operands += operands.empty() || operands.ends_with('(') ? "" : ",";
    if (value.tuple) {
      operands += "(";
      for (const Result& part : value.parts) {
        self(part, self);
      }
      operands += ")";
    } else if (value.shape != nullptr) {
      operands += with_layout(*value.shape);
    }
  };
  for (const Result& one : call.operands) {
    look(one, look);
  }
  // Where layouts are demanded the operands come in these.
  const Attribute* demanded = call.instruction.find("operand_layout_constraints");
  const Attribute* said = call.instruction.find("frontend_attributes");
  const std::string more = said != nullptr ? compact(said->value.text) : std::string();
  return (demanded != nullptr ? without_standard_layouts(demanded->value.text) : "{" + operands + "}") +
         "->" + with_layout(call.instruction.shape) + (more == "{}" ? "" : more);
}

bool dynamic(const Shape& shape) {
  return shape.dynamic || std::ranges::any_of(shape.parts, dynamic);
}

bool is_impure(std::string_view opcode) {
  const auto begins = [&](std::string_view part) { return opcode.starts_with(part); };
  const auto ends = [&](std::string_view part) { return opcode.ends_with(part); };
  return is_one_of(opcode, kImpure) || std::ranges::any_of(kBeginnings, begins) ||
         std::ranges::any_of(kEnds, ends);
}

bool is_of_devices(const Instruction& instruction) {
  const Attribute* target = instruction.find("custom_call_target");
  return target != nullptr && is_one_of(unquoted(target->value.text), kOfDevices);
}

bool is_impure(const Instruction& instruction) {
  const Attribute* effect = instruction.find("custom_call_has_side_effect");
  return is_impure(instruction.opcode.text) || is_of_devices(instruction) ||
         (effect != nullptr && effect->value.text == "true") ||
         std::ranges::any_of(kCommunication,
                             [&](std::string_view name) { return instruction.find(name) != nullptr; });
}

std::optional<Reducer> HloReader::reducer(const Computation& computation,
                                          const std::vector<Result>& operands) {
  static constexpr std::array<std::array<std::string_view, 3>, 6> kKnown = {{
      // opcode, of numbers, of truths
      {"add", "sum", "or"},
      {"multiply", "product", "and"},
      {"maximum", "max", "or"},
      {"minimum", "min", "and"},
      {"and", "", "and"},
      {"or", "", "or"},
  }};
  const Instruction& root = computation.instructions[computation.root];
  if (computation.parameters.size() != 2 || root.operands.size() != 2 || root.shape.tuple ||
      !root.shape.sizes.empty()) {
    return std::nullopt;
  }
  const auto parameter = [&](std::size_t k) -> const Instruction& {
    return computation.instructions[computation.parameters[k]];
  };
  for (const std::size_t k : {0, 1}) {
    const Shape& shape = parameter(k).shape;
    if (shape.tuple || shape.dtype != root.shape.dtype || !shape.sizes.empty()) {
      return std::nullopt;
    }
  }
  const bool whole = range_of(root.shape.dtype).has_value();
  for (const Result& one : operands) {
    if (one.shape == nullptr ||
        (one.shape->dtype != root.shape.dtype && (whole || range_of(one.shape->dtype)))) {
      return std::nullopt;
    }
  }
  const std::string_view a = root.operands[0].name.text;
  const std::string_view b = root.operands[1].name.text;
  const std::string_view p = parameter(0).name.text;
  const std::string_view q = parameter(1).name.text;
  if (!((a == p && b == q) || (a == q && b == p))) {
    return std::nullopt;
  }
  for (const auto& [opcode, of_numbers, of_truths] : kKnown) {
    const std::string_view name = root.shape.dtype == "pred" ? of_truths : of_numbers;
    if (root.opcode.text == opcode && !name.empty()) {
      return Reducer{name, opcode};
    }
  }
  return std::nullopt;
}

// Whether the reduction of anything with this value is the thing itself.
bool HloReader::is_identity(const Reducer& reducer, const Result& value) const {
  const Node* node = constant_of(value);
  if (node == nullptr || !node->value) {
    return false;
  }
  const Attr& attr = *node->value;
  if (attr.kind() == Attr::Kind::boolean) {
    return attr.as_bool() == (reducer.name == "and");
  }
  if (attr.kind() != Attr::Kind::integer && attr.kind() != Attr::Kind::scalar) {
    return false;
  }
  const Scalar number = attr.kind() == Attr::Kind::integer ? Scalar(attr.as_int()) : attr.as_scalar();
  if (reducer.name == "sum" || reducer.name == "product") {
    return number == Scalar(reducer.name == "sum" ? 0 : 1);
  }
  const bool least = reducer.name == "max";
  if (number.is_infinite()) {
    return number == Scalar::infinity(least);
  }
  // The least or greatest number that the type holds.
  const std::optional<Range> range = range_of(value.shape->dtype);
  if (!range) {
    return false;
  }
  return least ? number == Scalar(range->least) : natural(attr) == range->greatest;
}

// The computations that a value names: one, or a list; none where it names anything else.
std::vector<const Computation*> HloReader::computations_in(std::string_view value) const {
  std::vector<const Computation*> result;
  if (value.starts_with('{') && value.ends_with('}')) {
    value = value.substr(1, value.size() - 2);
  }
  for (const std::string& name : support::split(value, ',')) {
    const auto found = module_.index.find(without_percent({support::trim(name), 0}).text);
    if (found == module_.index.end()) {
      return {};
    }
    result.push_back(&module_.computations[found->second]);
  }
  return result;
}

const std::string& HloReader::meaning(const Computation& computation, int depth) {
  // While it is described it has none: so have computations that call themselves.
  const auto [place, added] = meanings_.try_emplace(&computation);
  if (added && depth < kDeepest) {
    place->second = described(computation, depth);
  }
  return place->second;
}

// The hash of the instructions, with their places for their names. What `bitcast` and custom calls give
// depends on layouts.
std::string HloReader::described(const Computation& computation, int depth) {
  std::string text;
  for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (is_impure(instruction) || dynamic(instruction.shape)) {
      return {};
    }
    text += std::string(instruction.opcode.text) + " " + with_layout(instruction.shape);
    if (instruction.opcode.text == "constant" || instruction.opcode.text == "parameter") {
      const std::string value = compact(instruction.arguments.text);
      if (value.find("...") != std::string::npos) {
        return {};
      }
      text += " " + value;
    }
    for (const Operand& operand : instruction.operands) {
      if (instruction.opcode.text == "parameter") {
        break;
      }
      const auto found = computation.index.find(operand.name.text);
      if (found == computation.index.end() || found->second >= i) {
        return {};
      }
      text += " " + std::to_string(found->second);
    }
    std::vector<std::string> attributes;
    for (const Attribute& attribute : instruction.attributes) {
      if (is_remark(instruction, attribute.name)) {
        continue;
      }
      std::string value;
      const bool calls = calls_computations(attribute.name);
      for (const Computation* called : computations_in(attribute.value.text)) {
        const std::string& inside = meaning(*called, depth + 1);
        if (inside.empty()) {
          return {};
        }
        value += inside + ",";
      }
      const std::string text_of_value = without_standard_layouts(attribute.value.text);
      attributes.push_back(std::string(attribute.name) + "=" +
                           (calls && !value.empty() ? "" : text_of_value) + value);
    }
    std::ranges::sort(attributes);
    text += " {" + support::join(attributes, ",") + "}\n";
  }
  text += "root " + std::to_string(computation.root);
  return support::to_hex(support::sha256(text)).substr(0, 32);
}

}  // namespace entangle::graph::hlo
