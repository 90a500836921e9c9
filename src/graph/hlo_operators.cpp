// What the operators of HLO are in the rules' words: names, arguments and their order (frameworks/hlo).
#include <algorithm>
#include <array>
#include <utility>

#include "entangle/support/text.h"
#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

using sym::Int;
using tensor::Attr;

namespace {

// Operators of one array each, by the number of their operands, without attributes of their own.
struct Plain {
  std::string_view opcode;
  std::size_t operands;
};
constexpr std::array<Plain, 41> kPlain = {{
    {"abs", 1},
    {"cbrt", 1},
    {"ceil", 1},
    {"copy", 1},
    {"cosine", 1},
    {"erf", 1},
    {"exponential", 1},
    {"floor", 1},
    {"exponential-minus-one", 1},
    {"is-finite", 1},
    {"log", 1},
    {"log-plus-one", 1},
    {"logistic", 1},
    {"negate", 1},
    {"not", 1},
    {"rsqrt", 1},
    {"round-nearest-afz", 1},
    {"round-nearest-even", 1},
    {"sign", 1},
    {"sine", 1},
    {"sqrt", 1},
    {"tan", 1},
    {"tanh", 1},
    {"convert", 1},
    {"add", 2},
    {"and", 2},
    {"atan2", 2},
    {"divide", 2},
    {"maximum", 2},
    {"minimum", 2},
    {"multiply", 2},
    {"or", 2},
    {"power", 2},
    {"remainder", 2},
    {"shift-left", 2},
    {"shift-right-arithmetic", 2},
    {"shift-right-logical", 2},
    {"subtract", 2},
    {"xor", 2},
    {"clamp", 3},
    {"select", 3},
}};

// Read as a type that another one of HLO is read as, too.
bool is_widened(const Shape& shape) {
  static constexpr std::array<std::string_view, 9> kWidened = {"u64", "u32", "u16", "u4", "u2",
                                                               "u1",  "s4",  "s2",  "s1"};
  return is_one_of(shape.dtype, kWidened);
}

// Operators without a reader of their own, whose names are taken.
constexpr std::array<std::string_view, 29> kOthers = {"acos",
                                                      "acosh",
                                                      "asin",
                                                      "asinh",
                                                      "atanh",
                                                      "batch-norm-grad",
                                                      "batch-norm-inference",
                                                      "batch-norm-training",
                                                      "bitcast-convert",
                                                      "cholesky",
                                                      "complex",
                                                      "conditional",
                                                      "cosh",
                                                      "count-leading-zeros",
                                                      "domain",
                                                      "dynamic-reshape",
                                                      "fft",
                                                      "get-dimension-size",
                                                      "imag",
                                                      "map",
                                                      "popcnt",
                                                      "ragged-dot",
                                                      "real",
                                                      "scan",
                                                      "set-dimension-size",
                                                      "sinh",
                                                      "stochastic-convert",
                                                      "triangular-solve",
                                                      "while"};

// What the reader and the rules call operators by that are no instructions of XLA.
constexpr std::array<std::string_view, 10> kInternal = {
    "argmax",     "argmin",     "cumsum",     "reduce-sum", "reduce-product",
    "reduce-max", "reduce-min", "reduce-and", "reduce-or",  "top-k"};

}  // namespace

std::string operator_name(std::string_view opcode) {
  std::string result = "hlo." + std::string(opcode);
  std::ranges::replace(result, '-', '_');
  return result;
}

const std::unordered_map<std::string_view, HloReader::Handler>& HloReader::handlers() {
  static const std::unordered_map<std::string_view, Handler> kHandlers = [] {
    std::unordered_map<std::string_view, Handler> result = {
        {"constant", &HloReader::constant},
        {"iota", &HloReader::iota},
        {"broadcast", &HloReader::broadcast},
        {"reshape", &HloReader::reshape},
        {"transpose", &HloReader::transpose},
        {"reverse", &HloReader::reverse},
        {"slice", &HloReader::slice},
        {"pad", &HloReader::pad},
        {"concatenate", &HloReader::concatenate},
        {"dynamic-slice", &HloReader::dynamic_slice},
        {"dynamic-update-slice", &HloReader::dynamic_update_slice},
        {"compare", &HloReader::compare},
        {"reduce-precision", &HloReader::reduce_precision},
        {"dot", &HloReader::dot},
        {"convolution", &HloReader::convolution},
        {"gather", &HloReader::gather},
        {"scatter", &HloReader::scatter},
        {"reduce", &HloReader::reduce},
        {"reduce-window", &HloReader::reduce_window},
        {"select-and-scatter", &HloReader::select_and_scatter},
        {"sort", &HloReader::sort},
        {"topk", &HloReader::top_k},
        {"custom-call", &HloReader::custom_call},
        {"tuple", &HloReader::tuple},
        {"get-tuple-element", &HloReader::get_tuple_element},
        {"add-dependency", &HloReader::first},
        {"optimization-barrier", &HloReader::first},
        {"opt-barrier", &HloReader::first},
        {"after-all", &HloReader::nothing},
        {"fusion", &HloReader::inlined},
        {"call", &HloReader::inlined},
        {"while", &HloReader::loop},
        {"conditional", &HloReader::conditional},
        {"async-start", &HloReader::async_start},
        {"async-update", &HloReader::first},
        {"async-done", &HloReader::done},
        {"bitcast", &HloReader::bitcast},
        {"copy-start", &HloReader::copy_start},
        {"copy-done", &HloReader::done},
        {"partition-id", &HloReader::device},
        {"replica-id", &HloReader::device},
        {"all-reduce", &HloReader::collective},
        {"cross-replica-sum", &HloReader::collective},
        {"all-reduce-start", &HloReader::collective},
        {"all-reduce-done", &HloReader::done},
        {"all-gather", &HloReader::collective},
        {"all-gather-start", &HloReader::collective},
        {"all-gather-done", &HloReader::done},
        {"reduce-scatter", &HloReader::collective},
        {"reduce-scatter-start", &HloReader::collective},
        {"reduce-scatter-done", &HloReader::done},
        {"all-to-all-start", &HloReader::collective},
        {"all-to-all-done", &HloReader::done},
        {"collective-broadcast-start", &HloReader::collective},
        {"collective-broadcast-done", &HloReader::done},
        {"all-to-all", &HloReader::collective},
        {"collective-permute", &HloReader::collective},
        {"collective-permute-start", &HloReader::collective},
        {"collective-permute-done", &HloReader::done},
        {"collective-broadcast", &HloReader::collective},
    };
    for (const Plain& plain : kPlain) {
      result.emplace(plain.opcode, &HloReader::plain);
    }
    return result;
  }();
  return kHandlers;
}

bool HloReader::plain(Call& call, Result& out) {
  const std::string_view opcode = call.instruction.opcode.text;
  const auto known = std::ranges::find(kPlain, opcode, &Plain::opcode);
  if (!operand_count(call, known->operands)) {
    return false;
  }
  const Shape& result = call.instruction.shape;
  Draft draft;
  draft.op = operator_name(opcode);
  for (const Result& one : call.operands) {
    draft.args.push_back(arg(one));
  }
  const bool wrapping = wraps(call);
  if (opcode == "shift-right-logical" && !wrapping) {
    draft.op = operator_name("shift-right-arithmetic");
  }
  if (wrapping) {
    draft.kwargs.emplace_back("element_type", name(result.dtype));
  }
  return finish(call, std::move(draft), out);
}

// Tells operators on types apart that are read as one.
void HloReader::note_types(const Call& call, Draft& draft) const {
  std::string types;
  bool ambiguous = false;
  const auto look = [&](const Shape& shape, const auto& self) -> void {
    for (const Shape& part : shape.parts) {
      self(part, self);
    }
    types += std::string(shape.dtype) + ",";
    ambiguous = ambiguous || is_widened(shape);
  };
  const auto look_at = [&](const Result& value, const auto& self) -> void {
    for (const Result& part : value.parts) {
      self(part, self);
    }
    if (value.shape != nullptr) {
      look(*value.shape, look);
    }
  };
  for (const Result& one : call.operands) {
    look_at(one, look_at);
  }
  types += "->";
  look(call.instruction.shape, look);
  if (ambiguous) {
    draft.kwargs.emplace_back("element_types", name(types));
  }
}

// An operator by its name, its operands and its attributes.
bool HloReader::generic(Call& call, Result& out) {
  Draft draft;
  draft.op = operator_name(call.instruction.opcode.text);
  for (const Result& one : call.operands) {
    draft.args.push_back(arg(one));
  }
  note_types(call, draft);
  if (is_one_of(call.instruction.opcode.text, kInternal)) {
    draft.kwargs.emplace_back("opcode", name(call.instruction.opcode.text));
  }
  const Attribute* config = call.instruction.find("backend_config");
  if (config != nullptr && !is_one_of(call.instruction.opcode.text, kOthers)) {
    draft.kwargs.emplace_back("backend_config", literal(attribute(config->value.text)));
    draft.marks = compact(config->value.text);
  }
  if (is_impure(call.instruction)) {
    draft.unknown =
        "what " + quoted(call.instruction.opcode.text) + " gives does not depend on its operands alone";
  }
  return finish(call, std::move(draft), out);
}

bool HloReader::constant(Call& call, Result& out) {
  const Instruction& instruction = call.instruction;
  Draft draft;
  draft.op = "constant";
  if (instruction.shape.tuple) {
    draft.unknown = "constants that are tuples are not read";
    return finish(call, std::move(draft), out);
  }
  if (!finish(call, std::move(draft), out)) {
    return false;
  }
  if (out.node == kNoNode) {
    return true;
  }
  Node& node = graph_.nodes.last();
  Literal value = hlo::literal(instruction.arguments.text, *node.results[0]);
  switch (value.kind) {
    case Literal::Kind::value:
      node.value = value.value;
      if (outside(out.node, instruction.shape)) {
        break;
      }
      return true;
    case Literal::Kind::elided:
      return true;
    case Literal::Kind::not_a_number:
      node.unknown = "it is not a number";
      return true;
    case Literal::Kind::malformed:
      break;
  }
  std::string_view shown = instruction.arguments.text.substr(0, 40);
  shown = shown.substr(0, shown.find('\n'));
  return fail("bad-value", instruction.arguments,
              quoted(shown) + " is no value of type " + text_of(instruction.shape));
}

bool HloReader::compare(Call& call, Result& out) {
  static constexpr std::array<std::string_view, 6> kDirections = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  static constexpr std::array<std::string_view, 3> kTypes = {"FLOAT", "SIGNED", "UNSIGNED"};
  if (!operand_count(call, 2)) {
    return false;
  }
  const Text* direction = optional(call, "direction");
  if (direction == nullptr || !is_one_of(direction->text, kDirections)) {
    return malformed(call, "direction");
  }
  if (const Attribute* type = call.instruction.find("type");
      type != nullptr && is_one_of(type->value.text, kTypes)) {
    call.used.insert("type");  // what that of the operands says, too
  }
  Draft draft{"hlo.compare", {arg(call.operands[0]), arg(call.operands[1])}, {}, {}};
  draft.kwargs.emplace_back("direction", name(direction->text));
  return finish(call, std::move(draft), out);
}

bool HloReader::reduce_precision(Call& call, Result& out) {
  std::int64_t exponent = 0;
  std::int64_t mantissa = 0;
  return operand_count(call, 1) && integer(call, "exponent_bits", exponent) &&
         integer(call, "mantissa_bits", mantissa) &&
         finish(call,
                {"hlo.reduce_precision", {arg(call.operands[0]), number(exponent), number(mantissa)}, {}, {}},
                out);
}

// Somebody's own operator: `hlo.` and what it calls, the operands, and the attributes that it is called with.
bool HloReader::custom_call(Call& call, Result& out) {
  const Text* target = optional(call, "custom_call_target");
  const std::string own = target != nullptr ? unquoted(target->text) : std::string();
  if (own.empty()) {
    return malformed(call, "custom_call_target");
  }
  Draft draft;
  std::string opcode = own;
  std::ranges::replace(opcode, '_', '-');
  const bool taken = handlers().contains(opcode) || is_one_of(opcode, kOthers) ||
                     is_one_of(opcode, kInternal) || is_impure(opcode) || own.starts_with("custom_call.");
  draft.op = (taken ? "hlo.custom_call." : "hlo.") + own;
  draft.marks = marks(call);
  for (const Result& one : call.operands) {
    draft.args.push_back(arg(one));
  }
  note_types(call, draft);
  if (const Text* config = optional(call, "backend_config")) {
    if (config->text != "\"\"") {
      draft.kwargs.emplace_back("backend_config", literal(attribute(config->text)));
      draft.marks += compact(config->text);  // as an argument `2-1` is 1
    }
  }
  if (is_of_devices(call.instruction)) {
    if (!alone_or_ranks(call)) {
      return false;
    }
    draft.unknown = "what " + quoted(own) + " gives depends on the device";
  } else if (is_impure(call.instruction)) {
    draft.unknown = quoted(own) + " does more than its results say";
  }
  call.used.insert("custom_call_has_side_effect");
  return finish(call, std::move(draft), out);
}

}  // namespace entangle::graph::hlo
