// Interpreter: the part of the rule language that needs no terms — integers, scalars, lists, conditions.
//
// What tensors are depends on who asks: Typing knows the types of an application's children, Evaluator a
// Store. Both derive from this class and answer the virtual functions. Undefined is nullopt; a part of a
// condition that is undefined or undecided is `unknown` (Kleene), so that neither it nor its negation holds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "entangle/smt/oracle.h"
#include "entangle/term/evaluator.h"

namespace entangle::term {

using Maybe = std::optional<Value>;

// Longer lists than any shape or any number of ranks are a mistake in a rule, and undefined.
inline constexpr std::size_t kMaxList = 1 << 16;

bool is_comparison(rules::Operation operation);
// Integers, scalars, and booleans as 0 and 1.
bool is_number(const Value& value);
// Whether the value of an expression is the truth of a condition.
bool is_condition(const rules::Expr& expr);

class Interpreter {
 public:
  explicit Interpreter(smt::Oracle& oracle) : oracle_(oracle) {}
  virtual ~Interpreter() = default;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  Maybe evaluate(const rules::Expr& expr, Frame& frame);
  smt::Truth holds(const rules::Expr& expr, Frame& frame);

  smt::Truth equal(const Value& a, const Value& b);
  Maybe arithmetic(rules::Operation operation, const Value& a, const Value& b, bool as_scalar = false);
  // The larger (or smaller) of two numbers.
  Maybe extreme(const Value& a, const Value& b, bool larger);

  smt::Oracle& oracle() const { return oracle_; }

 protected:
  // The type of a tensor; null when the value is not one.
  virtual const tensor::TensorType* type_of(const Value& value) const { return value.as_type(); }
  virtual bool same_term(Term a, Term b) const { return a == b; }
  // Expressions only the derived class understands: applications, `has`, …
  virtual Maybe evaluate_special(const rules::Expr&, Frame&) { return std::nullopt; }
  virtual smt::Truth holds_special(const rules::Expr&, Frame&) { return smt::Truth::unknown; }
  // Built-in functions only the derived class understands.
  virtual Maybe call_special(const rules::Expr&, Frame&) { return std::nullopt; }
  // The value of a scalar function; by default where it is exact in real arithmetic.
  virtual std::optional<sym::Scalar> function(const std::string& name,
                                              std::span<const sym::Scalar> arguments);
  // Whether a choice that cannot be decided but makes no difference has a value.
  virtual bool indifferent() const { return false; }
  // The innermost expression that made the last evaluation undefined.
  const rules::Expr* failed_ = nullptr;

  // Runs `body` for each entry of the list `source`, with the binders from `first` on bound to it, until it
  // returns false. False when the source is no list or an entry does not fit the binders.
  template <class Body>
  bool each(const rules::Expr& expr, std::size_t first, const rules::Expr& source, Frame& frame, Body&& body);
  // The constant of an integer value.
  static std::optional<std::int64_t> constant(const Maybe& value);
  static const rules::Expr& argument(const rules::Expr& expr, std::size_t index);
  static std::size_t argument_count(const rules::Expr& expr) { return expr.args.size() + expr.attrs.size(); }

 private:
  Maybe dispatch(const rules::Expr& expr, Frame& frame);
  Maybe index(const rules::Expr& expr, Frame& frame);
  Maybe common(std::span<const Value> values);
  Maybe range(const rules::Expr& expr, Frame& frame);
  Maybe with(const rules::Expr& expr, Frame& frame);
  Maybe without(const rules::Expr& expr, Frame& frame);
  Maybe list(const rules::Expr& expr, Frame& frame);
  Maybe conditional(const rules::Expr& expr, Frame& frame);
  Maybe comprehension(const rules::Expr& expr, Frame& frame);
  Maybe accumulate(const rules::Expr& expr, Frame& frame);
  Maybe scalar_call(const rules::Expr& expr, Frame& frame);
  Maybe let(const rules::Expr& expr, Frame& frame);
  Maybe aggregate(const rules::Expr& expr, Frame& frame);
  Maybe binary(const rules::Expr& expr, Frame& frame);
  Maybe as_condition(const rules::Expr& expr, Frame& frame);
  Maybe call(const rules::Expr& expr, Frame& frame);
  Maybe combine(rules::Builtin builtin, std::span<const Value> values);

  bool bind(std::span<const rules::Slot> binders, const Value& item, Frame& frame);
  smt::Truth compare(rules::Operation operation, const Value& a, const Value& b);
  smt::Truth holds_binary(const rules::Expr& expr, Frame& frame);
  smt::Truth quantified(const rules::Expr& expr, Frame& frame);
  smt::Truth holds_call(const rules::Expr& expr, Frame& frame);

  smt::Oracle& oracle_;
};

// Sets slots back to what they held.
class Restore {
 public:
  Restore(Frame& frame, std::span<const rules::Slot> slots) : frame_(frame), slots_(slots) {
    saved_.reserve(slots.size());
    for (const rules::Slot slot : slots) saved_.push_back(std::move(frame.slots[slot]));
    for (const rules::Slot slot : slots) frame.slots[slot].reset();
  }
  ~Restore() {
    for (std::size_t i = 0; i < slots_.size(); ++i) frame_.slots[slots_[i]] = std::move(saved_[i]);
  }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  Frame& frame_;
  std::span<const rules::Slot> slots_;
  std::vector<std::optional<Value>> saved_;
};

template <class Body>
bool Interpreter::each(const rules::Expr& expr, std::size_t first, const rules::Expr& source, Frame& frame,
                       Body&& body) {
  const Maybe items = evaluate(source, frame);
  const std::vector<Value>* list = items ? items->as_list() : nullptr;
  if (list == nullptr) return false;
  const std::span<const rules::Slot> binders = std::span(expr.binders).subspan(first);
  const Restore restore(frame, binders);
  for (const Value& item : *list) {
    if (!bind(binders, item, frame)) return false;
    if (!body()) break;
  }
  return true;
}

// Built-in functions on lists of values, shared by both: permute, inverse, complement, insert_at, pairs, …
Maybe list_function(Interpreter& interpreter, rules::Builtin builtin, std::span<const Value> arguments);

// The values that are exact in real arithmetic, of functions every rule library means the same by: exp(0) is
// 1, exp(-inf) is 0, sqrt(4) is 2, max(x, -inf) is x.
std::optional<sym::Scalar> exact_value(smt::Oracle& oracle, const std::string& name,
                                       std::span<const sym::Scalar> arguments);

// Comparison of scalars, with the solver's help where they have symbols.
smt::Truth scalars_equal(smt::Oracle& oracle, const sym::Scalar& a, const sym::Scalar& b);
smt::Truth scalars_less(smt::Oracle& oracle, const sym::Scalar& a, const sym::Scalar& b, bool or_equal);

}  // namespace entangle::term
