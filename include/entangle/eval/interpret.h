// The reference interpreter: exact elements of terms of constant sizes, from the operators' `value` clauses.
//
// Elements are rationals; booleans are 1 and 0. Scalar functions are fixed pseudo-random functions with small
// integer values, except those that laws are stated of: exp(x) is 2^x and log its inverse (defined where the
// result is rational), pow(c, x) is x^c for integers c (the reciprocal of 0 is 0). Operators that convert
// leave numbers as they are, but cut reals to integers. These satisfy the laws of
// the library exactly. An operator without `value` is a pseudo-random function of what its `maps` clauses say
// an element depends on. Minus infinity is -10^40. Deterministic.
//
// Where values that are made up decide something, the same can be evaluated with what the functions of the
// library are in floating point.
#pragma once

#include <gmpxx.h>

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "entangle/eval/array.h"
#include "entangle/eval/terms.h"

namespace entangle::eval {

using Array = RowMajor<mpq_class>;

// Calls `visit` for every index inside the shape, in row-major order.
void for_each_index(const std::vector<std::int64_t>& shape,
                    const std::function<void(const std::vector<std::int64_t>&)>& visit);

// `[[1, 2], [3, 1/2]]`; what is no simple fraction as a decimal number.
std::string to_string(const mpq_class& number);
std::string to_string(const Array& array);

class Interpreter {
 public:
  // `made_up`: as said above; else functions that eval/functions.h knows are those.
  enum class Functions : std::uint8_t { made_up, floating };
  explicit Interpreter(const Terms& terms, Functions functions = Functions::made_up)
      : terms_(terms), functions_(functions) {}

  // What a leaf holds.
  void set(TermId leaf, Array value) { values_.insert_or_assign(leaf, std::move(value)); }
  // The elements of a term; null where something is undefined, and `why` says what. Every leaf below it must
  // be set.
  const Array* value(TermId id);
  const std::string& why() const { return why_; }
  bool exact() const { return functions_ == Functions::made_up; }
  // A scalar function of which values were made up.
  struct Made {
    std::string function;
    bool known;  // in floating point
    auto operator<=>(const Made&) const = default;
  };
  // Those so far.
  const std::set<Made>& made_up() const { return made_up_; }
  // Whether that is because a `value` reads what is not there; else the result is no rational number.
  bool meaningless() const { return meaningless_; }

 private:
  Array compute(TermId id);

  const Terms& terms_;
  const Functions functions_;
  std::set<Made> made_up_;
  std::unordered_map<TermId, Array> values_;
  std::string why_;
  bool meaningless_ = false;
};

}  // namespace entangle::eval
