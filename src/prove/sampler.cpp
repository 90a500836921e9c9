#include "prove/sampler.h"

#include <algorithm>

#include "prove/expressions.h"

namespace entangle::prove {

using rules::Base;
using rules::Expr;
using rules::ExprKind;
using rules::Slot;
using rules::Trait;
using sym::Int;
using tensor::Attr;
using tensor::DType;
using tensor::Shape;
using tensor::TensorType;
using term::kNoTerm;
using term::Value;

namespace {

constexpr std::size_t kBudget = 2000;
constexpr std::size_t kTypes = 8;   // types tried for a variable
constexpr std::size_t kShapes = 5;  // shapes tried for a variable nothing is known of

std::vector<std::size_t> lengths_up_to(std::size_t limit) {
  std::vector<std::size_t> result;
  for (std::size_t length = 1; length <= limit; ++length) result.push_back(length);
  return result;
}

}  // namespace

Sampler::Sampler(const Subject& subject, term::Typing& typing, std::uint64_t seed)
    : rules_(typing.rules()),
      subject_(subject),
      lemma_(subject.lemma),
      typing_(typing),
      random_(seed),
      uniform_(lemma_.slots.size()),
      interval_(lemma_.slots.size()),
      failed_(lemma_.when.size()) {
  for (const Expr& condition : lemma_.when) mark_known(condition, uniform_, interval_);
}

bool Sampler::next(rules::OpId op) {
  op_ = op;
  vocabulary_ = &vocabularies_.try_emplace(op, rules_, subject_, op).first->second;
  terms_ = std::make_unique<eval::Terms>(typing_);
  evaluator_ = std::make_unique<term::Evaluator>(*terms_, typing_, &patterns_);
  frame_ = {};
  frame_.slots.assign(lemma_.slots.size(), std::nullopt);
  left_.clear();
  equations_.clear();
  budget_ = kBudget;
  aborted_ = false;
  if (!given(0) || aborted_) return false;
  name_leaves();
  return true;
}

bool Sampler::spend() {
  if (budget_ == 0) {
    aborted_ = true;
    return false;
  }
  --budget_;
  return true;
}

bool Sampler::given(std::size_t place) {
  if (place < lemma_.given.size()) {
    const rules::Given& one = lemma_.given[place];
    return term(one.pattern, {}, [&](TermId id) {
      if (!one.equal_to) return given(place + 1);
      // Whether it holds is up to the elements.
      return term(*one.equal_to, {terms_->type(id).shape, terms_->type(id).dtype}, [&](TermId other) {
        equations_.emplace_back(id, other);
        if (given(place + 1)) return true;
        equations_.pop_back();
        return false;
      });
    });
  }
  const Expr& left = lemma_.left;
  if (left.kind == ExprKind::variable) {
    const Value* value =
        left.slot < frame_.slots.size() && frame_.slots[left.slot] ? &*frame_.slots[left.slot] : nullptr;
    if (value == nullptr) return false;
    left_.clear();
    if (const term::Term* one = value->as_term()) left_ = {one->id};
    if (const std::vector<Value>* list = value->as_list()) {
      for (const Value& entry : *list) left_.push_back(entry.as_term()->id);
    }
    return !left_.empty() && conditions();
  }
  return term(left, {}, [&](TermId id) {
    left_ = {id};
    return conditions();
  });
}

bool Sampler::conditions() {
  matched_ = frame_.slots;
  const auto before = frame_.slots;
  ++reached_;
  for (std::size_t k = 0; k < lemma_.when.size(); ++k) {
    if (!smt::is_yes(evaluator_->holds(lemma_.when[k], frame_))) {
      ++failed_[k];
      frame_.slots = before;
      return false;
    }
  }
  return true;
}

// Leaves that a variable stands for have its name.
void Sampler::name_leaves() {
  const auto name = [&](const Value& value, const std::string& label) {
    const term::Term* one = value.as_term();
    if (one != nullptr && terms_->node(one->id).op == rules::kNoOp) terms_->set_label(one->id, label);
  };
  for (std::size_t k = 0; k < lemma_.parameters && k < matched_.size(); ++k) {
    if (!matched_[k]) continue;
    const std::string& label = lemma_.slots[k].name;
    name(*matched_[k], label);
    const std::vector<Value>* list = matched_[k]->as_list();
    for (std::size_t j = 0; list != nullptr && j < list->size(); ++j) {
      name((*list)[j], label + std::to_string(j));
    }
  }
}

bool Sampler::fits(TermId id, const Want& want) const {
  const TensorType& type = terms_->type(id);
  return (!want.shape || type.shape == *want.shape) && (!want.dtype || type.dtype == *want.dtype);
}

bool Sampler::with_leaf(const TensorType& type, const NextTerm& next) {
  if (!spend()) return true;
  const std::size_t size = terms_->size();
  if (next(terms_->fresh(type, "t" + std::to_string(size)))) return true;
  terms_->truncate(size);
  return false;
}

bool Sampler::term(const Expr& pattern, const Want& want, const NextTerm& next) {
  switch (pattern.kind) {
    case ExprKind::variable:
      return leaf(pattern.slot, want, next);
    case ExprKind::wildcard: {
      for (const TensorType& type : candidate_types(want, {})) {
        if (with_leaf(type, next)) return true;
      }
      return false;
    }
    case ExprKind::apply:
      return application(pattern, want, next);
    case ExprKind::generic:
      return generic(pattern, [&](TermId id) { return fits(id, want) && next(id); });
    case ExprKind::call:
      return pattern.builtin == rules::Builtin::uniform && constant(pattern, want, next);
    default:
      return false;
  }
}

// uniform(c): a tensor full of c.
bool Sampler::constant(const Expr& pattern, const Want& want, const NextTerm& next) {
  const Expr& scalar = pattern.args.empty() ? pattern.attrs[0] : pattern.args[0];
  const bool binds = scalar.kind == ExprKind::variable && !frame_.slots[scalar.slot];
  if (binds) frame_.slots[scalar.slot] = Value(Attr::of(sym::Scalar(static_cast<int>(below(4)) - 1)));
  const auto value = evaluator_->evaluate(scalar, frame_);
  const auto number = value ? value->to_scalar() : std::nullopt;
  bool stop = false;
  if (number) {
    for (const TensorType& type : candidate_types(want, {})) {
      if (!spend()) return true;
      const std::size_t size = terms_->size();
      const auto full = evaluator_->full(*number, type);
      stop = full && next(*full);
      if (stop) break;
      terms_->truncate(size);
    }
  }
  if (!stop && binds) frame_.slots[scalar.slot].reset();
  return stop;
}

std::vector<TensorType> Sampler::candidate_types(const Want& want, const std::vector<TermId>& near) {
  std::vector<Shape> shapes;
  if (want.shape) {
    shapes.push_back(*want.shape);
  } else {
    for (const TermId id : near) {
      const Shape& shape = terms_->type(id).shape;
      shapes.push_back(shape);
      for (std::size_t k = 0; k < shape.size(); ++k) {
        Shape other = shape;
        other[k] = Int(1 + below(limits_.size));
        shapes.push_back(other);
      }
      if (shape.size() < limits_.rank && below(2) == 0) {
        Shape longer = shape;
        longer.insert(below(2) == 0 ? longer.begin() : longer.end(), Int(1 + below(limits_.size)));
        shapes.push_back(longer);
      }
    }
    for (std::size_t n = 0; n < kShapes; ++n) {
      Shape shape;
      for (std::size_t k = below(limits_.rank + 1); k > 0; --k) shape.push_back(Int(1 + below(limits_.size)));
      if (n + 1 == kShapes && shape.empty()) shape.push_back(Int(std::min<std::size_t>(limits_.size, 2)));
      shapes.push_back(shape);
    }
    shuffle(shapes);
  }
  std::vector<DType> dtypes;
  if (want.dtype) {
    dtypes.push_back(*want.dtype);
  } else {
    dtypes = {DType::f32, DType::i64, DType::b8};
    if (below(3) == 0) shuffle(dtypes);
    if (below(vocabulary_->dtypes_matter() ? 2 : 8) == 0) {
      const std::vector<DType>& all = vocabulary_->dtypes();
      dtypes[0] = vocabulary_->dtypes_matter() ? all[below(all.size())] : DType::bf16;
    }
  }
  std::vector<TensorType> result;
  for (const DType dtype : dtypes) {
    for (const Shape& shape : shapes) result.push_back({shape, dtype});
  }
  // Few of them, so that no choice made before holds up the search.
  if (result.size() > kTypes) {
    for (std::size_t k = 0; k < kTypes; ++k) {
      // The first kinds of elements more often than the others.
      std::swap(result[k], result[k + below(below(3) > 0 ? std::max<std::size_t>(shapes.size(), k + 1) - k
                                                         : result.size() - k)]);
    }
    result.resize(kTypes);
  }
  return result;
}

bool Sampler::leaf(Slot slot, const Want& want, const NextTerm& next) {
  if (frame_.slots[slot]) {
    const term::Term* bound = frame_.slots[slot]->as_term();
    return bound != nullptr && fits(bound->id, want) && next(bound->id);
  }
  const auto bind = [&](TermId id) {
    frame_.slots[slot] = Value(term::Term{id});
    if (next(id)) return true;
    frame_.slots[slot].reset();
    return false;
  };
  std::vector<TermId> near;
  for (std::size_t id = 0; id < terms_->size() && near.size() < 3; ++id)
    near.push_back(static_cast<TermId>(id));
  for (const TensorType& type : candidate_types(want, near)) {
    if (uniform_[slot]) {
      if (!spend()) return true;
      static const std::vector<int> kScalars = {0, 1, -1, 2, 3, -2};
      const std::size_t size = terms_->size();
      const auto full = evaluator_->full(sym::Scalar(kScalars[below(kScalars.size())]), type);
      if (full && bind(*full)) return true;
      terms_->truncate(size);
      continue;
    }
    if (with_leaf(type, [&](TermId id) {
          if (interval_[slot]) {
            const std::int64_t low = static_cast<std::int64_t>(below(5)) - 2;
            terms_->set_interval(id, {Int(low), Int(low + static_cast<std::int64_t>(below(3)))});
          }
          return bind(id);
        })) {
      return true;
    }
  }
  return false;
}

bool Sampler::application(const Expr& pattern, const Want& want, const NextTerm& next) {
  const rules::Operator& op = rules_.op(pattern.op);
  std::vector<std::vector<TermId>> parts(pattern.args.size());
  return operands(pattern, 0, parts, want, [&] {
    std::vector<TermId> children;
    for (const auto& part : parts) children.insert(children.end(), part.begin(), part.end());
    std::vector<std::optional<Attr>> values(op.attributes.size());
    return attributes(op, &pattern, 0, children, values, [&] {
      if (!spend()) return true;
      std::vector<Attr> attrs;
      for (const auto& value : values) attrs.push_back(*value);
      const std::size_t size = terms_->size();
      const TermId id = terms_->make(op.id, Attr::list(attrs), children);
      if (id == kNoTerm) return false;
      if (fits(id, want) && next(id)) return true;
      terms_->truncate(std::max<std::size_t>(size, 0));
      return false;
    });
  });
}

// Operands with structure first, then those in which everything is free, numbers last.
bool Sampler::operands(const Expr& pattern, std::size_t step, std::vector<std::vector<TermId>>& parts,
                       const Want& want, const Next& next) {
  const std::size_t count = pattern.args.size();
  if (step == count) return next();
  std::vector<std::size_t> order(count);
  for (std::size_t k = 0; k < count; ++k) order[k] = k;
  std::ranges::stable_sort(order, {}, [&](std::size_t k) {
    const Expr& arg = pattern.args[k];
    return structured(arg) ? 0 : arg.kind == ExprKind::literal || arg.kind == ExprKind::call ? 2 : 1;
  });
  const std::size_t place = order[step];
  const Expr& arg = pattern.args[place];
  const rules::Operator& op = rules_.op(pattern.op);
  std::vector<Want> wants{{}};
  if (op.elementwise) {
    Want common{want.shape, {}};
    if (!op.dtype) common.dtype = want.dtype;
    std::vector<DType> dtypes;
    for (const auto& part : parts) {
      for (const TermId id : part) {
        common.shape = terms_->type(id).shape;
        dtypes.push_back(terms_->type(id).dtype);
      }
    }
    wants = {common};
    if (!dtypes.empty()) {
      for (const DType other : {DType::b8, DType::f32, DType::i64}) {
        if (op.dtype || op.name.empty()) dtypes.push_back(other);
      }
      wants.clear();
      for (std::size_t k = 0; k < dtypes.size(); ++k) {
        if (std::find(dtypes.begin(), dtypes.begin() + static_cast<std::ptrdiff_t>(k), dtypes[k]) !=
            dtypes.begin() + static_cast<std::ptrdiff_t>(k)) {
          continue;
        }
        wants.push_back({common.shape, dtypes[k]});
      }
    }
  }
  for (const Want& one : wants) {
    const auto done = [&] { return operands(pattern, step + 1, parts, want, next); };
    bool stop = false;
    if (arg.kind == ExprKind::star) {
      stop = run(arg.args[0], one, parts[place], done);
    } else {
      stop = term(arg, one, [&](TermId id) {
        parts[place] = {id};
        return done();
      });
    }
    if (stop) return true;
    parts[place].clear();
  }
  return false;
}

bool Sampler::run(const Expr& source, const Want& want, std::vector<TermId>& into, const Next& next) {
  if (source.kind == ExprKind::comprehension) return comprehension(source, want, into, next);
  if (source.kind != ExprKind::variable) return false;
  if (frame_.slots[source.slot]) {
    const std::vector<Value>* list = frame_.slots[source.slot]->as_list();
    if (list == nullptr) return false;
    into.clear();
    for (const Value& entry : *list) {
      if (entry.as_term() == nullptr || !fits(entry.as_term()->id, want)) return false;
      into.push_back(entry.as_term()->id);
    }
    return next();
  }
  const bool nonempty = source.slot >= lemma_.parameters || lemma_.slots[source.slot].type.nonempty;
  return list_of_leaves(source.slot, nonempty, want, into, next);
}

bool Sampler::list_of_leaves(Slot slot, bool nonempty, const Want& want, std::vector<TermId>& into,
                             const Next& next) {
  std::vector<std::size_t> lengths = lengths_up_to(limits_.length);
  if (!nonempty) lengths.push_back(0);
  shuffle(lengths);
  if (below(6) == 0 && limits_.length == 3) lengths.insert(lengths.begin(), 4);
  for (const std::size_t length : lengths) {
    std::vector<TermId> ids;
    const std::function<bool()> more = [&]() -> bool {
      if (ids.size() == length) {
        std::vector<Value> values;
        for (const TermId id : ids) values.emplace_back(term::Term{id});
        frame_.slots[slot] = Value(std::move(values));
        into = ids;
        if (next()) return true;
        frame_.slots[slot].reset();
        return false;
      }
      std::vector<TermId> near = ids;
      if (near.size() > 1) near.resize(1);
      std::vector<TensorType> types = candidate_types(want, near);
      if (!ids.empty()) {
        std::erase_if(types, [&](const TensorType& type) {
          return type.dtype != terms_->type(ids[0]).dtype || type.rank() != terms_->type(ids[0]).rank();
        });
      }
      for (const TensorType& type : types) {
        if (with_leaf(type, [&](TermId id) {
              ids.push_back(id);
              if (more()) return true;
              ids.pop_back();
              return false;
            })) {
          return true;
        }
      }
      return false;
    };
    if (more()) return true;
  }
  return false;
}

bool Sampler::comprehension(const Expr& pattern, const Want& want, std::vector<TermId>& into,
                            const Next& next) {
  std::vector<std::size_t> lengths = lengths_up_to(limits_.length);
  shuffle(lengths);
  for (const std::size_t length : lengths) {
    std::vector<std::vector<Value>> collected(pattern.binders.size());
    into.clear();
    if (comprehension_step(pattern, want, length, collected, into, next)) return true;
  }
  return false;
}

bool Sampler::comprehension_step(const Expr& pattern, const Want& want, std::size_t left,
                                 std::vector<std::vector<Value>>& collected, std::vector<TermId>& into,
                                 const Next& next) {
  if (left == 0) {
    // The lists the binders ran over.
    const Expr& source = pattern.args[1];
    std::vector<Slot> lists;
    if (source.kind == ExprKind::variable) {
      lists.push_back(source.slot);
    } else if (source.kind == ExprKind::call && source.builtin == rules::Builtin::zip) {
      for (const Expr& part : source.args) {
        if (part.kind != ExprKind::variable) return false;
        lists.push_back(part.slot);
      }
    }
    if (lists.size() != collected.size()) return false;
    for (std::size_t k = 0; k < lists.size(); ++k) {
      if (frame_.slots[lists[k]]) return false;
      frame_.slots[lists[k]] = Value(collected[k]);
    }
    if (next()) return true;
    for (const Slot list : lists) frame_.slots[list].reset();
    return false;
  }
  std::vector<std::optional<Value>> saved;
  for (const Slot binder : pattern.binders) {
    saved.push_back(frame_.slots[binder]);
    frame_.slots[binder].reset();
  }
  Want here = want;
  if (!into.empty() && !want.dtype) here.dtype = terms_->type(into[0]).dtype;
  const bool stop = term(pattern.args[0], here, [&](TermId id) {
    into.push_back(id);
    for (std::size_t k = 0; k < pattern.binders.size(); ++k) {
      const auto& value = frame_.slots[pattern.binders[k]];
      collected[k].push_back(value ? *value : Value());
    }
    if (comprehension_step(pattern, want, left - 1, collected, into, next)) return true;
    into.pop_back();
    for (auto& one : collected) one.pop_back();
    return false;
  });
  if (!stop) {
    for (std::size_t k = 0; k < saved.size(); ++k) frame_.slots[pattern.binders[k]] = saved[k];
  }
  return stop;
}

std::string Sampler::describe() const {
  const std::function<std::string(const Value&)> text = [&](const Value& value) -> std::string {
    if (const term::Term* one = value.as_term()) {
      const auto scalar = terms_->uniform(one->id);
      return tensor::to_string(terms_->type(one->id)) +
             (scalar ? " full of " + sym::to_string(*scalar) : std::string());
    }
    if (const std::vector<Value>* list = value.as_list()) {
      std::string result = "[";
      for (std::size_t k = 0; k < list->size(); ++k) result += (k > 0 ? ", " : "") + text((*list)[k]);
      return result + "]";
    }
    const auto attr = value.to_attr();
    return attr ? tensor::to_string(*attr) : "?";
  };
  std::string result;
  if (op_ != rules::kNoOp) {
    result = lemma_.generic->name + " = " + rules_.op(op_).name + tensor::to_string(focus_.attrs);
    result += " at operand " + std::to_string(focus_.operand) + " of";
    for (const TermId child : focus_.children) result += " " + tensor::to_string(terms_->type(child));
  }
  for (std::size_t k = 0; k < lemma_.slots.size(); ++k) {
    const bool named = k < lemma_.parameters ||
                       (lemma_.generic && (k == lemma_.generic->axis || k == lemma_.generic->result_axis));
    if (!named || k >= frame_.slots.size() || !frame_.slots[k]) continue;
    result += (result.empty() ? "" : ", ") + lemma_.slots[k].name + " = " + text(*frame_.slots[k]);
  }
  return result;
}

}  // namespace entangle::prove
