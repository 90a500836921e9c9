// Modules, computations and types of HLO text.
#include <algorithm>
#include <array>
#include <utility>

#include "entangle/support/text.h"
#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

using sym::Int;
using tensor::Attr;
using tensor::DType;

namespace {

// Computations called inside each other beyond this are an error, and so are more nodes than so many, and so
// many for each instruction of the text: calls that call twice what calls twice have no end.
constexpr std::size_t kDeepestCall = 100;
constexpr std::size_t kMostNodes = std::size_t{1} << 17;
constexpr std::size_t kMostCopies = 200;

// Whole numbers of other widths and signs are read as numbers of a type that holds them all.
constexpr std::array<std::pair<std::string_view, DType>, 20> kTypes = {{
    {"f64", DType::f64},     {"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16},
    {"f8e4m3fn", DType::f8}, {"s64", DType::i64}, {"s32", DType::i32}, {"s16", DType::i16},
    {"s8", DType::i8},       {"s4", DType::i8},   {"s2", DType::i8},   {"s1", DType::i8},
    {"u64", DType::i64},     {"u32", DType::i64}, {"u16", DType::i32}, {"u8", DType::u8},
    {"u4", DType::u8},       {"u2", DType::u8},   {"u1", DType::u8},   {"pred", DType::b8},
}};

bool is_nothing(std::string_view dtype) {
  return dtype == "token" || dtype == "opaque";
}

std::string text_of(const Result& value) {
  return value.tuple ? "a tuple of " + support::counted(value.parts.size(), "element", "elements")
         : value.shape == nullptr ? "nothing"
                                  : text_of(*value.shape);
}

std::vector<Group> groups_with(const std::vector<Group>& all, std::size_t rank) {
  std::vector<Group> result;
  std::ranges::copy_if(all, std::back_inserter(result), [&](const Group& group) {
    return std::ranges::find(group.ranks, rank) != group.ranks.end();
  });
  return result;
}

}  // namespace

std::string text_of(const Shape& shape) {
  std::vector<std::string> parts;
  if (shape.tuple) {
    for (const Shape& part : shape.parts) {
      parts.push_back(text_of(part));
    }
    return "(" + support::join(parts, ", ") + ")";
  }
  for (const std::int64_t size : shape.sizes) {
    parts.push_back((shape.dynamic ? "<=" : "") + std::to_string(size));
  }
  return std::string(shape.dtype) + "[" + support::join(parts, ",") + "]";
}

bool is_hlo(std::string_view text) {
  return support::trim(text.substr(0, 4096)).starts_with("HloModule");
}

Graph for_rank(const Graph& model, support::FileId file, std::size_t rank) {
  Graph result = model;
  result.file = file;
  result.path = support::source_path(file);
  result.rank = rank;
  result.symbol_prefix = symbol_prefix(rank);
  result.groups = groups_with(result.all_groups, rank);
  for (support::Diagnostic& warning : result.warnings) {
    warning.span.file = file;
  }
  return result;
}

bool HloReader::fail(std::string id, const Text& at, std::string message, std::string suggestion) {
  if (!error_) {
    error_ = support::error("graph/" + std::move(id), span(at), std::move(message), std::move(suggestion));
  }
  return false;
}

support::Span HloReader::span(const Text& at) const {
  return support::span_at(file_, at.offset, std::max<std::size_t>(at.text.size(), 1));
}

support::Result<Graph> HloReader::run() {
  graph_.file = file_;
  graph_.path = support::source_path(file_);
  graph_.name = std::string(module_.name.text);
  graph_.source = "hlo";
  graph_.rank = options_.rank.value_or(0);
  graph_.symbol_prefix = symbol_prefix(options_.rank);
  const Computation& entry = module_.computations[module_.entry];
  most_nodes_ = kMostNodes;
  for (const Computation& computation : module_.computations) {
    most_nodes_ += kMostCopies * computation.instructions.size();
  }
  std::vector<Result> parameters;
  bool good = header();
  for (const std::uint32_t at : entry.parameters) {
    const Instruction& instruction = entry.instructions[at];
    good = good && entry_parameter(instruction.shape, instruction.name, std::string(instruction.name.text),
                                   location(instruction), parameters.emplace_back());
  }
  for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
    graph_.inputs.push_back(i);
  }
  const std::string root(entry.instructions[entry.root].name.text);
  Result result;
  if (!good || !computation(entry, parameters, "", root, "", result) || !outputs(result)) {
    return *error_;
  }
  if (graph_.outputs.empty()) {
    fail("hlo-computation", entry.instructions[entry.root].name, "this module gives no array");
    return *error_;
  }
  sharding_note();
  graph_.groups = groups_with(graph_.all_groups, graph_.rank);
  graph_.names = std::move(names_);
  return std::move(graph_);
}

bool HloReader::header() {
  for (const auto& [name, count] :
       {std::pair{"replica_count", &replicas_}, std::pair{"num_partitions", &partitions_}}) {
    const auto found = std::ranges::find(module_.attributes, name, &Attribute::name);
    if (found == module_.attributes.end()) {
      continue;
    }
    const std::optional<std::int64_t> number = hlo::integer(found->value.text);
    if (!number || *number < 1 || *number > kLargestWorld) {
      return fail("bad-rank", found->value,
                  quoted(name) + " must be a number from 1 to " + std::to_string(kLargestWorld));
    }
    *count = static_cast<std::size_t>(*number);
    declared_ = true;
  }
  if (declared_ && options_.rank) {
    graph_.world_size = replicas_ * partitions_;
  } else if (!declared_) {
    replicas_ = options_.rank ? options_.world.value_or(*options_.rank + 1) : 1;
  }
  return true;
}

// What is said of how values are to be spread has not happened yet.
void HloReader::sharding_note() {
  if (partitions_ == 1 || communicates_) {
    return;
  }
  for (const Instruction& instruction : module_.computations[module_.entry].instructions) {
    const Attribute* sharding = instruction.find("sharding");
    if (sharding != nullptr && sharding->value.text != "{replicated}") {
      graph_.warnings.push_back(
          {"graph/hlo-sharding",
           support::Severity::warning,
           span(sharding->value),
           "this module is not partitioned: `sharding` says nothing of its values, which are read "
           "as they are written",
           "",
           {}});
      return;
    }
  }
}

bool HloReader::entry_parameter(const Shape& shape, const Text& at, const std::string& name,
                                const std::string& loc, Result& out) {
  if (!shape.tuple) {
    Draft draft;
    draft.op = "placeholder";
    return add(name, at, loc, std::move(draft), shape, out);
  }
  out.tuple = true;
  for (std::size_t k = 0; k < shape.parts.size(); ++k) {
    if (!entry_parameter(shape.parts[k], at, name + "{" + std::to_string(k) + "}", loc,
                         out.parts.emplace_back())) {
      return false;
    }
  }
  return true;
}

bool HloReader::outputs(const Result& root) {
  if (root.tuple) {
    return std::ranges::all_of(root.parts, [&](const Result& part) { return outputs(part); });
  }
  if (root.node != kNoNode) {
    graph_.outputs.push_back(node_of(root));
  }
  return true;
}

bool HloReader::find(const Computation& computation, std::uint32_t user, const Operand& operand,
                     std::uint32_t& out) {
  const std::string name = quoted(computation.instructions[user].name.text);
  const auto found = computation.index.find(operand.name.text);
  if (found == computation.index.end()) {
    std::vector<std::string> names;
    for (const Instruction& instruction : computation.instructions) {
      names.emplace_back(instruction.name.text);
    }
    return fail("missing-node", operand.name,
                name + " refers to " + quoted(operand.name.text) + ", which does not exist",
                support::did_you_mean(operand.name.text, names));
  }
  out = found->second;
  if (out < user) {
    return true;
  }
  std::vector<bool> seen(computation.instructions.size());
  std::vector<std::uint32_t> todo = {out};
  while (!todo.empty() && !seen[user]) {
    const std::uint32_t at = todo.back();
    todo.pop_back();
    if (seen[at]) {
      continue;
    }
    seen[at] = true;
    for (const Operand& next : computation.instructions[at].operands) {
      if (const auto place = computation.index.find(next.name.text); place != computation.index.end()) {
        todo.push_back(place->second);
      }
    }
  }
  if (seen[user]) {
    return fail("cycle", operand.name, name + " depends on itself, by " + quoted(operand.name.text));
  }
  fail("use-before-definition", operand.name,
       name + " refers to " + quoted(operand.name.text) + ", which comes later",
       "instructions stand in an order in which they can run");
  error_->notes.push_back(
      {span(computation.instructions[out].name), quoted(operand.name.text) + " is defined here"});
  return false;
}

bool HloReader::computation(const Computation& computation, const std::vector<Result>& parameters,
                            const std::string& prefix, const std::string& root, const std::string& loc,
                            Result& out) {
  if (std::ranges::find(open_, computation.name.text) != open_.end()) {
    return fail("cycle", computation.name,
                "the computation " + quoted(computation.name.text) + " calls itself");
  }
  if (open_.size() > kDeepestCall) {
    return fail("hlo-computation", computation.name,
                "computations call each other more than " + std::to_string(kDeepestCall) + " deep");
  }
  open_.push_back(computation.name.text);
  std::vector<Result> values(computation.instructions.size());
  for (std::size_t k = 0; k < computation.parameters.size(); ++k) {
    const Instruction& parameter = computation.instructions[computation.parameters[k]];
    values[computation.parameters[k]] = parameters[k];
    if (!declared(std::string(parameter.name.text), parameter.shape, values[computation.parameters[k]])) {
      return false;
    }
  }
  for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (instruction.opcode.text == "parameter") {
      continue;
    }
    const std::string path = prefix + std::string(instruction.name.text);
    Call call{instruction, i == computation.root ? root : path, path + "/", location(instruction), {}, {}};
    call.loc = call.loc.empty() ? loc : call.loc;
    for (const Operand& operand : instruction.operands) {
      std::uint32_t at = 0;
      if (!find(computation, i, operand, at)) {
        return false;
      }
      const Result& value = values[at];
      if (operand.typed && !has_shape(value, operand.shape)) {
        return fail("result-type", operand.shape.text,
                    quoted(operand.name.text) + " is " + text_of(value) + ", not " + text_of(operand.shape));
      }
      call.operands.push_back(value);
    }
    if (!this->instruction(call, values[i]) ||
        !declared(std::string(instruction.name.text), instruction.shape, values[i])) {
      return false;
    }
    if (graph_.nodes.size() > most_nodes_) {
      return fail(
          "hlo-computation", instruction.name,
          "with what it calls this module has more than " + std::to_string(most_nodes_) + " instructions");
    }
  }
  open_.pop_back();
  out = std::move(values[computation.root]);
  return true;
}

// `source_file:source_line`, from the instruction or from the tables that it refers to; else its `op_name`.
std::string HloReader::location(const Instruction& instruction) const {
  const Attribute* metadata = instruction.find("metadata");
  if (metadata == nullptr) {
    return {};
  }
  const auto given = hlo::fields(metadata->value.text);
  const auto text = [](const auto& all, std::string_view name) {
    const auto found = all.find(name);
    return found == all.end() ? std::string() : found->second;
  };
  std::string file = text(given, "source_file");
  std::string line = text(given, "source_line");
  const auto row = [](const Table& table, const std::string& number) -> std::string_view {
    const auto found = table.find(hlo::integer(number).value_or(-1));
    return found == table.end() ? std::string_view() : found->second.text;
  };
  if (file.empty()) {
    const auto frame = hlo::fields(row(module_.frames, text(given, "stack_frame_id")));
    const auto place = hlo::fields(row(module_.locations, text(frame, "file_location_id")));
    file = unquoted(row(module_.files, text(place, "file_name_id")));
    line = text(place, "line");
  }
  if (file.empty()) {
    return text(given, "op_name");
  }
  return line.empty() ? file : file + ":" + line;
}

bool HloReader::type(const Shape& shape, std::optional<tensor::TensorType>& out) {
  if (is_nothing(shape.dtype)) {
    return true;
  }
  const auto found = std::ranges::find(kTypes, shape.dtype, &std::pair<std::string_view, DType>::first);
  if (found == kTypes.end()) {
    std::vector<std::string> names;
    for (const auto& [name, dtype] : kTypes) {
      names.emplace_back(name);
    }
    return fail("bad-dtype", shape.text, quoted(shape.dtype) + " is not an element type that can be read",
                "the element types are " + support::join(names, " "));
  }
  tensor::TensorType result{{}, found->second};
  for (const std::int64_t size : shape.sizes) {
    result.shape.emplace_back(size);
  }
  if (sym::product(result.shape).is_poison()) {
    return fail("bad-size", shape.text, "a tensor of this shape has more elements than 64 bits can count");
  }
  out = std::move(result);
  return true;
}

// But for layouts.
bool HloReader::same(const Shape& a, const Shape& b) {
  if (a.tuple || b.tuple) {
    return a.tuple == b.tuple && std::ranges::equal(a.parts, b.parts, same);
  }
  return a.dtype == b.dtype && a.sizes == b.sizes && a.dynamic == b.dynamic;
}

// The walk is over the text of the type: no value is larger than what is written of it.
bool HloReader::declared(const std::string& name, const Shape& shape, Result& value) {
  if (value.tuple && shape.tuple && value.parts.size() == shape.parts.size()) {
    for (std::size_t k = 0; k < shape.parts.size(); ++k) {
      if (!declared(name + "{" + std::to_string(k) + "}", shape.parts[k], value.parts[k])) {
        return false;
      }
    }
    return true;
  }
  if (value.tuple || shape.tuple || (value.shape != nullptr && !same(*value.shape, shape))) {
    return fail("result-type", shape.text,
                quoted(name) + " is " + text_of(value) + ", not " +
                    (shape.tuple ? "a tuple of " + support::counted(shape.parts.size(), "element", "elements")
                                 : text_of(shape)));
  }
  value.shape = &shape;
  return true;
}

NodeIndex HloReader::node_of(const Result& value) {
  if (!value.of) {
    return value.node;
  }
  if (const auto known = picked_.find({value.node, *value.of}); known != picked_.end()) {
    return known->second;
  }
  Draft draft;
  draft.op = "getitem";
  draft.args = {Arg{Arg::Ref{value.node}}, Arg{Attr::of(*value.of)}};
  const Node& source = graph_.nodes[value.node];
  Result picked;
  add(source.name + "{" + std::to_string(*value.of) + "}", {{}, 0}, source.loc, std::move(draft),
      *value.shape, picked);
  graph_.texts[picked.node] = graph_.texts[value.node];
  picked_[{value.node, *value.of}] = picked.node;
  return picked.node;
}

Arg HloReader::arg(const Result& value) {
  if (!value.tuple) {
    const NodeIndex node = node_of(value);
    return node == kNoNode ? Arg{Attr()} : Arg{Arg::Ref{node}};
  }
  Arg::List list;
  bool refers = false;
  for (const Result& part : value.parts) {
    list.push_back(arg(part));
    refers = refers || list.back().literal() == nullptr;
  }
  if (refers) {
    return Arg{std::move(list)};
  }
  std::vector<Attr> literals;
  for (const Arg& one : list) {
    literals.push_back(*one.literal());
  }
  return Arg{Attr::list(literals)};
}

const Node* HloReader::constant_of(const Result& value) const {
  const bool one =
      !value.tuple && !value.of && value.node != kNoNode && graph_.nodes[value.node].op == "constant";
  return one ? &graph_.nodes[value.node] : nullptr;
}

}  // namespace entangle::graph::hlo
