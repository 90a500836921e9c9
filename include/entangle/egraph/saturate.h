// Saturation: applies the lemmas of a rule set until nothing new appears or a limit is reached.
//
// Lemmas are indexed by the operator at the root of their left side (or of their first `given`); generic
// lemmas by every operator that has the trait. A round matches all lemmas against a rebuilt e-graph, then
// applies the matches in the order in which they were found (nodes in order of creation, lemmas in the order
// of the rule files), then rebuilds. Classes known to be one scalar everywhere are closed: no lemma runs on
// their nodes. Limits count nodes and rounds, so the outcome does not depend on the machine.
//
// A match that was applied is not applied again, and a node is not matched again by a lemma while nothing
// within reach of the lemma's pattern and conditions has changed; by a generic lemma that says nothing of the
// other operands, not at an operand below which nothing has. Where the right side of a generic lemma is the
// same whichever operand matches, one of the matches is applied.
//
// Among n blocks there are n^2 pairs, and most questions need none of them. So where the matches of one lemma
// in one round would together make more terms than the problem began with, they wait until nothing new comes
// of anything else (or for some rounds); then they are applied a share at a time, those of the smallest such
// group first. What they make has a weight, and so has what a single match makes if that is much for the
// problem: light nodes are matched first, heavier ones when nothing new comes of them, or after some rounds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "entangle/egraph/egraph.h"

namespace entangle::egraph {

struct Limits {
  std::size_t nodes = 20000;
  std::size_t rounds = 24;
  // Asked after each round; true ends the saturation: what was looked for has been found.
  std::function<bool()> done = {};
  // Asked every now and then within a round, too: true gives up.
  std::function<bool()> expired = {};
  // The first `focused` rounds match only the nodes in the class of `focus` and those made since the start:
  // most questions about one operator are answered by a lemma about that operator.
  TermId focus = kNoTerm;
  std::size_t focused = 0;
};

enum class Stop : std::uint8_t { saturated, done, nodes, rounds, expired };

struct LemmaCounts {
  std::uint64_t matched = 0;     // matches whose conditions were asked for
  std::uint64_t applied = 0;     // equalities that were new
  std::uint64_t normalised = 0;  // EGraph::normalised of the graph
  bool operator==(const LemmaCounts&) const = default;
};

struct Counters {
  // By the lemma's number, ascending; lemmas of which nothing is counted are left out.
  std::vector<std::pair<std::uint32_t, LemmaCounts>> lemmas;
  std::uint64_t ill_typed = 0;  // right sides without a type, which were not used
  std::uint64_t refused = 0;    // equalities refused by EGraph::merge; the clashes are recorded there
  LemmaCounts of(std::uint32_t lemma) const;
  // Adds what is counted of a lemma.
  void add(std::uint32_t lemma, const LemmaCounts& counts);
  void add(const Counters& other);
};

struct Outcome {
  Stop stop = Stop::saturated;
  std::size_t rounds = 0;
  Counters counters;
};

// Compiled rules: built once per rule set, immutable, shared by all threads. The rule set outlives it.
class Program {
 public:
  explicit Program(const rules::RuleSet& rules);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// The program must be of the e-graph's rule set. The e-graph is rebuilt afterwards, whatever the outcome.
Outcome saturate(EGraph& graph, const Program& program, const Limits& limits = {});

}  // namespace entangle::egraph
