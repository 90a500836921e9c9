// Look-ups must be in range, and ranges must be ranges of what they are stated of.
#include <doctest/doctest.h>

#include "world.h"

namespace entangle::infer::test {
namespace {

using Strings = std::vector<std::string>;

const char* const kLookUp =
    "in ids: i64[3]\nin E: f32[16, 4]\n"
    "y = aten.embedding.default(%E, %ids): f32[3, 4] // model.py:1\nout y";

std::string open_text(int rank, const std::string& node, int last) {
  return "rank " + std::to_string(rank) + ": the look-up `" + node +
         "` (aten.embedding.default, rank.py:1) is not shown to be in range 0.." + std::to_string(last) +
         ": mask its index, or state the range of the indices under `assume`";
}

// Each rank has 8 of the 16 rows. `mask` is applied to the index, `zero` to what was looked up.
Case embedding(bool mask, bool zero) {
  return {kLookUp,
          each(2,
               [&](std::size_t rank) {
                 const std::string low = std::to_string(8 * rank);
                 const std::string high = std::to_string(8 * rank + 8);
                 return "in ids: i64[3]\nin E: f32[8, 4]\n"
                        "a = aten.lt.Scalar(%ids, " +
                        low + "): b8[3]\n" + "b = aten.ge.Scalar(%ids, " + high + "): b8[3]\n" +
                        "m = aten.logical_or.default(%a, %b): b8[3]\n" + "l = aten.sub.Tensor(%ids, " + low +
                        "): i64[3]\n" + "k = aten.masked_fill.Scalar(%l, %m, 0): i64[3]\n" +
                        "e = aten.embedding.default(%E, " + (mask ? "%k" : "%l") +
                        "): f32[3, 4] // rank.py:1\n" + "n = aten.unsqueeze.default(%m, -1): b8[3, 1]\n" +
                        "p = aten.masked_fill.Scalar(%e, %n, 0): f32[3, 4]\n" +
                        "y = _c10d_functional.all_reduce.default(" + (zero ? "%p" : "%e") +
                        ", \"sum\", \"tp\"): f32[3, 4]\nout y";
               }),
          "inputs:\n  ids: Replicate\n  E: Shard(0)\nexpect:\n  y: Replicate\n", "", ""};
}

TEST_CASE("a sharded embedding needs its ids masked") {
  const Verdict right = verdict(embedding(true, true));
  CHECK(right.kind == VerdictKind::refines);
  CHECK(only_output(right).relations == Strings{"r0.y"});
  CHECK(right.obligations == Strings{});
  CHECK(has(right.assumptions, "every look-up of the sequential program is in range"));

  // The equality holds, since what is outside of a table counts as 0; the look-ups may still fail.
  for (const bool zero : {true, false}) {
    const Verdict wrong = verdict(embedding(false, zero));
    CHECK(wrong.kind == VerdictKind::unproved);
    CHECK_FALSE(wrong.failing);
    CHECK(only_output(wrong).ok);
    CHECK(wrong.obligations == Strings{open_text(0, "e", 7), open_text(1, "e", 7)});
  }
  // Masked ids look up row 0, which is not 0.
  const Verdict not_zero = verdict(embedding(true, false));
  CHECK(not_zero.kind == VerdictKind::unproved);
  CHECK(not_zero.failing->at.tensor == "y");
  CHECK(not_zero.obligations == Strings{});
}

TEST_CASE("a mask that is one off") {
  for (const auto& [from, to] : {std::pair("ge.Scalar(%ids, 8)", "ge.Scalar(%ids, 9)"),
                                 std::pair("ge.Scalar(%ids, 8)", "ge.Scalar(%ids, 7)"),
                                 std::pair("lt.Scalar(%ids, 0)", "lt.Scalar(%ids, 1)")}) {
    Case test = embedding(true, true);
    test.ranks[0] = replaced(test.ranks[0], from, to);
    CAPTURE(std::string(to));
    CHECK(outcome(test) == "unproved");
  }
}

TEST_CASE("a range that is assumed may close the look-ups") {
  Case test = embedding(false, true);
  test.manifest = "assume: [\"ids in [0, 8)\"]\n" + test.manifest;
  const Verdict first = verdict(test);
  CHECK(first.kind == VerdictKind::unproved);
  CHECK(first.obligations == Strings{open_text(1, "e", 7)});
  CHECK(has(first.assumptions, "ids in [0, 8)"));

  test = {kLookUp, copies(2, replaced(kLookUp, "model.py", "rank.py")),
          "inputs:\n  ids: Replicate\n  E: Replicate\nexpect:\n  y: Replicate\n", "", ""};
  CHECK(outcome(test) == "refines");  // what the sequential program looks up, the ranks may
  test.ranks[0] = replaced(test.ranks[0], "out y",
                           "z = aten.add.Tensor(%ids, 1): i64[3]\n"
                           "u = aten.embedding.default(%E, %z): f32[3, 4] // rank.py:1\nout y");
  CHECK(verdict(test).obligations == Strings{open_text(0, "u", 15)});
  test.manifest = "assume: [\"ids in [0, 15)\"]\n" + test.manifest;
  CHECK(outcome(test) == "refines");
}

TEST_CASE("other look-ups") {
  Case test{"in x: f32[3, 16]\nin i: i64[3, 1]\ny = aten.gather.default(%x, 1, %i): f32[3, 1]\nout y",
            each(2,
                 [](std::size_t rank) {
                   return "in x: f32[3, 8]\nin i: i64[3, 1]\nl = aten.sub.Tensor(%i, " +
                          std::to_string(8 * rank) +
                          "): i64[3, 1]\ng = aten.gather.default(%x, 1, %l): f32[3, 1]\n" +
                          "y = _c10d_functional.all_reduce.default(%g, \"sum\", \"tp\"): f32[3, 1]\nout y";
                 }),
            "inputs:\n  x: Shard(1)\n  i: Replicate\nexpect:\n  y: Replicate\n", "", ""};
  CHECK(outcome(test) == "unproved");
  CHECK(verdict(test).obligations.size() == 2);
  test = {
      "in x: f32[16, 4]\nin i: i64[3]\nin v: f32[3, 4]\n"
      "y = aten.index_put.default(%x, [%i], %v, true): f32[16, 4]\nout y",
      each(2,
           [](std::size_t rank) {
             return "in x: f32[8, 4]\nin i: i64[3]\nin v: f32[3, 4]\nl = aten.sub.Tensor(%i, " +
                    std::to_string(8 * rank) +
                    "): i64[3]\ny = aten.index_put.default(%x, [%l], %v, true): f32[8, 4]\nout y";
           }),
      "inputs:\n  x: Shard(0)\n  i: Replicate\n  v: Replicate\nexpect:\n  y: Shard(0)\n", "", ""};
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("an index that counts from the end is not outside of the table") {
  const auto program = [](const std::string& index, const std::string& result) {
    return "in x: f32[4, 3]\nin i: i64[2]\n" + index + "y = " + result + ": f32[2, 3]\nout y";
  };
  const std::string zeros = program("", "aten.full.default([2, 3], 0.0)");
  const std::string end = "k = aten.full.default([2], -1): i64[2]\n";
  const std::string ranges = "assume: [\"i in [-4, 0)\"]\n";
  const std::string inputs = "inputs:\n  x: Replicate\n  i: Replicate\nexpect:\n  y: Replicate\n";
  Case test{program(end, "aten.index.Tensor(%x, [%k])"), copies(2, zeros), inputs, "", ""};
  CHECK(outcome(test) == "unproved");
  test.ranks = copies(2, program(replaced(end, "-1", "3"), "aten.index.Tensor(%x, [%k])"));
  CHECK(outcome(test) == "refines");
  test = {program("", "aten.index.Tensor(%x, [%i])"), copies(2, zeros), ranges + inputs, "", ""};
  CHECK(outcome(test) == "unproved");
  test.ranks = copies(2, program("j = aten.add.Scalar(%i, 4): i64[2]\n", "aten.index.Tensor(%x, [%j])"));
  CHECK(outcome(test) == "refines");
  const std::string put =
      "v = aten.ones_like.default(%x): f32[4, 3]\nw = aten.slice.Tensor(%v, 0, 0, 2): f32[2, 3]\n"
      "p = aten.index_put.default(%x, [%i], %w, true): f32[4, 3]\n";
  test = {program(put, "aten.slice.Tensor(%p, 0, 0, 2)"),
          copies(2, program("", "aten.slice.Tensor(%x, 0, 0, 2)")), ranges + inputs, "", ""};
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("nothing rests on a look-up that is never in range") {
  Case test{
      "in E: f32[4, 3]\nin i: i64[2]\ny = aten.embedding.default(%E, %i): f32[2, 3] // model.py:1\nout y",
      copies(2, "in E: f32[4, 3]\nin i: i64[2]\ny = aten.full.default([2, 3], 0.0): f32[2, 3]\nout y"),
      "assume: [\"i in [4, 9)\"]\ninputs:\n  E: Replicate\n  i: Replicate\nexpect:\n  y: Replicate\n", "",
      ""};
  const Verdict above = verdict(test);
  CHECK(above.kind == VerdictKind::unproved);
  CHECK(above.obligations == Strings{"the sequential program: the look-up `y` (aten.embedding.default, "
                                     "model.py:1) is never in range 0..3"});
  test.manifest = replaced(test.manifest, "[4, 9)", "[-3, 0)");
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("targets that do not count may be outside of the table") {
  const auto program = [](int rows, const std::string& loss, const std::string& more = "") {
    const std::string n = std::to_string(rows);
    return "in x: f32[" + n + ", 7]\nin t: i64[" + n + "]\nn = aten.nll_loss_forward.default(%x, %t, null, " +
           loss +
           "): (f32[], f32[])\nl = operator.getitem(%n, 0): f32[]\nw = operator.getitem(%n, 1): f32[]\n" +
           (more.empty() ? "out l" : more);
  };
  const std::string replicated = "inputs:\n  x: Replicate\n  t: Replicate\nexpect:\n  l: Replicate\n";
  Case test{program(4, "1, -100"), copies(2, program(4, "1, -100")), replicated, "", ""};
  CHECK(outcome(test) == "refines");
  test.ranks = copies(2, program(4, "1, -1"));
  CHECK(outcome(test) == "unproved");
  test.manifest = "assume: [\"t in [0, 7)\"]\n" + replicated;
  CHECK(outcome(test) == "refines");
  // The mean of the ranks' means is the mean only where all targets count.
  test.ranks = copies(
      2, program(2, "1, -100", "r = _c10d_functional.all_reduce.default(%l, \"avg\", \"tp\"): f32[]\nout r"));
  const std::string sharded = "inputs:\n  x: Shard(0)\n  t: Shard(0)\nexpect:\n  l: [r0.r, r1.r]\n";
  test.manifest = sharded;
  CHECK(outcome(test) == "unproved");
  test.manifest = "assume: [\"t in [0, 7)\"]\n" + sharded;
  CHECK(outcome(test) == "refines");
  // The sum of the ranks' sums, over how many count, is the mean whatever the targets.
  test.ranks = copies(2, program(2, "2, -100",
                                 "s = _c10d_functional.all_reduce.default(%l, \"sum\", \"tp\"): f32[]\n"
                                 "k = _c10d_functional.all_reduce.default(%w, \"sum\", \"tp\"): f32[]\n"
                                 "r = aten.div.Tensor(%s, %k): f32[]\nout r"));
  test.manifest = sharded;
  CHECK(outcome(test) == "refines");
}

TEST_CASE("a range of a sum is none of its terms") {
  Case test{"in x: i64[4]\ny = aten.clone.default(%x): i64[4]\nout y",
            copies(2,
                   "in x: i64[4]\nm = aten.ge.Scalar(%x, 8): b8[4]\n"
                   "y = aten.masked_fill.Scalar(%x, %m, 0): i64[4]\nout y"),
            "assume: [\"x in [0, 8)\"]\ninputs:\n  x: Replicate\nexpect:\n  y: Replicate\n", "", ""};
  CHECK(outcome(test) == "refines");
  test.manifest = replaced(test.manifest, "Replicate", "Partial");
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("a range of a part is none of the whole") {
  Case test{
      "in ids: i64[4]\nin E: f32[16, 2]\ny = aten.embedding.default(%E, %ids): f32[4, 2]\nout y",
      {"in ids: i64[6]\nin E: f32[16, 2]\ne = aten.embedding.default(%E, %ids): f32[6, 2] // rank.py:1\n"
       "y = aten.slice.Tensor(%e, 0, 0, 4): f32[4, 2]\nout y"},
      "assume: [\"ids in [0, 16)\"]\ninputs:\n  ids: \"slice(r0.ids; 0, 0, 4)\"\n  E: r0.E\nexpect:\n  y: "
      "r0.y\n",
      "",
      ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::unproved);
  CHECK(result.obligations == Strings{open_text(0, "e", 15)});
  test.manifest = replaced(test.manifest, "assume: [", "assume: [\"r0.ids in [0, 16)\", ");
  CHECK(verdict(test).obligations == Strings{});
  // Slices that together are everything say something of everything.
  test.sequential = replaced(replaced(test.sequential, "[4]", "[6]"), "[4, 2]", "[6, 2]");
  test.ranks[0] = replaced(test.ranks[0], "\nout y", "\nout e");
  test.manifest =
      "assume: [\"ids in [0, 16)\"]\ninputs:\n"
      "  ids: \"concat(slice(r0.ids; 0, 3, 6), slice(r0.ids; 0, 0, 3); 0)\"\n  E: r0.E\n";
  const Verdict whole = verdict(test);
  CHECK(whole.kind == VerdictKind::refines);
  CHECK(only_output(whole).relations == Strings{"concat(slice(r0.e; 0, 3, 6), slice(r0.e; 0, 0, 3); 0)"});
  CHECK(only_output(whole).notes == Strings{"permuted: the ranks hold its elements in another order"});
}

}  // namespace
}  // namespace entangle::infer::test
