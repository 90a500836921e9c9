#include "entangle/smt/bounds.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

namespace entangle::smt {
namespace {

using Bound = std::optional<mpz_class>;  // none: infinite

struct Range {
  Bound low, high;
};

Bound add(const Bound& a, const Bound& b) {
  return a && b ? Bound(mpz_class(*a + *b)) : std::nullopt;
}

Range add(const Range& a, const Range& b) {
  return {add(a.low, b.low), add(a.high, b.high)};
}

Range times(const Range& a, const mpz_class& factor) {
  const auto scaled = [&](const Bound& bound) {
    return bound ? Bound(mpz_class(*bound * factor)) : std::nullopt;
  };
  if (factor == 0) {
    return {mpz_class(0), mpz_class(0)};
  }
  return factor > 0 ? Range{scaled(a.low), scaled(a.high)} : Range{scaled(a.high), scaled(a.low)};
}

Range hull(const Range& a, const Range& b) {
  return {a.low && b.low ? Bound(std::min(*a.low, *b.low)) : std::nullopt,
          a.high && b.high ? Bound(std::max(*a.high, *b.high)) : std::nullopt};
}

std::optional<mpz_class> integer_constant(const Term& term) {
  if (term.kind() != Kind::constant || term.sort() != Sort::integer) {
    return std::nullopt;
  }
  return term.as_rational()->get_num();
}

// What is known in one case.
struct Case {
  std::unordered_map<Term, Range> known;
};

class Bounds {
 public:
  Range range(const Term& term, const Case& in) {
    if (++asked_ > kMostQuestions) {
      return {};
    }
    if (const auto constant = integer_constant(term)) {
      return {*constant, *constant};
    }
    switch (term.kind()) {
      case Kind::add: {
        Range total{mpz_class(0), mpz_class(0)};
        for (const Term& part : term.arguments()) {
          total = add(total, range(part, in));
        }
        return total;
      }
      case Kind::multiply: {
        if (const auto choice = choice_in(term); choice && !constant_but_for(term, *choice)) {
          return over_branches(term, *choice, in);
        }
        mpz_class factor = 1;
        std::optional<Range> rest;
        for (const Term& part : term.arguments()) {
          if (const auto constant = integer_constant(part)) {
            factor *= *constant;
          } else if (rest) {
            return known(term, in);
          } else {
            rest = range(part, in);
          }
        }
        return times(rest.value_or(Range{mpz_class(1), mpz_class(1)}), factor);
      }
      case Kind::ite: {
        std::optional<Range> all;
        for (const bool truth : {true, false}) {
          for (const Case& one : cases(term.arguments()[0], truth, in)) {
            const Range part = range(term.arguments()[truth ? 1 : 2], one);
            all = all ? hull(*all, part) : part;
          }
        }
        return all.value_or(Range{});
      }
      default:
        return known(term, in);
    }
  }

  bool holds(const Term& stated, const Case& in) {
    const Term goal = over_integers(stated);
    switch (goal.kind()) {
      case Kind::constant:
        return goal.is_true();
      case Kind::logical_and:
        return std::ranges::all_of(goal.arguments(), [&](const Term& part) { return holds(part, in); });
      case Kind::less:
      case Kind::less_equal: {
        if (goal.arguments()[0].sort() != Sort::integer || goal.arguments()[1].sort() != Sort::integer) {
          return false;
        }
        const Range difference = range(goal.arguments()[1] - goal.arguments()[0], in);
        return difference.low && *difference.low >= (goal.kind() == Kind::less ? 1 : 0);
      }
      default:
        // Every case in which it does not hold is impossible.
        return cases(goal, false, in).empty();
    }
  }

  // The possible cases in which a condition has a truth value; together they cover all there are.
  std::vector<Case> cases(const Term& stated, bool truth, const Case& in) {
    if (++asked_ > kMostQuestions) {
      return {in};  // still all there are
    }
    const Term condition = over_integers(stated);
    switch (condition.kind()) {
      case Kind::constant:
        return condition.is_true() == truth ? std::vector<Case>{in} : std::vector<Case>{};
      case Kind::logical_not:
        return cases(condition.arguments()[0], !truth, in);
      case Kind::logical_and:
      case Kind::logical_or: {
        const auto& parts = condition.arguments();
        if ((condition.kind() == Kind::logical_and) == truth) {
          std::vector<Case> result{in};
          for (const Term& part : parts) {
            std::vector<Case> next;
            for (const Case& one : result) {
              std::ranges::move(cases(part, truth, one), std::back_inserter(next));
            }
            result = std::move(next);
            if (result.size() > kMostCases) {
              return {in};
            }
          }
          return result;
        }
        // One part has the value and those before it do not: cases that exclude each other.
        std::vector<Case> result;
        std::vector<Case> before{in};
        for (const Term& part : parts) {
          std::vector<Case> next;
          for (const Case& one : before) {
            std::ranges::move(cases(part, truth, one), std::back_inserter(result));
            std::ranges::move(cases(part, !truth, one), std::back_inserter(next));
          }
          before = std::move(next);
          if (result.size() + before.size() > kMostCases) {
            return {in};
          }
        }
        return result;
      }
      case Kind::less:
      case Kind::less_equal:
      case Kind::equal:
        if (const auto choice = choice_in(condition)) {
          std::vector<Case> result;
          for (const bool chosen : {true, false}) {
            const Term& arm = condition.arguments()[*choice];
            const Term branch = with(condition, *choice, arm.arguments()[chosen ? 1 : 2]);
            if (branch.kind() == Kind::constant && branch.is_true() != truth) {
              continue;
            }
            for (const Case& one : cases(arm.arguments()[0], chosen, in)) {
              std::ranges::move(cases(branch, truth, one), std::back_inserter(result));
            }
          }
          return result.size() > kMostCases ? std::vector<Case>{in} : result;
        }
        if (condition.kind() != Kind::equal) {
          return order(condition, truth, in);
        }
        if (condition.arguments()[0].sort() == Sort::integer &&
            condition.arguments()[1].sort() == Sort::integer && truth) {
          std::vector<Case> result;
          for (const Case& one : order(condition.arguments()[0] <= condition.arguments()[1], true, in)) {
            std::ranges::move(order(condition.arguments()[1] <= condition.arguments()[0], true, one),
                              std::back_inserter(result));
          }
          return result;
        }
        [[fallthrough]];
      default:
        return {in};
    }
  }

 private:
  static constexpr std::size_t kMostCases = 64;
  // Choices inside choices can take exponentially many: then nothing is shown.
  static constexpr std::size_t kMostQuestions = 20000;

  // A comparison of reals that are made of integers, as one of integers; any other term as it is.
  Term over_integers(const Term& term) {
    const bool comparison =
        term.kind() == Kind::less || term.kind() == Kind::less_equal || term.kind() == Kind::equal;
    if (!comparison || term.arguments()[0].sort() != Sort::real) {
      return term;
    }
    const std::optional<Term> left = integral(term.arguments()[0]);
    const std::optional<Term> right = left ? integral(term.arguments()[1]) : std::nullopt;
    if (!right) {
      return term;
    }
    return term.kind() == Kind::less    ? *left < *right
           : term.kind() == Kind::equal ? eq(*left, *right)
                                        : *left <= *right;
  }

  // The integer term of the same value: sums, products and choices of integers that were turned into reals.
  std::optional<Term> integral(const Term& real) {
    if (real.sort() == Sort::integer) {
      return real;
    }
    if (const auto known = integral_.find(real); known != integral_.end()) {
      return known->second;
    }
    std::optional<Term> result;
    std::vector<Term> parts;
    const auto convert = [&](std::size_t first) {
      for (std::size_t k = first; k < real.arguments().size(); ++k) {
        const std::optional<Term> part = integral(real.arguments()[k]);
        if (!part) {
          return false;
        }
        parts.push_back(*part);
      }
      return true;
    };
    switch (real.kind()) {
      case Kind::constant:
        if (const auto value = real.as_rational(); value && value->get_den() == 1) {
          result = Term::integer(mpz_class(value->get_num()));
        }
        break;
      case Kind::to_real:
        result = real.arguments()[0];
        break;
      case Kind::add:
        if (convert(0)) {
          result = sum(std::move(parts));
        }
        break;
      case Kind::multiply:
        if (convert(0)) {
          result = product(std::move(parts));
        }
        break;
      case Kind::ite:
        if (convert(1)) {
          result = ite(real.arguments()[0], parts[0], parts[1]);
        }
        break;
      default:
        break;
    }
    integral_.emplace(real, result);
    return result;
  }

  // The first argument that is a choice between integers.
  static std::optional<std::size_t> choice_in(const Term& term) {
    for (std::size_t k = 0; k < term.arguments().size(); ++k) {
      if (term.arguments()[k].kind() == Kind::ite && term.arguments()[k].sort() == Sort::integer) {
        return k;
      }
    }
    return std::nullopt;
  }

  static bool constant_but_for(const Term& term, std::size_t place) {
    for (std::size_t k = 0; k < term.arguments().size(); ++k) {
      if (k != place && !integer_constant(term.arguments()[k])) {
        return false;
      }
    }
    return true;
  }

  // The term with another argument in that place: a comparison or a product.
  static Term with(const Term& term, std::size_t place, const Term& argument) {
    std::vector<Term> arguments = term.arguments();
    arguments[place] = argument;
    switch (term.kind()) {
      case Kind::less:
        return arguments[0] < arguments[1];
      case Kind::less_equal:
        return arguments[0] <= arguments[1];
      case Kind::equal:
        return eq(arguments[0], arguments[1]);
      default:
        return product(std::move(arguments));
    }
  }

  Range over_branches(const Term& term, std::size_t place, const Case& in) {
    const Term& choice = term.arguments()[place];
    std::optional<Range> all;
    for (const bool truth : {true, false}) {
      const Term branch = with(term, place, choice.arguments()[truth ? 1 : 2]);
      for (const Case& one : cases(choice.arguments()[0], truth, in)) {
        const Range part = range(branch, one);
        all = all ? hull(*all, part) : part;
      }
    }
    return all.value_or(Range{});
  }

  Range known(const Term& term, const Case& in) {
    const auto it = in.known.find(term);
    return it == in.known.end() ? Range{} : it->second;
  }

  // a < b or a <= b, or its negation: every part of b - a is bounded by the others.
  std::vector<Case> order(const Term& condition, bool truth, const Case& in) {
    const bool strict = (condition.kind() == Kind::less) == truth;
    const Term& a = condition.arguments()[truth ? 0 : 1];
    const Term& b = condition.arguments()[truth ? 1 : 0];
    if (a.sort() != Sort::integer || b.sort() != Sort::integer) {
      return {in};
    }
    // sum of coefficient * part + constant >= 0
    std::vector<std::pair<Term, mpz_class>> parts;
    mpz_class constant = strict ? -1 : 0;
    collect(b, 1, parts, constant);
    collect(a, -1, parts, constant);
    Case result = in;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      Range others{constant, constant};
      for (std::size_t j = 0; j < parts.size(); ++j) {
        if (j != k) {
          others = add(others, times(range(parts[j].first, in), parts[j].second));
        }
      }
      if (!others.high) {
        continue;
      }
      // coefficient * part >= -others.high
      Range& mine = result.known.emplace(parts[k].first, known(parts[k].first, in)).first->second;
      const mpz_class limit = -*others.high;
      mpz_class quotient;
      if (parts[k].second > 0) {
        mpz_cdiv_q(quotient.get_mpz_t(), limit.get_mpz_t(), parts[k].second.get_mpz_t());
        mine.low = mine.low ? std::max(*mine.low, quotient) : quotient;
      } else {
        mpz_fdiv_q(quotient.get_mpz_t(), limit.get_mpz_t(), parts[k].second.get_mpz_t());
        mine.high = mine.high ? std::min(*mine.high, quotient) : quotient;
      }
      if (mine.low && mine.high && *mine.low > *mine.high) {
        return {};
      }
    }
    if (parts.empty() && constant < 0) {
      return {};
    }
    // A condition on terms that have a range of their own may contradict it.
    Range total{constant, constant};
    for (const auto& [part, coefficient] : parts) {
      total = add(total, times(range(part, in), coefficient));
    }
    return total.high && *total.high < 0 ? std::vector<Case>{} : std::vector<Case>{result};
  }

  static void collect(const Term& term, const mpz_class& factor,
                      std::vector<std::pair<Term, mpz_class>>& parts, mpz_class& constant) {
    if (const auto value = integer_constant(term)) {
      constant += factor * *value;
      return;
    }
    if (term.kind() == Kind::add) {
      for (const Term& part : term.arguments()) {
        collect(part, factor, parts, constant);
      }
      return;
    }
    if (term.kind() == Kind::multiply && term.arguments().size() == 2) {
      for (const int k : {0, 1}) {
        if (const auto value = integer_constant(term.arguments()[k])) {
          collect(term.arguments()[1 - k], factor * *value, parts, constant);
          return;
        }
      }
    }
    const auto same = std::ranges::find(parts, term, &std::pair<Term, mpz_class>::first);
    if (same != parts.end()) {
      same->second += factor;
    } else {
      parts.emplace_back(term, factor);
    }
    std::erase_if(parts, [](const auto& part) { return part.second == 0; });
  }

  std::size_t asked_ = 0;
  std::unordered_map<Term, std::optional<Term>> integral_;
};

}  // namespace

bool follows_by_bounds(const std::vector<Term>& facts, const Term& goal) {
  Bounds bounds;
  std::vector<Case> cases = bounds.cases(all_of(facts), true, {});
  return std::ranges::all_of(cases, [&](const Case& one) { return bounds.holds(goal, one); });
}

}  // namespace entangle::smt
