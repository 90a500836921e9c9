#include "cli/prove_command.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/output_file.h"
#include "cli/rule_loader.h"
#include "entangle/prove/prove.h"
#include "entangle/rules/ruleset.h"
#include "entangle/smt/query_cache.h"
#include "entangle/support/diagnostic.h"
#include "entangle/support/text.h"

namespace entangle::cli {

namespace {

using prove::Outcome;
using prove::Result;

std::string ranks_of(const Result& result) {
  std::vector<std::string> ranks;
  std::set<std::size_t> all = result.proved_ranks;
  if (all.empty()) {
    for (const auto& [rank, count] : result.ranks) all.insert(rank);
  }
  for (const std::size_t rank : all) ranks.push_back(std::to_string(rank));
  return support::join(ranks, ",");
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 1, ' ');
}

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fs", value);
  return text;
}

class Prove {
 public:
  explicit Prove(const ProveArguments& arguments) : arguments_(arguments) {}

  ExitCode run() {
    smt::QueryCache::shared().enable(true);
    if (!arguments_.json.empty() && !to_stdout()) {
      if (const support::Status opened = json_.open(arguments_.json); !opened) {
        std::cerr << support::render(opened.error());
        return ExitCode::bad_input;
      }
    }
    RuleLoader loader;
    const LoadedRules& loaded = loader.load_named(arguments_.rules);
    for (const support::Diagnostic& warning : loaded.warnings) std::cerr << support::render(warning);
    for (const support::Diagnostic& error : loaded.errors) std::cerr << support::render(error);
    if (!loaded.errors.empty()) return ExitCode::bad_input;
    const rules::RuleSet& rules = *loaded.engine.rules;
    if (!names_exist(rules)) return ExitCode::bad_input;
    std::size_t width = 8;
    for (const rules::Lemma& lemma : rules.lemmas()) width = std::max(width, lemma.name.size() + 2);
    if (!to_stdout()) std::cout << padded("lemma", width) << "verdict   ranks           time   reason\n";
    for (const rules::Lemma& lemma : rules.lemmas()) {
      if (!wanted(lemma.name)) continue;
      prove::Options options;
      options.instances = arguments_.instances;
      options.seed = arguments_.seed;
      results_.push_back(prove::examine(rules, lemma, options));
      const Result& result = results_.back();
      ++counts_[result.outcome];
      if (result.outcome == Outcome::refuted) {
        code_ = worst(code_, ExitCode::violates);
      } else if (result.outcome < required(rules, lemma)) {
        code_ = worst(code_, ExitCode::unproved);
      }
      if (to_stdout()) continue;
      std::cout << padded(result.name, width) << padded(prove::to_string(result.outcome), 10)
                << padded(ranks_of(result), 16) << padded(seconds(result.seconds), 7) << result.reason << "\n"
                << result.counterexample << std::flush;
    }
    if (!to_stdout()) summarise();
    return finish();
  }

 private:
  bool to_stdout() const { return arguments_.json == "-"; }

  bool wanted(const std::string& name) const {
    return arguments_.lemmas.empty() || std::ranges::find(arguments_.lemmas, name) != arguments_.lemmas.end();
  }

  bool names_exist(const rules::RuleSet& rules) const {
    std::vector<std::string> names;
    for (const rules::Lemma& lemma : rules.lemmas()) names.push_back(lemma.name);
    for (const std::string& name : arguments_.lemmas) {
      if (std::ranges::find(names, name) != names.end()) continue;
      std::cerr << support::render(support::error("cli/no-such-lemma", {}, "there is no lemma `" + name + "`",
                                                  support::did_you_mean(name, names)));
      return false;
    }
    return true;
  }

  Outcome required(const rules::RuleSet& rules, const rules::Lemma& lemma) const {
    if (arguments_.require == "proved") return Outcome::proved;
    if (arguments_.require == "bounded") return Outcome::bounded;
    if (!arguments_.require.empty()) return Outcome::tested;
    switch (rules.accept(lemma.span.file)) {
      case rules::Accept::proved:
        return Outcome::proved;
      case rules::Accept::bounded:
        return Outcome::bounded;
      case rules::Accept::none:
        break;
    }
    return Outcome::tested;
  }

  void summarise() const {
    std::vector<std::string> parts;
    for (const auto& [outcome, count] : counts_) {
      parts.push_back(std::to_string(count) + " " + prove::to_string(outcome));
    }
    std::cout << results_.size() << " lemmas: " << (parts.empty() ? "none" : support::join(parts, ", "))
              << "\n";
  }

  ExitCode finish() {
    if (!arguments_.json.empty()) {
      nlohmann::ordered_json lemmas = nlohmann::ordered_json::array();
      for (const Result& result : results_) {
        nlohmann::ordered_json ranks = nlohmann::ordered_json::object();
        for (const auto& [rank, count] : result.ranks) ranks[std::to_string(rank)] = count;
        lemmas.push_back({{"name", result.name},
                          {"file", support::source_path(result.span.file)},
                          {"line", result.span.line},
                          {"verdict", prove::to_string(result.outcome)},
                          {"ranks", ranks},
                          {"instances", result.instances},
                          {"forms", result.forms},
                          {"forms_proved", result.proved},
                          {"forms_bounded", result.bounded},
                          {"longest_list", result.longest},
                          {"operators", result.operators},
                          {"seconds", result.seconds},
                          {"reason", result.reason},
                          {"counterexample", result.counterexample.empty()
                                                 ? nlohmann::ordered_json(nullptr)
                                                 : nlohmann::ordered_json(result.counterexample)}});
      }
      const std::string text = nlohmann::ordered_json{{"lemmas", lemmas}}.dump(2) + "\n";
      if (to_stdout()) {
        std::cout << text;
      } else if (const support::Status written = json_.commit(text); !written) {
        std::cerr << support::render(written.error());
        code_ = worst(code_, ExitCode::bad_input);
      }
    }
    if (!std::cout.flush()) {
      std::cerr << support::render(support::error("cli/cannot-write", {}, "cannot write to standard output"));
      code_ = worst(code_, ExitCode::bad_input);
    }
    return code_;
  }

  const ProveArguments& arguments_;
  OutputFile json_;
  std::vector<Result> results_;
  std::map<Outcome, std::size_t> counts_;
  ExitCode code_ = ExitCode::refines;
};

}  // namespace

ExitCode prove(const ProveArguments& arguments) {
  return Prove(arguments).run();
}

}  // namespace entangle::cli
