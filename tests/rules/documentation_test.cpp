// The examples of docs/rule-language.md are rules: those in blocks marked `rules` load together.
#include <fstream>

#include "helpers.h"

namespace entangle::rules {

TEST_CASE("the examples of the documentation load") {
  std::ifstream stream(std::string(ENTANGLE_SOURCE_DIR) + "/docs/rule-language.md");
  std::string text;
  std::size_t blocks = 0;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("```")) {
      inside = line == "```rules";
      blocks += inside ? 1 : 0;
    } else {
      // The others stay as empty lines, so that diagnostics point into the document.
      if (inside) text += line;
    }
    text += '\n';
  }
  CHECK(blocks >= 3);
  const Loaded loaded = load_rules_text("docs/rule-language.md", text, {});
  std::string problems;
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) problems += support::render(diagnostic);
  CHECK(problems == "");
}

}  // namespace entangle::rules
