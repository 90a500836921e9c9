#include <map>

#include "world.h"

using namespace entangle;
using namespace entangle::egraph;

namespace {

Reason because(std::uint32_t index, const std::string& note = "") {
  return {Reason::Kind::assumption, index, note};
}

// Follows a derivation: it is a chain from a to b, and each step joins two terms of one class.
std::vector<EGraph::Step> replay(const World& w, TermId a, TermId b) {
  const std::vector<EGraph::Step> steps = w.graph->explain(a, b);
  std::string at = w.graph->print_original(a);
  for (const EGraph::Step& step : steps) {
    CHECK(step.from == at);
    REQUIRE(step.left != kNoTerm);
    CHECK(w.same(step.left, step.right));
    at = step.to;
  }
  CHECK(at == w.graph->print_original(b));
  return steps;
}

}  // namespace

TEST_CASE("a chain of merges is explained in order, and backwards") {
  World w;
  const TermId a = w.leaf("a", {4});
  const TermId b = w.leaf("b", {4});
  const TermId c = w.leaf("c", {4});
  const TermId d = w.leaf("d", {4});
  w.graph->merge(a, b, because(1));
  w.graph->merge(c, d, because(2, "the manifest, line 4"));
  w.graph->merge(d, a, because(3));
  const std::vector<EGraph::Step> steps = replay(w, b, c);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].from == "b");
  CHECK(steps[0].to == "a");
  CHECK(steps[0].reason == because(1));
  CHECK(steps[0].backwards);
  CHECK(steps[1].reason == because(3));
  CHECK(steps[1].backwards);
  CHECK(steps[2].to == "c");
  CHECK(steps[2].reason == because(2, "the manifest, line 4"));
  CHECK(steps[2].backwards);
  CHECK_FALSE(replay(w, c, b)[0].backwards);
  CHECK(replay(w, a, a).empty());
}

TEST_CASE("congruence is unfolded into whole terms") {
  World w;
  const TermId a = w.leaf("a", {4});
  const TermId b = w.leaf("b", {4});
  const TermId c = w.leaf("c", {4});
  const TermId fa = w.make("sub", {w.make("exp", {a}), c});
  const TermId fb = w.make("sub", {w.make("exp", {b}), a});
  w.graph->merge(a, b, because(1));
  w.graph->merge(c, a, because(2));
  w.graph->rebuild();
  const std::vector<EGraph::Step> steps = replay(w, fa, fb);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].from == "sub(exp(a), c)");
  CHECK(steps[0].to == "sub(exp(b), c)");
  CHECK(steps[0].reason == because(1));
  CHECK(steps[1].to == "sub(exp(b), a)");
  CHECK(steps[1].reason == because(2));
}

TEST_CASE("operands of commutative operators are paired as they were equal") {
  World w;
  const TermId a = w.leaf("a", {4});
  const TermId b = w.leaf("b", {4});
  const TermId c = w.leaf("c", {4});
  const TermId d = w.leaf("d", {4});
  const TermId ab = w.make("add_n", {a, b});
  const TermId dc = w.make("add_n", {d, c});
  w.graph->merge(a, c, because(1));
  w.graph->merge(b, d, because(2));
  w.graph->rebuild();
  REQUIRE(w.same(ab, dc));
  const std::vector<EGraph::Step> steps = replay(w, ab, dc);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].to == "add_n(c, b)");
  CHECK(steps[1].to == "add_n(c, d)");
  CHECK(steps[2].to == "add_n(d, c)");
  CHECK(steps[2].reason.kind == Reason::Kind::congruence);
}

TEST_CASE("explanations end where congruence feeds on itself") {
  World w;
  const TermId a = w.leaf("a", {4});
  const TermId fa = w.make("exp", {a});
  const TermId ffa = w.make("exp", {fa});
  const TermId fffa = w.make("exp", {ffa});
  w.graph->merge(fa, a, because(1));
  w.graph->rebuild();
  CHECK(w.same(fffa, a));
  const std::vector<EGraph::Step> steps = replay(w, fffa, a);
  CHECK(steps.size() >= 3);
  for (const EGraph::Step& step : steps) {
    CHECK((step.reason == because(1) || step.reason.kind == Reason::Kind::congruence));
  }
}

TEST_CASE("a pair of operands is unfolded once in a derivation") {
  World w;
  const TermId a = w.leaf("a", {4});
  const TermId b = w.leaf("b", {4});
  TermId x = a;
  TermId y = b;
  for (int i = 0; i < 40; ++i) {  // as a tree this has 2^40 leaves
    x = w.make("add_n", {x, x});
    y = w.make("add_n", {y, y});
  }
  w.graph->merge(a, b, because(1));
  w.graph->rebuild();
  REQUIRE(w.same(x, y));
  const std::vector<EGraph::Step> steps = replay(w, x, y);
  CHECK(steps.size() < 200);
}

TEST_CASE("lemmas, folding and normal forms are named in derivations") {
  World w(R"(
normalise lemma whole(x: tensor, d: axis): slice(x; d, 0, x.shape[d]) => x;
lemma twice(x: tensor): add_n(x, x) => scale(x; 2);
)");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId sum = w.make("add_n", {x, x});
  const TermId cut = w.make("slice", {x}, {0, 0, 4});
  const TermId ghost = w.graph->last_made();
  CHECK(cut == x);
  CHECK(ghost != x);
  w.saturate();
  w.exact("scale", {x}, {2});
  const std::vector<EGraph::Step> steps = replay(w, sum, w.graph->last_made());
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].reason.kind == Reason::Kind::lemma);
  CHECK(w.rules().lemmas()[steps[0].reason.index].name == "twice");
  CHECK(steps[0].from == "add_n(x, x)");
  CHECK(steps[0].to == "scale(x; 2)");

  const std::vector<EGraph::Step> whole = replay(w, ghost, x);
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].from == "slice(x; 0, 0, 4)");
  CHECK(whole[0].reason.kind == Reason::Kind::normalise);
  CHECK(w.rules().lemmas()[whole[0].reason.index].name == "whole");

  w.graph->merge(y, w.full(1, {4}), because(9));
  const TermId folded = w.make("add_n", {y, w.full(2, {4})});
  (void)folded;
  const TermId application = w.graph->last_made();
  w.full(3, {4});
  const std::vector<EGraph::Step> fold = replay(w, application, w.graph->last_made());
  REQUIRE(!fold.empty());
  CHECK(fold.back().reason.kind == Reason::Kind::fold);
}
