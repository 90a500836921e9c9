#include "cli/proofs.h"

#include <algorithm>
#include <set>

#include "entangle/prove/claims.h"
#include "entangle/prove/prove.h"
#include "entangle/rules/library.h"

namespace entangle::cli {

namespace {

infer::Unproved entry(infer::Unproved::Kind kind, const rules::Lemma& lemma, std::string said) {
  return {kind, lemma.name, support::source_path(lemma.span.file), lemma.span.line, std::move(said)};
}

}  // namespace

support::Status Proofs::read(const std::string& path) {
  support::Result<Ledger> ledger = Ledger::read(path);
  if (!ledger) return ledger.error();
  ledger_ = std::move(*ledger);
  return support::Unit{};
}

std::optional<support::Diagnostic> Proofs::refuted(const rules::RuleSet& rules) const {
  if (!ledger_) return std::nullopt;
  std::optional<support::Diagnostic> result;
  const prove::Fingerprints fingerprints(rules);
  const auto look_up = [&](const char* what, const rules::Lemma& lemma, const std::string& key) {
    const auto found = ledger_->find(key);
    if (!found || found->outcome != prove::Outcome::refuted) return;
    const std::string message =
        std::string("the ") + what + " `" + lemma.name + "` is refuted by the proof ledger";
    if (result) {
      result->notes.push_back({lemma.span, message});
    } else {
      result = support::error("cli/refuted-" + std::string(what), lemma.span, message,
                              "`entangle prove --lemma \"" + lemma.name + "\"` shows where it fails");
    }
  };
  for (const rules::Lemma& lemma : rules.lemmas()) look_up("lemma", lemma, fingerprints.of(lemma));
  const prove::Claims claims(rules);
  for (const prove::Claim& claim : claims.all()) look_up("claim", claim.lemma, fingerprints.of(claim));
  return result;
}

std::string Proofs::said_of(const std::string& key) const {
  const auto found = ledger_->find(key);
  if (!found) return "not in the ledger";
  const bool fine = found->outcome == prove::Outcome::proved || found->outcome == prove::Outcome::axiom;
  return fine ? "" : prove::to_string(found->outcome);
}

std::vector<infer::Unproved> Proofs::unproved(const rules::RuleSet& rules,
                                              const infer::Verdict& verdict) const {
  std::set<std::uint32_t> lemmas, operators;
  for (const auto* uses : {&verdict.lemmas, &verdict.normalised}) {
    for (const infer::LemmaUse& use : *uses) {
      const rules::Lemma& lemma = rules.lemmas()[use.index];
      if (!lemma.axiom && !rules::is_of_library(lemma.span.file)) lemmas.insert(use.index);
    }
  }
  for (const std::uint32_t op : verdict.operators) {
    if (!rules::is_of_library(rules.op(op).span.file)) operators.insert(op);
  }
  std::vector<infer::Unproved> result;
  if (lemmas.empty() && operators.empty()) return result;
  std::optional<prove::Fingerprints> fingerprints;
  if (ledger_) fingerprints.emplace(rules);
  const auto add = [&](infer::Unproved::Kind kind, const rules::Lemma& lemma, const auto& fingerprinted) {
    std::string said = fingerprints ? said_of(fingerprints->of(fingerprinted)) : "not proved";
    if (!said.empty()) result.push_back(entry(kind, lemma, std::move(said)));
  };
  for (const std::uint32_t index : lemmas) {
    add(infer::Unproved::Kind::lemma, rules.lemmas()[index], rules.lemmas()[index]);
  }
  if (operators.empty()) return result;
  const prove::Claims claims(rules);
  for (const prove::Claim& claim : claims.all()) {
    // What is said of an operator without a value is an axiom.
    if (operators.contains(claim.op) && !claim.lemma.axiom && rules.op(claim.op).because.empty()) {
      add(infer::Unproved::Kind::claim, claim.lemma, claim);
    }
  }
  return result;
}

}  // namespace entangle::cli
