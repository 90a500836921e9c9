// Whether a lemma follows from the other lemmas of its rule set: not only in truth, but for the e-graph.
//
// Instances of the lemma (prove.h) are built in an e-graph that is saturated with all the others. Triggers
// ask what is a tensor of the distributed program, so each is built in four ways: nothing is named as one,
// what stands inside of the left side, all of the left side, or what is given beside it. Instances whose left
// side other lemmas normalise away as it is built do not count. A lemma that is found on every instance is
// one that the library may not need. That is a hint, not a proof: instances are small, and without the lemma
// a check may take longer. Deterministic.
#pragma once

#include <cstdint>

#include "entangle/rules/ruleset.h"

namespace entangle::prove {

enum class Implied : std::uint8_t {
  unknown,  // no instance was found
  no,       // there is an instance on which the others do not find the right side
  found,    // from the left side alone they find the right one, on every instance
};

// `lemma`: its place in rules.lemmas().
Implied implied(const rules::RuleSet& rules, std::size_t lemma);

}  // namespace entangle::prove
