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

Lowerings::Lowerings(std::vector<Head> heads, Bytes bytes, std::vector<support::FileId> files)
    : heads_(std::move(heads)),
      cells_(std::make_shared<std::vector<Cell>>(heads_.size())),
      bytes_(std::move(bytes)),
      files_(std::move(files)) {}

const Lowering& Lowerings::operator[](std::size_t index) const {
  Cell& cell = (*cells_)[index];
  std::call_once(cell.decoded, [&] {
    cell.lowering = std::make_unique<const Lowering>(read_lowering(bytes_(index), files_));
  });
  return *cell.lowering;
}

OpId RuleSet::find_op(std::string_view name) const {
  const auto found = op_by_name_.find(std::string(name));
  return found == op_by_name_.end() ? kNoOp : found->second;
}

const Predicate* RuleSet::find_predicate(std::string_view name) const {
  for (const Predicate& predicate : predicates_) {
    if (predicate.name == name) return &predicate;
  }
  return nullptr;
}

const std::vector<std::size_t>& RuleSet::lowerings_of(const std::string& framework_op) const {
  static const std::vector<std::size_t> none;
  const auto found = lowerings_by_op_.find(framework_op);
  return found == lowerings_by_op_.end() ? none : found->second;
}

std::shared_ptr<const RuleSet> RuleSet::without_lemma(std::size_t index) const {
  auto copy = std::make_shared<RuleSet>(*this);
  copy->lemmas_.erase(copy->lemmas_.begin() + static_cast<std::ptrdiff_t>(index));
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
  auto copy = std::make_shared<RuleSet>(*this);
  const auto by = static_cast<OpId>(operators_.size());
  // Clauses of operators apply none.
  for (Operator op : other.operators_) {
    op.id += by;
    copy->operators_.push_back(std::move(op));
  }
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
    copy->lemmas_.push_back(std::move(lemma));
  }
  return copy;
}

Accept RuleSet::accept(support::FileId file) const {
  const auto found = accept_.find(file);
  return found == accept_.end() ? Accept::none : found->second;
}

}  // namespace entangle::rules
