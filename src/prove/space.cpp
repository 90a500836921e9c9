#include "prove/space.h"

#include <algorithm>

#include "entangle/eval/clause.h"

namespace entangle::prove {

using eval::Undefined;
using smt::Undecided;
using sym::Int;

namespace {

// c of c * symbol + rest, where the value is of that form.
std::optional<Int> coefficient(Int value, Int symbol) {
  const Int rest = sym::substitute(value, {{symbol, 0}});
  const Int factor = sym::substitute(value, {{symbol, 1}}) - rest;
  if (sym::mentions(factor, symbol) || !(factor * symbol + rest == value)) return std::nullopt;
  return factor;
}

Int fitting(Int value) {
  if (value.is_poison()) throw Undefined{"an integer that overflows"};
  return value;
}

}  // namespace

bool Space::is_position(Int symbol) const {
  return std::ranges::find(positions_, symbol, &Position::symbol) != positions_.end();
}

// The least or greatest value, as one of sizes only.
std::optional<Int> Space::extreme(Int value, bool low) {
  for (std::size_t k = positions_.size(); k-- > 0;) {
    const Position& position = positions_[k];
    if (!sym::mentions(value, position.symbol)) continue;
    const auto factor = coefficient(value, position.symbol);
    if (!factor) return std::nullopt;
    bool positive = false;
    if (const auto constant = factor->constant()) {
      positive = *constant > 0;
    } else if (nonnegative(*factor) == std::optional(true)) {
      positive = true;
    } else if (nonnegative(-*factor) != std::optional(true)) {
      return std::nullopt;
    }
    value = sym::substitute(value, {{position.symbol, positive == low ? position.low : position.high}});
  }
  return value;
}

// Elements of tensors are no sizes: the oracle must not be asked.
bool Space::of_sizes(Int value) const {
  const std::vector<Int> symbols = sym::symbols_of(value);
  return std::ranges::none_of(symbols, [](Int symbol) { return symbol.name().front() == kElement; });
}

std::optional<bool> Space::nonnegative(Int value) {
  const bool positions = std::ranges::any_of(
      positions_, [&](const Position& position) { return sym::mentions(value, position.symbol); });
  if (!positions) {
    if (!of_sizes(value)) return std::nullopt;
    const smt::Truth truth = oracle_.nonnegative(value);
    if (truth == smt::Truth::unknown) return std::nullopt;
    return smt::is_yes(truth);
  }
  const auto low = extreme(value, true);
  if (low && of_sizes(*low) && smt::is_yes(oracle_.nonnegative(*low))) return true;
  const auto high = extreme(value, false);
  if (high && of_sizes(*high) && smt::is_yes(oracle_.less(*high, 0))) return false;
  return std::nullopt;
}

void Space::separate(Int difference, Int a, Int b) {
  // difference >= 0 is the question.
  for (std::size_t k = positions_.size(); k-- > 0;) {
    const Int symbol = positions_[k].symbol;
    if (!sym::mentions(difference, symbol)) continue;
    const auto factor = coefficient(difference, symbol);
    if (!factor) continue;
    const Int rest = sym::substitute(difference, {{symbol, 0}});
    if (*factor == Int(1)) throw Breakpoint{symbol, -rest};
    if (*factor == Int(-1)) throw Breakpoint{symbol, rest + 1};
    // c * (symbol + whole) and a part that is smaller than c.
    Int whole = 0;
    for (const sym::Term& term : sym::terms_of(rest)) {
      if (const auto divided = sym::exact_div(sym::from_term(term), *factor)) whole += *divided;
    }
    if (nonnegative(-whole) == std::optional(true))
      throw Breakpoint{symbol, whole == Int(0) ? Int(1) : -whole};
  }
  for (const Position& position : positions_) {
    if (sym::mentions(difference, position.symbol)) {
      throw Undefined{"a question about positions: 0 <= " + sym::to_string(difference)};
    }
  }
  throw Fork{{Undecided::Relation::less_equal, a, b, smt::Why::depends}};
}

bool Space::less_equal(Int a, Int b) {
  const Int difference = simplified(b - a);
  if (const auto known = nonnegative(difference)) return *known;
  separate(difference, a, b);
}

bool Space::equal(Int a, Int b) {
  const Int difference = simplified(b - a);
  if (difference == Int(0)) return true;
  const auto less = nonnegative(difference);
  const auto greater = nonnegative(-difference);
  if (less && greater && *less && *greater) return true;
  if ((less && !*less) || (greater && !*greater)) return false;
  if (nonnegative(difference - 1) == std::optional(true) ||
      nonnegative(-difference - 1) == std::optional(true)) {
    return false;
  }
  const bool positions = std::ranges::any_of(
      positions_, [&](const Position& position) { return sym::mentions(difference, position.symbol); });
  if (!positions) {
    const smt::Truth truth = oracle_.equal(difference, 0);
    if (truth != smt::Truth::unknown) return smt::is_yes(truth);
    throw Fork{{Undecided::Relation::equal, a, b, smt::Why::depends}};
  }
  // From the place where they are equal on; there, up to the next.
  if (less && *less) separate(difference - 1, a, b);
  separate(difference, a, b);
}

Int Space::simplified(Int value) {
  bool plain = true;
  for (const sym::Term& term : sym::terms_of(fitting(value))) {
    if (term.monomial == nullptr) continue;
    for (const sym::Factor& factor : term.monomial->factors) {
      if (factor.atom->kind != sym::AtomKind::symbol) plain = false;
    }
  }
  if (plain) return value;
  Int result = 0;
  for (const sym::Term& term : sym::terms_of(value)) {
    Int product = term.coefficient;
    if (term.monomial != nullptr) {
      for (const sym::Factor& factor : term.monomial->factors) {
        Int atom = sym::from_atom(factor.atom);
        if (factor.atom->kind == sym::AtomKind::floordiv) {
          atom = quotient(simplified(factor.atom->arguments[0]), simplified(factor.atom->arguments[1]));
        } else if (factor.atom->kind == sym::AtomKind::max) {
          atom = simplified(factor.atom->arguments[0]);
          for (std::size_t k = 1; k < factor.atom->arguments.size(); ++k) {
            const Int other = simplified(factor.atom->arguments[k]);
            if (less_equal(atom, other)) atom = other;
          }
        }
        product *= sym::pow(atom, factor.exponent);
      }
    }
    result += product;
  }
  return fitting(result);
}

Int Space::quotient(Int a, Int b) {
  Int whole = 0;
  Int rest = 0;
  for (const sym::Term& term : sym::terms_of(a)) {
    const Int one = sym::from_term(term);
    if (const auto divided = sym::exact_div(one, b)) {
      whole += *divided;
    } else {
      rest += one;
    }
  }
  if (rest == Int(0)) return whole;
  if (of_sizes(rest)) {
    // Between -b and 2b: which multiple of b is below it is asked.
    const auto sure = [&](Int value) { return nonnegative(value) == std::optional(true); };
    const bool below = sure(b - 1 - rest);
    if (below && sure(rest)) return whole;
    if (below && sure(rest + b)) return less_equal(0, rest) ? whole : whole - 1;
    if (sure(rest) && sure(2 * b - 1 - rest)) return less_equal(b, rest) ? whole + 1 : whole;
  }
  for (std::size_t k = positions_.size(); k-- > 0;) {
    const Position& position = positions_[k];
    const auto factor =
        sym::mentions(rest, position.symbol) ? coefficient(rest, position.symbol) : std::nullopt;
    if (!factor || !(*factor == Int(1)) || !(position.low == Int(0))) continue;
    const Int size = position.high + 1;
    if (sym::exact_div(size, b)) throw SplitPosition{position.symbol, b};
  }
  // Of sizes only: a remainder of its own.
  if (std::ranges::none_of(positions_,
                           [&](const Position& position) { return sym::mentions(b, position.symbol); })) {
    for (const Int symbol : sym::symbols_of(rest)) {
      const auto factor = coefficient(rest, symbol);
      if (!is_position(symbol) && factor && *factor == Int(1) && !sym::mentions(b, symbol) &&
          symbol.name().front() != kElement) {
        throw Quotient{symbol, b};
      }
    }
  }
  return sym::floordiv(a, b);
}

}  // namespace entangle::prove
