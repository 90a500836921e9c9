// Terms without equalities: what is spelled the same is the same term, and nothing is normalised.
//
// A Store for looking at single applications of a rule: both sides of a lemma are built exactly as written.
// Ids are given out in order, operands before their users. Not safe for concurrent use.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "entangle/term/store.h"
#include "entangle/term/typing.h"

namespace entangle::eval {

using term::kNoTerm;
using term::TermId;

class Terms final : public term::Store {
 public:
  // The typing (with its oracle) outlives the store.
  explicit Terms(term::Typing& typing) : typing_(typing) {}

  const rules::RuleSet& rules() const override { return typing_.rules(); }
  smt::Oracle& oracle() const override { return typing_.oracle(); }
  term::Typing& typing() const { return typing_; }
  TermId make(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) override;
  TermId fresh(const tensor::TensorType& type, const std::string& label) override;
  TermId find(TermId id) const override { return id; }
  const tensor::TensorType& type(TermId id) const override { return nodes_[id].type; }
  std::optional<sym::Scalar> uniform(TermId id) const override { return nodes_[id].uniform; }
  term::Interval interval(TermId id) const override { return nodes_[id].interval; }
  bool defined(TermId) const override { return true; }
  bool named(TermId) const override { return false; }
  bool any_node(TermId id, rules::OpId op, const std::function<bool(const term::NodeView&)>& visit) override;
  // Of a constant size n >= 2: 0, 1 and n, unless there is a call for it.
  std::vector<sym::Int> tiling(TermId id, std::size_t axis) const override;

  // Asked for the cuts of slices, if set.
  void tile_with(std::function<std::vector<sym::Int>(TermId, std::size_t)> call) { tile_ = std::move(call); }
  // Says between which bounds the elements of an integer leaf are.
  void set_interval(TermId id, const term::Interval& interval) { nodes_[id].interval = interval; }
  // The application; a leaf has op kNoOp.
  term::NodeView node(TermId id) const;
  const std::string& label(TermId id) const { return nodes_[id].label; }
  void set_label(TermId id, const std::string& label) { nodes_[id].label = label; }
  std::size_t size() const { return nodes_.size(); }
  // Forgets the terms with this id and above.
  void truncate(std::size_t size);
  // The term in the language's spelling.
  std::string print(TermId id) const;

 private:
  struct Node {
    rules::OpId op = rules::kNoOp;
    tensor::Attr attrs;
    std::vector<TermId> children;
    std::string label;
    tensor::TensorType type;
    std::optional<sym::Scalar> uniform;
    term::Interval interval;
  };

  term::Typing& typing_;
  std::function<std::vector<sym::Int>(TermId, std::size_t)> tile_;
  std::deque<Node> nodes_;
};

}  // namespace entangle::eval
