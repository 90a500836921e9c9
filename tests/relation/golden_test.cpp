// One folder per diagnostic (golden/<id without `relation/`>/), with manifests and the exact text they must
// cause. ENTANGLE_UPDATE_GOLDEN=1 in the environment writes the texts instead of comparing them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "entangle/relation/diagnostics.h"
#include "entangle/relation/read_programs.h"
#include "entangle/relation/resolve.h"
#include "entangle/support/paths.h"

namespace entangle::relation {

namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The first error that a manifest causes, or why there is none.
std::string first_error(const std::string& path) {
  const auto manifest = read_manifest(path);
  if (!manifest) return support::render(manifest.error());
  std::vector<std::string> rules;
  for (const Text& text : manifest->rules) rules.push_back(manifest->path_of(text.text));
  if (rules.empty()) rules.emplace_back(ENTANGLE_SOURCE_DIR "/rules/core.rules");
  const rules::Loaded loaded = rules::load_rules(rules, support::rule_folders());
  if (!loaded.ok()) return "the rules do not load: " + support::render(loaded.diagnostics.at(0));
  const auto programs = read_programs(*manifest);
  if (!programs) return support::render(programs.error());
  const Sides sides{programs->sequential, programs->ranks};
  const auto resolved = resolve(*manifest, *loaded.rules, sides);
  if (!resolved) return support::render(resolved.error());
  const auto status = check_inputs_related(*manifest, *resolved, sides);
  return status ? "no error\n" : support::render(status.error());
}

}  // namespace

TEST_CASE("every diagnostic has an example with its exact text") {
  const fs::path before = fs::current_path();
  fs::current_path(ENTANGLE_SOURCE_DIR "/tests/relation/golden");
  const bool update = std::getenv("ENTANGLE_UPDATE_GOLDEN") != nullptr;
  std::set<std::string> known, shown;
  for (const ProblemInfo& info : problems())
    known.insert(std::string(info.id.substr(sizeof("relation/") - 1)));
  std::set<fs::path> cases;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(".")) {
    if (entry.path().extension() == ".expected") cases.insert(entry.path().lexically_relative("."));
  }
  for (const fs::path& expected : cases) {
    const std::string id = expected.parent_path().string();
    const std::string manifest = fs::path(expected).replace_extension(".yaml").string();
    CAPTURE(manifest);
    CHECK(known.contains(id));
    shown.insert(id);
    const std::string found = first_error(manifest);
    CHECK(found.find("[relation/" + id + "]") != std::string::npos);
    if (update) {
      std::ofstream(expected, std::ios::binary) << found;
    } else {
      CHECK(found == slurp(expected));
    }
  }
  CHECK(shown == known);
  fs::current_path(before);
}

TEST_CASE("every diagnostic is described") {
  for (const ProblemInfo& info : problems()) {
    CAPTURE(info.id);
    CHECK(info.id.starts_with("relation/"));
    CHECK(info.meaning.ends_with("."));
  }
}

}  // namespace entangle::relation
