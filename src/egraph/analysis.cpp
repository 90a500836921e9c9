// What is known of the elements of a class: one scalar everywhere, bounds, being a distributed tensor.

#include <algorithm>
#include <utility>

#include "egraph/impl.h"

namespace entangle::egraph {

void EGraph::Impl::analyse_users(const Class& data) {
  for (Use at = data.first_use; at != kNoUse; at = uses[at].next) {
    stale.push_back(uses[at].term);
  }
}

term::Interval EGraph::Impl::interval_of(const Class& data) const {
  if (data.uniform != kNone && tensor::is_integer(types[data.type].dtype)) {
    if (const std::optional<sym::Int> value = scalars[data.uniform].as_int()) {
      return {*value, *value};
    }
  }
  return data.interval == kNone ? term::Interval{} : intervals[data.interval];
}

void EGraph::Impl::set_uniform(TermId node, const sym::Scalar& value) {
  Class& data = classes[find(node)];
  data.uniform = static_cast<std::uint32_t>(scalars.size());
  scalars.push_back(value);
  touch(data);
  analyse_users(data);
  const tensor::TensorType type = types[data.type];
  const TermId made = last_made;
  const std::optional<TermId> full = evaluator->full(value, type);
  const TermId exact = last_made;
  last_made = made;
  if (full && *full != kNoTerm) {
    Edge edge;
    edge.kind = Reason::Kind::fold;
    merge(node, exact != kNoTerm && find(exact) == find(*full) ? exact : *full, edge);
  }
}

void EGraph::Impl::analyse(TermId id) {
  const Node node = nodes[id];
  if (node.op == rules::kNoOp) {
    return;
  }
  const rules::Operator& op = rule_set.op(node.op);
  const TermId root = find(id);
  if (!classes[root].defined && std::all_of(node.children, node.children + node.count,
                                            [&](TermId child) { return class_of(child).defined; })) {
    classes[root].defined = true;
    touch(classes[root]);
    analyse_users(classes[root]);
  }
  const auto is_one_scalar = [&](TermId child) { return class_of(child).uniform != kNone; };
  if (classes[root].uniform == kNone && !op.random && std::ranges::all_of(node.span(), is_one_scalar)) {
    Small<const tensor::TensorType*, 16> child_types;
    std::vector<sym::Scalar> values;
    for (const TermId child : node.span()) {
      const Class& data = class_of(child);
      child_types.push(&types[data.type]);
      values.push_back(scalars[data.uniform]);
    }
    if (const std::optional<sym::Scalar> value =
            typing.fold(node.op, node.attrs, child_types.span(), values)) {
      set_uniform(id, *value);
      return;
    }
  }
  if (!tensor::is_integer(type(id).dtype)) {
    return;
  }
  if (!op.rearranges || node.count == 0) {
    bound(id, node);
    return;
  }
  // Each element is an element of an operand of the same element type: the hull of their bounds.
  std::optional<term::Interval> hull;
  const auto least = [&](std::optional<sym::Int> a, std::optional<sym::Int> b, bool greater) {
    if (!a || !b) {
      return std::optional<sym::Int>();
    }
    const std::optional<std::strong_ordering> order = oracle.compare(*a, *b);
    if (!order) {
      return std::optional<sym::Int>();
    }
    return (*order < 0) != greater ? a : b;
  };
  for (const TermId child : node.span()) {
    const Class& data = class_of(child);
    if (types[data.type].dtype != type(id).dtype) {
      return;
    }
    const term::Interval known = interval_of(data);
    hull = hull ? term::Interval{least(hull->low, known.low, false), least(hull->high, known.high, true)}
                : known;
  }
  narrow(id, *hull);
}

void EGraph::Impl::bound(TermId id, const Node& node) {
  Small<const tensor::TensorType*, 16> child_types;
  std::vector<term::Interval> intervals;
  bool known = !rule_set.op(node.op).elementwise;
  for (const TermId child : node.span()) {
    const Class& data = class_of(child);
    child_types.push(&types[data.type]);
    intervals.push_back(interval_of(data));
    known = known || intervals.back() != term::Interval{};
  }
  // A function of numbers of which nothing is known.
  if (!known) {
    return;
  }
  narrow(id, typing.bounds(node.op, node.attrs, child_types.span(), intervals, type(id)));
}

void EGraph::Impl::narrow(TermId id, const term::Interval& interval) {
  if (!interval.low && !interval.high) {
    return;
  }
  Class& data = classes[find(id)];
  constexpr std::uint32_t kMostNarrowings = 16;
  if (data.narrowed >= kMostNarrowings) {
    return;  // a cycle of ever smaller bounds: what is known stays true
  }
  term::Interval known = data.interval == kNone ? term::Interval{} : intervals[data.interval];
  const term::Interval before = known;
  if (interval.low && (!known.low || is_yes(oracle.less(*known.low, *interval.low)))) {
    known.low = interval.low;
  }
  if (interval.high && (!known.high || is_yes(oracle.less(*interval.high, *known.high)))) {
    known.high = interval.high;
  }
  if (known == before) {
    return;
  }
  data.interval = static_cast<std::uint32_t>(intervals.size());
  intervals.push_back(known);
  ++data.narrowed;
  touch(data);
  analyse_users(data);
}

std::optional<sym::Scalar> EGraph::uniform(TermId id) const {
  const Class& data = impl_->class_of(id);
  return data.uniform == kNone ? std::nullopt : std::optional(impl_->scalars[data.uniform]);
}

term::Interval EGraph::interval(TermId id) const {
  return impl_->interval_of(impl_->class_of(id));
}

bool EGraph::defined(TermId id) const {
  return impl_->class_of(id).defined;
}

void EGraph::set_undefined(TermId id) {
  Class& data = impl_->classes[find(id)];
  ENTANGLE_CHECK(data.first_use == kNoUse, "a leaf that is used already is declared undefined");
  data.defined = false;
  impl_->touch(data);
}

bool EGraph::named(TermId id) const {
  return impl_->class_of(id).named;
}

void EGraph::set_named(TermId id) {
  Class& data = impl_->classes[find(id)];
  if (!data.named) {
    data.named = true;
    impl_->touch(data);
  }
}

void EGraph::set_interval(TermId id, const term::Interval& interval) {
  impl_->narrow(id, interval);
}

std::vector<sym::Int> EGraph::tiling(TermId id, std::size_t axis) const {
  const Impl& inside = *impl_;
  if (inside.slice == rules::kNoOp || axis >= type(id).rank() ||
      inside.rule_set.op(inside.slice).attributes.size() != 3) {
    return {};
  }
  smt::Oracle& oracle = inside.oracle;
  const sym::Int size = type(id).shape[axis];
  std::vector<std::pair<sym::Int, sym::Int>> pieces;
  for (const TermId user : user_nodes(id, inside.slice)) {
    const std::span<const tensor::Attr> attrs = inside.nodes[user].attrs.as_list();
    using Kind = tensor::Attr::Kind;
    if (attrs[0].kind() != Kind::integer || attrs[1].kind() != Kind::integer ||
        attrs[2].kind() != Kind::integer ||
        !is_yes(oracle.equal(attrs[0].as_int(), static_cast<std::int64_t>(axis)))) {
      continue;
    }
    pieces.emplace_back(attrs[1].as_int(), attrs[2].as_int());
  }
  // Smallest end first where the order is known; otherwise in order of creation.
  std::stable_sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
    const std::optional<std::int64_t> x = a.second.constant();
    const std::optional<std::int64_t> y = b.second.constant();
    return x && (!y || *x < *y);
  });
  constexpr std::size_t kMostPieces = 256;
  std::vector<sym::Int> cuts = {0};
  // Depth first; a cut point from which the end cannot be reached is not tried again.
  std::vector<sym::Int> dead_ends;
  const std::function<bool()> extend = [&]() {
    const sym::Int at = cuts.back();
    if (is_yes(oracle.equal(at, size))) {
      return true;
    }
    if (cuts.size() > kMostPieces || std::find(dead_ends.begin(), dead_ends.end(), at) != dead_ends.end()) {
      return false;
    }
    for (const auto& [begin, end] : pieces) {
      if (is_yes(oracle.equal(begin, at))) {
        cuts.push_back(end);
        if (extend()) {
          return true;
        }
        cuts.pop_back();
      }
    }
    dead_ends.push_back(at);
    return false;
  };
  if (!extend() || cuts.size() < 3) {
    return {};
  }
  return cuts;
}

}  // namespace entangle::egraph
