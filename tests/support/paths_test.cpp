#include "entangle/support/paths.h"

#include <doctest/doctest.h>

#include <cstdlib>
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
