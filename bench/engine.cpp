// The engine's inner loops under Google Benchmark: terms, merges, matching, one local problem, reading, a
// whole check.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "entangle/egraph/match.h"
#include "entangle/egraph/saturate.h"
#include "entangle/graph/read.h"
#include "entangle/infer/check.h"
#include "entangle/relation/manifest.h"
#include "entangle/support/paths.h"

namespace {

using namespace entangle;
using egraph::EGraph;
using term::TermId;

const std::string kExample = ENTANGLE_SOURCE "/examples/transformer/";

const infer::Engine& engine() {
  static const infer::Engine engine = [] {
    rules::Loaded loaded = rules::load_rules({ENTANGLE_SOURCE "/rules/aten.rules"}, support::rule_folders());
    return infer::Engine::of(loaded.rules);
  }();
  return engine;
}

struct World {
  World() : typing(*engine().rules, oracle), graph(typing, oracle) {}
  TermId make(const std::string& op, const std::vector<tensor::Attr>& attrs,
              const std::vector<TermId>& children) {
    return graph.make(engine().rules->find_op(op), tensor::Attr::list(attrs), children);
  }
  std::vector<TermId> leaves(std::size_t count, std::int64_t rows, std::int64_t columns) {
    std::vector<TermId> result;
    for (std::size_t i = 0; i < count; ++i) {
      result.push_back(
          graph.leaf({{sym::Int(rows), sym::Int(columns)}, tensor::DType::f32}, std::to_string(i)));
    }
    return result;
  }

  smt::Oracle oracle;
  term::Typing typing;
  EGraph graph;
};

tensor::Attr attr(std::int64_t number) {
  return tensor::Attr::of(sym::Int(number));
}

void add_terms(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    World world;
    const auto xs = world.leaves(n + 1, 4, 8);
    for (std::size_t i = 0; i < n; ++i) benchmark::DoNotOptimize(world.make("add_n", {}, {xs[i], xs[i + 1]}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(add_terms)->Arg(1000)->Arg(10000);

void find_terms(benchmark::State& state) {
  World world;
  const auto xs = world.leaves(1001, 4, 8);
  for (auto _ : state) {
    for (std::size_t i = 0; i < 1000; ++i)
      benchmark::DoNotOptimize(world.make("add_n", {}, {xs[i], xs[i + 1]}));
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(find_terms);

// Two towers of exponentials on n pairs of leaves: joining the leaves joins everything above.
void merge_and_rebuild(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    auto world = std::make_unique<World>();
    const auto xs = world->leaves(2 * n, 4, 8);
    for (TermId x : xs) {
      for (int level = 0; level < 8; ++level) x = world->make("tanh", {}, {x});
    }
    world->graph.rebuild();
    state.ResumeTiming();
    for (std::size_t i = 0; i < n; ++i) world->graph.merge(xs[2 * i], xs[2 * i + 1], {});
    world->graph.rebuild();
    state.PauseTiming();
    world.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * 8);
}
BENCHMARK(merge_and_rebuild)->Arg(100)->Arg(1000);

// A product of n column blocks with n row blocks: the local problem of a tensor-parallel layer.
TermId sharded_product(World& world, std::size_t n) {
  const auto xs = world.leaves(n, 16, 4);
  const auto ws = world.leaves(n, 4, 8);
  for (std::size_t i = 0; i < n; ++i) world.make("contract", {attr(0), attr(1)}, {xs[i], ws[i]});
  const TermId product =
      world.make("contract", {attr(0), attr(1)},
                 {world.make("concat", {attr(1)}, xs), world.make("concat", {attr(0)}, ws)});
  world.graph.rebuild();
  return product;
}

void match_lemmas(benchmark::State& state) {
  World world;
  const TermId product = sharded_product(world, static_cast<std::size_t>(state.range(0)));
  egraph::Matcher matcher(world.graph);
  const auto node = world.graph.original(product);
  for (auto _ : state) {
    std::size_t found = 0;
    for (const rules::Lemma& lemma : engine().rules->lemmas()) {
      if (!lemma.given.empty() || lemma.normalise) continue;
      matcher.match_lemma(lemma, node, [&](term::Frame&) {
        ++found;
        return false;
      });
    }
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK(match_lemmas)->Arg(2)->Arg(8)->Arg(64);

void local_problem(benchmark::State& state) {
  for (auto _ : state) {
    World world;
    sharded_product(world, static_cast<std::size_t>(state.range(0)));
    benchmark::DoNotOptimize(egraph::saturate(world.graph, *engine().program));
  }
}
BENCHMARK(local_problem)->Arg(2)->Arg(8)->Arg(32)->Unit(benchmark::kMicrosecond);

void read_graph(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(graph::read_graph(kExample + "graphs/sequential.json"));
}
BENCHMARK(read_graph)->Unit(benchmark::kMicrosecond);

void check_example(benchmark::State& state) {
  const auto manifest = relation::read_manifest(kExample + "tp2.yaml");
  if (!manifest) return state.SkipWithError("the example cannot be read");
  for (auto _ : state) benchmark::DoNotOptimize(infer::check(*manifest, engine()));
}
BENCHMARK(check_example)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  engine();  // loading the rules is not what is measured
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
