#include "entangle/support/output_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace entangle::support {
namespace {

namespace fs = std::filesystem;

// A folder that is gone with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "entangle-output-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const char* name) const { return (path_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
      result.push_back(entry.path().filename().string());
    }
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  fs::path path_;
};

using Names = std::vector<std::string>;

std::string text_of(const std::string& path) {
  const Result<std::string> text = read_file(path);
  return text ? *text : text.error().message;
}

TEST_CASE("a file appears when it is complete, in one step") {
  const Folder folder;
  const std::string path = folder.path("report");
  REQUIRE(write_file(path, "old").ok());
  {
    OutputFile file;
    REQUIRE(file.open(path).ok());
    file.append("new ");
    file.append("text");
    CHECK(text_of(path) == "old");
    REQUIRE(file.commit().ok());
    CHECK(text_of(path) == "new text");
  }
  CHECK(text_of(path) == "new text");
  CHECK(folder.names() == Names{"report"});
}

TEST_CASE("what is not committed leaves nothing behind") {
  const Folder folder;
  const std::string path = folder.path("report");
  {
    OutputFile file;
    REQUIRE(file.open(path).ok());
    file.append("half of");
  }
  CHECK(folder.names() == Names{});
  REQUIRE(write_file(path, "old").ok());
  {
    OutputFile file;
    REQUIRE(file.open(path).ok());
    file.append("half of");
  }
  CHECK(text_of(path) == "old");
  CHECK(folder.names() == Names{"report"});
}

TEST_CASE("of several that are open for one file the last commit stays") {
  const Folder folder;
  const std::string path = folder.path("report");
  OutputFile first, second;
  REQUIRE(first.open(path).ok());
  REQUIRE(second.open(path).ok());
  REQUIRE(second.commit("second").ok());
  CHECK(text_of(path) == "second");
  REQUIRE(first.commit("first").ok());
  CHECK(text_of(path) == "first");
  CHECK(folder.names() == Names{"report"});
}

TEST_CASE("a link stays one, and what it points to is replaced") {
  const Folder folder;
  REQUIRE(write_file(folder.path("target"), "old").ok());
  fs::create_symlink("target", folder.path("link"));
  REQUIRE(write_file(folder.path("link"), "new").ok());
  CHECK(fs::is_symlink(folder.path("link")));
  CHECK(text_of(folder.path("target")) == "new");
}

TEST_CASE("what cannot be written is said before there is anything to write") {
  const Folder folder;
  const auto complaint = [](const std::string& path) {
    OutputFile file;
    const Status opened = file.open(path);
    return opened ? "" : opened.error().id + ": " + opened.error().message;
  };
  const std::string nowhere = folder.path("nowhere") + "/report";
  CHECK(complaint(nowhere) ==
        "support/cannot-write: cannot write " + nowhere + ": No such file or directory");
  const std::string itself = folder.path(".");
  CHECK(complaint(itself) == "support/cannot-write: cannot write " + itself + ": Is a directory");
}

TEST_CASE("what is no regular file is written as it is") {
  CHECK(write_file("/dev/null", "text").ok());
  CHECK(fs::is_character_file("/dev/null"));
  if (fs::exists("/dev/full")) {
    const Status written = write_file("/dev/full", "text");
    REQUIRE(!written);
    CHECK(written.error().message == "cannot write /dev/full: No space left on device");
  }
}

}  // namespace
}  // namespace entangle::support
