#include "hlo_world.h"

#include <doctest/doctest.h>

namespace entangle::graph::hlo_world {

support::Result<Graph> read(const std::string& text, const ReadOptions& options) {
  return parse_graph(support::add_source("t.hlo", text), options);
}

ReadOptions of_rank(std::size_t rank, std::size_t world) {
  ReadOptions options;
  options.rank = rank;
  options.shared = true;
  options.world = world;
  return options;
}

Graph graph(const std::string& text, const ReadOptions& options) {
  support::Result<Graph> result = read(text, options);
  if (!result) {
    FAIL(support::render(result.error()));
  }
  return std::move(*result);
}

std::string error(const std::string& text, const ReadOptions& options) {
  const support::Result<Graph> result = read(text, options);
  return result ? "no error" : result.error().id + ": " + result.error().message;
}

std::string shown(const Graph& graph, const Arg& arg) {
  if (const Arg::Ref* ref = arg.ref()) {
    return "%" + graph.nodes[ref->node].name;
  }
  if (const tensor::Attr* attr = arg.literal()) {
    return tensor::to_string(*attr);
  }
  std::string list;
  for (const Arg& one : *arg.list()) {
    list += (list.empty() ? "" : ", ") + shown(graph, one);
  }
  return "[" + list + "]";
}

// `name = op(arguments; key = value) : types`, then what else there is to say.
std::string shown(const Graph& graph, const Node& node) {
  std::string text = node.name + " = " + node.op + "(";
  for (std::size_t k = 0; k < node.args.size(); ++k) {
    text += (k > 0 ? ", " : "") + shown(graph, node.args[k]);
  }
  for (std::size_t k = 0; k < node.kwargs.size(); ++k) {
    text += (k > 0 ? ", " : "; ") + node.kwargs[k].first + " = " + shown(graph, node.kwargs[k].second);
  }
  text += ") :";
  for (const auto& type : node.results) {
    text += " " + (type ? tensor::to_string(*type) : "none");
  }
  text += node.value ? " = " + tensor::to_string(*node.value) : "";
  return text + (node.unknown.empty() ? "" : " unknown: " + node.unknown);
}

// All nodes but inputs, a line each.
std::string shown(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    text += node.op == "placeholder" ? "" : shown(graph, node) + "\n";
  }
  return text;
}

// A module of one computation, the last instruction of which is the root.
std::string module(const std::string& instructions, const std::string& header, const std::string& others) {
  std::string body = instructions;
  while (body.ends_with('\n') || body.ends_with(' ')) {
    body.pop_back();
  }
  const std::size_t last = body.rfind('\n') == std::string::npos ? 0 : body.rfind('\n') + 1;
  return "HloModule m" + header + "\n\n" + others + "\nENTRY main {\n" + body.substr(0, last) + "ROOT " +
         body.substr(last) + "\n}\n";
}

const char* const kReducers = R"(
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
greatest { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(b, a) }
product { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] multiply(a, b) }
either { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] or(a, b) }
both { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] multiply(a, b) }
least { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] minimum(a, b) }
difference { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] subtract(a, b) }
twice { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, a) }
second { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
more { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(b, a), direction=LE }
total { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER }
)";

// The line of the node `y` in a module with these instructions, to which y belongs.
std::string node(const std::string& instructions, const std::string& name, const ReadOptions& options,
                 const std::string& header) {
  const Graph read = graph(module(instructions, header, kReducers), options);
  const NodeIndex found = read.find(name);
  REQUIRE(found != kNoNode);
  return shown(read, read.nodes[found]).substr(name.size() + 3);
}

}  // namespace entangle::graph::hlo_world
