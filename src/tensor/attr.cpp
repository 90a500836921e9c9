#include "entangle/tensor/attr.h"

#include <algorithm>
#include <array>
#include <compare>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <variant>

#include "entangle/support/check.h"
#include "entangle/support/hash.h"

namespace entangle::tensor {

// `values` of a list are interned themselves, so lists are compared entry by entry, pointer by pointer.
struct Attr::Data {
  using Value =
      std::variant<std::monostate, bool, sym::Int, sym::Scalar, DType, std::string, std::vector<Attr>>;
  Value value;
  std::size_t hash = 0;
};

namespace {

std::size_t hash_of(std::monostate) {
  return 0;
}
std::size_t hash_of(bool value) {
  return value ? 1 : 0;
}
std::size_t hash_of(sym::Int value) {
  return value.hash();
}
std::size_t hash_of(const sym::Scalar& value) {
  return value.hash();
}
std::size_t hash_of(DType value) {
  return static_cast<std::size_t>(value);
}
std::size_t hash_of(const std::string& value) {
  return support::hash_bytes(value);
}
std::size_t hash_of(const std::vector<Attr>& values) {
  std::size_t hash = values.size();
  for (const Attr& value : values) hash = support::hash_combine(hash, value.hash());
  return hash;
}

int sign(std::strong_ordering order) {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace

// The process-wide table, in parts with a lock each.
struct AttrTable {
  using Data = Attr::Data;
  static constexpr std::size_t kShards = 16;
  static constexpr std::int64_t kSmall = 256;

  struct Shard {
    std::mutex mutex;
    std::unordered_multimap<std::size_t, std::unique_ptr<const Data>> values;
  };

  std::array<Shard, kShards> shards;
  // What is used all the time, without a lock.
  const Data* none = nullptr;
  const Data* booleans[2] = {nullptr, nullptr};
  const Data* small[kSmall] = {};

  AttrTable() {
    none = intern(std::monostate{});
    booleans[0] = intern(false);
    booleans[1] = intern(true);
    for (std::int64_t i = 0; i < kSmall; ++i) small[i] = intern(sym::Int(i));
  }

  // Never destroyed: attributes may be used by static objects until the very end.
  static AttrTable& instance() {
    static AttrTable* table = new AttrTable;
    return *table;
  }

  const Data* intern(Data::Value value) {
    const std::size_t hash = support::hash_combine(
        value.index(), std::visit([](const auto& content) { return hash_of(content); }, value));
    Shard& shard = shards[hash % kShards];
    const std::lock_guard lock(shard.mutex);
    const auto [first, last] = shard.values.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      if (it->second->value == value) return it->second.get();
    }
    auto data = std::make_unique<Data>(Data{std::move(value), hash});
    const Data* result = data.get();
    shard.values.emplace(hash, std::move(data));
    return result;
  }
};

Attr::Attr() : data_(AttrTable::instance().none) {}

Attr Attr::boolean(bool value) {
  return Attr(AttrTable::instance().booleans[value ? 1 : 0]);
}

Attr Attr::of(sym::Int value) {
  AttrTable& table = AttrTable::instance();
  const auto constant = value.constant();
  if (constant && *constant >= 0 && *constant < AttrTable::kSmall) return Attr(table.small[*constant]);
  return Attr(table.intern(value));
}

Attr Attr::of(const sym::Scalar& value) {
  return Attr(AttrTable::instance().intern(value));
}

Attr Attr::of(DType value) {
  return Attr(AttrTable::instance().intern(value));
}

Attr Attr::name(std::string_view value) {
  return Attr(AttrTable::instance().intern(std::string(value)));
}

Attr Attr::list(std::span<const Attr> values) {
  return Attr(AttrTable::instance().intern(std::vector<Attr>(values.begin(), values.end())));
}

Attr Attr::ints(std::span<const sym::Int> values) {
  std::vector<Attr> entries;
  entries.reserve(values.size());
  for (const sym::Int& value : values) entries.push_back(of(value));
  return list(entries);
}

Attr::Kind Attr::kind() const {
  return static_cast<Kind>(data_->value.index());
}

bool Attr::as_bool() const {
  ENTANGLE_CHECK(kind() == Kind::boolean, "not a boolean attribute: " + to_string(*this));
  return std::get<bool>(data_->value);
}

sym::Int Attr::as_int() const {
  ENTANGLE_CHECK(kind() == Kind::integer, "not an integer attribute: " + to_string(*this));
  return std::get<sym::Int>(data_->value);
}

const sym::Scalar& Attr::as_scalar() const {
  ENTANGLE_CHECK(kind() == Kind::scalar, "not a scalar attribute: " + to_string(*this));
  return std::get<sym::Scalar>(data_->value);
}

DType Attr::as_dtype() const {
  ENTANGLE_CHECK(kind() == Kind::dtype, "not a dtype attribute: " + to_string(*this));
  return std::get<DType>(data_->value);
}

const std::string& Attr::as_name() const {
  ENTANGLE_CHECK(kind() == Kind::name, "not a name attribute: " + to_string(*this));
  return std::get<std::string>(data_->value);
}

std::span<const Attr> Attr::as_list() const {
  ENTANGLE_CHECK(kind() == Kind::list, "not a list attribute: " + to_string(*this));
  return std::get<std::vector<Attr>>(data_->value);
}

std::size_t Attr::hash() const {
  return data_->hash;
}

int compare(const Attr& a, const Attr& b) {
  if (a == b) return 0;
  if (a.kind() != b.kind()) return a.kind() < b.kind() ? -1 : 1;
  switch (a.kind()) {
    case Attr::Kind::none:
      return 0;
    case Attr::Kind::boolean:
      return a.as_bool() ? 1 : -1;
    case Attr::Kind::integer:
      return sign(sym::compare(a.as_int(), b.as_int()));
    case Attr::Kind::scalar:
      return sign(sym::content_order(a.as_scalar(), b.as_scalar()));
    case Attr::Kind::dtype:
      return a.as_dtype() < b.as_dtype() ? -1 : 1;
    case Attr::Kind::name:
      return a.as_name() < b.as_name() ? -1 : 1;
    case Attr::Kind::list:
      break;
  }
  const auto left = a.as_list();
  const auto right = b.as_list();
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (const int order = compare(left[i], right[i]); order != 0) return order;
  }
  return left.size() < right.size() ? -1 : 1;
}

namespace {

// A name that the rule language reads back as this name without quotes.
bool is_plain(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || name == "_" || !letter(name[0])) return false;
  if (!std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); })) {
    return false;
  }
  static constexpr std::array<std::string_view, 20> kReserved = {
      "true", "false", "none", "inf",    "if",     "then",     "else", "let",  "in",      "for",
      "and",  "or",    "not",  "forall", "exists", "floordiv", "mod",  "with", "without", "when"};
  return !parse_dtype(name) && std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end();
}

std::string quoted(const std::string& name) {
  std::string result = "\"";
  for (const char c : name) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string to_string(const Attr& attr) {
  switch (attr.kind()) {
    case Attr::Kind::none:
      return "none";
    case Attr::Kind::boolean:
      return attr.as_bool() ? "true" : "false";
    case Attr::Kind::integer:
      return sym::to_string(attr.as_int());
    case Attr::Kind::scalar:
      return sym::to_string(attr.as_scalar());
    case Attr::Kind::dtype:
      return std::string(to_string(attr.as_dtype()));
    case Attr::Kind::name:
      return is_plain(attr.as_name()) ? attr.as_name() : quoted(attr.as_name());
    case Attr::Kind::list:
      break;
  }
  std::string result = "[";
  for (const Attr& entry : attr.as_list()) {
    if (result.size() > 1) result += ", ";
    result += to_string(entry);
  }
  return result + ']';
}

}  // namespace entangle::tensor
