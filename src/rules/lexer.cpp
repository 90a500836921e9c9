#include "rules/lexer.h"

#include <string>
#include <unordered_map>
#include <utility>

namespace entangle::rules {
namespace {

using L = grammar::RulesLexer;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The tokens with a fixed text, from the vocabulary of the grammar.
struct Literals {
  std::unordered_map<std::string_view, std::size_t> all;
  std::vector<std::string> texts;

  explicit Literals(const antlr4::dfa::Vocabulary& vocabulary) {
    std::vector<std::pair<std::string, std::size_t>> found;
    for (std::size_t type = 1; type <= vocabulary.getMaxTokenType(); ++type) {
      const std::string quoted = vocabulary.getLiteralName(type);
      if (quoted.size() > 2) found.emplace_back(quoted.substr(1, quoted.size() - 2), type);
    }
    texts.reserve(found.size());
    for (auto& [text, type] : found) {
      texts.push_back(std::move(text));
      all.emplace(texts.back(), type);
    }
  }

  std::size_t find(std::string_view text) const {
    const auto at = all.find(text);
    return at == all.end() ? 0 : at->second;
  }
};

}  // namespace

std::unique_ptr<antlr4::Token> FastLexer::nextToken() {
  skip_space();
  const Match found = match(at_);
  auto* simulator = getInterpreter<antlr4::atn::LexerATNSimulator>();
  if (found.type == 0) {
    _input->seek(at_);
    simulator->setLine(line_);
    simulator->setCharPositionInLine(at_ - line_start_);
    std::unique_ptr<antlr4::Token> token = RulesLexer::nextToken();
    advance(_input->index());
    return token;
  }
  std::unique_ptr<antlr4::Token> token =
      getTokenFactory()->create({this, _input}, found.type, std::string(), antlr4::Token::DEFAULT_CHANNEL,
                                at_, found.end - 1, line_, at_ - line_start_);
  at_ = found.end;
  return token;
}

FastLexer::Match FastLexer::match(std::size_t start) const {
  static const Literals literals(getVocabulary());
  constexpr Match kUnknown = {0, 0};
  if (start >= text_.size()) return kUnknown;
  std::size_t end = start + 1;
  if (is_letter(text_[start])) {
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::size_t keyword = literals.find(text_.substr(start, end - start));
    return {end, keyword != 0 ? keyword : static_cast<std::size_t>(L::NAME)};
  }
  if (is_digit(text_[start])) {
    while (end < text_.size() && is_digit(text_[end])) ++end;
    const char next = end < text_.size() ? text_[end] : ' ';
    return next == '.' || next == 'e' || next == 'E' ? kUnknown : Match{end, L::INT};
  }
  // The longest punctuation; no comment begins here that is closed.
  if (text_.substr(start, 2) == "/*") return kUnknown;
  if (end < text_.size()) {
    if (const std::size_t two = literals.find(text_.substr(start, 2)); two != 0) return {start + 2, two};
  }
  const std::size_t one = literals.find(text_.substr(start, 1));
  return one == 0 ? kUnknown : Match{end, one};
}

void FastLexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      advance(at_ + 1);
    } else if (text_.substr(at_, 2) == "//") {
      std::size_t end = at_;
      while (end < text_.size() && text_[end] != '\n' && text_[end] != '\r') ++end;
      advance(end);
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return;
      advance(end + 2);
    } else {
      return;
    }
  }
}

void FastLexer::advance(std::size_t end) {
  for (; at_ < end; ++at_) {
    if (at_ < text_.size() && text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
  }
}

}  // namespace entangle::rules
