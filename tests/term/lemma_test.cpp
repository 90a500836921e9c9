// What lemmas need of the evaluator: generic right sides, triggers, predicates.
#include "entangle/term/evaluator.h"

#include "fixture.h"

namespace entangle::term::test {

namespace {

using smt::Truth;
using sym::Int;

const char* const kLemmas = R"(
predicate stuck(t: tensor) = has(t, merge(x; d) if has(x, concat(_, _; d + 1)) or stuck(x));
predicate loops(t: tensor) = has(t, exp(x) if loops(t)) or loops(t);

lemma maps_concat<f: maps a -> r>(xs: tensor+):
  f(.., concat(xs; a), ..)
    => concat([f(.., x, .. | y @ b => slice(y; b, o, o + x.shape[a])) for x, o in zip(xs, offsets(xs, a))]; r);
lemma maps_slice<f: maps a -> r>(x: tensor, p: int, q: int):
  slice(f(.., x, ..); r, p, q) => f(.., slice(x; a, p, q), .. | y @ b => slice(y; b, p, q));
lemma maps_merge<f: maps a -> r>(x: tensor, k: int):
  f(.., merge(x; a), ..) => merge(f(.., x, .. | y @ b => split(y; b, k); split); r)
  when k == x.shape[a + 1]
  trigger stuck(merge(x; a)) or forall y @ b: has(y, merge(z; b) if z.shape[b + 1] == k) or constant(y);
lemma maps_split<f: maps pair a -> r>(x: tensor, k: int):
  f(.., split(x; a, k), ..) => split(f(.., x, .. | y @ b => merge(y; b); join); r, k);
lemma sums_concat<f: reduces sum a>(xs: tensor+):
  f(.., concat(xs; a), ..)
    => add_n([f(.., x, .. | y @ b => slice(y; b, o, o + x.shape[a])) for x, o in zip(xs, offsets(xs, a))]);
lemma linear_add<f: linear>(xs: tensor+): f(.., add_n(xs), ..) => add_n([f(.., x, ..) for x in xs]);
lemma looks(x: tensor): exp(x) => x when uniform(x) == 0 trigger named(exp(x)) and not constant(x) and not stuck(x);
)";

// A lemma of one operator variable, applied at one operand.
struct Site {
  Site(World& a_world, const std::string& lemma, TermId application_of, std::vector<Attr> attrs,
       std::vector<TermId> children, std::size_t operand)
      : world(a_world), rule(a_world.lemma(lemma)) {
    focus.op = application_of;
    focus.attrs = Attr::list(attrs);
    focus.children = std::move(children);
    focus.operand = operand;
    frame.slots.resize(rule.slots.size());
    frame.focus = &focus;
    for (const TermId child : focus.children) types.push_back(&world.store.type(child));
  }

  void at(const Correspondence& correspondence) {
    focus.correspondence = &correspondence;
    if (rule.generic->axis != rules::kNoSlot) {
      frame.slots[rule.generic->axis] = Value(Int(correspondence.operands[focus.operand]));
    }
    if (rule.generic->result_axis != rules::kNoSlot) {
      frame.slots[rule.generic->result_axis] = Value(Int(correspondence.result));
    }
  }
  const AxisInfo& axes() { return world.typing.axes(focus.op, focus.attrs, types); }
  void set(const std::string& variable, Value value) {
    for (std::size_t slot = 0; slot < rule.slots.size(); ++slot) {
      if (rule.slots[slot].name == variable) frame.slots[slot] = value;
    }
  }
  std::string right() { return world.text(world.evaluator.evaluate_term(rule.right, frame)); }
  Truth triggered() {
    Truth truth = Truth::yes;
    for (const rules::Expr& conjunct : rule.trigger) truth = truth & world.evaluator.holds(conjunct, frame);
    return truth;
  }

  World& world;
  const rules::Lemma& rule;
  Focus focus;
  Frame frame;
  std::vector<const TensorType*> types;
};

Value terms(const std::vector<TermId>& ids) {
  std::vector<Value> values;
  for (const TermId id : ids) values.emplace_back(Term{id});
  return Value(values);
}

}  // namespace

TEST_CASE("generic right sides") {
  World world(kLemmas);
  const TermId p = world.leaf("p", {2, 4});
  const TermId q = world.leaf("q", {3, 4});
  const TermId pq = world.make("concat", {number(0)}, {p, q});
  const TermId y = world.leaf("y", {5, 4});
  const TermId w = world.leaf("w", {4, 6});

  Site rows(world, "maps_concat", world.op("contract"), {number(0), number(1)}, {pq, w}, 0);
  rows.at(rows.axes().maps[0]);
  rows.set("xs", terms({p, q}));
  CHECK(rows.right() == "concat(contract(p, w; 0, 1), contract(q, w; 0, 1); 0)");

  Site sum(world, "maps_concat", world.op("add_n"), {}, {y, pq}, 1);
  sum.at(sum.axes().maps[0]);
  sum.set("xs", terms({p, q}));
  CHECK(sum.right() == "concat(add_n(p, slice(y; 0, 0, 2)), add_n(q, slice(y; 0, 2, 5)); 0)");

  Site inner(world, "sums_concat", world.op("contract"), {number(0), number(1)},
             {world.leaf("v", {7, 5}), pq}, 1);
  inner.at(inner.axes().sums[0]);
  inner.set("xs", terms({p, q}));
  CHECK(inner.right() == "add_n(contract(slice(v; 1, 0, 2), p; 0, 1), contract(slice(v; 1, 2, 5), q; 0, 1))");

  Site slice(world, "maps_slice", world.op("where"), {},
             {world.leaf("m", {5, 4}, DType::b8), y, world.leaf("z", {5, 4})}, 1);
  slice.at(slice.axes().maps[1]);
  slice.set("x", Value(Term{y}));
  slice.set("p", Value(Int(1)));
  slice.set("q", Value(Int(3)));
  CHECK(slice.right() == "where(slice(m; 1, 1, 3), slice(y; 1, 1, 3), slice(z; 1, 1, 3))");

  const TermId sums = world.make("add_n", {}, {y, pq});
  Site linear(world, "linear_add", world.op("reduce_sum"), {number(1)}, {sums}, 0);
  linear.set("xs", terms({y, pq}));
  CHECK(linear.right() == "add_n(reduce_sum(y; 1), reduce_sum(concat(p, q; 0); 1))");
}

TEST_CASE("generic right sides whose attributes move") {
  World world(kLemmas);
  const TermId x = world.leaf("x", {2, 3, 4});
  const TermId merged = world.make("merge", {number(0)}, {x});
  const TermId other = world.leaf("o", {6, 4});

  Site merge(world, "maps_merge", world.op("slice"), {number(1), number(0), number(2)}, {merged}, 0);
  merge.at(merge.axes().maps[0]);
  merge.set("x", Value(Term{x}));
  CHECK(world.evaluator.holds(merge.rule.when[0], merge.frame) == Truth::yes);  // binds k
  CHECK(merge.right() == "merge(slice(x; 2, 0, 2); 0)");

  Site sum(world, "maps_merge", world.op("add_n"), {}, {merged, other}, 0);
  sum.at(sum.axes().maps[0]);
  sum.set("x", Value(Term{x}));
  CHECK(world.evaluator.holds(sum.rule.when[0], sum.frame) == Truth::yes);
  CHECK(sum.right() == "merge(add_n(x, split(o; 0, 3)); 0)");
  CHECK(world.evaluator.holds(sum.rule.when[0], sum.frame) == Truth::yes);  // now compares
  sum.set("k", Value(Int(2)));
  CHECK(world.evaluator.holds(sum.rule.when[0], sum.frame) == Truth::no);

  Site batch(world, "maps_merge", world.op("contract"), {number(1), number(1)},
             {world.make("merge", {number(0)}, {world.leaf("u", {2, 3, 5, 4})}), world.leaf("v", {6, 4, 7})},
             0);
  batch.at(batch.axes().maps[0]);
  batch.set("x", Value(Term{world.leaf("u", {2, 3, 5, 4})}));
  batch.set("k", Value(Int(3)));
  CHECK(batch.right() == "merge(contract(u, split(v; 0, 3); 2, 1); 0)");

  const TermId flat = world.leaf("f", {6, 5});
  const TermId halves = world.make("split", {number(0), number(3)}, {flat});
  Site split(world, "maps_split", world.op("transpose"), {numbers({2, 0, 1})}, {halves}, 0);
  split.at(split.axes().maps[1]);
  split.set("x", Value(Term{flat}));
  split.set("k", Value(Int(3)));
  CHECK(split.right() == "split(transpose(f; [1, 0]); 1, 3)");
  Site apart(world, "maps_split", world.op("transpose"), {numbers({0, 2, 1})}, {halves}, 0);
  apart.at(apart.axes().maps[0]);
  apart.set("x", Value(Term{flat}));
  apart.set("k", Value(Int(3)));
  CHECK(apart.right() == "undefined");
}

TEST_CASE("triggers look terms up, and build nothing") {
  World world(kLemmas);
  const TermId p = world.leaf("p", {2, 3, 4});
  const TermId blocks = world.make("concat", {number(1)}, {p, p});
  const TermId merged = world.make("merge", {number(0)}, {blocks});
  const TermId twice = world.make("merge", {number(0)}, {merged});
  const TermId plain = world.leaf("y", {12, 4});
  const TermId split = world.make("merge", {number(0)}, {world.leaf("z", {2, 6, 4})});

  // merge of a concat along the inner axis
  Site stuck(world, "maps_merge", world.op("add_n"), {}, {merged, plain}, 0);
  stuck.at(stuck.axes().maps[0]);
  stuck.set("x", Value(Term{blocks}));
  stuck.set("k", Value(Int(6)));
  CHECK(stuck.triggered() == Truth::yes);
  // neither: the other operand is no merge
  const TermId free = world.make("merge", {number(0)}, {world.leaf("u", {2, 6, 4})});
  Site none(world, "maps_merge", world.op("add_n"), {}, {free, plain}, 0);
  none.at(none.axes().maps[0]);
  none.set("x", Value(Term{world.leaf("u", {2, 6, 4})}));
  none.set("k", Value(Int(6)));
  const std::size_t before = world.store.size();
  CHECK(none.triggered() == Truth::no);
  CHECK(world.store.size() == before);
  // all the others are merges by the same factor, or constants
  Site all(world, "maps_merge", world.op("add_n"), {}, {free, split, *world.evaluator.full(2, type({12, 4}))},
           0);
  all.at(all.axes().maps[0]);
  all.set("k", Value(Int(6)));
  all.set("x", Value(Term{world.leaf("u", {2, 6, 4})}));
  CHECK(all.triggered() == Truth::yes);
  all.set("k", Value(Int(4)));
  CHECK(all.triggered() == Truth::no);

  const rules::Lemma& looks = world.lemma("looks");
  Frame frame;
  frame.slots.resize(looks.slots.size());
  frame.slots[0] = Value(Term{plain});
  CHECK(world.evaluator.holds(looks.trigger[0], frame) == Truth::no);
  const TermId e = world.make("exp", {}, {plain});
  CHECK(world.evaluator.holds(looks.trigger[0], frame) == Truth::no);
  world.store.set_named(e);
  CHECK(world.evaluator.holds(looks.trigger[0], frame) == Truth::yes);
  CHECK(world.evaluator.holds(looks.trigger[1], frame) == Truth::yes);
  CHECK(world.evaluator.holds(looks.trigger[2], frame) == Truth::yes);
  CHECK(world.evaluator.holds(looks.when[0], frame) == Truth::unknown);
  frame.slots[0] = Value(Term{twice});
  CHECK(world.evaluator.holds(looks.trigger[2], frame) == Truth::no);
  frame.slots[0] = Value(Term{*world.evaluator.full(0, type({2}))});
  CHECK(world.evaluator.holds(looks.when[0], frame) == Truth::yes);
  CHECK(world.evaluator.holds(looks.trigger[1], frame) == Truth::no);
}

TEST_CASE("a predicate that needs itself does not hold") {
  World world(std::string(kLemmas) + "lemma round(x: tensor): exp(x) => x trigger loops(x);");
  const rules::Lemma& round = world.lemma("round");
  Frame frame;
  frame.slots.resize(round.slots.size());
  frame.slots[0] = Value(Term{world.make("exp", {}, {world.leaf("x", {2})})});
  CHECK(world.evaluator.holds(round.trigger[0], frame) == Truth::no);
}

}  // namespace entangle::term::test
