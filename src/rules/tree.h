// From ANTLR's parse trees to syntax.
#pragma once

#include "RulesParser.h"
#include "rules/source.h"
#include "rules/syntax.h"

namespace entangle::rules {

syntax::Declaration build_declaration(const Source& source,
                                      grammar::RulesParser::DeclarationContext* context);
syntax::Node build_expression(const Source& source, grammar::RulesParser::ExprContext* context);

}  // namespace entangle::rules
