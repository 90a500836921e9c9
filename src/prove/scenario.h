// Scenario: one case of a lemma: the choices of ranks, axes, list lengths, element types, and what is assumed
// of the sizes. Sizes, offsets and scalars are symbols.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/smt/oracle.h"
#include "entangle/sym/facts.h"
#include "prove/space.h"

namespace entangle::prove {

// More symbols are needed than were declared.
struct MoreSymbols {};

class Scenario {
 public:
  struct Symbol {
    sym::Int symbol;
    bool size;  // at least 1
  };
  using Relation = smt::Undecided::Relation;
  struct Assumption {
    Relation relation;
    sym::Int left, right;
  };

  std::vector<std::size_t> choices;

  void declare_more() { declared_ += 8; }
  // The symbol of this number; what it is known to be.
  sym::Int symbol(std::size_t number, bool size);
  // False when that contradicts what is known.
  bool assume(Relation relation, sym::Int left, sym::Int right);
  // The ways in which it does not hold.
  std::vector<Scenario> without(const smt::Undecided& question) const;
  // Whether it was answered with no.
  bool refused(const smt::Undecided& question) const;
  bool may_split() const;
  bool split(const Quotient& quotient);
  // Replaces a symbol; false when a size would be below 1.
  bool replace(sym::Int symbol, sym::Int value);

  // Whether all symbols that stand for themselves may have these values.
  bool admits(const sym::Valuation& values) const;
  // The case with these values; none where it does not admit them.
  std::optional<Scenario> at(const sym::Valuation& values) const;

  sym::Facts facts() const;
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const std::vector<Assumption>& assumptions() const { return assumptions_; }
  // Those that stand for themselves.
  std::vector<Symbol> open() const;
  sym::Int value(sym::Int symbol) const { return sym::substitute(symbol, solved_); }
  std::string to_string() const;

 private:
  // What must be zero where left == right.
  sym::Int difference(sym::Int left, sym::Int right) const;
  // A symbol and what it is where the difference is zero.
  std::optional<std::pair<sym::Int, sym::Int>> solution(sym::Int difference) const;

  std::vector<Symbol> symbols_;
  sym::Substitution solved_;
  std::vector<Assumption> assumptions_;
  std::vector<Assumption> refused_;  // divisibilities
  std::size_t quotients_ = 0;
  std::size_t declared_ = 4;
};

}  // namespace entangle::prove
