// What a report says of programs that are wrong in a way that everybody knows: which tensor of the ranks is
// almost the right one, and what it lacks.
#include <doctest/doctest.h>

#include <string>

#include "world.h"

namespace entangle::infer {

using namespace test;
using Strings = std::vector<std::string>;

namespace {

std::string number(std::size_t n) {
  return std::to_string(n);
}

// y = bias + x w (and a residual), the rows of w spread over the ranks. `rank` is what each does with its
// operands.
Case row_parallel(std::size_t ranks, const std::string& sequential, const std::string& rank) {
  const std::string columns = number(2 * ranks);
  return {
      "in x: f32[4, " + columns + "]\nin w: f32[" + columns + ", 3]\nin b: f32[3]\nin z: f32[4, 3]\n" +
          sequential + "\nout y",
      copies(ranks, "in x: f32[4, 2]\nin w: f32[2, 3]\nin b: f32[3]\nin z: f32[4, 3]\n" + rank + "\nout y"),
      "inputs:\n  x: Shard(1)\n  w: Shard(0)\n  b: Replicate\n  z: Replicate\nexpect:\n  y: Replicate\n", "",
      ""};
}

const char* const kLinear = "y = aten.addmm.default(%b, %x, %w): f32[4, 3] // model.py:7";
const char* const kResidual =
    "p = aten.mm.default(%x, %w): f32[4, 3]\ny = aten.add.Tensor(%p, %z): f32[4, 3] // model.py:7";

std::string reduced(const std::string& name, const std::string& of, const std::string& op = "sum") {
  return name + " = _c10d_functional.all_reduce.default(%" + of + ", \"" + op +
         "\", \"tp\"): f32[4, 3] // tp.py:8";
}

// What is said of where it fails.
Strings hints(const Case& test) {
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::unproved);
  REQUIRE(result.failing);
  Strings said = result.failing->hints;
  said.insert(said.begin(), result.failing->reason);
  return said;
}

}  // namespace

TEST_CASE("a missing all-reduce with a bias") {
  for (const std::size_t ranks : {2, 3}) {
    const std::string others = ranks == 2 ? "`r1.p`" : "`r1.p` and `r2.p`";
    const Strings said = hints(row_parallel(
        ranks, kLinear,
        "p = aten.mm.default(%x, %w): f32[4, 3]\ny = aten.add.Tensor(%p, %b): f32[4, 3] // tp.py:7"));
    CHECK(has(said, "`r0.y` (tp.py:7) is `y` without " + others + ": is an all-reduce of `p` missing?"));
    // The bias is added by the same operator.
    const Strings fused = hints(row_parallel(ranks, kLinear, kLinear));
    const std::string inside = ranks == 2 ? "`r1.y`" : "`r1.y` and `r2.y`";
    CHECK(has(fused, "`r0.y` (model.py:7) is `y` without what is added up in " + inside +
                         ": is an all-reduce missing?"));
  }
}

TEST_CASE("a bias or a residual that every rank adds before the all-reduce") {
  for (const std::size_t ranks : {2, 3}) {
    const std::string more = ranks == 2 ? "" : "2 times ";
    CHECK(has(
        hints(row_parallel(ranks, kLinear,
                           "p = aten.addmm.default(%b, %x, %w): f32[4, 3]\n" + reduced("y", "p"))),
        "`r0.y` (tp.py:8) is `y` plus " + more + "`r0.b`: is it added on every rank, before an all-reduce?"));
    CHECK(has(
        hints(
            row_parallel(ranks, kResidual,
                         "p = aten.mm.default(%x, %w): f32[4, 3]\nq = aten.add.Tensor(%p, %z): f32[4, 3]\n" +
                             reduced("y", "q"))),
        "`r0.y` (tp.py:8) is `y` plus " + more + "`r0.z`: is it added on every rank, before an all-reduce?"));
  }
}

TEST_CASE("a residual that is left out") {
  CHECK(has(hints(row_parallel(2, kResidual, "p = aten.mm.default(%x, %w): f32[4, 3]\n" + reduced("y", "p"))),
            "`r0.y` (tp.py:8) is `y` without `r0.z`"));
}

TEST_CASE("another reduction than the sum") {
  const std::string sequential = "y = aten.mm.default(%x, %w): f32[4, 3]";
  for (const std::size_t ranks : {2, 3}) {
    const Strings average = hints(row_parallel(
        ranks, sequential, "p = aten.mm.default(%x, %w): f32[4, 3]\n" + reduced("y", "p", "avg")));
    CHECK(has(average,
              "`r0.y` (tp.py:8) is 1/" + number(ranks) + " of `y`: it reduces with `avg`, is `sum` meant?"));
    for (const std::string& said : average) {
      CHECK(said.find("missing") == std::string::npos);
    }
    // Of an operand.
    const Strings largest =
        hints(row_parallel(ranks, kResidual,
                           "p = aten.mm.default(%x, %w): f32[4, 3]\n" + reduced("q", "p", "max") +
                               "\ny = aten.add.Tensor(%q, %z): f32[4, 3]"));
    REQUIRE(largest.size() == 2);
    CHECK(largest[1].starts_with("`p` is the sum add_n("));
    CHECK(largest[1].ends_with(", which `r0.q` (tp.py:8) reduces with `max`: is `sum` meant?"));
  }
}

TEST_CASE("one all-reduce too many") {
  const Strings said = hints(row_parallel(
      2, "y = aten.mm.default(%x, %w): f32[4, 3]",
      "p = aten.mm.default(%x, %w): f32[4, 3]\n" + reduced("q", "p") + "\n" + reduced("y", "q")));
  CHECK(said ==
        Strings{"it is `r0.q` (tp.py:8), which is no output of rank 0; the output `r0.y` is computed from it",
                "`r0.y` (tp.py:8) is 2 times `y`: is it added up once too often?"});
}

TEST_CASE("a manifest that says Partial of an input") {
  Case test = row_parallel(2, "y = aten.exp.default(%z): f32[4, 3]", "y = aten.exp.default(%z): f32[4, 3]");
  test.manifest = replaced(test.manifest, "z: Replicate", "z: Partial");
  CHECK(hints(test) ==
        Strings{"no way was found to put it together from tensors of the ranks",
                "`z` is a sum of the ranks' inputs by the manifest (add_n(r0.z, r1.z)): is that meant?"});
}

TEST_CASE("a sum that nobody adds up") {
  CHECK(hints(row_parallel(2, "y = aten.mm.default(%x, %w): f32[4, 3]",
                           "y = aten.mm.default(%x, %w): f32[4, 3]")) ==
        Strings{"only as a sum over ranks: is an all-reduce missing?"});
}

TEST_CASE("operators under a name that no rule has") {
  const std::string right = "p = aten.mm.default(%x, %w): f32[4, 3]\n" + reduced("y", "p");
  for (const char* const name : {"aten.mm", "aten::mm", "torch.ops.aten.mm.default", "mm"}) {
    const Strings said = hints(row_parallel(2, "y = " + std::string(name) + "(%x, %w): f32[4, 3]", right));
    CHECK(said.front() == "no rule describes `" + std::string(name) + "`; did you mean `aten.mm.default`?");
  }
  CHECK(hints(row_parallel(2, "y = mylib.qqqqqqq.zz(%x, %w): f32[4, 3]", right)).front() ==
        "no rule describes `mylib.qqqqqqq.zz`");
  // Of the ranks.
  const Strings said = hints(row_parallel(
      2, kResidual,
      "p = aten::mm(%x, %w): f32[4, 3]\n" + reduced("q", "p") + "\ny = aten.add.Tensor(%q, %z): f32[4, 3]"));
  CHECK(
      has(said, "nothing is known of `r0.p`: no rule describes `aten::mm`; did you mean `aten.mm.default`?"));
}

TEST_CASE("of constants it is said what they are") {
  for (const char* const value : {"[1, 2, 3]", "[2, 2, 2]"}) {
    const std::string program =
        "in x: f32[3]\nk = constant(; value=[1, 2, 4]): f32[3]\n"
        "y = aten.add.Tensor(%x, %k): f32[3]\nout y";
    const Verdict result = verdict({replaced(program, "[1, 2, 4]", value),
                                    {program},
                                    "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n",
                                    "",
                                    ""});
    CHECK(result.kind == VerdictKind::unproved);
    REQUIRE(result.failing);
    REQUIRE(result.failing->operands.size() == 2);
    CHECK(result.failing->operands[1].tensor == "k");
    CHECK(result.failing->operands[1].relations.size() == 1);
  }
}

TEST_CASE("a collective that is not understood is no missing one") {
  for (const char* const op : {"SUM", "bxor"}) {
    const Strings said =
        hints(row_parallel(2, "y = aten.mm.default(%x, %w): f32[4, 3]",
                           "p = aten.mm.default(%x, %w): f32[4, 3]\n" + reduced("y", "p", op)));
    REQUIRE(said.size() == 2);
    CHECK(said[1].starts_with("nothing is known of `r0.y` (tp.py:8): "));
  }
}

}  // namespace entangle::infer
