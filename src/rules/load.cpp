// Files and what they include.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "entangle/support/output_file.h"
#include "entangle/support/parallel.h"
#include "rules/load.h"
#include "rules/parser.h"
#include "rules/resolver.h"

namespace entangle::rules {
namespace {

namespace fs = std::filesystem;

// A file and what was found wrong in it.
struct Parsed {
  support::FileId id = support::kNoFile;
  bool done = false;
  syntax::File file;
  std::vector<support::Diagnostic> diagnostics;
  std::exception_ptr thrown;

  void parse() noexcept {
    if (std::exchange(done, true)) return;
    try {
      file = parse_file(id, diagnostics);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
};

// What a text will most likely include, in order: lines that begin with `include "..."`. Parsing tells.
std::vector<std::string> likely_inclusions(std::string_view text) {
  constexpr std::string_view kStart = "include \"";
  std::vector<std::string> result;
  for (std::size_t at = text.find(kStart); at != std::string_view::npos; at = text.find(kStart, at)) {
    const std::size_t begin = at + kStart.size();
    const std::size_t end = text.find_first_of("\"\n", begin);
    if ((at == 0 || text[at - 1] == '\n') && end != std::string_view::npos && text[end] == '"') {
      result.emplace_back(text.substr(begin, end - begin));
    }
    at = begin;
  }
  return result;
}

// Files that wait to be parsed. The largest are taken first, so that nobody is left alone with one in the
// end.
class Unparsed {
 public:
  void add(Parsed& file) {
    const std::size_t size = support::source_text(file.id).size();
    {
      const std::lock_guard lock(mutex_);
      files_.emplace_back(size, &file);
    }
    changed_.notify_one();
  }
  // No more will come.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }
  // Waits for one; null when there are no more.
  Parsed* take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !files_.empty(); });
    if (files_.empty()) return nullptr;
    const auto largest = std::ranges::max_element(files_, {}, [](const auto& file) { return file.first; });
    Parsed* const result = largest->second;
    files_.erase(largest);
    return result;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::size_t, Parsed*>> files_;
  bool closed_ = false;
};

class Loader {
 public:
  explicit Loader(const std::vector<std::string>& folders) : folders_(folders) {}

  void add_paths(const std::vector<std::string>& paths) {
    Unparsed unparsed;
    unparsed_ = &unparsed;
    std::exception_ptr thrown;
    const std::thread::id reader = std::this_thread::get_id();
    support::run_with_helpers(support::most_helpers(), [&] {
      if (std::this_thread::get_id() == reader) {
        try {
          for (const std::string& path : paths) expect(path);
        } catch (...) {
          thrown = std::current_exception();
        }
        unparsed.close();
      }
      while (Parsed* file = unparsed.take()) file->parse();
    });
    unparsed_ = nullptr;
    if (thrown) std::rethrow_exception(thrown);
    for (const std::string& path : paths) add_path(path);
  }

  void add_text(const std::string& name, const std::string& text) {
    Parsed parsed;
    parsed.id = support::add_source(name, text);
    parsed.parse();
    add(std::move(parsed), fs::path(name).parent_path());
  }

  // What is included comes before what includes it.
  std::vector<syntax::File> files;
  std::vector<support::Diagnostic> diagnostics;
  std::vector<std::string> absent;  // where an included file was looked for in vain

 private:
  static constexpr std::size_t kUnreadable = ~std::size_t{0};

  // Reads a file and what it seems to include, in the order in which they will be added: so that they can be
  // parsed at the same time.
  void expect(const std::string& path) {
    const auto [place, fresh] = places_.emplace(identity(path), kUnreadable);
    if (!fresh) return;
    support::Result<Parsed> file = read(path);
    if (!file) return;
    const std::vector<std::string> inclusions = likely_inclusions(support::source_text(file->id));
    place->second = expected_.size();
    Parsed& expected = expected_.emplace_back(std::move(*file));
    if (unparsed_ != nullptr) unparsed_->add(expected);
    including_.push_back(fs::path(path).parent_path());
    for (const std::string& inclusion : inclusions) {
      for (const fs::path& tried : candidates(inclusion)) {
        std::error_code ignored;
        if (!fs::is_regular_file(tried, ignored)) continue;
        expect(tried.string());
        break;
      }
    }
    including_.pop_back();
  }

  void add_path(const std::string& path) {
    const std::string file = identity(path);
    if (!added_.insert(file).second) return;
    // What nobody expected is read now.
    expect(path);
    std::size_t place = places_.at(file);
    if (place == kUnreadable) {
      support::Result<Parsed> again = read(path);
      if (!again) {
        diagnostics.push_back(support::error(std::string(id::include), {}, again.error().message));
        return;
      }
      place = expected_.size();
      expected_.push_back(std::move(*again));
    }
    Parsed& parsed = expected_[place];
    parsed.parse();
    add(std::move(parsed), fs::path(path).parent_path());
  }

  void add(Parsed parsed, const fs::path& folder) {
    if (parsed.thrown) std::rethrow_exception(parsed.thrown);
    std::move(parsed.diagnostics.begin(), parsed.diagnostics.end(), std::back_inserter(diagnostics));
    including_.push_back(folder);
    for (const syntax::Declaration& declaration : parsed.file.declarations) {
      if (const auto* inclusion = std::get_if<syntax::Inclusion>(&declaration.content)) include(*inclusion);
    }
    including_.pop_back();
    files.push_back(std::move(parsed.file));
  }

  static support::Result<Parsed> read(const std::string& path) {
    Parsed result;
    const support::Result<support::FileId> file = support::read_source(path);
    if (!file) return file.error();
    result.id = *file;
    return result;
  }

  // By any path the same.
  std::string identity(const std::string& path) {
    const auto [known, fresh] = identities_.emplace(path, path);
    if (fresh) {
      const fs::path file(path);
      std::error_code error;
      // Files of one folder share most of the work.
      const bool plain = fs::symlink_status(file, error).type() == fs::file_type::regular;
      const fs::path real = plain ? real_folder(file.parent_path(), error) / file.filename()
                                  : fs::weakly_canonical(file, error);
      if (!error) known->second = real.string();
    }
    return known->second;
  }

  const fs::path& real_folder(const fs::path& folder, std::error_code& error) {
    const auto [known, fresh] = real_folders_.emplace(folder, fs::path());
    if (fresh) known->second = fs::weakly_canonical(folder.empty() ? "." : folder, error);
    return known->second;
  }

  // Whether a folder lies in one of the rule folders.
  bool is_ours(const fs::path& folder) {
    const auto [known, fresh] = ours_.emplace(folder, false);
    if (fresh) {
      std::error_code ignored;
      const fs::path real = fs::weakly_canonical(folder, ignored);
      known->second = std::ranges::any_of(folders_, [&](const std::string& other) {
        const fs::path root = fs::weakly_canonical(other, ignored);
        return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
      });
    }
    return known->second;
  }

  // Where the file that is being read finds what it includes: beside it, then in the rule folders. A file
  // that lies in none of these may be of a copy of the library, which is used as a whole: then beside those
  // that include it first.
  std::vector<fs::path> candidates(const std::string& path) {
    std::vector<fs::path> tried;
    const auto add = [&](const fs::path& folder) {
      const fs::path candidate = folder / path;
      if (std::ranges::find(tried, candidate) == tried.end()) tried.push_back(candidate);
    };
    if (!path.empty()) {
      add(including_.back());
      if (!is_ours(including_.back())) std::for_each(including_.rbegin(), including_.rend(), add);
      std::ranges::for_each(folders_, add);
    }
    return tried;
  }

  void include(const syntax::Inclusion& inclusion) {
    const std::vector<fs::path> tried = candidates(inclusion.path);
    for (const fs::path& path : tried) {
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) {
        add_path(path.string());
        return;
      }
      absent.push_back(path.string());
    }
    support::Diagnostic diagnostic = support::error(std::string(id::include), inclusion.path_span,
                                                    "there is no rule file \"" + inclusion.path + "\"");
    for (const fs::path& path : tried) {
      std::error_code ignored;
      const bool folder = fs::is_directory(path, ignored);
      diagnostic.notes.push_back({{}, "looked for " + path.string() + (folder ? ", which is a folder" : "")});
    }
    diagnostics.push_back(std::move(diagnostic));
  }

  const std::vector<std::string>& folders_;
  std::vector<fs::path> including_;  // the folders of the files that are being read
  std::map<fs::path, bool> ours_;
  std::map<std::string, std::string> identities_;  // by path
  std::map<fs::path, fs::path> real_folders_;
  std::deque<Parsed> expected_;
  Unparsed* unparsed_ = nullptr;               // while files are parsed beside reading
  std::map<std::string, std::size_t> places_;  // by identity: in expected_, or kUnreadable
  std::set<std::string> added_;
};

bool has_errors(const std::vector<support::Diagnostic>& diagnostics) {
  return std::ranges::any_of(diagnostics,
                             [](const auto& d) { return d.severity == support::Severity::error; });
}

// The name between the last backticks of a message.
std::string named_in(const std::string& message) {
  const std::size_t end = message.rfind('`');
  const std::size_t begin = end == std::string::npos || end == 0 ? end : message.rfind('`', end - 1);
  return begin == std::string::npos ? std::string() : message.substr(begin + 1, end - begin - 1);
}

// The rule files in these folders, by how an `include` names them.
std::map<std::string, std::string> library_files(const std::vector<std::string>& folders) {
  std::map<std::string, std::string> result;
  for (const std::string& folder : folders) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() != ".rules") continue;
      support::Result<std::string> text = support::read_file(entry->path().string());
      if (!text) continue;
      result.emplace(entry->path().lexically_relative(folder).generic_string(), std::move(*text));
    }
  }
  return result;
}

// Whether the file declares something that is applied to operands.
bool declares(const std::string& text, const std::string& name) {
  for (const char* word : {"op ", "def ", "predicate "}) {
    const std::string declaration = word + name + "(";
    if (text.starts_with(declaration) || text.find("\n" + declaration) != std::string::npos) return true;
  }
  return false;
}

// Whether a part of a framework's name for an operator is this word: `abs` of `aten.abs.default`.
bool has_part(std::string_view framework_op, std::string_view word) {
  for (std::size_t at = 0; at <= framework_op.size();) {
    const std::size_t end = std::min(framework_op.find('.', at), framework_op.size());
    if (framework_op.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

// Where the rules say what a framework's operator of that name is in operators of their own, the one with the
// shortest name: most often what somebody was looking for.
void point_to_lowering(const std::vector<syntax::File>& files, support::Diagnostic& diagnostic) {
  const std::string name = named_in(diagnostic.message);
  const syntax::Declaration* found = nullptr;
  const std::string* found_name = nullptr;
  for (const syntax::File& file : files) {
    if (file.file == diagnostic.span.file) continue;
    for (const syntax::Declaration& declaration : file.declarations) {
      const auto* lowering = std::get_if<syntax::LoweringText>(&declaration.content);
      if (lowering == nullptr || !has_part(lowering->name.text, name)) continue;
      if (found != nullptr && lowering->name.text.size() >= found_name->size()) continue;
      found = &declaration;
      found_name = &lowering->name.text;
    }
  }
  if (found == nullptr) return;
  support::Span place = found->span;
  place.length = 1;
  diagnostic.notes.push_back({place, "how `" + *found_name + "` is written"});
}

// What is known by no name may be declared in a library file that is not included: said once for each file.
// After a mistake in the text, or where a file is missing, its declaration is most often what is lacking, and
// nothing is said.
void explain_unknown_names(const std::vector<syntax::File>& read, const std::vector<std::string>& folders,
                           bool incomplete, std::vector<support::Diagnostic>& diagnostics) {
  const auto unknown = [](const support::Diagnostic& d) { return d.id == id::unknown_operator; };
  if (incomplete) {
    std::erase_if(diagnostics, unknown);
    return;
  }
  if (std::ranges::none_of(diagnostics, unknown)) return;
  const std::map<std::string, std::string> files = library_files(folders);
  std::set<std::string> suggested;
  std::erase_if(diagnostics, [&](support::Diagnostic& diagnostic) {
    if (!unknown(diagnostic) || !diagnostic.message.starts_with("unknown ")) return false;
    const std::string name = named_in(diagnostic.message);
    const auto found =
        std::ranges::find_if(files, [&](const auto& file) { return declares(file.second, name); });
    if (found == files.end() || !diagnostic.message.starts_with("unknown operator ")) {
      point_to_lowering(read, diagnostic);
      return false;
    }
    diagnostic.suggestion =
        "`" + name + "` is declared in " + found->first + ": add `include \"" + found->first + "\";`";
    return !suggested.insert(found->first).second;
  });
}

Loaded finish(Loader loader, const std::vector<std::string>& folders) {
  Loaded result;
  const bool incomplete = std::ranges::any_of(loader.diagnostics, [](const support::Diagnostic& d) {
    return d.severity == support::Severity::error &&
           (d.id == id::syntax || d.id == id::include || d.id == id::too_large);
  });
  std::vector<support::Diagnostic> found;
  std::shared_ptr<const RuleSet> rules = Resolver(loader.files, Bodies::shared, found).run();
  if (has_errors(found)) {
    found.clear();
    rules = Resolver(loader.files, Bodies::anew, found).run();
  }
  explain_unknown_names(loader.files, folders, incomplete, found);
  std::move(found.begin(), found.end(), std::back_inserter(loader.diagnostics));
  std::map<support::FileId, std::size_t> order;
  for (const syntax::File& file : loader.files) order.emplace(file.file, order.size());
  const auto place = [&](const support::Diagnostic& d) {
    const auto found = order.find(d.span.file);
    const std::size_t file = found == order.end() ? 0 : found->second + 1;
    return std::tuple(file, d.span.line, d.span.column);
  };
  std::stable_sort(loader.diagnostics.begin(), loader.diagnostics.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  result.diagnostics = std::move(loader.diagnostics);
  if (!has_errors(result.diagnostics)) result.rules = std::move(rules);
  // The trees of a library are many small objects.
  support::discard(std::make_shared<std::vector<syntax::File>>(std::move(loader.files)));
  return result;
}

}  // namespace

Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                  std::vector<std::string>& absent) {
  Loader loader(folders);
  loader.add_paths(paths);
  absent = std::move(loader.absent);
  return finish(std::move(loader), folders);
}

Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders) {
  std::vector<std::string> absent;
  return load_rules(paths, folders, absent);
}

std::shared_ptr<const RuleSet> load_rules(const std::vector<std::string>& paths,
                                          const std::vector<std::string>& folders, Bodies bodies) {
  Loader loader(folders);
  loader.add_paths(paths);
  std::shared_ptr<const RuleSet> rules = Resolver(loader.files, bodies, loader.diagnostics).run();
  return has_errors(loader.diagnostics) ? nullptr : rules;
}

Loaded load_rules_text(const std::string& name, const std::string& text,
                       const std::vector<std::string>& folders) {
  Loader loader(folders);
  loader.add_text(name, text);
  return finish(std::move(loader), folders);
}

}  // namespace entangle::rules
