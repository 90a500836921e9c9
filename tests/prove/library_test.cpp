// Every lemma of the library, and everything its operators are declared to be, is proved: for small ranks
// and short lists, as far as they have a form there. `entangle prove` looks at larger ones, which takes a
// minute.
#include <doctest/doctest.h>

#include <string>

#include "entangle/prove/prove.h"
#include "entangle/support/paths.h"

namespace entangle::prove {
namespace {

// Under limits that grow until there is a form.
template <class Examine>
Result proved(const Examine& examine) {
  Options options;
  options.instances = 1;
  Result result;
  for (const std::size_t rank : {2U, 3U, 4U}) {
    options.rank = rank;
    options.length = rank < 4 ? 2 : 3;
    result = examine(options);
    if (result.outcome >= Outcome::proved || result.forms > result.vacuous) break;
  }
  return result;
}

void check(const std::string& name, const Result& result) {
  INFO(name);
  INFO(result.reason);
  INFO(result.counterexample);
  if (result.operators.empty()) {
    CHECK(result.outcome >= Outcome::proved);
    return;
  }
  // Of a generic lemma some operators have forms of larger ranks only.
  CHECK(result.outcome >= Outcome::tested);
  CHECK(result.forms > result.vacuous);
  CHECK(result.proved == result.forms);
}

TEST_CASE("every lemma of the library is proved") {
  const rules::Loaded loaded =
      rules::load_rules({std::string(ENTANGLE_SOURCE_DIR) + "/rules/aten.rules"}, support::rule_folders());
  REQUIRE(loaded.ok());
  for (const rules::Lemma& lemma : loaded.rules->lemmas()) {
    if (lemma.axiom) continue;
    check(lemma.name, proved([&](const Options& options) { return examine(*loaded.rules, lemma, options); }));
  }
  const Claims claims(*loaded.rules);
  CHECK(claims.all().size() > 100);
  for (const Claim& claim : claims.all()) {
    check(claim.lemma.name, proved([&](const Options& options) { return examine(claims, claim, options); }));
  }
}

}  // namespace
}  // namespace entangle::prove
