#include "binding.h"

#include <algorithm>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include "entangle/support/text.h"

namespace entangle::graph {

using rules::Base;
using sym::Int;
using sym::Scalar;
using tensor::Attr;
using term::Frame;
using term::Value;

namespace {

constexpr std::string_view kGroupName = "group_name";  // beside a list of ranks: what the framework calls it

std::optional<Value> nothing() {
  return std::nullopt;
}

}  // namespace

Value recorded(const Node& node) {
  const auto one = [](const std::optional<tensor::TensorType>& type) {
    return type ? Value(*type) : Value();
  };
  if (!node.several) {
    return one(node.results[0]);
  }
  std::vector<Value> types;
  for (const auto& type : node.results) {
    types.push_back(one(type));
  }
  return Value(std::move(types));
}

Value recorded_out_of_place(const Node& node) {
  if (node.results[0]) {
    return Value(*node.results[0]);
  }
  Value all = recorded(node);
  if (node.results.size() < 2 || node.mutates.empty()) {
    return all;
  }
  const std::vector<Value>& types = *all.as_list();
  const Arg* changed = mutated_argument(node, 0);
  const bool list = changed != nullptr && changed->list() != nullptr;
  return list ? Value(std::vector<Value>(types.begin() + 1, types.end())) : types[1];
}

Binder::Binder(egraph::EGraph& target, const RankState& rank, NodeIndex at, const rules::Lowering& lowering)
    : target_(target), rank_(rank), at_(at), node_(rank.graph->nodes[at]), lowering_(lowering) {}

bool Binder::fail(std::string reason) {
  reason_ = std::move(reason);
  return false;
}

bool Binder::assign() {
  const auto& parameters = lowering_.parameters;
  given_.assign(parameters.size(), nullptr);
  std::size_t count = node_.args.size();
  const auto is_none = [](const Arg& arg) { return arg.literal() != nullptr && arg.literal()->is_none(); };
  while (count > parameters.size() && is_none(node_.args[count - 1])) {
    --count;
  }
  if (count > parameters.size()) {
    return fail("it takes " + std::to_string(parameters.size()) + " arguments, not " +
                std::to_string(node_.args.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    given_[i] = &node_.args[i];
  }
  for (const auto& [key, arg] : node_.kwargs) {
    const auto is_key = [&key = key](const Parameter& parameter) { return parameter.name == key; };
    const auto found = std::find_if(parameters.begin(), parameters.end(), is_key);
    if (found == parameters.end()) {
      if (is_none(arg) || (key == kGroupName && lowering_.kind != rules::LoweringKind::local)) {
        continue;
      }
      return fail("it has no argument `" + key + "`");
    }
    const Arg*& place = given_[static_cast<std::size_t>(found - parameters.begin())];
    if (place != nullptr) {
      return fail("the argument `" + key + "` is given twice");
    }
    place = &arg;
  }
  return true;
}

bool Binder::has_axis(const Type& type) const {
  return type.base == Base::axis || type.base == Base::perm;
}

std::optional<Frame> Binder::bind() {
  if (!assign()) {
    return std::nullopt;
  }
  Frame frame;
  frame.slots.resize(lowering_.slots.size());
  if (lowering_.result_types != rules::kNoSlot) {
    frame.slots[lowering_.result_types] = recorded(node_);
  }
  // Axes last: they count from the end of a tensor that must be known.
  for (const bool axes : {false, true}) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const Parameter& parameter = lowering_.parameters[i];
      if (has_axis(parameter.type) == axes && !bind_parameter(parameter, given_[i], frame)) {
        return std::nullopt;
      }
    }
  }
  return frame;
}

namespace {

// Whether a literal holds a text, which may be a size of this graph.
bool holds_name(const Attr& attr) {
  return attr.kind() == Attr::Kind::name ||
         (attr.kind() == Attr::Kind::list && std::ranges::any_of(attr.as_list(), holds_name));
}

}  // namespace

bool Binder::add_operands(const Type& type, const Arg& arg, std::vector<NodeIndex>& out) const {
  if (const Attr* attr = arg.literal()) {
    return type.base == Base::name || type.base == Base::dtype || !holds_name(*attr);
  }
  if (const Arg::Ref* ref = arg.ref()) {
    out.push_back(ref->node);
    return type.base == Base::tensor || type.base == Base::operand;
  }
  return std::ranges::all_of(*arg.list(), [&](const Arg& entry) { return add_operands(type, entry, out); });
}

std::optional<std::vector<NodeIndex>> Binder::operands() const {
  std::vector<NodeIndex> result;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const Parameter& parameter = lowering_.parameters[i];
    const auto& standard = parameter.default_value;
    const bool alike = given_[i] != nullptr ? add_operands(parameter.type, *given_[i], result)
                                            : !standard || standard->kind == rules::ExprKind::literal;
    if (!alike || parameter.type.base == Base::group) {
      return std::nullopt;
    }
  }
  return result;
}

bool Binder::bind_parameter(const Parameter& parameter, const Arg* arg, Frame& frame) {
  const bool collected =
      lowering_.kind == rules::LoweringKind::collective && parameter.type.base == Base::tensor;
  const int depth = parameter.type.depth - (collected && parameter.type.depth > 0 ? 1 : 0);
  std::optional<Value>& slot = frame.slots[parameter.slot];
  if (arg != nullptr) {
    slot = value(parameter.type, depth, *arg, frame);
    return slot ||
           fail("the argument `" + parameter.name + "` is not of the type " + to_string(parameter.type));
  }
  if (!parameter.default_value) {
    slot = Value();
    return parameter.type.optional || parameter.type.base == Base::group ||
           fail("the argument `" + parameter.name + "` is missing");
  }
  std::optional<Value> standard = target_.evaluator().evaluate(*parameter.default_value, frame);
  if (!standard) {
    return fail("the default of `" + parameter.name + "` is undefined");
  }
  const std::optional<Attr> literal = standard->to_attr();
  const bool none = literal && literal->is_none();
  if (literal && !(none && (parameter.type.optional || parameter.type.base == Base::group))) {
    standard = of_literal(parameter.type, depth, *literal, frame);
  }
  slot = standard;
  return slot || fail("the default of `" + parameter.name + "` does not fit");
}

std::optional<Value> Binder::value(const Type& type, int depth, const Arg& arg, const Frame& frame) {
  if (const Attr* attr = arg.literal()) {
    return of_literal(type, depth, *attr, frame);
  }
  if (const Arg::Ref* ref = arg.ref()) {
    return of_node(type, depth, ref->node);
  }
  if (depth == 0 && type.base != Base::any && type.base != Base::perm) {
    return std::nullopt;
  }
  Type entry_type = type;
  if (type.base == Base::perm) {
    entry_type.base = Base::axis;
  }
  entry_type.optional = type.holes;
  std::vector<Value> entries;
  for (const Arg& entry : *arg.list()) {
    const std::optional<Value> bound = value(entry_type, std::max(depth - 1, 0), entry, frame);
    if (!bound) {
      return std::nullopt;
    }
    entries.push_back(*bound);
  }
  return Value(std::move(entries));
}

std::optional<Value> Binder::of_literal(const Type& type, int depth, const Attr& attr, const Frame& frame) {
  if (attr.is_none()) {
    return type.optional || type.base == Base::any ? std::optional(Value()) : std::nullopt;
  }
  if (type.base == Base::any && depth == 0) {
    return Value(attr);
  }
  const bool list = attr.kind() == Attr::Kind::list;
  const bool wants_list = depth > 0 || type.base == Base::perm || type.base == Base::group;
  if (!wants_list) {
    return list ? std::nullopt : base(type, attr, frame);
  }
  if (!list) {
    return type.base == Base::group && depth == 0 ? base(type, attr, frame) : std::nullopt;
  }
  if (depth == 1 && type.nonempty && attr.as_list().empty()) {
    return std::nullopt;
  }
  Type entry_type = type;
  if (depth == 0) {  // a permutation, or the ranks of a group
    entry_type.base = type.base == Base::perm ? Base::axis : Base::integer;
  }
  entry_type.optional = type.holes;
  std::vector<Value> entries;
  for (const Attr& entry : attr.as_list()) {
    const std::optional<Value> bound = of_literal(entry_type, std::max(depth - 1, 0), entry, frame);
    if (!bound) {
      return std::nullopt;
    }
    entries.push_back(*bound);
  }
  return Value(std::move(entries));
}

std::optional<Value> Binder::of_node(const Type& type, int depth, NodeIndex node) {
  const std::span<const TermId> terms = rank_.terms(node);
  const bool tensor = type.base == Base::tensor || type.base == Base::operand || type.base == Base::any;
  if (tensor && rank_.graph->nodes[node].several) {  // all results of a node
    std::vector<Value> entries;
    for (const TermId id : terms) {
      if (id == kNoTerm && !type.holes) {
        return std::nullopt;
      }
      entries.push_back(id == kNoTerm ? Value() : Value(term::Term{id}));
    }
    return depth == 1 || type.base == Base::any ? std::optional(Value(std::move(entries))) : std::nullopt;
  }
  if (depth > 0 || rank_.graph->nodes[node].several) {
    return std::nullopt;
  }
  const std::optional<Int>& size = rank_.sizes[node];
  if (type.base == Base::any && size) {
    return Value(*size);
  }
  if (tensor) {
    if (terms[0] == kNoTerm) {
      return type.optional || type.base == Base::any ? std::optional(Value()) : std::nullopt;
    }
    return Value(term::Term{terms[0]});
  }
  std::optional<Scalar> known;
  if (size) {
    known = Scalar(*size);
  } else if (terms[0] != kNoTerm && target_.type(terms[0]).rank() == 0) {
    known = target_.uniform(terms[0]);
  }
  if (!known) {
    return std::nullopt;
  }
  const std::optional<Int> whole = known->is_infinite() ? std::nullopt : known->as_int();
  return base(type, whole ? Attr::of(*whole) : Attr::of(*known), Frame{});
}

std::optional<Value> Binder::base(const Type& type, const Attr& attr, const Frame& frame) {
  switch (type.base) {
    case Base::tensor:
    case Base::perm:
      return std::nullopt;
    case Base::operand: {
      const std::optional<Scalar> number = scalar(attr);
      return number ? constant(*number) : nothing();
    }
    case Base::axis: {
      const std::optional<Int> number = integer(attr);
      return number ? axis(type, *number, frame) : nothing();
    }
    case Base::count:
    case Base::integer: {
      const std::optional<Int> number = integer(attr);
      return number ? std::optional(Value(*number)) : nothing();
    }
    case Base::scalar: {
      const std::optional<Scalar> number = scalar(attr);
      return number ? std::optional(Value(Attr::of(*number))) : nothing();
    }
    case Base::boolean:
      return attr.kind() == Attr::Kind::boolean ? std::optional(Value(attr)) : nothing();
    case Base::name:
      return attr.kind() == Attr::Kind::name ? std::optional(Value(attr)) : nothing();
    case Base::dtype: {
      const auto parsed = attr.kind() == Attr::Kind::name ? tensor::parse_dtype(attr.as_name())
                                                          : std::optional<tensor::DType>();
      return parsed ? std::optional(Value(Attr::of(*parsed))) : nothing();
    }
    case Base::group: {
      const Group* group =
          attr.kind() == Attr::Kind::name ? rank_.graph->find_group(attr.as_name()) : nullptr;
      if (group == nullptr) {
        return std::nullopt;
      }
      std::vector<Value> ranks;
      for (const std::size_t rank : group->ranks) {
        ranks.emplace_back(Int(rank));
      }
      return Value(std::move(ranks));
    }
    case Base::any:
      return Value(attr);
  }
  return std::nullopt;
}

std::optional<std::size_t> Binder::rank_of(const std::string& parameter, const Frame& frame) const {
  if (parameter == "result") {
    return node_.results[0] ? std::optional(node_.results[0]->rank()) : std::nullopt;
  }
  for (const Parameter& candidate : lowering_.parameters) {
    if (candidate.name != parameter || candidate.slot >= frame.slots.size() || !frame.slots[candidate.slot]) {
      continue;
    }
    const Value* value = &*frame.slots[candidate.slot];
    while (const std::vector<Value>* list = value->as_list()) {
      if (list->empty()) {
        return std::nullopt;
      }
      value = &list->front();
    }
    const term::Term* term = value->as_term();
    return term != nullptr ? std::optional(target_.type(term->id).rank()) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Value> Binder::axis(const Type& type, Int number, const Frame& frame) const {
  if (type.of.empty()) {
    return Value(number);
  }
  const std::optional<std::size_t> rank = rank_of(type.of, frame);
  if (!rank || !number.is_constant()) {
    return std::nullopt;
  }
  const auto axes = static_cast<std::int64_t>(*rank);
  const std::int64_t place = number.value() < 0 ? number.value() + axes : number.value();
  return 0 <= place && place < axes ? std::optional(Value(Int(place))) : std::nullopt;
}

std::optional<Int> Binder::integer(const Attr& attr) const {
  switch (attr.kind()) {
    case Attr::Kind::integer:
      return attr.as_int();
    case Attr::Kind::scalar:  // a whole number that is written as a float: `arange(0.0, 8.0)`
      return attr.as_scalar().is_infinite() ? std::nullopt : attr.as_scalar().as_int();
    case Attr::Kind::name:
      return rank_.size_expression(attr.as_name());
    default:
      return std::nullopt;
  }
}

std::optional<Scalar> Binder::scalar(const Attr& attr) const {
  switch (attr.kind()) {
    case Attr::Kind::boolean:
      return Scalar(attr.as_bool() ? 1 : 0);
    case Attr::Kind::integer:
      return Scalar(attr.as_int());
    case Attr::Kind::scalar:
      return attr.as_scalar();
    case Attr::Kind::name: {
      std::optional<Scalar> written = Scalar::from_decimal_text(attr.as_name());
      if (written && written->is_infinite()) {
        return written;
      }
      const std::optional<Int> size = rank_.size_expression(attr.as_name());
      return size ? std::optional(Scalar(*size)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<Value> Binder::constant(const Scalar& number) {
  if (!node_.results[0]) {
    return std::nullopt;
  }
  const std::optional<TermId> id = target_.evaluator().full(number, {{}, node_.results[0]->dtype});
  return id ? std::optional(Value(term::Term{*id})) : std::nullopt;
}

support::Result<std::optional<Group>> Binder::group() {
  const Arg* given = nullptr;
  if (assign()) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (lowering_.parameters[i].type.base == Base::group) {
        given = given_[i];
      }
    }
  }
  const Arg* named = node_.kwarg(kGroupName);
  given = given != nullptr ? given : named;
  const Attr* attr = given != nullptr ? given->literal() : nullptr;
  if (attr == nullptr || attr->is_none()) {
    return std::optional<Group>();
  }
  const support::Span span = rank_.graph->span(at_, *given);
  if (attr->kind() == Attr::Kind::name) {
    if (const Group* found = rank_.graph->find_group(attr->as_name())) {
      return std::optional(*found);
    }
    const auto names =
        rank_.graph->groups | ranges::views::transform(&Group::name) | ranges::to<std::vector>();
    return support::error(
        "graph/unknown-group", span,
        "`" + node_.name + "` runs in the group `" + attr->as_name() + "`, which the graph does not declare",
        support::did_you_mean(attr->as_name(), names));
  }
  Group group;
  if (named != nullptr && named->literal() != nullptr && named->literal()->kind() == Attr::Kind::name) {
    group.name = named->literal()->as_name();
  }
  const bool list = attr->kind() == Attr::Kind::list && !attr->as_list().empty();
  for (const Attr& entry : list ? attr->as_list() : std::span<const Attr>()) {
    const std::optional<Int> rank = integer(entry);
    const bool good = rank && rank->is_constant() && rank->value() >= 0;
    const auto number = good ? static_cast<std::size_t>(rank->value()) : 0;
    if (!good || std::find(group.ranks.begin(), group.ranks.end(), number) != group.ranks.end()) {
      return support::error("graph/bad-group", span, "a group is a list of distinct ranks");
    }
    group.ranks.push_back(number);
  }
  if (group.ranks.empty()) {
    return support::error("graph/bad-group", span, "a group is a name or a list of distinct ranks");
  }
  return std::optional(std::move(group));
}

}  // namespace entangle::graph
