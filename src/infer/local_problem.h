// A local problem: the part of both programs that is needed to resolve one sequential operator.
//
// It holds the operator, the definitions of operands that could not be resolved, the relations of those that
// could, the layout definitions of everything it mentions (on both sides), and the distributed operators
// reachable from there within a number of compute steps. That part is copied into an e-graph of its own and
// saturated with the rules; what it proves equal is equal in the programs.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "entangle/egraph/saturate.h"
#include "joint.h"

namespace entangle::infer {

// How far a problem may grow: most that can be solved are solved before they have grown much.
enum class Effort : std::uint8_t { small, full };

class LocalProblem {
 public:
  // Whose values may stand in a relation: those of the ranks' tensors, or also those inside their lowerings.
  enum class Leaves : std::uint8_t { tensors, values };
  LocalProblem(Joint& joint, smt::Oracle& oracle, Leaves leaves = Leaves::tensors);

  // Adds a class of the joint graph with its relations and its layout definitions. An operand class also
  // brings its own definition as a concatenation or sum of tensors, if it has one.
  void add_operand(TermId joint_id);
  // Adds an application of the joint graph (a term id as first built).
  void add_definition(TermId term);
  // Adds all definitions of the resolved classes present, `levels` deep.
  void reopen(int levels);
  // Adds the distributed operators reachable within `steps` compute steps from the tensors present; with
  // `alike`, of these only applications of the same operators as the definitions, what they are computed from
  // and what is computed from them.
  void add_window(int steps, bool alike = false);

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
  Joint& joint() { return joint_; }
  // The local term of a joint class; the class is added (bare) when it was not present.
  TermId local(TermId joint_id);

  // --- after saturation

  // Owners of a local class: those of all joint classes that it stands for.
  const std::vector<Owner>& owners(TermId local_id);
  // Local classes that stand for joint classes, with one of these (a tensor where there is one).
  std::unordered_map<TermId, TermId> to_joint();
  // Merges into the joint graph what this problem has shown: equal classes, and the clean expressions found
  // for `joint_id`. True if `joint_id` is resolved now.
  bool import(TermId joint_id, std::uint32_t problem_number);
  // Merges equal classes only.
  void import_equalities(std::uint32_t problem_number);

  // The applications that were copied.
  const std::set<TermId>& included() const { return included_; }
  // Distributed operators in the window, ids as first built.
  const std::vector<TermId>& window() const { return window_; }

 private:
  void include(TermId joint_class, TermId term);
  void drain();
  bool is_layout(rules::OpId op) const;
  bool steps_free(TermId term) const;
  // The distributed applications within `steps` compute steps, operands before their users.
  std::vector<TermId> reachable(int steps) const;
  void keep_alike(std::vector<TermId>& terms) const;
  void index_owners();
  relation::ExtractOptions options_for(TermId joint_id);

  Joint& joint_;
  EGraph graph_;
  Leaves leaves_;
  std::unordered_map<TermId, TermId> local_of_;  // canonical joint class -> local term
  std::vector<TermId> order_;                    // canonical joint classes in order of arrival
  std::size_t drained_ = 0;                      // of order_: layout definitions were added
  std::set<TermId> included_;                    // joint terms copied
  std::set<rules::OpId> defined_by_;             // operators of the definitions added
  std::vector<TermId> window_;
  std::unordered_map<TermId, std::vector<Owner>> owners_;  // by local class
  std::set<TermId> distributed_;  // local classes that hold a term of the distributed program
  bool indexed_ = false;
  bool reopened_ = false;
};

}  // namespace entangle::infer
