#include "entangle/egraph/egraph.h"

#include <algorithm>

#include "world.h"

using namespace entangle;
using namespace entangle::egraph;

namespace {

Reason because(const std::string& note) {
  return {Reason::Kind::assumption, 7, note};
}

}  // namespace

TEST_CASE("equal applications are one term, leaves never") {
  World w;
  const TermId x = w.leaf("x", {4, 6});
  const TermId y = w.leaf("x", {4, 6});
  CHECK(x != y);
  CHECK(w.make("exp", {x}) == w.make("exp", {x}));
  CHECK(w.make("exp", {x}) != w.make("exp", {y}));
  CHECK(w.make("slice", {x}, {0, 0, 2}) != w.make("slice", {x}, {0, 0, 3}));
  CHECK(w.graph->term_count() == 6);
  CHECK(w.graph->node_count() == 6);
  CHECK(w.graph->class_count() == 6);
  CHECK(w.graph->label(x) == "x");
  CHECK(w.graph->type(w.make("transpose", {x}, {std::vector<int>{1, 0}})).shape == Shape{6, 4});
}

TEST_CASE("a term without a type is not built, and the reason is told") {
  World w;
  const TermId x = w.leaf("x", {4, 6});
  const std::size_t before = w.graph->term_count();
  CHECK(w.graph->make(w.op("slice"), w.attrs({0, 2, 9}), std::vector<TermId>{x}) == kNoTerm);
  CHECK(!w.graph->last_error().empty());
  CHECK(w.graph->last_made() == kNoTerm);
  CHECK(w.graph->make(w.op("exp"), w.attrs({}), std::vector<TermId>{kNoTerm}) == kNoTerm);
  CHECK(w.graph->term_count() == before);
}

TEST_CASE("congruence: equal operands make equal applications, upwards without end") {
  World w;
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId fx = w.make("exp", {w.make("neg", {w.make("exp", {x})})});
  const TermId fy = w.make("exp", {w.make("neg", {w.make("exp", {y})})});
  CHECK(!w.same(fx, fy));
  CHECK(w.graph->merge(x, y, because("given")));
  w.graph->rebuild();
  CHECK(w.same(fx, fy));
  CHECK(w.graph->class_count() == 4);
  CHECK(w.graph->node_count() == 5);  // two leaves, three applications
  CHECK(w.graph->merge_count() == 4);
  CHECK(w.graph->merge_log().size() == 4);
  CHECK(w.graph->merge_log()[0] == std::pair<TermId, TermId>(x, y));
  CHECK(w.make("exp", {y}) == w.make("exp", {x}));
}

TEST_CASE("terms built between merge and rebuild join their twins") {
  World w;
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId fy = w.make("exp", {y});
  w.graph->merge(x, y, because("given"));
  const TermId fx = w.make("exp", {x});
  w.graph->rebuild();
  CHECK(w.same(fx, fy));
  CHECK(w.graph->node_ids(fx).size() == 1);
}

TEST_CASE("the operands of a commutative operator have no order") {
  World w;
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId z = w.leaf("z", {4});
  CHECK(w.make("add_n", {x, y, z}) == w.make("add_n", {z, x, y}));
  CHECK(w.make("add_n", {x, y}) != w.make("add_n", {x, x}));
  CHECK(w.make("sub", {x, y}) != w.make("sub", {y, x}));
  const TermId xz = w.make("add_n", {x, z});
  const TermId zy = w.make("add_n", {z, y});
  w.graph->merge(x, y, because("given"));
  w.graph->rebuild();
  CHECK(w.same(xz, zy));
  const term::NodeView view = w.graph->nodes(xz)[0];
  CHECK(std::is_sorted(view.children.begin(), view.children.end()));
}

TEST_CASE("classes are named by their oldest term, and list their nodes in order of creation") {
  World w;
  const TermId x = w.leaf("x", {4});
  const TermId a = w.make("exp", {x});
  const TermId b = w.make("neg", {x});
  const TermId c = w.make("add_n", {x, x});
  const TermId d = w.make("mul", {x, x});
  w.graph->merge(d, b, because("1"));
  w.graph->merge(c, a, because("2"));
  w.graph->merge(c, d, because("3"));
  w.graph->rebuild();
  CHECK(w.graph->find(d) == a);
  CHECK(w.graph->node_ids(d) == std::vector<TermId>{a, b, c, d});
  CHECK(w.graph->classes() == std::vector<TermId>{x, a});
  CHECK(w.graph->users(x) == std::vector<TermId>{a});
  CHECK(w.graph->user_nodes(x) == std::vector<TermId>{a, b, c, d});
  CHECK(w.graph->user_nodes(x, w.op("neg")) == std::vector<TermId>{b});
  CHECK(w.graph->find_node(w.op("mul"), w.attrs({}), std::vector<TermId>{x, x}) == a);
  CHECK(w.graph->find_node(w.op("mul"), w.attrs({}), std::vector<TermId>{x}) == kNoTerm);
}

TEST_CASE("a merge of different types is refused and recorded with its reason") {
  World w;
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {5});
  const TermId z = w.leaf("z", {4}, DType::i64);
  CHECK_FALSE(w.graph->merge(x, y, because("line 3")));
  CHECK_FALSE(w.graph->merge(x, z, because("line 4")));
  CHECK_FALSE(w.same(x, y));
  REQUIRE(w.graph->clashes().size() == 2);
  CHECK(w.graph->clashes()[0].kind == Clash::Kind::type);
  CHECK(w.graph->clashes()[0].reason == because("line 3"));
  CHECK(w.graph->clashes()[0].left == "x: f32[4]");
  CHECK(w.graph->clashes()[0].right == "y: f32[5]");
  CHECK(w.graph->clashes()[1].right == "z: i64[4]");
  CHECK(w.graph->merge_count() == 0);
}

TEST_CASE("sizes that differ in normal form are compared under the facts") {
  sym::Facts facts;
  const Int a = Int::symbol("ega");
  const Int b = Int::symbol("egb");
  facts.add_le(a, b);
  facts.add_le(b, a);
  World w("", facts);
  const TermId x = w.leaf("x", {a});
  const TermId y = w.leaf("y", {b});
  const TermId z = w.leaf("z", {Int::symbol("egc")});
  CHECK(w.graph->merge(x, y, because("equal sizes")));
  CHECK_FALSE(w.graph->merge(x, z, because("unrelated")));
  REQUIRE(w.graph->clashes().size() == 1);
  CHECK(w.graph->clashes()[0].kind == Clash::Kind::undecided);
  CHECK_FALSE(w.graph->merge(x, w.leaf("t", {a + 1}), because("never equal")));
  CHECK(w.graph->clashes().back().kind == Clash::Kind::type);
}

TEST_CASE("attributes have one form: facts are applied, integers given for scalars are scalars") {
  sym::Facts facts;
  const Int a = Int::symbol("egm");
  const Int b = Int::symbol("egn");
  facts.add_equal(a, b);
  World w("", facts);
  const TermId x = w.leaf("x", {a + a});
  CHECK(w.make("slice", {x}, {0, 0, a}) == w.make("slice", {x}, {0, 0, b}));
  CHECK(w.make("scale", {x}, {2}) == w.make("scale", {x}, {sym::Scalar(2)}));
}

TEST_CASE("uniform: constants are folded, joined with full(c), and contradictions are noticed") {
  World w;
  const TermId two = w.full(2, {2, 3});
  const TermId three = w.full(3, {2, 3});
  CHECK(w.graph->uniform(two) == sym::Scalar(2));
  CHECK(w.same(w.make("add_n", {two, three}), w.full(5, {2, 3})));
  CHECK(w.same(w.make("scale", {two}, {sym::Scalar::ratio(1, 2)}), w.full(1, {2, 3})));
  CHECK(w.graph->uniform(w.make("ge", {three, two})) == sym::Scalar(1));
  CHECK(w.same(w.make("concat", {two, two}, {0}), w.full(2, {4, 3})));
  CHECK(w.same(w.make("merge", {two}, {0}), w.full(2, {6})));
  CHECK_FALSE(w.graph->uniform(w.make("concat", {two, three}, {0})).has_value());
  CHECK_FALSE(w.graph->uniform(w.make("exp", {two})).has_value());

  // A class may become uniform later; users follow.
  const TermId x = w.leaf("x", {2, 3});
  const TermId sum = w.make("add_n", {x, two});
  const TermId slice = w.make("slice", {w.make("neg", {sum})}, {1, 0, 2});
  CHECK_FALSE(w.graph->uniform(slice).has_value());
  CHECK(w.graph->merge(x, three, because("x is 3")));
  w.graph->rebuild();
  CHECK(w.graph->uniform(sum) == sym::Scalar(5));
  CHECK(w.same(slice, w.full(-5, {2, 2})));

  CHECK_FALSE(w.graph->contradiction().has_value());
  CHECK_FALSE(w.graph->merge(sum, two, because("2 = 5")));
  REQUIRE(w.graph->clashes().size() == 1);
  CHECK(w.graph->clashes()[0].kind == Clash::Kind::constant);
  CHECK(w.graph->clashes()[0].reason == because("2 = 5"));
  REQUIRE(w.graph->contradiction().has_value());
}

TEST_CASE("scalars with symbols are compared under the facts") {
  sym::Facts facts;
  const Int s = Int::symbol("egs");
  const Int t = Int::symbol("egt");
  facts.add_le(s, t);
  facts.add_le(t, s);
  World w("", facts);
  const auto inverse = [](Int value) { return *(sym::Scalar(1) / sym::Scalar(value)); };
  CHECK(w.graph->merge(w.full(inverse(s), {4}), w.full(inverse(t), {4}), because("s = t")));
  CHECK_FALSE(w.graph->merge(w.full(sym::Scalar(s), {4}), w.full(sym::Scalar(s + 1), {4}), because("never")));
  CHECK_FALSE(w.graph->merge(w.full(sym::Scalar::infinity(), {4}), w.full(1, {4}), because("never")));
  CHECK(w.graph->merge(w.full(sym::Scalar(s), {4}), w.full(2, {4}), because("for some s")));
  CHECK(w.graph->clashes().size() == 2);
}

TEST_CASE("intervals pass through rearrangement and are intersected by merges") {
  World w;
  const TermId x = w.leaf("x", {4}, DType::i64);
  const TermId y = w.leaf("y", {4}, DType::i64);
  w.graph->set_interval(x, {Int(0), Int(9)});
  CHECK(w.graph->interval(x) == term::Interval{Int(0), Int(9)});
  w.graph->set_interval(y, {Int(-3), Int(5)});
  const TermId both = w.make("concat", {x, y}, {0});
  CHECK(w.graph->interval(both) == term::Interval{Int(-3), Int(9)});
  CHECK(w.graph->interval(w.make("slice", {both}, {0, 1, 6})) == term::Interval{Int(-3), Int(9)});
  CHECK(w.graph->interval(w.make("concat", {x, w.full(12, {2}, DType::i64)}, {0})) ==
        term::Interval{Int(0), Int(12)});
  const TermId z = w.leaf("z", {4}, DType::i64);
  CHECK(w.graph->interval(w.make("concat", {x, z}, {0})) == term::Interval{});
  // What is computed has the bounds that its value clause gives.
  CHECK(w.graph->interval(w.make("add_n", {x, y})) == term::Interval{Int(-3), Int(14)});
  CHECK(w.graph->interval(w.make("add_n", {x, z})) == term::Interval{});

  w.graph->set_interval(z, {Int(2), std::nullopt});
  w.graph->rebuild();
  const TermId xz = w.make("concat", {x, z}, {0});
  CHECK(w.graph->interval(xz) == term::Interval{Int(0), std::nullopt});
  w.graph->merge(y, z, because("same"));
  w.graph->rebuild();
  CHECK(w.graph->interval(y) == term::Interval{Int(2), Int(5)});
  CHECK(w.graph->interval(both) == term::Interval{Int(0), Int(9)});
  CHECK(w.graph->interval(xz) == term::Interval{Int(0), Int(9)});
  // Symbolic bounds are kept as far as their order is known.
  const Int v = Int::symbol("egv");
  const TermId p = w.leaf("p", {4}, DType::i64);
  w.graph->set_interval(p, {Int(0), v - 1});
  CHECK(w.graph->interval(w.make("concat", {p, p}, {0})) == term::Interval{Int(0), v - 1});
  CHECK(w.graph->interval(w.make("concat", {p, x}, {0})) == term::Interval{Int(0), std::nullopt});
}

TEST_CASE("defined: what mentions a fresh value, unless the class has another term") {
  World w;
  const TermId x = w.leaf("x", {4});
  const TermId u = w.graph->fresh({{4}, DType::f32}, "u");
  const TermId v = w.leaf("v", {4});
  w.graph->set_undefined(v);
  CHECK(w.graph->defined(x));
  CHECK_FALSE(w.graph->defined(u));
  CHECK_FALSE(w.graph->defined(v));
  const TermId sum = w.make("add_n", {x, u});
  const TermId users = w.make("exp", {sum});
  CHECK_FALSE(w.graph->defined(users));
  CHECK(w.graph->defined(w.make("exp", {x})));
  w.graph->merge(sum, w.make("neg", {x}), because("u = -2x"));
  w.graph->rebuild();
  CHECK(w.graph->defined(sum));
  CHECK(w.graph->defined(users));
  CHECK_FALSE(w.graph->defined(u));
}

TEST_CASE("named is kept by merges") {
  World w;
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  w.graph->set_named(y);
  CHECK_FALSE(w.graph->named(x));
  w.graph->merge(x, y, because("same"));
  CHECK(w.graph->named(x));
}

TEST_CASE("tiling: existing slices that cover an axis") {
  World w;
  const TermId x = w.leaf("x", {8, 8});
  CHECK(w.graph->tiling(x, 0).empty());
  w.make("slice", {x}, {0, 0, 4});
  CHECK(w.graph->tiling(x, 0).empty());
  w.make("slice", {x}, {0, 2, 8});
  CHECK(w.graph->tiling(x, 0).empty());
  w.make("slice", {x}, {0, 4, 8});
  CHECK(w.graph->tiling(x, 0) == Shape{0, 4, 8});
  w.make("slice", {x}, {0, 0, 2});
  w.make("slice", {x}, {0, 2, 3});  // leads nowhere
  CHECK(w.graph->tiling(x, 0) == Shape{0, 2, 8});
  CHECK(w.graph->tiling(x, 1).empty());
  CHECK(w.graph->tiling(x, 2).empty());
}

TEST_CASE("any_node sees the nodes of one operator that exist when it is called") {
  World w;
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId a = w.make("add_n", {x, x});
  w.graph->merge(a, w.make("add_n", {x, y}), because("y = x"));
  w.graph->merge(a, w.make("neg", {y}), because("?"));
  int seen = 0;
  CHECK_FALSE(w.graph->any_node(a, w.op("add_n"), [&](const term::NodeView& node) {
    CHECK(node.op == w.op("add_n"));
    ++seen;
    w.graph->merge(a, w.make("add_n", {y, y, y, x}), because("built meanwhile"));
    return false;
  }));
  CHECK(seen == 2);
  CHECK(w.graph->any_node(a, w.op("neg"), [](const term::NodeView&) { return true; }));
  CHECK_FALSE(w.graph->any_node(a, w.op("exp"), [](const term::NodeView&) { return true; }));
}

TEST_CASE("printing") {
  World w;
  const TermId x = w.leaf("r0.x", {4, 6});
  const TermId t = w.make("slice", {w.make("transpose", {x}, {std::vector<int>{1, 0}})}, {1, 0, 2});
  CHECK(w.graph->print(t) == "slice(transpose(r0.x; [1, 0]); 1, 0, 2)");
  CHECK(w.graph->print(w.make("scale", {x}, {sym::Scalar::ratio(1, 8)})) == "scale(r0.x; 1/8)");
  CHECK(w.graph->print(w.full(0, {})) == "const(; 0, f32)");
  const TermId y = w.leaf("y", {6, 2});
  (void)y;
  const TermId z = w.leaf("z", {6, 2});
  w.graph->merge(t, z, because("short"));
  CHECK(w.graph->print(w.make("exp", {t})) == "exp(z)");
  CHECK(w.graph->print_original(w.make("exp", {t})) == "exp(slice(transpose(r0.x; [1, 0]); 1, 0, 2))");
}

TEST_CASE("uses of a class, and its version") {
  World w;
  EGraph& graph = *w.graph;
  const auto users = [&](TermId id) {
    std::vector<TermId> result;
    for (EGraph::Use use = graph.first_use(id); use != EGraph::kNoUse; use = graph.next_use(use)) {
      REQUIRE(use < graph.use_count());
      result.push_back(graph.user(use));
    }
    return result;
  };
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  CHECK(users(x).empty());
  const TermId ex = w.make("exp", {x});
  const TermId sum = w.make("add_n", {x, y});
  CHECK(users(x) == std::vector<TermId>{ex, sum});
  CHECK(users(y) == std::vector<TermId>{sum});
  const EGraph::Use first = graph.first_use(x);
  const std::uint32_t before_x = graph.version(x);
  const std::uint32_t before_y = graph.version(y);
  const std::uint32_t before_sum = graph.version(sum);
  CHECK(before_x != before_y);
  graph.merge(x, y, because("equal"));
  graph.rebuild();
  CHECK(users(y) == std::vector<TermId>{ex, sum, sum});  // the older uses come first
  CHECK(graph.user(first) == ex);                        // each use stays what it is
  CHECK(graph.version(x) != before_x);
  CHECK(graph.version(sum) == before_sum);
  // What is known of it, and what it is computed from.
  std::uint32_t version = graph.version(x);
  const auto changes = [&] {
    const std::uint32_t now = graph.version(x);
    return std::exchange(version, now) != now;
  };
  graph.set_named(x);
  CHECK(changes());
  graph.set_named(x);
  CHECK_FALSE(changes());
  const TermId ey = w.make("exp", {y});
  CHECK(ey == ex);
  CHECK_FALSE(changes());
  graph.merge(x, w.make("neg", {w.leaf("z", {4})}), because("negated"));
  graph.rebuild();
  CHECK(changes());
  CHECK_FALSE(graph.is_uniform(x));
  graph.merge(x, w.full(2, {4}), because("constant"));
  graph.rebuild();
  CHECK(changes());
  CHECK(graph.is_uniform(x));
  CHECK(graph.is_uniform(ex) == graph.uniform(ex).has_value());
}
