#include "rules/types.h"

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace entangle::rules {
namespace {

struct BaseName {
  std::string_view word, article, plural;
};

// By Base.
constexpr std::array<BaseName, 12> kBases = {{
    {"tensor", "a", "tensors"},
    {"axis", "an", "axes"},
    {"count", "a", "counts"},
    {"perm", "a", "permutations"},
    {"int", "an", "integers"},
    {"scalar", "a", "scalars"},
    {"bool", "a", "booleans"},
    {"name", "a", "names"},
    {"dtype", "a", "dtypes"},
    {"group", "a", "groups"},
    {"operand", "an", "operands"},
    {"any", "a", "values"},
}};

// The base of the innermost entries, and how deep they are.
std::pair<Base, int> flat(const Type& type) {
  switch (type.base) {
    case Base::perm:
    case Base::group:
      return {Base::integer, type.depth + 1};
    case Base::axis:
    case Base::count:
      return {Base::integer, type.depth};
    default:
      return {type.base, type.depth};
  }
}

}  // namespace

constinit const std::string SharedName::kEmpty;

SharedName::SharedName(std::string_view text) {
  if (text.empty()) return;
  static std::mutex mutex;
  static auto* all = new std::unordered_map<std::string_view, std::unique_ptr<const std::string>>;
  const std::lock_guard lock(mutex);
  auto found = all->find(text);
  if (found == all->end()) {
    auto copy = std::make_unique<const std::string>(text);
    const std::string_view key = *copy;
    found = all->emplace(key, std::move(copy)).first;
  }
  text_ = found->second.get();
}

std::string to_string(const Type& type) {
  std::string result(kBases[static_cast<std::size_t>(type.base)].word);
  if (!type.of.empty()) result += "(" + type.of.text() + ")";
  if (type.holes) result += '?';
  if (type.depth == 1 && type.nonempty) {
    result += '+';
  } else {
    result.append(type.depth, '*');
  }
  if (type.optional) result += '?';
  return result;
}

Type base_type(Base base, std::uint8_t depth) {
  Type result;
  result.base = base;
  result.depth = depth;
  return result;
}

Ty ty(Base base, std::uint8_t depth) {
  return {base_type(base, depth), {}};
}

Ty list_of(Ty entry) {
  entry.type.optional = false;
  ++entry.type.depth;
  return entry;
}

Ty entry_of(const Ty& list) {
  Ty result = list;
  result.type.nonempty = false;
  result.type.optional = false;
  result.type.holes = false;
  if (list.type.depth > 0) {
    --result.type.depth;
    return result;
  }
  if (list.type.base == Base::perm || list.type.base == Base::group) return ty(Base::integer);
  return ty(Base::any);
}

Ty join(const Ty& a, const Ty& b) {
  if (is_any(a.type) && a.parts.empty()) return a;
  if (is_any(b.type) && b.parts.empty()) return b;
  if (a.parts.size() == b.parts.size() && a.type.depth == b.type.depth && !a.parts.empty()) {
    Ty result = a;
    for (std::size_t i = 0; i < a.parts.size(); ++i) result.parts[i] = join(a.parts[i], b.parts[i]);
    return result;
  }
  if (fits(a.type, b.type)) {
    Ty result = a;
    result.type.nonempty = a.type.nonempty && b.type.nonempty;
    return result;
  }
  if (fits(b.type, a.type)) return b;
  return ty(Base::any);
}

int list_depth(const Type& type) {
  return flat(type).second;
}

bool is_any(const Type& type) {
  return type.base == Base::any && type.depth == 0;
}

bool is_integer_like(const Type& type) {
  return flat(type) == std::pair(Base::integer, 0);
}

bool is_number(const Type& type) {
  return is_any(type) || is_integer_like(type) ||
         (type.depth == 0 && (type.base == Base::scalar || type.base == Base::operand));
}

bool fits(const Type& expected, const Type& actual) {
  const auto [want, want_depth] = flat(expected);
  const auto [have, have_depth] = flat(actual);
  if (want == Base::any && want_depth <= have_depth) return true;
  if (have == Base::any && have_depth <= want_depth) return true;
  if (want_depth != have_depth) return false;
  if (want == have) return true;
  if (want == Base::scalar) return have == Base::integer || have == Base::operand;
  if (want == Base::tensor) return have == Base::operand;
  if (want == Base::operand) return have == Base::tensor || have == Base::scalar || have == Base::integer;
  return false;
}

std::string count(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string describe(const Type& type) {
  const BaseName& base = kBases[static_cast<std::size_t>(type.base)];
  std::string word(base.word);
  if (type.base == Base::integer) word = "integer";
  if (type.base == Base::any) word = "value";
  if (type.base == Base::boolean) word = "truth value";
  if (type.base == Base::perm) word = "permutation";
  std::string plural = type.base == Base::boolean ? "truth values" : std::string(base.plural);
  if (type.depth == 0) return std::string(base.article) + " " + word;
  std::string result;
  for (int i = 0; i < type.depth; ++i) result += i == 0 ? "a list of " : "lists of ";
  return result + plural;
}

}  // namespace entangle::rules
