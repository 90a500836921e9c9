// check_rules FILE...: loads rule files and prints what is wrong with them. Exit status 2 on errors.
#include <iostream>

#include "entangle/rules/ruleset.h"
#include "entangle/support/paths.h"

int main(int argc, char** argv) {
  const std::vector<std::string> paths(argv + 1, argv + argc);
  const entangle::rules::Loaded loaded =
      entangle::rules::load_rules(paths, entangle::support::rule_folders());
  for (const auto& diagnostic : loaded.diagnostics) std::cout << entangle::support::render(diagnostic);
  if (!loaded.ok()) return 2;
  const entangle::rules::RuleSet& rules = *loaded.rules;
  std::cout << rules.files().size() << " files: " << rules.operators().size() << " operators, "
            << rules.lemmas().size() << " lemmas, " << rules.lowerings().size() << " lowerings, "
            << rules.predicates().size() << " predicates, " << rules.functions().size() << " functions, "
            << rules.laws().size() << " laws\n";
  return 0;
}
