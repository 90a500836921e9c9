#include "hlo_values.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

#include "entangle/support/text.h"
#include "hlo_cursor.h"

namespace entangle::graph::hlo {

using sym::Int;
using tensor::Attr;

namespace {

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  while (true) {
    const std::size_t at = text.find(separator);
    result.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return result;
    }
    text.remove_prefix(at + 1);
  }
}

// `3x3`
std::optional<Integers> by_axis(std::string_view text) {
  Integers result;
  for (const std::string_view part : parts(text, 'x')) {
    const std::optional<std::int64_t> one = integer(part);
    if (!one) {
      return std::nullopt;
    }
    result.push_back(*one);
  }
  return result;
}

}  // namespace

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t result = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, result);
  return !text.empty() && error == std::errc() && stop == end ? std::optional(result) : std::nullopt;
}

std::optional<Range> range_of(std::string_view dtype) {
  if (dtype == "pred") {
    return Range{0, 1};
  }
  const std::int64_t bits = dtype.empty() ? 0 : integer(dtype.substr(1)).value_or(0);
  if (bits < 1 || bits > 64 || (dtype.front() != 's' && dtype.front() != 'u')) {
    return std::nullopt;
  }
  if (dtype.front() == 'u') {
    return Range{0, ~std::uint64_t{0} >> (64 - bits)};
  }
  const std::int64_t top = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  return Range{-top - 1, static_cast<std::uint64_t>(top)};
}

std::optional<std::uint64_t> natural(const Attr& value) {
  if (value.kind() == Attr::Kind::integer && value.as_int().is_constant()) {
    const std::int64_t number = value.as_int().value();
    return number >= 0 ? std::optional(static_cast<std::uint64_t>(number)) : std::nullopt;
  }
  const std::optional<mpq_class> number =
      value.kind() == Attr::Kind::scalar ? value.as_scalar().as_rational() : std::nullopt;
  const bool whole = number && number->get_den() == 1 && number->get_num().fits_ulong_p();
  return whole ? std::optional<std::uint64_t>(number->get_num().get_ui()) : std::nullopt;
}

std::optional<bool> truth(std::string_view text) {
  if (text == "true" || text == "false") {
    return text == "true";
  }
  return std::nullopt;
}

std::optional<Integers> integers(std::string_view text) {
  Cursor cursor(text);
  Integers result;
  return cursor.integers('{', '}', result) && cursor.ended() ? std::optional(std::move(result))
                                                             : std::nullopt;
}

std::optional<std::vector<Integers>> integer_lists(std::string_view text) {
  Cursor cursor(text);
  std::vector<Integers> result;
  const bool good = cursor.list('{', '}', [&] { return cursor.integers('{', '}', result.emplace_back()); });
  return good && cursor.ended() ? std::optional(std::move(result)) : std::nullopt;
}

std::string unquoted(std::string_view text) {
  if (!text.starts_with('"')) {
    return std::string(text);
  }
  std::string result;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 2 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
    i += escape ? 1 : 0;
    result += text[i];
  }
  return result;
}

std::string compact(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::size_t begin = i++;
      while (i < text.size() && text[i] != '"') {
        i += text[i] == '\\' ? 2 : 1;
      }
      result += text.substr(begin, i + 1 - begin);
    } else if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i + 2), text.size()) + 1;
    } else if (!is_space(text[i])) {
      result += text[i];
    } else if (!result.empty() && i + 1 < text.size() && is_plain(result.back()) && is_plain(text[i + 1])) {
      result += ' ';  // between words
    }
  }
  return result;
}

std::string without_standard_layouts(std::string_view text) {
  const std::string plain = compact(text);
  std::string result;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t end = plain[i] == '{' && result.ends_with(']') ? plain.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      result += plain[i];
      continue;
    }
    const std::string_view layout = std::string_view(plain).substr(i + 1, end - i - 1);
    const std::size_t commas =
        static_cast<std::size_t>(std::ranges::count(layout.substr(0, layout.find(':')), ','));
    const std::optional<Integers> order = major_to_minor(layout, layout.empty() ? 0 : commas + 1);
    if (!order || !std::ranges::is_sorted(*order)) {
      result += plain.substr(i, end + 1 - i);
    }
    i = end;
  }
  return result;
}

Attr attribute(std::string_view text) {
  const auto list = [](const Integers& numbers) {
    std::vector<Attr> entries;
    for (const std::int64_t number : numbers) {
      entries.push_back(Attr::of(number));
    }
    return Attr::list(entries);
  };
  const bool quoted = text.starts_with('"');
  const std::string plain = quoted ? unquoted(text) : compact(text);
  if (const auto number = integer(plain); number && std::to_string(*number) == plain) {
    return Attr::of(*number);
  }
  if (const auto flag = truth(plain)) {
    return Attr::of(*flag);
  }
  if (quoted) {
    return Attr::name(plain);
  }
  if (const auto numbers = integers(plain)) {
    return list(*numbers);
  }
  if (const auto lists = integer_lists(plain)) {
    std::vector<Attr> entries;
    for (const Integers& numbers : *lists) {
      entries.push_back(list(numbers));
    }
    return Attr::list(entries);
  }
  return Attr::name(plain);
}

std::optional<Slices> slices(std::string_view text) {
  Cursor cursor(text);
  Slices result;
  const bool good = cursor.list('{', '}', [&] {
    if (!cursor.take('[')) {
      return false;
    }
    const std::optional<std::int64_t> start = cursor.number();
    const std::optional<std::int64_t> limit = cursor.take(':') ? cursor.number() : std::nullopt;
    const std::optional<std::int64_t> stride =
        cursor.take(':') ? cursor.number() : std::optional<std::int64_t>(1);
    result.starts.push_back(start.value_or(0));
    result.limits.push_back(limit.value_or(0));
    result.strides.push_back(stride.value_or(0));
    return start && limit && stride && cursor.take(']');
  });
  return good && cursor.ended() ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<Padding> padding(std::string_view text) {
  Padding result;
  if (text.empty()) {
    return result;
  }
  for (const std::string_view axis : parts(text, 'x')) {
    std::vector<std::int64_t> numbers;
    for (const std::string_view part : parts(axis, '_')) {
      const std::optional<std::int64_t> one = integer(part);
      if (!one) {
        return std::nullopt;
      }
      numbers.push_back(*one);
    }
    if (numbers.size() < 2 || numbers.size() > 3) {
      return std::nullopt;
    }
    result.low.push_back(numbers[0]);
    result.high.push_back(numbers[1]);
    result.interior.push_back(numbers.size() == 3 ? numbers[2] : 0);
  }
  return result;
}

std::optional<Padded> padded(std::int64_t size, std::int64_t low, std::int64_t high, std::int64_t interior) {
  const auto sum = [](std::int64_t a, std::int64_t b, std::int64_t& out) {
    return !__builtin_add_overflow(a, b, &out);
  };
  const std::int64_t gaps = std::max<std::int64_t>(size - 1, 0);
  Padded result;
  std::int64_t whole = 0;
  const bool good = !__builtin_mul_overflow(gaps, interior, &whole) && sum(whole, size, whole) &&
                    sum(whole, std::min<std::int64_t>(low, 0), result.left) &&
                    sum(result.left, std::min<std::int64_t>(high, 0), result.left) &&
                    sum(whole, low, result.size) && sum(result.size, high, result.size) && result.size >= 0;
  result.left = std::max<std::int64_t>(result.left, 0);
  return good ? std::optional(result) : std::nullopt;
}

std::int64_t windows(std::int64_t size, std::int64_t window, std::int64_t stride, std::int64_t dilation) {
  std::int64_t reach = 0;
  const bool beyond = __builtin_mul_overflow(window - 1, dilation, &reach) || reach >= size;
  return beyond ? 0 : (size - reach - 1) / stride + 1;
}

std::optional<Window> window(std::string_view text) {
  Cursor cursor(text);
  if (!cursor.take('{')) {
    return std::nullopt;
  }
  std::map<std::string_view, std::string_view> given;
  while (!cursor.take('}')) {
    const std::string_view name = cursor.word();
    if (name.empty() || !cursor.take('=')) {
      return std::nullopt;
    }
    given[name] = cursor.word();
  }
  Window result;
  const auto take = [&](std::string_view name, Integers& out, std::int64_t standard) {
    const auto found = given.find(name);
    if (found == given.end()) {
      out.assign(result.sizes.size(), standard);
      return true;
    }
    const std::optional<Integers> read = by_axis(found->second);
    out = read.value_or(Integers());
    given.erase(found);
    return read.has_value();
  };
  Integers reversed;
  if (given.contains("size") && !take("size", result.sizes, 1)) {
    return std::nullopt;
  }
  const std::size_t rank = result.sizes.size();
  std::optional<Padding> around = Padding{Integers(rank), Integers(rank), Integers(rank)};
  if (const auto found = given.find("pad"); found != given.end()) {
    around = padding(found->second);
    given.erase(found);
  }
  if (!around || !take("stride", result.strides, 1) || !take("lhs_dilate", result.base_dilations, 1) ||
      !take("rhs_dilate", result.window_dilations, 1) || !take("rhs_reversal", reversed, 0) ||
      !given.empty()) {
    return std::nullopt;
  }
  result.low = around->low;
  result.high = around->high;
  for (const std::int64_t flag : reversed) {
    result.reversed.push_back(flag != 0);
  }
  const auto fits = [&](const Integers& list) { return list.size() == rank; };
  const auto positive = [](const Integers& list) {
    return std::ranges::all_of(list, [](std::int64_t n) { return n >= 1; });
  };
  const bool good = fits(result.strides) && fits(result.low) && fits(result.high) &&
                    fits(result.base_dilations) && fits(result.window_dilations) && fits(reversed) &&
                    std::ranges::all_of(around->interior, [](std::int64_t n) { return n == 0; }) &&
                    positive(result.sizes) && positive(result.strides) && positive(result.base_dilations) &&
                    positive(result.window_dilations);
  return good && cursor.ended() ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<Labels> labels(std::string_view text) {
  const std::size_t under = text.find('_');
  const std::size_t arrow = text.find("->");
  if (under == std::string_view::npos || arrow == std::string_view::npos || arrow < under) {
    return std::nullopt;
  }
  const auto places = [](std::string_view letters, std::string_view first_two) -> std::optional<Integers> {
    Integers result;
    std::string order(first_two);
    for (std::size_t k = 0; k + 2 < letters.size(); ++k) {
      order += static_cast<char>('0' + k);
    }
    for (const char c : order) {
      const std::size_t at = letters.find(c);
      if (at == std::string_view::npos) {
        return std::nullopt;
      }
      result.push_back(static_cast<std::int64_t>(at));
    }
    return letters.size() == result.size() && letters.size() <= 12 ? std::optional(result) : std::nullopt;
  };
  const std::optional<Integers> operand = places(text.substr(0, under), "bf");
  const std::optional<Integers> kernel = places(text.substr(under + 1, arrow - under - 1), "oi");
  const std::optional<Integers> result = places(text.substr(arrow + 2), "bf");
  if (!operand || !kernel || !result || operand->size() != kernel->size() ||
      operand->size() != result->size()) {
    return std::nullopt;
  }
  return Labels{*operand, *kernel, *result};
}

std::optional<std::vector<Integers>> groups(std::string_view text, std::size_t most) {
  if (!text.starts_with('[')) {
    return integer_lists(text);
  }
  Cursor cursor(text);
  Integers rows;
  Integers shape;
  if (!cursor.integers('[', ']', rows) || !cursor.take('<') || !cursor.take('=') ||
      !cursor.integers('[', ']', shape)) {
    return std::nullopt;
  }
  Integers order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (!cursor.ended()) {
    order.clear();
    if (cursor.word() != "T" || !cursor.integers('(', ')', order) || !cursor.ended()) {
      return std::nullopt;
    }
  }
  // The product, 0 where it is not a number of ranks.
  const auto count = [&](const Integers& sizes) -> std::size_t {
    std::size_t product = 1;
    for (const std::int64_t size : sizes) {
      if (size < 1 || static_cast<std::size_t>(size) > most / product) {
        return 0;
      }
      product *= static_cast<std::size_t>(size);
    }
    return product;
  };
  Integers sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    if (sorted[k] != static_cast<std::int64_t>(k)) {
      return std::nullopt;
    }
  }
  const std::size_t total = count(shape);
  if (total == 0 || rows.size() != 2 || count(rows) != total || order.size() != shape.size()) {
    return std::nullopt;
  }
  // Counts through the transposed shape; the number of a place is counted in the shape itself.
  Integers steps(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) {
    steps[k - 1] = steps[k] * shape[k];
  }
  std::vector<Integers> result(static_cast<std::size_t>(rows[0]));
  Integers at(shape.size(), 0);  // by transposed axis
  for (std::size_t place = 0; place < total; ++place) {
    std::int64_t number = 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      number += at[k] * steps[static_cast<std::size_t>(order[k])];
    }
    result[place / static_cast<std::size_t>(rows[1])].push_back(number);
    for (std::size_t k = at.size(); k-- > 0;) {
      if (++at[k] < shape[static_cast<std::size_t>(order[k])]) {
        break;
      }
      at[k] = 0;
    }
  }
  return result;
}

std::optional<Integers> major_to_minor(std::string_view layout, std::size_t rank) {
  Integers result;
  const std::size_t colon = std::min(layout.find(':'), layout.size());
  const std::string_view more = layout.substr(colon);
  if (!more.empty() &&
      !(more.starts_with(":S(") && more.ends_with(")") && more.find('(', 3) == std::string_view::npos)) {
    return std::nullopt;  // tiles, or elements of another size
  }
  if (support::trim(layout.substr(0, colon)).empty()) {
    result.resize(rank);
    std::iota(result.begin(), result.end(), 0);
    return result;
  }
  for (const std::string_view axis : parts(layout.substr(0, colon), ',')) {
    const std::optional<std::int64_t> number = integer(support::trim(axis));
    if (!number || *number < 0 || *number >= static_cast<std::int64_t>(rank) ||
        std::ranges::find(result, *number) != result.end()) {
      return std::nullopt;
    }
    result.push_back(*number);
  }
  std::ranges::reverse(result);
  return result.size() == rank ? std::optional(std::move(result)) : std::nullopt;
}

std::map<std::string_view, std::string> fields(std::string_view text) {
  Cursor cursor(text);
  std::map<std::string_view, std::string> result;
  if (!cursor.take('{')) {
    return result;
  }
  while (!cursor.ended() && !cursor.take('}')) {
    const std::string_view name = cursor.word();
    if (name.empty()) {
      cursor.pass();
    } else if (cursor.take('=')) {
      if (cursor.next_is('"')) {
        result[name] = unquoted(cursor.quoted());
      } else if (cursor.next_is('{') || cursor.next_is('[') || cursor.next_is('(')) {
        cursor.pass_brackets();
      } else {
        result[name] = std::string(cursor.word());
      }
    }
  }
  return result;
}

}  // namespace entangle::graph::hlo
