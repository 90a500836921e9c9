#include "prove/vocabulary.h"

#include <algorithm>
#include <array>
#include <string>

#include "prove/expressions.h"

namespace entangle::prove {

using rules::Base;
using rules::Builtin;
using rules::Expr;
using rules::ExprKind;
using tensor::Attr;
using tensor::DType;

namespace {

bool contains(const std::vector<DType>& all, DType one) {
  return std::ranges::find(all, one) != all.end();
}

bool any_part(const Expr& expr, const auto& holds) {
  return holds(expr) ||
         std::ranges::any_of(expr.args, [&](const Expr& part) { return any_part(part, holds); }) ||
         std::ranges::any_of(expr.attrs, [&](const Expr& part) { return any_part(part, holds); });
}

// Whether the element type of the result is another than that of an operand or an attribute, or one that is
// named, only under some conditions.
bool chooses(const Expr& dtype) {
  return any_part(dtype, [](const Expr& part) {
    return part.kind == ExprKind::conditional || part.kind == ExprKind::binary;
  });
}

// Kinds of element types that conditions tell apart, the usual ones first.
const std::array<std::vector<DType>, 4>& kinds() {
  static const std::array<std::vector<DType>, 4> kKinds{
      {{DType::f32, DType::bf16, DType::f16, DType::f64},
       {DType::i64, DType::i32, DType::i16, DType::i8, DType::u8},
       {DType::b8},
       {DType::f8}}};
  return kKinds;
}

}  // namespace

Vocabulary::Vocabulary(const rules::RuleSet& rules, const Subject& subject, rules::OpId op) : rules_(rules) {
  const rules::Lemma& lemma = subject.lemma;
  for (const rules::Given& given : lemma.given) {
    add(given.pattern);
    if (given.equal_to) add(*given.equal_to);
  }
  add(lemma.left);
  add(lemma.right);
  for (const Expr& condition : lemma.when) add(condition);
  if (op != rules::kNoOp) {
    add(rules.op(op));
    dtypes_matter_ = dtypes_matter_ || std::ranges::any_of(rules.op(op).linear, [](const auto& linear) {
                       return linear.condition.has_value();
                     });
  }
  const auto asked = [&](const Expr& expr) { return asks_dtype(rules, expr); };
  dtypes_matter_ =
      dtypes_matter_ || asked(lemma.left) || asked(lemma.right) || std::ranges::any_of(lemma.when, asked);
  for (const auto& kind : kinds()) {
    if (kind[0] == DType::f8 && !narrow_) continue;
    dtypes_.push_back(kind[0]);
  }
  // Two of a kind, as one may be compared with the other.
  for (const auto& kind : kinds()) {
    if (kind.size() > 1) dtypes_.push_back(kind[1]);
  }
  for (const Attr& literal : literals_) {
    if (literal.kind() == Attr::Kind::dtype && !contains(dtypes_, literal.as_dtype())) {
      dtypes_.push_back(literal.as_dtype());
    }
  }
  // One that is not mentioned.
  for (const auto& kind : kinds()) {
    const auto mentioned = [&](DType one) {
      return std::ranges::find(literals_, Attr::of(one)) != literals_.end();
    };
    const bool all =
        std::ranges::all_of(kind, [&](DType one) { return !contains(dtypes_, one) || mentioned(one); });
    const auto other = std::ranges::find_if(kind, [&](DType one) { return !contains(dtypes_, one); });
    if (all && other != kind.end() && *other != DType::f8) dtypes_.push_back(*other);
  }
}

void Vocabulary::add(const Attr& attr) {
  if (attr.kind() == Attr::Kind::list) {
    for (const Attr& entry : attr.as_list()) add(entry);
  }
  if (std::ranges::find(literals_, attr) == literals_.end()) literals_.push_back(attr);
}

void Vocabulary::add(const Expr& expr) {
  if (expr.kind == ExprKind::literal) add(expr.value);
  if (expr.kind == ExprKind::apply) add(rules_.op(expr.op));
  if (expr.kind == ExprKind::call) {
    narrow_ = narrow_ || expr.builtin == Builtin::is_float || expr.builtin == Builtin::is_wide_float;
    values_matter_ = values_matter_ || expr.builtin == Builtin::is_none;
  }
  for (const Expr& arg : expr.args) add(arg);
  for (const Expr& attr : expr.attrs) add(attr);
}

void Vocabulary::add(const rules::Operator& op) {
  if (std::ranges::find(operators_, op.id) != operators_.end()) return;
  operators_.push_back(op.id);
  std::vector<const Expr*> clauses;
  for (const rules::Let& let : op.lets) clauses.push_back(&let.value);
  if (op.shape) clauses.push_back(&*op.shape);
  if (op.value) clauses.push_back(&*op.value);
  for (const rules::AxisClause& clause : op.axes) {
    for (const auto* part : {&clause.bound, &clause.filter, &clause.result}) {
      if (*part) clauses.push_back(&**part);
    }
    for (const auto& operand : clause.operands) clauses.push_back(&operand.axis);
  }
  const auto asked = [&](const Expr* clause) { return asks_dtype(rules_, *clause); };
  dtypes_matter_ = dtypes_matter_ || std::ranges::any_of(clauses, asked) || (op.dtype && chooses(*op.dtype));
  if (op.dtype) clauses.push_back(&*op.dtype);
  for (const Expr& requirement : op.requires_) clauses.push_back(&requirement);
  for (const rules::LinearClause& linear : op.linear) {
    if (linear.condition) clauses.push_back(&*linear.condition);
  }
  for (const Expr* clause : clauses) add(*clause);
  for (const rules::Parameter& one : op.attributes) {
    const auto reads = [&](const Expr& part) {
      return part.kind == ExprKind::variable && part.slot == one.slot;
    };
    values_matter_ = values_matter_ ||
                     (one.type.base == Base::any && std::ranges::any_of(clauses, [&](const Expr* clause) {
                        return any_part(*clause, reads);
                      }));
  }
}

std::vector<Attr> Vocabulary::names(std::size_t fresh) const {
  std::vector<Attr> result;
  for (const Attr& literal : literals_) {
    if (literal.kind() == Attr::Kind::name) result.push_back(literal);
  }
  for (std::size_t number = 0; fresh > 0; ++number) {
    const Attr name = Attr::name(number == 0 ? "other" : "other" + std::to_string(number));
    if (std::ranges::find(literals_, name) != literals_.end()) continue;
    result.push_back(name);
    --fresh;
  }
  return result;
}

std::vector<Attr> Vocabulary::values(std::size_t fresh) const {
  std::vector<Attr> result{Attr()};
  for (const Attr& literal : literals_) {
    if (literal.kind() != Attr::Kind::name && !literal.is_none()) result.push_back(literal);
  }
  const std::vector<Attr> others = names(fresh);
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

}  // namespace entangle::prove
