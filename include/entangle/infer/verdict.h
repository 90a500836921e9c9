// Verdict: what a check found, as plain data for the renderers.
//
// All texts are final wording; all lists are in a fixed order. Times are kept apart: they are the only part
// that differs between two runs on the same input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "entangle/support/diagnostic.h"

namespace entangle::infer {

enum class VerdictKind : std::uint8_t { refines, violates, unproved };

// A tensor of either program, with what is known of it.
struct Place {
  int rank = -1;  // -1: the sequential program
  std::string tensor;
  std::string op;                      // framework operator
  std::string loc;                     // source line, "" when the graph has none
  std::vector<std::string> relations;  // sequential tensors: their relations; distributed: empty
};

struct Expectation {
  std::string expected;
  bool holds = false;
};

// A sequential output in question.
struct OutputReport {
  std::string tensor;
  std::vector<std::string> relations;
  std::vector<Expectation> expectations;
  bool ok = false;
  // e.g. "only as a sum over ranks: is an all-reduce missing?", "held by rank 3 only", "permuted"
  std::vector<std::string> notes;
};

struct Failing {
  Place at;  // the first tensor of the chain
  // Time ran out before all was tried: it is where the search was then, and not known to be wrong.
  bool stopped = false;
  std::string reason;
  std::vector<std::string> hints;  // what the ranks have instead, and what that may mean
  std::vector<Place> chain;        // operators carried unresolved, first to last tried
  std::vector<Place> operands;
  std::vector<Place> considered;  // distributed operators that were candidates
};

// Ranks that disagree on a collective.
struct CollectiveMismatch {
  std::string reason;
  std::vector<Place> places;
};

struct LemmaUse {
  std::string name;
  std::uint64_t applied = 0;
  std::uint32_t index = 0;  // into the lemmas of the rules
};

// A rule that a verdict rests on and that nothing known to the program says to be proved.
struct Unproved {
  enum class Kind : std::uint8_t { lemma, claim };
  Kind kind = Kind::lemma;
  std::string name;  // `squash_rows`; of a claim `squash: maps other`
  std::string file;  // of the declaration
  std::uint32_t line = 0;
  std::string known;  // "not proved", or what a proof ledger says: `tested`, `bounded`, …
};

struct Statistics {
  std::uint64_t sequential_operators = 0, distributed_operators = 0;
  std::uint64_t by_lookup = 0, local_problems = 0, by_memo = 0, carried = 0, largest_egraph = 0;
  std::uint64_t conditions = 0, conditions_by_solver = 0, conditions_unknown = 0;
};

struct Times {
  double read = 0, lower = 0, infer = 0, total = 0;  // seconds
};

struct Verdict {
  VerdictKind kind = VerdictKind::unproved;
  std::string manifest;
  int ranks = 0;
  std::vector<OutputReport> outputs;
  std::optional<Failing> failing;
  std::optional<CollectiveMismatch> mismatch;
  // assume, given, dropout, pure functions, model of reals, axioms that were applied
  std::vector<std::string> assumptions;
  std::vector<std::string> obligations;  // what is still open: look-ups not shown to be in range, …
  std::vector<std::string> opaque;       // operators without a lowering that were met
  std::vector<std::string> unrelated;    // other sequential outputs without a relation; they do not decide
  std::vector<LemmaUse> lemmas;          // that fired, most used first, then by name
  std::vector<LemmaUse> normalised;      // those that replace terms when they are built, likewise
  std::vector<std::uint32_t> operators;  // of the rules, by id: what is said of these may have been used
  // Of rules that do not come with the program; whoever knows of proofs fills it.
  std::vector<Unproved> unproved;
  std::vector<std::string> limits;  // limits that were reached, and undecided conditions
  std::vector<std::pair<std::string, std::vector<std::string>>> relations;  // of every tensor, on request
  std::vector<support::Diagnostic> warnings;
  Statistics statistics;
  Times times;
};

}  // namespace entangle::infer
