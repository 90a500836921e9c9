// Elements of applications with concrete sizes, by their value clauses: to see whether what is derived of an
// operator is true of it.
#pragma once

#include <vector>

#include "../../src/term/interpreter.h"
#include "fixture.h"

namespace entangle::term::test {

struct Array {
  std::vector<std::size_t> shape;
  std::vector<std::int64_t> elements;  // row-major

  bool operator==(const Array&) const = default;
  std::int64_t at(const std::vector<std::size_t>& index) const;
};

// The indices of a shape in row-major order.
std::vector<std::vector<std::size_t>> indices(const std::vector<std::size_t>& shape);
// 0 … n-1 in some scrambled order; different seeds, different elements.
Array filled(const TensorType& type, std::int64_t seed, std::int64_t bound = 7);
Array reshaped(Array array, const TensorType& type);
// op(children; attrs) at every index.
Array computed(World& world, rules::OpId op, const Attr& attrs, const std::vector<Array>& children,
               const TensorType& type);

}  // namespace entangle::term::test
