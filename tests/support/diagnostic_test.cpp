#include "entangle/support/diagnostic.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "entangle/support/hash.h"
#include "entangle/support/text.h"

namespace entangle::support {

TEST_CASE("spans are counted from 1") {
  const FileId file = add_source("a.rules", "one\ntwo three\n");
  CHECK(span_at(file, 0) == Span{file, 1, 1, 1});
  CHECK(span_at(file, 3) == Span{file, 1, 4, 1});
  CHECK(span_at(file, 4) == Span{file, 2, 1, 1});
  CHECK(span_at(file, 8, 5) == Span{file, 2, 5, 5});
  CHECK(span_at(file, 1000) == Span{file, 3, 1, 1});
  CHECK(span_at(kNoFile, 5) == Span{});
  CHECK(source_path(file) == "a.rules");
  CHECK(source_text(file) == "one\ntwo three\n");
  CHECK(source_path(kNoFile).empty());
  CHECK(source_text(kNoFile).empty());
}

TEST_CASE("a diagnostic is rendered with its line, a caret, the suggestion and notes") {
  const FileId file = add_source("m.rules", "op f(x):\n  matmull(x, y)\r\n");
  Diagnostic diagnostic = error("rules/unknown-operator", span_at(file, 11, 7), "unknown operator `matmull`",
                                "did you mean `matmul`?");
  diagnostic.notes.push_back({span_at(file, 3, 1), "in this operator"});
  diagnostic.notes.push_back({{}, "operators are declared with `op`"});
  CHECK(render(diagnostic) ==
        "m.rules:2:3: error: unknown operator `matmull` [rules/unknown-operator]\n"
        "   2 |   matmull(x, y)\n"
        "     |   ^~~~~~~\n"
        "  help: did you mean `matmul`?\n"
        "m.rules:1:4: note: in this operator\n"
        "   1 | op f(x):\n"
        "     |    ^\n"
        "note: operators are declared with `op`\n");
}

TEST_CASE("a diagnostic about a whole file, or about none, has no excerpt") {
  const FileId file = add_source("m.yaml", "a: 1");
  CHECK(render(error("m/empty", Span{file, 0, 0, 0}, "no entries")) ==
        "m.yaml: error: no entries [m/empty]\n");
  CHECK(render({"", Severity::warning, {}, "slow", "", {}}) == "warning: slow\n");
}

TEST_CASE("carets line up under tabs and UTF-8, and end with the line") {
  const FileId file = add_source("t", "\tä = b\n");
  CHECK(render(error("t/t", span_at(file, 6, 100), "m")) ==
        "t:1:7: error: m [t/t]\n"
        "   1 | \tä = b\n"
        "     | \t    ^\n");
}

TEST_CASE("of a long line only what stands around the caret is shown") {
  std::string line;
  for (int k = 0; k < 100'000; ++k) {
    line += "\u00e4b";
  }
  const FileId file = add_source("long", line);
  for (const std::size_t offset :
       {std::size_t{0}, std::size_t{30}, std::size_t{150'000}, line.size() - 3, line.size()}) {
    CAPTURE(offset);
    const std::string text = render(error("t/t", span_at(file, offset, 3), "m"));
    CHECK(text.size() < 500);
    // The caret stands below its character: "äb" are three bytes and two columns.
    const std::size_t shown = text.find(" | ") + 3;
    const std::size_t shown_end = text.find('\n', shown);
    const std::size_t under = text.find(" | ", shown_end) + 3;
    const std::size_t column = text.find('^') - under;
    std::size_t at = shown;
    for (std::size_t k = 0; k < column; ++k) {
      do {
        ++at;
      } while ((static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U);
    }
    CHECK(text.substr(at, offset == line.size() ? 1 : 3) == (offset == line.size() ? "\n" : "\u00e4b"));
  }
}

TEST_CASE("results hold a value or an error") {
  Result<int> good = 3;
  CHECK(good.ok());
  CHECK(*good == 3);
  CHECK_THROWS_AS(static_cast<void>(good.error()), InternalError);
  const Result<int> bad = error("a/b", {}, "m");
  CHECK(!bad);
  CHECK(bad.error().id == "a/b");
  CHECK_THROWS_AS(static_cast<void>(bad.value()), InternalError);
}

TEST_CASE("a registered file is read when its text is asked for") {
  const std::string path = std::string(ENTANGLE_BINARY_DIR) + "/support_test_late_input";
  std::ofstream(path) << "x\n";
  const FileId file = add_source_file(path);
  const FileId missing = add_source_file(path + ".missing");
  CHECK(source_path(file) == path);
  std::ofstream(path) << "y\nab";
  CHECK(source_text(file) == "y\nab");
  std::ofstream(path) << "z";
  CHECK(source_text(file) == "y\nab");
  CHECK(span_at(file, 3) == Span{file, 2, 2, 1});
  CHECK(source_text(missing).empty());
  CHECK(render(error("a/b", {missing, 3, 1, 1}, "m")) == path + ".missing:3:1: error: m [a/b]\n");
}

TEST_CASE("files are read and registered") {
  const std::string path = std::string(ENTANGLE_BINARY_DIR) + "/support_test_input";
  std::ofstream(path) << "x\ny";
  const Result<FileId> file = read_source(path);
  REQUIRE(file.ok());
  CHECK(source_text(*file) == "x\ny");
  std::ofstream(path, std::ios::trunc).close();
  const Result<FileId> empty = read_source(path);
  REQUIRE(empty.ok());
  CHECK(source_text(*empty).empty());
  const Result<FileId> missing = read_source(path + ".missing");
  REQUIRE(!missing.ok());
  CHECK(missing.error().id == "support/cannot-read");
  CHECK(missing.error().message == "cannot read " + path + ".missing: No such file or directory");
  const Result<FileId> folder = read_source(ENTANGLE_BINARY_DIR);
  REQUIRE(!folder.ok());
  CHECK(folder.error().message == std::string("cannot read ") + ENTANGLE_BINARY_DIR + ": it is a folder");
}

TEST_CASE("near names, best first") {
  const std::vector<std::string> names = {"matmul", "bmm", "mul", "Softmax", "softmax_backward", "transpose"};
  CHECK(nearest("matmull", names) == std::vector<std::string>{"matmul"});
  CHECK(nearest("softmax", names) == std::vector<std::string>{"Softmax"});
  CHECK(nearest("tranpsose", names) == std::vector<std::string>{"transpose"});
  CHECK(nearest("mm", names) == std::vector<std::string>{"bmm"});
  CHECK(nearest("gelu", names).empty());
  CHECK(did_you_mean("xyz", names).empty());
  CHECK(did_you_mean("s2", {"s0", "s1", "r"}) == "did you mean `s0` or `s1`?");
  CHECK(did_you_mean("a.weigh", {"a.weight", "b.weight", "a.weights"}) ==
        "did you mean `a.weight`, `a.weights` or `b.weight`?");
  CHECK(nearest("x", {"y"}).empty());
}

TEST_CASE("the registry may be used by many threads") {
  std::vector<std::thread> threads;
  std::vector<FileId> files(4 * 200);
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&files, t] {
      for (std::size_t i = 0; i < 200; ++i) {
        files[t * 200 + i] = add_source(std::to_string(t * 200 + i), "\n\n");
        static_cast<void>(source_path(files[t * 200]));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    REQUIRE(source_path(files[i]) == std::to_string(i));
  }
}

TEST_CASE("invariants") {
  CHECK_NOTHROW([] { ENTANGLE_CHECK(1 + 1 == 2, "arithmetic"); }());
  CHECK_THROWS_WITH_AS([] { ENTANGLE_CHECK(1 + 1 == 3, "arithmetic"); }(),
                       doctest::Contains("arithmetic (1 + 1 == 3)"), InternalError);
}

TEST_CASE("text") {
  CHECK(join({}, ", ").empty());
  CHECK(join({"a", "b", "c"}, "/") == "a/b/c");
  CHECK(join_list({"a"}) == "a");
  CHECK(join_list({"a", "b"}) == "a and b");
  CHECK(join_list({"a", "b", "c"}, " or ") == "a, b or c");
  CHECK(split("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
  CHECK(split("", ',') == std::vector<std::string>{""});
  CHECK(trim(" \t a b\n") == "a b");
  CHECK(trim("  ").empty());
}

TEST_CASE("hashes are the same in every run") {
  CHECK(hash_bytes("s0") == hash_bytes(std::string("s0")));
  CHECK(hash_bytes("s0") != hash_bytes("s1"));
  CHECK(hash_combine(1, 2) != hash_combine(2, 1));
  static_assert(mix(1) != mix(2));
}

TEST_CASE("files whose places would not fit 32 bits are not read") {
  const auto path = std::filesystem::temp_directory_path() / "entangle-large.json";
  std::ofstream(path) << "{}";
  CHECK(read_file(path.string()).ok());
  std::filesystem::resize_file(path, std::uintmax_t{1} << 32U);  // takes no room
  const Result<std::string> large = read_file(path.string());
  std::filesystem::remove(path);
  REQUIRE_FALSE(large.ok());
  CHECK(large.error().id == "support/cannot-read");
  CHECK(large.error().message.ends_with("it is larger than 4 GiB"));
}

}  // namespace entangle::support
