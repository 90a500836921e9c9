// What domains of concrete numbers have in common: sizes are constants, truths are known (see clause.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/eval/array.h"
#include "entangle/eval/clause.h"
#include "entangle/support/text.h"

namespace entangle::eval {

template <class N>
struct Concrete : IntegerIndex {
  using Number = N;
  using Truth = bool;

  static Number choose(bool condition, const Number& a, const Number& b) { return condition ? a : b; }
  // An integer that is known: what overflowed is none.
  static std::int64_t whole(sym::Int value) {
    const std::optional<std::int64_t> constant = value.constant();
    if (!constant) throw Undefined{value.is_poison() ? "a number that is too large" : "a symbolic size"};
    return *constant;
  }
  static sym::Int floordiv(sym::Int a, sym::Int b) {
    if (b == sym::Int(0)) throw Undefined{"an integer division by 0", true};
    return sym::floordiv(a, b);
  }
  static sym::Int mod(sym::Int a, sym::Int b) { return a - b * floordiv(a, b); }
  // Nothing is said of numbers without an order (NaN) but that they differ.
  template <class T>
  static bool compare(rules::Operation operation, const T& a, const T& b) {
    switch (operation) {
      case rules::Operation::equal:
        return a == b;
      case rules::Operation::less:
        return a < b;
      case rules::Operation::less_equal:
        return a < b || a == b;
      case rules::Operation::greater:
        return b < a;
      default:
        return b < a || a == b;
    }
  }
  static bool compare(rules::Operation operation, sym::Int a, sym::Int b) {
    return compare(operation, whole(a), whole(b));
  }
  static bool divides(sym::Int k, sym::Int n) {
    return whole(k) == 0 ? whole(n) == 0 : whole(sym::mod(n, k)) == 0;
  }
  static sym::Int quotient(sym::Int a, sym::Int b) {
    const std::optional<sym::Int> result = sym::exact_div(a, b);
    if (!result) throw Undefined{"an inexact division", true};
    return *result;
  }
  static bool both(bool a, bool b) { return a && b; }
  static bool opposite(bool a) { return !a; }
  static bool truth(bool a) { return a; }
  static std::optional<bool> known(bool a) { return a; }

  // The element at an index that must lie inside; `name` says what the array is of.
  template <class Name>
  static Number element_of(const RowMajor<Number>& from, const std::vector<sym::Int>& index,
                           const Name& name) {
    std::vector<std::int64_t> at;
    for (const sym::Int entry : index) at.push_back(whole(entry));
    bool inside = at.size() == from.shape.size();
    for (std::size_t k = 0; inside && k < at.size(); ++k) inside = 0 <= at[k] && at[k] < from.shape[k];
    if (!inside) {
      std::vector<std::string> entries;
      for (const std::int64_t entry : at) entries.push_back(std::to_string(entry));
      throw Undefined{"an element outside of " + name() + ": [" + support::join(entries, ", ") + "]", true};
    }
    return from.elements[from.offset(at)];
  }
};

}  // namespace entangle::eval
