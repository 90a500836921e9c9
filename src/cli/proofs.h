// What is known to be proved of the rules that a verdict rests on.
//
// The rule library that comes with the program is proved by its tests, and nothing is said of it. Of all
// other rules a proof ledger says it, if there is one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ledger.h"
#include "entangle/infer/verdict.h"
#include "entangle/rules/ruleset.h"
#include "entangle/support/diagnostic.h"

namespace entangle::cli {

class Proofs {
 public:
  // Reads a ledger.
  support::Status read(const std::string& path);

  // An error where the ledger says that lemmas or claims of the rules are refuted: those of the library, too.
  std::optional<support::Diagnostic> refuted(const rules::RuleSet& rules) const;

  // The lemmas that were applied, and the claims about operators that may have been used, that do not come
  // with the program and are not known to be proved: in the order of the rules. (Axioms are assumptions.)
  std::vector<infer::Unproved> unproved(const rules::RuleSet& rules, const infer::Verdict& verdict) const;

 private:
  // What is said of a lemma or claim with this fingerprint; "" if it is proved or an axiom.
  std::string said_of(const std::string& key) const;

  std::optional<Ledger> ledger_;
};

}  // namespace entangle::cli
