// Attributes of applications, and applications of the operator variable.

#include <algorithm>

#include "prove/sampler.h"

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

std::vector<Attr> Sampler::candidate_attrs(const rules::Type& type, std::size_t depth,
                                           const std::vector<TermId>& children) {
  std::size_t rank = 0;
  for (const TermId child : children) rank = std::max(rank, terms_->type(child).rank());
  std::vector<Attr> result;
  const auto numbers = [&](std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) result.push_back(Attr::of(Int(value)));
  };
  if (type.base == Base::perm) {
    std::vector<Attr> perm;
    for (std::size_t k = 0; k < (children.empty() ? 0 : terms_->type(children[0]).rank()); ++k) {
      perm.push_back(Attr::of(Int(k)));
    }
    for (int n = 0; n < 3; ++n) {
      shuffle(perm);
      result.push_back(Attr::list(perm));
    }
    return result;
  }
  if (depth > 0) {
    if (type.base == Base::axis) {
      for (int set = 0; set < 1 << std::min<std::size_t>(rank + 2, 4); ++set) {
        std::vector<Attr> axes;
        for (int k = 0; k < 4; ++k) {
          if ((set >> k & 1) != 0) axes.push_back(Attr::of(Int(k)));
        }
        if (axes.size() <= 2) result.push_back(Attr::list(axes));
      }
    } else {
      for (int n = 0; n < 6; ++n) {
        std::vector<Attr> entries;
        const std::size_t length =
            type.base == Base::integer ? static_cast<std::size_t>(n) / 2 : 1 + below(limits_.length);
        for (std::size_t k = length; k > 0; --k) {
          std::vector<Attr> entry = candidate_attrs(type, depth - 1, children);
          if (type.base == Base::integer) {
            const auto number = static_cast<std::int64_t>(1 + below(limits_.size));
            entry = {Attr::of(Int(below(12) == 0 ? 1 - number : number))};
          }
          if (entry.empty()) break;
          entries.push_back(entry[below(entry.size())]);
        }
        result.push_back(Attr::list(entries));
      }
    }
    shuffle(result);
    return result;
  }
  switch (type.base) {
    case Base::axis:
      for (std::size_t k = 0; k < rank + 1; ++k) result.push_back(Attr::of(Int(k)));
      break;
    case Base::count:
      for (std::size_t k = 0; k < rank + 1; ++k) result.push_back(Attr::of(Int(k)));
      break;
    case Base::integer:
      numbers({0, 1, 2, 3, 4, 6, -1, -2});
      break;
    case Base::scalar:
      for (const int value : {2, -1, 0, 1, 3, -2}) result.push_back(Attr::of(sym::Scalar(value)));
      for (const int n : {2, 3, 4}) result.push_back(Attr::of(sym::Scalar::ratio(1, n)));
      break;
    case Base::boolean:
      result = {Attr::of(false), Attr::of(true)};
      break;
    case Base::name:
      result = vocabulary_->names(2);
      break;
    case Base::dtype:
      for (const DType dtype : vocabulary_->dtypes()) result.push_back(Attr::of(dtype));
      break;
    case Base::any:
      result = vocabulary_->values_matter() ? vocabulary_->values(2) : std::vector{Attr()};
      break;
    default:
      result = {Attr()};
      break;
  }
  shuffle(result);
  return result;
}

// A variable of the expression that has no value yet (and is not bound inside it).
std::optional<Slot> Sampler::unbound(const Expr& expr) const {
  if (expr.kind == ExprKind::variable) {
    const bool free = expr.slot < lemma_.parameters && !frame_.slots[expr.slot];
    return free ? std::optional(expr.slot) : std::nullopt;
  }
  for (const Expr& arg : expr.args) {
    if (const auto slot = unbound(arg)) return slot;
  }
  return std::nullopt;
}

// First the attributes that bind variables, then those that follow from them.
bool Sampler::attributes(const rules::Operator& op, const Expr* pattern, std::size_t step,
                         const std::vector<TermId>& children, std::vector<std::optional<Attr>>& values,
                         const Next& next) {
  const std::size_t count = op.attributes.size();
  if (step == 2 * count) return next();
  const std::size_t k = step % count;
  const auto after = [&] { return attributes(op, pattern, step + 1, children, values, next); };
  const Expr* expr = pattern != nullptr && k < pattern->attrs.size() ? &pattern->attrs[k] : nullptr;
  const bool free = expr == nullptr || expr->kind == ExprKind::wildcard ||
                    (expr->kind == ExprKind::variable && !frame_.slots[expr->slot]);
  if (values[k] || (free != (step < count))) return after();
  const rules::Type& type = op.attributes[k].type;
  if (!free) {
    if (const auto slot = unbound(*expr)) {
      // Nothing else binds it: whatever makes the application well-typed.
      std::vector<int> numbers = {0, 1, 2, 3};
      shuffle(numbers);
      for (const int number : numbers) {
        frame_.slots[*slot] = Value(Int(number));
        if (attributes(op, pattern, step, children, values, next)) return true;
      }
      frame_.slots[*slot].reset();
      return false;
    }
    const auto value = evaluator_->evaluate(*expr, frame_);
    std::optional<Attr> attr = value ? value->to_attr() : std::nullopt;
    if (attr && type.base == Base::scalar && type.depth == 0) {
      const auto scalar = value->to_scalar();
      attr = scalar ? std::optional(Attr::of(*scalar)) : std::nullopt;
    }
    if (!attr) return false;
    values[k] = attr;
    if (after()) return true;
    values[k].reset();
    return false;
  }
  for (const Attr& attr : candidate_attrs(type, type.depth, children)) {
    if (!spend()) return true;
    values[k] = attr;
    const bool binds = expr != nullptr && expr->kind == ExprKind::variable;
    if (binds) frame_.slots[expr->slot] = Value(attr);
    if (after()) return true;
    if (binds) frame_.slots[expr->slot].reset();
    values[k].reset();
  }
  return false;
}

bool Sampler::generic(const Expr& pattern, const NextTerm& next) {
  if (op_ == rules::kNoOp || pattern.args.size() != 1) return false;
  return term(pattern.args[0], {}, [&](TermId operand) { return focused(operand, next); });
}

// Applications of the operator with this operand in one of its places.
bool Sampler::focused(TermId operand, const NextTerm& next) {
  const rules::Operator& op = rules_.op(op_);
  std::vector<std::pair<std::size_t, std::size_t>> layouts;  // number of operands, place of this one
  const bool variadic =
      std::ranges::any_of(op.tensors, [](const rules::Parameter& one) { return one.type.is_list(); });
  for (std::size_t extra = 0; extra < (variadic ? 3U : 1U); ++extra) {
    const std::size_t count = op.tensors.size() + extra;
    for (std::size_t place = 0; place < count; ++place) layouts.emplace_back(count, place);
  }
  shuffle(layouts);
  for (const auto& [count, place] : layouts) {
    std::vector<TermId> children(count, kNoTerm);
    children[place] = operand;
    const std::size_t focus = place;
    if (others(children, 0, focus, [&] {
          std::vector<std::optional<Attr>> values(op.attributes.size());
          return attributes(op, nullptr, 0, children, values, [&] {
            std::vector<Attr> attrs;
            for (const auto& value : values) attrs.push_back(*value);
            return with_axis(children, Attr::list(attrs), focus, next);
          });
        })) {
      return true;
    }
  }
  return false;
}

bool Sampler::others(std::vector<TermId>& children, std::size_t step, std::size_t focus, const Next& next) {
  if (step == children.size()) return next();
  if (step == focus) return others(children, step + 1, focus, next);
  const TensorType& focused = terms_->type(children[focus]);
  Want want;
  if (rules_.op(op_).elementwise) want.shape = focused.shape;
  std::vector<TensorType> types = candidate_types(want, {children[focus]});
  std::ranges::stable_sort(types, {}, [&](const TensorType& type) { return type.dtype != focused.dtype; });
  for (const TensorType& type : types) {
    if (with_leaf(type, [&](TermId id) {
          children[step] = id;
          return others(children, step + 1, focus, next);
        })) {
      return true;
    }
  }
  children[step] = kNoTerm;
  return false;
}

bool Sampler::with_axis(const std::vector<TermId>& children, const Attr& attrs, std::size_t focus,
                        const NextTerm& next) {
  if (!spend()) return true;
  const std::size_t size = terms_->size();
  const TermId id = terms_->make(op_, attrs, children);
  if (id == kNoTerm) return false;
  std::vector<const TensorType*> types;
  for (const TermId child : children) types.push_back(&terms_->type(child));
  const term::AxisInfo& info = typing_.axes(op_, attrs, types);
  focus_ = {op_, attrs, children, focus, nullptr};
  const auto done = [&] {
    frame_.focus = &focus_;
    if (next(id)) return true;
    frame_.focus = nullptr;
    return false;
  };
  const Trait trait = lemma_.generic->trait;
  bool stop = false;
  if (trait == Trait::elementwise) {
    stop = done();
  } else if (trait == Trait::linear) {
    stop = focus < info.linear.size() && info.linear[focus] &&
           in_question(subject_, rules_.op(op_), focus, children.size()) && done();
  } else {
    const std::vector<term::Correspondence>& all = trait == Trait::reduces_sum   ? info.sums
                                                   : trait == Trait::reduces_max ? info.maxima
                                                                                 : info.maps;
    for (const term::Correspondence& one : all) {
      if (!in_question(subject_, one, focus)) continue;
      if (trait == Trait::maps_pair && std::ranges::none_of(all, [&](const term::Correspondence& other) {
            if (other.result != one.result + 1) return false;
            for (std::size_t j = 0; j < one.operands.size(); ++j) {
              const int expected = one.operands[j] == term::kNoAxis ? term::kNoAxis : one.operands[j] + 1;
              if (other.operands[j] != expected) return false;
            }
            return true;
          })) {
        continue;
      }
      const auto bind = [&](Slot slot, int axis, const Next& then) {
        if (slot == rules::kNoSlot) return then();
        if (frame_.slots[slot]) {
          const Int* bound = frame_.slots[slot]->as_int();
          return bound != nullptr && *bound == Int(axis) && then();
        }
        frame_.slots[slot] = Value(Int(axis));
        if (then()) return true;
        frame_.slots[slot].reset();
        return false;
      };
      focus_.correspondence = &one;
      stop = bind(lemma_.generic->axis, one.operands[focus],
                  [&] { return bind(lemma_.generic->result_axis, one.result, done); });
      if (stop) break;
    }
  }
  if (!stop) terms_->truncate(size);
  return stop;
}

}  // namespace entangle::prove
