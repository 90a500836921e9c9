// `normalise` lemmas that are applied without end: each is applied at once to what another one makes.
#pragma once

#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

// An error for each circle of them that can be seen from their texts: a lemma whose right side, with these
// lemmas applied to it as they are when it is built, comes to hold what its left side matches. Conditions
// count as met only where they are the first lemma's own, so what is reported has no end for any operands.
// Lemmas with an operator variable or with `given` are not looked at.
std::vector<support::Diagnostic> check_endless(const std::vector<Lemma>& normalise);

}  // namespace entangle::rules
