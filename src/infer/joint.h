// Joint: both programs in one e-graph.
//
// The distributed program (all ranks) is lowered first, then the sequential one on top of it, with each
// sequential input standing for the distributed expression the manifest relates it to. A sequential tensor is
// then *resolved* when its class is known to equal a clean expression; the walk resolves class after class,
// and congruence carries every equality to all users at once. Equalities between distributed tensors found on
// the way are kept in the same closure.
//
// Terms with an id below `distributed_end` were built by lowering the distributed program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "entangle/egraph/egraph.h"
#include "entangle/relation/extract.h"

namespace entangle::infer {

using egraph::EGraph;
using egraph::kNoTerm;
using egraph::TermId;
using relation::Owner;

class Joint {
 public:
  explicit Joint(EGraph& graph) : graph_(graph) {}

  EGraph& graph() { return graph_; }

  // --- the distributed program

  // Call once, when the distributed program has been lowered and before anything else is built.
  void close_distributed();
  TermId distributed_end() const { return distributed_end_; }
  // Says that the class of `id` is a tensor of a rank.
  void add_owner(TermId id, const Owner& owner);
  const std::vector<Owner>& owners(TermId id);
  bool is_tensor(TermId id) { return !owners(id).empty(); }
  // An application with an operand of some class, and another operand of it that is not constant: kNoTerm
  // when there is none, or when it can do without, since it only rearranges.
  struct User {
    TermId term = kNoTerm;
    TermId other = kNoTerm;
    bool free = false;  // it is no compute step
  };
  // Those of the class, in no particular order, some perhaps twice: all that are `in_use`, and others. Valid
  // until the next call. (A class may have thousands, which all other operands are to be looked up of.)
  std::span<const User> users(TermId id);
  // Whether an application is no compute step: one that is marked so, and what computes indices and masks.
  bool steps_free(TermId term) const;
  // Whether a user is an application of the distributed program now.
  bool in_use(TermId user) const {
    return graph_.is_node(user) && (user < distributed_end_ || is_distributed(user));
  }
  // The applications and leaves of the class, ascending.
  std::vector<TermId> members(TermId id) const { return graph_.node_ids(id); }
  // Whether the class holds a term of the distributed program (its canonical id is its oldest).
  bool is_distributed(TermId id) const { return graph_.find(id) < distributed_end_; }

  // --- the sequential program

  // Says that a term is the result of a sequential node. Its relation must be over tensors of the ranks;
  // values inside the lowering of a node may be related to values inside lowerings of the ranks, too.
  void set_result(TermId id);
  bool is_result(TermId id) { return entry(id).result; }

  // --- relations

  // Registers an application of a clean operator to classes with relations: its class is resolved, and the
  // application belongs to its relation.
  void add_relation(TermId application);
  // Builds a clean expression in this graph, exactly, as equal to the class; the ids of its leaves are places
  // in `classes`. The class is resolved; the applications of the expression belong to the relations of their
  // classes.
  void relate(TermId class_id, const relation::CleanTerm& clean, const std::vector<TermId>& classes,
              const egraph::Reason& reason);
  void set_resolved(TermId id);
  // Whether the class needs no further search: it has a relation, is constant, or is a mere inner value that
  // the distributed program has, too.
  bool resolved(TermId id);
  // Clean applications known for the class, in the order they were found.
  // Valid until something is related or joined.
  const std::vector<TermId>& relations(TermId id);

  // Nothing more to know: one scalar everywhere, or an operator without operands, or rearranged such.
  bool constant(TermId id);
  // Whether the class is computed from constants alone (the logarithm of 2, the cosines of positions). It
  // needs a relation like anything else, but every rank has what it is computed from.
  bool computed(TermId id);

  // Brings the tables up to date after merges; called by every query.
  void refresh() {
    if (seen_merges_ < graph_.merge_count() || entries_.size() < graph_.term_count()) {
      catch_up();
    }
  }

 private:
  struct Entry {
    std::vector<Owner> owners;
    std::vector<TermId> relations;
    bool resolved = false;
    bool result = false;
  };
  enum class Constant : std::uint8_t { unknown, no, computed, yes };
  struct Users {
    std::uint64_t version = ~std::uint64_t{0};  // of the e-graph's list: the empty one
    std::vector<User> all;
  };
  void catch_up();
  Entry& entry(TermId id);
  TermId build(const relation::CleanTerm& clean, const std::vector<TermId>& classes);
  Constant constancy(TermId id);
  bool is_constant(TermId id, int depth) const;
  bool is_computed(TermId id);

  EGraph& graph_;
  TermId distributed_end_ = 0;
  std::vector<Entry> entries_;      // by term id; the data of a class is at its canonical id
  std::vector<Constant> constant_;  // likewise, unless the class has changed since; asked for all the time
  std::unordered_map<TermId, Users> users_;  // by canonical id
  std::size_t seen_merges_ = 0;
};

}  // namespace entangle::infer
