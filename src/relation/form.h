// Placements and other forms, from their texts.
#pragma once

#include "entangle/relation/manifest.h"

namespace entangle::relation {

// `Replicate`, `Shard(d)`, `Partial`; throws Failure.
Placement parse_placement(const Text& text);
// A placement over all ranks or an expression, which is only told apart here; `in_list`: the text is an item
// of a list. Throws Failure.
Form parse_form(const Text& text, bool in_list);

}  // namespace entangle::relation
