// Recipes: what a lowering builds for operands of given types, kept to be built again.
//
// The body of a lowering is a program over types and attributes: what it applies to its operands is mostly
// decided by nothing else. The first time a lowering meets operands of some types (and which of them are the
// same), with some attributes, it runs over a store that shows it no more than that, and the applications it
// makes are noted. From then on they are made of the operands at hand without running it. A body that looks
// at anything else (whether an operand is constant, what is known to be equal to it, the number of the call),
// or asks what cannot be decided, has no recipe and always runs.
//
// Belongs to one e-graph. Everything is made by EGraph::make, in the same order as by the body, so that
// normal forms and ids are what they would be without recipes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "entangle/egraph/egraph.h"

namespace entangle::graph {

class Recipes {
 public:
  explicit Recipes(egraph::EGraph& target)
      : target_(target), oracle_(target.oracle().facts(), target.oracle().options()) {}

  // The value of a local lowering whose parameters are bound in `frame`; none when there is no recipe, or the
  // value is undefined: then it is to be evaluated. `refused`: nothing is to be evaluated, since the
  // condition is known not to hold.
  struct Answer {
    std::optional<term::Value> value;
    bool refused = false;
  };
  Answer value(const rules::Lowering& lowering, const term::Frame& frame);

  // How the last value that there was came about: the recipe, and the classes of its operands.
  struct Recipe;
  Recipe* last() const { return last_; }
  std::vector<egraph::TermId> last_operands() const;
  // The same for other operands, if they are as many classes of the same types.
  std::optional<term::Value> value(Recipe& recipe, std::span<const egraph::TermId> operands);

 private:
  // Everything that a recipe depends on: the frame with its operands replaced by their types and by the
  // number of the first operand of the same class.
  struct Key {
    const rules::Lowering* lowering = nullptr;
    std::vector<std::uint64_t> words;
    std::vector<tensor::Attr> attrs;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  // Terms are numbered: first the operands, then what is made.
  struct Step {
    egraph::EGraph::Prepared applied;
    std::vector<std::uint32_t> children;
    const tensor::TensorType* type = nullptr;  // of the result, as the e-graph has it
  };
  class Recorder;

  // Makes key_ and terms_ of the frame. False: it has too many operands.
  bool describe(const rules::Lowering& lowering, const term::Frame& frame);
  bool describe(const term::Value& value);
  bool describe(const sym::Int& value);
  void add_type(const tensor::TensorType& type);
  // The recipe for key_, and whether it has just been recorded.
  std::pair<Recipe*, bool> recipe(const rules::Lowering& lowering, const term::Frame& frame);
  term::Value numbered(const term::Value& value) const;
  std::uint32_t number(egraph::TermId term) const;
  Recipe record(const rules::Lowering& lowering, const term::Frame& frame);
  std::optional<term::Value> follow(Recipe& recipe);
  term::Value made(const term::Value& value) const;

  egraph::EGraph& target_;
  smt::Oracle oracle_;  // for recording: what is not decided then is asked again, and counts, by the body
  std::unordered_map<Key, Recipe, Hash> recipes_;
  Key key_;                               // of the present question
  std::vector<egraph::TermId> terms_;     // likewise, by number
  std::vector<egraph::TermId> children_;  // of the step that is followed
  Recipe* last_ = nullptr;
};

struct Recipes::Recipe {
  enum class Kind : std::uint8_t { none, refused, known };
  Kind kind = Kind::none;
  std::vector<const tensor::TensorType*> operands;  // as the e-graph has them
  std::vector<Step> steps;
  term::Value result;  // over numbers instead of terms
};

}  // namespace entangle::graph
