// Files and what they include.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "rules/load.h"
#include "rules/parser.h"
#include "rules/resolver.h"

namespace entangle::rules {
namespace {

namespace fs = std::filesystem;

class Loader {
 public:
  explicit Loader(const std::vector<std::string>& folders) : folders_(folders) {}

  void add_path(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    if (!seen_.insert(error ? path : real.string()).second) return;
    support::Result<support::FileId> file = support::read_source(path);
    if (!file) {
      diagnostics.push_back(support::error(std::string(id::include), {}, file.error().message));
      return;
    }
    files_seen.read.push_back(path);
    add_file(*file, fs::path(path).parent_path());
  }

  void add_file(support::FileId file, const fs::path& folder) {
    syntax::File parsed = parse_file(file, diagnostics);
    for (const syntax::Declaration& declaration : parsed.declarations) {
      if (const auto* inclusion = std::get_if<syntax::Inclusion>(&declaration.content))
        include(*inclusion, folder);
    }
    files.push_back(std::move(parsed));
  }

  // What is included comes before what includes it.
  std::vector<syntax::File> files;
  std::vector<support::Diagnostic> diagnostics;
  FilesSeen files_seen;

 private:
  void include(const syntax::Inclusion& inclusion, const fs::path& folder) {
    std::vector<fs::path> tried;
    if (!inclusion.path.empty()) {
      tried.push_back(folder / inclusion.path);
      for (const std::string& other : folders_) tried.push_back(fs::path(other) / inclusion.path);
    }
    for (const fs::path& path : tried) {
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) {
        add_path(path.string());
        return;
      }
      files_seen.absent.push_back(path.string());
    }
    support::Diagnostic diagnostic = support::error(std::string(id::include), inclusion.path_span,
                                                    "there is no rule file \"" + inclusion.path + "\"");
    for (const fs::path& path : tried) diagnostic.notes.push_back({{}, "looked for " + path.string()});
    diagnostics.push_back(std::move(diagnostic));
  }

  const std::vector<std::string>& folders_;
  std::set<std::string> seen_;
};

Loaded finish(Loader loader) {
  Loaded result;
  Resolver resolver(loader.files, loader.diagnostics);
  std::shared_ptr<const RuleSet> rules = resolver.run();
  std::map<support::FileId, std::size_t> order;
  for (const syntax::File& file : loader.files) order.emplace(file.file, order.size());
  const auto place = [&](const support::Diagnostic& d) {
    const auto found = order.find(d.span.file);
    const std::size_t file = found == order.end() ? 0 : found->second + 1;
    return std::tuple(file, d.span.line, d.span.column);
  };
  std::stable_sort(loader.diagnostics.begin(), loader.diagnostics.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  const bool errors = std::any_of(loader.diagnostics.begin(), loader.diagnostics.end(),
                                  [](const auto& d) { return d.severity == support::Severity::error; });
  result.diagnostics = std::move(loader.diagnostics);
  if (!errors) result.rules = std::move(rules);
  return result;
}

}  // namespace

Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                  FilesSeen& seen) {
  Loader loader(folders);
  for (const std::string& path : paths) loader.add_path(path);
  seen = std::move(loader.files_seen);
  return finish(std::move(loader));
}

Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders) {
  FilesSeen seen;
  return load_rules(paths, folders, seen);
}

Loaded load_rules_text(const std::string& name, const std::string& text,
                       const std::vector<std::string>& folders) {
  Loader loader(folders);
  loader.add_file(support::add_source(name, text), std::filesystem::path(name).parent_path());
  return finish(std::move(loader));
}

}  // namespace entangle::rules
