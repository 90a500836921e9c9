// Questions that bounds answer: whether an integer condition follows from others, found by intervals and
// cases, without a solver.
//
// An integer term gets an interval from what is known of its parts; the branches of a choice are looked at
// under its condition and under its negation. Comparisons of reals that are made of integers count as such.
// That decides whether an index that is masked and shifted stays in its block. What it does not see it does
// not claim.
#pragma once

#include <vector>

#include "entangle/smt/term.h"

namespace entangle::smt {

// True: the facts imply the goal. False: not shown.
bool follows_by_bounds(const std::vector<Term>& facts, const Term& goal);

}  // namespace entangle::smt
