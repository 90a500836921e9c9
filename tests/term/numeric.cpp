#include "numeric.h"

namespace entangle::term::test {

using rules::Builtin;
using rules::Expr;
using rules::ExprKind;
using sym::Int;

namespace {

class Numeric final : public Interpreter {
 public:
  Numeric(smt::Oracle& oracle, const std::vector<Array>& children)
      : Interpreter(oracle), children_(children) {
    for (const Array& child : children) {
      TensorType type;
      for (const std::size_t size : child.shape) type.shape.emplace_back(size);
      types_.push_back(std::move(type));
    }
  }

 protected:
  const TensorType* type_of(const Value& value) const override { return &types_[value.as_term()->id]; }

  Maybe evaluate_special(const Expr& expr, Frame& frame) override {
    if (expr.kind == ExprKind::index) {
      const Maybe tensor = evaluate(expr.args[0], frame);
      const Maybe index = evaluate(expr.args[1], frame);
      if (!index) return std::nullopt;
      return element(tensor->as_term()->id, *index->as_list());
    }
    if (expr.kind != ExprKind::reduction) return std::nullopt;
    const Maybe bound = evaluate(expr.args[0], frame);
    const bool vector = bound->as_list() != nullptr;
    std::vector<std::size_t> shape;
    if (vector) {
      for (const Value& size : *bound->as_list())
        shape.push_back(static_cast<std::size_t>(size.as_int()->value()));
    } else {
      shape.push_back(static_cast<std::size_t>(bound->as_int()->value()));
    }
    Maybe result;
    for (const std::vector<std::size_t>& at : indices(shape)) {
      std::vector<Value> entries;
      for (const std::size_t k : at) entries.emplace_back(Int(k));
      frame.slots[expr.binders[0]] = vector ? Value(entries) : entries[0];
      const Maybe value = evaluate(expr.args[1], frame);
      if (!value) return std::nullopt;
      result = !result                        ? value
               : expr.builtin == Builtin::max ? extreme(*result, *value, true)
                                              : arithmetic(rules::Operation::add, *result, *value);
    }
    return result;
  }

  Maybe call_special(const Expr& expr, Frame& frame) override {
    if (expr.builtin != Builtin::block) return std::nullopt;
    const Maybe blocks = evaluate(expr.args[0], frame);
    const auto axis = static_cast<std::size_t>(evaluate(expr.args[1], frame)->as_int()->value());
    std::vector<Value> index = *evaluate(expr.args[2], frame)->as_list();
    std::int64_t place = index[axis].as_int()->value();
    for (const Value& block : *blocks->as_list()) {
      const auto size = static_cast<std::int64_t>(children_[block.as_term()->id].shape[axis]);
      if (place < size) {
        index[axis] = Value(Int(place));
        return element(block.as_term()->id, index);
      }
      place -= size;
    }
    return std::nullopt;
  }

  std::optional<sym::Scalar> function(const std::string& name, std::span<const sym::Scalar> x) override {
    // Any function will do that is one.
    const std::int64_t value = x.back().as_int()->value();
    return sym::Scalar(name == "exp" ? value * value * value + 1 : value * 3 + 2);
  }

 private:
  Maybe element(std::size_t child, const std::vector<Value>& at) const {
    std::vector<std::size_t> index;
    for (const Value& value : at) {
      std::optional<Int> place = value.to_scalar()->as_int();
      index.push_back(static_cast<std::size_t>(place->value()));
    }
    return Value(Int(children_[child].at(index)));
  }

  const std::vector<Array>& children_;
  std::vector<TensorType> types_;
};

}  // namespace

std::int64_t Array::at(const std::vector<std::size_t>& index) const {
  REQUIRE(index.size() == shape.size());
  std::size_t place = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    REQUIRE(index[k] < shape[k]);
    place = place * shape[k] + index[k];
  }
  return elements[place];
}

std::vector<std::vector<std::size_t>> indices(const std::vector<std::size_t>& shape) {
  std::vector<std::vector<std::size_t>> result = {{}};
  for (const std::size_t size : shape) {
    std::vector<std::vector<std::size_t>> longer;
    for (const std::vector<std::size_t>& index : result) {
      for (std::size_t k = 0; k < size; ++k) {
        longer.push_back(index);
        longer.back().push_back(k);
      }
    }
    result = std::move(longer);
  }
  return result;
}

Array filled(const TensorType& type, std::int64_t seed, std::int64_t bound) {
  Array array;
  std::size_t count = 1;
  for (const Int size : type.shape) {
    array.shape.push_back(static_cast<std::size_t>(size.value()));
    count *= array.shape.back();
  }
  std::int64_t state = seed * 7919 + 17;
  for (std::size_t k = 0; k < count; ++k) {
    state = (state * 1103515245 + 12345) % 2147483648;
    array.elements.push_back((state / 65536) % bound);
  }
  return array;
}

Array reshaped(Array array, const TensorType& type) {
  array.shape.clear();
  for (const Int size : type.shape) array.shape.push_back(static_cast<std::size_t>(size.value()));
  return array;
}

Array computed(World& world, rules::OpId id, const Attr& attrs, const std::vector<Array>& children,
               const TensorType& type) {
  const rules::Operator& op = world.rules->op(id);
  Numeric numeric(world.oracle, children);
  Frame frame;
  frame.slots.resize(op.slots.size());
  std::size_t next = 0;
  for (const rules::Parameter& parameter : op.tensors) {
    if (!parameter.type.is_list()) {
      frame.slots[parameter.slot] = Value(Term{static_cast<TermId>(next++)});
      continue;
    }
    std::vector<Value> list;
    const std::size_t end = children.size() - (op.tensors.size() - 1);
    while (list.size() < end) list.emplace_back(Term{static_cast<TermId>(next++)});
    frame.slots[parameter.slot] = Value(list);
  }
  for (std::size_t a = 0; a < op.attributes.size(); ++a) {
    frame.slots[op.attributes[a].slot] = Value(attrs.as_list()[a]);
  }
  for (const rules::Let& let : op.lets) frame.slots[let.slot] = numeric.evaluate(let.value, frame);
  Array result = filled(type, 0);
  result.elements.clear();
  for (const std::vector<std::size_t>& index : indices(result.shape)) {
    std::vector<Value> entries;
    for (const std::size_t k : index) entries.emplace_back(Int(k));
    frame.slots[op.value_index] = Value(entries);
    const Maybe element = numeric.evaluate(*op.value, frame);
    REQUIRE_MESSAGE(element, op.name);
    result.elements.push_back(element->to_scalar()->as_int()->value());
  }
  return result;
}

}  // namespace entangle::term::test
