#include "entangle/eval/floating.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>

#include "entangle/graph/lower.h"
#include "entangle/graph/read.h"
#include "entangle/support/diagnostic.h"

namespace entangle::eval {
namespace {

using Numbers = std::vector<double>;

const rules::RuleSet& library() {
  static const rules::Loaded loaded =
      rules::load_rules({std::string(ENTANGLE_SOURCE_DIR) + "/frameworks/pytorch/pytorch.rules"},
                        {std::string(ENTANGLE_SOURCE_DIR) + "/rules"});
  for (const auto& diagnostic : loaded.diagnostics) MESSAGE(support::render(diagnostic));
  REQUIRE(loaded.ok());
  return *loaded.rules;
}

// Graphs with the inputs x (f64[2, 3] unless `type` says otherwise) and one node y per rank.
struct World {
  explicit World(const std::vector<std::string>& nodes,
                 const std::string& type = R"("shape":[2,3],"dtype":"f64")", Floating::Inside inside = {})
      : typing(library(), oracle), terms(typing, oracle) {
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      const std::string text =
          R"({"format":"entangle-graph","version":1,"name":"t","groups":{"all":[0,1]},"inputs":["x"],)"
          R"("outputs":["y"],"nodes":[{"name":"x","op":"placeholder",)" +
          type + R"(},{"name":"y",)" + nodes[rank] + "}]}";
      graph::ReadOptions options;
      if (nodes.size() > 1) options.rank = rank;
      auto graph = graph::parse_graph(support::add_source("t.json", text), options);
      if (!graph) FAIL(support::render(graph.error()));
      graphs.push_back(std::move(*graph));
    }
    auto result = graph::lower(graphs, terms);
    if (!result) FAIL(support::render(result.error()));
    lowered = std::move(*result);
    values = std::make_unique<Floating>(terms, std::move(inside));
  }

  void set(std::vector<std::int64_t> shape, Numbers elements, std::size_t rank = 0) {
    values->set(lowered.nodes[rank][0].results[0], {std::move(shape), std::move(elements)});
  }
  const RealArray* y(std::size_t rank = 0) { return values->value(lowered.nodes[rank][1].results[0]); }

  smt::Oracle oracle;
  term::Typing typing;
  egraph::EGraph terms;
  std::vector<graph::Graph> graphs;
  graph::Lowered lowered;
  std::unique_ptr<Floating> values;
};

TEST_CASE("floating: a lowered node, and which declaration lowered it") {
  World w({R"("op":"aten.softmax.int","args":[{"ref":"x"},-1],"shape":[2,3],"dtype":"f64")"});
  w.set({2, 3}, {0, std::log(2), std::log(5), 1, 1, 1});
  const RealArray* y = w.y();
  REQUIRE(y != nullptr);
  CHECK(y->shape == std::vector<std::int64_t>{2, 3});
  const Numbers expected = {1 / 8.0, 2 / 8.0, 5 / 8.0, 1 / 3.0, 1 / 3.0, 1 / 3.0};
  for (std::size_t k = 0; k < 6; ++k) CHECK(y->elements[k] == doctest::Approx(expected[k]));
  REQUIRE(w.lowered.nodes[0][1].by != nullptr);
  CHECK(w.lowered.nodes[0][1].by->op == "aten.softmax.int");
  CHECK(w.lowered.nodes[0][0].by == nullptr);
}

TEST_CASE("floating: ranks share one store of terms") {
  const std::string node =
      R"("op":"_c10d_functional.reduce_scatter_tensor.default","args":[{"ref":"x"},"sum",2,"all"],"shape":[1,3],"dtype":"f64")";
  World w({node, node});
  w.set({2, 3}, {1, 2, 3, 4, 5, 6}, 0);
  w.set({2, 3}, {10, 20, 30, 40, 50, 60}, 1);
  REQUIRE(w.y(0) != nullptr);
  REQUIRE(w.y(1) != nullptr);
  CHECK(w.y(0)->elements == Numbers{11, 22, 33});
  CHECK(w.y(1)->elements == Numbers{44, 55, 66});
}

TEST_CASE("floating: what has no value says why") {
  World empty({R"("op":"aten.empty_like.default","args":[{"ref":"x"}],"shape":[2,3],"dtype":"f64")"});
  CHECK(empty.y() == nullptr);
  CHECK(empty.values->why().rfind("nothing is said of ", 0) == 0);
  World unset({R"("op":"aten.neg.default","args":[{"ref":"x"}],"shape":[2,3],"dtype":"f64")"});
  CHECK(unset.y() == nullptr);
  CHECK(unset.values->why() == "nothing is said of x");
  unset.set({2, 3}, {1, 2, 3, 4, 5, 6});  // asked again, it has one
  REQUIRE(unset.y() != nullptr);
  CHECK(unset.y()->elements == Numbers{-1, -2, -3, -4, -5, -6});
  World random({R"("op":"aten.dropout.default","args":[{"ref":"x"},0.5,true],"shape":[2,3],"dtype":"f64")"});
  random.set({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(random.y() == nullptr);
  CHECK(random.values->why() == "nothing is known of the function `dropout`");
  World sizes({R"("op":"aten.neg.default","args":[{"ref":"x"}],"shape":["s0"],"dtype":"f64")"},
              R"("shape":["s0"],"dtype":"f64")");
  sizes.set({2}, {1, 2});
  CHECK(sizes.y() == nullptr);
  CHECK(sizes.values->why() == "a symbolic size");
}

TEST_CASE("floating: operators without a value are the caller's") {
  const std::string node =
      R"("op":"aten.cumprod.default","args":[{"ref":"x"},1],"shape":[2,3],"dtype":"f64")";
  World without({node});
  without.set({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(without.y() == nullptr);
  CHECK(without.values->why() == "the operator `rowwise` has no `value`");
  World with({node}, R"("shape":[2,3],"dtype":"f64")",
             [](const Application& application) -> std::optional<RealArray> {
               CHECK(application.op.name == "rowwise");
               CHECK(application.attrs.as_list()[0].as_name() == "cumprod");
               CHECK(application.type.rank() == 2);
               return *application.operands[0];
             });
  with.set({2, 3}, {1, 2, 3, 4, 5, 6});
  REQUIRE(with.y() != nullptr);
  CHECK(with.y()->elements == Numbers{1, 2, 3, 4, 5, 6});
}

TEST_CASE("floating: scalar functions at known points") {
  struct Row {
    const char* node;
    double x, y;
  };
  const double pi = std::acos(-1.0);
  const Row rows[] = {
      {R"("op":"aten.exp.default","args":[{"ref":"x"}])", 1, std::exp(1.0)},
      {R"("op":"aten.tan.default","args":[{"ref":"x"}])", pi / 4, 1},
      {R"("op":"aten.asin.default","args":[{"ref":"x"}])", 1, pi / 2},
      {R"("op":"aten.erf.default","args":[{"ref":"x"}])", 1, 0.8427007929497149},
      {R"("op":"aten.sigmoid.default","args":[{"ref":"x"}])", -800, 0},
      {R"("op":"aten.softplus.default","args":[{"ref":"x"}])", 0, std::log(2.0)},
      {R"("op":"aten.softplus.default","args":[{"ref":"x"},1,20])", 25, 25},
      {R"("op":"aten.gelu.default","args":[{"ref":"x"}])", 1, 0.8413447460685429},
      {R"("op":"aten.gelu.default","args":[{"ref":"x"}],"kwargs":{"approximate":"tanh"})", 1,
       0.8411919906082768},
      {R"("op":"aten.rsqrt.default","args":[{"ref":"x"}])", 16, 0.25},
      {R"("op":"aten.round.default","args":[{"ref":"x"}])", 2.5, 2},
      {R"("op":"aten.remainder.Scalar","args":[{"ref":"x"},3])", -1, 2},
      {R"("op":"aten.floor_divide.Scalar","args":[{"ref":"x"},3])", -1, -1},
      {R"("op":"aten.pow.Scalar","args":[2,{"ref":"x"}])", 3, 8},
      {R"("op":"aten.isinf.default","args":[{"ref":"x"}])", -HUGE_VAL, 1},
      {R"("op":"aten.isnan.default","args":[{"ref":"x"}])", 1, 0},
      {R"("op":"aten._to_copy.default","args":[{"ref":"x"}],"kwargs":{"dtype":"i64"})", -1.75, -1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.node);
    const std::string text = row.node;
    const std::string dtype = text.find("aten.is") != std::string::npos ? "b8"
                              : text.find("i64") != std::string::npos   ? "i64"
                                                                        : "f64";
    World w({text + R"(,"shape":[],"dtype":")" + dtype + "\""}, R"("shape":[],"dtype":"f64")");
    w.set({}, {row.x});
    REQUIRE(w.y() != nullptr);
    CHECK(w.y()->elements[0] == doctest::Approx(row.y).epsilon(1e-12));
  }
}

}  // namespace
}  // namespace entangle::eval
