// HLO text as graphs: what every operator, attribute and form of the text becomes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

#include "entangle/graph/lower.h"
#include "entangle/graph/read.h"
#include "world.h"

namespace entangle::graph {

namespace {

support::Result<Graph> read(const std::string& text, const ReadOptions& options = {}) {
  return parse_graph(support::add_source("t.hlo", text), options);
}

ReadOptions of_rank(std::size_t rank, std::size_t world) {
  ReadOptions options;
  options.rank = rank;
  options.shared = true;
  options.world = world;
  return options;
}

Graph graph(const std::string& text, const ReadOptions& options = {}) {
  support::Result<Graph> result = read(text, options);
  if (!result) {
    FAIL(support::render(result.error()));
  }
  return std::move(*result);
}

std::string error(const std::string& text, const ReadOptions& options = {}) {
  const support::Result<Graph> result = read(text, options);
  return result ? "no error" : result.error().id + ": " + result.error().message;
}

std::string shown(const Graph& graph, const Arg& arg) {
  if (const Arg::Ref* ref = arg.ref()) {
    return "%" + graph.nodes[ref->node].name;
  }
  if (const tensor::Attr* attr = arg.literal()) {
    return tensor::to_string(*attr);
  }
  std::string list;
  for (const Arg& one : *arg.list()) {
    list += (list.empty() ? "" : ", ") + shown(graph, one);
  }
  return "[" + list + "]";
}

// `name = op(arguments; key = value) : types`, then what else there is to say.
std::string shown(const Graph& graph, const Node& node) {
  std::string text = node.name + " = " + node.op + "(";
  for (std::size_t k = 0; k < node.args.size(); ++k) {
    text += (k > 0 ? ", " : "") + shown(graph, node.args[k]);
  }
  for (std::size_t k = 0; k < node.kwargs.size(); ++k) {
    text += (k > 0 ? ", " : "; ") + node.kwargs[k].first + " = " + shown(graph, node.kwargs[k].second);
  }
  text += ") :";
  for (const auto& type : node.results) {
    text += " " + (type ? tensor::to_string(*type) : "none");
  }
  text += node.value ? " = " + tensor::to_string(*node.value) : "";
  return text + (node.unknown.empty() ? "" : " unknown: " + node.unknown);
}

// All nodes but inputs, a line each.
std::string shown(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    text += node.op == "placeholder" ? "" : shown(graph, node) + "\n";
  }
  return text;
}

// A module of one computation, the last instruction of which is the root.
std::string module(const std::string& instructions, const std::string& header = "",
                   const std::string& others = "") {
  std::string body = instructions;
  while (body.ends_with('\n') || body.ends_with(' ')) {
    body.pop_back();
  }
  const std::size_t last = body.rfind('\n') == std::string::npos ? 0 : body.rfind('\n') + 1;
  return "HloModule m" + header + "\n\n" + others + "\nENTRY main {\n" + body.substr(0, last) + "ROOT " +
         body.substr(last) + "\n}\n";
}

constexpr const char* kReducers = R"(
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
greatest { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(b, a) }
product { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] multiply(a, b) }
either { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] or(a, b) }
both { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] multiply(a, b) }
least { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] minimum(a, b) }
difference { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] subtract(a, b) }
twice { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, a) }
second { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
more { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(b, a), direction=LE }
total { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER }
)";

// The line of the node `y` in a module with these instructions, to which y belongs.
std::string node(const std::string& instructions, const std::string& name = "y",
                 const ReadOptions& options = {}, const std::string& header = "") {
  const Graph read = graph(module(instructions, header, kReducers), options);
  const NodeIndex found = read.find(name);
  REQUIRE(found != kNoNode);
  return shown(read, read.nodes[found]).substr(name.size() + 3);
}

}  // namespace

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
  CHECK(negated.span.line == 12);
  CHECK(negated.span.column == 4);
  CHECK(negated.span.length == 3);
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
  for (const char* own : {"reduce_sum", "top_k", "cumsum", "custom_call.log"}) {
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

TEST_CASE("tuples are taken apart") {
  const Graph read =
      graph(module("p = (f32[2], (s32[], f32[3])) parameter(0)\n"
                   "a = f32[2] get-tuple-element(p), index=0\n"
                   "q = (s32[], f32[3]) get-tuple-element(p), index=1\n"
                   "b = f32[3] get-tuple-element(q), index=1\n"
                   "s = (f32[2], s32[2]) custom-call(a), custom_call_target=\"two\"\n"
                   "c = s32[2] get-tuple-element(s), index=1\n"
                   "d = s32[2] get-tuple-element(s), index=1\n"
                   "n = ((s32[], f32[3]), f32[2]) tuple(q, a)\n"
                   "t = (f32[3], s32[2], (f32[2], s32[2])) tuple(b, c, s)"));
  CHECK(shown(read) ==
        "a = hlo.copy(%p{0}) : f32[2]\n"
        "b = hlo.copy(%p{1}{1}) : f32[3]\n"
        "s = hlo.two(%a) : f32[2] i32[2]\n"
        "c = getitem(%s, 1) : i32[2]\n"
        "d = hlo.copy(%c) : i32[2]\n"
        "s{0} = getitem(%s, 0) : f32[2]\n");
  REQUIRE(read.inputs.size() == 3);
  CHECK(read.nodes[2].name == "p{1}{1}");
  std::vector<std::string> outputs;
  for (const NodeIndex output : read.outputs) {
    outputs.push_back(read.nodes[output].name);
  }
  CHECK(outputs == std::vector<std::string>{"b", "c", "s{0}", "c"});
}

TEST_CASE("what has no node of its own has the type that is declared of it") {
  const std::string others =
      "inner { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }\n"
      "pair { p = f32[4] parameter(0)  n = f32[4] sine(p)  ROOT t = (f32[4], f32[4]) tuple(n, p) }\n"
      "step { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0\n"
      "  v = f32[4] get-tuple-element(p), index=1  o = s32[] constant(1)  j = s32[] add(i, o)\n"
      "  ROOT t = (s32[], f32[4]) tuple(j, v) }\n"
      "goes { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0\n"
      "  n = s32[] constant(2)  ROOT c = pred[] compare(i, n), direction=LT }\n";
  const std::string start =
      "x = f32[4] parameter(0)\nz = s32[] constant(0)\np = (s32[], f32[4]) tuple(z, x)\nt = token[] "
      "after-all()\nb = f32[<=4] parameter(1)\n";
  struct Case {
    const char* type;  // that fits
    const char* rest;
    std::vector<std::array<const char*, 2>> wrong;  // types that do not, and what is said
  };
  const std::vector<Case> cases = {
      {"f32[4]",
       "fusion(x), kind=kLoop, calls=inner",
       {{"f32[2,2]", "`y` is f32[4], not f32[2,2]"},
        {"f32[5]", "`y` is f32[4], not f32[5]"},
        {"bf16[4]", "`y` is f32[4], not bf16[4]"},
        {"f32[<=4]", "`y` is f32[4], not f32[<=4]"},
        {"(f32[4])", "`y` is f32[4], not a tuple of 1 element"}}},
      {"f32[4]", "call(x), to_apply=inner", {{"s32[4]", "`y` is f32[4], not s32[4]"}}},
      {"(f32[4], f32[4])",
       "fusion(x), kind=kLoop, calls=pair",
       {{"(f32[4], f32[3])", "`y{1}` is f32[4], not f32[3]"},
        {"(f32[4])", "`y` is a tuple of 2 elements, not a tuple of 1 element"},
        {"f32[4]", "`y` is a tuple of 2 elements, not f32[4]"}}},
      {"(f32[4], (s32[], f32[4]))",
       "tuple(x, p)",
       {{"(f32[4], (s32[], f32[4,1]))", "`y{1}{1}` is f32[4], not f32[4,1]"},
        {"(f32[4], (s64[], f32[4]))", "`y{1}{0}` is s32[], not s64[]"},
        {"()", "`y` is a tuple of 2 elements, not a tuple of 0 elements"}}},
      {"(s32[], f32[4])",
       "while(p), condition=goes, body=step",
       {{"(s32[], f32[2,2])", "`y{1}` is f32[4], not f32[2,2]"}}},
      {"(s32[], f32[4])", "opt-barrier(p)", {{"(s32[], f32[1])", "`y{1}` is f32[4], not f32[1]"}}},
      {"f32[4]", "optimization-barrier(x)", {{"f32[4,1]", "`y` is f32[4], not f32[4,1]"}}},
      {"f32[<=4]", "optimization-barrier(b)", {{"f32[4]", "`y` is f32[<=4], not f32[4]"}}},
      {"f32[4]", "add-dependency(x, t)", {{"f32[]", "`y` is f32[4], not f32[]"}}},
      {"(f32[4], f32[4], u32[])",
       "copy-start(x)",
       {{"(f32[5], f32[4], u32[])", "`y{0}` is f32[4], not f32[5]"}}},
      {"((f32[4]), f32[4], u32[])",
       "async-start(x), calls=inner",
       {{"((f32[4]), f32[2,2], u32[])", "`y{1}` is f32[4], not f32[2,2]"},
        {"((f32[3]), f32[4])", "`y{0}{0}` is f32[4], not f32[3]"}}},
      {"f32[4]", "get-tuple-element(p), index=1", {{"f32[3]", "`y` is f32[4], not f32[3]"}}},
      {"(s32[], f32[4])",
       "get-tuple-element(q), index=0",
       {{"(s32[], f32[3])", "`y{1}` is f32[4], not f32[3]"}}},
      {"token[]", "after-all()", {{"f32[4]", "`after-all` gives a token"}}},
  };
  const auto text = [&](const std::string& type, const std::string& rest) {
    return module(start + "q = ((s32[], f32[4]), s32[]) tuple(p, z)\ny = " + type + " " + rest +
                      "\nend = f32[4] sine(x)",
                  "", others);
  };
  for (const Case& one : cases) {
    CHECK(error(text(one.type, one.rest)) == "no error");
    for (const auto& [type, message] : one.wrong) {
      CHECK(error(text(type, one.rest)) == "graph/result-type: " + std::string(message));
    }
  }
  const std::string begun = "s = (f32[4], f32[4], u32[]) copy-start(x)\n";
  CHECK(error(module(start + begun + "y = f32[2,2] copy-done(s)")) ==
        "graph/result-type: `y` is f32[4], not f32[2,2]");
  CHECK(error(module(start + "y = f32[4] negate(f32[4] p)")) ==
        "graph/result-type: `p` is a tuple of 2 elements, not f32[4]");
}

TEST_CASE("values that no type describes do not grow without bounds") {
  std::string doubled = "t0 = () tuple(x, x)\n";
  for (int k = 1; k < 60; ++k) {
    const std::string last = "t" + std::to_string(k - 1);
    doubled += "t" + std::to_string(k) + " = () tuple(" + last + ", " + last + ")\n";
  }
  const std::string x = "x = f32[4] parameter(0)\n";
  CHECK(error(module(x + doubled + "y = f32[4] negate(x)")) ==
        "graph/result-type: `t0` is a tuple of 2 elements, not a tuple of 0 elements");
  // In the body of a loop, which is run to count before it is read.
  const std::string loop =
      "body { p = (s32[], f32[4]) parameter(0)\n  x = s32[] get-tuple-element(p), index=0\n" + doubled +
      "  v = f32[4] get-tuple-element(p), index=1  o = s32[] constant(1)  i = s32[] add(x, o)\n"
      "  ROOT t = (s32[], f32[4]) tuple(i, v) }\n"
      "goes { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0\n"
      "  n = s32[] constant(2)  ROOT c = pred[] compare(i, n), direction=LT }\n";
  const Graph read = graph(module(x + "z = s32[] constant(0)\np = (s32[], f32[4]) tuple(z, x)\n"
                                      "y = (s32[], f32[4]) while(p), condition=goes, body=body",
                                  "", loop));
  CHECK(read.nodes[read.find("y")].op == "hlo.while");
}

TEST_CASE("fusions and calls are read inside") {
  const std::string inner =
      "inner { a = f32[4] parameter(0)\n ROOT r = f32[4] negate(a), metadata={source_file=\"in.py\" "
      "source_line=2} }\n"
      "fused { p = f32[4] parameter(0)  q = f32[4] parameter(1)\n"
      "  e = f32[4] exponential(p)  c = f32[4] call(e), to_apply=inner\n  ROOT s = f32[4] add(c, q) }\n"
      "pair { p = f32[4] parameter(0)\n  n = f32[4] sine(p)  ROOT t = (f32[4], f32[4]) tuple(n, p) }\n"
      "same { ROOT p = f32[4] parameter(0) }\n";
  const Graph read = graph(module(
      "x = f32[4] parameter(0)\n"
      "f.1 = f32[4] fusion(x, x), kind=kLoop, calls=fused, metadata={source_file=\"a.py\" source_line=7}\n"
      "f.2 = f32[4] fusion(f.1, x), kind=kLoop, calls=fused\n"
      "g = (f32[4], f32[4]) fusion(f.2), kind=kLoop, calls=pair\n"
      "h = f32[4] get-tuple-element(g), index=0\n"
      "y = f32[4] call(h), to_apply=same",
      "", inner));
  CHECK(shown(read) ==
        "f.1/e = hlo.exponential(%x) : f32[4]\n"
        "f.1/c = hlo.negate(%f.1/e) : f32[4]\n"
        "f.1 = hlo.add(%f.1/c, %x) : f32[4]\n"
        "f.2/e = hlo.exponential(%f.1) : f32[4]\n"
        "f.2/c = hlo.negate(%f.2/e) : f32[4]\n"
        "f.2 = hlo.add(%f.2/c, %x) : f32[4]\n"
        "g/n = hlo.sine(%f.2) : f32[4]\n"
        "h = hlo.copy(%g/n) : f32[4]\n"
        "y = hlo.copy(%h) : f32[4]\n");
  CHECK(read.nodes[read.find("f.1/e")].loc == "a.py:7");
  CHECK(read.nodes[read.find("f.1/c")].loc == "in.py:2");
}

TEST_CASE("loops of unknown length are opaque, told apart by what they do") {
  const std::string loops =
      "up { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  v = f32[4] "
      "get-tuple-element(p), index=1\n"
      "  one = s32[] constant(1)  j = s32[] add(i, one)  w = f32[4] sine(v)  ROOT t = (s32[], f32[4]) "
      "tuple(j, w) }\n"
      "up2 { q = (s32[], f32[4]) parameter(0)  k = s32[] get-tuple-element(q), index=0  v = f32[4] "
      "get-tuple-element(q), index=1\n"
      "  o = s32[] constant(1)  j = s32[] add(k, o)  w = f32[4] sine(v), metadata={op_name=\"x\"}  ROOT t = "
      "(s32[], f32[4]) "
      "tuple(j, w) }\n"
      "other { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  v = f32[4] "
      "get-tuple-element(p), index=1\n"
      "  one = s32[] constant(1)  j = s32[] add(i, one)  w = f32[4] cosine(v)  ROOT t = (s32[], f32[4]) "
      "tuple(j, w) }\n"
      "random { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  v = f32[] "
      "constant(0)\n"
      "  w = f32[4] rng(v, v), distribution=rng_uniform  ROOT t = (s32[], f32[4]) tuple(i, w) }\n"
      "goes { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  n = s32[] "
      "constant(9)\n"
      "  ROOT c = pred[] compare(i, n), direction=LT }\n";
  const auto loop = [&](const std::string& body) {
    const Graph read =
        graph(module("i = s32[] parameter(0)\nx = f32[4] parameter(1)\np = (s32[], f32[4]) tuple(i, x)\n"
                     "y = (s32[], f32[4]) while(p), condition=goes, body=" +
                         body,
                     "", loops));
    return shown(read, read.nodes[read.find("y")]);
  };
  CHECK(loop("up").starts_with("y = hlo.while([%i, %x]; condition = "));
  CHECK(loop("up") == loop("%up2"));
  CHECK(loop("up") != loop("other"));
  CHECK(loop("random").ends_with(" unknown: what `random` computes does not depend on its operands alone"));
}

TEST_CASE("loops that are known to run so many times are read as that many copies") {
  const auto loop = [](const std::string& start, const std::string& body, const std::string& condition,
                       const std::string& name = "y") {
    const std::string others =
        "next { a = s32[] parameter(0)  o = s32[] constant(2)  ROOT b = s32[] add(a, o) }\n"
        "body { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  v = f32[4] "
        "get-tuple-element(p), "
        "index=1\n  one = s32[] constant(1)  j = s32[] " +
        body +
        "\n  w = f32[4] sine(v)  ROOT t = (s32[], f32[4]) tuple(j, w) }\n"
        "goes { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  n = s32[] "
        "constant(3)\n"
        "  ROOT c = pred[] " +
        condition + " }\n";
    const Graph read = graph(module("x = f32[4] parameter(0)\nu = s32[] parameter(1)\nz = s32[] " + start +
                                        "\np = (s32[], f32[4]) tuple(z, x)\n"
                                        "l = (s32[], f32[4]) while(p), condition=goes, body=body\n"
                                        "y = f32[4] get-tuple-element(l), index=1",
                                    "", others));
    std::string ops;  // of the values that the loop computes
    for (const Node& node : read.nodes) {
      if (node.op == "hlo.sine" || node.op == "hlo.while" || node.name == name) {
        ops += shown(read, node) + "\n";
      }
    }
    return ops;
  };
  const std::string three =
      "l/0/w = hlo.sine(%l/0/v) : f32[4]\nl/1/w = hlo.sine(%l/1/v) : f32[4]\nl/2/w = hlo.sine(%l/2/v) : "
      "f32[4]\n"
      "y = hlo.copy(%l/2/w) : f32[4]\n";
  CHECK(loop("constant(0)", "add(i, one)", "compare(i, n), direction=LT") == three);
  CHECK(loop("constant(0)", "add(one, i)", "compare(n, i), direction=GT") == three);
  CHECK(loop("constant(6)", "subtract(i, one)", "compare(i, n), direction=NE") == three);
  CHECK(loop("constant(-1)", "fusion(i), kind=kLoop, calls=next", "compare(i, n), direction=LE") == three);
  CHECK(loop("constant(3)", "add(i, one)", "compare(i, n), direction=LT") == "y = hlo.copy(%x) : f32[4]\n");
  const auto opaque = [&](const std::string& start, const std::string& body, const std::string& condition) {
    const std::string found = loop(start, body, condition);
    return found.starts_with("l = hlo.while([%z, %x]; condition = ") &&
           found.find("sine") == std::string::npos;
  };
  CHECK(opaque("copy(u)", "add(i, one)", "compare(i, n), direction=LT"));
  CHECK(opaque("constant(0)", "add(i, i)", "compare(i, n), direction=LT"));             // forever
  CHECK(opaque("constant(2147483600)", "add(i, one)", "compare(i, n), direction=GE"));  // until it overflows
  CHECK(opaque("constant(0)", "shift-left(one, i)", "compare(i, n), direction=LT"));
  CHECK(opaque("constant(-2147483648)", "add(i, one)", "compare(i, n), direction=LT"));  // too often
}

TEST_CASE("branches") {
  const std::string others =
      std::string(kReducers) +
      "up { p = f32[4] parameter(0)  ROOT s = f32[4] sine(p) }\n"
      "down { p = f32[4] parameter(0)  n = f32[4] negate(p)  ROOT s = f32[4] cosine(n) }\n"
      "two { p = f32[4] parameter(0)  s = f32[4] sine(p)  ROOT t = (f32[4], f32[4]) tuple(s, p) }\n"
      "same { p = f32[4] parameter(0)  ROOT t = (f32[4], f32[4]) tuple(p, p) }\n"
      "all { p = f32[4] parameter(0)  ROOT s = f32[4] all-reduce(p), replica_groups={}, to_apply=sum }\n";
  const auto read = [&](const std::string& instructions) {
    return shown(graph(
        module("x = f32[4] parameter(0)\nq = pred[] parameter(1)\ni = s32[] parameter(2)\n" + instructions,
               "", others),
        of_rank(0, 2)));
  };
  CHECK(read("y = f32[4] conditional(q, x, x), true_computation=up, false_computation=down") ==
        "y/0 = hlo.sine(%x) : f32[4]\ny/1/n = hlo.negate(%x) : f32[4]\ny/1 = hlo.cosine(%y/1/n) : f32[4]\n"
        "y = hlo.select(%q, %y/0, %y/1) : f32[4]\n");
  CHECK(read("y = (f32[4], f32[4]) conditional(q, x, x), true_computation=%two, false_computation=%same") ==
        "y/0/s = hlo.sine(%x) : f32[4]\ny{0} = hlo.select(%q, %y/0/s, %x) : f32[4]\n"
        "y{1} = hlo.select(%q, %x, %x) : f32[4]\n");
  // The one that is taken, whatever it does.
  CHECK(read("k = pred[] constant(false)\ny = f32[4] conditional(k, x, x), true_computation=up, "
             "false_computation=all") ==
        "k = constant() : b8[] = false\ny = hlo.all_reduce(%x, sum; group = \"{{0,1}}\") : f32[4]\n");
  for (const auto& [index, taken] :
       {std::pair{"0", "sine"}, {"1", "cosine"}, {"2", "sine"}, {"7", "sine"}, {"-1", "sine"}}) {
    const std::string found =
        read(std::string("k = s32[] constant(") + index +
             ")\ny = f32[4] conditional(k, x, x, x), branch_computations={up, down, up}");
    CHECK(found.find(std::string("y = hlo.") + taken + "(") != std::string::npos);
  }
  CHECK(read("y = f32[4] conditional(q, x, x), true_computation=up, false_computation=all")
            .ends_with("unknown: what `all` computes does not depend on its operands alone\n"));
  CHECK(read("y = f32[4] conditional(i, x, x), branch_computations={up, down}")
            .starts_with("y = hlo.conditional(%i, %x, %x; "));
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

TEST_CASE("operators in two parts") {
  const Graph read = graph(
      module("x = f32[4] parameter(0)\n"
             "a = f32[4] all-reduce-start(x), replica_groups={{0,1}}, to_apply=sum\n"
             "b = f32[4] all-reduce-done(a)\n"
             "c = (f32[4], f32[8]) all-gather-start(b), replica_groups={{0,1}}, dimensions={0}\n"
             "d = f32[8] all-gather-done(c)\n"
             "e = (f32[8], f32[8], u32[], u32[]) collective-permute-start(d), "
             "source_target_pairs={{0,1},{1,0}}\n"
             "f = f32[8] collective-permute-done(e)\n"
             "g = (f32[8], f32[8], u32[]) copy-start(f)\n"
             "h = f32[8] copy-done(g)\n"
             "i = ((f32[8]), f32[8], s32[]) async-start(h), calls=wrapped\n"
             "j = ((f32[8]), f32[8], s32[]) async-update(i)\n"
             "k = ((f32[8]), f32[4], s32[]) reduce-scatter-start(h), replica_groups={{0,1}}, dimensions={0}, "
             "to_apply=sum\n"
             "l = f32[4] reduce-scatter-done(k)\n"
             "y = f32[8] async-done(j)",
             "", std::string(kReducers) + "wrapped { p = f32[8] parameter(0)  ROOT n = f32[8] negate(p) }\n"),
      of_rank(1, 2));
  CHECK(shown(read) ==
        "a = hlo.all_reduce(%x, sum; group = \"{{0,1}}\") : f32[4]\n"
        "b = hlo.copy(%a) : f32[4]\n"
        "c = hlo.all_gather(%b, 0; group = \"{{0,1}}\") : f32[8]\n"
        "d = hlo.copy(%c) : f32[8]\n"
        "e = hlo.collective_permute(%d, [[0, 1], [1, 0]]; group = \"{{0,1}}\") : f32[8]\n"
        "f = hlo.copy(%e) : f32[8]\n"
        "g = hlo.copy(%f) : f32[8]\n"
        "h = hlo.copy(%g) : f32[8]\n"
        "i = hlo.negate(%h) : f32[8]\n"
        "k = hlo.reduce_scatter(%h, sum, 0; group = \"{{0,1}}\") : f32[4]\n"
        "l = hlo.copy(%k) : f32[4]\n"
        "y = hlo.copy(%i) : f32[8]\n");
}

TEST_CASE("collectives") {
  const std::string x = "x = f32[4,6] parameter(0)\nz = f32[4,6] parameter(1)\nm = pred[4] parameter(2)\n";
  const auto line = [&](const std::string& instruction) { return node(x + instruction, "y", of_rank(0, 2)); };
  const std::string all = "group = \"{{0,1}}\"";
  CHECK(line("y = f32[4,6] all-reduce(x), replica_groups={{0,1}}, to_apply=greatest") ==
        "hlo.all_reduce(%x, max; " + all + ") : f32[4, 6]");
  CHECK(line("y = (f32[4,6], f32[4,6]) all-reduce(x, z), replica_groups={}, to_apply=sum") ==
        "hlo.all_reduce([%x, %z], sum; " + all + ") : f32[4, 6] f32[4, 6]");
  CHECK(line("y = pred[4] all-reduce(m), replica_groups={{0,1}}, to_apply=either") ==
        "hlo.all_reduce(%m, \"or\"; " + all + ") : b8[4]");
  CHECK(line("y = f32[4,6] all-reduce(x), replica_groups={{0,1}}, to_apply=difference") ==
        "hlo.all_reduce(%x; " + all +
            ") : f32[4, 6] unknown: what `difference` computes is not a known reduction");
  CHECK(line("y = f32[8,6] all-gather(x), replica_groups={{0,1}}, dimensions={0}") ==
        "hlo.all_gather(%x, 0; " + all + ") : f32[8, 6]");
  CHECK(line("y = f32[4,3] reduce-scatter(x), replica_groups={{0,1}}, dimensions={1}, to_apply=sum") ==
        "hlo.reduce_scatter(%x, sum, 1; " + all + ") : f32[4, 3]");
  CHECK(line("y = f32[4,6] all-to-all(x), replica_groups={{0,1}}, dimensions={1}") ==
        "hlo.all_to_all(%x, 1, 1; " + all + ") : f32[4, 6]");
  CHECK(line("y = (f32[4,6], f32[4,6]) all-to-all(x, z), replica_groups={{0,1}}") ==
        "hlo.all_to_all([%x, %z]; " + all + ") : f32[4, 6] f32[4, 6]");
  CHECK(line("y = f32[4,6] collective-permute(x), source_target_pairs={{1,0}}") ==
        "hlo.collective_permute(%x, [[1, 0]]; " + all + ") : f32[4, 6]");
  CHECK(line("y = f32[4,6] collective-broadcast(x), replica_groups={{0,1}}") ==
        "hlo.collective_broadcast(%x; " + all + ") : f32[4, 6]");
}

TEST_CASE("whom replica groups mean") {
  // [groups of this rank], by attributes, of rank 5 among 2 replicas of 4 partitions.
  const auto groups = [](const std::string& attributes,
                         const std::string& counts = ", replica_count=2, num_partitions=4") {
    const std::string text = module(
        "x = f32[4] parameter(0)\ny = f32[4] all-reduce(x), to_apply=sum, " + attributes, counts, kReducers);
    const support::Result<Graph> read = parse_graph(support::add_source("t.hlo", text), of_rank(5, 8));
    if (!read) {
      return read.error().id + ": " + read.error().message;
    }
    REQUIRE(read->groups.size() == 1);
    std::string list;
    for (const std::size_t rank : read->groups[0].ranks) {
      list += std::to_string(rank) + " ";
    }
    return list;
  };
  CHECK(groups("replica_groups={{0,1}}") == "1 5 ");
  CHECK(groups("replica_groups={{1,0}}") == "5 1 ");
  CHECK(groups("replica_groups={{0},{1}}") == "5 ");
  CHECK(groups("replica_groups={}") == "1 5 ");
  CHECK(groups("channel_id=1, replica_groups={{0,1}}") == "0 1 2 3 4 5 6 7 ");
  CHECK(groups("channel_id=1, replica_groups={{0},{1}}") == "4 5 6 7 ");
  CHECK(groups("channel_id=1, replica_groups={}, use_global_device_ids=false") == "0 1 2 3 4 5 6 7 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups={{0,2,4,6},{7,5,3,1}}") ==
        "7 5 3 1 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups=[2,4]<=[8]") == "4 5 6 7 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups=[4,2]<=[2,4]T(1,0)") == "1 5 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups=[2,4]<=[2,2,2]T(1,0,2)") ==
        "0 1 4 5 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups=[1,8]<=[8]") == "0 1 2 3 4 5 6 7 ");
  CHECK(groups("replica_groups={{0,1,2,3,4,5,6,7}}", "") ==
        "0 1 2 3 4 5 6 7 ");  // a header that says nothing: replicas
  CHECK(groups("use_global_device_ids=true, replica_groups={{0,1}}") ==
        "graph/bad-group: `use_global_device_ids` needs a `channel_id`");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups={}") ==
        "graph/bad-group: with `use_global_device_ids` the groups must be listed");
  CHECK(groups("replica_groups={{0,2}}") == "graph/bad-group: there is no number 2 among 2 replicas");
  CHECK(groups("replica_groups={{0,0}}") == "graph/bad-group: the number 0 is in two groups");
  CHECK(groups("replica_groups={{0}}") == "graph/bad-group: the number 1 is in no group of `y`");
  CHECK(groups("replica_groups={{-1}}") == "graph/bad-group: there is no number -1 among 2 replicas");
  for (const char* bad : {"[2,4]<=[9]", "[2,4]<=[2,4]T(0,0)", "[2,4]<=[2,4]T(1)", "[8]<=[8]", "{{0,1}",
                          "{0,1}", "[2,4]", "[0,8]<=[0]", "[9223372036854775807,2]<=[2]"}) {
    CAPTURE(bad);
    const std::string found =
        groups("channel_id=1, use_global_device_ids=true, replica_groups=" + std::string(bad));
    CHECK((found.starts_with("graph/hlo-attribute: ") || found.starts_with("graph/hlo-syntax: ")));
  }
}

TEST_CASE("all-to-all and permutations with a channel are among partitions") {
  const auto groups = [](const std::string& instruction) {
    const Graph read = graph(module("x = f32[4] parameter(0)\ny = f32[4] " + instruction,
                                    ", replica_count=2, num_partitions=4", kReducers),
                             of_rank(5, 8));
    REQUIRE(read.groups.size() == 1);
    return std::vector<std::size_t>(read.groups[0].ranks);
  };
  using Ranks = std::vector<std::size_t>;
  CHECK(groups("all-to-all(x), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}") ==
        Ranks{4, 5, 6, 7});
  CHECK(groups("all-to-all(x), replica_groups={{0,1}}, dimensions={0}") == Ranks{1, 5});
  const std::string silent = module(
      "x = f32[4] parameter(0)\ny = f32[4] all-to-all(x), channel_id=1, replica_groups={}, dimensions={0}");
  CHECK(error(silent, of_rank(0, 2)).starts_with("graph/bad-rank: this module asks for its partition"));
  CHECK(error(silent) == "no error");
  CHECK(groups("collective-permute(x), channel_id=1, source_target_pairs={{0,1}}") == Ranks{4, 5, 6, 7});
  CHECK(groups("collective-permute(x), source_target_pairs={{0,1}}") == Ranks{1, 5});
}

TEST_CASE("which device a rank is") {
  const auto places = [](const std::string& counts, std::size_t rank, std::size_t world) {
    const Graph read = graph(
        module("p = u32[] partition-id()\nr = u32[] replica-id()\nt = (u32[], u32[]) tuple(p, r)", counts),
        of_rank(rank, world));
    return shown(read);
  };
  CHECK(places(", num_partitions=4", 2, 4) ==
        "p = hlo.partition_id(rank) : i64[]\nr = hlo.replica_id(0) : i64[]\n");
  CHECK(places(", replica_count=4", 2, 4) ==
        "p = hlo.partition_id(0) : i64[]\nr = hlo.replica_id(rank) : i64[]\n");
  CHECK(places(", replica_count=2, num_partitions=4", 6, 8) ==
        "p = hlo.partition_id(\"Mod(rank, 4)\") : i64[]\nr = hlo.replica_id(\"rank//4\") : i64[]\n");
  CHECK(error(module("p = u32[] partition-id()"), of_rank(0, 2)) ==
        "graph/bad-rank: this module asks for its partition, but its header does not say how many there are "
        "(`num_partitions`)");
  CHECK(error(module("p = u32[] partition-id()", ", num_partitions=2")) ==
        "graph/bad-rank: the sequential program runs on one device, this module on 2, which differ from here "
        "on");
  CHECK(shown(graph(module("p = u32[] partition-id()"))) == "p = hlo.partition_id(0) : i64[]\n");
}

TEST_CASE("one module of all ranks is read once") {
  const std::string text = module(
      "x = f32[4] parameter(0)\np = u32[] partition-id()\na = f32[4] all-reduce(x), channel_id=1, "
      "use_global_device_ids=true, replica_groups={{0,2},{1,3}}, to_apply=sum",
      ", num_partitions=4", kReducers);
  const Graph first = graph(text, of_rank(0, 4));
  for (std::size_t rank = 0; rank < 4; ++rank) {
    ReadOptions options = of_rank(rank, 4);
    const Graph alone = graph(text, options);
    options.model = &first;
    const Graph copied = graph(text, options);
    CHECK(shown(copied) == shown(alone));
    CHECK(copied.rank == rank);
    CHECK(copied.symbol_prefix == alone.symbol_prefix);
    CHECK(copied.groups == alone.groups);
    CHECK(copied.world_size == 4);
    CHECK(copied.inputs == alone.inputs);
    CHECK(copied.outputs == alone.outputs);
    CHECK(copied.groups ==
          std::vector<Group>{{"{{0,2},{1,3}}", rank % 2 == 0 ? std::vector<std::size_t>{0, 2}
                                                             : std::vector<std::size_t>{1, 3}}});
    CHECK(copied.nodes[1].span.file == copied.file);
    CHECK(copied.nodes[1].span.line == alone.nodes[1].span.line);
  }
}

TEST_CASE("a module that is not partitioned says so") {
  const std::string before = module(
      "x = f32[4] parameter(0), sharding={devices=[2]<=[2]}\ny = f32[4] negate(x)", ", num_partitions=2");
  const Graph read = graph(before, of_rank(0, 2));
  REQUIRE(read.warnings.size() == 1);
  CHECK(read.warnings[0].id == "graph/hlo-sharding");
  CHECK(read.warnings[0].span.line == 5);
  const std::string after = module(
      "x = f32[4] parameter(0), sharding={devices=[2]<=[2]}\ny = f32[4] all-reduce(x), channel_id=1, "
      "use_global_device_ids=true, replica_groups={{0,1}}, to_apply=sum",
      ", num_partitions=2", kReducers);
  CHECK(graph(after, of_rank(0, 2)).warnings.empty());
}

TEST_CASE("values that are given a second name stay what they are") {
  CHECK(
      shown(graph(module("x = f32[2] parameter(0)\nt = token[] after-all()\na = f32[2] add-dependency(x, t)\n"
                         "p = (f32[2], f32[2]) tuple(a, x)\no = (f32[2], f32[2]) opt-barrier(p)\n"
                         "y = f32[2] get-tuple-element(o), index=1"))) ==
      "a = hlo.copy(%x) : f32[2]\ny = hlo.copy(%x) : f32[2]\n");
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
