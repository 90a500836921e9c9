// Values as bytes and back. One list of fields serves both directions: `fields(archive, value)` passes every
// field to the archive, which appends it to its bytes (Writer) or takes it from them (Reader).
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

class Writer {
 public:
  // Files are written as their place in this list.
  explicit Writer(const std::vector<support::FileId>& files) : files_(files) {}

  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  // False once a value without such a form was met.
  bool ok() const { return ok_; }
  std::string take() { return std::move(bytes_); }

  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  template <class T>
  requires(std::is_enum_v<T> || std::is_integral_v<T>) void put(const T& value) {
    put(static_cast<std::uint64_t>(value));
  }
  void put(const std::string& value) {
    put(value.size());
    bytes_ += value;
  }
  void put(const tensor::Attr& value);
  void put(const support::Span& value);
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
  requires std::is_class_v<T>
  void put(const T& value) {
    fields(*this, const_cast<T&>(value));  // read only: a Writer changes nothing
  }

 private:
  const std::vector<support::FileId>& files_;
  std::string bytes_;
  bool ok_ = true;
};

// Reads what a Writer wrote. Damaged bytes give some value and ok() false, never more memory than a multiple
// of their length.
class Reader {
 public:
  Reader(std::string_view bytes, const std::vector<support::FileId>& files) : rest_(bytes), files_(files) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  template <class T>
  requires(std::is_enum_v<T> || std::is_integral_v<T>) void get(T& value) {
    value = static_cast<T>(number());
  }
  void get(std::string& value) {
    const std::size_t size = length();
    value.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  void get(tensor::Attr& value);
  void get(support::Span& value);
  template <class T>
  void get(std::vector<T>& values) {
    values.resize(length());
    for (T& value : values) {
      if (!ok_) return;
      get(value);
    }
  }
  template <class T>
  void get(std::optional<T>& value) {
    if (number() != 0) get(value.emplace());
  }
  template <class T>
  requires std::is_class_v<T>
  void get(T& value) { fields(*this, value); }

 private:
  // Of what takes at least a byte for each entry.
  std::size_t length() {
    const std::uint64_t size = number();
    ok_ = ok_ && size <= rest_.size();
    return ok_ ? size : 0;
  }

  std::string_view rest_;
  const std::vector<support::FileId>& files_;
  bool ok_ = true;
};

// The contents of a rule set, with every operator, lemma and lowering.
struct Contents {
  std::vector<Operator> operators;
  std::vector<Lemma> lemmas;
  std::vector<Predicate> predicates;
  std::vector<ScalarFunction> functions;
  std::vector<Law> laws;
  std::vector<Lowering> lowerings;
  std::vector<Accept> accept;  // of each file
  std::uint64_t fingerprint = 0;
};

}  // namespace entangle::rules
