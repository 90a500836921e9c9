#include "entangle/prove/claims.h"

#include <algorithm>
#include <string>

#include "entangle/support/check.h"

namespace entangle::prove {

using rules::Expr;
using rules::ExprKind;
using rules::Lemma;
using rules::Operator;
using rules::Slot;

namespace {

constexpr const char* kStatements = R"(
op window(x: tensor; dim: axis(x), begin: int, end: int) {
  require 0 <= dim < rank(x);
  require 0 <= begin < end <= x.shape[dim];
  shape   x.shape with [dim] = end - begin;
  value   i => x[i with [dim] = i[dim] + begin];
}
op join(xs: tensor+; dim: axis(xs)) {
  require forall x in xs: rank(x) == rank(xs[0]) and x.dtype == xs[0].dtype;
  require forall x in xs, k in axes(x): k == dim or x.shape[k] == xs[0].shape[k];
  shape   xs[0].shape with [dim] = sum(x.shape[dim] for x in xs);
  value   i => block(xs, dim, i);
}
op plus(x: tensor, y: tensor; c: scalar = 1): elementwise { value i => x[i] + c * y[i]; }
op larger(xs: tensor+): elementwise { value i => max(x[i] for x in xs); }
op any_function(x: tensor): elementwise;

lemma maps<f: maps a -> r>(x: tensor, p: int, q: int):
  window(f(.., x, ..); r, p, q) => f(.., window(x; a, p, q), .. | y @ b => window(y; b, p, q));
lemma sum<f: reduces sum a>(x: tensor, z: tensor):
  f(.., join(x, z; a), ..)
    => plus(f(.., x, .. | y @ b => window(y; b, 0, x.shape[a])),
            f(.., z, .. | y @ b => window(y; b, x.shape[a], x.shape[a] + z.shape[a])));
lemma max<f: reduces max a>(x: tensor, z: tensor):
  f(.., join(x, z; a), ..)
    => larger(f(.., x, .. | y @ b => window(y; b, 0, x.shape[a])),
              f(.., z, .. | y @ b => window(y; b, x.shape[a], x.shape[a] + z.shape[a])));
lemma linear<f: linear>(x: tensor, z: tensor, c: scalar):
  f(.., plus(x, z; c), ..) => plus(f(.., x, ..), f(.., z, ..); c);
)";

const rules::RuleSet& statements() {
  static const std::shared_ptr<const rules::RuleSet> loaded = [] {
    const rules::Loaded result = rules::load_rules_text("traits of operators", kStatements, {});
    ENTANGLE_CHECK(result.ok(), "the statements about traits do not load");
    return result.rules;
  }();
  return *loaded;
}

Expr variable(const Lemma& lemma, Slot slot) {
  Expr expr;
  expr.kind = ExprKind::variable;
  expr.slot = slot;
  expr.name = lemma.slots[slot].name;
  expr.type = lemma.slots[slot].type;
  return expr;
}

Expr star(Expr list) {
  Expr expr;
  expr.kind = ExprKind::star;
  expr.args = {std::move(list)};
  return expr;
}

// A statement about all applications of one operator.
class Statement {
 public:
  explicit Statement(const Operator& op) : op_(op) { lemma_.span = op.span; }

  Expr fresh(const std::string& name, const rules::Type& type) {
    lemma_.slots.push_back({name, type, op_.span});
    lemma_.parameters = lemma_.slots.size();
    return variable(lemma_, static_cast<Slot>(lemma_.slots.size() - 1));
  }
  // One variable for each parameter.
  std::vector<Expr> fresh_all(const std::vector<rules::Parameter>& parameters) {
    std::vector<Expr> result;
    for (const rules::Parameter& one : parameters) {
      Expr expr = fresh(one.name, one.type);
      result.push_back(one.type.base == rules::Base::tensor && one.type.is_list() ? star(std::move(expr))
                                                                                  : std::move(expr));
    }
    return result;
  }
  Expr apply(std::vector<Expr> args, std::vector<Expr> attrs) const {
    Expr expr;
    expr.kind = ExprKind::apply;
    expr.op = op_.id;
    expr.name = op_.name;
    expr.args = std::move(args);
    expr.attrs = std::move(attrs);
    return expr;
  }
  // A slot that is bound inside an expression.
  Slot inner(const std::string& name) {
    lemma_.slots.push_back({name, {rules::Base::tensor, 0, false, false, false, {}}, op_.span});
    return static_cast<Slot>(lemma_.slots.size() - 1);
  }
  const Lemma& lemma() const { return lemma_; }
  Lemma equation(Expr left, Expr right) {
    lemma_.left = std::move(left);
    lemma_.right = std::move(right);
    lemma_.text = rules::to_string(lemma_.left) + " => " + rules::to_string(lemma_.right);
    return std::move(lemma_);
  }

 private:
  const Operator& op_;
  Lemma lemma_;
};

class Collector {
 public:
  Collector(const rules::RuleSet& rules, std::vector<Claim>& claims) : rules_(rules), claims_(claims) {}

  void run(const Operator& op) {
    if (op.value && !implied_value(op)) inside(op);
    if (op.random || op.drawn) return;
    if (op.elementwise && !op.tensors.empty()) add_clause(op, "maps", "elementwise", SIZE_MAX, false);
    for (std::size_t k = 0; k < op.axes.size(); ++k) {
      static const char* const kLemmas[] = {"maps", "sum", "max"};
      static const char* const kWords[] = {"maps ", "reduces sum ", "reduces max "};
      const auto kind = static_cast<std::size_t>(op.axes[k].kind);
      add_clause(op, kLemmas[kind], kWords[kind] + op.axes[k].name, k, true);
    }
    for (const rules::LinearClause& one : op.linear) {
      add_clause(op, "linear", "linear " + op.tensors[one.parameter].name, one.parameter, true);
    }
    if (op.commutative) commutative(op);
    if (op.rearranges) rearranges(op);
  }

 private:
  // Whether the value is the function of the operator's name, of elements at the result's own index.
  static bool implied_value(const Operator& op) {
    return op.elementwise && op.value->kind == ExprKind::scalar_call && op.value->name == op.name &&
           std::ranges::all_of(op.value->args, [&](const Expr& arg) {
             if (arg.kind == ExprKind::variable) return true;
             return arg.kind == ExprKind::index && arg.args[0].kind == ExprKind::variable &&
                    arg.args[1].kind == ExprKind::variable && arg.args[1].slot == op.value_index;
           });
  }

  void inside(const Operator& op) {
    Statement statement(op);
    const std::vector<Expr> args = statement.fresh_all(op.tensors);
    const std::vector<Expr> attrs = statement.fresh_all(op.attributes);
    const Expr application = statement.apply(args, attrs);
    add(op, "value", statement.equation(application, application), {}, false);
    Claim& claim = claims_.back();
    claim.inside = true;
    claim.lemma.text = "the `value` of `" + op.name + "` reads only what is there:\n" +
                       rules::to_string(application) + " = i => " + rules::to_string(*op.value);
  }

  // `declared`: an axiom where the operator has no value of its own.
  void add(const Operator& op, const std::string& what, Lemma lemma, std::optional<std::size_t> clause,
           bool declared) {
    lemma.name = op.name + ": " + what;
    lemma.span = op.span;
    lemma.text = "`" + op.name + "` is declared as `" + what + "`:\n" + lemma.text;
    lemma.axiom = declared && !op.because.empty();
    if (lemma.axiom) lemma.because = op.because;
    claims_.push_back({op.id, std::move(lemma), clause});
  }

  void add_clause(const Operator& op, const std::string& statement, const std::string& what,
                  std::size_t clause, bool declared) {
    for (const Lemma& lemma : rules_.lemmas()) {
      if (lemma.span.file == statements().lemmas()[0].span.file && lemma.name == statement) {
        add(op, what, lemma, clause, declared);
      }
    }
  }

  void commutative(const Operator& op) {
    const bool list = op.tensors.size() == 1 && op.tensors[0].type.is_list();
    if (list) {
      // (x, y, rest) is (y, x, rest), and (x, rest) is (rest, x): all orders are made of these.
      for (const bool rotated : {false, true}) {
        Statement statement(op);
        const rules::Type one{rules::Base::tensor, 0, false, false, false, {}};
        const rules::Type many{rules::Base::tensor, 1, false, false, false, {}};
        const Expr x = statement.fresh("x", one);
        const Expr y = rotated ? Expr() : statement.fresh("y", one);
        const Expr rest = star(statement.fresh("rest", many));
        const std::vector<Expr> attrs = statement.fresh_all(op.attributes);
        Expr left = statement.apply(rotated ? std::vector{x, rest} : std::vector{x, y, rest}, attrs);
        Expr right = statement.apply(rotated ? std::vector{rest, x} : std::vector{y, x, rest}, attrs);
        add(op, rotated ? "commutative, operands rotated" : "commutative",
            statement.equation(std::move(left), std::move(right)), {}, true);
      }
      return;
    }
    // Two tensors.
    Statement statement(op);
    const std::vector<Expr> args = statement.fresh_all(op.tensors);
    const std::vector<Expr> attrs = statement.fresh_all(op.attributes);
    add(op, "commutative",
        statement.equation(statement.apply(args, attrs), statement.apply({args[1], args[0]}, attrs)), {},
        true);
  }

  void rearranges(const Operator& op) {
    if (op.tensors.empty()) return;
    Statement statement(op);
    const std::vector<Expr> args = statement.fresh_all(op.tensors);
    const std::vector<Expr> attrs = statement.fresh_all(op.attributes);
    std::vector<Expr> changed;
    for (const Expr& arg : args) {
      if (arg.kind != ExprKind::star) {
        changed.push_back(any_function(arg));
        continue;
      }
      const Slot entry = statement.inner("entry");
      Expr each;
      each.kind = ExprKind::comprehension;
      each.binders = {entry};
      each.binder_names = {"entry"};
      each.args = {any_function(variable(statement.lemma(), entry)), arg.args[0]};
      changed.push_back(star(std::move(each)));
    }
    add(op, "rearranges",
        statement.equation(any_function(statement.apply(args, attrs)), statement.apply(changed, attrs)), {},
        true);
  }

  Expr any_function(Expr arg) const {
    // The last operator of that name: a rule file may have one, too.
    const auto& all = rules_.operators();
    std::size_t id = all.size();
    while (all[--id].name != "any_function") {
    }
    Expr expr;
    expr.kind = ExprKind::apply;
    expr.op = all[id].id;
    expr.name = all[id].name;
    expr.args = {std::move(arg)};
    return expr;
  }

  const rules::RuleSet& rules_;
  std::vector<Claim>& claims_;
};

}  // namespace

Claims::Claims(const rules::RuleSet& rules) : rules_(rules.with(statements())) {
  Collector collector(*rules_, claims_);
  for (std::size_t k = 0; k < rules.operators().size(); ++k) collector.run(rules_->operators()[k]);
  for (std::size_t k = 0; k < claims_.size(); ++k) {
    if (claims_[k].inside) inside_[claims_[k].op] = k;
  }
}

const Claim* Claims::inside(rules::OpId op) const {
  const auto found = inside_.find(op);
  return found == inside_.end() ? nullptr : &claims_[found->second];
}

}  // namespace entangle::prove
