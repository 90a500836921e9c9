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

Builder::Builder(const Subject& subject, const Vocabulary& vocabulary, rules::OpId op, const Limits& limits,
                 Scenario& scenario, Chooser& chooser, term::Typing& typing, eval::Terms& terms,
                 term::Evaluator& evaluator)
    : rules_(typing.rules()),
      subject_(subject),
      vocabulary_(vocabulary),
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
  for (const Expr& condition : lemma_.when) mark_known(condition, uniform_, interval_);
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
// something depends on types.
TensorType Builder::type(const Want& want) {
  static const std::vector<DType> kDTypes{DType::f32, DType::i64, DType::b8};
  TensorType type;
  if (want.shape) {
    type.shape = *want.shape;
  } else {
    const std::size_t rank = want.rank ? *want.rank : chooser_(limits_.rank + 1);
    for (std::size_t k = 0; k < rank; ++k) type.shape.push_back(symbol(true));
  }
  const bool matter = vocabulary_.dtypes_matter();
  const std::vector<DType>& dtypes = matter ? vocabulary_.dtypes() : kDTypes;
  type.dtype = want.dtype ? *want.dtype : dtypes[chooser_(dtypes.size(), !matter)];
  highest_ = std::max(highest_, type.rank());
  return type;
}

// The element type of an operand of an operator for which it may be another than that of its other operands.
DType Builder::dtype_beside(DType first) {
  const bool matter = vocabulary_.dtypes_matter();
  std::vector<DType> dtypes{first};
  for (const DType other : matter ? vocabulary_.dtypes() : std::vector{DType::b8, DType::f32, DType::i64}) {
    if (other != first) dtypes.push_back(other);
  }
  return dtypes[chooser_(dtypes.size(), !matter)];
}

// Where types matter one of a kind does not stand for the others.
std::optional<DType> Builder::required(const rules::Operator& op, std::size_t parameter) const {
  return required_dtype(op, parameter, vocabulary_.dtypes_matter());
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
    const std::optional<DType> needed = required(op, k);
    if (needed) one.dtype = needed;
    if (op.elementwise) {
      one.alike = true;
      one.shape = sibling ? std::optional(sibling->shape) : want.shape;
      if (!sibling && !want.shape) one.rank = want.rank;
      if (needed) {
        // Nothing to choose.
      } else if (!op.dtype) {
        one.dtype = sibling ? std::optional(sibling->dtype) : want.dtype;
      } else if (sibling) {
        // Most operators of several types have a mask and operands of one type. What goes for numbers goes
        // for truths, but not the other way round.
        one.dtype = dtype_beside(sibling->dtype == DType::b8 ? DType::f32 : sibling->dtype);
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
