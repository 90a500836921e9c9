#include "entangle/eval/terms.h"

#include <algorithm>

namespace entangle::eval {

using tensor::Attr;
using tensor::TensorType;

TermId Terms::make(rules::OpId op, const Attr& attrs, std::span<const TermId> children) {
  // Few terms live at a time: a search beats a table.
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    if (node.op == op && node.attrs == attrs && std::ranges::equal(node.children, children)) {
      return static_cast<TermId>(id);
    }
  }
  std::vector<const TensorType*> types;
  std::vector<sym::Scalar> values;
  for (const TermId child : children) {
    types.push_back(&nodes_[child].type);
    if (nodes_[child].uniform) {
      values.push_back(*nodes_[child].uniform);
    }
  }
  std::optional<TensorType> type = typing_.type_of(op, attrs, types);
  if (!type) {
    return kNoTerm;
  }
  Node node{op, attrs, {children.begin(), children.end()}, {}, std::move(*type), {}, {}};
  if (values.size() == children.size()) {
    node.uniform = typing_.fold(op, attrs, types, values);
  }
  nodes_.push_back(std::move(node));
  return static_cast<TermId>(nodes_.size() - 1);
}

TermId Terms::fresh(const TensorType& type, const std::string& label) {
  nodes_.push_back({rules::kNoOp, {}, {}, label, type, {}, {}});
  return static_cast<TermId>(nodes_.size() - 1);
}

bool Terms::any_node(TermId id, rules::OpId op, const std::function<bool(const term::NodeView&)>& visit) {
  return nodes_[id].op == op && op != rules::kNoOp && visit(node(id));
}

std::vector<sym::Int> Terms::tiling(TermId id, std::size_t axis) const {
  if (tile_) return tile_(id, axis);
  const sym::Int size = nodes_[id].type.shape.at(axis);
  if (!size.is_constant() || size.value() < 2) {
    return {};
  }
  return {0, 1, size};
}

term::NodeView Terms::node(TermId id) const {
  const Node& node = nodes_[id];
  return {node.op, node.attrs, node.children};
}

void Terms::truncate(std::size_t size) {
  while (nodes_.size() > size) {
    nodes_.pop_back();
  }
}

std::string Terms::print(TermId id) const {
  const Node& node = nodes_[id];
  if (node.op == rules::kNoOp) {
    return node.label;
  }
  std::string text = rules().op(node.op).name + "(";
  for (std::size_t k = 0; k < node.children.size(); ++k) {
    text += (k > 0 ? ", " : "") + print(node.children[k]);
  }
  const auto attrs = node.attrs.as_list();
  for (std::size_t k = 0; k < attrs.size(); ++k) {
    text += (k > 0 ? ", " : "; ") + tensor::to_string(attrs[k]);
  }
  return text + ")";
}

}  // namespace entangle::eval
