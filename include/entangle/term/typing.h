// Typing: shapes, dtypes and axis traits of operators, computed from their clauses in the rule files.
//
// No operator is known here by name. Axis correspondences depend on attributes, ranks and dtypes only and are
// cached by them. Not safe for concurrent use: one Typing per thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/smt/oracle.h"
#include "entangle/sym/scalar.h"
#include "entangle/tensor/attr.h"
#include "entangle/tensor/type.h"
#include "entangle/term/store.h"

namespace entangle::term {

inline constexpr int kNoAxis = -1;

// One axis correspondence of an application: result axis (kNoAxis for a reduction) and, per child (list
// parameters flattened), its axis or kNoAxis.
struct Correspondence {
  std::size_t clause = 0;  // index into Operator::axes, or SIZE_MAX for the implied one of `elementwise`
  int result = kNoAxis;
  std::vector<int> operands;
};

struct AxisInfo {
  std::vector<Correspondence> maps, sums, maxima;
  std::vector<bool> linear;  // per child
};

using Types = std::span<const tensor::TensorType* const>;

class Typing {
 public:
  Typing(const rules::RuleSet& rules, smt::Oracle& oracle);
  ~Typing();

  const rules::RuleSet& rules() const;
  smt::Oracle& oracle() const;

  // The type of op(children; attrs). On failure nullopt, and `why` (if given) says which requirement fails or
  // cannot be decided. Checks the number of children, attribute kinds and every `require`.
  std::optional<tensor::TensorType> type_of(rules::OpId op, const tensor::Attr& attrs, Types children,
                                            std::string* why = nullptr);
  // The axis correspondences of a well-typed application; the reference stays valid.
  const AxisInfo& axes(rules::OpId op, const tensor::Attr& attrs, Types children);
  // The attributes after the axis of `correspondence` was split in two (its axis became a, a+1 in every
  // operand that has it, and r, r+1 in the result), joined with its right neighbour, or dropped; nullopt when
  // an attribute cannot express it. Derived from the typed attributes alone.
  std::optional<tensor::Attr> shifted(rules::OpId op, const tensor::Attr& attrs, Types children,
                                      const Correspondence& correspondence, rules::Shift shift);
  // The element of an application all of whose operands are uniform, by its `value` clause, where that is an
  // exact scalar for every index; nullopt otherwise. For `rearranges` operators: the operands' common value.
  std::optional<sym::Scalar> fold(rules::OpId op, const tensor::Attr& attrs, Types children,
                                  std::span<const sym::Scalar> values);
  // Bounds of the elements of an application with an integer type, from those of its operands.
  Interval bounds(rules::OpId op, const tensor::Attr& attrs, Types children,
                  std::span<const Interval> intervals, const tensor::TensorType& type);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entangle::term
