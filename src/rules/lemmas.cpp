// Lemmas, axioms, predicates and laws.
#include <algorithm>
#include <set>

#include "entangle/support/text.h"
#include "rules/bindings.h"
#include "rules/resolver.h"

namespace entangle::rules {

using syntax::Node;
using syntax::NodeKind;

namespace {

bool is_equation(const Node& node) {
  return node.kind == NodeKind::binary && node.operation == Operation::equal;
}

struct TraitWords {
  std::vector<std::string_view> words;
  Trait trait;
  bool axis, result;
};

const std::vector<TraitWords>& traits() {
  static const std::vector<TraitWords> all = {
      {{"maps"}, Trait::maps, true, true},
      {{"maps", "pair"}, Trait::maps_pair, true, true},
      {{"reduces", "sum"}, Trait::reduces_sum, true, false},
      {{"reduces", "max"}, Trait::reduces_max, true, false},
      {{"linear"}, Trait::linear, false, false},
      {{"elementwise"}, Trait::elementwise, false, false},
  };
  return all;
}

// What a left side or premise may be: something that is looked for in an e-graph.
bool is_term_pattern(const Expr& expr) {
  return expr.kind == ExprKind::apply || expr.kind == ExprKind::generic ||
         (expr.kind == ExprKind::call && expr.builtin == Builtin::uniform);
}

// A commutative operator in a pattern with two runs of operands: nothing says where one ends.
const Expr* two_runs(const Expr& expr, const std::vector<Operator>& operators) {
  if (expr.kind == ExprKind::apply && operators[expr.op].commutative) {
    const auto runs = [&](bool comprehensions) {
      return std::count_if(expr.args.begin(), expr.args.end(), [&](const Expr& e) {
        return e.kind == ExprKind::star && (e.args[0].kind == ExprKind::comprehension) == comprehensions;
      });
    };
    if (runs(true) > 1 || runs(false) > 1) return &expr;
  }
  for (const Expr& arg : expr.args) {
    if (const Expr* found = two_runs(arg, operators)) return found;
  }
  return nullptr;
}

// A pattern for a list with an `if`.
const Expr* filtered(const Expr& pattern) {
  if (pattern.kind == ExprKind::comprehension) return pattern.args.size() > 2 ? &pattern.args[2] : nullptr;
  for (const Expr& arg : pattern.args) {
    if (const Expr* found = filtered(arg)) return found;
  }
  return nullptr;
}

bool mentions_generic(const Expr& expr) {
  return expr.kind == ExprKind::generic || std::any_of(expr.args.begin(), expr.args.end(), mentions_generic);
}

// The forms that cannot be matched, first one found.
const Expr* not_a_pattern(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::variable:
    case ExprKind::wildcard:
    case ExprKind::literal:
      return nullptr;
    case ExprKind::call:
      if (expr.builtin != Builtin::uniform) return &expr;
      return nullptr;
    case ExprKind::comprehension: {
      // Over list variables, alone or together: each is gathered from the operands, or is known already.
      const Expr& over = expr.args[1];
      const auto variable = [](const Expr& e) { return e.kind == ExprKind::variable; };
      const bool zipped = over.kind == ExprKind::call && over.builtin == Builtin::zip &&
                          std::all_of(over.args.begin(), over.args.end(), variable);
      if (!variable(over) && !zipped) return &over;
      return not_a_pattern(expr.args[0]);
    }
    case ExprKind::apply:
    case ExprKind::generic:
    case ExprKind::star:
    case ExprKind::list:
      for (const Expr& arg : expr.args) {
        if (const Expr* found = not_a_pattern(arg)) return found;
      }
      return nullptr;
    default:
      return &expr;
  }
}

}  // namespace

void Resolver::resolve_lemma(const syntax::LemmaText& text, const syntax::Declaration& declaration) {
  const std::size_t before = diagnostics_.size();
  Lemma lemma;
  lemma.name = text.name.text;
  lemma.normalise = text.normalise;
  lemma.axiom = text.axiom;
  lemma.text = declaration.text;
  lemma.span = declaration.span;
  if (text.because) lemma.because = *text.because;
  check_head(text, lemma);
  std::vector<Parameter> all = parameters(text.parameters, false);
  check_of(all, {}, true);
  for (const std::vector<syntax::ParameterText>* group : {&text.parameters.before, &text.parameters.after}) {
    for (const syntax::ParameterText& p : *group) {
      if (p.default_value)
        report(id::parameter, p.default_value->span, "a lemma's variable has no default value");
    }
  }
  Expressions expressions(globals_, diagnostics_, lemma.slots);
  declare(all, expressions);
  lemma.parameters = lemma.slots.size();
  OperatorVariable variable;
  if (text.generic) {
    generic(*text.generic, expressions, variable);
    lemma.generic = variable;
    expressions.set_generic(&*lemma.generic);
  }
  const Type tensor = base_type(Base::tensor);

  // Premises and left side.
  expressions.set_place(Place::pattern);
  lemma.given = premises(text.given, expressions);
  const Node* left = &text.left;
  const Node* right = text.right ? &*text.right : nullptr;
  if (right == nullptr) {
    lemma.direction = Direction::both;
    if (!is_equation(text.left)) {
      report(id::syntax, text.left.span, "the lemma has no right side: expected `=>` or `==`");
      return;
    }
    left = &text.left.children[0];
    right = &text.left.children[1];
  }
  Typed left_side = expressions.operand(*left);
  lemma.left = std::move(left_side.expr);
  const bool lists = left_side.ty.type.depth == 1;

  // The rest, in the order in which it is evaluated.
  expressions.set_place(Place::when);
  if (text.when) lemma.when = expressions.conjuncts(*text.when);
  expressions.set_place(Place::trigger);
  if (text.trigger) lemma.trigger = expressions.conjuncts(*text.trigger);
  expressions.set_place(Place::right);
  lemma.right =
      lists ? expressions.want(*right, base_type(Base::tensor, 1)) : expressions.want(*right, tensor);
  if (diagnostics_.size() > before) return;
  check_lemma(lemma, expressions);
  if (diagnostics_.size() > before &&
      std::any_of(diagnostics_.begin() + static_cast<std::ptrdiff_t>(before), diagnostics_.end(),
                  [](const support::Diagnostic& d) { return d.severity == support::Severity::error; })) {
    return;
  }
  lemma_spans_.emplace(text.name.text, lemma.span);
  lemmas_.add(lemma);
  if (lemma.normalise) normalise_.push_back(std::move(lemma));
}

// What can be said of a lemma without looking at its expressions.
void Resolver::check_head(const syntax::LemmaText& text, const Lemma& lemma) {
  if (const auto other = lemma_spans_.find(lemma.name); other != lemma_spans_.end()) {
    report(id::duplicate, text.name.span, "the lemma `" + lemma.name + "` is declared already");
    support::Span earlier = other->second;
    earlier.length = 1;
    diagnostics_.back().notes.push_back({earlier, "here"});
  }
  if (text.second_when.line > 0) {
    report(id::clause, text.second_when, "the lemma has this clause twice",
           "conditions are joined with `and`");
  }
  if (lemma.normalise && text.right == std::nullopt) {
    report(id::clause, text.name.span, "a `normalise` lemma goes from left to right: write `=>`");
  }
  if (lemma.axiom && lemma.because.empty()) {
    report(id::missing_because, text.name.span, "the axiom `" + lemma.name + "` needs a reason",
           "`because \"...\"` at its end");
  }
  if (!lemma.axiom && text.because) {
    report(id::clause, text.name.span, "a lemma is proved and needs no reason",
           "`axiom` states what is taken on trust");
  }
}

std::vector<Given> Resolver::premises(const std::vector<Node>& texts, Expressions& expressions) {
  const Type tensor = base_type(Base::tensor);
  std::vector<Given> result;
  for (const Node& node : texts) {
    Given given;
    if (is_equation(node)) {
      given.pattern = expressions.want(node.children[0], tensor);
      given.equal_to = expressions.want(node.children[1], tensor);
    } else {
      given.pattern = expressions.want(node, tensor);
    }
    if (!is_term_pattern(given.pattern)) {
      report(id::left_side, given.pattern.span,
             "a premise is a term that is looked for: an operator with its operands");
    }
    result.push_back(std::move(given));
  }
  return result;
}

void Resolver::check_lemma(Lemma& lemma, Expressions& expressions) {
  std::vector<Need> needs;
  std::vector<bool> bound(lemma.slots.size(), false);
  std::set<Slot> reported;
  const auto check_runs = [&](const Expr& pattern) {
    if (const Expr* wrong = two_runs(pattern, operators_)) {
      report(id::pattern, wrong->span,
             "the operands of `" + wrong->name +
                 "` have no order: there can be one run of them only, beside one comprehension");
    }
  };
  const auto complain = [&](const std::string& suggestion) {
    for (const Need& need : needs) {
      if (!reported.insert(need.slot).second) continue;
      report(id::unbound_variable, need.span, "nothing gives `" + lemma.slots[need.slot].name + "` a value",
             suggestion);
    }
    needs.clear();
  };
  for (const Given& given : lemma.given) {
    for (const Expr* pattern : {&given.pattern, given.equal_to ? &*given.equal_to : nullptr}) {
      if (pattern == nullptr) continue;
      if (const Expr* wrong = not_a_pattern(*pattern)) {
        report(id::pattern, wrong->span, "`" + to_string(*wrong) + "` cannot be matched");
      }
      check_runs(*pattern);
      bind_pattern(*pattern, bound, needs);
    }
  }
  const std::vector<bool> given = bound;
  // A variable on the left is looked up, not looked for.
  const Expr& left = lemma.left;
  const bool plain =
      left.kind == ExprKind::variable || left.kind == ExprKind::list || left.kind == ExprKind::index;
  if (plain) {
    std::vector<Need> unbound;
    free_variables(left, bound, unbound);
    if (!unbound.empty()) {
      report(id::left_side, left.span, "the left side matches every tensor there is",
             "`given` binds it to something that is looked for");
      return;
    }
  } else if (!is_term_pattern(left)) {
    report(id::left_side, left.span,
           "a left side is an operator with its operands, or a variable bound by `given`");
    return;
  } else if (const Expr* wrong = not_a_pattern(left)) {
    report(id::pattern, wrong->span, "`" + to_string(*wrong) + "` cannot be matched");
    return;
  }
  if (!plain) {
    check_runs(left);
    bind_pattern(left, bound, needs);
  }
  if (lemma.generic) check_generic(lemma, bound);
  // A pattern may be computed from what another gives a value, whatever their order.
  std::erase_if(needs, [&](const Need& need) { return need.slot < bound.size() && bound[need.slot]; });
  complain(
      "what an attribute is compared with is computed from variables that stand by themselves elsewhere");
  bind_conditions(lemma.when, bound, needs);
  complain("it gets one from the left side, from `given`, or from an equation before this in `when`");
  for (const Expr& conjunct : lemma.trigger) free_variables(conjunct, bound, needs);
  free_variables(lemma.right, bound, needs);
  complain("it gets one from the left side, from `given`, or from an equation in `when`");
  if (lemma.direction == Direction::both && !plain) check_backwards(lemma, given);
  report_unused(lemma, expressions);
}

// Its operator variable must be on the left side, which gives the axes of its trait a value.
void Resolver::check_generic(const Lemma& lemma, std::vector<bool>& bound) {
  for (const Slot slot : {lemma.generic->axis, lemma.generic->result_axis}) {
    if (slot != kNoSlot) bound[slot] = true;
  }
  if (!mentions_generic(lemma.left) &&
      std::none_of(lemma.given.begin(), lemma.given.end(),
                   [](const Given& g) { return mentions_generic(g.pattern); })) {
    report(id::generic, lemma.left.span,
           "the operator variable `" + lemma.generic->name + "` is not on the left side");
  }
  if (lemma.direction == Direction::both) {
    report(id::generic, lemma.right.span,
           "a lemma with an operator variable goes from left to right: write `=>`");
  }
}

void Resolver::report_unused(const Lemma& lemma, const Expressions& expressions) {
  std::vector<bool> defined(lemma.slots.size(), false);  // by an equation, and declared nowhere else
  for (const Expr& conjunct : lemma.when) {
    if (conjunct.kind != ExprKind::binary || conjunct.operation != Operation::equal) continue;
    const Slot slot = conjunct.args[0].slot;
    if (conjunct.args[0].kind == ExprKind::variable && slot >= lemma.parameters) defined[slot] = true;
  }
  for (std::size_t i = 0; i < lemma.slots.size(); ++i) {
    if (expressions.used(static_cast<Slot>(i)) || (i >= lemma.parameters && !defined[i])) continue;
    report(id::unused_variable, lemma.slots[i].span,
           "the variable `" + lemma.slots[i].name + "` is not used");
    diagnostics_.back().severity = support::Severity::warning;
  }
}

// Of a lemma that goes both ways, the right side is matched too.
void Resolver::check_backwards(const Lemma& lemma, std::vector<bool> bound) {
  const auto hint = "write `=>` if it is meant from left to right only";
  for (const Expr* side : {&lemma.left, &lemma.right}) {
    if (const Expr* condition = filtered(*side)) {
      report(id::pattern, condition->span, "an `if` says which operands are taken, not which are built",
             hint);
      return;
    }
  }
  const Expr& pattern = lemma.right;
  if (pattern.kind == ExprKind::variable) {
    if (pattern.slot < bound.size() && bound[pattern.slot]) return;
    report(id::left_side, pattern.span, "read from right to left, this matches every tensor there is", hint);
    return;
  }
  if (!is_term_pattern(pattern)) {
    report(id::left_side, pattern.span, "read from right to left, this cannot be looked for", hint);
    return;
  }
  if (const Expr* wrong = not_a_pattern(pattern)) {
    report(id::pattern, wrong->span, "read from right to left, `" + to_string(*wrong) + "` cannot be matched",
           hint);
    return;
  }
  std::vector<Need> needs;
  bind_pattern(pattern, bound, needs);
  std::vector<Expr> when = lemma.when;
  bind_conditions(when, bound, needs);
  free_variables(lemma.left, bound, needs);
  std::set<Slot> seen;
  for (const Need& need : needs) {
    if ((need.slot < bound.size() && bound[need.slot]) || !seen.insert(need.slot).second) continue;
    report(id::unbound_variable, need.span,
           "read from right to left, nothing gives `" + lemma.slots[need.slot].name + "` a value", hint);
  }
}

void Resolver::generic(const syntax::GenericVariable& text, Expressions& expressions,
                       OperatorVariable& variable) {
  variable.name = text.name.text;
  variable.trait = Trait::elementwise;
  const TraitWords* found = nullptr;
  for (const TraitWords& one : traits()) {
    if (text.words.size() != one.words.size() + (one.axis ? 1 : 0)) continue;
    bool same = true;
    for (std::size_t i = 0; i < one.words.size(); ++i) same = same && text.words[i].text == one.words[i];
    if (same) found = &one;
  }
  if (found == nullptr || found->result != text.result.has_value()) {
    report(id::generic, text.span, "unknown trait of an operator variable",
           "maps a -> r, maps pair a -> r, reduces sum a, reduces max a, linear, elementwise");
    return;
  }
  variable.trait = found->trait;
  if (found->axis) variable.axis = expressions.declare(text.words.back(), ty(Base::axis));
  if (found->result) variable.result_axis = expressions.declare(*text.result, ty(Base::axis));
}

void Resolver::resolve_predicate(const syntax::PredicateText& text, Predicate& predicate) {
  // The slots are those of the signature; the scope needs their names.
  const std::vector<Variable> signature = std::move(predicate.slots);
  predicate.slots.clear();
  Expressions expressions(globals_, diagnostics_, predicate.slots);
  std::size_t i = 0;
  for (const std::vector<syntax::ParameterText>* group : {&text.parameters.before, &text.parameters.after}) {
    for (const syntax::ParameterText& p : *group) expressions.declare(p.name, {signature[i++].type, {}});
  }
  expressions.set_place(Place::trigger);
  predicate.body = expressions.want(text.body, base_type(Base::boolean));
}

namespace {

void variables_of(const Expr& expr, std::vector<const Expr*>& into) {
  if (expr.kind == ExprKind::variable) into.push_back(&expr);
  for (const Expr& arg : expr.args) variables_of(arg, into);
}

}  // namespace

// Laws are used from left to right: at values of a scalar function, or their reciprocals.
void Resolver::check_law(const Law& law) {
  const Expr& left = law.left;
  const auto is_one = [](const tensor::Attr& value) {
    return value == tensor::Attr::of(1) || value == tensor::Attr::of(sym::Scalar(1));
  };
  const bool reciprocal = left.kind == ExprKind::binary && left.operation == Operation::divide &&
                          left.args[0].kind == ExprKind::literal && is_one(left.args[0].value) &&
                          left.args[1].kind == ExprKind::scalar_call;
  if (left.kind != ExprKind::scalar_call && !reciprocal) {
    report(id::left_side, left.span, "the left side of a law is a scalar function, `f(..)` or `1 / f(..)`");
    return;
  }
  std::vector<const Expr*> bound, used;
  variables_of(left, bound);
  variables_of(law.right, used);
  if (law.condition) variables_of(*law.condition, used);
  for (const Expr* one : used) {
    if (std::ranges::any_of(bound, [&](const Expr* other) { return other->slot == one->slot; })) continue;
    report(id::unbound_variable, one->span,
           "`" + one->name + "` is not in the left side, from which the law is read");
  }
}

void Resolver::resolve_law(const syntax::LawText& text, support::Span span) {
  Law law;
  law.name = text.name.text;
  for (const Law& other : rules_->laws_) {
    if (other.name == law.name) {
      report(id::duplicate, text.name.span, "the law `" + law.name + "` is declared already");
    }
  }
  law.span = span;
  Expressions expressions(globals_, diagnostics_, law.slots);
  for (const syntax::Name& name : text.parameters) expressions.declare(name, ty(Base::scalar));
  expressions.set_place(Place::law);
  if (!is_equation(text.statement)) {
    report(id::syntax, text.statement.span, "a law is an equation: expected `==`");
    return;
  }
  const Type scalar = base_type(Base::scalar);
  law.left = expressions.want(text.statement.children[0], scalar);
  law.right = expressions.want(text.statement.children[1], scalar);
  if (text.condition) law.condition = expressions.want(*text.condition, base_type(Base::boolean));
  check_law(law);
  rules_->laws_.push_back(std::move(law));
}

}  // namespace entangle::rules
