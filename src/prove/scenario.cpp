#include "prove/scenario.h"

#include <algorithm>
#include <map>

#include "entangle/support/text.h"

namespace entangle::prove {

using sym::Int;

namespace {

constexpr std::size_t kSymbols = 24;  // quotients and remainders

}  // namespace

Int Scenario::symbol(std::size_t number, bool size) {
  if (!size && number >= declared_) throw MoreSymbols{};
  const Int symbol = Int::symbol((size ? "n" : "m") + std::to_string(number));
  if (std::ranges::find(symbols_, symbol, &Symbol::symbol) == symbols_.end())
    symbols_.push_back({symbol, size});
  return value(symbol);
}

std::vector<Scenario::Symbol> Scenario::open() const {
  std::vector<Symbol> result;
  for (const Symbol& one : symbols_) {
    if (!solved_.contains(one.symbol)) result.push_back(one);
  }
  return result;
}

bool Scenario::replace(Int symbol, Int value) {
  const sym::Substitution one{{symbol, value}};
  for (auto& [from, to] : solved_) to = sym::substitute(to, one);
  solved_[symbol] = value;
  for (Assumption& assumption : assumptions_) {
    assumption.left = sym::substitute(assumption.left, one);
    assumption.right = sym::substitute(assumption.right, one);
  }
  for (Assumption& assumption : refused_) {
    assumption.left = sym::substitute(assumption.left, one);
    assumption.right = sym::substitute(assumption.right, one);
  }
  std::erase_if(assumptions_, [](const Assumption& assumption) {
    return assumption.relation == Relation::equal && assumption.left == assumption.right;
  });
  const auto place = std::ranges::find(symbols_, symbol, &Symbol::symbol);
  if (place != symbols_.end() && place->size) {
    if (const auto constant = value.constant(); constant && *constant < 1) return false;
    if (!value.constant()) assumptions_.push_back({Relation::less_equal, 1, value});
  }
  // Another equality may have a solution now.
  const auto solved = std::ranges::find_if(assumptions_, [this](const Assumption& assumption) {
    return assumption.relation == Relation::equal &&
           solution(difference(assumption.left, assumption.right)).has_value();
  });
  if (solved == assumptions_.end()) return true;
  const Assumption again = *solved;
  assumptions_.erase(solved);
  return assume(again.relation, again.left, again.right);
}

std::optional<std::pair<Int, Int>> Scenario::solution(Int difference) const {
  const std::vector<Symbol> symbols = open();
  for (std::size_t k = symbols.size(); k-- > 0;) {
    const Int symbol = symbols[k].symbol;
    for (const Int rest : {symbol - difference, symbol + difference}) {
      if (sym::mentions(difference, symbol) && !sym::mentions(rest, symbol)) return std::pair(symbol, rest);
    }
  }
  return std::nullopt;
}

Int Scenario::difference(Int left, Int right) const {
  return sym::without_factors(left - right, [this](Int symbol) {
    const auto place = std::ranges::find(symbols_, symbol, &Symbol::symbol);
    return place != symbols_.end() && place->size;
  });
}

bool Scenario::assume(Relation relation, Int left, Int right) {
  if (relation == Relation::equal) {
    const Int zero = difference(left, right);
    if (const auto constant = zero.constant()) return *constant == 0;
    if (const auto solved = solution(zero)) return replace(solved->first, solved->second);
  }
  if (relation == Relation::divides && right.is_symbol() && !sym::mentions(left, right)) {
    const auto place = std::ranges::find(symbols_, right, &Symbol::symbol);
    if (place != symbols_.end()) {
      const Int quotient = Int::symbol("q" + std::to_string(quotients_++));
      symbols_.push_back({quotient, place->size});
      return replace(right, left * quotient);
    }
  }
  assumptions_.push_back({relation, left, right});
  return true;
}

bool Scenario::refused(const smt::Undecided& question) const {
  return std::ranges::any_of(refused_, [&](const Assumption& one) {
    return one.relation == question.relation && one.left == question.left && one.right == question.right;
  });
}

bool Scenario::may_split() const {
  return quotients_ + 1 < kSymbols;
}

bool Scenario::split(const Quotient& given) {
  const Int quotient = Int::symbol("q" + std::to_string(quotients_));
  const Int rest = Int::symbol("r" + std::to_string(quotients_++));
  symbols_.push_back({quotient, false});
  symbols_.push_back({rest, false});
  assumptions_.push_back({Relation::less_equal, 0, rest});
  assumptions_.push_back({Relation::less_equal, rest + 1, given.divisor});
  const auto place = std::ranges::find(symbols_, given.symbol, &Symbol::symbol);
  if (place != symbols_.end() && place->size) assumptions_.push_back({Relation::less_equal, 0, quotient});
  return replace(given.symbol, given.divisor * quotient + rest);
}

std::vector<Scenario> Scenario::without(const smt::Undecided& question) const {
  std::vector<Scenario> result;
  const auto add = [&](Relation relation, Int left, Int right) {
    Scenario one = *this;
    if (one.assume(relation, left, right)) result.push_back(std::move(one));
  };
  switch (question.relation) {
    case Relation::less_equal:
      add(Relation::less_equal, question.right + 1, question.left);
      break;
    case Relation::equal:
      add(Relation::less_equal, question.left + 1, question.right);
      add(Relation::less_equal, question.right + 1, question.left);
      break;
    case Relation::divides: {
      if (!may_split()) break;
      // A remainder of at least 1.
      Scenario one = *this;
      const Int quotient = Int::symbol("q" + std::to_string(one.quotients_));
      const Int rest = Int::symbol("r" + std::to_string(one.quotients_++));
      // First, so that the equation is solved for another symbol.
      one.symbols_.insert(one.symbols_.begin(), {{quotient, false}, {rest, true}});
      one.assumptions_.push_back({Relation::less_equal, rest + 1, question.left});
      one.refused_.push_back({Relation::divides, question.left, question.right});
      if (one.assume(Relation::equal, question.right, question.left * quotient + rest)) {
        result.push_back(std::move(one));
      }
      break;
    }
  }
  return result;
}

bool Scenario::admits(const sym::Valuation& values) const {
  for (const Symbol& one : open()) {
    if (one.size && values.at(one.symbol) < 1) return false;
  }
  return std::ranges::all_of(assumptions_, [&](const Assumption& one) {
    const auto l = sym::evaluate(one.left, values);
    const auto r = sym::evaluate(one.right, values);
    if (!l || !r) return false;
    switch (one.relation) {
      case Relation::equal:
        return *l == *r;
      case Relation::less_equal:
        return *l <= *r;
      default:
        return *l != 0 && *r % *l == 0;
    }
  });
}

std::optional<Scenario> Scenario::at(const sym::Valuation& values) const {
  Scenario result = *this;
  for (const Symbol& one : open()) {
    if (!result.replace(one.symbol, values.at(one.symbol))) return std::nullopt;
  }
  return result;
}

// Sizes need no declaration; everything else must be known not to be one before it is first asked about.
sym::Facts Scenario::facts() const {
  thread_local std::map<std::size_t, sym::Facts> declared;
  auto [at, added] = declared.try_emplace(declared_);
  if (added) {
    for (std::size_t k = 0; k < declared_; ++k)
      at->second.declare_symbol("m" + std::to_string(k), std::nullopt);
  }
  sym::Facts facts = at->second;
  for (std::size_t k = 0; k < quotients_; ++k) {
    for (const char* kind : {"q", "r"}) facts.declare_symbol(kind + std::to_string(k), std::nullopt);
  }
  for (const Symbol& one : open()) {
    if (one.size && one.symbol.name().front() != 'n') facts.add_le(1, one.symbol);
  }
  for (const Assumption& assumption : assumptions_) {
    switch (assumption.relation) {
      case Relation::equal:
        facts.add_equal(assumption.left, assumption.right);
        break;
      case Relation::less_equal:
        facts.add_le(assumption.left, assumption.right);
        break;
      case Relation::divides:
        facts.add_divides(assumption.left, assumption.right);
        break;
    }
  }
  return facts;
}

std::string Scenario::to_string() const {
  std::vector<std::string> parts;
  for (const Assumption& assumption : assumptions_) {
    const char* relation = assumption.relation == Relation::equal        ? " == "
                           : assumption.relation == Relation::less_equal ? " <= "
                                                                         : " divides ";
    parts.push_back(sym::to_string(assumption.left) + relation + sym::to_string(assumption.right));
  }
  return support::join(parts, ", ");
}

}  // namespace entangle::prove
