// Verdicts for programs: JSON, schema 1.
//
//   {"schema": 1, "results": [{"manifest", "verdict": "refines"|"violates"|"unproved", "ranks", "outputs",
//   "failing",
//     "mismatch", "assumptions", "obligations", "opaque", "unrelated", "lemmas", "ledger", "limits",
//     "warnings", "statistics", "times"}]}
//
// One object per manifest, in the order given. Bad input is {"schema": 1, "error": {"id", "file", "line",
// "column", "message", "suggestion", "notes"}}; where other manifests of the same call were checked,
// "results" is there too, with
// {"manifest", "error"} in the place of the bad one. Every key is always present (null where there is
// nothing), but "relations", which comes on request. Only "times" differs between runs on the same input.
// docs/formats.md describes the fields. Pure; safe for concurrent use.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "entangle/infer/verdict.h"
#include "entangle/support/diagnostic.h"

namespace entangle::report {

// What a verdict rests on that a proof ledger does not call proved, by name: what it says instead, or that it
// has no entry.
struct Unproved {
  std::vector<std::pair<std::string, std::string>> lemmas;  // that were applied
  std::vector<std::pair<std::string, std::string>> claims;  // about operators of the rules
};

// What became of a manifest.
struct Outcome {
  std::string manifest;  // as given
  std::variant<infer::Verdict, support::Diagnostic> result;
  std::optional<Unproved> ledger = std::nullopt;  // where one was given
};

// Indented, ends in a newline. Bytes that are not UTF-8 are replaced.
std::string to_json(const std::vector<Outcome>& outcomes);
// Errors that are not those of a manifest (rule files); at least one. "error" is the first, "errors" all of
// them.
std::string to_json(const std::vector<support::Diagnostic>& errors);

}  // namespace entangle::report
