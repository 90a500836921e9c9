#include "entangle/graph/read.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "world.h"

namespace entangle::graph {

using sym::Int;
using sym::Scalar;
using tensor::Attr;
using tensor::DType;
using test::call;
using test::graph_of;
using test::input;
using test::ref;

namespace {

support::Result<Graph> parse(const std::string& text, const ReadOptions& options = {}) {
  return parse_graph(support::add_source("t.json", text), options);
}

std::string header(const std::string& more) {
  return R"({"format": "entangle-graph", "version": 1, )" + more + "}";
}

}  // namespace

TEST_CASE("a graph keeps its header, nodes and places") {
  const std::string text =
      "{\"format\": \"entangle-graph\", \"version\": 1, \"name\": \"mlp\", \"rank\": 1, \"world_size\": 2,\n"
      " \"source\": \"pytorch\", \"groups\": {\"tp\": [1, 0]}, \"inputs\": [\"x\"],\n"
      " \"outputs\": [\"y\", null, \"x\", \"y\"], \"nodes\": [\n"
      "  {\"name\": \"x\", \"op\": \"placeholder\", \"shape\": [2, 8], \"dtype\": \"bf16\"},\n"
      "  {\"name\": \"y\", \"op\": \"t.exp\", \"args\": [{\"ref\": \"x\"}], \"kwargs\": {},\n"
      "   \"shape\": [2, 8], \"dtype\": \"bf16\", \"loc\": \"model.py:17\"}]}";
  const support::Result<Graph> graph = parse(text);
  REQUIRE(graph.ok());
  CHECK(graph->name == "mlp");
  CHECK(graph->source == "pytorch");
  CHECK(graph->path == "t.json");
  CHECK(graph->rank == 1);
  CHECK(graph->world_size == 2);
  CHECK(graph->symbol_prefix == "");
  CHECK(graph->groups == std::vector<Group>{{"tp", {1, 0}}});
  CHECK(graph->inputs == std::vector<NodeIndex>{0});
  CHECK(graph->outputs == std::vector<NodeIndex>{1, 0, 1});
  CHECK(graph->warnings.empty());
  REQUIRE(graph->nodes.size() == 2);
  const Node& y = graph->nodes[1];
  CHECK(y.name == "y");
  CHECK(y.op == "t.exp");
  CHECK(y.loc == "model.py:17");
  CHECK(y.args.at(0).ref()->node == 0);
  CHECK(y.results.at(0) == tensor::TensorType{{2, 8}, DType::bf16});
  CHECK(graph->span(1).line == 5);
  CHECK(graph->span(1).column == 12);
  CHECK(graph->find("y") == 1);
  CHECK(graph->find("z") == kNoNode);
}

TEST_CASE("numbers are exact") {
  const Graph graph =
      graph_of(input("x") + "," +
               call("y", "t.f",
                    "0.1, 1e-05, 3, -7, 9223372036854775807, 9223372036854775808, 2.0, -Infinity, "
                    "true, null, \"sum\", [1, [2.5]]"));
  const std::vector<Arg>& args = graph.nodes[1].args;
  CHECK(*args[0].literal() == Attr::of(Scalar::ratio(1, 10)));
  CHECK(*args[1].literal() == Attr::of(Scalar::ratio(1, 100000)));
  CHECK(*args[2].literal() == Attr::of(Int(3)));
  CHECK(*args[3].literal() == Attr::of(Int(-7)));
  CHECK(*args[4].literal() == Attr::of(Int(9223372036854775807)));
  CHECK(args[5].literal()->kind() == Attr::Kind::scalar);
  CHECK(sym::to_string(args[5].literal()->as_scalar()) == "9223372036854775808");
  CHECK(*args[6].literal() == Attr::of(Scalar(2)));
  CHECK(*args[7].literal() == Attr::of(Scalar::infinity(true)));
  CHECK(*args[8].literal() == Attr::of(true));
  CHECK(args[9].literal()->is_none());
  CHECK(*args[10].literal() == Attr::name("sum"));
  CHECK(tensor::to_string(*args[11].literal()) == "[1, [5/2]]");
}

TEST_CASE("texts may be escaped") {
  const Graph graph = graph_of(input(R"(a\u00e9\"\\\ud83d\ude00\n)"));
  CHECK(graph.nodes[0].name == "a\xC3\xA9\"\\\xF0\x9F\x98\x80\n");
}

TEST_CASE("arguments nest, lists without references are literals") {
  const Graph graph = graph_of(input("x") + "," + input("y") + "," +
                               call("z", "t.f", "[" + ref("x") + ", [" + ref("y") + ", 3]], [1, 2]", "[2, 4]",
                                    "f32", R"(, "kwargs": {"b": )" + ref("y") + R"(, "a": 1})"));
  const Node& z = graph.nodes[2];
  REQUIRE(z.args[0].list() != nullptr);
  CHECK((*z.args[0].list())[0].ref()->node == 0);
  CHECK((*(*z.args[0].list())[1].list())[1].literal() != nullptr);
  CHECK(*z.args[1].literal() == Attr::ints(std::vector<Int>{1, 2}));
  CHECK(z.kwargs[0].first == "b");
  CHECK(z.kwarg("a")->literal() != nullptr);
  CHECK(z.kwarg("c") == nullptr);
  std::vector<NodeIndex> operands;
  for_each_operand(z, [&](NodeIndex node) { operands.push_back(node); });
  CHECK(operands == std::vector<NodeIndex>{0, 1, 1});
}

TEST_CASE("several results, None among them, and mutated arguments") {
  const Graph graph = graph_of(input("x") + "," +
                               call("n", "t.norm", "", "[null, [2, 4]]", "[null, \"f32\"]",
                                    R"(, "mutates": ["result"], "kwargs": {"result": )" + ref("x") + "}") +
                               "," + call("a", "t.assert", ref("x"), "null", "null") + "," +
                               call("s", "t.chunk", ref("x"), "[]", "[]"));
  const Node& n = graph.nodes[1];
  CHECK(n.several);
  REQUIRE(n.results.size() == 2);
  CHECK(!n.results[0]);
  CHECK(n.results[1] == tensor::TensorType{{2, 4}, DType::f32});
  CHECK(n.mutates == std::vector<std::string>{"result"});
  CHECK(!graph.nodes[2].several);
  CHECK(!graph.nodes[2].results.at(0));
  CHECK(graph.nodes[3].several);
  CHECK(graph.nodes[3].results.empty());
}

TEST_CASE("symbols belong to their file, `rank` is the number of the rank") {
  const std::string nodes = input("x", R"(["s0", "2*s0+1", "4*rank+4"])") + "," +
                            call("n", "t.size", ref("x") + ", 0", "[]", "i64", R"(, "sym": "s0")") + "," +
                            call("c", "t.ge", ref("n") + ", 0", "[]", "b8", R"(, "sym": "s0 >= 0")");
  const Graph sequential = graph_of(nodes);
  const Int s0 = Int::symbol("s0");
  CHECK(sequential.nodes[0].results[0]->shape == tensor::Shape{s0, 2 * s0 + 1, 4});
  CHECK(sequential.nodes[1].size == s0);
  CHECK(!sequential.nodes[2].size);
  const Graph third = graph_of(nodes, 3);
  const Int r3_s0 = Int::symbol("r3.s0");
  CHECK(third.symbol_prefix == "r3.");
  CHECK(third.nodes[0].results[0]->shape == tensor::Shape{r3_s0, 2 * r3_s0 + 1, 16});
  CHECK(third.nodes[1].size == r3_s0);
}

TEST_CASE("one file may serve all ranks") {
  const std::string text = header(R"("groups": {"tp": [[0, 1], [2, 3]], "dp": [[0, 2], [1, 3]]}, "inputs": [],
    "rank": 0, "outputs": [], "nodes": [)" +
                                  input("x", "[\"s0\"]") + "]");
  const support::Result<Graph> graph = parse(text, {2, true});
  REQUIRE(graph.ok());
  CHECK(graph->rank == 2);
  CHECK(graph->groups == std::vector<Group>{{"tp", {2, 3}}, {"dp", {0, 2}}});
  CHECK(graph->nodes[0].results[0]->shape == tensor::Shape{Int::symbol("r2.s0")});
  const support::Result<Graph> refused = parse(text, {2, false});
  REQUIRE(!refused.ok());
  CHECK(refused.error().id == "graph/wrong-rank");
}

TEST_CASE("values of constants") {
  const Graph graph =
      graph_of(call("a", "constant", "", "[]", "f32", R"(, "kwargs": {"value": 0.5})") + "," +
               call("b", "constant", "", "[2, 2]", "i64", R"(, "kwargs": {"value": [[1, 2], [3, 4]]})") +
               "," + call("c", "placeholder", "", "[2, 2]", "f32", R"(, "value": 1)") + "," +
               call("d", "constant", "", "[4]", "f32"));
  CHECK(*graph.nodes[0].value == Attr::of(Scalar::ratio(1, 2)));
  CHECK(tensor::to_string(*graph.nodes[1].value) == "[[1, 2], [3, 4]]");
  CHECK(*graph.nodes[2].value == Attr::of(Int(1)));
  CHECK(!graph.nodes[3].value);
}

TEST_CASE("a file that is not there") {
  const support::Result<Graph> graph = read_graph("/nonexistent/r0.json");
  REQUIRE(!graph.ok());
  CHECK(graph.error().id == "support/cannot-read");
}

TEST_CASE("a graph is read from a file") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("entangle_read_" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << header(R"("inputs": ["x"], "outputs": ["x"], "nodes": [)" + input("x") + "]");
  const support::Result<Graph> graph = read_graph(path.string());
  std::filesystem::remove(path);
  REQUIRE(graph.ok());
  CHECK(graph->path == path.string());
  CHECK(graph->outputs == std::vector<NodeIndex>{0});
}

TEST_CASE("no prefix of a graph is read as one, and none makes the reader stumble") {
  const std::string text =
      header(R"("groups": {"tp": [0, 1]}, "inputs": ["x"], "outputs": ["y"], "nodes": [)" +
             input("x", "[\"s0\", 4]") + "," +
             call("y", "t.add", ref("x") + ", -1.5e+3, \"\\u00e9\", [true, null]", "[\"s0\", 4]") + "]");
  REQUIRE(parse(text).ok());
  for (std::size_t length = 0; length < text.size(); ++length) {
    const support::Result<Graph> graph = parse(text.substr(0, length));
    REQUIRE(!graph.ok());
    CHECK(graph.error().id == "graph/json-syntax");
  }
  // One wrong byte: an error or another graph, never more.
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char byte : {'\0', '"', '}', ',', '\xff'}) {
      std::string changed = text;
      changed[at] = byte;
      const support::Result<Graph> graph = parse(changed);
      if (!graph.ok()) {
        CHECK(graph.error().span.line == 1);
      }
    }
  }
}

namespace {

std::string described(const Arg& arg) {
  std::string result = "@" + std::to_string(arg.offset);
  if (const Arg::Ref* target = arg.ref()) {
    return result + "%" + std::to_string(target->node);
  }
  if (const Arg::List* list = arg.list()) {
    for (const Arg& entry : *list) {
      result += "[" + described(entry) + "]";
    }
    return result;
  }
  return result + tensor::to_string(*arg.literal());
}

// Everything that was read, or the error.
std::string described(const support::Result<Graph>& graph) {
  if (!graph) {
    return support::render(graph.error());
  }
  std::string result;
  for (NodeIndex k = 0; k < graph->nodes.size(); ++k) {
    const Node& node = graph->nodes[k];
    const NodeText& text = graph->texts[k];
    const support::Span span = graph->span(k);
    result += node.name + " " + node.op + " " + node.loc;
    for (const std::uint32_t number :
         {span.line, span.column, span.length, text.offset, text.length, text.name}) {
      result += " " + std::to_string(number);
    }
    for (const Arg& arg : node.args) {
      result += " " + described(arg);
    }
    for (const auto& [key, arg] : node.kwargs) {
      result += " " + key + "=" + described(arg);
    }
    for (const auto& type : node.results) {
      result += " " + (type ? tensor::to_string(*type) : "none");
    }
    for (const std::string& name : node.mutates) {
      result += " !" + name;
    }
    result += node.value ? " = " + tensor::to_string(*node.value) : "";
    result += node.size ? " size " + sym::to_string(*node.size) : "";
    result += std::string(node.several ? " several" : "") + (node.size_condition ? " condition" : "") +
              (text.repeatable ? " repeatable" : "") + (graph->find(node.name) == k ? "\n" : " lost\n");
  }
  for (const NodeIndex output : graph->outputs) {
    result += std::to_string(output) + " ";
  }
  for (const support::Diagnostic& warning : graph->warnings) {
    result += support::render(warning);
  }
  return result;
}

}  // namespace

TEST_CASE("a graph reads the same with the graph of another rank for a model") {
  const std::vector<std::string> lines = {
      R"({"format": "entangle-graph", "version": 1, "inputs": ["x", "s"], "outputs": ["y", "p"], "nodes": [)",
      R"({"name": "x", "op": "placeholder", "args": [], "kwargs": {}, "shape": [2, 8], "dtype": "f32"},)",
      R"({"name": "s", "op": "placeholder", "args": [], "kwargs": {}, "shape": ["s0", 8], "dtype": "f32"},)",
      R"({"name": "c", "op": "constant", "args": [], "kwargs": {}, "shape": [2], "dtype": "f32", "value": [1, 2]},)",
      R"({"name": "d", "op": "t.split", "args": [{"ref": "x"}, 1], "kwargs": {}, "shape": [[1, 8], [1, 8]], "dtype": ["f32", "f32"]},)",
      R"({"name": "p", "op": "getitem", "args": [{"ref": "d"}, 1], "kwargs": {}, "shape": [1, 8], "dtype": "f32"},)",
      R"({"name": "q", "op": "t.cat", "args": [[{"ref": "p"}, {"ref": "p"}], [0, 1]], "kwargs": {"group": [0, 1]}, "shape": [2, 8], "dtype": "f32", "loc": "a.py:3"},)",
      R"({"name": "u", "op": "t.exp", "args": [{"ref": "q"}], "more": 1, "kwargs": {}, "shape": [2, 8], "dtype": "f32"},)",
      R"({"name": "r", "op": "t.at", "args": [{"ref": "u"}], "kwargs": {}, "shape": ["rank + 2", 8], "dtype": "f32"},)",
      R"({"name": "m", "op": "t.add_", "args": [{"ref": "q"}, {"ref": "u"}], "kwargs": {}, "shape": [[2, 8], [2, 8]], "dtype": ["f32", "f32"], "mutates": ["self"]},)",
      R"({"name": "y", "op": "t.exp", "args": [{"ref": "u"}], "kwargs": {}, "shape": [2, 8], "dtype": "f32"}]})"};
  const auto text_of = [](const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& line : all) {
      text += line + "\n";
    }
    return text;
  };
  const support::Result<Graph> model = parse(text_of(lines), {0});
  REQUIRE(model.ok());
  CHECK(std::ranges::count_if(model->texts, &NodeText::repeatable) == 7);  // not s, u, r

  // The nodes are those of the model, and stay when it goes; so are the names where all are the same.
  const Nodes copy = model->nodes;
  CHECK(&copy[3] == &model->nodes[3]);
  std::optional<Graph> second;
  {
    const support::Result<Graph> first = parse(text_of(lines), {0});
    second = std::move(*parse(text_of(lines), {1, false, &*first}));
    for (NodeIndex k = 0; k < first->nodes.size(); ++k) {
      CHECK((&second->nodes[k] == &first->nodes[k]) == first->texts[k].repeatable);
    }
    CHECK(second->names == first->names);
    std::vector<std::string> renamed = lines;
    renamed.back().replace(renamed.back().find("\"y\""), 3, "\"w\"");
    renamed[0].replace(renamed[0].find("\"y\""), 3, "\"w\"");
    const support::Result<Graph> other = parse(text_of(renamed), {1, false, &*first});
    REQUIRE(other.ok());
    CHECK(other->names != first->names);
    CHECK(other->find("w") == 9);
    CHECK(other->find("y") == kNoNode);
  }
  CHECK(second->nodes[5].kwargs[0].first == "group");
  CHECK(second->find("q") == 5);

  std::mt19937 random(1);
  const auto below = [&](std::size_t count) { return random() % count; };
  std::size_t read = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    std::vector<std::string> edited = lines;
    for (std::size_t edits = below(3); edits > 0; --edits) {
      std::string& line = edited[below(edited.size())];
      switch (below(7)) {
        case 0:  // a byte is another one, is missing or is twice
          line[below(line.size())] = "abdpqxy\"[]{}0123,: "[below(18)];
          break;
        case 1:
          line.erase(below(line.size()), 1);
          break;
        case 2:
          line.insert(below(line.size()), 1, "0123 \""[below(6)]);
          break;
        case 3:  // nodes change places, or one stands twice, or is missing
          std::swap(line, edited[below(edited.size())]);
          break;
        case 4:
          edited.insert(edited.begin() + static_cast<std::ptrdiff_t>(below(edited.size())), line);
          break;
        case 5:
          line.clear();
          edited.erase(std::ranges::find(edited, ""));
          break;
        default:  // a name is another one, everywhere
          for (std::string& each : edited) {
            for (std::size_t at = 0; (at = each.find("\"q\"", at)) != std::string::npos; ++at) {
              each[at + 1] = 'z';
            }
          }
      }
    }
    const std::string text = text_of(edited);
    const support::Result<Graph> alone = parse(text, {1});
    read += alone.ok() ? 1 : 0;
    CHECK(described(parse(text, {1, false, &*model})) == described(alone));
  }
  CHECK(read > 1000);
}

}  // namespace entangle::graph
