// `entangle prove`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace entangle::cli {

struct ProveArguments {
  std::vector<std::string> rules;   // rule files
  std::vector<std::string> lemmas;  // names; empty: all
  bool own = false;                 // only what these files declare, or what is not of the library
  std::string json;                 // a path, `-` for standard output (then there is no table), "" for none
  std::string require;              // tested, bounded or proved; "": what each file accepts, at least tested
  std::string cache;                // a folder of earlier results, "" for none
  bool cache_only = false;          // what is not in the cache is an error
  std::size_t jobs = 1;
  std::size_t instances = 60;
  std::uint64_t seed = 1;
  std::optional<double> time_limit;  // seconds for each lemma and claim
};

// Prints a table and counterexamples to standard output. refines: every lemma meets the requirement;
// violates: one is refuted; unproved: one falls short.
ExitCode prove(const ProveArguments& arguments);

}  // namespace entangle::cli
