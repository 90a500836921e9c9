// Rule sets kept on disk are used exactly when they are what loading would give.

#include "entangle/rules/cache.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "helpers.h"

using namespace entangle;
using namespace entangle::rules;

namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder()
      : path(fs::temp_directory_path() / ("entangle-cache-test-" + std::to_string(std::random_device{}()))) {
    fs::create_directories(path / "lib");
    fs::create_directories(path / "other");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
  Loaded load(const std::string& root) const {
    return load_rules({root}, {(path / "lib").string(), (path / "other").string()}, cache());
  }
  std::string cache() const { return (path / "cache" / "below").string(); }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(cache(), ignored)) found.push_back(entry.path());
    return found;
  }
  fs::path path;
};

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

const std::string kRoot = "include \"ops.rules\";\n" + std::string(R"(
lemma scales(x: tensor, c: scalar): scale(scale(x; c); 1 / 2) => scale(x; c / 2);
lemma infinite(x: tensor): scale(x; 1.5) == scale(scale(x; 3); 0.5) when rank(x) == 2;
lower my.scaled.default(x: tensor, c: scalar; alpha: scalar = 0.1): scale(x; c * alpha);
)");

std::vector<std::string> lemmas(const Loaded& loaded);

TEST_CASE("a copy of the library is used as a whole") {
  const Folder folder;
  fs::create_directories(folder.path / "copy" / "framework");
  fs::create_directories(folder.path / "lib" / "framework");
  const auto library = [&](const std::string& where, const std::string& lemma) {
    folder.write(where + "/ops.rules",
                 "op half(x: tensor): elementwise { value i => x[i] / 2; }\n"
                 "lemma " +
                     lemma + "(x: tensor): half(half(x)) => half(half(x));\n");
    folder.write(where + "/framework/one.rules",
                 "include \"ops.rules\";\nlower one.half(x: tensor): half(x);\n");
    return folder.write(where + "/all.rules", "include \"ops.rules\";\ninclude \"framework/one.rules\";\n");
  };
  const std::string own = library("lib", "own");
  const std::string copy = library("copy", "copied");
  const std::vector<std::string> folders = {(folder.path / "lib").string()};
  CHECK(lemmas(load_rules({own}, folders)) == std::vector<std::string>{"own"});
  CHECK(lemmas(load_rules({copy}, folders)) == std::vector<std::string>{"copied"});
  // The library is not changed by what stands beside a file that includes it.
  folder.write("ops.rules", "nonsense");
  const std::string user = folder.write("user.rules", "include \"framework/one.rules\";\n");
  CHECK(lemmas(load_rules({user}, folders)) == std::vector<std::string>{"own"});
}

std::vector<std::string> lemmas(const Loaded& loaded) {
  std::vector<std::string> names;
  for (const Lemma& lemma : loaded.rules->lemmas()) names.push_back(lemma.name);
  return names;
}

}  // namespace

TEST_CASE("what comes from the cache is what was loaded") {
  const Folder folder;
  folder.write("lib/ops.rules", kOperators);
  const std::string root = folder.write("root.rules", kRoot);
  const Loaded first = folder.load(root);
  REQUIRE(first.ok());
  REQUIRE(folder.entries().size() == 1);
  const auto before = fs::last_write_time(folder.entries()[0]);
  const Loaded second = folder.load(root);
  REQUIRE(second.ok());
  CHECK(fs::last_write_time(folder.entries()[0]) == before);
  CHECK(to_bytes(*second.rules) == to_bytes(*first.rules));
  CHECK(second.rules->fingerprint() == first.rules->fingerprint());
  // Places point into the texts.
  const Lemma& lemma = second.rules->lemmas()[0];
  CHECK(support::source_path(lemma.span.file) == root);
  CHECK(support::source_text(lemma.span.file) == kRoot);
  CHECK(lemma.span.line == first.rules->lemmas()[0].span.line);
  CHECK(to_string(lemma.left) == to_string(first.rules->lemmas()[0].left));
  CHECK(second.rules->find_op("scale") == first.rules->find_op("scale"));
  CHECK(second.rules->lowerings_of("my.scaled.default").size() == 1);
  CHECK(second.rules->lowerings()[0].parameters[2].default_value->value ==
        first.rules->lowerings()[0].parameters[2].default_value->value);
}

TEST_CASE("what is known without decoding is what decoding tells") {
  const std::string root = ENTANGLE_SOURCE_DIR "/rules/aten.rules";
  const std::vector<std::string> folders = {ENTANGLE_SOURCE_DIR "/rules", ENTANGLE_SOURCE_DIR "/frameworks"};
  const Loaded loaded = load_rules({root}, folders);
  REQUIRE(loaded.ok());
  const auto again = from_bytes(*to_bytes(*loaded.rules), loaded.rules->files());
  REQUIRE(again != nullptr);
  const auto same = [](const LemmaHead::Opening& a, const LemmaHead::Opening& b) {
    return a.kind == b.kind && a.op == b.op && a.operands == b.operands;
  };
  for (std::size_t k = 0; k < again->lemmas().size(); ++k) {
    const LemmaHead& kept = again->lemmas().head(k);
    const LemmaHead head = head_of(again->lemmas()[k]);
    CHECK(kept.normalise == head.normalise);
    CHECK(kept.transparent == head.transparent);
    CHECK(kept.trait == head.trait);
    CHECK(same(kept.forward, head.forward));
    CHECK(same(kept.backward, head.backward));
  }
  for (OpId id = 0; id < again->operators().size(); ++id) {
    const Operator& op = again->op(id);
    CHECK(op.id == id);
    CHECK(again->operators().head(id).name == op.name);
    CHECK(again->operators().head(id).traits == head_of(op).traits);
    CHECK(again->find_op(op.name) == id);
    CHECK(again->find_op(op.name + "'") == kNoOp);
  }
  std::map<std::string, std::vector<std::uint32_t>> by_op;
  for (std::uint32_t k = 0; k < again->lowerings().size(); ++k) {
    CHECK(again->lowerings().head(k).op == again->lowerings()[k].op);
    CHECK(again->lowerings().head(k).random == again->lowerings()[k].random);
    by_op[again->lowerings()[k].op].push_back(k);
  }
  for (const auto& [op, expected] : by_op) CHECK(std::ranges::equal(again->lowerings_of(op), expected));
  CHECK(again->lowerings_of("").empty());
  CHECK(again->lowerings_of("zzz").empty());
}

TEST_CASE("declarations that several threads ask for are decoded to one") {
  std::string text = kOperators;
  for (int k = 0; k < 200; ++k) {
    text += "lemma of" + std::to_string(k) + "(x: tensor): scale(x; " + std::to_string(k + 2) + ") => x;\n";
  }
  const Loaded loaded = load_rules_text("threads.rules", text, {});
  REQUIRE(loaded.ok());
  for (int round = 0; round < 10; ++round) {
    const auto rules = from_bytes(*to_bytes(*loaded.rules), loaded.rules->files());
    std::vector<std::vector<const Lemma*>> seen(4);
    std::vector<std::thread> threads;
    for (std::vector<const Lemma*>& mine : seen) {
      threads.emplace_back([&] {
        for (const Lemma& lemma : rules->lemmas()) mine.push_back(&lemma);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& others : seen) CHECK(others == seen[0]);
    CHECK(to_string(seen[0].back()->left) == to_string(loaded.rules->lemmas().back().left));
  }
}

TEST_CASE("an entry is stale when a file changed, or appeared where it was looked for first") {
  const Folder folder;
  folder.write("other/ops.rules", kOperators);
  const std::string root = folder.write("root.rules", kRoot);
  CHECK(lemmas(folder.load(root)) == std::vector<std::string>{"scales", "infinite"});
  folder.write("root.rules", kRoot + "lemma third(x: tensor): scale(x; 1) => x;\n");
  CHECK(lemmas(folder.load(root)) == std::vector<std::string>{"scales", "infinite", "third"});
  CHECK(lemmas(folder.load(root)) == std::vector<std::string>{"scales", "infinite", "third"});
  // An included file, too.
  folder.write("other/ops.rules", kOperators + "lemma inner(x: tensor): scale(x; 1) => x;\n");
  CHECK(lemmas(folder.load(root))[0] == "inner");
  // `lib` comes before `other`.
  folder.write("lib/ops.rules", kOperators);
  CHECK(lemmas(folder.load(root)) == std::vector<std::string>{"scales", "infinite", "third"});
  fs::remove(folder.path / "lib" / "ops.rules");
  CHECK(lemmas(folder.load(root))[0] == "inner");
  // Errors and warnings are found each time.
  folder.write("root.rules", kRoot + "lemma wrong(x: tensor): scal(x; 1) => x;\n");
  for (int k = 0; k < 2; ++k) {
    const Loaded failed = folder.load(root);
    CHECK(!failed.ok());
    CHECK(failed.diagnostics.size() == 1);
  }
}

TEST_CASE("damaged entries are ignored and replaced") {
  const Folder folder;
  folder.write("lib/ops.rules", kOperators);
  const std::string root = folder.write("root.rules", kRoot);
  const std::string expected = *to_bytes(*folder.load(root).rules);
  const fs::path entry = folder.entries().at(0);
  const std::string whole = read(entry);
  std::mt19937 random(7);
  for (int k = 0; k < 200; ++k) {
    std::string damaged = whole;
    if (k % 4 == 0) {
      damaged.resize(random() % whole.size());
    } else {
      damaged[random() % whole.size()] ^= static_cast<char>(1 + random() % 255);
    }
    std::ofstream(entry, std::ios::binary) << damaged;
    const Loaded loaded = folder.load(root);
    REQUIRE(loaded.ok());
    CHECK(to_bytes(*loaded.rules) == expected);
  }
  CHECK(folder.load(root).ok());  // damage to a lowering is found when it is read: then the entry goes
  CHECK(read(entry).size() == whole.size());
}

TEST_CASE("a damaged lowering is taken from the texts") {
  const Folder folder;
  folder.write("lib/ops.rules", kOperators);
  std::string text = kRoot;
  for (int k = 0; k < 100; ++k) {
    text += "lower my.op" + std::to_string(k) + ".default(x: tensor): scale(x; " + std::to_string(k) + ");\n";
  }
  const std::string root = folder.write("root.rules", text);
  const std::string expected = *to_bytes(*folder.load(root).rules);
  const fs::path entry = folder.entries().at(0);
  const std::string whole = read(entry);
  std::mt19937 random(8);
  for (int k = 0; k < 20; ++k) {
    // The lowerings stand at the end.
    std::string damaged = whole;
    damaged[whole.size() - 1 - random() % 2000] ^= static_cast<char>(1 + random() % 255);
    std::ofstream(entry, std::ios::binary) << damaged;
    const Loaded loaded = folder.load(root);
    REQUIRE(loaded.ok());
    CHECK(to_bytes(*loaded.rules) == expected);
    CHECK(folder.entries().empty());
    CHECK(to_bytes(*folder.load(root).rules) == expected);
    CHECK(read(entry).size() == whole.size());
  }
}

TEST_CASE("only contents count, not what the file system says of a file") {
  const Folder folder;
  folder.write("lib/ops.rules", kOperators);
  const std::string root = folder.write("root.rules", kRoot);
  const auto written = fs::last_write_time(root);
  CHECK(lemmas(folder.load(root)) == std::vector<std::string>{"scales", "infinite"});
  const Loaded again = folder.load(root);
  REQUIRE(again.ok());
  CHECK(support::source_text(again.rules->files().back()) == kRoot);
  // As long as before, and written at the same time as it seems.
  std::string renamed = kRoot;
  renamed.replace(renamed.find("infinite"), 8, "unending");
  folder.write("root.rules", renamed);
  fs::last_write_time(root, written);
  CHECK(lemmas(folder.load(root)) == std::vector<std::string>{"scales", "unending"});
  // Written anew, but the same: the entry still holds.
  const auto entry = folder.entries().at(0);
  const auto kept = fs::last_write_time(entry);
  folder.write("root.rules", renamed);
  CHECK(lemmas(folder.load(root)) == std::vector<std::string>{"scales", "unending"});
  CHECK(fs::last_write_time(entry) == kept);
}

TEST_CASE("a library that comes compiled") {
  const Folder folder;
  const std::string root_folder = (folder.path / "lib").string();
  const support::ShippedLibrary library = {root_folder, (folder.path / "other" / "compiled").string()};
  const std::vector<std::string> folders = {root_folder};
  folder.write("lib/ops.rules", kOperators);
  const std::string root = folder.write("lib/root.rules", kRoot);
  const Loaded compiled = compile_library({root}, folders, library);
  for (const support::Diagnostic& diagnostic : compiled.diagnostics) MESSAGE(support::render(diagnostic));
  REQUIRE(compiled.ok());
  const std::string expected = *to_bytes(*compiled.rules);
  const std::string whole = read(library.compiled);
  const auto load = [&](const std::string& from, const support::ShippedLibrary& shipped) {
    return load_rules({from + "/root.rules"}, {from}, folder.cache(), shipped);
  };
  // It is used, and no other entry is written.
  CHECK(to_bytes(*load(root_folder, library).rules) == expected);
  CHECK(folder.entries().empty());
  // Without a cache, too; and elsewhere: spans are in the files of that place.
  CHECK(to_bytes(*load_rules({root}, folders, "", library).rules) == expected);
  fs::copy(folder.path / "lib", folder.path / "moved");
  const std::string moved = (folder.path / "moved").string();
  const Loaded elsewhere = load(moved, {moved, library.compiled});
  CHECK(to_bytes(*elsewhere.rules) == expected);
  CHECK(support::source_path(elsewhere.rules->lemmas()[0].span.file) == moved + "/root.rules");
  CHECK(folder.entries().empty());
  // Another set of rules is not in it.
  const std::string own = folder.write("own.rules", "include \"root.rules\";\n");
  CHECK(load_rules({own}, folders, folder.cache(), library).ok());
  CHECK(folder.entries().size() == 1);
  CHECK(read(library.compiled) == whole);
  // Once a file has changed it is stale: the cache takes its place, and it is left as it is.
  folder.write("lib/root.rules", kRoot + "lemma third(x: tensor): scale(x; 1) => x;\n");
  CHECK(lemmas(load(root_folder, library)) == std::vector<std::string>{"scales", "infinite", "third"});
  CHECK(folder.entries().size() == 2);
  CHECK(lemmas(load(root_folder, library)) == std::vector<std::string>{"scales", "infinite", "third"});
  CHECK(read(library.compiled) == whole);
  folder.write("lib/root.rules", kRoot);
  // Damage of any kind.
  std::mt19937 random(9);
  for (int k = 0; k < 100; ++k) {
    std::string damaged = whole;
    if (k % 4 == 0) {
      damaged.resize(random() % whole.size());
    } else {
      damaged[random() % whole.size()] ^= static_cast<char>(1 + random() % 255);
    }
    std::ofstream(library.compiled, std::ios::binary) << damaged;
    CHECK(to_bytes(*load(root_folder, library).rules) == expected);
  }
  CHECK(fs::exists(library.compiled));
}

TEST_CASE("a library that cannot be compiled") {
  const Folder folder;
  const std::string lib = (folder.path / "lib").string();
  folder.write("other/ops.rules", kOperators);
  const std::string root = folder.write("lib/root.rules", kRoot);
  const std::string compiled = (folder.path / "compiled").string();
  const std::vector<std::string> folders = {lib, (folder.path / "other").string()};
  const auto id_of = [](const Loaded& loaded) {
    REQUIRE(!loaded.ok());
    return loaded.diagnostics.back().id;
  };
  CHECK(id_of(compile_library({root}, folders, {lib, compiled})) == "rules/not-of-library");
  const std::string whole = folder.path.string();
  CHECK(compile_library({root}, folders, {whole, compiled}).ok());
  CHECK(id_of(compile_library({root}, folders, {whole, whole + "/lib"})) == "support/cannot-write");
  folder.write("lib/root.rules", kRoot + "lemma wrong(x: tensor): scal(x; 1) => x;\n");
  fs::remove(compiled);
  CHECK(!compile_library({root}, folders, {whole, compiled}).ok());
  CHECK(!fs::exists(compiled));
}

TEST_CASE("bytes of rule sets: damage that no checksum has caught") {
  const Loaded loaded = load_rules_text("bytes.rules", kOperators + kRoot.substr(kRoot.find('\n')), {});
  REQUIRE(loaded.ok());
  const std::string whole = *to_bytes(*loaded.rules);
  const auto again = from_bytes(whole, loaded.rules->files());
  REQUIRE(again != nullptr);
  CHECK(to_bytes(*again) == whole);
  CHECK(from_bytes(whole, {}) == nullptr);
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    CHECK(from_bytes(whole.substr(0, size), loaded.rules->files()) == nullptr);
  }
}

TEST_CASE("without a place for it there is no cache") {
  const Folder folder;
  folder.write("lib/ops.rules", kOperators);
  const std::string root = folder.write("root.rules", kRoot);
  CHECK(load_rules({root}, {(folder.path / "lib").string()}, "").ok());
  CHECK(load_rules({root}, {(folder.path / "lib").string()}, (folder.path / "root.rules").string()).ok());
  CHECK(load_rules({root}, {(folder.path / "lib").string()}, "/proc/nowhere").ok());
  CHECK(folder.entries().empty());
}
