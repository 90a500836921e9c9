// What must not change a verdict: a true assumption more, the order of things, running again.
#include <doctest/doctest.h>

#include <limits>
#include "entangle/report/json.h"
#include "entangle/report/text.h"
#include "world.h"

namespace entangle::infer::test {
namespace {

struct Row {
  const char* name;
  Case test;
  std::vector<std::string> assume;     // what the proof needs
  std::vector<std::string> also_true;  // what holds besides
};

const char* const kBlock =
    "in x: f32[\"s0\", 8]\nin w: f32[8, 6]\nin v: f32[6, 8]\nh = aten.mm.default(%x, %w): f32[\"s0\", 6]\n"
    "a = aten._softmax.default(%h, 0, false): f32[\"s0\", 6]\n"
    "y = aten.mm.default(%a, %v): f32[\"s0\", 8]\nout y";

std::vector<Row> rows() {
  std::vector<Row> result;
  std::string half = replaced(replaced(replaced(kBlock, "[8, 6]", "[8, 3]"), "[6, 8]", "[3, 8]"),
                              "[\"s0\", 6]", "[\"s0\", 3]");
  half = replaced(half, "y = aten.mm.default(%a, %v): f32[\"s0\", 8]",
                  "p = aten.mm.default(%a, %v): f32[\"s0\", 8]\n"
                  "y = _c10d_functional.all_reduce.default(%p, \"sum\", \"tp\"): f32[\"s0\", 8]");
  result.push_back(
      {"a block with a symbolic size",
       {kBlock, copies(2, half),
        "inputs:\n  x: Replicate\n  w: Shard(1)\n  v: Shard(0)\nexpect:\n  y: Replicate\n", "", ""},
       {},
       {"s0 >= 1", "s0 >= 2", "s0 == r0.s0", "r1.s0 == r0.s0", "s0 % 4 == 0", "s0 == 12", "r0.x == r1.x",
        "y == r0.y"}});
  const std::string program =
      "in ids: i64[3]\nin E: f32[16, 4]\nm = aten.ge.Scalar(%ids, 16): b8[3]\n"
      "k = aten.masked_fill.Scalar(%ids, %m, 0): i64[3]\ne = aten.embedding.default(%E, %k): f32[3, 4]\n"
      "y = aten.relu.default(%e): f32[3, 4]\nout y";
  result.push_back({"an embedding",
                    {program, copies(2, program),
                     "inputs:\n  ids: Replicate\n  E: Replicate\nexpect:\n  y: Replicate\n", "", ""},
                    {},
                    {"ids in [0, 16)", "ids in [0, 8)", "ids in [3, 4)", "ids in [0, 100)",
                     "r0.ids in [0, 16)", "k == r0.k", "e == r1.e"}});
  const auto shard = [](std::size_t rank) {
    const std::string low = std::to_string(8 * rank);
    return "in ids: i64[3]\nin E: f32[8, 4]\na = aten.lt.Scalar(%ids, " + low +
           "): b8[3]\nb = aten.ge.Scalar(%ids, " + std::to_string(8 * rank + 8) +
           "): b8[3]\nm = aten.logical_or.default(%a, %b): b8[3]\nl = aten.sub.Tensor(%ids, " + low +
           "): i64[3]\nk = aten.masked_fill.Scalar(%l, %m, 0): i64[3]\ne = aten.embedding.default(%E, %k): "
           "f32[3, 4]\n"
           "n = aten.unsqueeze.default(%m, -1): b8[3, 1]\np = aten.masked_fill.Scalar(%e, %n, 0): f32[3, 4]\n"
           "y = _c10d_functional.all_reduce.default(%p, \"sum\", \"tp\"): f32[3, 4]\nout y";
  };
  result.push_back(
      {"an embedding in shards",
       {"in ids: i64[3]\nin E: f32[16, 4]\ny = aten.embedding.default(%E, %ids): f32[3, 4]\nout y",
        each(2, shard), "inputs:\n  ids: Replicate\n  E: Shard(0)\nexpect:\n  y: Replicate\n", "", ""},
       {},
       {"ids in [0, 16)", "ids in [2, 11)", "r0.ids == r1.ids", "r0.y == r1.y"}});
  const std::string mean =
      "in x: f32[\"u0\", 4]\nm = aten.mean.dim(%x, [0]): f32[4]\ny = aten.mul.Tensor(%m, %m): f32[4]\nout y";
  result.push_back(
      {"a mean of means",
       {mean,
        copies(2, replaced(replaced(mean, "m = ", "l = "), "y =",
                           "m = _c10d_functional.all_reduce.default(%l, \"avg\", \"tp\"): f32[4]\ny =")),
        "inputs:\n  x: Shard(0)\nexpect:\n  y: Replicate\n", "", ""},
       {"r0.u0 == r1.u0"},
       {"u0 == 2*r0.u0", "u0 >= 2", "u0 == 6", "r0.u0 % 2 == 0", "u0 % 4 == 0", "m == r0.m"}});
  return result;
}

std::string manifest(const Row& row, const std::vector<std::string>& assume) {
  std::string lines;
  for (const std::string& one : row.assume) {
    lines += "\"" + one + "\", ";
  }
  for (const std::string& one : assume) {
    lines += "\"" + one + "\", ";
  }
  return lines.empty() ? row.test.manifest : "assume: [" + lines + "]\n" + row.test.manifest;
}

TEST_CASE("a true assumption never loses a proof") {
  for (const Row& row : rows()) {
    CAPTURE(std::string(row.name));
    Case test = row.test;
    test.manifest = manifest(row, {});
    CHECK(outcome(test) == "refines");
    for (const std::string& one : row.also_true) {
      CAPTURE(std::string(one));
      test.manifest = manifest(row, {one});
      CHECK(outcome(test) == "refines");
    }
    for (std::size_t k = 1; k < row.also_true.size(); ++k) {
      // The first with each other one.
      CAPTURE(std::string(row.also_true[k]));
      test.manifest = manifest(row, {row.also_true[k], row.also_true[0]});
      CHECK(outcome(test) == "refines");
    }
  }
}

// What a rank looks up outside of its table is 0, where the range of the indices says so.
TEST_CASE("ids that are all in one shard") {
  Case test = rows()[2].test;
  for (const char* range : {"ids in [9, 12)", "ids in [0, 4)"}) {
    test.manifest = manifest(rows()[2], {range});
    CHECK(outcome(test) == "refines");
  }
}

TEST_CASE("the proofs above rest on what they assume") {
  for (const Row& row : rows()) {
    if (!row.assume.empty()) {
      CAPTURE(std::string(row.name));
      CHECK(outcome(row.test) == "unproved");
    }
  }
}

std::string report_of(const Case& test) {
  auto result = run(test, {.limits = {}, .time_limit = {}, .all_relations = true});
  if (!result) {
    return support::render(result.error());
  }
  result->times = {};
  return report::to_json({{"manifest.yaml", *result}}) + report::to_text(*result, {true});
}

// Two classes of constants that are rearrangements of each other.
TEST_CASE("an expression for a constant ends") {
  const auto program = [](const std::string& half) {
    return "in x: f32[1,2]\nt = aten." + half +
           ".default(%x, 1): f32[1,2]\ny = aten.slice.Tensor(%t, 1, 0, 9223372036854775807, 2): "
           "f32[1,1]\nout t, y";
  };
  const std::string inputs = "inputs:\n  x: Shard(0)\n";
  CHECK(outcome({program("triu"), {program("triu")}, inputs, "", ""}) == "refines");
  CHECK(outcome({program("triu"), {program("tril")}, inputs, "", ""}) == "unproved");
}

TEST_CASE("a limit of time beyond any clock is none") {
  for (const double seconds : {1e9, 1e10, 1e300, std::numeric_limits<double>::infinity()}) {
    CAPTURE(seconds);
    Case test = rows()[0].test;
    test.manifest = manifest(rows()[0], {});
    CHECK(verdict(test, {.limits = {}, .time_limit = seconds}).kind == VerdictKind::refines);
  }
}

TEST_CASE("the same input gives the same bytes") {
  for (const Row& row : rows()) {
    CAPTURE(std::string(row.name));
    Case right = row.test;
    right.manifest = manifest(row, {});
    Case wrong = right;
    wrong.manifest = replaced(right.manifest, "y: Replicate", "y: Partial");
    CHECK(outcome(wrong) == "unproved");
    for (const Case& test : {right, row.test, wrong}) {
      const std::string first = report_of(test);
      CHECK(first.size() > 200);
      CHECK(first == report_of(test));
    }
  }
}

TEST_CASE("the order of ranks and of independent nodes does not matter") {
  Row row = rows()[2];
  std::swap(row.test.ranks[0], row.test.ranks[1]);
  CHECK(outcome(row.test) == "unproved");
  row.test.manifest = replaced(row.test.manifest, "E: Shard(0)", "E: \"concat(r1.E, r0.E; 0)\"");
  CHECK(outcome(row.test) == "refines");
  for (std::string& rank : row.test.ranks) {
    const auto begin = rank.find("a = ");
    const auto middle = rank.find("b = ");
    const auto end = rank.find("m = ");
    rank = rank.substr(0, begin) + rank.substr(middle, end - middle) + rank.substr(begin, middle - begin) +
           rank.substr(end);
  }
  CHECK(outcome(row.test) == "refines");
}

TEST_CASE("time that has run out is no proof") {
  Row row = rows()[0];
  const Verdict result = verdict(row.test, {.limits = {}, .time_limit = 0.0, .all_relations = false});
  CHECK(result.kind == VerdictKind::unproved);
  CHECK(has(result.limits, "time limit reached"));
  REQUIRE(result.failing);
  CHECK(result.failing->stopped);
  CHECK(result.failing->at.tensor == "h");
  CHECK(result.failing->reason == "of it, and of what is computed from it, nothing is known yet");
  CHECK(result.failing->chain.empty());
  CHECK(report::to_text(result).find("\nstopped by the time limit at\n") != std::string::npos);
  row.test.ranks[0] = replaced(row.test.ranks[0], "\"sum\"", "\"avg\"");
  row.test.ranks[1] = replaced(row.test.ranks[1], "\"sum\"", "\"avg\"");
  const Verdict wrong = verdict(row.test);
  REQUIRE(wrong.failing);
  CHECK_FALSE(wrong.failing->stopped);
  CHECK(report::to_text(wrong).find("\nfails at\n") != std::string::npos);
}

std::string chain(const std::string& first, const std::string& step, int length) {
  std::string result = "in x: f32[4]\n" + first + "\n";
  for (int k = 1; k <= length; ++k) {
    result +=
        "n" + std::to_string(k) + " = " + replaced(step, "%p", "%n" + std::to_string(k - 1)) + ": f32[4]\n";
  }
  return result + "y = aten.add.Tensor(%x, %n" + std::to_string(length) + "): f32[4]\nout y";
}

TEST_CASE("programs may be very long") {
  constexpr int kLength = 100'000;
  for (const char* first : {"n0 = aten.relu.default(%x): f32[4]", "n0 = aten.sin.default(%c): f32[4]"}) {
    CAPTURE(std::string(first));
    const std::string program =
        "c = aten.arange.default(4): i64[4]\n" + chain(first, "aten.exp.default(%p)", kLength);
    const std::string other = replaced(program, "%n50000)", "%n49999)");
    Case test{program, {program, program}, "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n", "", ""};
    CHECK(outcome(test) == "refines");
    test.ranks[1] = other;
    CHECK(outcome(test) == "unproved");
  }
}

TEST_CASE("constants may grow without end") {
  const std::string program = chain("n0 = aten.full.default([4], 3): f32[4]", "aten.mul.Tensor(%p, %p)", 100);
  Case test{program, {program, program}, "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n", "", ""};
  CHECK(outcome(test) == "refines");
  test.ranks[1] = replaced(program, "[4], 3)", "[4], 2)");
  CHECK(outcome(test) == "unproved");
  // Short ones are known.
  test.sequential = chain("n0 = aten.full.default([4], 3): f32[4]", "aten.mul.Tensor(%p, %p)", 5);
  test.ranks = copies(2, "in x: f32[4]\ny = aten.add.Tensor(%x, 1853020188851841): f32[4]\nout y");
  CHECK(outcome(test) == "refines");
}

}  // namespace
}  // namespace entangle::infer::test
