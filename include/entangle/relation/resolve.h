// Resolving a manifest against the graphs: names, globs, placements and expressions become nodes and clean
// expressions, `assume` becomes facts, and everything that needs only names and types is checked:
//
//   * every name exists, on its side and rank; every glob matches something;
//   * `inputs` relate inputs (placeholders and constants) of both sides only, `given` may relate anything;
//   * what is asserted (`inputs`, `given`) has the shape and element type of the sequential tensor;
//   * no input relation uses one distributed element twice, and no two sequential inputs claim the same
//     element unless `assume` says that they are equal.
//
// An entry with an exact name wins over globs, wherever it stands; of several globs that match a name the
// last one wins. Globs are those of the shell (`*`, `?`, `[a-c]`; `*` also matches dots). Under `inputs` they
// range over the inputs of the sequential graph, under `given` over all its tensors, under `outputs` and
// `expect` over its outputs.
//
// That asserted relations have matching shapes says something about sizes: those equalities are learned as
// facts. Functions of this header read graphs and rules only; results are deterministic. Cost: linear in the
// graphs, plus one comparison for every two uses of one distributed input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "entangle/graph/graph.h"
#include "entangle/relation/clean.h"
#include "entangle/relation/manifest.h"
#include "entangle/relation/placement.h"
#include "entangle/sym/facts.h"

namespace entangle::relation {

// The programs; both outlive what is resolved against them. `ranks` has one graph per rank.
struct Sides {
  const graph::Graph& sequential;
  const std::vector<graph::Graph>& ranks;
};

// A tensor of either program.
struct TensorId {
  std::optional<std::size_t> rank;  // none: the sequential program
  graph::NodeIndex node = graph::kNoNode;

  bool operator==(const TensorId&) const = default;
};

// One form of an entry, for one tensor.
struct RelatedForm {
  std::string text;  // as written, e.g. `Shard(0)`
  Expansion expansion;
  // Under `expect`: why the form cannot hold whatever is computed (the shapes differ); "" otherwise.
  std::string mismatch;
  support::Span span;
};

// What the manifest says of one sequential tensor.
struct Related {
  graph::NodeIndex tensor = graph::kNoNode;
  std::vector<RelatedForm> forms;  // alternatives; under `expect` each must hold
  support::Span span;              // of the entry's name
};

struct TensorEquality {
  TensorId left, right;
  std::string text;
  support::Span span;
};

struct TensorRange {
  TensorId tensor;
  std::optional<sym::Int> low, high;  // inclusive
  std::string text;
  support::Span span;
};

struct Resolved {
  std::vector<Related> inputs, given, expect;  // each in the order of the sequential graph, one per tensor
  // The outputs in question, without repetitions: `outputs` in the order written, then those under `expect`;
  // where the manifest has neither, all outputs of the sequential graph.
  std::vector<graph::NodeIndex> outputs;
  bool outputs_stated = false;  // the manifest has `outputs` or `expect`
  std::vector<TensorEquality> equal;
  std::vector<TensorRange> ranges;
  sym::Facts facts;  // stated and learned
  std::vector<std::string>
      learned;  // equalities of sizes that are not stated but follow, e.g. `s0 == 2*r0.s0`
  std::vector<std::string> stated;  // lines of `assume`, then `given: name = expression`, for reports

  const Related* input(graph::NodeIndex tensor) const;
  const Related* given_for(graph::NodeIndex tensor) const;
  const Related* expected(graph::NodeIndex tensor) const;
};

// `sizes` are equalities of sizes known otherwise: (symbol, what it stands for).
using Sizes = std::vector<std::pair<sym::Int, sym::Int>>;
support::Result<Resolved> resolve(const Manifest& manifest, const rules::RuleSet& rules, const Sides& sides,
                                  const Sizes& sizes = {});

// That every sequential input on which an output in question depends, and which is not hidden behind a
// `given`, has a relation. Inputs that are sizes or have a known value need none.
support::Status check_inputs_related(const Manifest& manifest, const Resolved& resolved, const Sides& sides);

// Whether the node is an input of its program: a placeholder or a constant.
bool is_input(const graph::Node& node);

}  // namespace entangle::relation
