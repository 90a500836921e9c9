// Loading of rule files, with a record of what was looked for.
#pragma once

#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

// As load_rules; `absent` is where an included file was looked for in vain.
Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                  std::vector<std::string>& absent);

}  // namespace entangle::rules
