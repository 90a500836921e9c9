// What the body of a definition mentions, as far as its text says.
#pragma once

#include "rules/syntax.h"

namespace entangle::rules {

// Fills in `uses` and `calls`.
void find_mentions(syntax::DefText& definition);

}  // namespace entangle::rules
