// A value of HLO text, read from its beginning to its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hlo_values.h"

namespace entangle::graph::hlo {

inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// What words and numbers are made of.
inline bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
         c == '-' || c == '+' || c == '%';
}

// Reads a value from its beginning to its end.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) { skip(); }

  bool ended() const { return at_ >= text_.size(); }
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!next_is(c)) {
      return false;
    }
    ++at_;
    skip();
    return true;
  }
  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_plain(text_[at_])) {
      ++at_;
    }
    const std::string_view result = text_.substr(begin, at_ - begin);
    skip();
    return result;
  }
  // With its quotes; "" when there is none.
  std::string_view quoted() {
    if (!next_is('"')) {
      return {};
    }
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + 1, text_.size());
    const std::string_view result = text_.substr(begin, at_ - begin);
    skip();
    return result;
  }
  void pass() { ++at_, skip(); }
  // Passes a bracket and everything up to the one that closes it.
  void pass_brackets() {
    int depth = 0;
    do {
      if (next_is('"')) {
        quoted();
        continue;
      }
      depth += next_is('{') || next_is('[') || next_is('(') ? 1 : 0;
      depth -= next_is('}') || next_is(']') || next_is(')') ? 1 : 0;
      pass();
    } while (depth > 0 && !ended());
  }
  std::optional<std::int64_t> number() { return integer(word()); }

  // `open` entries, separated by commas, `close`.
  template <class Entry>
  bool list(char open, char close, const Entry& entry) {
    if (!take(open)) {
      return false;
    }
    while (!take(close)) {
      if (!entry()) {
        return false;
      }
      if (!take(',') && !next_is(close)) {
        return false;
      }
    }
    return true;
  }
  bool integers(char open, char close, Integers& out) {
    return list(open, close, [&] {
      const std::optional<std::int64_t> one = number();
      out.push_back(one.value_or(0));
      return one.has_value();
    });
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace entangle::graph::hlo
