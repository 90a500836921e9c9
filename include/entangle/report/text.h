// Verdicts for people.
//
// The first line says the verdict; then follow what was shown or where it fails, what that rests on, and what
// is open. The text is the same for the same verdict: measured times appear only where `verbose` asks for
// them, on a line of their own. Pure; safe for concurrent use.
#pragma once

#include <string>

#include "entangle/infer/verdict.h"

namespace entangle::report {

struct TextOptions {
  bool verbose = false;    // also: lemma counts, statistics, times, all relations, complete lists
  std::string rules = {};  // files of the rules, as arguments of `entangle prove`
};

// One line: "lemma `twice` (my.rules:3): not proved".
std::string what_is_unproved(const infer::Unproved& one);

// Ends in a newline.
std::string to_text(const infer::Verdict& verdict, const TextOptions& options = {});

}  // namespace entangle::report
