// What nothing is known of: opaque operators, randomness, uninitialised memory, sizes of other ranks. (What
// operators change in place: changes_test.cpp.)
#include <doctest/doctest.h>

#include "world.h"

namespace entangle::infer::test {
namespace {

using Strings = std::vector<std::string>;

TEST_CASE("an operator without description is a function by a listed assumption") {
  const Verdict result = verdict(uses("mylib.f.default(%x; k=2)"));
  CHECK(result.kind == VerdictKind::refines);
  CHECK(result.assumptions == Strings{"taken as a pure function: mylib.f.default"});
  CHECK(result.opaque == Strings{"mylib.f.default"});
  // Of its attributes and operands.
  Case test = uses("mylib.f.default(%x; k=2)");
  test.ranks = copies(2, replaced(test.ranks[0], "k=2", "k=3"));
  CHECK(outcome(test) == "unproved");
  test.ranks = copies(2, replaced(test.sequential, "mylib.f", "mylib.g"));
  CHECK(outcome(test) == "unproved");
  // Nothing but equality follows: it does not work on shards.
  test.ranks = copies(2, replaced(test.sequential, "[4]", "[2]"));
  test.manifest = "inputs:\n  x: Shard(0)\n";
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("random, stateful and in-place operators block what depends on them") {
  for (const char* call :
       {"aten.rand_like.default(%x)", "aten.randn.default([4])", "aten.bernoulli.p(%x, 0.5)",
        "aten.rand.default([4]; seed=1)", "mylib.counter.default()", "mylib.norm_.default(%x)",
        "mylib.norm_(%x)", "_c10d_functional.my_exchange.default(%x, \"tp\")",
        "_c10d_functional.all_reduce.default(%x, \"bor\", \"tp\")"}) {
    CAPTURE(std::string(call));
    const Verdict result = verdict(uses(call));
    CHECK(result.kind == VerdictKind::unproved);
    REQUIRE(result.failing);
    CHECK(result.failing->reason.starts_with("nothing is known of this tensor"));
    CHECK(result.opaque.size() >= 1);
    CHECK(result.assumptions == Strings{});
  }
  const Verdict random = verdict(uses("aten.rand_like.default(%x)"));
  CHECK(random.failing->at.tensor == "r");
  CHECK(random.failing->at.loc == "model.py:1");
  CHECK(random.opaque == Strings{"aten.rand_like.default: `aten.rand_like.default` is random"});
}

// Equal constants are one term, but not one piece of memory.
TEST_CASE("a constant that is changed in place is not any other") {
  const std::string begin =
      "in x: f32[2, 3]\none = aten.ones_like.default(%x): f32[2, 3]\nm = aten.add.Tensor(%x, %one): f32[2, "
      "3]\n"
      "e = aten.empty_like.default(%x): f32[2, 3]\nf = aten.fill_.Scalar(%e, 1): f32[2, 3]\n"
      "v = aten.view.default(%one, [2, 3]): f32[2, 3]\n";
  const std::string end = "z = aten.exp.default(%s): f32[2, 3]\nout y, z";
  const auto outcome_of = [&](const std::string& changed, const std::string& used) {
    const std::string program = begin + "s = aten.sub_.Tensor(" + changed +
                                ", %x): f32[2, 3]\ny = aten.mul.Tensor(%m, " + used + "): f32[2, 3]\n" + end;
    return outcome({program, copies(2, program),
                    "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n  z: Replicate\n", "", ""});
  };
  CHECK(outcome_of("%f", "%one") == "refines");
  CHECK(outcome_of("%f", "%v") == "refines");
  CHECK(outcome_of("%v", "%f") == "refines");
  CHECK(outcome_of("%one", "%f") == "refines");
  for (const auto& [changed, used] :
       {std::pair{"%f", "%f"}, std::pair{"%f", "%e"}, std::pair{"%v", "%one"}, std::pair{"%one", "%v"},
        std::pair{"%v", "%v"}, std::pair{"%e", "%f"}}) {
    CAPTURE(std::string(changed) + " " + used);
    CHECK(outcome_of(changed, used) == "unproved");
  }
  // Views of other shapes are other constants.
  for (const auto& [view, type] :
       {std::pair{"aten.view.default(%one, [6])", "f32[6]"}, std::pair{"aten.t.default(%one)", "f32[3, 2]"},
        std::pair{"aten.expand.default(%one, [4, 2, 3])", "f32[4, 2, 3]"},
        std::pair{"aten.slice.Tensor(%one, 0, 0, 1)", "f32[1, 3]"},
        std::pair{"aten.select.int(%one, 0, 0)", "f32[3]"}}) {
    CAPTURE(std::string(view));
    const auto outcome_with = [&, view = std::string(view), type = std::string(type)](
                                  const std::string& changed, const std::string& of, const std::string& used,
                                  const std::string& result) {
      const std::string program = begin + "u = " + view + ": " + type + "\ns = aten.add_.Scalar(" + changed +
                                  ", 1): " + of + "\nz = aten.exp.default(" + used + "): " + result +
                                  "\nout z";
      return outcome(
          {program, copies(2, program), "inputs:\n  x: Replicate\nexpect:\n  z: Replicate\n", "", ""});
    };
    CHECK(outcome_with("%u", type, "%one", "f32[2, 3]") == "unproved");
    CHECK(outcome_with("%one", "f32[2, 3]", "%u", type) == "unproved");
    CHECK(outcome_with("%u", type, "%f", "f32[2, 3]") == "refines");
    CHECK(outcome_with("%f", "f32[2, 3]", "%u", type) == "refines");
  }
}

TEST_CASE("every random operator of aten blocks") {
  for (const char* call : {"aten.randint_like.default(%x, 3)",
                           "aten.randint_like.low_dtype(%x, 1, 3)",
                           "aten.uniform.default(%x, 0, 1)",
                           "aten.exponential.default(%x, 1)",
                           "aten.poisson.default(%x)",
                           "aten.normal_functional.default(%x)",
                           "aten.bernoulli.Tensor(%x, %x)",
                           "aten.binomial.default(%x, %x)",
                           "aten._standard_gamma.default(%x)",
                           "aten._sample_dirichlet.default(%x)",
                           "aten.cauchy.default(%x)",
                           "aten.geometric.default(%x, 0.5)",
                           "aten.log_normal.default(%x)",
                           "aten.normal.Tensor_float(%x)",
                           "aten.normal.float_Tensor(0, %x)",
                           "aten.normal.Tensor_Tensor(%x, %x)",
                           "aten.normal.float_float(0, 1, [4])",
                           "aten.random.default(%x)",
                           "aten.random.to(%x, 3)",
                           "aten.random.from(%x, 1, 3)",
                           "aten.alpha_dropout.default(%x, 0.5, true)",
                           "aten.feature_dropout.default(%x, 0.5, true)",
                           "aten.feature_alpha_dropout.default(%x, 0.5, true)",
                           "aten.rrelu.default(%x, 0.1, 0.3, true)",
                           "aten.rrelu_with_noise.default(%x, %x, 0.1, 0.3, true)",
                           "aten.rand.generator([4])",
                           "aten.randn.generator([4])",
                           "aten.randint.generator(3, [4])",
                           "aten.randint.low_generator(1, 3, [4])",
                           "aten.randperm.generator(4)"}) {
    CAPTURE(std::string(call));
    const Verdict result = verdict(uses(call));
    CHECK(result.kind == VerdictKind::unproved);
    CHECK(std::ranges::any_of(result.opaque,
                              [](const std::string& text) { return text.ends_with(" is random"); }));
  }
}

TEST_CASE("what is random for some arguments is no function for others") {
  for (const char* call : {"aten.bernoulli.p(%x, 0.5, 7, 8)", "aten.bernoulli.some_overload(%x)",
                           "aten.randint_like.Tensor(%x, %x)", "aten.normal.some_overload(%x, %x, %x)"}) {
    CAPTURE(std::string(call));
    const Verdict result = verdict(uses(call));
    CHECK(result.kind == VerdictKind::unproved);
    REQUIRE(result.opaque.size() == 1);
    CHECK(result.opaque[0].ends_with("is not described, but others of its name are random"));
  }
  // In place, too.
  const Verdict result =
      verdict(same("in x: f32[4]\nm = aten.bernoulli_.float(; self=%x, p=0.5): (f32[4], f32[4]) | "
                   "\"mutates\": [\"self\"]\n"
                   "y = operator.getitem(%m, 1): f32[4]\nout y"));
  CHECK(result.kind == VerdictKind::unproved);
  CHECK(outcome(uses("mylib.bernoulli.p(%x)")) == "refines");
}

TEST_CASE("what is called as a collective is no function of its operands") {
  const auto found = [](const std::string& call, const std::string& returned) {
    const std::string program =
        "in x: f32[4]\nc = " + call + ": f32[4]\ny = aten.relu.default(" + returned + "): f32[4]\nout y";
    const std::string sequential =
        returned == "%c" ? program : "in x: f32[4]\ny = aten.relu.default(%x): f32[4]\nout y";
    return outcome({sequential, copies(2, program), "inputs:\n  x: Replicate\n", "", ""});
  };
  for (const char* call :
       {"dist.all_reduce(%x)", "torch.distributed.all_reduce(%x)", "fairscale.all_reduce.default(%x)",
        "mylib.broadcast_.default(%x, 0)", "mylib::reduce_scatter_tensor(%x)", "c10d.gather.default(%x)",
        "_c10d_functional.all_reduce_twice.default(%x, \"sum\")",
        "_c10d_functional.all_reduce.default(%x, \"sum\", \"\", [0, 1], 2)",
        "c10d_functional.broadcast.default(%x, 0, \"\", [0, 1], 2)",
        "c10d_functional.all_reduce.default(%x, \"sum\", \"\", [0, 1], 1)",
        "c10d_functional.all_reduce.default(%x, \"premul_sum\", \"\", [0, 1], 2)"}) {
    CAPTURE(std::string(call));
    CHECK(found(call, "%c") != "refines");
  }
  // It may write to its operands.
  CHECK(found("dist.all_reduce(%x)", "%x") == "unproved");
  CHECK(found("mylib.reduce_mean.default(%x)", "%c") == "refines");
  CHECK(found("mylib.gathered.default(%x)", "%x") == "refines");
  CHECK(outcome({"in x: f32[4]\ny = aten.mul.Scalar(%x, 2): f32[4]\nout y",
                 copies(2,
                        "in x: f32[4]\nc = c10d_functional.all_reduce.default(%x, \"sum\", \"\", [0, 1], 2): "
                        "f32[4]\ny = c10d_functional.wait_tensor.default(%c): f32[4]\nout y"),
                 "inputs:\n  x: Replicate\n", "", ""}) == "refines");
}

TEST_CASE("what is told apart by its call is not taken for another call's") {
  const std::string rules =
      "include \"aten.rules\";\n"
      "op stamp(; site: int, shape: int*) { shape shape; dtype f32; }\n"
      "lower my.stamp.default(n: int): stamp(; site, [n]);\n";
  const std::string begin =
      "in x: f32[4]\nin z: f32[4]\ns = my.stamp.default(3): f32[3]\nt = my.stamp.default(3): f32[3]\n"
      "a = aten.relu.default(%x): f32[4]\nb = aten.relu.default(%z): f32[4]\n"
      "y = aten.cat.default([%a, %s], 0): f32[7]\n";
  const std::string sequential = begin + "w = aten.cat.default([%b, %t], 0): f32[7]\nout y, w";
  const std::string manifest = "inputs:\n  x: Replicate\n  z: Replicate\n";
  Case test{sequential, copies(2, sequential), manifest, rules, ""};
  CHECK(outcome(test) == "refines");
  test.ranks = copies(2, begin + "w = aten.cat.default([%b, %s], 0): f32[7]\nout y, w");
  CHECK(outcome(test) == "unproved");
  // Two problems that differ in the call only.
  test.ranks = copies(2,
                      "in x: f32[4]\nin z: f32[4]\na = aten.relu.default(%x): f32[4]\n"
                      "b = aten.relu.default(%z): f32[4]\nout a, b");
  const Verdict halves = verdict(test);
  REQUIRE(halves.outputs.size() == 2);
  CHECK(halves.outputs[0].relations == Strings{"concat(r0.a, stamp(; 1, [3]); 0)"});
  CHECK(halves.outputs[1].relations == Strings{"concat(r0.b, stamp(; 2, [3]); 0)"});
}

TEST_CASE("uninitialised memory is unknown") {
  for (const char* call : {"aten.empty.memory_format([4])", "aten.empty_like.default(%x)",
                           "aten.new_empty.default(%x, [4])", "aten.empty_strided.default([4], [1])"}) {
    CAPTURE(std::string(call));
    CHECK(outcome(same(std::string("in x: f32[4]\ny = ") + call + ": f32[4]\nout y")) == "unproved");
  }
  // Nothing is computed with the first operand where beta is 0.
  CHECK(outcome(same("in x: f32[2, 4, 4]\ne = aten.empty.memory_format([2, 4, 4]): f32[2, 4, 4]\n"
                     "y = aten.baddbmm.default(%e, %x, %x; beta=0): f32[2, 4, 4]\nout y")) == "refines");
}

Case times_zero(const std::string& memory, const std::string& zero) {
  Case test = same("in x: f32[4]\ny = aten.clone.default(%x): f32[4]\nout y");
  test.ranks =
      copies(2, "in x: f32[4]\nc = aten.zeros.default([4]): f32[4]\ne = " + memory + ": f32[4]\nz = " + zero +
                    ": f32[4]\ny = aten.add.Tensor(%x, %z): f32[4]\nout y");
  return test;
}

const char* const kZeros[] = {"aten.mul.Tensor(%e, 0)",  "aten.mul.Tensor(%e, %c)",
                              "aten.mul.Tensor(%c, %e)", "aten.mul.Scalar(%e, 0)",
                              "aten.sub.Tensor(%e, %e)", "aten.add.Tensor(%c, %e; alpha=0)"};

TEST_CASE("a float that is compared with itself may be no number") {
  // Equal tensors under two names, too.
  for (const char* other : {"%x", "%c"}) {
    for (const std::string op : {"eq", "ne", "ge", "le", "gt", "lt"}) {
      const bool truth = op == "eq" || op == "ge" || op == "le";
      const auto found = [&](const std::string& type) {
        const std::string kept = truth ? "%x, %z" : "%z, %x";
        const std::string sequential = "in x: T[4]\ny = aten.neg.default(%x): T[4]\nout y";
        const std::string rank =
            "in x: T[4]\nc = aten.clone.default(%x): T[4]\nz = aten.zeros_like.default(%x): T[4]\n"
            "m = aten." +
            op + ".Tensor(%x, " + other + "): b8[4]\nw = aten.where.self(%m, " + kept +
            "): T[4]\ny = aten.neg.default(%w): T[4]\nout y";
        return outcome({replaced(sequential, "T[", type + "["), copies(2, replaced(rank, "T[", type + "[")),
                        "inputs:\n  x: Replicate\n", "", ""});
      };
      CAPTURE(op);
      CHECK(found("f32") == "unproved");
      CHECK(found("bf16") == "unproved");
      CHECK(found("i64") == "refines");
      CHECK(found("u8") == "refines");
    }
  }
}

TEST_CASE("zero times a value vanishes") {
  for (const char* zero : kZeros) {
    CAPTURE(std::string(zero));
    CHECK(outcome(times_zero("aten.relu.default(%x)", zero)) == "refines");
  }
}

TEST_CASE("zero times uninitialised memory never vanishes") {
  for (const char* zero : kZeros) {
    CAPTURE(std::string(zero));
    CHECK(outcome(times_zero("aten.empty.memory_format([4])", zero)) == "unproved");
    CHECK(outcome(times_zero("aten.empty_like.default(%x)", zero)) == "unproved");
  }
}

TEST_CASE("a product with uninitialised memory never vanishes in a contraction") {
  Case test = same("in x: f32[4, 4]\ny = aten.clone.default(%x): f32[4, 4]\nout y");
  test.ranks =
      copies(2,
             "in x: f32[4, 4]\nc = aten.zeros.default([4, 4]): f32[4, 4]\ne = aten.empty_like.default(%x): "
             "f32[4, 4]\n"
             "z = aten.mm.default(%e, %c): f32[4, 4]\ny = aten.add.Tensor(%x, %z): f32[4, 4]\nout y");
  CHECK(outcome(test) == "unproved");
}

// --- sizes

// How many rows are picked depends on data, in general; where the mask is known it does not.
TEST_CASE("sizes that depend on data") {
  const auto program = [](const std::string& rows, const std::string& expert) {
    return "in x: f32[" + rows + ", 4]\nin w: f32[" + rows + ", 1]\nt = aten.max.dim(%w, 1): (f32[" + rows +
           "], i64[" + rows + "])\ni = operator.getitem(%t, 1): i64[" + rows + "]\nm = aten.eq.Scalar(%i, " +
           expert + "): b8[" + rows + "]\nn = aten.nonzero.default(%m): i64[\"u0\", 1]\n" +
           "k = aten.sym_size.int(%n, 0): i64[] | \"sym\": \"u0\"\n" +
           "g = aten.index.Tensor(%x, [%n]): f32[\"u0\", 1, 4]\n" +
           "v = aten.view.default(%g, [%k, 4]): f32[\"u0\", 4]\ny = aten.relu.default(%v): f32[\"u0\", "
           "4]\nout y";
  };
  Case test{program("6", "0"), each(2, [&](std::size_t rank) { return program(rank == 0 ? "2" : "4", "0"); }),
            "inputs:\n  x: Shard(0)\n  w: Shard(0)\nexpect:\n  y: concat(r0.y, r1.y; 0)\n", "", ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::refines);
  CHECK(has(result.assumptions, "r1.u0 == 4 (the size of `r1.n`)"));
  CHECK(has(result.assumptions, "u0 == 6 (the size of `n`)"));
  CHECK(result.opaque == Strings{});
  // What is said of it otherwise must agree.
  test.manifest = "assume: [\"r0.u0 <= 2\"]\n" + test.manifest;
  CHECK(outcome(test) == "refines");
  test.manifest = replaced(test.manifest, "<= 2", "== 3");
  CHECK(outcome(test) == "graph/result-type");
  // Another expert is never chosen: nothing is known of the places of a mask that is not known to hold.
  test.manifest = replaced(test.manifest, "r0.u0 == 3", "u0 == r0.u0 + r1.u0");
  test.sequential = program("6", "1");
  test.ranks = {program("2", "1"), program("4", "1")};
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("a symbol is one of its rank") {
  const std::string program = "in x: f32[8]\ny = aten.nonzero.default(%x): i64[\"u0\", 1]\nout y";
  Case test = same(program);
  // Of equal operands the same places are picked: every rank has as many.
  const Verdict equal = verdict(test);
  CHECK(equal.kind == VerdictKind::refines);
  CHECK(has(equal.assumptions, "u0 == r0.u0 (the size of `y`)"));
  CHECK(has(equal.assumptions, "r1.u0 == r0.u0 (the size of `r1.y`)"));
  test.manifest = "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n";
  CHECK(outcome(test) == "refines");
  // Of others nothing is known, whatever their sizes.
  const std::string inputs = "inputs:\n  x: r0.x\n";
  test.manifest = inputs + "expect:\n  y: r1.y\n";
  CHECK(outcome(test) == "unproved");
  test.manifest = "assume: [\"u0 == r0.u0\", \"r1.u0 == r0.u0\"]\n" + test.manifest;
  CHECK(outcome(test) == "unproved");
  // What is said of them must agree.
  test.manifest = "assume: [\"u0 == 3\", \"r0.u0 == 2\"]\n" + inputs;
  CHECK(outcome(test) == "relation/contradiction");
  test.manifest = "assume: [\"u0 == r0.u0\"]\n" + inputs;
  const Verdict first = verdict(test);
  CHECK(first.kind == VerdictKind::refines);
  CHECK(only_output(first).relations == Strings{"r0.y"});
  CHECK(only_output(first).notes == Strings{"held by rank 0 only"});
}

// That the operands are equal may itself need a proof, and what comes after needs the sizes.
// What is resolved first for the sake of a size is part of the verdict like everything else.
TEST_CASE("lemmas that are applied where sizes are looked for are told") {
  const std::string sequential =
      "in x: f32[4, 8]\nin w: f32[8, 2]\ny = aten.mm.default(%x, %w): f32[4, 2]\n"
      "n = aten.nonzero.default(%y): i64[\"u0\", 2]\nout y, n";
  const std::string rank =
      "in x: f32[4, 4]\nin w: f32[4, 2]\np = aten.mm.default(%x, %w): f32[4, 2]\n"
      "y = _c10d_functional.all_reduce.default(%p, \"sum\", \"tp\"): f32[4, 2]\nout y";
  const auto sums_are_split = [](const Verdict& result) {
    return std::ranges::any_of(result.lemmas, [](const LemmaUse& use) { return use.name == "sums_concat"; });
  };
  Case test{sequential, copies(2, rank), "outputs: [y]\ninputs:\n  x: Shard(1)\n  w: Shard(0)\n", "", ""};
  const Verdict open = verdict(test);  // no rank knows how many places `n` has
  CHECK(open.kind == VerdictKind::refines);
  CHECK(sums_are_split(open));
  test.ranks = copies(2, replaced(rank, "out y", "n = aten.nonzero.default(%y): i64[\"u0\", 2]\nout y, n"));
  const Verdict known = verdict(test);
  CHECK(known.kind == VerdictKind::refines);
  CHECK(sums_are_split(known));
}

TEST_CASE("as many rows are picked from equal tensors") {
  const std::string rest =
      "n = aten.nonzero.default(%s): i64[\"u0\", 1]\nk = aten.sym_size.int(%n, 0): i64[] | \"sym\": "
      "\"u0\"\n"
      "f = aten.view.default(%n, [%k]): i64[\"u0\"]\ng = aten.index_select.default(%x, 0, %f): f32[\"u0\", "
      "8]\n"
      "m = aten.ge.Scalar(%g, 0): b8[\"u0\", 8]\no = aten.nonzero.default(%m): i64[\"u1\", 2]\n";
  const std::string sequential =
      "in x: f32[4, 8]\nin w: f32[8, 1]\nh = aten.mm.default(%x, %w): f32[4, 1]\n"
      "s = aten.view.default(%h, [4]): f32[4]\n" +
      rest + "out g, o";
  const auto rank = [&](const std::string& reduction, std::size_t r) {
    const std::string from = std::to_string(4 * r);
    return "in x: f32[4, 8]\nin w: f32[4, 1]\nc = aten.slice.Tensor(%x, 1, " + from + ", " +
           std::to_string(4 * r + 4) +
           "): f32[4, 4]\np = aten.mm.default(%c, %w): f32[4, 1]\n"
           "h = _c10d_functional.all_reduce.default(%p, \"" +
           reduction + "\", \"tp\"): f32[4, 1]\ns = aten.view.default(%h, [4]): f32[4]\n" + rest + "out g, o";
  };
  Case test{sequential, each(2, [&](std::size_t r) { return rank("sum", r); }),
            "inputs:\n  x: Replicate\n  w: Shard(0)\nexpect:\n  g: Replicate\n  o: Replicate\n", "", ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::refines);
  CHECK(has(result.assumptions, "u0 == r0.u0 (the size of `n`)"));
  CHECK(has(result.assumptions, "r1.u0 == r0.u0 (the size of `r1.n`)"));
  CHECK(has(result.assumptions, "u1 == r0.u1 (the size of `o`)"));
  test.ranks = each(2, [&](std::size_t r) { return rank("max", r); });
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("the mean of the ranks' means is the mean only where the ranks have as much") {
  const std::string sequential = "in x: f32[\"u0\", 4]\ny = aten.mean.dim(%x, [0]): f32[4]\nout y";
  Case test{sequential,
            copies(2,
                   "in x: f32[\"u0\", 4]\nm = aten.mean.dim(%x, [0]): f32[4]\n"
                   "y = _c10d_functional.all_reduce.default(%m, \"avg\", \"tp\"): f32[4]\nout y"),
            "inputs:\n  x: Shard(0)\nexpect:\n  y: Replicate\n", "", ""};
  const Verdict open = verdict(test);
  CHECK(open.kind == VerdictKind::unproved);
  CHECK(has(open.assumptions, "u0 == r0.u0 + r1.u0 (from the shapes of the inputs)"));
  test.manifest = "assume: [\"r0.u0 == r1.u0\"]\n" + test.manifest;
  const Verdict equal = verdict(test);
  CHECK(equal.kind == VerdictKind::refines);
  CHECK(has(equal.assumptions, "r0.u0 == r1.u0"));
  CHECK(has(equal.assumptions, "u0 == 2*r0.u0 (from the shapes of the inputs)"));
}

TEST_CASE("sizes of shards add up whatever they are") {
  const std::string program = "in x: f32[\"u0\", 4]\ny = aten.relu.default(%x): f32[\"u0\", 4]\nout y";
  Case test{program, copies(3, program), "inputs:\n  x: Shard(0)\nexpect:\n  y: Shard(0)\n", "", ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::refines);
  CHECK(only_output(result).relations == Strings{"concat(r0.y, r1.y, r2.y; 0)"});
  CHECK(result.assumptions == Strings{"u0 == r0.u0 + r1.u0 + r2.u0 (from the shapes of the inputs)"});
}

}  // namespace
}  // namespace entangle::infer::test
