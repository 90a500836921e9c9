#include "prove/right_side.h"

namespace entangle::prove {

using term::kNoTerm;
using term::TermId;

std::vector<TermId> right_terms(term::Evaluator& evaluator, const rules::Lemma& lemma, term::Frame& frame,
                                std::size_t lefts, const tensor::TensorType& type) {
  if (!lemma.left.type.is_list()) {
    const std::optional<TermId> id = evaluator.evaluate_term(lemma.right, frame, &type);
    return id && *id != kNoTerm ? std::vector<TermId>{*id} : std::vector<TermId>();
  }
  const std::optional<term::Value> value = evaluator.evaluate(lemma.right, frame);
  const std::vector<term::Value>* list = value ? value->as_list() : nullptr;
  if (list == nullptr || list->size() != lefts) return {};
  std::vector<TermId> ids;
  for (const term::Value& entry : *list) {
    const term::Term* one = entry.as_term();
    if (one == nullptr || one->id == kNoTerm) return {};
    ids.push_back(one->id);
  }
  return ids;
}

}  // namespace entangle::prove
