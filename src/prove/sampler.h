// Sampler: finds concrete instances of a lemma: sizes, axes, lists and operators for which its left side has
// a type and its condition holds.
//
// The patterns are built from the inside out, choosing variables at random (with backtracking) where nothing
// determines them. How large sizes, ranks of single variables and lists become can be limited.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "entangle/eval/terms.h"
#include "entangle/term/evaluator.h"
#include "prove/no_patterns.h"
#include "prove/subject.h"
#include "prove/vocabulary.h"

namespace entangle::prove {

using term::TermId;

class Sampler {
 public:
  // Its lemma and the typing outlive the sampler; the lemma belongs to the rules of the typing.
  Sampler(const Subject& subject, term::Typing& typing, std::uint64_t seed);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // The operators the lemma's operator variable can stand for; kNoOp for a lemma without one.
  const std::vector<rules::OpId>& operators() const { return subject_.operators; }
  // A new instance with that operator; false when the search gave up. Replaces the one before.
  bool next(rules::OpId op);

  struct Limits {
    std::size_t rank = 3;
    std::size_t size = 3;
    std::size_t length = 3;  // of lists; rarely 4 where it is 3
  };
  void limit(const Limits& limits) { limits_ = limits; }

  // How often a left side was found, and for which conjunct of the condition that was all (rules order).
  std::size_t reached() const { return reached_; }
  const std::vector<std::size_t>& failed() const { return failed_; }

  // --- the instance
  eval::Terms& terms() { return *terms_; }
  term::Frame& frame() { return frame_; }
  term::Evaluator& evaluator() { return *evaluator_; }
  // The left side: several for a lemma about lists.
  const std::vector<TermId>& left() const { return left_; }
  // Equations that are given.
  const std::vector<std::pair<TermId, TermId>>& equations() const { return equations_; }
  // The frame before conditions bound further variables.
  const std::vector<std::optional<term::Value>>& matched() const { return matched_; }
  const term::Focus& focus() const { return focus_; }
  rules::OpId op() const { return op_; }
  // The values of the lemma's variables.
  std::string describe() const;

 private:
  using Next = std::function<bool()>;
  using NextTerm = std::function<bool(TermId)>;
  struct Want {
    std::optional<tensor::Shape> shape;
    std::optional<tensor::DType> dtype;
  };

  bool given(std::size_t place);
  void name_leaves();
  bool conditions();
  bool term(const rules::Expr& pattern, const Want& want, const NextTerm& next);
  bool leaf(rules::Slot slot, const Want& want, const NextTerm& next);
  bool constant(const rules::Expr& pattern, const Want& want, const NextTerm& next);
  bool application(const rules::Expr& pattern, const Want& want, const NextTerm& next);
  bool operands(const rules::Expr& pattern, std::size_t step, std::vector<std::vector<TermId>>& parts,
                const Want& want, const Next& next);
  bool run(const rules::Expr& source, const Want& want, std::vector<TermId>& into, const Next& next);
  bool list_of_leaves(rules::Slot slot, bool nonempty, const Want& want, std::vector<TermId>& into,
                      const Next& next);
  bool comprehension(const rules::Expr& pattern, const Want& want, std::vector<TermId>& into,
                     const Next& next);
  bool comprehension_step(const rules::Expr& pattern, const Want& want, std::size_t left,
                          std::vector<std::vector<term::Value>>& collected, std::vector<TermId>& into,
                          const Next& next);
  bool attributes(const rules::Operator& op, const rules::Expr* pattern, std::size_t step,
                  const std::vector<TermId>& children, std::vector<std::optional<tensor::Attr>>& values,
                  const Next& next);
  bool generic(const rules::Expr& pattern, const NextTerm& next);
  bool focused(TermId operand, const NextTerm& next);
  bool others(std::vector<TermId>& children, std::size_t step, std::size_t focus, const Next& next);
  bool with_axis(const std::vector<TermId>& children, const tensor::Attr& attrs, std::size_t focus,
                 const NextTerm& next);

  std::vector<tensor::TensorType> candidate_types(const Want& want, const std::vector<TermId>& near);
  std::vector<tensor::Attr> candidate_attrs(const rules::Type& type, std::size_t depth,
                                            const std::vector<TermId>& children);
  bool fits(TermId id, const Want& want) const;
  std::optional<rules::Slot> unbound(const rules::Expr& expr) const;
  bool spend();
  std::size_t below(std::size_t n) { return random_() % n; }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t k = items.size(); k > 1; --k) std::swap(items[k - 1], items[below(k)]);
  }
  bool with_leaf(const tensor::TensorType& type, const NextTerm& next);

  const rules::RuleSet& rules_;
  const Subject subject_;
  const rules::Lemma& lemma_;
  term::Typing& typing_;
  std::mt19937_64 random_;
  std::vector<bool> uniform_;   // slots whose tensor must be one scalar
  std::vector<bool> interval_;  // slots whose tensor has known bounds
  std::unique_ptr<eval::Terms> terms_;
  NoPatterns patterns_;
  std::unique_ptr<term::Evaluator> evaluator_;
  term::Frame frame_;
  term::Focus focus_;
  rules::OpId op_ = rules::kNoOp;
  std::map<rules::OpId, Vocabulary> vocabularies_;  // by what the operator variable stands for
  const Vocabulary* vocabulary_ = nullptr;
  Limits limits_;
  std::size_t reached_ = 0;
  std::vector<std::size_t> failed_;
  std::vector<TermId> left_;
  std::vector<std::pair<TermId, TermId>> equations_;
  std::vector<std::optional<term::Value>> matched_;
  std::size_t budget_ = 0;
  bool aborted_ = false;
};

}  // namespace entangle::prove
