#include "entangle/sym/facts.h"

#include <algorithm>

#include "derive.h"
#include "interval.h"
#include "polynomial.h"

namespace entangle::sym {

using detail::in_parentheses;
using detail::kSize;
using detail::plain_bounds;

namespace {

bool has_composite_atom(Int value) {
  if (value.is_constant() || value.is_poison()) {
    return false;
  }
  for (const Term& term : value.polynomial()->terms) {
    for (const Factor& factor : term.monomial->factors) {
      if (factor.atom->kind != AtomKind::symbol) {
        return true;
      }
    }
  }
  return false;
}

// Rebuilds a value from its atoms, each replaced by what `rewrite` makes of it; arguments come first.
template <class Rewrite>
Int rewrite_atoms(Int value, const Rewrite& rewrite) {
  Int result = 0;
  for (const Term& term : terms_of(value)) {
    Int product = term.coefficient;
    for (const Factor& factor : term.monomial->factors) {
      Int atom = from_atom(factor.atom);
      if (factor.atom->kind != AtomKind::symbol) {
        std::vector<Int> arguments;
        for (const Int argument : factor.atom->arguments) {
          arguments.push_back(rewrite_atoms(argument, rewrite));
        }
        if (std::any_of(arguments.begin(), arguments.end(), [](Int x) { return x.is_poison(); })) {
          return Int::poison();
        }
        atom = rewrite(factor.atom->kind, arguments);
      }
      product *= pow(atom, factor.exponent);
    }
    result += product;
  }
  return result;
}

// Drops maximands that another one exceeds, and quotients that can have one value only.
template <class BoundsOf>
Int simplify(AtomKind kind, const std::vector<Int>& arguments, const BoundsOf& bounds_of) {
  if (kind == AtomKind::max) {
    std::vector<Int> kept = arguments;
    for (std::size_t i = 0; i < kept.size();) {
      const bool exceeded = std::any_of(kept.begin(), kept.end(), [&](Int other) {
        const Interval difference = other == kept[i] ? Interval() : bounds_of(other - kept[i]);
        return difference.lower && *difference.lower >= 0;
      });
      if (exceeded) {
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    Int result = kept.front();
    for (const Int argument : kept) {
      result = max(result, argument);
    }
    return result;
  }
  const Int dividend = arguments[0];
  const Int divisor = arguments[1];
  const Int quotient = floordiv(dividend, divisor);
  if (divisor.is_constant() && divisor.value() > 0) {
    const Interval range = bounds_of(dividend);
    if (range.lower && range.upper) {
      const std::int64_t least = detail::floor_quotient(*range.lower, divisor.value());
      if (least == detail::floor_quotient(*range.upper, divisor.value())) {
        return least;
      }
    }
    return quotient;
  }
  const Interval below = bounds_of(dividend);
  const Interval above = bounds_of(divisor - 1 - dividend);
  return below.lower && *below.lower >= 0 && above.lower && *above.lower >= 0 ? Int(0) : quotient;
}

}  // namespace

// --- Adding
// ---------------------------------------------------------------------------------------------------

void Facts::declare_symbol(std::string_view name, std::optional<std::int64_t> lower) {
  const Int symbol = Int::symbol(name);
  const auto it = std::find_if(declared_.begin(), declared_.end(),
                               [symbol](const auto& one) { return one.first == symbol; });
  if (it == declared_.end()) {
    declared_.emplace_back(symbol, lower);
  } else {
    it->second = lower;
  }
  rebuild();
}

void Facts::add(Statement statement) {
  // Nothing follows from a statement about poison.
  if (statement.left.is_poison() || statement.right.is_poison() ||
      std::find(statements_.begin(), statements_.end(), statement) != statements_.end()) {
    return;
  }
  statements_.push_back(statement);
}

void Facts::add_equal(Int a, Int b) {
  add({Relation::equal, a, b});
  rebuild();
}

void Facts::add_le(Int a, Int b) {
  add({Relation::less_equal, a, b});
  rebuild();
}

void Facts::add_divides(Int d, Int n) {
  add({Relation::divides, d, n});
  rebuild();
}

// --- Asking
// ---------------------------------------------------------------------------------------------------

Int Facts::core(Int value) const {
  if (value.is_constant() || value.is_poison()) {
    return value;
  }
  Int result = substitute(substitute(value, solved_), multiple_of_);
  // One simplification may make way for another; the limit is for safety only.
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds && has_composite_atom(result); ++round) {
    const Int simpler = rewrite_atoms(result, [this](AtomKind kind, const std::vector<Int>& arguments) {
      return simplify(kind, arguments, [this](Int inner) { return core_bounds(inner); });
    });
    if (simpler == result || simpler.is_poison()) {
      break;
    }
    result = simpler;
  }
  return result;
}

Int Facts::visible(Int core) const {
  if (core.is_constant() || core.is_poison() || multiples_.empty()) {
    return core;
  }
  Int result = 0;
  for (const Term& term : core.polynomial()->terms) {
    Int rest = from_term(term);
    Int product = 1;
    for (const Multiple& multiple : multiples_) {
      while (const auto quotient = exact_div(rest, multiple.product)) {
        product *= multiple.symbol;
        rest = *quotient;
      }
    }
    // What is left: no product, but perhaps quotients, also inside atoms.
    Int factors = 1;
    for (const Term& single : terms_of(rest)) {
      factors = single.coefficient;
      for (const Factor& factor : single.monomial->factors) {
        Int atom = from_atom(factor.atom);
        if (factor.atom->kind == AtomKind::symbol) {
          for (const Multiple& multiple : multiples_) {
            atom = atom == multiple.quotient ? floordiv(multiple.symbol, multiple.divisor) : atom;
          }
        } else {
          std::vector<Int> arguments;
          for (const Int argument : factor.atom->arguments) {
            arguments.push_back(visible(argument));
          }
          atom = arguments.front();
          for (std::size_t i = 1; i < arguments.size(); ++i) {
            atom =
                factor.atom->kind == AtomKind::max ? max(atom, arguments[i]) : floordiv(atom, arguments[i]);
          }
        }
        factors *= pow(atom, factor.exponent);
      }
    }
    result += product * factors;
  }
  return result;
}

Int Facts::normalise(Int value) const {
  return visible(core(value));
}

Interval Facts::bounds(Int value) const {
  return core_bounds(core(value));
}

Interval Facts::core_bounds(Int core) const {
  Interval result = plain_bounds(core, bounds_);
  if (core.is_constant() || core.is_poison() || nonnegative_.empty()) {
    return result;
  }
  // value = k*fact + rest is at least the least value of rest; -value likewise.
  const std::vector<Term> terms = terms_of(core);
  for (const Int fact : nonnegative_) {
    for (const Term& in_fact : terms_of(fact)) {
      const auto it = std::find_if(terms.begin(), terms.end(),
                                   [&in_fact](const Term& one) { return one.monomial == in_fact.monomial; });
      if (in_fact.monomial->degree == 0 || it == terms.end()) {
        continue;
      }
      const auto times = exact_div(it->coefficient, in_fact.coefficient);
      if (times) {
        const Interval rest = plain_bounds(core - *times * fact, bounds_);
        result = detail::intersect(result, times->value() > 0 ? Interval{rest.lower, std::nullopt}
                                                              : Interval{std::nullopt, rest.upper});
      }
    }
  }
  return result;
}

std::vector<std::string> Facts::to_strings() const {
  if (contradictory_) {
    return {"false"};
  }
  std::vector<std::string> result;
  for (const auto& [symbol, range] : bounds_) {
    // A multiple has the bounds of its quotient.
    if (solved_.contains(symbol) || multiple_of_.contains(symbol) || range == kSize) {
      continue;
    }
    const std::string name = to_string(visible(symbol));
    if (!range.lower) {
      result.push_back(name + " >= -inf");
    } else if (range.lower != kSize.lower) {
      result.push_back(name + " >= " + std::to_string(*range.lower));
    }
    if (range.upper) {
      result.push_back(name + " <= " + std::to_string(*range.upper));
    }
  }
  for (const auto& [symbol, value] : solved_) {
    result.push_back(to_string(symbol) + " == " + to_string(visible(core(value))));
  }
  for (const Multiple& multiple : multiples_) {
    result.push_back(to_string(multiple.symbol) + " % " + in_parentheses(multiple.divisor) + " == 0");
  }
  for (const Int value : zero_) {
    result.push_back(to_string(visible(value)) + " == 0");
  }
  for (const Int value : nonnegative_) {
    result.push_back(to_string(visible(value)) + " >= 0");
  }
  for (const auto& [divisor, dividend] : divides_) {
    result.push_back(in_parentheses(visible(dividend)) + " % " + in_parentheses(visible(divisor)) + " == 0");
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace entangle::sym
