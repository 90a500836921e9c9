// What the grammar cannot tell about tokens without looking far ahead.
#pragma once

#include <string_view>
#include <vector>

#include "rules/token_list.h"

namespace entangle::rules {

// Makes the `in` that ends the value of a `let` a token of its own: it could not be told from the operator
// `in`, or from that of a comprehension or quantifier inside the value. Makes names of the keywords of
// declarations and clauses where none can begin.
void mark_tokens(std::vector<Token>& tokens);

// In a manifest, what is joined by dots is one name: `r0.layers.3.wq`. Makes everything after the first dot
// one token.
void join_names(std::vector<Token>& tokens, std::string_view text);

bool starts_declaration(std::size_t token);

}  // namespace entangle::rules
