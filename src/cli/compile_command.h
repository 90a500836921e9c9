// `entangle compile`.
#pragma once

#include <string>

#include "cli/exit_code.h"

namespace entangle::cli {

// Writes the library's rules, compiled, to where programs of this build look for them (or to `file`): so that
// the first check need not compile them.
ExitCode compile(const std::string& file);

}  // namespace entangle::cli
