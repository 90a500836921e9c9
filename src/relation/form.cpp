#include "relation/form.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "entangle/support/text.h"
#include "relation/failure.h"

namespace entangle::relation {

namespace {

using support::trim;

constexpr std::string_view kPlacements = "the placements are Replicate, Shard(d) and Partial";

struct Call {
  std::string_view name, argument;
};

// `Name` or `Name(argument)` where the argument holds no operand list: what could be meant as a placement.
std::optional<Call> as_call(std::string_view text) {
  const std::size_t open = text.find('(');
  Call call{trim(text.substr(0, open)), {}};
  const bool word = !call.name.empty() && std::all_of(call.name.begin(), call.name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }) && std::isdigit(static_cast<unsigned char>(call.name.front())) == 0;
  if (!word) return std::nullopt;
  if (open == std::string_view::npos) return call;
  if (text.back() != ')') return std::nullopt;
  call.argument = trim(text.substr(open + 1, text.size() - open - 2));
  if (call.argument.find_first_of(".;()\"") != std::string_view::npos) return std::nullopt;
  return call;
}

std::optional<int> as_dim(std::string_view text) {
  if (text.starts_with("dim")) {
    text = trim(text.substr(3));
    if (text.empty() || text.front() != '=') return std::nullopt;
    text = trim(text.substr(1));
  }
  int dim = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), dim);
  if (code != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return dim;
}

[[noreturn]] void bad_placement(const Text& text, const Call& call) {
  std::string suggestion = support::did_you_mean(call.name, {"Replicate", "Shard", "Partial"});
  if (call.name == "Shard") suggestion = "Shard needs the axis that is cut, such as Shard(0)";
  if (call.name == "Partial") suggestion = "only sums over ranks are partial values: write Partial";
  if (call.name == "_StridedShard") suggestion = "write the concat of slices that the tensor equals";
  if (suggestion.empty()) suggestion = kPlacements;
  fail(Problem::bad_placement, text.span, "`" + std::string(trim(text.text)) + "` is no placement",
       suggestion);
}

Placement placement_of(const Text& text, const Call& call) {
  const bool bare = call.argument.empty();
  if (call.name == "Replicate" && bare) return {Placement::Kind::replicate, 0};
  if (call.name == "Partial" && (bare || call.argument == "sum")) return {Placement::Kind::partial, 0};
  if (call.name == "Shard") {
    if (const std::optional<int> dim = as_dim(call.argument)) return {Placement::Kind::shard, *dim};
  }
  bad_placement(text, call);
}

bool balanced(std::string_view text) {
  return std::count(text.begin(), text.end(), '(') == std::count(text.begin(), text.end(), ')');
}

}  // namespace

std::string to_string(const Placement& placement) {
  switch (placement.kind) {
    case Placement::Kind::replicate:
      return "Replicate";
    case Placement::Kind::shard:
      return "Shard(" + std::to_string(placement.dim) + ")";
    case Placement::Kind::partial:
      return "Partial";
  }
  return "";
}

Placement parse_placement(const Text& text) {
  const std::optional<Call> call = as_call(trim(text.text));
  if (!call) {
    fail(Problem::bad_placement, text.span, "`" + text.text + "` is no placement", std::string(kPlacements));
  }
  return placement_of(text, *call);
}

Form parse_form(const Text& text, bool in_list) {
  Form form;
  form.text = std::string(trim(text.text));
  form.span = text.span;
  if (const std::optional<Call> call = as_call(form.text)) {
    form.kind = Form::Kind::placement;
    form.placements = {placement_of(text, *call)};
    return form;
  }
  if (!balanced(form.text)) {
    fail(Problem::bad_expression, form.span, "the parentheses of `" + form.text + "` do not match",
         in_list ? "quote an expression that stands in a list" : "");
  }
  form.kind = Form::Kind::expression;
  return form;
}

}  // namespace entangle::relation
