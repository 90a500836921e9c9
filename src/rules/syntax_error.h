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

// Limits nesting, so that no input overflows the stack.
class DepthLimit : public antlr4::tree::ParseTreeListener {
 public:
  explicit DepthLimit(const Source& source) : source_(source) {}
  void reset() { depth_ = 0; }

  void enterEveryRule(antlr4::ParserRuleContext* context) override;
  void exitEveryRule(antlr4::ParserRuleContext* context) override;
  void visitTerminal(antlr4::tree::TerminalNode* node) override;
  void visitErrorNode(antlr4::tree::ErrorNode* node) override;

 private:
  const Source& source_;
  std::size_t depth_ = 0;
};

}  // namespace entangle::rules
