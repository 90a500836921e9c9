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

Graph graph_of(const std::string& nodes, std::optional<std::size_t> rank, const std::string& header,
               const Graph* model) {
  std::string text = R"({"format": "entangle-graph", "version": 1, "inputs": [], "outputs": [], )" + header +
                     "\"nodes\": [" + nodes + "]}";
  const support::FileId file =
      support::add_source(rank ? "r" + std::to_string(*rank) + ".json" : "g.json", text);
  support::Result<Graph> graph = parse_graph(file, {rank, false, model});
  if (!graph) {
    FAIL(support::render(graph.error()));
  }
  return std::move(*graph);
}

std::vector<Graph> ranks_of(const std::vector<std::string>& nodes, const std::string& header) {
  std::vector<Graph> graphs;
  graphs.reserve(nodes.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    graphs.push_back(graph_of(nodes[rank], rank, header, graphs.empty() ? nullptr : &graphs.front()));
  }
  return graphs;
}

std::string recipe_difference(const std::vector<Graph>& graphs, const std::string& rules_path) {
  World with(rules_path);
  World without(rules_path);
  LowerOptions options;
  const support::Result<Lowered> a = lower(graphs, with.target, options);
  options.recipes = false;
  const support::Result<Lowered> b = lower(graphs, without.target, options);
  if (!a || !b) {
    return a.ok() == b.ok() ? "" : "one of them is an error";
  }
  if (with.target.term_count() != without.target.term_count()) {
    return "the numbers of terms";
  }
  for (TermId term = 0; term < with.target.term_count(); ++term) {
    const term::NodeView left = with.target.original(term);
    const term::NodeView right = without.target.original(term);
    if (left.op != right.op || !(left.attrs == right.attrs) ||
        !std::ranges::equal(left.children, right.children) ||
        with.target.find(term) != without.target.find(term) ||
        with.target.type(term) != without.target.type(term)) {
      return with.target.print_original(term) + " and " + without.target.print_original(term);
    }
  }
  for (std::size_t rank = 0; rank < graphs.size(); ++rank) {
    for (NodeIndex node = 0; node < graphs[rank].nodes.size(); ++node) {
      if (!std::ranges::equal(a->nodes[rank][node].results, b->nodes[rank][node].results)) {
        return "the results of " + graphs[rank].nodes[node].name;
      }
    }
  }
  return "";
}

}  // namespace entangle::graph::test
