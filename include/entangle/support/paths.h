// Where rule files are looked up once the folder of the file that names them has been tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace entangle::support {

// The folders that hold the rule library and the frameworks, in the order in which to search them:
//   1. those listed in the environment variable ENTANGLE_RULES (separated by ':'), as they are;
//   2. share/entangle/{rules,frameworks} beside the installed program; without it,
//      {rules,frameworks} of the source tree that the program was built from.
// Of the second kind only folders that exist are returned. Reads the environment and the file system at each
// call.
std::vector<std::string> rule_folders();

// The path as one below these folders, if the file is in one that comes with the program; else as it is. So
// what was compiled is used however a file of the library is named.
std::string library_spelling(const std::string& path);

// The library that comes with the program: the folder that `rules` and `frameworks` are in, and the file that
// holds them compiled (which need not exist): in that folder where the program is installed, beside the
// program where it is not.
struct ShippedLibrary {
  std::string root, compiled;
};

// Both "" where there is none, or ENTANGLE_CACHE says that nothing is to be kept.
ShippedLibrary shipped_library();

// The folder for what can be computed again: the environment variable ENTANGLE_CACHE if it is set, else
// entangle in XDG_CACHE_HOME or in .cache of the home folder. "" when there is none, or ENTANGLE_CACHE is
// empty. Need not exist.
std::string cache_folder();

// The file of the running program, and what tells one build of it from another: what the linker made of its
// contents, or without that the file's size and time.
struct RunningProgram {
  std::string path, build;
};

// Nothing where that cannot be told.
std::optional<RunningProgram> running_program();

}  // namespace entangle::support
