// Expressions of manifests: operators over tensors of the two programs.
#include "rules/parser.h"
#include "rules/resolver.h"

namespace entangle::rules {

support::Result<Expr> parse_leaf_expression(const RuleSet& rules, support::FileId file,
                                            const std::string& text, support::Span at) {
  if (at.line == 0) at = {file, 0, 0, 0};
  std::vector<support::Diagnostic> diagnostics;
  std::optional<syntax::Node> node = parse_expression(text, at, diagnostics);
  if (!node) return diagnostics.front();
  Globals globals = Resolver::globals_of(rules);
  std::vector<Variable> slots;
  Expressions expressions(globals, diagnostics, slots);
  expressions.set_place(Place::leaf);
  Typed result = expressions.resolve(*node, nullptr);
  if (!diagnostics.empty()) return diagnostics.front();
  return std::move(result.expr);
}

}  // namespace entangle::rules
