#include "rules/builtins.h"

#include <unordered_map>

#include "entangle/support/check.h"

namespace entangle::rules {
namespace {

template <class... Places>
constexpr std::uint16_t bits(Places... places) {
  return static_cast<std::uint16_t>(((1U << static_cast<unsigned>(places)) | ...));
}

constexpr std::uint16_t kEverywhere = 0xffff;
constexpr std::uint16_t kSizes = static_cast<std::uint16_t>(kEverywhere & ~bits(Place::axis));
constexpr std::uint16_t kTerms = bits(Place::right, Place::when, Place::trigger, Place::lowering,
                                      Place::collective, Place::definition, Place::leaf);
constexpr std::uint16_t kKnown =
    bits(Place::right, Place::when, Place::trigger, Place::lowering, Place::collective, Place::definition);

const std::vector<BuiltinInfo> kBuiltins = {
    {"rank", Builtin::rank, "t", "i", kEverywhere},
    {"shape", Builtin::shape, "t", "i*", kSizes},
    {"dtype", Builtin::dtype, "t", "d", kEverywhere},
    {"len", Builtin::len, "l", "i", kEverywhere},
    {"zip", Builtin::zip, "l l...", "?", kEverywhere},
    {"enumerate", Builtin::enumerate, "l", "?", kEverywhere},
    {"range", Builtin::range, "i i...", "i*", kEverywhere},
    {"axes", Builtin::axes, "t", "i*", kEverywhere},
    {"offsets", Builtin::offsets, "t* i", "i*", kSizes},
    {"pairs", Builtin::pairs, "l", "?", kEverywhere},
    {"columns", Builtin::columns, "a**", "l", kEverywhere},
    {"reversed", Builtin::reversed, "l", "l", kEverywhere},
    {"sum", Builtin::sum, "?", "?", kEverywhere},
    {"product", Builtin::product, "?", "?", kEverywhere},
    {"min", Builtin::min, "?", "?", kEverywhere},
    {"max", Builtin::max, "?", "?", kEverywhere},
    {"index_of", Builtin::index_of, "l e", "i", kEverywhere},
    {"permute", Builtin::permute, "l i*", "l", kEverywhere},
    {"inverse", Builtin::inverse, "i*", "i*", kEverywhere},
    {"complement", Builtin::complement, "i* i", "i*", kEverywhere},
    {"insert_at", Builtin::insert_at, "l i* l", "l", kEverywhere},
    {"block_at", Builtin::block_at, "t* i i i", "i", kSizes},
    {"tiling", Builtin::tiling, "t i", "i*", bits(Place::when, Place::trigger, Place::right)},
    {"divides", Builtin::divides, "i i", "b", kEverywhere},
    {"is_float", Builtin::is_float, "d", "b", kEverywhere},
    {"is_wide_float", Builtin::is_wide_float, "d", "b", kEverywhere},
    {"is_integer", Builtin::is_integer, "d", "b", kEverywhere},
    {"is_bool", Builtin::is_bool, "d", "b", kEverywhere},
    {"is_none", Builtin::is_none, "a", "b", kEverywhere},
    {"is_tensor", Builtin::is_tensor, "a", "b", kEverywhere},
    {"uniform", Builtin::uniform, "t", "s", static_cast<std::uint16_t>(kKnown | bits(Place::pattern))},
    {"named", Builtin::named, "t", "b", bits(Place::trigger)},
    {"constant", Builtin::constant, "t", "b", bits(Place::trigger)},
    {"defined", Builtin::defined, "t", "b", bits(Place::when, Place::trigger)},
    {"interval_low", Builtin::interval_low, "t", "i", kKnown},
    {"interval_high", Builtin::interval_high, "t", "i", kKnown},
    {"full", Builtin::full, "s ; i* d", "t", kTerms},
    {"full_like", Builtin::full_like, "s t", "t", kTerms},
    {"reshape", Builtin::reshape, "t ; i*", "t", kTerms},
    {"broadcast_to", Builtin::broadcast_to, "t ; i*", "t", kTerms},
    {"fresh", Builtin::fresh, "i* d", "t", bits(Place::lowering, Place::collective, Place::definition)},
    {"scalar_of", Builtin::scalar_of, "i", "s", kEverywhere},
    {"block", Builtin::block, "t* i i*", "a", bits(Place::value)},
    {"all", Builtin::all_of, "a", "?", bits(Place::collective)},
    {"characters", Builtin::characters, "n", "i*",
     bits(Place::lowering, Place::collective, Place::definition)},
};

}  // namespace

const BuiltinInfo* find_builtin(std::string_view name) {
  static const std::unordered_map<std::string_view, const BuiltinInfo*> table = [] {
    std::unordered_map<std::string_view, const BuiltinInfo*> result;
    for (const BuiltinInfo& one : kBuiltins) result.emplace(one.name, &one);
    return result;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

const BuiltinInfo& info(Builtin builtin) {
  const BuiltinInfo& found = kBuiltins.at(static_cast<std::size_t>(builtin));
  ENTANGLE_CHECK(found.builtin == builtin, "the table of built-in functions is out of order");
  return found;
}

const std::vector<BuiltinInfo>& all_builtins() {
  return kBuiltins;
}

std::string_view describe(Place place) {
  switch (place) {
    case Place::pattern:
      return "a pattern";
    case Place::right:
      return "a right side";
    case Place::when:
      return "a condition";
    case Place::trigger:
      return "a trigger";
    case Place::clause:
      return "a clause of an operator";
    case Place::axis:
      return "an axis clause";
    case Place::value:
      return "a value";
    case Place::law:
      return "a law";
    case Place::lowering:
    case Place::collective:
      return "a lowering";
    case Place::definition:
      return "a definition";
    case Place::leaf:
      return "a manifest";
  }
  return "this place";
}

}  // namespace entangle::rules
