#include <algorithm>
#include <array>

#include "reader.h"

namespace entangle::graph {

using json::Kind;
using json::Value;
using sym::Int;
using tensor::Attr;

namespace {

constexpr std::array<std::string_view, 10> kNodeKeys = {"name", "op",    "args",    "kwargs", "shape",
                                                        "loc",  "dtype", "mutates", "sym",    "value"};

}  // namespace

bool Reader::argument(const Value& value, NodeIndex user, Arg& out) {
  out.offset = value.offset - graph_.texts[user].offset;
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

bool Reader::list(const Value& value, NodeIndex user, Arg& out) {
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

bool Reader::reference(const Value& value, NodeIndex user, Arg& out) {
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
  const NodeIndex found = graph_.find(target->text);
  if (found == kNoNode) {
    return missing(*target, graph_.nodes[user].name);
  }
  if (found >= user) {
    return too_early(*target, user, found);
  }
  out.data = Arg::Ref{found};
  return true;
}

bool Reader::missing(const Value& target, const std::string& user) {
  return fail("missing-node", target,
              quoted(user) + " refers to " + quoted(target.text) + ", which does not exist",
              support::did_you_mean(target.text, graph_.node_names()));
}

// The nodes a node refers to, by name: also for nodes that are not read yet.
void Reader::targets(const Value& value, std::vector<NodeIndex>& out) const {
  if (const Value* target = value.is(Kind::object) ? value.find("ref") : nullptr) {
    const NodeIndex found = graph_.find(target->text);
    if (found != kNoNode) {
      out.push_back(found);
    }
  }
  for (const Value& item : value.items) {
    targets(item, out);
  }
  for (const json::Member& member : value.members) {
    targets(member.value, out);
  }
}

std::vector<NodeIndex> Reader::targets_of(NodeIndex node) const {
  std::vector<NodeIndex> out;
  for (const std::string_view key : {"args", "kwargs"}) {
    if (const Value* arguments = raw_[node]->find(key)) {
      targets(*arguments, out);
    }
  }
  return out;
}

// A path from one node to another along references, both included; empty when there is none.
std::vector<NodeIndex> Reader::path(NodeIndex from, NodeIndex to) const {
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

bool Reader::too_early(const Value& target, NodeIndex user, NodeIndex later) {
  const std::string& name = graph_.nodes[user].name;
  const std::vector<NodeIndex> back = path(later, user);
  if (back.empty()) {
    fail("use-before-definition", target,
         quoted(name) + " refers to " + quoted(target.text) + ", which comes later",
         "nodes are listed in the order in which they run");
    error_->notes.push_back({graph_.span(later), quoted(target.text) + " is defined here"});
    return false;
  }
  std::string chain = quoted(name);
  for (const NodeIndex node : back) {
    chain += " -> " + quoted(graph_.nodes[node].name);
  }
  return fail("cycle", target, quoted(name) + " depends on itself: " + chain);
}

bool Reader::text(const Value& object, std::string_view key, std::string_view where, std::string& out) {
  const Value* value = require(object, key, where);
  if (value == nullptr || (!value->is(Kind::string) && !expect(*value, Kind::string, quoted(key)))) {
    return false;
  }
  out = value->text;
  return !out.empty() || fail("wrong-kind", *value, quoted(key) + " must not be empty");
}

bool Reader::node(NodeIndex at) {
  const Value& object = *raw_[at];
  Node& node = *own_[at];
  if (object.find("op") == nullptr) {
    require(object, "op", "the node " + quoted(node.name));
    return false;
  }
  if (!text(object, "op", "the node", node.op)) {
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
  return results(object, node) && size_of(object, node) && mutates(object, node) && value_of(object, at) &&
         getitem(object, node);
}

bool Reader::size_of(const Value& object, Node& node) {
  const Value* symbol = object.find("sym");
  if (symbol == nullptr || symbol->is(Kind::null)) {
    return true;
  }
  const std::optional<tensor::TensorType>& type = node.results[0];
  if (!node.several && type && type->dtype == tensor::DType::b8) {
    node.size_condition = true;
    return true;
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

bool Reader::mutates(const Value& object, Node& node) {
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
  const std::size_t count = 1 + mutated_tensors(node);
  const bool fits = node.results.size() == count || node.results.size() == 1 + node.mutates.size();
  if (!node.mutates.empty() && (!node.several || !fits)) {
    return fail("bad-mutates", *names,
                quoted(node.name) + " must have " + std::to_string(count) +
                    " results: what it returns, then the new value of each argument under `mutates`");
  }
  // Positional arguments have no names here: a name that no keyword has is one of them that holds tensors.
  const auto holds_tensors = [](const Arg& arg) {
    bool found = false;
    for_each_ref(arg, [&](NodeIndex) { found = true; });
    return found;
  };
  std::ptrdiff_t unnamed = std::ranges::count_if(node.args, holds_tensors);
  for (const Value& name : names->items) {
    const Arg* arg = node.kwarg(name.text);
    if (arg != nullptr ? !holds_tensors(*arg) : --unnamed < 0) {
      return fail("bad-mutates", name, quoted(node.name) + " has no tensor as argument " + quoted(name.text));
    }
  }
  return true;
}

// Whether nested lists have this shape from axis `axis` on; scalars are counted.
bool Reader::fits(const Attr& value, const tensor::Shape& shape, std::size_t axis) {
  if (value.kind() != Attr::Kind::list) {
    return axis == shape.size();
  }
  if (axis == shape.size() || !(shape[axis] == Int(value.as_list().size()))) {
    return false;
  }
  return std::all_of(value.as_list().begin(), value.as_list().end(),
                     [&](const Attr& entry) { return fits(entry, shape, axis + 1); });
}

bool Reader::is_numeric(const Attr& value) {
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

bool Reader::value_of(const Value& object, NodeIndex at) {
  Node& node = *own_[at];
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
  if (!argument(*value, at, arg)) {
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

bool Reader::getitem(const Value& object, const Node& node) {
  if (!is_getitem(node)) {
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
                quoted(source.name) + " has " + std::to_string(source.results.size()) + " results, number " +
                    std::to_string(place) + " is not one of them");
  }
  return true;
}

}  // namespace entangle::graph
