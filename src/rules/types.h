// Types as the resolver sees them: those of the language, and tuples.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/rules/ast.h"

namespace entangle::rules {

// A type, or a tuple of `parts`, under `type.depth` levels of list. A tuple has base any.
struct Ty {
  Type type;
  std::vector<Ty> parts;

  bool is_tuple() const { return !parts.empty() && type.depth == 0; }
};

Type base_type(Base base, std::uint8_t depth = 0);
Ty ty(Base base, std::uint8_t depth = 0);
Ty list_of(Ty entry);
// The type of the entries of a list; any where it is no list.
Ty entry_of(const Ty& list);
Ty join(const Ty& a, const Ty& b);

// Levels of list; a permutation is a list of integers.
int list_depth(const Type& type);
bool is_any(const Type& type);
bool is_integer_like(const Type& type);  // no list
bool is_number(const Type& type);        // an integer, a scalar, or unknown; no list
// Whether a value of type `actual` may stand where `expected` is wanted.
bool fits(const Type& expected, const Type& actual);
// `a tensor`, `a list of integers`.
std::string describe(const Type& type);
// `1 operand`, `2 operands`.
std::string count(std::size_t n, const std::string& what);

}  // namespace entangle::rules
