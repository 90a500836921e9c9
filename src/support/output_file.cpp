#include "entangle/support/output_file.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace entangle::support {

namespace {

namespace fs = std::filesystem;

Diagnostic cannot_write(const std::string& path, int code) {
  return error("support/cannot-write", {},
               "cannot write " + path + ": " + (code == 0 ? "unknown reason" : std::strerror(code)));
}

}  // namespace

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

Status OutputFile::open(const std::string& path) {
  shown_ = target_ = path;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return cannot_write(path, EISDIR);
  direct_ = fs::exists(status) && !fs::is_regular_file(status);
  if (direct_) return Unit{};
  if (fs::is_symlink(path, ignored)) target_ = fs::weakly_canonical(path, ignored).string();
  static std::atomic<unsigned> opened = 0;
  const std::string temporary =
      target_ + ".tmp" + std::to_string(::getpid()) + "." + std::to_string(++opened);
  errno = 0;
  if (!std::ofstream(temporary, std::ios::binary | std::ios::trunc)) return cannot_write(path, errno);
  temporary_ = temporary;
  return Unit{};
}

void OutputFile::append(std::string_view text) {
  if (!stream_.is_open()) {
    errno = 0;
    stream_.open(direct_ ? target_ : temporary_, std::ios::binary | std::ios::trunc);
  }
  stream_ << text;
}

Status OutputFile::commit(const std::string& text) {
  append(text);
  return commit();
}

Status OutputFile::commit() {
  append({});
  stream_.close();
  if (!stream_) return cannot_write(shown_, errno);
  if (direct_) return Unit{};
  std::error_code failed;
  fs::rename(temporary_, target_, failed);
  if (failed) return cannot_write(shown_, failed.value());
  temporary_.clear();
  return Unit{};
}

Status write_file(const std::string& path, const std::string& text) {
  OutputFile file;
  if (Status opened = file.open(path); !opened) return opened;
  return file.commit(text);
}

}  // namespace entangle::support
