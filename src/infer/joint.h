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
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "entangle/egraph/egraph.h"
#include "entangle/relation/extract.h"
#include "id_map.h"

namespace entangle::infer {

using egraph::EGraph;
using egraph::kNoTerm;
using egraph::TermId;
using relation::Owner;

class Joint {
 public:
  explicit Joint(EGraph& graph) : graph_(graph) {}

  EGraph& graph() { return graph_; }
  // Of maps over its terms.
  IdPool& ids() { return ids_; }
  // For whoever goes through terms, the oldest first; empty otherwise.
  IdQueue& queue() { return queue_; }

  // --- the distributed program

  // Call once, when the distributed program has been lowered and before anything else is built.
  void close_distributed();
  TermId distributed_end() const { return distributed_end_; }
  // Says that the class of `id` is a tensor of a rank.
  void add_owner(TermId id, const Owner& owner);
  // In the order in which they came.
  class Owners {
   public:
    class Iterator {
     public:
      using value_type = Owner;
      using difference_type = std::ptrdiff_t;
      Iterator() = default;
      Iterator(const Joint& joint, std::uint32_t at) : joint_(&joint), at_(at) {}
      const Owner& operator*() const { return joint_->owners_[at_].owner; }
      Iterator& operator++() {
        at_ = joint_->owners_[at_].next;
        return *this;
      }
      Iterator operator++(int) { return std::exchange(*this, Iterator(*joint_, joint_->owners_[at_].next)); }
      bool operator==(const Iterator& other) const { return at_ == other.at_; }

     private:
      const Joint* joint_ = nullptr;
      std::uint32_t at_ = kNone;
    };
    Owners(const Joint& joint, std::uint32_t first, std::uint32_t count)
        : begin_(joint, first), end_(joint, kNone), count_(count) {}
    Iterator begin() const { return begin_; }
    Iterator end() const { return end_; }
    std::size_t size() const { return count_; }

   private:
    Iterator begin_, end_;
    std::size_t count_;
  };
  // Valid until something is joined.
  Owners owners(TermId id) {
    const Entry& e = entry(id);
    return {*this, e.first_owner, e.owners};
  }
  bool is_tensor(TermId id) { return entry(id).owners != 0; }
  // Of a use of the class, another operand of the application that was not constant when it was first
  // asked for: kNoTerm when there is none, or when it can do without, since it only rearranges. (A class may
  // have thousands of users, all operands of which are to be looked up.)
  TermId other_operand(TermId id, EGraph::Use use) {
    if (use >= others_.size()) {
      others_.resize(graph_.use_count(), kNotAsked);
    }
    return others_[use] != kNotAsked ? others_[use]
                                     : others_[use] = find_other(graph_.find(id), graph_.user(use));
  }
  // Whether the application only rearranges.
  bool is_layout(TermId term) { return (traits(term) & kLayout) != 0; }
  // Whether it is no compute step: one that is marked so, and what computes indices and masks.
  bool steps_free(TermId term) { return (traits(term) & kFree) != 0; }
  // Whether it is a clean rearrangement of one operand.
  bool is_view(TermId term) { return (traits(term) & kView) != 0; }
  // Whether a user is an application of the distributed program now.
  bool in_use(TermId user) const {
    return graph_.is_node(user) && (user < distributed_end_ || is_distributed(user));
  }
  // The applications and leaves of the class, ascending. Valid until the e-graph changes.
  class Members {
   public:
    class Iterator {
     public:
      using value_type = TermId;
      using difference_type = std::ptrdiff_t;
      Iterator() = default;
      Iterator(const EGraph& graph, TermId at) : graph_(&graph), at_(at) {}
      TermId operator*() const { return at_; }
      Iterator& operator++() {
        at_ = graph_->next_node(at_);
        return *this;
      }
      Iterator operator++(int) { return std::exchange(*this, Iterator(*graph_, graph_->next_node(at_))); }
      bool operator==(const Iterator& other) const { return at_ == other.at_; }

     private:
      const EGraph* graph_ = nullptr;
      TermId at_ = kNoTerm;
    };
    Members(const EGraph& graph, TermId id) : begin_(graph, graph.first_node(id)), end_(graph, kNoTerm) {}
    Iterator begin() const { return begin_; }
    Iterator end() const { return end_; }

   private:
    Iterator begin_, end_;
  };
  Members members(TermId id) const { return {graph_, id}; }
  // Of these the rearrangements of one operand, and operators without operands, if they are not random. Valid
  // until the e-graph changes.
  const std::vector<TermId>& layouts(TermId id);
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
  bool constant(TermId id) { return constancy(id) == Constant::yes; }
  // Whether the class is computed from constants alone (the logarithm of 2, the cosines of positions). It
  // needs a relation like anything else, but every rank has what it is computed from.
  bool computed(TermId id) { return constancy(id) == Constant::computed; }
  // One of the two.
  bool of_constants(TermId id) { return constancy(id) != Constant::no; }

  // Brings the tables up to date after merges; called by every query.
  void refresh() {
    if (seen_merges_ < graph_.merge_count() || entries_.size() < graph_.term_count()) {
      catch_up();
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Entry {
    std::uint32_t first_owner = kNone, last_owner = kNone;
    std::uint32_t owners = 0;     // how many
    std::uint32_t relations = 0;  // of lists_
    std::uint32_t layouts = 0;
    std::uint32_t layouts_version = 0;  // of the class when they were collected
    bool resolved = false;
    bool result = false;
  };
  enum class Constant : std::uint8_t { unknown, no, computed, yes };
  // Of an application, whatever it is equal to.
  enum Trait : std::uint8_t {
    kLayout = 1,
    kFree = 2,
    kView = 4,
    kLeaf = 8,
    kRandom = 16,
    kDrawn = 32,
    kAsked = 64
  };
  static constexpr TermId kNotAsked = kNoTerm - 1;

  struct OwnerEntry {
    Owner owner;
    std::uint32_t next = kNone;  // of the same class
  };

  void catch_up();
  // The owners of another class behind those of this one.
  void append_owners(Entry& to, const Entry& from);
  // The list with this number, which becomes that of a new one if it is 0.
  std::vector<TermId>& list(std::uint32_t& number);
  Entry& entry(TermId id) {
    refresh();
    return entries_[graph_.find(id)];
  }
  TermId build(const relation::CleanTerm& clean, const std::vector<TermId>& classes);
  Constant constancy(TermId id) {
    refresh();
    const TermId root = graph_.find(id);
    return is_known(root) ? constant_[root] : find_constancy(root);
  }
  bool is_known(TermId root) const {
    // What became one scalar since need not have been merged with anything.
    return constant_[root] == Constant::yes ||
           (constant_[root] != Constant::unknown && !graph_.is_uniform(root));
  }
  Constant find_constancy(TermId root);
  // A class that is asked for: the application that is looked at, and its operand. (Programs are deep: this
  // is no recursion.)
  struct Asked {
    TermId id = kNoTerm;
    TermId member = kNoTerm;
    std::size_t operand = 0;
  };
  // The next operand that has to be known first; kNoTerm when it is known how the class is.
  TermId next_unknown(Asked& asked);
  std::uint8_t traits(TermId term) {
    refresh();
    return traits_[term] != 0 ? traits_[term] : traits_[term] = find_traits(term);
  }
  std::uint8_t find_traits(TermId term) const;
  TermId find_other(TermId of, TermId term);
  bool is_constant(TermId id, int depth);

  EGraph& graph_;
  IdPool ids_;
  IdQueue queue_;
  TermId distributed_end_ = 0;
  std::vector<Entry> entries_;  // by term id; the data of a class is at its canonical id
  std::vector<OwnerEntry> owners_;
  std::deque<std::vector<TermId>> lists_{1};  // the first is that of a class without
  std::vector<Constant> constant_;    // likewise, unless the class has changed since; asked for all the time
  std::vector<Asked> asked_;          // by find_constancy
  std::vector<std::uint8_t> traits_;  // by term id; 0: not asked for
  std::vector<TermId> others_;        // by use
  std::size_t seen_merges_ = 0;
};

}  // namespace entangle::infer
