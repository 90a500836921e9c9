// A small rule library, a Store without equalities, and a matcher for it.
#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "entangle/term/evaluator.h"
#include "entangle/term/typing.h"

namespace entangle::term::test {

using tensor::Attr;
using tensor::DType;
using tensor::TensorType;

// The operators most tests need.
extern const char* const kOperators;

// Rules read from text; fails the test with the diagnostics.
std::shared_ptr<const rules::RuleSet> load(const std::string& text);

Attr number(std::int64_t value);
Attr list(std::vector<Attr> values);
Attr numbers(std::vector<std::int64_t> values);
// `[a, b]` as the attribute list of an operator; scalars by Attr::of.
Attr attrs(std::vector<Attr> values);
TensorType type(std::vector<sym::Int> shape, DType dtype = DType::f32);
std::vector<const TensorType*> pointers(const std::vector<TensorType>& types);

// Terms without equalities: what is spelled the same is the same.
class TestStore final : public Store {
 public:
  TestStore(Typing& typing, smt::Oracle& oracle) : typing_(typing), oracle_(oracle) {}

  const rules::RuleSet& rules() const override { return typing_.rules(); }
  smt::Oracle& oracle() const override { return oracle_; }
  TermId make(rules::OpId op, const Attr& attrs, std::span<const TermId> children) override;
  TermId fresh(const TensorType& type, const std::string& label) override;
  TermId find(TermId id) const override { return id; }
  const TensorType& type(TermId id) const override { return nodes_[id].type; }
  std::optional<sym::Scalar> uniform(TermId id) const override { return nodes_[id].uniform; }
  Interval interval(TermId id) const override { return nodes_[id].interval; }
  bool defined(TermId id) const override { return nodes_[id].label != "fresh"; }
  bool named(TermId id) const override { return nodes_[id].named; }
  bool any_node(TermId id, rules::OpId op, const std::function<bool(const NodeView&)>& visit) override;
  std::vector<sym::Int> tiling(TermId id, std::size_t axis) const override;

  // kNoTerm when there is none.
  TermId find_node(rules::OpId op, const Attr& attrs, const std::vector<TermId>& children) const;
  void set_named(TermId id) { nodes_[id].named = true; }
  void set_interval(TermId id, Interval interval) { nodes_[id].interval = interval; }
  std::string print(TermId id) const;
  std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    rules::OpId op = rules::kNoOp;
    Attr attrs;
    std::vector<TermId> children;
    std::string label;
    TensorType type;
    std::optional<sym::Scalar> uniform;
    Interval interval;
    bool named = false;
  };

  Typing& typing_;
  smt::Oracle& oracle_;
  std::deque<Node> nodes_;
};

// Matches operators, variables, wildcards and numbers; no lists.
class TestPatterns final : public PatternHost {
 public:
  TestPatterns(TestStore& store) : store_(store) {}
  void use(Evaluator& evaluator) { evaluator_ = &evaluator; }

  bool has_match(TermId id, const rules::Expr& pattern, const rules::Expr* condition,
                 const Frame& frame) override;
  TermId lookup(const rules::Expr& expr, Frame& frame) override;

 private:
  bool match(TermId id, const rules::Expr& pattern, Frame& frame, const std::function<bool(Frame&)>& then);
  bool match_all(const NodeView& node, const rules::Expr& pattern, std::size_t place, Frame& frame,
                 const std::function<bool(Frame&)>& then);

  TestStore& store_;
  Evaluator* evaluator_ = nullptr;
};

// One of everything, over kOperators and more text.
struct World {
  explicit World(const std::string& text = {}, sym::Facts facts = {});

  rules::OpId op(const std::string& name) const;
  TermId leaf(const std::string& name, std::vector<sym::Int> shape, DType dtype = DType::f32);
  TermId make(const std::string& name, std::vector<Attr> values, std::vector<TermId> children);
  std::string text(std::optional<TermId> id) const { return id ? store.print(*id) : "undefined"; }
  // The first lowering of that name, and a frame for it with the parameters bound in order.
  const rules::Lowering& lowering(const std::string& name) const;
  const rules::Lemma& lemma(const std::string& name) const;
  Frame frame(const rules::Lowering& lowering, std::vector<Value> values) const;
  // The body of a lowering, or the e of a body `probe(; e)`, printed: terms as the store prints them.
  std::string run(const std::string& name, std::vector<Value> values);
  smt::Truth condition(const std::string& name, std::vector<Value> values);
  std::string print(const Value& value) const;

  std::shared_ptr<const rules::RuleSet> rules;
  smt::Oracle oracle;
  Typing typing;
  TestStore store;
  TestPatterns patterns;
  Evaluator evaluator;
};

}  // namespace entangle::term::test
