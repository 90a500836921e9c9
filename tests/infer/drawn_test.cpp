// What is drawn at random: whose mask an element sees.
#include <doctest/doctest.h>

#include "world.h"

namespace entangle::infer::test {
namespace {

using Strings = std::vector<std::string>;

std::string dropout(const std::string& size, const std::string& probability = "0.5") {
  return "in x: f32[" + size + "]\nd = aten.native_dropout.default(%x, " + probability + ", true): (f32[" +
         size + "], b8[" + size + "]) // rank.py:7\ny = operator.getitem(%d, 0): f32[" + size + "]\nout y";
}

const char* const kMasks =
    "dropout: at its k-th call an element sees the mask of the sequential element that it equals";

TEST_CASE("dropout") {
  Case test{dropout("4"), copies(2, dropout("2")), "inputs:\n  x: Shard(0)\n", "", ""};
  const Verdict sharded = verdict(test);
  CHECK(sharded.kind == VerdictKind::refines);
  CHECK(sharded.assumptions == Strings{kMasks});

  test = {dropout("4"), copies(2, dropout("4")), "inputs:\n  x: Replicate\n", "", ""};
  const Verdict replicated = verdict(test);
  CHECK(replicated.kind == VerdictKind::refines);
  REQUIRE(replicated.assumptions.size() == 2);
  CHECK(replicated.assumptions[0] == kMasks);
  CHECK(replicated.assumptions[1] ==
        "dropout of a replicated tensor: the ranks share a seed at r0.d[0] (rank.py:7)");

  // Of what is drawn inside an operator, too.
  const std::string attention =
      "in x: f32[2,4]\nd = aten.scaled_dot_product_attention.default(%x, %x, %x, null, 0.5): f32[2,4]"
      " // rank.py:7\nout d";
  const Verdict inside = verdict({attention, copies(2, attention), "inputs:\n  x: Replicate\n", "", ""});
  CHECK(inside.kind == VerdictKind::refines);
  REQUIRE(inside.assumptions.size() == 2);
  CHECK(inside.assumptions[1] ==
        "dropout of a replicated tensor: the ranks share a seed at r0.d (rank.py:7)");

  test.ranks = copies(2, dropout("4", "0.25"));
  CHECK(outcome(test) == "unproved");
  test = {dropout("4"), copies(2, dropout("4")), "inputs:\n  x: Partial\nexpect:\n  y: Partial\n", "", ""};
  CHECK(outcome(test) == "unproved");  // each rank has a mask of its own

  // There may be nothing to draw for.
  for (const std::string drop :
       {"aten.native_dropout.default(%x, 0.5, true): (f32[0,3], b8[0,3])\ny = operator.getitem(%d, 0)",
        "aten.dropout.default(%x, 0.5, true): f32[0,3]\ny = aten.relu.default(%d)"}) {
    const std::string none = "in x: f32[0,3]\nd = " + drop + ": f32[0,3]\nout y";
    CHECK(outcome({none, copies(2, none), "inputs:\n  x: Replicate\n", "", ""}) == "unproved");
  }
  const std::string unknown =
      "in x: f32[\"s0\",3]\ny = aten.dropout.default(%x, 0.5, true): f32[\"s0\",3]\nout y";
  const std::string sizes = "assume:\n  - s0 == r0.s0\n  - s0 == r1.s0\n  - s0 >= 0\n";
  CHECK(outcome({unknown, copies(2, unknown), sizes + "inputs:\n  x: Replicate\n", "", ""}) == "refines");

  // Sites are told apart by their number.
  const std::string begin = "in x: f32[4]\nc = aten.relu.default(%x): f32[4]\n";
  const std::string of_x = "d = aten.native_dropout.default(%x, 0.5, true): (f32[4], b8[4])\n";
  const std::string of_c = "e = aten.native_dropout.default(%c, 0.5, true): (f32[4], b8[4])\n";
  const std::string end =
      "y = operator.getitem(%d, 0): f32[4]\nz = operator.getitem(%e, 0): f32[4]\nout y, z";
  test = {begin + of_x + of_c + end, copies(2, begin + of_x + of_c + end), "inputs:\n  x: Replicate\n", "",
          ""};
  CHECK(outcome(test) == "refines");
  // If they come in another order, this is listed; but ranks that share a seed draw the same at the same
  // call.
  test.ranks = copies(2, begin + of_c + of_x + end);
  CHECK(outcome(test) == "refines");
  CHECK(
      std::ranges::count(verdict(test).assumptions,
                         "dropout: the masks of `y` and 1 more are drawn by other calls than the k-th, each "
                         "once") == 1);
  test.ranks = {begin + of_c + of_x + end, begin + of_x + of_c + end};
  test.manifest = "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n  z: Replicate\n";
  CHECK(outcome(test) == "unproved");
  // And by their operator: its first call is not the first of another one.
  const std::string both = "in x: f32[4]\n" + of_x + "e = aten.dropout.default(%x, 0.5, true): f32[4]\n" +
                           "y = operator.getitem(%d, 0): f32[4]\n";
  test = {both + "z = aten.sub.Tensor(%y, %e): f32[4]\nout z",
          copies(2, both + "z = aten.sub.Tensor(%e, %y): f32[4]\nout z"), "inputs:\n  x: Replicate\n", "",
          ""};
  CHECK(outcome(test) == "unproved");
  test.ranks = copies(2, both + "z = aten.sub.Tensor(%y, %e): f32[4]\nout z");
  CHECK(outcome(test) == "refines");
}

TEST_CASE("masks correspond place by place") {
  const auto drop = [](const std::string& name, const std::string& of, const std::string& shape) {
    return name + "_ = aten.native_dropout.default(%" + of + ", 0.5, true): (f32[" + shape + "], b8[" +
           shape + "])\n" + name + " = operator.getitem(%" + name + "_, 0): f32[" + shape + "]\n";
  };
  const std::string replicate = "inputs:\n  x: Replicate\n";
  const auto twice = [](const std::string& name, const std::string& of) {
    return name + " = aten.cat.default([%" + of + ", %" + of + "], 0): f32[8]\n";
  };
  const auto outcomes = [&](const std::string& before, const std::string& after,
                            const std::string& manifest) {
    return Strings{outcome({before, copies(2, before), manifest, "", ""}),
                   outcome({after, copies(2, after), manifest, "", ""}),
                   outcome({before, copies(2, after), manifest, "", ""}),
                   outcome({after, copies(2, before), manifest, "", ""})};
  };
  // Elements that are equal by construction have masks of their own: copying before and after are two
  // programs.
  const Strings apart{"refines", "refines", "unproved", "unproved"};
  const std::string x = "in x: f32[4]\n";
  SUBCASE("one block joined twice") {
    const std::string cat_first = x + twice("c", "x") + drop("y", "c", "8") + "out y";
    const std::string drop_first = x + drop("d", "x", "4") + twice("y", "d") + "out y";
    const Strings found = outcomes(cat_first, drop_first, replicate);
    CHECK(found[0] == "refines");
    CHECK(found == apart);
  }
  SUBCASE("copies along an axis") {
    const auto expand = [](const std::string& name, const std::string& of) {
      return name + " = aten.expand.default(%" + of + ", [3, 4]): f32[3, 4]\n";
    };
    CHECK(outcomes(x + expand("c", "x") + drop("y", "c", "3, 4") + "out y",
                   x + drop("d", "x", "4") + expand("y", "d") + "out y", replicate) == apart);
  }
  SUBCASE("rows that are looked up") {
    const std::string in = "in x: f32[5, 4]\nin i: i64[3]\n";
    const auto rows = [](const std::string& name, const std::string& of) {
      return name + " = aten.embedding.default(%" + of + ", %i): f32[3, 4]\n";
    };
    CHECK(outcomes(in + rows("c", "x") + drop("y", "c", "3, 4") + "out y",
                   in + drop("d", "x", "5, 4") + rows("y", "d") + "out y",
                   "assume: [\"i in [0, 5)\"]\ninputs:\n  x: Replicate\n  i: Replicate\n") == apart);
  }
  SUBCASE("blocks of different ranks") {
    // Each rank draws for a block of its own ...
    const std::string shard = "in x: f32[4]\n" + drop("y", "x", "4") + "out y";
    const std::string whole = "in a: f32[4]\nin b: f32[4]\nc = aten.cat.default([%a, %b], 0): f32[8]\n" +
                              drop("y", "c", "8") + "out y";
    CHECK(outcome({whole, copies(2, shard), "inputs:\n  a: r0.x\n  b: r1.x\n", "", ""}) == "refines");
    // ... and may not draw for both copies of the other's.
    const std::string one = "in x: f32[4]\n" + drop("d", "x", "4") + twice("y", "d") + "out y";
    CHECK(outcome({one,
                   {"in x: f32[4]\n" + drop("d", "x", "4") + "out d",
                    "in x: f32[4]\n" + twice("c", "x") + drop("y", "c", "8") + "out y"},
                   replicate,
                   "",
                   ""}) == "unproved");
  }
  SUBCASE("windows that overlap") {
    const std::string begin =
        "in x: f32[6]\na = aten.slice.Tensor(%x, 0, 0, 4): f32[4]\n"
        "b = aten.slice.Tensor(%x, 0, 2, 6): f32[4]\n";
    const std::string sequential = begin + "c = aten.cat.default([%a, %b], 0): f32[8]\n" +
                                   drop("d", "c", "8") +
                                   "e = aten.slice.Tensor(%d, 0, 2, 4): f32[2]\n"
                                   "f = aten.slice.Tensor(%d, 0, 4, 6): f32[2]\n"
                                   "y = aten.sub.Tensor(%e, %f): f32[2]\nout y";
    const auto rank = [&](const std::string& window) {
      return begin + drop("d", window, "4") + "s = aten.slice.Tensor(%d, 0, 0, 2): f32[2]\n" +
             "y = aten.sub.Tensor(%s, %s): f32[2]\nout y";
    };
    CHECK(outcome({sequential, {rank("a"), rank("b")}, replicate, "", ""}) == "unproved");
  }
  SUBCASE("one copy for the other") {
    const std::string begin =
        x + twice("c", "x") + drop("d", "c", "8") +
        "a = aten.slice.Tensor(%d, 0, 0, 4): f32[4]\nb = aten.slice.Tensor(%d, 0, 4, 8): f32[4]\n";
    const std::string sum = begin + "y = aten.add.Tensor(%a, %b): f32[4]\nout y";
    CHECK(outcome({sum, copies(2, begin + "y = aten.mul.Scalar(%b, 2): f32[4]\nout y"), replicate, "", ""}) ==
          "unproved");
    CHECK(outcome({begin + "out a", copies(2, begin + "out b"), replicate, "", ""}) == "unproved");
    const std::string of_zeros = x + "z = aten.zeros_like.default(%x): f32[4]\n" + drop("d", "z", "4") +
                                 "m = operator.getitem(%d_, 1): b8[4]\n";
    const std::string masked = "y = aten.where.self(%m, %x, %z): f32[4]\nout y";
    const std::string by_first =
        "s = aten.select.int(%m, 0, 0): b8[]\ny = aten.where.self(%s, %x, %z): f32[4]\nout y";
    CHECK(outcome({of_zeros + masked, copies(2, of_zeros + masked), replicate, "", ""}) == "refines");
    CHECK(outcome({of_zeros + masked, copies(2, of_zeros + by_first), replicate, "", ""}) == "unproved");
  }
  SUBCASE("one copy for the other, by a look-up or a reversal") {
    const std::string begin =
        "in x: f32[4, 2]\nin i: i64[3]\nc = aten.cat.default([%x, %x], 0): f32[8, 2]\n" +
        drop("d", "c", "8, 2");
    const std::string look_up = "y = aten.embedding.default(%d, %i): f32[3, 2]\nout y";
    const std::string other_copy =
        "j = aten.add.Tensor(%i, 4): i64[3]\ny = aten.embedding.default(%d, %j): f32[3, 2]\nout y";
    const std::string in_range = "assume: [\"i in [0, 4)\"]\ninputs:\n  x: Replicate\n  i: Replicate\n";
    CHECK(outcomes(begin + look_up, begin + other_copy, in_range) == apart);
    const std::string mirror =
        "in x: f32[4]\nr = aten.flip.default(%x, [0]): f32[4]\n"
        "c = aten.cat.default([%x, %r], 0): f32[8]\n";
    const std::string as_drawn = mirror + drop("y", "c", "8") + "out y";
    const std::string reversed =
        mirror + drop("d", "c", "8") + "y = aten.flip.default(%d, [0]): f32[8]\nout y";
    CHECK(outcomes(as_drawn, reversed, replicate + "expect:\n  y: Replicate\n") == apart);
  }
  SUBCASE("micro-batches") {
    // A layer of several calls for parts of its operand: the calls of one rank have other numbers.
    const auto layers = [&](const std::string& x, const std::string& shape) {
      return drop(x + "d", x, shape) + x + "r = aten.relu.default(%" + x + "d): f32[" + shape + "]\n" +
             drop(x + "y", x + "r", shape);
    };
    const std::string sequential = "in x: f32[6]\n" + layers("x", "6") + "out xy";
    const std::string parts = "in a: f32[2]\nin b: f32[2]\nin c: f32[2]\n" + layers("a", "2");
    const std::string manifest = "inputs:\n  x: concat(r0.a, r0.b, r0.c; 0)\n";
    const Verdict found = verdict(
        {sequential, {parts + layers("b", "2") + layers("c", "2") + "out ay, by, cy"}, manifest, "", ""});
    CHECK(found.kind == VerdictKind::refines);
    CHECK(found.assumptions == Strings{kMasks,
                                       "dropout: the masks of `xd` and 1 more are drawn by other calls "
                                       "than the k-th, each once"});
    // Half of the elements twice, with one mask for both halves, and with two.
    const std::string twice =
        "in a: f32[2]\nx = aten.cat.default([%a, %a], 0): f32[4]\n" + drop("y", "x", "4") + "out y";
    const std::string once = "in a: f32[2]\n" + drop("d", "a", "2");
    const std::string join = "y = aten.cat.default([%d, %e], 0): f32[4]\nout y";
    const std::string same =
        once + "e = aten.relu.default(%d): f32[2]\ny = aten.cat.default([%d, %d], 0): f32[4]\nout y";
    CHECK(outcome({twice, {same}, "inputs:\n  a: r0.a\n", "", ""}) == "unproved");
    // One call for two sequential ones.
    const std::string two_calls = "in a: f32[2]\n" + drop("d", "a", "2") + drop("e", "a", "2") + "out d, e";
    const std::string one_call = once + "e = aten.mul.Tensor(%d, 1): f32[2]\nout d, e";
    CHECK(outcome({two_calls, {one_call}, "inputs:\n  a: r0.a\n", "", ""}) == "unproved");
    CHECK(outcome({two_calls, {two_calls}, "inputs:\n  a: r0.a\n", "", ""}) == "refines");
    // Two calls for one tensor, of which one is wanted.
    const auto second = [&](const std::string& x, const std::string& shape) {
      return drop(x + "d", x, shape) + drop(x + "y", x, shape);
    };
    CHECK(outcome({"in x: f32[4]\n" + second("x", "4") + "out xy",
                   {"in a: f32[2]\nin b: f32[2]\n" + second("a", "2") + second("b", "2") + "out ay, by"},
                   "inputs:\n  x: concat(r0.a, r0.b; 0)\n",
                   "",
                   ""}) == "refines");
    // Calls that differ in what they keep.
    const std::string other =
        "in a: f32[2]\nd_ = aten.native_dropout.default(%a, 0.25, true): (f32[2], b8[2])\n"
        "d = operator.getitem(%d_, 0): f32[2]\n";
    CHECK(outcome({twice, {other + drop("e", "a", "2") + join}, "inputs:\n  a: r0.a\n", "", ""}) ==
          "unproved");
  }
  SUBCASE("gradients of micro-batches") {
    // y = dropout(x w), and the gradient of w with the mask of `mask`.
    const auto step = [](const std::string& x, const std::string& rows, const std::string& mask) {
      const std::string shape = rows + ",4";
      return x + "h = aten.mm.default(%" + x + ", %w): f32[" + shape + "]\n" + x +
             "d = aten.native_dropout.default(%" + x + "h, 0.5, true): (f32[" + shape + "], b8[" + shape +
             "])\n" + x + "m = operator.getitem(%" + x + "d, 1): b8[" + shape + "]\n" + x +
             "g = aten.native_dropout_backward.default(%dy" + x + ", %" + mask + "m, 2.0): f32[" + shape +
             "]\n" + x + "t = aten.t.default(%" + x + "): f32[3," + rows + "]\n" + x +
             "w = aten.mm.default(%" + x + "t, %" + x + "g): f32[3,4]\n";
    };
    const std::string sequential =
        "in x: f32[4,3]\nin dyx: f32[4,4]\nin w: f32[3,4]\n" + step("x", "4", "x") + "out xw";
    const auto rank = [&](const std::string& mask) {
      return "in a: f32[1,3]\nin b: f32[1,3]\nin dya: f32[1,4]\nin dyb: f32[1,4]\nin w: f32[3,4]\n" +
             step("a", "1", "a") + step("b", "1", mask) +
             "s = aten.add.Tensor(%aw, %bw): f32[3,4]\n"
             "xw = _c10d_functional.all_reduce.default(%s, \"sum\", \"tp\"): f32[3,4]\nout xw";
    };
    const std::string manifest =
        "inputs:\n  x: concat(r0.a, r0.b, r1.a, r1.b; 0)\n  dyx: concat(r0.dya, r0.dyb, r1.dya, r1.dyb; 0)\n"
        "  w: Replicate\nexpect:\n  xw: Replicate\n";
    CHECK(outcome({sequential, copies(2, rank("b")), manifest, "", ""}) == "refines");
    CHECK(outcome({sequential, copies(2, rank("a")), manifest, "", ""}) == "unproved");
  }
  SUBCASE("wherever time runs out") {
    const std::string cat_first = x + twice("c", "x") + drop("y", "c", "8") + "out y";
    const std::string drop_first = x + drop("d", "x", "4") + twice("y", "d") + "out y";
    const auto stopped_after = [&](const Case& test, std::size_t questions, bool& stopped) {
      CheckOptions options;
      std::size_t asked = 0;
      options.limits.expired = [&] {
        stopped = stopped || ++asked > questions;
        return stopped;
      };
      return verdict(test, options).kind;
    };
    bool stopped = true;
    std::size_t questions = 0;
    for (; stopped; ++questions) {
      stopped = false;
      CHECK(stopped_after({cat_first, copies(2, drop_first), replicate, "", ""}, questions, stopped) ==
            VerdictKind::unproved);
    }
    CHECK(questions > 5);
    CHECK(stopped_after({cat_first, copies(2, cat_first), replicate, "", ""}, questions, stopped) ==
          VerdictKind::refines);
  }
  SUBCASE("a rank draws where the sequential program does not") {
    const std::string sequential = "in x: f32[4]\ny = aten.relu.default(%x): f32[4]\nout y";
    const std::string rank =
        "in x: f32[4]\nz = aten.relu.default(%x): f32[4]\n" + twice("c", "x") + drop("d", "c", "8") +
        "f = aten.slice.Tensor(%d, 0, 0, 4): f32[4]\n"
        "g = aten.slice.Tensor(%d, 0, 4, 8): f32[4]\n"
        "n = aten.sub.Tensor(%f, %g): f32[4]\ny = aten.add.Tensor(%z, %n): f32[4]\nout y";
    CHECK(outcome({sequential, copies(2, rank), replicate, "", ""}) == "unproved");
    // What no output depends on does not matter.
    CHECK(outcome(
              {sequential,
               copies(2, "in x: f32[4]\n" + drop("d", "x", "4") + "y = aten.relu.default(%x): f32[4]\nout y"),
               replicate, "", ""}) == "refines");
  }
  SUBCASE("inside an attention whose heads are sharded") {
    const auto attention = [](const std::string& heads) {
      return "in q: f32[2, " + heads + ", 3, 4]\nin k: f32[2, " + heads + ", 3, 4]\nin v: f32[2, " + heads +
             ", 3, 4]\ny = aten.scaled_dot_product_attention.default(%q, %k, %v, null, 0.25): f32[2, " +
             heads + ", 3, 4]\nout y";
    };
    CHECK(outcome({attention("6"), copies(3, attention("2")),
                   "inputs:\n  q: Shard(1)\n  k: Shard(1)\n  v: Shard(1)\n", "", ""}) == "refines");
  }
}

}  // namespace
}  // namespace entangle::infer::test
