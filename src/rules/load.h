// Loading of rule files, with a record of the file system as it was then.
#pragma once

#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

struct FilesSeen {
  std::vector<std::string> read;    // in the order in which they were registered
  std::vector<std::string> absent;  // where an included file was looked for in vain
};

// As load_rules.
Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                  FilesSeen& seen);

}  // namespace entangle::rules
