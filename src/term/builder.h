// The inside of Evaluator: expressions that build or look at terms of a Store.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "entangle/term/evaluator.h"
#include "term/interpreter.h"
#include "term/layout.h"

namespace entangle::term {

struct Evaluator::Impl final : Interpreter {
  Impl(Store& a_store, Typing& a_typing, PatternHost* a_host)
      : Interpreter(a_store.oracle()), store(a_store), typing(a_typing), host(a_host), layout(a_store) {}

  // A call from outside, possibly from inside another one (patterns evaluate conditions).
  class Entry {
   public:
    explicit Entry(Impl& impl) : impl_(impl), outer_failure_(impl.failed_) {
      if (impl_.depth_++ == 0) impl_.forget();
    }
    ~Entry() {
      if (--impl_.depth_ > 0) impl_.failed_ = outer_failure_;
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    Impl& impl_;
    const rules::Expr* outer_failure_;
  };

  smt::Truth condition(const rules::Expr& expr, Frame& frame);
  std::optional<TermId> operand(const rules::Expr& expr, Frame& frame, const tensor::TensorType* type);
  const std::string& reason();
  // Takes the reason of a layout that was asked for from outside.
  std::optional<TermId> explained(std::optional<TermId> result);

  Store& store;
  Typing& typing;
  PatternHost* host;
  Layout layout;

 protected:
  const tensor::TensorType* type_of(const Value& value) const override;
  bool same_term(Term a, Term b) const override { return store.same(a.id, b.id); }
  Maybe evaluate_special(const rules::Expr& expr, Frame& frame) override;
  smt::Truth holds_special(const rules::Expr& expr, Frame& frame) override;
  Maybe call_special(const rules::Expr& expr, Frame& frame) override;

 private:
  // An application that had no type. Only the outermost call's is kept.
  struct Untyped {
    const rules::Expr* expr = nullptr;
    rules::OpId op = rules::kNoOp;
    tensor::Attr attrs;
    std::vector<TermId> children;
  };
  struct Call {
    const rules::Predicate* predicate;
    std::vector<Value> arguments;
  };

  void forget();
  Maybe make(const rules::Expr& expr, rules::OpId op, const tensor::Attr& attrs,
             const std::vector<TermId>& children);
  Maybe apply(const rules::Expr& expr, Frame& frame);
  Maybe generic(const rules::Expr& expr, Frame& frame);
  bool operands(const rules::Operator& op, const std::vector<rules::Expr>& args, Frame& frame,
                std::vector<TermId>& into);
  std::optional<tensor::Attr> attributes(const rules::Operator& op, const rules::Expr& expr, Frame& frame);
  // The class of a term without building it where that is possible: kNoTerm when it does not exist, nullopt
  // when undefined.
  std::optional<TermId> locate(const rules::Expr& expr, Frame& frame);
  std::optional<std::vector<sym::Int>> sizes(const rules::Expr& expr, Frame& frame);
  std::optional<TermId> tensor(const rules::Expr& expr, Frame& frame);
  Maybe laid_out(const rules::Expr& expr, std::optional<TermId> result);
  smt::Truth others(const rules::Expr& expr, Frame& frame);
  smt::Truth predicate(const rules::Expr& expr, Frame& frame);

  int depth_ = 0;
  Untyped untyped_;
  const rules::Expr* layout_failed_ = nullptr;
  std::string reason_;
  std::vector<Call> calls_;          // predicates being evaluated
  std::size_t predicate_steps_ = 0;  // of this outermost call
  std::unordered_map<const rules::Expr*, const rules::Predicate*> predicates_;
};

}  // namespace entangle::term
