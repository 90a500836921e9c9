// What operators are declared to be: true claims are proved, false ones refuted by an instance.
#include "entangle/prove/claims.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "entangle/prove/prove.h"
#include "entangle/support/diagnostic.h"
#include "entangle/support/paths.h"

namespace entangle::prove {
namespace {

rules::Loaded load(const std::string& text) {
  rules::Loaded loaded = rules::load_rules_text("test.rules", text, {});
  for (const auto& diagnostic : loaded.diagnostics) MESSAGE(support::render(diagnostic));
  REQUIRE(loaded.ok());
  return loaded;
}

std::map<std::string, Result> examined(const std::string& text, const std::string& op = "",
                                       bool prove = true) {
  const rules::Loaded loaded = load(text);
  const Claims claims(*loaded.rules);
  Options options;
  options.prove = prove;
  std::map<std::string, Result> results;
  for (const Claim& claim : claims.all()) {
    if (op.empty() || loaded.rules->op(claim.op).name == op) {
      results[claim.lemma.name] = examine(claims, claim, options);
    }
  }
  return results;
}

void check_verdicts(const std::string& text, const std::map<std::string, std::string>& expected) {
  std::map<std::string, std::string> verdicts;
  for (const auto& [name, result] : examined(text)) {
    verdicts[name] = to_string(result.outcome);
    if (result.outcome != Outcome::refuted) continue;
    INFO(name);
    INFO(result.counterexample);
    CHECK(result.largest <= 3);
    CHECK(result.counterexample.find(" is declared as `") != std::string::npos);
    CHECK((result.counterexample.find("\n  first difference at [") != std::string::npos ||
           result.counterexample.find("\n  the right side is undefined: ") != std::string::npos));
  }
  CHECK(verdicts == expected);
}

TEST_CASE("false claims about operators are refuted, true ones proved") {
  check_verdicts("op minus(x: tensor, y: tensor): elementwise, commutative { value i => x[i] - y[i]; }",
                 {{"minus: elementwise", "proved"}, {"minus: commutative", "refuted"}});
  check_verdicts(
      "function exp(a);"
      "op softmax(x: tensor; dim: axis(x)): elementwise {"
      "  value i => exp(x[i]) / sum(k < x.shape[dim]: exp(x[i with [dim] = k]));"
      "}",
      {{"softmax: elementwise", "refuted"}});
  check_verdicts(
      "function exp(a);"
      "op softmax(x: tensor; dim: axis(x)) {"
      "  value i => exp(x[i]) / sum(k < x.shape[dim]: exp(x[i with [dim] = k]));"
      "  maps other(k < rank(x) if k != dim): k <- x.k;"
      "}",
      {{"softmax: maps other", "proved"}});
  check_verdicts(
      "op highest(x: tensor; dim: axis(x)) {"
      "  require 0 <= dim < rank(x);"
      "  shape x.shape without dim;"
      "  value i => max(k < x.shape[dim]: x[i[:dim] ++ [k] ++ i[dim:]]);"
      "  maps before(k < dim): k <- x.k;  maps after(k < rank(x) - dim - 1): dim + k <- x.(dim + 1 + k);"
      "  reduces sum wrong: x.dim;  reduces max right: x.dim;"
      "  linear x;"
      "}",
      {{"highest: maps before", "proved"},
       {"highest: maps after", "proved"},
       {"highest: reduces sum wrong", "refuted"},
       {"highest: reduces max right", "proved"},
       {"highest: linear x", "refuted"}});
  check_verdicts("op square(x: tensor): elementwise, rearranges { value i => x[i] * x[i]; linear x; }",
                 {{"square: elementwise", "proved"},
                  {"square: rearranges", "refuted"},
                  {"square: linear x", "refuted"}});
  check_verdicts(
      "op times(x: tensor, y: tensor): elementwise, commutative { value i => x[i] * y[i]; linear x, y; }",
      {{"times: elementwise", "proved"},
       {"times: commutative", "proved"},
       {"times: linear x", "proved"},
       {"times: linear y", "proved"}});
  // Affine is not linear; a list's operands are not all alike.
  check_verdicts("op shifted(x: tensor; c: scalar): elementwise { value i => x[i] + c; linear x; }",
                 {{"shifted: elementwise", "proved"}, {"shifted: linear x", "refuted"}});
  check_verdicts(
      "op mixed(xs: tensor+): elementwise, commutative { value i => xs[0][i] + sum(x[i] for x in xs); }",
      {{"mixed: elementwise", "proved"},
       {"mixed: commutative", "refuted"},
       {"mixed: commutative, operands rotated", "refuted"}});
  check_verdicts("op zeros(x: tensor): rearranges { value i => 0; linear x; }",
                 {{"zeros: rearranges", "refuted"}, {"zeros: linear x", "proved"}});
  // An axis that is cut by its size.
  check_verdicts(
      "op turned(x: tensor; dim: axis(x)): rearranges {"
      "  value i => x[i with [dim] = x.shape[dim] - 1 - i[dim]];"
      "  maps all(k < rank(x)): k <- x.k;"
      "}",
      {{"turned: rearranges", "proved"}, {"turned: maps all", "refuted"}});
  // Windows of a slice are not slices of windows.
  check_verdicts(
      "op part(x: tensor; dim: axis(x), begin: int, end: int) {"
      "  require 0 <= dim < rank(x);  require 0 <= begin < end <= x.shape[dim];"
      "  shape x.shape with [dim] = end - begin;"
      "  value i => x[i with [dim] = i[dim] + begin];"
      "  maps all(k < rank(x)): k <- x.k;"
      "}",
      {{"part: maps all", "refuted"}});
}

TEST_CASE("what no value says is an axiom, with its reason") {
  const auto results = examined(
      "op known(x: tensor, y: tensor): elementwise, commutative { because \"it is known to be\"; }"
      "op sorted(x: tensor; dim: axis(x)) {"
      "  maps other(k < rank(x) if k != dim): k <- x.k;  because \"rows are sorted one by one\";"
      "}");
  CHECK(to_string(results.at("known: elementwise").outcome) == "proved");
  CHECK(to_string(results.at("known: commutative").outcome) == "axiom");
  CHECK(results.at("known: commutative").reason == "it is known to be");
  CHECK(to_string(results.at("sorted: maps other").outcome) == "axiom");
}

TEST_CASE("nothing is claimed of random operators") {
  CHECK(examined("op noise(; shape: int*, to: dtype): random { shape shape; dtype to; }").empty());
}

TEST_CASE("operators of the statements do not meet those of the rules") {
  check_verdicts(
      "op window(x: tensor): elementwise { value i => x[i] + 1; }"
      "op any_function(x: tensor): elementwise, rearranges { value i => x[i]; }",
      {{"window: elementwise", "proved"},
       {"any_function: elementwise", "proved"},
       {"any_function: rearranges", "proved"}});
}

// Each declaration of the library that says how axes are reduced, which are mapped, or that an operator
// rearranges, with that one word changed.
TEST_CASE("changed declarations of the library are refuted") {
  std::ifstream in(std::string(ENTANGLE_SOURCE_DIR) + "/rules/core.rules");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  REQUIRE(!text.empty());
  struct Change {
    std::string from, to;
  };
  const std::vector<Change> changes = {
      {"reduces sum ", "reduces max "},
      {"reduces max ", "reduces sum "},
      {"rank(x) if k != dim)", "rank(x))"},
      {"op ge(x: tensor, y: tensor): elementwise {",
       "op ge(x: tensor, y: tensor): elementwise, commutative {"},
      {"elementwise, commutative {\n  value", "elementwise, commutative, rearranges {\n  value"}};
  std::map<std::string, std::size_t> refuted, found;
  for (const Change& change : changes) {
    for (std::size_t at = text.find(change.from); at != std::string::npos;
         at = text.find(change.from, at + 1)) {
      const std::size_t begin = text.rfind("\nop ", at) + 4;
      const std::string op = text.substr(begin, text.find('(', begin) - begin);
      std::string changed = text;
      changed.replace(at, change.from.size(), change.to);
      ++found[change.from];
      for (const auto& [name, result] : examined(changed, op, false)) {
        INFO(name);
        if (result.outcome == Outcome::refuted) {
          ++refuted[change.from];
          CHECK(result.largest <= 3);
          break;
        }
      }
      INFO(op);
      CHECK(refuted[change.from] == found[change.from]);
    }
    CHECK(found[change.from] > 0);
  }
}

}  // namespace
}  // namespace entangle::prove
