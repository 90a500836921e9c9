#include "entangle/rules/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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
constexpr std::string_view kMagic = "entangle rules 6\n";

struct File {
  std::string path;
  std::uint64_t hash = 0;  // of the contents
};

struct Entry {
  std::string question;  // what was asked for, by whom
  std::vector<File> files;
  std::vector<std::string> absent;
};

}  // namespace

template <class A>
static void fields(A& a, File& x) {
  a(x.path, x.hash);
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

// How an entry names files: those below `root` (if that is not empty) by what follows it, others as they are.
struct Places {
  static constexpr std::string_view kBelow = "~/";

  std::string root;

  // Nothing for what is neither the root nor below it.
  std::optional<std::string> kept(const std::string& path) const {
    if (root.empty()) return path;
    if (path == root) return std::string(kBelow);
    if (!path.starts_with(root + "/")) return std::nullopt;
    return std::string(kBelow) + path.substr(root.size() + 1);
  }
  std::string found(const std::string& kept) const {
    return kept.starts_with(kBelow) ? root + "/" + kept.substr(kBelow.size()) : kept;
  }
};

// What is asked for, and where an entry for it would be; and the same rules from their texts, where an entry
// is found to be damaged after it was taken for whole.
struct Request {
  std::vector<std::string> paths, folders;
  std::string place;  // of the entry
  Places places;      // of its files
  std::string question;

  std::mutex mutex;
  std::shared_ptr<const RuleSet> loaded;

  std::string lowering(std::size_t index, std::size_t count) {
    const std::lock_guard lock(mutex);
    if (!loaded) {
      std::error_code ignored;
      if (places.root.empty()) fs::remove(place, ignored);  // what came with the library is not ours
      loaded = load_rules(paths, folders).rules;
    }
    ENTANGLE_CHECK(loaded != nullptr && loaded->lowerings().size() == count,
                   "the rules have changed since they were loaded, and what was kept of them is damaged");
    return loaded->lowerings().bytes(index);
  }
};

bool unchanged(const Entry& entry, const Places& places) {
  std::error_code ignored;
  for (const std::string& path : entry.absent) {
    if (fs::is_regular_file(places.found(path), ignored)) return false;
  }
  return std::all_of(entry.files.begin(), entry.files.end(), [&](const File& file) {
    const EntryFile text(places.found(file.path));
    const auto bytes = text.read(0, text.size());
    return bytes && support::hash_bytes(*bytes) == file.hash;
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
std::shared_ptr<const RuleSet> read(const std::shared_ptr<Request>& request) {
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
  if (!reader.ok() || entry.question != request->question || !unchanged(entry, request->places)) {
    return nullptr;
  }
  std::vector<support::FileId> files;
  for (const File& one : entry.files) {
    files.push_back(support::add_source_file(request->places.found(one.path)));
  }
  Reader contents(reader.rest(), files);
  auto rules = read_contents(contents, bytes, files, [&](const std::vector<LoweringHead>& heads) {
    return lowerings_of(file, start + size + kNumber, heads, request);
  });
  return contents.rest().empty() ? rules : nullptr;
}

support::Status write(const fs::path& path, const Entry& entry, const RuleSet& rules) {
  Writer writer(rules.files());
  writer(entry);
  write_contents(writer, rules);
  ENTANGLE_CHECK(writer.ok(), "a rule set holds what has no form as bytes");
  const std::string head = writer.take();
  const Lowerings& lowerings = rules.lowerings();
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  support::OutputFile file;
  if (support::Status status = file.open(path.string()); !status.ok()) return status;
  file.append(kMagic);
  file.append(as_bytes(head.size()));
  file.append(head);
  file.append(as_bytes(support::hash_bytes(head)));
  for (std::size_t k = 0; k < lowerings.size(); ++k) file.append(lowerings.bytes(k));
  return file.commit();
}

// The question for a set of rules; nothing if it names what the places have no name for.
std::optional<std::string> question_of(const std::vector<std::string>& paths,
                                       const std::vector<std::string>& folders, const Places& places) {
  std::string asked;
  for (const auto& [list, word] : {std::pair(&paths, "\nload "), std::pair(&folders, "\nin ")}) {
    for (const std::string& path : *list) {
      const std::optional<std::string> kept = places.kept(path);
      if (!kept) return std::nullopt;
      asked += word + *kept;
    }
  }
  return asked;
}

// What is kept of the files of a rule set; nothing if the places have no name for one of them. The texts are
// those that were read: a file that changes meanwhile does not match.
std::optional<Entry> entry_of(const Request& request, const RuleSet& rules,
                              const std::vector<std::string>& absent) {
  Entry entry;
  entry.question = request.question;
  for (const support::FileId file : rules.files()) {
    std::optional<std::string> kept = request.places.kept(support::source_path(file));
    if (!kept) return std::nullopt;
    entry.files.push_back({std::move(*kept), support::hash_bytes(support::source_text(file))});
  }
  for (const std::string& path : absent) {
    std::optional<std::string> kept = request.places.kept(path);
    if (!kept) return std::nullopt;
    entry.absent.push_back(std::move(*kept));
  }
  return entry;
}

std::shared_ptr<Request> request_for(const std::vector<std::string>& paths,
                                     const std::vector<std::string>& folders) {
  auto request = std::make_shared<Request>();
  request->paths = paths;
  request->folders = folders;
  return request;
}

// For the entry that comes with the library. Null if it cannot answer.
std::shared_ptr<Request> library_request(const std::vector<std::string>& paths,
                                         const std::vector<std::string>& folders,
                                         const support::ShippedLibrary& library,
                                         const support::RunningProgram& program) {
  auto request = request_for(paths, folders);
  request->place = library.compiled;
  request->places.root = library.root;
  const std::optional<std::string> asked = question_of(paths, folders, request->places);
  if (!asked || library.compiled.empty()) return nullptr;
  request->question = "library" + *asked + "\nbuild " + program.build;
  return request;
}

// For an entry of the cache.
std::shared_ptr<Request> cache_request(const std::vector<std::string>& paths,
                                       const std::vector<std::string>& folders,
                                       const std::string& cache_folder,
                                       const support::RunningProgram& program) {
  auto request = request_for(paths, folders);
  std::error_code ignored;
  const std::string asked = program.path + "\n" + fs::current_path(ignored).string() +
                            *question_of(paths, folders, request->places);
  std::ostringstream name;
  name << "rules-" << std::hex << support::hash_bytes(asked);
  request->place = (fs::path(cache_folder) / name.str()).string();
  // Another build of the program takes the place of the one before.
  request->question = asked + "\nbuild " + program.build;
  return request;
}

}  // namespace

Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                  const std::string& cache_folder, const support::ShippedLibrary& library) {
  const std::optional<support::RunningProgram> program =
      cache_folder.empty() && library.compiled.empty() ? std::nullopt : support::running_program();
  if (!program) return load_rules(paths, folders);
  if (const auto request = library_request(paths, folders, library, *program)) {
    if (auto rules = read(request)) return {std::move(rules), {}};
  }
  if (cache_folder.empty()) return load_rules(paths, folders);
  const auto request = cache_request(paths, folders, cache_folder, *program);
  if (auto rules = read(request)) return {std::move(rules), {}};
  std::vector<std::string> absent;
  Loaded loaded = load_rules(paths, folders, absent);
  if (!loaded.ok() || !loaded.diagnostics.empty()) return loaded;
  // Without the entry the rules are loaded again next time.
  if (const auto entry = entry_of(*request, *loaded.rules, absent)) {
    static_cast<void>(write(request->place, *entry, *loaded.rules));
  }
  return loaded;
}

Loaded compile_library(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                       const support::ShippedLibrary& library) {
  std::vector<std::string> absent;
  Loaded loaded = load_rules(paths, folders, absent);
  if (!loaded.ok()) return loaded;
  const auto fail = [&](support::Diagnostic error) {
    loaded.rules = nullptr;
    loaded.diagnostics.push_back(std::move(error));
    return loaded;
  };
  const std::optional<support::RunningProgram> program = support::running_program();
  const auto request = program ? library_request(paths, folders, library, *program) : nullptr;
  const auto entry = request ? entry_of(*request, *loaded.rules, absent) : std::nullopt;
  if (!entry) {
    return fail(support::error("rules/not-of-library", {},
                               "the rules are not all below " + library.root + ": no library to compile"));
  }
  if (support::Status status = write(request->place, *entry, *loaded.rules); !status.ok()) {
    return fail(status.error());
  }
  return loaded;
}

}  // namespace entangle::rules
