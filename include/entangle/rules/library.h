// Which rule files are those of the rule library that comes with this build of the program.
//
// Told by their contents, wherever they lie: a copy of a file of the library is one, a file of the library
// that was edited since the program was built is none. (Hashes of 64 bits: against accidents, not intent.)
// Safe for concurrent use.
#pragma once

#include <string>

#include "entangle/support/diagnostic.h"

namespace entangle::rules {

// Whether the registered source is a file of the library. Reads it.
bool is_of_library(support::FileId file);

// Where a declaration stands, as it is shown to the user: `FILE:LINE`, a file of the library by its name
// only.
std::string place_of(const support::Span& span);

}  // namespace entangle::rules
