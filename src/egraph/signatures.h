// Signatures: an operator with attributes and operands of some types, and what follows from these alone. An
// e-graph has each type once, so that the number of a type stands for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/support/hash.h"
#include "entangle/tensor/attr.h"

namespace entangle::egraph {

struct Signature {
  static constexpr std::uint32_t kUntyped = ~std::uint32_t{0};

  rules::OpId op = rules::kNoOp;
  tensor::Attr attrs;
  std::uint32_t first = 0, count = 0;  // the operands' types
  std::uint64_t hash = 0;

  std::uint32_t type = kUntyped;  // of an application, once it is known
  // Of the `normalise` lemmas for the operator that decide by types (a bit for each): those that do not
  // match, and those that match and say that the application is one of its operands.
  std::uint64_t refused = 0, taken = 0;
};

class Signatures {
 public:
  // The number of the entry, which is made if there was none.
  std::uint32_t find(rules::OpId op, const tensor::Attr& attrs, std::span<const std::uint32_t> types) {
    std::uint64_t hash = support::hash_combine(op, attrs.hash());
    for (const std::uint32_t type : types) {
      hash = support::hash_combine(hash, type);
    }
    if (2 * (entries_.size() + 1) > places_.size()) {
      grow();
    }
    const std::size_t mask = places_.size() - 1;
    std::size_t at = hash & mask;
    for (; places_[at] != kEmpty; at = (at + 1) & mask) {
      const Signature& known = entries_[places_[at]];
      if (known.hash == hash && known.op == op && known.attrs == attrs && known.count == types.size() &&
          std::equal(types.begin(), types.end(), types_.begin() + known.first)) {
        return places_[at];
      }
    }
    places_[at] = static_cast<std::uint32_t>(entries_.size());
    const Signature fresh{op, attrs, static_cast<std::uint32_t>(types_.size()),
                          static_cast<std::uint32_t>(types.size()), hash};
    types_.insert(types_.end(), types.begin(), types.end());
    entries_.push_back(fresh);
    return places_[at];
  }
  // The numbers of the operands' types. Valid until the next one is made, like what follows.
  std::span<const std::uint32_t> types(std::uint32_t number) const {
    const Signature& of = entries_[number];
    return std::span(types_).subspan(of.first, of.count);
  }
  Signature& operator[](std::uint32_t number) { return entries_[number]; }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  static constexpr std::size_t kLeast = 64;

  void grow() {
    places_.assign(std::max(kLeast, 2 * places_.size()), kEmpty);
    const std::size_t mask = places_.size() - 1;
    for (std::uint32_t entry = 0; entry < entries_.size(); ++entry) {
      std::size_t at = entries_[entry].hash & mask;
      while (places_[at] != kEmpty) {
        at = (at + 1) & mask;
      }
      places_[at] = entry;
    }
  }

  std::vector<Signature> entries_;
  std::vector<std::uint32_t> types_;   // of all entries
  std::vector<std::uint32_t> places_;  // a power of two, at most half full
};

}  // namespace entangle::egraph
