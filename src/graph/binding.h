// Binding: a node's arguments as the values of a lowering's parameters.
//
// Positional arguments first, then keywords, then defaults. An argument nobody asked for (unless it is None),
// one of another type, or one that is missing means that the lowering does not apply. Axes arrive
// normalised, numbers where an operand is expected become constants, nodes that are sizes become integers.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/term/evaluator.h"
#include "rank.h"

namespace entangle::graph {

class Binder {
 public:
  Binder(egraph::EGraph& target, const RankState& rank, NodeIndex at, const rules::Lowering& lowering);

  // The frame of the lowering, parameters and the recorded type of the result bound. In a collective, a list
  // of tensors stands for the operands of all members: bound is this rank's own, one list level less.
  std::optional<term::Frame> bind();
  // Why there is none.
  const std::string& reason() const { return reason_; }

  // After it was bound: the operands by parameter, if it would be bound in the same way on any rank that has
  // this very node and operands of these types; none where it may depend on anything else.
  std::optional<std::vector<NodeIndex>> operands() const;

  // The group among the arguments: declared by name, or a list of ranks. An error names a group that the
  // graph does not declare; none when there is no such argument.
  support::Result<std::optional<Group>> group();

 private:
  using Parameter = rules::Parameter;
  using Type = rules::Type;

  bool assign();
  bool fail(std::string reason);
  bool bind_parameter(const Parameter& parameter, const Arg* arg, term::Frame& frame);
  bool has_axis(const Type& type) const;
  bool add_operands(const Type& type, const Arg& arg, std::vector<NodeIndex>& out) const;
  std::optional<term::Value> value(const Type& type, int depth, const Arg& arg, const term::Frame& frame);
  std::optional<term::Value> of_literal(const Type& type, int depth, const tensor::Attr& attr,
                                        const term::Frame& frame);
  std::optional<term::Value> of_node(const Type& type, int depth, NodeIndex node);
  std::optional<term::Value> base(const Type& type, const tensor::Attr& attr, const term::Frame& frame);
  std::optional<term::Value> axis(const Type& type, sym::Int number, const term::Frame& frame) const;
  std::optional<std::size_t> rank_of(const std::string& parameter, const term::Frame& frame) const;
  std::optional<sym::Int> integer(const tensor::Attr& attr) const;
  std::optional<sym::Scalar> scalar(const tensor::Attr& attr) const;
  std::optional<term::Value> constant(const sym::Scalar& number);

  egraph::EGraph& target_;
  const RankState& rank_;
  NodeIndex at_;
  const Node& node_;
  const rules::Lowering& lowering_;
  std::vector<const Arg*> given_;  // by parameter
  std::string reason_;
};

// The recorded type of a node as the value of `result`.
term::Value recorded(const Node& node);
// The same of a node in place, for the operator that it is called after: the type of what it returns, else of
// the new value of the argument that it changes, or of the entries of a list.
term::Value recorded_out_of_place(const Node& node);

}  // namespace entangle::graph
