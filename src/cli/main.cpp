#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "cli/check_command.h"
#include "cli/compile_command.h"
#include "cli/exit_code.h"
#include "cli/lint_command.h"
#include "cli/prove_command.h"
#include "entangle/smt/solver.h"
#include "entangle/support/diagnostic.h"

namespace entangle::cli {

namespace {

constexpr const char* kFooter =
    "Exit codes: 0 refines, 1 violates, 2 bad input, 3 unproved, 4 internal error.\n"
    "Of several manifests the worst counts, in the order 4, 2, 1, 3, 0.";

constexpr const char* kProveFooter =
    "Every form of a lemma (ranks up to 4, axes, lists of up to 3, operators) is proved for all sizes and "
    "values;\n"
    "besides, both sides are evaluated exactly on many small instances.\n"
    "  refuted  the sides differ on an instance: it is shown\n"
    "  proved   every form is proved for all sizes and values\n"
    "  bounded  every form is proved, some for sizes up to 3 only\n"
    "  tested   not every form is proved; the sides agree on all instances that were tried\n"
    "  unknown  neither proved nor tried\n"
    "  axiom    taken on trust, with the reason that the rule file gives\n"
    "Exit codes: 0 all meet the requirement, 1 one is refuted, 2 bad input, 3 one falls short.";

constexpr const char* kCompileFooter =
    "It is used by programs of this build as long as no rule file changes. The build makes and installs it.\n"
    "Exit codes: 0 written, 2 the rules are wrong or it cannot be written.";

constexpr const char* kLintFooter =
    "The rules that manifests name do not count: --rules does.\n"
    "Exit codes: 0 whatever is found, 2 bad input.";

ExitCode usage_error(const CLI::App& app, const std::string& message, const std::string& suggestion = {}) {
  std::cerr << "error: " << message << "\n";
  if (!suggestion.empty()) std::cerr << "  help: " << suggestion << "\n";
  std::string command = "entangle";
  if (app.get_parent() != nullptr) command += " " + app.get_name();
  std::cerr << "  run `" << command << " --help` for what there is\n";
  return ExitCode::bad_input;
}

std::vector<std::string> flags(const CLI::App& app) {
  std::vector<std::string> result;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) result.push_back("--" + name);
    for (const std::string& name : option->get_snames()) result.push_back("-" + name);
  }
  return result;
}

// What is left over after parsing: a flag or a subcommand that does not exist.
ExitCode unknown_argument(const CLI::App& app, const std::string& argument) {
  if (argument.starts_with("-")) {
    const std::string flag = argument.substr(0, argument.find('='));
    return usage_error(app, "there is no option `" + flag + "`", support::did_you_mean(flag, flags(app)));
  }
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  std::string suggestion = support::did_you_mean(argument, commands);
  if (argument.ends_with(".yaml") || argument.ends_with(".yml")) {
    suggestion = "to check a manifest: entangle check " + argument;
  }
  return usage_error(app, "there is no command `" + argument + "`", suggestion);
}

// Options that are to be followed by a name, and are followed by another option or by nothing. (A file of
// such a name is given as ./--name.)
void expect_names(CLI::App& app) {
  const auto is_name = [](const std::string& value) -> std::string {
    return value.empty()             ? "a name must not be empty"
           : value.starts_with("--") ? "needs a name, but is followed by `" + value + "`"
                                     : "";
  };
  const auto is_manifest = [](const std::string& value) -> std::string {
    return value.ends_with(".rules") ? value + " is a file of rules, no manifest: use `--rules " + value + "`"
                                     : "";
  };
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->check_name("MANIFEST")) option->check(is_manifest, "");
      const std::string type = option->get_type_name();
      if (type == "FILE" || type == "FOLDER" || type == "NAME") option->check(is_name, "");
    }
  }
}

// A subcommand, and what it does once its arguments are there.
struct Command {
  CLI::App* app;
  std::function<ExitCode()> run;
};

CLI::App* add_command(CLI::App& app, const char* name, const char* does, const char* footer) {
  CLI::App* command = app.add_subcommand(name, does);
  command->footer(footer);
  command->allow_extras();
  return command;
}

std::string not_a_folder(const std::string& path) {
  std::error_code ignored;
  const bool other = std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored);
  return other ? path + " is not a folder" : "";
}

Command check_command(CLI::App& app, CheckArguments& arguments) {
  CLI::App* command = add_command(
      app, "check", "Check manifests: does the distributed program refine the sequential one?", kFooter);
  command->add_option("MANIFEST", arguments.manifests,
                      "Manifests (YAML); the rules are loaded once for all of them");
  command
      ->add_option("--rules", arguments.rules,
                   "Use this rule file instead of those the manifests name (may be repeated)")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command
      ->add_option("--json", arguments.json,
                   "Also write the verdicts as JSON; - writes them to standard output, and no text")
      ->type_name("FILE");
  command
      ->add_option("--time-limit", arguments.time_limit,
                   "Stop after so many seconds per manifest; what is open is then unproved")
      ->type_name("S");
  command
      ->add_option(
          "--ledger", arguments.ledger,
          "Proof ledger of your own rules (see `prove --own --cache`): lemmas that are not proved are "
          "named, a refuted one is an error")
      ->type_name("FILE");
  command->add_flag("--strict", arguments.strict,
                    "Unproved where your own lemmas and operators are used and the ledger does not call them "
                    "proved");
  command
      ->add_option("--memo", arguments.memo_folder,
                   "Keep there what a check has found, for the next check of the same manifest")
      ->check(not_a_folder)
      ->type_name("FOLDER");
  command->add_flag("--no-memo{false}", arguments.memo,
                    "Solve equal local problems each for itself; the verdict is the same, for measurements");
  command->add_flag("--verbose", arguments.verbose,
                    "Also print lemma counts, statistics, times and all relations");
  return {command, [command, &arguments] {
            if (arguments.manifests.empty()) return usage_error(*command, "no manifest is given");
            if (arguments.time_limit && !(*arguments.time_limit > 0)) {
              return usage_error(*command, "--time-limit needs a positive number of seconds");
            }
            return cli::check(arguments);
          }};
}

Command prove_command(CLI::App& app, ProveArguments& arguments) {
  CLI::App* command = add_command(app, "prove", "Do the lemmas of rule files hold?", kProveFooter);
  command->add_option("RULES", arguments.rules, "Rule files; the lemmas of what they include are tried, too");
  command->add_flag("--own", arguments.own,
                    "Only what these files declare, and what they include that does not come with entangle");
  command->add_option("--lemma", arguments.lemmas, "Only this lemma (may be repeated)")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      ->add_option("--json", arguments.json,
                   "Also write the results as JSON; - writes them to standard output, and no table")
      ->type_name("FILE");
  command
      ->add_option("--require", arguments.require,
                   "The least that every lemma must be; by default what its file accepts, at least `tested`")
      ->check(CLI::IsMember({"tested", "bounded", "proved"}));
  command
      ->add_option("--instances", arguments.instances,
                   "How many instances to try, for each operator a lemma can stand for (60)")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  command
      ->add_option("--cache", arguments.cache,
                   "Folder of earlier results and of the solver's answers; `check --ledger "
                   "FOLDER/ledger.json` reads it")
      ->type_name("FOLDER");
  command->add_flag("--cache-only", arguments.cache_only, "What is not in the cache is an error")
      ->needs("--cache");
  command->add_option("--jobs", arguments.jobs, "How many lemmas to work on at a time (1)")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  command->add_option("--seed", arguments.seed, "Of the choice of instances (1)")->type_name("N");
  command
      ->add_option("--time-limit", arguments.time_limit,
                   "Give a lemma or claim up after so many seconds; what is open is then not proved")
      ->type_name("S");
  return {command, [command, &arguments] {
            if (arguments.rules.empty()) return usage_error(*command, "no rule file is given");
            if (arguments.time_limit && !(*arguments.time_limit > 0)) {
              return usage_error(*command, "--time-limit needs a positive number of seconds");
            }
            return cli::prove(arguments);
          }};
}

Command lint_command(CLI::App& app, LintArguments& arguments) {
  CLI::App* command = add_command(app, "lint", "Report lemmas that nothing needs.", kLintFooter);
  command->add_option("MANIFEST", arguments.manifests,
                      "Manifests: lemmas that fire on none of them are reported");
  command->add_option("--rules", arguments.rules, "Rule files instead of the default ones (may be repeated)")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_flag("--implied", arguments.implied,
                    "Also report lemmas that follow from the others on small instances; takes seconds");
  return {command, [&arguments] { return cli::lint(arguments); }};
}

Command compile_command(CLI::App& app, std::string& file) {
  CLI::App* command =
      add_command(app, "compile", "Compile the rule library ahead of the first check.", kCompileFooter);
  command->add_option("FILE", file, "Where to write it, instead of where it is looked for");
  return {command, [&file] { return cli::compile(file); }};
}

ExitCode run(int argc, char** argv) {
  CLI::App app("Proves that a distributed program computes what its sequential program computes.",
               "entangle");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("entangle ") + ENTANGLE_VERSION);
  app.require_subcommand(0, 1);
  app.allow_extras();

  CheckArguments checking;
  ProveArguments proving;
  LintArguments linting;
  std::string compiled;
  const std::array commands = {check_command(app, checking), prove_command(app, proving),
                               lint_command(app, linting), compile_command(app, compiled)};
  const auto given = [&] {
    return std::ranges::find_if(commands, [](const Command& one) { return one.app->parsed(); });
  };
  expect_names(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    return std::cout.flush() ? ExitCode::refines : ExitCode::bad_input;
  } catch (const CLI::ParseError& error) {
    return usage_error(given() != commands.end() ? *given()->app : app, error.what());
  }
  if (const std::vector<std::string> extras = app.remaining(); !extras.empty()) {
    return unknown_argument(app, extras.front());
  }
  const auto command = given();
  if (command == commands.end()) {
    std::cerr << app.help();
    return ExitCode::bad_input;
  }
  if (const std::vector<std::string> extras = command->app->remaining(); !extras.empty()) {
    return unknown_argument(*command->app, extras.front());
  }
  return command->run();
}

}  // namespace

}  // namespace entangle::cli

int main(int argc, char** argv) {
  using entangle::cli::ExitCode;
  std::string what = "an exception of unknown type";
  try {
    const int code = static_cast<int>(entangle::cli::run(argc, argv));
    if (entangle::smt::solver_left_behind()) {
      std::cout.flush();
      std::_Exit(code);
    }
    return code;
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {
  }
  std::cerr << "internal error: " << what
            << "\n  this is a bug in entangle, not in the input: please report it\n";
  return static_cast<int>(ExitCode::internal_error);
}
