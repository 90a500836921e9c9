#include "cli/rule_loader.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "entangle/rules/cache.h"
#include "entangle/support/paths.h"
#include "entangle/support/text.h"

namespace entangle::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultRules = "aten.rules";

std::optional<std::string> find(const std::string& name, const std::vector<std::string>& folders) {
  std::error_code ignored;
  if (fs::path(name).is_absolute()) {
    return fs::exists(name, ignored) ? std::optional(name) : std::nullopt;
  }
  for (const std::string& folder : folders) {
    const std::string path = folder.empty() ? name : (fs::path(folder) / name).string();
    if (fs::exists(path, ignored) && !fs::is_directory(path, ignored)) return path;
  }
  return std::nullopt;
}

// The rule files of the folders, relative to them.
std::vector<std::string> rule_files(const std::vector<std::string>& folders) {
  std::vector<std::string> result;
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
      if (entry.path().extension() == ".rules" && entry.is_regular_file(error))
        result.push_back(entry.path().filename().string());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

support::Diagnostic not_found(const relation::Text& name, const std::vector<std::string>& folders) {
  std::vector<std::string> searched;
  for (const std::string& folder : folders) searched.push_back(folder.empty() ? "." : folder);
  const std::string where =
      fs::path(name.text).is_absolute() ? "" : " in " + support::join_list(searched, " or ");
  return support::error("cli/no-such-rules", name.span, "there is no rule file " + name.text + where,
                        support::did_you_mean(fs::path(name.text).filename().string(), rule_files(folders)));
}

}  // namespace

std::optional<std::string> default_rules() {
  return find(kDefaultRules, support::rule_folders());
}

RuleLoader::Loads& RuleLoader::loads() {
  static Loads* all = new Loads;
  return *all;
}

const LoadedRules& RuleLoader::load_named(const std::vector<std::string>& names) {
  std::vector<relation::Text> texts;
  for (const std::string& name : names) texts.push_back({name, {}});
  return load(texts, "");
}

const LoadedRules& RuleLoader::load_for(const relation::Manifest& manifest) {
  if (manifest.rules.empty()) return load({}, "");
  return load(manifest.rules, manifest.folder);
}

const LoadedRules& RuleLoader::load(const std::vector<relation::Text>& names, const std::string& folder) {
  const std::vector<std::string> shared = support::rule_folders();
  LoadedRules result;
  std::vector<std::string> paths;
  if (names.empty()) {
    if (const auto path = find(kDefaultRules, shared)) {
      paths.push_back(*path);
    } else {
      result.errors.push_back(not_found({kDefaultRules, {}}, shared));
    }
  }
  std::vector<std::string> folders = {folder};
  folders.insert(folders.end(), shared.begin(), shared.end());
  for (const relation::Text& name : names) {
    if (const auto path = find(name.text, folders)) {
      paths.push_back(support::library_spelling(*path));
    } else {
      result.errors.push_back(not_found(name, folders));
    }
  }
  std::vector<std::string> key;
  for (const std::string& path : paths) key.push_back(fs::absolute(path).lexically_normal().string());
  if (!result.errors.empty()) {
    // Two manifests may name the same missing file in different places: never shared.
    key = {"\n", std::to_string(loads().size())};
    return loads().emplace(std::move(key), std::move(result)).first->second;
  }
  if (const auto found = loads().find(key); found != loads().end()) return found->second;
  result.paths = paths;
  rules::Loaded loaded =
      rules::load_rules(paths, shared, support::cache_folder(), support::shipped_library());
  for (support::Diagnostic& diagnostic : loaded.diagnostics) {
    const bool error = diagnostic.severity == support::Severity::error;
    (error ? result.errors : result.warnings).push_back(std::move(diagnostic));
  }
  if (loaded.ok()) {
    result.engine = infer::Engine::of(loaded.rules);
  } else {
    ENTANGLE_CHECK(!result.errors.empty(), "rules that do not load without an error");
  }
  return loads().emplace(std::move(key), std::move(result)).first->second;
}

}  // namespace entangle::cli
