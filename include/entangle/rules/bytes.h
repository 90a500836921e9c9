// Values as bytes and back. One list of fields serves both directions: `fields(archive, value)` passes every
// field to the archive, which appends it to its bytes (Writer) or takes it from them (Reader). Fields that
// mostly have their initial value go through `archive.sparse(...)`: a mask says which of them follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

// A number that is ~0 where there is none (OpId, Slot).
struct MaybeNumber {
  std::uint32_t& value;
};

inline bool is_initial(bool value) {
  return !value;
}
template <class T>
requires(std::is_enum_v<T> || std::is_integral_v<T>) bool is_initial(const T& value) {
  return value == T{};
}
inline bool is_initial(const MaybeNumber& place) {
  return place.value == ~std::uint32_t{0};
}
inline bool is_initial(const support::Span& span) {
  return span == support::Span{};
}
inline bool is_initial(const tensor::Attr& attr) {
  return attr.is_none();
}
inline bool is_initial(const std::string& text) {
  return text.empty();
}
inline bool is_initial(const SharedName& name) {
  return name.empty();
}
template <class T>
bool is_initial(const std::vector<T>& list) {
  return list.empty();
}
template <class T>
bool is_initial(const std::optional<T>& value) {
  return !value.has_value();
}
inline bool is_initial(const Type& type) {
  return type.base == Base::any && type.depth == 0 && !type.nonempty && !type.optional && !type.holes &&
         type.of.empty();
}

class Writer {
 public:
  // Files are written as their place in this list.
  explicit Writer(const std::vector<support::FileId>& files) : files_(files) {}

  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  template <class... T>
  void sparse(const T&... values) {
    std::uint64_t mask = 0;
    std::uint64_t bit = 1;
    ((mask |= is_initial(values) ? 0 : bit, bit <<= 1), ...);
    put(mask);
    ((is_initial(values) ? void() : put(values)), ...);
  }
  // False once a value without such a form was met.
  bool ok() const { return ok_; }
  // How many bytes there are.
  std::size_t size() const { return bytes_.size() + pending_; }
  // Those from a place on; until more is written.
  std::string_view since(std::size_t begin) {
    flush();
    return std::string_view(bytes_).substr(begin);
  }
  std::string take() {
    flush();
    return std::move(bytes_);
  }

  [[gnu::always_inline]] void put(std::uint64_t value) {
    if (value < 0x80 && pending_ < sizeof buffer_) {
      buffer_[pending_++] = static_cast<char>(value);
    } else {
      put_long(value);
    }
  }
  template <class T>
  requires(std::is_enum_v<T> || std::is_integral_v<T>) void put(const T& value) {
    put(static_cast<std::uint64_t>(value));
  }
  void put(const MaybeNumber& place) { put(place.value); }
  void put(std::string_view value) {
    put(value.size());
    append(value);
  }
  void put(const std::string& value) { put(std::string_view(value)); }
  void put(const SharedName& value) { put(std::string_view(value.text())); }
  void put(const tensor::Attr& value);
  void put(const support::Span& value);
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  // Bytes as they are.
  void append(std::string_view bytes);
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
  void put_long(std::uint64_t value);
  void flush();

  const std::vector<support::FileId>& files_;
  std::string bytes_;
  char buffer_[2048];
  std::size_t pending_ = 0;  // bytes in the buffer
  support::FileId last_file_ = support::kNoFile;
  std::uint64_t last_number_ = 0;  // of the last file
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
  template <class... T>
  void sparse(T&&... values) {
    std::uint64_t mask = number();
    ((read_if((mask & 1) != 0, values), mask >>= 1), ...);
    ok_ = ok_ && mask == 0;
  }
  bool ok() const { return ok_; }
  // What was not read.
  std::string_view rest() const { return rest_; }
  // At most what there is.
  void skip(std::size_t size) { rest_.remove_prefix(std::min(size, rest_.size())); }

  std::uint64_t number() {
    if (!rest_.empty() && static_cast<unsigned char>(rest_.front()) < 0x80) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      return byte;
    }
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
  void get(MaybeNumber& place) { get(place.value); }
  void get(std::string& value) {
    const std::size_t size = length();
    value.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  // A part of the bytes.
  void get(std::string_view& value) {
    const std::size_t size = length();
    value = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  void get(SharedName& value) {
    const std::size_t size = length();
    value = rest_.substr(0, size);
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
  // The values are as they were made where nothing is read.
  template <class T>
  void read_if(bool present, T& value) {
    if (present && ok_) get(value);
  }
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

// The contents of a rule set but for the bytes of its lowerings, which follow one by one.
struct Contents {
  std::vector<Predicate> predicates;
  std::vector<ScalarFunction> functions;
  std::vector<Law> laws;
  std::vector<Accept> accept;  // of each file
  std::uint64_t fingerprint = 0;
  std::vector<LoweringHead> lowerings;
  std::vector<std::uint32_t> lowerings_by_op;
  std::vector<OperatorHead> operators;
  std::vector<OpId> op_by_name;
  std::vector<LemmaHead> lemmas;
  std::vector<DefinitionHead> definitions;
  // The bytes of the operators, lemmas and definitions follow.
};

// A list of declarations of a kind, made one by one: each becomes bytes at once, since the trees of all of
// them together are large. For kinds whose heads point into nothing.
template <class T, class Head>
class ListWriter {
 public:
  explicit ListWriter(const std::vector<support::FileId>& files) : files_(files), writer_(files) {}

  void add(const T& declaration);
  // All that were added to another.
  void add(ListWriter other);
  std::size_t size() const { return heads_.size(); }
  DeclarationList<T, Head> finish();

 private:
  const std::vector<support::FileId>& files_;
  Writer writer_;
  std::vector<Head> heads_;
};
using LemmaWriter = ListWriter<Lemma, LemmaHead>;
using DefinitionWriter = ListWriter<DefinitionBody, DefinitionHead>;

// Adds the bytes of a lowering; the head has no name.
LoweringHead write_lowering(Writer& writer, const Lowering& lowering);
// Adds everything but the bytes of the lowerings.
void write_contents(Writer& writer, const RuleSet& rules);
// Makes of the heads what gives the bytes of each.
using LoweringSource = std::function<std::optional<Lowerings::Bytes>(const std::vector<LoweringHead>&)>;
// The rule set again; `owner` keeps the bytes. Null if what is read is none, or there is no source of its
// lowerings.
std::shared_ptr<const RuleSet> read_contents(Reader& reader, const std::shared_ptr<const void>& owner,
                                             const std::vector<support::FileId>& files,
                                             const LoweringSource& source);
// The source of declarations whose bytes, of these sizes, follow one another at the beginning of `bytes`;
// `owner` keeps these. Nothing if they are fewer.
std::optional<Lowerings::Bytes> parts_of(std::shared_ptr<const void> owner, std::string_view bytes,
                                         const std::vector<std::size_t>& sizes);

}  // namespace entangle::rules
