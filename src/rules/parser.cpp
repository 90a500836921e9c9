#include "rules/parser.h"

#include <string>
#include <utility>

#include "RulesLexer.h"
#include "RulesParser.h"
#include "rules/source.h"
#include "rules/syntax_error.h"
#include "rules/tree.h"

namespace entangle::rules {
namespace {

using P = grammar::RulesParser;

// One character per byte, so that offsets are byte offsets whatever the text holds. What is not ASCII is
// allowed in comments and strings only, whose text is taken from the source.
std::string ascii(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) >= 0x80 || c == '\0') c = '\x01';
  }
  if (text.starts_with("\xef\xbb\xbf")) result.replace(0, 3, "   ");
  return result;
}

bool is_closing(std::size_t type) {
  return type == P::CLOSE_ROUND || type == P::CLOSE_SQUARE || type == P::CLOSE_CURLY;
}

// Makes the `in` that ends the value of a `let` a token of its own: the grammar could not tell it from the
// operator `in`, or from that of a comprehension or quantifier inside the value.
void mark_let_in(antlr4::CommonTokenStream& tokens) {
  std::vector<std::size_t> open;  // brackets, and LET, FOR, FORALL that wait for their `in`
  std::size_t previous = P::SEMICOLON;
  const auto drop_to_bracket = [&] {
    while (!open.empty() && (open.back() == P::LET || open.back() == P::FOR || open.back() == P::FORALL)) {
      open.pop_back();
    }
  };
  for (antlr4::Token* token : tokens.getTokens()) {
    const std::size_t type = token->getType();
    if (previous == P::DOT) {
      previous = type;
      continue;
    }
    switch (type) {
      case P::OPEN_ROUND:
      case P::OPEN_SQUARE:
      case P::OPEN_CURLY:
        open.push_back(type);
        break;
      case P::SEMICOLON:
      case P::COMMA:
        if (open.empty() || open.back() == P::LET) drop_to_bracket();
        break;
      case P::LET:
        // A clause is not followed by `in`.
        if (!(previous == P::OPEN_CURLY || ((previous == P::SEMICOLON || previous == P::CLOSE_CURLY) &&
                                            !open.empty() && open.back() == P::OPEN_CURLY))) {
          open.push_back(P::LET);
        }
        break;
      case P::FOR:
        open.push_back(P::FOR);
        break;
      case P::FORALL:
      case P::EXISTS:
        open.push_back(P::FORALL);
        break;
      case P::COLON:
        if (!open.empty() && open.back() == P::FORALL) open.pop_back();
        break;
      case P::IN:
        if (open.empty()) break;
        if (open.back() == P::FOR) {
          open.pop_back();
        } else if (open.back() == P::LET) {
          static_cast<antlr4::CommonToken*>(token)->setType(P::LET_IN);
          open.pop_back();
        }
        break;
      default:
        if (is_closing(type)) {
          drop_to_bracket();
          if (!open.empty()) open.pop_back();
        }
        break;
    }
    previous = type;
  }
}

// In a manifest, what is joined by dots is one name: `r0.layers.3.wq`. Makes everything after the first dot
// one token.
void join_names(antlr4::CommonTokenStream& tokens) {
  const auto& all = tokens.getTokens();
  const auto adjacent = [&](std::size_t i) {
    return i + 1 < all.size() && all[i + 1]->getType() != antlr4::Token::EOF &&
           all[i + 1]->getStartIndex() == all[i]->getStopIndex() + 1;
  };
  const auto part = [&](std::size_t i) {
    const std::size_t type = all[i]->getType();
    const char first = all[i]->getText()[0];
    return type == P::INT || type == P::DECIMAL || type == P::DOT || first == '_' ||
           (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  };
  for (std::size_t i = 0; i + 2 < all.size(); ++i) {
    if (all[i]->getType() != P::NAME || all[i + 1]->getType() != P::DOT || !adjacent(i) || !adjacent(i + 1)) {
      continue;
    }
    const std::size_t first = i + 2;
    if (!part(first)) continue;
    std::size_t last = first;
    while (adjacent(last) && part(last + 1)) ++last;
    auto* joined = static_cast<antlr4::CommonToken*>(all[first]);
    joined->setType(P::NAME);
    joined->setStopIndex(all[last]->getStopIndex());
    for (std::size_t k = first + 1; k <= last; ++k) {
      static_cast<antlr4::CommonToken*>(all[k])->setChannel(antlr4::Token::HIDDEN_CHANNEL);
    }
    i = last;
  }
}

bool starts_declaration(std::string_view word) {
  for (const std::string_view keyword :
       {"include", "accept", "op", "def", "function", "law", "lemma", "axiom", "normalise", "predicate",
        "lower", "collective", "send", "recv"}) {
    if (word == keyword) return true;
  }
  return false;
}

// Goes on to what looks like the next declaration: a keyword at the start of a line, or after `;` or `}`.
void resynchronise(antlr4::CommonTokenStream& tokens, const Source& source) {
  if (tokens.LA(1) != antlr4::Token::EOF && tokens.index() == 0) tokens.consume();
  while (tokens.LA(1) != antlr4::Token::EOF) {
    const antlr4::Token* token = tokens.LT(1);
    const std::size_t previous = tokens.LT(-1)->getType();
    if (starts_declaration(source.text_of(token)) &&
        (token->getCharPositionInLine() == 0 || previous == P::SEMICOLON || previous == P::CLOSE_CURLY)) {
      return;
    }
    tokens.consume();
  }
}

// Everything that one parse needs, in the order of dependence.
struct Parsing {
  Parsing(std::string_view text, support::Span origin)
      : source{text, origin},
        input(ascii(text)),
        lexer(&input),
        tokens(&lexer),
        parser(&tokens),
        depth(source) {
    lexer.removeErrorListeners();
    parser.removeErrorListeners();
    parser.addParseListener(&depth);
    parser.setErrorHandler(std::make_shared<ErrorStrategy>(source));
    parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(
        antlr4::atn::PredictionMode::SLL);
    tokens.fill();
    mark_let_in(tokens);
  }

  Source source;
  antlr4::ANTLRInputStream input;
  grammar::RulesLexer lexer;
  antlr4::CommonTokenStream tokens;
  P parser;
  DepthLimit depth;
};

}  // namespace

syntax::File parse_file(support::FileId file, std::vector<support::Diagnostic>& diagnostics) {
  syntax::File result;
  result.file = file;
  Parsing parsing(support::source_text(file), support::Span{file, 1, 1, 0});
  while (parsing.tokens.LA(1) != antlr4::Token::EOF) {
    const std::size_t start = parsing.tokens.index();
    parsing.depth.reset();
    try {
      result.declarations.push_back(build_declaration(parsing.source, parsing.parser.declaration()));
    } catch (const SyntaxError& error) {
      diagnostics.push_back(error.diagnostic());
      if (parsing.tokens.index() == start && parsing.tokens.LA(1) != antlr4::Token::EOF)
        parsing.tokens.consume();
      resynchronise(parsing.tokens, parsing.source);
    }
  }
  return result;
}

std::optional<syntax::Node> parse_expression(std::string_view text, support::Span at,
                                             std::vector<support::Diagnostic>& diagnostics) {
  Parsing parsing(text, at);
  join_names(parsing.tokens);
  try {
    return build_expression(parsing.source, parsing.parser.leaf()->expr());
  } catch (const SyntaxError& error) {
    diagnostics.push_back(error.diagnostic());
    return std::nullopt;
  }
}

}  // namespace entangle::rules
