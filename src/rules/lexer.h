// From text to tokens. White space, comments, names, numbers, strings and punctuation are read directly; what
// is none of these (or not closed) is left to the generated lexer. What the keywords and the punctuation are
// is taken from its vocabulary.
#pragma once

#include <string_view>
#include <vector>

#include "rules/token_list.h"

namespace entangle::rules {

// The tokens of `text`, which is read one character a byte, and EOF.
std::vector<Token> read_tokens(std::string_view text);

}  // namespace entangle::rules
