// `entangle lint`.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace entangle::cli {

struct LintArguments {
  std::vector<std::string> manifests;
  std::vector<std::string> rules;  // empty: the default rules
  bool implied = false;            // also ask which lemmas follow from the others
};

// Prints what the rule files hold, and the lemmas that no manifest needs or that follow from others. Findings
// are no errors: the exit code is 0 unless something cannot be read.
ExitCode lint(const LintArguments& arguments);

}  // namespace entangle::cli
