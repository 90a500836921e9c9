#include "entangle/support/paths.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

using entangle::support::rule_folders;

namespace {

struct Environment {
  explicit Environment(const char* value) { setenv("ENTANGLE_RULES", value, 1); }
  ~Environment() { unsetenv("ENTANGLE_RULES"); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

}  // namespace

TEST_CASE("a program in the build folder finds the source tree's rules") {
  unsetenv("ENTANGLE_RULES");
  const std::vector<std::string> folders = rule_folders();
  REQUIRE(folders.size() == 2);
  CHECK(folders[0] == ENTANGLE_SOURCE_DIR "/rules");
  CHECK(folders[1] == ENTANGLE_SOURCE_DIR "/frameworks");
}

TEST_CASE("ENTANGLE_RULES comes first, in its own order, existing or not") {
  const std::vector<std::string> shipped = rule_folders();
  for (const auto& [value, expected] : std::vector<std::pair<const char*, std::vector<std::string>>>{
           {"", {}}, {"/a", {"/a"}}, {"/b:/a", {"/b", "/a"}}, {":/a::b c:", {"/a", "b c"}}}) {
    CAPTURE(value);
    const Environment environment(value);
    std::vector<std::string> all = expected;
    all.insert(all.end(), shipped.begin(), shipped.end());
    CHECK(rule_folders() == all);
  }
}

TEST_CASE("files of the library have one spelling, others are left as they are") {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(ENTANGLE_SOURCE_DIR "/tests");
  for (const char* name :
       {ENTANGLE_SOURCE_DIR "/rules/core.rules", "../rules/core.rules", "./../tests/../rules/core.rules"}) {
    CAPTURE(name);
    CHECK(entangle::support::library_spelling(name) == ENTANGLE_SOURCE_DIR "/rules/core.rules");
  }
  CHECK(entangle::support::library_spelling("../frameworks/a/../b/c.rules") == ENTANGLE_SOURCE_DIR
        "/frameworks/b/c.rules");
  for (const char* name : {"core.rules", "rules/core.rules", "../rules2/core.rules", "../examples/own.rules",
                           "/rules/core.rules", "../rules/../own.rules", ""}) {
    CAPTURE(name);
    CHECK(entangle::support::library_spelling(name) == name);
  }
  std::filesystem::current_path(before);
}
