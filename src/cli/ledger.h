// The proof ledger: what `entangle prove` found of lemmas and of claims about operators, by a hash of the
// text and of the operators it speaks of; `entangle check` reads it, and the next `entangle prove` does not
// do the same work again.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "entangle/prove/prove.h"
#include "entangle/rules/ruleset.h"
#include "entangle/support/diagnostic.h"

namespace entangle::cli {

// In the folder of `prove --cache`.
inline constexpr const char* kLedgerFile = "ledger.json";

class Ledger {
 public:
  // Reads a ledger.
  static support::Result<Ledger> read(const std::string& path);
  support::Status write(const std::string& path) const;

  // `key` is prove::Fingerprints::of.
  std::optional<prove::Result> find(const std::string& key) const;
  void add(const std::string& key, const prove::Result& result) { results_[key] = result; }

 private:
  std::map<std::string, prove::Result> results_;
};

}  // namespace entangle::cli
