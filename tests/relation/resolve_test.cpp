#include "entangle/relation/resolve.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "entangle/smt/oracle.h"
#include "entangle/support/text.h"

namespace entangle::relation {

namespace {

using graph::Graph;
using tensor::DType;

const rules::RuleSet& core() {
  static const rules::Loaded loaded = rules::load_rules({ENTANGLE_SOURCE_DIR "/rules/core.rules"}, {});
  if (!loaded.ok()) FAIL(support::render(loaded.diagnostics.at(0)));
  return *loaded.rules;
}

// A graph of inputs and of computed tensors, all f32 unless said otherwise.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::optional<std::size_t> rank) {
    graph_.rank = rank.value_or(0);
    graph_.symbol_prefix = graph::symbol_prefix(rank);
    graph_.path = rank ? "r" + std::to_string(*rank) + ".json" : "seq.json";
  }
  GraphBuilder& input(const std::string& name, const std::vector<std::string>& shape,
                      DType dtype = DType::f32) {
    graph_.inputs.push_back(add(name, "placeholder", shape, dtype));
    return *this;
  }
  // Uses every tensor before it.
  GraphBuilder& output(const std::string& name, const std::vector<std::string>& shape) {
    const auto before = static_cast<graph::NodeIndex>(graph_.nodes.size());
    graph_.outputs.push_back(add(name, "op", shape, DType::f32));
    for (graph::NodeIndex node = 0; node < before; ++node) {
      last_->args.push_back({graph::Arg::Ref{node}, 0});
    }
    return *this;
  }
  GraphBuilder& computed(const std::string& name, const std::vector<std::string>& shape) {
    add(name, "op", shape, DType::f32);
    return *this;
  }
  Graph build() const { return graph_; }

 private:
  graph::NodeIndex add(const std::string& name, const std::string& op, const std::vector<std::string>& shape,
                       DType dtype) {
    tensor::TensorType type;
    type.dtype = dtype;
    for (const std::string& size : shape) {
      type.shape.push_back(sym::parse_int_expr(size, graph_.symbol_prefix).value());
    }
    graph::Node node;
    node.name = name;
    node.op = op;
    node.results = {type};
    const auto index = static_cast<graph::NodeIndex>(graph_.nodes.size());
    last_ = &graph_.nodes.add(std::move(node));
    names_->emplace(last_->name, index);
    graph_.names = names_;
    return index;
  }
  Graph graph_;
  std::shared_ptr<graph::NodeNames> names_ = std::make_shared<graph::NodeNames>();
  graph::Node* last_ = nullptr;
};

struct Setup {
  Graph sequential;
  std::vector<Graph> ranks;
  Sides sides() const { return {sequential, ranks}; }
};

// x [8, 4], b [4], ids i64 [6], y [8, 4]; on the ranks x [8/n, 4], the rest the same.
Setup constant_sizes(std::size_t n) {
  Setup setup;
  setup.sequential = GraphBuilder({})
                         .input("x", {"8", "4"})
                         .input("b", {"4"})
                         .input("ids", {"6"}, DType::i64)
                         .computed("h", {"8", "4"})
                         .output("y", {"8", "4"})
                         .build();
  for (std::size_t rank = 0; rank < n; ++rank) {
    setup.ranks.push_back(GraphBuilder(rank)
                              .input("x", {std::to_string(8 / n), "4"})
                              .input("b", {"4"})
                              .input("ids", {"6"}, DType::i64)
                              .computed("h", {"8", "4"})
                              .output("y", {"8", "4"})
                              .build());
  }
  return setup;
}

Manifest manifest(const std::string& text, std::size_t ranks) {
  auto result = read_manifest_text(
      "m.yaml", "sequential: s\ndistributed: r{rank}\nranks: " + std::to_string(ranks) + "\n" + text);
  if (!result) FAIL(support::render(result.error()));
  return std::move(*result);
}

Resolved resolved(const std::string& text, const Setup& setup) {
  auto result = resolve(manifest(text, setup.ranks.size()), core(), setup.sides());
  if (!result) FAIL(support::render(result.error()));
  return std::move(*result);
}

std::string failure(const std::string& text, const Setup& setup) {
  const auto result = resolve(manifest(text, setup.ranks.size()), core(), setup.sides());
  return result ? "no error" : result.error().id.substr(sizeof("relation/") - 1);
}

std::vector<std::string> texts(const Expansion& expansion) {
  std::vector<std::string> result;
  for (const Clean& clean : expansion.alternatives) result.push_back(to_string(clean, core()));
  return result;
}

using Strings = std::vector<std::string>;
using Groups = std::vector<std::vector<std::size_t>>;

// The form of `w` (3 axes) that a text under `inputs` means.
Expansion expanded(const std::string& form, std::size_t ranks, const std::string& mesh = "") {
  const Manifest m = manifest(mesh + "inputs:\n  w: " + form + "\n", ranks);
  auto result = expand(m, core(), "w", 3, m.inputs[0].forms[0]);
  if (!result) FAIL(support::render(result.error()));
  return std::move(*result);
}

}  // namespace

TEST_CASE("placements over a line of ranks") {
  CHECK(texts(expanded("Replicate", 3)) == Strings{"r0.w", "r1.w", "r2.w"});
  CHECK(expanded("Replicate", 3).replicas == Groups{{0, 1, 2}});
  CHECK(texts(expanded("Shard(1)", 3)) == Strings{"concat(r0.w, r1.w, r2.w; 1)"});
  CHECK(texts(expanded("Shard(-1)", 2)) == Strings{"concat(r0.w, r1.w; 2)"});
  CHECK(expanded("Shard(1)", 3).replicas.empty());
  CHECK(texts(expanded("Partial", 2)) == Strings{"add_n(r0.w, r1.w)"});
  for (const char* form : {"Replicate", "Shard(0)", "Partial"}) {
    CHECK(texts(expanded(form, 1)) == Strings{"r0.w"});
    CHECK(expanded(form, 1).replicas.empty());
  }
}

TEST_CASE("placements over a mesh: the first axis is outermost, ranks are row-major") {
  const std::string mesh = "mesh: {dp: 2, tp: 2}\n";
  CHECK(texts(expanded("{dp: Shard(0), tp: Shard(0)}", 4, mesh)) ==
        Strings{"concat(concat(r0.w, r1.w; 0), concat(r2.w, r3.w; 0); 0)"});
  CHECK(texts(expanded("{tp: Shard(1), dp: Shard(0)}", 4, mesh)) ==
        Strings{"concat(concat(r0.w, r1.w; 1), concat(r2.w, r3.w; 1); 0)"});
  CHECK(texts(expanded("{dp: Replicate, tp: Shard(1)}", 4, mesh)) ==
        Strings{"concat(r0.w, r1.w; 1)", "concat(r2.w, r3.w; 1)"});
  CHECK(expanded("{dp: Replicate, tp: Shard(1)}", 4, mesh).replicas == Groups{{0, 2}, {1, 3}});
  CHECK(texts(expanded("{dp: Partial, tp: Replicate}", 4, mesh)) ==
        Strings{"add_n(r0.w, r2.w)", "add_n(r1.w, r3.w)"});
  CHECK(expanded("{dp: Partial, tp: Replicate}", 4, mesh).replicas == Groups{{0, 1}, {2, 3}});
  CHECK(texts(expanded("{dp: Partial, tp: Shard(2)}", 4, mesh)) ==
        Strings{"add_n(concat(r0.w, r1.w; 2), concat(r2.w, r3.w; 2))"});
  CHECK(texts(expanded("{dp: Replicate, tp: Replicate}", 4, mesh)) ==
        Strings{"r0.w", "r1.w", "r2.w", "r3.w"});
  // A plain placement runs over all ranks; an axis of one rank needs no placement.
  CHECK(texts(expanded("Shard(0)", 4, mesh)) == Strings{"concat(r0.w, r1.w, r2.w, r3.w; 0)"});
  CHECK(texts(expanded("{tp: Shard(0)}", 2, "mesh: {dp: 1, tp: 2}\n")) == Strings{"concat(r0.w, r1.w; 0)"});
}

TEST_CASE("expressions") {
  CHECK(texts(expanded("\"concat(slice(r0.w; 0, 0, 4), r1.\\\"odd-name\\\"; dim=0)\"", 2)) ==
        Strings{"concat(slice(r0.w; 0, 0, 4), r1.\"odd-name\"; 0)"});
  CHECK(texts(expanded("\"transpose(r0.w; [2, 0, 1])\"", 2)) == Strings{"transpose(r0.w; [2, 0, 1])"});
  CHECK(texts(expanded("r1.layers.0.w", 2)) == Strings{"r1.layers.0.w"});
}

TEST_CASE("names, globs and their order") {
  Setup setup;
  GraphBuilder sequential({}), rank(0);
  for (const char* name : {"l.0.a", "l.0.b", "l.1.a", "l.1.b"}) {
    sequential.input(name, {"4"});
    rank.input(name, {"4"}).input(std::string(name) + "_", {"4"});
  }
  setup.sequential = sequential.output("y", {"4"}).build();
  setup.ranks.push_back(rank.output("y", {"4"}).build());
  const auto inputs = [&](const std::string& text) {
    Strings result;
    for (const Related& related : resolved("inputs:\n" + text, setup).inputs) {
      result.push_back(setup.sequential.nodes[related.tensor].name + " = " +
                       texts(related.forms[0].expansion)[0]);
    }
    return support::join(result, ", ");
  };
  CHECK(inputs("  'l.?.a': Replicate\n") == "l.0.a = r0.l.0.a, l.1.a = r0.l.1.a");
  CHECK(inputs("  'l.*': Replicate\n") ==
        "l.0.a = r0.l.0.a, l.0.b = r0.l.0.b, l.1.a = r0.l.1.a, l.1.b = r0.l.1.b");
  CHECK(inputs("  'l.[1-9].b': Replicate\n") == "l.1.b = r0.l.1.b");
  // An exact name wins over globs; the last of several globs wins.
  CHECK(inputs("  l.0.a: r0.l.0.a_\n  'l.*.a': Replicate\n") == "l.0.a = r0.l.0.a_, l.1.a = r0.l.1.a");
  CHECK(inputs("  'l.*.a': Replicate\n  'l.0.?': r0.l.0.a_\n  l.0.b: Replicate\n") ==
        "l.0.a = r0.l.0.a_, l.0.b = r0.l.0.b, l.1.a = r0.l.1.a");
  CHECK(failure("inputs:\n  'l.*.a': Replicate\n  'l.0.*': r0.l.0.a_\n", setup) == "claimed-twice");
  CHECK(failure("inputs:\n  'm.*': Replicate\n", setup) == "no-match");
  // Globs under `inputs` do not reach outputs, and the other way round.
  CHECK(inputs("  '*': Replicate\n") == inputs("  'l.*': Replicate\n"));
  CHECK(resolved("outputs: ['*']\n", setup).outputs == std::vector<graph::NodeIndex>{4});
}

TEST_CASE("outputs in question") {
  const Setup setup = constant_sizes(2);
  const graph::NodeIndex y = setup.sequential.find("y"), h = setup.sequential.find("h");
  CHECK(resolved("", setup).outputs == std::vector{y});
  CHECK(!resolved("", setup).outputs_stated);
  CHECK(resolved("outputs: [h]\n", setup).outputs == std::vector{h});
  CHECK(resolved("outputs: [h]\n", setup).outputs_stated);
  CHECK(resolved("outputs: [y]\nexpect:\n  h: Replicate\n  y: Replicate\n", setup).outputs ==
        std::vector{y, h});
  CHECK(failure("outputs: [z]\n", setup) == "unknown-output");
}

TEST_CASE("an expectation of another shape does not hold, but is no error") {
  const Resolved found = resolved("expect:\n  y: Shard(0)\n  h: Replicate\n", constant_sizes(2));
  REQUIRE(found.expect.size() == 2);
  CHECK(found.expect[0].forms[0].mismatch.empty());
  CHECK(found.expect[1].forms[0].mismatch == "`y` is f32[8, 4], but `concat(r0.y, r1.y; 0)` is f32[16, 4]");
}

TEST_CASE("elements are used once") {
  const Setup setup = constant_sizes(2);
  const auto x = [&](const std::string& form) { return failure("inputs:\n  x: " + form + "\n", setup); };
  CHECK(x("Shard(0)") == "no error");
  CHECK(x("\"concat(r0.x, r0.x; 0)\"") == "used-twice");
  CHECK(x("\"concat(slice(r0.x; 0, 0, 2), r1.x, slice(r0.x; 0, 2, 4); 0)\"") == "no error");
  CHECK(x("\"concat(slice(r0.x; 0, 0, 3), r1.x, slice(r0.x; 0, 2, 3); 0)\"") == "used-twice");
  CHECK(x("\"slice(concat(r0.x, r1.x, r0.x; 0); 0, 0, 8)\"") == "no error");
  CHECK(x("\"slice(concat(r0.x, r0.x, r1.x; 0); 0, 1, 9)\"") == "used-twice");
  CHECK(x("\"transpose(concat(transpose(slice(r0.x; 0, 0, 2); [1, 0]), transpose(concat(r1.x, slice(r0.x; 0, "
          "2, 4); 0); [1, 0]); 1); [1, 0])\"") == "no error");
  CHECK(x("\"add_n(concat(r0.x, r1.x; 0), concat(r1.x, r0.x; 0))\"") == "used-twice");
  // Alternatives may use the same elements, at the same places.
  CHECK(x("[\"concat(r0.x, r1.x; 0)\", \"concat(slice(r0.x; 0, 0, 1), slice(r0.x; 0, 1, 4), r1.x; 0)\"]") ==
        "no error");
  CHECK(x("[\"transpose(concat(transpose(r0.x; [1, 0]), transpose(r1.x; [1, 0]); 1); [1, 0])\", "
          "\"transpose(concat(transpose(r0.x; [1, 0]), slice(transpose(r1.x; [1, 0]); 1, 0, 3), "
          "slice(transpose(r1.x; [1, 0]); 1, 3, 4); 1); [1, 0])\"]") == "no error");
  CHECK(x("[\"concat(r0.x, r1.x; 0)\", \"concat(r0.x, slice(r1.x; 0, 2, 4), slice(r1.x; 0, 0, 2); 0)\"]") ==
        "claimed-twice");
  CHECK(x("[\"concat(r0.x, r1.x; 0)\", \"concat(r1.x, r0.x; 0)\"]") == "claimed-twice");
  // Negative axes are counted from the end.
  CHECK(x("\"concat(r0.x, r1.x; -2)\"") == "no error");
}

TEST_CASE("two inputs may claim the same elements only if they are equal") {
  Setup setup;
  setup.sequential =
      GraphBuilder({}).input("a", {"4"}).input("b", {"4"}).input("c", {"4"}).output("y", {"4"}).build();
  for (std::size_t rank = 0; rank < 2; ++rank) {
    setup.ranks.push_back(GraphBuilder(rank).input("a", {"4"}).input("b", {"4"}).output("y", {"4"}).build());
  }
  CHECK(failure("inputs:\n  a: r0.a\n  b: r0.a\n", setup) == "claimed-twice");
  CHECK(failure("inputs:\n  a: r0.a\n  b: [r0.b, r0.a]\n", setup) == "claimed-twice");
  CHECK(failure("inputs:\n  a: Partial\n  b: r1.a\n", setup) == "claimed-twice");
  CHECK(failure("inputs:\n  a: r0.a\n  b: r1.a\n", setup) == "no error");
  CHECK(failure("inputs:\n  a: \"concat(slice(r0.a; 0, 0, 2), slice(r1.a; 0, 0, 2); 0)\"\n"
                "  b: \"concat(slice(r0.a; 0, 2, 4), slice(r1.a; 0, 2, 4); 0)\"\n",
                setup) == "no error");
  CHECK(failure("assume: [\"a == b\"]\ninputs:\n  a: r0.a\n  b: r0.a\n", setup) == "no error");
  CHECK(failure("assume: [\"a == c\", \"b == c\"]\ninputs:\n  a: r0.a\n  b: r0.a\n", setup) == "no error");
  CHECK(failure("assume: [\"a == c\"]\ninputs:\n  a: r0.a\n  b: r0.a\n", setup) == "claimed-twice");
  // `given` is an assertion about values and may say so.
  CHECK(failure("inputs:\n  a: r0.a\ngiven:\n  b: r0.a\n", setup) == "no error");
}

TEST_CASE("shapes and element types") {
  const Setup setup = constant_sizes(2);
  CHECK(failure("inputs:\n  x: Replicate\n", setup) == "shape-mismatch");
  CHECK(failure("inputs:\n  b: Shard(0)\n", setup) == "shape-mismatch");
  CHECK(failure("inputs:\n  b: Shard(1)\n", setup) == "bad-axis");
  CHECK(failure("inputs:\n  ids: r0.b\n", setup) == "dtype-mismatch");
  CHECK(failure("inputs:\n  x: \"concat(r0.x, r1.b; 0)\"\n", setup) == "ill-typed");
  CHECK(failure("given:\n  h: Shard(0)\n", setup) == "shape-mismatch");
  CHECK(failure("given:\n  h: Replicate\n", setup) == "no error");
}

TEST_CASE("sizes learned from the relations") {
  Setup setup;
  setup.sequential = GraphBuilder({}).input("x", {"s0", "s1"}).input("t", {"s0"}).output("y", {"s0"}).build();
  for (std::size_t rank = 0; rank < 2; ++rank) {
    setup.ranks.push_back(
        GraphBuilder(rank).input("x", {"s0", "s1"}).input("t", {"s5"}).output("y", {"s0"}).build());
  }
  const Resolved shards = resolved("inputs:\n  x: Shard(0)\n", setup);
  CHECK(shards.learned == Strings{"r0.s1 == r1.s1", "s0 == r0.s0 + r1.s0", "s1 == r0.s1"});
  smt::Oracle oracle(shards.facts);
  CHECK(is_yes(oracle.equal(sym::Int::symbol("r1.s1"), sym::Int::symbol("s1"))));
  CHECK(is_yes(oracle.less(sym::Int::symbol("r0.s0"), sym::Int::symbol("s0"))));

  const Resolved replicas = resolved("inputs:\n  x: Replicate\n  t: Replicate\n", setup);
  smt::Oracle other(replicas.facts);
  CHECK(is_yes(other.equal(sym::Int::symbol("r0.s0"), sym::Int::symbol("r1.s5"))));
  // What is stated need not be learned.
  CHECK(resolved("assume: [\"r0.s1 == s1\", \"r1.s1 == s1\"]\ninputs:\n  x: Shard(0)\n", setup).learned ==
        Strings{"s0 == r0.s0 + r1.s0"});
  CHECK(failure("assume: [\"s0 == 4\", \"r0.s0 == 4\"]\ninputs:\n  x: Shard(0)\n", setup) == "contradiction");
  CHECK(failure("assume: [\"s0 >= 5\", \"s0 <= 4\"]\n", setup) == "contradiction");
  CHECK(failure("assume: [\"s0 == r0.s9\"]\n", setup) == "unknown-name");
  // An expression with symbols.
  CHECK(failure("inputs:\n  t: \"concat(slice(r0.t; 0, 0, 1), slice(r0.t; 0, 1, r0.s5); 0)\"\nassume: "
                "[\"r0.s5 >= 2\"]\n",
                setup) == "no error");
  CHECK(failure("inputs:\n  t: \"concat(slice(r0.t; 0, 0, 2), slice(r0.t; 0, 1, r0.s5); 0)\"\nassume: "
                "[\"r0.s5 >= 2\"]\n",
                setup) == "used-twice");
  // Parts that may overlap, for what is known, are taken to.
  const auto parts = [&](const std::string& known) {
    return failure(
        "inputs:\n  t: \"concat(slice(r0.t; 0, 0, r1.s5), slice(r0.t; 0, 1, r0.s5); 0)\"\nassume: "
        "[\"r0.s5 >= 2\", \"" +
            known + "\"]\n",
        setup);
  };
  CHECK(parts("r1.s5 <= r0.s5") == "used-twice");
  CHECK(parts("r1.s5 == 1") == "no error");
}

TEST_CASE("assume") {
  const Setup setup = constant_sizes(2);
  const Resolved found = resolved(
      "assume:\n  - ids in [0, 10)\n  - r1.ids in [0, 5]\n  - r0.b == r1.b\n  - op is pure\n  - "
      "dropout masks correspond\n"
      "given:\n  h: [r0.h, r1.h]\n",
      setup);
  REQUIRE(found.ranges.size() == 2);
  CHECK(found.ranges[0].tensor == TensorId{std::nullopt, 2});
  CHECK(found.ranges[0].high == sym::Int(9));
  CHECK(found.ranges[1].tensor == TensorId{1, 2});
  REQUIRE(found.equal.size() == 1);
  CHECK(found.equal[0].left == TensorId{0, 1});
  CHECK(found.stated == Strings{"ids in [0, 10)", "r1.ids in [0, 5]", "r0.b == r1.b", "op is pure",
                                "dropout masks correspond", "given: h = r0.h = r1.h"});
  CHECK(failure("assume: [\"b in [0, 1]\"]\n", setup) == "not-an-integer-tensor");
  CHECK(failure("assume: [\"b == q\"]\n", setup) == "unknown-name");
  CHECK(failure("assume: [\"foo::bar is pure\"]\n", setup) == "unknown-name");
  CHECK(failure("assume: [\"b == x\"]\n", setup) == "shape-mismatch");
  CHECK(failure("assume: [\"x == r0.x\"]\n", setup) == "shape-mismatch");
}

TEST_CASE("inputs that need a relation") {
  const Setup setup = constant_sizes(2);
  const auto missing = [&](const std::string& text) {
    const Manifest m = manifest(text, 2);
    const auto found = resolve(m, core(), setup.sides());
    if (!found) FAIL(support::render(found.error()));
    const auto status = check_inputs_related(m, *found, setup.sides());
    return status ? "" : status.error().message;
  };
  CHECK(missing("inputs:\n  x: Shard(0)\n  b: Replicate\n  ids: Replicate\n") == "");
  CHECK(missing("inputs:\n  x: Shard(0)\n") ==
        "the outputs in question depend on the inputs `b` and `ids`, of which `inputs` says nothing");
  CHECK(missing("outputs: [h]\n") == "");
  CHECK(missing("given:\n  y: Replicate\n") == "");
  CHECK(missing("given:\n  b: Replicate\ninputs:\n  x: Shard(0)\n") ==
        "the outputs in question depend on the input `ids`, of which `inputs` says nothing");
}

}  // namespace entangle::relation
