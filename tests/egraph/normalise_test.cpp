#include "world.h"

using namespace entangle;
using namespace entangle::egraph;

namespace {

const std::string kNormal = R"(
normalise lemma whole(x: tensor, d: axis): slice(x; d, 0, x.shape[d]) => x;
normalise lemma one(x: tensor, d: axis): concat(x; d) => x;
normalise lemma one_term(x: tensor): add_n(x) => x;
normalise lemma identity(x: tensor, p: perm): transpose(x; p) => x  when p == axes(x);
normalise lemma twice(x: tensor, p: int*, q: int*): transpose(transpose(x; p); q) => transpose(x; permute(p, q))
  trigger not named(transpose(x; p));
normalise lemma nested(x: tensor, d: axis, a: int, b: int, p: int, q: int):
  slice(slice(x; d, a, b); d, p, q) => slice(x; d, a + p, a + q);
normalise lemma block(xs: tensor+, d: axis, a: int, b: int): slice(concat(xs; d); d, a, b) => xs[block_at(xs, d, a, b)];
normalise lemma no_zero(xs: tensor+): add_n(0, *xs) => add_n(xs);
)";

}  // namespace

TEST_CASE("terms are built in normal form") {
  World w(kNormal);
  const TermId x = w.leaf("x", {4, 6});
  const TermId y = w.leaf("y", {2, 6});
  const std::size_t nodes = w.graph->node_count();
  CHECK(w.make("slice", {x}, {1, 0, 6}) == x);
  CHECK(w.make("concat", {x}, {1}) == x);
  CHECK(w.make("transpose", {x}, {std::vector<int>{0, 1}}) == x);
  CHECK(w.graph->node_count() == nodes);  // what was normalised away is no node
  CHECK(w.graph->class_count() == 2);

  const TermId t = w.make("transpose", {x}, {std::vector<int>{1, 0}});
  CHECK(w.make("transpose", {t}, {std::vector<int>{1, 0}}) == x);
  const TermId part = w.make("slice", {w.make("slice", {x}, {0, 1, 4})}, {0, 1, 2});
  CHECK(w.graph->print(part) == "slice(x; 0, 2, 3)");
  CHECK(w.same(part, w.exact("slice", {x}, {0, 2, 3})));
  // Through two normal forms: the slice of the slice is the whole of one block.
  const TermId xy = w.make("concat", {x, y}, {0});
  CHECK(w.make("slice", {xy}, {0, 4, 6}) == y);
  CHECK(w.make("slice", {w.make("slice", {xy}, {0, 1, 6})}, {0, 3, 5}) == y);
  CHECK(w.graph->clashes().empty());
}

TEST_CASE("the trigger of a normal form is asked") {
  World w(kNormal);
  const TermId x = w.leaf("x", {4, 6});
  const TermId t = w.make("transpose", {x}, {std::vector<int>{1, 0}});
  w.graph->set_named(t);
  const TermId tt = w.make("transpose", {t}, {std::vector<int>{1, 0}});
  CHECK(tt != x);
  CHECK(w.graph->print_original(tt) == "transpose(transpose(x; [1, 0]); [1, 0])");
}

TEST_CASE("commutative roots") {
  World w(kNormal);
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId zero = w.full(0, {4});
  CHECK(w.make("add_n", {x, zero}) == x);
  CHECK(w.make("add_n", {zero, y, x}) == w.make("add_n", {x, y}));
}

TEST_CASE("make_exact keeps the term, even if it was normalised before") {
  World w(kNormal);
  const TermId x = w.leaf("x", {4, 6});
  CHECK(w.make("slice", {x}, {1, 0, 6}) == x);
  const rules::OpId slice = w.op("slice");
  CHECK(w.graph->find_node(slice, w.attrs({1, 0, 6}), std::vector<TermId>{x}) == kNoTerm);
  CHECK(w.graph->nodes(x).size() == 1);
  const TermId exact = w.exact("slice", {x}, {1, 0, 6});
  CHECK(exact == x);
  CHECK(w.graph->find_node(slice, w.attrs({1, 0, 6}), std::vector<TermId>{x}) == x);
  CHECK(w.graph->nodes(x).size() == 2);
  CHECK(w.graph->user_nodes(x, slice).size() == 1);
  CHECK(w.exact("slice", {x}, {0, 0, 4}) != x);
}

TEST_CASE("a normal form of another type is refused, and the term kept") {
  World w("normalise lemma wrong(x: tensor, d: axis, a: int, b: int): slice(x; d, a, b) => x;\n");
  const TermId x = w.leaf("x", {4});
  const TermId part = w.make("slice", {x}, {0, 1, 3});
  CHECK(part != x);
  CHECK(w.graph->nodes(part).size() == 1);
  REQUIRE(w.graph->clashes().size() == 1);
  CHECK(w.graph->clashes()[0].reason.kind == Reason::Kind::normalise);
  CHECK(w.rules().lemmas()[w.graph->clashes()[0].reason.index].name == "wrong");
  CHECK(w.make("slice", {x}, {0, 1, 3}) == part);
}

TEST_CASE("normal forms that never end are cut off") {
  // A circle that cannot be seen from its text, which would be an error.
  World w(
      "normalise lemma turn(x: tensor, y: tensor): sub(x, y) => neg(sub(y, x)) when rank(x) == rank(y);\n");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId d = w.make("sub", {x, y});
  CHECK(d != kNoTerm);
  CHECK(w.graph->clashes().empty());
  w.graph->rebuild();
  CHECK(w.make("sub", {x, y}) == w.graph->find(d));
}

TEST_CASE("look-ups find what a term was replaced by") {
  World w(kNormal + "lemma l(x: tensor): exp(x) => x  trigger named(slice(x; 0, 0, 4));\n");
  const TermId x = w.leaf("x", {4});
  const TermId ex = w.make("exp", {x});
  const auto holds = [&] {
    return w.graph->matcher().match_lemma(w.lemma("l"), w.graph->nodes(ex)[0],
                                          [](term::Frame&) { return true; });
  };
  CHECK_FALSE(holds());
  w.graph->set_named(x);
  const std::size_t terms = w.graph->term_count();
  CHECK(holds());
  CHECK(w.graph->term_count() == terms);
}

TEST_CASE("saturation applies normal forms to terms that came to match later") {
  World w(kNormal);
  const TermId x = w.leaf("x", {4, 6});
  const TermId y = w.leaf("y", {6, 4});
  const TermId ty = w.make("transpose", {y}, {std::vector<int>{1, 0}});
  w.graph->merge(y, w.make("transpose", {x}, {std::vector<int>{1, 0}}), {});
  CHECK_FALSE(w.same(ty, x));
  const Outcome outcome = w.saturate();
  CHECK(outcome.stop == Stop::saturated);
  CHECK(w.same(ty, x));
}
TEST_CASE("what is refused for operands of some types is tried again for others, and for other classes") {
  World w(R"(
normalise lemma whole(x: tensor, d: axis): slice(x; d, 0, x.shape[d]) => x;
normalise lemma first(x: tensor, d: axis, a: int, b: int): slice(x; d, a, b) => neg(slice(x; d, a + 1, b + 1))
  when a == 0 trigger has(x, exp(_));
normalise lemma same(x: tensor): sub(x, x) => scale(x; 0);
normalise lemma of_exp(x: tensor, y: tensor): sub(x, y) => neg(y)  trigger has(x, exp(_));
)");
  const TermId x = w.leaf("x", {4});
  const TermId longer = w.leaf("longer", {5});
  const TermId other = w.leaf("other", {5});
  CHECK(w.make("slice", {longer}, {0, 0, 4}) != longer);
  CHECK(w.make("slice", {x}, {0, 0, 4}) == x);
  CHECK(w.make("slice", {other}, {0, 0, 4}) != w.make("slice", {longer}, {0, 0, 4}));
  CHECK(w.make("slice", {other}, {0, 0, 5}) == other);
  const TermId y = w.leaf("y", {4});
  CHECK(w.make("sub", {x, y}) != w.make("neg", {y}));
  CHECK(w.make("sub", {x, x}) == w.make("scale", {x}, {0}));
  const TermId exp = w.make("exp", {longer});
  CHECK(w.make("slice", {exp}, {0, 0, 4}) == w.make("neg", {w.make("slice", {exp}, {0, 1, 5})}));
  w.graph->merge(x, w.make("exp", {y}), {});
  w.graph->rebuild();
  const TermId z = w.leaf("z", {4});
  CHECK(w.make("sub", {x, z}) == w.make("neg", {z}));
  CHECK(w.make("sub", {z, z}) == w.make("scale", {z}, {0}));
}

TEST_CASE("what a normal form says by types it says of every operand of these types") {
  World w(kNormal);
  const std::vector<int> swapped{1, 0};
  for (int k = 0; k < 3; ++k) {
    const TermId x = w.leaf("x" + std::to_string(k), {4, 6});
    CHECK(w.make("slice", {x}, {0, 0, 4}) == x);
    const TermId whole = w.graph->last_made();
    CHECK(whole != x);
    const auto steps = w.graph->explain(whole, x);
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].reason.kind == Reason::Kind::normalise);
    CHECK(w.graph->rules().lemmas()[steps[0].reason.index].name == "whole");
    CHECK(w.make("slice", {x}, {1, 0, 4}) != x);
    CHECK(w.make("transpose", {x}, {std::vector<int>{0, 1}}) == x);
    CHECK(w.make("transpose", {x}, {swapped}) != x);
    CHECK(w.make("transpose", {w.make("transpose", {x}, {swapped})}, {swapped}) == x);
    CHECK(w.graph->normalised()[0] == static_cast<std::uint64_t>(k + 1));
  }
  CHECK(w.graph->clashes().empty());
}

TEST_CASE("normal forms of constants and of repeated operands") {
  World w(R"(
normalise lemma no_zero(xs: tensor+): add_n(0, *xs) => add_n(*xs);
normalise lemma one_term(x: tensor): add_n(x) => x;
normalise lemma twice(x: tensor, rest: tensor*): add_n(x, x, *rest) => add_n(scale(x; 2), *rest);
normalise lemma of_constant(x: tensor, y: tensor, c: scalar): sub(x, y) => scale(x; c)  when c == uniform(y) and c == 3;
)");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId zero = w.full(0, {4});
  const TermId three = w.full(3, {4});
  CHECK(w.make("add_n", {x, zero}) == x);
  CHECK(w.make("add_n", {x, x}) == w.make("scale", {x}, {2}));
  CHECK(w.make("add_n", {y, x, y}) == w.make("add_n", {w.make("scale", {y}, {2}), x}));
  CHECK(w.make("sub", {x, three}) == w.make("scale", {x}, {3}));
  CHECK(w.make("sub", {three, x}) != w.make("scale", {three}, {3}));
  CHECK(w.make("sub", {x, zero}) != w.make("scale", {x}, {3}));
  // What becomes known later counts from then on.
  const TermId later = w.leaf("later", {4});
  CHECK(w.make("sub", {y, later}) != w.make("scale", {y}, {3}));
  w.graph->merge(later, three, {});
  w.graph->rebuild();
  CHECK(w.make("sub", {zero, later}) == w.make("scale", {zero}, {3}));
  const TermId z = w.leaf("z", {4});
  w.graph->merge(z, y, {});
  w.graph->rebuild();
  CHECK(w.make("add_n", {z, x, y}) == w.make("add_n", {w.make("scale", {y}, {2}), x}));
}
