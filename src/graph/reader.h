// Reader: checks a JSON tree against the graph format and turns it into a Graph.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "entangle/graph/read.h"
#include "json.h"

namespace entangle::graph {

// Numbers of ranks beyond this are taken for mistakes.
inline constexpr std::int64_t kLargestWorld = 1 << 20;

inline std::string quoted(std::string_view text) {
  return "`" + std::string(text) + "`";
}

template <std::size_t N>
bool is_one_of(std::string_view key, const std::array<std::string_view, N>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Functions return false once an error is noted.
class Reader {
 public:
  Reader(support::FileId file, const ReadOptions& options) : file_(file), options_(options) {}

  support::Result<Graph> run();

 private:
  support::Span span(const json::Value& at) const { return support::span_at(file_, at.offset, at.length); }
  bool fail(std::string id, const json::Value& at, std::string message, std::string suggestion = {});
  bool expect(const json::Value& value, json::Kind kind, std::string_view what);
  const json::Value* require(const json::Value& object, std::string_view key, std::string_view where);
  void ignore(const json::Value& key);
  void report_unknown_keys();

  // --- numbers
  std::optional<std::int64_t> small_integer(const json::Value& value) const;
  bool count(const json::Value& value, std::string_view what, std::int64_t least, std::size_t& out);
  bool number(const json::Value& value, tensor::Attr& out);

  // --- sizes and types
  bool expression(const json::Value& value, sym::Int& out);
  bool size(const json::Value& value, sym::Int& out);
  bool dtype(const json::Value& value, tensor::DType& out);
  bool type(const json::Value& shape, const json::Value& dtype_of, std::optional<tensor::TensorType>& out);
  bool results(const json::Value& object, Node& node);

  // --- arguments
  bool argument(const json::Value& value, NodeIndex user, Arg& out);
  bool list(const json::Value& value, NodeIndex user, Arg& out);
  bool reference(const json::Value& value, NodeIndex user, Arg& out);
  bool missing(const json::Value& target, const std::string& user);
  // The nodes a node refers to, by name: also for nodes that are not read yet.
  void targets(const json::Value& value, std::vector<NodeIndex>& out) const;
  std::vector<NodeIndex> targets_of(NodeIndex node) const;
  // A path from one node to another along references, both included; empty when there is none.
  std::vector<NodeIndex> path(NodeIndex from, NodeIndex to) const;
  bool too_early(const json::Value& target, NodeIndex user, NodeIndex later);

  // --- nodes
  bool text(const json::Value& object, std::string_view key, std::string_view where, std::string& out);
  // Names and places of all nodes, so that references can be told apart from mistakes.
  bool names(const json::Value& nodes);
  bool name_of(const json::Value& object, NodeIndex at);
  // By their names: those of the model, if they are the same.
  bool look_up(bool as_in_model);
  bool node(NodeIndex at);
  bool size_of(const json::Value& object, Node& node);
  bool mutates(const json::Value& object, Node& node);
  // Whether nested lists have this shape from axis `axis` on; scalars are counted.
  static bool fits(const tensor::Attr& value, const tensor::Shape& shape, std::size_t axis);
  static bool is_numeric(const tensor::Attr& value);
  bool value_of(const json::Value& object, NodeIndex at);
  bool getitem(const json::Value& object, const Node& node);

  // --- the graph
  bool header(const json::Value& root);
  bool ranks(const json::Value& root);
  bool group_ranks(const json::Value& list, const std::string& name, std::vector<std::size_t>& out);
  bool groups(const json::Value& root);
  bool ends(const json::Value& root, std::string_view key, std::vector<NodeIndex>& out);
  bool graph(const json::Value& root);

  // --- nodes that stand in the model
  json::Model model_texts() const;
  bool in_model(NodeIndex node) const { return raw_[node]->truth; }
  // Whether the nodes that stand in the model mean here what they mean there: what they refer to has the
  // places that it has there, and what they pick from is the same.
  bool model_fits() const;
  void share(NodeIndex node);

  support::FileId file_;
  ReadOptions options_;
  Graph graph_;
  std::vector<const json::Value*> raw_;
  std::vector<Node*> own_;  // null: the node stands in the model
  std::set<std::string> unknown_;
  support::Span first_unknown_;
  std::optional<support::Diagnostic> error_;
  bool repeatable_ = true;  // the node that is read, so far
};

}  // namespace entangle::graph
