// Text to syntax. The only place that knows ANTLR.
//
// A declaration with a syntax error is reported once and skipped; parsing goes on with the next one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rules/syntax.h"

namespace entangle::rules {

syntax::File parse_file(support::FileId file, std::vector<support::Diagnostic>& diagnostics);

// A single expression that starts at `at`.
std::optional<syntax::Node> parse_expression(std::string_view text, support::Span at,
                                             std::vector<support::Diagnostic>& diagnostics);

}  // namespace entangle::rules
