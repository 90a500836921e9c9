#include <algorithm>

#include "entangle/support/text.h"
#include "node.h"

namespace entangle::smt {

namespace {

std::string number_text(const mpq_class& value, Sort sort) {
  const auto positive = [sort](const mpz_class& z) { return z.get_str() + (sort == Sort::real ? ".0" : ""); };
  const mpq_class magnitude = abs(value);
  std::string text = positive(magnitude.get_num());
  if (magnitude.get_den() != 1) {
    text = "(/ " + text + " " + positive(magnitude.get_den()) + ")";
  }
  return sgn(value) < 0 ? "(- " + text + ")" : text;
}

std::string_view operator_name(Kind kind) {
  switch (kind) {
    case Kind::add:
      return "+";
    case Kind::multiply:
      return "*";
    case Kind::divide:
      return "/";
    case Kind::div:
      return "div";
    case Kind::mod:
      return "mod";
    case Kind::to_real:
      return "to_real";
    case Kind::ite:
      return "ite";
    case Kind::equal:
      return "=";
    case Kind::less_equal:
      return "<=";
    case Kind::less:
      return "<";
    case Kind::logical_not:
      return "not";
    case Kind::logical_and:
      return "and";
    case Kind::logical_or:
      return "or";
    case Kind::constant:
    case Kind::variable:
    case Kind::apply:
      break;
  }
  return "";
}

}  // namespace

std::string quoted(const std::string& name) {
  static constexpr std::string_view kAllowed = "~!@$%^&*_-+=<>.?/";
  const bool simple = !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
                      std::all_of(name.begin(), name.end(), [](char c) {
                        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               kAllowed.find(c) != std::string_view::npos;
                      });
  return simple ? name : "|" + name + "|";
}

std::string_view sort_name(Sort sort) {
  return sort == Sort::boolean ? "Bool" : sort == Sort::integer ? "Int" : "Real";
}

std::string to_string(const Term& term) {
  return print(term, {}, true);
}

std::string print(const Term& term, const std::unordered_map<Term, std::string>& names, bool use_name) {
  if (const auto it = names.find(term); use_name && it != names.end()) {
    return it->second;
  }
  switch (term.kind()) {
    case Kind::constant:
      return term.sort() == Sort::boolean ? (term.is_true() ? "true" : "false")
                                          : number_text(*term.as_rational(), term.sort());
    case Kind::variable:
      return quoted(term.name());
    default:
      break;
  }
  std::vector<std::string> parts = {term.kind() == Kind::apply ? quoted(term.function().name())
                                                               : std::string(operator_name(term.kind()))};
  for (const Term& argument : term.arguments()) {
    parts.push_back(print(argument, names, true));
  }
  return parts.size() == 1 ? parts.front() : "(" + support::join(parts, " ") + ")";
}

}  // namespace entangle::smt
