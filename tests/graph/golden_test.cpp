// One folder per diagnostic (golden/<id without `graph/`>/), with graphs and the exact text they must cause:
// <case>.json or <case>.hlo, for a second rank <case>.r1.json, and <case>.expected. ENTANGLE_UPDATE_GOLDEN=1
// in the environment writes the texts instead of comparing them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "entangle/graph/read.h"
#include "world.h"

namespace entangle::graph {

namespace {

namespace fs = std::filesystem;

// What a case causes: the first error, or else the warnings.
std::string outcome(const fs::path& first) {
  std::vector<std::string> files = {first.string()};
  fs::path second = first;
  second.replace_extension(".r1" + first.extension().string());
  if (fs::exists(second)) {
    files.push_back(second.string());
  }
  std::vector<Graph> graphs;
  std::string warnings;
  for (std::size_t rank = 0; rank < files.size(); ++rank) {
    ReadOptions options;
    if (files.size() > 1) {
      options.rank = rank;
      options.world = files.size();
    }
    support::Result<Graph> graph = read_graph(files[rank], options);
    if (!graph) {
      return support::render(graph.error());
    }
    for (const support::Diagnostic& warning : graph->warnings) {
      warnings += support::render(warning);
    }
    graphs.push_back(std::move(*graph));
  }
  test::World world("../mini.rules");
  const support::Result<Lowered> lowered = lower(graphs, world.target);
  return lowered ? warnings : support::render(lowered.error());
}

}  // namespace

TEST_CASE("every diagnostic has an example with its exact text") {
  const fs::path before = fs::current_path();
  fs::current_path(ENTANGLE_SOURCE_DIR "/tests/graph/golden");
  const bool update = std::getenv("ENTANGLE_UPDATE_GOLDEN") != nullptr;
  std::set<std::string> known;
  for (const DiagnosticInfo& info : diagnostics()) {
    CHECK(info.id.starts_with("graph/"));
    known.insert(info.id.substr(6));
  }
  CHECK(known.size() == diagnostics().size());
  std::set<fs::path> cases;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(".")) {
    const std::string name = entry.path().filename().string();
    if ((name.ends_with(".json") && !name.ends_with(".r1.json")) ||
        (name.ends_with(".hlo") && !name.ends_with(".r1.hlo"))) {
      cases.insert(entry.path().lexically_relative("."));
    }
  }
  std::set<std::string> shown;
  for (const fs::path& path : cases) {
    const std::string id = path.parent_path().string();
    CAPTURE(path.string());
    CHECK(known.contains(id));
    shown.insert(id);
    const std::string found = outcome(path);
    CHECK(found.find("[graph/" + id + "]") != std::string::npos);
    fs::path expected = path;
    expected.replace_extension(".expected");
    if (update) {
      std::ofstream(expected, std::ios::binary) << found;
    } else {
      std::ifstream stream(expected, std::ios::binary);
      CHECK(found == std::string(std::istreambuf_iterator<char>(stream), {}));
    }
  }
  CHECK(shown == known);
  fs::current_path(before);
}

}  // namespace entangle::graph
