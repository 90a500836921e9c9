// What lowering needs around it, for the tests of this folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "entangle/egraph/egraph.h"
#include "entangle/graph/lower.h"
#include "entangle/graph/read.h"
#include "entangle/rules/ruleset.h"
#include "entangle/smt/oracle.h"
#include "entangle/support/paths.h"
#include "entangle/term/typing.h"

namespace entangle::graph::test {

// Rules are loaded once per file; a failure shows what is wrong with them.
std::shared_ptr<const rules::RuleSet> rules_of(const std::string& path);

struct World {
  explicit World(const std::string& rules_path = ENTANGLE_SOURCE_DIR "/tests/graph/mini.rules",
                 sym::Facts facts = {})
      : rules(rules_of(rules_path)),
        oracle(std::move(facts)),
        typing(*rules, oracle),
        target(typing, oracle) {}

  std::shared_ptr<const rules::RuleSet> rules;
  smt::Oracle oracle;
  term::Typing typing;
  egraph::EGraph target;
};

// The text of nodes.
std::string input(const std::string& name, const std::string& shape = "[2, 4]",
                  const std::string& dtype = "f32");
std::string call(const std::string& name, const std::string& op, const std::string& args,
                 const std::string& shape = "[2, 4]", const std::string& dtype = "f32",
                 const std::string& more = "");
std::string ref(const std::string& name);

// A graph from the text of its nodes; nothing is an output. With a rank, the
// graph is that of a rank, with symbols of its own.
Graph graph_of(const std::string& nodes, std::optional<std::size_t> rank = {}, const std::string& header = "",
               const Graph* model = nullptr);
// Lowers the graphs with and without recipes: what differs between the two e-graphs, "" if nothing does.
std::string recipe_difference(const std::vector<Graph>& graphs, const std::string& rules_path);

// The graphs of several ranks, each from the text of its nodes; the first is the model of the others.
std::vector<Graph> ranks_of(const std::vector<std::string>& nodes, const std::string& header = "");

}  // namespace entangle::graph::test
