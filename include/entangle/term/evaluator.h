// Evaluator: runs expressions of the rule language — conditions, attributes, right sides, lowerings — over a
// Store.
//
// Undefined results (an inexact division, an index outside its list, a term without a type, a question the
// solver cannot decide where a value is needed) are nullopt, never an error. Conditions are three-valued:
// undecided parts stay `unknown`, and only `yes` lets a rule apply.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/term/store.h"
#include "entangle/term/typing.h"

namespace entangle::term {

// A term, as a value of an expression.
struct Term {
  TermId id = kNoTerm;
  bool operator==(const Term&) const = default;
};

class Value;
using ValueList = std::shared_ptr<const std::vector<Value>>;

// What an expression evaluates to: an attribute value, an integer, a term, a type (of `result`), or a list.
// Cheap to copy: lists and types are shared.
class Value {
 public:
  using Data =
      std::variant<tensor::Attr, sym::Int, Term, std::shared_ptr<const tensor::TensorType>, ValueList>;

  Value() = default;                       // none
  Value(tensor::Attr attr);                // NOLINT(implicit): integers and lists are unpacked
  Value(sym::Int value) : data_(value) {}  // NOLINT(implicit)
  Value(Term term) : data_(term) {}        // NOLINT(implicit)
  Value(tensor::TensorType type);          // NOLINT(implicit)
  Value(std::vector<Value> list);          // NOLINT(implicit)
  static Value of(bool value) { return Value(tensor::Attr::of(value)); }

  bool is_none() const;
  const sym::Int* as_int() const { return std::get_if<sym::Int>(&data_); }
  const Term* as_term() const { return std::get_if<Term>(&data_); }
  const tensor::Attr* as_attr() const { return std::get_if<tensor::Attr>(&data_); }
  const tensor::TensorType* as_type() const;
  const std::vector<Value>* as_list() const;
  // As an attribute value; nullopt when a term or a type is inside.
  std::optional<tensor::Attr> to_attr() const;
  // The scalar of a number; 0 or 1 for a boolean.
  std::optional<sym::Scalar> to_scalar() const;
  // The truth of a boolean, or of the numbers 0 and 1.
  std::optional<bool> to_bool() const;

  // Whether they are written alike: the same ids of terms, the same polynomials.
  bool operator==(const Value& other) const;

 private:
  Data data_;
};

// The application a generic lemma has matched, and which of its operands is the focused one.
struct Focus {
  rules::OpId op = rules::kNoOp;
  tensor::Attr attrs;
  std::vector<TermId> children;
  std::size_t operand = 0;
  const Correspondence* correspondence = nullptr;  // null for `linear` and `elementwise`
  std::uint64_t hash = 0;                          // of everything but the operand, for who sets it
};

// The slots of one declaration while it is being matched or evaluated. A slot without a value is unbound.
struct Frame {
  std::vector<std::optional<Value>> slots;
  const Focus* focus = nullptr;
  std::span<Frame> members;  // collectives: the frames of the group in order, for `all(p)`
  bool* missed = nullptr;    // if given: set when a slot that is unbound is asked for

  // The value of a slot, if it is bound.
  const std::optional<Value>& value(rules::Slot slot) const {
    static const std::optional<Value> kUnbound;
    const std::optional<Value>& value = slot < slots.size() ? slots[slot] : kUnbound;
    if (!value && missed != nullptr) *missed = true;
    return value;
  }
};

// Pattern matching, which the evaluator needs for `has` and predicates; implemented by egraph::Matcher.
class PatternHost {
 public:
  virtual ~PatternHost() = default;
  // Whether the class `id` holds a match of `pattern` (new variables are bound in a copy of `frame`) for
  // which `condition` (may be null) holds.
  virtual bool has_match(TermId id, const rules::Expr& pattern, const rules::Expr* condition,
                         const Frame& frame) = 0;
  // The class of an existing term spelled by `expr`, without building anything; kNoTerm when it does not
  // exist.
  virtual TermId lookup(const rules::Expr& expr, Frame& frame) = 0;
};

class Evaluator {
 public:
  Evaluator(Store& store, Typing& typing, PatternHost* patterns);

  // The value of an expression; nullopt when undefined. Builds the terms it mentions.
  std::optional<Value> evaluate(const rules::Expr& expr, Frame& frame);
  // The truth of a condition. `named(t)` and the like look terms up without building them. `v == e` with `v`
  // unbound (the condition itself, or a conjunct of it) binds v in `frame`.
  smt::Truth holds(const rules::Expr& expr, Frame& frame);
  // The canonical operand for `expr` where a tensor is expected. A number becomes a tensor of `type` full of
  // it; without a type it is undefined.
  std::optional<TermId> evaluate_term(const rules::Expr& expr, Frame& frame,
                                      const tensor::TensorType* type = nullptr);
  // reshape(x; sizes) as merges, splits and unit axes.
  std::optional<TermId> reshape(TermId x, const std::vector<sym::Int>& sizes);
  // x broadcast to a shape (trailing axes aligned, unit axes repeated).
  std::optional<TermId> broadcast_to(TermId x, const std::vector<sym::Int>& shape);
  // All elements the scalar c.
  std::optional<TermId> full(const sym::Scalar& c, const tensor::TensorType& type);
  // Why the last evaluation was undefined, for diagnostics of lowerings ("" when unknown). Made when asked.
  const std::string& reason() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace entangle::term
