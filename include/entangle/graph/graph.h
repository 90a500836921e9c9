// Graph: the computation of one rank as a framework emitted it, read and validated but not interpreted.
//
// The order of the nodes is execution order: a node refers to earlier nodes only. Names are unique. Plain
// data; immutable once read, safe to share between threads.
//
// Symbols belong to their file: the symbol `s0` of a graph read with the prefix `r1.` is the symbol `r1.s0`
// of the process. The convention is "" for the sequential program and "r<rank>." for the ranks
// (symbol_prefix), so that manifests can say `r0.s0 == r1.s0`. Symbols in files hold no dot. The symbol
// `rank` stands for the number of the rank that runs the graph and is replaced by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "entangle/support/diagnostic.h"
#include "entangle/tensor/attr.h"
#include "entangle/tensor/type.h"

namespace entangle::graph {

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNode = ~NodeIndex{0};

// An argument: a literal, a reference to an earlier node, or a list. Numbers without fraction or exponent are
// integers where they fit 64 bits, all others exact scalars of their decimal text; NaN is the name `nan`;
// texts are names; null is none. Lists that hold no reference are literals as well: only lists with
// references inside are `Arg` lists.
struct Arg {
  struct Ref {
    NodeIndex node = kNoNode;
    bool operator==(const Ref&) const = default;
  };
  using List = std::vector<Arg>;
  std::variant<tensor::Attr, Ref, List> data;
  std::uint32_t offset = 0;  // of its text, from that of its node on

  const tensor::Attr* literal() const { return std::get_if<tensor::Attr>(&data); }
  const Ref* ref() const { return std::get_if<Ref>(&data); }
  const List* list() const { return std::get_if<List>(&data); }
};

// Calls visit(NodeIndex) for every reference inside, in order.
template <class Visit>
void for_each_ref(const Arg& arg, const Visit& visit) {
  if (const Arg::Ref* ref = arg.ref()) {
    visit(ref->node);
  } else if (const Arg::List* list = arg.list()) {
    for (const Arg& entry : *list) {
      for_each_ref(entry, visit);
    }
  }
}

struct Node {
  std::string name;
  std::string op;
  std::vector<Arg> args;
  std::vector<std::pair<std::string, Arg>> kwargs;  // in the order of the file
  // The recorded types; nullopt is a result that is None. A node without the list form has one entry.
  std::vector<std::optional<tensor::TensorType>> results;
  bool several = false;  // the results are picked by getitem
  std::vector<std::string>
      mutates;                   // names of the arguments whose new values are the results behind the first
  std::optional<sym::Int> size;  // a scalar node that is a size: which
  bool size_condition = false;   // a truth about sizes, for people (`u0 >= 0`)
  std::optional<tensor::Attr> value;  // constants, and placeholders with a known value
  std::string marks;                  // tells it apart from its like where nothing describes it
  std::string unknown;                // why not even the operands determine the results; "" where they do
  std::string loc;                    // source line, "" when unknown

  const Arg* kwarg(std::string_view key) const;
};

// The nodes of a graph, in order. Lists may have nodes in common: what is added to one is its own until the
// list is copied, or a node of it added to another list; from then on it must not be changed.
class Nodes {
 public:
  class Iterator {
   public:
    using value_type = Node;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const Node* const* at) : at_(at) {}
    const Node& operator*() const { return **at_; }
    const Node* operator->() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    Iterator operator+(difference_type n) const { return Iterator(at_ + n); }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Node* const* at_ = nullptr;
  };

  Nodes() = default;
  Nodes(const Nodes& other);
  Nodes(Nodes&&) = default;
  Nodes& operator=(Nodes other);

  void reserve(std::size_t count) { nodes_.reserve(count); }
  // Its own.
  Node& add(Node node = {});
  // The last of its own.
  Node& last() { return own_->back(); }
  // One that `other` has, too.
  void add(const Nodes& other, NodeIndex node);

  const Node& operator[](std::size_t node) const { return *nodes_[node]; }
  std::size_t size() const { return nodes_.size(); }
  bool empty() const { return nodes_.empty(); }
  const Node& back() const { return *nodes_.back(); }
  Iterator begin() const { return Iterator(nodes_.data()); }
  Iterator end() const { return Iterator(nodes_.data() + nodes_.size()); }

 private:
  using Block = std::deque<Node>;
  void keep(const Nodes& other);

  std::vector<const Node*> nodes_;
  std::shared_ptr<Block> own_;                      // none: no node is
  std::vector<std::shared_ptr<const Block>> kept_;  // where the others are
};

// Whether a node picks one result of another.
inline bool is_getitem(const Node& node) {
  return node.op == "getitem" || node.op == "operator.getitem";
}

// The same for all arguments of a node.
template <class Visit>
void for_each_operand(const Node& node, const Visit& visit) {
  for (const Arg& arg : node.args) {
    for_each_ref(arg, visit);
  }
  for (const auto& keyword : node.kwargs) {
    for_each_ref(keyword.second, visit);
  }
}

// The k-th argument under `mutates`: by its name, else by its place among those without. Null when there is
// none.
const Arg* mutated_argument(const Node& node, std::size_t k);
// How many tensors these arguments are: a list counts once for each.
std::size_t mutated_tensors(const Node& node);

// A process group as a graph names it: its ranks in group order.
struct Group {
  std::string name;
  std::vector<std::size_t> ranks;
  bool operator==(const Group&) const = default;
};

// Nodes by their names, which belong to the nodes.
using NodeNames = std::unordered_map<std::string_view, NodeIndex>;

// Where a node stands in its file.
struct NodeText {
  std::uint32_t offset = 0, length = 0;
  std::uint32_t name = 0, name_length = 0;  // the offset in the file
  bool repeatable = false;                  // it means the same in the graph of another rank
  bool repeated = false;  // it stands letter by letter in the model's file, as the node with this number
};

struct Graph {
  std::string name;
  std::string source;  // the framework, as recorded
  std::string path;    // as given
  support::FileId file = support::kNoFile;
  support::FileId model = support::kNoFile;  // the graph from which nodes were copied
  std::size_t rank = 0;
  std::optional<std::size_t> world_size;
  std::string symbol_prefix;
  std::vector<Group> groups;
  std::vector<Group> all_groups;  // of a module that every rank runs: also those without this rank
  Nodes nodes;
  std::vector<NodeText> texts;  // of the nodes
  std::vector<NodeIndex> inputs;
  std::vector<NodeIndex> outputs;  // null outputs are left out; an output may be listed twice
  std::vector<support::Diagnostic> warnings;
  // Graphs with nodes of the same names in the same order may have it in common.
  std::shared_ptr<const NodeNames> names = std::make_shared<NodeNames>();

  // kNoNode when there is none.
  NodeIndex find(std::string_view node_name) const;
  // Of the name of a node, and of one of its arguments, in the file.
  support::Span span(NodeIndex node) const;
  support::Span span(NodeIndex node, const Arg& arg) const;
  const Group* find_group(std::string_view group_name) const;
  std::vector<std::string> node_names() const;
  // Whether a size is a symbol that no node before this one mentions: the node's result is what defines it.
  bool defines(NodeIndex node, sym::Int size) const;
};

// "r3.", or "" for the sequential program (no rank).
std::string symbol_prefix(std::optional<std::size_t> rank);

}  // namespace entangle::graph
