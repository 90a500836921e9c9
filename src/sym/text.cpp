// Symbolic integers as text, both ways.
#include <algorithm>
#include <charconv>
#include <limits>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include "entangle/support/text.h"
#include "entangle/sym/int.h"
#include "fold.h"

namespace entangle::sym {

namespace {

// --- Printing
// -------------------------------------------------------------------------------------------------

std::string grouped(Int value) {
  const std::string text = to_string(value);
  const bool simple = value.is_symbol() || (value.is_constant() && value.value() >= 0);
  return simple ? text : "(" + text + ")";
}

std::string call(std::string_view name, const std::vector<Int>& arguments) {
  const auto text = [](Int argument) { return to_string(argument); };
  const auto parts = arguments | ranges::views::transform(text) | ranges::to<std::vector>();
  return std::string(name) + "(" + support::join(parts, ", ") + ")";
}

std::string atom_text(const Atom* atom) {
  switch (atom->kind) {
    case AtomKind::symbol:
      return atom->name;
    case AtomKind::floordiv:
      return grouped(atom->arguments[0]) + "//" + grouped(atom->arguments[1]);
    case AtomKind::max:
      return call("max", atom->arguments);
  }
  return {};
}

// |coefficient| * monomial * factor, where the factor may be empty.
std::string magnitude(const Term& term, const std::string& factor) {
  std::vector<std::string> parts;
  const auto absolute = term.coefficient < 0 ? 0 - static_cast<std::uint64_t>(term.coefficient)
                                             : static_cast<std::uint64_t>(term.coefficient);
  const std::size_t others = term.monomial->factors.size() + (factor.empty() ? 0 : 1);
  if (absolute != 1 || others == 0) {
    parts.push_back(std::to_string(absolute));
  }
  for (const Factor& one : term.monomial->factors) {
    std::string text = atom_text(one.atom);
    if (one.atom->kind == AtomKind::floordiv && (!parts.empty() || others > 1 || one.exponent > 1)) {
      text = "(" + text + ")";
    }
    if (one.exponent > 1) {
      text += "**" + std::to_string(one.exponent);
    }
    parts.push_back(std::move(text));
  }
  if (!factor.empty()) {
    parts.push_back(factor);
  }
  return support::join(parts, "*");
}

void append(std::string* text, const Term& term, const std::string& factor) {
  std::string added = magnitude(term, factor);
  if (text->empty()) {
    // `-s0//8` would be read as `(-s0)//8`.
    if (term.coefficient < 0) {
      const bool quotient = term.coefficient == -1 && factor.empty() && term.monomial->factors.size() == 1 &&
                            term.monomial->factors.front().exponent == 1 &&
                            term.monomial->factors.front().atom->kind == AtomKind::floordiv;
      *text = quotient ? "-(" + added + ")" : "-" + added;
    } else {
      *text = added;
    }
    return;
  }
  *text += term.coefficient < 0 ? " - " : " + ";
  *text += added;
}

// --- Reading
// --------------------------------------------------------------------------------------------------

class Parser {
 public:
  Parser(std::string_view text, std::string_view prefix, support::Span at)
      : text_(text), prefix_(prefix), at_(at) {}

  support::Result<Int> parse() {
    const Int result = sum();
    skip_space();
    if (!error_ && position_ < text_.size()) {
      fail("sym/syntax", std::string("unexpected `") + text_[position_] + "`");
    }
    if (!error_ && result.is_poison()) {
      position_ = 0;
      fail("sym/overflow", "the value does not fit into 64 bits");
    }
    if (error_) {
      return *error_;
    }
    return result;
  }

 private:
  static constexpr int kMaxDepth = 200;

  Int sum() {
    Int result = product();
    while (!error_) {
      if (accept("+")) {
        result += product();
      } else if (accept("-")) {
        result = least("*/%") ? result + Int(std::numeric_limits<std::int64_t>::min()) : result - product();
      } else {
        break;
      }
    }
    return result;
  }

  Int product() {
    Int result = unary();
    while (!error_) {
      skip_space();
      const std::size_t start = position_;
      if (text_.substr(position_).starts_with("**")) {
        break;
      }
      if (accept("*")) {
        result *= unary();
      } else if (accept("//")) {
        result = divided(result, unary(), start, &floordiv);
      } else if (accept("%")) {
        result = divided(result, unary(), start, &mod);
      } else if (accept("/")) {
        const Int divisor = unary();
        const auto quotient = exact_div(result, divisor);
        if (!error_ && !quotient) {
          position_ = start;
          fail("sym/inexact", "`/` does not divide exactly", "write `//` for division rounded down");
        }
        result = quotient.value_or(Int::poison());
      } else {
        break;
      }
    }
    return result;
  }

  Int unary() {
    if (++depth_ > kMaxDepth) {
      fail("sym/syntax", "the expression is nested too deeply");
      return Int::poison();
    }
    Int result;
    if (accept("-")) {
      result = least("") ? Int(std::numeric_limits<std::int64_t>::min()) : -unary();
    } else if (accept("+")) {
      result = unary();
    } else {
      result = power();
    }
    --depth_;
    return result;
  }

  // Behind a minus: 2^63, which by itself fits into no number. Not where one of `unless` follows, which would
  // have to come first.
  bool least(std::string_view unless) {
    constexpr std::string_view kBeyond = "9223372036854775808";
    skip_space();
    if (!text_.substr(position_).starts_with(kBeyond)) {
      return false;
    }
    const std::size_t start = position_;
    position_ += kBeyond.size();
    const bool longer = position_ < text_.size() && (is_letter(text_[position_]) ||
                                                     is_digit(text_[position_]) || text_[position_] == '.');
    skip_space();
    const bool first = position_ < text_.size() && unless.find(text_[position_]) != std::string_view::npos;
    if (longer || first) {
      position_ = start;
    }
    return !longer && !first;
  }

  Int power() {
    Int result = primary();
    if (!error_ && accept("**")) {
      skip_space();
      const std::size_t start = position_;
      const Int exponent = primary();
      if (!error_ && (!exponent.is_constant() || exponent.value() < 0 || exponent.value() > 64)) {
        position_ = start;
        fail("sym/syntax", "an exponent must be a number from 0 to 64");
      }
      result = error_ ? Int::poison() : pow(result, static_cast<unsigned>(exponent.value()));
    }
    return result;
  }

  Int primary() {
    skip_space();
    if (position_ >= text_.size()) {
      fail("sym/syntax", "an operand is missing");
      return Int::poison();
    }
    const char c = text_[position_];
    if (is_digit(c)) {
      return number();
    }
    if (is_letter(c)) {
      return name();
    }
    if (accept("(")) {
      const Int result = sum();
      expect(")");
      return result;
    }
    fail("sym/syntax", std::string("unexpected `") + c + "`");
    return Int::poison();
  }

  Int number() {
    const std::size_t start = position_;
    while (position_ < text_.size() &&
           (is_letter(text_[position_]) || is_digit(text_[position_]) || text_[position_] == '.')) {
      ++position_;
    }
    const std::string_view digits = text_.substr(start, position_ - start);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code == std::errc::result_out_of_range) {
      position_ = start;
      fail("sym/overflow", "the number does not fit into 64 bits");
    } else if (end != digits.data() + digits.size()) {
      position_ = start;
      fail("sym/syntax", "`" + std::string(digits) + "` is not an integer");
    }
    return value;
  }

  Int name() {
    const std::size_t start = position_;
    while (position_ < text_.size() &&
           (is_letter(text_[position_]) || is_digit(text_[position_]) || text_[position_] == '.')) {
      ++position_;
    }
    const std::string word(text_.substr(start, position_ - start));
    if (!accept("(")) {
      return Int::symbol(std::string(prefix_) + word);
    }
    std::vector<Int> arguments;
    do {
      arguments.push_back(sum());
    } while (!error_ && accept(","));
    expect(")");
    if (error_) {
      return Int::poison();
    }
    std::string lower = word;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const std::size_t end = position_;
    if (lower == "min" || lower == "max") {
      Int result = arguments.front();
      for (const Int argument : arguments) {
        result = lower == "min" ? min(result, argument) : max(result, argument);
      }
      return result;
    }
    const bool is_mod = lower == "mod" || lower == "pythonmod";
    if (!is_mod && lower != "floordiv" && lower != "cleandiv") {
      position_ = start;
      fail("sym/unknown-function", "unknown function `" + word + "`",
           support::did_you_mean(word, {"Mod", "FloorDiv", "CleanDiv", "Min", "Max"}));
      return Int::poison();
    }
    if (arguments.size() != 2) {
      position_ = start;
      fail("sym/syntax", "`" + word + "` takes 2 arguments, not " + std::to_string(arguments.size()));
      return Int::poison();
    }
    const Int result = divided(arguments[0], arguments[1], start, is_mod ? &mod : &floordiv);
    position_ = error_ ? position_ : end;
    return result;
  }

  Int divided(Int a, Int b, std::size_t start, Int (*operation)(Int, Int)) {
    if (!error_ && b == Int(0)) {
      position_ = start;
      fail("sym/undefined", "division by zero");
    }
    return error_ ? Int::poison() : operation(a, b);
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t' ||
                                        text_[position_] == '\n' || text_[position_] == '\r')) {
      ++position_;
    }
  }

  bool accept(std::string_view token) {
    skip_space();
    if (error_ || !text_.substr(position_).starts_with(token)) {
      return false;
    }
    position_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) {
      fail("sym/syntax", position_ < text_.size() ? std::string("expected `") + std::string(token) +
                                                        "`, not `" + text_[position_] + "`"
                                                  : "expected `" + std::string(token) + "`");
    }
  }

  // Keeps the first error.
  void fail(std::string id, std::string message, std::string suggestion = {}) {
    if (error_) {
      return;
    }
    support::Span span = at_;
    if (span.line > 0) {
      span.column += static_cast<std::uint32_t>(position_);
      span.length = 1;
    }
    error_ = support::error(std::move(id), span,
                            "in the integer expression `" + std::string(text_) + "`: " + message,
                            std::move(suggestion));
  }

  std::string_view text_;
  std::string_view prefix_;
  support::Span at_;
  std::size_t position_ = 0;
  int depth_ = 0;
  std::optional<support::Diagnostic> error_;
};

}  // namespace

std::string to_string(Int value) {
  if (value.is_constant()) {
    return std::to_string(value.value());
  }
  if (value.is_poison()) {
    return "poison";
  }
  const detail::Folded folded = detail::fold(value);
  std::string text;
  for (const Term& term : terms_of(folded.rest)) {
    if (term.monomial->degree > 0) {
      append(&text, term, {});
    }
  }
  for (const detail::FoldedPart& part : folded.parts) {
    const std::string factor = call(part.kind == detail::FoldedKind::mod ? "mod" : "min", part.arguments);
    append(&text, terms_of(part.factor).front(), factor);
  }
  for (const Term& term : terms_of(folded.rest)) {
    if (term.monomial->degree == 0) {
      append(&text, term, {});
    }
  }
  return text;
}

support::Result<Int> parse_int_expr(std::string_view text, std::string_view prefix, support::Span at) {
  return Parser(text, prefix, at).parse();
}

}  // namespace entangle::sym
