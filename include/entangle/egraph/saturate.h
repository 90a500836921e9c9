// Saturation: applies the lemmas of a rule set until nothing new appears or a limit is reached.
//
// Lemmas are indexed by the operator at the root of their left side (or of their first `given`); generic
// lemmas by every operator that has the trait. Classes known to be one scalar everywhere are closed: no lemma
// runs on their nodes. Limits count nodes and rounds, so the outcome does not depend on the machine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "entangle/egraph/egraph.h"

namespace entangle::egraph {

struct Limits {
  std::size_t nodes = 20000;
  std::size_t rounds = 24;
};

enum class Stop : std::uint8_t { saturated, nodes, rounds };

struct Counters {
  std::vector<std::uint64_t> matched, applied;  // per lemma: matches tried, new equalities
  std::uint64_t ill_typed = 0;                  // right sides without a type
  void add(const Counters& other);
};

struct Outcome {
  Stop stop = Stop::saturated;
  std::size_t rounds = 0;
  Counters counters;
};

// Compiled rules: built once per rule set, immutable, shared by all threads.
class Program {
 public:
  explicit Program(const rules::RuleSet& rules);
  ~Program();
  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

Outcome saturate(EGraph& graph, const Program& program, const Limits& limits = {});

}  // namespace entangle::egraph
