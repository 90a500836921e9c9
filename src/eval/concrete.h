// What domains of concrete numbers have in common: sizes are constants, truths are known (see clause.h).
#pragma once

#include <optional>
#include <vector>

#include "entangle/eval/array.h"
#include "entangle/eval/clause.h"

namespace entangle::eval {

template <class N>
struct Concrete : IntegerIndex {
  using Number = N;
  using Truth = bool;

  static Number choose(bool condition, const Number& a, const Number& b) { return condition ? a : b; }
  // Nothing is said of numbers without an order (NaN) but that they differ.
  template <class T>
  static bool compare(rules::Operation operation, const T& a, const T& b) {
    switch (operation) {
      case rules::Operation::equal:
        return a == b;
      case rules::Operation::less:
        return before(a, b);
      case rules::Operation::less_equal:
        return before(a, b) || a == b;
      case rules::Operation::greater:
        return before(b, a);
      default:
        return before(b, a) || a == b;
    }
  }
  static bool divides(sym::Int k, sym::Int n) {
    return k.value() == 0 ? n == sym::Int(0) : n.value() % k.value() == 0;
  }
  static sym::Int quotient(sym::Int a, sym::Int b) {
    if (b == sym::Int(0) || !divides(b, a)) throw Undefined{"an inexact division"};
    return a.value() / b.value();
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
    for (const sym::Int entry : index) at.push_back(entry.value());
    bool inside = at.size() == from.shape.size();
    for (std::size_t k = 0; inside && k < at.size(); ++k) inside = 0 <= at[k] && at[k] < from.shape[k];
    if (!inside) throw Undefined{"an element outside of " + name()};
    return from.elements[from.offset(at)];
  }

 private:
  static bool before(const Number& a, const Number& b) { return a < b; }
  static bool before(sym::Int a, sym::Int b) { return a.value() < b.value(); }
};

}  // namespace entangle::eval
