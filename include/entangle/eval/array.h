// Arrays of constant shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace entangle::eval {

// Row-major.
template <class Number>
struct RowMajor {
  std::vector<std::int64_t> shape;
  std::vector<Number> elements;

  std::size_t offset(const std::vector<std::int64_t>& index) const {
    std::size_t result = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      result = result * static_cast<std::size_t>(shape[k]) + static_cast<std::size_t>(index[k]);
    }
    return result;
  }
};

}  // namespace entangle::eval
