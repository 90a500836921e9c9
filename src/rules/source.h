// The text that is being parsed, and places in it.
#pragma once

#include <antlr4-runtime.h>

#include <string_view>

#include "entangle/support/diagnostic.h"
#include "rules/token_list.h"

namespace entangle::rules {

// Token offsets are byte offsets: the lexer sees one character per byte. All tokens are Tokens.
struct Source {
  std::string_view text;
  support::Span origin;  // where the text begins

  std::string_view text_of(const antlr4::Token* any) const {
    const auto* token = static_cast<const Token*>(any);
    const std::size_t start = token->getStartIndex();
    if (start >= text.size()) return {};
    const std::size_t stop = token->getStopIndex();
    return stop < start || stop == INVALID_INDEX ? std::string_view() : text.substr(start, stop + 1 - start);
  }

  support::Span span(const antlr4::Token* any_first, const antlr4::Token* any_last) const {
    const auto* first = static_cast<const Token*>(any_first);
    const auto* last = static_cast<const Token*>(any_last);
    support::Span result = origin;
    const auto line = static_cast<std::uint32_t>(first->getLine());
    const auto column = static_cast<std::uint32_t>(first->getCharPositionInLine());
    if (origin.line > 0) {
      result.line = origin.line + line - 1;
      result.column = line == 1 ? origin.column + column : column + 1;
    }
    const std::size_t start = first->getStartIndex();
    const std::size_t stop = last->getStopIndex();
    result.length = stop == INVALID_INDEX || stop < start ? 1 : static_cast<std::uint32_t>(stop + 1 - start);
    return result;
  }
  support::Span span(const antlr4::Token* token) const { return span(token, token); }
  support::Span span(const antlr4::ParserRuleContext* context) const {
    return span(context->start, context->stop != nullptr ? context->stop : context->start);
  }
  // The place right after a token.
  support::Span after(const antlr4::Token* token) const {
    support::Span result = span(token);
    result.column += result.length;
    result.length = 1;
    return result;
  }
};

}  // namespace entangle::rules
