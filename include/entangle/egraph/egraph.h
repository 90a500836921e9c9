// EGraph: hash-consed terms, classes of equal terms, and why they are equal.
//
// The sequential program, the distributed program (all ranks in one) and every local problem of the inference
// are e-graphs. Construction goes through `make`, which applies the rule set's `normalise` lemmas; equalities
// go through `merge`, which refuses to join classes of different type and names the lemma. Rebuilding is
// deferred (egg): after merges call `rebuild` before matching. Each merge keeps its reason, so `explain` can
// print why two terms are equal. Everything is deterministic: ids, node order and merge order depend on the
// order of calls only. Not safe for concurrent use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "entangle/term/evaluator.h"
#include "entangle/term/store.h"

namespace entangle::egraph {

using term::kNoTerm;
using term::TermId;

// Why two terms were made equal.
struct Reason {
  enum class Kind : std::uint8_t { lemma, normalise, definition, relation, assumption, congruence, fold };
  Kind kind = Kind::lemma;
  std::uint32_t index = 0;    // lemma: index into RuleSet::lemmas(); otherwise the caller's own number
  std::string note;           // e.g. the manifest line or the node; may be empty
};

// A refused merge: an unsound rule or an internal error, never ignored.
struct Clash {
  Reason reason;
  std::string left, right;    // the two terms with their types
};

class EGraph final : public term::Store {
 public:
  // Both outlive the e-graph.
  EGraph(term::Typing& typing, smt::Oracle& oracle);
  ~EGraph() override;

  // --- term::Store
  const rules::RuleSet& rules() const override;
  smt::Oracle& oracle() const override;
  TermId make(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) override;
  TermId fresh(const tensor::TensorType& type, const std::string& label) override;
  TermId find(TermId id) const override;
  const tensor::TensorType& type(TermId id) const override;
  std::optional<sym::Scalar> uniform(TermId id) const override;
  term::Interval interval(TermId id) const override;
  bool named(TermId id) const override;
  bool any_node(TermId id, rules::OpId op, const std::function<bool(const term::NodeView&)>& visit) override;
  std::vector<sym::Int> tiling(TermId id, std::size_t axis) const override;

  // As make, without normalising: the term exactly as given.
  TermId make_exact(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children);
  // A leaf: `label` is for printing; two leaves are never hash-consed together.
  TermId leaf(const tensor::TensorType& type, const std::string& label);
  // Why the last make returned kNoTerm.
  const std::string& last_error() const;

  // Marks the class of `id` as holding a tensor of the distributed graph.
  void set_named(TermId id);
  // Says that the class of a leaf may hold anything, e.g. uninitialised memory: it is not `defined`.
  void set_undefined(TermId id);
  // Whether every element is a number the program determines: so for every term all of whose operands are, and
  // for a class one of whose terms is. What is not defined never vanishes by multiplication with zero.
  bool defined(TermId id) const override;
  // Narrows the known interval of a class.
  void set_interval(TermId id, const term::Interval& interval);

  // Joins two classes. False: the types differ; the clash is recorded and nothing changes.
  bool merge(TermId a, TermId b, const Reason& reason);
  void rebuild();
  const std::vector<Clash>& clashes() const;
  // All joins of two classes so far, those by congruence included: (the class kept, the class gone).
  const std::vector<std::pair<TermId, TermId>>& merge_log() const;
  // Set when two classes with different known scalars were joined: the assumptions contradict each other.
  const std::optional<std::string>& contradiction() const;

  // --- looking at it
  std::size_t term_count() const;               // ids given out so far; ids are 0 .. term_count() - 1
  std::size_t node_count() const;
  std::size_t class_count() const;
  // Canonical class ids, ascending.
  std::vector<TermId> classes() const;
  // The nodes of a class in order of creation, children canonical; leaves have op kNoOp.
  std::vector<term::NodeView> nodes(TermId id) const;
  // The application a term id was first built as.
  term::NodeView original(TermId id) const;
  // The class of op(children; attrs) if such a node exists; kNoTerm otherwise. Does not normalise.
  TermId find_node(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) const;
  // Canonical ids of the classes with a node that has `id` among its children, ascending.
  std::vector<TermId> users(TermId id) const;
  // A cheapest term of the class, printed in the language's spelling (leaves by label).
  std::string print(TermId id) const;

  // Steps that lead from a to b (which are equal): terms and reasons, congruence steps unfolded.
  struct Step {
    std::string from, to;
    Reason reason;
  };
  std::vector<Step> explain(TermId a, TermId b) const;

  term::Typing& typing() const;
  term::Evaluator& evaluator();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  friend class Saturation;
};

}  // namespace entangle::egraph
