// Verdicts for programs: JSON, schema 1.
//
//   {"schema": 1, "results": [{"manifest", "verdict": "refines"|"violates"|"unproved", "ranks", "outputs",
//   "failing",
//     "mismatch", "assumptions", "unproved", "obligations", "opaque", "unrelated", "lemmas", "limits",
//     "warnings", "statistics", "times"}]}
//
// One object per manifest, in the order given. Bad input is {"schema": 1, "error": {"id", "file", "line",
// "column", "message", "suggestion", "notes"},
// "results": […]} with {"manifest", "error"} in the place of the bad manifest. Every key is always present
// (null where there is nothing), but "relations", which comes on request. Only "times" differs between runs
// on the same input. docs/formats.md describes the fields. Pure; safe for concurrent use.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "entangle/infer/verdict.h"
#include "entangle/support/diagnostic.h"

namespace entangle::report {

// What became of a manifest.
struct Outcome {
  std::string manifest;  // as given
  std::variant<infer::Verdict, support::Diagnostic> result;
};

// Indented, ends in a newline. Bytes that are not UTF-8 are replaced.
std::string to_json(const std::vector<Outcome>& outcomes);
// Errors that are not those of a manifest (rule files); at least one. "error" is the first, "errors" has all
// of them where there are several; "results" is empty.
std::string to_json(const std::vector<support::Diagnostic>& errors);

}  // namespace entangle::report
