// What is known of symbols: bounds, divisibility, equalities, inequalities.
//
// Facts are collected with add_*; every other function is const. A symbol is at least 1 unless it is declared
// otherwise. Equalities that can be solved for a symbol become a substitution (the later name in content
// order is replaced by the earlier ones: r1.s0 == r0.s0 replaces r1.s0), divisibility of a symbol makes it a
// multiple of its quotient, bounds are propagated through linear inequalities. What fits neither is kept for
// the solver.
//
// The result does not depend on the order of the additions except in the choice among equally good
// substitutions, and is the same in every run. A value type; const use is safe for concurrent use. Adding
// costs time linear in the number of facts; normalise() is cheap for constants and for symbols about which
// nothing is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entangle/sym/int.h"

namespace entangle::sym {

// The integers from lower to upper; an absent end is unbounded.
struct Interval {
  std::optional<std::int64_t> lower;
  std::optional<std::int64_t> upper;

  bool operator==(const Interval&) const = default;
  bool contains(std::int64_t value) const {
    return (!lower || *lower <= value) && (!upper || value <= *upper);
  }
};

class Facts {
 public:
  // Says what a symbol's least value is (none: it may be any integer). Symbols not declared are at least 1.
  // Of two declarations of one symbol the later counts.
  void declare_symbol(std::string_view name, std::optional<std::int64_t> lower = 1);

  void add_equal(Int a, Int b);
  // a <= b.
  void add_le(Int a, Int b);
  // d divides n; d is not 0.
  void add_divides(Int d, Int n);

  // Whether no values of the symbols satisfy the facts, as far as equalities and bounds show it. (The solver
  // sees more: smt::Oracle::consistent.) From then on every answer is meaningless.
  bool contradictory() const { return contradictory_; }

  // The value in terms of what cannot be expressed by other symbols; two values with the same normal form are
  // equal under these facts. Readable: mentions no symbols but those of the facts and the value.
  Int normalise(Int value) const;
  // As normalise, but where s0 is known to be a multiple of 8 it is 8 times a symbol `(s0//8)`: the form in
  // which division and bounds are decided. visible() leads back to a normalised value.
  Int core(Int value) const;
  Int visible(Int core) const;

  // Constant bounds of a value; not the tightest possible.
  Interval bounds(Int value) const;
  // The same, of a value that core() returned.
  Interval core_bounds(Int core) const;

  // Facts that neither the substitution nor the bounds express, in core form: each holds. Bounds of symbols
  // that were substituted away are among the inequalities.
  const std::vector<Int>& zero() const { return zero_; }                               // == 0
  const std::vector<Int>& nonnegative() const { return nonnegative_; }                 // >= 0
  const std::vector<std::pair<Int, Int>>& divisibilities() const { return divides_; }  // first | second

  bool empty() const { return declared_.empty() && statements_.empty(); }
  // What is known, one fact a line, in a fixed order: `s0 >= 1`-defaults are left out.
  std::vector<std::string> to_strings() const;

 private:
  enum class Relation : std::uint8_t { equal, less_equal, divides };
  struct Statement {
    Relation relation;
    Int left;
    Int right;
    bool operator==(const Statement&) const = default;
  };
  struct Multiple {
    Int symbol;    // known to be a multiple of
    Int divisor;   // this,
    Int quotient;  // and this symbol stands for the quotient
    Int product;   // divisor * quotient, in core form
  };
  class Builder;

  void add(Statement statement);
  void rebuild();

  // As stated.
  std::vector<std::pair<Int, std::optional<std::int64_t>>> declared_;
  std::vector<Statement> statements_;

  // Derived from that.
  bool contradictory_ = false;
  Substitution solved_;
  std::vector<Multiple> multiples_;
  Substitution multiple_of_;  // the products of multiples_, by symbol
  std::unordered_map<Int, Interval> bounds_;
  std::vector<Int> zero_;
  std::vector<Int> nonnegative_;
  std::vector<std::pair<Int, Int>> divides_;
};

}  // namespace entangle::sym
