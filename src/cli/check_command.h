// `entangle check`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace entangle::cli {

struct CheckArguments {
  std::vector<std::string> manifests;
  std::vector<std::string> rules;    // empty: what each manifest says
  std::string json;                  // a path, `-` for standard output (then there is no text), "" for none
  std::string ledger;                // what `prove` found, "" for none
  std::optional<double> time_limit;  // seconds, per manifest
  bool memo = true;
  std::string memo_folder;  // where solutions are kept for the next check, "" for nowhere
  bool strict = false;      // what rests on rules that are not proved is unproved
  bool verbose = false;
};

// Prints reports to standard output and errors to standard error. One manifest's error does not keep the
// others from being checked.
ExitCode check(const CheckArguments& arguments);

}  // namespace entangle::cli
