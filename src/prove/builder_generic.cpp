// Attributes of applications, and applications of the operator variable.

#include <algorithm>

#include "prove/builder.h"

namespace entangle::prove {

using rules::Base;
using rules::Expr;
using rules::ExprKind;
using rules::Slot;
using rules::Trait;
using sym::Int;
using tensor::Attr;
using tensor::DType;
using tensor::TensorType;
using term::kNoTerm;
using term::Value;

namespace {

// Whether a requirement says that two lists have one length.
bool same_length(const Expr& requirement, Slot a, Slot b) {
  const auto length_of = [](const Expr& expr, Slot slot) {
    return expr.kind == ExprKind::call && expr.builtin == rules::Builtin::len && !expr.args.empty() &&
           expr.args[0].kind == ExprKind::variable && expr.args[0].slot == slot;
  };
  return requirement.kind == ExprKind::binary && requirement.operation == rules::Operation::equal &&
         ((length_of(requirement.args[0], a) && length_of(requirement.args[1], b)) ||
          (length_of(requirement.args[0], b) && length_of(requirement.args[1], a)));
}

}  // namespace

// `length`: of a list, where it is known.
Attr Builder::attribute(const rules::Type& type, std::size_t depth, const std::vector<TermId>& children,
                        std::optional<std::size_t> length) {
  std::size_t rank = 0;
  for (const TermId child : children) rank = std::max(rank, terms_.type(child).rank());
  if (type.base == Base::perm) {
    std::vector<std::size_t> order(children.empty() ? 0 : terms_.type(children[0]).rank());
    std::size_t count = 1;
    for (std::size_t k = 0; k < order.size(); ++k) {
      order[k] = k;
      count *= k + 1;
    }
    for (std::size_t n = chooser_(count); n > 0; --n) std::ranges::next_permutation(order);
    std::vector<Attr> perm;
    for (const std::size_t axis : order) perm.push_back(Attr::of(Int(axis)));
    return Attr::list(perm);
  }
  if (depth > 0) {
    std::vector<Attr> entries;
    if (type.base == Base::axis) {
      // Places of new axes.
      std::vector<std::vector<Attr>> sets;
      for (unsigned set = 0; set < 1U << limits_.rank; ++set) {
        std::vector<Attr> axes;
        for (std::size_t k = 0; k < limits_.rank; ++k) {
          if ((set >> k & 1U) != 0) axes.push_back(Attr::of(Int(k)));
        }
        if (rank + axes.size() <= limits_.rank &&
            (axes.empty() || axes.back().as_int().value() < static_cast<std::int64_t>(rank + axes.size()))) {
          sets.push_back(std::move(axes));
        }
      }
      return Attr::list(sets[chooser_(sets.size())]);
    }
    if (!length) {
      length = type.base == Base::integer ? chooser_(limits_.rank + 1) : 1 + chooser_(limits_.length);
    }
    for (std::size_t k = 0; k < *length; ++k) entries.push_back(attribute(type, depth - 1, children, {}));
    return Attr::list(entries);
  }
  switch (type.base) {
    case Base::axis:
    case Base::count:
      return Attr::of(Int(chooser_(rank + (type.base == Base::count ? 1 : 0))));
    case Base::integer:
      return Attr::of(symbol(false));
    case Base::scalar:
      return Attr::of(scalar(DType::f32));
    case Base::boolean:
      return Attr::of(chooser_(2) == 1);
    case Base::name:
      return among(vocabulary_.names(fresh_names_ + 1));
    case Base::dtype:
      return Attr::of(vocabulary_.dtypes()[chooser_(vocabulary_.dtypes().size())]);
    case Base::any:
      return vocabulary_.values_matter() ? among(vocabulary_.values(fresh_names_ + 1)) : Attr();
    default:
      return {};
  }
}

// One of them; the last is a name that nothing mentions and that has not been chosen before.
Attr Builder::among(const std::vector<Attr>& values) {
  const std::size_t taken = chooser_(values.size());
  if (taken + 1 == values.size()) ++fresh_names_;
  return values[taken];
}

// A variable of the expression that has no value yet (and is not bound inside it).
std::optional<Slot> Builder::unbound(const Expr& expr) const {
  if (expr.kind == ExprKind::list) {  // a pattern: what a comprehension around it goes through is bound, too
    for (const Expr& entry : expr.args) {
      if (entry.kind == ExprKind::variable && !bound(entry.slot)) return entry.slot;
    }
  }
  if (expr.kind == ExprKind::variable) {
    const bool free = expr.slot < lemma_.parameters && !bound(expr.slot);
    return free ? std::optional(expr.slot) : std::nullopt;
  }
  for (const Expr& arg : expr.args) {
    if (const auto slot = unbound(arg)) return slot;
  }
  return std::nullopt;
}

// First the attributes that bind variables, then those that follow from them.
void Builder::attributes(const rules::Operator& op, const Expr* pattern, const std::vector<TermId>& children,
                         std::vector<std::optional<Attr>>& values) {
  const auto expr = [&](std::size_t k) {
    return pattern != nullptr && k < pattern->attrs.size() ? &pattern->attrs[k] : nullptr;
  };
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Expr* given = expr(k);
    const bool free = given == nullptr || given->kind == ExprKind::wildcard ||
                      (given->kind == ExprKind::variable && !bound(given->slot));
    if (!free) continue;
    const rules::Type& type = op.attributes[k].type;
    std::optional<std::size_t> length;
    for (std::size_t other = 0; other < k && type.depth == 1; ++other) {
      if (values[other] && values[other]->kind() == Attr::Kind::list &&
          std::ranges::any_of(op.requires_, [&](const Expr& requirement) {
            return same_length(requirement, op.attributes[other].slot, op.attributes[k].slot);
          })) {
        length = values[other]->as_list().size();
      }
    }
    values[k] = attribute(type, type.depth, children, length);
    if (given != nullptr && given->kind == ExprKind::variable) frame_.slots[given->slot] = Value(*values[k]);
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k]) continue;
    const rules::Type& type = op.attributes[k].type;
    // Nothing else binds it: whatever makes the application well-typed.
    while (const auto slot = unbound(*expr(k))) {
      const bool structural = type.base == Base::axis || type.base == Base::count || type.base == Base::perm;
      frame_.slots[*slot] = structural ? Value(Int(chooser_(limits_.rank + 1))) : Value(symbol(false));
    }
    typing_.oracle().forget_undecided();
    const auto value = evaluator_.evaluate(*expr(k), frame_);
    values[k] = value ? value->to_attr() : std::nullopt;
    if (values[k] && type.base == Base::scalar && type.depth == 0) {
      const auto scalar = value->to_scalar();
      values[k] = scalar ? std::optional(Attr::of(*scalar)) : std::nullopt;
    }
    if (!values[k]) {
      fork_if_undecided(typing_.oracle());
      throw Infeasible{};
    }
  }
}

// Applications of the operator with the operand in one of its places, and one of its axes there.
TermId Builder::generic(const Expr& pattern, const Want& want) {
  const rules::Operator& op = rules_.op(op_);
  const TermId operand = term(pattern.args[0], op.elementwise ? want : Want{});
  const bool variadic =
      std::ranges::any_of(op.tensors, [](const rules::Parameter& one) { return one.type.is_list(); });
  const std::size_t count = op.tensors.size() + (variadic ? chooser_(limits_.length) : 0);
  const std::size_t place = chooser_(count);
  std::vector<TermId> children(count, kNoTerm);
  children[place] = operand;
  const TensorType focused = terms_.type(operand);
  for (std::size_t j = 0; j < count; ++j) {
    if (j == place) continue;
    Want one;
    if (op.elementwise) one.shape = focused.shape;
    if (variadic && !op.elementwise) one.rank = focused.rank();
    const std::optional<DType> needed = required(op, j);
    one.dtype = needed ? needed : dtype_beside(focused.dtype);
    children[j] = terms_.fresh(type(one), "y" + std::to_string(j));
  }
  std::vector<std::optional<Attr>> values(op.attributes.size());
  attributes(op, nullptr, children, values);
  std::vector<Attr> attrs;
  for (const auto& value : values) attrs.push_back(*value);
  focus_ = {op_, Attr::list(attrs), children, place, nullptr};
  const TermId id = make(op_, focus_.attrs, children);
  std::vector<const TensorType*> types;
  for (const TermId child : children) types.push_back(&terms_.type(child));
  const term::AxisInfo& info = typing_.axes(op_, focus_.attrs, types);
  frame_.focus = &focus_;
  const Trait trait = lemma_.generic->trait;
  if (trait == Trait::elementwise) return id;
  if (trait == Trait::linear) {
    if (place >= info.linear.size() || !info.linear[place]) throw Infeasible{};
    if (!in_question(subject_, op, place, count)) throw Infeasible{};
    return id;
  }
  std::vector<const term::Correspondence*> candidates;
  const auto& all = trait == Trait::reduces_sum   ? info.sums
                    : trait == Trait::reduces_max ? info.maxima
                                                  : info.maps;
  const auto agrees = [&](Slot slot, int axis) {
    if (slot == rules::kNoSlot || !bound(slot)) return true;
    const Int* value = frame_.slots[slot]->as_int();
    return value != nullptr && *value == Int(axis);
  };
  for (const term::Correspondence& one : all) {
    if (!in_question(subject_, one, place)) continue;
    const bool pair = std::ranges::any_of(all, [&](const term::Correspondence& other) {
      if (other.result != one.result + 1) return false;
      for (std::size_t j = 0; j < one.operands.size(); ++j) {
        const int expected = one.operands[j] == term::kNoAxis ? term::kNoAxis : one.operands[j] + 1;
        if (other.operands[j] != expected) return false;
      }
      return true;
    });
    if (trait == Trait::maps_pair && !pair) continue;
    if (!agrees(lemma_.generic->axis, one.operands[place]) ||
        !agrees(lemma_.generic->result_axis, one.result)) {
      continue;
    }
    candidates.push_back(&one);
  }
  const term::Correspondence* taken =
      candidates.empty() ? throw Infeasible{} : candidates[chooser_(candidates.size())];
  focus_.correspondence = taken;
  if (lemma_.generic->axis != rules::kNoSlot) {
    frame_.slots[lemma_.generic->axis] = Value(Int(taken->operands[place]));
  }
  if (lemma_.generic->result_axis != rules::kNoSlot) {
    frame_.slots[lemma_.generic->result_axis] = Value(Int(taken->result));
  }
  return id;
}

// Two or three slices.
std::vector<Int> Builder::tiling(TermId id, std::size_t axis) {
  const std::size_t cuts = 1 + chooser_(limits_.length - 1);
  std::vector<Int> result{0};
  for (std::size_t k = 0; k <= cuts; ++k) {
    const Int next = k < cuts ? symbol(false) : terms_.type(id).shape.at(axis);
    typing_.oracle().forget_undecided();
    need(typing_.oracle().less(result.back(), next));
    result.push_back(next);
  }
  return result;
}

}  // namespace entangle::prove
