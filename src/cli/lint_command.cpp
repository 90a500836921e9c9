#include "cli/lint_command.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "cli/rule_loader.h"
#include "entangle/infer/check.h"
#include "entangle/prove/implied.h"
#include "entangle/relation/manifest.h"
#include "entangle/rules/ruleset.h"
#include "entangle/support/diagnostic.h"
#include "entangle/support/text.h"

namespace entangle::cli {

namespace {

using support::counted;

std::string place(const rules::Lemma& lemma) {
  return support::source_path(lemma.span.file) + ":" + std::to_string(lemma.span.line);
}

template <class Range, class Test>
std::size_t count(const Range& range, const Test& test) {
  return static_cast<std::size_t>(std::ranges::count_if(range, test));
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

class Lint {
 public:
  explicit Lint(const LintArguments& arguments) : arguments_(arguments) {}

  ExitCode run() {
    RuleLoader loader;
    const LoadedRules& loaded =
        arguments_.rules.empty() ? loader.load_for({}) : loader.load_named(arguments_.rules);
    for (const support::Diagnostic& warning : loaded.warnings) std::cerr << support::render(warning);
    for (const support::Diagnostic& error : loaded.errors) std::cerr << support::render(error);
    if (!loaded.errors.empty()) return ExitCode::bad_input;
    const rules::RuleSet& rules = *loaded.engine.rules;
    summarise(rules);
    ExitCode code = ExitCode::refines;
    if (!arguments_.manifests.empty()) code = unused(loaded.engine);
    if (arguments_.implied) implied(rules);
    return std::cout.flush() ? code : ExitCode::bad_input;
  }

 private:
  static void summarise(const rules::RuleSet& rules) {
    std::set<std::string> lowered;
    for (const rules::Lowering& lowering : rules.lowerings()) lowered.insert(lowering.op);
    std::size_t text = 0;
    for (const support::FileId file : rules.files()) text += lines(support::source_text(file));
    const auto& lemmas = rules.lemmas();
    std::cout << counted(rules.operators().size(), "operator", "operators") << ", "
              << count(rules.operators(), [](const rules::Operator& op) { return !op.because.empty(); })
              << " of them with claims taken on trust\n"
              << counted(lemmas.size(), "lemma", "lemmas") << ": "
              << count(lemmas, [](const rules::Lemma& lemma) { return lemma.generic.has_value(); })
              << " about every operator with a trait, "
              << count(lemmas, [](const rules::Lemma& lemma) { return lemma.normalise; })
              << " that normalise, "
              << counted(count(lemmas, [](const rules::Lemma& lemma) { return lemma.axiom; }), "axiom",
                         "axioms")
              << "\n"
              << counted(rules.lowerings().size(), "lowering", "lowerings") << " of "
              << counted(lowered.size(), "framework operator", "framework operators") << "\n"
              << counted(rules.files().size(), "file", "files") << ", " << counted(text, "line", "lines")
              << "\n";
  }

  // Lemmas that fire on none of the manifests.
  ExitCode unused(const infer::Engine& engine) const {
    std::map<std::string, std::uint64_t> uses;
    ExitCode code = ExitCode::refines;
    std::size_t checked = 0;
    for (const std::string& path : arguments_.manifests) {
      const support::Result<relation::Manifest> manifest = relation::read_manifest(path);
      const support::Result<infer::Verdict> verdict =
          manifest ? infer::check(*manifest, engine) : support::Result<infer::Verdict>(manifest.error());
      if (!verdict) {
        std::cerr << support::render(verdict.error());
        code = ExitCode::bad_input;
        continue;
      }
      ++checked;
      for (const infer::LemmaUse& use : verdict->lemmas) uses[use.name] += use.applied;
      for (const infer::LemmaUse& use : verdict->normalised) uses[use.name] += use.applied;
    }
    if (checked == 0) return code;
    std::vector<const rules::Lemma*> never;
    for (const rules::Lemma& lemma : engine.rules->lemmas()) {
      if (!uses.contains(lemma.name)) never.push_back(&lemma);
    }
    std::cout << "\n"
              << counted(never.size(), "lemma fires", "lemmas fire") << " on none of "
              << counted(checked, "manifest", "manifests") << "\n";
    for (const rules::Lemma* lemma : never) std::cout << "  " << lemma->name << "  " << place(*lemma) << "\n";
    return code;
  }

  static void implied(const rules::RuleSet& rules) {
    std::cout << "\nlemmas that the others find on small instances\n" << std::flush;
    std::size_t found = 0;
    for (std::size_t k = 0; k < rules.lemmas().size(); ++k) {
      if (prove::implied(rules, k) != prove::Implied::found) continue;
      ++found;
      const rules::Lemma& lemma = rules.lemmas()[k];
      std::cout << "  " << lemma.name << "  " << place(lemma) << "\n" << std::flush;
    }
    std::cout << found << " of " << counted(rules.lemmas().size(), "lemma", "lemmas") << "\n";
  }

  const LintArguments& arguments_;
};

}  // namespace

ExitCode lint(const LintArguments& arguments) {
  return Lint(arguments).run();
}

}  // namespace entangle::cli
