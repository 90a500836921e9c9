// The nodes that instructions become, and their attributes.
#include <algorithm>
#include <array>
#include <utility>

#include "entangle/support/text.h"
#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

using tensor::Attr;

namespace {

// What says how an operator is run, where it stands or what is promised of its operands, but not what it
// computes.
constexpr std::array<std::string_view, 26> kHarmless = {"metadata",
                                                        "backend_config",
                                                        "sharding",
                                                        "frontend_attributes",
                                                        "operand_precision",
                                                        "algorithm",
                                                        "result_accuracy",
                                                        "origin",
                                                        "control-predecessors",
                                                        "statistics",
                                                        "indices_are_sorted",
                                                        "unique_indices",
                                                        "api_version",
                                                        "custom_call_schedule",
                                                        "schedule",
                                                        "operand_layout_constraints",
                                                        "output_to_operand_aliasing",
                                                        "cross_program_prefetch_index",
                                                        "constrain_layout",
                                                        "async_execution_thread",
                                                        "execution_thread",
                                                        "kind",
                                                        "output_operand_aliasing",
                                                        "is_composite",
                                                        "inlineable",
                                                        "parameter_replication"};

// What names computations, and means what these do. Whatever else stands in an attribute may happen to be
// called like a computation.
constexpr std::array<std::string_view, 11> kCalling = {
    "to_apply",          "calls",      "body",   "condition", "branch_computations", "true_computation",
    "false_computation", "comparator", "select", "scatter",   "called_computations"};

bool dynamic(const Result& value) {
  return (value.shape != nullptr && value.shape->dynamic) ||
         std::ranges::any_of(value.parts, [](const Result& part) { return dynamic(part); });
}

}  // namespace

bool calls_computations(std::string_view attribute) {
  return is_one_of(attribute, kCalling);
}

bool HloReader::add(const std::string& name, const Text& at, const std::string& loc, Draft draft,
                    const Shape& shape, Result& out) {
  Node node;
  node.name = name;
  node.op = std::move(draft.op);
  node.args = std::move(draft.args);
  node.kwargs = std::move(draft.kwargs);
  node.unknown = std::move(draft.unknown);
  node.marks = std::move(draft.marks);
  node.several = shape.tuple;
  node.loc = loc;
  const auto index = static_cast<NodeIndex>(graph_.nodes.size());
  bool any = false;
  const auto leaves = [&](const Shape& part, Result& result, const auto& self) -> bool {
    result.tuple = part.tuple;
    if (part.tuple) {
      for (const Shape& entry : part.parts) {
        if (!self(entry, result.parts.emplace_back(), self)) {
          return false;
        }
      }
      return true;
    }
    const auto place = static_cast<std::uint32_t>(node.results.size());
    if (!type(part, node.results.emplace_back())) {
      return false;
    }
    result.shape = &part;
    if (node.results.back()) {
      any = true;
      result.node = index;
      result.of = shape.tuple ? std::optional(place) : std::nullopt;
    }
    return true;
  };
  out = {};
  if (!leaves(shape, out, leaves)) {
    return false;
  }
  if (!any) {  // nobody can refer to it
    return true;
  }
  if (const auto other = names_->find(name); other != names_->end()) {
    fail("duplicate-name", at, "two instructions are named " + quoted(name));
    error_->notes.push_back({graph_.span(other->second), "the other one"});
    return false;
  }
  const auto length = static_cast<std::uint32_t>(at.text.size());
  graph_.texts.push_back({at.offset, length, at.offset, std::max(length, 1U)});
  names_->emplace(graph_.nodes.add(std::move(node)).name, index);
  if (is_unsigned(shape)) {
    note_greatest(index, shape);
  }
  return true;
}

bool HloReader::finish(Call& call, Draft draft, Result& out) {
  return take_attributes(call, draft) && add(call, std::move(draft), out);
}

bool HloReader::take_attributes(const Call& call, Draft& draft) {
  for (const Attribute& attribute : call.instruction.attributes) {
    if (call.used.contains(attribute.name) || is_one_of(attribute.name, kHarmless)) {
      continue;
    }
    const std::vector<const Computation*> computations = computations_in(attribute.value.text);
    if (computations.empty() && attribute.value.text.starts_with('%')) {
      return computation_named(attribute.value) != nullptr;
    }
    if (computations.empty() && attribute.value.text.starts_with("{%")) {
      return malformed(call, attribute.name);
    }
    // What they do, whatever they are called.
    std::string meanings = calls_computations(attribute.name) ? "" : compact(attribute.value.text);
    for (const Computation* one : computations) {
      const std::string& what = meaning(*one);
      if (what.empty() && draft.unknown.empty()) {
        draft.unknown = "what " + quoted(one->name.text) + " computes does not depend on its operands alone";
      }
      meanings += (meanings.empty() ? "" : ",") + what;
    }
    Arg arg{computations.empty() ? hlo::attribute(attribute.value.text) : Attr::name(meanings)};
    arg.offset = attribute.value.offset - call.instruction.name.offset;
    draft.kwargs.emplace_back(std::string(attribute.name), std::move(arg));
  }
  const bool unknown_sizes =
      dynamic(call.instruction.shape) ||
      std::ranges::any_of(call.operands, [](const Result& one) { return dynamic(one); });
  if (unknown_sizes && draft.unknown.empty()) {
    draft.unknown = "sizes of " + quoted(call.instruction.opcode.text) + " are known only when it runs";
  }
  return true;
}

// The same value under another name.
bool HloReader::alias(const Call& call, const Result& value, Result& out) {
  if (value.tuple || value.node == kNoNode) {
    out = value;
    return true;
  }
  Draft draft;
  draft.op = "hlo.copy";
  draft.args.push_back(arg(value));
  return add(call.name, call.instruction.name, call.loc, std::move(draft), *value.shape, out);
}

bool HloReader::instruction(Call& call, Result& out) {
  const auto found = handlers().find(call.instruction.opcode.text);
  return found == handlers().end() ? generic(call, out) : (this->*found->second)(call, out);
}

bool HloReader::operand_count(const Call& call, std::size_t count) {
  const Instruction& instruction = call.instruction;
  if (call.operands.size() != count) {
    return fail("operands", instruction.name,
                quoted(instruction.opcode.text) + " has " + support::counted(count, "operand", "operands") +
                    ", not " + std::to_string(call.operands.size()));
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (call.operands[k].node == kNoNode) {
      return fail("operands", instruction.operands[k].name,
                  quoted(instruction.operands[k].name.text) + " is not an array, as " +
                      quoted(instruction.opcode.text) + " needs it");
    }
  }
  if (instruction.shape.tuple) {
    return fail("operands", instruction.shape.text,
                "the result of " + quoted(instruction.opcode.text) + " is one array");
  }
  return true;
}

// --- attributes

const Text* HloReader::optional(Call& call, std::string_view name) const {
  const Attribute* found = call.instruction.find(name);
  call.used.insert(name);
  return found == nullptr ? nullptr : &found->value;
}

bool HloReader::malformed(const Call& call, std::string_view name) {
  const Instruction& instruction = call.instruction;
  const Attribute* found = instruction.find(name);
  if (found == nullptr) {
    return fail("hlo-attribute", instruction.opcode,
                quoted(instruction.name.text) + " (" + std::string(instruction.opcode.text) + ") has no " +
                    quoted(name));
  }
  return fail("hlo-attribute", found->value,
              quoted(found->value.text.substr(0, 60)) + " is no value of " + quoted(name));
}

bool HloReader::integer(Call& call, std::string_view name, std::int64_t& out) {
  const Text* text = optional(call, name);
  const std::optional<std::int64_t> value = text != nullptr ? hlo::integer(text->text) : std::nullopt;
  out = value.value_or(0);
  return value ? true : malformed(call, name);
}

bool HloReader::integers(Call& call, std::string_view name, Integers& out, bool required) {
  const Text* text = optional(call, name);
  if (text == nullptr && !required) {
    return true;
  }
  std::optional<Integers> value = text != nullptr ? hlo::integers(text->text) : std::nullopt;
  if (!value) {
    return malformed(call, name);
  }
  out = std::move(*value);
  return true;
}

const Computation* HloReader::computation_named(const Text& name) {
  const Text plain = without_percent(name);
  const auto found = module_.index.find(plain.text);
  if (found != module_.index.end()) {
    return &module_.computations[found->second];
  }
  std::vector<std::string> names;
  for (const Computation& computation : module_.computations) {
    names.emplace_back(computation.name.text);
  }
  fail("missing-node", plain, "there is no computation " + quoted(plain.text),
       support::did_you_mean(plain.text, names));
  return nullptr;
}

// The computation that an attribute names; null with an error where there is none.
const Computation* HloReader::called(Call& call, std::string_view name) {
  const Text* text = optional(call, name);
  if (text == nullptr) {
    malformed(call, name);
    return nullptr;
  }
  return computation_named(*text);
}

}  // namespace entangle::graph::hlo
