// The generated lexer with a short cut: white space, comments, names, integers and punctuation, which are
// nearly everything, are read directly; the rest (strings, decimals, what is wrong) is left to the automaton.
// What the keywords and the punctuation are is taken from the grammar's vocabulary.
#pragma once

#include <string_view>

#include "RulesLexer.h"

namespace entangle::rules {

class FastLexer : public grammar::RulesLexer {
 public:
  // `text` is what `input` holds, one character a byte.
  FastLexer(antlr4::CharStream* input, std::string_view text) : RulesLexer(input), text_(text) {}

  std::unique_ptr<antlr4::Token> nextToken() override;

 private:
  void skip_space();
  // The end of the token at `start` and its type; type 0: the automaton shall look.
  struct Match {
    std::size_t end;
    std::size_t type;
  };
  Match match(std::size_t start) const;
  void advance(std::size_t end);

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
};

}  // namespace entangle::rules
