// What can be read off the expressions of lemmas and operators without evaluating them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::prove {

// Whether a pattern is more than a variable: an application, or a list of such.
bool structured(const rules::Expr& pattern);
// Whether an expression asks for element types, or makes tensors of one that it names.
bool asks_dtype(const rules::RuleSet& rules, const rules::Expr& expr);
// Whether a condition fails with any question about sizes that is asked for it and answered with no.
bool conjunctive(const rules::Expr& condition);
// The element type that the operator's requirements ask of a tensor parameter, if they name one; unless it is
// to be the only one, also one of the kind that they ask for.
std::optional<tensor::DType> required_dtype(const rules::Operator& op, std::size_t parameter, bool only);
// The operators an operator variable can stand for.
std::vector<rules::OpId> operators_with(const rules::RuleSet& rules, rules::Trait trait);
// What distinguishes an operator from others for a proof: two operators of one signature differ in nothing
// but their names.
std::string signature(const rules::RuleSet& rules, const rules::Operator& op);
// Marks the variables of which the expression asks for a known scalar or known bounds.
void mark_known(const rules::Expr& expr, std::vector<bool>& uniform, std::vector<bool>& interval);

}  // namespace entangle::prove
