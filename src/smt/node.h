// What a Term points to.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "entangle/smt/term.h"

namespace entangle::smt {

struct Term::Node {
  Node() = default;
  // Counts belong to a place, not to a content.
  Node(Node&& other) noexcept
      : kind(other.kind),
        sort(other.sort),
        value(std::move(other.value)),
        name(std::move(other.name)),
        arguments(std::move(other.arguments)),
        function(std::move(other.function)),
        hash(other.hash) {}

  Kind kind = Kind::constant;
  Sort sort = Sort::boolean;
  mpq_class value;  // of constants; booleans are 0 and 1
  std::string name;
  std::vector<Term> arguments;
  std::optional<Function> function;
  std::uint64_t hash = 0;
  mutable std::atomic<std::uint64_t> references = 0;
};

// The only maker of nodes: equal terms are one node while it lives.
struct TermFactory {
  static Term make(Term::Node content);
  static Term make(Kind kind, Sort sort, std::vector<Term> arguments);
  static Term constant(const mpq_class& value, Sort sort);
  // Leaves the handle empty, without giving up what it counted.
  static const Term::Node* take(Term* term) { return std::exchange(term->node_, nullptr); }
};

// A name as SMT-LIB writes it, a sort.
std::string quoted(const std::string& name);
std::string_view sort_name(Sort sort);
// As to_string, with these names for these terms; without `use_name` not for the term itself.
std::string print(const Term& term, const std::unordered_map<Term, std::string>& names, bool use_name);

}  // namespace entangle::smt
