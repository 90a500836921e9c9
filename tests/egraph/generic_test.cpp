// Saturation by lemmas about every operator with a trait.
#include "entangle/egraph/saturate.h"
#include "generic_lemmas.h"
#include "world.h"

using namespace entangle;
using namespace entangle::egraph;

TEST_CASE("generic: maps") {
  World w(kGeneric);
  const TermId a = w.leaf("a", {2, 6});
  const TermId b = w.leaf("b", {3, 6});
  const TermId y = w.leaf("y", {5, 6});
  const TermId z = w.leaf("z", {6, 7});
  const TermId ab = w.make("concat", {a, b}, {0});
  const TermId d = w.make("sub", {ab, y});
  const TermId t = w.make("transpose", {ab}, {std::vector<int>{1, 0}});
  const TermId c = w.make("contract", {ab, z}, {0, 1});
  const TermId s = w.make("reduce_sum", {ab}, {1});
  CHECK(w.saturate().stop == Stop::saturated);
  CHECK(w.graph->clashes().empty());
  const auto cut = [&](int from, int to) { return w.make("slice", {y}, {0, from, to}); };
  CHECK(w.has(d, "concat", {w.make("sub", {a, cut(0, 2)}), w.make("sub", {b, cut(2, 5)})}, {0}));
  CHECK(w.has(t, "concat",
              {w.make("transpose", {a}, {std::vector<int>{1, 0}}),
               w.make("transpose", {b}, {std::vector<int>{1, 0}})},
              {1}));
  CHECK(w.has(c, "concat", {w.make("contract", {a, z}, {0, 1}), w.make("contract", {b, z}, {0, 1})}, {0}));
  CHECK(w.has(s, "concat", {w.make("reduce_sum", {a}, {1}), w.make("reduce_sum", {b}, {1})}, {0}));
}

TEST_CASE("generic: an operand that is cut alike needs no slice") {
  World w(kGeneric);
  const TermId a = w.leaf("a", {2, 6});
  const TermId b = w.leaf("b", {3, 6});
  const TermId c = w.leaf("c", {2, 6});
  const TermId d = w.leaf("d", {3, 6});
  const TermId sum = w.make("add_n", {w.make("concat", {a, b}, {0}), w.make("concat", {c, d}, {0})});
  CHECK(w.saturate().stop == Stop::saturated);
  CHECK(w.has(sum, "concat", {w.make("add_n", {a, c}), w.make("add_n", {b, d})}, {0}));
  for (TermId id = 0; id < w.graph->term_count(); ++id) {
    if (w.graph->original(id).op == w.op("slice")) {
      CHECK(w.graph->find_node(w.op("slice"), w.graph->original(id).attrs, w.graph->original(id).children) ==
            kNoTerm);
    }
  }
}

TEST_CASE("generic: reduces sum and max, linear") {
  World w(kGeneric);
  const TermId a = w.leaf("a", {2, 6});
  const TermId b = w.leaf("b", {3, 6});
  const TermId v = w.leaf("v", {5, 4});
  const TermId ab = w.make("concat", {a, b}, {0});
  const TermId s = w.make("reduce_sum", {ab}, {0});
  const TermId m = w.make("reduce_max", {ab}, {0});
  const TermId c = w.make("contract", {w.make("transpose", {ab}, {std::vector<int>{1, 0}}), v}, {0, 1});
  CHECK(w.saturate().stop == Stop::saturated);
  CHECK(w.graph->clashes().empty());
  CHECK(w.has(s, "add_n", {w.make("reduce_sum", {a}, {0}), w.make("reduce_sum", {b}, {0})}));
  CHECK(w.has(m, "max_n", {w.make("reduce_max", {a}, {0}), w.make("reduce_max", {b}, {0})}));
  const TermId ta = w.make("transpose", {a}, {std::vector<int>{1, 0}});
  const TermId tb = w.make("transpose", {b}, {std::vector<int>{1, 0}});
  const TermId va = w.make("slice", {v}, {0, 0, 2});
  const TermId vb = w.make("slice", {v}, {0, 2, 5});
  CHECK(w.has(c, "add_n", {w.make("contract", {ta, va}, {0, 1}), w.make("contract", {tb, vb}, {0, 1})}));

  const TermId p = w.leaf("p", {6, 5});
  const TermId q = w.leaf("q", {6, 5});
  const TermId linear = w.make("contract", {w.make("add_n", {p, q}), v}, {0, 1});
  const TermId scaled = w.make("scale", {w.make("add_n", {p, q})}, {3});
  const TermId other = w.make("exp", {w.make("add_n", {p, q})});
  w.saturate();
  CHECK(w.has(linear, "add_n", {w.make("contract", {p, v}, {0, 1}), w.make("contract", {q, v}, {0, 1})}));
  CHECK(w.has(scaled, "add_n", {w.make("scale", {p}, {3}), w.make("scale", {q}, {3})}));
  CHECK(w.graph->nodes(other).size() == 1);
}

TEST_CASE("generic: slices of f, inside another operator") {
  World w(kWhole + R"(
lemma maps_slice<f: maps a -> r>(x: tensor, p: int, q: int):
  slice(f(.., x, ..); r, p, q) => f(.., slice(x; a, p, q), .. | y @ b => slice(y; b, p, q))
  trigger not named(f(.., x, ..));
)");
  const TermId x = w.leaf("x", {4, 6});
  const TermId y = w.leaf("y", {4, 6});
  const TermId z = w.leaf("z", {6, 5});
  const TermId d = w.make("sub", {x, y});
  const TermId part = w.make("slice", {d}, {1, 2, 4});
  const TermId columns = w.make("slice", {w.make("contract", {x, z}, {0, 1})}, {1, 0, 2});
  const TermId named = w.make("exp", {x});
  w.graph->set_named(named);
  const TermId kept = w.make("slice", {named}, {0, 0, 1});
  const Outcome outcome = w.saturate();
  CHECK(outcome.stop == Stop::saturated);
  const auto cut = [&](TermId id) { return w.make("slice", {id}, {1, 2, 4}); };
  CHECK(w.has(part, "sub", {cut(x), cut(y)}));
  CHECK(w.has(columns, "contract", {x, w.make("slice", {z}, {1, 0, 2})}, {0, 1}));
  CHECK(w.graph->nodes(kept).size() == 1);
  CHECK(outcome.counters.of(3).applied == 2);
}

TEST_CASE("generic: an axis splits in two, and two become one") {
  {
    World w(kMerges);
    const TermId x = w.leaf("x", {2, 3, 5});
    const TermId y = w.leaf("y", {2, 3, 5});
    const TermId z = w.leaf("z", {5, 4});
    const TermId mx = w.make("merge", {x}, {0});
    const TermId d = w.make("sub", {mx, w.make("merge", {y}, {0})});
    const TermId t = w.make("transpose", {mx}, {std::vector<int>{1, 0}});
    const TermId c = w.make("contract", {mx, z}, {0, 1});
    const TermId alone = w.make("sub", {mx, w.leaf("u", {6, 5})});
    const TermId constant = w.make("sub", {mx, w.full(1, {6, 5})});
    const TermId s = w.make("reduce_sum", {mx}, {1});
    CHECK(w.saturate().stop == Stop::saturated);
    CHECK(w.graph->clashes().empty());
    CHECK(w.has(d, "merge", {w.make("sub", {x, y})}, {0}));
    CHECK(w.has(t, "merge", {w.make("transpose", {x}, {std::vector<int>{2, 0, 1}})}, {1}));
    CHECK(w.has(c, "merge", {w.make("contract", {x, z}, {0, 1})}, {0}));
    CHECK(w.has(s, "merge", {w.make("reduce_sum", {x}, {2})}, {0}));
    CHECK(w.graph->nodes(alone).size() == 1);
    CHECK(w.has(constant, "merge", {w.make("sub", {x, w.full(1, {2, 3, 5})})}, {0}));
  }
  {
    World w(kSplits);
    const TermId x = w.leaf("x", {6, 5});
    const TermId y = w.leaf("y", {6, 5});
    const TermId sx = w.make("split", {x}, {0, 3});
    const TermId d = w.make("sub", {sx, w.make("split", {y}, {0, 3})});
    const TermId t = w.make("transpose", {sx}, {std::vector<int>{2, 0, 1}});
    const TermId apart = w.make("transpose", {sx}, {std::vector<int>{0, 2, 1}});
    const TermId s = w.make("reduce_sum", {sx}, {2});
    CHECK(w.saturate().stop == Stop::saturated);
    CHECK(w.graph->clashes().empty());
    CHECK(w.has(d, "split", {w.make("sub", {x, y})}, {0, 3}));
    CHECK(w.has(t, "split", {w.make("transpose", {x}, {std::vector<int>{1, 0}})}, {1, 3}));
    CHECK(w.graph->nodes(apart).size() == 1);
    CHECK(w.has(s, "split", {w.make("reduce_sum", {x}, {1})}, {0, 3}));
  }
}

TEST_CASE("generic: batch axes of a contraction keep count") {
  World w(kMerges);
  const TermId x = w.leaf("x", {2, 3, 4, 5});
  const TermId y = w.leaf("y", {2, 3, 5, 7});
  const TermId c = w.make("contract", {w.make("merge", {x}, {0}), w.make("merge", {y}, {0})}, {1, 1});
  CHECK(w.saturate().stop == Stop::saturated);
  CHECK(w.has(c, "merge", {w.make("contract", {x, y}, {2, 1})}, {0}));
  CHECK(w.graph->clashes().empty());
}

TEST_CASE("generic: where the right side is the same for all operands, one of them is enough") {
  World w(R"(
lemma maps_unit<f: maps a -> r>(x: tensor, axes: int*, sizes: int*):
  f(.., bcast(x; axes, sizes), ..)
    => bcast(f(.., squeeze(bcast(x; axes, sizes); a), .. | y @ b => squeeze(y; b); drop); [r], [1])
  when a in axes and sizes[index_of(axes, a)] == 1
  trigger forall y @ b: has(y, bcast(_; bs, _) if b in bs) or constant(y);
lemma squeezed(x: tensor, axes: int*, sizes: int*, d: axis, j: int):
  squeeze(bcast(x; axes, sizes); d) => bcast(x; [c - (if c > d then 1 else 0) for c in axes without j], sizes without j)
  when j == index_of(axes, d);
normalise lemma none(x: tensor, axes: int*): bcast(x; axes, _) => x  when len(axes) == 0;
)");
  std::vector<TermId> units;
  std::vector<TermId> inner;
  for (int k = 0; k < 6; ++k) {
    inner.push_back(w.leaf("x" + std::to_string(k), {4}));
    units.push_back(w.make("bcast", {inner.back()}, {std::vector<int>{0}, std::vector<int>{1}}));
  }
  const TermId sum = w.make("add_n", units);
  // One that has no unit axis of its own holds it up.
  const TermId stopped = w.make("add_n", {units[0], units[1], w.leaf("y", {1, 4})});
  const Outcome outcome = w.saturate();
  CHECK(outcome.stop == Stop::saturated);
  CHECK(w.has(sum, "bcast", {w.make("add_n", inner)}, {std::vector<int>{0}, std::vector<int>{1}}));
  CHECK(w.graph->nodes(stopped).size() == 1);
  CHECK(outcome.counters.of(0).applied == 1);
  CHECK(outcome.counters.of(0).matched <= 2 + 2 * outcome.rounds);
}

TEST_CASE("generic: a trigger that no other operand has the axis") {
  World w(R"(
lemma copies<f: maps a -> r>(x: tensor, n: int, axes: int*):
  f(.., bcast(x; axes, [n]), ..) => bcast(f(.., x, ..; drop); [r], [n])
  when axes == [a]
  trigger forall y @ b: false;
)");
  const TermId x = w.leaf("x", {4});
  const TermId rows = w.make("bcast", {x}, {std::vector<int>{0}, std::vector<int>{3}});
  const TermId alone = w.make("exp", {rows});
  const TermId left = w.make("contract", {rows, w.leaf("y", {4, 5})}, {0, 1});
  const TermId both = w.make("add_n", {rows, w.leaf("z", {3, 4})});
  const TermId twice = w.make("add_n", {rows, w.make("neg", {rows})});
  CHECK(w.saturate().stop == Stop::saturated);
  CHECK(w.has(alone, "bcast", {w.make("exp", {x})}, {std::vector<int>{0}, std::vector<int>{3}}));
  CHECK(w.graph->nodes(left).size() == 2);
  CHECK(w.graph->nodes(both).size() == 1);
  CHECK(w.graph->nodes(twice).size() == 1);
}

TEST_CASE("generic: what comes to match at one operand of many is found, however far below") {
  World w(R"(
lemma a(x: tensor): exp(x) => scale(x; 2);
lemma outward<f: linear>(x: tensor): f(.., neg(scale(x; 2)), ..) => scale(f(.., x, ..); -2);
)");
  const TermId x = w.leaf("x", {2, 4});
  const TermId y = w.leaf("y", {4, 3});
  const TermId right = w.make("contract", {x, w.make("neg", {w.make("exp", {y})})}, {0, 1});
  const TermId left = w.make("contract", {w.make("neg", {w.make("exp", {x})}), y}, {0, 1});
  CHECK(w.saturate().stop == Stop::saturated);
  CHECK(w.has(right, "scale", {w.make("contract", {x, y}, {0, 1})}, {-2}));
  CHECK(w.same(left, right));
}

TEST_CASE("generic: elementwise") {
  World w(R"(
lemma through<f: elementwise>(m: tensor, x: tensor, y: tensor):
  f(.., where(m, x, y), ..) => where(m, f(.., x, ..), f(.., y, ..))  trigger constant(x) and constant(y);
)");
  const TermId m = w.leaf("m", {4}, DType::b8);
  const TermId one = w.full(1, {4});
  const TermId two = w.full(2, {4});
  const TermId x = w.leaf("x", {4});
  const TermId pick = w.make("where", {m, one, two});
  const TermId d = w.make("sub", {x, pick});
  const TermId kept = w.make("sub", {x, w.make("where", {m, x, two})});
  w.saturate();
  CHECK(w.has(d, "where", {m, w.make("sub", {x, one}), w.make("sub", {x, two})}));
  CHECK(w.graph->nodes(kept).size() == 1);
}
