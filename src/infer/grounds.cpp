#include "grounds.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "entangle/rules/library.h"

namespace entangle::infer {
namespace {

std::vector<LemmaUse> lemma_uses(const rules::RuleSet& rules, const egraph::Counters& counters,
                                 std::uint64_t egraph::LemmaCounts::*count) {
  std::vector<LemmaUse> uses;
  for (const auto& [lemma, counts] : counters.lemmas) {
    if (counts.*count > 0) {
      uses.push_back({rules.lemmas()[lemma].name, counts.*count, lemma});
    }
  }
  std::ranges::sort(uses, [](const LemmaUse& a, const LemmaUse& b) {
    return std::tuple(~a.applied, a.name) < std::tuple(~b.applied, b.name);
  });
  return uses;
}

std::vector<std::uint32_t> operators_met(const egraph::EGraph& joint, const egraph::Counters& counters) {
  const rules::RuleSet& rules = joint.rules();
  std::vector<bool> found(rules.operators().size(), false);
  for (term::TermId term = 0; term < joint.term_count(); ++term) {
    if (const rules::OpId op = joint.original(term).op; op != rules::kNoOp) {
      found[op] = true;
    }
  }
  for (const auto& [lemma, counts] : counters.lemmas) {
    if (counts.applied > 0 || counts.normalised > 0) {
      rules::collect_operators(rules.lemmas()[lemma].left, found);
      rules::collect_operators(rules.lemmas()[lemma].right, found);
    }
  }
  std::vector<std::uint32_t> result;
  for (std::uint32_t op = 0; op < found.size(); ++op) {
    if (found[op]) {
      result.push_back(op);
    }
  }
  return result;
}

}  // namespace

void record_grounds(const egraph::EGraph& joint, const egraph::Counters& counters, Verdict& verdict) {
  verdict.lemmas = lemma_uses(joint.rules(), counters, &egraph::LemmaCounts::applied);
  verdict.normalised = lemma_uses(joint.rules(), counters, &egraph::LemmaCounts::normalised);
  verdict.operators = operators_met(joint, counters);
}

std::vector<std::string> axioms(const rules::RuleSet& rules, const Verdict& verdict) {
  // In the order of the rules.
  std::map<std::uint32_t, const rules::Lemma*> lemmas;
  for (const std::vector<LemmaUse>* uses : {&verdict.lemmas, &verdict.normalised}) {
    for (const LemmaUse& use : *uses) {
      if (const rules::Lemma& lemma = rules.lemmas()[use.index]; lemma.axiom) {
        lemmas.emplace(use.index, &lemma);
      }
    }
  }
  std::vector<std::string> result;
  for (const auto& [index, lemma] : lemmas) {
    result.push_back("axiom `" + lemma->name + "` (" + rules::place_of(lemma->span) + "): " + lemma->because);
  }
  for (const std::uint32_t id : verdict.operators) {
    const rules::Operator& op = rules.op(id);
    // Casts are listed where types differ: see assumptions.
    if (!op.because.empty() && !op.converts) {
      result.push_back("axiom about `" + op.name + "` (" + rules::place_of(op.span) + "): " + op.because);
    }
  }
  return result;
}

}  // namespace entangle::infer
