// EGraph: hash-consed terms, classes of equal terms, and why they are equal.
//
// The sequential program, the distributed program (all ranks in one) and every local problem of the inference
// are e-graphs. Construction goes through `make`, which applies the rule set's `normalise` lemmas; equalities
// go through `merge`, which refuses to join classes of different type and names the lemma. Rebuilding is
// deferred (egg): after merges call `rebuild` before matching. Each merge keeps its reason, so `explain` can
// print why two terms are equal. Everything is deterministic: ids, node order and merge order depend on the
// order of calls only. Not safe for concurrent use.
//
// Ids. Every application that was ever asked for has a TermId of its own; ids are given out in order and an
// operand's id is smaller than its users'. A class is named by any of its ids; its canonical id, `find`, is
// the oldest. All functions accept any id and return canonical ones unless they say otherwise.
//
// Attributes are kept in one form: integers normalised under the facts of the oracle, an integer given for a
// scalar parameter as a scalar.
//
// Analyses of a class: its type; the scalar all its elements are known to be (then the class also holds
// full(c; type), so that equal constants of one type are one class); bounds of integer elements; whether its
// elements are determined (some term of it mentions no `fresh` leaf); whether it is a tensor of the
// distributed graph.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "entangle/support/check.h"
#include "entangle/term/evaluator.h"
#include "entangle/term/store.h"

namespace entangle::egraph {

using term::kNoTerm;
using term::TermId;

class Matcher;

// Why two terms were made equal.
struct Reason {
  enum class Kind : std::uint8_t {
    lemma,       // index: into RuleSet::lemmas()
    normalise,   // index: into RuleSet::lemmas(); a term was replaced by its normal form when it was built
    definition,  // index: the caller's own number, as in the next two
    relation,
    assumption,
    congruence,  // equal operands; explain() unfolds it
    fold,        // all elements were computed to be one scalar
  };
  Kind kind = Kind::lemma;
  std::uint32_t index = 0;
  std::string note;  // e.g. the manifest line or the node; may be empty

  bool operator==(const Reason&) const = default;
};

// A refused merge: an unsound rule, contradicting assumptions or an internal error, never ignored.
struct Clash {
  enum class Kind : std::uint8_t {
    type,       // the types differ
    undecided,  // whether two sizes are equal could not be decided
    constant,   // the elements are known to be different scalars
  };
  Kind kind = Kind::type;
  Reason reason;
  std::string left, right;  // the two terms with their types

  bool operator==(const Clash&) const = default;
};

// A term, or leaf, as it is kept; for this module only.
enum class NodeState : std::uint8_t {
  live,   // in its class's list
  ghost,  // was normalised away: hash-consed and explained, but never matched
  dead,   // congruent to another node
};

struct Node {
  rules::OpId op = rules::kNoOp;
  std::uint32_t count = 0;  // of children
  tensor::Attr attrs;
  TermId* children = nullptr;      // canonical as of the last rebuild; sorted if the operator is commutative
  TermId* given = nullptr;         // as the term was built
  std::uint64_t hash = 0;          // of op, attrs and children; leaves: index of the label
  TermId next_in_class = kNoTerm;  // ascending
  TermId next_of_op = kNoTerm;     // in the order in which they became nodes
  NodeState state = NodeState::live;

  std::span<const TermId> span() const { return {children, count}; }
};

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

// What is known of a class, at its canonical id; for this module only.
struct Class {
  TermId first = kNoTerm, last = kNoTerm;  // live nodes
  std::uint32_t first_use = kNone, last_use = kNone;
  std::uint32_t terms = 1;
  std::uint32_t type = 0;
  std::uint32_t uniform = kNone;
  std::uint32_t interval = kNone;
  std::uint32_t changed = 0;    // the epoch of the last change
  std::uint32_t version = 0;    // the number of the last change
  std::uint32_t narrowed = 0;   // how often the interval shrank
  std::uint64_t operators = 0;  // as rules::operator_bit()s: what nodes there may be
  bool named = false;
  bool defined = true;
};

class EGraph final : public term::Store {
 public:
  // Both outlive the e-graph.
  EGraph(term::Typing& typing, smt::Oracle& oracle);
  // An empty e-graph for the rules of another, whose compiled form it shares.
  EGraph(const EGraph& like, smt::Oracle& oracle);
  ~EGraph() override;
  // Makes room for about so many terms.
  void reserve(std::size_t terms);
  EGraph(const EGraph&) = delete;
  EGraph& operator=(const EGraph&) = delete;

  // --- term::Store
  const rules::RuleSet& rules() const override;
  smt::Oracle& oracle() const override;
  // The term itself if it exists already; else its normal form by the first `normalise` lemma that applies to
  // it (whose right side is built in the same way), else a new term. kNoTerm: it has no type; see last_error.
  TermId make(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) override;
  // A leaf whose elements are not known to be determined (`defined`).
  TermId fresh(const tensor::TensorType& type, const std::string& label) override;
  TermId find(TermId id) const override {
    ENTANGLE_CHECK(id < up_.size(), "term id out of range");
    while (up_[id] != id) {
      up_[id] = up_[up_[id]];
      id = up_[id];
    }
    return id;
  }
  // The reference stays valid.
  const tensor::TensorType& type(TermId id) const override { return types_[classes_[find(id)].type]; }
  std::optional<sym::Scalar> uniform(TermId id) const override;
  // Whether there is one.
  bool is_uniform(TermId id) const { return classes_[find(id)].uniform != kNone; }
  term::Interval interval(TermId id) const override;
  bool defined(TermId id) const override;
  bool named(TermId id) const override;
  // The nodes that exist when it is called, in order of creation.
  bool any_node(TermId id, rules::OpId op, const std::function<bool(const term::NodeView&)>& visit) override;
  // Of several tilings the one that starts with the smallest blocks.
  std::vector<sym::Int> tiling(TermId id, std::size_t axis) const override;

  // The same for what is applied again and again, mostly to operands of the same types: what follows from
  // these is found once.
  struct Prepared {
    rules::OpId op = rules::kNoOp;
    tensor::Attr attrs;                           // canonical
    std::uint32_t signature = ~std::uint32_t{0};  // of the operands it had last: see src/egraph/signatures.h
  };
  Prepared prepare(rules::OpId op, const tensor::Attr& attrs) const;
  TermId make(Prepared& application, std::span<const TermId> children);

  // As make, without normalising: the term exactly as given.
  TermId make_exact(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children);
  // A leaf: `label` is for printing; two leaves are never hash-consed together.
  TermId leaf(const tensor::TensorType& type, const std::string& label);
  // Why the last make returned kNoTerm.
  const std::string& last_error() const;
  // The id of the very application the last make or make_exact was asked for (make returns its class): what
  // to pass to merge and explain when the term itself is meant. kNoTerm when it had no type.
  TermId last_made() const;

  // Marks the class of `id` as holding a tensor of the distributed graph.
  void set_named(TermId id);
  // Says that the class of a leaf may hold anything, e.g. uninitialised memory: it is not `defined`. To be
  // said before the leaf is used.
  void set_undefined(TermId id);
  // Narrows the known interval of a class; its users follow at the next rebuild.
  void set_interval(TermId id, const term::Interval& interval);

  // Joins two classes; the reason is kept between the very terms given. False: the types or the known scalars
  // differ; the clash is recorded and nothing changes.
  bool merge(TermId a, TermId b, const Reason& reason);
  // Restores congruence and the analyses after merges.
  void rebuild();
  const std::vector<Clash>& clashes() const;
  // Set once classes with different known scalars were to be joined (a clash of that kind was recorded): if
  // not a rule is unsound, the assumptions contradict each other.
  const std::optional<std::string>& contradiction() const;

  // --- looking at it
  std::size_t term_count() const { return up_.size(); }  // ids given out so far: 0 .. term_count() - 1
  std::size_t node_count() const;  // distinct nodes of all classes, without terms that were normalised away
  std::size_t class_count() const;
  std::size_t merge_count() const { return merge_log_.size(); }  // classes joined so far
  // Per lemma of the rule set: how many terms it replaced when they were built; may be shorter.
  const std::vector<std::uint64_t>& normalised() const;
  // Every join of two classes, by congruence too, in order: (the canonical id kept, the one gone).
  const std::vector<std::pair<TermId, TermId>>& merge_log() const { return merge_log_; }
  // A number that changes whenever something is known of the class that was not, or a node comes or goes.
  std::uint32_t version(TermId id) const { return classes_[find(id)].version; }
  // Canonical class ids, ascending.
  std::vector<TermId> classes() const;
  // The nodes of a class in order of creation, children canonical; leaves have op kNoOp. The children stay in
  // place, but a rebuild updates them.
  std::vector<term::NodeView> nodes(TermId id) const;
  // The ids of these nodes, in the same order.
  std::vector<TermId> node_ids(TermId id) const;
  // The same one by one: kNoTerm when there is none, or no further one. Not while the class changes.
  TermId first_node(TermId id) const { return live_from(classes_[find(id)].first); }
  TermId next_node(TermId node) const { return live_from(nodes_[node].next_in_class); }
  // The node with that very id, children canonical (as of the last rebuild).
  term::NodeView node(TermId id) const;
  // The application a term id was first built as, with its operands as they were given.
  term::NodeView original(TermId id) const {
    ENTANGLE_CHECK(id < nodes_.size(), "term id out of range");
    const Node& node = nodes_[id];
    return {node.op, node.attrs, {node.given, node.count}};
  }
  // The label of the leaf with that very id.
  const std::string& label(TermId id) const;
  // The class of op(children; attrs) if such a node exists; kNoTerm otherwise. Does not normalise.
  TermId find_node(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) const;
  // Canonical ids of the classes with a node that has `id` among its children, ascending.
  std::vector<TermId> users(TermId id) const;
  // The ids of those nodes themselves, ascending; with `op`, only of that operator.
  std::vector<TermId> user_nodes(TermId id, rules::OpId op = rules::kNoOp) const;
  // The uses of a class: all terms with an operand of it, also those that are no nodes (yet, or any more), in
  // no particular order, some perhaps twice. A list through numbers that are given out in order, each to one
  // term once and for all; kNoUse at its end.
  using Use = std::uint32_t;
  static constexpr Use kNoUse = kNone;
  Use first_use(TermId id) const { return classes_[find(id)].first_use; }
  Use next_use(Use use) const { return uses_[use].next; }
  TermId user(Use use) const { return uses_[use].term; }
  std::size_t use_count() const { return uses_.size(); }  // of all classes
  // Whether the term is a node of its class.
  bool is_node(TermId id) const { return nodes_[id].state == NodeState::live; }
  // A cheapest term of the class, printed in the language's spelling (leaves by label).
  std::string print(TermId id) const;
  // The term as it was built; long ones are cut (`t12` stands for term 12).
  std::string print_original(TermId id) const;

  // One step of a derivation. `from` and `to` are whole terms, so that the steps form a chain; the reason
  // joins the terms `left` and `right`, which are the same or stand inside. A lemma's reason reads the
  // operands of `left` (or of `right`, where it was used backwards) up to their classes.
  struct Step {
    std::string from, to;
    TermId left = kNoTerm, right = kNoTerm;
    Reason reason;
    bool backwards = false;  // the reason was stated from right to left
  };
  // Steps that lead from a to b (which are equal), congruence unfolded: a pair of equal operands that was
  // explained once in the same derivation is a single step with reason congruence later.
  std::vector<Step> explain(TermId a, TermId b) const;

  term::Typing& typing() const;
  term::Evaluator& evaluator();
  Matcher& matcher();

  // The inside; for this module only.
  struct Impl;
  Impl& impl() { return *impl_; }
  const Impl& impl() const { return *impl_; }

 private:
  struct UseEntry {
    TermId term = kNoTerm;
    Use next = kNoUse;
  };
  // Of a class's list, the first live node from here on.
  TermId live_from(TermId node) const {
    while (node != kNoTerm && nodes_[node].state != NodeState::live) {
      node = nodes_[node].next_in_class;
    }
    return node;
  }

  // Apart from the inside, so that what is asked for all the time is inlined.
  std::vector<Node> nodes_;
  mutable std::vector<TermId> up_;
  std::vector<UseEntry> uses_;
  std::vector<Class> classes_;
  std::deque<tensor::TensorType> types_;
  std::vector<std::pair<TermId, TermId>> merge_log_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entangle::egraph
