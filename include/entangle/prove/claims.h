// Claims: what the declarations of operators say of them (`value`, `elementwise`, `maps`, `reduces`,
// `linear`, `commutative`, `rearranges`), each as a statement of its own that is proved or refuted like a
// lemma.
//
// `value`: it reads only elements, entries of lists and maxima that are there, for everything that `require`
// admits; what an elementwise operator without a `value` applies is left out. Every other proof rests on it.
// The statements use operators that no rule file can name (windows, joins, sums). `maps`: a window of the
// result is the result for windows of the operands. `reduces`: the result for two blocks is the sum or
// maximum of the results for each. `linear`: f(x + c z) = f(x) + c f(z). `commutative`: exchanged operands,
// and for a list its rotation, change nothing. `rearranges`: any function of each element may be applied
// before or after. The right side of these has to be defined, too. Of an operator without a `value` of its
// own such a claim is an axiom: nothing else says what the operator is. Of operators that are `random` or
// `drawn` nothing is claimed: they are no functions of their operands.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::prove {

struct Claim {
  rules::OpId op = rules::kNoOp;
  // Named `softmax: maps other`; where the operator variable stands, for this operator and clause only.
  rules::Lemma lemma;
  std::optional<std::size_t> clause;
  bool inside = false;  // that of `value`
};

class Claims {
 public:
  explicit Claims(const rules::RuleSet& rules);

  // The operators' own rules, and what the statements are made of.
  const std::shared_ptr<const rules::RuleSet>& rules() const { return rules_; }
  // In the order of the declarations.
  const std::vector<Claim>& all() const { return claims_; }
  // That the operator's `value` reads what is there; null where nothing is to be shown.
  const Claim* inside(rules::OpId op) const;

 private:
  std::shared_ptr<const rules::RuleSet> rules_;
  std::vector<Claim> claims_;
  std::map<rules::OpId, std::size_t> inside_;
};

}  // namespace entangle::prove
