// Built-in functions without terms.
#include "term/interpreter.h"

namespace entangle::term {

using rules::Builtin;
using rules::Expr;
using sym::Int;
using sym::Scalar;
using tensor::Attr;

namespace {

Maybe scalar_of(const Value& value) {
  const std::optional<Scalar> scalar = value.to_scalar();
  return scalar ? Maybe(Value(Attr::of(*scalar))) : std::nullopt;
}

}  // namespace

Maybe Interpreter::call(const Expr& expr, Frame& frame) {
  if (is_condition(expr)) return as_condition(expr, frame);
  switch (expr.builtin) {
    case Builtin::rank:
    case Builtin::axes:
    case Builtin::shape:
    case Builtin::dtype: {
      const Maybe value = evaluate(argument(expr, 0), frame);
      if (!value) return std::nullopt;
      const tensor::TensorType* type = type_of(*value);
      static const tensor::Shape no_axes;
      // A number in a tensor's place has no axes.
      if (type == nullptr && !is_number(*value)) return std::nullopt;
      const tensor::Shape& shape = type != nullptr ? type->shape : no_axes;
      if (expr.builtin == Builtin::dtype) {
        return type != nullptr ? Maybe(Value(Attr::of(type->dtype))) : std::nullopt;
      }
      if (expr.builtin == Builtin::rank) return Value(Int(shape.size()));
      std::vector<Value> values;
      values.reserve(shape.size());
      for (std::size_t k = 0; k < shape.size(); ++k) {
        values.emplace_back(expr.builtin == Builtin::axes ? Int(k) : shape[k]);
      }
      return Value(std::move(values));
    }
    case Builtin::offsets:
    case Builtin::block_at: {
      const Maybe blocks = evaluate(argument(expr, 0), frame);
      const std::optional<std::int64_t> axis = constant(evaluate(argument(expr, 1), frame));
      if (!blocks || blocks->as_list() == nullptr || !axis || *axis < 0) return std::nullopt;
      const bool find = expr.builtin == Builtin::block_at;
      const Maybe low = find ? evaluate(argument(expr, 2), frame) : std::nullopt;
      const Maybe high = find ? evaluate(argument(expr, 3), frame) : std::nullopt;
      if (find && (!low || !high || low->as_int() == nullptr || high->as_int() == nullptr))
        return std::nullopt;
      Int offset = 0;
      std::vector<Value> offsets;
      for (std::size_t k = 0; k < blocks->as_list()->size(); ++k) {
        const tensor::TensorType* type = type_of((*blocks->as_list())[k]);
        if (type == nullptr || static_cast<std::size_t>(*axis) >= type->rank()) return std::nullopt;
        const Int next = offset + type->shape[static_cast<std::size_t>(*axis)];
        if (find && is_yes(oracle_.equal(offset, *low->as_int())) &&
            is_yes(oracle_.equal(next, *high->as_int()))) {
          return Value(Int(k));
        }
        offsets.emplace_back(offset);
        offset = next;
      }
      return find ? std::nullopt : Maybe(Value(std::move(offsets)));
    }
    case Builtin::all_of: {
      std::vector<Value> values;
      for (Frame& member : frame.members) {
        Maybe value = evaluate(argument(expr, 0), member);
        if (!value) return std::nullopt;
        values.push_back(std::move(*value));
      }
      return frame.members.empty() ? std::nullopt : Maybe(Value(std::move(values)));
    }
    case Builtin::tiling:
    case Builtin::uniform:
    case Builtin::interval_low:
    case Builtin::interval_high:
    case Builtin::full:
    case Builtin::full_like:
    case Builtin::reshape:
    case Builtin::broadcast_to:
    case Builtin::fresh:
    case Builtin::block:
      return call_special(expr, frame);
    default:
      break;
  }
  std::vector<Value> arguments;
  arguments.reserve(argument_count(expr));
  for (std::size_t i = 0; i < argument_count(expr); ++i) {
    Maybe value = evaluate(argument(expr, i), frame);
    if (!value) return std::nullopt;
    arguments.push_back(std::move(*value));
  }
  switch (expr.builtin) {
    case Builtin::sum:
    case Builtin::product:
    case Builtin::min:
    case Builtin::max: {
      const bool one_list = arguments.size() == 1 && arguments[0].as_list() != nullptr;
      return combine(expr.builtin, one_list ? std::span<const Value>(*arguments[0].as_list()) : arguments);
    }
    case Builtin::scalar_of:
      return arguments.size() == 1 ? scalar_of(arguments[0]) : std::nullopt;
    case Builtin::characters: {
      const std::optional<Attr> text = arguments.size() == 1 ? arguments[0].to_attr() : std::nullopt;
      if (!text || text->kind() != Attr::Kind::name || text->as_name().size() > kMaxList) return std::nullopt;
      std::vector<Value> codes;
      for (const char c : text->as_name()) codes.emplace_back(Int(static_cast<unsigned char>(c)));
      return Value(std::move(codes));
    }
    case Builtin::range: {
      const std::optional<std::int64_t> first = arguments.size() == 2 ? constant(arguments[0]) : 0;
      const std::optional<std::int64_t> last = constant(arguments.back());
      if (!first || !last) return std::nullopt;
      if (*first<*last&& static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*first)> kMaxList) {
        return std::nullopt;
      }
      std::vector<Value> values;
      for (std::int64_t k = *first; k < *last; ++k) values.emplace_back(Int(k));
      return Value(std::move(values));
    }
    default:
      return list_function(*this, expr.builtin, arguments);
  }
}

}  // namespace entangle::term
