// Lowerings, collectives, sends and receives. Each is resolved by itself, so that several can be at the same
// time.
#pragma once

#include <vector>

#include "entangle/rules/ruleset.h"
#include "rules/signatures.h"

namespace entangle::rules {

class LoweringResolver : private Signatures {
 public:
  // What is said about the lowerings goes to `diagnostics`.
  LoweringResolver(const Globals& globals, std::vector<support::Diagnostic>& diagnostics)
      : Signatures(globals, diagnostics) {}

  Lowering resolve(const syntax::LoweringText& text, support::Span span);
};

}  // namespace entangle::rules
