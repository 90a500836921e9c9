#include "entangle/term/typing.h"

#include "term/application.h"

namespace entangle::term {

using rules::Base;
using rules::Expr;
using rules::ExprKind;
using rules::Operator;
using smt::Truth;
using sym::Int;
using tensor::Attr;
using tensor::Shape;
using tensor::TensorType;

Signature::Signature(const Operator& an_op) : op(&an_op) {
  for (std::size_t p = 0; p < op->tensors.size(); ++p) {
    if (op->tensors[p].type.is_list()) list = p;
  }
  for (const rules::Parameter& attribute : op->attributes) {
    const std::string& name = attribute.type.of;
    std::size_t parameter = kNoParameter;
    for (std::size_t p = 0; p < op->tensors.size(); ++p) {
      if (op->tensors[p].name == name) parameter = p;
    }
    // `axis` of an operator with one tensor can only be an axis of that.
    if (name.empty() && op->tensors.size() == 1) parameter = 0;
    of.push_back(parameter);
    of_result.push_back(name == "result");
    std::vector<std::size_t> clauses;
    if (attribute.type.base == Base::count) {
      for (std::size_t c = 0; c < op->axes.size(); ++c) {
        if (op->axes[c].name == name) clauses.push_back(c);
      }
    }
    counts.push_back(std::move(clauses));
  }
}

bool Signature::accepts(std::size_t children) const {
  if (list == kNoParameter) return children == op->tensors.size();
  const std::size_t others = op->tensors.size() - 1;
  return children >= others + (op->tensors[list].type.nonempty ? 1 : 0);
}

std::pair<std::size_t, std::size_t> Signature::children_of(std::size_t parameter,
                                                           std::size_t children) const {
  const std::size_t extra = children - op->tensors.size();  // wraps for an empty list, and back below
  const std::size_t first = list != kNoParameter && parameter > list ? parameter + extra : parameter;
  return {first, parameter == list ? first + 1 + extra : first + 1};
}

void Clauses::bind(const Signature& signature, const Attr& attrs, Types children) {
  const Operator& op = *signature.op;
  children_ = children;
  frame_.slots.assign(op.slots.size(), std::nullopt);
  for (std::size_t p = 0; p < op.tensors.size(); ++p) {
    const auto [first, last] = signature.children_of(p, children.size());
    if (p != signature.list) {
      frame_.slots[op.tensors[p].slot] = Value(Term{static_cast<TermId>(first)});
      continue;
    }
    std::vector<Value> list;
    list.reserve(last - first);
    for (std::size_t j = first; j < last; ++j) list.emplace_back(Term{static_cast<TermId>(j)});
    frame_.slots[op.tensors[p].slot] = Value(std::move(list));
  }
  for (std::size_t a = 0; a < op.attributes.size(); ++a) {
    frame_.slots[op.attributes[a].slot] = Value(attrs.as_list()[a]);
  }
  for (const rules::Let& let : op.lets) frame_.slots[let.slot] = evaluate(let.value, frame_);
}

namespace {

bool is_axis_of(const Attr& attr, std::size_t rank) {
  if (attr.kind() != Attr::Kind::integer || !attr.as_int().is_constant()) return false;
  return attr.as_int().value() >= 0 && static_cast<std::size_t>(attr.as_int().value()) < rank;
}

// Whether `attr` is a value of `type` at list depth `depth`. `rank`: of the tensor that axes belong to, if
// known by now.
bool has_type(const Attr& attr, const rules::Type& type, std::size_t depth, std::optional<std::size_t> rank) {
  if (attr.is_none() && (type.optional || type.base == Base::any)) return true;
  if (depth > 0) {
    if (attr.kind() != Attr::Kind::list || (type.nonempty && depth == type.depth && attr.as_list().empty())) {
      return false;
    }
    for (const Attr& entry : attr.as_list()) {
      if (!has_type(entry, type, depth - 1, rank)) return false;
    }
    return true;
  }
  switch (type.base) {
    case Base::axis:
      return is_axis_of(attr, rank ? *rank : ~std::size_t{0} >> 1);
    case Base::count:
      return is_axis_of(attr, ~std::size_t{0} >> 1);
    case Base::perm: {
      if (attr.kind() != Attr::Kind::list || (rank && attr.as_list().size() != *rank)) return false;
      std::vector<bool> seen(attr.as_list().size(), false);
      for (const Attr& entry : attr.as_list()) {
        if (!is_axis_of(entry, seen.size())) return false;
        const auto axis = static_cast<std::size_t>(entry.as_int().value());
        if (seen[axis]) return false;
        seen[axis] = true;
      }
      return true;
    }
    case Base::integer:
      return attr.kind() == Attr::Kind::integer;
    case Base::scalar:
      return attr.kind() == Attr::Kind::scalar;
    case Base::boolean:
      return attr.kind() == Attr::Kind::boolean;
    case Base::name:
      return attr.kind() == Attr::Kind::name;
    case Base::dtype:
      return attr.kind() == Attr::Kind::dtype;
    default:
      return true;
  }
}

// The application with the types of its operands, for messages.
std::string describe(const Operator& op, const Attr& attrs, Types children) {
  std::string text = op.name + "(";
  for (std::size_t j = 0; j < children.size(); ++j) {
    text += (j > 0 ? ", " : "") + tensor::to_string(*children[j]);
  }
  const auto values = attrs.kind() == Attr::Kind::list ? attrs.as_list() : std::span<const Attr>();
  for (std::size_t a = 0; a < values.size(); ++a)
    text += (a > 0 ? ", " : "; ") + tensor::to_string(values[a]);
  return text + ")";
}

// The conjunct of a condition that does not hold.
const Expr& failing_part(Clauses& clauses, const Expr& condition) {
  if (condition.kind == ExprKind::binary && condition.operation == rules::Operation::logical_and) {
    const bool first = !is_yes(clauses.holds(condition.args[0], clauses.frame()));
    return failing_part(clauses, condition.args[first ? 0 : 1]);
  }
  return condition;
}

}  // namespace

std::optional<TensorType> Typing::Impl::infer(const Signature& signature, const Attr& attrs, Types children,
                                              std::string* why) {
  const Operator& op = *signature.op;
  const auto fail = [&](const auto& reason) {
    if (why != nullptr) *why = describe(op, attrs, children) + ": " + reason();
    return std::nullopt;
  };
  if (!signature.accepts(children.size())) {
    return fail([&] {
      const std::size_t least = op.tensors.size();
      return "takes " + std::string(signature.list != kNoParameter ? "at least " : "") +
             std::to_string(least) + (least == 1 ? " operand" : " operands") + ", not " +
             std::to_string(children.size());
    });
  }
  if (attrs.kind() != Attr::Kind::list || attrs.as_list().size() != op.attributes.size()) {
    return fail([&] { return "takes " + std::to_string(op.attributes.size()) + " attributes"; });
  }
  const auto wrong_attribute = [&](std::size_t a) {
    return fail([&] {
      return "`" + tensor::to_string(attrs.as_list()[a]) + "` is no value of `" + op.attributes[a].name +
             ": " + rules::to_string(op.attributes[a].type) + "`";
    });
  };
  for (std::size_t a = 0; a < op.attributes.size(); ++a) {
    std::optional<std::size_t> rank;
    if (signature.of[a] != kNoParameter) {
      const auto [first, last] = signature.children_of(signature.of[a], children.size());
      if (first < last) rank = children[first]->rank();
    }
    const rules::Type& type = op.attributes[a].type;
    if (!has_type(attrs.as_list()[a], type, type.depth, rank)) return wrong_attribute(a);
  }
  if (op.elementwise) {
    for (std::size_t j = 1; j < children.size(); ++j) {
      const Truth same = oracle.equal(children[0]->shape, children[j]->shape);
      if (!is_yes(same)) {
        return fail([&] {
          return std::string(is_no(same) ? "the shapes differ"
                                         : "cannot decide whether the shapes are equal");
        });
      }
      if (!op.dtype && children[j]->dtype != children[0]->dtype) {
        return fail([&] { return std::string("the element types differ"); });
      }
    }
  }

  clauses.bind(signature, attrs, children);
  Frame& frame = clauses.frame();
  for (const Expr& condition : op.requires_) {
    const Truth truth = clauses.holds(condition, frame);
    if (is_yes(truth)) continue;
    return fail([&] {
      const Expr& part = failing_part(clauses, condition);
      const std::string text = "`" + rules::to_string(part) + "`";
      return is_no(truth) ? "requires " + text : "cannot decide " + text;
    });
  }

  TensorType result;
  if (op.shape) {
    const Maybe shape = clauses.evaluate(*op.shape, frame);
    const std::vector<Value>* sizes = shape ? shape->as_list() : nullptr;
    if (sizes == nullptr) return fail([] { return std::string("its shape is undefined"); });
    result.shape.reserve(sizes->size());
    for (const Value& size : *sizes) {
      const Int* value = size.as_int();
      if (value == nullptr || value->is_poison())
        return fail([] { return std::string("its shape is undefined"); });
      result.shape.push_back(value->is_constant() ? *value : oracle.normalise(*value));
    }
  } else if (!children.empty()) {
    result.shape = children[0]->shape;
  } else {
    return fail([] { return std::string("no shape is given"); });
  }
  if (op.dtype) {
    const Maybe dtype = clauses.evaluate(*op.dtype, frame);
    const Attr* attr = dtype ? dtype->as_attr() : nullptr;
    if (attr == nullptr || attr->kind() != Attr::Kind::dtype) {
      return fail([] { return std::string("its element type is undefined"); });
    }
    result.dtype = attr->as_dtype();
  } else if (!children.empty()) {
    result.dtype = children[0]->dtype;
  } else {
    return fail([] { return std::string("no element type is given"); });
  }
  for (std::size_t a = 0; a < op.attributes.size(); ++a) {
    const rules::Type& type = op.attributes[a].type;
    if (signature.of_result[a] && type.base == Base::axis &&
        !has_type(attrs.as_list()[a], type, type.depth, result.rank())) {
      return wrong_attribute(a);
    }
  }
  return result;
}

Typing::Typing(const rules::RuleSet& rules, smt::Oracle& oracle)
    : impl_(std::make_unique<Impl>(rules, oracle)) {}

Typing::~Typing() = default;

const rules::RuleSet& Typing::rules() const {
  return impl_->rules;
}

smt::Oracle& Typing::oracle() const {
  return impl_->oracle;
}

std::optional<TensorType> Typing::type_of(rules::OpId op, const Attr& attrs, Types children,
                                          std::string* why) {
  Impl& impl = *impl_;
  const Signature& signature = impl.signature(op);
  Key& key = impl.key;
  key.set(op, attrs);
  for (const TensorType* type : children) {
    key.add(*type);
    key.types.insert(key.types.end(), type->shape.begin(), type->shape.end());
  }
  const auto found = impl.types.find(key);
  // A failure is worked out again where its text is wanted.
  if (found != impl.types.end() && (found->second || why == nullptr)) return found->second;
  if (found != impl.types.end()) return impl.infer(signature, attrs, children, why);
  return impl.types.emplace(key, impl.infer(signature, attrs, children, why)).first->second;
}

std::optional<sym::Scalar> Typing::fold(rules::OpId op, const Attr& attrs, Types children,
                                        std::span<const sym::Scalar> values) {
  const std::optional<TensorType> type = type_of(op, attrs, children);
  if (!type) return std::nullopt;
  std::optional<sym::Scalar> result = impl_->signature(op).op->converts
                                          ? converted(values[0], children[0]->dtype, type->dtype)
                                          : impl_->folding.run(impl_->signature(op), attrs, children, values);
  if (!result) return std::nullopt;
  // A constant of an integer type is one of its values.
  if (type->dtype == tensor::DType::b8) {
    if (!result->is_zero() && !result->is_one()) return std::nullopt;
  } else if (tensor::is_integer(type->dtype)) {
    const std::optional<Int> integer = result->as_int();
    if (!integer) return std::nullopt;
    const auto [low, high] = [&]() -> std::pair<Int, Int> {
      switch (type->dtype) {
        case tensor::DType::i32:
          return {std::int64_t{-1} << 31, (std::int64_t{1} << 31) - 1};
        case tensor::DType::i16:
          return {-32768, 32767};
        case tensor::DType::i8:
          return {-128, 127};
        case tensor::DType::u8:
          return {0, 255};
        default:
          return {*integer, *integer};
      }
    }();
    if (integer->is_constant() && !(is_yes(impl_->oracle.less_equal(low, *integer)) &&
                                    is_yes(impl_->oracle.less_equal(*integer, high)))) {
      return std::nullopt;
    }
  }
  return result;
}

Interval Typing::bounds(rules::OpId op, const Attr& attrs, Types children,
                        std::span<const Interval> intervals, const TensorType& type) {
  return impl_->bounding.run(impl_->signature(op), attrs, children, intervals, type);
}

}  // namespace entangle::term
