// Renderers against exact texts (golden/). ENTANGLE_UPDATE_GOLDEN=1 in the environment writes them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "entangle/report/json.h"
#include "entangle/report/text.h"

namespace entangle::report {

namespace {

using infer::Place;
using infer::Verdict;
using infer::VerdictKind;

void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(ENTANGLE_SOURCE_DIR "/tests/report/golden/") + name;
  CAPTURE(path);
  if (std::getenv("ENTANGLE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream stream(path, std::ios::binary);
  CHECK(text == std::string(std::istreambuf_iterator<char>(stream), {}));
}

Verdict refines() {
  Verdict verdict;
  verdict.kind = VerdictKind::refines;
  verdict.manifest = "mlp/tp2.yaml";
  verdict.ranks = 2;
  verdict.outputs = {{"y", {"r0.y", "r1.y"}, {{"r0.y", true}, {"r1.y", true}}, true, {}},
                     {"h", {"concat(r0.h, r1.h; 1)"}, {}, true, {"permuted"}}};
  verdict.assumptions = {"s0 >= 1", "given: gate = Shard(0)"};
  verdict.lemmas = {{"maps_concat", 12}, {"sums_concat", 1}};
  verdict.unproved = {{infer::Unproved::Kind::lemma, "squash_rows", "squash.rules", 18, "not proved"},
                      {infer::Unproved::Kind::claim, "squash: maps r", "squash.rules", 6, "tested"}};
  verdict.statistics = {10, 24, 3, 7, 2, 0, 180, 42, 1, 0};
  verdict.times = {0.001, 0.002, 0.0304999999, 0.0335};
  return verdict;
}

Verdict unproved() {
  Verdict verdict;
  verdict.kind = VerdictKind::unproved;
  verdict.manifest = "mlp/bug.yaml";
  verdict.ranks = 2;
  verdict.outputs = {
      {"y", {}, {{"r0.y", false}}, false, {"only as a sum over ranks: is an all-reduce missing?"}}};
  infer::Failing failing;
  failing.at = {-1, "h", "aten.mm.default", "model.py:17", {}};
  failing.reason = "no rearrangement of the ranks' tensors was shown to equal it";
  failing.hints = {"`r0.h` (dist.py:9) lacks `r1.p`: is an all-reduce of `r0.p` missing?"};
  failing.chain = {failing.at, {-1, "y", "aten.add.Tensor", "model.py:18", {}}};
  failing.operands = {{-1, "x", "placeholder", "", {"r0.x", "r1.x"}}, {-1, "w", "placeholder", "", {}}};
  for (int rank = 0; rank < 14; ++rank) {
    failing.considered.push_back({rank, "h", "aten.mm.default", rank == 1 ? "" : "dist.py:9", {}});
  }
  verdict.failing = failing;
  verdict.obligations = {"the look-up `e` of rank 1 is in range"};
  verdict.opaque = {"foo::bar"};
  verdict.limits = {"e-graph of `h`: 20000 nodes"};
  verdict.unrelated = {"mask"};
  verdict.warnings = {{"graph/unknown-key", support::Severity::warning, {}, "unknown key `note`", "", {}}};
  return verdict;
}

Verdict violates() {
  Verdict verdict;
  verdict.kind = VerdictKind::violates;
  verdict.manifest = "bad.yaml";
  verdict.ranks = 1;
  verdict.mismatch =
      infer::CollectiveMismatch{"rank 0 runs `all_reduce` where rank 1 runs `all_gather`",
                                {{0, "a", "all_reduce", "m.py:1", {}}, {1, "b", "all_gather", "m.py:2", {}}}};
  return verdict;
}

support::Diagnostic bad_input() {
  const support::FileId file = support::add_source("m.yaml", "ranks: 2\nouputs: [y]\n");
  support::Diagnostic diagnostic = support::error(
      "relation/unknown-key", {file, 2, 1, 6}, "manifests have no key `ouputs`", "did you mean `outputs`?");
  diagnostic.notes.push_back({{file, 1, 1, 5}, "the keys before it"});
  return diagnostic;
}

}  // namespace

TEST_CASE("verdicts for people") {
  check_golden("refines.txt", to_text(refines(), {false, "squash.rules"}));
  check_golden("refines_verbose.txt", to_text(refines(), {true}));
  check_golden("unproved.txt", to_text(unproved()));
  check_golden("violates.txt", to_text(violates()));
  Verdict many = refines();
  for (int i = 0; i < 20; ++i) many.unrelated.push_back("mask_" + std::to_string(i));
  check_golden("many_unrelated.txt", to_text(many));
}

TEST_CASE("of what every rank has one line says it") {
  Verdict verdict = refines();
  verdict.ranks = 32;
  infer::OutputReport whole{"y", {}, {}, true, {}};
  std::string shards = "concat(";
  for (int rank = 0; rank < 32; ++rank) {
    const std::string name = "r" + std::to_string(rank) + ".y";
    whole.expectations.push_back({name, rank < 30});
    shards += (rank == 0 ? "" : ", ") + name;
  }
  whole.relations = {shards + "; 0)", "merge(" + shards + "; 1); 0)", "concat(r0.\"a, (b\", r1.y; 0)"};
  verdict.outputs = {whole,
                     {"loss", {}, {{"r0.loss", false}}, false, {"no relation was found"}},
                     {"grad", {}, {}, false, {"no relation was found"}}};
  check_golden("many_ranks.txt", to_text(verdict));
  // With --verbose all of it.
  const std::string all = to_text(verdict, {true, {}});
  CHECK(all.find(shards + "; 0)") != std::string::npos);
  CHECK(all.find("    expected r17.y: holds\n") != std::string::npos);
}

TEST_CASE("verdicts for programs") {
  check_golden(
      "verdicts.json",
      to_json({{"mlp/tp2.yaml", refines()}, {"mlp/bug.yaml", unproved()}, {"bad.yaml", violates()}}));
  check_golden("error.json", to_json({Outcome{"m.yaml", bad_input()}}));
  check_golden("mixed.json", to_json({{"m.yaml", bad_input()}, {"bad.yaml", violates()}}));
  check_golden("rule_errors.json",
               to_json(std::vector{bad_input(), support::error("rules/syntax", {}, "no")}));
}

TEST_CASE("schema 1") {
  using nlohmann::json;
  const json all = json::parse(to_json({{"a", refines()}, {"b", unproved()}, {"c", violates()}}));
  CHECK(all["schema"] == 1);
  REQUIRE(all["results"].size() == 3);
  std::vector<std::string> keys;
  for (const auto& item : all["results"][0].items()) keys.push_back(item.key());
  for (const json& result : all["results"]) {
    // The same keys whatever the verdict.
    std::vector<std::string> others;
    for (const auto& item : result.items()) others.push_back(item.key());
    CHECK(others == keys);
  }
  CHECK(all["results"][0]["verdict"] == "refines");
  CHECK(all["results"][0]["failing"].is_null());
  CHECK(all["results"][1]["failing"]["tensor"] == "h");
  CHECK(all["results"][1]["failing"]["loc"] == "model.py:17");
  CHECK(all["results"][1]["failing"]["chain"][1]["tensor"] == "y");
  CHECK(all["results"][2]["mismatch"]["places"][1]["rank"] == 1);
  CHECK(json::parse(to_json(std::vector<Outcome>{}))["results"].empty());

  const json error = json::parse(to_json({Outcome{"m.yaml", bad_input()}}));
  REQUIRE(error["results"].size() == 1);
  CHECK(error["results"][0]["error"] == error["error"]);
  CHECK(error["error"]["line"] == 2);
}

TEST_CASE("names that are not UTF-8 do not break the JSON") {
  Verdict verdict = refines();
  verdict.manifest = "caf\xe9.yaml";
  CHECK(nlohmann::json::parse(to_json({{"a", verdict}}))["results"][0]["manifest"] == "caf\xef\xbf\xbd.yaml");
}

}  // namespace entangle::report
