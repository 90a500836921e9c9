// Every lemma of the library, and everything its operators are declared to be, is proved: for small ranks
// and short lists, as far as they have a form there. `entangle prove` looks at larger ones, which takes a
// minute.
#include <doctest/doctest.h>

#include <deque>
#include <string>

#include "entangle/prove/prove.h"
#include "entangle/support/paths.h"

namespace entangle::prove {
namespace {

// Under limits that grow until there is a form.
struct Limited {
  Limited(const Claims& claims, std::size_t rank) : options(limits(rank)), values(claims, options) {}
  static Options limits(std::size_t rank) {
    Options options;
    options.instances = 1;
    options.rank = rank;
    options.length = rank < 4 ? 2 : 3;
    return options;
  }

  const Options options;
  Values values;
};

template <class Examine>
Result proved(std::deque<Limited>& limits, const Examine& examine) {
  Result result;
  for (Limited& limited : limits) {
    result = examine(limited);
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
  const Claims claims(*loaded.rules);
  std::deque<Limited> limits;
  for (const std::size_t rank : {2U, 3U, 4U}) limits.emplace_back(claims, rank);
  for (const rules::Lemma& lemma : loaded.rules->lemmas()) {
    if (lemma.axiom) continue;
    check(lemma.name, proved(limits, [&](Limited& limited) {
            return examine(*loaded.rules, lemma, limited.values, limited.options);
          }));
  }
  CHECK(claims.all().size() > 140);
  for (const Claim& claim : claims.all()) {
    check(claim.lemma.name, proved(limits, [&](Limited& limited) {
            return examine(claims, claim, limited.values, limited.options);
          }));
  }
}

}  // namespace
}  // namespace entangle::prove
