// HLO text as graphs: operators, their attributes, and what is not known of them.
#include <doctest/doctest.h>

#include <array>

#include "hlo_world.h"

namespace entangle::graph {

using namespace hlo_world;  // NOLINT: this file makes nothing else

TEST_CASE("operators and their arguments") {
  const std::string x = "x = f32[2,3,4] parameter(0)\n";
  const std::string two = "x = f32[2,3] parameter(0)\nz = f32[2,3] parameter(1)\n";
  CHECK(node(two + "y = f32[2,3] add(x, z)") == "hlo.add(%x, %z) : f32[2, 3]");
  CHECK(node(two + "y = f32[2,3] exponential-minus-one(x)") == "hlo.exponential_minus_one(%x) : f32[2, 3]");
  CHECK(node(two + "y = pred[2,3] compare(x, z), direction=GE") ==
        "hlo.compare(%x, %z; direction = GE) : b8[2, 3]");
  CHECK(node(two + "y = pred[2,3] compare(x, z), type=FLOAT, direction=LT") ==
        "hlo.compare(%x, %z; direction = LT) : b8[2, 3]");
  CHECK(node(two + "y = pred[2,3] compare(x, z), direction=LT, type=TOTALORDER") ==
        "hlo.compare(%x, %z; direction = LT, type = TOTALORDER) : b8[2, 3]");
  CHECK(node(two + "p = pred[] parameter(2)\ny = f32[2,3] select(p, x, z)") ==
        "hlo.select(%p, %x, %z) : f32[2, 3]");
  CHECK(node(two + "y = bf16[2,3] convert(x)") == "hlo.convert(%x) : bf16[2, 3]");
  CHECK(node("y = s32[2,3] iota(), iota_dimension=1") == "hlo.iota(1) : i32[2, 3]");
  CHECK(node("x = f32[3] parameter(0)\ny = f32[2,3,4] broadcast(x), dimensions={1}") ==
        "hlo.broadcast(%x, [1], [2, 3, 4]) : f32[2, 3, 4]");
  CHECK(node("x = f32[] parameter(0)\ny = f32[2] broadcast(x), dimensions={}") ==
        "hlo.broadcast(%x, [], [2]) : f32[2]");
  CHECK(node(x + "y = f32[6,4]{1,0} reshape(x)") == "hlo.reshape(%x, [6, 4]) : f32[6, 4]");
  CHECK(node(x + "y = f32[4,2,3] transpose(x), dimensions={2,0,1}") ==
        "hlo.transpose(%x, [2, 0, 1]) : f32[4, 2, 3]");
  CHECK(node(x + "y = f32[2,3,4] reverse(x), dimensions={0,2}") == "hlo.reverse(%x, [0, 2]) : f32[2, 3, 4]");
  CHECK(node(x + "y = f32[1,3,2] slice(x), slice={[1:2], [0:3], [0:4:2]}") ==
        "hlo.slice(%x, [1, 0, 0], [2, 3, 4], [1, 1, 2]) : f32[1, 3, 2]");
  CHECK(node(two + "y = f32[2,6] concatenate(x, z), dimensions={1}") ==
        "hlo.concatenate([%x, %z], 1) : f32[2, 6]");
  CHECK(node(two + "c = f32[] constant(0)\ny = f32[3,7] pad(x, c), padding=0_1x-1_2_1") ==
        "hlo.pad(%x, %c, [0, -1], [1, 2], [0, 1]) : f32[3, 7]");
  CHECK(node(two + "i = s32[] constant(1)\ny = f32[1,2] dynamic-slice(x, i, i), dynamic_slice_sizes={1,2}") ==
        "hlo.dynamic_slice(%x, [%i, %i], [1, 2]) : f32[1, 2]");
  CHECK(node(two + "u = f32[1,1] parameter(2)\ni = s32[] constant(1)\ny = f32[2,3] dynamic-update-slice(x, "
                   "u, i, i)") == "hlo.dynamic_update_slice(%x, %u, [%i, %i]) : f32[2, 3]");
  CHECK(node(x + "y = f32[2,3,4] reduce-precision(x), exponent_bits=8, mantissa_bits=7") ==
        "hlo.reduce_precision(%x, 8, 7) : f32[2, 3, 4]");
  CHECK(node("a = f32[5,2,3] parameter(0)\nb = f32[5,3,4] parameter(1)\ny = f32[5,2,4] dot(a, b), "
             "lhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}, "
             "operand_precision={highest,default}") == "hlo.dot(%a, %b, [2], [1], [0], [0]) : f32[5, 2, 4]");
  CHECK(node("a = f32[2] parameter(0)\nb = f32[3] parameter(1)\ny = f32[2,3] dot(a, b)") ==
        "hlo.dot(%a, %b, [], [], [], []) : f32[2, 3]");
  CHECK(
      node(
          "t = f32[6,3] parameter(0)\ni = s32[2,1] parameter(1)\ny = f32[2,3] gather(t, i), offset_dims={1}, "
          "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}, "
          "indices_are_sorted=true") == "hlo.gather(%t, %i, [1], [0], [0], 1, [1, 3]) : f32[2, 3]");
  CHECK(node("t = f32[6,3] parameter(0)\ni = s32[2,1] parameter(1)\nu = f32[2,3] parameter(2)\ny = f32[6,3] "
             "scatter(t, i, u), "
             "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
             "index_vector_dim=1, "
             "unique_indices=true, to_apply=sum") ==
        "hlo.scatter(%t, %i, %u, [1], [0], [0], 1; op = sum) : f32[6, 3]");
  CHECK(node("t = f32[6,3] parameter(0)\ni = s32[2,1] parameter(1)\nu = f32[2,3] parameter(2)\ny = f32[6,3] "
             "scatter(t, i, u), "
             "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
             "index_vector_dim=1, "
             "to_apply=second") == "hlo.scatter(%t, %i, %u, [1], [0], [0], 1; op = write) : f32[6, 3]");
  CHECK(
      node(
          "a = f32[1,5,5,3] parameter(0)\nk = f32[3,3,3,8] parameter(1)\ny = f32[1,3,3,8] convolution(a, k), "
          "window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f") ==
      "hlo.convolution(%a, %k, [0, 3, 1, 2], [3, 2, 0, 1], [0, 3, 1, 2], [2, 2], [1, 1], [1, 1], [1, 1], [1, "
      "1]) : f32[1, 3, 3, "
      "8]");
  CHECK(node("a = f32[1,4,7] parameter(0)\nk = f32[8,2,3] parameter(1)\ny = f32[1,8,5] convolution(a, k), "
             "window={size=3 rhs_reversal=1}, dim_labels=bf0_oi0->bf0, feature_group_count=2") ==
        "hlo.convolution(%a, %k, [0, 1, 2], [0, 1, 2], [0, 1, 2], [1], [0], [0], [1], [1]; feature_groups = "
        "2, reversed_axes = "
        "[true]) : f32[1, 8, 5]");
  CHECK(node(two + "y = (f32[2,3], f32[2,3]) sort(x, z), dimensions={1}, is_stable=true, to_apply=%less")
            .starts_with("hlo.sort([%x"
                         ", %z], 1, "));
  CHECK(node("x = f32[9] parameter(0)\ny = f32[9] sort(x), dimensions={0}, to_apply=more") ==
        "hlo.sort([%x], 0, GE, false) : f32[9]");
  CHECK(node("x = f32[9] parameter(0)\ny = f32[9] sort(x), dimensions={0}, to_apply=total") ==
        "hlo.sort([%x], 0, LT, false) : f32[9]");
  CHECK(node("x = f32[2,9] parameter(0)\ny = (f32[2,2], s32[2,2]) topk(x), k=2, largest=true") ==
        "hlo.top_k(%x, 2, true) : f32[2, 2] i32[2, 2]");
}

TEST_CASE("places of the greatest and the least are known by what their computation computes") {
  const auto place = [](const std::string& better, const std::string& tie = "LT",
                        const std::string& axis = "1", const std::string& start = "-inf",
                        const std::string& more = "") {
    return shown(graph(module(
        "x = f32[2,9] parameter(0)\np = s32[2,9] iota(), iota_dimension=" + axis + "\nv = f32[] constant(" +
            start + ")\nz = s32[] constant(0)\n" +
            "y = (f32[2], s32[2]) reduce(x, p, v, z), dimensions={1}, to_apply=better",
        "",
        "better { v = f32[] parameter(0)  p = s32[] parameter(1)  w = f32[] parameter(2)  q = s32[] "
        "parameter(3)\n"
        "nan = pred[] compare(v, v), direction=NE\nmore = pred[] compare(v, w), direction=" +
            better + "\nfirst = pred[] or(more, nan)\nvalue = f32[] select(first, v, w)\n" +
            "equal = pred[] compare(v, w), direction=EQ\nbefore = pred[] compare(p, q), direction=" + tie +
            "\nsame = pred[] and(equal, before)\ntaken = pred[] or(first, same)\n" + more +
            "place = s32[] select(taken, p, q)\nROOT both = (f32[], s32[]) tuple(value, place) }")));
  };
  const auto whole = [](const std::string& text) {
    const std::size_t at = text.find("y = ");
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(whole(place("GT")) == "y = hlo.argmax(%x, 1) : f32[2] i32[2]");
  CHECK(whole(place("GT", "LE")) == "y = hlo.argmax(%x, 1) : f32[2] i32[2]");
  CHECK(whole(place("LT", "LT", "1", "inf")) == "y = hlo.argmin(%x, 1) : f32[2] i32[2]");
  const auto opaque = [&](const std::string& text) {
    return whole(text).starts_with("y = hlo.reduce(%x, %p");
  };
  CHECK(opaque(place("GT", "GT")));  // the last of equal ones
  CHECK(opaque(place("GE")));        // any of equal ones
  CHECK(opaque(place("NE")));
  CHECK(opaque(place("GT", "LT", "0")));       // places along another axis
  CHECK(opaque(place("GT", "LT", "1", "0")));  // begins with what may be greater
  CHECK(opaque(place("GT", "LT", "1", "-inf", "other = s32[] add(p, q)\n")));
  CHECK(opaque(place("LT")));  // the least, beginning with the least
}

TEST_CASE("reductions are known by what their computation computes") {
  const std::string x =
      "x = f32[2,3,4] parameter(0)\nzero = f32[] constant(0)\none = f32[] constant(1)\nleast = f32[] "
      "constant(-inf)\ni = s32[5] parameter(1)\nm = pred[5] parameter(2)\n";
  CHECK(node(x + "y = f32[3] reduce(x, zero), dimensions={0,2}, to_apply=sum") ==
        "hlo.reduce_sum(%x, [0, 2]) : f32[3]");
  CHECK(node(x + "y = f32[2,3] reduce(x, least), dimensions={2}, to_apply=greatest") ==
        "hlo.reduce_max(%x, [2]) : f32[2, 3]");
  CHECK(node(x + "y = f32[2,3] reduce(x, one), dimensions={2}, to_apply=product") ==
        "hlo.reduce_product(%x, [2]) : f32[2, 3]");
  CHECK(node(x + "c = s32[] constant(2147483647)\ny = s32[] reduce(i, c), dimensions={0}, to_apply=least") ==
        "hlo.reduce_min(%i, [0]) : i32[]");
  CHECK(node(x + "c = pred[] constant(false)\ny = pred[] reduce(m, c), dimensions={0}, to_apply=either") ==
        "hlo.reduce_or(%m, [0]) : b8[]");
  CHECK(node(x + "c = pred[] constant(true)\ny = pred[] reduce(m, c), dimensions={0}, to_apply=both") ==
        "hlo.reduce_and(%m, [0]) : b8[]");
  // What it starts with takes part.
  CHECK(
      shown(graph(module(x + "y = f32[2,3] reduce(x, one), dimensions={2}, to_apply=sum", "", kReducers))) ==
      "zero = constant() : f32[] = 0\none = constant() : f32[] = 1\nleast = constant() : f32[] = -inf\n"
      "y/reduced = hlo.reduce_sum(%x, [2]) : f32[2, 3]\n"
      "y/init = hlo.broadcast(%one, [], [2, 3]) : f32[2, 3]\n"
      "y = hlo.add(%y/reduced, %y/init) : f32[2, 3]\n");
  CHECK(node(x + "c = f32[] parameter(3)\ny = f32[2,3] reduce(x, c), dimensions={2}, to_apply=greatest") ==
        "hlo.maximum(%y/reduced, %y/init) : f32[2, 3]");
  CHECK(node(x + "c = s32[] constant(0)\ny = s32[] reduce(i, c), dimensions={0}, to_apply=least") ==
        "hlo.minimum(%y/reduced, %y/init) : i32[]");
  // Any other computation: the operator stays opaque, told apart by what the computation does.
  const std::string other = node(x + "y = f32[2,3] reduce(x, zero), dimensions={2}, to_apply=difference");
  CHECK(other.starts_with("hlo.reduce(%x, %zero; dimensions = [2], to_apply = "));
  CHECK(other != node(x + "y = f32[2,3] reduce(x, zero), dimensions={2}, to_apply=twice"));
  CHECK(node(x + "y = f32[2,1,4] reduce-window(x, zero), window={size=1x3x1}, to_apply=sum") ==
        "hlo.reduce_window(%x, sum, [1, 3, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]) : "
        "f32[2, 1, 4]");
  CHECK(node(x + "y = f32[2,2,4] reduce-window(x, least), window={size=1x3x1 stride=1x2x1 pad=0_0x1_1x0_0 "
                 "rhs_dilate=1x1x1}, "
                 "to_apply=greatest") ==
        "hlo.reduce_window(%x, max, [1, 3, 1], [1, 2, 1], [0, 1, 0], [0, 1, 0], [1, 1, 1], [1, 1, 1]) : "
        "f32[2, 2, 4]");
  CHECK(node("x = f32[] parameter(0)\nzero = f32[] constant(0)\ny = f32[] reduce-window(x, zero), "
             "to_apply=sum") == "hlo.reduce_window(%x, sum, [], [], [], [], [], []) : f32[]");
  CHECK(node(x + "y = f32[2,1,4] reduce-window(x, one), window={size=1x3x1}, to_apply=sum")
            .starts_with("hlo.reduce_window(%x, %one; window = "));
}

TEST_CASE("what is not known of a known operator makes it opaque") {
  const std::string x = "x = f32[2,3] parameter(0)\n";
  CHECK(node(x + "y = f32[2,3] negate(x), new_meaning={1, 2}") ==
        "hlo.negate(%x; new_meaning = [1, 2]) : f32[2, 3]");
  CHECK(node(x + "y = f32[2,3] negate(x), sharding={devices=[2,1]<=[2]}, metadata={op_name=\"a\"}, "
                 "frontend_attributes={a=\"b\"}, backend_config={\"k\": [1, {\"v\": \"}\"}]}, "
                 "control-predecessors={%x}") == "hlo.negate(%x) : f32[2, 3]");
  CHECK(
      node(
          "t = f32[6,3] parameter(0)\ni = s32[6,1] parameter(1)\ny = f32[6,1] gather(t, i), offset_dims={1}, "
          "collapsed_slice_dims={}, start_index_map={1}, operand_batching_dims={0}, "
          "start_indices_batching_dims={0}, "
          "index_vector_dim=1, slice_sizes={1,1}")
          .find("operand_batching_dims = [0]") != std::string::npos);
  CHECK(node(x + "y = f32[2,3] frobnicate(x), level=3") == "hlo.frobnicate(%x; level = 3) : f32[2, 3]");
}

TEST_CASE("attributes of known operators that say nothing possible are errors") {
  const std::string start =
      "x = f32[4,3] parameter(0)\nw = f32[3,4] parameter(1)\ni = s32[2,1] parameter(2)\n"
      "u = f32[2,3] parameter(3)\nc = f32[] constant(0)\nk = f32[1,1,4] parameter(4)\n";
  const auto wrong = [&](const std::string& instruction, const std::string& attribute,
                         const std::string& value) {
    CHECK(error(module(start + "y = " + instruction, "", kReducers)) ==
          "graph/hlo-attribute: `" + value + "` is no value of `" + attribute + "`");
  };
  const std::string dot = "f32[4,4] dot(x, w), lhs_contracting_dims=";
  wrong(dot + "{1,1}, rhs_contracting_dims={0,0}", "lhs_contracting_dims", "{1,1}");
  wrong(dot + "{1}, rhs_contracting_dims={0,1}", "rhs_contracting_dims", "{0,1}");
  wrong(dot + "{1}, rhs_contracting_dims={0}, lhs_batch_dims={1}, rhs_batch_dims={1}", "lhs_batch_dims",
        "{1}");
  wrong("f32[4,3] reverse(x), dimensions={0,0}", "dimensions", "{0,0}");
  wrong("f32[4,3] reverse(x), dimensions={2}", "dimensions", "{2}");
  wrong("f32[4,3] transpose(x), dimensions={0,0}", "dimensions", "{0,0}");
  wrong("f32[4,3] transpose(x), dimensions={0}", "dimensions", "{0}");
  wrong("f32[4,3] sort(x), dimensions={2}, to_apply=less", "dimensions", "{2}");
  wrong("(f32[4,9], s32[4,9]) topk(x), k=9", "k", "9");
  const std::string conv = "f32[1,1,1] convolution(k, k), dim_labels=bf0_oi0->bf0, window=";
  wrong(conv + "{size=4}, feature_group_count=0", "feature_group_count", "0");
  wrong(conv + "{size=4}, batch_group_count=-1", "batch_group_count", "-1");
  for (const char* window :
       {"{size=4 stride=0}", "{size=4 lhs_dilate=0}", "{size=4 rhs_dilate=-1}", "{size=0}"}) {
    wrong(conv + window, "window", window);
  }
  for (const char* window : {"{size=1x1 rhs_dilate=1x0}", "{size=0x1}", "{size=1x1 stride=0x1}",
                             "{size=1x1 pad=9223372036854775807_1x0_0}"}) {
    wrong("f32[4,3] reduce-window(x, c), to_apply=sum, window=" + std::string(window), "window", window);
  }
  wrong("f32[4,3] pad(x, c), padding=9223372036854775807_0x0_0", "padding", "9223372036854775807_0x0_0");
  wrong("f32[4,3] pad(x, c), padding=-9_0x0_0", "padding", "-9_0x0_0");
  const auto gather = [](const std::string& collapsed, const std::string& map, const std::string& vector,
                         const std::string& sizes, const std::string& offsets) {
    return "f32[2,3] gather(x, i), offset_dims=" + offsets + ", collapsed_slice_dims=" + collapsed +
           ", start_index_map=" + map + ", index_vector_dim=" + vector + ", slice_sizes=" + sizes;
  };
  CHECK(error(module(start + "y = " + gather("{0}", "{0}", "1", "{1,3}", "{1}"))) == "no error");
  wrong(gather("{0}", "{7}", "1", "{1,3}", "{1}"), "start_index_map", "{7}");
  wrong(gather("{0}", "{0,1}", "1", "{1,3}", "{1}"), "index_vector_dim", "1");
  wrong(gather("{0}", "{0}", "3", "{1,3}", "{1}"), "index_vector_dim", "3");
  wrong(gather("{0}", "{0}", "1", "{1,4}", "{1}"), "slice_sizes", "{1,4}");
  wrong(gather("{0}", "{0}", "1", "{1}", "{1}"), "slice_sizes", "{1}");
  wrong(gather("{1}", "{0}", "1", "{1,3}", "{1}"), "collapsed_slice_dims", "{1}");
  wrong(gather("{0}", "{0}", "1", "{1,3}", "{2}"), "offset_dims", "{2}");
  wrong(gather("{0}", "{0}", "1", "{1,3}", "{0,1}"), "offset_dims", "{0,1}");
  const auto scatter = [](const std::string& windows, const std::string& inserted, const std::string& dims,
                          const std::string& vector) {
    return "f32[4,3] scatter(x, i, u), update_window_dims=" + windows + ", inserted_window_dims=" + inserted +
           ", scatter_dims_to_operand_dims=" + dims + ", index_vector_dim=" + vector + ", to_apply=sum";
  };
  CHECK(error(module(start + "y = " + scatter("{1}", "{0}", "{0}", "1"), "", kReducers)) == "no error");
  wrong(scatter("{5}", "{0}", "{0}", "1"), "update_window_dims", "{5}");
  wrong(scatter("{}", "{0}", "{0}", "1"), "update_window_dims", "{}");
  wrong(scatter("{1}", "{2}", "{0}", "1"), "inserted_window_dims", "{2}");
  wrong(scatter("{1}", "{0}", "{-1}", "1"), "scatter_dims_to_operand_dims", "{-1}");
  wrong(scatter("{1}", "{0}", "{0}", "-1"), "index_vector_dim", "-1");
  CHECK(error(module("x = f32[2] parameter(0)\ny = () tuple()")) ==
        "graph/hlo-computation: this module gives no array");
}

TEST_CASE("negative padding that leaves nothing") {
  const std::string x = "x = f32[1,2] parameter(0)\nc = f32[] constant(0)\n";
  CHECK(node(x + "y = f32[2,2] pad(x, c), padding=-1_2x0_0") == "hlo.broadcast(%c, [], [2, 2]) : f32[2, 2]");
  CHECK(node(x + "y = f32[1,4] pad(x, c), padding=0_0x5_-3") == "hlo.broadcast(%c, [], [1, 4]) : f32[1, 4]");
  CHECK(node(x + "y = f32[1,1] pad(x, c), padding=0_0x0_-1").starts_with("hlo.pad("));
  CHECK(node(x + "y = f32[3,1] reduce-window(x, c), window={size=1x2 pad=-1_3x0_0}, to_apply=sum") ==
        "hlo.broadcast(%c, [], [3, 1]) : f32[3, 1]");
  CHECK(node("k = f32[1,1,2] parameter(0)\ny = f32[1,1,1] convolution(k, k), window={size=2 pad=-2_2}, "
             "dim_labels=bf0_oi0->bf0")
            .find("emptied = true") != std::string::npos);
  CHECK(error(module(x + "y = f32[3,2] pad(x, c), padding=-1_2x0_0")) ==
        "graph/result-type: `y` is f32[2,2], not f32[3,2]");
}

TEST_CASE("reductions by numbers of another kind are no known ones") {
  const ReadOptions ranks = of_rank(0, 2);
  const std::string reduced = " all-reduce(x), replica_groups={}, to_apply=sum";
  for (const char* type : {"pred[4]", "s32[4]"}) {
    const std::string x = "x = " + std::string(type) + " parameter(0)\n";
    CHECK(node(x + "y = " + type + reduced, "y", ranks)
              .ends_with(" unknown: what `sum` computes is not a known reduction"));
  }
  // Numbers are widened to be summed.
  CHECK(node("x = bf16[4] parameter(0)\ny = bf16[4]" + reduced, "y", ranks) ==
        "hlo.all_reduce(%x, sum; group = \"{{0,1}}\") : bf16[4]");
  CHECK(node("x = s32[4] parameter(0)\nc = s32[] constant(0)\ny = s32[] reduce(x, c), dimensions={0}, "
             "to_apply=sum")
            .starts_with("hlo.reduce(%x, %c; "));
}

TEST_CASE("numbers without a sign are not read as numbers that may be negative") {
  const std::string x = "x = u32[4] parameter(0)\nz = u32[4] parameter(1)\n";
  CHECK(node(x + "y = u32[4] add(x, z)") == "hlo.add(%x, %z) : i64[4]");
  CHECK(node(x + "y = u32[4] subtract(x, z)") == "hlo.subtract(%x, %z; element_type = u32) : i64[4]");
  CHECK(node(x + "y = u32[4] not(x)") == "hlo.not(%x; element_type = u32) : i64[4]");
  CHECK(node(x + "y = u32[4] negate(x)") == "hlo.negate(%x; element_type = u32) : i64[4]");
  CHECK(node(x + "y = u32[4] shift-right-logical(x, z)") == "hlo.shift_right_arithmetic(%x, %z) : i64[4]");
  CHECK(node(x + "y = u32[4] shift-right-arithmetic(x, z)") ==
        "hlo.shift_right_arithmetic(%x, %z; element_type = u32) : i64[4]");
  CHECK(node("x = s32[4] parameter(0)\ny = s32[4] shift-right-logical(x, x)") ==
        "hlo.shift_right_logical(%x, %x; element_type = s32) : i32[4]");
  CHECK(node(x + "y = f32[4] convert(x)") == "hlo.convert(%x) : f32[4]");
  CHECK(node("x = s32[4] parameter(0)\ny = u32[4] convert(x)") ==
        "hlo.convert(%x; element_type = u32) : i64[4]");
  CHECK(node("x = f32[4] parameter(0)\ny = u8[4] convert(x)") ==
        "hlo.convert(%x; element_type = \"u8\") : u8[4]");
  CHECK(node("x = pred[4] parameter(0)\ny = u8[4] convert(x)") == "hlo.convert(%x) : u8[4]");
  // What wraps around from above.
  const auto opaque = [](const std::string& instructions) {
    return node(instructions).find("element_type = ") != std::string::npos;
  };
  const std::string scalars = "x = u32[] parameter(0)\nc = u32[] constant(";
  for (const char* op : {"add", "multiply"}) {
    const std::string y = ")\ny = u32[] " + std::string(op);
    CHECK(opaque(scalars + "4294967295" + y + "(x, c)"));
    CHECK(opaque(scalars + "2147483648" + y + "(c, x)"));
    CHECK_FALSE(opaque(scalars + "2147483647" + y + "(x, c)"));
  }
  CHECK(
      opaque("x = u8[4] parameter(0)\nc = u8[] constant(128)\nd = u8[4] broadcast(c), dimensions={}\n"
             "e = u8[4] copy(d)\ny = u8[4] add(x, e)"));
  CHECK(opaque("x = u16[2] parameter(0)\nc = u16[2] constant({0, 65535})\ny = u16[2] add(x, c)"));
  CHECK(opaque("x = u64[] parameter(0)\nc = u64[] constant(18446744073709551615)\ny = u64[] add(x, c)"));
  CHECK_FALSE(opaque("x = s32[] parameter(0)\nc = s32[] constant(2147483647)\ny = s32[] add(x, c)"));
  CHECK(opaque(scalars + "2147483648)\ny = u32[] shift-left(c, x)"));
  CHECK(opaque(scalars + "31)\ny = u32[] shift-left(x, c)"));
  CHECK_FALSE(opaque(scalars + "30)\ny = u32[] shift-left(x, c)"));
  // Folded: exactly what it is, or known not to fit.
  CHECK_FALSE(opaque(scalars + "4294967290)\nd = u32[] constant(5)\ny = u32[] add(c, d)"));
  CHECK(opaque(scalars + "4294967290)\nd = u32[] constant(6)\ny = u32[] add(c, d)"));
  CHECK(opaque(scalars + "65536)\ny = u32[] multiply(c, c)"));
  CHECK(opaque(scalars + "2000000000)\nd = u32[] add(c, c)\ny = u32[] add(d, x)"));
  CHECK(opaque(scalars + "4294967295)\nz = u32[] constant(0)\np = pred[] parameter(1)\n"
                         "s = u32[] select(p, x, z)\ny = u32[] add(s, c)"));
  CHECK(opaque(scalars + "300)\ny = u8[] convert(c)"));
  CHECK_FALSE(opaque(scalars + "255)\ny = u8[] convert(c)"));
  // Numbers that the type does not hold.
  for (const auto& [type, least, greatest] :
       {std::array{"u32", "0", "4294967295"}, std::array{"u64", "0", "18446744073709551615"},
        std::array{"s8", "-128", "127"}, std::array{"u8", "0", "255"}, std::array{"s4", "-8", "7"},
        std::array{"s64", "-9223372036854775808", "9223372036854775807"}}) {
    const auto constant = [&](const std::string& value) {
      return error(module("y = " + std::string(type) + "[2] constant({0, " + value + "})"));
    };
    CHECK(constant(least) == "no error");
    CHECK(constant(greatest) == "no error");
    for (std::string value : {std::string(least), std::string(greatest)}) {
      value = value == "0" ? "-1" : value + "0";
      CHECK(constant(value) == "graph/bad-value: `{0, " + value + "}` is no value of type " + type + "[2]");
    }
  }
  CHECK(node(x + "y = u32[4] popcnt(x)") == "hlo.popcnt(%x; element_types = \"u32,->u32,\") : i64[4]");
  CHECK(node("x = s64[4] parameter(0)\ny = s64[4] popcnt(x)") == "hlo.popcnt(%x) : i64[4]");
}

TEST_CASE("custom calls are called after their target") {
  const std::string x = "x = f32[2,3] parameter(0)\n";
  CHECK(node(x + "y = f32[2,3] custom-call(x), custom_call_target=\"my.kernel\", "
                 "api_version=API_VERSION_STATUS_RETURNING, "
                 "operand_layout_constraints={f32[2,3]{1,0}}, backend_config=\"3\"") ==
        "hlo.my.kernel(%x; backend_config = 3) : f32[2, 3]");
  CHECK(node(x + "y = f32[2,3] custom-call(x), custom_call_target=\"a\", backend_config={\"eps\": 1e-05, "
                 "\"on\": true}") ==
        "hlo.a(%x; backend_config = \"{\\\"eps\\\":1e-05,\\\"on\\\":true}\") : f32[2, 3]");
  CHECK(
      node(x +
           "y = (f32[2,3], s32[]) custom-call(x, x), custom_call_target=\"a$b\", dim_labels=b0f_0io->b0f") ==
      "hlo.a$b(%x, %x; dim_labels = \"b0f_0io->b0f\") : f32[2, 3] i32[]");
  // Names of XLA's own operators are theirs.
  for (const char* own : {"negate", "rng", "all_reduce", "all-reduce", "while"}) {
    CHECK(node(x + "y = f32[2,3] custom-call(x), custom_call_target=\"" + own + "\"") ==
          "hlo.custom_call." + std::string(own) + "(%x) : f32[2, 3]");
  }
  for (const char* own : {"reduce_sum", "argmax", "top_k", "cumsum", "custom_call.log"}) {
    CHECK(node(x + "y = f32[2,3] custom-call(x), custom_call_target=\"" + own + "\"") ==
          "hlo.custom_call." + std::string(own) + "(%x) : f32[2, 3]");
  }
  CHECK(node(x + "y = f32[2] reduce-sum(x), dims={1}") ==
        "hlo.reduce_sum(%x; opcode = \"reduce-sum\", dims = [1]) : f32[2]");
  CHECK(
      node(
          x +
          "y = f32[2,3] custom-call(x), custom_call_target=\"callback\", custom_call_has_side_effect=true") ==
      "hlo.callback(%x) : f32[2, 3] unknown: `callback` does more than its results say");
  CHECK(node("x = u32[2] parameter(0)\ny = u32[2] custom-call(x), custom_call_target=\"hash\"") ==
        "hlo.hash(%x; element_types = \"u32,->u32,\") : i64[2]");
}

TEST_CASE("what tells custom calls apart that nothing describes") {
  const auto marks = [](const std::string& layout, const std::string& attributes,
                        const std::string& result = "") {
    const Graph read = graph(module("x = f32[2,3]" + layout + " parameter(0)\ny = f32[2,3]" + result +
                                    " custom-call(x), custom_call_target=\"k\"" + attributes));
    return read.nodes[read.find("y")].marks;
  };
  const std::string standard = marks("", "");
  CHECK(standard == "{f32[2,3]}->f32[2,3]");
  for (const char* layout : {"{1,0}", "{ 1 , 0 }", "{1,0:S(5)}"}) {
    CHECK(marks(layout, "") == standard);
    CHECK(marks("", "", layout) == standard);
    CHECK(marks("{0,1}", ", operand_layout_constraints={f32[2,3]" + std::string(layout) + "}") == standard);
  }
  CHECK(marks("", ", operand_layout_constraints={f32[2,3]}, frontend_attributes={}") == standard);
  CHECK(marks("{0,1}", "") == "{f32[2,3]{0,1}}->f32[2,3]");
  CHECK(marks("", ", operand_layout_constraints={f32[2,3]{0,1}}") == marks("{0,1}", ""));
  CHECK(marks("", "", "{0,1}") == "{f32[2,3]}->f32[2,3]{0,1}");
  CHECK(marks("{1,0:T(8,128)}", "") == "{f32[2,3]{1,0:T(8,128)}}->f32[2,3]");
  CHECK(marks("", ", frontend_attributes={mode=\"1\"}") == standard + "{mode=\"1\"}");
  CHECK(marks("", ", backend_config=\"01\"") != marks("", ", backend_config=\"1\""));
  CHECK(marks("", ", backend_config=\"2-1\"") != marks("", ", backend_config=\"1\""));
  const Graph read =
      graph(module("t = (f32[2]{0}, s32[]) parameter(0)\nx = f32[3,2]{0,1} parameter(1)\n"
                   "y = (f32[2], f32[2,2]{0,1}) custom-call(t, x), custom_call_target=\"k\""));
  CHECK(read.nodes[read.find("y")].marks == "{(f32[2],s32[]),f32[3,2]{0,1}}->(f32[2],f32[2,2]{0,1})");
}

TEST_CASE("names that computations happen to have") {
  const std::string x = "x = f32[2,2] parameter(0)\n";
  const std::string others =
      "LEFT { a = f32[] parameter(0)  ROOT b = f32[] copy(a) }\n"
      "RIGHT { a = f32[] parameter(0)  ROOT b = f32[] copy(a) }\n"
      "DRAWS { a = f32[] parameter(0)  ROOT b = f32[] rng(a, a) }\n";
  const auto line = [&](const std::string& attribute) {
    const Graph read = graph(module(x + "y = f32[2,2] frob(x), " + attribute, "", others));
    return shown(read, read.nodes[read.find("y")]);
  };
  CHECK(line("side=LEFT") != line("side=RIGHT"));
  CHECK(line("side=LEFT").find("LEFT") != std::string::npos);
  CHECK(line("to_apply=LEFT") == line("to_apply=RIGHT"));
  CHECK(line("called_computations={LEFT, RIGHT}") == line("called_computations={%RIGHT, %RIGHT}"));
  CHECK(line("to_apply=DRAWS").find(" unknown: ") != std::string::npos);
  CHECK(error(module(x + "y = f32[2,2] frob(x), to_apply=%MIDDLE", "", others)) ==
        "graph/missing-node: there is no computation `MIDDLE`");
  CHECK(error(module(x + "y = f32[2,2] frob(x), called_computations={%LEFT, %MIDDLE}", "", others)) ==
        "graph/hlo-attribute: `{%LEFT, %MIDDLE}` is no value of `called_computations`");
}

TEST_CASE("what is drawn, received or known only at run time is not taken for a function") {
  const std::string x = "x = u64[2] parameter(0)\nt = token[] after-all()\n";
  const auto unknown = [](const std::string& line) { return line.find(" unknown: ") != std::string::npos; };
  CHECK(unknown(node(
      x + "a = f32[] constant(0)\nb = f32[] constant(1)\ny = f32[4] rng(a, b), distribution=rng_uniform")));
  CHECK(unknown(node(x + "y = (u64[2], u32[4]) rng-bit-generator(x), algorithm=rng_three_fry")));
  CHECK(unknown(node(x + "y = u64[1] rng-get-and-update-state(), delta=1")));
  CHECK(unknown(node(x + "y = (f32[3], token[]) infeed(t)")));
  CHECK(unknown(node(x + "y = (f32[3], u32[], token[]) recv(t), channel_id=1")));
  CHECK(
      unknown(node("x = s32[] parameter(0)\nz = f32[8] parameter(1)\ny = f32[<=8] set-dimension-size(z, x), "
                   "dimensions={0}")));
  CHECK(unknown(node("x = f32[<=8] parameter(0)\ny = f32[<=8] negate(x)")));
  CHECK(
      unknown(node("x = f32[<=8] parameter(0)\nc = f32[] constant(0)\ny = f32[] reduce(x, c), "
                   "dimensions={0}, to_apply=sum")));
  CHECK_FALSE(unknown(node(x + "y = u64[2] copy(x)")));
  const Graph read = graph(
      module("a = f32[] constant(0)\nb = f32[] constant(1)\nr = f32[4] rng(a, b), distribution=rng_uniform\n"
             "s = f32[4] rng(a, b), distribution=rng_uniform\nt = (f32[4], f32[4]) tuple(r, s)"));
  test::World world;
  const support::Result<Lowered> lowered = lower({read}, world.target);
  REQUIRE(lowered.ok());
  CHECK_FALSE(world.target.same(lowered->nodes[0][2].results[0], lowered->nodes[0][3].results[0]));
}

TEST_CASE("bitcasts keep the order in memory") {
  CHECK(node("x = f32[2,6]{1,0} parameter(0)\ny = f32[3,4]{1,0} bitcast(x)") ==
        "hlo.reshape(%x, [3, 4]) : f32[3, 4]");
  CHECK(shown(graph(module("x = f32[2,3]{0,1} parameter(0)\ny = f32[3,2]{1,0} bitcast(x)"))) ==
        "y/rows = hlo.transpose(%x, [1, 0]) : f32[3, 2]\ny = hlo.reshape(%y/rows, [3, 2]) : f32[3, 2]\n");
  CHECK(shown(graph(module("x = f32[6] parameter(0)\ny = f32[2,3]{0,1:S(5)} bitcast(x)"))) ==
        "y/reshaped = hlo.reshape(%x, [3, 2]) : f32[3, 2]\ny = hlo.transpose(%y/reshaped, [1, 0]) : f32[2, "
        "3]\n");
  CHECK(node("x = f32[6]{0} parameter(0)\ny = f32[2,3]{1,0:T(8,128)} bitcast(x)") ==
        "hlo.bitcast(%x; layouts = \"0->1,0:T(8,128)\") : f32[2, 3]");
  CHECK(node("x = f32[6]{0} parameter(0)\ny = s32[6]{0} bitcast(x)") ==
        "hlo.bitcast(%x; layouts = \"0->0\") : i32[6]");
  // A second name may have another layout.
  CHECK(shown(graph(module("x = f32[2,3]{1,0} parameter(0)\n"
                           "s = (f32[2,3]{0,1}, f32[2,3]{1,0}, u32[]) copy-start(x)\n"
                           "d = f32[2,3]{0,1} copy-done(s)\ny = f32[3,2]{1,0} bitcast(d)")))
            .ends_with("y/rows = hlo.transpose(%d, [1, 0]) : f32[3, 2]\n"
                       "y = hlo.reshape(%y/rows, [3, 2]) : f32[3, 2]\n"));
}

}  // namespace entangle::graph
