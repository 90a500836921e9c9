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
    INFO(name);
    INFO(result.counterexample);
    if (name.ends_with(": value")) {
      INFO(result.reason);
      CHECK(to_string(result.outcome) == "proved");
      continue;
    }
    verdicts[name] = to_string(result.outcome);
    if (result.outcome != Outcome::refuted) continue;
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

// The claim about the `value` of the last operator.
Result of_value(const std::string& text) {
  const rules::Loaded loaded = load(text);
  const Claims claims(*loaded.rules);
  const Claim* claim = claims.inside(static_cast<rules::OpId>(loaded.rules->operators().size() - 1));
  REQUIRE(claim != nullptr);
  return examine(claims, *claim);
}

TEST_CASE("a value that reads what is not there is refuted") {
  const std::string bad[] = {
      // One off, at either end, and in sums.
      "op f(x: tensor; d: axis(x)) { value i => x[i with [d] = x.shape[d] - i[d]]; }",
      "op f(x: tensor; d: axis(x)) { value i => x[i with [d] = i[d] - 1]; }",
      "op f(x: tensor; d: axis(x)) { shape x.shape without d; value i => sum(k < x.shape[d] + 1: x[i[:d] ++ "
      "[k] ++ i[d:]]); }",
      "op f(x: tensor; d: axis(x), n: int) { require n >= 1; shape x.shape with [d] = n; value i => x[i]; }",
      "op f(x: tensor, y: tensor) { value i => x[i] + y[i]; }",
      "op f(x: tensor, y: tensor) { require rank(x) == rank(y); value i => x[i] + y[i]; }",
      "op f(x: tensor; d: axis(x), step: int) { require step >= 1; shape x.shape with [d] = x.shape[d] "
      "floordiv step + 1;"
      "  value i => x[i with [d] = i[d] * step]; }",
      // Only for large sizes.
      "op f(x: tensor) { require rank(x) == 1; value i => x[i[0] + i[0] floordiv 50]; }",
      "op f(x: tensor; d: axis(x)) { require x.shape[d] != 7;"
      "  value i => if x.shape[d] == 19 then x[i with [d] = i[d] + 1] else x[i]; }",
      // The wrong number of places.
      "op f(x: tensor) { shape [x.shape[0]]; require rank(x) >= 1; value i => x[i[0]]; }",
      "op f(x: tensor) { value i => x[i ++ [0 for k in axes(x) if k == 0]]; }",
      "op f(x: tensor) { require rank(x) <= 2; value i => x[i[0]]; }",
      // What is read depends on elements.
      "op f(x: tensor, at: tensor) { require rank(x) == 1 and is_integer(at.dtype); shape at.shape; value i "
      "=> x[at[i]]; }",
      "op f(x: tensor, at: tensor) { require rank(x) == 1 and is_integer(at.dtype); shape at.shape;"
      "  value i => if at[i] < x.shape[0] then x[at[i]] else 0; }",
      "op f(x: tensor, at: tensor) { require rank(x) == 1 and is_integer(at.dtype); shape at.shape;"
      "  value i => if 0 <= at[i] < x.shape[0] then 0 else x[at[i]]; }",
      "op f(x: tensor, at: tensor) { require rank(x) == 1 and is_integer(at.dtype); shape at.shape;"
      "  value i => if 0 <= at[i] <= x.shape[0] then x[at[i]] else 0; }",
      "op f(x: tensor, at: tensor) { require rank(x) == 1 and at.shape == x.shape and is_integer(at.dtype);"
      "  value i => if x[at[i]] > 0 and 0 <= at[i] < x.shape[0] then 1 else 0; }",
      // Lists, maxima and blocks.
      "op f(; values: scalar+, to: dtype) { shape [len(values)]; dtype to; value i => values[i[0] + 1]; }",
      "op f(; values: scalar+, to: dtype, n: int) { require n >= 1; shape [n]; dtype to; value i => "
      "values[i[0]]; }",
      "op f(xs: tensor+): elementwise { value i => xs[1][i]; }",
      "op f(x: tensor; d: axis(x)) { shape x.shape without d; value i => max(k < x.shape[d] - 1: x[i[:d] ++ "
      "[k] ++ i[d:]]); }",
      "op f(xs: tensor+; d: axis(xs)) { require forall x in xs: rank(x) == rank(xs[0]); "
      "  shape xs[0].shape with [d] = sum(x.shape[d] for x in xs); value i => block(xs, "
      "d, i); }",
      "op f(xs: tensor+; d: axis(xs)) { shape xs[0].shape with [d] = sum(x.shape[d] for x in xs) + 1;"
      "  require forall x in xs, k in axes(x): rank(x) == rank(xs[0]) and (k == d or x.shape[k] == "
      "xs[0].shape[k]);"
      "  value i => block(xs, d, i); }"};
  for (const std::string& text : bad) {
    const Result result = of_value(text);
    INFO(text);
    INFO(result.reason);
    CHECK(to_string(result.outcome) == "refuted");
    CHECK(result.counterexample.find("    the `value` of `f` reads only what is there:\n") !=
          std::string::npos);
    CHECK(result.counterexample.find("\n  its `value` has no meaning: ") != std::string::npos);
    CHECK(result.counterexample.find(" (of f, at [") != std::string::npos);
  }
}

TEST_CASE("a value that reads only what is there is proved") {
  const std::string good[] = {
      "op f(x: tensor; d: axis(x)) { value i => x[i with [d] = x.shape[d] - 1 - i[d]]; }",
      "op f(x: tensor; d: axis(x)) { value i => if i[d] == 0 then 0 else x[i with [d] = i[d] - 1]; }",
      "op f(x: tensor; d: axis(x)) { value i => if 0 < i[d] and x[i with [d] = i[d] - 1] > 0 then x[i] else "
      "0; }",
      "op f(x: tensor, y: tensor) { require x.shape == y.shape; value i => x[i] + y[i]; }",
      "op f(x: tensor; d: axis(x), step: int) { require step >= 1;"
      "  shape x.shape with [d] = (x.shape[d] + step - 1) floordiv step; value i => x[i with [d] = i[d] * "
      "step]; }",
      "op f(x: tensor) { require rank(x) == 1; shape [50 * x.shape[0]]; value i => x[i[0] floordiv 50]; }",
      "op f(x: tensor, at: tensor) { require rank(x) == 1 and is_integer(at.dtype); shape at.shape;"
      "  value i => if 0 <= at[i] < x.shape[0] then x[at[i]] else 0; }",
      "op f(x: tensor, at: tensor) { require rank(x) == 1 and is_integer(at.dtype); shape at.shape;"
      "  value i => if at[i] < 0 or at[i] >= x.shape[0] then 0 else x[at[i]]; }",
      "op f(x: tensor, at: tensor) { require rank(x) == 1 and at.shape == x.shape and is_integer(at.dtype);"
      "  value i => if 0 <= at[i] < x.shape[0] and x[at[i]] > 0 then 1 else 0; }",
      "op f(x: tensor, at: tensor) { require rank(x) == 1 and rank(at) == 1 and is_integer(at.dtype); shape "
      "[];"
      "  value i => sum(k < at.shape[0]: if 0 <= at[k] < x.shape[0] then (if at[k] + 1 < x.shape[0] then "
      "x[at[k] + 1] else x[at[k]]) else 0); }",
      "op f(; values: scalar+, to: dtype) { shape [len(values)]; dtype to; value i => values[len(values) - 1 "
      "- i[0]]; }",
      "op f(xs: tensor+): elementwise { value i => xs[len(xs) - 1][i]; }",
      "op f(x: tensor; d: axis(x)) { require x.shape[d] >= 2; shape x.shape without d;"
      "  value i => max(k < x.shape[d] - 1: x[i[:d] ++ [k] ++ i[d:]]); }"};
  for (const std::string& text : good) {
    const Result result = of_value(text);
    INFO(text);
    INFO(result.reason);
    INFO(result.counterexample);
    CHECK(to_string(result.outcome) == "proved");
    CHECK(result.instances > 0);
  }
}

TEST_CASE("nothing is proved of operators whose value reads what is not there") {
  const std::string off =
      "op off(x: tensor; d: axis(x)): rearranges { value i => x[i with [d] = x.shape[d] - i[d]]; linear x; }"
      // Sizes that the sampler does not try.
      "op far(x: tensor): rearranges { require rank(x) == 1; value i => x[i[0] + i[0] floordiv 50]; linear "
      "x; }"
      "lemma one(x: tensor, d: axis): off(off(x; d); d) => x;"
      "lemma two(x: tensor): far(far(x)) => far(far(x));";
  for (const auto& [name, result] : examined(off)) {
    INFO(name);
    INFO(result.reason);
    CHECK(result.outcome < Outcome::bounded);
  }
  const rules::Loaded loaded = load(off);
  for (const rules::Lemma& lemma : loaded.rules->lemmas()) {
    const Result result = examine(*loaded.rules, lemma);
    INFO(lemma.name);
    INFO(result.reason);
    CHECK(result.outcome < Outcome::bounded);
  }
  CHECK(examine(*loaded.rules, loaded.rules->lemmas()[1])
            .reason.ends_with("`far: value` is refuted: it may read what is not there"));
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
