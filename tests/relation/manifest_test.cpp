#include "entangle/relation/manifest.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "entangle/relation/clean.h"

namespace entangle::relation {

namespace {

Manifest read(const std::string& text, const std::string& path = "folder/m.yaml") {
  auto manifest = read_manifest_text(path, text);
  if (!manifest) FAIL(support::render(manifest.error()));
  return std::move(*manifest);
}

std::string rejected(const std::string& text) {
  const auto manifest = read_manifest_text("m.yaml", text);
  return manifest ? "accepted" : support::render(manifest.error());
}

Assumption assumption(const std::string& text) {
  const auto result = parse_assumption(text, {});
  if (!result) FAIL(support::render(result.error()));
  return *result;
}

std::string sizes(const std::string& text) {
  const Assumption result = assumption(text);
  const std::string left = to_string(result.left), right = to_string(result.right);
  switch (result.kind) {
    case Assumption::Kind::equal:
      return left + " == " + right;
    case Assumption::Kind::less_equal:
      return left + " <= " + right;
    case Assumption::Kind::divides:
      return left + " | " + right;
    default:
      return "";
  }
}

std::string range(const std::string& text) {
  const Assumption result = assumption(text);
  if (result.kind != Assumption::Kind::range) return "";
  return result.left_name + ": " + (result.low ? to_string(*result.low) : "-inf") + " to " +
         (result.high ? to_string(*result.high) : "inf");
}

std::string bad(const std::string& text) {
  const auto result = parse_assumption(text, {});
  return result ? "accepted" : result.error().message;
}

constexpr const char* kBase = "sequential: s.json\ndistributed: r{rank}.json\nranks: 2\n";

}  // namespace

TEST_CASE("a whole manifest") {
  const Manifest m = read(
      "sequential: seq/fw.json\n"
      "distributed: dist/fw.r{rank}.json   # a pattern\n"
      "ranks: 4\n"
      "rules: [aten.rules, mine.rules]\n"
      "mesh: {dp: 2, tp: 2}\n"
      "assume: [\"s0 >= 1\", \"tokens in [0, 49152)\"]\n"
      "outputs: [loss, \"grad.*\"]\n"
      "inputs:\n"
      "  tokens: Replicate\n"
      "  \"layers.*.wq\": Shard(0)\n"
      "  bias: [r0.bias, r1.other_bias]\n"
      "  qkv: \"concat(slice(r0.w; 0, 0, 4), r1.w; 0)\"\n"
      "  x: {dp: Shard(-1), tp: Partial}\n"
      "given:\n"
      "expect:\n"
      "  loss: Replicate\n");
  CHECK(m.sequential.text == "seq/fw.json");
  CHECK(m.path_of(m.sequential.text) == "folder/seq/fw.json");
  CHECK(m.path_of("/abs/x.json") == "/abs/x.json");
  CHECK(m.ranks == 4);
  CHECK(m.distribution == Manifest::Distributed::per_rank);
  CHECK(m.file_of_rank(3).text == "dist/fw.r3.json");
  CHECK(m.distributed.size() == 4);
  REQUIRE(m.mesh.size() == 2);
  CHECK(m.mesh[0].name == "dp");
  CHECK(m.mesh[1].size == 2);
  REQUIRE(m.rules.size() == 2);
  CHECK(m.rules[1].text == "mine.rules");
  REQUIRE(m.assume.size() == 2);
  CHECK(m.assume[1].text == "tokens in [0, 49152)");
  REQUIRE(m.outputs.size() == 2);
  CHECK(m.given.empty());
  REQUIRE(m.inputs.size() == 5);
  CHECK(m.inputs[1].name.text == "layers.*.wq");
  CHECK(m.inputs[1].forms[0].placements == std::vector{Placement{Placement::Kind::shard, 0}});
  REQUIRE(m.inputs[2].forms.size() == 2);
  CHECK(m.inputs[2].forms[1].kind == Form::Kind::expression);
  CHECK(m.inputs[2].forms[1].text == "r1.other_bias");
  CHECK(m.inputs[3].forms[0].kind == Form::Kind::expression);
  CHECK(m.inputs[4].forms[0].kind == Form::Kind::mesh);
  CHECK(m.inputs[4].forms[0].text == "{dp: Shard(-1), tp: Partial}");
  CHECK(m.inputs[4].forms[0].placements ==
        std::vector{Placement{Placement::Kind::shard, -1}, Placement{Placement::Kind::partial, 0}});
  REQUIRE(m.expect.size() == 1);
  CHECK(m.expect[0].forms[0].placements == std::vector{Placement{}});

  // Places are those of the text without its quotes.
  CHECK(m.inputs[0].name.span == support::Span{m.file, 9, 3, 6});
  CHECK(m.inputs[1].name.span == support::Span{m.file, 10, 4, 11});
  CHECK(m.inputs[2].forms[1].span == support::Span{m.file, 11, 19, 13});
  CHECK(m.inputs[3].forms[0].span == support::Span{m.file, 12, 9, 37});
  CHECK(m.assume[1].span == support::Span{m.file, 6, 22, 20});
}

TEST_CASE("files and ranks") {
  CHECK(read("sequential: s\ndistributed: [a, b, c]\n").ranks == 3);
  CHECK(read("sequential: s\ndistributed: [a, b, c]\n").file_of_rank(2).text == "c");
  const Manifest shared = read("sequential: s\ndistributed: d.hlo\nranks: 8\n", "m.yaml");
  CHECK(shared.distribution == Manifest::Distributed::one);
  CHECK(shared.file_of_rank(7).text == "d.hlo");
  CHECK(shared.path_of("d.hlo") == "d.hlo");
  CHECK(read("sequential: s\ndistributed: d\nmesh: {dp: 3, tp: 2}\n").ranks == 6);
  CHECK(read("sequential: s\ndistributed: r{rank}/r{rank}\nranks: 2\n").file_of_rank(1).text == "r1/r1");
  // One file for one rank, as a list or not.
  CHECK(read("sequential: s\ndistributed: [d]\n").distribution == Manifest::Distributed::per_rank);
}

TEST_CASE("spellings of placements") {
  const auto placement = [](const std::string& text) {
    const Manifest m = read(std::string(kBase) + "inputs:\n  x: " + text + "\n");
    return m.inputs[0].forms[0].kind == Form::Kind::placement ? to_string(m.inputs[0].forms[0].placements[0])
                                                              : "";
  };
  CHECK(placement("Replicate") == "Replicate");
  CHECK(placement("Replicate()") == "Replicate");
  CHECK(placement("Shard(0)") == "Shard(0)");
  CHECK(placement("Shard( -2 )") == "Shard(-2)");
  CHECK(placement("Shard(dim=1)") == "Shard(1)");
  CHECK(placement("Partial") == "Partial");
  CHECK(placement("Partial(sum)") == "Partial");
  CHECK(placement("r0.x") == "");
  CHECK(placement("concat(r0.x, r1.x; 0)") == "");
}

TEST_CASE("sizes under assume") {
  CHECK(sizes("s0 >= 1") == "1 <= s0");
  CHECK(sizes("s0 > 1") == "2 <= s0");
  CHECK(sizes("s0 <= 2*s1 + 1") == "s0 <= 2*s1 + 1");
  CHECK(sizes("s0 < 8") == "s0 + 1 <= 8");
  CHECK(sizes("s0 % 8 == 0") == "8 | s0");
  CHECK(sizes("(s0 + 1) % (2*s1) == 0") == "2*s1 | s0 + 1");
  CHECK(sizes("s0*s1 % 4 == 0") == "4 | s0*s1");
  CHECK(sizes("s0 % 8 == 3") == "mod(s0, 8) == 3");
  CHECK(sizes("s0 + s1 % 8 == 0") == "s0 + mod(s1, 8) == 0");
  CHECK(sizes("r0.s0 == r1.s0") == "r0.s0 == r1.s0");
  CHECK(sizes("s0 = 2*r0.s0") == "s0 == 2*r0.s0");
}

TEST_CASE("names under assume") {
  const Assumption tie = assumption("wte.weight == head");
  CHECK(tie.left_name == "wte.weight");
  CHECK(tie.right_name == "head");
  CHECK(assumption("\"custom-call.1\" == r0.\"a b\"").left_name == "custom-call.1");
  CHECK(assumption("\"custom-call.1\" == r0.\"a b\"").right_name == "r0.\"a b\"");
  CHECK(assumption("s0 + 1 == s1").left_name.empty());
  CHECK(range("tokens in [0, 100)") == "tokens: 0 to 99");
  CHECK(range("r1.ids in (0, 2*s0]") == "r1.ids: 1 to 2*s0");
  CHECK(range("\"odd name\" in [-5, inf)") == "odd name: -5 to inf");
  CHECK(assumption("foo::bar is pure").kind == Assumption::Kind::pure);
  CHECK(assumption("foo::bar is pure").left_name == "foo::bar");
  CHECK(assumption("my.op.default is a pure function").left_name == "my.op.default");
  CHECK(assumption(" dropout masks correspond ").kind == Assumption::Kind::dropout);
}

TEST_CASE("assumptions that make no sense") {
  CHECK(bad("s0") == "`s0` is no assumption");
  CHECK(bad("") == "an empty assumption");
  CHECK(bad("s0 != 1") == "inequalities with `!=` cannot be assumed");
  CHECK(bad("1 <= s0 <= 2") == "one comparison per assumption");
  CHECK(bad("s0 >=") == "a size is missing here");
  CHECK(bad("x in 3") == "an interval such as `[0, 100)` is expected after `in`");
  CHECK(bad("x in [3]") == "an interval such as `[0, 100)` is expected after `in`");
  CHECK(bad("x in [3, 3)") == "the interval `[3, 3)` is empty");
  CHECK(bad("x + 1 in [0, 3)") == "the name of an integer tensor is expected before `in`");
  CHECK(bad("s0 % 0 == 0") == "nothing is divided by 0");
}

TEST_CASE("places inside an assumption") {
  CHECK(rejected(std::string(kBase) + "assume: [\"s0 >= 1\", 's0 >= ']\n")
            .starts_with("m.yaml:4:27: error: a size is missing"));
  CHECK(rejected(std::string(kBase) + "assume:\n  - \"s0 != 4\"\n")
            .starts_with("m.yaml:5:9: error: inequalities"));
}

TEST_CASE("leaves") {
  for (const Leaf& leaf :
       {Leaf{0, "w"}, Leaf{12, "layers.0.w_1"}, Leaf{1, "custom-call.18"}, Leaf{3, "a\"b\\c"}}) {
    CAPTURE(to_string(leaf));
    CHECK(parse_leaf(to_string(leaf)) == leaf);
  }
  CHECK(to_string(Leaf{1, "custom-call.18"}) == "r1.\"custom-call.18\"");
  for (const char* text :
       {"", "r", "r0", "r0.", "x.y", "r0.\"", "r0.\"\"", "r0.a b", "r-1.x", "rx.y", "r0.\"a\"b"}) {
    CAPTURE(text);
    CHECK(!parse_leaf(text));
  }
}

TEST_CASE("what yaml-cpp would let pass or make of it") {
  CHECK(rejected(std::string(kBase) + "---\nx: 1\n").find("second document") != std::string::npos);
  CHECK(rejected("").find("the manifest is empty") != std::string::npos);
  CHECK(rejected("- a\n").find("not a list") != std::string::npos);
  CHECK(rejected("sequential: [\n").find("relation/yaml-syntax") != std::string::npos);
  CHECK(rejected("a\tb: {").find("relation/yaml-syntax") != std::string::npos);
  CHECK(rejected("ranks: 2\nranks: 2\n").find("m.yaml:2:1: error: `ranks` stands here a second time") == 0);
  // Names that YAML 1.1 takes for booleans stay names.
  CHECK(read(std::string(kBase) + "inputs: {y: Replicate, no: Replicate, 1: Replicate}\n")
            .inputs[2]
            .name.text == "1");
  // Deep nesting ends in an error, not in a crash.
  CHECK(rejected(std::string(100000, '[')).find("relation/yaml-syntax") != std::string::npos);
}

}  // namespace entangle::relation
