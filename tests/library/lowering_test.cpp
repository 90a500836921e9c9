// Every lowering computes the recorded shapes: all graphs of ../shared, where they are.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "entangle/graph/lower.h"
#include "entangle/graph/read.h"
#include "entangle/support/paths.h"
#include "entangle/term/typing.h"

namespace entangle::library {

namespace {

namespace fs = std::filesystem;

std::shared_ptr<const rules::RuleSet> everything() {
  static const rules::Loaded loaded =
      rules::load_rules({std::string(ENTANGLE_SOURCE) + "/rules/aten.rules"}, support::rule_folders());
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) MESSAGE(support::render(diagnostic));
  REQUIRE(loaded.ok());
  return loaded.rules;
}

// The JSON graphs of a folder, ranks in order.
std::vector<std::string> graphs_in(const fs::path& folder) {
  std::vector<std::pair<int, std::string>> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    std::smatch rank;
    if (entry.path().extension() != ".json") continue;
    found.emplace_back(
        std::regex_search(name, rank, std::regex("r([0-9]+)\\.json$")) ? std::stoi(rank[1]) : 0,
        entry.path().string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> result;
  for (auto& [rank, path] : found) result.push_back(std::move(path));
  return result;
}

void lower_all(const std::vector<std::string>& paths, bool sequential) {
  std::vector<graph::Graph> graphs;
  for (std::size_t rank = 0; rank < paths.size(); ++rank) {
    graph::ReadOptions options;
    if (!sequential) options.rank = rank;
    auto graph = graph::read_graph(paths[rank], options);
    REQUIRE_MESSAGE(graph, paths[rank]);
    graphs.push_back(std::move(*graph));
  }
  smt::Oracle oracle;
  term::Typing typing(*everything(), oracle);
  egraph::EGraph target(typing, oracle);
  CAPTURE(paths[0]);
  const auto lowered = graph::lower(graphs, target);
  if (!lowered) FAIL(support::render(lowered.error()));
  CHECK(target.clashes().empty());
  for (const std::string& op : lowered->opaque_ops) {
    // What is deliberately not described.
    CHECK_MESSAGE((op == "aten.nonzero.default" || op == "megatron.sinkhorn.default"), op);
  }
  for (const graph::BlockedUse& use : lowered->blocked) {
    const std::string& op = lowered->node(use.at).op;
    CHECK_MESSAGE(op.rfind("builtin.", 0) == 0, op, ": ", use.reason);
  }
}

}  // namespace

TEST_CASE("library: the whole rule set loads without a warning") {
  const rules::Loaded loaded =
      rules::load_rules({std::string(ENTANGLE_SOURCE) + "/rules/aten.rules"}, support::rule_folders());
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) FAIL_CHECK(support::render(diagnostic));
  CHECK(loaded.ok());
}

TEST_CASE("library: recorded shapes of shared graphs") {
  const fs::path shared = fs::path(ENTANGLE_SOURCE).parent_path() / "shared";
  if (!fs::exists(shared / "data")) {
    MESSAGE("no shared graphs: skipped");
    return;
  }
  std::size_t programs = 0;
  for (const char* set :
       {"gpt", "qwen2", "aws_llama", "bug_grad_accumulation", "bug_missing_switchmlp_allreduce"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(shared / "data" / set)) {
      if (!entry.is_directory()) continue;
      const std::vector<std::string> paths = graphs_in(entry.path());
      const std::string name = entry.path().filename().string();
      if (paths.empty() || name.find("layer8") != std::string::npos) continue;
      lower_all(paths, paths.size() == 1);
      ++programs;
    }
  }
  if (fs::exists(shared / "cases")) {
    for (const fs::directory_entry& entry : fs::directory_iterator(shared / "cases")) {
      if (!fs::exists(entry.path() / "seq.json")) continue;
      lower_all({(entry.path() / "seq.json").string()}, true);
      for (const char* kind : {"dist_bug", "dist_fixed"}) lower_all(graphs_in(entry.path() / kind), false);
      programs += 3;
    }
  }
  CHECK(programs > 20);
}

}  // namespace entangle::library
