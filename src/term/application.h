// What Typing knows of an operator beside its clauses, and the evaluation of those clauses for one
// application.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "entangle/support/hash.h"
#include "entangle/term/typing.h"
#include "term/interpreter.h"

namespace entangle::term {

inline constexpr std::size_t kNoParameter = ~std::size_t{0};

// Where the typed attributes of an operator point, looked up once.
struct Signature {
  const rules::Operator* op = nullptr;
  std::size_t list = kNoParameter;               // the list parameter
  std::vector<std::size_t> of;                   // per attribute: the tensor parameter of axis(x), perm(x)
  std::vector<bool> of_result;                   // per attribute: axis(result)
  std::vector<std::vector<std::size_t>> counts;  // per attribute: the clauses of count(c)

  explicit Signature(const rules::Operator& op);
  // Whether `children` operands fit the parameters.
  bool accepts(std::size_t children) const;
  // The children of a tensor parameter: [first, last).
  std::pair<std::size_t, std::size_t> children_of(std::size_t parameter, std::size_t children) const;
};

// The interpreter of an operator's clauses: a tensor is the number of the child.
class Clauses : public Interpreter {
 public:
  explicit Clauses(smt::Oracle& oracle) : Interpreter(oracle) {}

  // Binds parameters and attributes in the frame, then the lets (those that are undefined stay unbound).
  // Attributes must be as many as there are parameters for them.
  void bind(const Signature& signature, const tensor::Attr& attrs, Types children);
  Frame& frame() { return frame_; }
  Types children() const { return children_; }

 protected:
  const tensor::TensorType* type_of(const Value& value) const override {
    const Term* term = value.as_term();
    return term != nullptr && term->id < children_.size() ? children_[term->id] : nullptr;
  }

  Types children_;

 private:
  Frame frame_;
};

// An integer as a number of another type, or a number cut to an integer: rounding is not modelled, but
// between floats nothing is known. (Truths are dealt with by lemmas.)
std::optional<sym::Scalar> converted(const sym::Scalar& value, tensor::DType from, tensor::DType to);

// Evaluates a `value` clause at an unknown index, where every operand is one scalar everywhere.
class Folding final : public Clauses {
 public:
  Folding(const rules::RuleSet& rules, smt::Oracle& oracle);

  std::optional<sym::Scalar> run(const Signature& signature, const tensor::Attr& attrs, Types children,
                                 std::span<const sym::Scalar> values);

 protected:
  Maybe evaluate_special(const rules::Expr& expr, Frame& frame) override;
  Maybe call_special(const rules::Expr& expr, Frame& frame) override;
  std::optional<sym::Scalar> function(const std::string& name,
                                      std::span<const sym::Scalar> arguments) override;
  bool indifferent() const override { return true; }

 private:
  Maybe element(const Value& tensor) const;
  Maybe common_element(const std::vector<Value>& tensors) const;
  Maybe reduction(const rules::Expr& expr, Frame& frame);

  const rules::RuleSet& rules_;
  std::span<const sym::Scalar> values_;
  // f(constants) -> constant, from the laws without variables.
  std::vector<const rules::Law*> closed_laws_;
};

// Bounds of what a `value` clause can give for integers, at any index, from the bounds of the operands'
// elements.
class Bounding final : public Clauses {
 public:
  explicit Bounding(smt::Oracle& oracle) : Clauses(oracle) {}

  // `type` is that of the application.
  Interval run(const Signature& signature, const tensor::Attr& attrs, Types children,
               std::span<const Interval> intervals, const tensor::TensorType& type);

 private:
  Interval of(const rules::Expr& expr, Frame& frame);
  Interval binary(const rules::Expr& expr, Frame& frame);
  Interval element(const rules::Expr& expr, Frame& frame);
  Interval reduction(const rules::Expr& expr, Frame& frame);
  Interval aggregate(const rules::Expr& expr, Frame& frame);
  Interval operand(const Value& tensor) const;
  // Of any entry of a list.
  Interval common(const Maybe& list);
  Interval hull(const Interval& a, const Interval& b);
  // Of the greater of two numbers, or of the lesser.
  Interval greatest(const Interval& a, const Interval& b, bool larger);
  // Of a scalar function.
  Interval function(const rules::Expr& expr, Frame& frame);
  Interval times(const sym::Int& factor, const Interval& interval);

  std::span<const Interval> intervals_;
  const tensor::TensorType* type_ = nullptr;
  rules::Slot index_ = rules::kNoSlot;                       // the index vector
  std::vector<std::pair<rules::Slot, Interval>> positions_;  // bound by reductions
};

// A cache key: an application up to what the answer depends on. One is kept for look-ups, so that they do not
// allocate.
struct Key {
  rules::OpId op = rules::kNoOp;
  tensor::Attr attrs;
  std::vector<sym::Int> types;

  void set(rules::OpId an_op, const tensor::Attr& an_attrs) {
    op = an_op;
    attrs = an_attrs;
    types.clear();
  }
  // Rank and element type; the sizes follow where they matter.
  void add(const tensor::TensorType& type) {
    types.emplace_back(static_cast<std::int64_t>((type.rank() << 8) | static_cast<std::size_t>(type.dtype)));
  }
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t hash = support::hash_combine(key.op, key.attrs.hash());
    for (const sym::Int size : key.types) hash = (hash ^ size.hash()) * 0x9e3779b97f4a7c15ULL;
    return support::mix(hash);
  }
};

struct Typing::Impl {
  Impl(const rules::RuleSet& a_rules, smt::Oracle& an_oracle)
      : rules(a_rules),
        oracle(an_oracle),
        signatures(rules.operators().size()),
        clauses(an_oracle),
        folding(a_rules, an_oracle),
        bounding(an_oracle) {}

  // Looked up when it is first asked for.
  const Signature& signature(rules::OpId op) {
    std::unique_ptr<const Signature>& known = signatures[op];
    if (known == nullptr) known = std::make_unique<const Signature>(rules.op(op));
    return *known;
  }

  std::optional<tensor::TensorType> infer(const Signature& signature, const tensor::Attr& attrs,
                                          Types children, std::string* why);
  AxisInfo correspondences(const Signature& signature, const tensor::Attr& attrs, Types children);

  const rules::RuleSet& rules;
  smt::Oracle& oracle;
  std::vector<std::unique_ptr<const Signature>> signatures;  // by operator, once they are asked for
  Clauses clauses;
  Folding folding;
  Bounding bounding;
  std::unordered_map<Key, std::optional<tensor::TensorType>, KeyHash> types;
  std::unordered_map<Key, std::unique_ptr<const AxisInfo>, KeyHash> axes;
  Key key;
};

}  // namespace entangle::term
