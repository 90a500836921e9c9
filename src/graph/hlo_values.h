// What HLO text writes inside brackets: numbers, lists of them, windows, groups, literals.
//
// Every function reads a whole value and gives nothing where it is of another form. White space and comments
// are passed over. Pure. Cost: linear in the text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entangle/tensor/attr.h"
#include "entangle/tensor/type.h"

namespace entangle::graph::hlo {

using Integers = std::vector<std::int64_t>;

std::optional<std::int64_t> integer(std::string_view text);
std::optional<bool> truth(std::string_view text);
// The numbers that a type of whole numbers or truths holds; nothing for other types.
struct Range {
  std::int64_t least;
  std::uint64_t greatest;

  bool holds(std::int64_t value) const {
    return value >= least && (value < 0 || static_cast<std::uint64_t>(value) <= greatest);
  }
};
std::optional<Range> range_of(std::string_view dtype);
// A whole number without a sign, if it is one of at most 64 bits.
std::optional<std::uint64_t> natural(const tensor::Attr& value);
// `{0,2}`, `{}`.
std::optional<Integers> integers(std::string_view text);
// `{{0,1},{2,3}}`, `{}`.
std::optional<std::vector<Integers>> integer_lists(std::string_view text);
// `"text"`, or a word.
std::string unquoted(std::string_view text);
// Without white space and comments; what is in quotes stays.
std::string compact(std::string_view text);

// Types as they stand in attributes, without the layouts that they have where none is written.
std::string without_standard_layouts(std::string_view text);

// An attribute nobody knows: a number, a truth, lists of numbers, else a name: the text. Texts that differ
// give attributes that differ, but for white space, comments and quotes.
tensor::Attr attribute(std::string_view text);

// `{[0:4], [0:8:2]}`
struct Slices {
  Integers starts, limits, strides;
};
std::optional<Slices> slices(std::string_view text);

// `1_2x0_0_1`: low, high and interior of every axis.
struct Padding {
  Integers low, high, interior;
};
std::optional<Padding> padding(std::string_view text);

// `{size=3x3 stride=2x2 pad=1_1x1_1 rhs_dilate=2x2}`; what is not written is filled in.
struct Window {
  Integers sizes, strides, low, high, base_dilations, window_dilations;
  std::vector<bool> reversed;
};
std::optional<Window> window(std::string_view text);

// An axis with `interior` places between neighbours and as many around as `low` and `high` say, which cut off
// where they are negative; nothing where a size is no number. All numbers but low and high are at least 0.
struct Padded {
  std::int64_t size = 0;
  std::int64_t left = 0;  // places of the axis itself
};
std::optional<Padded> padded(std::int64_t size, std::int64_t low, std::int64_t high, std::int64_t interior);
// How many windows an axis has room for.
std::int64_t windows(std::int64_t size, std::int64_t window, std::int64_t stride, std::int64_t dilation);

// `b01f_01io->b01f` as the places of [batch, features, spatial…], [outputs, inputs, spatial…] and
// [batch, features, spatial…].
struct Labels {
  Integers operand, kernel, result;
};
std::optional<Labels> labels(std::string_view text);

// `{{0,1},{2,3}}`, or `[2,2]<=[4]`, `[2,2]<=[2,2]T(1,0)`: numbers counted up in a shape, transposed, in rows.
// At most `most` numbers.
std::optional<std::vector<Integers>> groups(std::string_view text, std::size_t most);

// The axes from the slowest to the fastest, of a layout as it stands between its braces: `0,1`, `1,0:S(5)`,
// or nothing. Nothing of layouts with tiles.
std::optional<Integers> major_to_minor(std::string_view layout, std::size_t rank);

// `{op_name="…" source_line=7}`: words and texts by name; lists are left out.
std::map<std::string_view, std::string> fields(std::string_view text);

// The value of a constant of this type: nested lists, or a number. `elided` where the text holds `...`,
// `not_a_number` where an element is none.
struct Literal {
  enum class Kind { value, elided, not_a_number, malformed };
  Kind kind = Kind::malformed;
  tensor::Attr value;
};
Literal literal(std::string_view text, const tensor::TensorType& type);

}  // namespace entangle::graph::hlo
