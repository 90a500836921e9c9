// The ids of all diagnostics of this module. Each has a golden test in tests/rules/golden/.
#pragma once

#include <array>
#include <string_view>

namespace entangle::rules {

// A help that is given for several words.
inline constexpr std::string_view kNoPower = "there is no power; write a product or an operator";

}  // namespace entangle::rules

namespace entangle::rules::id {

#define ENTANGLE_RULES_DIAGNOSTICS(X)             \
  X(syntax, "rules/syntax")                       \
  X(include, "rules/include")                     \
  X(duplicate, "rules/duplicate")                 \
  X(unknown_operator, "rules/unknown-operator")   \
  X(unknown_variable, "rules/unknown-variable")   \
  X(unknown_attribute, "rules/unknown-attribute") \
  X(unknown_type, "rules/unknown-type")           \
  X(unknown_word, "rules/unknown-word")           \
  X(unknown_parameter, "rules/unknown-parameter") \
  X(unknown_member, "rules/unknown-member")       \
  X(arity, "rules/arity")                         \
  X(attribute, "rules/attribute")                 \
  X(type, "rules/type")                           \
  X(number_as_tensor, "rules/number-as-tensor")   \
  X(parameter, "rules/parameter")                 \
  X(clause, "rules/clause")                       \
  X(recursion, "rules/recursion")                 \
  X(pattern, "rules/pattern")                     \
  X(left_side, "rules/left-side")                 \
  X(not_here, "rules/not-here")                   \
  X(generic, "rules/generic")                     \
  X(size_dependent, "rules/size-dependent")       \
  X(missing_because, "rules/missing-because")     \
  X(unbound_variable, "rules/unbound-variable")   \
  X(unused_variable, "rules/unused-variable")     \
  X(length, "rules/length")                       \
  X(endless, "rules/endless")                     \
  X(too_large, "rules/too-large")

#define ENTANGLE_RULES_DECLARE(name, text) inline constexpr std::string_view name = text;
ENTANGLE_RULES_DIAGNOSTICS(ENTANGLE_RULES_DECLARE)
#undef ENTANGLE_RULES_DECLARE

#define ENTANGLE_RULES_LIST(name, text) std::string_view(text),
inline constexpr auto kAll =
    std::to_array<std::string_view>({ENTANGLE_RULES_DIAGNOSTICS(ENTANGLE_RULES_LIST)});
#undef ENTANGLE_RULES_LIST

}  // namespace entangle::rules::id
