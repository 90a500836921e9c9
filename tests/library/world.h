// The rule library, whole or without some of its lemmas, and small statements about it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "entangle/egraph/saturate.h"

namespace entangle::library {

// The texts of rules/*.rules that hold operators and lemmas, in the order of their includes, without the
// lemmas of these names.
std::string library_text(const std::set<std::string>& without = {});

// `left` and `right` are equal once the library has been applied; both are right sides over the leaves.
struct Statement {
  std::string lemmas;  // without one of these it is not found
  std::string leaves;  // `x:f32[4,6] t:i64[s0]@0..5` (elements 0 to 5) `ys*20:f32[4]` (a list of 20)
  std::string named;   // terms that are tensors of the distributed program, separated by `&`
  std::string left;
  std::string right;
  // `at once`: as the terms are built; `left alone`: without looking at the right side
  std::string effort = {};
};

egraph::Limits limits(std::size_t nodes, std::size_t rounds);

// Names in a text, split at spaces.
std::vector<std::string> words(const std::string& text);

struct Result {
  bool evaluated = false;  // both sides have a value
  bool equal = false;
  std::string note;  // why not, or what is suspicious: clashes, limits reached
};

// The library and statements over it, loaded once.
class World {
 public:
  explicit World(const std::vector<Statement>& statements, const std::set<std::string>& without = {});

  const rules::RuleSet& rules() const { return *rules_; }
  // Saturates a graph that holds both sides of a statement. With `check`, every node is compared in numbers.
  Result run(std::size_t statement, bool check = false);
  // Whether a statement is found when the two sides of another one are taken to be equal.
  bool follows(std::size_t assumed, std::size_t statement);

 private:
  // A body over the leaves of the last run's statement.
  term::TermId evaluate(const std::string& lowering);
  bool equal(const std::string& left, const std::string& right);

  std::vector<Statement> statements_;
  std::shared_ptr<const rules::RuleSet> rules_;
  std::unique_ptr<egraph::Program> program_;
  std::unique_ptr<smt::Oracle> oracle_;
  std::unique_ptr<term::Typing> typing_;
  std::unique_ptr<egraph::EGraph> graph_;
  std::vector<term::Value> leaves_;
  std::string note_;
};

}  // namespace entangle::library
