// Builder: builds the left side of a lemma with symbolic sizes, asking a Chooser for everything else: ranks,
// axes, permutations, list lengths, element types, the operator's operands, the axis of a generic lemma.
//
// Running it with every sequence of answers gives every form of the lemma up to the limits below.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "entangle/eval/terms.h"
#include "entangle/term/evaluator.h"
#include "prove/expressions.h"
#include "prove/scenario.h"
#include "prove/subject.h"
#include "prove/vocabulary.h"

namespace entangle::prove {

using term::TermId;

struct Limits {
  std::size_t rank = 4;               // of every tensor on the left side
  std::size_t length = 3;             // of every list
  std::size_t entries = 6;            // of all lists together
  std::size_t runs = 120'000;         // constructions
  std::uint64_t questions = 200'000;  // that reach the solver
  bool evaluate = false;              // whether an instance of a form that is proved is evaluated
};

// The form has no instance, or none that the lemma applies to.
struct Infeasible {};

// Answers questions by the choices made so far, and with 0 after those.
class Chooser {
 public:
  struct Choice {
    std::size_t taken;
    std::size_t options;
    bool parametric;  // another option matters only if this one has no instance
  };
  explicit Chooser(const std::vector<std::size_t>& given) : given_(given) {}
  std::size_t operator()(std::size_t options, bool parametric = false);
  const std::vector<Choice>& made() const { return made_; }

 private:
  const std::vector<std::size_t>& given_;
  std::vector<Choice> made_;
};

class Builder {
 public:
  // The subject and the vocabulary outlive the builder; `op` is one of the subject's operators.
  Builder(const Subject& subject, const Vocabulary& vocabulary, rules::OpId op, const Limits& limits,
          Scenario& scenario, Chooser& chooser, term::Typing& typing, eval::Terms& terms,
          term::Evaluator& evaluator);

  // Builds the `given` patterns and the left side. Throws Infeasible or Fork.
  void run();

  term::Frame& frame() { return frame_; }
  // The left side: several for a lemma about lists.
  const std::vector<TermId>& left() const { return left_; }
  // Equations that are given.
  const std::vector<std::pair<TermId, TermId>>& equations() const { return equations_; }
  std::string describe() const;
  // A symbol of the next number.
  sym::Int symbol(bool size) { return scenario_.symbol(size ? sizes_++ : others_++, size); }
  std::vector<sym::Int> tiling(TermId id, std::size_t axis);
  std::size_t longest() const { return longest_; }
  std::size_t highest() const { return highest_; }

 private:
  struct Want {
    std::optional<tensor::Shape> shape;
    std::optional<std::size_t> rank;
    std::optional<tensor::DType> dtype;
    bool alike = false;  // all of a list have one shape
  };
  TermId term(const rules::Expr& pattern, const Want& want);
  TermId leaf(rules::Slot slot, const Want& want);
  tensor::TensorType type(const Want& want);
  sym::Scalar scalar(tensor::DType dtype);
  TermId full(const sym::Scalar& value, const tensor::TensorType& type);
  TermId application(const rules::Expr& pattern, const Want& want);
  std::vector<TermId> run_of(const rules::Expr& source, const Want& want);
  std::vector<TermId> comprehension(const rules::Expr& pattern, const Want& want);
  TermId generic(const rules::Expr& pattern, const Want& want);
  void attributes(const rules::Operator& op, const rules::Expr* pattern, const std::vector<TermId>& children,
                  std::vector<std::optional<tensor::Attr>>& values);
  tensor::Attr attribute(const rules::Type& type, std::size_t depth, const std::vector<TermId>& children,
                         std::optional<std::size_t> length);
  void need(smt::Truth truth);
  TermId make(rules::OpId op, const tensor::Attr& attrs, const std::vector<TermId>& children);
  bool bound(rules::Slot slot) const { return slot < frame_.slots.size() && frame_.slots[slot].has_value(); }
  std::optional<rules::Slot> unbound(const rules::Expr& expr) const;
  std::size_t choose_length(bool nonempty);
  tensor::Attr among(const std::vector<tensor::Attr>& values);
  tensor::DType dtype_beside(tensor::DType first);
  std::optional<tensor::DType> required(const rules::Operator& op, std::size_t parameter) const;

  const rules::RuleSet& rules_;
  const Subject& subject_;
  const Vocabulary& vocabulary_;
  const rules::Lemma& lemma_;
  const rules::OpId op_;
  const Limits limits_;
  Scenario& scenario_;
  Chooser& chooser_;
  term::Typing& typing_;
  eval::Terms& terms_;
  term::Evaluator& evaluator_;
  std::vector<bool> uniform_, interval_;
  std::size_t sizes_ = 0;
  std::size_t others_ = 0;
  std::size_t fresh_names_ = 0;  // that stand for one that nothing mentions
  term::Frame frame_;
  term::Focus focus_;
  std::vector<TermId> left_;
  std::vector<std::pair<TermId, TermId>> equations_;
  std::size_t longest_ = 0;
  std::size_t entries_ = 0;
  std::size_t highest_ = 0;
};

// Asks again by throwing when an undecided question is why something is not known.
void fork_if_undecided(smt::Oracle& oracle, bool required = false);

}  // namespace entangle::prove
