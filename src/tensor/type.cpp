#include "entangle/tensor/type.h"

#include <array>
#include <utility>

namespace entangle::tensor {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 12> kNames = {{
    {"f64", DType::f64},
    {"f32", DType::f32},
    {"f16", DType::f16},
    {"bf16", DType::bf16},
    {"f8", DType::f8},
    {"i64", DType::i64},
    {"i32", DType::i32},
    {"i16", DType::i16},
    {"i8", DType::i8},
    {"u8", DType::u8},
    {"b8", DType::b8},
    {"bool", DType::b8},
}};

}  // namespace

std::string_view to_string(DType dtype) {
  return kNames[static_cast<std::size_t>(dtype)].first;
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (const auto& [name, dtype] : kNames) {
    if (name == text) return dtype;
  }
  return std::nullopt;
}

bool is_wide_float(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

bool is_float(DType dtype) {
  return is_wide_float(dtype) || dtype == DType::f8;
}

bool is_integer(DType dtype) {
  return !is_float(dtype) && dtype != DType::b8;
}

std::string to_string(const TensorType& type) {
  std::string result(to_string(type.dtype));
  result += '[';
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (i > 0) result += ", ";
    result += sym::to_string(type.shape[i]);
  }
  result += ']';
  return result;
}

}  // namespace entangle::tensor
