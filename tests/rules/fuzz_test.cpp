// Damaged rule files: never a crash, always diagnostics of this module or a rule set.
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "helpers.h"
#include "rules/diagnostics.h"

namespace entangle::rules {
namespace {

std::vector<std::string> library() {
  namespace fs = std::filesystem;
  std::vector<std::string> texts;
  for (const auto& entry : fs::directory_iterator(fs::path(ENTANGLE_SOURCE_DIR) / "rules")) {
    std::ifstream stream(entry.path());
    std::ostringstream text;
    text << stream.rdbuf();
    texts.push_back(text.str());
  }
  std::sort(texts.begin(), texts.end());
  texts.push_back(kOperators);
  return texts;
}

void check(const std::string& text) {
  static const std::set<std::string_view> known(id::kAll.begin(), id::kAll.end());
  const Loaded loaded = load_rules_text("fuzz.rules", text, {});
  bool errors = false;
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) {
    CHECK_MESSAGE(known.contains(diagnostic.id), diagnostic.id);
    CHECK(!diagnostic.message.empty());
    CHECK(!support::render(diagnostic).empty());
    errors = errors || diagnostic.severity == support::Severity::error;
  }
  CHECK(loaded.ok() == !errors);
}

const char* const kPieces[] = {"(",      ")",    "[",      "]",   "{",       "}",     ";", ",",
                               ":",      "=>",   "==",     "=",   "..",      "*",     "-", "not ",
                               "in ",    "let ", " for ",  "if ", "x",       "d",     "0", "1/0",
                               "_",      "\"",   "/*",     "//",  "forall ", "with ", "@", "|",
                               "lemma ", "op ",  "given ", "f32", "tensor",  "+",     ".", "\xff"};

// One line of the text, broken in some way.
std::string damaged(std::string line, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n)(random); };
  for (std::size_t changes = 1 + below(2); changes > 0; --changes) {
    const std::size_t at = below(line.size());
    const char* piece = kPieces[below(std::size(kPieces) - 1)];
    switch (below(3)) {
      case 0:
        line.insert(at, piece);
        break;
      case 1:
        line.erase(at, 1 + below(8));
        break;
      case 2:
        line.replace(at, 1 + below(2), piece);
        break;
      default: {
        const std::string part = line.substr(at, 1 + below(20));
        line.insert(below(line.size()), part);
      }
    }
  }
  return line;
}

}  // namespace

TEST_CASE("truncated texts") {
  std::mt19937 random(1);
  for (const std::string& text : library()) {
    for (int i = 0; i < 6; ++i) {
      check(text.substr(0, std::uniform_int_distribution<std::size_t>(0, text.size())(random)));
    }
  }
}

TEST_CASE("damaged declarations") {
  std::mt19937 random(2);
  for (const std::string& text : library()) {
    // Declarations end where a line ends with `;` or is `}`.
    std::vector<std::string> declarations(1);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      declarations.back() += line + "\n";
      if (line.ends_with(";") || line == "}") declarations.emplace_back();
    }
    for (int round = 0; round < 6; ++round) {
      std::string broken;
      for (const std::string& declaration : declarations) {
        const bool break_it = std::uniform_int_distribution<int>(0, 3)(random) == 0;
        broken += break_it ? damaged(declaration, random) : declaration;
      }
      check(broken);
    }
  }
}

TEST_CASE("random pieces") {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    std::string text = i % 2 == 0 ? "lemma a(x: tensor): " : "";
    for (int n = 0; n < 30; ++n) {
      text += kPieces[std::uniform_int_distribution<std::size_t>(0, std::size(kPieces) - 1)(random)];
      text += ' ';
    }
    check(text);
  }
}

TEST_CASE("deep nesting and long chains are refused, not followed") {
  const auto repeat = [](const std::string& piece, int n) {
    std::string result;
    for (int i = 0; i < n; ++i) result += piece;
    return result;
  };
  const std::string head = "op f(x: tensor): elementwise { value i => ";
  for (const char* piece : {"(", "[", "-", "not ", "x[", "f(", "1 + ", "if 1 then 2 else ", "let a = ",
                            "let a = 1 in ", "forall a in [1]: ", "1 ++ ", "x.", "sum(k < ", "*"}) {
    CAPTURE(piece);
    check(head + repeat(piece, 100000));
    check(head + repeat(piece, 100000) + "1; }");
    check(head + repeat(piece, 150) + "1; }");
  }
  check(head + "x" + repeat("[0]", 50000) + "; }");
  check(head + "x" + repeat(".shape", 50000) + "; }");
  check(head + "1" + repeat(" + 1", 50000) + "; }");
  check(head + "1" + repeat(" < 1", 50000) + "; }");
  check("lemma a(x: tensor" + repeat("*", 100000) + "): x => x;");
  check(repeat("op f(x: tensor): elementwise;\n", 3000));
}

TEST_CASE("damaged expressions of manifests") {
  const auto rules = rules_of(kOperators);
  std::mt19937 random(4);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = damaged(
        "concat(slice(r0.w; 0, 0, 4), slice(r1.\"a b\"; dim=0, start=0, end=s0), add_n(r0.x, r1.x.1.2); 0)",
        random);
    CAPTURE(text);
    const support::Result<Expr> expr = parse_leaf_expression(*rules, support::kNoFile, text, {});
    if (expr.ok()) {
      CHECK(!to_string(*expr).empty());
    } else {
      CHECK(!support::render(expr.error()).empty());
    }
  }
}

}  // namespace entangle::rules
