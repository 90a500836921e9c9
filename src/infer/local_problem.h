// A local problem: a selection of both programs, copied into an e-graph of its own and saturated with the
// rules. What it proves equal is equal in the programs.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "entangle/egraph/saturate.h"
#include "selection.h"

namespace entangle::infer {

// How far a problem may grow: most that can be solved are solved before they have grown much.
enum class Effort : std::uint8_t { small, full };

// Pairs of places in Selection::classes().
using Equalities = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Which values may stand in a relation: the ranks' tensors; also those inside their lowerings; or only what
// is drawn at calls like the one in question, where all calls draw at one place.
enum class Leaves : std::uint8_t { tensors, values, drawn };

class LocalProblem {
 public:
  // The selection outlives the problem and stays as it is.
  LocalProblem(const Selection& selection, smt::Oracle& oracle, Leaves leaves = Leaves::tensors);

  // Saturates until nothing new appears or `done` says so after a round. Of `limits` the number of nodes is
  // also limited in proportion to the problem: one that can be solved grows a few times its size only.
  egraph::Outcome saturate(const egraph::Program& program, const egraph::Limits& limits,
                           Effort effort = Effort::full, const std::function<bool()>& done = {});
  // Until the class has a clean expression.
  egraph::Outcome relate(const egraph::Program& program, const egraph::Limits& limits, Effort effort,
                         TermId joint_id);
  // Until the two classes are equal.
  egraph::Outcome equate(const egraph::Program& program, const egraph::Limits& limits, TermId a, TermId b);

  EGraph& graph() { return graph_; }
  // The local term of a joint class of the selection.
  TermId local(TermId joint_id) const;

  // --- after saturation

  // Owners of a local class: those of all joint classes that it stands for.
  const std::vector<Owner>& owners(TermId local_id);
  // Classes of the selection found equal: each with the first one it is equal to.
  Equalities equalities();
  // Clean expressions of a joint class; their leaves are places in Selection::classes().
  std::vector<relation::CleanTermPtr> relations(TermId joint_id);

 private:
  void add_classes(std::size_t end);
  // Adds each sum of sums of the selection with all its last terms: a chain of n sums (accumulated gradients)
  // would take the rules n rounds.
  void open_sums();
  // All places at which something is drawn are one.
  void draw_alike();
  void index_owners();
  relation::ExtractOptions options_for(TermId joint_id);
  // Of the joint classes that a local class stands for, the place of one: a tensor where there is one. Of
  // those only that may stand in a relation of this class.
  std::unordered_map<TermId, std::uint32_t> places();
  // The local classes of applications of the ranks like this one.
  std::set<TermId> locals_like();

  const Selection& selection_;
  Joint& joint_;
  EGraph graph_;
  Leaves leaves_;
  std::vector<TermId> locals_;                             // of Selection::classes()
  std::unordered_map<TermId, std::vector<Owner>> owners_;  // by local class
  std::set<TermId> distributed_;  // local classes that hold a term of the distributed program
  bool indexed_ = false;
};

// Merges in the joint graph what a problem over the selection has shown.
void import_equalities(const Selection& selection, const Equalities& equalities,
                       std::uint32_t problem_number);

}  // namespace entangle::infer
