// Compiled rules.
#pragma once

#include <cstdint>
#include <vector>

#include "egraph/run.h"
#include "entangle/egraph/saturate.h"

namespace entangle::egraph {

// One thing to find before a rule applies. The first goal is matched at a given node; a later one in the
// class of the goal before it (`same_class`) or anywhere.
struct Goal {
  const rules::Expr* pattern = nullptr;
  bool same_class = false;
};

// A lemma in one direction.
struct Rule {
  std::uint32_t index = 0;  // of the lemma
  const rules::Lemma* lemma = nullptr;
  std::vector<Goal> goals;
  // Whether the last goal is the left side: then its node is the left term. Otherwise `left` is evaluated.
  bool left_is_goal = false;
  const rules::Expr* left = nullptr;
  const rules::Expr* right = nullptr;
  std::vector<Demand> demands;
  std::vector<const rules::Expr*> trigger;  // but for the demands
  // Operators that must be among the nodes of the operands of the first goal's node.
  std::vector<rules::OpId> needs;
  bool local = true;  // depends on nothing but what is within `depth` below the root
  unsigned depth = 1;
  // `when` asks for shapes and attributes only: its answer for given bindings never changes.
  bool pure = true;
  // Likewise whether the right side (and the left side, if that is built) is defined.
  bool pure_right = true;
  bool expands = false;  // the right side makes terms one by one for a list or for the other operands
};

struct Program::Impl {
  explicit Impl(const rules::RuleSet& rule_set) : rules(rule_set) {}

  const rules::RuleSet& rules;
  std::vector<Rule> all;
  std::vector<std::vector<std::uint32_t>> by_op;  // rules whose first goal may match a node of the operator
  unsigned deepest = 1;                           // of the local rules
};

// The variable whose entries `[e for x in ..]` without `if` goes through, or nullptr if it is something else.
const rules::Expr* listed(const rules::Expr& expr);

}  // namespace entangle::egraph
