// Outputs: whether the relation of a sequential output is one the user can rely on.
//
// A sequential output must be expressed with the ranks' outputs, each element once, as a rearrangement; a
// partial sum only where the manifest expects one. What the manifest expects must follow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/infer/verdict.h"
#include "entangle/relation/clean.h"
#include "programs.h"
#include "walk.h"

namespace entangle::infer {

// Said of an output whose parts no rank has added up.
inline constexpr const char* kPartialHint = "only as a sum over ranks: is an all-reduce missing?";

// Whether a node is computed from another, in whatever way.
bool depends(const graph::Graph& graph, graph::NodeIndex node, graph::NodeIndex on);

struct Expected {
  relation::Clean clean;  // over tensors of the ranks
  std::string text;
  std::string mismatch;  // why it cannot hold whatever is computed; "" otherwise
};

struct Question {
  graph::NodeIndex node = graph::kNoNode;
  std::string tensor;
  TermId term = kNoTerm;           // of the sequential program
  bool is_output = true;           // of the sequential graph; otherwise any tensor of the ranks will do
  std::vector<Expected> expected;  // all of them must hold; empty: a rearrangement of outputs must exist
};

class Outputs {
 public:
  Outputs(Programs& programs, Walk& walk, const egraph::Program& program, const egraph::Limits& limits);

  OutputReport answer(const Question& question);
  // A relation of a class as text, in the spelling of manifests.
  struct Relation {
    std::string text;
    bool partial_sum = false;
    std::vector<graph::TensorRef> leaves;
  };
  // As many as are known.
  std::vector<Relation> relations_of(TermId term);
  std::vector<std::string> relations(TermId term);

 private:
  std::string no_output(const Relation& relation) const;
  bool follows(TermId term, TermId expected);
  std::string objection(const relation::Clean& clean, bool outputs_only);
  bool names_outputs_only(const relation::Clean& clean) const;
  bool sums_over_ranks(const relation::Clean& clean) const;
  bool counterparts(const relation::Leaf& a, const relation::Leaf& b) const;
  relation::CleanTermPtr over_classes(const relation::Clean& clean);
  // What was met last on the way through an expression.
  struct Last {
    int rank = 0;
    TermId sliced = kNoTerm;
    sym::Int begin = 0;
  };
  bool permuted(LocalProblem& problem, const relation::CleanTerm& clean, bool outputs_only, Last& last);
  std::vector<relation::CleanTermPtr> expressions(LocalProblem& problem, TermId term, bool outputs_only,
                                                  bool partial_sums, bool once);
  void describe(LocalProblem& problem, const relation::CleanTerm& clean, bool outputs_only,
                OutputReport& report);

  Programs& programs_;
  Joint& joint_;
  Walk& walk_;
  smt::Oracle& oracle_;
  const egraph::Program& program_;
  egraph::Limits limits_;
};

}  // namespace entangle::infer
