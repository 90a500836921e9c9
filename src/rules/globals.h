// What all rule files together declare, as needed to resolve an expression.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "rules/syntax.h"
#include "rules/types.h"

namespace entangle::rules {

// A definition whose body is the same in all uses with arguments that fit, but for these.
struct Template {
  std::uint32_t number = 0;  // in the rule set's list of bodies
  Ty type;
  std::size_t expansions = 0;  // uses of definitions in it, those in their bodies included
  std::vector<OpId> applied;   // operators, in the bodies it uses, too
};

struct Definition {
  const syntax::DefText* text = nullptr;
  std::vector<Parameter> parameters;  // those before `;`, then the others
  std::size_t positional = 0;
  bool broken = false;               // its own body has errors: uses are not looked at
  const Template* shared = nullptr;  // nothing: the body is resolved anew for each use
};

struct Globals {
  // Operators are those of a rule set that is being made, or of one that is finished.
  const std::vector<Operator>* declared = nullptr;
  const RuleSet* rules = nullptr;
  std::unordered_map<std::string_view, OpId> operator_ids;
  std::unordered_map<std::string_view, Definition> definitions;
  const std::vector<Predicate>* predicates = nullptr;
  std::unordered_map<std::string_view, std::size_t> predicate_ids;
  std::unordered_map<std::string_view, std::size_t> function_arity;
  std::deque<Template> templates;  // by number

  const Operator& op(OpId id) const { return declared != nullptr ? (*declared)[id] : rules->op(id); }
  // All names that may be called, for suggestions.
  std::vector<std::string> callable() const;
};

}  // namespace entangle::rules
