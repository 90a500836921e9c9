// Every diagnostic has a golden test: golden/NAME/input.rules and the exact text of what is reported about
// it. With ENTANGLE_UPDATE_GOLDEN set, the expected texts are written instead of compared.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "entangle/rules/ruleset.h"
#include "rules/diagnostics.h"

namespace entangle::rules {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<fs::path> cases() {
  std::vector<fs::path> result;
  for (const auto& entry : fs::directory_iterator(fs::path(ENTANGLE_SOURCE_DIR) / "tests/rules/golden")) {
    if (entry.is_directory()) result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

Loaded load(const fs::path& folder) {
  return load_rules_text("input.rules", read(folder / "input.rules"), {folder.string()});
}

}  // namespace

TEST_CASE("golden diagnostics") {
  for (const fs::path& folder : cases()) {
    CAPTURE(folder.string());
    std::string text;
    for (const support::Diagnostic& diagnostic : load(folder).diagnostics)
      text += support::render(diagnostic);
    for (std::size_t at = text.find(folder.string()); at != std::string::npos;
         at = text.find(folder.string())) {
      text.replace(at, folder.string().size(), "FOLDER");
    }
    if (std::getenv("ENTANGLE_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(folder / "expected.txt", std::ios::binary) << text;
    } else {
      CHECK(text == read(folder / "expected.txt"));
    }
  }
}

TEST_CASE("every diagnostic has its golden test, and there are no others") {
  std::set<std::string> known;
  for (const std::string_view id : id::kAll) {
    CHECK(known.emplace(id).second);
    CHECK(id.starts_with("rules/"));
  }
  std::set<std::string> tested;
  for (const fs::path& folder : cases()) {
    const std::string own = "rules/" + folder.filename().string();
    CAPTURE(own);
    CHECK(known.contains(own));
    std::set<std::string> found;
    for (const support::Diagnostic& diagnostic : load(folder).diagnostics) found.insert(diagnostic.id);
    CHECK(found.contains(own));
    for (const std::string& id : found) CHECK_MESSAGE(known.contains(id), id);
    tested.insert(own);
  }
  CHECK(tested == known);
}

}  // namespace entangle::rules
