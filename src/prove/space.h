// Space: what is known of sizes and of positions while two elements are compared.
//
// Sizes are symbols of the oracle. Positions (of the result's index, and of sums) are symbols with a range of
// their own; a question about them is decided by their extreme values. What is not decided is asked for by
// throwing one of the structs below: whoever owns the position, or the sizes, looks at both cases.
#pragma once

#include <optional>
#include <vector>

#include "entangle/smt/oracle.h"
#include "entangle/sym/int.h"

namespace entangle::prove {

// Positions below `at` and those from it on are to be looked at apart.
struct Breakpoint {
  sym::Int position;
  sym::Int at;
};
// The position is a row times `inner` and a column.
struct SplitPosition {
  sym::Int position;
  sym::Int inner;
};
// A question about sizes only. `required`: nothing is to be shown where the answer is no.
struct Fork {
  smt::Undecided question;
  bool required = false;
};
// The symbol is to be written as `divisor` times a quotient and a remainder.
struct Quotient {
  sym::Int symbol;
  sym::Int divisor;
};

// The first character of the symbols that name elements of tensors.
inline constexpr char kElement = '@';

class Space {
 public:
  explicit Space(smt::Oracle& oracle) : oracle_(oracle) {}

  struct Position {
    sym::Int symbol;
    sym::Int low;
    sym::Int high;  // inclusive
  };
  void push(sym::Int symbol, sym::Int size) { positions_.push_back({symbol, 0, size - 1}); }
  void push(const Position& position) { positions_.push_back(position); }
  void pop() { positions_.pop_back(); }
  const std::vector<Position>& positions() const { return positions_; }
  bool is_position(sym::Int symbol) const;

  // Whether a <= b, a == b: an answer, or one of the above is thrown.
  bool less_equal(sym::Int a, sym::Int b);
  bool equal(sym::Int a, sym::Int b);
  // Whether it is at least 0; none where that is not known.
  std::optional<bool> nonnegative(sym::Int value);
  // Quotients of what is below its divisor, maxima of what is in order, taken away.
  sym::Int simplified(sym::Int value);
  smt::Oracle& oracle() { return oracle_; }

 private:
  bool of_sizes(sym::Int value) const;
  std::optional<sym::Int> extreme(sym::Int value, bool low);
  sym::Int quotient(sym::Int a, sym::Int b);
  [[noreturn]] void separate(sym::Int difference, sym::Int a, sym::Int b);

  smt::Oracle& oracle_;
  std::vector<Position> positions_;
};

}  // namespace entangle::prove
