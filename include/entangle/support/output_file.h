// A file that appears complete or not at all.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

#include "entangle/support/diagnostic.h"

namespace entangle::support {

// Opened before the work whose result it will hold, so that a path that cannot be written is noticed first.
// Until commit the text stands in a temporary file beside the target; what exists there stays as it is.
// Targets that are no regular files (/dev/null, a pipe) are written directly. Several may be open for one
// target, in one process or in many: the last commit stays.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  // Error: `support/cannot-write`.
  Status open(const std::string& path);
  // A part of the text; whether it could be written commit() tells.
  void append(std::string_view text);
  Status commit();
  Status commit(const std::string& text);

 private:
  std::string shown_, target_, temporary_;
  bool direct_ = false;
  std::ofstream stream_;
};

// Both in one.
Status write_file(const std::string& path, const std::string& text);

}  // namespace entangle::support
