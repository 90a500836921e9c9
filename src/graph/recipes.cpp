#include "recipes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>

#include "entangle/support/hash.h"

namespace entangle::graph {

using egraph::EGraph;
using egraph::kNoTerm;
using egraph::TermId;
using term::Frame;
using term::Value;

namespace {

// Operands are compared with each other one by one.
constexpr std::size_t kMostOperands = 64;

// Every part of a key begins with one of these.
enum Word : std::uint64_t { kUnbound, kAttribute, kInteger, kTerm, kType, kList };

// The value with its terms replaced.
template <class Replace>
Value replaced(const Value& value, const Replace& replace) {
  if (const term::Term* term = value.as_term()) {
    return Value(term::Term{replace(term->id)});
  }
  const std::vector<Value>* list = value.as_list();
  if (list == nullptr) {
    return value;
  }
  std::vector<Value> entries;
  entries.reserve(list->size());
  for (const Value& entry : *list) {
    entries.push_back(replaced(entry, replace));
  }
  return Value(std::move(entries));
}

}  // namespace

// A store over numbered terms that shows nothing but their types, and notes what is made. What else somebody
// wants to know ends the recording; then no more is made.
class Recipes::Recorder final : public term::Store, public term::PatternHost {
 public:
  Recorder(EGraph& target, smt::Oracle& oracle, std::vector<TermId>& terms)
      : target_(target), oracle_(oracle), terms_(terms) {}

  bool ended() const { return ended_; }
  std::vector<Step> take() { return std::move(steps_); }

  const rules::RuleSet& rules() const override { return target_.rules(); }
  smt::Oracle& oracle() const override { return oracle_; }

  TermId make(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) override {
    if (ended_ || std::ranges::find(children, kNoTerm) != children.end()) {
      return end(kNoTerm);
    }
    std::vector<TermId> operands;
    for (const TermId child : children) {
      operands.push_back(target_.find(terms_[child]));
    }
    const TermId made = target_.make(op, attrs, operands);
    if (made == kNoTerm) {
      return end(kNoTerm);
    }
    steps_.push_back({op, attrs, {children.begin(), children.end()}, &target_.type(made)});
    terms_.push_back(made);
    return static_cast<TermId>(terms_.size() - 1);
  }

  TermId find(TermId id) const override { return id; }
  bool same(TermId a, TermId b) const override { return a == b || end(false); }
  const tensor::TensorType& type(TermId id) const override { return target_.type(terms_[id]); }

  TermId fresh(const tensor::TensorType&, const std::string&) override { return end(kNoTerm); }
  std::optional<sym::Scalar> uniform(TermId) const override { return end(std::nullopt); }
  term::Interval interval(TermId) const override { return end(term::Interval{}); }
  bool defined(TermId) const override { return end(false); }
  bool named(TermId) const override { return end(false); }
  bool any_node(TermId, rules::OpId, const std::function<bool(const term::NodeView&)>&) override {
    return end(false);
  }
  std::vector<sym::Int> tiling(TermId, std::size_t) const override { return end(std::vector<sym::Int>{}); }
  bool has_match(TermId, const rules::Expr&, const rules::Expr*, const Frame&) override { return end(false); }
  TermId lookup(const rules::Expr&, Frame&) override { return end(kNoTerm); }

 private:
  template <class T>
  T end(T nothing) const {
    ended_ = true;
    return nothing;
  }

  EGraph& target_;
  smt::Oracle& oracle_;
  std::vector<TermId>& terms_;
  std::vector<Step> steps_;
  mutable bool ended_ = false;
};

std::size_t Recipes::Hash::operator()(const Key& key) const {
  std::uint64_t hash = support::hash_words(key.words);
  for (const tensor::Attr& attr : key.attrs) {
    hash = support::hash_combine(hash, attr.hash());
  }
  return hash;
}

bool Recipes::describe(const sym::Int& value) {
  if (const auto constant = value.constant()) {
    key_.words.insert(key_.words.end(), {kInteger, static_cast<std::uint64_t>(*constant)});
  } else {
    key_.words.push_back(kAttribute);
    key_.attrs.push_back(tensor::Attr::of(value));
  }
  return true;
}

void Recipes::add_type(const tensor::TensorType& type) {
  key_.words.insert(key_.words.end(), {kType, static_cast<std::uint64_t>(type.dtype), type.rank()});
  for (const sym::Int size : type.shape) {
    describe(size);
  }
}

// Adds a value of the frame to the key. False: too many operands.
bool Recipes::describe(const Value& value) {
  if (const term::Term* term = value.as_term()) {
    const TermId id = term->id == kNoTerm ? kNoTerm : target_.find(term->id);
    const auto known = static_cast<std::size_t>(std::ranges::find(terms_, id) - terms_.begin());
    key_.words.insert(key_.words.end(), {kTerm, known});
    if (known == terms_.size()) {
      terms_.push_back(id);
      if (id == kNoTerm || terms_.size() > kMostOperands) {
        return false;
      }
      add_type(target_.type(id));
    }
    return true;
  }
  if (const std::vector<Value>* list = value.as_list()) {
    key_.words.insert(key_.words.end(), {kList, list->size()});
    return std::ranges::all_of(*list, [&](const Value& entry) { return describe(entry); });
  }
  if (const tensor::TensorType* type = value.as_type()) {
    add_type(*type);
  } else if (const sym::Int* integer = value.as_int()) {
    describe(*integer);
  } else {
    key_.words.push_back(kAttribute);
    key_.attrs.push_back(*value.as_attr());
  }
  return true;
}

std::optional<Value> Recipes::value(const rules::Lowering& lowering, const Frame& frame) {
  key_ = {&lowering, {}, {}};
  terms_.clear();
  for (const std::optional<Value>& slot : frame.slots) {
    if (!slot) {
      key_.words.push_back(kUnbound);
    } else if (!describe(*slot)) {
      return std::nullopt;
    }
  }
  const auto found = recipes_.find(key_);
  if (found != recipes_.end()) {
    return found->second.known ? follow(found->second) : std::nullopt;
  }
  const Recipe& recipe = recipes_.emplace(key_, record(lowering, frame)).first->second;
  return recipe.known ? std::optional(made(recipe.result)) : std::nullopt;
}

std::uint32_t Recipes::number(TermId term) const {
  return static_cast<std::uint32_t>(std::ranges::find(terms_, target_.find(term)) - terms_.begin());
}

Value Recipes::numbered(const Value& value) const {
  return replaced(value, [&](TermId term) { return number(term); });
}

Recipes::Recipe Recipes::record(const rules::Lowering& lowering, const Frame& frame) {
  Frame numbers;
  for (const std::optional<Value>& slot : frame.slots) {
    numbers.slots.push_back(slot ? std::optional(numbered(*slot)) : std::nullopt);
  }
  const std::uint64_t undecided = oracle_.statistics().unknown;
  Recorder recorder(target_, oracle_, terms_);
  term::Evaluator evaluator(recorder, target_.typing(), &recorder);
  Recipe recipe;
  if (lowering.condition && !smt::is_yes(evaluator.holds(*lowering.condition, numbers))) {
    return recipe;
  }
  std::optional<Value> result = evaluator.evaluate(lowering.body, numbers);
  if (!result || recorder.ended() || oracle_.statistics().unknown != undecided) {
    return recipe;
  }
  recipe.known = true;
  recipe.steps = recorder.take();
  recipe.result = std::move(*result);
  return recipe;
}

std::optional<Value> Recipes::follow(const Recipe& recipe) {
  std::vector<TermId> children;
  for (const Step& step : recipe.steps) {
    children.clear();
    for (const std::uint32_t child : step.children) {
      children.push_back(target_.find(terms_[child]));
    }
    const TermId made = target_.make(step.op, step.attrs, children);
    // Equal types may be written in different ways; the next steps may depend on it.
    if (made == kNoTerm || &target_.type(made) != step.type) {
      return std::nullopt;
    }
    terms_.push_back(made);
  }
  return made(recipe.result);
}

Value Recipes::made(const Value& value) const {
  return replaced(value, [&](TermId number) { return target_.find(terms_[number]); });
}

}  // namespace entangle::graph
