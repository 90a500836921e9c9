#include "entangle/rules/cache.h"

#include <filesystem>
#include <sstream>
#include <system_error>

#include "entangle/rules/bytes.h"
#include "entangle/support/hash.h"
#include "entangle/support/output_file.h"
#include "entangle/support/paths.h"
#include "rules/load.h"

namespace entangle::rules {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "entangle rules 2\n";

struct File {
  std::string path;
  std::uint64_t hash = 0;  // of the contents
};

// What an entry holds beside the rule set.
struct Entry {
  std::string question;  // what was asked for, by whom
  std::vector<File> files;
  std::vector<std::string> absent;
  std::string rules;
};

}  // namespace

template <class A>
static void fields(A& a, File& x) {
  a(x.path, x.hash);
}
template <class A>
static void fields(A& a, Entry& x) {
  a(x.question, x.files, x.absent, x.rules);
}

namespace {

// The rule set of an entry if it holds for the files as they are now; registers these.
std::shared_ptr<const RuleSet> valid(Entry entry) {
  std::error_code ignored;
  for (const std::string& path : entry.absent) {
    if (fs::is_regular_file(path, ignored)) return nullptr;
  }
  std::vector<std::string> texts;
  for (const File& file : entry.files) {
    auto text = support::read_file(file.path);
    if (!text || support::hash_bytes(*text) != file.hash) return nullptr;
    texts.push_back(std::move(*text));
  }
  std::vector<support::FileId> files;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    files.push_back(support::add_source(entry.files[k].path, std::move(texts[k])));
  }
  return from_bytes(std::move(entry.rules), files);
}

std::optional<Entry> read(const fs::path& path) {
  const auto bytes = support::read_file(path.string());
  if (!bytes || !bytes->starts_with(kMagic) || bytes->size() < kMagic.size() + sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  const std::string_view body =
      std::string_view(*bytes).substr(kMagic.size(), bytes->size() - kMagic.size() - sizeof(std::uint64_t));
  std::uint64_t sum = 0;
  std::memcpy(&sum, body.data() + body.size(), sizeof sum);
  if (support::hash_bytes(body) != sum) return std::nullopt;
  Entry entry;
  const std::vector<support::FileId> no_spans;
  Reader reader(body, no_spans);
  reader(entry);
  return reader.ok() && reader.rest().empty() ? std::optional(std::move(entry)) : std::nullopt;
}

void write(const fs::path& path, const Entry& entry) {
  const std::vector<support::FileId> no_spans;
  Writer writer(no_spans);
  writer(entry);
  const std::string body = writer.take();
  const std::uint64_t sum = support::hash_bytes(body);
  std::string bytes = std::string(kMagic) + body;
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  // Without the entry the rules are loaded again next time.
  static_cast<void>(support::write_file(path.string(), bytes));
}

}  // namespace

Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                  const std::string& cache_folder) {
  const std::optional<support::RunningProgram> program =
      cache_folder.empty() ? std::nullopt : support::running_program();
  if (!program) return load_rules(paths, folders);
  std::error_code ignored;
  std::string asked = program->path + "\n" + fs::current_path(ignored).string();
  for (const std::string& path : paths) asked += "\nload " + path;
  for (const std::string& folder : folders) asked += "\nin " + folder;
  // Another build of the program takes the place of the one before.
  Entry entry;
  entry.question = asked + "\nbuild " + program->build;
  std::ostringstream name;
  name << "rules-" << std::hex << support::hash_bytes(asked);
  const fs::path place = fs::path(cache_folder) / name.str();
  if (auto known = read(place); known && known->question == entry.question) {
    if (auto rules = valid(std::move(*known))) return {std::move(rules), {}};
  }
  FilesSeen seen;
  Loaded loaded = load_rules(paths, folders, seen);
  if (!loaded.ok() || !loaded.diagnostics.empty()) return loaded;
  const auto bytes = to_bytes(*loaded.rules);
  // The texts are those that were read: a file that changes meanwhile does not match.
  if (!bytes || loaded.rules->files().size() != seen.read.size()) return loaded;
  for (const support::FileId file : loaded.rules->files()) {
    entry.files.push_back({support::source_path(file), support::hash_bytes(support::source_text(file))});
  }
  entry.absent = std::move(seen.absent);
  entry.rules = *bytes;
  write(place, entry);
  return loaded;
}

}  // namespace entangle::rules
