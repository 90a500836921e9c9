#include "prove/form.h"

#include <algorithm>

#include "entangle/smt/solver.h"

namespace entangle::prove {

using eval::Undefined;
using rules::Base;
using rules::Expr;
using rules::ExprKind;
using sym::Int;
using tensor::Attr;
using term::kNoTerm;
using term::TermId;
using term::Value;
using Relation = Condition::Atom::Relation;

namespace {

constexpr std::size_t kAttempts = 80;
constexpr std::size_t kChoices = 5;
constexpr std::uint32_t kSteps = 100'000;

class NoPatterns final : public term::PatternHost {
 public:
  bool has_match(TermId, const Expr&, const Expr*, const term::Frame&) override { return false; }
  TermId lookup(const Expr&, term::Frame&) override { return kNoTerm; }
};

bool is_structural(Base base) {
  return base == Base::axis || base == Base::count || base == Base::perm;
}

const Expr* find_generic(const Expr& expr) {
  if (expr.kind == ExprKind::generic) return &expr;
  for (const Expr& arg : expr.args) {
    if (const Expr* found = find_generic(arg)) return found;
  }
  return nullptr;
}

sym::Facts facts_of(const std::vector<std::pair<Int, bool>>& symbols,
                    const std::vector<Condition::Atom>& atoms) {
  sym::Facts facts;
  for (const auto& [symbol, size] : symbols) {
    facts.declare_symbol(symbol.name(), size ? std::optional<std::int64_t>(1) : std::nullopt);
  }
  for (const Condition::Atom& atom : atoms) {
    switch (atom.relation) {
      case Relation::equal:
        facts.add_equal(atom.left, atom.right);
        break;
      case Relation::less_equal:
        facts.add_le(atom.left, atom.right);
        break;
      case Relation::divides:
        facts.add_divides(atom.left, atom.right);
        break;
    }
  }
  return facts;
}

}  // namespace

// One attempt: everything that depends on the facts.
struct Form::World {
  World(const rules::RuleSet& rules, sym::Facts facts)
      : oracle(std::move(facts)), typing(rules, oracle), terms(typing), evaluator(terms, typing, &patterns) {}
  smt::Oracle oracle;
  term::Typing typing;
  eval::Terms terms;
  NoPatterns patterns;
  term::Evaluator evaluator;
  term::Frame frame;
  term::Focus focus;
  std::map<TermId, TermId> leaves;
};

Form::Form(const rules::RuleSet& rules, const rules::Lemma& lemma, Sampler& sampler)
    : rules_(rules), lemma_(lemma), sampler_(sampler), structural_(lemma.slots.size()) {
  for (std::size_t k = 0; k < lemma.slots.size(); ++k) {
    structural_[k] = is_structural(lemma.slots[k].type.base);
  }
  if (lemma.generic) {
    for (const rules::Slot slot : {lemma.generic->axis, lemma.generic->result_axis}) {
      if (slot != rules::kNoSlot) structural_[slot] = true;
    }
  }
  for (const rules::Given& given : lemma.given) find_structure(given.pattern);
  find_structure(lemma.left);
  for (std::size_t k = 0; k < lemma.slots.size(); ++k) {
    if (k < sampler.matched().size() && sampler.matched()[k]) {
      key_ += lemma.slots[k].name + "=" + text(*sampler.matched()[k], structural_[k]) + " ";
    }
  }
  if (sampler.op() == rules::kNoOp) return;
  const rules::Operator& op = rules.op(sampler.op());
  key_ += op.name + " " + std::to_string(sampler.focus().operand);
  for (const TermId child : sampler.focus().children) key_ += " " + text(Value(term::Term{child}), true);
  for (std::size_t k = 0; k < op.attributes.size(); ++k) {
    key_ += " " + text(Value(sampler.focus().attrs.as_list()[k]), is_structural(op.attributes[k].type.base));
  }
}

void Form::structural(const Expr& expr) {
  if (expr.kind == ExprKind::variable && expr.slot < structural_.size()) structural_[expr.slot] = true;
  for (const Expr& arg : expr.args) structural(arg);
}

void Form::find_structure(const Expr& pattern) {
  if (pattern.kind == ExprKind::apply) {
    const rules::Operator& op = rules_.op(pattern.op);
    for (std::size_t k = 0; k < pattern.attrs.size(); ++k) {
      if (is_structural(op.attributes[k].type.base)) structural(pattern.attrs[k]);
    }
  }
  for (const Expr& arg : pattern.args) find_structure(arg);
}

std::string Form::text(const Value& value, bool fixed) {
  if (const term::Term* one = value.as_term()) {
    const tensor::TensorType& type = sampler_.terms().type(one->id);
    return std::string(tensor::to_string(type.dtype)) + "/" + std::to_string(type.rank());
  }
  if (const std::vector<Value>* list = value.as_list()) {
    std::string result = "[";
    for (const Value& entry : *list) result += text(entry, fixed) + ",";
    return result + "]";
  }
  const auto attr = value.to_attr();
  if (!attr) return "?";
  if (!fixed && attr->kind() == Attr::Kind::integer) return "n";
  return attr->kind() == Attr::Kind::scalar ? "c" : tensor::to_string(*attr);
}

Int Form::symbol(bool size) {
  const Int symbol = Int::symbol((size ? "n" : "m") + std::to_string(next_++));
  if (std::ranges::none_of(symbols_, [&](const auto& one) { return one.first == symbol; })) {
    symbols_.emplace_back(symbol, size);
  }
  return sym::substitute(symbol, solved_);
}

Attr Form::lifted(const Attr& attr, const rules::Type& type) {
  if (is_structural(type.base)) return attr;
  if (attr.kind() == Attr::Kind::integer) return Attr::of(symbol(false));
  if (attr.kind() == Attr::Kind::scalar) {
    const auto ratio = sym::Scalar(symbol(false)) / sym::Scalar(symbol(true));
    if (!ratio) throw Undefined{"a scalar"};
    return Attr::of(*ratio);
  }
  if (attr.kind() == Attr::Kind::list) {
    std::vector<Attr> entries;
    for (const Attr& entry : attr.as_list()) entries.push_back(lifted(entry, type));
    return Attr::list(entries);
  }
  return attr;
}

Value Form::lifted(const Value& value, bool fixed, World& world) {
  if (const term::Term* one = value.as_term()) {
    if (const auto found = world.leaves.find(one->id); found != world.leaves.end()) {
      return Value(term::Term{found->second});
    }
    eval::Terms& terms = sampler_.terms();
    if (terms.node(one->id).op != rules::kNoOp) throw Undefined{"a tensor that is one known scalar"};
    if (terms.interval(one->id).low) throw Undefined{"a tensor with known bounds"};
    tensor::TensorType type = terms.type(one->id);
    for (Int& size : type.shape) size = symbol(true);
    const TermId leaf = world.terms.fresh(type, terms.label(one->id));
    world.leaves[one->id] = leaf;
    return Value(term::Term{leaf});
  }
  if (const std::vector<Value>* list = value.as_list()) {
    std::vector<Value> entries;
    for (const Value& entry : *list) entries.push_back(lifted(entry, fixed, world));
    return Value(std::move(entries));
  }
  const auto attr = value.to_attr();
  rules::Type type;
  type.base = fixed ? Base::axis : Base::any;
  return attr ? Value(lifted(*attr, type)) : value;
}

std::string Form::prove() {
  for (std::size_t k = 0; k < kAttempts; ++k) {
    try {
      return attempt();
    } catch (const Restart&) {
    } catch (const Undefined& undefined) {
      return undefined.what;
    }
  }
  return "too many requirements";
}

std::string Form::attempt() {
  next_ = 0;
  World world(rules_, facts_of(symbols_, atoms_));
  world.frame.slots.assign(lemma_.slots.size(), std::nullopt);
  world.terms.before_make([&](const term::NodeView& node) { require(world, node); });
  for (std::size_t k = 0; k < lemma_.slots.size(); ++k) {
    if (const auto& value = sampler_.matched()[k])
      world.frame.slots[k] = lifted(*value, structural_[k], world);
  }
  const auto build = [&](const Expr& pattern) {
    const auto id = world.evaluator.evaluate_term(pattern, world.frame);
    if (!id || *id == kNoTerm) throw Undefined{"the left side is not built: " + world.evaluator.reason()};
    return *id;
  };
  for (const rules::Given& given : lemma_.given) build(given.pattern);
  if (const Expr* generic = find_generic(lemma_.left)) {
    const term::Focus& old = sampler_.focus();
    const rules::Operator& op = rules_.op(old.op);
    world.focus = old;
    for (std::size_t j = 0; j < old.children.size(); ++j) {
      world.focus.children[j] = j == old.operand
                                    ? build(generic->args[0])
                                    : lifted(Value(term::Term{old.children[j]}), false, world).as_term()->id;
    }
    std::vector<Attr> attrs;
    for (std::size_t k = 0; k < op.attributes.size(); ++k) {
      attrs.push_back(lifted(old.attrs.as_list()[k], op.attributes[k].type));
    }
    world.focus.attrs = Attr::list(attrs);
    world.frame.focus = &world.focus;
  }
  const TermId left = build(lemma_.left);
  for (const Expr& condition : lemma_.when) {
    const smt::Truth truth = world.evaluator.holds(condition, world.frame);
    if (smt::is_no(truth)) throw Undefined{"the condition does not hold in this form"};
    if (smt::is_yes(truth)) continue;
    try {
      assume(world, condition);
    } catch (const Undefined&) {
      // Nothing is assumed: what is proved then is more.
    }
  }
  world.terms.before_make({});
  const tensor::TensorType type = world.terms.type(left);
  const auto right = world.evaluator.evaluate_term(lemma_.right, world.frame, &type);
  if (!right || *right == kNoTerm)
    return "the right side is not shown to be defined: " + world.evaluator.reason();
  return compare(world, left, *right);
}

std::string Form::compare(World& world, TermId left, TermId right) {
  const tensor::TensorType& a = world.terms.type(left);
  const tensor::TensorType& b = world.terms.type(right);
  if (a.dtype != b.dtype || !smt::is_yes(world.oracle.equal(a.shape, b.shape))) {
    return "the types are not shown to be equal: " + tensor::to_string(a) + " and " + tensor::to_string(b);
  }
  // An index into rows of rows is best taken apart; which factor of the size is the inner one is tried.
  std::vector<std::vector<Int>> choices{{}};
  for (const Int size : a.shape) {
    std::vector<Int> inner;
    for (const Int symbol : sym::symbols_of(size)) {
      if (size != symbol && sym::exact_div(size, symbol)) inner.push_back(symbol);
    }
    inner.push_back(1);
    std::vector<std::vector<Int>> longer;
    for (const std::vector<Int>& choice : choices) {
      for (const Int one : inner) {
        if (longer.size() >= kChoices) break;
        longer.push_back(choice);
        longer.back().push_back(one);
      }
    }
    choices = std::move(longer);
  }
  std::string why;
  for (const std::vector<Int>& choice : choices) {
    const std::string now = compare_at(world, left, right, choice);
    if (now.empty()) return {};
    if (why.empty()) why = now;
  }
  return why;
}

std::string Form::compare_at(World& world, TermId left, TermId right, const std::vector<Int>& inner) {
  const tensor::TensorType& a = world.terms.type(left);
  Symbolic symbolic(world.terms);
  smt::Solver solver({kSteps, {}, 0});
  std::vector<Int> index;
  for (std::size_t k = 0; k < a.shape.size(); ++k) {
    const auto bounded = [&](const std::string& name, Int size) {
      const Int symbol = Int::symbol(name + std::to_string(k));
      solver.add(smt::Term::integer(0) <= smt::from_int(symbol));
      solver.add(smt::from_int(symbol) < smt::from_int(size));
      return symbol;
    };
    if (inner[k] == Int(1)) {
      index.push_back(bounded("i", a.shape[k]));
      continue;
    }
    const Int row = bounded("row", *sym::exact_div(a.shape[k], inner[k]));
    const Int column = bounded("column", inner[k]);
    symbolic.assume_below(column, inner[k]);
    index.push_back(row * inner[k] + column);
  }
  smt::Term x = symbolic.element(left, index);
  smt::Term y = symbolic.element(right, index);
  if (x.sort() != y.sort()) {
    if (x.sort() == smt::Sort::integer) x = smt::to_real(x);
    if (y.sort() == smt::Sort::integer) y = smt::to_real(y);
  }
  if (x == y) return {};
  for (const auto& [symbol, size] : symbols_) {
    if (size) solver.add(smt::Term::integer(1) <= smt::from_int(sym::substitute(symbol, solved_)));
  }
  for (const Condition::Atom& atom : atoms_) {
    const smt::Term l = smt::from_int(atom.left);
    const smt::Term r = smt::from_int(atom.right);
    solver.add(atom.relation == Relation::equal        ? smt::eq(l, r)
               : atom.relation == Relation::less_equal ? l <= r
                                                       : smt::eq(smt::mod(r, l), smt::Term::integer(0)));
  }
  for (const smt::Term& fact : symbolic.facts()) solver.add(fact);
  solver.add(smt::ne(x, y));
  const smt::Answer answer = solver.check();
  if (answer == smt::Answer::unsat) return {};
  return answer == smt::Answer::sat ? "the solver finds values that differ (they may not exist)"
                                    : "the solver gave up: " + solver.reason();
}

// Assumes what the application requires.
void Form::require(World& world, const term::NodeView& application) {
  const rules::Operator& op = rules_.op(application.op);
  if (op.elementwise) {
    const tensor::Shape first = world.terms.type(application.children[0]).shape;
    for (const TermId child : application.children) {
      const tensor::Shape& shape = world.terms.type(child).shape;
      if (shape.size() != first.size()) throw Undefined{"operands of different rank"};
      for (std::size_t k = 0; k < first.size(); ++k) assume(world, {Relation::equal, first[k], shape[k]});
    }
  }
  if (op.requires_.empty()) return;
  Symbolic symbolic(world.terms);
  eval::Clause<Symbolic> clause(symbolic, op, application.attrs, application.children);
  for (const Expr& condition : op.requires_) assume(world, clause.holds(condition));
}

void Form::assume(World& world, const Condition& condition) {
  if (condition.term.is_true()) return;
  if (condition.term.is_false()) throw Undefined{"the left side has no type in this form"};
  if (!condition.only_atoms) throw Undefined{"a requirement that is no conjunction"};
  for (const Condition::Atom& atom : condition.atoms) assume(world, atom);
}

void Form::assume(World& world, const Condition::Atom& atom) {
  smt::Truth truth = smt::Truth::unknown;
  switch (atom.relation) {
    case Relation::equal:
      truth = world.oracle.equal(atom.left, atom.right);
      break;
    case Relation::less_equal:
      truth = world.oracle.less_equal(atom.left, atom.right);
      break;
    case Relation::divides:
      truth = world.oracle.divides(atom.left, atom.right);
      break;
  }
  if (smt::is_yes(truth)) return;
  if (smt::is_no(truth)) throw Undefined{"the requirements contradict each other in this form"};
  if (atom.relation == Relation::equal) {
    const Int difference = atom.left - atom.right;
    for (std::size_t k = symbols_.size(); k-- > 0;) {
      const Int symbol = symbols_[k].first;
      for (const Int rest : {symbol - difference, symbol + difference}) {
        if (!sym::mentions(difference, symbol) || sym::mentions(rest, symbol)) continue;
        replace(symbol, rest);
        throw Restart{};
      }
    }
  }
  if (atom.relation == Relation::divides && atom.right.is_symbol() && !sym::mentions(atom.left, atom.right)) {
    const auto place = std::ranges::find(symbols_, atom.right, &std::pair<Int, bool>::first);
    if (place != symbols_.end()) {
      const Int quotient = Int::symbol("q" + std::to_string(symbols_.size()));
      symbols_.emplace_back(quotient, place->second);
      replace(atom.right, atom.left * quotient);
      throw Restart{};
    }
  }
  if (std::ranges::any_of(atoms_, [&](const Condition::Atom& one) {
        return one.relation == atom.relation && one.left == atom.left && one.right == atom.right;
      })) {
    return;
  }
  atoms_.push_back(atom);
  throw Restart{};
}

void Form::replace(Int symbol, Int value) {
  const sym::Substitution one{{symbol, value}};
  for (auto& [from, to] : solved_) to = sym::substitute(to, one);
  solved_[symbol] = value;
  for (Condition::Atom& atom : atoms_) {
    atom.left = sym::substitute(atom.left, one);
    atom.right = sym::substitute(atom.right, one);
  }
  const auto place = std::ranges::find(symbols_, symbol, &std::pair<Int, bool>::first);
  if (place != symbols_.end() && place->second) atoms_.push_back({Relation::less_equal, 1, value});
}

void Form::assume_equal(World& world, const Value& a, const Value& b) {
  const auto* x = a.as_list();
  const auto* y = b.as_list();
  if (x != nullptr && y != nullptr && x->size() == y->size()) {
    for (std::size_t k = 0; k < x->size(); ++k) assume_equal(world, (*x)[k], (*y)[k]);
    return;
  }
  if (a.as_int() == nullptr || b.as_int() == nullptr) throw Undefined{"an undecided condition"};
  assume(world, {Relation::equal, *a.as_int(), *b.as_int()});
}

void Form::assume(World& world, const Expr& condition) {
  using rules::Operation;
  if (smt::is_yes(world.evaluator.holds(condition, world.frame))) return;
  const auto undecided = [&]() -> Undefined {
    return Undefined{"`" + rules::to_string(condition) + "` is not understood"};
  };
  const auto integer = [&](const Expr& expr) {
    const auto value = world.evaluator.evaluate(expr, world.frame);
    if (!value || value->as_int() == nullptr) throw undecided();
    return *value->as_int();
  };
  if (condition.kind == ExprKind::call && condition.builtin == rules::Builtin::divides) {
    assume(world, {Relation::divides, integer(condition.args[0]), integer(condition.args[1])});
    return;
  }
  if (condition.kind == ExprKind::forall && condition.binders.size() == 1 && condition.args.size() == 2) {
    const auto list = world.evaluator.evaluate(condition.args[0], world.frame);
    if (!list || list->as_list() == nullptr) throw undecided();
    for (const Value& entry : *list->as_list()) {
      world.frame.slots[condition.binders[0]] = entry;
      assume(world, condition.args[1]);
    }
    return;
  }
  if (condition.kind != ExprKind::binary) throw undecided();
  switch (condition.operation) {
    case Operation::logical_and:
      assume(world, condition.args[0]);
      assume(world, condition.args[1]);
      return;
    case Operation::equal: {
      const auto a = world.evaluator.evaluate(condition.args[0], world.frame);
      const auto b = world.evaluator.evaluate(condition.args[1], world.frame);
      if (!a || !b) throw undecided();
      assume_equal(world, *a, *b);
      return;
    }
    case Operation::less:
      assume(world, {Relation::less_equal, integer(condition.args[0]) + 1, integer(condition.args[1])});
      return;
    case Operation::less_equal:
      assume(world, {Relation::less_equal, integer(condition.args[0]), integer(condition.args[1])});
      return;
    case Operation::greater:
      assume(world, {Relation::less_equal, integer(condition.args[1]) + 1, integer(condition.args[0])});
      return;
    case Operation::greater_equal:
      assume(world, {Relation::less_equal, integer(condition.args[1]), integer(condition.args[0])});
      return;
    default:
      throw undecided();
  }
}

}  // namespace entangle::prove
