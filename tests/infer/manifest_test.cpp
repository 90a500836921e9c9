// What the manifest says: outputs, expect, given, globs, meshes, ties and contradictions.
#include <doctest/doctest.h>

#include <tuple>

#include "world.h"

namespace entangle::infer::test {
namespace {

using Strings = std::vector<std::string>;

// The sequential program has one output more.
Case one_missing() {
  return {
      "in x: f32[4]\nh = aten.relu.default(%x): f32[4] // model.py:1\ny = aten.exp.default(%h): f32[4] // "
      "model.py:2\n"
      "z = aten.sin.default(%x): f32[4] // model.py:3\nout y, z",
      {"in x: f32[4]\nh = aten.relu.default(%x): f32[4]\ny = aten.exp.default(%h): f32[4]\nout y"},
      "inputs:\n  x: r0.x\n",
      "",
      ""};
}

TEST_CASE("without outputs and expect all outputs are in question") {
  const Verdict result = verdict(one_missing());
  CHECK(result.kind == VerdictKind::unproved);
  REQUIRE(result.outputs.size() == 2);
  CHECK(result.outputs[0].tensor == "y");
  CHECK(result.outputs[0].ok);
  CHECK(result.outputs[0].relations == Strings{"r0.y"});
  CHECK(result.outputs[1].tensor == "z");
  CHECK_FALSE(result.outputs[1].ok);
  CHECK(result.outputs[1].relations == Strings{});
  REQUIRE(result.failing);
  CHECK(result.failing->at.tensor == "z");
  CHECK(result.failing->at.loc == "model.py:3");
  CHECK(result.unrelated == Strings{});
}

TEST_CASE("outputs and expect together are in question, and nothing else decides") {
  Case test = one_missing();
  const std::string inputs = test.manifest;
  for (const char* more : {"outputs: [y]\n", "expect:\n  y: r0.y\n", "outputs: [\"[a-y]\"]\n"}) {
    test.manifest = inputs + more;
    CAPTURE(std::string(more));
    const Verdict result = verdict(test);
    CHECK(result.kind == VerdictKind::refines);
    CHECK(only_output(result).tensor == "y");
    CHECK(result.unrelated == Strings{"z"});
  }
  for (const char* more : {"outputs: [z]\n", "outputs: [z]\nexpect:\n  y: r0.y\n", "outputs: [\"*\"]\n"}) {
    test.manifest = inputs + more;
    CAPTURE(std::string(more));
    const Verdict result = verdict(test);
    CHECK(result.kind == VerdictKind::unproved);
    CHECK(result.failing->at.tensor == "z");
    CHECK(result.unrelated == Strings{});
  }
  test.manifest = inputs + "outputs: [h]\n";
  const Verdict intermediate = verdict(test);
  CHECK(intermediate.kind == VerdictKind::refines);
  CHECK(only_output(intermediate).relations == Strings{"r0.h"});
  test.manifest = inputs + "outputs: [w]\n";
  CHECK(outcome(test) == "relation/unknown-output");
}

TEST_CASE("what is expected must follow") {
  Case test = one_missing();
  test.manifest += "expect:\n  y: r0.h\n";
  const Verdict wrong = verdict(test);
  CHECK(wrong.kind == VerdictKind::unproved);
  CHECK(wrong.failing->at.tensor == "y");
  CHECK(wrong.failing->reason == "a relation was found, but not the expected one");
  REQUIRE(only_output(wrong).expectations.size() == 1);
  CHECK(only_output(wrong).expectations[0].expected == "r0.h");
  CHECK_FALSE(only_output(wrong).expectations[0].holds);
  CHECK(only_output(wrong).relations == Strings{"r0.y"});
  test.manifest = replaced(test.manifest, "r0.h", "[r0.y, r0.h]");  // all of a list
  CHECK(outcome(test) == "unproved");
  test.manifest = replaced(test.manifest, "[r0.y, r0.h]", "[r0.y, r0.y]");
  CHECK(outcome(test) == "refines");
}

TEST_CASE("given cuts the graph and is listed") {
  Case test{
      "in x: f32[4]\nh = mylib.a.default(%x): f32[4]\ny = aten.relu.default(%h): f32[4]\nout y",
      copies(2, "in x: f32[2]\nh = mylib.b.default(%x): f32[2]\ny = aten.relu.default(%h): f32[2]\nout y"),
      "inputs:\n  x: Shard(0)\n", "", ""};
  CHECK(outcome(test) == "unproved");
  test.manifest += "given:\n  h: Shard(0)\n";
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::refines);
  CHECK(only_output(result).relations == Strings{"concat(r0.y, r1.y; 0)"});
  REQUIRE_FALSE(result.assumptions.empty());
  CHECK(result.assumptions.front() == "given: h = Shard(0)");
  // Behind it an input needs no relation.
  test.manifest = "given:\n  h: Shard(0)\n";
  CHECK(outcome(test) == "refines");
  test.manifest = "given: {}\n";
  CHECK(outcome(test) == "relation/missing-relation");
}

TEST_CASE("contradictions are errors, not proofs") {
  const std::string rank =
      "in x: f32[4]\nc = aten.full.default([4], 1): f32[4]\nd = aten.full.default([4], 2): f32[4]\n"
      "h = mylib.b.default(%x): f32[4]\ny = aten.relu.default(%h): f32[4]\nout y";
  Case test{"in x: f32[4]\nh = mylib.a.default(%x): f32[4]\ny = aten.relu.default(%h): f32[4]\nout y",
            {rank},
            "",
            "",
            ""};
  for (const char* manifest :
       {"given:\n  h: [r0.c, r0.d]\n", "assume: [\"r0.c == r0.d\"]\ngiven:\n  h: r0.h\n",
        "assume: [\"r0.h == r0.c\", \"r0.h == r0.d\"]\ngiven:\n  h: r0.h\n",
        "given:\n  h: [r0.c, r0.h]\nassume: [\"r0.h == r0.d\"]\n"}) {
    test.manifest = std::string("inputs:\n  x: r0.x\n") + manifest;
    CAPTURE(std::string(manifest));
    CHECK(outcome(test) == "infer/contradiction");
  }
  // A sequential and a distributed constant.
  test.sequential =
      "in x: f32[4]\nk = aten.full.default([4], 3): f32[4]\ny = aten.add.Tensor(%x, %k): f32[4]\nout y";
  test.manifest = "assume: [\"k == r0.c\"]\ninputs:\n  x: r0.x\n";
  CHECK(outcome(test) == "infer/contradiction");

  // Sizes and ranges.
  const std::string sized = "in x: i64[\"s0\"]\ny = aten.add.Tensor(%x, 1): i64[\"s0\"]\nout y";
  test = {sized, copies(2, sized), "", "", ""};
  const auto with = [&](const std::string& assume) {
    test.manifest = "assume: [" + assume + "]\ninputs:\n  x: Replicate\n";
    return outcome(test);
  };
  CHECK(with("\"s0 == 4\"") == "refines");
  CHECK(with("\"s0 == 4\", \"s0 == 5\"") == "relation/contradiction");
  CHECK(with("\"s0 == 4\", \"r0.s0 == 5\"") != "refines");
  CHECK(with("\"x in [0, 4)\", \"x in [3, 8)\"") == "refines");
  CHECK(with("\"x in [0, 4)\", \"x in [6, 8)\"") == "infer/contradiction");
  CHECK(with("\"x in [0, 4)\", \"r1.x in [6, 8)\"") == "infer/contradiction");
  CHECK(with("\"x in [-9223372036854775808, 9223372036854775807]\"") == "refines");
  // The place is that of a range.
  with("\"s0 >= 2\", \"x in [6, 8)\", \"x in [0, 4)\"");
  const auto wrong = run(test);
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().span.line > 0);
  CHECK(wrong.error().message.find("`x in [") != std::string::npos);
}

TEST_CASE("ties") {
  const std::string sequential = "in a: f32[4]\nin b: f32[4]\ny = aten.sub.Tensor(%a, %b): f32[4]\nout y";
  const std::string rank = "in a: f32[4]\ny = aten.sub.Tensor(%a, %a): f32[4]\nout y";
  Case test{sequential, copies(2, rank), "", "", ""};
  for (const char* inputs :
       {"a: Replicate\n  b: [r0.a, r1.a]", "a: r0.a\n  b: r0.a", "a: r0.a\n  b: [r1.a, r0.a]"}) {
    CAPTURE(std::string(inputs));
    test.manifest = std::string("inputs:\n  ") + inputs + "\n";
    CHECK(outcome(test) == "relation/claimed-twice");
    test.manifest = "assume: [\"a == b\"]\n" + test.manifest;
    const Verdict assumed = verdict(test);
    CHECK(assumed.kind == VerdictKind::refines);
    CHECK(has(assumed.assumptions, "a == b"));
  }
  // A part that is claimed twice.
  test.sequential =
      "in a: f32[8]\nin b: f32[4]\ns = aten.slice.Tensor(%a, 0, 0, 4): f32[4]\n"
      "y = aten.sub.Tensor(%s, %b): f32[4]\nout y";
  test.manifest = "inputs:\n  a: Shard(0)\n  b: [r0.a, r1.a]\n";
  CHECK(outcome(test) == "relation/claimed-twice");
  test.manifest = "inputs:\n  a: \"concat(r0.a, r0.a; 0)\"\n  b: r1.a\n";
  CHECK(outcome(test) == "relation/used-twice");
}

// A weight in two blocks, the first of which two ranks hold: they work on thirds of the rest.
TEST_CASE("what two expressions for one input have in common is equal") {
  Case test{
      "in x: f32[6]\nin w: f32[4]\ne = aten.exp.default(%w): f32[4]\nf = aten.sin.default(%e): f32[4]\n"
      "a = aten.slice.Tensor(%f, 0, 0, 2): f32[2]\nb = aten.slice.Tensor(%f, 0, 2, 4): f32[2]\n"
      "c = aten.cat.default([%a, %a, %b], 0): f32[6]\ny = aten.mul.Tensor(%x, %c): f32[6]\nout y",
      copies(
          3,
          "in x: f32[2]\nin w: f32[2]\ne = aten.exp.default(%w): f32[2]\nf = aten.sin.default(%e): f32[2]\n"
          "y = aten.mul.Tensor(%x, %f): f32[2]\nout y"),
      "inputs:\n  x: Shard(0)\n  w: [\"concat(r0.w, r2.w; 0)\", \"concat(r1.w, r2.w; 0)\"]\n", "", ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::refines);
  CHECK(only_output(result).relations == Strings{"concat(r0.y, r1.y, r2.y; 0)"});
  // Only one of them says nothing of the other rank; in this order they would say that all blocks are equal.
  const std::string both = test.manifest;
  test.manifest = replaced(both, ", \"concat(r1.w, r2.w; 0)\"", "");
  CHECK(outcome(test) == "unproved");
  test.manifest = replaced(both, "concat(r1.w, r2.w; 0)", "concat(r2.w, r1.w; 0)");
  CHECK(outcome(test) == "relation/claimed-twice");
}

// Otherwise they would say of the program's values what the program does not.
TEST_CASE("all relations of an input give an element of a rank the same place") {
  const std::string product =
      "in x: f32[2, 4]\nin w: f32[4, 4]\n%sy = aten.mm.default(%x, %w1): f32[2, 4]\nout y";
  const std::string turned = "w1 = aten.t.default(%w): f32[4, 4]\n";
  Case test{replaced(replaced(product, "%s", ""), "%w1", "%w"), copies(2, replaced(product, "%s", turned)),
            "inputs:\n  x: Replicate\n  w: [r0.w, \"transpose(r0.w; [1, 0])\"]\nexpect:\n  y: r0.y\n", "",
            ""};
  CHECK(outcome(test) == "relation/claimed-twice");
  test.manifest = replaced(test.manifest, "[r0.w, \"transpose(r0.w; [1, 0])\"]", "Replicate");
  CHECK(outcome(test) == "unproved");
  // Likewise of what is assumed to be equal.
  test.sequential =
      "in x: f32[2, 4]\nin w: f32[4, 4]\nin v: f32[4, 4]\ny = aten.mm.default(%x, %w): f32[2, "
      "4]\nz = aten.mm.default(%x, %v): f32[2, 4]\nout y, z";
  test.manifest =
      "assume: [\"w == v\"]\ninputs:\n  x: Replicate\n  w: Replicate\n  v: \"transpose(r0.w; [1, 0])\"\n";
  CHECK(outcome(test) == "relation/claimed-twice");
}

TEST_CASE("listed numbers that are said to be equal are") {
  for (const auto& [type, one, other] :
       {std::tuple{"f32[4]", "[1, 2, 3, 4]", "[1, 2, 3, 5]"},
        std::tuple{"f32[2, 2]", "[[1, 2], [3, 4]]", "[[1, 2], [4, 3]]"},
        std::tuple{"i64[4]", "[7, 7, 7, 7]", "[7, 7, 7, 8]"}, std::tuple{"f32[]", "3", "5"}}) {
    CAPTURE(std::string(type));
    const auto program = [&, type = std::string(type)](const std::string& value) {
      return "in x: " + type + " | \"value\": " + value + "\nin t: " + type +
             "\ny = aten.mul.Tensor(%x, %t): " + type + "\nout y";
    };
    const std::string inputs = "inputs:\n  x: Replicate\n  t: Replicate\nexpect:\n  y: Replicate\n";
    Case test{program(one), {program(one), program(other)}, inputs, "", ""};
    CHECK(outcome(test) == "infer/contradiction");
    test.ranks = copies(2, program(other));
    CHECK(outcome(test) == "infer/contradiction");
    test.ranks = copies(2, program(one));
    CHECK(outcome(test) == "refines");
    test.sequential = program(other);
    test.manifest = replaced(inputs, "x: Replicate", "x: [r0.x, r1.x]");
    const auto error = run(test);
    REQUIRE(!error.ok());
    CHECK(error.error().id == "infer/contradiction");
    CHECK(error.error().span.line > 0);
  }
  // Of tensors that an assumption equates, and of one that is given.
  const std::string two =
      "in x: f32[3]\nc = constant(; value=[1, 2, 3]): f32[3]\nd = constant(; value=[3, 2, 1]): f32[3]\n"
      "h = mylib.a.default(%x): f32[3]\nu = aten.mul.Tensor(%h, %c): f32[3]\ny = aten.mul.Tensor(%u, %d): "
      "f32[3]\nout y";
  Case test{two, {two}, "assume: [\"c == d\"]\ninputs:\n  x: r0.x\n", "", ""};
  CHECK(outcome(test) == "infer/contradiction");
  test.manifest = "inputs:\n  x: r0.x\ngiven:\n  c: r0.d\n";
  CHECK(outcome(test) == "infer/contradiction");
  test.manifest = "inputs:\n  x: r0.x\ngiven:\n  c: r0.c\n";
  CHECK(outcome(test) == "refines");
}

// Nothing else can make such tensors equal.
TEST_CASE("an input that is related to constants is taken to be these") {
  // What the ranks hold, what the manifest says of x, and what is assumed then.
  struct Row {
    std::string ranks, relation;
    Strings assumptions;
  };
  const std::string placeholder = "in x: f32[4] | \"value\": [1, 2, 3, 4]\n";
  const std::string constant = "x = constant(; value=[1, 2, 3, 4]): f32[4]\n";
  const std::string half = "x = constant(; value=[1, 2]): f32[2]\n";
  for (const Row& row : {
           Row{placeholder, "Replicate", {"x is taken to be [1, 2, 3, 4], the value of r0.x"}},
           Row{constant, "Replicate", {"x is taken to be [1, 2, 3, 4], the value of r0.x"}},
           Row{constant, "r1.x", {"x is taken to be [1, 2, 3, 4], the value of r1.x"}},
           Row{"x = constant(; value=3): f32[4]\n", "r0.x", {"x is taken to be 3, the value of r0.x"}},
           Row{half,
               "Shard(0)",
               {"x is taken to be concat(r0.x, r1.x; 0), where r0.x is [1, 2] and r1.x is [1, 2]"}},
           Row{constant,
               "\"concat(slice(r0.x; 0, 0, 2), slice(r1.x; 0, 2, 4); 0)\"",
               {"x is taken to be concat(slice(r0.x; 0, 0, 2), slice(r1.x; 0, 2, 4); 0), where r0.x is [1, "
                "2, 3, 4] "
                "and r1.x is [1, 2, 3, 4]"}},
           // A part of it.
           Row{"in z: f32[2]\n" + half,
               "\"concat(r0.x, r1.z; 0)\"",
               {"x is taken to be concat(r0.x, r1.z; 0), where r0.x is [1, 2]"}},
           // Whatever else it is equal to.
           Row{"in z: f32[4]\n" + constant,
               "[r0.z, r1.x]",
               {"x is taken to be [1, 2, 3, 4], the value of r1.x"}},
           Row{"in x: f32[4]\n", "Replicate", {}},
       }) {
    CAPTURE(row.ranks);
    CAPTURE(row.relation);
    Case test{"in x: f32[4]\ny = aten.exp.default(%x): f32[4]\nout y",
              copies(2, row.ranks + "y = aten.exp.default(%x): f32[" +
                            (row.ranks.find("[1, 2]") == std::string::npos ? "4" : "2") + "]\nout y"),
              "inputs:\n  x: " + row.relation + "\n", "", ""};
    CHECK(verdict(test).assumptions == row.assumptions);
    // An input that has a value of its own is not taken to be anything.
    if (row.relation == "Replicate" && !row.assumptions.empty()) {
      test.sequential = placeholder + "y = aten.exp.default(%x): f32[4]\nout y";
      CHECK(verdict(test).assumptions.empty());
    }
  }
  // Long ones are not written out.
  std::string numbers = "0";
  for (int k = 1; k < 100; ++k) {
    numbers += ", " + std::to_string(k);
  }
  const Verdict long_one = verdict(
      {"in x: f32[100]\ny = aten.exp.default(%x): f32[100]\nout y",
       {"x = constant(; value=[" + numbers + "]): f32[100]\ny = aten.exp.default(%x): f32[100]\nout y"},
       "inputs:\n  x: r0.x\n",
       "",
       ""});
  CHECK(long_one.assumptions == Strings{"x is taken to be [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, "
                                        "15, 16, …], the value of r0.x"});
  CHECK(long_one.kind == VerdictKind::refines);
}

TEST_CASE("a lemma that equates tensors of different types is an error with its place") {
  const std::string rules =
      "include \"aten.rules\";\n"
      "op squash(x: tensor; alpha: scalar) { shape x.shape; dtype x.dtype; value i => x[i] * alpha; }\n"
      "lower lib.squash.default(x: tensor, alpha: scalar): squash(x; alpha);\n";
  const std::string program = "in x: f32[%n, 3]\ny = lib.squash.default(%x, 2): f32[%n, 3]\nout y";
  Case test{replaced(program, "%n", "4"), copies(2, replaced(program, "%n", "2")), "inputs:\n  x: Shard(0)\n",
            "", ""};
  for (const char* side :
       {"concat([squash(x; alpha) for x in xs]; 1)", "cast(concat([squash(x; alpha) for x in xs]; 0); bf16)",
        "slice(concat([squash(x; alpha) for x in xs]; 0); 0, 0, 1)",
        "transpose(concat([squash(x; alpha) for x in xs]; 0); [1, 0])"}) {
    CAPTURE(std::string(side));
    test.rules =
        rules + "lemma sq(xs: tensor+, alpha: scalar): squash(concat(xs; 0); alpha) => " + side + ";\n";
    const auto wrong = run(test);
    REQUIRE(!wrong.ok());
    CHECK(wrong.error().id == "infer/false-lemma");
    CHECK(wrong.error().span.line == 4);
    CHECK(wrong.error().message.find("the lemma `sq` is false") == 0);
  }
}

TEST_CASE("input relations name inputs only") {
  Case test{"in x: f32[4]\nh = aten.relu.default(%x): f32[4]\ny = aten.exp.default(%h): f32[4]\nout y",
            {"in x: f32[4]\nh = aten.relu.default(%x): f32[4]\ny = aten.exp.default(%h): f32[4]\nout y"},
            "inputs:\n  x: r0.h\n",
            "",
            ""};
  CHECK(outcome(test) == "relation/computed-leaf");
  test.manifest = "inputs:\n  x: \"concat(slice(r0.x; 0, 0, 2), slice(r0.y; 0, 2, 4); 0)\"\n";
  CHECK(outcome(test) == "relation/computed-leaf");
  test.manifest = "inputs:\n  x: r0.x\n  h: r0.x\n";
  CHECK(outcome(test) == "relation/not-an-input");
}

TEST_CASE("globs") {
  const auto layers = [](const std::string& n) {
    return "in x: f32[2, 4]\nin layers.0.w: f32[4, " + n + "]\nin layers.1.w: f32[4, " + n +
           "]\nin layers.0.b: f32[" + n + "]\nin layers.1.b: f32[" + n + "]\n" +
           "h0 = aten.mm.default(%x, %layers.0.w): f32[2, " + n + "]\n" +
           "h1 = aten.mm.default(%x, %layers.1.w): f32[2, " + n + "]\n" +
           "y0 = aten.add.Tensor(%h0, %layers.0.b): f32[2, " + n + "]\n" +
           "y1 = aten.add.Tensor(%h1, %layers.1.b): f32[2, " + n + "]\nout y0, y1";
  };
  Case test{layers("6"), copies(2, layers("3")),
            "inputs:\n  x: Replicate\n  \"layers.*.w\": Shard(1)\n  \"layers.?.b\": Shard(0)\nexpect:\n  "
            "\"y*\": Shard(1)\n",
            "", ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::refines);
  REQUIRE(result.outputs.size() == 2);
  CHECK(result.outputs[0].relations == Strings{"concat(r0.y0, r1.y0; 1)"});
  CHECK(result.outputs[1].relations == Strings{"concat(r0.y1, r1.y1; 1)"});
  // An exact name wins over globs.
  test.manifest += "  y1: Replicate\n";
  const Verdict exact = verdict(test);
  CHECK(exact.kind == VerdictKind::unproved);
  CHECK(exact.outputs[0].ok);
  CHECK_FALSE(exact.outputs[1].ok);
  test.manifest = replaced(test.manifest, "layers.*.w", "layer.*.w");
  CHECK(outcome(test) == "relation/no-match");
}

TEST_CASE("meshes") {
  Case test{"in x: f32[4, 8]\nin w: f32[8, 6]\ny = aten.mm.default(%x, %w): f32[4, 6]\nout y",
            copies(4, "in x: f32[2, 8]\nin w: f32[8, 3]\ny = aten.mm.default(%x, %w): f32[2, 3]\nout y"), "",
            "", ""};
  const std::string inputs =
      "mesh: {dp: 2, tp: 2}\ninputs:\n  x: {dp: Shard(0), tp: Replicate}\n"
      "  w: {dp: Replicate, tp: Shard(1)}\n";
  test.manifest = inputs + "expect:\n  y: {dp: Shard(0), tp: Shard(1)}\n";
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::refines);
  CHECK(only_output(result).relations.front() == "concat(concat(r0.y, r1.y; 1), concat(r2.y, r3.y; 1); 0)");
  REQUIRE(only_output(result).expectations.size() == 1);
  CHECK(only_output(result).expectations[0].expected ==
        "concat(concat(r0.y, r1.y; 1), concat(r2.y, r3.y; 1); 0)");
  for (const char* wrong : {"{dp: Shard(1), tp: Shard(0)}", "{dp: Shard(0), tp: Replicate}", "Shard(0)"}) {
    CAPTURE(std::string(wrong));
    test.manifest = inputs + "expect:\n  y: " + wrong + "\n";
    CHECK(outcome(test) == "unproved");
  }
  // The axes exchanged: the same ranks stand elsewhere.
  test.manifest = replaced(inputs, "mesh: {dp: 2, tp: 2}", "mesh: {tp: 2, dp: 2}");
  CHECK(only_output(verdict(test)).relations.front() ==
        "concat(concat(r0.y, r2.y; 1), concat(r1.y, r3.y; 1); 0)");
  // A partial sum along one axis only.
  test.sequential = "in x: f32[4, 8]\nin w: f32[8, 6]\ny = aten.mm.default(%x, %w): f32[4, 6]\nout y";
  test.ranks = copies(4, "in x: f32[2, 4]\nin w: f32[4, 6]\ny = aten.mm.default(%x, %w): f32[2, 6]\nout y");
  const std::string partial =
      "mesh: {dp: 2, tp: 2}\ninputs:\n  x: {dp: Shard(0), tp: Shard(1)}\n"
      "  w: {dp: Replicate, tp: Shard(0)}\n";
  test.manifest = partial + "expect:\n  y: {dp: Shard(0), tp: Partial}\n";
  CHECK(outcome(test) == "refines");
  test.manifest = partial + "expect:\n  y: {dp: Partial, tp: Shard(0)}\n";
  CHECK(outcome(test) == "unproved");
  test.manifest = partial;
  CHECK(outcome(test) == "unproved");
}

}  // namespace
}  // namespace entangle::infer::test
