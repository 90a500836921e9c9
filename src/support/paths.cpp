#include "entangle/support/paths.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

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

// The prefix that the running program was installed under: PREFIX of PREFIX/bin/entangle.
fs::path installed_prefix() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path().parent_path();
}

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
  std::vector<std::string> shipped;
  if (const fs::path prefix = installed_prefix(); !prefix.empty())
    shipped = folders_below(prefix / ENTANGLE_DATADIR);
  if (shipped.empty()) shipped = folders_below(ENTANGLE_SOURCE_DIR);
  folders.insert(folders.end(), shipped.begin(), shipped.end());
  return folders;
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
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  const auto size = fs::file_size(path, error);
  if (error) return std::nullopt;
  const auto time = fs::last_write_time(path, error);
  if (error) return std::nullopt;
  return RunningProgram{path.string(),
                        std::to_string(size) + " " + std::to_string(time.time_since_epoch().count())};
}

}  // namespace entangle::support
