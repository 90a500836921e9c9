#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "entangle/relation/clean.h"
#include "entangle/relation/manifest.h"
#include "entangle/support/text.h"
#include "relation/failure.h"

namespace entangle::relation {

namespace {

using support::Span;
using support::trim;

constexpr std::string_view kForms =
    "write `s0 >= 1`, `s0 % 8 == 0`, `r0.s0 == r1.s0`, `tokens in [0, 100)`, `a == b`, `ns::op is pure` or "
    "`dropout masks correspond`";

// A part of the text of an assumption, which knows where it stands.
struct Part {
  std::string_view whole;
  std::size_t begin = 0, end = 0;
  Span at;

  std::string_view text() const { return whole.substr(begin, end - begin); }
  // The span of the part; that of the whole where the text does not stand in the file as it is.
  Span span() const {
    if (at.line == 0 || at.length != whole.size()) return at;
    Span result = at;
    result.column += static_cast<std::uint32_t>(begin);
    result.length = static_cast<std::uint32_t>(std::max<std::size_t>(end - begin, 1));
    return result;
  }
  Part sub(std::size_t from, std::size_t to) const {
    Part result{whole, begin + from, begin + to, at};
    while (result.begin < result.end && std::isspace(static_cast<unsigned char>(whole[result.begin])) != 0) {
      ++result.begin;
    }
    while (result.end > result.begin &&
           std::isspace(static_cast<unsigned char>(whole[result.end - 1])) != 0) {
      --result.end;
    }
    return result;
  }
};

// Calls visit(offset, character) for what stands outside quotes and brackets, until it returns true.
template <class Visit>
void scan(std::string_view text, Visit visit) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    if (c == '"') quoted = true;
    if (c == ')' || c == ']') --depth;
    if (depth == 0 && visit(i, c)) return;
    if (c == '(' || c == '[') ++depth;
  }
}

// The name that the text is, if it is just a name: `s0`, `layers.0.w`, `r0.x`, `"odd name"`, `r0."odd name"`.
std::optional<std::string> mere_name(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"') {
    const std::optional<Leaf> leaf = parse_leaf("r0." + std::string(text));
    return leaf ? std::optional(leaf->name) : std::nullopt;
  }
  if (text.find('"') != std::string_view::npos) {
    return parse_leaf(text) ? std::optional(std::string(text)) : std::nullopt;
  }
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto part = [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
  };
  if (text.empty() || !letter(text.front()) || !std::all_of(text.begin(), text.end(), part))
    return std::nullopt;
  return std::string(text);
}

sym::Int read_size(const Part& part) {
  if (part.text().empty())
    fail(Problem::bad_assumption, part.span(), "a size is missing here", std::string(kForms));
  auto value = sym::parse_int_expr(part.text(), {}, part.span());
  if (!value) {
    fail(Problem::bad_assumption, value.error().span, value.error().message, value.error().suggestion);
  }
  if (value->is_poison()) {
    fail(Problem::bad_assumption, part.span(), "`" + std::string(part.text()) + "` has no value in 64 bits");
  }
  return *value;
}

std::optional<sym::Int> read_bound(const Part& part, std::string_view unbounded) {
  if (part.text() == unbounded) return std::nullopt;
  return read_size(part);
}

Assumption read_range(const Part& name, const Part& interval) {
  Assumption result;
  result.kind = Assumption::Kind::range;
  const std::optional<std::string> tensor = mere_name(name.text());
  if (!tensor) {
    fail(Problem::bad_assumption, name.span(), "the name of an integer tensor is expected before `in`",
         "quote names that hold other characters than letters, digits, `_` and `.`");
  }
  result.left_name = *tensor;
  const std::string_view text = interval.text();
  std::size_t comma = std::string_view::npos;
  if (text.size() >= 2) {
    scan(text.substr(1, text.size() - 2), [&](std::size_t i, char c) {
      if (c == ',') comma = i + 1;
      return c == ',';
    });
  }
  const bool brackets = text.size() >= 2 && (text.front() == '[' || text.front() == '(') &&
                        (text.back() == ']' || text.back() == ')');
  if (!brackets || comma == std::string_view::npos) {
    fail(Problem::bad_assumption, interval.span(), "an interval such as `[0, 100)` is expected after `in`");
  }
  result.low = read_bound(interval.sub(1, comma), "-inf");
  result.high = read_bound(interval.sub(comma + 1, text.size() - 1), "inf");
  if (result.low && text.front() == '(') *result.low += 1;
  if (result.high && text.back() == ')') *result.high -= 1;
  if (result.low && result.high && result.low->is_constant() && result.high->is_constant() &&
      result.low->value() > result.high->value()) {
    fail(Problem::bad_assumption, interval.span(), "the interval `" + std::string(text) + "` is empty");
  }
  return result;
}

// `a % b == 0`, where the division is the outermost operation of the left side.
std::optional<std::pair<Part, Part>> divisibility(const Part& side) {
  std::size_t percent = std::string_view::npos;
  bool sum = false;
  scan(side.text(), [&](std::size_t i, char c) {
    if (c == '%') percent = i;
    sum = sum || c == '+' || c == '-' || ((c == '*' || c == '/') && percent != std::string_view::npos);
    return false;
  });
  if (percent == std::string_view::npos || sum) return std::nullopt;
  return std::pair(side.sub(0, percent), side.sub(percent + 1, side.text().size()));
}

Assumption read_comparison(const Part& left, std::string_view operation, const Part& right) {
  Assumption result;
  if (operation == "==" || operation == "=") {
    if (right.text() == "0") {
      if (const auto parts = divisibility(left)) {
        result.kind = Assumption::Kind::divides;
        result.left = read_size(parts->second);
        result.right = read_size(parts->first);
        if (result.left == sym::Int(0))
          fail(Problem::bad_assumption, parts->second.span(), "nothing is divided by 0");
        return result;
      }
    }
    const std::optional<std::string> a = mere_name(left.text());
    const std::optional<std::string> b = mere_name(right.text());
    if (a && b) {
      result.left_name = *a;
      result.right_name = *b;
      result.left = sym::Int::symbol(*a);
      result.right = sym::Int::symbol(*b);
      return result;
    }
    result.left = read_size(left);
    result.right = read_size(right);
    return result;
  }
  result.kind = Assumption::Kind::less_equal;
  const bool less = operation.front() == '<';
  result.left = read_size(less ? left : right);
  result.right = read_size(less ? right : left);
  if (operation.size() == 1) result.left += 1;
  return result;
}

// `op is pure`, `op is a pure function`.
std::optional<std::string> pure_operator(std::string_view text) {
  for (const std::string_view end : {" is pure", " is a pure function"}) {
    if (text.ends_with(end)) {
      const std::string_view name = trim(text.substr(0, text.size() - end.size()));
      if (!name.empty() && name.find_first_of(" \t") == std::string_view::npos) return std::string(name);
    }
  }
  return std::nullopt;
}

Assumption read(const Part& whole) {
  const std::string_view text = whole.text();
  if (text.empty()) fail(Problem::bad_assumption, whole.span(), "an empty assumption", std::string(kForms));
  if (text == "dropout masks correspond") {
    Assumption result;
    result.kind = Assumption::Kind::dropout;
    return result;
  }
  if (const std::optional<std::string> op = pure_operator(text)) {
    Assumption result;
    result.kind = Assumption::Kind::pure;
    result.left_name = *op;
    return result;
  }
  std::size_t begin = std::string_view::npos, length = 0, in = std::string_view::npos,
              second = std::string_view::npos;
  scan(text, [&](std::size_t i, char c) {
    if (c == '=' || c == '<' || c == '>' || c == '!') {
      if (begin == std::string_view::npos) {
        begin = i;
        length = i + 1 < text.size() && text[i + 1] == '=' ? 2 : 1;
      } else if (i >= begin + length && second == std::string_view::npos) {
        second = i;
      }
    }
    if (in == std::string_view::npos && text.substr(i).starts_with(" in ")) in = i;
    return false;
  });
  if (in != std::string_view::npos && begin == std::string_view::npos) {
    return read_range(whole.sub(0, in), whole.sub(in + 4, text.size()));
  }
  if (begin == std::string_view::npos) {
    fail(Problem::bad_assumption, whole.span(), "`" + std::string(text) + "` is no assumption",
         std::string(kForms));
  }
  const Part operation = whole.sub(begin, begin + length);
  if (operation.text().front() == '!') {
    fail(Problem::bad_assumption, operation.span(), "inequalities with `!=` cannot be assumed",
         "write `<` or `>`, whichever holds");
  }
  if (second != std::string_view::npos) {
    fail(Problem::bad_assumption, whole.sub(second, second + 1).span(), "one comparison per assumption",
         "write two assumptions");
  }
  return read_comparison(whole.sub(0, begin), operation.text(), whole.sub(begin + length, text.size()));
}

}  // namespace

support::Result<Assumption> parse_assumption(const std::string& text, support::Span at) {
  return guarded([&] {
    const Part all{text, 0, text.size(), at};
    Assumption result = read(all.sub(0, text.size()));
    result.text = std::string(trim(text));
    result.span = at;
    return result;
  });
}

}  // namespace entangle::relation
