#include "rules/syntax_error.h"

#include <string>
#include <vector>

#include "RulesParser.h"
#include "entangle/support/text.h"
#include "rules/diagnostics.h"

namespace entangle::rules {
namespace {

using P = grammar::RulesParser;

// How a declaration is called in messages.
std::string describe(const Source& source, const antlr4::RuleContext* context) {
  while (context != nullptr && context->getRuleIndex() != P::RuleDeclaration) {
    context = static_cast<const antlr4::RuleContext*>(context->parent);
  }
  if (context == nullptr) return {};
  const auto* declaration = static_cast<const antlr4::ParserRuleContext*>(context);
  std::string what(source.text_of(declaration->start));
  if (what == "include" || what == "accept") return "`" + what + "`";
  if (what == "op") what = "operator";
  if (what == "normalise") what = "lemma";
  if (what == "def") what = "definition";
  if (what == "lower") what = "lowering";
  return "the " + what;
}

std::string ticked(std::string_view text) {
  std::string result = "`";
  result += text;
  return result + '`';
}

// The expected tokens in words.
std::string describe(const antlr4::misc::IntervalSet& expected, P* parser) {
  if (expected.contains(static_cast<std::size_t>(P::OPEN_SQUARE)) &&
      expected.contains(static_cast<std::size_t>(P::INT)) &&
      !expected.contains(static_cast<std::size_t>(P::DOT))) {
    return "an expression";
  }
  std::vector<std::string> words;
  const bool name = expected.contains(static_cast<std::size_t>(P::NAME));
  if (name) words.emplace_back("a name");
  for (const std::ptrdiff_t signed_token : expected.toList()) {
    const auto token = static_cast<std::size_t>(signed_token);
    std::string literal = parser->getVocabulary().getLiteralName(token);
    if (literal.size() > 2) {
      literal = literal.substr(1, literal.size() - 2);
      const bool word = literal[0] >= 'a' && literal[0] <= 'z';
      if (word && name) continue;  // a keyword that may be a name
      words.push_back(ticked(literal));
    } else if (token == P::LET_IN) {
      words.emplace_back("`in`");
    } else if (token == P::STRING) {
      words.emplace_back("a string in quotes");
    } else if (token == P::INT) {
      words.emplace_back("a number");
    } else if (signed_token == -1) {
      words.emplace_back("the end");
    }
  }
  return words.size() > 8 ? "something else" : support::join_list(words, " or ");
}

std::string found(const Source& source, const antlr4::Token* token) {
  if (token->getType() == antlr4::Token::EOF) return "the end of the file";
  return ticked(source.text_of(token));
}

// Whether both sides of a lemma have begun where the error is.
bool two_sides(const Source& source, antlr4::TokenStream* stream) {
  for (std::size_t at = stream->index(); at-- > 0;) {
    const std::string_view text = source.text_of(stream->get(at));
    if (text == "=>" || text == "==") return true;
    if (text == ";" || text == "lemma" || text == "axiom") return false;
  }
  return false;
}

// What somebody coming from another language meant.
std::string hint(const Source& source, const antlr4::Token* token, const std::string& expected,
                 const std::string& declaration, bool clause, antlr4::TokenStream* stream) {
  const std::string_view text = source.text_of(token);
  const bool lemma = declaration == "the lemma" || declaration == "the axiom";
  if (text == "=" && lemma && !two_sides(source, stream))
    return "the two sides of a lemma are separated by `=>` or `==`";
  if (text == "if" && lemma) return "the condition of a lemma follows `when`";
  if ((text == "->" || text == "=>") && clause) {
    return "the result's axis stands first: `k <- x.k`";
  }
  if (expected == "`in`") return "`let name = value in expression`";
  if (expected == "`else`" || text == "?") return "`if condition then a else b`";
  if (expected == "`=>`" && clause)
    return "`value i => element`; the entries of the index are `i[0]`, `i[1]`";
  if (expected == "`:`" && declaration == "the lowering") return "`lower name(parameters): term;`";
  if (text == "=") return "`==` compares; `=` gives a named attribute, a default or a definition";
  if (text == "->") return "the two sides of a lemma are separated by `=>` or `==`";
  if (text == "&") return "write `and`";
  if (text == "|") return "write `or`";
  if (text == "!") return "write `not`, or `!=`";
  if (text == "%") return "write `mod`";
  if (text == "^") return std::string(kNoPower);
  if (text == "'") return "strings are written in double quotes";
  if (expected == "a name" && token->getType() >= P::LET && token->getType() <= P::BECAUSE) {
    return ticked(text) + " is a keyword and cannot be a name";
  }
  return {};
}

bool inside_clause(const antlr4::RuleContext* context) {
  while (context != nullptr && context->getRuleIndex() != P::RuleClause) {
    context = static_cast<const antlr4::RuleContext*>(context->parent);
  }
  return context != nullptr;
}

// Whether a line comment behind a bracket holds one that closes it: most often `//` was meant to divide.
bool closed_in_comment(const Source& source, const antlr4::Token* bracket) {
  const std::string_view text = source.text;
  const std::size_t begin = bracket->getStartIndex();
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  const std::size_t comment = line.find("//");
  const char closing = line[0] == '(' ? ')' : line[0] == '[' ? ']' : '}';
  return comment != std::string_view::npos && line.find(closing, comment) != std::string_view::npos;
}

// The bracket that is open where the error is, when it is on an earlier line.
void add_open_bracket(const Source& source, antlr4::TokenStream* stream, std::size_t first, std::size_t last,
                      support::Diagnostic& diagnostic) {
  std::vector<const antlr4::Token*> open;
  for (std::size_t i = first; i < last; ++i) {
    const antlr4::Token* token = stream->get(i);
    switch (token->getType()) {
      case P::OPEN_ROUND:
      case P::OPEN_SQUARE:
      case P::OPEN_CURLY:
        open.push_back(token);
        break;
      case P::CLOSE_ROUND:
      case P::CLOSE_SQUARE:
      case P::CLOSE_CURLY:
        if (!open.empty()) open.pop_back();
        break;
      default:
        break;
    }
  }
  if (open.empty() || open.back()->getLine() == stream->get(last)->getLine()) return;
  diagnostic.notes.push_back(
      {source.span(open.back()), ticked(source.text_of(open.back())) + " is opened here"});
  if (closed_in_comment(source, open.back())) {
    diagnostic.suggestion = "`//` begins a comment; integers are divided by `floordiv`";
  }
}

}  // namespace

void ErrorsInWords::fail(antlr4::Parser* parser) const {
  antlr4::TokenStream* stream = parser->getTokenStream();
  const antlr4::Token* token = stream->LT(1);
  const antlr4::Token* previous = stream->index() > 0 ? stream->LT(-1) : nullptr;
  const antlr4::ParserRuleContext* context = parser->getContext();
  support::Span span = source_.span(token);
  std::string message;
  std::string what;
  switch (token->getType()) {
    case P::OPEN_STRING:
      message = "the string is not closed";
      break;
    case P::OPEN_COMMENT:
      message = "the comment is not closed";
      break;
    case P::UNKNOWN:
      message = "the character " + found(source_, token) + " has no meaning here";
      if (static_cast<unsigned char>(source_.text_of(token)[0]) >= 0x80) {
        message = "only comments and strings may hold other than ASCII characters";
      }
      break;
    default: {
      const antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
      what = describe(expected, static_cast<P*>(parser));
      const std::string declaration = describe(source_, context);
      if (context->getRuleIndex() == P::RuleDeclaration) {
        message = "expected a declaration (`op`, `lemma`, `lower`, ...), found " + found(source_, token);
      } else if (what == "`;`" && context->parent != nullptr && previous != nullptr) {
        const bool clause = context->getRuleIndex() == P::RuleClause;
        message = "expected `;` after " + (clause ? std::string("the clause") : declaration) + ", found " +
                  found(source_, token);
        span = source_.after(previous);
      } else if (what == "`}`" && context->getRuleIndex() == P::RuleOperation) {
        message = "expected a clause or `}` in the operator, found " + found(source_, token);
      } else if (what == "`in`" && context->getRuleIndex() == P::RuleKeyworded && previous != nullptr) {
        message = "expected `in` after the value of the `let`, found " + found(source_, token);
        span = source_.after(previous);
      } else {
        message = "expected " + what;
        if (!declaration.empty()) message += " in " + declaration;
        message += ", found " + found(source_, token);
      }
    }
  }
  std::string suggestion =
      hint(source_, token, what, describe(source_, context), inside_clause(context), stream);
  if (suggestion.empty() && what == "`}`" && token->getType() == P::NAME) {
    suggestion = support::did_you_mean(source_.text_of(token), {"let", "require", "shape", "dtype", "value",
                                                                "maps", "reduces", "linear", "because"});
  }
  support::Diagnostic diagnostic = support::error(std::string(id::syntax), span, message, suggestion);
  std::size_t first = context->start == nullptr ? 0 : context->start->getTokenIndex();
  for (const antlr4::ParserRuleContext* up = context; up != nullptr;
       up = static_cast<const antlr4::ParserRuleContext*>(up->parent)) {
    if (up->start != nullptr) first = up->start->getTokenIndex();
  }
  if (what == "`in`" && context->start != nullptr && context->start->getLine() != span.line) {
    diagnostic.notes.push_back({source_.span(context->start), "the `let` begins here"});
  }
  add_open_bracket(source_, stream, first, token->getTokenIndex(), diagnostic);
  throw SyntaxError(std::move(diagnostic));
}

void ErrorsInWords::refuse(antlr4::Parser* parser) const {
  throw SyntaxError(support::error(std::string(id::too_large), source_.span(parser->getCurrentToken()),
                                   "the expression is too long or nested too deeply"));
}

}  // namespace entangle::rules
