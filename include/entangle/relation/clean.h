// Clean expressions: what relations are made of.
//
// A Clean is a tree over tensors of the distributed program; its operators are those that the rule set marks
// `clean` (checked when an expression is read). It is plain data, independent of any e-graph.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/support/diagnostic.h"
#include "entangle/tensor/attr.h"

namespace entangle::relation {

// A tensor of the distributed program.
struct Leaf {
  std::size_t rank = 0;
  std::string name;

  auto operator<=>(const Leaf&) const = default;
};

// `r0.w`; the name quoted where it holds anything but letters, digits, `_` and `.`.
std::string to_string(const Leaf& leaf);
// Reads that back; nothing for any other text.
std::optional<Leaf> parse_leaf(std::string_view text);

struct Clean {
  // A leaf has op kNoOp.
  rules::OpId op = rules::kNoOp;
  Leaf leaf;
  tensor::Attr attrs;  // a list with one entry per attribute parameter of op
  std::vector<Clean> children;
  support::Span span;  // where it is written in the manifest

  bool is_leaf() const { return op == rules::kNoOp; }
  static Clean of(Leaf leaf, support::Span span = {});

  // The same expression; spans do not count.
  friend bool operator==(const Clean& a, const Clean& b);
};

// In the spelling of the rule language: `concat(r0.w, r1.w; 0)`.
std::string to_string(const Clean& clean, const rules::RuleSet& rules);
// The leaves from left to right, with repetitions.
std::vector<const Clean*> leaves(const Clean& clean);

}  // namespace entangle::relation
