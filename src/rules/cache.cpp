#include "entangle/rules/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <system_error>

#include "entangle/rules/bytes.h"
#include "entangle/support/check.h"
#include "entangle/support/hash.h"
#include "entangle/support/output_file.h"
#include "entangle/support/paths.h"
#include "rules/load.h"

namespace entangle::rules {
namespace {

namespace fs = std::filesystem;

// An entry: this, the size of the head, the head (an Entry and the contents of the rule set), the hash of the
// head, and the bytes of the lowerings, whose sizes and hashes the contents hold. Only what a program uses of
// the last part is ever read.
constexpr std::string_view kMagic = "entangle rules 4\n";

struct File {
  std::string path;
  std::uint64_t hash = 0;  // of the contents
  FileState state;         // before they were read
  bool settled = false;    // the state tells later contents from these
};

struct Entry {
  std::string question;  // what was asked for, by whom
  std::vector<File> files;
  std::vector<std::string> absent;
};

}  // namespace

template <class A>
static void fields(A& a, FileState& x) {
  a(x.device, x.inode, x.size, x.modified, x.changed);
}
template <class A>
static void fields(A& a, File& x) {
  a(x.path, x.hash, x.state, x.settled);
}
template <class A>
static void fields(A& a, Entry& x) {
  a(x.question, x.files, x.absent);
}

namespace {

// An open entry. Another may take its place meanwhile: this one stays what it is.
class EntryFile {
 public:
  explicit EntryFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  EntryFile(const EntryFile&) = delete;
  EntryFile& operator=(const EntryFile&) = delete;
  ~EntryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  std::uint64_t size() const { return size_; }
  // Nothing when the file does not hold them.
  std::optional<std::string> read(std::uint64_t offset, std::uint64_t size) const {
    if (size > size_ || offset > size_ - size) return std::nullopt;
    std::string bytes(size, '\0');
    for (std::size_t got = 0; got < bytes.size();) {
      const ssize_t more =
          ::pread(descriptor_, bytes.data() + got, bytes.size() - got, static_cast<off_t>(offset + got));
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) return std::nullopt;
      got += static_cast<std::size_t>(more);
    }
    return bytes;
  }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

std::string as_bytes(std::uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::uint64_t as_number(std::string_view bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

// What is asked for; and the same rules from their texts, where an entry is found to be damaged after it was
// taken for whole.
struct Request {
  std::vector<std::string> paths, folders;
  std::string place;  // of the entry

  std::mutex mutex;
  std::shared_ptr<const RuleSet> loaded;

  std::string lowering(std::size_t index, std::size_t count) {
    const std::lock_guard lock(mutex);
    if (!loaded) {
      std::error_code ignored;
      fs::remove(place, ignored);
      loaded = load_rules(paths, folders).rules;
    }
    ENTANGLE_CHECK(loaded != nullptr && loaded->lowerings().size() == count,
                   "the rules have changed since they were loaded, and what was kept of them is damaged");
    return loaded->lowerings().bytes(index);
  }
};

// Whether every file is what it was; their texts are read only where that cannot be told otherwise.
bool unchanged(const Entry& entry) {
  std::error_code ignored;
  for (const std::string& path : entry.absent) {
    if (fs::is_regular_file(path, ignored)) return false;
  }
  return std::all_of(entry.files.begin(), entry.files.end(), [](const File& file) {
    if (file.settled && state_of(file.path) == file.state) return true;
    const auto text = support::read_file(file.path);
    return text.ok() && support::hash_bytes(*text) == file.hash;
  });
}

// The lowerings of an entry, which begin at `offset`.
std::optional<Lowerings::Bytes> lowerings_of(const std::shared_ptr<const EntryFile>& file,
                                             std::uint64_t offset, const std::vector<LoweringHead>& heads,
                                             const std::shared_ptr<Request>& request) {
  struct Part {
    std::uint64_t offset, size, hash;
  };
  std::vector<Part> parts;
  parts.reserve(heads.size());
  for (const LoweringHead& head : heads) {
    if (head.size > file->size() - offset) return std::nullopt;
    parts.push_back({offset, head.size, head.hash});
    offset += head.size;
  }
  if (offset != file->size()) return std::nullopt;
  return [file, parts = std::move(parts), request](std::size_t index) {
    const Part& part = parts[index];
    std::optional<std::string> bytes = file->read(part.offset, part.size);
    if (bytes && support::hash_bytes(*bytes) == part.hash) return std::move(*bytes);
    return request->lowering(index, parts.size());
  };
}

// The rule set of an entry that answers the question and holds for the files as they are now.
std::shared_ptr<const RuleSet> read(const std::shared_ptr<Request>& request, const std::string& question) {
  const auto file = std::make_shared<const EntryFile>(request->place);
  constexpr std::uint64_t kNumber = sizeof(std::uint64_t);
  const std::uint64_t start = kMagic.size() + kNumber;
  const auto opening = file->read(0, start);
  if (!opening || !opening->starts_with(kMagic)) return nullptr;
  const std::uint64_t size = as_number(std::string_view(*opening).substr(kMagic.size()));
  if (size > file->size()) return nullptr;
  auto read_head = file->read(start, size + kNumber);
  if (!read_head) return nullptr;
  const auto bytes = std::make_shared<const std::string>(std::move(*read_head));
  const std::string_view head = std::string_view(*bytes).substr(0, size);
  if (support::hash_bytes(head) != as_number(std::string_view(*bytes).substr(size))) return nullptr;
  Entry entry;
  const std::vector<support::FileId> no_spans;
  Reader reader(head, no_spans);
  reader(entry);
  if (!reader.ok() || entry.question != question || !unchanged(entry)) return nullptr;
  std::vector<support::FileId> files;
  for (File& one : entry.files) files.push_back(support::add_source_file(std::move(one.path)));
  Reader contents(reader.rest(), files);
  auto rules = read_contents(contents, bytes, files, [&](const std::vector<LoweringHead>& heads) {
    return lowerings_of(file, start + size + kNumber, heads, request);
  });
  return contents.rest().empty() ? rules : nullptr;
}

void write(const fs::path& path, const Entry& entry, const RuleSet& rules) {
  Writer writer(rules.files());
  writer(entry);
  write_contents(writer, rules);
  if (!writer.ok()) return;
  const std::string head = writer.take();
  const Lowerings& lowerings = rules.lowerings();
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  // Without the entry the rules are loaded again next time.
  support::OutputFile file;
  if (!file.open(path.string()).ok()) return;
  file.append(kMagic);
  file.append(as_bytes(head.size()));
  file.append(head);
  file.append(as_bytes(support::hash_bytes(head)));
  for (std::size_t k = 0; k < lowerings.size(); ++k) file.append(lowerings.bytes(k));
  static_cast<void>(file.commit());
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
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
  std::ostringstream name;
  name << "rules-" << std::hex << support::hash_bytes(asked);
  const auto request = std::make_shared<Request>();
  request->paths = paths;
  request->folders = folders;
  request->place = (fs::path(cache_folder) / name.str()).string();
  // Another build of the program takes the place of the one before.
  const std::string question = asked + "\nbuild " + program->build;
  if (auto rules = read(request, question)) return {std::move(rules), {}};
  // A file that was last touched well before this cannot have been changed since without a trace in its
  // state.
  constexpr std::int64_t kGranularity = 2'000'000'000;
  const std::int64_t settled = now() - kGranularity;
  FilesSeen seen;
  Loaded loaded = load_rules(paths, folders, seen);
  if (!loaded.ok() || !loaded.diagnostics.empty()) return loaded;
  Entry entry;
  entry.question = question;
  for (const support::FileId file : loaded.rules->files()) {
    const auto found = std::find_if(seen.read.begin(), seen.read.end(),
                                    [&](const FileSeen& one) { return one.file == file; });
    if (found == seen.read.end()) return loaded;
    // The texts are those that were read: a file that changes meanwhile does not match.
    File& kept = entry.files.emplace_back();
    kept.path = support::source_path(file);
    kept.hash = support::hash_bytes(support::source_text(file));
    kept.state = found->before.value_or(FileState());
    kept.settled = found->before && kept.state.modified < settled && kept.state.changed < settled;
  }
  entry.absent = std::move(seen.absent);
  write(request->place, entry, *loaded.rules);
  return loaded;
}

}  // namespace entangle::rules
