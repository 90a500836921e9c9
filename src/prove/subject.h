// What is looked at: a lemma, and what its operator variable stands for.
#pragma once

#include <optional>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/term/typing.h"

namespace entangle::prove {

struct Subject {
  const rules::Lemma& lemma;
  // kNoOp alone for a lemma without an operator variable.
  std::vector<rules::OpId> operators;
  // One clause of the operator only: an axis clause by its index (SIZE_MAX: that of `elementwise`), or of a
  // linear operator the tensor parameter. The operand in question is the first that the clause names.
  std::optional<std::size_t> clause = std::nullopt;
  // Whether the right side has to be defined wherever the left one is; else nothing is claimed there.
  bool total = false;
  // The statement is that the `value` of the left side's operator reads only what is there; the right side is
  // the left one.
  bool inside = false;
};

// Every operator with the trait that the lemma asks for, and every clause.
Subject subject_of(const rules::RuleSet& rules, const rules::Lemma& lemma);

// Whether the operand at that place is the one in question, of `count`.
bool in_question(const Subject& subject, const rules::Operator& op, std::size_t place, std::size_t count);
bool in_question(const Subject& subject, const term::Correspondence& one, std::size_t place);

}  // namespace entangle::prove
