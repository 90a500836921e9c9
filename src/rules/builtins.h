// The built-in functions: how they are called and where.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "entangle/rules/ast.h"

namespace entangle::rules {

// Where an expression stands; what it may contain depends on it.
enum class Place : std::uint8_t {
  pattern,  // left sides, given, has
  right,    // right sides
  when,
  trigger,  // also bodies of predicates
  clause,   // let, require, shape, dtype of operators
  axis,     // axis clauses: never about sizes
  value,
  law,
  lowering,
  collective,
  definition,  // the body of a def, by itself
  leaf,        // manifests
};

struct BuiltinInfo {
  std::string_view name;
  Builtin builtin;
  // Arguments, separated by spaces: t tensor, i integer, s scalar, b truth value, d dtype, a anything, l a
  // list, e an entry of the first list, * after one: a list; the last may be repeated with `...`. Arguments
  // after `;` are usually written behind a semicolon.
  std::string_view parameters;
  // The result in the same letters; l and e are the type of the first list and of its entries; ? is special.
  std::string_view result;
  std::uint16_t places;  // bits by Place
};

// nullptr when there is none of this name.
const BuiltinInfo* find_builtin(std::string_view name);
const BuiltinInfo& info(Builtin builtin);
const std::vector<BuiltinInfo>& all_builtins();
inline bool allowed(const BuiltinInfo& info, Place place) {
  return (info.places >> static_cast<unsigned>(place) & 1U) != 0;
}
// `a condition`, `a trigger`.
std::string_view describe(Place place);

}  // namespace entangle::rules
