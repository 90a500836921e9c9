#include "cli/compile_command.h"

#include <iostream>

#include "cli/rule_loader.h"
#include "entangle/rules/cache.h"
#include "entangle/support/diagnostic.h"
#include "entangle/support/paths.h"

namespace entangle::cli {

ExitCode compile(const std::string& file) {
  support::ShippedLibrary library = support::shipped_library();
  if (!file.empty()) library.compiled = file;
  const std::optional<std::string> rules = default_rules();
  if (!rules || library.compiled.empty()) {
    std::cerr << support::render(support::error("cli/no-library", {}, "there is no library to compile"));
    return ExitCode::bad_input;
  }
  const rules::Loaded loaded = rules::compile_library({*rules}, support::rule_folders(), library);
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) std::cerr << support::render(diagnostic);
  if (!loaded.ok()) return ExitCode::bad_input;
  std::cout << library.compiled << "\n";
  return std::cout.flush() ? ExitCode::refines : ExitCode::bad_input;
}

}  // namespace entangle::cli
