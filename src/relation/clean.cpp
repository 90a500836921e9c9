#include "entangle/relation/clean.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace entangle::relation {

namespace {

bool plain(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

void collect(const Clean& clean, std::vector<const Clean*>& result) {
  if (clean.is_leaf()) result.push_back(&clean);
  for (const Clean& child : clean.children) collect(child, result);
}

}  // namespace

std::string to_string(const Leaf& leaf) {
  std::string result = "r" + std::to_string(leaf.rank) + ".";
  if (plain(leaf.name)) return result + leaf.name;
  result += '"';
  for (const char c : leaf.name) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::optional<Leaf> parse_leaf(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot < 2 || text.front() != 'r') return std::nullopt;
  Leaf leaf;
  const auto [end, code] = std::from_chars(text.data() + 1, text.data() + dot, leaf.rank);
  if (code != std::errc() || end != text.data() + dot) return std::nullopt;
  const std::string_view name = text.substr(dot + 1);
  if (name.empty() || name.front() != '"') {
    if (!plain(name)) return std::nullopt;
    leaf.name = name;
    return leaf;
  }
  std::size_t i = 1;
  for (; i < name.size() && name[i] != '"'; ++i) {
    if (name[i] == '\\' && i + 1 < name.size()) ++i;
    leaf.name += name[i];
  }
  if (i + 1 != name.size() || leaf.name.empty()) return std::nullopt;
  return leaf;
}

Clean Clean::of(Leaf leaf, support::Span span) {
  Clean result;
  result.leaf = std::move(leaf);
  result.span = span;
  return result;
}

bool operator==(const Clean& a, const Clean& b) {
  return a.op == b.op && a.leaf == b.leaf && a.attrs == b.attrs && a.children == b.children;
}

std::string to_string(const Clean& clean, const rules::RuleSet& rules) {
  if (clean.is_leaf()) return to_string(clean.leaf);
  std::string result = rules.op(clean.op).name + "(";
  for (std::size_t i = 0; i < clean.children.size(); ++i) {
    if (i > 0) result += ", ";
    result += to_string(clean.children[i], rules);
  }
  if (clean.attrs.kind() == tensor::Attr::Kind::list && !clean.attrs.as_list().empty()) {
    std::string_view separator = "; ";
    for (const tensor::Attr& attr : clean.attrs.as_list()) {
      result += separator;
      result += tensor::to_string(attr);
      separator = ", ";
    }
  }
  return result + ")";
}

std::vector<const Clean*> leaves(const Clean& clean) {
  std::vector<const Clean*> result;
  collect(clean, result);
  return result;
}

}  // namespace entangle::relation
