#include "entangle/rules/ruleset.h"

#include <algorithm>
#include <utility>

#include "entangle/rules/bytes.h"

namespace entangle::rules {

bool has_trait(const Operator& op, Trait trait) {
  const auto has_clause = [&](AxisClause::Kind kind) {
    return std::any_of(op.axes.begin(), op.axes.end(),
                       [&](const AxisClause& clause) { return clause.kind == kind; });
  };
  switch (trait) {
    case Trait::maps:
    case Trait::maps_pair:
      return op.elementwise || has_clause(AxisClause::Kind::maps);
    case Trait::reduces_sum:
      return has_clause(AxisClause::Kind::sum);
    case Trait::reduces_max:
      return has_clause(AxisClause::Kind::max);
    case Trait::linear:
      return !op.linear.empty();
    case Trait::elementwise:
      return op.elementwise;
  }
  return false;
}

void collect_operators(const Expr& expr, std::vector<bool>& found) {
  if (expr.op < found.size()) found[expr.op] = true;
  for (const Expr& arg : expr.args) collect_operators(arg, found);
  for (const Expr& attr : expr.attrs) collect_operators(attr, found);
}

OpId RuleSet::find_op(std::string_view name) const {
  const auto name_of = [&](OpId id) { return operators_.head(id).name; };
  const auto found = std::ranges::lower_bound(op_by_name_, name, {}, name_of);
  return found != op_by_name_.end() && name_of(*found) == name ? *found : kNoOp;
}

const Predicate* RuleSet::find_predicate(std::string_view name) const {
  for (const Predicate& predicate : predicates_) {
    if (predicate.name == name) return &predicate;
  }
  return nullptr;
}

std::span<const std::uint32_t> RuleSet::lowerings_of(std::string_view framework_op) const {
  const auto op = [&](std::uint32_t index) { return lowerings_.head(index).op; };
  const auto found = std::ranges::equal_range(lowerings_by_op_, framework_op, {}, op);
  return {found.begin(), found.end()};
}

std::shared_ptr<const RuleSet> RuleSet::without_lemma(std::size_t index) const {
  std::vector<Lemma> others(lemmas_.begin(), lemmas_.end());
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(index));
  auto copy = std::make_shared<RuleSet>(*this);
  copy->lemmas_ = lemma_list(others, lemmas_.files());
  return copy;
}

namespace {

void shift_operators(Expr& expr, OpId by) {
  if (expr.kind == ExprKind::apply) expr.op += by;
  for (Expr& arg : expr.args) shift_operators(arg, by);
  for (Expr& attr : expr.attrs) shift_operators(attr, by);
}

}  // namespace

std::shared_ptr<const RuleSet> RuleSet::with(const RuleSet& other) const {
  const auto by = static_cast<OpId>(operators_.size());
  // Clauses of operators apply none.
  std::vector<Operator> operators(operators_.begin(), operators_.end());
  for (Operator op : other.operators_) {
    op.id += by;
    operators.push_back(std::move(op));
  }
  std::vector<Lemma> lemmas(lemmas_.begin(), lemmas_.end());
  for (Lemma lemma : other.lemmas_) {
    shift_operators(lemma.left, by);
    shift_operators(lemma.right, by);
    for (auto* list : {&lemma.when, &lemma.trigger, &lemma.examples}) {
      for (Expr& expr : *list) shift_operators(expr, by);
    }
    for (Given& given : lemma.given) {
      shift_operators(given.pattern, by);
      if (given.equal_to) shift_operators(*given.equal_to, by);
    }
    lemmas.push_back(std::move(lemma));
  }
  std::vector<support::FileId> files = lemmas_.files();
  files.insert(files.end(), other.lemmas_.files().begin(), other.lemmas_.files().end());
  auto copy = std::make_shared<RuleSet>(*this);
  copy->operators_ = operator_list(operators, files);
  copy->lemmas_ = lemma_list(lemmas, files);
  return copy;
}

Accept RuleSet::accept(support::FileId file) const {
  const auto found = accept_.find(file);
  return found == accept_.end() ? Accept::none : found->second;
}

}  // namespace entangle::rules
