// Attempt: one walk over both programs, its answers to the questions of a manifest, and when to walk once
// more.
//
// Sizes that depend on data may become known on the way, and programs that draw at random may have to be
// walked again (drawn.h): both programs are lowered again under what was found.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memo_folder.h"
#include "outputs.h"
#include "programs.h"
#include "walk.h"

namespace entangle::infer {

struct Attempt {
  std::unique_ptr<PlacesOnTheWay> places;  // for the walk to ask
  std::unique_ptr<Walk> walk;              // none where the ranks disagree on a collective
  std::vector<std::string> impossible;     // look-ups of the sequential program that are never in range
  std::vector<Question> asked;
  std::vector<TermId> wanted;        // sequential terms to resolve
  std::unique_ptr<Outputs> answers;  // none where the walk was given up
  // `refines` when all questions are answered and nothing is left open; else the operator to blame.
  VerdictKind kind = VerdictKind::unproved;
  std::vector<OutputReport> outputs;
  std::vector<std::string> obligations;
  std::optional<Failing> failing;
};

// The attempt that decides; `programs` are as it saw them. `counters` is told of the lemmas used on the way.
// An error: the assumptions of the manifest contradict each other.
support::Result<Attempt> decide(Programs& programs, const relation::Manifest& manifest, const Engine& engine,
                                const WalkOptions& options, const MemoFolder& folder,
                                egraph::Counters& counters);

}  // namespace entangle::infer
