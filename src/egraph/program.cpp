#include "egraph/program.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "egraph/run.h"

namespace entangle::egraph {

using rules::Expr;
using rules::ExprKind;

namespace {

// The parts of a pattern that are matched once, so that the same text elsewhere means the same class.
void find_parts(const Expr& pattern, std::vector<const Expr*>& out) {
  switch (pattern.kind) {
    case ExprKind::apply:
    case ExprKind::generic:
      out.push_back(&pattern);
      break;
    case ExprKind::star:
    case ExprKind::list:
      break;
    default:
      return;
  }
  for (const Expr& arg : pattern.args) {
    find_parts(arg, out);
  }
}

}  // namespace

bool makes_terms(rules::Builtin builtin) {
  using rules::Builtin;
  return builtin == Builtin::full || builtin == Builtin::full_like || builtin == Builtin::reshape ||
         builtin == Builtin::broadcast_to || builtin == Builtin::fresh;
}

bool asks_class(rules::Builtin builtin) {
  using rules::Builtin;
  return builtin == Builtin::named || builtin == Builtin::constant || builtin == Builtin::defined ||
         builtin == Builtin::uniform || builtin == Builtin::interval_low || builtin == Builtin::interval_high;
}

const Expr* listed(const Expr& expr) {
  if (expr.kind != ExprKind::comprehension || expr.args.size() > 2) {
    return nullptr;
  }
  const Expr* list = &expr.args[1];
  while (list->kind == ExprKind::call && !list->args.empty()) {
    list = &list->args[0];  // zip(xs, ..), pairs(cuts), reversed(xs), ..
  }
  return list->kind == ExprKind::variable ? list : nullptr;
}

namespace {

// Of the variables that must be a scalar everywhere where the condition holds: those that it compares with
// something by what they are.
void collect_uniforms(const Expr& condition, std::vector<Demand>& demands) {
  if (condition.kind != ExprKind::binary) {
    return;
  }
  if (condition.operation == rules::Operation::logical_and) {
    collect_uniforms(condition.args[0], demands);
    collect_uniforms(condition.args[1], demands);
  } else if (condition.operation == rules::Operation::equal) {
    for (const Expr& side : condition.args) {
      if (side.kind == ExprKind::call && side.builtin == rules::Builtin::uniform && side.args.size() == 1 &&
          side.args[0].kind == ExprKind::variable && !side.args[0].type.is_list()) {
        demands.push_back({nullptr, side.args[0].slot, Demand::Kind::uniform});
      }
    }
  }
}

// `forall y @ b: false`
bool says_alone(const Expr& conjunct) {
  return conjunct.kind == ExprKind::others && conjunct.binders.size() > 1 &&
         conjunct.args[0].kind == ExprKind::literal && conjunct.args[0].value == tensor::Attr::of(false);
}

}  // namespace

void collect_demands(const rules::Lemma& lemma, std::span<const Expr* const> patterns,
                     std::vector<Demand>& demands, std::vector<const Expr*>& rest) {
  for (const Expr& condition : lemma.when) {
    collect_uniforms(condition, demands);
  }
  std::vector<const Expr*> parts;
  for (const Expr* pattern : patterns) {
    find_parts(*pattern, parts);
  }
  for (const Expr& conjunct : lemma.trigger) {
    if (says_alone(conjunct)) {
      demands.push_back({nullptr, rules::kNoSlot, Demand::Kind::alone});
      continue;
    }
    const bool negated =
        conjunct.kind == ExprKind::unary && conjunct.operation == rules::Operation::logical_not;
    const Expr& asked = negated ? conjunct.args[0] : conjunct;
    const Demand::Kind kind = negated ? Demand::Kind::unnamed : Demand::Kind::named;
    bool answered = false;
    if (asked.kind == ExprKind::call && asked.builtin == rules::Builtin::named && asked.args.size() == 1) {
      const Expr& term = asked.args[0];
      if (term.kind == ExprKind::variable) {
        demands.push_back({nullptr, term.slot, kind});
      } else {
        const std::string text = rules::to_string(term);
        for (const Expr* part : parts) {
          if (rules::to_string(*part) == text) {
            demands.push_back({part, rules::kNoSlot, kind});
            answered = true;
          }
        }
      }
    }
    if (!answered) {
      rest.push_back(&conjunct);
    }
  }
}

namespace {

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

// How far below a class the pattern looks: what its wildcards stand for is not looked at.
unsigned reach(const Expr& pattern) {
  const auto any = [](const Expr& arg) {
    return arg.kind == ExprKind::wildcard ||
           (arg.kind == ExprKind::star && arg.args[0].kind == ExprKind::wildcard);
  };
  return std::all_of(pattern.args.begin(), pattern.args.end(), any) ? 0 : nesting(pattern);
}

// Whether the value of an expression depends on nothing but classes that the match has visited (and what is
// `extra` levels below them).
class Locality {
 public:
  static constexpr unsigned kAnyDepth = Rule::kDeepest;

  Locality(const rules::RuleSet& rules, const Rule& rule) : rules_(rules), rule_(rule) {}

  unsigned extra() const { return extra_; }

  // `below`: how far below what the match has visited the variables of the expression may be.
  bool local(const Expr& expr, unsigned below = 0) {
    switch (expr.kind) {
      case ExprKind::predicate:
        return local_predicate(expr, below);
      case ExprKind::has: {
        const unsigned inside = below + reach(expr.args[1]);
        extra_ = std::max(extra_, inside);
        return visited(expr.args[0]) && (expr.args.size() < 3 || local(expr.args[2], inside));
      }
      case ExprKind::call:
        if (expr.builtin == rules::Builtin::tiling) {
          return false;
        }
        if (asks_class(expr.builtin)) {
          return !expr.args.empty() && visited(expr.args[0]);
        }
        break;
      default:
        break;
    }
    // An application that is built depends on nothing else.
    const auto part = [&](const Expr& arg) { return local(arg, below); };
    return std::all_of(expr.args.begin(), expr.args.end(), part) &&
           std::all_of(expr.attrs.begin(), expr.attrs.end(), part);
  }

  // The conditions inside a pattern.
  bool local_pattern(const Expr& pattern) {
    if (pattern.kind == ExprKind::comprehension && pattern.args.size() > 2 && !local(pattern.args[2])) {
      return false;
    }
    return std::all_of(pattern.args.begin(), pattern.args.end(),
                       [&](const Expr& arg) { return local_pattern(arg); });
  }

 private:
  bool visited(const Expr& term) {
    if (nesting(term) == 0) {
      return true;
    }
    if (matched_.empty()) {
      for (const rules::Goal& goal : rule_.goals) {
        collect_patterns(*goal.pattern, matched_);
      }
    }
    return matched_.count(rules::to_string(term)) != 0;
  }
  bool local_predicate(const Expr& use, unsigned below) {
    const rules::Predicate* predicate = rules_.find_predicate(use.name);
    if (predicate == nullptr) {
      return false;
    }
    if (!open_.insert(use.name).second) {
      extra_ = kAnyDepth;  // recursive: it may look at anything below
      return true;
    }
    const bool result = std::all_of(use.args.begin(), use.args.end(),
                                    [&](const Expr& arg) { return visited(arg) && local(arg, below); }) &&
                        local(predicate->body, below);
    open_.erase(use.name);
    return result;
  }

  const rules::RuleSet& rules_;
  const Rule& rule_;
  std::set<std::string> matched_;  // the patterns of the rule, once they are asked for
  std::set<std::string> open_;     // predicates that are being looked at
  unsigned extra_ = 0;
};

void find_reach(const rules::RuleSet& rules, Rule& rule) {
  const rules::Lemma& lemma = *rule.lemma;
  for (const rules::Goal& goal : rule.goals) {
    rule.depth = std::max(rule.depth, nesting(*goal.pattern));
  }
  std::size_t anywhere = 0;
  for (const rules::Goal& goal : rule.goals) {
    anywhere += goal.same_class ? 0 : 1;
  }
  Locality locality(rules, rule);
  const auto is_local = [&](const Expr& expr) { return locality.local(expr); };
  rule.local = anywhere == 1 &&
               std::all_of(rule.goals.begin(), rule.goals.end(),
                           [&](const rules::Goal& goal) { return locality.local_pattern(*goal.pattern); }) &&
               std::all_of(lemma.when.begin(), lemma.when.end(), is_local) &&
               std::all_of(lemma.trigger.begin(), lemma.trigger.end(), is_local) && is_local(*rule.right) &&
               (rule.left_is_goal || is_local(*rule.left));
  rule.depth = std::min(rule.depth + locality.extra(), Rule::kDeepest);
}

// Whether an expression depends on shapes, types and attributes only; `building`: whether that is all that
// decides if it is defined, though it builds terms.
bool is_pure(const Expr& expr, bool building = false) {
  if (expr.kind == ExprKind::has || expr.kind == ExprKind::predicate || expr.kind == ExprKind::others ||
      (!building && (expr.kind == ExprKind::apply || expr.kind == ExprKind::generic))) {
    return false;
  }
  if (expr.kind == ExprKind::call) {
    using rules::Builtin;
    const bool makes = makes_terms(expr.builtin) && (!building || expr.builtin == Builtin::fresh);
    if (makes || expr.builtin == Builtin::tiling || asks_class(expr.builtin)) {
      return false;
    }
  }
  const auto pure = [&](const Expr& part) { return is_pure(part, building); };
  return std::all_of(expr.args.begin(), expr.args.end(), pure) &&
         std::all_of(expr.attrs.begin(), expr.attrs.end(), pure);
}

// The parts of an expression, but for what `f(.., t, .. | y @ b => e)` puts in the places of operands.
template <class Visit>
void visit_outside(const Expr& expr, const Visit& visit) {
  visit(expr);
  if (expr.kind == ExprKind::generic && expr.args.size() > 1) {
    return;
  }
  for (const Expr& arg : expr.args) {
    visit_outside(arg, visit);
  }
  for (const Expr& attr : expr.attrs) {
    visit_outside(attr, visit);
  }
}

template <class Visit>
void visit_all(const Expr& expr, const Visit& visit) {
  visit(expr);
  for (const Expr& arg : expr.args) {
    visit_all(arg, visit);
  }
  for (const Expr& attr : expr.attrs) {
    visit_all(attr, visit);
  }
}

// Whether what a match says of other operands than its own is a matter of their types.
bool depends_on_operand(const rules::Lemma& lemma) {
  bool result = true;
  const auto visit = [&](const Expr& part) {
    result = result && part.kind != ExprKind::others && part.kind != ExprKind::generic;
  };
  for (const std::vector<Expr>* conjuncts : {&lemma.when, &lemma.trigger}) {
    for (const Expr& conjunct : *conjuncts) {
      if (!says_alone(conjunct)) {
        visit_all(conjunct, visit);
      }
    }
  }
  return result;
}

// Whether `own` is what becomes of the operand `pattern` where `other` becomes of every other operand y,
// which has the axis as b.
bool same_of_all(const Expr& own, const Expr& other, const rules::Lemma& lemma,
                 std::span<const rules::Slot> binders) {
  if (other.kind == ExprKind::variable && other.slot == binders[0]) {
    return rules::to_string(own) == rules::to_string(lemma.left.args[0]);
  }
  if (other.kind == ExprKind::variable && other.slot == binders[1]) {
    return own.kind == ExprKind::variable && own.slot == lemma.generic->axis;
  }
  const auto same = [&](const Expr& a, const Expr& b) { return same_of_all(a, b, lemma, binders); };
  return own.kind == other.kind && own.operation == other.operation && own.builtin == other.builtin &&
         own.value == other.value && own.op == other.op && own.slot == other.slot && own.name == other.name &&
         own.binders.empty() && other.binders.empty() && std::ranges::equal(own.args, other.args, same) &&
         std::ranges::equal(own.attrs, other.attrs, same);
}

void add_slots(const Expr& expr, std::set<rules::Slot>& slots) {
  visit_all(expr, [&](const Expr& part) {
    if (part.kind == ExprKind::variable) {
      slots.insert(part.slot);
    }
  });
}

// Whether the right side is the same term whichever operand matches the pattern.
void find_alike(Rule& rule) {
  const rules::Lemma& lemma = *rule.lemma;
  if (!lemma.generic || rule.goals.size() != 1 || lemma.left.kind != ExprKind::generic) {
    return;
  }
  bool alike = true;
  std::set<rules::Slot> slots;
  const auto visit = [&](const Expr& part) {
    if (part.kind == ExprKind::generic) {
      alike = alike && part.args.size() == 2 && part.binders.size() == 2 &&
              same_of_all(part.args[0], part.args[1], lemma, part.binders);
      add_slots(part.args[part.args.size() - 1], slots);
    } else if (part.kind == ExprKind::variable) {
      slots.insert(part.slot);
    }
  };
  visit_outside(*rule.right, visit);
  rule.alike = alike && rule.pure_right;
  rule.alike_slots.assign(slots.begin(), slots.end());
}

bool expands(const Expr& expr) {
  const bool others = expr.kind == ExprKind::generic && expr.args.size() > 1;
  return others || (listed(expr) != nullptr && nesting(expr.args[0]) > 0) ||
         std::any_of(expr.args.begin(), expr.args.end(), expands);
}

// The rule of a lemma read from left to right, or from right to left.
Rule compile(const rules::RuleSet& rules, std::uint32_t index, bool backwards) {
  const rules::Lemma& lemma = rules.lemmas()[index];
  Rule rule;
  rule.index = index;
  rule.lemma = &lemma;
  rule.left = backwards ? &lemma.right : &lemma.left;
  rule.right = backwards ? &lemma.left : &lemma.right;
  rule.goals = rules::goals_of(lemma, backwards);
  rule.left_is_goal = rules::is_pattern(*rule.left);
  find_reach(rules, rule);
  std::vector<const Expr*> patterns;
  for (const rules::Goal& goal : rule.goals) {
    patterns.push_back(goal.pattern);
  }
  collect_demands(lemma, patterns, rule.demands, rule.trigger);
  rule.pure =
      std::all_of(lemma.when.begin(), lemma.when.end(), [](const Expr& part) { return is_pure(part); });
  if (rule.pure) {
    std::set<rules::Slot> slots;
    for (const Expr& conjunct : lemma.when) {
      add_slots(conjunct, slots);
    }
    rule.asked_slots.assign(slots.begin(), slots.end());
  }
  rule.pure_right = is_pure(*rule.right, true) && (rule.left_is_goal || is_pure(*rule.left, true));
  rule.expands = expands(*rule.right);
  rule.by_operand = lemma.left.kind == ExprKind::generic && rule.local && depends_on_operand(lemma);
  find_alike(rule);
  return rule;
}

}  // namespace

Program::Impl::Impl(const rules::RuleSet& rule_set) : rules(rule_set) {
  using Kind = rules::LemmaHead::Opening::Kind;
  by_op.resize(rules.operators().size());
  for (std::uint32_t lemma = 0; lemma < rules.lemmas().size(); ++lemma) {
    const rules::LemmaHead& head = rules.lemmas().head(lemma);
    for (const bool backwards : {false, true}) {
      const rules::LemmaHead::Opening& opening = backwards ? head.backward : head.forward;
      if (opening.kind == Kind::none) {
        continue;
      }
      const Entry entry{static_cast<std::uint32_t>(readings_.size()), opening.operands};
      readings_.push_back({lemma, backwards});
      if (opening.kind == Kind::application) {
        by_op[opening.op].push_back(entry);
      } else {
        for (rules::OpId op = 0; op < rules.operators().size(); ++op) {
          if (rules.operators().head(op).has(head.trait)) {
            by_op[op].push_back(entry);
          }
        }
      }
    }
  }
  compiled_ = std::vector<std::atomic<const Rule*>>(readings_.size());
}

Program::Impl::~Impl() {
  for (const std::atomic<const Rule*>& rule : compiled_) {
    delete rule.load(std::memory_order_relaxed);
  }
}

// Of several threads that compile the same rule the first is believed.
const Rule& Program::Impl::compile_rule(std::uint32_t number) const {
  const Reading& reading = readings_[number];
  auto made = std::make_unique<const Rule>(compile(rules, reading.lemma, reading.backwards));
  const Rule* known = nullptr;
  if (!compiled_[number].compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
    return *known;
  }
  return *made.release();
}

Program::Program(const rules::RuleSet& rules) : impl_(std::make_unique<Impl>(rules)) {}
Program::~Program() = default;

}  // namespace entangle::egraph
