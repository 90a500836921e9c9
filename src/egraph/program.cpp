#include "egraph/program.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "egraph/run.h"

namespace entangle::egraph {

using rules::Expr;
using rules::ExprKind;

void collect_needs(const Expr& pattern, std::vector<rules::OpId>& out) {
  for (const Expr& arg : pattern.args) {
    switch (arg.kind) {
      case ExprKind::apply:
        out.push_back(arg.op);
        break;
      case ExprKind::star:
      case ExprKind::list:
        collect_needs(arg, out);
        break;
      case ExprKind::comprehension:
        if (arg.args[0].kind == ExprKind::apply) {
          out.push_back(arg.args[0].op);
        }
        break;
      default:
        break;
    }
  }
}

namespace {

bool is_pattern(const Expr& expr) {
  return expr.kind == ExprKind::apply ||
         (expr.kind == ExprKind::generic && expr.args.size() == 1 && expr.shift == rules::Shift::none);
}

// How many applications are nested in an expression.
unsigned nesting(const Expr& expr) {
  unsigned deepest = 0;
  for (const Expr& arg : expr.args) {
    deepest = std::max(deepest, nesting(arg));
  }
  return deepest + (expr.kind == ExprKind::apply || expr.kind == ExprKind::generic ? 1 : 0);
}

void collect_patterns(const Expr& expr, std::set<std::string>& out) {
  if (expr.kind == ExprKind::apply || expr.kind == ExprKind::generic) {
    out.insert(rules::to_string(expr));
  }
  for (const Expr& arg : expr.args) {
    collect_patterns(arg, out);
  }
}

// Whether the value of an expression depends on nothing but classes that the match has visited (and what is
// `extra` levels below them).
class Locality {
 public:
  explicit Locality(const Rule& rule) : rule_(rule) {}

  unsigned extra() const { return extra_; }

  bool local(const Expr& expr, bool building) {
    switch (expr.kind) {
      case ExprKind::predicate:
        return false;
      case ExprKind::has:
        extra_ =
            std::max(extra_, nesting(expr.args[1]) + (expr.args.size() > 2 ? nested_has(expr.args[2]) : 0));
        if (!visited(expr.args[0])) {
          return false;
        }
        return expr.args.size() < 3 || local(expr.args[2], building);
      case ExprKind::call:
        switch (expr.builtin) {
          case rules::Builtin::tiling:
            return false;
          case rules::Builtin::named:
          case rules::Builtin::constant:
          case rules::Builtin::defined:
          case rules::Builtin::uniform:
          case rules::Builtin::interval_low:
          case rules::Builtin::interval_high:
            return !expr.args.empty() && visited(expr.args[0]);
          default:
            break;
        }
        break;
      default:
        break;
    }
    // An application that is built depends on nothing else.
    const auto part = [&](const Expr& arg) { return local(arg, building); };
    return std::all_of(expr.args.begin(), expr.args.end(), part) &&
           std::all_of(expr.attrs.begin(), expr.attrs.end(), part);
  }

 private:
  bool visited(const Expr& term) {
    if (nesting(term) == 0) {
      return true;
    }
    if (matched_.empty()) {
      for (const Goal& goal : rule_.goals) {
        collect_patterns(*goal.pattern, matched_);
      }
    }
    return matched_.count(rules::to_string(term)) != 0;
  }
  static unsigned nested_has(const Expr& expr) {
    unsigned deepest = expr.kind == ExprKind::has ? nesting(expr.args[1]) : 0;
    for (const Expr& arg : expr.args) {
      deepest = std::max(deepest, nested_has(arg));
    }
    return deepest;
  }

  const Rule& rule_;
  std::set<std::string> matched_;  // the patterns of the rule, once they are asked for
  unsigned extra_ = 0;
};

void find_reach(Rule& rule) {
  const rules::Lemma& lemma = *rule.lemma;
  for (const Goal& goal : rule.goals) {
    rule.depth = std::max(rule.depth, nesting(*goal.pattern));
  }
  std::size_t anywhere = 0;
  for (const Goal& goal : rule.goals) {
    anywhere += goal.same_class ? 0 : 1;
  }
  Locality locality(rule);
  const auto is_local = [&](const Expr& expr) { return locality.local(expr, true); };
  rule.local = anywhere == 1 && std::all_of(lemma.when.begin(), lemma.when.end(), is_local) &&
               std::all_of(lemma.trigger.begin(), lemma.trigger.end(), is_local) && is_local(*rule.right) &&
               (rule.left_is_goal || is_local(*rule.left));
  rule.depth += locality.extra();
}

// Whether an expression depends on shapes, types and attributes only.
bool is_pure(const Expr& expr) {
  if (expr.kind == ExprKind::has || expr.kind == ExprKind::predicate || expr.kind == ExprKind::others ||
      expr.kind == ExprKind::apply || expr.kind == ExprKind::generic) {
    return false;
  }
  if (expr.kind == ExprKind::call) {
    switch (expr.builtin) {
      case rules::Builtin::full:
      case rules::Builtin::full_like:
      case rules::Builtin::reshape:
      case rules::Builtin::broadcast_to:
      case rules::Builtin::fresh:
      case rules::Builtin::tiling:
      case rules::Builtin::named:
      case rules::Builtin::constant:
      case rules::Builtin::defined:
      case rules::Builtin::uniform:
      case rules::Builtin::interval_low:
      case rules::Builtin::interval_high:
        return false;
      default:
        break;
    }
  }
  return std::all_of(expr.args.begin(), expr.args.end(), is_pure) &&
         std::all_of(expr.attrs.begin(), expr.attrs.end(), is_pure);
}

// The rule of a lemma read from left to right, or from right to left; no goals: it cannot be read that way.
Rule compile(const rules::Lemma& lemma, std::uint32_t index, bool backwards) {
  Rule rule;
  rule.index = index;
  rule.lemma = &lemma;
  rule.left = backwards ? &lemma.right : &lemma.left;
  rule.right = backwards ? &lemma.left : &lemma.right;
  for (const rules::Given& given : lemma.given) {
    // Of two patterns in one class, the one that says where to look comes first.
    const Expr* first = &given.pattern;
    const Expr* second = given.equal_to ? &*given.equal_to : nullptr;
    if (second != nullptr && !is_pattern(*first) && is_pattern(*second)) {
      std::swap(first, second);
    }
    rule.goals.push_back({first, false});
    if (second != nullptr) {
      rule.goals.push_back({second, true});
    }
  }
  rule.left_is_goal = is_pattern(*rule.left);
  if (rule.left_is_goal) {
    rule.goals.push_back({rule.left, false});
  }
  if (rule.goals.empty() || !is_pattern(*rule.goals[0].pattern) || (backwards && !rule.left_is_goal)) {
    rule.goals.clear();
    return rule;
  }
  find_reach(rule);
  rule.pure = std::all_of(lemma.when.begin(), lemma.when.end(), is_pure);
  collect_needs(*rule.goals[0].pattern, rule.needs);
  return rule;
}

}  // namespace

Program::Program(const rules::RuleSet& rules) : impl_(std::make_unique<Impl>(rules)) {
  impl_->by_op.resize(rules.operators().size());
  for (std::uint32_t index = 0; index < rules.lemmas().size(); ++index) {
    const rules::Lemma& lemma = rules.lemmas()[index];
    for (const bool backwards : {false, true}) {
      if (backwards && lemma.direction != rules::Direction::both) {
        continue;
      }
      Rule rule = compile(lemma, index, backwards);
      if (rule.goals.empty()) {
        continue;
      }
      const auto number = static_cast<std::uint32_t>(impl_->all.size());
      const Expr& root = *rule.goals[0].pattern;
      if (root.kind == ExprKind::apply) {
        impl_->by_op[root.op].push_back(number);
      } else if (lemma.generic) {
        for (const rules::Operator& op : rules.operators()) {
          if (has_trait(op, lemma.generic->trait)) {
            impl_->by_op[op.id].push_back(number);
          }
        }
      }
      if (rule.local) {
        impl_->deepest = std::max(impl_->deepest, rule.depth);
      }
      impl_->all.push_back(std::move(rule));
    }
  }
}
Program::~Program() = default;

}  // namespace entangle::egraph
