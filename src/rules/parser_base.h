// What the generated parser stands on (`superClass` in grammar/Rules.g4): ANTLR's parser, of which the steps
// that are made for every token and every rule are replaced by what they come to here. The grammar is decided
// by one token, no parse tree is kept, nobody listens and no error is repaired: so a rule is entered and left
// by setting two pointers, and its context, which holds what the grammar labels, lives until clear().
//
// The generated code calls these by name: the members that hide or override those of antlr4::Parser have
// their names.
#pragma once

#include <antlr4-runtime.h>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "rules/token_list.h"

namespace entangle::rules {

// Contexts in blocks of memory that are used again.
class ContextArena {
 public:
  ContextArena() = default;
  ContextArena(const ContextArena&) = delete;
  ContextArena& operator=(const ContextArena&) = delete;
  ~ContextArena() { clear(); }

  template <class T, class... Arguments>
  T* createInstance(Arguments&&... arguments) {
    static_assert(sizeof(T) <= kBlock && alignof(T) <= alignof(std::max_align_t));
    constexpr std::size_t kSize =
        (sizeof(T) + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
    if (blocks_.empty() || used_ + kSize > kBlock) next_block();
    T* result = new (blocks_[block_].get() + used_) T(std::forward<Arguments>(arguments)...);
    used_ += kSize;
    all_.push_back(result);
    return result;
  }

  void clear() {
    for (antlr4::tree::ParseTree* one : all_) std::destroy_at(one);
    all_.clear();
    block_ = 0;
    used_ = 0;
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 15;
  void next_block() {
    block_ += blocks_.empty() ? 0 : 1;
    if (block_ == blocks_.size()) blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlock));
    used_ = 0;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::vector<antlr4::tree::ParseTree*> all_;
  std::size_t block_ = 0;
  std::size_t used_ = 0;
};

// What becomes of errors: the parsing ends with an exception, which is none of ANTLR's.
class ErrorHandler {
 public:
  virtual ~ErrorHandler() = default;
  // The current token does not fit.
  [[noreturn]] virtual void fail(antlr4::Parser* parser) const = 0;
  // Rules are nested too deeply, so that no input overflows the stack.
  [[noreturn]] virtual void refuse(antlr4::Parser* parser) const = 0;

  [[noreturn]] antlr4::Token* recoverInline(antlr4::Parser* parser) const { fail(parser); }
  [[noreturn]] void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& /*error*/) const {
    fail(parser);
  }
  void recover(antlr4::Parser* /*parser*/, const std::exception_ptr& /*error*/) const {}
  void reportMatch(antlr4::Parser* /*parser*/) const {}
  void sync(antlr4::Parser* /*parser*/) const {}
};

class ParserBase : public antlr4::Parser {
 public:
  // `input` is a TokenList.
  explicit ParserBase(antlr4::TokenStream* input)
      : antlr4::Parser(input), _input(static_cast<TokenList*>(input)) {}

  // To be called before parsing; the handler must outlive the parser.
  void set_errors(const ErrorHandler& errors) { _errHandler = &errors; }
  // Ends the life of all contexts.
  void clear() { _tracker.clear(); }

  std::size_t getState() const final { return _state; }
  void setState(std::size_t state) { _state = state; }

  antlr4::Token* match(std::size_t type) final {
    Token* token = _input->LT(1);
    if (token->getType() != type) _errHandler->fail(this);
    if (type == antlr4::Token::EOF) _matchedEOF = true;
    _input->consume();
    return token;
  }
  antlr4::Token* consume() final {
    Token* token = _input->LT(1);
    _input->consume();
    return token;
  }

  void enterRule(antlr4::ParserRuleContext* context, std::size_t state, std::size_t /*rule*/) final {
    _state = state;
    _ctx = context;
    context->start = _input->LT(1);
    ++_depth;
    // Nobody gets much deeper between two of these checks.
    if (++_calls % 64 == 0 && _depth > kDeepest) _errHandler->refuse(this);
  }
  void exitRule() {
    _ctx->stop = _input->LT(_matchedEOF ? 1 : -1);
    _state = _ctx->invokingState;
    _ctx = static_cast<antlr4::ParserRuleContext*>(_ctx->parent);
    --_depth;
  }
  void enterOuterAlt(antlr4::ParserRuleContext* /*context*/, std::size_t /*alternative*/) final {}

 protected:
  // Runs a function at the end of a block.
  template <class Function>
  struct Finally {
    Function function;
    ~Finally() { function(); }
  };
  template <class Function>
  static Finally<Function> finally(Function function) {
    return {std::move(function)};
  }

  TokenList* _input;
  ContextArena _tracker;
  const ErrorHandler* _errHandler = nullptr;

 private:
  static constexpr std::size_t kDeepest = 1200;

  std::size_t _state = static_cast<std::size_t>(-1);
  std::size_t _depth = 0;
  std::size_t _calls = 0;
};

}  // namespace entangle::rules
