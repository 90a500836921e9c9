// Nothing the lemmas make equal differs in numbers: random terms, saturated, every node of every class
// compared.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "numeric.h"
#include "random_terms.h"
#include "world.h"

namespace entangle::library {

namespace {

// How many graphs of random terms, five on average each (some 20,000 in all): ENTANGLE_RANDOM_GRAPHS for a
// long run.
std::uint64_t graphs() {
  const char* asked = std::getenv("ENTANGLE_RANDOM_GRAPHS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 4500;
}

}  // namespace

TEST_CASE("library: random terms keep their values") {
  const rules::Loaded loaded = rules::load_rules_text("library", library_text(), {});
  REQUIRE(loaded.ok());
  const egraph::Program program(*loaded.rules);
  std::size_t compared = 0;
  std::size_t bounded = 0;
  egraph::Counters counters;
  const std::uint64_t count = graphs();
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    smt::Oracle oracle;
    term::Typing typing(*loaded.rules, oracle);
    egraph::EGraph graph(typing, oracle);
    RandomTerms(graph, seed).grow(1 + seed % 9);
    counters.add(egraph::saturate(graph, program, limits(600, 10)).counters);
    CAPTURE(seed);
    for (const egraph::Clash& clash : graph.clashes()) FAIL(clash.left << " against " << clash.right);
    Check check(graph, seed);
    if (const auto difference = check.run()) FAIL(difference->lemma_hint << "\n" << difference->what);
    compared += check.compared();
    bounded += check.bounded();
  }
  MESSAGE(count << " graphs, " << compared << " nodes compared, " << bounded << " elements with bounds");
  CHECK(compared > 130 * count);
  CHECK(bounded > 10 * count);
  // The generator reaches most of the library.
  const auto applied =
      std::ranges::count_if(counters.lemmas, [](const auto& entry) { return entry.second.applied > 0; });
  CHECK(static_cast<std::size_t>(applied) * 2 > loaded.rules->lemmas().size());
}

}  // namespace entangle::library
