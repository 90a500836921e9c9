#include "cli/prove_command.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/ledger.h"
#include "cli/progress_line.h"
#include "cli/rule_loader.h"
#include "entangle/prove/prove.h"
#include "entangle/rules/ruleset.h"
#include "entangle/smt/query_cache.h"
#include "entangle/support/diagnostic.h"
#include "entangle/support/output_file.h"
#include "entangle/support/text.h"

namespace entangle::cli {

namespace {

using prove::Outcome;
using prove::Result;

constexpr const char* kLedger = "ledger.json";
constexpr const char* kAnswers = "answers.txt";

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
    if (!open_cache()) return ExitCode::bad_input;
    for (const rules::Lemma& lemma : rules.lemmas()) {
      if (wanted(lemma.name)) lemmas_.push_back(&lemma);
    }
    results_.resize(lemmas_.size());
    if (!look_up(rules)) return ExitCode::bad_input;
    for (const rules::Lemma* lemma : lemmas_) width_ = std::max(width_, lemma->name.size() + 2);
    if (!to_stdout()) std::cout << padded("lemma", width_) << "verdict   ranks           time   reason\n";
    work(rules);
    for (std::size_t k = 0; k < lemmas_.size(); ++k) {
      const Result& result = *results_[k];
      ++counts_[result.outcome];
      if (result.outcome == Outcome::refuted) {
        code_ = worst(code_, ExitCode::violates);
      } else if (result.outcome < required(rules, *lemmas_[k])) {
        code_ = worst(code_, ExitCode::unproved);
      }
    }
    if (!to_stdout()) summarise(rules);
    if (!save_cache()) code_ = worst(code_, ExitCode::bad_input);
    return finish();
  }

 private:
  bool to_stdout() const { return arguments_.json == "-"; }

  bool report(const support::Status& status) {
    if (!status) std::cerr << support::render(status.error());
    return static_cast<bool>(status);
  }

  std::string in_cache(const char* file) const {
    return (std::filesystem::path(arguments_.cache) / file).string();
  }

  bool open_cache() {
    smt::QueryCache::shared().enable(true);
    if (arguments_.cache.empty()) return true;
    std::error_code failed;
    if (!arguments_.cache_only) std::filesystem::create_directories(arguments_.cache, failed);
    if (failed) {
      std::cerr << support::render(support::error(
          "cli/cannot-write", {}, "cannot make the folder `" + arguments_.cache + "`: " + failed.message()));
      return false;
    }
    support::Result<Ledger> ledger = Ledger::read(in_cache(kLedger));
    if (!ledger) {
      std::cerr << support::render(ledger.error());
      return false;
    }
    ledger_ = std::move(*ledger);
    return true;
  }

  bool save_cache() {
    if (arguments_.cache.empty() || arguments_.cache_only || !changed_) return true;
    const bool ledger = report(ledger_.write(in_cache(kLedger)));
    return report(smt::QueryCache::shared().save(in_cache(kAnswers))) && ledger;
  }

  prove::Options options() const {
    prove::Options options;
    options.instances = arguments_.instances;
    options.seed = arguments_.seed;
    return options;
  }

  // What is in the ledger needs no work.
  bool look_up(const rules::RuleSet& rules) {
    if (arguments_.cache.empty()) return true;
    const prove::Fingerprints fingerprints(rules, options());
    for (std::size_t k = 0; k < lemmas_.size(); ++k) {
      keys_.push_back(fingerprints.of(*lemmas_[k]));
      if (auto known = ledger_.find(keys_[k])) {
        known->name = lemmas_[k]->name;
        known->span = lemmas_[k]->span;
        results_[k] = std::move(*known);
      } else if (arguments_.cache_only) {
        std::cerr << support::render(
            support::error("cli/not-in-cache", lemmas_[k]->span,
                           "the lemma `" + lemmas_[k]->name + "` is not in the cache"));
        return false;
      }
    }
    return true;
  }

  // Works on several lemmas at a time; they are shown in order.
  void work(const rules::RuleSet& rules) {
    std::mutex mutex;
    std::condition_variable done;
    std::size_t next = 0;
    const auto worker = [&] {
      for (;;) {
        std::size_t mine = 0;
        {
          const std::lock_guard lock(mutex);
          while (next < lemmas_.size() && results_[next]) ++next;
          if (next == lemmas_.size()) return;
          mine = next++;
        }
        Result result = prove::examine(rules, *lemmas_[mine], options());
        const std::lock_guard lock(mutex);
        results_[mine] = std::move(result);
        changed_ = true;
        done.notify_one();
      }
    };
    std::vector<std::thread> threads;
    const bool any = std::ranges::any_of(results_, [](const auto& result) { return !result; });
    // The solver's answers are read only where something is to be proved.
    if (any && !arguments_.cache.empty() && !report(smt::QueryCache::shared().load(in_cache(kAnswers)))) {
      code_ = worst(code_, ExitCode::bad_input);
    }
    for (std::size_t k = 0; any && k < arguments_.jobs; ++k) threads.emplace_back(worker);
    ProgressLine line;
    for (std::size_t k = 0; k < lemmas_.size(); ++k) {
      std::unique_lock lock(mutex);
      if (!results_[k]) {
        line.show(std::to_string(k) + " of " + std::to_string(lemmas_.size()) + ": " + lemmas_[k]->name);
      }
      done.wait(lock, [&] { return results_[k].has_value(); });
      line.clear();
      if (!keys_.empty()) ledger_.add(keys_[k], *results_[k]);
      show(*results_[k]);
    }
    for (std::thread& thread : threads) thread.join();
  }

  void show(const Result& result) const {
    if (to_stdout()) return;
    std::cout << padded(result.name, width_) << padded(prove::to_string(result.outcome), 10)
              << padded(ranks_of(result), 16) << padded(seconds(result.seconds), 7) << result.reason << "\n"
              << result.counterexample << std::flush;
  }

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

  void summarise(const rules::RuleSet& rules) const {
    std::vector<std::string> parts;
    for (const auto& [outcome, count] : counts_) {
      parts.push_back(std::to_string(count) + " " + prove::to_string(outcome));
    }
    std::cout << results_.size() << " lemmas: " << (parts.empty() ? "none" : support::join(parts, ", "))
              << "; " << rules.laws().size() << " laws of scalar functions are taken on trust\n";
  }

  ExitCode finish() {
    if (!arguments_.json.empty()) {
      nlohmann::ordered_json lemmas = nlohmann::ordered_json::array();
      for (const auto& known : results_) {
        const Result& result = *known;
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
  support::OutputFile json_;
  Ledger ledger_;
  std::vector<const rules::Lemma*> lemmas_;
  std::vector<std::string> keys_;  // of the lemmas, where there is a cache
  std::vector<std::optional<Result>> results_;
  std::size_t width_ = 8;
  bool changed_ = false;
  std::map<Outcome, std::size_t> counts_;
  ExitCode code_ = ExitCode::refines;
};

}  // namespace

ExitCode prove(const ProveArguments& arguments) {
  return Prove(arguments).run();
}

}  // namespace entangle::cli
