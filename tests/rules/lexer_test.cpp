// The short cut reads what the generated lexer reads.
#include "rules/lexer.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "RulesLexer.h"

namespace entangle::rules {
namespace {

std::string describe(const antlr4::Token& token, const std::string& text) {
  const std::size_t start = token.getStartIndex();
  std::ostringstream result;
  result << token.getType() << ' ' << start << '-' << token.getStopIndex() << " at " << token.getLine() << ':'
         << token.getCharPositionInLine() << ' ' << text.substr(start, token.getStopIndex() + 1 - start)
         << '\n';
  return result.str();
}

std::string generated(const std::string& text) {
  antlr4::ANTLRInputStream input(text);
  grammar::RulesLexer lexer(&input);
  lexer.removeErrorListeners();
  std::string result;
  for (;;) {
    const std::unique_ptr<antlr4::Token> token = lexer.nextToken();
    result += describe(*token, text);
    if (token->getType() == antlr4::Token::EOF) return result;
  }
}

void compare(const std::string& text) {
  CAPTURE(text);
  std::string fast;
  for (const Token& token : read_tokens(text)) fast += describe(token, text);
  CHECK(fast == generated(text));
}

}  // namespace

TEST_CASE("no token") {
  compare("");
  compare(" \n");
}

TEST_CASE("single tokens and their neighbours") {
  const char* const pieces[] = {
      "a",  "a_1",    "_",          "let",     "lets",    "0",        "12", "1.5",    "1.5e-3", "1e5",
      "1e", "1E+5",   "1e+",        "12e-07x", "1.",      "1..2",     "2d", "=",      "==",     "=>",
      "<",  "<=",     "<-",         "->",      "-",       "++",       "+",  "..",     ".",      "...",
      "\"", "\"a\"",  "\"a\\\"b\"", "\"a\n",   "\"\\",    "\"\\\n\"", "//", "// x\n", "/* */",  "/*",
      "/",  "*/",     "\n",         "\r\n",    " ",       "\t",       "$",  "\x01",   "@",      "|",
      "[",  "forall", "floordiv",   "with",    "without", "op"};
  for (const char* a : pieces) {
    compare(a);
    for (const char* b : pieces) compare(std::string(a) + b);
  }
}

TEST_CASE("random characters") {
  std::mt19937 random(1);
  const std::string characters = "ab_01.e+-*/=<>!&|()[]{};:,\"\\ \n\rletinforop@?";
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (int n = 0; n < 40; ++n) {
      text += characters[std::uniform_int_distribution<std::size_t>(0, characters.size() - 1)(random)];
    }
    compare(text);
  }
}

TEST_CASE("the library") {
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ENTANGLE_SOURCE_DIR) + "/rules")) {
    std::ifstream stream(entry.path());
    std::ostringstream text;
    text << stream.rdbuf();
    std::string ascii = text.str();
    std::erase_if(ascii, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    compare(ascii);
  }
}

}  // namespace entangle::rules
