// Every lemma does what it is there for: the statements in *.txt beside this file, and what follows from
// assumptions.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "world.h"

namespace entangle::library {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

std::vector<Statement> statements(const std::string& name) {
  std::ifstream in(std::string(ENTANGLE_LIBRARY_TESTS) + "/" + name + ".txt");
  REQUIRE_MESSAGE(in.good(), name);
  std::vector<Statement> result;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> parts;
    std::istringstream rest(line);
    for (std::string part; std::getline(rest, part, '|');) parts.push_back(trimmed(part));
    parts.resize(parts.size() == 5 ? 6 : parts.size());
    REQUIRE_MESSAGE(parts.size() == 6, line);
    result.push_back({parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]});
  }
  return result;
}

void check(const std::string& name) {
  const std::vector<Statement> all = statements(name);
  World world(all);
  std::map<std::string, std::vector<std::size_t>> needed_by;
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].left);
    CAPTURE(all[i].right);
    const Result result = world.run(i, true);
    CHECK(result.equal);
    CHECK(result.note == "");
    for (const std::string& lemma : words(all[i].lemmas)) needed_by[lemma].push_back(i);
  }
  for (const auto& [lemma, where] : needed_by) {
    World without(all, {lemma});
    for (const std::size_t i : where) {
      CAPTURE(lemma);
      CAPTURE(all[i].left);
      const Result result = without.run(i);
      CHECK(result.evaluated);
      CHECK_FALSE(result.equal);
    }
  }
}

constexpr const char* kFamilies[] = {"layout", "traits", "arith", "masks", "softmax"};

}  // namespace

TEST_CASE("library: every statement follows, and needs the lemmas that it names") {
  for (const char* family : kFamilies) {
    SUBCASE(family) {
      check(family);
    }
  }
}

// If the first statement holds, so does the second; both are over the same leaves.
struct Consequence {
  std::string lemma;
  Statement assumed, follows;
};

const std::vector<Consequence> kConsequences = {
    {"concat_blocks_equal",
     {"", "a:f32[2] b:f32[3] c:f32[2] d:f32[3]", "", "concat(a, b; 0)", "concat(c, d; 0)"},
     {"", "a:f32[2] b:f32[3] c:f32[2] d:f32[3]", "", "a", "c"}},
    {"concat_without_unit",
     {"", "y:f32[5] a:f32[1,2] b:f32[1,3]", "", "bcast(y; [0], [1])", "concat(a, b; 1)"},
     {"", "y:f32[5] a:f32[1,2] b:f32[1,3]", "", "y", "concat(squeeze(a; 0), squeeze(b; 0); 0)"}},
};

TEST_CASE("library: what follows from assumptions") {
  for (const Consequence& consequence : kConsequences) {
    CAPTURE(consequence.lemma);
    CHECK(World({consequence.assumed, consequence.follows}).follows(0, 1));
    CHECK_FALSE(World({consequence.assumed, consequence.follows}, {consequence.lemma}).follows(0, 1));
  }
}

// Needed by many ranks only: without them the sums of 64 ranks grow beyond what tests/generator/ranks.py
// admits.
const std::set<std::string> kOfManyRanks = {"add_merges", "add_splits"};

// What nothing here needs may be implied by the rest.
TEST_CASE("library: no lemma without a statement that needs it") {
  std::set<std::string> needed = kOfManyRanks;
  for (const Consequence& consequence : kConsequences) needed.insert(consequence.lemma);
  for (const char* family : kFamilies) {
    for (const Statement& statement : statements(family)) {
      for (const std::string& lemma : words(statement.lemmas)) needed.insert(lemma);
    }
  }
  const World world({});
  for (const rules::Lemma& lemma : world.rules().lemmas()) {
    CHECK_MESSAGE(needed.erase(lemma.name) == 1, lemma.name);
  }
  CHECK_MESSAGE(needed.empty(), *needed.begin());
}

}  // namespace entangle::library
