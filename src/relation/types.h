// Types of clean expressions over the tensors of the ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/relation/resolve.h"
#include "entangle/term/typing.h"

namespace entangle::relation {

// A clean expression with the types of all its parts; points into the expression.
struct Typed {
  const Clean* clean = nullptr;
  tensor::TensorType type;
  std::vector<Typed> children;
};

// The type of a node with a single result; throws Failure for others, with `span` as the place that names it.
const tensor::TensorType& type_of(const graph::Graph& graph, graph::NodeIndex node, support::Span span);

// Negative axes of the application become those counted from the front; `children` are the types of its
// operands.
void normalise_axes(Clean& clean, const rules::RuleSet& rules,
                    const std::vector<const tensor::TensorType*>& children);

// The type of an expression all of whose leaves exist. Axes are normalised on the way. Throws Failure
// (ill-typed).
Typed type_expression(Clean& clean, const Sides& sides, term::Typing& typing);

// Learns equalities of sizes from relations that are asserted.
class Learner {
 public:
  Learner(const rules::RuleSet& rules, const Sides& sides, sym::Facts& facts,
          std::vector<std::string>& learned)
      : rules_(rules), sides_(sides), facts_(facts), learned_(learned) {}

  // `sequential` equals `clean`, so that their shapes are equal; `span` is where that is said.
  void relate(const graph::Node& sequential, Clean& clean, support::Span span);

 private:
  std::optional<tensor::TensorType> shape(Clean& clean, support::Span span);
  void equal(sym::Int a, sym::Int b, support::Span span);
  void equal(const tensor::Shape& a, const tensor::Shape& b, std::optional<std::size_t> without,
             support::Span span);

  const rules::RuleSet& rules_;
  const Sides& sides_;
  sym::Facts& facts_;
  std::vector<std::string>& learned_;
  // Under the facts as they are now.
  struct Typing {
    Typing(const rules::RuleSet& rules, const sym::Facts& facts) : oracle(facts), types(rules, oracle) {}
    smt::Oracle oracle;
    term::Typing types;
  };
  std::optional<Typing> typing_;
};

}  // namespace entangle::relation
