#include "cli/check_command.h"

#include <array>
#include <exception>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/progress_line.h"
#include "cli/proofs.h"
#include "cli/rule_loader.h"
#include "entangle/infer/check.h"
#include "entangle/relation/manifest.h"
#include "entangle/report/json.h"
#include "entangle/report/text.h"
#include "entangle/support/diagnostic.h"
#include "entangle/support/output_file.h"
#include "entangle/support/parallel.h"
#include "entangle/support/text.h"

namespace entangle::cli {

namespace {

using report::Outcome;
using support::Diagnostic;

constexpr std::string_view kInternalError = "cli/internal-error";

class Check {
 public:
  explicit Check(const CheckArguments& arguments) : arguments_(arguments) {}

  ExitCode run() {
    if (!arguments_.json.empty() && !to_stdout()) {
      if (const support::Status opened = json_.open(arguments_.json); !opened) {
        print(opened.error());
        return ExitCode::bad_input;
      }
    }
    if (!arguments_.ledger.empty()) {
      if (const support::Status read = proofs_.read(arguments_.ledger); !read) {
        print(read.error());
        return ExitCode::bad_input;
      }
    }
    if (!arguments_.rules.empty()) {
      const LoadedRules* loaded = nullptr;
      support::for_each_index(2, [&](std::size_t k) {
        if (k == 0) {
          loaded = &rules_.load_named(arguments_.rules);
        } else if (arguments_.manifests.front() != "-") {
          first_ = relation::read_manifest(arguments_.manifests.front());
        }
      });
      const LoadedRules& rules = *loaded;
      print_once(rules);
      if (!rules.errors.empty()) return finish(report::to_json(rules.errors), ExitCode::bad_input);
    }
    ExitCode code = ExitCode::refines;
    for (const std::string& manifest : arguments_.manifests) {
      outcomes_.push_back(outcome_of(manifest, &manifest == &arguments_.manifests.back()));
      code = worst(code, show(outcomes_.back()));
    }
    if (outcomes_.size() > 1 && !to_stdout()) summarise();
    return finish(arguments_.json.empty() ? "" : report::to_json(outcomes_), code);
  }

 private:
  bool to_stdout() const { return arguments_.json == "-"; }

  static void print(const Diagnostic& diagnostic) { std::cerr << support::render(diagnostic); }

  // Prints the diagnostics of rules, if they were not printed before; returns that.
  bool print_once(const LoadedRules& rules) {
    for (const LoadedRules* other : printed_) {
      if (other == &rules) return false;
    }
    printed_.push_back(&rules);
    for (const Diagnostic& warning : rules.warnings) print(warning);
    for (const Diagnostic& error : rules.errors) print(error);
    return true;
  }

  Outcome outcome_of(const std::string& path, bool last) {
    try {
      return {path, verdict_of(path, last)};
    } catch (const std::exception& exception) {
      return {path, support::error(std::string(kInternalError), {},
                                   "internal error while checking " + path + ": " + exception.what(),
                                   "this is a bug in entangle, not in the input: please report it")};
    }
  }

  std::variant<infer::Verdict, Diagnostic> verdict_of(const std::string& path, bool last) {
    if (path == "-") {
      return support::error("cli/standard-input", {}, "a manifest cannot come from standard input",
                            "the paths in a manifest are relative to its file: give its path");
    }
    std::optional<support::Result<relation::Manifest>> read = std::exchange(first_, std::nullopt);
    support::Result<relation::Manifest> manifest = read ? std::move(*read) : relation::read_manifest(path);
    if (!manifest) return std::move(manifest.error());
    const LoadedRules& rules =
        arguments_.rules.empty() ? rules_.load_for(*manifest) : rules_.load_named(arguments_.rules);
    const bool news = print_once(rules);
    if (!rules.errors.empty()) {
      if (!news) std::cerr << "error: " << path << ": its rules do not load, as said above\n";
      printed_error_ = true;
      return rules.errors.front();
    }
    if (const auto refuted = proofs_.refuted(*rules.engine.rules)) return *refuted;
    infer::CheckOptions options;
    options.time_limit = arguments_.time_limit;
    options.memo = arguments_.memo;
    options.memo_folder = arguments_.memo_folder;
    options.warn = [](const Diagnostic& warning) { print(warning); };
    options.all_relations = arguments_.verbose;
    options.last = last;
    ProgressLine line;
    if (line.on_terminal()) {
      options.progress = [&](std::size_t done, std::size_t total, const std::string& current) {
        line.show(path + ": " + std::to_string(done) + " of " + std::to_string(total) + " operators, at " +
                  current);
      };
    }
    support::Result<infer::Verdict> verdict = infer::check(*manifest, rules.engine, options);
    if (!verdict) return std::move(verdict.error());
    verdict->unproved = proofs_.unproved(*rules.engine.rules, *verdict);
    if (arguments_.strict) be_strict(*verdict);
    rule_files_ = support::join(rules.paths, " ");
    return std::move(*verdict);
  }

  // What rests on rules that are not proved is not shown.
  static void be_strict(infer::Verdict& verdict) {
    if (verdict.kind != infer::VerdictKind::refines || verdict.unproved.empty()) return;
    verdict.kind = infer::VerdictKind::unproved;
    for (const infer::Unproved& one : verdict.unproved) {
      verdict.obligations.push_back(report::what_is_unproved(one) + " (--strict)");
    }
  }

  // Prints what became of a manifest.
  ExitCode show(const Outcome& outcome) {
    if (const auto* error = std::get_if<Diagnostic>(&outcome.result)) {
      if (!std::exchange(printed_error_, false)) print(*error);
      return error->id == kInternalError ? ExitCode::internal_error : ExitCode::bad_input;
    }
    const auto& verdict = std::get<infer::Verdict>(outcome.result);
    if (!to_stdout()) {
      if (shown_++ > 0) std::cout << "\n";
      std::cout << report::to_text(verdict, {arguments_.verbose, rule_files_}) << std::flush;
    }
    switch (verdict.kind) {
      case infer::VerdictKind::refines:
        return ExitCode::refines;
      case infer::VerdictKind::violates:
        return ExitCode::violates;
      case infer::VerdictKind::unproved:
        break;
    }
    return ExitCode::unproved;
  }

  void summarise() const {
    std::array<std::size_t, 4> counts = {};
    for (const Outcome& outcome : outcomes_) {
      const auto* verdict = std::get_if<infer::Verdict>(&outcome.result);
      ++counts[verdict != nullptr ? static_cast<std::size_t>(verdict->kind) : 3];
    }
    constexpr std::array<const char*, 4> kNames = {"refines", "violates", "unproved", "could not be checked"};
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) parts.push_back(std::to_string(counts[i]) + " " + kNames[i]);
    }
    std::cout << "\n" << outcomes_.size() << " manifests: " << support::join(parts, ", ") << "\n";
  }

  // Writes the JSON, if it is wanted, and makes sure that everything has been written.
  ExitCode finish(const std::string& json, ExitCode code) {
    if (to_stdout()) {
      std::cout << json;
    } else if (!arguments_.json.empty()) {
      if (const support::Status written = json_.commit(json); !written) {
        print(written.error());
        code = worst(code, ExitCode::bad_input);
      }
    }
    if (!std::cout.flush()) {
      print(support::error("cli/cannot-write", {}, "cannot write to standard output"));
      code = worst(code, ExitCode::bad_input);
    }
    return code;
  }

  const CheckArguments& arguments_;
  Proofs proofs_;
  support::OutputFile json_;
  std::string rule_files_;  // of the manifest at hand
  RuleLoader rules_;
  std::vector<const LoadedRules*> printed_;
  bool printed_error_ = false;  // the error of the manifest at hand is on the screen already
  std::optional<support::Result<relation::Manifest>> first_;  // read while the rules were loaded
  std::vector<Outcome> outcomes_;
  std::size_t shown_ = 0;
};

}  // namespace

ExitCode check(const CheckArguments& arguments) {
  return Check(arguments).run();
}

}  // namespace entangle::cli
