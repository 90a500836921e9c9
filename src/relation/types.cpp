#include "relation/types.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "relation/failure.h"

namespace entangle::relation {

namespace {

using support::Span;
using tensor::Attr;
using tensor::TensorType;

// The operand of an application that belongs to a tensor parameter; a list parameter means its first tensor.
std::optional<std::size_t> operand_of(const rules::Operator& op, std::string_view parameter,
                                      std::size_t operands) {
  std::size_t list = op.tensors.size();
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    if (op.tensors[i].type.is_list()) list = i;
  }
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    if (op.tensors[i].name != parameter) continue;
    const std::size_t index = i <= list ? i : operands - (op.tensors.size() - i);
    return index < operands ? std::optional(index) : std::nullopt;
  }
  return std::nullopt;
}

Attr normalised(const Attr& attr, std::size_t rank) {
  if (attr.kind() == Attr::Kind::list) {
    std::vector<Attr> items;
    for (const Attr& item : attr.as_list()) items.push_back(normalised(item, rank));
    return Attr::list(items);
  }
  if (attr.kind() != Attr::Kind::integer || !attr.as_int().is_constant()) return attr;
  const std::int64_t axis = attr.as_int().value();
  return axis < 0 ? Attr::of(sym::Int(axis + static_cast<std::int64_t>(rank))) : attr;
}

const graph::Node& leaf_node(const Sides& sides, const Leaf& leaf) {
  const graph::Graph& graph = sides.ranks.at(leaf.rank);
  const graph::NodeIndex node = graph.find(leaf.name);
  ENTANGLE_CHECK(node != graph::kNoNode, "a leaf that does not exist");
  return graph.nodes[node];
}

const TensorType& leaf_type(const Sides& sides, const Clean& clean) {
  const graph::Graph& graph = sides.ranks.at(clean.leaf.rank);
  return type_of(graph, graph.find(clean.leaf.name), clean.span);
}

std::vector<const TensorType*> pointers(const std::vector<TensorType>& types) {
  std::vector<const TensorType*> result;
  result.reserve(types.size());
  for (const TensorType& type : types) result.push_back(&type);
  return result;
}

}  // namespace

const TensorType& type_of(const graph::Graph& graph, graph::NodeIndex index, Span span) {
  const graph::Node& node = graph.nodes[index];
  if (node.several || node.results.size() != 1 || !node.results[0]) {
    fail(Problem::several_results, span,
         "`" + node.name + "` (" + node.op + ") " + (node.several ? "has several results" : "has no result"),
         node.several ? "name the node that picks one of them" : "");
  }
  return *node.results[0];
}

void normalise_axes(Clean& clean, const rules::RuleSet& rules,
                    const std::vector<const TensorType*>& children) {
  const rules::Operator& op = rules.op(clean.op);
  std::vector<Attr> attrs(clean.attrs.as_list().begin(), clean.attrs.as_list().end());
  for (std::size_t i = 0; i < attrs.size() && i < op.attributes.size(); ++i) {
    const rules::Type& type = op.attributes[i].type;
    if (type.base != rules::Base::axis && type.base != rules::Base::perm) continue;
    const std::optional<std::size_t> operand = operand_of(op, type.of.text(), children.size());
    if (operand) attrs[i] = normalised(attrs[i], children[*operand]->rank());
  }
  clean.attrs = Attr::list(attrs);
}

Typed type_expression(Clean& clean, const Sides& sides, term::Typing& typing) {
  Typed result;
  result.clean = &clean;
  if (clean.is_leaf()) {
    result.type = leaf_type(sides, clean);
    return result;
  }
  for (Clean& child : clean.children) result.children.push_back(type_expression(child, sides, typing));
  std::vector<const TensorType*> types;
  for (const Typed& child : result.children) types.push_back(&child.type);
  normalise_axes(clean, typing.rules(), types);
  std::string why;
  const std::optional<TensorType> type = typing.type_of(clean.op, clean.attrs, types, &why);
  if (!type) {
    support::Diagnostic diagnostic =
        error(Problem::ill_typed, clean.span,
              "`" + to_string(clean, typing.rules()) + "` has no type" + (why.empty() ? "" : ": " + why));
    for (const Typed& child : result.children) {
      diagnostic.notes.push_back({child.clean->span, "`" + to_string(*child.clean, typing.rules()) + "` is " +
                                                         to_string(child.type)});
    }
    throw Failure{std::move(diagnostic)};
  }
  result.type = *type;
  return result;
}

void Learner::equal(sym::Int a, sym::Int b, Span span) {
  // Sizes that differ as they are recorded are a matter of shapes, not of facts.
  if (a == b || (a.is_constant() && b.is_constant())) return;
  const sym::Int left = facts_.normalise(a), right = facts_.normalise(b);
  if (left == right) return;
  facts_.add_equal(left, right);
  typing_.reset();
  learned_.push_back(to_string(left) + " == " + to_string(right));
  if (facts_.contradictory()) {
    fail(Problem::contradiction, span,
         "this relation implies " + to_string(a) + " == " + to_string(b) + ", that is " + learned_.back() +
             ", which contradicts what is known of these sizes");
  }
}

void Learner::equal(const tensor::Shape& a, const tensor::Shape& b, std::optional<std::size_t> without,
                    Span span) {
  if (a.size() != b.size()) return;
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    if (axis != without) equal(a[axis], b[axis], span);
  }
}

std::optional<TensorType> Learner::shape(Clean& clean, Span span) {
  if (clean.is_leaf()) return leaf_type(sides_, clean);
  std::vector<TensorType> types;
  for (Clean& child : clean.children) {
    std::optional<TensorType> type = shape(child, span);
    if (!type) return std::nullopt;
    types.push_back(std::move(*type));
  }
  normalise_axes(clean, rules_, pointers(types));
  const std::string& name = rules_.op(clean.op).name;
  const std::span<const Attr> attrs = clean.attrs.as_list();
  std::optional<std::size_t> joined;
  if (name == "concat" && attrs.size() == 1 && attrs[0].kind() == Attr::Kind::integer && !types.empty()) {
    const std::optional<std::int64_t> dim = attrs[0].as_int().constant();
    if (dim && *dim >= 0 && *dim < static_cast<std::int64_t>(types[0].rank()))
      joined = static_cast<std::size_t>(*dim);
  }
  if (joined || rules_.op(clean.op).elementwise) {
    for (std::size_t i = 1; i < types.size(); ++i) equal(types[0].shape, types[i].shape, joined, span);
  }
  if (!typing_) typing_.emplace(rules_, facts_);
  return typing_->types.type_of(clean.op, clean.attrs, pointers(types));
}

void Learner::relate(const graph::Node& sequential, Clean& clean, Span span) {
  if (sequential.size && clean.is_leaf()) {
    if (const std::optional<sym::Int>& size = leaf_node(sides_, clean.leaf).size)
      equal(*sequential.size, *size, span);
  }
  const std::optional<TensorType> type = shape(clean, span);
  if (type && sequential.results.size() == 1 && sequential.results[0]) {
    equal(sequential.results[0]->shape, type->shape, std::nullopt, span);
  }
}

}  // namespace entangle::relation
