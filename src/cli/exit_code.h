// How the program ends.
#pragma once

#include <algorithm>
#include <array>

namespace entangle::cli {

enum class ExitCode : int { refines = 0, violates = 1, bad_input = 2, unproved = 3, internal_error = 4 };

// The one that counts of two.
constexpr ExitCode worst(ExitCode a, ExitCode b) {
  constexpr std::array kWorstFirst = {ExitCode::internal_error, ExitCode::bad_input, ExitCode::violates,
                                      ExitCode::unproved, ExitCode::refines};
  for (const ExitCode code : kWorstFirst) {
    if (code == a || code == b) return code;
  }
  return ExitCode::internal_error;
}

}  // namespace entangle::cli
