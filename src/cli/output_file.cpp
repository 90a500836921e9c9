#include "cli/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace entangle::cli {

namespace {

namespace fs = std::filesystem;

support::Diagnostic cannot_write(const std::string& path, int code) {
  return support::error("cli/cannot-write", {},
                        "cannot write " + path + ": " + (code == 0 ? "unknown reason" : std::strerror(code)));
}

}  // namespace

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

support::Status OutputFile::open(const std::string& path) {
  shown_ = target_ = path;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return cannot_write(path, EISDIR);
  direct_ = fs::exists(status) && !fs::is_regular_file(status);
  if (direct_) return support::Unit{};
  if (fs::is_symlink(path, error)) target_ = fs::weakly_canonical(path, error).string();
  const std::string temporary = target_ + ".tmp" + std::to_string(::getpid());
  errno = 0;
  if (!std::ofstream(temporary, std::ios::binary | std::ios::trunc)) return cannot_write(path, errno);
  temporary_ = temporary;
  return support::Unit{};
}

support::Status OutputFile::commit(const std::string& text) {
  const std::string& path = direct_ ? target_ : temporary_;
  errno = 0;
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) return cannot_write(shown_, errno);
  if (direct_) return support::Unit{};
  std::error_code error;
  fs::rename(temporary_, target_, error);
  if (error) return cannot_write(shown_, error.value());
  temporary_.clear();
  return support::Unit{};
}

}  // namespace entangle::cli
