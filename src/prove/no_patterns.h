// A store without patterns: nothing stands beside the terms of an instance.
#pragma once

#include "entangle/term/evaluator.h"

namespace entangle::prove {

class NoPatterns final : public term::PatternHost {
 public:
  bool has_match(term::TermId, const rules::Expr&, const rules::Expr*, const term::Frame&) override {
    return false;
  }
  term::TermId lookup(const rules::Expr&, term::Frame&) override { return term::kNoTerm; }
};

}  // namespace entangle::prove
