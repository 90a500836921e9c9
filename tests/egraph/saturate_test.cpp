#include "entangle/egraph/saturate.h"

#include "generic_lemmas.h"
#include "world.h"

using namespace entangle;
using namespace entangle::egraph;

namespace {

using Counts = std::vector<std::uint64_t>;

// Of each lemma that is counted at all.
Counts counts(const Counters& counters, std::uint64_t LemmaCounts::*count) {
  Counts result;
  for (const auto& [lemma, of_lemma] : counters.lemmas) {
    result.push_back(of_lemma.*count);
  }
  return result;
}

}  // namespace

TEST_CASE("a lemma adds its right side to the class of its left side") {
  World w("lemma l(x: tensor, y: tensor): neg(sub(x, y)) => sub(y, x);\n");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId n = w.make("neg", {w.make("sub", {x, y})});
  const Outcome outcome = w.saturate();
  CHECK(outcome.stop == Stop::saturated);
  CHECK(outcome.rounds == 2);
  CHECK(counts(outcome.counters, &LemmaCounts::matched) == Counts{1});
  CHECK(counts(outcome.counters, &LemmaCounts::applied) == Counts{1});
  CHECK(outcome.counters.ill_typed == 0);
  CHECK(w.has(n, "sub", {y, x}));
}

TEST_CASE("== works both ways, => one way") {
  for (const std::string arrow : {"==", "=>"}) {
    CAPTURE(arrow);
    World w("lemma l(x: tensor, y: tensor): neg(sub(x, y)) " + arrow + " sub(y, x);\n");
    const TermId x = w.leaf("x", {4});
    const TermId y = w.leaf("y", {4});
    const TermId d = w.make("sub", {x, y});
    CHECK(w.saturate().stop == Stop::saturated);
    const TermId back = w.graph->find_node(w.op("sub"), w.attrs({}), std::vector<TermId>{y, x});
    CHECK((back != kNoTerm) == (arrow == "=="));
    if (back != kNoTerm) {
      CHECK(w.has(d, "neg", {back}));
    }
  }
}

TEST_CASE("given: several patterns, which must exist") {
  World w(R"(
lemma adjacent(x: tensor, d: axis, a: int, b: int, c: int):
  given slice(x; d, a, b), slice(x; d, b, c)
  slice(x; d, a, c) == concat(slice(x; d, a, b), slice(x; d, b, c); d);
)");
  const TermId x = w.leaf("x", {8});
  const TermId p = w.make("slice", {x}, {0, 0, 2});
  const TermId q = w.make("slice", {x}, {0, 2, 5});
  const TermId r = w.make("slice", {x}, {0, 6, 7});
  w.saturate();
  CHECK(w.graph->find_node(w.op("concat"), w.attrs({0}), std::vector<TermId>{p, q}) == kNoTerm);
  const TermId pq = w.make("slice", {x}, {0, 0, 5});
  w.saturate();
  CHECK(w.has(pq, "concat", {p, q}, {0}));
  // The other way: the concat exists.
  const TermId s = w.make("slice", {x}, {0, 5, 6});
  const TermId sr = w.make("concat", {s, r}, {0});
  w.saturate();
  CHECK(w.has(sr, "slice", {x}, {0, 5, 7}));
}

TEST_CASE("given a == b: lists are equated entry by entry") {
  World w(R"(
lemma blocks(xs: tensor+, ys: tensor+, d: axis):
  given concat(xs; d) == concat(ys; d)
  xs == ys  when len(xs) == len(ys) and forall x, y in zip(xs, ys): x.shape[d] == y.shape[d];
)");
  const TermId a = w.leaf("a", {2});
  const TermId b = w.leaf("b", {3});
  const TermId c = w.leaf("c", {2});
  const TermId d = w.leaf("d", {3});
  const TermId e = w.leaf("e", {5});
  const TermId ab = w.make("concat", {a, b}, {0});
  w.graph->merge(ab, w.make("concat", {c, d}, {0}), {});
  w.graph->merge(ab, w.make("concat", {b, a}, {0}), {});
  w.graph->merge(ab, e, {});
  const Outcome outcome = w.saturate();
  CHECK(outcome.stop == Stop::saturated);
  CHECK(w.same(a, c));
  CHECK(w.same(b, d));
  CHECK_FALSE(w.same(a, b));
  CHECK(outcome.counters.of(0).applied == 2);
  CHECK(w.graph->clashes().empty());
}

TEST_CASE("given and a variable on the left; tiling") {
  World w(R"(
lemma tile(x: tensor, d: axis):
  given slice(x; d, _, _)
  x => concat([slice(x; d, a, b) for a, b in pairs(cuts)]; d)  when cuts == tiling(x, d);
lemma back(y: tensor, p: int*):
  given transpose(y; p)
  y => transpose(transpose(y; p); inverse(p))  trigger named(transpose(y; p)) and not named(y);
)");
  const TermId x = w.leaf("x", {8, 3});
  const TermId p = w.make("slice", {x}, {0, 0, 2});
  const TermId q = w.make("slice", {x}, {0, 2, 8});
  const TermId t = w.make("transpose", {x}, {std::vector<int>{1, 0}});
  w.saturate();
  CHECK(w.has(x, "concat", {p, q}, {0}));
  CHECK_FALSE(w.has(x, "transpose", {t}, {std::vector<int>{1, 0}}));
  w.graph->set_named(t);
  w.saturate();
  CHECK(w.has(x, "transpose", {t}, {std::vector<int>{1, 0}}));
}

TEST_CASE("comprehensions over lists that are bound already") {
  World w(R"(
lemma numbered(x: tensor, y: tensor, os: int+):
  given bcast(x; _, os)
  concat([slice(y; 0, 1, o) for o in os]; 0) => concat([slice(y; 0, 1, o) for o in os]; 0);
)");
  const TermId y = w.leaf("y", {9});
  const auto cut = [&](int a, int b) { return w.make("slice", {y}, {0, a, b}); };
  w.make("bcast", {w.leaf("x", {})}, {std::vector<int>{0, 1}, std::vector<int>{2, 7}});
  w.make("concat", {cut(1, 2), cut(1, 6)}, {0});
  CHECK(w.saturate().counters.of(0).matched == 0);
  w.make("concat", {cut(1, 2), cut(1, 7)}, {0});
  CHECK(w.saturate().counters.of(0).matched == 1);
}

TEST_CASE("when: conjuncts in order, equations bind, undefined and undecided do not hold") {
  const Int s = Int::symbol("egw");
  World w(R"(
lemma cut(x: tensor, m: axis, a: int, b: int):
  slice(merge(x; m); m, a, b) => merge(slice(x; m, a / n, b / n); m)
  when n == x.shape[m + 1] and divides(n, a) and divides(n, b);
lemma small(x: tensor): exp(x) => neg(x)  when x.shape[0] <= 4;
)");
  const TermId x = w.leaf("x", {4, 3, 2});
  const TermId merged = w.make("merge", {x}, {0});
  const TermId good = w.make("slice", {merged}, {0, 3, 9});
  const TermId bad = w.make("slice", {merged}, {0, 3, 8});
  const TermId u = w.leaf("u", {s});
  const TermId eu = w.make("exp", {u});
  const TermId e3 = w.make("exp", {w.leaf("v", {3})});
  const TermId e5 = w.make("exp", {w.leaf("t", {5})});
  CHECK(w.saturate().stop == Stop::saturated);
  CHECK(w.has(good, "merge", {w.make("slice", {x}, {0, 1, 3})}, {0}));
  CHECK(w.graph->nodes(bad).size() == 1);
  CHECK(w.graph->nodes(eu).size() == 1);
  CHECK(w.graph->nodes(e3).size() == 2);
  CHECK(w.graph->nodes(e5).size() == 1);
}

TEST_CASE("ill-typed right sides are counted, ill-matched types are clashes that name the lemma") {
  World w(R"(
lemma ill(x: tensor, y: tensor): sub(x, y) => contract(x, y; 0, 2);
lemma wrong(x: tensor, d: axis): reduce_sum(x; d) => x;
)");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId d = w.make("sub", {x, y});
  const TermId s = w.make("reduce_sum", {x}, {0});
  const Outcome outcome = w.saturate();
  CHECK(outcome.stop == Stop::saturated);
  CHECK(outcome.counters.ill_typed == 1);
  CHECK(outcome.counters.refused == 1);
  CHECK(counts(outcome.counters, &LemmaCounts::applied) == Counts{0, 0});
  CHECK(w.graph->nodes(d).size() == 1);
  CHECK_FALSE(w.same(s, x));
  REQUIRE(w.graph->clashes().size() == 1);
  const Clash& clash = w.graph->clashes()[0];
  CHECK(clash.reason.kind == Reason::Kind::lemma);
  CHECK(w.rules().lemmas()[clash.reason.index].name == "wrong");
  CHECK(clash.left == "reduce_sum(x; 0): f32[]");
  CHECK(clash.right == "x: f32[4]");
}

TEST_CASE("numbers as right sides; constant classes are closed") {
  World w(R"(
lemma cancel(x: tensor): sub(x, x) => full_like(0, x);
lemma half(x: tensor, c: scalar): scale(x; c) => scale(scale(x; c / 2); 2);
)");
  const TermId x = w.leaf("x", {4});
  const TermId zero = w.make("sub", {x, x});
  const TermId scaled = w.make("scale", {zero}, {8});
  const Outcome outcome = w.saturate({100, 30, {}});
  CHECK(outcome.stop == Stop::saturated);
  CHECK(w.graph->uniform(zero) == sym::Scalar(0));
  CHECK(w.same(scaled, zero));
  CHECK(w.same(zero, w.full(0, {4})));
}

TEST_CASE("limits") {
  World w("lemma grow(x: tensor, y: tensor): sub(x, y) => neg(sub(exp(x), y));\n");
  const auto build = [&](World& world) {
    return world.make("sub", {world.leaf("x", {4}), world.leaf("y", {4})});
  };
  build(w);
  Outcome outcome = w.saturate({50, 1000, {}});
  CHECK(outcome.stop == Stop::nodes);
  CHECK(w.graph->node_count() > 50);
  CHECK(w.graph->node_count() < 60);
  World v("lemma grow(x: tensor, y: tensor): sub(x, y) => neg(sub(exp(x), y));\n");
  build(v);
  outcome = v.saturate({1000, 5, {}});
  CHECK(outcome.stop == Stop::rounds);
  CHECK(outcome.rounds == 5);
  CHECK(v.graph->node_count() == 3 + 5 * 3);
  CHECK(v.saturate({1000, 0, {}}).rounds == 0);
  CHECK(v.saturate({10, 5, {}}).stop == Stop::nodes);
}

TEST_CASE("focused rounds match the class in focus and what is made meanwhile") {
  // neg(sub) can be rewritten anywhere; one step at the goal and one at what it makes are in focus.
  const std::string rules = R"(
lemma at_goal(x: tensor, y: tensor): neg(sub(x, y)) => exp(neg(add_n(x, y)));
lemma at_made(x: tensor, y: tensor): neg(add_n(x, y)) => mul(x, y);
)";
  const auto build = [](World& w) {
    w.make("neg", {w.make("sub", {w.leaf("a", {4}), w.leaf("b", {4})})});
    return w.make("neg", {w.make("sub", {w.leaf("x", {4}), w.leaf("y", {4})})});
  };
  World all(rules);
  build(all);
  CHECK(counts(all.saturate({1000, 2, {}}).counters, &LemmaCounts::applied) == Counts{2, 2});

  World w(rules);
  Limits limits{1000, 2, {}};
  limits.focus = build(w);
  limits.focused = 2;
  CHECK(counts(w.saturate(limits).counters, &LemmaCounts::applied) == Counts{1, 1});
  limits.rounds = 10;
  const Outcome rest = w.saturate(limits);
  CHECK(rest.stop == Stop::saturated);
  CHECK(counts(rest.counters, &LemmaCounts::applied) == Counts{1, 1});
  World plain(rules);
  build(plain);
  plain.saturate();
  CHECK(w.graph->node_count() == plain.graph->node_count());
  CHECK(w.graph->class_count() == plain.graph->class_count());
}

TEST_CASE("what is made of many blocks waits, and is made in the end") {
  constexpr int kBlocks = 40;
  World w(kGeneric);
  std::vector<TermId> all_cells;
  for (int k = 0; k < kBlocks; ++k) {
    all_cells.push_back(w.leaf("c" + std::to_string(k), {1, 1}));
  }
  std::vector<TermId> rows;
  std::vector<TermId> wanted;
  for (int i = 0; i < kBlocks; ++i) {
    std::vector<TermId> cells;
    std::vector<TermId> of_cells;
    for (int k = 0; k < kBlocks; ++k) {
      cells.push_back(all_cells[(i + k) % kBlocks]);
      of_cells.push_back(w.make("exp", {cells.back()}));
    }
    rows.push_back(w.make("concat", cells, {1}));
    wanted.push_back(w.make("concat", of_cells, {1}));
  }
  const TermId all = w.make("exp", {w.make("concat", rows, {0})});
  // A thing of one step is found before the cells are looked at.
  Limits limits{100000, 24, {}};
  limits.focus = all;
  limits.focused = 1;
  limits.done = [&] {
    return w.has(all, "concat",
                 [&] {
                   std::vector<TermId> result;
                   for (const TermId row : rows) {
                     result.push_back(w.make("exp", {row}));
                   }
                   return result;
                 }(),
                 {0});
  };
  CHECK(w.saturate(limits).stop == Stop::done);
  CHECK(w.graph->find(w.make("exp", {rows[0]})) != w.graph->find(wanted[0]));
  // All rows together would make more than a round may: none is taken apart while anything else is to be
  // done.
  w.saturate({100000, 1, {}});
  CHECK(w.graph->find(w.make("exp", {rows[0]})) != w.graph->find(wanted[0]));
  limits.done = {};
  const Outcome outcome = w.saturate(limits);
  CHECK(outcome.stop == Stop::saturated);
  for (int i = 0; i < kBlocks; ++i) {
    CHECK(w.graph->find(w.make("exp", {rows[i]})) == w.graph->find(wanted[i]));
  }
  CHECK(w.has(all, "concat", wanted, {0}));
}

TEST_CASE("time that is up ends a round at once, and nothing is joined") {
  World w("lemma grow(x: tensor, y: tensor): sub(x, y) => neg(sub(exp(x), y));\n");
  for (int k = 0; k < 200; ++k) {
    w.make("sub", {w.leaf("x" + std::to_string(k), {4}), w.leaf("y" + std::to_string(k), {4})});
  }
  const std::size_t before = w.graph->node_count();
  Limits limits;
  int asked = 0;
  limits.expired = [&] { return ++asked == 3; };
  const Outcome outcome = w.saturate(limits);
  CHECK(outcome.stop == Stop::expired);
  CHECK(outcome.rounds == 0);
  CHECK(asked == 3);
  CHECK(w.graph->node_count() == before);
  limits.expired = [] { return false; };
  limits.rounds = 1;
  CHECK(w.saturate(limits).stop == Stop::rounds);
  CHECK(w.graph->node_count() > before);
}

TEST_CASE("what was looked for ends the saturation") {
  World w("lemma grow(x: tensor, y: tensor): sub(x, y) => neg(sub(exp(x), y));\n");
  w.make("sub", {w.leaf("x", {4}), w.leaf("y", {4})});
  int asked = 0;
  Limits limits;
  limits.done = [&] { return ++asked == 3; };
  const Outcome outcome = w.saturate(limits);
  CHECK(outcome.stop == Stop::done);
  CHECK(outcome.rounds == 3);
}

TEST_CASE("what changed below is matched again") {
  // The left side comes into being bottom up: each round makes the next level match.
  World w(R"(
lemma a(x: tensor): exp(x) => neg(x);
lemma b(x: tensor, y: tensor): sub(neg(x), y) => add_n(y, x);
lemma c(x: tensor, y: tensor): mul(add_n(x, y), y) => scale(x; 5);
)");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId m = w.make("mul", {w.make("sub", {w.make("exp", {x}), y}), y});
  const Outcome outcome = w.saturate();
  CHECK(outcome.stop == Stop::saturated);
  CHECK(w.has(m, "scale", {x}, {5}));
  CHECK(counts(outcome.counters, &LemmaCounts::applied) == Counts{1, 1, 1});
  CHECK(counts(outcome.counters, &LemmaCounts::matched) == Counts{1, 1, 1});
}

TEST_CASE("conditions that come to hold later are asked again") {
  World w(R"(
lemma a(x: tensor): scale(x; 1) => full_like(3, x);
lemma b(x: tensor, y: tensor): sub(exp(x), y) => y  when uniform(x) == 3;
lemma c(x: tensor, y: tensor): sub(y, exp(x)) => y  trigger has(x, neg(_));
lemma d(x: tensor): reduce_max(x; 0) => reduce_sum(x; 0)  trigger named(exp(x));
lemma e(x: tensor): max_n(x, x) => neg(exp(x));
)");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId one = w.make("scale", {x}, {1});
  const TermId b = w.make("sub", {w.make("exp", {one}), y});
  CHECK(w.saturate().stop == Stop::saturated);
  CHECK(w.same(b, y));
}

TEST_CASE("what a condition compares by the scalar that it is everywhere is one, or it is not asked") {
  World w(R"(
lemma l(x: tensor, u: tensor, k: scalar): neg(add_n(x, u)) => sub(scale(x; -1), full_like(k, x))
  when k == uniform(u) and k > 0;
lemma m(x: tensor): exp(x) => full_like(2, x);
)");
  std::vector<TermId> terms = {w.full(1, {4}), w.full(-1, {4})};
  for (int k = 0; k < 4; ++k) {
    terms.push_back(w.leaf("x" + std::to_string(k), {4}));
  }
  const TermId n = w.make("neg", {w.make("add_n", {terms[2], terms[0]})});
  w.make("neg", {w.make("add_n", {terms[3], terms[1]})});
  w.make("neg", {w.make("add_n", {terms[4], terms[5]})});
  const TermId later = w.make("neg", {w.make("add_n", {terms[2], w.make("exp", {terms[5]})})});
  const Outcome outcome = w.saturate();
  CHECK(outcome.stop == Stop::saturated);
  CHECK(w.has(n, "sub", {w.make("scale", {terms[2]}, {-1}), terms[0]}));
  CHECK(w.has(later, "sub", {w.make("scale", {terms[2]}, {-1}), w.full(2, {4})}));
  CHECK(outcome.counters.of(0).applied == 2);
  // Of the one that is less than 0, once in each round.
  CHECK(outcome.counters.of(0).matched <= 2 + outcome.rounds);
}

TEST_CASE("the same calls give the same e-graph") {
  const auto run = [] {
    World w(kGeneric + kMerges);
    const TermId a = w.leaf("a", {2, 3, 4});
    const TermId b = w.leaf("b", {2, 3, 4});
    const TermId c = w.leaf("c", {4, 5});
    const TermId ab = w.make("concat", {a, b}, {1});
    const TermId m = w.make("merge", {ab}, {0});
    w.make("exp", {w.make("contract", {w.make("add_n", {m, w.make("exp", {m})}), c}, {0, 1})});
    const Outcome outcome = w.saturate();
    return w.dump() + std::to_string(outcome.rounds);
  };
  const std::string first = run();
  CHECK(first == run());
  CHECK(first.size() > 500);
}

TEST_CASE("counters add up") {
  Counters a{{{0, {1, 0, 4}}, {1, {2, 1, 0}}}, 3, 1};
  a.add({{{0, {1, 1, 1}}, {2, {5, 2, 0}}}, 1, 2});
  using Entry = std::pair<std::uint32_t, LemmaCounts>;
  CHECK(a.lemmas == std::vector<Entry>{{0, {2, 1, 5}}, {1, {2, 1, 0}}, {2, {5, 2, 0}}});
  a.add(1, {});
  a.add(7, {});
  CHECK(a.lemmas.size() == 3);
  CHECK(a.of(2) == LemmaCounts{5, 2, 0});
  CHECK(a.of(7) == LemmaCounts{});
  CHECK(a.ill_typed == 4);
  CHECK(a.refused == 3);
}
