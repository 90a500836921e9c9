#include "cli/prove_command.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/ledger.h"
#include "cli/progress_line.h"
#include "cli/rule_loader.h"
#include "entangle/prove/prove.h"
#include "entangle/rules/library.h"
#include "entangle/rules/ruleset.h"
#include "entangle/smt/query_cache.h"
#include "entangle/support/diagnostic.h"
#include "entangle/support/output_file.h"
#include "entangle/support/parallel.h"
#include "entangle/support/text.h"

namespace entangle::cli {

namespace {

using prove::Outcome;
using prove::Result;

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
    given_.insert(loaded.paths.begin(), loaded.paths.end());
    const prove::Claims claims(rules);
    if (!names_exist(rules, claims)) return ExitCode::bad_input;
    if (!open_cache()) return ExitCode::bad_input;
    collect(rules, claims);
    if (tasks_.empty()) {
      std::cerr << support::render(support::error(
          "cli/nothing-to-prove", {}, "the rules declare no lemma, and no operator with anything to prove"));
      return ExitCode::bad_input;
    }
    if (!look_up(rules)) return ExitCode::bad_input;
    work(rules, claims);
    for (const Task& task : tasks_) {
      if (task.result->outcome == Outcome::refuted) {
        code_ = worst(code_, ExitCode::violates);
      } else if (task.result->outcome < required(rules, task.span.file)) {
        code_ = worst(code_, ExitCode::unproved);
      }
    }
    if (!to_stdout()) summarise(rules);
    if (!save_cache()) code_ = worst(code_, ExitCode::bad_input);
    return finish();
  }

 private:
  // A lemma or a claim about an operator.
  struct Task {
    std::string name;
    support::Span span;
    const rules::Lemma* lemma = nullptr;
    const prove::Claim* claim = nullptr;
    std::string key;  // where there is a cache
    std::optional<Result> result;
  };

  void collect(const rules::RuleSet& rules, const prove::Claims& claims) {
    for (const rules::Lemma& lemma : rules.lemmas()) {
      if (wanted(lemma)) tasks_.push_back({lemma.name, lemma.span, &lemma, nullptr, {}, {}});
    }
    for (const prove::Claim& claim : claims.all()) {
      const rules::Lemma& lemma = claim.lemma;
      if (wanted(lemma)) tasks_.push_back({lemma.name, lemma.span, nullptr, &claim, {}, {}});
    }
    for (const Task& task : tasks_) width_ = std::max(width_, task.name.size() + 2);
  }

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
    if (!std::filesystem::exists(in_cache(kLedgerFile))) return true;
    support::Result<Ledger> ledger = Ledger::read(in_cache(kLedgerFile));
    if (!ledger) {
      std::cerr << support::render(ledger.error());
      return false;
    }
    ledger_ = std::move(*ledger);
    return true;
  }

  bool save_cache() {
    if (arguments_.cache.empty() || arguments_.cache_only || !changed_) return true;
    return report(smt::QueryCache::shared().save(in_cache(kAnswers))) && ledger_written_;
  }

  prove::Options options() const {
    prove::Options options;
    options.instances = arguments_.instances;
    options.seed = arguments_.seed;
    if (arguments_.time_limit) {
      // More than the clock can count is no limit.
      const double milliseconds = std::min(*arguments_.time_limit, 1e9) * 1000;
      options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
    }
    return options;
  }

  // What is in the ledger needs no work.
  bool look_up(const rules::RuleSet& rules) {
    if (arguments_.cache.empty()) return true;
    const prove::Fingerprints fingerprints(rules, options());
    for (Task& task : tasks_) {
      task.key = task.lemma != nullptr ? fingerprints.of(*task.lemma) : fingerprints.of(*task.claim);
      if (auto known = ledger_.find(task.key)) {
        known->name = task.name;
        known->span = task.span;
        task.result = std::move(*known);
      } else if (arguments_.cache_only) {
        const char* what = task.lemma != nullptr ? "lemma" : "claim";
        std::cerr << support::render(
            support::error("cli/not-in-cache", task.span,
                           std::string("the ") + what + " `" + task.name + "` is not in the cache"));
        return false;
      }
    }
    return true;
  }

  // At once: if the others take too long, this is not lost.
  void keep(const Task& task) {
    const std::lock_guard lock(mutex_);
    if (task.key.empty() || task.result->gave_up || !ledger_written_) return;
    ledger_.add(task.key, *task.result);
    ledger_written_ = report(ledger_.write(in_cache(kLedgerFile)));
  }

  // Works on several at a time; they are shown in order.
  void work(const rules::RuleSet& rules, const prove::Claims& claims) {
    prove::Values values(claims, options());
    std::vector<Task*> open;
    for (Task& task : tasks_) {
      if (!task.result) open.push_back(&task);
    }
    changed_ = !open.empty();
    // The solver's answers are read only where something is to be proved.
    if (changed_ && !arguments_.cache.empty() &&
        !report(smt::QueryCache::shared().load(in_cache(kAnswers)))) {
      code_ = worst(code_, ExitCode::bad_input);
    }
    support::WorkAhead ahead(open.size(), arguments_.jobs, [&](std::size_t k) {
      Task& task = *open[k];
      task.result = task.lemma != nullptr ? prove::examine(rules, *task.lemma, values, options())
                                          : prove::examine(claims, *task.claim, values, options());
      keep(task);
    });
    ProgressLine line;
    std::size_t next_open = 0;
    for (std::size_t k = 0; k < tasks_.size(); ++k) {
      const Task& task = tasks_[k];
      if (next_open < open.size() && open[next_open] == &task) {
        const std::string at = std::to_string(k) + " of " + std::to_string(tasks_.size()) + ": " + task.name;
        for (std::size_t seconds = 0; !ahead.wait_for(next_open, std::chrono::seconds(seconds > 0 ? 1 : 0));
             ++seconds) {
          line.show(at + (seconds > 1 ? " (" + std::to_string(seconds) + " s)" : ""));
        }
        ahead.wait(next_open++);
        line.clear();
      }
      if (k == 0 || (task.claim != nullptr) != (tasks_[k - 1].claim != nullptr)) {
        show_header(k > 0, task.claim != nullptr ? "claim" : "lemma");
      }
      show(*task.result);
    }
  }

  void show_header(bool apart, const char* what) const {
    if (to_stdout()) return;
    std::cout << (apart ? "\n" : "") << padded(what, width_) << "verdict   ranks           time   reason\n";
  }

  void show(const Result& result) const {
    if (to_stdout()) return;
    std::cout << padded(result.name, width_) << padded(prove::to_string(result.outcome), 10)
              << padded(ranks_of(result), 16) << padded(seconds(result.seconds), 7) << result.reason << "\n"
              << result.counterexample << std::flush;
  }

  bool wanted(const rules::Lemma& lemma) const {
    if (!arguments_.lemmas.empty()) {
      return std::ranges::find(arguments_.lemmas, lemma.name) != arguments_.lemmas.end();
    }
    return !arguments_.own || given_.contains(support::source_path(lemma.span.file)) ||
           !rules::is_of_library(lemma.span.file);
  }

  bool names_exist(const rules::RuleSet& rules, const prove::Claims& claims) const {
    std::vector<std::string> names;
    for (const rules::Lemma& lemma : rules.lemmas()) names.push_back(lemma.name);
    for (const prove::Claim& claim : claims.all()) names.push_back(claim.lemma.name);
    for (const std::string& name : arguments_.lemmas) {
      if (std::ranges::find(names, name) != names.end()) continue;
      std::cerr << support::render(support::error("cli/no-such-lemma", {}, "there is no lemma `" + name + "`",
                                                  support::did_you_mean(name, names)));
      return false;
    }
    return true;
  }

  Outcome required(const rules::RuleSet& rules, support::FileId file) const {
    if (arguments_.require == "proved") return Outcome::proved;
    if (arguments_.require == "bounded") return Outcome::bounded;
    if (!arguments_.require.empty()) return Outcome::tested;
    switch (rules.accept(file)) {
      case rules::Accept::proved:
        return Outcome::proved;
      case rules::Accept::bounded:
        return Outcome::bounded;
      case rules::Accept::none:
        break;
    }
    return Outcome::tested;
  }

  static std::string counted(const std::map<Outcome, std::size_t>& counts) {
    std::vector<std::string> parts;
    for (const auto& [outcome, count] : counts) {
      parts.push_back(std::to_string(count) + " " + prove::to_string(outcome));
    }
    return parts.empty() ? "none" : support::join(parts, ", ");
  }

  void summarise(const rules::RuleSet& rules) const {
    std::size_t lemmas = 0, claims = 0, generic = 0, instances = 0;
    std::map<Outcome, std::size_t> of_lemmas, of_claims, of_instances;
    for (const Task& task : tasks_) {
      ++(task.lemma != nullptr ? lemmas : claims);
      ++(task.lemma != nullptr ? of_lemmas : of_claims)[task.result->outcome];
      if (task.lemma == nullptr || !task.lemma->generic) continue;
      ++generic;
      instances += task.result->operators.size();
      for (const prove::Instantiation& one : task.result->operators) ++of_instances[one.outcome];
    }
    std::cout << support::counted(lemmas, "lemma", "lemmas") << ": " << counted(of_lemmas) << "; "
              << support::counted(rules.laws().size(), "law of scalar functions is",
                                  "laws of scalar functions are")
              << " taken on trust\n";
    if (generic > 0) {
      std::cout << generic << " of them " << (generic == 1 ? "is" : "are") << " generic, with "
                << support::counted(instances, "pair", "pairs")
                << " of a lemma and an operator: " << counted(of_instances) << "\n";
    }
    if (claims > 0)
      std::cout << support::counted(claims, "claim", "claims") << " about operators: " << counted(of_claims)
                << "\n";
  }

  static nlohmann::ordered_json to_json(const Result& result) {
    nlohmann::ordered_json ranks = nlohmann::ordered_json::object();
    for (const auto& [rank, count] : result.ranks) ranks[std::to_string(rank)] = count;
    nlohmann::ordered_json operators = nlohmann::ordered_json::array();
    for (const prove::Instantiation& one : result.operators) {
      operators.push_back(
          {{"name", one.op}, {"verdict", prove::to_string(one.outcome)}, {"forms", one.forms}});
    }
    return {
        {"name", result.name},
        {"file", support::source_path(result.span.file)},
        {"line", result.span.line},
        {"verdict", prove::to_string(result.outcome)},
        {"ranks", ranks},
        {"instances", result.instances},
        {"forms", result.forms},
        {"forms_proved", result.proved},
        {"forms_bounded", result.bounded},
        {"longest_list", result.longest},
        {"operators", operators},
        {"seconds", result.seconds},
        {"reason", result.reason},
        {"counterexample", result.counterexample.empty() ? nlohmann::ordered_json(nullptr)
                                                         : nlohmann::ordered_json(result.counterexample)}};
  }

  ExitCode finish() {
    if (!arguments_.json.empty()) {
      nlohmann::ordered_json lemmas = nlohmann::ordered_json::array();
      nlohmann::ordered_json claims = lemmas;
      for (const Task& task : tasks_)
        (task.lemma != nullptr ? lemmas : claims).push_back(to_json(*task.result));
      const std::string text = nlohmann::ordered_json{{"lemmas", lemmas}, {"claims", claims}}.dump(2) + "\n";
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
  std::mutex mutex_;            // of the ledger, while several are worked on
  bool ledger_written_ = true;  // whatever was added; no further attempt is made once that failed
  std::vector<Task> tasks_;
  std::set<std::string> given_;  // the paths of the files
  std::size_t width_ = 8;
  bool changed_ = false;
  ExitCode code_ = ExitCode::refines;
};

}  // namespace

ExitCode prove(const ProveArguments& arguments) {
  return Prove(arguments).run();
}

}  // namespace entangle::cli
