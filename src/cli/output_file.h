// A file that appears complete or not at all.
#pragma once

#include <string>

#include "entangle/support/diagnostic.h"

namespace entangle::cli {

// Opened before the work whose result it will hold, so that a path that cannot be written is noticed first.
// Until commit the text stands in a temporary file beside the target; what exists there stays as it is.
// Targets that are no regular files (/dev/null, a pipe) are written directly.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  // Error: `cli/cannot-write`.
  support::Status open(const std::string& path);
  support::Status commit(const std::string& text);

 private:
  std::string shown_, target_, temporary_;
  bool direct_ = false;
};

}  // namespace entangle::cli
