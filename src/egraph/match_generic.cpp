// f(.., p, ..): the operators with a trait, and at which operands and axes they have it.

#include <algorithm>
#include <numeric>

#include "egraph/impl.h"
#include "egraph/run.h"

namespace entangle::egraph {

using rules::Expr;
using rules::ExprKind;
using rules::Trait;

namespace {

// Whether `second` is the next axis to the right of `first`, in the result and in every operand that has it.
bool neighbours(const term::Correspondence& first, const term::Correspondence& second) {
  if (second.result != first.result + 1) {
    return false;
  }
  for (std::size_t j = 0; j < first.operands.size(); ++j) {
    if (first.operands[j] == term::kNoAxis ? second.operands[j] != term::kNoAxis
                                           : second.operands[j] != first.operands[j] + 1) {
      return false;
    }
  }
  return true;
}

}  // namespace

void Application::look_at(EGraph& graph, const term::NodeView& node) {
  const EGraph::Impl& inside = graph.impl();
  if (operands_ == node.children.data() && count_ == node.children.size() &&
      merges_ == inside.merge_log.size() && count_ > 0) {
    return;
  }
  operands_ = node.children.data();
  count_ = node.children.size();
  merges_ = inside.merge_log.size();
  info_ = nullptr;
  focus.op = node.op;
  focus.attrs = node.attrs;
  focus.children.clear();
  for (const TermId child : node.children) {
    focus.children.push_back(graph.find(child));
  }
  hash = node_hash(node.op, node.attrs, focus.children);
  again.assign(count_, false);
  if (inside.commutative(node.op)) {
    order_.resize(count_);
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t j) { return focus.children[j]; });
    for (std::size_t k = 1; k < count_; ++k) {
      again[order_[k]] = focus.children[order_[k]] == focus.children[order_[k - 1]];
    }
  }
}

const term::AxisInfo& Application::axes(EGraph& graph) {
  if (info_ == nullptr) {
    Small<const tensor::TensorType*, 16> types;
    for (const TermId child : focus.children) {
      types.push(&graph.type(child));
    }
    info_ = &graph.typing().axes(focus.op, focus.attrs, types.span());
  }
  return *info_;
}

bool Run::generic(const Expr& pattern, const term::NodeView& node, const Path* path, Next next) {
  if (generic_ == nullptr || frame_.focus != nullptr || pattern.args.size() != 1 ||
      pattern.shift != rules::Shift::none || node.op == rules::kNoOp ||
      !has_trait(graph_.rules().op(node.op), generic_->trait)) {
    return false;
  }
  const Expr& inner = pattern.args[0];
  const EGraph::Impl& inside = graph_.impl();
  const auto may_match = [&](TermId child) {
    return inner.kind != ExprKind::apply ||
           (inside.class_of(child).operators & rules::operator_bit(inner.op)) != 0;
  };
  if (std::none_of(node.children.begin(), node.children.end(), may_match)) {
    return false;
  }

  Application own;
  Application& application = application_ != nullptr ? *application_ : own;
  application.look_at(graph_, node);
  term::Focus& focus = application.focus;
  focus.hash = application.hash;
  const bool any_operand = inner.kind == ExprKind::variable;
  const auto at_operands = [&](const term::Correspondence* correspondence, auto has) {
    const std::size_t before = successes_;
    for (std::size_t j = 0; j < focus.children.size(); ++j) {
      if (!has(j) || application.again[j] || !may_match(focus.children[j]) || is_old(focus.children[j])) {
        continue;
      }
      if (focused(inner, focus, j, correspondence, path, next)) {
        return true;
      }
      // A plain variable stands for any of the operands that have the axis: one is enough.
      if (any_operand && correspondence != nullptr && successes_ != before) {
        break;
      }
    }
    return false;
  };

  if (generic_->trait == Trait::elementwise) {
    return at_operands(nullptr, [](std::size_t) { return true; });
  }
  const term::AxisInfo& info = application.axes(graph_);
  if (generic_->trait == Trait::linear) {
    return at_operands(nullptr, [&](std::size_t j) { return j < info.linear.size() && info.linear[j]; });
  }
  const std::vector<term::Correspondence>& all = generic_->trait == Trait::reduces_sum   ? info.sums
                                                 : generic_->trait == Trait::reduces_max ? info.maxima
                                                                                         : info.maps;
  const bool alone = std::any_of(demands_.begin(), demands_.end(),
                                 [](const Demand& demand) { return demand.kind == Demand::Kind::alone; });
  for (const term::Correspondence& correspondence : all) {
    focus.hash =
        support::hash_combine(application.hash, static_cast<std::uint64_t>(&correspondence - all.data()));
    if (alone && std::count_if(correspondence.operands.begin(), correspondence.operands.end(),
                               [](int axis) { return axis != term::kNoAxis; }) > 1) {
      continue;
    }
    if (generic_->trait == Trait::maps_pair &&
        std::none_of(all.begin(), all.end(),
                     [&](const term::Correspondence& other) { return neighbours(correspondence, other); })) {
      continue;
    }
    if (at_operands(&correspondence,
                    [&](std::size_t j) { return correspondence.operands[j] != term::kNoAxis; })) {
      return true;
    }
  }
  return false;
}

bool Run::focused(const Expr& pattern, term::Focus& focus, std::size_t operand,
                  const term::Correspondence* correspondence, const Path* path, Next next) {
  // The focus must be as it is now whenever `next` runs; an enclosing loop changes it only between runs.
  const rules::Slot axis = correspondence != nullptr ? generic_->axis : rules::kNoSlot;
  const rules::Slot result = correspondence != nullptr ? generic_->result_axis : rules::kNoSlot;
  auto match_operand = [&] {
    focus.operand = operand;
    focus.correspondence = correspondence;
    frame_.focus = &focus;
    const bool stop = in_class(pattern, focus.children[operand], path, next);
    frame_.focus = nullptr;
    return stop;
  };
  const auto with_axis = [&](rules::Slot slot, int axis_number, Next then) {
    if (slot == rules::kNoSlot) {
      return then();
    }
    const term::Value number{sym::Int(axis_number)};
    if (frame_.slots[slot]) {
      return is_yes(equal(*frame_.slots[slot], number)) && then();
    }
    return bind(slot, number, then);
  };
  auto bind_result = [&] {
    return with_axis(result, correspondence != nullptr ? correspondence->result : 0, match_operand);
  };
  return with_axis(axis, correspondence != nullptr ? correspondence->operands[operand] : 0, bind_result);
}

}  // namespace entangle::egraph
