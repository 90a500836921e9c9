#include "prove/builder.h"

#include <algorithm>

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

constexpr std::size_t kDenominator = 1000;  // a number that no size has

}  // namespace

std::size_t Chooser::operator()(std::size_t options, bool parametric) {
  if (options == 0) throw Infeasible{};
  const std::size_t taken = made_.size() < given_.size() ? given_[made_.size()] : 0;
  made_.push_back({taken, options, parametric});
  return taken;
}

void fork_if_undecided(smt::Oracle& oracle, bool required) {
  if (oracle.undecided()) throw Fork{*oracle.undecided(), required};
}

Builder::Builder(const Subject& subject, rules::OpId op, const Limits& limits, Scenario& scenario,
                 Chooser& chooser, term::Typing& typing, eval::Terms& terms, term::Evaluator& evaluator)
    : rules_(typing.rules()),
      subject_(subject),
      lemma_(subject.lemma),
      op_(op),
      limits_(limits),
      scenario_(scenario),
      chooser_(chooser),
      typing_(typing),
      terms_(terms),
      evaluator_(evaluator),
      uniform_(lemma_.slots.size()),
      interval_(lemma_.slots.size()) {
  frame_.slots.assign(lemma_.slots.size(), std::nullopt);
  for (const Expr& condition : lemma_.when) {
    mark_known(condition, uniform_, interval_);
    dtypes_matter_ = dtypes_matter_ || asks_dtype(rules_, condition);
  }
  dtypes_matter_ = dtypes_matter_ || asks_dtype(rules_, lemma_.left) || asks_dtype(rules_, lemma_.right);
  if (op != rules::kNoOp) {
    dtypes_matter_ = dtypes_matter_ || std::ranges::any_of(rules_.op(op).linear, [](const auto& linear) {
                       return linear.condition.has_value();
                     });
  }
}

void Builder::run() {
  for (const rules::Given& given : lemma_.given) {
    const TermId id = term(given.pattern, {});
    if (given.equal_to) {
      const TermId other = term(*given.equal_to, {{}, terms_.type(id).rank(), terms_.type(id).dtype});
      typing_.oracle().forget_undecided();
      need(typing_.oracle().equal(terms_.type(id).shape, terms_.type(other).shape));
      equations_.emplace_back(id, other);
    }
  }
  const Expr& left = lemma_.left;
  if (left.kind != ExprKind::variable) {
    left_ = {term(left, {})};
    return;
  }
  if (!bound(left.slot)) throw Infeasible{};
  const Value& value = *frame_.slots[left.slot];
  if (const term::Term* one = value.as_term()) left_ = {one->id};
  if (const std::vector<Value>* list = value.as_list()) {
    for (const Value& entry : *list) left_.push_back(entry.as_term()->id);
  }
}

void Builder::need(smt::Truth truth) {
  if (smt::is_yes(truth)) return;
  fork_if_undecided(typing_.oracle(), true);
  throw Infeasible{};
}

TermId Builder::make(rules::OpId op, const Attr& attrs, const std::vector<TermId>& children) {
  typing_.oracle().forget_undecided();
  const TermId id = terms_.make(op, attrs, children);
  if (id == kNoTerm) {
    fork_if_undecided(typing_.oracle(), std::ranges::all_of(rules_.op(op).requires_, conjunctive));
    throw Infeasible{};
  }
  if (terms_.type(id).rank() > limits_.rank) throw Infeasible{};
  highest_ = std::max(highest_, terms_.type(id).rank());
  return id;
}

TermId Builder::term(const Expr& pattern, const Want& want) {
  switch (pattern.kind) {
    case ExprKind::variable:
      return leaf(pattern.slot, want);
    case ExprKind::wildcard:
      return terms_.fresh(type(want), "t" + std::to_string(terms_.size()));
    case ExprKind::apply:
      return application(pattern, want);
    case ExprKind::generic:
      return generic(pattern, want);
    case ExprKind::call: {
      if (pattern.builtin != rules::Builtin::uniform) break;
      const Expr& value = pattern.args.empty() ? pattern.attrs[0] : pattern.args[0];
      const TensorType given = type(want);
      if (value.kind == ExprKind::variable && !bound(value.slot)) {
        frame_.slots[value.slot] = Value(Attr::of(scalar(given.dtype)));
      }
      const auto evaluated = evaluator_.evaluate(value, frame_);
      const auto number = evaluated ? evaluated->to_scalar() : std::nullopt;
      if (!number) break;
      return full(*number, given);
    }
    default:
      break;
  }
  throw Infeasible{};
}

// Elements are reals to every operator: other types are needed only where this one has no instance, or where
// the lemma asks for types.
TensorType Builder::type(const Want& want) {
  static const std::vector<DType> kDTypes{DType::f32, DType::i64, DType::b8};
  static const std::vector<DType> kMore{DType::f32, DType::i64, DType::b8, DType::bf16};
  TensorType type;
  if (want.shape) {
    type.shape = *want.shape;
  } else {
    const std::size_t rank = want.rank ? *want.rank : chooser_(limits_.rank + 1);
    for (std::size_t k = 0; k < rank; ++k) type.shape.push_back(symbol(true));
  }
  const std::vector<DType>& dtypes = dtypes_matter_ ? kMore : kDTypes;
  type.dtype = want.dtype ? *want.dtype : dtypes[chooser_(dtypes.size(), !dtypes_matter_)];
  highest_ = std::max(highest_, type.rank());
  return type;
}

// What every element of a tensor of that type may be.
sym::Scalar Builder::scalar(DType dtype) {
  if (dtype == DType::b8) return sym::Scalar(static_cast<int>(chooser_(2)));
  const sym::Scalar top(symbol(false));
  if (tensor::is_integer(dtype)) return top;
  // Any number of rational numbers have a common denominator.
  const auto ratio = top / sym::Scalar(scenario_.symbol(kDenominator, true));
  if (!ratio) throw Infeasible{};
  return *ratio;
}

TermId Builder::full(const sym::Scalar& value, const TensorType& type) {
  typing_.oracle().forget_undecided();
  const auto id = evaluator_.full(value, type);
  if (!id || *id == kNoTerm) {
    fork_if_undecided(typing_.oracle());
    throw Infeasible{};
  }
  return *id;
}

TermId Builder::leaf(Slot slot, const Want& want) {
  if (bound(slot)) {
    const term::Term* one = frame_.slots[slot]->as_term();
    if (one == nullptr) throw Infeasible{};
    return one->id;
  }
  const TensorType given = type(want);
  TermId id = kNoTerm;
  if (slot < uniform_.size() && uniform_[slot]) {
    id = full(scalar(given.dtype), given);
  } else {
    id = terms_.fresh(given, slot < lemma_.slots.size() ? lemma_.slots[slot].name : "t");
    if (slot < interval_.size() && interval_[slot]) {
      if (!tensor::is_integer(given.dtype)) throw Infeasible{};
      const Int low = symbol(false);
      const Int high = symbol(false);
      typing_.oracle().forget_undecided();
      need(typing_.oracle().less_equal(low, high));
      terms_.set_interval(id, {low, high});
    }
  }
  frame_.slots[slot] = Value(term::Term{id});
  return id;
}

namespace {

// The element type that a requirement asks of a tensor parameter.
std::optional<DType> required_dtype(const Expr& requirement, Slot parameter) {
  const auto asked = [&](const Expr& expr) {
    return expr.kind == ExprKind::call && expr.builtin == rules::Builtin::dtype && !expr.args.empty() &&
           expr.args[0].kind == ExprKind::variable && expr.args[0].slot == parameter;
  };
  if (requirement.kind == ExprKind::call && requirement.builtin == rules::Builtin::is_integer &&
      asked(requirement.args[0])) {
    return DType::i64;
  }
  if (requirement.kind != ExprKind::binary) return std::nullopt;
  if (requirement.operation == rules::Operation::equal && asked(requirement.args[0]) &&
      requirement.args[1].kind == ExprKind::literal &&
      requirement.args[1].value.kind() == Attr::Kind::dtype) {
    return requirement.args[1].value.as_dtype();
  }
  if (requirement.operation != rules::Operation::logical_and) return std::nullopt;
  const auto first = required_dtype(requirement.args[0], parameter);
  return first ? first : required_dtype(requirement.args[1], parameter);
}

std::optional<DType> required_dtype(const rules::Operator& op, std::size_t parameter) {
  // Operands are parameters one by one only where there is no list.
  if (std::ranges::any_of(op.tensors, [](const rules::Parameter& one) { return one.type.is_list(); }))
    return {};
  for (const Expr& requirement : op.requires_) {
    if (const auto dtype = required_dtype(requirement, op.tensors[parameter].slot)) return dtype;
  }
  return std::nullopt;
}

}  // namespace

// Operands with structure first, then those in which everything is free, numbers last.
TermId Builder::application(const Expr& pattern, const Want& want) {
  const rules::Operator& op = rules_.op(pattern.op);
  std::vector<std::size_t> order(pattern.args.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::stable_sort(order, {}, [&](std::size_t k) {
    const Expr& arg = pattern.args[k];
    return structured(arg) ? 0 : arg.kind == ExprKind::literal || arg.kind == ExprKind::call ? 2 : 1;
  });
  std::vector<std::vector<TermId>> parts(pattern.args.size());
  std::optional<TensorType> sibling;
  for (const std::size_t k : order) {
    Want one;
    const std::optional<DType> required = required_dtype(op, k);
    if (required) one.dtype = required;
    if (op.elementwise) {
      one.alike = true;
      one.shape = sibling ? std::optional(sibling->shape) : want.shape;
      if (!sibling && !want.shape) one.rank = want.rank;
      if (required) {
        // Nothing to choose.
      } else if (!op.dtype) {
        one.dtype = sibling ? std::optional(sibling->dtype) : want.dtype;
      } else if (sibling) {
        // Most operators of several types have a mask and operands of one type. What goes for numbers goes
        // for truths, but not the other way round.
        std::vector<DType> dtypes{sibling->dtype == DType::b8 ? DType::f32 : sibling->dtype};
        for (const DType other : {DType::b8, DType::f32, DType::i64}) {
          if (other != dtypes[0]) dtypes.push_back(other);
        }
        one.dtype = dtypes[chooser_(dtypes.size(), !dtypes_matter_)];
      }
    }
    const Expr& arg = pattern.args[k];
    parts[k] = arg.kind == ExprKind::star ? run_of(arg.args[0], one) : std::vector<TermId>{term(arg, one)};
    if (!parts[k].empty() && (!sibling || sibling->dtype == DType::b8)) sibling = terms_.type(parts[k][0]);
  }
  std::vector<TermId> children;
  for (const auto& part : parts) children.insert(children.end(), part.begin(), part.end());
  std::vector<std::optional<Attr>> values(op.attributes.size());
  attributes(op, &pattern, children, values);
  std::vector<Attr> attrs;
  for (const auto& value : values) attrs.push_back(*value);
  const TermId id = make(op.id, Attr::list(attrs), children);
  // What does not fit around it need not be built.
  const TensorType& made = terms_.type(id);
  const bool fits = (!want.shape || want.shape->size() == made.rank()) &&
                    (!want.rank || *want.rank == made.rank()) && (!want.dtype || *want.dtype == made.dtype);
  if (!fits) throw Infeasible{};
  return id;
}

std::size_t Builder::choose_length(bool nonempty) {
  const std::size_t most = std::min(limits_.length, limits_.entries - std::min(limits_.entries, entries_));
  const std::size_t length = nonempty ? 1 + chooser_(most) : chooser_(most + 1);
  longest_ = std::max(longest_, length);
  entries_ += length;
  return length;
}

std::vector<TermId> Builder::run_of(const Expr& source, const Want& want) {
  if (source.kind == ExprKind::comprehension) return comprehension(source, want);
  if (source.kind == ExprKind::wildcard) {
    return {terms_.fresh(type(want), "t" + std::to_string(terms_.size()))};
  }
  if (source.kind != ExprKind::variable) throw Infeasible{};
  std::vector<TermId> ids;
  if (bound(source.slot)) {
    const std::vector<Value>* list = frame_.slots[source.slot]->as_list();
    if (list == nullptr) throw Infeasible{};
    for (const Value& entry : *list) ids.push_back(entry.as_term()->id);
    return ids;
  }
  const bool nonempty = source.slot >= lemma_.parameters || lemma_.slots[source.slot].type.nonempty;
  const std::size_t length = choose_length(nonempty);
  std::vector<Value> values;
  Want one = want;
  for (std::size_t k = 0; k < length; ++k) {
    const TensorType given = type(one);
    if (!one.shape && want.alike) one.shape = given.shape;
    if (!one.shape) one.rank = given.rank();
    one.dtype = given.dtype;
    const bool known = source.slot < uniform_.size() && uniform_[source.slot];
    ids.push_back(known ? full(scalar(given.dtype), given)
                        : terms_.fresh(given, lemma_.slots[source.slot].name + std::to_string(k)));
    values.emplace_back(term::Term{ids.back()});
  }
  frame_.slots[source.slot] = Value(std::move(values));
  return ids;
}

std::vector<TermId> Builder::comprehension(const Expr& pattern, const Want& want) {
  // (An `if` is no condition: it only says which matches to take.)
  const Expr& source = pattern.args[1];
  std::vector<Slot> lists;
  if (source.kind == ExprKind::variable) {
    lists.push_back(source.slot);
  } else if (source.kind == ExprKind::call && source.builtin == rules::Builtin::zip) {
    for (const Expr& part : source.args) {
      if (part.kind != ExprKind::variable) throw Infeasible{};
      lists.push_back(part.slot);
    }
  }
  if (lists.size() != pattern.binders.size()) throw Infeasible{};
  // Lists that are known already give the length; each of them binds its entries.
  std::optional<std::size_t> length;
  for (const Slot list : lists) {
    if (bound(list)) length = frame_.slots[list]->as_list()->size();
  }
  if (!length) length = choose_length(true);
  std::vector<std::vector<Value>> collected(lists.size());
  std::vector<TermId> ids;
  Want one = want;
  for (std::size_t n = 0; n < *length; ++n) {
    for (std::size_t k = 0; k < lists.size(); ++k) {
      frame_.slots[pattern.binders[k]].reset();
      if (bound(lists[k])) frame_.slots[pattern.binders[k]] = frame_.slots[lists[k]]->as_list()->at(n);
      // What is known of the list's entries is known of the entry.
      if (lists[k] < uniform_.size() && uniform_[lists[k]]) {
        if (uniform_.size() <= pattern.binders[k]) uniform_.resize(pattern.binders[k] + 1);
        uniform_[pattern.binders[k]] = true;
      }
    }
    ids.push_back(term(pattern.args[0], one));
    if (!one.dtype) one.dtype = terms_.type(ids.back()).dtype;
    if (!one.shape && want.alike) one.shape = terms_.type(ids.back()).shape;
    for (std::size_t k = 0; k < lists.size(); ++k) {
      const auto& value = frame_.slots[pattern.binders[k]];
      collected[k].push_back(value ? *value : Value());
    }
  }
  for (std::size_t k = 0; k < lists.size(); ++k) frame_.slots[lists[k]] = Value(collected[k]);
  return ids;
}

// ---------------------------------------------------------------- attributes

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
      return Attr::name("some");
    case Base::dtype: {
      static const std::vector<DType> kDTypes{DType::f32, DType::bf16, DType::i64, DType::b8};
      return Attr::of(kDTypes[chooser_(kDTypes.size())]);
    }
    default:
      return {};
  }
}

// A variable of the expression that has no value yet (and is not bound inside it).
std::optional<Slot> Builder::unbound(const Expr& expr) const {
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
    const std::optional<DType> required = required_dtype(op, j);
    std::vector<DType> dtypes{required ? *required : focused.dtype};
    for (const DType other :
         required ? std::vector<DType>{} : std::vector<DType>{DType::f32, DType::i64, DType::b8}) {
      if (other != focused.dtype) dtypes.push_back(other);
    }
    one.dtype = dtypes[chooser_(dtypes.size(), true)];
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

std::string Builder::describe() const {
  const std::function<std::string(const Value&)> text = [&](const Value& value) -> std::string {
    if (const term::Term* one = value.as_term()) return tensor::to_string(terms_.type(one->id));
    if (const std::vector<Value>* list = value.as_list()) {
      std::string result;
      for (const Value& entry : *list) result += (result.empty() ? "" : ", ") + text(entry);
      return "[" + result + "]";
    }
    const auto attr = value.to_attr();
    return attr ? tensor::to_string(*attr) : "?";
  };
  std::string result;
  if (op_ != rules::kNoOp && frame_.focus != nullptr) {
    result = rules_.op(op_).name + tensor::to_string(focus_.attrs) + " at operand " +
             std::to_string(focus_.operand) + " of";
    for (const TermId child : focus_.children) result += " " + tensor::to_string(terms_.type(child));
  }
  for (std::size_t k = 0; k < lemma_.slots.size(); ++k) {
    if (k >= lemma_.parameters || !frame_.slots[k]) continue;
    result += (result.empty() ? "" : ", ") + lemma_.slots[k].name + " = " + text(*frame_.slots[k]);
  }
  return result;
}

}  // namespace entangle::prove
