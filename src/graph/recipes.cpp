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
enum Word : std::uint64_t { kUnbound, kAttribute, kInteger, kTerm, kTypeOfTerm, kType, kList };

// Whether the frame of a call has a number of the call in it.
bool numbers_calls(const rules::Lowering& lowering) {
  return lowering.site != rules::kNoSlot || lowering.draw != rules::kNoSlot;
}

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
  // Nor is more made once something was `missed`.
  Recorder(EGraph& target, smt::Oracle& oracle, std::vector<TermId>& terms, const bool& missed)
      : target_(target), oracle_(oracle), terms_(terms), missed_(missed) {}

  bool ended() const { return ended_; }
  std::vector<Step> take() { return std::move(steps_); }

  const rules::RuleSet& rules() const override { return target_.rules(); }
  smt::Oracle& oracle() const override { return oracle_; }

  TermId make(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) override {
    if (ended_ || missed_ || std::ranges::find(children, kNoTerm) != children.end()) {
      return end(kNoTerm);
    }
    EGraph::Prepared applied = target_.prepare(op, attrs);
    std::vector<TermId> operands;
    for (const TermId child : children) {
      operands.push_back(target_.find(terms_[child]));
    }
    const TermId made = target_.make(applied, operands);
    if (made == kNoTerm) {
      return end(kNoTerm);
    }
    steps_.push_back({applied, {children.begin(), children.end()}, &target_.type(made)});
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
  const bool& missed_;
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
    key_.words.push_back(kTerm);
    key_.words.push_back(known);
    if (known == terms_.size()) {
      terms_.push_back(id);
      if (id == kNoTerm || terms_.size() > kMostOperands) {
        return false;
      }
      // The e-graph has each type once.
      key_.words.push_back(kTypeOfTerm);
      key_.words.push_back(reinterpret_cast<std::uintptr_t>(&target_.type(id)));
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

bool Recipes::describe(const rules::Lowering& lowering, const Frame& frame) {
  key_.lowering = &lowering;
  key_.words.clear();
  key_.attrs.clear();
  terms_.clear();
  return std::ranges::all_of(frame.slots, [&](const std::optional<Value>& slot) {
    if (!slot) {
      key_.words.push_back(kUnbound);
    }
    return !slot || describe(*slot);
  });
}

std::pair<Recipes::Recipe*, bool> Recipes::recipe(const rules::Lowering& lowering, const Frame& frame) {
  const auto found = recipes_.find(key_);
  if (found != recipes_.end()) {
    return {&found->second, false};
  }
  return {&recipes_.emplace(key_, record(lowering, frame)).first->second, true};
}

Recipes::Answer Recipes::value(const rules::Lowering& lowering, const Frame& frame) {
  // The number of the call is looked for where it is not.
  Frame nameless;
  const Frame* shown = &frame;
  if (numbers_calls(lowering)) {
    nameless = frame;
    for (const rules::Slot slot : {lowering.site, lowering.draw}) {
      if (slot != rules::kNoSlot) {
        nameless.slots[slot].reset();
      }
    }
    shown = &nameless;
  }
  if (!describe(lowering, *shown)) {
    return {};
  }
  const auto [known, recorded] = recipe(lowering, *shown);
  if (known->kind != Recipe::Kind::known) {
    return {std::nullopt, known->kind == Recipe::Kind::refused};
  }
  Answer answer{recorded ? made(known->result) : follow(*known)};
  last_ = answer.value ? known : last_;
  return answer;
}

std::vector<TermId> Recipes::last_operands() const {
  return {terms_.begin(), terms_.begin() + static_cast<std::ptrdiff_t>(last_->operands.size())};
}

std::optional<Value> Recipes::value(Recipe& recipe, std::span<const TermId> operands) {
  if (operands.size() != recipe.operands.size()) {
    return std::nullopt;
  }
  terms_.clear();
  for (const TermId operand : operands) {
    const TermId id = target_.find(operand);
    if (&target_.type(id) != recipe.operands[terms_.size()] ||
        std::ranges::find(terms_, id) != terms_.end()) {
      return std::nullopt;
    }
    terms_.push_back(id);
  }
  return follow(recipe);
}

std::uint32_t Recipes::number(TermId term) const {
  return static_cast<std::uint32_t>(std::ranges::find(terms_, target_.find(term)) - terms_.begin());
}

Value Recipes::numbered(const Value& value) const {
  return replaced(value, [&](TermId term) { return number(term); });
}

Recipes::Recipe Recipes::record(const rules::Lowering& lowering, const Frame& frame) {
  Recipe recipe;
  for (const TermId operand : terms_) {
    recipe.operands.push_back(&target_.type(operand));
  }
  Frame numbers;
  for (const std::optional<Value>& slot : frame.slots) {
    numbers.slots.push_back(slot ? std::optional(numbered(*slot)) : std::nullopt);
  }
  bool missed = false;
  numbers.missed = &missed;
  const std::uint64_t undecided = oracle_.statistics().unknown;
  Recorder recorder(target_, oracle_, terms_, missed);
  term::Evaluator evaluator(recorder, target_.typing(), &recorder);
  // What is found, if it rests on nothing else.
  const auto settle = [&](Recipe::Kind kind) {
    const bool decided = !recorder.ended() && !missed && oracle_.statistics().unknown == undecided;
    recipe.kind = decided ? kind : Recipe::Kind::none;
  };
  const smt::Truth holds =
      lowering.condition ? evaluator.holds(*lowering.condition, numbers) : smt::Truth::yes;
  if (!smt::is_yes(holds)) {
    settle(smt::is_no(holds) ? Recipe::Kind::refused : Recipe::Kind::none);
    return recipe;
  }
  std::optional<Value> result = evaluator.evaluate(lowering.body, numbers);
  settle(result ? Recipe::Kind::known : Recipe::Kind::none);
  if (recipe.kind == Recipe::Kind::known) {
    recipe.steps = recorder.take();
    recipe.result = std::move(*result);
  }
  return recipe;
}

std::optional<Value> Recipes::follow(Recipe& recipe) {
  for (Step& step : recipe.steps) {
    children_.clear();
    for (const std::uint32_t child : step.children) {
      children_.push_back(target_.find(terms_[child]));
    }
    const TermId made = target_.make(step.applied, children_);
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
