// Operators: flags and clauses.
#include <algorithm>
#include <iterator>

#include "entangle/support/text.h"
#include "rules/lengths.h"
#include "rules/resolver.h"

namespace entangle::rules {

using syntax::Clause;

namespace {

struct Flag {
  std::string_view word;
  bool Operator::*member;
};

constexpr Flag kFlags[] = {
    {"elementwise", &Operator::elementwise},
    {"commutative", &Operator::commutative},
    {"clean", &Operator::clean},
    {"rearranges", &Operator::rearranges},
    {"free", &Operator::free},
    {"random", &Operator::random},
    {"drawn", &Operator::drawn},
    {"converts", &Operator::converts},
};

// Whether an expression depends on sizes or on what is in tensors, given the variables that do.
bool depends_on_sizes(const Expr& expr, const std::vector<bool>& sizes) {
  if (expr.kind == ExprKind::variable) return expr.slot < sizes.size() && sizes[expr.slot];
  if (expr.kind == ExprKind::call && !allowed(info(expr.builtin), Place::axis)) return true;
  const auto inside = [&](const Expr& e) { return depends_on_sizes(e, sizes); };
  return std::any_of(expr.args.begin(), expr.args.end(), inside);
}

}  // namespace

void Resolver::resolve_operator(const syntax::OperatorText& text, Operator& op) {
  for (const syntax::Name& flag : text.flags) {
    const auto found = std::find_if(std::begin(kFlags), std::end(kFlags),
                                    [&](const Flag& f) { return f.word == flag.text; });
    if (found == std::end(kFlags)) {
      std::vector<std::string> words;
      for (const Flag& f : kFlags) words.emplace_back(f.word);
      std::string suggestion = support::did_you_mean(flag.text, words);
      if (suggestion.empty()) suggestion = "the flags are " + support::join_list(words);
      report(id::unknown_word, flag.span, "unknown flag `" + flag.text + "`", suggestion);
      continue;
    }
    if (op.*found->member) report(id::duplicate, flag.span, "the flag `" + flag.text + "` is there twice");
    op.*found->member = true;
  }
  Expressions expressions(globals_, diagnostics_, op.slots);
  declare(op.tensors, expressions);
  declare(op.attributes, expressions);
  const std::size_t before = diagnostics_.size();
  for (const Clause& c : text.clauses) clause(c, op, expressions);
  if (diagnostics_.size() == before) std::ranges::move(check_lengths(op), std::back_inserter(diagnostics_));
  check_operator(text, op);
}

void Resolver::clause(const Clause& text, Operator& op, Expressions& expressions) {
  const auto once = [&](const auto& there, std::string_view word) {
    if (!there) return;
    report(id::duplicate, text.span, "the operator has two `" + std::string(word) + "` clauses");
  };
  expressions.set_place(Place::clause);
  switch (text.kind) {
    case Clause::Kind::let: {
      Typed value = expressions.resolve(*text.expr);
      op.lets.push_back({expressions.declare(text.name, value.ty), std::move(value.expr)});
      return;
    }
    case Clause::Kind::require:
      for (Expr& conjunct : expressions.conjuncts(*text.expr)) op.requires_.push_back(std::move(conjunct));
      return;
    case Clause::Kind::shape:
      once(op.shape, "shape");
      op.shape = expressions.want(*text.expr, base_type(Base::integer, 1));
      return;
    case Clause::Kind::dtype:
      once(op.dtype, "dtype");
      op.dtype = expressions.want(*text.expr, base_type(Base::dtype));
      return;
    case Clause::Kind::value: {
      once(op.value, "value");
      const std::size_t mark = expressions.enter();
      op.value_index = expressions.declare(text.name, ty(Base::integer, 1));
      expressions.set_place(Place::value);
      Typed value = expressions.resolve(*text.expr);
      if (!is_number(value.ty.type) && value.ty.type.base != Base::boolean) {
        report(id::type, value.expr.span, "an element is a number, this is " + describe(value.ty.type));
      }
      op.value = std::move(value.expr);
      expressions.leave(mark);
      return;
    }
    case Clause::Kind::maps:
    case Clause::Kind::reduces:
      axis_clause(text, op, expressions);
      return;
    case Clause::Kind::linear:
      linear_clause(text, op, expressions);
      return;
    case Clause::Kind::because:
      if (!op.because.empty()) report(id::duplicate, text.span, "the operator has two `because` clauses");
      op.because = text.text;
      return;
  }
}

void Resolver::axis_clause(const Clause& text, Operator& op, Expressions& expressions) {
  AxisClause result;
  result.span = text.span;
  result.name = text.name.text;
  if (text.kind == Clause::Kind::reduces) {
    if (text.reduction.text == "sum") {
      result.kind = AxisClause::Kind::sum;
    } else if (text.reduction.text == "max") {
      result.kind = AxisClause::Kind::max;
    } else {
      report(id::unknown_word, text.reduction.span, "expected `sum` or `max`",
             support::did_you_mean(text.reduction.text, {"sum", "max"}));
    }
  }
  for (const AxisClause& other : op.axes) {
    if (other.name == result.name) {
      report(id::duplicate, text.name.span, "the clause `" + result.name + "` is there twice");
    }
  }
  expressions.set_place(Place::axis);
  const std::size_t mark = expressions.enter();
  const Type integer = base_type(Base::integer);
  if (text.range) {
    result.bound = expressions.want(text.range->bound, integer);
    result.index = expressions.declare(text.range->index, ty(Base::integer));
    if (text.range->filter) result.filter = expressions.want(*text.range->filter, base_type(Base::boolean));
  }
  if (text.expr) result.result = expressions.want(*text.expr, integer);
  std::vector<std::string> names;
  for (const Parameter& p : op.tensors) names.push_back(p.name);
  for (const syntax::AxisOperand& operand : text.operands) {
    const auto at = std::find(names.begin(), names.end(), operand.parameter.text);
    if (at == names.end()) {
      report(id::unknown_parameter, operand.parameter.span,
             "there is no tensor parameter `" + operand.parameter.text + "`",
             support::did_you_mean(operand.parameter.text, names));
      continue;
    }
    const auto parameter = static_cast<std::size_t>(at - names.begin());
    for (const AxisClause::Operand& other : result.operands) {
      if (other.parameter == parameter) {
        report(id::duplicate, operand.parameter.span, "`" + *at + "` is there twice in one clause");
      }
    }
    result.operands.push_back({parameter, expressions.want(operand.axis, integer)});
  }
  expressions.leave(mark);
  op.axes.push_back(std::move(result));
}

void Resolver::linear_clause(const Clause& text, Operator& op, Expressions& expressions) {
  std::optional<Expr> condition;
  expressions.set_place(Place::axis);
  if (text.expr) condition = expressions.want(*text.expr, base_type(Base::boolean));
  std::vector<std::string> names;
  for (const Parameter& p : op.tensors) names.push_back(p.name);
  for (const syntax::Name& name : text.names) {
    const auto at = std::find(names.begin(), names.end(), name.text);
    if (at == names.end()) {
      report(id::unknown_parameter, name.span, "there is no tensor parameter `" + name.text + "`",
             support::did_you_mean(name.text, names));
      continue;
    }
    op.linear.push_back({static_cast<std::size_t>(at - names.begin()), condition});
  }
}

void Resolver::check_operator(const syntax::OperatorText& text, Operator& op) {
  const auto clause_span = [&](Clause::Kind kind) {
    for (const Clause& c : text.clauses) {
      if (c.kind == kind) return c.span;
    }
    return text.name.span;
  };
  if (op.elementwise) {
    if (op.shape) {
      report(id::clause, clause_span(Clause::Kind::shape),
             "an elementwise operator has the shape of its operands");
    }
    for (const AxisClause& axes : op.axes) {
      report(id::clause, axes.span,
             axes.kind == AxisClause::Kind::maps ? "an elementwise operator maps every axis to itself already"
                                                 : "an elementwise operator reduces nothing");
    }
    if (op.tensors.empty()) report(id::clause, text.name.span, "an elementwise operator has operands");
  }
  if (op.tensors.empty() && !op.elementwise && !op.shape) {
    report(id::clause, text.name.span, "an operator without tensors needs a `shape` clause");
  }
  if (op.tensors.empty() && !op.elementwise && !op.dtype) {
    report(id::clause, text.name.span, "an operator without tensors needs a `dtype` clause");
  }
  if (op.commutative && (op.tensors.size() > 2 || op.tensors.empty())) {
    report(id::clause, text.name.span, "a commutative operator takes a list, or two tensors");
  }
  if (op.random && op.value) {
    report(id::clause, clause_span(Clause::Kind::value), "what is random is not a function of its operands");
  }
  if (op.drawn && (!op.elementwise || op.random || op.tensors.size() < 2)) {
    report(id::clause, text.name.span,
           "what is drawn for each place is elementwise, has the places as its last operand, and is not "
           "`random`");
  }
  if (op.converts &&
      (!op.elementwise || op.tensors.size() != 1 || op.tensors[0].type.is_list() || op.value)) {
    report(id::clause, text.name.span, "what converts is elementwise, has one tensor and no `value`");
  }
  // Which `let`s depend on sizes: axis clauses must not mention them.
  std::vector<bool> sizes(op.slots.size(), false);
  for (const Let& let : op.lets) sizes[let.slot] = depends_on_sizes(let.value, sizes);
  const auto check = [&](const std::optional<Expr>& expr) {
    if (!expr || !depends_on_sizes(*expr, sizes)) return;
    // What mentions sizes directly has been reported where it stands.
    std::vector<bool> none;
    if (depends_on_sizes(*expr, none)) return;
    report(id::size_dependent, expr->span,
           "axis clauses may depend on attributes, ranks and dtypes, not on sizes",
           "a `let` used here is about sizes");
  };
  for (const AxisClause& axes : op.axes) {
    check(axes.bound);
    check(axes.filter);
    check(axes.result);
    for (const AxisClause::Operand& operand : axes.operands) check(operand.axis);
  }
  for (const LinearClause& linear : op.linear) check(linear.condition);
  const bool own_value = op.value.has_value();
  implied_value(text, op);
  const bool claims = !op.axes.empty() || !op.linear.empty() || op.rearranges || op.commutative;
  if (!own_value && claims && op.because.empty()) {
    report(id::missing_because, text.name.span,
           "`" + op.name + "` has no `value`: what it claims needs a reason",
           "`because \"...\";` gives one, and makes it an axiom");
  }
}

// An elementwise operator without `value` applies the scalar function of its name, attributes first.
void Resolver::implied_value(const syntax::OperatorText& text, Operator& op) {
  if (!op.elementwise || op.value || op.random) return;
  const bool lists =
      std::any_of(op.tensors.begin(), op.tensors.end(), [](const Parameter& p) { return p.type.is_list(); });
  if (lists) {
    report(id::clause, text.name.span, "an elementwise operator on a list needs a `value` clause");
    return;
  }
  const auto arity = globals_.function_arity.find(op.name);
  if (arity == globals_.function_arity.end()) return;
  const std::size_t needed = op.attributes.size() + op.tensors.size();
  if (arity->second != needed) {
    report(id::arity, text.name.span,
           "the scalar function `" + op.name + "` takes " + std::to_string(arity->second) +
               " arguments, not " + std::to_string(needed) + " as this operator does (attributes first)");
    return;
  }
  const auto variable = [&](Slot slot) {
    Expr expr;
    expr.kind = ExprKind::variable;
    expr.span = text.name.span;
    expr.slot = slot;
    expr.name = op.slots[slot].name;
    expr.type = op.slots[slot].type;
    return expr;
  };
  op.value_index = static_cast<Slot>(op.slots.size());
  std::string index = "i";
  while (std::any_of(op.slots.begin(), op.slots.end(), [&](const Variable& v) { return v.name == index; }))
    index += "i";
  op.slots.push_back({index, base_type(Base::integer, 1), text.name.span});
  Expr value;
  value.kind = ExprKind::scalar_call;
  value.span = text.name.span;
  value.name = op.name;
  for (const Parameter& p : op.attributes) value.args.push_back(variable(p.slot));
  for (const Parameter& p : op.tensors) {
    Expr element;
    element.kind = ExprKind::index;
    element.span = text.name.span;
    element.args.push_back(variable(p.slot));
    element.args.push_back(variable(op.value_index));
    value.args.push_back(std::move(element));
  }
  op.value = std::move(value);
}

}  // namespace entangle::rules
