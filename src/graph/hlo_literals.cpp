// The values of constants in HLO text.
#include <optional>
#include <string_view>
#include <vector>

#include "entangle/sym/scalar.h"
#include "hlo_cursor.h"
#include "hlo_values.h"

namespace entangle::graph::hlo {

using sym::Int;
using sym::Scalar;
using tensor::Attr;

namespace {

// A number as graphs hold them.
std::optional<Attr> number(std::string_view text) {
  if (const auto whole = integer(text)) {
    return Attr::of(Int(*whole));
  }
  const std::optional<Scalar> scalar = Scalar::from_decimal_text(text);
  if (!scalar) {
    return std::nullopt;
  }
  const bool integral = text.find_first_of(".eEn") == std::string_view::npos;
  const std::optional<Int> whole = integral && !scalar->is_infinite() ? scalar->as_int() : std::nullopt;
  return whole ? Attr::of(*whole) : Attr::of(*scalar);
}

// Reads the value of a constant.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, const tensor::TensorType& type) : cursor_(text), type_(type) {}

  Literal run() {
    Literal result;
    // Older versions write the shape in front.
    Cursor shape = cursor_;
    if (!shape.word().empty() && shape.next_is('[')) {
      shape.pass_brackets();
      Cursor behind = shape;
      if (behind.next_is('{')) {
        behind.pass_brackets();
      }
      cursor_ = behind.ended() ? shape : behind;
    }
    std::optional<Attr> value = entry(0);
    if (kind_ == Literal::Kind::value && value && cursor_.ended()) {
      result.value = *value;
      result.kind = Literal::Kind::value;
    } else if (kind_ == Literal::Kind::elided || (kind_ == Literal::Kind::not_a_number && cursor_.ended())) {
      result.kind = kind_;
    }
    return result;
  }

 private:
  std::optional<Attr> entry(std::size_t axis) {
    if (axis < type_.rank()) {
      return list(axis);
    }
    const std::string_view word = cursor_.word();
    if (type_.dtype == tensor::DType::b8) {
      const std::optional<bool> value = word == "1" ? true : word == "0" ? false : truth(word);
      return value ? std::optional(Attr::of(*value)) : std::nullopt;
    }
    if (tensor::is_float(type_.dtype) && (word == "nan" || word == "-nan")) {
      if (cursor_.next_is('(')) {  // its bits
        cursor_.pass_brackets();
      }
      kind_ = Literal::Kind::not_a_number;
      return Attr::name("nan");
    }
    const std::optional<Attr> value = number(word);
    const bool whole = value && value->kind() == Attr::Kind::integer;
    if (tensor::is_integer(type_.dtype) && value && !whole) {
      const bool large =
          !value->as_scalar().is_infinite() && word.find_first_of(".eE") == std::string_view::npos;
      return large ? value : std::nullopt;
    }
    return value;
  }

  std::optional<Attr> list(std::size_t axis) {
    std::vector<Attr> entries;
    const std::int64_t size = type_.shape[axis].value();
    const bool closed = cursor_.list('{', '}', [&] {
      if (Cursor ahead = cursor_; ahead.word() == "...") {
        kind_ = Literal::Kind::elided;
        return false;
      }
      std::optional<Attr> one = entry(axis + 1);
      if (!one || static_cast<std::int64_t>(entries.size()) == size) {
        return false;
      }
      entries.push_back(*one);
      return true;
    });
    if (!closed || static_cast<std::int64_t>(entries.size()) != size) {
      return std::nullopt;
    }
    return Attr::list(entries);
  }

  Cursor cursor_;
  const tensor::TensorType& type_;
  Literal::Kind kind_ = Literal::Kind::value;
};

}  // namespace

Literal literal(std::string_view text, const tensor::TensorType& type) {
  return LiteralReader(text, type).run();
}

}  // namespace entangle::graph::hlo
