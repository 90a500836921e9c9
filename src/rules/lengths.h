// How long the lists in the clauses of an operator are, as far as they say so themselves.
//
// Lengths are sums of what is not known yet: ranks of operands, lengths of lists, attributes. An index that
// is too long or too short for its tensor whatever these are, and an entry that is behind the end of its
// list, are mistakes that need no proof to be found.
#pragma once

#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

// Errors and warnings about the clauses, in no order.
std::vector<support::Diagnostic> check_lengths(const Operator& op);

}  // namespace entangle::rules
