// The tensors that the right side of a lemma stands for: several where the left side is a list of tensors.
#pragma once

#include <optional>
#include <vector>

#include "entangle/term/evaluator.h"

namespace entangle::prove {

// One for each tensor of the left side, whose first has this type; empty where the right side is undefined.
std::vector<term::TermId> right_terms(term::Evaluator& evaluator, const rules::Lemma& lemma,
                                      term::Frame& frame, std::size_t lefts, const tensor::TensorType& type);

}  // namespace entangle::prove
