// Finds and loads rule files, each list of files once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "entangle/infer/check.h"
#include "entangle/relation/manifest.h"
#include "entangle/support/diagnostic.h"

namespace entangle::cli {

// What a list of rule files amounts to.
struct LoadedRules {
  infer::Engine engine;                     // without rules where there are errors
  std::vector<std::string> paths;           // of the files
  std::vector<support::Diagnostic> errors;  // all of them
  std::vector<support::Diagnostic> warnings;
};

// The file of the default rules; nothing if the rule folders have none.
std::optional<std::string> default_rules();

// All loaders of a process share what was loaded.
class RuleLoader {
 public:
  // Rule files named on the command line: looked up from the current folder, then in the rule folders.
  const LoadedRules& load_named(const std::vector<std::string>& names);
  // Those of a manifest: looked up beside it, then in the rule folders. Without any: the default rules.
  const LoadedRules& load_for(const relation::Manifest& manifest);

 private:
  const LoadedRules& load(const std::vector<relation::Text>& names, const std::string& folder);

  using Loads = std::map<std::vector<std::string>, LoadedRules>;
  // Never taken apart: the program ends with them, and doing so takes longer than checking a small model.
  static Loads& loads();
};

}  // namespace entangle::cli
