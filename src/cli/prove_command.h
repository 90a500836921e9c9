// `entangle prove`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace entangle::cli {

struct ProveArguments {
  std::vector<std::string> rules;   // rule files
  std::vector<std::string> lemmas;  // names; empty: all
  std::string json;                 // a path, `-` for standard output (then there is no table), "" for none
  std::string require;              // tested, bounded or proved; "": what each file accepts, at least tested
  std::size_t instances = 200;
  std::uint64_t seed = 1;
};

// Prints a table and counterexamples to standard output. refines: every lemma meets the requirement;
// violates: one is refuted; unproved: one falls short.
ExitCode prove(const ProveArguments& arguments);

}  // namespace entangle::cli
