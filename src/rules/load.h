// Loading of rule files, with a record of what was looked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "rules/uses.h"

namespace entangle::rules {

// As load_rules; `absent` is where an included file was looked for in vain.
Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                  std::vector<std::string>& absent);

// As load_rules without errors, where that is done in this way; null where there are errors.
std::shared_ptr<const RuleSet> load_rules(const std::vector<std::string>& paths,
                                          const std::vector<std::string>& folders, Bodies bodies);

}  // namespace entangle::rules
