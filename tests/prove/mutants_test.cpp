// Mutated lemmas: a premise dropped, an axis changed, two operands exchanged. What the interpreter finds
// false must not be proved.
//
// A sample by default; all of them with ENTANGLE_MUTANTS=1, which also prints a table.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "entangle/prove/prove.h"
#include "entangle/support/paths.h"

namespace entangle::prove {
namespace {

using rules::Expr;
using rules::ExprKind;

struct Mutant {
  std::string what;
  rules::Lemma lemma;
};

// Calls `change` with each application on the right side of a copy of the lemma; it says what it changed, if
// anything.
void mutate_right(const rules::RuleSet& rules, const rules::Lemma& lemma,
                  const std::function<std::vector<std::pair<std::string, Expr>>(const Expr&)>& changed,
                  std::vector<Mutant>& into) {
  const std::function<void(Expr&, rules::Lemma&)> visit = [&](Expr& expr, rules::Lemma& copy) {
    if (expr.kind == ExprKind::apply) {
      const Expr saved = expr;
      for (auto& [what, other] : changed(saved)) {
        expr = std::move(other);
        into.push_back({what + " of " + rules.op(saved.op).name, copy});
        expr = saved;
      }
    }
    for (Expr& arg : expr.args) visit(arg, copy);
  };
  rules::Lemma copy = lemma;
  visit(copy.right, copy);
}

std::vector<Mutant> mutants(const rules::RuleSet& rules, const rules::Lemma& lemma) {
  std::vector<Mutant> result;
  for (std::size_t k = 0; k < lemma.when.size(); ++k) {
    Mutant mutant{"premise " + std::to_string(k) + " dropped", lemma};
    mutant.lemma.when.erase(mutant.lemma.when.begin() + static_cast<std::ptrdiff_t>(k));
    result.push_back(std::move(mutant));
  }
  mutate_right(
      rules, lemma,
      [&](const Expr& expr) {
        std::vector<std::pair<std::string, Expr>> changes;
        const rules::Operator& op = rules.op(expr.op);
        if (!op.commutative && expr.args.size() == 2) {
          Expr other = expr;
          std::swap(other.args[0], other.args[1]);
          changes.emplace_back("operands exchanged", std::move(other));
        }
        for (std::size_t k = 0; k < expr.attrs.size() && k < op.attributes.size(); ++k) {
          if (op.attributes[k].type.base != rules::Base::axis || op.attributes[k].type.depth > 0) continue;
          // d becomes d + 1.
          Expr one;
          one.kind = ExprKind::literal;
          one.value = tensor::Attr::of(sym::Int(1));
          Expr sum;
          sum.kind = ExprKind::binary;
          sum.operation = rules::Operation::add;
          sum.args = {expr.attrs[k], one};
          Expr other = expr;
          other.attrs[k] = std::move(sum);
          changes.emplace_back("axis changed", std::move(other));
        }
        return changes;
      },
      result);
  return result;
}

TEST_CASE("mutated lemmas are not proved where they are false") {
  const rules::Loaded loaded =
      rules::load_rules({std::string(ENTANGLE_SOURCE_DIR) + "/rules/aten.rules"}, support::rule_folders());
  REQUIRE(loaded.ok());
  const bool all = std::getenv("ENTANGLE_MUTANTS") != nullptr;
  std::map<std::string, std::size_t> table;
  std::size_t number = 0;
  for (const rules::Lemma& lemma : loaded.rules->lemmas()) {
    if (lemma.axiom || (lemma.generic && !all)) continue;
    for (const Mutant& mutant : mutants(*loaded.rules, lemma)) {
      if (!all && number++ % 12 != 0) continue;
      Options tried;
      tried.instances = lemma.generic ? 6 : 60;
      tried.prove = false;
      Options proved;
      proved.instances = 0;
      const Result by_instances = examine(*loaded.rules, mutant.lemma, tried);
      const Result by_proof = examine(*loaded.rules, mutant.lemma, proved);
      CAPTURE(lemma.name);
      CAPTURE(mutant.what);
      const bool is_false = by_instances.outcome == Outcome::refuted;
      if (is_false) CHECK(by_proof.outcome != Outcome::proved);
      if (is_false) CHECK(by_proof.outcome != Outcome::bounded);
      const std::string row =
          (is_false ? "false: " : "not found false: ") + to_string(by_proof.outcome) + " by proof alone";
      ++table[row];
      if (all && !is_false) std::cout << lemma.name << ", " << mutant.what << ": " << row << "\n";
    }
  }
  for (const auto& [row, count] : table) std::cout << row << ": " << count << "\n";
  CHECK(table["false: refuted by proof alone"] > 0);
}

}  // namespace
}  // namespace entangle::prove
