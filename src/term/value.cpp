#include <array>

#include "entangle/term/evaluator.h"

namespace entangle::term {

using tensor::Attr;

namespace {

ValueList unpack(const Attr& attr) {
  std::vector<Value> values;
  values.reserve(attr.as_list().size());
  for (const Attr& entry : attr.as_list()) values.emplace_back(entry);
  return std::make_shared<const std::vector<Value>>(std::move(values));
}

// Matching unpacks the same short lists again and again: those that came last are kept.
ValueList unpacked(const Attr& attr) {
  constexpr std::size_t kShort = 64;
  constexpr std::size_t kKept = 256;
  struct Kept {
    Attr attr;
    ValueList list;
  };
  thread_local std::array<Kept, kKept> kept;
  if (attr.as_list().size() > kShort) return unpack(attr);
  const std::size_t place = attr.hash() % kKept;
  if (kept[place].attr != attr) {
    ValueList list = unpack(attr);  // which may take the place for an entry of its own
    kept[place] = {attr, std::move(list)};
  }
  return kept[place].list;
}

}  // namespace

Value::Value(Attr attr) {
  switch (attr.kind()) {
    case Attr::Kind::integer:
      data_ = attr.as_int();
      break;
    case Attr::Kind::list:
      data_ = unpacked(attr);
      break;
    default:
      data_ = attr;
  }
}

Value::Value(tensor::TensorType type) : data_(std::make_shared<const tensor::TensorType>(std::move(type))) {}

Value::Value(std::vector<Value> list) : data_(std::make_shared<const std::vector<Value>>(std::move(list))) {}

bool Value::is_none() const {
  const Attr* attr = as_attr();
  return attr != nullptr && attr->is_none();
}

const tensor::TensorType* Value::as_type() const {
  const auto* type = std::get_if<std::shared_ptr<const tensor::TensorType>>(&data_);
  return type != nullptr ? type->get() : nullptr;
}

const std::vector<Value>* Value::as_list() const {
  const auto* list = std::get_if<ValueList>(&data_);
  return list != nullptr ? list->get() : nullptr;
}

std::optional<Attr> Value::to_attr() const {
  if (const Attr* attr = as_attr()) return *attr;
  if (const sym::Int* value = as_int()) return Attr::of(*value);
  const std::vector<Value>* list = as_list();
  if (list == nullptr) return std::nullopt;
  std::vector<Attr> entries;
  entries.reserve(list->size());
  for (const Value& value : *list) {
    std::optional<Attr> entry = value.to_attr();
    if (!entry) return std::nullopt;
    entries.push_back(*entry);
  }
  return Attr::list(entries);
}

std::optional<sym::Scalar> Value::to_scalar() const {
  if (const sym::Int* value = as_int()) {
    if (value->is_poison()) return std::nullopt;
    return sym::Scalar(*value);
  }
  const Attr* attr = as_attr();
  if (attr == nullptr) return std::nullopt;
  if (attr->kind() == Attr::Kind::scalar) return attr->as_scalar();
  if (attr->kind() == Attr::Kind::boolean) return sym::Scalar(attr->as_bool() ? 1 : 0);
  return std::nullopt;
}

bool Value::operator==(const Value& other) const {
  if (const std::vector<Value>* list = as_list()) {
    const std::vector<Value>* others = other.as_list();
    return list == others || (others != nullptr && *list == *others);
  }
  if (const tensor::TensorType* type = as_type()) {
    return other.as_type() != nullptr && *type == *other.as_type();
  }
  return data_ == other.data_;
}

std::optional<bool> Value::to_bool() const {
  if (const Attr* attr = as_attr(); attr != nullptr && attr->kind() == Attr::Kind::boolean) {
    return attr->as_bool();
  }
  const std::optional<sym::Scalar> scalar = to_scalar();
  if (scalar && scalar->is_zero()) return false;
  if (scalar && scalar->is_one()) return true;
  return std::nullopt;
}

}  // namespace entangle::term
