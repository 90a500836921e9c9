// Programs: both programs read, resolved against the manifest and lowered into one joint graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drawn.h"
#include "entangle/graph/lower.h"
#include "entangle/infer/check.h"
#include "entangle/relation/resolve.h"
#include "joint.h"
#include "naming.h"

namespace entangle::infer {

struct Programs {
  std::vector<graph::Graph> sequential;  // one
  std::vector<graph::Graph> ranks;
  relation::Resolved resolved;
  std::unique_ptr<smt::Oracle> oracle;
  std::unique_ptr<term::Typing> typing;
  std::unique_ptr<EGraph> graph;
  std::unique_ptr<Joint> joint;
  graph::Lowered lowered_ranks, lowered_sequential;
  relation::Sizes sizes;                 // what symbols were found to stand for
  std::vector<std::string> found_sizes;  // the same as text
  Drawing drawing = Drawing::on_the_way;
  CallNumbers calls;  // of the calls that draw, when places are related on the way
  // What is drawn by sequential calls whose places are those of calls that have other numbers in their
  // graphs.
  std::vector<TermId> drawn_elsewhere;
  Draws draws;  // when they are `matched`
  std::unique_ptr<DistributedNames> distributed;
  std::unique_ptr<SequentialNames> names;
  double read_seconds = 0, lower_seconds = 0;

  const graph::Graph& sequential_graph() const { return sequential.front(); }
  // The term of a tensor of either program; kNoTerm for a result that is None.
  TermId term(const relation::TensorId& tensor) const;
  // The same, but of an input the value that it comes with, which may be changed in place.
  TermId term_at_start(const relation::TensorId& tensor) const;
  // Calls of the ranks with one number are taken to draw the same; 0: no number.
  std::int64_t number_of(const Call& call) const;
  // The class of a clean expression of the manifest; kNoTerm when it has no type. Its leaves mean what they
  // hold at the end or, `at_start`, what inputs come with.
  TermId build(const relation::Clean& clean, bool at_start = false);
  // The tensors of the ranks that a section of the manifest mentions, repetitions included.
  std::vector<TermId> mentioned(const std::vector<relation::Related>& section);
};

// The error that the manifest's assumptions cannot all hold.
support::Diagnostic contradiction(support::Span at, const std::string& what);

// When the ranks disagree on a collective, `lowered_ranks.mismatch` is set and the sequential program is not
// lowered.
support::Result<std::unique_ptr<Programs>> load_programs(const relation::Manifest& manifest,
                                                         const Engine& engine);
// Resolves and lowers both programs once more, under `sizes`.
support::Status lower_again(Programs& programs, const relation::Manifest& manifest, const Engine& engine);

}  // namespace entangle::infer
