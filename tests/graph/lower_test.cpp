#include "entangle/graph/lower.h"

#include <doctest/doctest.h>

#include "world.h"

namespace entangle::graph {

using sym::Int;
using test::call;
using test::graph_of;
using test::input;
using test::ref;
using test::World;

namespace {

// Lowers one graph; what went wrong is shown.
Lowered lowered(World& world, const std::vector<Graph>& graphs, const LowerOptions& options = {}) {
  support::Result<Lowered> result = lower(graphs, world.target, options);
  if (!result) {
    FAIL(support::render(result.error()));
  }
  return std::move(*result);
}

struct One {
  explicit One(const std::string& nodes, sym::Facts facts = {}, const LowerOptions& options = {})
      : world(ENTANGLE_SOURCE_DIR "/tests/graph/mini.rules", std::move(facts)),
        graphs{graph_of(nodes)},
        result(lowered(world, graphs, options)) {}

  const LoweredNode& node(const std::string& name) const { return result.nodes[0][graphs[0].find(name)]; }
  TermId term(const std::string& name) const { return node(name).results[0]; }
  std::string print(const std::string& name) const { return world.target.print(term(name)); }
  Kind kind(const std::string& name) const { return node(name).kind; }

  World world;
  std::vector<Graph> graphs;
  Lowered result;
};

std::string join(std::initializer_list<std::string> nodes) {
  std::string text;
  for (const std::string& node : nodes) {
    text += (text.empty() ? "" : ", ") + node;
  }
  return text;
}

std::string kwargs(const std::string& inside) {
  return R"(, "kwargs": {)" + inside + "}";
}

}  // namespace

TEST_CASE("arguments are bound by position, keyword and default") {
  const One one(
      join({input("x"), input("y"), call("a", "t.add", ref("x") + "," + ref("y")),
            call("b", "t.add", ref("x"), "[2, 4]", "f32", kwargs("\"alpha\": 3, \"y\": " + ref("y"))),
            call("c", "t.add", ref("x") + ", 2.5"),
            call("d", "t.same", ref("x"), "[2, 4]", "f32", kwargs(R"("memory_format": null)")),
            call("e", "t.same", ref("x"), "[2, 4]", "f32", kwargs(R"("pin": null)")),
            call("f", "t.same", ref("x"), "[2, 4]", "f32", kwargs(R"("pin": true)")),
            call("g", "t.same", ref("x") + ", null, null"), call("h", "t.same", ref("x") + ", null, 1")}));
  CHECK(one.print("a") == "add_n(x, y)");
  CHECK(one.print("b") == "add_n(x, scale(y; 3))");
  CHECK(one.print("c") == "add_n(x, bcast(const(; 5/2, f32); [0, 1], [2, 4]))");
  CHECK(one.term("d") == one.term("x"));
  CHECK(one.term("e") == one.term("x"));
  CHECK(one.kind("f") == Kind::opaque);  // an argument nobody asked for
  CHECK(one.node("f").reason == "it has no argument `pin`");
  CHECK(one.term("g") == one.term("x"));
  CHECK(one.node("h").reason == "it takes 2 arguments, not 3");
}

TEST_CASE(
    "a lowering of one's own comes before that of a file it includes, which is used where it does not") {
  World world(ENTANGLE_SOURCE_DIR "/tests/graph/own.rules");
  const std::vector<Graph> graphs = {graph_of(
      join({input("x"), input("y"), call("a", "t.add", ref("x") + "," + ref("y")),
            call("b", "t.add", ref("x") + "," + ref("y"), "[2, 4]", "f32", kwargs("\"alpha\": 3"))}))};
  const Lowered result = lowered(world, graphs);
  const auto print = [&](const std::string& name) {
    return world.target.print(result.nodes[0][graphs[0].find(name)].results[0]);
  };
  CHECK(print("a") == "scale(add_n(x, y); 7)");
  CHECK(print("b") == "add_n(x, scale(y; 3))");
}

TEST_CASE("axes may be negative, those of the result too") {
  const One one(
      join({input("x"), call("a", "t.sum", ref("x") + ", -2", "[4]"), call("b", "t.sum", ref("x"), "[2]"),
            call("c", "t.unsqueeze", ref("x") + ", -1", "[2, 4, 1]"),
            call("d", "t.permute", ref("x") + ", [-1, 0]", "[4, 2]"),
            call("e", "t.cat", "[" + ref("x") + ", " + ref("x") + "], -1", "[2, 8]"),
            call("f", "t.sum", ref("x") + ", 2", "[2]")}));
  CHECK(one.print("a") == "reduce_sum(x; 0)");
  CHECK(one.print("b") == "reduce_sum(x; 1)");
  CHECK(one.print("c") == "bcast(x; [2], [1])");
  CHECK(one.print("d") == "transpose(x; [1, 0])");
  CHECK(one.print("e") == "concat(x, x; 1)");
  CHECK(one.kind("f") == Kind::opaque);
}

TEST_CASE("optional operands and lists with holes") {
  const One one(
      join({input("x"), call("a", "t.optional", ref("x")), call("b", "t.optional", ref("x") + ", null"),
            call("c", "t.optional", ref("x") + ", " + ref("x")),
            call("d", "t.holes", ref("x") + ", [null, " + ref("x") + "]"),
            call("e", "t.cat", "[null, " + ref("x") + "]")}));
  CHECK(one.term("a") == one.term("x"));
  CHECK(one.term("b") == one.term("x"));
  CHECK(one.print("c") == "add_n(x, x)");
  CHECK(one.term("d") == one.term("x"));
  CHECK(one.kind("e") == Kind::opaque);
}

TEST_CASE("several results are picked, None has no term") {
  const One one(
      join({input("x", "[4, 2]"), call("s", "t.chunk", ref("x"), "[[2, 2], [2, 2]]", R"(["f32", "f32"])"),
            call("a", "getitem", ref("s") + ", 1", "[2, 2]"),
            call("d", "t.dropout", ref("x") + ", 0.5", "[[4, 2], null]", R"(["f32", null])"),
            call("b", "operator.getitem", ref("d") + ", 0", "[4, 2]"),
            call("c", "operator.getitem", ref("d") + ", 1", "null", "null"),
            call("e", "t.cat", ref("s"), "[4, 2]"),
            call("g", "t.dropout", ref("x") + ", 0.5", "[[4, 2], null]", R"(["f32", null])")}));
  CHECK(one.kind("s") == Kind::lowered);
  CHECK(one.kind("a") == Kind::pick);
  CHECK(one.print("a") == "slice(x; 0, 2, 4)");
  CHECK(one.print("b") == "dropout(x; 1/2, 1)");
  CHECK(one.term("c") == kNoTerm);
  CHECK(one.print("e") == "concat(slice(x; 0, 0, 2), slice(x; 0, 2, 4); 0)");
  CHECK(one.print("g") == "dropout(x; 1/2, 2)");  // another site
  CHECK(one.result.describe({0, 1, 1}) == "s[1]");
}

TEST_CASE("mutated arguments come after what is returned") {
  const One one(join({input("x"),
                      call("n", "t.norm", "", "[null, [2, 4]]", R"([null, "f32"])",
                           R"(, "mutates": ["result"])" + kwargs("\"result\": " + ref("x") + ", \"input\": " +
                                                                 ref("x") + ", \"epsilon\": 1e-06")),
                      call("y", "getitem", ref("n") + ", 1")}));
  CHECK(one.print("y") == "scale(x; 1/1000000)");
}

TEST_CASE("what works in place and is not described is what it is called without that") {
  const std::string both = "[[2, 4], [2, 4]]";
  const std::string types = R"(["f32", "f32"])";
  const std::string mutates = R"(, "mutates": ["x"])";
  const One one(join({input("x"), input("w"), call("e", "t.exp_", ref("x"), both, types, mutates),
                      call("r", "getitem", ref("e") + ", 0"), call("v", "getitem", ref("e") + ", 1"),
                      call("d", "t.drop_", ref("x") + ", 0.5", both, types, mutates),
                      call("n", "t.drop", ref("x") + ", 0.5"), call("c", "t.chunk_", ref("w"))}));
  CHECK(one.kind("e") == Kind::lowered);
  CHECK(one.print("r") == "exp(x)");
  CHECK(one.print("v") == "exp(x)");
  CHECK(one.print("n") == "dropout(x; 1/2, 2)");  // they are counted together
  CHECK(one.kind("c") == Kind::blocked);          // several results
  // Without `mutates` the result is known, what was changed is not.
  const One silent(join({input("x"), call("y", "t.exp_", ref("x")), call("z", "t.exp", ref("x"))}));
  CHECK(silent.print("y") == "exp(x)");
  CHECK(silent.kind("x") == Kind::blocked);
  CHECK(silent.term("z") != silent.term("y"));
  // A declaration of its own counts.
  const One own(join({input("x"), call("y", "t.add_", ref("x") + ", " + ref("x"))}));
  CHECK(own.print("y") == "add_n(x, x)");
}

TEST_CASE("of a list that is changed each tensor has a new value") {
  const std::string list = "[" + ref("x") + ", " + ref("w") + "]";
  const std::string types = R"([null, "f32", "f32"])";
  const One one(
      join({input("x"), input("w"),
            call("e", "t.each_exp_", list, "[null, [2, 4], [2, 4]]", types, R"(, "mutates": ["xs"])"),
            call("a", "getitem", ref("e") + ", 1"), call("b", "getitem", ref("e") + ", 2"),
            call("old", "t.exp", ref("w"))}));
  CHECK(one.kind("e") == Kind::lowered);
  CHECK(one.print("a") == "exp(x)");
  CHECK(one.print("b") == "exp(w)");
  CHECK(one.term("old") != one.term("b"));  // the old name means what is left of it
  // Without `mutates`: all of the list is unknown.
  const One silent(join({input("x"), input("w"), call("e", "t.each_exp_", list, "null", "null")}));
  CHECK(silent.kind("x") == Kind::blocked);
  CHECK(silent.kind("w") == Kind::blocked);
}

TEST_CASE("an operator that writes to a given tensor by its name") {
  const std::string out = kwargs("\"out\": " + ref("w"));
  const One silent(join({input("x"), input("w"), call("y", "t.exp.out", ref("x"), "[2, 4]", "f32", out)}));
  CHECK(silent.print("y") == "exp(x)");
  CHECK(silent.kind("x") == Kind::leaf);
  CHECK(silent.kind("w") == Kind::blocked);
  const One one(join({input("x"), input("w"),
                      call("y", "t.exp.out", ref("x"), "[[2, 4], [2, 4]]", R"(["f32", "f32"])",
                           R"(, "mutates": ["out"])" + out),
                      call("z", "getitem", ref("y") + ", 1")}));
  CHECK(one.print("z") == "exp(x)");
  const One unknown(join({input("x"), input("w"), call("y", "t.other_out", ref("x"), "[2, 4]", "f32", out)}));
  CHECK(unknown.kind("y") == Kind::blocked);
  CHECK(unknown.kind("w") == Kind::blocked);
}

TEST_CASE("constants, listed values and sizes") {
  const One one(join({call("a", "constant", "", "[]", "f32", kwargs(R"("value": 0.1)")),
                      call("b", "constant", "", "[2, 2]", "f32", kwargs(R"("value": [[1, 1], [1, 1]])")),
                      call("c", "constant", "", "[2, 2]", "f32", kwargs(R"("value": [[1, 2], [3, 4]])")),
                      call("d", "placeholder", "", "[3]", "b8", R"(, "value": [true, true, true])"),
                      call("e", "constant", "", "[3]", "f32"), call("f", "constant", "", "[3]", "f32"),
                      call("g", "constant", "", "[2, 2]", "f32", kwargs(R"("value": [[1, 2], [3, 4]])")),
                      call("h", "t.full", "[2], -Infinity", "[2]", "f32", kwargs(R"("dtype": "f32")"))}));
  CHECK(one.world.target.uniform(one.term("a")) == sym::Scalar::ratio(1, 10));
  CHECK(one.world.target.uniform(one.term("b")) == sym::Scalar(1));
  CHECK(one.print("c") == "split(lit(; [1, 2, 3, 4], f32); 0, 2)");
  CHECK(one.term("c") == one.term("g"));
  CHECK(one.world.target.uniform(one.term("d")) == sym::Scalar(1));
  CHECK(one.kind("d") == Kind::constant);
  CHECK(one.kind("e") == Kind::blocked);  // elided values are not known to be equal
  CHECK(one.term("e") != one.term("f"));
  CHECK(one.world.target.uniform(one.term("h")) == sym::Scalar::infinity(true));
}

TEST_CASE("sizes may be symbols, written or taken from nodes") {
  const Int s0 = Int::symbol("s0");
  const One one(join(
      {input("x", R"(["s0", 6])"), call("n", "t.size", ref("x") + ", 0", "[]", "i64", R"(, "sym": "s0")"),
       call("m", "t.size", ref("x") + ", -1", "[]", "i64"),
       call("a", "t.view", ref("x") + ", [" + ref("n") + ", 2, 3]", R"(["s0", 2, 3])"),
       call("b", "t.view", ref("x") + R"(, ["s0", 3, 2])", R"(["s0", 3, 2])"),
       call("c", "t.view", ref("x") + ", [" + ref("n") + ", 1, " + ref("m") + "]", R"(["s0", 1, 6])"),
       call("d", "t.slice", ref("x") + ", 1, 2, 9223372036854775807", R"(["s0", 4])")}));
  CHECK(one.world.target.type(one.term("x")).shape == tensor::Shape{s0, 6});
  CHECK(one.world.target.uniform(one.term("n")) == sym::Scalar(s0));
  CHECK(one.world.target.uniform(one.term("m")) == sym::Scalar(6));
  CHECK(one.print("a") == "split(x; 1, 3)");
  CHECK(one.print("b") == "split(x; 1, 2)");
  CHECK(one.print("c") == "bcast(x; [1], [1])");
  CHECK(one.print("d") == "slice(x; 1, 2, 6)");
}

TEST_CASE("recorded sizes that are not known to be those computed make a node opaque") {
  const std::string nodes = join({input("x", R"(["s0", 2])"), call("y", "t.exp", ref("x"), R"(["s1", 2])")});
  const One one(nodes);
  CHECK(one.kind("y") == Kind::opaque);
  CHECK(one.node("y").reason == "its recorded sizes are not known to be those computed");
  CHECK(one.world.target.type(one.term("y")).shape == tensor::Shape{Int::symbol("s1"), 2});
  sym::Facts facts;
  facts.add_equal(Int::symbol("s0"), Int::symbol("s1"));
  const One known(nodes, facts);
  CHECK(known.kind("y") == Kind::lowered);
  CHECK(known.result.found_sizes.empty());
  // A symbol that is new here is the name of the size that was computed; one that was met before is not.
  REQUIRE(one.result.found_sizes.size() == 1);
  CHECK(one.result.found_sizes[0].symbol == Int::symbol("s1"));
  CHECK(one.result.found_sizes[0].size == Int::symbol("s0"));
  CHECK(one.result.describe(one.result.found_sizes[0].at) == "y");
  for (const char* first : {R"(["s1", 2])", R"([2, "s1 + 1"])"}) {
    CAPTURE(std::string(first));
    const One met(
        join({input("w", first), input("x", R"(["s0", 2])"), call("y", "t.exp", ref("x"), R"(["s1", 2])")}));
    CHECK(met.kind("y") == Kind::opaque);
    CHECK(met.result.found_sizes.empty());
  }
  const One sum(join({input("x", R"(["s0", 2])"), call("y", "t.exp", ref("x"), R"(["2*s1", 2])")}));
  CHECK(sum.kind("y") == Kind::opaque);
  CHECK(sum.result.found_sizes.empty());
}

TEST_CASE("what is not described is opaque: a function of operands and attributes") {
  const One one(join({input("x"), input("y"), input("z"), call("a", "foo::bar", ref("x") + ", 1"),
                      call("b", "foo::bar", ref("x") + ", 1"), call("c", "foo::bar", ref("x") + ", 2"),
                      call("d", "foo::bar", ref("y") + ", 1"),
                      call("e", "foo::two", ref("x"), "[[2], [2]]", R"(["f32", "f32"])"),
                      call("f", "foo::none", ref("z"), "null", "null"), call("g", "foo::rand", "[2, 4]"),
                      call("h", "foo::rand", "[2, 4]")}));
  CHECK(one.kind("a") == Kind::opaque);
  CHECK(one.node("a").reason == "nothing is declared for `foo::bar`");
  CHECK(one.term("a") == one.term("b"));
  CHECK(one.term("a") != one.term("c"));
  CHECK(one.term("a") != one.term("d"));
  CHECK(one.node("e").results[0] != one.node("e").results[1]);
  CHECK(one.kind("f") == Kind::none);
  CHECK(one.kind("z") == Kind::blocked);  // what gives no result is there for what it does to its operands
  CHECK(one.kind("g") == Kind::blocked);  // without operands: each call may give anything
  CHECK(one.term("g") != one.term("h"));
  CHECK(one.result.opaque_ops == std::vector<std::string>{"foo::bar", "foo::two"});
  REQUIRE(one.result.opaque.size() == 5);
  CHECK(one.result.opaque[0].op == "foo::bar");
  CHECK(one.result.opaque[0].operands == std::vector<TermId>{one.term("x")});
  CHECK(tensor::to_string(one.result.opaque[0].attrs) == "[\"%0\", 1]");
  CHECK(one.result.blocked.size() == 3);
}

TEST_CASE("the same symbol of two files is not the same argument") {
  World world;
  const std::string nodes = join({input("x", R"(["s0"])"), call("y", "foo::bar", R"("s0", "sum")", "[4]"),
                                  call("z", "foo::bar", ref("w") + R"(, "s0", "sum")", "[4]")});
  const std::string all = join({input("w", "[4]"), nodes});
  const std::vector<Graph> graphs = test::ranks_of({all, all});
  TermId shared = kNoTerm;
  LowerOptions options;
  options.leaf = [&](const TensorRef& tensor, const tensor::TensorType& type) {
    if (tensor.node != 0) {
      return kNoTerm;
    }
    return shared = shared == kNoTerm ? world.target.leaf(type, "w") : shared;
  };
  const Lowered result = lowered(world, graphs, options);
  CHECK(result.nodes[0][0].results[0] == result.nodes[1][0].results[0]);
  CHECK(result.nodes[0][3].results[0] != result.nodes[1][3].results[0]);
}

TEST_CASE("random operators and uninitialised memory are unknowns of their own") {
  const One one(join({input("x"), call("a", "t.noise", ref("x")), call("b", "t.noise", ref("x")),
                      call("c", "t.empty", "[2, 4]"), call("d", "t.empty", "[2, 4]")}));
  CHECK(one.kind("a") == Kind::blocked);
  CHECK(one.node("a").reason == "`t.noise` is random");
  CHECK(one.term("a") != one.term("b"));
  CHECK(one.kind("c") == Kind::lowered);
  CHECK(one.term("c") != one.term("d"));
  CHECK(!one.world.target.defined(one.term("c")));
  CHECK(one.world.target.defined(one.term("x")));
}

TEST_CASE("an operator in place that does not say what it changes spoils its operand and views of it") {
  const std::string before =
      join({input("x"), input("y"), call("v", "t.view", ref("x") + ", [8]", "[8]"),
            call("e", "t.exp", ref("x")), call("i", "t.add_", ref("x") + ", " + ref("y"))});
  const One one(join({before, call("a", "t.exp", ref("x")), call("b", "t.exp", ref("y")),
                      call("w", "t.exp", ref("v"), "[8]")}));
  CHECK(one.kind("i") == Kind::lowered);
  CHECK(one.kind("x") == Kind::blocked);
  CHECK(one.kind("v") == Kind::blocked);
  CHECK(one.kind("y") == Kind::leaf);
  CHECK(one.kind("e") == Kind::lowered);
  CHECK(one.print("e") == "exp(x)");
  CHECK(one.print("i") == "add_n(x, y)");
  CHECK(one.term("a") != one.term("e"));
  CHECK(one.world.target.defined(one.term("b")));
  CHECK(!one.world.target.defined(one.term("w")));
  const One unknown(join({input("x"), call("i", "foo.bar_.out", ref("x"))}));
  CHECK(unknown.kind("i") == Kind::blocked);
  CHECK(unknown.kind("x") == Kind::blocked);
}

TEST_CASE("every change makes a new unknown of what is read after it") {
  const std::string add = ref("x") + ", " + ref("y");
  const std::string both = "[[2, 4], [2, 4]]";
  const std::string types = R"(["f32", "f32"])";
  const std::string mutates = R"(, "mutates": ["x"])";
  const std::string said = call("s", "t.exp_", ref("x"), both, types, mutates);
  const std::string said_again = call("t", "t.exp_", ref("x"), both, types, mutates);
  const std::string silent = call("s", "t.add_", add);
  const std::string silent_again = call("t", "t.add_", add);
  for (const auto& [first, second] : {std::pair(said, said_again), std::pair(said, silent_again),
                                      std::pair(silent, said_again), std::pair(silent, silent_again)}) {
    CAPTURE(first);
    CAPTURE(second);
    const One one(join({input("x"), input("y"), call("a", "t.exp", ref("x")), first,
                        call("b", "t.exp", ref("x")), second, call("c", "t.exp", ref("x"))}));
    CHECK(one.term("a") != one.term("b"));
    CHECK(one.term("b") != one.term("c"));
    CHECK(one.term("a") != one.term("c"));
  }
}

TEST_CASE("views of what was changed share it with what the operator returned") {
  const std::string both = "[[2, 4], [2, 4]]";
  const std::string types = R"(["f32", "f32"])";
  const std::string mutates = R"(, "mutates": ["x"])";
  // What is returned is changed: so is the operand, under its old name.
  const One one(join({input("x"), input("y"), call("s", "t.exp_", ref("x"), both, types, mutates),
                      call("r", "getitem", ref("s") + ", 0"), call("v", "t.view", ref("r") + ", [8]", "[8]"),
                      call("b", "t.exp", ref("x")), call("t", "t.add_", ref("r") + ", " + ref("y")),
                      call("c", "t.exp", ref("x")), call("d", "t.exp", ref("v"), "[8]"),
                      call("e", "t.exp", ref("y"))}));
  CHECK(one.term("b") != one.term("c"));
  CHECK(one.kind("v") == Kind::blocked);
  CHECK(!one.world.target.defined(one.term("d")));
  CHECK(one.kind("y") == Kind::leaf);
  CHECK(one.print("e") == "exp(y)");
}

TEST_CASE("look-ups are listed, each once, with the node that has them") {
  const One one(join({input("t", "[10, 4]"), input("i", "[3]", "i64"),
                      call("a", "t.embedding", ref("t") + ", " + ref("i"), "[3, 4]"),
                      call("b", "t.embedding", ref("t") + ", " + ref("i"), "[3, 4]"),
                      call("c", "t.exp", ref("b"), "[3, 4]")}));
  REQUIRE(one.result.lookups.size() == 1);
  CHECK(one.result.lookups[0].term == one.term("a"));
  CHECK(one.result.lookups[0].at == TensorRef{0, 2, 0});
}

TEST_CASE("inputs are leaves the caller chooses, and the program can be cut anywhere") {
  LowerOptions options;
  std::vector<TensorRef> asked;
  options.leaf = [&](const TensorRef& tensor, const tensor::TensorType&) {
    asked.push_back(tensor);
    return kNoTerm;
  };
  options.cut = [](std::uint32_t, NodeIndex node) { return node == 1; };
  const One one(join({input("x"), call("y", "t.exp", ref("x")), call("z", "t.exp", ref("y"))}), {}, options);
  CHECK(asked == std::vector<TensorRef>{{0, 0, 0}, {0, 1, 0}});
  CHECK(one.kind("y") == Kind::leaf);
  CHECK(one.print("z") == "exp(y)");
}

TEST_CASE("owners: the tensors a class holds") {
  LowerOptions options;
  options.mark_named = true;
  const One one(join({input("x"), input("b", "[4]"), call("y", "t.same", ref("x")),
                      call("z", "t.add", ref("x") + ", " + ref("b"))}),
                {}, options);
  const Owners owners(one.result, one.world.target);
  CHECK(owners.of(one.world.target.find(one.term("x"))) == std::vector<TensorRef>{{0, 0, 0}, {0, 2, 0}});
  CHECK(one.world.target.named(one.term("z")));
  // The broadcast inside the addition is no tensor of the program.
  const term::NodeView sum = one.world.target.original(one.term("z"));
  const TermId inner = sum.children[0] == one.term("x") ? sum.children[1] : sum.children[0];
  CHECK(one.world.target.print(inner) == "bcast(b; [0], [2])");
  CHECK(!one.world.target.named(inner));
  CHECK(owners.of(inner).empty());
}

TEST_CASE("tensors without elements are not held against their operators") {
  const One one(join({input("x", "[0, 4]"), call("y", "t.slice", ref("x") + ", 0, 0, 5", "[0, 4]")}));
  CHECK(one.kind("y") == Kind::opaque);
}

TEST_CASE("what stands in the first rank's graph, too, is lowered as what it means on this rank") {
  const std::string rules = ENTANGLE_SOURCE_DIR "/tests/graph/mini.rules";
  const std::string two = input("x") + "," + input("y") + ",";
  const auto full = [](const std::string& number) {
    return call("two", "t.full", "[2, 4]," + number, "[2, 4]", "f32", kwargs(R"("dtype": "f32")")) + ",";
  };
  const std::string rows = call("part", "t.slice", ref("x") + R"(, 0, "rank", "rank + 1")", "[1, 4]") + ",";
  const std::string rest = join(
      {call("a", "t.add", ref("x") + "," + ref("y")), call("b", "t.add", ref("a") + "," + ref("x") + ", 2"),
       call("c", "t.cat", "[" + ref("a") + "," + ref("y") + "]", "[4, 4]"),
       call("d", "t.exp", ref("c"), "[4, 4]"), call("e", "t.scale_by", ref("x") + "," + ref("y")),
       call("f", "t.head", ref("x")), call("g", "t.drop_unless_zero", ref("y") + ", 0.5"),
       call("h", "t.optional", ref("x") + ", null"),
       call("i", "t.chunk", ref("y"), "[[1, 4], [1, 4]]", R"(["f32", "f32"])"), call("j", "t.exp", ref("y")),
       call("k", "t.add", ref("j") + ", 2"), call("l", "t.add", ref("j") + ", 3")});
  // What comes before the nodes that the ranks share.
  const std::vector<std::string> heads{
      two + full("2"),
      two + full("3"),
      input("x") + "," + call("y", "t.same", ref("x")) + "," + full("2"),
      input("x") + "," + call("y", "t.full", "[2, 4], 2", "[2, 4]", "f32", kwargs(R"("dtype": "f32")")) +
          "," + full("2"),
      input("x") + "," + input("y", "[2, 4]", "f16") + "," + full("2"),
      input("x") + "," + call("y", "t.twice", ref("x"), "[[2, 4], [2, 4]]", R"(["f32", "f32"])") + "," +
          full("2"),
  };
  std::size_t lowered = 0;
  for (const std::string& first : heads) {
    for (const std::string& other : heads) {
      CAPTURE(first);
      CAPTURE(other);
      const std::vector<Graph> graphs = test::ranks_of({first + rows + rest, other + rows + rest});
      CHECK(std::ranges::count_if(graphs[1].texts, &NodeText::repeated) >= 12);
      CHECK(test::recipe_difference(graphs, rules) == "");
      World world(rules);
      lowered += lower(graphs, world.target).ok() ? 1 : 0;
    }
  }
  CHECK(lowered == 25);  // not of the operand of another type
  // Another type, where the lowering builds nothing.
  const std::string cast = call("a", "t.cast", ref("y"), "[2, 4]", "f32", kwargs(R"("dtype": "f32")"));
  CHECK(test::recipe_difference(
            test::ranks_of({input("y") + "," + cast, input("y", "[2, 4]", "f16") + "," + cast}), rules) ==
        "");
  // Another value, where that decides which declaration is meant.
  const auto unless_two = [](const std::string& number) {
    return input("x") + "," + call("c", "t.full", "[]," + number, "[]", "f32", kwargs(R"("dtype": "f32")")) +
           "," + call("a", "t.unless_two", ref("x") + "," + ref("c"));
  };
  CHECK(test::recipe_difference(test::ranks_of({unless_two("3"), unless_two("2")}), rules) == "");
  // The rows are those of the rank.
  const std::string program = two + rows + call("z", "t.exp", ref("part"), "[1, 4]");
  const std::vector<Graph> graphs = test::ranks_of({program, program});
  World world(rules);
  const support::Result<Lowered> both = lower(graphs, world.target);
  REQUIRE(both.ok());
  CHECK(world.target.print(both->nodes[0][2].results[0]) == "slice(r0.x; 0, 0, 1)");
  CHECK(world.target.print(both->nodes[1][2].results[0]) == "slice(r1.x; 0, 1, 2)");
}

TEST_CASE("a lowering that was met before builds what its body builds") {
  const std::string two = input("x") + "," + input("y") + ",";
  const auto full = [](const std::string& name, const std::string& number) {
    return call(name, "t.full", "[2, 4]," + number, "[2, 4]", "f32", kwargs(R"("dtype": "f32")")) + ",";
  };
  const std::string filled = full("two", "2") + full("three", "3") + full("two_again", "2");
  const std::vector<std::string> programs{
      // The same operand twice, or two.
      two +
          join({call("a", "t.add", ref("x") + "," + ref("y")), call("b", "t.add", ref("x") + "," + ref("x")),
                call("c", "t.add", ref("y") + "," + ref("y")),
                call("d", "t.add", ref("a") + "," + ref("b") + ", 2"),
                call("e", "t.add", ref("c") + "," + ref("d") + ", 2"), call("f", "t.add", ref("c") + ", 2")}),
      // Other types, and other attributes.
      two + join({call("a", "t.permute", ref("x") + ", [1, 0]", "[4, 2]"),
                  call("b", "t.permute", ref("y") + ", [1, 0]", "[4, 2]"),
                  call("c", "t.permute", ref("a") + ", [1, 0]"),
                  call("d", "t.permute", ref("b") + ", [0, 1]", "[4, 2]"),
                  call("e", "t.sum", ref("x") + ", 0", "[4]"), call("f", "t.sum", ref("y") + ", 1", "[2]"),
                  call("g", "t.sum", ref("y") + ", 0", "[4]")}),
      // What an operand is known to be.
      two + filled +
          join({call("a", "t.scale_by", ref("x") + "," + ref("two")),
                call("b", "t.scale_by", ref("x") + "," + ref("three")),
                call("c", "t.scale_by", ref("y") + "," + ref("two_again")),
                call("d", "t.scale_by", ref("x") + "," + ref("y"))}),
      // Lists, and results that are none of the terms built.
      two + join({call("a", "t.cat", "[" + ref("x") + "," + ref("y") + "]", "[4, 4]"),
                  call("b", "t.cat", "[" + ref("y") + "," + ref("y") + "]", "[4, 4]"),
                  call("c", "t.cat", "[" + ref("x") + "," + ref("x") + "]", "[4, 4]"),
                  call("d", "t.same", ref("x")), call("e", "t.same", ref("y")),
                  call("f", "t.empty", "[2, 4]"), call("g", "t.empty", "[2, 4]")}),
      // The number of the call, where it is looked at.
      two + join({call("a", "t.drop_unless_zero", ref("x") + ", 0"),
                  call("b", "t.drop_unless_zero", ref("x") + ", 0.5"),
                  call("c", "t.drop_unless_zero", ref("y") + ", 0"),
                  call("d", "t.drop_unless_zero", ref("y") + ", 0.5"),
                  call("e", "t.drop_unless_zero", ref("y") + ", 0.5"), call("f", "t.drop_once", ref("x")),
                  call("g", "t.drop_once", ref("x")), call("h", "t.drop_once", ref("y"))}),
      // Conditions that do not hold.
      two + join({call("a", "t.head", ref("x")), call("b", "t.head", ref("x") + ", 1", "[1, 4]"),
                  call("c", "t.head", ref("y") + ", 1", "[1, 4]"), call("d", "t.head", ref("y"))}),
  };
  for (const std::string& program : programs) {
    CAPTURE(program);
    CHECK(test::recipe_difference({graph_of(program)}, ENTANGLE_SOURCE_DIR "/tests/graph/mini.rules") == "");
  }
  const One one(programs[2]);
  CHECK(one.print("a") == "scale(x; 2)");
  CHECK(one.print("b") == "scale(x; 3)");
  CHECK(one.print("c") == "scale(y; 2)");
  CHECK(one.kind("d") == Kind::opaque);
  const One calls(programs[4]);
  CHECK(calls.print("a") == "exp(x)");
  CHECK(calls.print("b") == "dropout(exp(x); 1/2, 2)");
  CHECK(calls.print("c") == "exp(y)");
  CHECK(calls.print("d") == "dropout(exp(y); 1/2, 4)");
  CHECK(calls.print("e") == "dropout(exp(y); 1/2, 5)");
  CHECK(calls.print("f") == "dropout(x; 1/2, 1)");
  CHECK(calls.print("g") == "x");
  CHECK(calls.print("h") == "y");
  const One heads(programs[5]);
  CHECK(heads.print("a") == "x");
  CHECK(heads.print("b") == "slice(x; 0, 0, 1)");
  CHECK(heads.print("c") == "slice(y; 0, 0, 1)");
  CHECK(heads.print("d") == "y");
}

}  // namespace entangle::graph
