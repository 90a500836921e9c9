#include "world.h"

#include <doctest/doctest.h>

#include <map>

namespace entangle::graph::test {

std::shared_ptr<const rules::RuleSet> rules_of(const std::string& path) {
  static std::map<std::string, std::shared_ptr<const rules::RuleSet>> known;
  std::shared_ptr<const rules::RuleSet>& rules = known[path];
  if (!rules) {
    const rules::Loaded loaded = rules::load_rules({path}, support::rule_folders());
    for (const support::Diagnostic& diagnostic : loaded.diagnostics) {
      MESSAGE(support::render(diagnostic));
    }
    REQUIRE(loaded.ok());
    rules = loaded.rules;
  }
  return rules;
}

std::string input(const std::string& name, const std::string& shape, const std::string& dtype) {
  return call(name, "placeholder", "", shape, dtype);
}

std::string call(const std::string& name, const std::string& op, const std::string& args,
                 const std::string& shape, const std::string& dtype, const std::string& more) {
  const std::string type = dtype.starts_with('[') || dtype == "null" ? dtype : '"' + dtype + '"';
  return R"({"name": ")" + name + R"(", "op": ")" + op + R"(", "args": [)" + args + R"(], "shape": )" +
         shape + R"(, "dtype": )" + type + more + "}";
}

std::string ref(const std::string& name) {
  return R"({"ref": ")" + name + R"("})";
}

Graph graph_of(const std::string& nodes, std::optional<std::size_t> rank, const std::string& header) {
  std::string text = R"({"format": "entangle-graph", "version": 1, "inputs": [], "outputs": [], )" + header +
                     "\"nodes\": [" + nodes + "]}";
  const support::FileId file =
      support::add_source(rank ? "r" + std::to_string(*rank) + ".json" : "g.json", text);
  support::Result<Graph> graph = parse_graph(file, {rank, false});
  if (!graph) {
    FAIL(support::render(graph.error()));
  }
  return std::move(*graph);
}

std::vector<Graph> ranks_of(const std::vector<std::string>& nodes, const std::string& header) {
  std::vector<Graph> graphs;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    graphs.push_back(graph_of(nodes[rank], rank, header));
  }
  return graphs;
}

}  // namespace entangle::graph::test
