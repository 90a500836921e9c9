// The inside of an EGraph: flat arrays indexed by TermId. Lists of a class (its nodes, its users) are
// threaded through those arrays, so that creating a node allocates nothing of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "egraph/signatures.h"
#include "egraph/small.h"
#include "entangle/egraph/egraph.h"
#include "entangle/egraph/match.h"
#include "entangle/support/check.h"
#include "entangle/support/hash.h"

namespace entangle::egraph {

using Ids = Small<TermId, 16>;

// One edge of the proof forest.
struct Edge {
  Reason::Kind kind = Reason::Kind::lemma;
  bool reversed = false;  // stated from the parent to the child
  std::uint32_t index = 0;
  std::uint32_t note = kNone;
  std::uint32_t pairs = kNone;  // commutative congruence: which operand equals which, in pair_pool
};

// Arrays of ids that never move.
class IdArena {
 public:
  TermId* allocate(std::size_t count) {
    if (count == 0) {
      return nullptr;
    }
    if (left_ < count) {
      const std::size_t size = std::max<std::size_t>(count, blocks_.empty() ? 256 : 2048);
      blocks_.push_back(std::make_unique<TermId[]>(size));
      next_ = blocks_.back().get();
      left_ = size;
    }
    TermId* result = next_;
    next_ += count;
    left_ -= count;
    return result;
  }

 private:
  std::vector<std::unique_ptr<TermId[]>> blocks_;
  TermId* next_ = nullptr;
  std::size_t left_ = 0;
};

struct EGraph::Impl {
  Impl(EGraph& self, term::Typing& typing, smt::Oracle& oracle);

  // --- egraph.cpp
  TermId find(TermId id) const { return self.find(id); }
  const Class& class_of(TermId id) const { return classes[find(id)]; }
  const tensor::TensorType& type(TermId id) const { return types[class_of(id).type]; }
  bool commutative(rules::OpId op) const { return op != rules::kNoOp && rule_set.op(op).commutative; }
  tensor::Attr canonical(rules::OpId op, const tensor::Attr& attrs) const;
  tensor::Attr find_canonical(rules::OpId op, const tensor::Attr& attrs) const;
  tensor::Attr canonical(const rules::Type& type, const tensor::Attr& attr) const;
  void canonical_children(rules::OpId op, std::span<const TermId> children, Ids& out) const;
  // The node with that op, attributes and (canonical) children, or kNoTerm.
  TermId probe(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children,
               std::uint64_t hash) const;

  // --- make.cpp
  TermId make(EGraph::Prepared& prepared, std::span<const TermId> children, bool normal);
  // An application that is being made, and the node that it is: as long as no term is built and no class is
  // joined.
  struct Spelling {
    rules::OpId op = rules::kNoOp;
    tensor::Attr attrs;
    Ids operands;  // as given
    Ids children;
    std::uint64_t hash = 0;
    std::size_t terms = 0, merges = 0;  // of the e-graph
  };
  void spell(Spelling& application) const;
  // The node if it exists, after what was done since it was spelled, when it did not.
  TermId respell(Spelling& application) const;
  TermId normalise(Spelling& application, std::uint32_t signature);
  void note_made(TermId term) {
    last_made = term;
    if (made != nullptr) {
      made->push_back(term);
    }
  }
  // Makes a ghost a node of its class.
  void promote(TermId ghost);
  void append_of_op(TermId node);
  // The number in `signatures` of an application to these operands, which is tried first the next time.
  std::uint32_t signature_of(EGraph::Prepared& prepared, std::span<const TermId> children);
  // The number of the type of an application with the signature; Signature::kUntyped where it has
  // none.
  std::uint32_t type_of(std::uint32_t signature, std::span<const TermId> children, std::string* why);
  TermId add(const Spelling& application, std::uint32_t type, NodeState state);
  TermId add_leaf(const tensor::TensorType& type, const std::string& label, bool defined);
  std::uint32_t intern(const tensor::TensorType& type);
  smt::Truth equal_types(std::uint32_t a, std::uint32_t b) const;

  // --- merge.cpp
  bool merge(TermId a, TermId b, const Edge& edge);
  void record_clash(Clash::Kind kind, TermId a, TermId b, const Edge& edge);
  void recanonicalise(TermId node);
  void unlink_dead();
  void rebuild();
  void touch(Class& data) {
    data.changed = epoch;
    data.version = ++changes;
  }

  // --- analysis.cpp
  void analyse(TermId node);
  void set_uniform(TermId node, const sym::Scalar& value);
  // Narrows a class by what the value clause of one of its applications can give.
  void bound(TermId id, const Node& node);
  void narrow(TermId id, const term::Interval& interval);
  void analyse_users(const Class& data);
  term::Interval interval_of(const Class& data) const;

  // --- explain.cpp
  void join_proofs(TermId a, TermId b, const Edge& edge, std::uint32_t terms_a, std::uint32_t terms_b);
  Reason reason_of(const Edge& edge) const;
  Edge edge_of(const Reason& reason);

  // The hash table of nodes: open addressing, kNoTerm is empty, kNoTerm - 1 was erased.
  void table_insert(TermId node);
  void table_erase(TermId node);
  void table_grow(std::size_t least = 0);

  EGraph& self;
  term::Typing& typing;
  smt::Oracle& oracle;
  const rules::RuleSet& rule_set;
  // Made once the e-graph can be asked questions.
  std::optional<Matcher> matcher;
  std::optional<term::Evaluator> evaluator;

  // Attributes and their canonical form, which depends on nothing else: what was asked for last.
  struct Canonical {
    rules::OpId op = rules::kNoOp;
    tensor::Attr attrs, result;
  };
  mutable std::array<Canonical, 128> canonicals;

  std::vector<Node>& nodes;  // these six are the e-graph's own
  std::vector<TermId>& up;
  std::vector<EGraph::UseEntry>& uses;
  std::vector<Class>& classes;
  std::deque<tensor::TensorType>& types;
  std::vector<std::pair<TermId, TermId>>& merge_log;
  IdArena arena;
  std::vector<TermId> table;
  std::size_t table_used = 0;  // entries, erased ones too
  std::vector<TermId> first_of_op, last_of_op;
  std::unordered_multimap<std::uint64_t, std::uint32_t> type_index;
  Signatures signatures;
  std::vector<sym::Scalar> scalars;
  std::vector<term::Interval> intervals;
  std::vector<std::string> labels;

  std::vector<TermId> proof_parent;
  std::vector<std::uint32_t> proof_edge;  // of id to its parent
  std::vector<Edge> edges;
  std::vector<std::string> notes;
  std::vector<TermId> pair_pool;
  std::vector<Clash> clashes;
  std::optional<std::string> contradiction;

  std::vector<TermId> dirty;    // nodes whose children may have been joined with others
  std::vector<TermId> stale;    // nodes whose analyses may say more
  std::vector<TermId> touched;  // classes with dead nodes in their list

  std::size_t live = 0;
  std::uint32_t epoch = 1;
  std::uint32_t changes = 0;
  std::size_t failures = 0;               // make without a type
  std::size_t normalising = 0;            // depth
  std::vector<std::uint64_t> normalised;  // per lemma: terms it replaced when they were built
  TermId last_made = kNoTerm;
  std::vector<TermId>* made =
      nullptr;  // if set, every term that make was asked for, whether it was new or not
  std::string last_error;
  rules::OpId slice = rules::kNoOp;
};

// Whether two scalars are equal for all values of their symbols.
smt::Truth equal_scalars(smt::Oracle& oracle, const sym::Scalar& a, const sym::Scalar& b);
std::uint64_t node_hash(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children);
std::uint64_t hash_type(const tensor::TensorType& type);

}  // namespace entangle::egraph
