// Axis correspondences, and how typed attributes follow an axis that is split, joined or dropped.
#include <algorithm>

#include "entangle/term/typing.h"
#include "term/application.h"

namespace entangle::term {

using rules::AxisClause;
using rules::Base;
using rules::Shift;
using sym::Int;
using tensor::Attr;
using tensor::TensorType;

namespace {

// No clause speaks of more axes than this.
constexpr std::int64_t kMaxAxes = 256;

std::optional<int> small(const Maybe& value) {
  const Int* integer = value ? value->as_int() : nullptr;
  if (integer == nullptr || !integer->is_constant()) return std::nullopt;
  if (integer->value() < 0 || integer->value() > kMaxAxes) return std::nullopt;
  return static_cast<int>(integer->value());
}

// The correspondence of a clause at its index, nullopt where a part is undefined.
std::optional<Correspondence> instance(Clauses& clauses, const Signature& signature,
                                       const AxisClause& clause) {
  Correspondence result;
  result.clause = static_cast<std::size_t>(&clause - signature.op->axes.data());
  result.operands.assign(clauses.children().size(), kNoAxis);
  if (clause.kind == AxisClause::Kind::maps) {
    const std::optional<int> axis =
        clause.result ? small(clauses.evaluate(*clause.result, clauses.frame())) : std::nullopt;
    if (!axis) return std::nullopt;
    result.result = *axis;
  }
  for (const AxisClause::Operand& operand : clause.operands) {
    const std::optional<int> axis = small(clauses.evaluate(operand.axis, clauses.frame()));
    if (!axis) return std::nullopt;
    const auto [first, last] = signature.children_of(operand.parameter, result.operands.size());
    for (std::size_t j = first; j < last; ++j) {
      if (static_cast<std::size_t>(*axis) >= clauses.children()[j]->rank()) return std::nullopt;
      result.operands[j] = *axis;
    }
  }
  return result;
}

void add_instances(Clauses& clauses, const Signature& signature, const AxisClause& clause,
                   std::vector<Correspondence>& into) {
  Frame& frame = clauses.frame();
  const auto add = [&] {
    if (clause.filter && !is_yes(clauses.holds(*clause.filter, frame))) return;
    if (std::optional<Correspondence> one = instance(clauses, signature, clause))
      into.push_back(std::move(*one));
  };
  if (clause.index == rules::kNoSlot) {
    add();
    return;
  }
  const std::optional<int> bound =
      clause.bound ? small(clauses.evaluate(*clause.bound, frame)) : std::nullopt;
  for (int k = 0; bound && k < *bound; ++k) {
    frame.slots[clause.index] = Value(Int(k));
    add();
  }
  frame.slots[clause.index].reset();
}

bool is_neighbour(const Correspondence& left, const Correspondence& right) {
  const auto follows = [](int a, int b) { return a == kNoAxis ? b == kNoAxis : b == a + 1; };
  if (!follows(left.result, right.result)) return false;
  for (std::size_t j = 0; j < left.operands.size(); ++j) {
    if (!follows(left.operands[j], right.operands[j])) return false;
  }
  return true;
}

// One axis number after `axis` was changed; nullopt when it names an axis that is no longer one.
std::optional<std::int64_t> moved(std::int64_t number, std::int64_t axis, Shift shift) {
  if (number < axis) return number;
  if (number == axis || (shift == Shift::join && number == axis + 1)) return std::nullopt;
  return shift == Shift::split ? number + 1 : number - 1;
}

std::optional<Attr> moved_permutation(const Attr& attr, int result, int operand, Shift shift) {
  std::vector<Attr> entries;
  const auto list = attr.as_list();
  for (std::size_t k = 0; k < list.size(); ++k) {
    const std::int64_t axis = list[k].as_int().value();
    if (static_cast<int>(k) == result) {
      if (axis != operand) return std::nullopt;
      if (shift != Shift::drop) entries.push_back(list[k]);
      if (shift == Shift::split) entries.push_back(Attr::of(Int(axis + 1)));
      continue;
    }
    if (shift == Shift::join && static_cast<int>(k) == result + 1) {
      if (axis != operand + 1) return std::nullopt;  // neighbours must stay neighbours
      continue;
    }
    const std::optional<std::int64_t> number = moved(axis, operand, shift);
    if (!number) return std::nullopt;
    entries.push_back(Attr::of(Int(*number)));
  }
  return Attr::list(entries);
}

// Axis numbers of one tensor, at any list depth. Where a reduction's own axes are listed, the list follows.
std::optional<Attr> moved_axes(const Attr& attr, int axis, Shift shift, bool reduction) {
  if (attr.is_none()) return attr;
  if (attr.kind() == Attr::Kind::integer) {
    const std::optional<std::int64_t> number = moved(attr.as_int().value(), axis, shift);
    if (!number) return std::nullopt;
    return Attr::of(Int(*number));
  }
  std::vector<Attr> entries;
  bool joined = false;
  for (const Attr& entry : attr.as_list()) {
    if (std::optional<Attr> changed = moved_axes(entry, axis, shift, reduction)) {
      entries.push_back(*changed);
      continue;
    }
    if (!reduction || entry.kind() != Attr::Kind::integer) return std::nullopt;
    const bool second = entry.as_int().value() != axis;
    joined = joined || second;
    if (shift == Shift::drop || second) continue;
    entries.push_back(entry);
    if (shift == Shift::split) entries.push_back(Attr::of(Int(axis + 1)));
  }
  const bool listed = reduction && std::find(attr.as_list().begin(), attr.as_list().end(),
                                             Attr::of(Int(axis))) != attr.as_list().end();
  if (shift == Shift::join && listed != joined) return std::nullopt;
  return Attr::list(entries);
}

}  // namespace

AxisInfo Typing::Impl::correspondences(const Signature& signature, const Attr& attrs, Types children) {
  // Sizes are not to be looked at: the answer is remembered for all types of these ranks.
  std::vector<TensorType> sizeless(children.size());
  std::vector<const TensorType*> pointers(children.size());
  for (std::size_t j = 0; j < children.size(); ++j) {
    sizeless[j].dtype = children[j]->dtype;
    sizeless[j].shape.assign(children[j]->rank(), Int::poison());
    pointers[j] = &sizeless[j];
  }
  const rules::Operator& op = *signature.op;
  clauses.bind(signature, attrs, pointers);
  AxisInfo info;
  if (op.elementwise && !children.empty()) {
    for (std::size_t k = 0; k < children[0]->rank(); ++k) {
      const int axis = static_cast<int>(k);
      info.maps.push_back({~std::size_t{0}, axis, std::vector<int>(children.size(), axis)});
    }
  }
  for (const AxisClause& clause : op.axes) {
    std::vector<Correspondence>& into = clause.kind == AxisClause::Kind::maps  ? info.maps
                                        : clause.kind == AxisClause::Kind::sum ? info.sums
                                                                               : info.maxima;
    add_instances(clauses, signature, clause, into);
  }
  info.linear.assign(children.size(), false);
  for (const rules::LinearClause& clause : op.linear) {
    if (clause.condition && !is_yes(clauses.holds(*clause.condition, clauses.frame()))) continue;
    const auto [first, last] = signature.children_of(clause.parameter, children.size());
    for (std::size_t j = first; j < last; ++j) info.linear[j] = true;
  }
  return info;
}

const AxisInfo& Typing::axes(rules::OpId op, const Attr& attrs, Types children) {
  Impl& impl = *impl_;
  impl.key.set(op, attrs);
  for (const TensorType* type : children) impl.key.add(*type);
  const auto found = impl.axes.find(impl.key);
  if (found != impl.axes.end()) return *found->second;
  auto info = std::make_unique<const AxisInfo>(impl.correspondences(impl.signature(op), attrs, children));
  return *impl.axes.emplace(impl.key, std::move(info)).first->second;
}

std::optional<Attr> Typing::shifted(rules::OpId op, const Attr& attrs, Types children,
                                    const Correspondence& correspondence, Shift shift) {
  if (shift == Shift::none) return attrs;
  const Signature& signature = impl_->signature(op);
  const auto counts = [&](std::size_t a, std::size_t clause) {
    const std::vector<std::size_t>& counted = signature.counts[a];
    return std::find(counted.begin(), counted.end(), clause) != counted.end();
  };
  const Correspondence* right = nullptr;
  if (shift == Shift::join) {
    const AxisInfo& info = axes(op, attrs, children);
    for (const auto* list : {&info.maps, &info.sums, &info.maxima}) {
      const bool here = std::any_of(list->begin(), list->end(), [&](const Correspondence& one) {
        return one.clause == correspondence.clause;
      });
      for (const Correspondence& one : *list) {
        if (here && right == nullptr && is_neighbour(correspondence, one)) right = &one;
      }
    }
    if (right == nullptr) return std::nullopt;
  }
  std::vector<Attr> values;
  for (std::size_t a = 0; a < signature.op->attributes.size(); ++a) {
    const Attr& value = attrs.as_list()[a];
    const rules::Type& type = signature.op->attributes[a].type;
    if (type.base != Base::axis && type.base != Base::perm && type.base != Base::count) {
      values.push_back(value);
      continue;
    }
    if (type.base == Base::count) {
      bool counted = counts(a, correspondence.clause);
      // The joined axis would belong to two clauses.
      if (right != nullptr && counted != counts(a, right->clause)) return std::nullopt;
      if (value.kind() != Attr::Kind::integer) return std::nullopt;
      values.push_back(counted ? Attr::of(value.as_int() + (shift == Shift::split ? 1 : -1)) : value);
      continue;
    }
    int axis = kNoAxis;
    if (signature.of_result[a]) {
      axis = correspondence.result;
    } else if (signature.of[a] != kNoParameter) {
      const auto [first, last] = signature.children_of(signature.of[a], children.size());
      if (first < last) axis = correspondence.operands[first];
    } else {
      return std::nullopt;
    }
    if (axis == kNoAxis) {
      values.push_back(value);
      continue;
    }
    const std::optional<Attr> changed =
        type.base == Base::perm ? moved_permutation(value, correspondence.result, axis, shift)
                                : moved_axes(value, axis, shift, correspondence.result == kNoAxis);
    if (!changed) return std::nullopt;
    values.push_back(*changed);
  }
  return Attr::list(values);
}

}  // namespace entangle::term
