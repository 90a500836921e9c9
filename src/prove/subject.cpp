#include "prove/subject.h"

#include "prove/expressions.h"

namespace entangle::prove {

Subject subject_of(const rules::RuleSet& rules, const rules::Lemma& lemma) {
  return {lemma, lemma.generic ? operators_with(rules, lemma.generic->trait) : std::vector{rules::kNoOp}};
}

bool in_question(const Subject& subject, const rules::Operator& op, std::size_t place, std::size_t count) {
  if (!subject.clause || subject.lemma.generic->trait != rules::Trait::linear) return true;
  // At most one parameter is a list; the operands after it are counted from the end.
  std::size_t parameter = 0;
  for (std::size_t at = 0; parameter < op.tensors.size(); ++parameter) {
    at += op.tensors[parameter].type.is_list() ? count + 1 - op.tensors.size() : 1;
    if (place < at) break;
  }
  return parameter == *subject.clause;
}

bool in_question(const Subject& subject, const term::Correspondence& one, std::size_t place) {
  if (one.operands[place] == term::kNoAxis) return false;
  if (!subject.clause) return true;
  for (std::size_t j = 0; j < place; ++j) {
    if (one.operands[j] != term::kNoAxis) return false;
  }
  return one.clause == *subject.clause;
}

}  // namespace entangle::prove
