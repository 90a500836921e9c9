// Floating: the elements of terms of an e-graph in double precision, with the true scalar functions.
//
// The counterpart of Interpreter for whole programs: lower graphs (graph/lower.h), set the leaves and ask for
// the terms of results. Every term is evaluated as it was built, from its operator's `value` clause; sizes
// must be constant. Reals are doubles: nothing is rounded to a narrower type, so a cast between
// floating-point types is the identity; integers are exact up to 2^53. What is undefined (uninitialised
// memory, random numbers, operators without a `value` that the caller does not describe) has no value.
// Deterministic.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "entangle/egraph/egraph.h"
#include "entangle/eval/array.h"

namespace entangle::eval {

using RealArray = RowMajor<double>;

// An application of an operator without a `value` clause.
struct Application {
  const rules::Operator& op;
  const tensor::Attr& attrs;
  const std::vector<const RealArray*>& operands;
  const tensor::TensorType& type;  // of the result
};

class Floating {
 public:
  // Computes an application of an operator without a `value` clause; nullopt where it cannot.
  using Inside = std::function<std::optional<RealArray>(const Application&)>;

  explicit Floating(const egraph::EGraph& graph, Inside inside = {});

  // What a leaf holds.
  void set(egraph::TermId leaf, RealArray value) { values_.insert_or_assign(leaf, std::move(value)); }
  // The elements of a term; null where something is undefined, and `why` says what.
  const RealArray* value(egraph::TermId id);
  const std::string& why() const { return why_; }

 private:
  RealArray compute(egraph::TermId id);

  const egraph::EGraph& graph_;
  Inside inside_;
  std::unordered_map<egraph::TermId, RealArray> values_;
  std::string why_;
};

}  // namespace entangle::eval
