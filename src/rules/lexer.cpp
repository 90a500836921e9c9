#include "rules/lexer.h"

#include <array>
#include <optional>
#include <string>

#include "RulesLexer.h"
#include "RulesParser.h"
#include "entangle/support/check.h"

namespace entangle::rules {
namespace {

using L = grammar::RulesLexer;

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> result{};
  for (int c = 'a'; c <= 'z'; ++c) result[static_cast<std::size_t>(c)] = 1;
  for (int c = 'A'; c <= 'Z'; ++c) result[static_cast<std::size_t>(c)] = 1;
  result['_'] = 1;
  for (int c = '0'; c <= '9'; ++c) result[static_cast<std::size_t>(c)] = 2;
  return result;
}();

bool is_letter(char c) {
  return kClasses[static_cast<unsigned char>(c)] == 1;
}

bool is_digit(char c) {
  return kClasses[static_cast<unsigned char>(c)] == 2;
}

bool is_of_word(char c) {
  return kClasses[static_cast<unsigned char>(c)] != 0;
}

// The tokens with a fixed text, from the vocabulary of the grammar: a table with open addressing.
class Literals {
 public:
  explicit Literals(const antlr4::dfa::Vocabulary& vocabulary) {
    for (std::size_t type = 1; type <= vocabulary.getMaxTokenType(); ++type) {
      const std::string quoted = vocabulary.getLiteralName(type);
      if (quoted.size() <= 2) continue;
      std::size_t at = hash(std::string_view(quoted).substr(1, quoted.size() - 2));
      while (table_[at].type != 0) at = (at + 1) % kSize;
      table_[at] = {quoted.substr(1, quoted.size() - 2), type};
      ENTANGLE_CHECK(++count_ < kSize / 2, "the table of keywords is too small");
    }
  }

  // 0 when there is none.
  std::size_t find(std::string_view text) const {
    std::size_t at = hash(text);
    while (table_[at].type != 0 && table_[at].text != text) at = (at + 1) % kSize;
    return table_[at].type;
  }

 private:
  static constexpr std::size_t kSize = 512;
  struct Entry {
    std::string text;
    std::size_t type = 0;
  };
  static std::size_t hash(std::string_view text) {
    const auto code = [](char c) { return static_cast<std::size_t>(static_cast<unsigned char>(c)); };
    return (code(text.front()) * 37 + code(text.back()) * 5 + text.size() * 101) % kSize;
  }

  std::array<Entry, kSize> table_;
  std::size_t count_ = 0;
};

// The generated lexer, made when something is left to it.
struct Generated {
  explicit Generated(std::string_view text) : input(std::string(text)), lexer(&input) {
    lexer.removeErrorListeners();
  }
  antlr4::ANTLRInputStream input;
  L lexer;
};

// The parser has the vocabulary of the lexer, but needs none of its tables for that.
Literals literals_of_grammar() {
  TokenList none({Token(antlr4::Token::EOF, {0, 0, 1, 0})});
  return Literals(grammar::RulesParser(&none).getVocabulary());
}

class Reading {
 public:
  explicit Reading(std::string_view text) : text_(text) { tokens_.reserve(text.size() / 3 + 2); }

  std::vector<Token> run() {
    static const Literals literals = literals_of_grammar();
    for (;;) {
      skip_space();
      if (at_ >= text_.size()) break;
      const Match found = match(at_, literals);
      if (found.type == 0) {
        leave_to_generated();
      } else {
        add(found.type, found.end);
        at_ = found.end;
      }
    }
    add(antlr4::Token::EOF, at_);
    return std::move(tokens_);
  }

 private:
  // The end of a token and its type; type 0: the generated lexer shall look.
  struct Match {
    std::size_t end;
    std::size_t type;
  };
  static constexpr Match kUnknown = {0, 0};

  char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

  void add(std::size_t type, std::size_t end) {
    tokens_.emplace_back(type, Token::Place{static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(end),
                                            line_, static_cast<std::uint32_t>(at_ - line_start_)});
  }

  Match match(std::size_t start, const Literals& literals) const {
    const char first = text_[start];
    std::size_t end = start + 1;
    if (is_letter(first)) {
      while (is_of_word(at(end))) ++end;
      const std::size_t keyword = literals.find(text_.substr(start, end - start));
      return {end, keyword != 0 ? keyword : static_cast<std::size_t>(L::NAME)};
    }
    if (is_digit(first)) return number(end);
    if (first == '"') return string(end);
    // The longest punctuation; no comment begins here that is closed.
    if (text_.substr(start, 2) == "/*") return kUnknown;
    if (end < text_.size()) {
      if (const std::size_t two = literals.find(text_.substr(start, 2)); two != 0) return {start + 2, two};
    }
    const std::size_t one = literals.find(text_.substr(start, 1));
    return one == 0 ? kUnknown : Match{end, one};
  }

  Match number(std::size_t end) const {
    while (is_digit(at(end))) ++end;
    std::size_t type = L::INT;
    if (at(end) == '.' && is_digit(at(end + 1))) {
      end += 2;
      while (is_digit(at(end))) ++end;
      type = L::DECIMAL;
    }
    if (at(end) != 'e' && at(end) != 'E') return {end, type};
    end += at(end + 1) == '+' || at(end + 1) == '-' ? 2 : 1;
    if (!is_digit(at(end))) return kUnknown;
    while (is_digit(at(end))) ++end;
    return {end, L::DECIMAL};
  }

  Match string(std::size_t end) const {
    for (; end < text_.size(); ++end) {
      if (text_[end] == '"') return {end + 1, L::STRING};
      if (text_[end] == '\\') ++end;
      if (at(end) == '\r' || at(end) == '\n') break;
    }
    return kUnknown;
  }

  void leave_to_generated() {
    if (!generated_) generated_.emplace(text_);
    generated_->input.seek(at_);
    const std::unique_ptr<antlr4::Token> token = generated_->lexer.nextToken();
    const std::size_t end = token->getStopIndex() + 1;
    add(token->getType(), end);
    advance(end);
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '\n') {
        ++line_;
        line_start_ = ++at_;
      } else if (c == '/' && at(at_ + 1) == '/') {
        std::size_t end = at_;
        while (end < text_.size() && text_[end] != '\n' && text_[end] != '\r') ++end;
        at_ = end;
      } else if (c == '/' && at(at_ + 1) == '*') {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return;
        advance(end + 2);
      } else {
        return;
      }
    }
  }

  void advance(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      }
    }
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::optional<Generated> generated_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::size_t line_start_ = 0;
};

}  // namespace

std::vector<Token> read_tokens(std::string_view text) {
  return Reading(text).run();
}

}  // namespace entangle::rules
