// Every lemma does what it is there for: the statements in *.txt beside this file, and what lemmas about
// named tensors add to a class.
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
    REQUIRE_MESSAGE(parts.size() == 5, line);
    result.push_back({parts[0], parts[1], parts[2], parts[3], parts[4]});
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
    World without(all, {lemma, lemma + "_now"});
    for (const std::size_t i : where) {
      CAPTURE(lemma);
      CAPTURE(all[i].left);
      const Result result = without.run(i);
      CHECK(result.evaluated);
      CHECK_FALSE(result.equal);
    }
  }
}

// After saturation the class of `left` holds an application of `op`; not without the lemma.
struct Added {
  std::string op;
  Statement statement;
};

bool adds(const Added& added, const std::set<std::string>& without) {
  World world({added.statement}, without);
  const Result result = world.run(0, true);
  CHECK(result.evaluated);
  CHECK(result.note == "");
  const term::TermId left = world.evaluate("t.left0");
  return world.graph().any_node(left, world.rules().find_op(added.op),
                                [](const term::NodeView&) { return true; });
}

}  // namespace

TEST_CASE("library: layout") {
  check("layout");
}
TEST_CASE("library: generic lemmas") {
  check("traits");
}
TEST_CASE("library: arithmetic") {
  check("arith");
}
TEST_CASE("library: masks, look-ups, scatters") {
  check("masks");
}
TEST_CASE("library: exponentials") {
  check("softmax");
}

TEST_CASE("library: what lemmas add to a class") {
  const std::vector<Added> table = {
      {"split", {"undo_merge", "x:f32[4,6]", "merge(x; 0)", "x", "x"}},
      {"merge", {"undo_split", "x:f32[12]", "split(x; 0, 3)", "x", "x"}},
      {"transpose", {"undo_transpose", "x:f32[4,6]", "transpose(x; [1, 0])", "x", "x"}},
      {"bcast", {"undo_squeeze", "x:f32[4,1]", "squeeze(x; 1)", "x", "x"}},
      {"squeeze", {"undo_unit_axis", "x:f32[4]", "bcast(x; [1], [1])", "x", "x"}},
      {"transpose",
       {"add_transposes", "x:f32[4,6] y:f32[4,6]", "", "add_n(transpose(x; [1, 0]), transpose(y; [1, 0]))",
        "x"}},
      {"scale", {"undo_scale", "x:f32[4]", "scale(x; 1/3)", "x", "x"}},
      {"slice", {"block_of_named", "x:f32[4] y:f32[5]", "concat(x, y; 0)", "y", "y"}},
      {"transpose",
       {"split_transpose", "x:f32[12,5]", "transpose(x; [1, 0])", "split(transpose(x; [1, 0]); 1, 3)", "x"}},
      {"squeeze", {"slice_squeeze", "x:f32[5,1,4]", "squeeze(x; 1)", "slice(squeeze(x; 1); 1, 1, 3)", "x"}},
      {"negate", {"negate_bcast", "m:b8[4]", "", "bcast(negate(m); [1], [3])", "m"}},
      {"iota", {"slice_iota", "", "", "slice(iota(; 0, 9, i64); 0, 2, 5)", "iota(; 0, 9, i64)"}},
      {"slice", {"iota_part", "", "", "iota(; 2, 3, i64)", "iota(; 0, 9, i64)"}},
      {"add_n", {"take_blocks", "v:f32[2] w:f32[4] t:i64[5]", "", "take(concat(v, w; 0), t; 0)", "t"}},
      {"take",
       {"take_joined", "v:f32[2] w:f32[4] t:i64[5]", "", "add_n(take(v, t; 0), take(w, plus(t; -2); 0))",
        "t"}},
      {"add_n",
       {"concat_shifted", "x:f32[2] y:f32[3] t:f32[]", "",
        "concat(add_n(x, bcast(t; [0], [2])), add_n(y, bcast(t; [0], [3])); 0)", "x"}},
      {"put_add", {"put_slice", "x:f32[5] t:i64[5]", "", "slice(put_add(x, t; 0, 12); 0, 6, 12)", "x"}},
  };
  for (const Added& added : table) {
    CAPTURE(added.statement.lemmas);
    CHECK(adds(added, {}));
    CHECK_FALSE(adds(added, {added.statement.lemmas}));
  }
}

TEST_CASE("library: equal concats have equal blocks") {
  for (const bool with : {true, false}) {
    World world({{"", "a:f32[2] b:f32[3] c:f32[2] d:f32[3]", "", "concat(a, b; 0)", "concat(c, d; 0)"}},
                with ? std::set<std::string>{} : std::set<std::string>{"concat_blocks_equal"});
    CHECK(world.run(0).evaluated);
    CHECK(world.assume_equal() == with);
  }
}

}  // namespace entangle::library
