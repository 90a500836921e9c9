// Types of canonical expressions: element type and shape.
//
// Shapes are lists of symbolic integers in normal form, so two types are == exactly when their normal forms
// agree; whether sizes with different normal forms are equal under the assumptions is a question for
// smt::Oracle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entangle/sym/int.h"

namespace entangle::tensor {

enum class DType : std::uint8_t { f64, f32, f16, bf16, f8, i64, i32, i16, i8, u8, b8 };

std::string_view to_string(DType dtype);
// Accepts the spellings of the graph format; `bool` is read as b8.
std::optional<DType> parse_dtype(std::string_view text);
// f64, f32, f16, bf16: the types between which a cast is taken as additive. f8 is not among them.
bool is_wide_float(DType dtype);
bool is_float(DType dtype);    // the wide ones and f8
bool is_integer(DType dtype);  // signed and unsigned integers, not b8

using Shape = std::vector<sym::Int>;

struct TensorType {
  Shape shape;
  DType dtype = DType::f32;

  std::size_t rank() const { return shape.size(); }
  bool operator==(const TensorType&) const = default;
};

// `f32[2, s0]`
std::string to_string(const TensorType& type);

}  // namespace entangle::tensor
