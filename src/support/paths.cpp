#include "entangle/support/paths.h"

#ifdef __linux__
#include <elf.h>
#include <link.h>
#endif

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace entangle::support {
namespace {

namespace fs = std::filesystem;

// The two folders below `root` that exist.
std::vector<std::string> folders_below(const fs::path& root) {
  std::vector<std::string> found;
  for (const char* name : {"rules", "frameworks"}) {
    std::error_code ignored;
    if (fs::is_directory(root / name, ignored)) found.push_back((root / name).string());
  }
  return found;
}

fs::path program_path() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program;
}

// The folder that the library is in, and whether that is where it was installed with the program: PREFIX of
// PREFIX/bin/entangle tells.
std::pair<fs::path, bool> library_root() {
  if (const fs::path program = program_path(); !program.empty()) {
    const fs::path installed = program.parent_path().parent_path() / ENTANGLE_DATADIR;
    if (!folders_below(installed).empty()) return {installed, true};
  }
  return {ENTANGLE_SOURCE_DIR, false};
}

#ifdef __linux__
// The note of the linker in the program itself: of the first object, which is the program.
std::string build_id() {
  std::string result;
  const auto look = [](struct dl_phdr_info* info, std::size_t /*size*/, void* to) {
    for (ElfW(Half) k = 0; k < info->dlpi_phnum; ++k) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[k];
      if (segment.p_type != PT_NOTE) continue;
      const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
      const char* end = at + segment.p_memsz;
      const auto padded = [&](std::size_t size) {
        const std::size_t to_multiple_of = segment.p_align == 8 ? 8 : 4;
        return (size + to_multiple_of - 1) / to_multiple_of * to_multiple_of;
      };
      ElfW(Nhdr) note;
      while (static_cast<std::size_t>(end - at) >= sizeof note) {
        std::memcpy(&note, at, sizeof note);
        const std::size_t name = sizeof note;
        const std::size_t contents = padded(name + note.n_namesz);
        if (contents + note.n_descsz > static_cast<std::size_t>(end - at)) break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at + name, "GNU", 4) == 0) {
          constexpr std::string_view kDigits = "0123456789abcdef";
          for (const char* byte = at + contents; byte != at + contents + note.n_descsz; ++byte) {
            *static_cast<std::string*>(to) += kDigits[static_cast<unsigned char>(*byte) >> 4];
            *static_cast<std::string*>(to) += kDigits[static_cast<unsigned char>(*byte) & 15];
          }
          return 1;
        }
        const std::size_t next = padded(contents + note.n_descsz);
        if (next > static_cast<std::size_t>(end - at)) break;
        at += next;
      }
    }
    return 1;
  };
  ::dl_iterate_phdr(look, &result);
  return result;
}
#else
std::string build_id() {
  return {};
}
#endif

}  // namespace

std::vector<std::string> rule_folders() {
  std::vector<std::string> folders;
  if (const char* listed = std::getenv("ENTANGLE_RULES")) {
    std::string_view rest = listed;
    while (!rest.empty()) {
      const std::size_t end = rest.find(':');
      const std::string_view folder = rest.substr(0, end);
      if (!folder.empty()) folders.emplace_back(folder);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  const std::vector<std::string> shipped = folders_below(library_root().first);
  folders.insert(folders.end(), shipped.begin(), shipped.end());
  return folders;
}

std::string library_spelling(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  for (const std::string& folder : folders_below(library_root().first)) {
    const fs::path below = whole.lexically_relative(folder);
    if (!error && !below.empty() && *below.begin() != "..") return (fs::path(folder) / below).string();
  }
  return path;
}

ShippedLibrary shipped_library() {
  const char* cache = std::getenv("ENTANGLE_CACHE");
  const fs::path program = program_path();
  if (program.empty() || (cache != nullptr && *cache == '\0')) return {};
  const auto [root, installed] = library_root();
  return {root.string(), ((installed ? root : program.parent_path()) / "rules.compiled").string()};
}

std::string cache_folder() {
  if (const char* named = std::getenv("ENTANGLE_CACHE")) return named;
  const auto below = [](const char* variable, const char* folder) {
    const char* root = std::getenv(variable);
    return root == nullptr || *root != '/' ? std::string() : (fs::path(root) / folder).string();
  };
  const std::string of_user = below("XDG_CACHE_HOME", "entangle");
  return of_user.empty() ? below("HOME", ".cache/entangle") : of_user;
}

std::optional<RunningProgram> running_program() {
  const fs::path path = program_path();
  if (path.empty()) return std::nullopt;
  if (std::string id = build_id(); !id.empty()) return RunningProgram{path.string(), std::move(id)};
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return std::nullopt;
  const auto time = fs::last_write_time(path, error);
  if (error) return std::nullopt;
  return RunningProgram{path.string(),
                        std::to_string(size) + " " + std::to_string(time.time_since_epoch().count())};
}

}  // namespace entangle::support
