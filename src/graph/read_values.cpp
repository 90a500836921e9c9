#include <charconv>

#include "entangle/sym/scalar.h"
#include "reader.h"

namespace entangle::graph {

using json::Kind;
using json::Value;
using sym::Int;
using tensor::Attr;

bool Reader::fail(std::string id, const Value& at, std::string message, std::string suggestion) {
  if (!error_) {
    error_ = support::error("graph/" + std::move(id), span(at), std::move(message), std::move(suggestion));
  }
  return false;
}

bool Reader::expect(const Value& value, Kind kind, std::string_view what) {
  return value.kind == kind || fail("wrong-kind", value,
                                    std::string(what) + " must be " + std::string(json::describe(kind)) +
                                        ", not " + std::string(json::describe(value.kind)));
}

const Value* Reader::require(const Value& object, std::string_view key, std::string_view where) {
  const Value* found = object.find(key);
  if (found == nullptr) {
    fail("missing-key", object, std::string(where) + " has no " + quoted(key));
  }
  return found;
}

void Reader::ignore(const Value& key) {
  if (unknown_.empty()) {
    first_unknown_ = span(key);
  }
  unknown_.insert(std::string(key.text));
  repeatable_ = false;
}

namespace {

// An integer as most are written.
std::optional<std::int64_t> plain_integer(std::string_view text) {
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(result) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> Reader::small_integer(const Value& value) const {
  if (!value.is(Kind::number)) {
    return std::nullopt;
  }
  if (const auto plain = plain_integer(value.text)) {
    return plain;
  }
  const std::optional<sym::Scalar> scalar = sym::Scalar::from_decimal_text(value.text);
  const std::optional<Int> integer = scalar && !scalar->is_infinite() ? scalar->as_int() : std::nullopt;
  return integer ? integer->constant() : std::nullopt;
}

bool Reader::count(const Value& value, std::string_view what, std::int64_t least, std::size_t& out) {
  const std::optional<std::int64_t> number = small_integer(value);
  if (!number || *number < least || *number > kLargestWorld) {
    return fail("bad-rank", value,
                std::string(what) + " must be a number from " + std::to_string(least) + " to " +
                    std::to_string(kLargestWorld));
  }
  out = static_cast<std::size_t>(*number);
  return true;
}

bool Reader::number(const Value& value, Attr& out) {
  if (value.text == "NaN") {
    out = Attr::name("nan");
    return true;
  }
  if (const auto plain = plain_integer(value.text)) {
    out = Attr::of(Int(*plain));
    return true;
  }
  const bool integral = value.text.find_first_of(".eEI") == std::string_view::npos;
  const std::optional<sym::Scalar> scalar = sym::Scalar::from_decimal_text(value.text);
  if (!scalar) {
    return fail("bad-number", value, quoted(value.text) + " is too large or too small a number");
  }
  const std::optional<Int> integer = integral ? scalar->as_int() : std::nullopt;
  out = integer ? Attr::of(*integer) : Attr::of(*scalar);
  return true;
}

bool Reader::expression(const Value& value, Int& out) {
  repeatable_ = false;  // symbols belong to their file
  const support::Span at = support::span_at(file_, value.offset + 1, value.text.size());
  const support::Result<Int> parsed = sym::parse_int_expr(value.text, graph_.symbol_prefix, at);
  if (!parsed) {
    error_ = support::error("graph/bad-size", parsed.error().span,
                            quoted(value.text) + " is not an expression of sizes: " + parsed.error().message);
    return false;
  }
  out = *parsed;
  for (const Int symbol : sym::symbols_of(out)) {
    const std::string name = sym::to_string(symbol).substr(graph_.symbol_prefix.size());
    if (name.find('.') != std::string::npos) {
      return fail("bad-size", value,
                  "the symbol " + quoted(name) + " holds a dot: symbols belong to their file");
    }
    if (name == "rank") {
      out = sym::substitute(out, {{symbol, Int(graph_.rank)}});
    }
  }
  return !out.is_poison() || fail("bad-size", value, quoted(value.text) + " is too large");
}

bool Reader::size(const Value& value, Int& out) {
  if (value.is(Kind::string)) {
    if (!expression(value, out)) {
      return false;
    }
  } else if (const std::optional<std::int64_t> constant = small_integer(value)) {
    out = *constant;
  } else if (value.is(Kind::number)) {
    return fail("bad-size", value, "the size " + quoted(value.text) + " is not an integer of 64 bits");
  } else {
    return fail(
        "bad-size", value,
        "a size is a number or an expression of sizes, not " + std::string(json::describe(value.kind)));
  }
  if (out.is_constant() && out.value() < 0) {
    return fail("bad-size", value, "the size " + sym::to_string(out) + " is negative");
  }
  return true;
}

bool Reader::dtype(const Value& value, tensor::DType& out) {
  if (!expect(value, Kind::string, "an element type")) {
    return false;
  }
  const std::optional<tensor::DType> parsed = tensor::parse_dtype(value.text);
  if (!parsed) {
    return fail("bad-dtype", value, quoted(value.text) + " is not an element type",
                "the element types are f64 f32 f16 bf16 f8 i64 i32 i16 i8 u8 b8");
  }
  out = *parsed;
  return true;
}

bool Reader::type(const Value& shape, const Value& dtype_of, std::optional<tensor::TensorType>& out) {
  if (shape.is(Kind::null) && dtype_of.is(Kind::null)) {
    return true;
  }
  if (shape.is(Kind::null) || dtype_of.is(Kind::null)) {
    return fail("result-lists", shape.is(Kind::null) ? dtype_of : shape,
                "a result that is None has neither shape nor dtype; this one has one of them");
  }
  tensor::TensorType result;
  if (!dtype(dtype_of, result.dtype) || !expect(shape, Kind::array, "a shape")) {
    return false;
  }
  for (const Value& entry : shape.items) {
    if (!size(entry, result.shape.emplace_back())) {
      return false;
    }
  }
  if (sym::product(result.shape).is_poison()) {
    return fail("bad-size", shape, "a tensor of this shape has more elements than 64 bits can count");
  }
  out = std::move(result);
  return true;
}

bool Reader::results(const Value& object, Node& node) {
  const Value* shape = object.find("shape");
  const Value* dtype_of = object.find("dtype");
  if (node.op == "output") {
    node.results.resize(1);
    return true;
  }
  const auto where = [&] { return "the node " + quoted(node.name); };
  if (shape == nullptr || dtype_of == nullptr) {
    require(object, shape == nullptr ? "shape" : "dtype", where());
    return false;
  }
  node.several = dtype_of->is(Kind::array);
  if (!node.several) {
    return type(*shape, *dtype_of, node.results.emplace_back());
  }
  if (!shape->is(Kind::array) || shape->items.size() != dtype_of->items.size()) {
    return fail("result-lists", *shape,
                where() + " has " + std::to_string(dtype_of->items.size()) +
                    " results by its dtype, but not as many shapes");
  }
  for (std::size_t i = 0; i < shape->items.size(); ++i) {
    if (!type(shape->items[i], dtype_of->items[i], node.results.emplace_back())) {
      return false;
    }
  }
  return true;
}

}  // namespace entangle::graph
