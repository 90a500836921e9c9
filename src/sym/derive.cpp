// Facts::Builder: what follows from the statements, in solved form.
#include "derive.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "entangle/sym/facts.h"
#include "polynomial.h"

namespace entangle::sym {

namespace detail {

Interval plain_bounds(Int core, const std::unordered_map<Int, Interval>& bounds) {
  return detail::bounds_of(core, [&bounds](Int symbol) {
    const auto it = bounds.find(symbol);
    return it == bounds.end() ? kSize : it->second;
  });
}

std::string in_parentheses(Int value) {
  const std::string text = to_string(value);
  return value.is_symbol() || value.is_constant() ? text : "(" + text + ")";
}

}  // namespace detail

using detail::in_parentheses;
using detail::kSize;
using detail::plain_bounds;

class Facts::Builder {
 public:
  explicit Builder(Facts* facts) : facts_(*facts) {}

  void run() {
    // Each round but the last solves for at least one more symbol.
    do {
      solve_equalities();
      if (!facts_.contradictory_) {
        find_multiples();
      }
      if (!facts_.contradictory_) {
        find_bounds();
      }
    } while (!facts_.contradictory_ && solve_fixed());
    if (!facts_.contradictory_) {
      keep_the_rest();
    }
  }

 private:
  void contradiction() { facts_.contradictory_ = true; }

  Interval declared(Int symbol) const {
    for (const auto& [name, lower] : facts_.declared_) {
      if (name == symbol) {
        return {lower, std::nullopt};
      }
    }
    return kSize;
  }

  void solve_equalities() {
    bool changed = true;
    while (changed && !facts_.contradictory_) {
      changed = false;
      for (const Statement& statement : facts_.statements_) {
        if (statement.relation == Relation::equal && solve(statement.left - statement.right)) {
          changed = true;
        }
      }
    }
  }

  // Said to be: bounds that follow otherwise are found later.
  bool positive(Int symbol) const {
    const Interval range = declared(symbol);
    return (range.lower && *range.lower >= 1) ||
           std::ranges::any_of(facts_.statements_, [&](const Statement& statement) {
             return statement.relation == Relation::less_equal && statement.right == symbol &&
                    statement.left.is_constant() && statement.left.value() >= 1;
           });
  }

  // Solves `value == 0` for a symbol, if there is one; returns whether it did.
  bool solve(Int value) {
    value = substitute(value, facts_.solved_);
    if (value.is_poison()) {
      return false;
    }
    value = without_factors(value, [this](Int symbol) { return positive(symbol); });
    if (value.is_constant()) {
      if (value.value() != 0) {
        contradiction();
      }
      return false;
    }
    const std::int64_t constant = constant_term(value);
    const std::int64_t common = content(value - Int(constant));
    if (common > 1) {
      if (constant % common != 0) {
        contradiction();
        return false;
      }
      value = exact_div(value, common).value();
    }
    const std::vector<Int> symbols = symbols_of(value);
    for (auto it = symbols.rbegin(); it != symbols.rend(); ++it) {
      for (const std::int64_t sign : {1, -1}) {
        const Int other = value - Int(sign) * *it;
        const Int solution = Int(-sign) * other;
        if (!solution.is_poison() && !mentions(other, *it)) {
          set(*it, solution);
          return true;
        }
      }
    }
    return false;
  }

  void set(Int symbol, Int value) {
    for (auto& [key, solution] : facts_.solved_) {
      solution = substitute(solution, {{symbol, value}});
    }
    facts_.solved_[symbol] = value;
  }

  Int solved(Int value) const { return substitute(value, facts_.solved_); }

  void find_multiples() {
    facts_.multiples_.clear();
    facts_.multiple_of_.clear();
    divides_.clear();
    // Constant divisors first: those of one symbol become their least common multiple.
    std::map<Int, std::int64_t, ContentLess> constant_divisors;
    std::vector<std::pair<Int, Int>> others;
    for (const Statement& statement : facts_.statements_) {
      if (statement.relation != Relation::divides) {
        continue;
      }
      Int divisor = solved(statement.left);
      Int dividend = solved(statement.right);
      if (divisor == Int(0)) {
        contradiction();
        return;
      }
      if (divisor.is_constant() && divisor.value() < 0) {
        divisor = -divisor;
      }
      if (divisor.is_poison() || dividend.is_poison() || exact_div(dividend, divisor)) {
        continue;
      }
      if (!divisor.is_constant()) {
        others.emplace_back(divisor, dividend);
        continue;
      }
      if (dividend.is_constant()) {
        contradiction();
        return;
      }
      const std::int64_t common = content(dividend);
      const std::int64_t shared = detail::gcd_of(common, divisor.value());
      divisor = floordiv(divisor, Int(shared));
      const Int reduced = exact_div(dividend, common).value();
      // What is left of the content is prime to what is left of the divisor.
      const Int symbol = reduced.is_symbol() ? reduced : -reduced;
      if (!divisor.is_constant() || !symbol.is_symbol()) {
        others.emplace_back(divisor, exact_div(dividend, shared).value());
        continue;
      }
      const auto [it, added] = constant_divisors.try_emplace(symbol, divisor.value());
      if (!added) {
        const Int multiple = Int(it->second / std::gcd(it->second, divisor.value())) * divisor;
        if (multiple.is_constant()) {
          it->second = multiple.value();
        } else {
          others.emplace_back(divisor, symbol);
        }
      }
    }
    for (const auto& [symbol, divisor] : constant_divisors) {
      add_multiple(symbol, divisor);
    }
    for (const auto& [divisor, dividend] : others) {
      const Int expanded = substitute(divisor, facts_.multiple_of_);
      if (!divisor.is_constant() && dividend.is_symbol() && !facts_.multiple_of_.contains(dividend) &&
          !mentions(expanded, dividend)) {
        add_multiple(dividend, divisor);
      } else {
        divides_.emplace_back(divisor, dividend);
      }
    }
    // Those that are built from others come first, so that visible() undoes them in that order.
    std::sort(facts_.multiples_.begin(), facts_.multiples_.end(), [](const Multiple& a, const Multiple& b) {
      const auto degree = [](const Multiple& one) { return terms_of(one.product).front().monomial->degree; };
      return degree(a) != degree(b) ? degree(a) > degree(b) : compare(a.symbol, b.symbol) < 0;
    });
  }

  void add_multiple(Int symbol, Int divisor) {
    const Int quotient = Int::symbol("(" + to_string(symbol) + "//" + in_parentheses(divisor) + ")");
    const Int product = substitute(divisor, facts_.multiple_of_) * quotient;
    std::vector<Int> products;
    for (const Multiple& other : facts_.multiples_) {
      products.push_back(substitute(other.product, {{symbol, product}}));
    }
    if (product.is_poison() || std::ranges::any_of(products, &Int::is_poison)) {
      divides_.emplace_back(divisor, symbol);
      return;
    }
    for (std::size_t i = 0; i < products.size(); ++i) {
      facts_.multiples_[i].product = products[i];
      facts_.multiple_of_[facts_.multiples_[i].symbol] = products[i];
    }
    facts_.multiples_.push_back({symbol, divisor, quotient, product});
    facts_.multiple_of_[symbol] = product;
  }

  void find_bounds() {
    facts_.bounds_.clear();
    nonnegative_.clear();
    zero_.clear();
    for (const auto& [symbol, lower] : facts_.declared_) {
      facts_.bounds_[symbol] = {lower, std::nullopt};
    }
    for (const Multiple& multiple : facts_.multiples_) {
      const Interval symbol = declared(multiple.symbol);
      const Interval divisor = plain_bounds(solved(multiple.divisor), facts_.bounds_);
      Interval& quotient = facts_.bounds_[multiple.quotient];
      quotient = {};
      if (symbol.lower && divisor.lower && *divisor.lower >= 1 && *symbol.lower >= 0) {
        quotient.lower = *symbol.lower > 0 ? 1 : 0;
      }
      // Where the divisor is a constant this is a bound of the quotient.
      if (symbol.lower) {
        nonnegative_.push_back(multiple.product - Int(*symbol.lower));
      }
    }
    for (const auto& [symbol, value] : facts_.solved_) {
      if (const Interval range = declared(symbol); range.lower) {
        nonnegative_.push_back(facts_.core(value - Int(*range.lower)));
      }
    }
    for (const Statement& statement : facts_.statements_) {
      const Int difference = facts_.core(statement.right - statement.left);
      if (statement.relation == Relation::less_equal) {
        nonnegative_.push_back(difference);
      } else if (statement.relation == Relation::equal) {
        zero_.push_back(difference);
      }
    }
    tidy(&nonnegative_);
    tidy(&zero_);
    constexpr int kRounds = 8;
    bool changed = true;
    for (int round = 0; round < kRounds && changed && !facts_.contradictory_; ++round) {
      changed = false;
      for (const Int value : nonnegative_) {
        changed |= propagate(value);
      }
      for (const Int value : zero_) {
        changed |= propagate(value);
        changed |= propagate(-value);
      }
    }
  }

  static void tidy(std::vector<Int>* values) {
    std::erase_if(*values, [](Int value) { return value.is_poison(); });
    std::sort(values->begin(), values->end(), ContentLess());
    values->erase(std::unique(values->begin(), values->end()), values->end());
  }

  // From value >= 0, bounds of the symbols that occur in it linearly.
  bool propagate(Int value) {
    if (value.is_poison()) {
      return false;
    }
    if (const Interval range = plain_bounds(value, facts_.bounds_); range.upper && *range.upper < 0) {
      contradiction();
      return false;
    }
    bool changed = false;
    for (const Term& term : terms_of(value)) {
      const Int symbol = from_term({1, term.monomial});
      if (!symbol.is_symbol()) {
        continue;
      }
      const Int rest = value - from_term(term);
      if (rest.is_poison() || mentions(rest, symbol)) {
        continue;
      }
      // coefficient*symbol >= -rest
      const Interval range = plain_bounds(-rest, facts_.bounds_);
      constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
      if (!range.lower || *range.lower == kLeast || term.coefficient == kLeast) {
        continue;
      }
      Interval bound;
      if (term.coefficient > 0) {
        bound.lower = detail::ceiling_quotient(*range.lower, term.coefficient);
      } else {
        bound.upper = detail::floor_quotient(*range.lower, term.coefficient);
      }
      const auto it = facts_.bounds_.find(symbol);
      const Interval known = it == facts_.bounds_.end() ? kSize : it->second;
      const Interval now = detail::intersect(known, bound);
      if (now != known) {
        facts_.bounds_[symbol] = now;
        changed = true;
      }
      if (now.lower && now.upper && *now.lower > *now.upper) {
        contradiction();
        return false;
      }
    }
    return changed;
  }

  // Symbols with one possible value are solved for.
  bool solve_fixed() {
    std::vector<std::pair<Int, Int>> fixed;
    for (const auto& [symbol, range] : facts_.bounds_) {
      if (range.lower && range.lower == range.upper) {
        fixed.emplace_back(symbol, *range.lower);
      }
    }
    std::sort(fixed.begin(), fixed.end(),
              [](const auto& a, const auto& b) { return compare(a.first, b.first) < 0; });
    bool changed = false;
    for (const auto& [symbol, value] : fixed) {
      Int target = symbol;
      Int solution = value;
      for (const Multiple& multiple : facts_.multiples_) {
        if (multiple.quotient == symbol) {
          target = multiple.symbol;
          solution = multiple.divisor * value;
        }
      }
      if (!facts_.solved_.contains(target) && !solution.is_poison() && !mentions(solution, target)) {
        set(target, solved(solution));
        changed = true;
      }
    }
    return changed;
  }

  void keep_the_rest() {
    for (const Int value : nonnegative_) {
      if (const Interval range = plain_bounds(value, facts_.bounds_); !range.lower || *range.lower < 0) {
        facts_.nonnegative_.push_back(value);
      }
    }
    for (const Int value : zero_) {
      if (!plain_bounds(value, facts_.bounds_).contains(0)) {
        contradiction();
      } else if (value != Int(0)) {
        facts_.zero_.push_back(value);
      }
    }
    for (const auto& [divisor, dividend] : divides_) {
      const Int d = substitute(divisor, facts_.multiple_of_);
      const Int n = substitute(dividend, facts_.multiple_of_);
      const std::pair fact(d, n);
      if (!d.is_poison() && !n.is_poison() && !exact_div(n, d) &&
          std::find(facts_.divides_.begin(), facts_.divides_.end(), fact) == facts_.divides_.end()) {
        facts_.divides_.push_back(fact);
      }
    }
    std::sort(facts_.divides_.begin(), facts_.divides_.end(), [](const auto& a, const auto& b) {
      const auto order = compare(a.first, b.first);
      return order != 0 ? order < 0 : compare(a.second, b.second) < 0;
    });
  }

  Facts& facts_;
  std::vector<Int> nonnegative_;
  std::vector<Int> zero_;
  std::vector<std::pair<Int, Int>> divides_;
};

void Facts::rebuild() {
  contradictory_ = false;
  solved_.clear();
  multiples_.clear();
  multiple_of_.clear();
  bounds_.clear();
  zero_.clear();
  nonnegative_.clear();
  divides_.clear();
  Builder(this).run();
}

}  // namespace entangle::sym
