#include <algorithm>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include "entangle/sym/int.h"

namespace entangle::sym {

namespace {

void collect_symbols(Int value, std::vector<Int>* symbols) {
  if (value.is_constant()) {
    return;
  }
  for (const Term& term : value.polynomial()->terms) {
    for (const Factor& factor : term.monomial->factors) {
      if (factor.atom->kind == AtomKind::symbol) {
        symbols->push_back(from_atom(factor.atom));
      }
      for (const Int argument : factor.atom->arguments) {
        collect_symbols(argument, symbols);
      }
    }
  }
}

std::optional<std::int64_t> evaluate_atom(const Atom* atom, const Valuation& valuation) {
  if (atom->kind == AtomKind::symbol) {
    const auto it = valuation.find(from_atom(atom));
    return it == valuation.end() ? std::nullopt : std::optional(it->second);
  }
  std::optional<std::int64_t> result;
  for (const Int argument : atom->arguments) {
    const auto value = evaluate(argument, valuation);
    if (!value) {
      return std::nullopt;
    }
    if (!result) {
      result = value;
    } else if (atom->kind == AtomKind::max) {
      result = std::max(*result, *value);
    } else {
      result = floordiv(Int(*result), Int(*value)).constant();
    }
    if (!result) {
      return std::nullopt;
    }
  }
  return result;
}

Int substitute_atom(const Atom* atom, const Substitution& substitution) {
  if (atom->kind == AtomKind::symbol) {
    const Int symbol = from_atom(atom);
    const auto it = substitution.find(symbol);
    return it == substitution.end() ? symbol : it->second;
  }
  const auto substituted = [&](Int argument) { return substitute(argument, substitution); };
  const auto arguments = atom->arguments | ranges::views::transform(substituted) | ranges::to<std::vector>();
  if (arguments == atom->arguments) {
    return from_atom(atom);
  }
  if (atom->kind == AtomKind::floordiv) {
    return floordiv(arguments[0], arguments[1]);
  }
  Int result = arguments.front();
  for (const Int argument : arguments) {
    result = max(result, argument);
  }
  return result;
}

}  // namespace

Int substitute(Int value, const Substitution& substitution) {
  if (value.is_constant() || value.is_poison() || substitution.empty()) {
    return value;
  }
  std::vector<Int> symbols;
  collect_symbols(value, &symbols);
  if (std::none_of(symbols.begin(), symbols.end(),
                   [&substitution](Int symbol) { return substitution.contains(symbol); })) {
    return value;
  }
  Int result = 0;
  for (const Term& term : value.polynomial()->terms) {
    Int product = term.coefficient;
    for (const Factor& factor : term.monomial->factors) {
      product *= pow(substitute_atom(factor.atom, substitution), factor.exponent);
    }
    result += product;
  }
  return result;
}

std::vector<Int> symbols_of(Int value) {
  std::vector<Int> result;
  if (!value.is_poison()) {
    collect_symbols(value, &result);
  }
  std::sort(result.begin(), result.end(), ContentLess());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

Int without_factors(Int a, const std::function<bool(Int symbol)>& nonzero) {
  if (a.is_poison() || a.is_constant()) {
    return a;
  }
  for (const Int symbol : symbols_of(a)) {
    if (!nonzero(symbol)) {
      continue;
    }
    while (const std::optional<Int> quotient = exact_div(a, symbol)) {
      a = *quotient;
    }
  }
  return a;
}

bool mentions(Int value, Int symbol) {
  std::vector<Int> symbols;
  if (!value.is_poison()) {
    collect_symbols(value, &symbols);
  }
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

std::optional<std::int64_t> evaluate(Int value, const Valuation& valuation) {
  if (value.is_constant()) {
    return value.value();
  }
  if (value.is_poison()) {
    return std::nullopt;
  }
  Int result = 0;
  for (const Term& term : value.polynomial()->terms) {
    Int product = term.coefficient;
    for (const Factor& factor : term.monomial->factors) {
      const auto base = evaluate_atom(factor.atom, valuation);
      if (!base) {
        return std::nullopt;
      }
      product *= pow(Int(*base), factor.exponent);
    }
    result += product;
  }
  return result.constant();
}

}  // namespace entangle::sym
