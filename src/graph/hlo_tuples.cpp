// HLO instructions that are no operators of their own: tuples, calls, and the parts of operators in two.
#include <algorithm>
#include <utility>

#include "entangle/support/text.h"
#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

using tensor::Attr;

// --- values that are no nodes

bool HloReader::tuple(Call& call, Result& out) {
  out.tuple = true;
  out.parts = call.operands;
  return true;
}

bool HloReader::get_tuple_element(Call& call, Result& out) {
  std::int64_t index = 0;
  if (!integer(call, "index", index)) {
    return false;
  }
  if (call.operands.size() != 1 || !call.operands[0].tuple || index < 0 ||
      static_cast<std::size_t>(index) >= call.operands[0].parts.size()) {
    return fail("bad-getitem", call.instruction.name,
                call.operands.size() == 1 && call.operands[0].tuple
                    ? quoted(call.instruction.operands[0].name.text) + " has " +
                          support::counted(call.operands[0].parts.size(), "element", "elements") +
                          ", number " + std::to_string(index) + " is not one of them"
                    : "`get-tuple-element` needs a tuple");
  }
  Result part = call.operands[0].parts[static_cast<std::size_t>(index)];
  if (!declared(std::string(call.instruction.name.text), call.instruction.shape, part)) {
    return false;
  }
  if (part.tuple || part.node == kNoNode) {
    out = std::move(part);
    return true;
  }
  if (!part.of || picked_.contains({part.node, *part.of})) {
    return alias(call, part, out);
  }
  Draft draft{"getitem", {Arg{Arg::Ref{part.node}}, literal(Attr::of(*part.of))}, {}, {}};
  if (!add(call, std::move(draft), out)) {
    return false;
  }
  picked_[{part.node, *part.of}] = out.node;
  return true;
}

// The value of the first operand, whatever it waits for.
bool HloReader::first(Call& call, Result& out) {
  if (call.operands.empty()) {
    return operand_count(call, 1);
  }
  if (call.operands.size() > 1 && call.instruction.opcode.text != "add-dependency") {
    return tuple(call, out);
  }
  return alias(call, call.operands[0], out);
}

bool HloReader::nothing(Call& call, Result& out) {
  out = {};
  const Shape& shape = call.instruction.shape;
  return (!shape.tuple && shape.dtype == "token") ||
         fail("result-type", shape.text, quoted(call.instruction.opcode.text) + " gives a token");
}

// What a called computation computes, instruction by instruction.
bool HloReader::inlined(Call& call, Result& out) {
  const char* attribute = call.instruction.opcode.text == "call" ? "to_apply" : "calls";
  const Computation* body = called(call, attribute);
  if (body == nullptr) {
    return false;
  }
  if (body->parameters.size() != call.operands.size()) {
    return fail("operands", call.instruction.name,
                quoted(call.instruction.name.text) + " has " +
                    support::counted(call.operands.size(), "operand", "operands") + ", " +
                    quoted(body->name.text) + " takes " + std::to_string(body->parameters.size()));
  }
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    if (!has_shape(call.operands[k], body->instructions[body->parameters[k]].shape)) {
      return fail("result-type", call.instruction.operands[k].name,
                  quoted(call.instruction.operands[k].name.text) + " has another type than parameter " +
                      std::to_string(k) + " of " + quoted(body->name.text));
    }
  }
  Result result;
  if (!computation(*body, call.operands, call.path, call.name, call.loc, result)) {
    return false;
  }
  return named(call, result, out);
}

// The value under the name of the call, if it is one array.
bool HloReader::named(const Call& call, const Result& value, Result& out) {
  const bool already =
      value.tuple || value.node == kNoNode || (!value.of && graph_.nodes[value.node].name == call.name);
  if (!already) {
    return alias(call, value, out);
  }
  out = value;
  return true;
}

bool HloReader::has_shape(const Result& value, const Shape& shape) {
  if (value.tuple || shape.tuple) {
    return value.tuple == shape.tuple && std::ranges::equal(value.parts, shape.parts, has_shape);
  }
  return value.shape == nullptr || same(*value.shape, shape);
}

// Operators in two parts: the first has the results, behind its operands.
bool HloReader::async_start(Call& call, Result& out) {
  Call whole = call;
  Result result;
  const Attribute* body = call.instruction.find("calls");
  if (body == nullptr) {
    return generic(call, out);
  }
  if (!inlined(whole, result)) {
    return false;
  }
  out.tuple = true;
  out.parts.resize(std::max<std::size_t>(call.instruction.shape.parts.size(), 2));  // and what it works with
  out.parts[0].tuple = true;
  out.parts[0].parts = call.operands;
  out.parts[1] = std::move(result);
  return true;
}

bool HloReader::copy_start(Call& call, Result& out) {
  if (call.operands.size() != 1 || call.operands[0].node == kNoNode) {
    return fail("operands", call.instruction.name, "`copy-start` has one operand, an array");
  }
  out.tuple = true;
  out.parts.resize(3);
  out.parts[1] = call.operands[0];
  Result copied;
  if (!alias(call, call.operands[0], copied)) {
    return false;
  }
  out.parts[0] = copied;
  return true;
}

bool HloReader::done(Call& call, Result& out) {
  if (call.operands.size() != 1) {
    return operand_count(call, 1);
  }
  const Result& begun = call.operands[0];
  const std::string_view opcode = call.instruction.opcode.text;
  const bool copied = opcode == "copy-done";
  if (opcode == "all-reduce-done" || (!begun.tuple && begun.node != kNoNode)) {
    return alias(call, begun, out);
  }
  if (!begun.tuple || begun.parts.size() < 2) {
    return fail("operands", call.instruction.operands[0].name,
                quoted(call.instruction.operands[0].name.text) + " is not begun by the first part of " +
                    quoted(opcode));
  }
  return alias(call, begun.parts[copied ? 0 : 1], out);
}

}  // namespace entangle::graph::hlo
