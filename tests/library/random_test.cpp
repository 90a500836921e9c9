// Nothing the lemmas make equal differs in numbers: random terms, saturated, every node of every class
// compared.
#include <doctest/doctest.h>

#include "numeric.h"
#include "random_terms.h"
#include "world.h"

namespace entangle::library {

TEST_CASE("library: random terms keep their values") {
  const rules::Loaded loaded = rules::load_rules_text("library", library_text(), {});
  REQUIRE(loaded.ok());
  const egraph::Program program(*loaded.rules);
  std::size_t compared = 0;
  egraph::Counters counters;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
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
  }
  CHECK(compared > 200000);
  // The generator reaches most of the library.
  std::size_t applied = 0;
  for (const std::uint64_t count : counters.applied) applied += count > 0 ? 1 : 0;
  CHECK(applied * 2 > counters.applied.size());
}

}  // namespace entangle::library
