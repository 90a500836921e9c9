// Grounds: what of the rules a verdict rests on.
//
// Lemmas are counted where they are applied, in problems that the memo answers, too. What is declared of
// operators (`elementwise`, `maps`, …) is used in many places; it counts for every operator that the programs
// consist of or that a lemma that was applied may have made.
#pragma once

#include <string>
#include <vector>

#include "entangle/egraph/saturate.h"
#include "entangle/infer/verdict.h"

namespace entangle::infer {

// Fills `lemmas`, `normalised` and `operators`.
void record_grounds(const egraph::EGraph& joint, const egraph::Counters& counters, Verdict& verdict);

// The axioms among them, as they are shown: each with its place and the reason that the rules give.
std::vector<std::string> axioms(const rules::RuleSet& rules, const Verdict& verdict);

}  // namespace entangle::infer
