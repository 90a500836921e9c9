// Attribute values of operators: immutable, interned trees.
//
// Equal values are the same pointer, so equality and hashing are O(1). The table of values is process-wide,
// only grows, and is safe for concurrent use. `compare` is a total order by content (never by address): use
// it wherever an order can reach the output.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entangle/sym/int.h"
#include "entangle/sym/scalar.h"
#include "entangle/tensor/type.h"

namespace entangle::tensor {

class Attr {
 public:
  enum class Kind : std::uint8_t { none, boolean, integer, scalar, dtype, name, list };

  Attr();  // none
  // Only a bool is a boolean: any other integer is an integer.
  template <std::same_as<bool> T>
  static Attr of(T value) {
    return boolean(value);
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) static Attr of(T value) { return of(sym::Int(value)); }
  static Attr of(sym::Int value);
  static Attr of(const sym::Scalar& value);
  static Attr of(DType value);
  static Attr name(std::string_view value);
  static Attr list(std::span<const Attr> values);
  static Attr ints(std::span<const sym::Int> values);

  Kind kind() const;
  bool is_none() const { return kind() == Kind::none; }
  // Each accessor requires its kind.
  bool as_bool() const;
  sym::Int as_int() const;
  const sym::Scalar& as_scalar() const;
  DType as_dtype() const;
  const std::string& as_name() const;
  std::span<const Attr> as_list() const;

  bool operator==(const Attr& other) const { return data_ == other.data_; }
  std::size_t hash() const;

 private:
  friend struct AttrTable;
  struct Data;
  explicit Attr(const Data* data) : data_(data) {}
  static Attr boolean(bool value);

  const Data* data_;
};

// Total order by content: by kind, then by value.
int compare(const Attr& a, const Attr& b);
// As written in the rule language: `3`, `1/8`, `f32`, `sum`, `[0, 1]`, `none`, `"odd name"`.
std::string to_string(const Attr& attr);

}  // namespace entangle::tensor

template <>
struct std::hash<entangle::tensor::Attr> {
  std::size_t operator()(const entangle::tensor::Attr& attr) const noexcept { return attr.hash(); }
};
