// The tokens of a text, as the parser reads them: small, in one block, all known before parsing begins.
//
// They are ANTLR's tokens and token stream by interface, so that generated code and its runtime can use them;
// they have no text of their own: Source::text_of has it.
#pragma once

#include <antlr4-runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace entangle::rules {

class Token final : public antlr4::Token {
 public:
  struct Place {
    std::uint32_t begin, end;    // offsets
    std::uint32_t line, column;  // from 1, from 0
  };

  Token(std::size_t type, const Place& place) : type_(static_cast<std::int32_t>(type)), place_(place) {}

  // EOF is -1.
  std::size_t getType() const override {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(type_));
  }
  std::size_t getLine() const override { return place_.line; }
  std::size_t getCharPositionInLine() const override { return place_.column; }
  std::size_t getTokenIndex() const override { return index_; }
  std::size_t getStartIndex() const override { return place_.begin; }
  // One before the start of an empty token.
  std::size_t getStopIndex() const override { return std::size_t{place_.end} - 1; }
  std::size_t getChannel() const override { return DEFAULT_CHANNEL; }
  std::string getText() const override { return {}; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }

  void set_type(std::size_t type) { type_ = static_cast<std::int32_t>(type); }
  // Makes this token reach to the end of another.
  void extend(const Token& last) { place_.end = last.place_.end; }

 private:
  friend class TokenList;
  std::int32_t type_;
  std::uint32_t index_ = 0;
  Place place_;
};

class TokenList final : public antlr4::TokenStream {
 public:
  // The last token is EOF, and the only one.
  explicit TokenList(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
    for (std::size_t k = 0; k < tokens_.size(); ++k) tokens_[k].index_ = static_cast<std::uint32_t>(k);
  }

  // EOF is not gone past.
  void consume() override { at_ += at_ + 1 < tokens_.size() ? 1 : 0; }
  std::size_t LA(ssize_t k) override { return LT(k)->getType(); }
  Token* LT(ssize_t k) override {
    const std::size_t place =
        k < 0 ? at_ - static_cast<std::size_t>(-k) : at_ + static_cast<std::size_t>(k) - 1;
    return &tokens_[place < tokens_.size() ? place : k < 0 ? 0 : tokens_.size() - 1];
  }
  Token* get(std::size_t index) const override { return const_cast<Token*>(&tokens_[index]); }
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override { at_ = index; }
  std::size_t size() override { return tokens_.size(); }
  ssize_t mark() override { return 0; }
  void release(ssize_t /*marker*/) override {}
  std::string getSourceName() const override { return {}; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval& /*interval*/) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext* /*context*/) override { return {}; }
  std::string getText(antlr4::Token* /*start*/, antlr4::Token* /*stop*/) override { return {}; }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace entangle::rules
