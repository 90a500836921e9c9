// Elements that are no real numbers: truth values, integers, casts.
#include <doctest/doctest.h>

#include <tuple>
#include <utility>

#include "world.h"

namespace entangle::infer::test {
namespace {

using Strings = std::vector<std::string>;

TEST_CASE("truth values are not added up, whatever adds them") {
  const std::string known =
      "in m: b8[4]\nc = aten.ones.default([4]): b8[4]\nz = aten.zeros.default([4]): b8[4]\n"
      "i = aten.arange.default(4): i64[4]\ns = aten.stack.default([%m, %c]): b8[2,4]\n";
  const std::string picked = "d = operator.getitem(%l, 0): b8[4]\n";
  // What a sum makes of m and of truths: true, though m + 1 is 1 where m is 0 only.
  const std::vector<std::string> sums = {
      "d = aten.add.Scalar(%m, true): b8[4]\n",
      "d = aten.add.Tensor(%m, %c): b8[4]\n",
      "d = aten.sum.dim_IntList(%s, [0]; dtype=\"b8\"): b8[4]\n",
      "d = aten.cumsum.default(%s, 0; dtype=\"b8\"): b8[2,4]\ne = aten.select.int(%d, 0, 1): b8[4]\n",
      "d = aten.index_add.default(%m, 0, %i, %c): b8[4]\n",
      "d = aten.scatter_add.default(%m, 0, %i, %c): b8[4]\n",
      "d = aten.scatter_reduce.two(%m, 0, %i, %c, \"sum\"): b8[4]\n",
      "d = aten.put.default(%m, %i, %c, true): b8[4]\n",
      "d = aten.index_put.default(%m, [%c], %c, true): b8[4]\n",
      "d = aten.index_put.default(%m, [%i], %c, true): b8[4]\n",
      "d = aten.addcmul.default(%m, %c, %c): b8[4]\n",
      "l = aten._foreach_add.Scalar([%m], true): (b8[4])\n" + picked,
      "l = aten._foreach_add.List([%m], [%c]): (b8[4])\n" + picked,
      "d = prims.add.default(%m, %c): b8[4]\n",
      "d = prims.fma.default(%m, %c, %c): b8[4]\n",
      "d = prims.sum.default(%s, [0]; output_dtype=\"torch.bool\"): b8[4]\n",
      "d = hlo.add(%m, %c): b8[4]\n",
      "d = hlo.reduce_sum(%s, 0): b8[4]\n"};
  for (const std::string& sum : sums) {
    CAPTURE(sum);
    const std::string result = sum.find("\ne = ") == std::string::npos ? "d" : "e";
    const std::string compared = "y = aten.eq.Tensor(%" + result + ", %c): b8[4]\nout y";
    CHECK(outcome({known + sum + compared, copies(2, known + "y = aten.eq.Tensor(%m, %z): b8[4]\nout y"),
                   "inputs:\n  m: Replicate\n", "", ""}) == "unproved");
    CHECK(outcome({known + sum + compared, copies(2, known + sum + compared), "inputs:\n  m: Replicate\n", "",
                   ""}) == "refines");
  }
  // What does not fit beside truth values is an error all the same.
  const std::string wrong = "in m: b8[4]\nin x: f32[4]\nin w: f32[5]\n";
  for (const std::string misfit :
       {"y = aten.lt.Tensor(%x, %w): b8[4]", "y = aten.where.self(%m, %x, %w): f32[4]"}) {
    CHECK(outcome({wrong + misfit + "\nout y", copies(2, wrong + misfit + "\nout y"),
                   "inputs:\n  m: Replicate\n  x: Replicate\n  w: Replicate\n", "", ""}) == "graph/operands");
  }
}

TEST_CASE("averages of integers are rounded") {
  const auto pooled = [](const std::string& op, const std::string& type) {
    return "in x: " + type + "[1,1,2,2]\np = " + op + ": " + type +
           "[1,1,1,1]\ny = aten.mul.Scalar(%p, 4): " + type + "[1,1,1,1]\nout y";
  };
  const auto summed = [](const std::string& type) {
    return "in x: " + type + "[1,1,2,2]\ny = aten.sum.dim_IntList(%x, [2, 3], true): " + type +
           "[1,1,1,1]\nout y";
  };
  for (const std::string op :
       {"aten.avg_pool2d.default(%x, [2, 2], [2, 2])",
        "aten.avg_pool2d.default(%x, [2, 2], [2, 2], [0, 0], false, true, 4)",
        "aten.adaptive_avg_pool2d.default(%x, [1, 1])", "aten.mean.dim(%x, [2, 3], true)"}) {
    CAPTURE(op);
    CHECK(outcome({pooled(op, "f32"), copies(2, summed("f32")), "inputs:\n  x: Replicate\n", "", ""}) ==
          "refines");
    CHECK(outcome({pooled(op, "i64"), copies(2, summed("i64")), "inputs:\n  x: Replicate\n", "", ""}) ==
          "unproved");
  }
  const auto larger = [](const std::string& of, const std::string& type, const std::string& then) {
    return "y = aten.upsample_bilinear2d.vec(%" + of + ", [4, 4], false, null): " + type + "[1,1,4,4]\n" +
           then;
  };
  for (const auto& [type, expected] : {std::pair{"f32", "refines"}, {"u8", "unproved"}}) {
    const std::string in = std::string("in x: ") + type + "[1,1,2,2]\n";
    const std::string after = std::string("z = aten.mul.Scalar(%y, 4): ") + type + "[1,1,4,4]\nout z";
    const std::string before = std::string("x4 = aten.mul.Scalar(%x, 4): ") + type + "[1,1,2,2]\n";
    CHECK(outcome({in + larger("x", type, after),
                   copies(2, in + before + replaced(larger("x4", type, "out z"), "y = ", "z = ")),
                   "inputs:\n  x: Replicate\n", "", ""}) == expected);
  }
}

TEST_CASE("where a bitcast may put elements is known of one row only") {
  const auto cast = [](const std::string& op, const std::string& from, const std::string& to) {
    return "in x: f32[" + from + "]\ny = " + op + ": f32[" + to + "]\nout y";
  };
  for (const auto& [from, to, expected] :
       {std::tuple{"3,2", "2,3", "unproved"}, {"6", "6,1", "refines"}, {"1,6,1", "6", "refines"}}) {
    const std::string shape = "[" + std::string(to) + "]";
    CHECK(outcome({cast("aten.view.default(%x, " + shape + ")", from, to),
                   copies(2, cast("hlo.bitcast(%x)", from, to)), "inputs:\n  x: Replicate\n", "", ""}) ==
          expected);
  }
}

TEST_CASE("casts between wide floats are additive, not the identity; others are neither") {
  const auto cast = [](const std::string& dtype) {
    return Case{
        "in x: f32[4]\ny = aten._to_copy.default(%x; dtype=\"" + dtype + "\"): " + dtype + "[4]\nout y",
        copies(2, "in x: f32[4]\nc = aten._to_copy.default(%x; dtype=\"" + dtype + "\"): " + dtype + "[4]\n" +
                      "y = _c10d_functional.all_reduce.default(%c, \"sum\", \"tp\"): " + dtype +
                      "[4]\nout y"),
        "inputs:\n  x: Partial\nexpect:\n  y: Replicate\n", "", ""};
  };
  for (const char* dtype : {"bf16", "f16", "f64"}) {
    CAPTURE(std::string(dtype));
    const Verdict result = verdict(cast(dtype));
    CHECK(result.kind == VerdictKind::refines);
    CHECK(result.assumptions ==
          Strings{"casts between f64, f32, f16 and bf16 are additive (elements are real numbers)"});
  }
  for (const char* dtype : {"f8", "i64", "i8"}) {
    CAPTURE(std::string(dtype));
    CHECK(outcome(cast(dtype)) == "unproved");
  }
  const Case round_trip{"in x: f32[4]\ny = aten.clone.default(%x): f32[4]\nout y",
                        {"in x: f32[4]\nc = aten._to_copy.default(%x; dtype=\"bf16\"): bf16[4]\n"
                         "y = aten._to_copy.default(%c; dtype=\"f32\"): f32[4]\nout y"},
                        "inputs:\n  x: r0.x\n",
                        "",
                        ""};
  CHECK(outcome(round_trip) == "unproved");
}

}  // namespace
}  // namespace entangle::infer::test
