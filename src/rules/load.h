// Loading of rule files, with a record of the file system as it was then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::rules {

// What tells one state of a file from another without reading it.
struct FileState {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;  // nanoseconds

  bool operator==(const FileState&) const = default;
};
// Nothing where there is no such file.
std::optional<FileState> state_of(const std::string& path);

struct FileSeen {
  support::FileId file;
  std::optional<FileState> before;  // it was read
};

struct FilesSeen {
  std::vector<FileSeen> read;
  std::vector<std::string> absent;  // where an included file was looked for in vain
};

// As load_rules.
Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                  FilesSeen& seen);

}  // namespace entangle::rules
