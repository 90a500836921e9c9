// The examples of docs/rule-language.md are rules: those in blocks marked `rules` load together.
#include <fstream>
#include <iterator>

#include "helpers.h"
#include "rules/builtins.h"

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

namespace {

std::string document(const std::string& name) {
  std::ifstream stream(std::string(ENTANGLE_SOURCE_DIR) + "/docs/" + name);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("docs/rule-language.md has a row for every built-in function") {
  const std::string text = document("rule-language.md");
  std::vector<std::string> names = {"fold", "has"};
  for (const BuiltinInfo& one : all_builtins()) names.emplace_back(one.name);
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(text.find("\n| `" + name + "(") != std::string::npos);
  }
}

TEST_CASE("docs/library.md lists what is taken on trust, with its reason") {
  const std::string root = ENTANGLE_SOURCE_DIR;
  const Loaded loaded = load_rules({root + "/rules/aten.rules"}, {root + "/rules"});
  REQUIRE(loaded.ok());
  const RuleSet& rules = *loaded.rules;
  const std::string text = document("library.md");
  const auto says = [&](const std::string& what) {
    CAPTURE(what);
    CHECK(text.find(what) != std::string::npos);
  };
  for (const Lemma& lemma : rules.lemmas()) {
    if (lemma.axiom) says("`" + lemma.name + "`");
    if (lemma.axiom) says(lemma.because);
  }
  for (const Operator& op : rules.operators()) {
    if (!op.because.empty()) says("| `" + op.name + "` | ");
    if (!op.because.empty()) says(op.because);
  }
}

}  // namespace entangle::rules
