#include "rules/tokens.h"

#include <utility>
#include <vector>

#include "RulesParser.h"

namespace entangle::rules {
namespace {

using L = grammar::RulesParser;

bool starts_clause(std::size_t type) {
  return (type >= L::REQUIRE && type <= L::LINEAR) || type == L::LET || type == L::BECAUSE;
}

// What is open where a token stands: brackets, and LET, FOR and FORALL that wait for their `in` or `:`.
class Open {
 public:
  bool empty() const { return stack_.empty(); }
  bool is(std::size_t type) const { return !stack_.empty() && stack_.back() == type; }
  void push(std::size_t type) { stack_.push_back(type); }
  void pop() { stack_.pop_back(); }
  void clear() { stack_.clear(); }
  // Whatever waits inside the innermost bracket waits in vain.
  void drop_to_bracket() {
    while (is(L::LET) || is(L::FOR) || is(L::FORALL)) pop();
  }
  void close() {
    drop_to_bracket();
    if (!empty()) pop();
  }

 private:
  std::vector<std::size_t> stack_;
};

}  // namespace

bool starts_declaration(std::size_t token) {
  return token >= L::INCLUDE && token <= L::RECV;
}

void mark_tokens(std::vector<Token>& tokens) {
  Open open;
  std::size_t previous = L::SEMICOLON;
  for (Token& token : tokens) {
    std::size_t type = token.getType();
    const auto become = [&](std::size_t other) {
      token.set_type(other);
      type = other;
    };
    const bool ended = previous == L::SEMICOLON || previous == L::CLOSE_CURLY;
    if (starts_declaration(type)) {
      const bool begins = (open.empty() && ended) || previous == L::NORMALISE ||
                          (token.getCharPositionInLine() == 0 && previous != L::DOT);
      if (begins) {
        open.clear();  // what is open is an error
      } else {
        become(L::NAME);
      }
    } else if (starts_clause(type) && type != L::LET && type != L::BECAUSE) {
      if (!open.is(L::OPEN_CURLY) || !(ended || previous == L::OPEN_CURLY)) become(L::NAME);
    } else {
      // After a dot stands a name, whatever it is.
      const bool member = previous == L::DOT;
      switch (type) {
        case L::OPEN_ROUND:
        case L::OPEN_SQUARE:
        case L::OPEN_CURLY:
          open.push(type);
          break;
        case L::CLOSE_ROUND:
        case L::CLOSE_SQUARE:
        case L::CLOSE_CURLY:
          open.close();
          break;
        case L::SEMICOLON:
          open.drop_to_bracket();
          break;
        case L::LET:
          // A clause is not followed by `in`.
          if (!member && !(open.is(L::OPEN_CURLY) && (ended || previous == L::OPEN_CURLY))) open.push(L::LET);
          break;
        case L::FOR:
          if (!member) open.push(L::FOR);
          break;
        case L::FORALL:
        case L::EXISTS:
          if (!member) open.push(L::FORALL);
          break;
        case L::COLON:
          if (open.is(L::FORALL)) open.pop();
          break;
        case L::IN:
          if (member) break;
          if (open.is(L::FOR)) {
            open.pop();
          } else if (open.is(L::LET)) {
            become(L::LET_IN);
            open.pop();
          }
          break;
        default:
          break;
      }
    }
    previous = type;
  }
}

void join_names(std::vector<Token>& tokens, std::string_view text) {
  const auto adjacent = [&](std::size_t i) {
    return i + 1 < tokens.size() && tokens[i + 1].getType() != antlr4::Token::EOF &&
           tokens[i + 1].getStartIndex() == tokens[i].getStopIndex() + 1;
  };
  const auto part = [&](std::size_t i) {
    const std::size_t type = tokens[i].getType();
    const char first = text[tokens[i].getStartIndex()];
    return type == L::INT || type == L::DECIMAL || type == L::DOT || first == '_' ||
           (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  };
  std::vector<Token> joined;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    joined.push_back(tokens[i]);
    const bool dotted = tokens[i].getType() == L::NAME && adjacent(i) && tokens[i + 1].getType() == L::DOT &&
                        adjacent(i + 1) && part(i + 2);
    if (!dotted) continue;
    std::size_t last = i + 2;
    while (adjacent(last) && part(last + 1)) ++last;
    joined.push_back(tokens[i + 1]);
    joined.push_back(tokens[i + 2]);
    joined.back().set_type(L::NAME);
    joined.back().extend(tokens[last]);
    i = last;
  }
  tokens = std::move(joined);
}

}  // namespace entangle::rules
