// HLO text as graphs: modules, types, values of constants, and the forms of the text.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

#include "hlo_world.h"

namespace entangle::graph {

using namespace hlo_world;  // NOLINT: this file makes nothing else

TEST_CASE("a module keeps its name, inputs, outputs, places and types") {
  const std::string text =
      "HloModule jit_f.7, is_scheduled=true, entry_computation_layout={(f32[2,8]{1,0}, "
      "/*index=1*/bf16[8]{0})->f32[2,8]}\n"
      "\n"
      "%add.1 (a: f32[], b: f32[]) -> f32[] {\n"
      "  %a = f32[] parameter(0)\n"
      "  %b = f32[] parameter(1)\n"
      "  ROOT %c = f32[] add(f32[] %a, f32[] %b)\n"
      "}\n"
      "\n"
      "ENTRY %main.9 (w.2: bf16[8], x.1: f32[2,8]) -> (f32[2,8], f32[2,8]) {\n"
      "  %w.2 = bf16[8]{0:T(1024)} parameter(1), sharding={replicated}\n"
      "  %x.1 = f32[2,8]{1,0} parameter(0)\n"
      "  %neg = f32[2,8]{1,0:T(8,128)S(1)} negate(f32[2,8]{1,0} %x.1), metadata={op_name=\"jit(f)/neg\" "
      "source_file=\"model.py\" source_line=17}\n"
      "  ROOT %t = (f32[2,8]{1,0}, f32[2,8]{1,0}) tuple(%neg, /*index=1*/%x.1)\n"
      "}\n";
  const Graph read = graph(text);
  CHECK(read.name == "jit_f.7");
  CHECK(read.source == "hlo");
  CHECK(read.path == "t.hlo");
  CHECK(read.warnings.empty());
  CHECK(read.groups.empty());
  CHECK_FALSE(read.world_size.has_value());
  REQUIRE(read.nodes.size() == 3);
  CHECK(read.inputs == std::vector<NodeIndex>{0, 1});  // by number
  CHECK(read.nodes[0].name == "x.1");
  CHECK(read.nodes[1].name == "w.2");
  CHECK(tensor::to_string(*read.nodes[1].results[0]) == "bf16[8]");
  CHECK(read.outputs == std::vector<NodeIndex>{2, 0});
  const Node& negated = read.nodes[2];
  CHECK(shown(read, negated) == "neg = hlo.negate(%x.1) : f32[2, 8]");
  CHECK(negated.loc == "model.py:17");
  CHECK(read.span(2).line == 12);
  CHECK(read.span(2).column == 4);
  CHECK(read.span(2).length == 3);
  CHECK(read.find("neg") == 2);
}

TEST_CASE("places come from the tables behind the header, or are the operator's name") {
  const Graph read = graph(
      "HloModule m\n\nFileNames\n1 \"<string>\"\n2 \"dir/a.py\"\n\nFunctionNames\n1 "
      "\"main\"\n\nFileLocations\n"
      "1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=5}\n"
      "4 {file_name_id=2 function_name_id=1 line=153 end_line=153 column=2 end_column=31}\n\n"
      "StackFrames\n1 {file_location_id=4 parent_frame_id=1}\n\n\n"
      "ENTRY main { x = f32[2] parameter(0)\n"
      "  y = f32[2] negate(x), metadata={op_type=\"neg\" op_name=\"jit(main)/neg\" stack_frame_id=1}\n"
      "  ROOT z = f32[2] negate(y), metadata={op_name=\"jit(main)/\\\"neg\\\"\" stack_frame_id=9} }");
  CHECK(read.nodes[1].loc == "dir/a.py:153");
  CHECK(read.nodes[2].loc == "jit(main)/\"neg\"");
}

TEST_CASE("element types of other widths are read as those that hold them") {
  const std::vector<std::array<std::string, 2>> kinds = {
      {"pred", "b8"}, {"s8", "i8"},     {"s16", "i16"},     {"s32", "i32"}, {"s64", "i64"},
      {"u8", "u8"},   {"u16", "i32"},   {"u32", "i64"},     {"u64", "i64"}, {"f16", "f16"},
      {"f64", "f64"}, {"bf16", "bf16"}, {"f8e4m3fn", "f8"}, {"s4", "i8"}};
  for (const auto& [hlo, ours] : kinds) {
    CAPTURE(hlo);
    const Graph read = graph("HloModule m ENTRY e { ROOT x = " + hlo + "[3]{0} parameter(0) }");
    CHECK(tensor::to_string(*read.nodes[0].results[0]) == ours + "[3]");
  }
  for (const char* unknown : {"c64", "c128", "f8e5m2", "f4e2m1fn", "i32", "float"}) {
    CHECK(error(std::string("HloModule m ENTRY e { ROOT x = ") + unknown + "[] parameter(0) }") ==
          std::string("graph/bad-dtype: `") + unknown + "` is not an element type that can be read");
  }
}

TEST_CASE("the values of constants") {
  const auto value = [](const std::string& type, const std::string& literal) {
    const Graph read = graph("HloModule m ENTRY e { ROOT c = " + type + " constant(" + literal + ") }");
    REQUIRE(read.nodes.size() == 1);
    CHECK(read.nodes[0].op == "constant");
    CHECK(read.outputs == std::vector<NodeIndex>{0});
    return read.nodes[0].value             ? tensor::to_string(*read.nodes[0].value)
           : read.nodes[0].unknown.empty() ? "not recorded"
                                           : read.nodes[0].unknown;
  };
  CHECK(value("f32[]", "1.5") == "3/2");
  CHECK(value("f32[]", "-1e-05") == "-1/100000");
  CHECK(value("f32[]", "1e+3") == "1000");
  CHECK(value("f16[]", "8") == "8");
  CHECK(value("f32[]", "-inf") == "-inf");
  CHECK(value("f32[]", "inf") == "inf");
  CHECK(value("f32[]", "nan") == "it is not a number");
  CHECK(value("f32[2]", "{1, nan(0x7fc1)}") == "it is not a number");
  CHECK(value("pred[]", "true") == "true");
  CHECK(value("pred[2]", "{1, 0}") == "[true, false]");
  CHECK(value("s32[3]{0}", "{1, -2, 3}") == "[1, -2, 3]");
  CHECK(value("s32[2,2]{1,0}", "{ { 1, 2 }, { 3, 4 } }") == "[[1, 2], [3, 4]]");
  CHECK(value("s32[1,1,2]{2,1,0}", "{ { /*i1=0*/ {1, 2} } }") == "[[[1, 2]]]");
  CHECK(value("f32[0]", "{}") == "[]");
  CHECK(value("f32[2,0]", "{ {}, {} }") == "[[], []]");
  CHECK(value("f32[32]{0}", "{...}") == "not recorded");
  CHECK(value("f32[4,8]{1,0}", "{...}") == "not recorded");
  CHECK(value("f32[2,2]", "{ { 1, 2 }, {...} }") == "not recorded");
  CHECK(value("s32[2]", "s32[2] {1, 2}") == "[1, 2]");
  CHECK(value("u64[]", "18446744073709551615") == "18446744073709551615");
  CHECK(shown(graph("HloModule m ENTRY e { ROOT c = (f32[], s32[]) constant((1, 2)) }"))
            .starts_with("c = constant() : f32[] i32[] unknown: constants that are tuples are not read\n"));
  const std::vector<std::array<std::string, 2>> wrong = {
      {"f32[]", "true"}, {"f32[]", "{1}"},  {"f32[2]", "{1}"},      {"f32[2]", "{1, 2, 3}"},
      {"f32[2]", "1"},   {"s32[]", "1.5"},  {"s32[]", "inf"},       {"s32[]", "1e2"},
      {"pred[]", "2"},   {"s32[]", "nan"},  {"f32[2,1]", "{1, 2}"}, {"f32[]", "1e9999"},
      {"f32[]", ""},     {"f32[1]", "{x}"}, {"s32[2]", "{1 2}"},    {"f32[2]", "{{1}, {2}}"}};
  for (const auto& [type, literal] : wrong) {
    CAPTURE(type);
    CAPTURE(literal);
    CHECK(error("HloModule m ENTRY e { ROOT c = " + type + " constant(" + literal + ") }")
              .starts_with("graph/bad-value: "));
  }
}

TEST_CASE("two elided constants are not known to be equal") {
  const Graph read = graph(
      module("a = f32[4] constant({...})\nb = f32[4] constant({...})\nc = (f32[4], f32[4]) tuple(a, b)"));
  test::World world;
  const support::Result<Lowered> lowered = lower({read}, world.target);
  REQUIRE(lowered.ok());
  CHECK_FALSE(world.target.same(lowered->nodes[0][0].results[0], lowered->nodes[0][1].results[0]));
  CHECK(lowered->blocked.size() == 2);
}

TEST_CASE("forms of text that XLA writes") {
  const Graph read = graph(
      R"hlo(HloModule jit__train_step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, must-alias) }, buffer_donor={ (0, {1}) }, entry_computation_layout={(f32[8]{0:T(256)}, /*index=1*/(s32[], bf16[2,3]{1,0:T(8,128)(2,1)}))->(f32[8]{0}, pred[])}, allow_spmd_sharding_propagation_to_output={true,false}, num_partitions=8, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=8]>},fingerprint_before_lhs="a'b"}, alias_passthrough_params=true

%fused_computation.1 (param_0: f32[8], param_1.2: s32[]) -> f32[8] {
  %param_0 = f32[8]{0:T(256)} parameter(0)
  %param_1.2 = s32[]{:T(128)S(6)} parameter(1)
  %constant.1_clone = f32[]{:T(128)} constant(nan), metadata={op_name="it's \"x\" \n"}
  %broadcast.1 = f32[8]{0:T(256)S(1)} broadcast(f32[]{:T(128)} %constant.1_clone), dimensions={}
  ROOT %select_fusion = f32[8]{0:T(256)} add(f32[8]{0:T(256)} %param_0, f32[8]{0:T(256)S(1)} %broadcast.1), backend_config={"flag_configs":[],"window_config":{"kernel_window_bounds":["1","-2"]},"scoped_memory_configs":[]}
}

%region_0.3_spmd (Arg_0.4: f32[], Arg_1.5: f32[]) -> f32[] {
  %Arg_0.4 = f32[] parameter(0), metadata={op_name="jit(f)/reduce_sum"}
  %Arg_1.5 = f32[] parameter(1)
  ROOT %add.6 = f32[] add(f32[] %Arg_0.4, f32[] %Arg_1.5), metadata={op_name="jit(f)/reduce_sum[axes=(1,)]" source_file="/a b/c.py" source_line=3 source_end_line=4 source_column=1}
}, execution_thread="main"

%async_computation (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %cp = f32[8]{0} copy(%p), control-predecessors={}
}

ENTRY %main.9_spmd (param: f32[8], param.1: (s32[], bf16[2,3])) -> (f32[8], (s32[], bf16[2,3])) {
  %param = f32[8]{0:T(256)} parameter(0), sharding={devices=[8]<=[8]}, metadata={op_name="x[\'w\']"}, frontend_attributes={a="b",c="d"}
  %param.1 = (s32[]{:T(128)}, bf16[2,3]{1,0:T(8,128)(2,1)}) parameter(1), sharding={{replicated}, {devices=[1,2,4]<=[8] last_tile_dim_replicate}}
  %gte = s32[]{:T(128)} get-tuple-element((s32[]{:T(128)}, bf16[2,3]{1,0:T(8,128)(2,1)}) %param.1), index=0
  %fusion.1 = f32[8]{0:T(256)} fusion(f32[8]{0:T(256)} %param, s32[]{:T(128)} %gte), kind=kLoop, calls=%fused_computation.1, control-predecessors={%gte}
  %async = ((f32[8]{0}), f32[8]{0}, u32[]{:S(2)}) async-start(%fusion.1), calls=%async_computation, async_execution_thread="sparsecore"
  %async-done = f32[8]{0} async-done(((f32[8]{0}), f32[8]{0}, u32[]{:S(2)}) %async)
  %all-reduce.1 = (f32[8]{0}, f32[8]{0}) all-reduce(%async-done, %fusion.1), channel_id=2, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=%region_0.3_spmd, backend_config={"barrier_config":{"barrier_type":"CUSTOM","id":"0"}}
  %g0 = f32[8]{0} get-tuple-element(%all-reduce.1), index=0
  %crs = f32[8]{0} cross-replica-sum(%g0), replica_groups={{0}}, to_apply=%region_0.3_spmd
  %c0 = s32[2,2]{1,0} constant({ { 1, 2 }, { 3, -4 } }), origin={{"constant.5"}}
  %cc = (f32[8]{0}, s8[16]{0}) custom-call(%g0, %c0), custom_call_target="__cublas$gemm", operand_layout_constraints={f32[8]{0}, s32[2,2]{1,0}}, output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, backend_config={"gemm_backend_config":{"alpha_real":1,"beta":0.5,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]},"epilogue":"DEFAULT"},"force_earliest_schedule":false}
  ROOT %tuple.12 = (f32[8]{0}, (s32[], bf16[2,3]{1,0})) tuple(%g0, %param.1), sharding={{devices=[8]<=[8]}, {replicated}, {replicated}}
}
)hlo",
      of_rank(3, 8));
  std::vector<std::string> ops;
  for (const Node& node : read.nodes) {
    ops.push_back(node.name + " " + node.op);
  }
  CHECK(ops == std::vector<std::string>{
                   "param placeholder", "param.1{0} placeholder", "param.1{1} placeholder", "gte hlo.copy",
                   "fusion.1/constant.1_clone constant", "fusion.1/broadcast.1 hlo.broadcast",
                   "fusion.1 hlo.add", "async hlo.copy", "async-done hlo.copy", "all-reduce.1 hlo.all_reduce",
                   "g0 getitem", "crs hlo.all_reduce", "c0 constant", "cc hlo.__cublas$gemm"});
  CHECK(read.outputs == std::vector<NodeIndex>{10, 1, 2});
  CHECK(read.nodes[4].loc == "it's \"x\" \\n");
  CHECK(read.warnings.empty());
  CHECK(shown(read, read.nodes[12]) == "c0 = constant() : i32[2, 2] = [[1, 2], [3, -4]]");
  CHECK(shown(read, read.nodes[13]).starts_with("cc = hlo.__cublas$gemm(%g0, %c0; backend_config = "));
}

TEST_CASE("whatever an instruction ends with, the next one begins with its name") {
  for (const std::string groups : {"{{0,1}}", "[1,2]<=[2]", "[1,2]<=[1,2]T(0,1)", "[1,2]<=[2] T ( 0 )"}) {
    for (const std::string next : {"t", "%t", "T", "%T", "t-1"}) {
      CAPTURE(groups);
      CAPTURE(next);
      const Graph read = graph(
          "HloModule m, num_partitions=2, x=[1]<=[1]\n" + std::string(kReducers) +
              "ENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] all-reduce(x), to_apply=sum, channel_id=1, "
              "use_global_device_ids=true, replica_groups=" +
              groups + "\n  " + next + " = f32[4] negate(y)\n  ROOT z = f32[4] negate(y)\n}\n",
          of_rank(0, 2));
      CHECK(read.nodes.size() == 4);
      CHECK(read.groups[0].ranks == std::vector<std::size_t>{0, 1});
    }
  }
}

TEST_CASE("text after the last computation, and other forms that are no module") {
  CHECK(read("HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }\n\n").ok());
  CHECK(read("\n\n  HloModule m\r\nENTRY e { ROOT x = f32[] parameter(0) }, execution_thread=\"main\"").ok());
  const std::string deep = "HloModule m\nENTRY e { ROOT x = " + std::string(100000, '(');
  CHECK(error(deep) == "graph/hlo-syntax: nested more than 200 deep");
  CHECK(error("HloModule m\nENTRY e { ROOT x = f32[] negate(x) }") ==
        "graph/cycle: `x` depends on itself, by `x`");
}

TEST_CASE("modules that call each other too often are refused") {
  std::string text = "HloModule m\nc0 { ROOT p = f32[] parameter(0) }\n";
  for (int k = 1; k < 40; ++k) {
    const std::string below = "c" + std::to_string(k - 1);
    text += "c" + std::to_string(k) + " { p = f32[] parameter(0)  a = f32[] call(p), to_apply=" + below +
            "  ROOT b = f32[] call(a), to_apply=" + below + " }\n";
  }
  text += "ENTRY e { x = f32[] parameter(0)  ROOT y = f32[] call(x), to_apply=c39 }";
  CHECK(error(text) ==
        "graph/hlo-computation: with what it calls this module has more than 155072 instructions");
}

TEST_CASE("random edits of a module give a graph or one error with a place") {
  const std::vector<std::string> lines = {
      "HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[4,8]{1,0}, "
      "s32[2]{0})->f32[2,8]{1,0}}, num_partitions=2",
      "",
      "FileNames",
      "1 \"a.py\"",
      "FileLocations",
      "1 {file_name_id=1 line=3}",
      "StackFrames",
      "1 {file_location_id=1}",
      "%sum (a: f32[], b: f32[]) -> f32[] {",
      "  %a = f32[] parameter(0)",
      "  %b = f32[] parameter(1)",
      "  ROOT %c = f32[] add(f32[] %a, f32[] %b)",
      "}",
      "%less { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = pred[] compare(p, q), direction=LT }",
      "%fused (p: f32[4,8]) -> (f32[4,8], f32[4,8]) {",
      "  %p = f32[4,8]{1,0} parameter(0)",
      "  %s = f32[4,8]{1,0} sine(%p), metadata={op_name=\"s\" source_file=\"b.py\" source_line=7}",
      "  ROOT %t = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%s, /*index=1*/%p)",
      "}",
      "%body { v = (s32[], f32[4,8]) parameter(0)  i = s32[] get-tuple-element(v), index=0",
      "  x = f32[4,8] get-tuple-element(v), index=1  n = f32[4,8] negate(x)  ROOT t = (s32[], f32[4,8]) "
      "tuple(i, n) }",
      "%goes { v = (s32[], f32[4,8]) parameter(0)  i = s32[] get-tuple-element(v), index=0  ROOT c = pred[] "
      "compare(i, i), "
      "direction=LT }",
      "ENTRY %main (x: f32[4,8], i: s32[2]) -> f32[2,8] {",
      "  %x = f32[4,8]{1,0:T(8,128)} parameter(0), sharding={devices=[2,1]<=[2]}",
      "  %i = s32[2]{0} parameter(1)",
      "  %f = (f32[4,8]{1,0}, f32[4,8]{1,0}) fusion(%x), kind=kLoop, calls=%fused",
      "  %g = f32[4,8]{1,0} get-tuple-element((f32[4,8]{1,0}, f32[4,8]{1,0}) %f), index=0",
      "  %id = u32[] partition-id()",
      "  %table = s32[2]{0} constant({0, 2})",
      "  %o = s32[1]{0} dynamic-slice(%table, %id), dynamic_slice_sizes={1}",
      "  %at = s32[] reshape(%o)",
      "  %zero = s32[] constant(0)",
      "  %mine = f32[2,8]{1,0} dynamic-slice(%g, %at, %zero), dynamic_slice_sizes={2,8}",
      "  %k = f32[] constant(-1.5e-05)",
      "  %w = f32[8,8]{1,0} broadcast(%k), dimensions={}",
      "  %d = f32[2,8]{1,0} dot(%mine, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
      "operand_precision={highest,default}",
      "  %h = f32[2,8]{1,0} gather(%g, %i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, "
      "slice_sizes={1,8}",
      "  %e = f32[2,8]{1,0} add(%d, %h)",
      "  %pad = f32[2,11]{1,0} pad(%e, %k), padding=0_0x1_0_0",
      "  %cut = f32[2,4]{1,0} slice(%e), slice={[0:2], [0:8:2]}",
      "  %r = f32[2]{0} reduce(%e, %k), dimensions={1}, to_apply=%sum",
      "  %win = f32[2,6]{1,0} reduce-window(%e, %k), window={size=1x3 stride=1x1}, to_apply=%sum",
      "  %sorted = f32[2,8]{1,0} sort(%e), dimensions={1}, is_stable=true, to_apply=%less",
      "  %all = f32[2,8]{1,0} all-reduce(%sorted), channel_id=1, replica_groups=[1,2]<=[2], "
      "use_global_device_ids=true, "
      "to_apply=%sum",
      "  %ags = (f32[2,8]{1,0}, f32[4,8]{1,0}) all-gather-start(%all), channel_id=2, replica_groups={{0,1}}, "
      "use_global_device_ids=true, dimensions={0}",
      "  %ag = f32[4,8]{1,0} all-gather-done(%ags)",
      "  %init = (s32[], f32[4,8]{1,0}) tuple(%zero, %ag)",
      "  %loop = (s32[], f32[4,8]{1,0}) while(%init), condition=%goes, body=%body, "
      "backend_config={\"known_trip_count\":{\"n\":\"5\"}}",
      "  %out = f32[4,8]{1,0} get-tuple-element(%loop), index=1",
      "  %own = f32[2,8]{1,0} custom-call(%out), custom_call_target=\"own\", backend_config=\"1\"",
      "  ROOT %y = (f32[2,8]{1,0}, f32[2]{0}, f32[2,6]{1,0}, f32[2,11]{1,0}, f32[2,4]{1,0}) tuple(%own, %r, "
      "%win, %pad, %cut)",
      "}"};
  const auto text_of = [](const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& line : all) {
      text += line + "\n";
    }
    return text;
  };
  REQUIRE(read(text_of(lines), of_rank(0, 2)).ok());
  std::mt19937 random(7);
  const auto below = [&](std::size_t count) { return random() % count; };
  const auto anywhere = [&](std::string& line) { return line.empty() ? 0 : below(line.size()); };
  const std::vector<std::string> pieces = {
      "{",     "}",     "(",  ")",      "[",  "]",    ",",        "=",    "%x", "0",
      "-1",    "ROOT ", "\"", "/*",     "*/", "->",   "<=",       ":",    "x",  "99999999999999999999",
      "{...}", "nan",   "s4", "tuple(", "4",  "\xff", "f32[4,8]", "{1,0}"};
  std::size_t good = 0;
  std::size_t bad = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<std::string> edited = lines;
    for (std::size_t edits = 1 + below(4) / 3; edits > 0; --edits) {
      std::string& line = edited[below(edited.size())];
      std::string& other = edited[below(edited.size())];
      switch (below(7)) {
        case 0:
          if (!line.empty()) {
            line[anywhere(line)] = static_cast<char>(random() % 256);
          }
          break;
        case 1:
          line.erase(anywhere(line), 1 + below(4));
          break;
        case 2:
          line.insert(anywhere(line), pieces[below(pieces.size())]);
          break;
        case 3:
          std::swap(line, other);
          break;
        case 4: {
          const std::string copy = line;
          edited.insert(edited.begin() + static_cast<std::ptrdiff_t>(below(edited.size())), copy);
          break;
        }
        case 5:
          edited.erase(edited.begin() + static_cast<std::ptrdiff_t>(below(edited.size())));
          break;
        default:  // the end of one line is that of another
          line = line.substr(0, anywhere(line)) + other.substr(anywhere(other));
      }
    }
    const support::Result<Graph> found = read(text_of(edited), of_rank(0, 2));
    good += found.ok() ? 1 : 0;
    bad += found.ok() ? 0 : 1;
    if (!found && found.error().id != "graph/json-syntax" && found.error().id != "graph/format") {
      CAPTURE(text_of(edited));
      CHECK(found.error().id.starts_with("graph/"));
      CHECK(found.error().span.line >= 1);
      CHECK_FALSE(found.error().message.empty());
    }
    if (found && trial % 8 == 0) {
      test::World world(ENTANGLE_SOURCE_DIR "/rules/aten.rules");
      ReadOptions second = of_rank(1, 2);
      second.model = &*found;
      const Graph other = graph(text_of(edited), second);
      const support::Result<Lowered> lowered = lower({*found, other}, world.target);
      CHECK((lowered.ok() || lowered.error().span.line >= 1));
    }
  }
  CHECK(good > 150);
  CHECK(bad > 1000);
}

}  // namespace entangle::graph
