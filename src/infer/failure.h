// Localisation: which tensor of the sequential program is the first without a relation, and what is known
// around it.
//
// Told in nodes of the sequential graph, not in terms: an output that fails rests on a cone of nodes without
// a relation; the roots of that cone, all of whose operands have one, are to blame.
#pragma once

#include <vector>

#include "entangle/infer/verdict.h"
#include "outputs.h"
#include "programs.h"
#include "walk.h"

namespace entangle::infer {

// The nodes that the given nodes depend on, themselves included, ascending; nothing above a `given`.
std::vector<graph::NodeIndex> needed_nodes(const Programs& programs,
                                           const std::vector<graph::NodeIndex>& wanted);

class Localisation {
 public:
  Localisation(Programs& programs, Walk& walk, Outputs& outputs, const egraph::Program& program,
               const egraph::Limits& limits);

  // The node to blame for an output without a (good) relation.
  graph::NodeIndex culprit(graph::NodeIndex output);
  Failing describe(graph::NodeIndex output, const OutputReport& report);

 private:
  // The unresolved nodes an unresolved node rests on through unresolved nodes only, itself included,
  // ascending.
  std::vector<graph::NodeIndex> cone(graph::NodeIndex node);
  // The nodes whose results a node uses; a getitem uses what the node it picks from uses.
  std::vector<graph::NodeIndex> operands(graph::NodeIndex node) const;
  TermId term(graph::NodeIndex node) const;
  bool resolved(graph::NodeIndex node);
  Place place(graph::NodeIndex node, bool with_relations);
  // Why an operator without a relation has none, as far as that can be said from itself.
  std::string reason(graph::NodeIndex node) const;
  // What the ranks have instead, and what that may mean.
  std::vector<std::string> hints(graph::NodeIndex at, const std::vector<graph::NodeIndex>& unresolved);
  std::string about_sum(graph::NodeIndex node, const Outputs::Relation& sum) const;
  std::string about_range(graph::NodeIndex node) const;
  // Operators of the ranks of this kind that use one of the tensors: of the first rank that has any.
  std::vector<std::string> not_understood(const std::vector<graph::TensorRef>& tensors,
                                          graph::Kind kind) const;

  Programs& programs_;
  Walk& walk_;
  Outputs& outputs_;
  const egraph::Program& program_;
  const egraph::Limits& limits_;
};

}  // namespace entangle::infer
