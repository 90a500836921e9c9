// Every captured graph that is at hand is read; where rules for its operators are installed, every recorded
// type agrees with the computed one. The graphs are not part of the project: without them this is skipped.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "entangle/graph/lower.h"
#include "entangle/graph/read.h"
#include "world.h"

namespace entangle::graph {

namespace {

namespace fs = std::filesystem;

// The folders with graphs; each holds one program, of one or several ranks.
std::map<fs::path, std::vector<fs::path>> programs() {
  std::map<fs::path, std::vector<fs::path>> result;
  for (const char* folder : {"/../shared/data", "/../shared/cases"}) {
    const fs::path root = fs::path(ENTANGLE_SOURCE_DIR + std::string(folder)).lexically_normal();
    if (!fs::is_directory(root)) {
      MESSAGE("skipped: there is no " << root.string());
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() == ".json") {
        result[entry.path().parent_path()].push_back(entry.path());
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("captured graphs are read") {
  std::size_t count = 0;
  std::size_t nodes = 0;
  for (const auto& [folder, files] : programs()) {
    for (const fs::path& file : files) {
      const support::Result<Graph> graph = read_graph(file.string());
      if (!graph) {
        FAIL_CHECK(support::render(graph.error()));
        continue;
      }
      CHECK(graph->warnings.empty());
      ++count;
      nodes += graph->nodes.size();
    }
  }
  MESSAGE(count << " graphs, " << nodes << " nodes");
}

TEST_CASE("recorded types of captured graphs are those computed") {
  const std::string rules = ENTANGLE_SOURCE_DIR "/rules/aten.rules";
  if (!fs::exists(rules)) {
    MESSAGE("skipped: there is no " << rules);
    return;
  }
  std::set<std::string> opaque;
  for (const auto& [folder, files] : programs()) {
    std::vector<Graph> graphs;
    graphs.reserve(files.size());
    for (const fs::path& file : files) {
      support::Result<Graph> graph = read_graph(file.string());
      REQUIRE(graph.ok());
      if (files.size() > 1) {
        graph = read_graph(file.string(), {graph->rank, false, graphs.empty() ? nullptr : &graphs.front()});
        REQUIRE(graph.ok());
      }
      graphs.push_back(std::move(*graph));
    }
    std::sort(graphs.begin(), graphs.end(), [](const Graph& a, const Graph& b) { return a.rank < b.rank; });
    CAPTURE(folder.string());
    test::World world(rules);
    const support::Result<Lowered> lowered = lower(graphs, world.target);
    if (!lowered) {
      FAIL_CHECK(support::render(lowered.error()));
      continue;
    }
    CHECK(test::recipe_difference(graphs, rules) == "");
    if (lowered->mismatch) {
      FAIL_CHECK(lowered->mismatch->message);
    }
    CHECK(world.target.clashes().empty());
    for (const OpaqueUse& use : lowered->opaque) {
      const LoweredNode& node = lowered->nodes[use.at.rank][use.at.node];
      opaque.insert(use.op + ": " + node.reason);
    }
    for (const BlockedUse& use : lowered->blocked) {
      opaque.insert("blocked: " + lowered->node(use.at).op + ": " + use.reason);
    }
  }
  for (const std::string& op : opaque) {
    MESSAGE("not lowered: " << op);
  }
}

}  // namespace entangle::graph
