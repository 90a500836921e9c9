// Syntax errors in words: what was expected after what, instead of lists of tokens.
#pragma once

#include <exception>
#include <utility>

#include "rules/parser_base.h"
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

// Throws SyntaxError.
class ErrorsInWords final : public ErrorHandler {
 public:
  explicit ErrorsInWords(const Source& source) : source_(source) {}
  [[noreturn]] void fail(antlr4::Parser* parser) const override;
  [[noreturn]] void refuse(antlr4::Parser* parser) const override;

 private:
  const Source& source_;
};

}  // namespace entangle::rules
