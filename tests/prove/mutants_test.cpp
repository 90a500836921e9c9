// Mutated lemmas: a premise dropped, an axis changed, two operands exchanged. Those that the interpreter
// finds false must be refuted, and the prover alone must not prove them.
//
// A sample by default; all of them with ENTANGLE_MUTANTS=N (N threads), which also prints a table.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
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

// What the two witnesses say of a mutant, each without the other.
struct Judgement {
  const Mutant* mutant = nullptr;
  std::string lemma;
  Result by_instances, by_proof;
  bool is_false() const { return by_instances.outcome == Outcome::refuted; }
  std::string row() const {
    return std::string(is_false() ? "false by the interpreter" : "not found false") + ", by proof alone " +
           to_string(by_proof.outcome);
  }
};

// The interpreter is cheap; a proof is given up early: there are many mutants.
Options trying() {
  Options tried;
  tried.prove = false;
  tried.minimise = false;
  return tried;
}

Options proving() {
  Options proved;
  proved.instances = 0;
  proved.minimise = false;
  proved.runs = 1'000;
  proved.questions = 100;
  return proved;
}

void judge(const rules::RuleSet& rules, Values& values, Judgement& one) {
  one.by_instances = examine(rules, one.mutant->lemma, values, trying());
  one.by_proof = examine(rules, one.mutant->lemma, values, proving());
}

TEST_CASE("mutated lemmas are not proved where they are false") {
  const rules::Loaded loaded =
      rules::load_rules({std::string(ENTANGLE_SOURCE_DIR) + "/rules/aten.rules"}, support::rule_folders());
  REQUIRE(loaded.ok());
  const char* asked = std::getenv("ENTANGLE_MUTANTS");
  const bool all = asked != nullptr;
  const Claims claims(*loaded.rules);
  Values values(claims);
  std::vector<Judgement> judgements;
  std::vector<std::pair<std::string, std::vector<Mutant>>> by_lemma;
  std::size_t number = 0;
  for (const rules::Lemma& lemma : loaded.rules->lemmas()) {
    if (lemma.axiom || (lemma.generic && !all)) continue;
    by_lemma.emplace_back(lemma.name, mutants(*loaded.rules, lemma));
  }
  for (const auto& [name, those] : by_lemma) {
    for (const Mutant& mutant : those) {
      if (all || number++ % 12 == 0) judgements.push_back({&mutant, name, {}, {}});
    }
  }
  std::atomic<std::size_t> next = 0;
  std::mutex printing;
  const auto work = [&] {
    for (std::size_t k = next++; k < judgements.size(); k = next++) {
      judge(*loaded.rules, values, judgements[k]);
      if (!all) continue;
      const std::lock_guard lock(printing);
      std::cout << k << ": " << judgements[k].lemma << ", " << judgements[k].mutant->what << ": "
                << judgements[k].row() << " (" << judgements[k].by_instances.seconds << " s, "
                << judgements[k].by_proof.seconds << " s)" << std::endl;
    }
  };
  std::vector<std::thread> threads;
  for (int k = 1; all && k < std::atoi(asked); ++k) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, std::size_t> table;
  std::size_t found_false = 0;
  for (const Judgement& one : judgements) {
    CAPTURE(one.lemma);
    CAPTURE(one.mutant->what);
    if (one.is_false()) CHECK(one.by_proof.outcome != Outcome::proved);
    if (one.is_false()) CHECK(one.by_proof.outcome != Outcome::bounded);
    found_false += one.is_false() ? 1 : 0;
    ++table[one.row()];
  }
  CHECK(found_false > 0);
  std::cout << judgements.size() << " mutants\n";
  for (const auto& [row, count] : table) std::cout << row << ": " << count << "\n";
}

}  // namespace
}  // namespace entangle::prove
