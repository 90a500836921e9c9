// Random terms, saturated: nothing clashes, congruence holds, the same seed gives the same e-graph, and
// matching only what changed finds what matching everything finds.

#include <map>

#include "random_terms.h"
#include "world.h"

using namespace entangle;
using namespace entangle::egraph;

namespace {

const std::string kLemmas = R"(
normalise lemma whole(x: tensor, d: axis): slice(x; d, 0, x.shape[d]) => x;
normalise lemma one(x: tensor, d: axis): concat(x; d) => x;
normalise lemma one_term(x: tensor): add_n(x) => x;
normalise lemma identity(x: tensor, p: perm): transpose(x; p) => x  when p == axes(x);
normalise lemma merge_unit(x: tensor, d: axis): merge(x; d) => squeeze(x; d)  when x.shape[d] == 1;
normalise lemma block(xs: tensor+, d: axis, a: int, b: int): slice(concat(xs; d); d, a, b) => xs[block_at(xs, d, a, b)];
normalise lemma twice(x: tensor, p: int*, q: int*): transpose(transpose(x; p); q) => transpose(x; permute(p, q));
lemma flatten(as: tensor*, bs: tensor+, cs: tensor*, d: axis): concat(*as, concat(*bs; d), *cs; d) => concat(*as, *bs, *cs; d);
lemma flatten_sum(xs: tensor+, rest: tensor*): add_n(add_n(xs), *rest) => add_n(*xs, *rest);
lemma merge_split(x: tensor, d: axis, k: int): merge(split(x; d, k); d) => x;
lemma slice_slice(x: tensor, d: axis, a: int, b: int, p: int, q: int): slice(slice(x; d, a, b); d, p, q) => slice(x; d, a + p, a + q);
lemma maps_concat<f: maps a -> r>(xs: tensor+):
  f(.., concat(xs; a), ..) => concat([f(.., x, .. | y @ b => slice(y; b, o, o + x.shape[a])) for x, o in zip(xs, offsets(xs, a))]; r);
lemma sums_concat<f: reduces sum a>(xs: tensor+):
  f(.., concat(xs; a), ..) => add_n([f(.., x, .. | y @ b => slice(y; b, o, o + x.shape[a])) for x, o in zip(xs, offsets(xs, a))]);
lemma linear_add<f: linear>(xs: tensor+): f(.., add_n(xs), ..) => add_n([f(.., x, ..) for x in xs]);
lemma maps_unit<f: maps a -> r>(x: tensor, axes: int*, sizes: int*):
  f(.., bcast(x; axes, sizes), ..)
    => bcast(f(.., squeeze(bcast(x; axes, sizes); a), .. | y @ b => squeeze(y; b); drop); [r], [1])
  when a in axes and sizes[index_of(axes, a)] == 1
  trigger forall y @ b: has(y, bcast(_; bs, _) if b in bs) or constant(y);
lemma maps_copies<f: maps a -> r>(x: tensor, axes: int*, sizes: int*, j: int):
  f(.., bcast(x; axes, sizes), ..)
    => bcast(f(.., bcast(x; [c - (if c > a then 1 else 0) for c in axes without j], sizes without j), ..; drop); [r], [sizes[j]])
  when j == index_of(axes, a)
  trigger forall y @ b: false;
predicate stuck(t: tensor) = has(t, merge(x; d) if has(x, concat(*_; d + 1)) or stuck(x));
lemma maps_merge<f: maps a -> r>(x: tensor, k: int):
  f(.., merge(x; a), ..) => merge(f(.., x, .. | y @ b => split(y; b, k); split); r)
  when k == x.shape[a + 1]
  trigger stuck(merge(x; a)) or forall y @ b: has(y, merge(z; b) if z.shape[b + 1] == k) or constant(y);
lemma tile(x: tensor, d: axis):
  given slice(x; d, _, _)
  x => concat([slice(x; d, a, b) for a, b in pairs(cuts)]; d)  when cuts == tiling(x, d);
lemma blocks(xs: tensor+, ys: tensor+, d: axis):
  given concat(xs; d) == concat(ys; d)
  xs == ys  when len(xs) == len(ys) and forall x, y in zip(xs, ys): x.shape[d] == y.shape[d];
)";

// Every node's type is its class's; no two nodes are the same; no two classes hold the same node.
void check_congruence(const World& w) {
  std::map<std::string, TermId> seen;
  for (const TermId id : w.graph->classes()) {
    for (const TermId at : w.graph->node_ids(id)) {
      const term::NodeView node = w.graph->node(at);
      if (node.op == rules::kNoOp) {
        continue;
      }
      std::string key = std::to_string(node.op) + tensor::to_string(node.attrs);
      std::vector<const tensor::TensorType*> types;
      for (const TermId child : node.children) {
        CHECK(w.graph->find(child) == child);
        key += " " + std::to_string(child);
        types.push_back(&w.graph->type(child));
      }
      CHECK(seen.emplace(key, id).second);
      const std::optional<tensor::TensorType> type = w.graph->typing().type_of(node.op, node.attrs, types);
      REQUIRE(type.has_value());
      CHECK(*type == w.graph->type(id));
    }
  }
}

}  // namespace

TEST_CASE("random terms") {
  World shared(kLemmas);
  std::size_t largest = 0;
  std::size_t saturated = 0;
  std::vector<std::uint64_t> applied(shared.rules().lemmas().size(), 0);
  constexpr std::uint64_t kSeeds = 300;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const auto run = [&](bool rounds_apart) {
      shared.graph = std::make_unique<EGraph>(shared.typing, shared.oracle);
      // Some of the terms are of few operators, where lemmas meet.
      const std::vector<std::string> kinds[] = {
          {},
          {"slice", "concat", "merge", "split", "transpose", "add_n", "neg"},
          {"concat", "slice", "reduce_sum", "contract", "reduce_max", "add_n"},
          {"bcast", "add_n", "contract", "neg", "merge", "scale", "concat", "const"},
      };
      RandomTerms terms(*shared.graph, seed, kinds[seed % std::size(kinds)]);
      const TermId root = terms.term(2 + seed % 2, 8 + seed % 7);
      Outcome outcome;
      if (!rounds_apart) {
        outcome = shared.saturate({600, 8, {}});
      } else {
        // Each call starts afresh: every node is matched by every lemma.
        for (std::size_t round = 0; round < 8; ++round) {
          const Outcome one = shared.saturate({600, 1, {}});
          outcome.counters.add(one.counters);
          outcome.stop = one.stop;
          if (one.stop != Stop::rounds) {
            break;
          }
        }
      }
      CHECK(shared.graph->find(root) <= root);
      return outcome;
    };
    const Outcome outcome = run(false);
    const std::string text = shared.dump();
    CHECK(shared.graph->clashes().empty());
    check_congruence(shared);
    largest = std::max(largest, shared.graph->node_count());
    saturated += outcome.stop == Stop::saturated ? 1 : 0;
    for (std::size_t i = 0; i < applied.size(); ++i) {
      applied[i] += outcome.counters.of(static_cast<std::uint32_t>(i)).applied;
    }
    if (seed % 5 == 0) {
      run(false);
      CHECK(shared.dump() == text);
    }
    if (outcome.stop == Stop::saturated) {
      const std::size_t classes = shared.graph->class_count();
      const std::size_t nodes = shared.graph->node_count();
      run(true);
      CHECK(shared.graph->class_count() == classes);
      CHECK(shared.graph->node_count() == nodes);
    }
  }
  CHECK(saturated > kSeeds / 2);
  CHECK(largest > 50);
  for (std::size_t i = 0; i < applied.size(); ++i) {
    const rules::Lemma& lemma = shared.rules().lemmas()[i];
    INFO(lemma.name);
    // `blocks` needs two different concats in one class, which only assumptions bring about.
    CHECK((applied[i] > 0 || lemma.normalise || lemma.name == "blocks"));
  }
}
