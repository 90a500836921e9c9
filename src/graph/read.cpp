#include "entangle/graph/read.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>

#include "entangle/support/text.h"
#include "entangle/sym/int.h"
#include "entangle/sym/scalar.h"
#include "json.h"

namespace entangle::graph {

using json::Kind;
using json::Value;
using support::Diagnostic;
using support::Span;
using sym::Int;
using tensor::Attr;

namespace {

constexpr std::int64_t kLargestWorld = 1 << 20;
constexpr std::array<std::string_view, 9> kGraphKeys = {"format", "version", "name",    "rank", "world_size",
                                                        "source", "groups",  "outputs", "nodes"};
constexpr std::array<std::string_view, 10> kNodeKeys = {"name", "op",    "args",    "kwargs", "shape",
                                                        "loc",  "dtype", "mutates", "sym",    "value"};

template <std::size_t N>
bool is_one_of(std::string_view key, const std::array<std::string_view, N>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string quoted(std::string_view text) {
  return "`" + std::string(text) + "`";
}

// Functions return false once an error is noted.
class Reader {
 public:
  Reader(support::FileId file, const ReadOptions& options) : file_(file), options_(options) {}

  support::Result<Graph> run() {
    support::Result<json::Document> document = json::parse(file_);
    if (!document) {
      return document.error();
    }
    if (!graph(document->root)) {
      return *error_;
    }
    report_unknown_keys();
    return std::move(graph_);
  }

 private:
  struct Result {
    bool none = false;
  };

  Span span(const Value& at) const { return support::span_at(file_, at.offset, at.length); }
  bool fail(std::string id, const Value& at, std::string message, std::string suggestion = {}) {
    if (!error_) {
      error_ = support::error("graph/" + std::move(id), span(at), std::move(message), std::move(suggestion));
    }
    return false;
  }

  bool expect(const Value& value, Kind kind, std::string_view what) {
    return value.kind == kind || fail("wrong-kind", value,
                                      std::string(what) + " must be " + std::string(json::describe(kind)) +
                                          ", not " + std::string(json::describe(value.kind)));
  }

  const Value* require(const Value& object, std::string_view key, std::string_view where) {
    const Value* found = object.find(key);
    if (found == nullptr) {
      fail("missing-key", object, std::string(where) + " has no " + quoted(key));
    }
    return found;
  }

  void ignore(const Value& key) {
    if (unknown_.empty()) {
      first_unknown_ = span(key);
    }
    unknown_.insert(std::string(key.text));
  }

  void report_unknown_keys() {
    if (unknown_.empty()) {
      return;
    }
    std::vector<std::string> names;
    for (const std::string& name : unknown_) {
      names.push_back(quoted(name));
    }
    graph_.warnings.push_back({"graph/unknown-key",
                               support::Severity::warning,
                               first_unknown_,
                               "keys that are not known are ignored: " + support::join_list(names),
                               "",
                               {}});
  }

  // --- numbers

  std::optional<std::int64_t> small_integer(const Value& value) const {
    if (!value.is(Kind::number)) {
      return std::nullopt;
    }
    const std::optional<sym::Scalar> scalar = sym::Scalar::from_decimal_text(value.text);
    const std::optional<Int> integer = scalar && !scalar->is_infinite() ? scalar->as_int() : std::nullopt;
    return integer ? integer->constant() : std::nullopt;
  }

  bool count(const Value& value, std::string_view what, std::int64_t least, std::size_t& out) {
    const std::optional<std::int64_t> number = small_integer(value);
    if (!number || *number < least || *number > kLargestWorld) {
      return fail("bad-rank", value,
                  std::string(what) + " must be a number from " + std::to_string(least) + " to " +
                      std::to_string(kLargestWorld));
    }
    out = static_cast<std::size_t>(*number);
    return true;
  }

  bool number(const Value& value, Attr& out) {
    const bool integral = value.text.find_first_of(".eEIN") == std::string_view::npos;
    const std::optional<sym::Scalar> scalar = sym::Scalar::from_decimal_text(value.text);
    if (!scalar) {
      return fail("bad-number", value, quoted(value.text) + " is not a number with an exact value");
    }
    const std::optional<Int> integer = integral ? scalar->as_int() : std::nullopt;
    out = integer ? Attr::of(*integer) : Attr::of(*scalar);
    return true;
  }

  // --- sizes and types

  bool expression(const Value& value, Int& out) {
    const Span at = support::span_at(file_, value.offset + 1, value.text.size());
    const support::Result<Int> parsed = sym::parse_int_expr(value.text, graph_.symbol_prefix, at);
    if (!parsed) {
      error_ =
          support::error("graph/bad-size", parsed.error().span,
                         quoted(value.text) + " is not an expression of sizes: " + parsed.error().message);
      return false;
    }
    out = *parsed;
    for (const Int symbol : sym::symbols_of(out)) {
      const std::string name = sym::to_string(symbol).substr(graph_.symbol_prefix.size());
      if (name.find('.') != std::string::npos) {
        return fail("bad-size", value,
                    "the symbol " + quoted(name) + " holds a dot: symbols belong to their file");
      }
      if (name == "rank") {
        out = sym::substitute(out, {{symbol, Int(graph_.rank)}});
      }
    }
    return !out.is_poison() || fail("bad-size", value, quoted(value.text) + " is too large");
  }

  bool size(const Value& value, Int& out) {
    if (value.is(Kind::string)) {
      if (!expression(value, out)) {
        return false;
      }
    } else if (const std::optional<std::int64_t> constant = small_integer(value)) {
      out = *constant;
    } else if (value.is(Kind::number)) {
      return fail("bad-size", value, "the size " + quoted(value.text) + " is not an integer of 64 bits");
    } else {
      return fail(
          "bad-size", value,
          "a size is a number or an expression of sizes, not " + std::string(json::describe(value.kind)));
    }
    if (out.is_constant() && out.value() < 0) {
      return fail("bad-size", value, "the size " + sym::to_string(out) + " is negative");
    }
    return true;
  }

  bool dtype(const Value& value, tensor::DType& out) {
    if (!expect(value, Kind::string, "an element type")) {
      return false;
    }
    const std::optional<tensor::DType> parsed = tensor::parse_dtype(value.text);
    if (!parsed) {
      return fail("bad-dtype", value, quoted(value.text) + " is not an element type",
                  "the element types are f64 f32 f16 bf16 f8 i64 i32 i16 i8 u8 b8");
    }
    out = *parsed;
    return true;
  }

  bool type(const Value& shape, const Value& dtype_of, std::optional<tensor::TensorType>& out) {
    if (shape.is(Kind::null) && dtype_of.is(Kind::null)) {
      return true;
    }
    if (shape.is(Kind::null) || dtype_of.is(Kind::null)) {
      return fail("result-lists", shape.is(Kind::null) ? dtype_of : shape,
                  "a result that is None has neither shape nor dtype; this one has one of them");
    }
    tensor::TensorType result;
    if (!dtype(dtype_of, result.dtype) || !expect(shape, Kind::array, "a shape")) {
      return false;
    }
    for (const Value& entry : shape.items) {
      if (!size(entry, result.shape.emplace_back())) {
        return false;
      }
    }
    if (sym::product(result.shape).is_poison()) {
      return fail("bad-size", shape, "a tensor of this shape has more elements than 64 bits can count");
    }
    out = std::move(result);
    return true;
  }

  bool results(const Value& object, Node& node) {
    const Value* shape = object.find("shape");
    const Value* dtype_of = object.find("dtype");
    if (node.op == "output") {
      node.results.resize(1);
      return true;
    }
    const std::string where = "the node " + quoted(node.name);
    if (shape == nullptr || dtype_of == nullptr) {
      require(object, shape == nullptr ? "shape" : "dtype", where);
      return false;
    }
    node.several = dtype_of->is(Kind::array);
    if (!node.several) {
      return type(*shape, *dtype_of, node.results.emplace_back());
    }
    if (!shape->is(Kind::array) || shape->items.size() != dtype_of->items.size()) {
      return fail("result-lists", *shape,
                  where + " has " + std::to_string(dtype_of->items.size()) +
                      " results by its dtype, but not as many shapes");
    }
    for (std::size_t i = 0; i < shape->items.size(); ++i) {
      if (!type(shape->items[i], dtype_of->items[i], node.results.emplace_back())) {
        return false;
      }
    }
    return true;
  }

  // --- arguments

  bool argument(const Value& value, NodeIndex user, Arg& out) {
    out.offset = value.offset;
    Attr literal;
    switch (value.kind) {
      case Kind::object:
        return reference(value, user, out);
      case Kind::array:
        return list(value, user, out);
      case Kind::number:
        if (!number(value, literal)) {
          return false;
        }
        break;
      case Kind::string:
        literal = Attr::name(value.text);
        break;
      case Kind::boolean:
        literal = Attr::of(value.truth);
        break;
      case Kind::null:
        break;
    }
    out.data = literal;
    return true;
  }

  bool list(const Value& value, NodeIndex user, Arg& out) {
    Arg::List entries(value.items.size());
    bool literal = true;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!argument(value.items[i], user, entries[i])) {
        return false;
      }
      literal = literal && entries[i].literal() != nullptr;
    }
    if (!literal) {
      out.data = std::move(entries);
      return true;
    }
    std::vector<Attr> values;
    values.reserve(entries.size());
    for (const Arg& entry : entries) {
      values.push_back(*entry.literal());
    }
    out.data = Attr::list(values);
    return true;
  }

  bool reference(const Value& value, NodeIndex user, Arg& out) {
    const Value* target = value.find("ref");
    if (target == nullptr) {
      return fail("wrong-kind", value, "an argument is a literal, a list or {\"ref\": node}");
    }
    if (!expect(*target, Kind::string, "the target of a reference")) {
      return false;
    }
    for (const json::Member& member : value.members) {
      if (member.key.text != "ref") {
        ignore(member.key);
      }
    }
    const auto found = graph_.index.find(std::string(target->text));
    if (found == graph_.index.end()) {
      return missing(*target, graph_.nodes[user].name);
    }
    if (found->second >= user) {
      return too_early(*target, user, found->second);
    }
    out.data = Arg::Ref{found->second};
    return true;
  }

  bool missing(const Value& target, const std::string& user) {
    return fail("missing-node", target,
                quoted(user) + " refers to " + quoted(target.text) + ", which does not exist",
                support::did_you_mean(target.text, graph_.node_names()));
  }

  // The nodes a node refers to, by name: also for nodes that are not read yet.
  void targets(const Value& value, std::vector<NodeIndex>& out) const {
    if (const Value* target = value.is(Kind::object) ? value.find("ref") : nullptr) {
      const auto found = graph_.index.find(std::string(target->text));
      if (found != graph_.index.end()) {
        out.push_back(found->second);
      }
    }
    for (const Value& item : value.items) {
      targets(item, out);
    }
    for (const json::Member& member : value.members) {
      targets(member.value, out);
    }
  }
  std::vector<NodeIndex> targets_of(NodeIndex node) const {
    std::vector<NodeIndex> out;
    for (const std::string_view key : {"args", "kwargs"}) {
      if (const Value* arguments = raw_[node]->find(key)) {
        targets(*arguments, out);
      }
    }
    return out;
  }

  // A path from one node to another along references, both included; empty when there is none.
  std::vector<NodeIndex> path(NodeIndex from, NodeIndex to) const {
    std::vector<NodeIndex> parent(raw_.size(), kNoNode);
    std::vector<NodeIndex> queue = {from};
    parent[from] = from;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (queue[i] == to) {
        std::vector<NodeIndex> result = {to};
        while (result.back() != from) {
          result.push_back(parent[result.back()]);
        }
        std::reverse(result.begin(), result.end());
        return result;
      }
      for (const NodeIndex next : targets_of(queue[i])) {
        if (parent[next] == kNoNode) {
          parent[next] = queue[i];
          queue.push_back(next);
        }
      }
    }
    return {};
  }

  bool too_early(const Value& target, NodeIndex user, NodeIndex later) {
    const std::string& name = graph_.nodes[user].name;
    const std::vector<NodeIndex> back = path(later, user);
    if (back.empty()) {
      fail("use-before-definition", target,
           quoted(name) + " refers to " + quoted(target.text) + ", which comes later",
           "nodes are listed in the order in which they run");
      error_->notes.push_back({graph_.nodes[later].span, quoted(target.text) + " is defined here"});
      return false;
    }
    std::string chain = quoted(name);
    for (const NodeIndex node : back) {
      chain += " -> " + quoted(graph_.nodes[node].name);
    }
    return fail("cycle", target, quoted(name) + " depends on itself: " + chain);
  }

  // --- nodes

  bool text(const Value& object, std::string_view key, std::string_view where, std::string& out) {
    const Value* value = require(object, key, where);
    if (value == nullptr || !expect(*value, Kind::string, quoted(key))) {
      return false;
    }
    out = value->text;
    return !out.empty() || fail("wrong-kind", *value, quoted(key) + " must not be empty");
  }

  // Names and places of all nodes, so that references can be told apart from mistakes.
  bool names(const Value& nodes) {
    if (!expect(nodes, Kind::array, "`nodes`")) {
      return false;
    }
    graph_.nodes.resize(nodes.items.size());
    raw_.reserve(nodes.items.size());
    for (std::size_t i = 0; i < nodes.items.size(); ++i) {
      const Value& object = nodes.items[i];
      Node& node = graph_.nodes[i];
      if (!expect(object, Kind::object, "a node") || !text(object, "name", "a node", node.name)) {
        return false;
      }
      raw_.push_back(&object);
      node.span = span(*object.find("name"));
      const auto [place, added] = graph_.index.emplace(node.name, static_cast<NodeIndex>(i));
      if (!added) {
        fail("duplicate-name", *object.find("name"), "two nodes are named " + quoted(node.name));
        error_->notes.push_back({graph_.nodes[place->second].span, "the other one"});
        return false;
      }
    }
    return true;
  }

  bool node(NodeIndex at) {
    const Value& object = *raw_[at];
    Node& node = graph_.nodes[at];
    const std::string where = "the node " + quoted(node.name);
    if (!text(object, "op", where, node.op)) {
      return false;
    }
    for (const json::Member& member : object.members) {
      if (!is_one_of(member.key.text, kNodeKeys)) {
        ignore(member.key);
      }
    }
    if (const Value* args = object.find("args")) {
      if (!expect(*args, Kind::array, "`args`")) {
        return false;
      }
      for (const Value& value : args->items) {
        if (!argument(value, at, node.args.emplace_back())) {
          return false;
        }
      }
    }
    if (const Value* kwargs = object.find("kwargs")) {
      if (!expect(*kwargs, Kind::object, "`kwargs`")) {
        return false;
      }
      for (const json::Member& member : kwargs->members) {
        auto& [key, arg] = node.kwargs.emplace_back(std::string(member.key.text), Arg{});
        if (!argument(member.value, at, arg)) {
          return false;
        }
      }
    }
    if (const Value* loc = object.find("loc"); loc != nullptr && !loc->is(Kind::null)) {
      if (!expect(*loc, Kind::string, "`loc`")) {
        return false;
      }
      node.loc = loc->text;
    }
    return results(object, node) && size_of(object, node) && mutates(object, node) &&
           value_of(object, node) && getitem(object, node);
  }

  bool size_of(const Value& object, Node& node) {
    const Value* symbol = object.find("sym");
    if (symbol == nullptr || symbol->is(Kind::null)) {
      return true;
    }
    const std::optional<tensor::TensorType>& type = node.results[0];
    if (!node.several && type && type->dtype == tensor::DType::b8) {
      return true;  // a condition on sizes, for people
    }
    if (node.several || !type || type->rank() != 0 || !tensor::is_integer(type->dtype)) {
      return fail("bad-size", *symbol, "a size is an integer without axes; " + quoted(node.name) + " is not");
    }
    Int size;
    if (symbol->is(Kind::string)) {
      if (!expression(*symbol, size)) {
        return false;
      }
    } else if (const std::optional<std::int64_t> constant = small_integer(*symbol)) {
      size = *constant;
    } else {
      return fail("bad-size", *symbol, "`sym` is an expression of sizes");
    }
    node.size = size;
    return true;
  }

  bool mutates(const Value& object, Node& node) {
    const Value* names = object.find("mutates");
    if (names == nullptr || names->is(Kind::null)) {
      return true;
    }
    if (!expect(*names, Kind::array, "`mutates`")) {
      return false;
    }
    for (const Value& name : names->items) {
      if (!expect(name, Kind::string, "the name of an argument")) {
        return false;
      }
      node.mutates.emplace_back(name.text);
    }
    if (!node.mutates.empty() && (!node.several || node.results.size() != node.mutates.size() + 1)) {
      return fail("bad-mutates", *names,
                  quoted(node.name) + " must have " + std::to_string(node.mutates.size() + 1) +
                      " results: what it returns, then the new value of each argument under `mutates`");
    }
    // Positional arguments have no names here.
    for (const Value& name : names->items) {
      if (node.args.empty() && node.kwarg(name.text) == nullptr) {
        return fail("bad-mutates", name, quoted(node.name) + " has no argument " + quoted(name.text));
      }
    }
    return true;
  }

  // Whether nested lists have this shape from axis `axis` on; scalars are counted.
  static bool fits(const Attr& value, const tensor::Shape& shape, std::size_t axis) {
    if (value.kind() != Attr::Kind::list) {
      return axis == shape.size();
    }
    if (axis == shape.size() || !(shape[axis] == Int(value.as_list().size()))) {
      return false;
    }
    return std::all_of(value.as_list().begin(), value.as_list().end(),
                       [&](const Attr& entry) { return fits(entry, shape, axis + 1); });
  }

  static bool is_numeric(const Attr& value) {
    switch (value.kind()) {
      case Attr::Kind::boolean:
      case Attr::Kind::integer:
      case Attr::Kind::scalar:
        return true;
      case Attr::Kind::list:
        return std::all_of(value.as_list().begin(), value.as_list().end(), is_numeric);
      default:
        return false;
    }
  }

  bool value_of(const Value& object, Node& node) {
    const Value* value = object.find("value");
    if (node.op == "constant") {
      const Value* kwargs = object.find("kwargs");
      const Value* inside = kwargs != nullptr ? kwargs->find("value") : nullptr;
      value = inside != nullptr ? inside : value;
    } else if (node.op != "placeholder") {
      return true;
    }
    if (value == nullptr || value->is(Kind::null)) {
      return true;
    }
    Arg arg;
    if (!argument(*value, node_of(node), arg)) {
      return false;
    }
    if (arg.literal() == nullptr || !is_numeric(*arg.literal())) {
      return fail("bad-value", *value,
                  "the value of " + quoted(node.name) + " must be a number or nested lists of them");
    }
    if (node.several || !node.results[0]) {
      return fail("bad-value", *value, quoted(node.name) + " has a value, but not one shape");
    }
    const tensor::Shape& shape = node.results[0]->shape;
    const Attr& literal = *arg.literal();
    if (literal.kind() == Attr::Kind::list && !fits(literal, shape, 0)) {
      return fail("bad-value", *value,
                  "the lists of this value do not have the shape " + tensor::to_string(*node.results[0]));
    }
    node.value = literal;
    return true;
  }
  NodeIndex node_of(const Node& node) const { return static_cast<NodeIndex>(&node - graph_.nodes.data()); }

  bool getitem(const Value& object, const Node& node) {
    if (node.op != "getitem" && node.op != "operator.getitem") {
      return true;
    }
    const Value* args = object.find("args");
    const Arg::Ref* from = node.args.size() == 2 ? node.args[0].ref() : nullptr;
    const Attr* which = node.args.size() == 2 ? node.args[1].literal() : nullptr;
    const bool is_place =
        which != nullptr && which->kind() == Attr::Kind::integer && which->as_int().is_constant();
    if (from == nullptr || !is_place) {
      return fail("bad-getitem", args != nullptr ? *args : object,
                  "getitem needs a node and the number of a result");
    }
    const Node& source = graph_.nodes[from->node];
    const std::int64_t place = which->as_int().value();
    if (!source.several) {
      return fail("bad-getitem", *args, quoted(source.name) + " has one result, there is nothing to pick");
    }
    if (place < 0 || static_cast<std::size_t>(place) >= source.results.size()) {
      return fail("bad-getitem", args->items[1],
                  quoted(source.name) + " has " + std::to_string(source.results.size()) +
                      " results, number " + std::to_string(place) + " is not one of them");
    }
    return true;
  }

  // --- the graph

  bool header(const Value& root) {
    const Value* format = root.is(Kind::object) ? root.find("format") : nullptr;
    if (format == nullptr || !format->is(Kind::string) || format->text != "entangle-graph") {
      return fail("format", format != nullptr ? *format : root,
                  "this is not a graph: the key `format` is not \"entangle-graph\"");
    }
    const Value* version = require(root, "version", "the graph");
    if (version == nullptr) {
      return false;
    }
    if (small_integer(*version) != std::optional<std::int64_t>(1)) {
      return fail("version", *version, "this program reads version 1 of the format only");
    }
    for (const json::Member& member : root.members) {
      if (member.key.text != "inputs" && !is_one_of(member.key.text, kGraphKeys)) {
        ignore(member.key);
      }
    }
    for (const auto& [key, out] : {std::pair{"name", &graph_.name}, std::pair{"source", &graph_.source}}) {
      if (const Value* value = root.find(key); value != nullptr && !value->is(Kind::null)) {
        if (!expect(*value, Kind::string, quoted(key))) {
          return false;
        }
        *out = value->text;
      }
    }
    return ranks(root);
  }

  bool ranks(const Value& root) {
    const Value* world = root.find("world_size");
    if (world != nullptr && !world->is(Kind::null)) {
      std::size_t size = 0;
      if (!count(*world, "`world_size`", 1, size)) {
        return false;
      }
      graph_.world_size = size;
    }
    const Value* rank = root.find("rank");
    std::optional<std::size_t> recorded;
    if (rank != nullptr && !rank->is(Kind::null)) {
      std::size_t number = 0;
      if (!count(*rank, "`rank`", 0, number)) {
        return false;
      }
      recorded = number;
      if (graph_.world_size && number >= *graph_.world_size) {
        return fail("bad-rank", *rank,
                    "rank " + std::to_string(number) + " does not exist among " +
                        std::to_string(*graph_.world_size) + (*graph_.world_size == 1 ? " rank" : " ranks"));
      }
    }
    if (options_.rank && recorded && !options_.shared && *recorded != *options_.rank) {
      return fail("wrong-rank", *rank,
                  "this is the file of rank " + std::to_string(*recorded) + ", read as that of rank " +
                      std::to_string(*options_.rank));
    }
    graph_.rank = options_.rank ? *options_.rank : recorded.value_or(0);
    graph_.symbol_prefix = symbol_prefix(options_.rank);
    return true;
  }

  bool group_ranks(const Value& list, const std::string& name, std::vector<std::size_t>& out) {
    for (const Value& entry : list.items) {
      const std::optional<std::int64_t> rank = small_integer(entry);
      if (!rank || *rank < 0 || *rank > kLargestWorld) {
        return fail("bad-group", entry, "a group is a list of ranks");
      }
      const auto number = static_cast<std::size_t>(*rank);
      if (graph_.world_size && number >= *graph_.world_size) {
        return fail("bad-group", entry,
                    "rank " + std::to_string(number) + " of group " + quoted(name) +
                        " does not exist among " + std::to_string(*graph_.world_size) +
                        (*graph_.world_size == 1 ? " rank" : " ranks"));
      }
      if (std::find(out.begin(), out.end(), number) != out.end()) {
        return fail("bad-group", entry,
                    "rank " + std::to_string(number) + " is twice in group " + quoted(name));
      }
      out.push_back(number);
    }
    return true;
  }

  bool groups(const Value& root) {
    const Value* groups = root.find("groups");
    if (groups == nullptr || groups->is(Kind::null)) {
      return true;
    }
    if (!expect(*groups, Kind::object, "`groups`")) {
      return false;
    }
    for (const auto& [key, list] : groups->members) {
      Group group{std::string(key.text), {}};
      if (!expect(list, Kind::array, "a group")) {
        return false;
      }
      if (list.items.empty()) {
        return fail("bad-group", list, "the group " + quoted(group.name) + " has no ranks");
      }
      // A list of groups of one name, as a file for all ranks has it: that of this rank counts.
      const bool nested = list.items[0].is(Kind::array);
      for (const Value& entry : nested ? list.items : std::vector<Value>{list}) {
        std::vector<std::size_t> ranks;
        if (!expect(entry, Kind::array, "a group") || !group_ranks(entry, group.name, ranks)) {
          return false;
        }
        if (!nested || std::find(ranks.begin(), ranks.end(), graph_.rank) != ranks.end()) {
          group.ranks = std::move(ranks);
        }
      }
      if (!group.ranks.empty()) {
        graph_.groups.push_back(std::move(group));
      }
    }
    return true;
  }

  bool ends(const Value& root, std::string_view key, std::vector<NodeIndex>& out) {
    const Value* names = require(root, key, "the graph");
    if (names == nullptr || !expect(*names, Kind::array, quoted(key))) {
      return false;
    }
    for (const Value& name : names->items) {
      if (name.is(Kind::null) && key == "outputs") {
        continue;
      }
      if (!expect(name, Kind::string, "an entry of " + quoted(key))) {
        return false;
      }
      const NodeIndex node = graph_.find(std::string(name.text));
      if (node == kNoNode) {
        return missing(name, std::string(key));
      }
      if (key == "inputs" && graph_.nodes[node].op != "placeholder") {
        return fail(
            "not-an-input", name,
            quoted(name.text) + " is listed under `inputs` but computed by " + quoted(graph_.nodes[node].op));
      }
      out.push_back(node);
    }
    return true;
  }

  bool graph(const Value& root) {
    graph_.file = file_;
    graph_.path = support::source_path(file_);
    if (!header(root) || !groups(root)) {
      return false;
    }
    const Value* nodes = require(root, "nodes", "the graph");
    if (nodes == nullptr || !names(*nodes)) {
      return false;
    }
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (!node(i)) {
        return false;
      }
    }
    return ends(root, "inputs", graph_.inputs) && ends(root, "outputs", graph_.outputs);
  }

  support::FileId file_;
  ReadOptions options_;
  Graph graph_;
  std::vector<const Value*> raw_;
  std::set<std::string> unknown_;
  Span first_unknown_;
  std::optional<Diagnostic> error_;
};

}  // namespace

support::Result<Graph> parse_graph(support::FileId file, const ReadOptions& options) {
  return Reader(file, options).run();
}

support::Result<Graph> read_graph(const std::string& path, const ReadOptions& options) {
  const support::Result<support::FileId> file = support::read_source(path);
  return file ? parse_graph(*file, options) : file.error();
}

}  // namespace entangle::graph
