// Compiled rules.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "egraph/run.h"
#include "entangle/egraph/saturate.h"

namespace entangle::egraph {

// A lemma in one direction.
struct Rule {
  std::uint32_t index = 0;  // of the lemma
  const rules::Lemma* lemma = nullptr;
  std::vector<rules::Goal> goals;
  // Whether the last goal is the left side: then its node is the left term. Otherwise `left` is evaluated.
  bool left_is_goal = false;
  const rules::Expr* left = nullptr;
  const rules::Expr* right = nullptr;
  std::vector<Demand> demands;
  std::vector<const rules::Expr*> trigger;  // but for the demands
  // Levels below a class that are told apart.
  static constexpr unsigned kDeepest = std::numeric_limits<std::uint8_t>::max() - 1;
  bool local = true;  // depends on nothing but what is within `depth` below the root
  unsigned depth = 1;
  // `when` asks for shapes and attributes only: its answer for given bindings never changes.
  bool pure = true;
  // Likewise whether the right side (and the left side, if that is built) is defined.
  bool pure_right = true;
  // Of f(.., p, ..), beside f and its operands, a match depends on nothing but what is below the one that
  // matches p.
  bool by_operand = false;
  std::vector<rules::Slot> asked_slots;  // the variables of `when`, if it is pure
  // It gives the same whichever operand matches p; of the variables, that depends on these.
  bool alike = false;
  std::vector<rules::Slot> alike_slots;
  bool expands = false;  // the right side makes terms one by one for a list or for the other operands
};

struct Program::Impl {
  // A rule whose first goal may match a node of some operator.
  struct Entry {
    std::uint32_t rule = 0;
    std::uint64_t operands = 0;  // see rules::LemmaHead::Opening
  };

  explicit Impl(const rules::RuleSet& rule_set);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  std::size_t size() const { return readings_.size(); }
  // Compiled when it is first asked for. Safe for concurrent use.
  const Rule& rule(std::uint32_t number) const {
    const Rule* known = compiled_[number].load(std::memory_order_acquire);
    return known != nullptr ? *known : compile_rule(number);
  }

  const rules::RuleSet& rules;
  std::vector<std::vector<Entry>> by_op;

 private:
  struct Reading {
    std::uint32_t lemma = 0;
    bool backwards = false;
  };
  const Rule& compile_rule(std::uint32_t number) const;

  std::vector<Reading> readings_;
  mutable std::vector<std::atomic<const Rule*>> compiled_;
};

// Whether a built-in function makes terms; whether it asks what is known of a class, which may change.
bool makes_terms(rules::Builtin builtin);
bool asks_class(rules::Builtin builtin);

// The variable whose entries `[e for x in ..]` without `if` goes through, or nullptr if it is something else.
const rules::Expr* listed(const rules::Expr& expr);

}  // namespace entangle::egraph
