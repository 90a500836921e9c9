// HLO text as graphs: tuples, and what is inside fusions, calls, loops and branches.
#include <doctest/doctest.h>

#include <array>

#include "hlo_world.h"

namespace entangle::graph {

using namespace hlo_world;  // NOLINT: this file makes nothing else

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

TEST_CASE("values that are given a second name stay what they are") {
  CHECK(
      shown(graph(module("x = f32[2] parameter(0)\nt = token[] after-all()\na = f32[2] add-dependency(x, t)\n"
                         "p = (f32[2], f32[2]) tuple(a, x)\no = (f32[2], f32[2]) opt-barrier(p)\n"
                         "y = f32[2] get-tuple-element(o), index=1"))) ==
      "a = hlo.copy(%x) : f32[2]\ny = hlo.copy(%x) : f32[2]\n");
}

}  // namespace entangle::graph
