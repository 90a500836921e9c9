// Syntax errors in words: what was expected after what, instead of lists of tokens.
#pragma once

#include <stdexcept>

#include "RulesParser.h"
#include "rules/source.h"

namespace entangle::rules {

// Ends the parsing of a declaration. Not derived from ANTLR's exceptions, which generated code catches.
class SyntaxError : public std::exception {
 public:
  explicit SyntaxError(support::Diagnostic diagnostic) : diagnostic_(std::move(diagnostic)) {}
  const support::Diagnostic& diagnostic() const { return diagnostic_; }

 private:
  support::Diagnostic diagnostic_;
};

// Throws SyntaxError at the first error; never repairs.
class ErrorStrategy : public antlr4::DefaultErrorStrategy {
 public:
  explicit ErrorStrategy(const Source& source) : source_(source) {}

  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) override;
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

 private:
  [[noreturn]] void fail(antlr4::Parser* parser);
  const Source& source_;
};

// The parser, with a limit on nesting so that no input overflows the stack.
class LimitedParser : public grammar::RulesParser {
 public:
  LimitedParser(antlr4::TokenStream* tokens, const Source& source) : RulesParser(tokens), source_(source) {}
  void enterRule(antlr4::ParserRuleContext* context, std::size_t state, std::size_t rule) override;

 private:
  const Source& source_;
  std::size_t calls_ = 0;
};

}  // namespace entangle::rules
