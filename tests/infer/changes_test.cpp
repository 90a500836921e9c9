// What operators change in place: the new value, and what became of the old one.
#include <doctest/doctest.h>

#include "world.h"

namespace entangle::infer::test {
namespace {

TEST_CASE("what a collective changes in place is not used under its old name") {
  const std::string rules =
      "include \"aten.rules\";\n"
      "collective mylib.all_reduce_.default(xs: tensor+; group: group): (add_n(xs), add_n(xs));\n";
  const std::string reduced =
      "in x: f32[4]\nm = mylib.all_reduce_.default(%x, \"tp\"): (f32[4], f32[4]) | \"mutates\": [\"xs\"]\n";
  const auto with = [&](const std::string& end) {
    return Case{"in x: f32[4]\ny = aten.mul.Tensor(%x, 2): f32[4]\nout y", copies(2, reduced + end),
                "inputs:\n  x: Replicate\n", rules, ""};
  };
  CHECK(outcome(with("y = operator.getitem(%m, 1): f32[4]\nout y")) == "refines");
  // The new value is 2 x; the old one, times two, is not what the program computes.
  CHECK(outcome(with("y = aten.mul.Tensor(%x, 2): f32[4]\nout y")) == "unproved");
}

TEST_CASE("what an operator changes in place is the new value") {
  const std::string program =
      "in x: f32[4]\nm = mylib.norm.default(; x=%x): (f32[4], f32[4]) | \"mutates\": [\"x\"]\n"
      "g = operator.getitem(%m, 1): f32[4]\ny = aten.add.Tensor(%g, 1): f32[4]\nout y";
  const Verdict result = verdict(same(program));
  CHECK(result.kind == VerdictKind::refines);
  CHECK(has(result.assumptions, "taken as a pure function: mylib.norm.default"));
  // What was changed without saying so cannot be used any more, neither can its views.
  for (const char* later : {"aten.add.Tensor(%x, 1)", "aten.add.Tensor(%v, 1)"}) {
    CAPTURE(std::string(later));
    CHECK(outcome(same(std::string("in x: f32[4]\nv = aten.view.default(%x, [4]): f32[4]\nr = "
                                   "mylib.norm_.default(%x): f32[4]\ny = ") +
                       later + ": f32[4]\nout y")) == "unproved");
  }
}

TEST_CASE("the old value of what was changed in place is gone") {
  const std::string changed = "m = mylib.norm_.default(; x=%x): (f32[4], f32[4]) | \"mutates\": [\"x\"]\n";
  Case test = same("in x: f32[4]\ny = aten.add.Tensor(%x, 1): f32[4]\nout y");
  for (const char* later : {"y = aten.add.Tensor(%x, 1): f32[4]\n", "y = aten.add.Tensor(%v, 1): f32[4]\n"}) {
    CAPTURE(std::string(later));
    const std::string view = "v = aten.view.default(%x, [4]): f32[4]\n";
    test.ranks = copies(2, "in x: f32[4]\n" + view + changed + later + "out y");
    const Verdict result = verdict(test);
    CHECK(result.kind == VerdictKind::unproved);
    CHECK(std::ranges::any_of(result.opaque, [](const std::string& text) {
      return text.find("`m` (mylib.norm_.default) changes it in place: its new value is a result of `m`") !=
             std::string::npos;
    }));
    // Before it was changed it could be used.
    test.ranks = copies(2, "in x: f32[4]\n" + view + later + changed + "out y");
    CHECK(outcome(test) == "refines");
  }
  // A program that was made functional keeps the old value beside the new one.
  test.ranks = copies(
      2, "in x: f32[4]\n" + replaced(changed, "norm_", "norm") + "y = aten.add.Tensor(%x, 1): f32[4]\nout y");
  CHECK(outcome(test) == "refines");
  // An input that is changed, and is an output, is not what it was.
  test.sequential = "in x: f32[4]\nout x";
  test.ranks = copies(2, "in x: f32[4]\n" + changed + "out x");
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("a manifest relates what inputs come with, not what becomes of them") {
  const std::string x = "in x: f32[4, 4]\n";
  const std::string use = "y = aten.relu.default(%x): f32[4, 4]\n";
  const std::string manifest =
      "assume: [\"r0.x == r1.x\"]\ninputs:\n  x: Replicate\nexpect:\n  y: Replicate\n";
  for (const char* change :
       {"c = aten.add_.Scalar(%x, 1): f32[4, 4]\n", "c = mylib.write.default(%x): none\n",
        "v = aten.t.default(%x): f32[4, 4]\nc = aten.zero_.default(%v): f32[4, 4]\n",
        "c = mylib.norm_.default(; x=%x): (f32[4, 4], f32[4, 4]) | \"mutates\": [\"x\"]\n"}) {
    CAPTURE(std::string(change));
    const std::string before = x + use + change + "out y", after = x + change + use + "out y";
    CHECK(outcome({x + use + "out y", copies(2, after), manifest, "", ""}) == "unproved");
    CHECK(outcome({after, copies(2, x + use + "out y"), manifest, "", ""}) == "unproved");
    CHECK(outcome({x + use + "out y", copies(2, before), manifest, "", ""}) == "refines");
    CHECK(outcome({before, copies(2, x + use + "out y"), manifest, "", ""}) == "refines");
    // What an input came with is gone: no output can be read off it.
    const std::string turned = x + "y = aten.t.default(%x): f32[4, 4]\nout y";
    CHECK(outcome({turned, copies(2, x + change + "out x"), "inputs:\n  x: Replicate\n", "", ""}) ==
          "unproved");
    CHECK(outcome({turned, copies(2, x + "out x"), "inputs:\n  x: Replicate\n", "", ""}) == "refines");
  }
}

TEST_CASE("what an operator changes by its declaration is not what it was") {
  const std::string begin =
      "in x: f32[4, 3]\nin m: f32[3]\nin v: f32[3]\nw = aten.view.default(%m, [1, 3]): f32[1, 3]\n";
  const auto norm = [](const std::string& op, const std::string& training, const std::string& more) {
    return "n = " + op + "(%x, null, null, %m, %v, " + training + ", 0.1, 1e-5" + more +
           "): " + (more.empty() ? "(f32[4, 3], f32[3], f32[3])\n" : "f32[4, 3]\n");
  };
  const std::string manifest = "inputs:\n  x: Replicate\n  m: Replicate\n  v: Replicate\n";
  const auto found = [&](const std::string& first, const std::string& second) {
    const std::string sequential =
        "in x: f32[4, 3]\nin m: f32[3]\nin v: f32[3]\n"
        "y = aten.relu.default(%m): f32[3]\nz = aten.relu.default(%v): f32[3]\nout y, z";
    return outcome({sequential, copies(2, begin + first + second + "out y, z"), manifest, "", ""});
  };
  const std::string uses = "y = aten.relu.default(%m): f32[3]\nz = aten.relu.default(%v): f32[3]\n";
  const std::string by_view =
      "u = aten.view.default(%w, [3]): f32[3]\ny = aten.relu.default(%u): f32[3]\nz = aten.relu.default(%v): "
      "f32[3]\n";
  for (const char* op : {"aten.native_batch_norm.default", "aten._native_batch_norm_legit.default",
                         "aten.batch_norm.default"}) {
    CAPTURE(std::string(op));
    const std::string more = std::string(op) == "aten.batch_norm.default" ? ", false" : "";
    CHECK(found(norm(op, "true", more), uses) == "unproved");
    CHECK(found(norm(op, "true", more), by_view) == "unproved");
    CHECK(found(norm(op, "false", more), uses) == "refines");
    CHECK(found(uses, norm(op, "true", more)) == "refines");
    // What it returns is no view of them: a second call may change them again.
    const std::string twice = replaced(norm(op, "true", more), "n = ", "k = ");
    const std::string result =
        more.empty() ? "y = operator.getitem(%n, 0): f32[4, 3]\n" : "y = aten.clone.default(%n): f32[4, 3]\n";
    CHECK(outcome({begin + norm(op, "true", more) + result + "out y",
                   copies(2, begin + norm(op, "true", more) + twice + result + "out y"), manifest, "", ""}) ==
          "refines");
  }
}

TEST_CASE("statistics and ranges that are kept in operands are not what they were") {
  struct Row {
    const char* op;
    const char* before;  // arguments before and after those that are changed
    const char* after;
    std::size_t results;
  };
  // Arguments by the names that the framework gives them change, too.
  for (const Row& row :
       {Row{"aten.batch_norm_gather_stats.default", "%x, %w, %w", "0.1, 1e-5, 4", 2},
        Row{"aten.batch_norm_gather_stats_with_counts.default", "%x, %w, %w", "0.1, 1e-5, %w", 2},
        Row{"aten.batch_norm_update_stats.default", "%x", "0.1", 2},
        Row{"aten.batch_norm_update_stats.out", "%x", "0.1; out0=%w, out1=%w", 2},
        Row{"aten.cudnn_batch_norm.default", "%x, %w, %w", "true, 0.1, 1e-5", 4},
        Row{"aten.miopen_batch_norm.default", "%x, %w, %w", "true, 0.1, 1e-5", 3},
        Row{"aten._batch_norm_with_update.default", "%x, %w, %w", "0.1, 1e-5", 4},
        Row{"aten._batch_norm_impl_index.default", "%x, %w, %w", "true, 0.1, 1e-5, false", 5},
        Row{"aten.instance_norm.default", "%x, %w, %w", "true, 0.1, 1e-5, false", 1},
        Row{"aten.fused_moving_avg_obs_fake_quant.default", "%x, %w, %w", "%w, %w, 0.1, 0, 255, -1", 1},
        Row{"aten._fused_moving_avg_obs_fq_helper.default", "%x, %w, %w", "%w, %w, 0.1, 0, 255, -1", 2}}) {
    CAPTURE(std::string(row.op));
    std::string types = "f32[3]";
    for (std::size_t k = 1; k < row.results; ++k) {
      types += ", f32[3]";
    }
    types = row.results > 1 ? "(" + types + ")" : types;
    const std::string inputs = "in x: f32[4, 3]\nin w: f32[3]\nin m: f32[3]\nin v: f32[3]\n";
    const std::string uses = "y = aten.relu.default(%m): f32[3]\nz = aten.relu.default(%v): f32[3]\nout y, z";
    const std::string manifest =
        "inputs:\n  x: Replicate\n  w: Replicate\n  m: Replicate\n  v: Replicate\noutputs: [OUTPUT]\n";
    const std::string before = std::string("n = ") + row.op + "(" + row.before;
    const std::string after = std::string(row.after) + "): " + types + "\n";
    for (const char* output : {"y", "z"}) {
      const auto found = [&](const std::string& call) {
        return outcome(
            {inputs + uses, copies(2, inputs + call + uses), replaced(manifest, "OUTPUT", output), "", ""});
      };
      CHECK(found(before + ", %m, %v, " + after) == "unproved");
      CHECK(found(before + ", null, null, " + after) == "refines");
    }
  }
  const std::string by_name =
      "in x: f32[4, 3]\nin m: f32[3]\nin v: f32[3]\n"
      "n = aten.native_batch_norm.default(%x, null, null; running_mean=%m, running_var=%v, training=true, "
      "momentum=0.1, eps=1e-5): (f32[4, 3], f32[3], f32[3])\ny = aten.relu.default(%m): f32[3]\nout y";
  CHECK(outcome({"in x: f32[4, 3]\nin m: f32[3]\nin v: f32[3]\ny = aten.relu.default(%m): f32[3]\nout y",
                 copies(2, by_name), "inputs:\n  x: Replicate\n  m: Replicate\n  v: Replicate\n", "", ""}) ==
        "unproved");
}

// x is tripled into b, and after `change` y is made of `later`: the program itself returns 3 x.
Case after_change(const std::string& change, const std::string& later) {
  return {"in x: f32[4, 4]\ny = aten.mul.Scalar(%x, 3): f32[4, 4]\nout y",
          copies(2,
                 "in x: f32[4, 4]\nb = aten.mul.Scalar(%x, 3): f32[4, 4]\n"
                 "e = aten.empty.memory_format([4, 4]): f32[4, 4]\n"
                 "j = aten.empty.memory_format([4, 4]): i64[4, 4]\n" +
                     change + "y = aten.clone.default(" + later + "): f32[4, 4]\nout y"),
          "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n", "", ""};
}

TEST_CASE("what may have been changed by an operator is not what it was") {
  CHECK(outcome(after_change("", "%b")) == "refines");
  CHECK(outcome(after_change("c = aten.add.Scalar(%b, 1): f32[4, 4]\n", "%b")) == "refines");
  for (const char* change :
       {// by its name
        "r = aten.add_.Scalar(%b, 1): f32[4, 4]\n", "r = aten.__iadd__.Tensor(%b, %x): f32[4, 4]\n",
        "r = operator.iadd(%b, %x): f32[4, 4]\n", "r = mylib.scale_inplace.default(%b): f32[4, 4]\n",
        // into an operand
        "r = aten.add.out(%x, %x; out=%b): f32[4, 4]\n", "r = aten.sum.dim_out(%x, [0]; out=%b): f32[4, 4]\n",
        "r = aten.sort.values(%x; values=%b, indices=%j): (f32[4, 4], i64[4, 4])\n",
        "r = aten.sort.values(%x; values=%e, indices=%b): (f32[4, 4], f32[4, 4])\n",
        "r = aten.min.names_dim_min(%x, \"N\"; min=%b, min_indices=%j): (f32[4, 4], i64[4, 4])\n",
        "r = aten.tanh_backward.grad_input(%x, %x; grad_input=%b): f32[4, 4]\n",
        "r = aten.xlogy.OutScalar_Self(2, %x; out=%b): f32[4, 4]\n",
        "r = aten.geqrf.a(%x; a=%e, tau=%b): (f32[4, 4], f32[4, 4])\n",
        "r = mylib.factor.Q(%x; Q=%b): f32[4, 4]\n", "r = torch.mm(%x, %x; out=%b): f32[4, 4]\n",
        "r = aten.mm.default(%x, %x; out=%b): f32[4, 4]\n",
        // for nothing else: it has no result
        "r = mylib.write.default(%x, %b): none\n", "r = _C.rms_norm.default(%b, %x, %x, 1e-6): none\n",
        "r = mylib.exchange.default(%b, \"tp\"): none\n",
        // through views, also such as are looked up, listed or of unknown operators
        "v = aten.t.default(%b): f32[4, 4]\nr = aten.fill_.Scalar(%v, 0): f32[4, 4]\n",
        "v = aten.slice.Tensor(%b, 0, 0, 2): f32[2, 4]\nr = aten.zero_.default(%v): f32[2, 4]\n",
        "v = aten.diagonal.default(%b): f32[4]\nr = aten.zero_.default(%v): f32[4]\n",
        "v = aten.unfold.default(%b, 0, 2, 2): f32[2, 4, 2]\nr = aten.zero_.default(%v): f32[2, 4, 2]\n",
        "v = aten.as_strided.default(%b, [2, 2], [2, 1]): f32[2, 2]\nr = aten.zero_.default(%v): f32[2, "
        "2]\n",
        "v = aten.unbind.int(%b): (f32[4], f32[4], f32[4], f32[4])\ng = operator.getitem(%v, 1): f32[4]\n"
        "r = aten.zero_.default(%g): f32[4]\n"}) {
    CAPTURE(std::string(change));
    CHECK(outcome(after_change(change, "%b")) == "unproved");
  }
}

TEST_CASE("what an operator in place returns is the tensor it changed") {
  const std::string once =
      "c = aten.mul.Scalar(%x, 0.5): f32[4, 4]\nr = aten.mul_.Scalar(%c, 6): f32[4, 4]\n";
  CHECK(outcome(after_change(once, "%r")) == "refines");
  // Changed once more, by either name or through a view, neither holds what it did.
  for (const char* again :
       {"s = aten.add_.Scalar(%c, 1): f32[4, 4]\n", "s = aten.add_.Scalar(%r, 1): f32[4, 4]\n",
        "v = aten.view.default(%r, [16]): f32[16]\ns = aten.add_.Scalar(%v, 1): f32[16]\n",
        "v = aten.view.default(%c, [16]): f32[16]\ns = aten.add_.Scalar(%v, 1): f32[16]\n"}) {
    CAPTURE(std::string(again));
    CHECK(outcome(after_change(once + again, "%r")) == "unproved");
    CHECK(outcome(after_change(once + again, "%c")) == "unproved");
  }
  const std::string view =
      "v = aten.t.default(%r): f32[4, 4]\ns = aten.add_.Scalar(%c, 1): f32[4, 4]\n"
      "w = aten.t.default(%v): f32[4, 4]\n";
  CHECK(outcome(after_change(once + view, "%w")) == "unproved");
}

}  // namespace
}  // namespace entangle::infer::test
