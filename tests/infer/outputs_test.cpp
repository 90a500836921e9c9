// What a relation of an output may be: a rearrangement of the ranks' outputs that uses each element once.
#include <doctest/doctest.h>

#include "world.h"

namespace entangle::infer::test {
namespace {

using Strings = std::vector<std::string>;

// y = x w over the contracted axis: each rank has a term of the sum.
Case partial_product() {
  return {"in x: f32[4, 8]\nin w: f32[8, 6]\ny = aten.mm.default(%x, %w): f32[4, 6] // model.py:1\nout y",
          copies(2, "in x: f32[4, 4]\nin w: f32[4, 6]\ny = aten.mm.default(%x, %w): f32[4, 6]\nout y"),
          "inputs:\n  x: Shard(1)\n  w: Shard(0)\n", "", ""};
}

TEST_CASE("a partial sum is no relation of an output unless it is expected") {
  Case test = partial_product();
  const Verdict without = verdict(test);
  CHECK(without.kind == VerdictKind::unproved);
  CHECK_FALSE(only_output(without).ok);
  CHECK(only_output(without).relations == Strings{"add_n(r0.y, r1.y)"});
  CHECK(only_output(without).notes == Strings{"only as a sum over ranks: is an all-reduce missing?"});
  REQUIRE(without.failing);
  CHECK(without.failing->at.tensor == "y");
  CHECK(without.failing->reason == "only as a sum over ranks: is an all-reduce missing?");

  const std::string manifest = test.manifest;
  for (const char* expect : {"Partial", "\"add_n(r0.y, r1.y)\"", "\"sum(r1.y, r0.y)\""}) {
    test.manifest = manifest + "expect:\n  y: " + expect + "\n";
    const Verdict with = verdict(test);
    CAPTURE(std::string(expect));
    CHECK(with.kind == VerdictKind::refines);
    CHECK(only_output(with).ok);
    CHECK(only_output(with).notes == Strings{});
    CHECK(only_output(with).relations == Strings{"add_n(r0.y, r1.y)"});
  }
  for (const char* expect : {"Replicate", "r0.y", "Shard(0)", "[Partial, r0.y]"}) {
    test.manifest = manifest + "expect:\n  y: " + expect + "\n";
    CAPTURE(std::string(expect));
    CHECK(outcome(test) == "unproved");
  }
}

TEST_CASE("a sum that lacks the term of a rank is not the partial sum expected") {
  const std::string rank = "in x: f32[4]\ny = aten.clone.default(%x): f32[4]\nout y";
  Case test{rank, copies(3, rank), "inputs:\n  x: Partial\nexpect:\n  y: Partial\n", "", ""};
  CHECK(outcome(test) == "refines");
  test.ranks[2] = replaced(rank, "clone.default(%x)", "zeros_like.default(%x)");
  CHECK(outcome(test) == "unproved");
  test.ranks[2] = rank;
  test.manifest = "inputs:\n  x: Partial\nexpect:\n  y: \"add_n(r0.y, r1.y)\"\n";
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("an intermediate that holds the right value does not help the user") {
  Case test{"in x: f32[4, 8]\nin w: f32[8, 6]\ny = aten.mm.default(%x, %w): f32[4, 6] // model.py:1\nout y",
            copies(2,
                   "in x: f32[4, 8]\nin w: f32[8, 6]\nh = aten.mm.default(%x, %w): f32[4, 6]\n"
                   "y = aten.relu.default(%h): f32[4, 6]\nout y"),
            "inputs:\n  x: Replicate\n  w: Replicate\n", "", ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::unproved);
  CHECK(only_output(result).relations == Strings{"r0.h"});
  CHECK(only_output(result).notes ==
        Strings{"it is `r0.h`, which is no output of rank 0; the output `r0.y` is computed from it"});
  CHECK(result.failing->at.tensor == "y");

  const std::string manifest = test.manifest;
  test.manifest = manifest + "expect:\n  y: r0.h\n";
  const Verdict expected = verdict(test);
  CHECK(expected.kind == VerdictKind::unproved);
  REQUIRE(only_output(expected).expectations.size() == 1);
  CHECK_FALSE(only_output(expected).expectations[0].holds);
  CHECK(only_output(expected).notes.front() ==
        "`r0.h` holds, but it names a tensor that is no output of its rank");

  // Of an intermediate tensor of the sequential program it is a relation.
  test.sequential = replaced(test.sequential, "out y", "z = aten.exp.default(%y): f32[4, 6]\nout z");
  CHECK(outcome(test) == "refines");
  test.manifest = manifest + "outputs: [y]\n";
  CHECK(outcome(test) == "refines");
}

TEST_CASE("an output may not use an element twice") {
  Case test{"in x: f32[4]\ny = aten.cat.default([%x, %x], 0): f32[8]\nout y",
            {"in x: f32[4]\nz = aten.clone.default(%x): f32[4]\nout z"},
            "inputs:\n  x: r0.x\n",
            "",
            ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::unproved);
  CHECK(only_output(result).notes ==
        Strings{"only by using an element of the ranks' outputs more than once"});

  test.manifest = "inputs:\n  x: r0.x\nexpect:\n  y: \"concat(r0.z, r0.z; 0)\"\n";
  const Verdict expected = verdict(test);
  CHECK(expected.kind == VerdictKind::unproved);
  CHECK_FALSE(only_output(expected).expectations[0].holds);
  CHECK(only_output(expected).notes.front() ==
        "`concat(r0.z, r0.z; 0)` holds, but it uses an element more than once");

  // Slices of one output that do not meet use each element once.
  test.sequential =
      "in x: f32[4]\na = aten.slice.Tensor(%x, 0, 2, 4): f32[2]\n"
      "b = aten.slice.Tensor(%x, 0, 0, 2): f32[2]\ny = aten.cat.default([%a, %b], 0): f32[4]\nout y";
  test.manifest = "inputs:\n  x: r0.x\n";
  CHECK(only_output(verdict(test)).relations ==
        Strings{"concat(slice(r0.z; 0, 2, 4), slice(r0.z; 0, 0, 2); 0)"});
  CHECK(outcome(test) == "refines");
  // Slices that overlap do not.
  test.sequential = replaced(test.sequential, "%x, 0, 0, 2", "%x, 0, 1, 3");
  CHECK(outcome(test) == "unproved");

  // Two ranks' replicas are two tensors, though equal; and an intermediate may repeat an element.
  test.sequential = "in x: f32[4]\ny = aten.cat.default([%x, %x], 0): f32[8]\nout y";
  test.manifest = "inputs:\n  x: Replicate\nexpect:\n  y: \"concat(r0.z, r1.z; 0)\"\n";
  test.ranks = copies(2, test.ranks[0]);
  CHECK(outcome(test) == "refines");
  test.ranks.pop_back();
  test.sequential = replaced(test.sequential, "out y", "z = aten.exp.default(%y): f32[8]\nout z");
  test.manifest = "inputs:\n  x: r0.x\nexpect:\n  y: \"concat(r0.x, r0.x; 0)\"\n";
  CHECK(outcome(test) == "refines");
}

TEST_CASE("sums of tensors that are not counterparts are computations") {
  const char* const kSum =
      "in p: f32[4]\nin q: f32[4]\ny = aten.add.Tensor(%p, %q): f32[4] // model.py:1\nout y";
  // Of one rank.
  Case test{kSum,
            {"in p: f32[4]\nin q: f32[4]\na = aten.relu.default(%p): f32[4]\nb = aten.exp.default(%q): "
             "f32[4]\nout a, b"},
            "",
            "",
            ""};
  test.sequential =
      "in p: f32[4]\nin q: f32[4]\na = aten.relu.default(%p): f32[4]\nb = aten.exp.default(%q): f32[4]\n"
      "y = aten.add.Tensor(%a, %b): f32[4]\nout y";
  for (const char* expect : {"", "expect:\n  y: \"add_n(r0.a, r0.b)\"\n"}) {
    test.manifest = std::string("inputs:\n  p: r0.p\n  q: r0.q\n") + expect;
    CAPTURE(std::string(expect));
    const Verdict result = verdict(test);
    CHECK(result.kind == VerdictKind::unproved);
    CHECK(result.failing->at.tensor == "y");
  }
  // Of different tensors of two ranks.
  test.ranks = {"in p: f32[4]\na = aten.relu.default(%p): f32[4]\nout a",
                "in q: f32[4]\nb = aten.exp.default(%q): f32[4]\nout b"};
  for (const char* expect : {"", "expect:\n  y: \"add_n(r0.a, r1.b)\"\n", "expect:\n  y: Partial\n"}) {
    test.manifest = std::string("inputs:\n  p: r0.p\n  q: r1.q\n") + expect;
    CAPTURE(std::string(expect));
    CHECK(outcome(test) != "refines");
  }
  // Where such a sum is found on other ways, an expectation does not make it a relation.
  test.sequential = "in p: f32[4]\nin q: f32[4]\ny = aten.add.Tensor(%p, %q): f32[4]\nout y";
  test.ranks = {"in p: f32[4]\na = aten.clone.default(%p): f32[4]\nout a",
                "in q: f32[4]\nb = aten.detach.default(%q): f32[4]\nout b"};
  test.manifest = "inputs:\n  p: r0.p\n  q: r1.q\nexpect:\n  y: \"add_n(r0.a, r1.b)\"\n";
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::unproved);
  CHECK(only_output(result).notes.front() ==
        "`add_n(r0.a, r1.b)` holds, but it adds tensors that are not counterparts of each other on different "
        "ranks");
  // The same place in the program makes counterparts, whatever the names.
  test.ranks[1] = replaced(test.ranks[1], "detach", "clone");
  CHECK(outcome(test) == "refines");
}

TEST_CASE("no scaling, no copies along an axis") {
  const std::string rank = "in x: f32[4]\ny = aten.clone.default(%x): f32[4]\nout y";
  Case test{"", copies(2, rank), "inputs:\n  x: Replicate\n", "", ""};
  for (const char* node : {"aten.mul.Tensor(%x, 2): f32[4]", "aten.neg.default(%x): f32[4]",
                           "aten.add.Tensor(%x, 1): f32[4]", "aten.expand.default(%x, [3, 4]): f32[3, 4]",
                           "aten.repeat.default(%x, [2]): f32[8]", "aten.tril.default(%x): f32[4]"}) {
    test.sequential = std::string("in x: f32[4]\ny = ") + node + "\nout y";
    CAPTURE(std::string(node));
    CHECK(outcome(test) == "unproved");
  }
  // Twice a replica would be the sum over the two ranks: not what the ranks hold, either.
  test.sequential = "in x: f32[4]\ny = aten.mul.Tensor(%x, 2): f32[4]\nout y";
  test.manifest = "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n";
  CHECK(outcome(test) == "unproved");
  test.manifest = "inputs:\n  x: Replicate\nexpect:\n  y: Partial\n";
  CHECK(outcome(test) == "refines");
  test.sequential = replaced(test.sequential, ", 2)", ", 3)");
  CHECK(outcome(test) == "unproved");
  test.sequential = replaced(test.sequential, ", 3)", ", 1.5)");
  CHECK(outcome(test) == "unproved");
  // An axis of size one copies nothing.
  test.manifest = "inputs:\n  x: Replicate\n";
  test.sequential = "in x: f32[4]\ny = aten.unsqueeze.default(%x, 0): f32[1, 4]\nout y";
  CHECK(only_output(verdict(test)).relations == Strings{"bcast(r0.y; [0], [1])"});
  CHECK(outcome(test) == "refines");
}

TEST_CASE("constants are padding") {
  Case test{
      "in x: f32[4]\nh = aten.relu.default(%x): f32[4]\n"
      "y = aten.constant_pad_nd.default(%h, [0, 2], 0): f32[6]\nout y",
      {"in x: f32[4]\nh = aten.relu.default(%x): f32[4]\nout h"},
      "inputs:\n  x: r0.x\n",
      "",
      ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::refines);
  CHECK(only_output(result).relations == Strings{"concat(r0.h, bcast(const(; 0, f32); [0], [2]); 0)"});
  test.ranks[0] = replaced(test.ranks[0], "relu", "exp");
  CHECK(outcome(test) == "unproved");
  test.ranks[0] =
      "in x: f32[4]\nh = aten.relu.default(%x): f32[4]\nk = aten.slice.Tensor(%h, 0, 0, 3): f32[3]\nout k";
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("a constant that the ranks do not return is no output of theirs") {
  Case test{"in x: f32[4]\ny = aten.zeros_like.default(%x): f32[4]\nout y",
            copies(2, "in x: f32[4]\ny = aten.ones_like.default(%x): f32[4]\nout y"),
            "inputs:\n  x: Replicate\n", "", ""};
  const Verdict other = verdict(test);
  CHECK(other.kind == VerdictKind::unproved);
  CHECK(only_output(other).notes == Strings{"it is a constant, which no output of the ranks holds"});
  test.ranks = copies(2, test.sequential);
  CHECK(outcome(test) == "refines");
  test.ranks = copies(2, "in x: f32[4]\ny = aten.sub.Tensor(%x, %x): f32[4]\nout y");
  CHECK(outcome(test) == "refines");
}

TEST_CASE("what is held by one rank only or in another order is said") {
  Case test{"in x: f32[4, 3]\ny = aten.relu.default(%x): f32[4, 3]\nout y",
            {"in x: f32[4, 3]\ny = aten.relu.default(%x): f32[4, 3]\nout y",
             "in x: f32[4, 3]\ny = aten.exp.default(%x): f32[4, 3]\nout y"},
            "inputs:\n  x: Replicate\n",
            "",
            ""};
  const Verdict one = verdict(test);
  CHECK(one.kind == VerdictKind::refines);
  CHECK(only_output(one).relations == Strings{"r0.y"});
  CHECK(only_output(one).notes == Strings{"held by rank 0 only"});
  test.manifest = "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n";
  const Verdict expected = verdict(test);
  CHECK(expected.kind == VerdictKind::unproved);
  REQUIRE(only_output(expected).expectations.size() == 2);
  CHECK(only_output(expected).expectations[0].holds);
  CHECK_FALSE(only_output(expected).expectations[1].holds);

  const std::string half = "in x: f32[2, 3]\ny = aten.relu.default(%x): f32[2, 3]\nout y";
  test.ranks = copies(2, half);
  test.manifest = "inputs:\n  x: Shard(0)\n";
  CHECK(only_output(verdict(test)).notes == Strings{});
  test.manifest = "inputs:\n  x: \"concat(r1.x, r0.x; 0)\"\n";
  const Verdict swapped = verdict(test);
  CHECK(swapped.kind == VerdictKind::refines);
  CHECK(only_output(swapped).relations == Strings{"concat(r1.y, r0.y; 0)"});
  CHECK(only_output(swapped).notes == Strings{"permuted: the ranks hold its elements in another order"});
  test.manifest += "expect:\n  y: Shard(0)\n";
  CHECK(outcome(test) == "unproved");

  test.sequential = "in x: f32[4, 3]\ny = aten.flip.default(%x, [0]): f32[4, 3]\nout y";
  test.ranks = copies(2, "in x: f32[4, 3]\ny = aten.clone.default(%x): f32[4, 3]\nout y");
  test.manifest = "inputs:\n  x: Replicate\n";
  CHECK(only_output(verdict(test)).notes ==
        Strings{"permuted: the ranks hold its elements in another order"});
}

TEST_CASE("every result of an output with several is in question") {
  Case test{"in x: f32[4]\ny = aten.split.Tensor(%x, 2): (f32[2], f32[2])\nout y",
            {"in x: f32[4]\na = aten.slice.Tensor(%x, 0, 0, 2): f32[2]\nb = aten.slice.Tensor(%x, 0, 2, 4): "
             "f32[2]\nout a, b"},
            "inputs:\n  x: r0.x\n",
            "",
            ""};
  const Verdict both = verdict(test);
  CHECK(both.kind == VerdictKind::refines);
  REQUIRE(both.outputs.size() == 2);
  CHECK(both.outputs[0].tensor == "y[0]");
  CHECK(both.outputs[0].relations == Strings{"r0.a"});
  CHECK(both.outputs[1].tensor == "y[1]");
  CHECK(both.outputs[1].relations == Strings{"r0.b"});
  test.ranks[0] = replaced(test.ranks[0], "out a, b", "out a");
  const Verdict first = verdict(test);
  CHECK(first.kind == VerdictKind::unproved);
  CHECK(first.outputs[0].ok);
  CHECK_FALSE(first.outputs[1].ok);
}

}  // namespace
}  // namespace entangle::infer::test
