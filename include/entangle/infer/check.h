// check: reads the graphs a manifest names, infers a clean relation for every sequential tensor the outputs
// in question depend on, and says whether the distributed program refines the sequential one.
//
// `refines` is answered only when every output in question has a relation that meets its expectation, every
// look-up of the distributed program is shown to be in range, and no limit or unknown answer was needed for
// it. Bad input is an error, never a verdict.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "entangle/egraph/saturate.h"
#include "entangle/infer/verdict.h"
#include "entangle/relation/manifest.h"
#include "entangle/rules/ruleset.h"
#include "entangle/support/diagnostic.h"

namespace entangle::infer {

// A rule set ready to run; shared by all manifests of one call.
struct Engine {
  std::shared_ptr<const rules::RuleSet> rules;
  std::shared_ptr<const egraph::Program> program;

  static Engine of(std::shared_ptr<const rules::RuleSet> rules);
};

struct CheckOptions {
  egraph::Limits limits;
  std::optional<double> time_limit;  // seconds; reaching it makes the verdict unproved
  bool memo = true;                  // solve equal local problems once; without, the verdict is the same
  // Where the verdict and the solutions of local problems are kept for the next check of the same manifest;
  // "" keeps nothing. What is in this folder is believed.
  std::string memo_folder = {};
  // Told when something there cannot be used or written.
  std::function<void(const support::Diagnostic&)> warn = {};
  // Called now and then when a check takes long: operators done, of how many, and the current tensor.
  std::function<void(std::size_t done, std::size_t total, const std::string& current)> progress = {};
  bool all_relations = false;  // fill Verdict::relations
  bool last = false;  // the process ends soon: what was built is left to that, which frees it at once
};

support::Result<Verdict> check(const relation::Manifest& manifest, const Engine& engine,
                               const CheckOptions& options = {});

}  // namespace entangle::infer
