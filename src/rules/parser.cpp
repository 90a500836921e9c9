#include "rules/parser.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "rules/diagnostics.h"
#include "rules/lexer.h"
#include "rules/source.h"
#include "rules/syntax_error.h"
#include "rules/tokens.h"
#include "rules/tree.h"

namespace entangle::rules {
namespace {

// One character per byte, so that offsets are byte offsets whatever the text holds. What is not ASCII is
// allowed in comments and strings only, whose text is taken from the source.
class Ascii {
 public:
  explicit Ascii(std::string_view text) : text_(text) {
    if (is_ascii(text)) return;
    changed_ = text;
    for (char& c : changed_) {
      if (is_other(c)) c = '\x01';
    }
    if (text.starts_with("\xef\xbb\xbf")) changed_.replace(0, 3, "   ");
    text_ = changed_;
  }
  Ascii(const Ascii&) = delete;
  Ascii& operator=(const Ascii&) = delete;

  // Valid as long as this and the given text.
  std::string_view text() const { return text_; }

 private:
  // Eight at a time.
  static bool is_ascii(std::string_view text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    constexpr std::uint64_t kHighs = 0x80 * kOnes;
    std::uint64_t found = 0;
    for (; text.size() >= sizeof kOnes; text.remove_prefix(sizeof kOnes)) {
      std::uint64_t part = 0;
      std::memcpy(&part, text.data(), sizeof part);
      found |= (part | (part - kOnes)) & kHighs;  // the latter where one of them is 0
    }
    return found == 0 && std::ranges::none_of(text, is_other);
  }
  static bool is_other(char c) { return static_cast<unsigned char>(c) - 1U >= 0x7fU; }

  std::string_view text_;
  std::string changed_;  // where something is not ASCII
};

// Goes on to the next declaration. After a comment that is not closed nothing is what it seems.
void resynchronise(TokenList& tokens, const Source& source, std::vector<support::Diagnostic>& diagnostics) {
  while (tokens.LA(1) != antlr4::Token::EOF && !starts_declaration(tokens.LA(1))) {
    if (tokens.LA(1) == grammar::RulesParser::OPEN_COMMENT) {
      if (diagnostics.empty() || diagnostics.back().span != source.span(tokens.LT(1))) {
        diagnostics.push_back(
            support::error(std::string(id::syntax), source.span(tokens.LT(1)), "the comment is not closed"));
      }
      while (tokens.LA(1) != antlr4::Token::EOF) tokens.consume();
      return;
    }
    tokens.consume();
  }
}

// The tokens as the parser reads them.
std::vector<Token> tokens_of(std::string_view characters) {
  std::vector<Token> tokens = read_tokens(characters);
  mark_tokens(tokens);
  return tokens;
}

// What parsing needs, in the order of dependence.
struct Parsing {
  Parsing(const Source& text, std::vector<Token> all)
      : source(text), errors(source), tokens(std::move(all)), parser(&tokens) {
    parser.set_errors(errors);
  }

  Source source;
  ErrorsInWords errors;
  TokenList tokens;
  grammar::RulesParser parser;
};

}  // namespace

syntax::File parse_file(support::FileId file, std::vector<support::Diagnostic>& diagnostics) {
  syntax::File result;
  result.file = file;
  const std::string& text = support::source_text(file);
  std::vector<Token> tokens = tokens_of(Ascii(text).text());
  result.declarations.reserve(static_cast<std::size_t>(
      std::ranges::count_if(tokens, [](const Token& token) { return starts_declaration(token.getType()); })));
  Parsing parsing({text, {file, 1, 1, 0}}, std::move(tokens));
  while (parsing.tokens.LA(1) != antlr4::Token::EOF) {
    const std::size_t start = parsing.tokens.index();
    try {
      result.declarations.push_back(build_declaration(parsing.source, parsing.parser.declaration()));
      parsing.parser.clear();
    } catch (const SyntaxError& error) {
      diagnostics.push_back(error.diagnostic());
      if (parsing.tokens.index() == start && parsing.tokens.LA(1) != antlr4::Token::EOF)
        parsing.tokens.consume();
      resynchronise(parsing.tokens, parsing.source, diagnostics);
    }
  }
  return result;
}

std::optional<syntax::Node> parse_expression(std::string_view text, support::Span at,
                                             std::vector<support::Diagnostic>& diagnostics) {
  const Ascii characters(text);
  std::vector<Token> tokens = tokens_of(characters.text());
  join_names(tokens, characters.text());
  Parsing parsing({text, at}, std::move(tokens));
  try {
    return build_expression(parsing.source, parsing.parser.leaf()->value);
  } catch (const SyntaxError& error) {
    diagnostics.push_back(error.diagnostic());
    return std::nullopt;
  }
}

}  // namespace entangle::rules
