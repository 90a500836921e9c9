// Vocabulary: what a lemma, and the clauses of the operators it speaks of, mention by name.
//
// Names and values of type `any` are only ever compared with each other, and of element types it is asked,
// too, of what kind they are. So what holds for all that are mentioned, and for some that are not, holds for
// all.
#pragma once

#include <cstddef>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "prove/subject.h"

namespace entangle::prove {

class Vocabulary {
 public:
  // `op`: what the lemma's operator variable stands for, or kNoOp.
  Vocabulary(const rules::RuleSet& rules, const Subject& subject, rules::OpId op);

  // The names that are mentioned, and `fresh` others that differ from them and from each other.
  std::vector<tensor::Attr> names(std::size_t fresh) const;
  // Element types, those of every kind that is told apart: what is mentioned, and one more, at least.
  const std::vector<tensor::DType>& dtypes() const { return dtypes_; }
  // Values of type `any`: none, everything that is mentioned, and `fresh` names that are not.
  std::vector<tensor::Attr> values(std::size_t fresh) const;
  // Whether elements, sizes or types may depend on the element types of operands or of attributes.
  bool dtypes_matter() const { return dtypes_matter_; }
  // Whether anything is asked of values of type `any`.
  bool values_matter() const { return values_matter_; }

 private:
  void add(const rules::Expr& expr);
  void add(const rules::Operator& op);
  void add(const tensor::Attr& attr);

  const rules::RuleSet& rules_;
  std::vector<rules::OpId> operators_;
  std::vector<tensor::Attr> literals_;  // every one once, in the order in which they are met
  std::vector<tensor::DType> dtypes_;
  bool dtypes_matter_ = false;
  bool narrow_ = false;  // whether wide floats are told from others
  bool values_matter_ = false;
};

}  // namespace entangle::prove
