// Tensor-parallel programs, right and wrong, and collectives on which the ranks disagree.
#include <doctest/doctest.h>

#include <numeric>

#include "entangle/support/text.h"
#include "world.h"

namespace entangle::infer::test {
namespace {

using Strings = std::vector<std::string>;

std::string number(std::size_t n) {
  return std::to_string(n);
}

// A feed-forward block whose inner axis has `shards` on the ranks.
Case mlp(const std::vector<std::size_t>& shards, bool all_reduce = true) {
  const auto program = [](std::size_t n, const std::string& file) {
    return "in x: f32[4, 8]\nin w1: f32[8, " + number(n) + "]\nin w2: f32[" + number(n) + ", 8]\n" +
           "h = aten.mm.default(%x, %w1): f32[4, " + number(n) + "] // " + file + ":1\n" +
           "a = aten.relu.default(%h): f32[4, " + number(n) + "] // " + file + ":2\n";
  };
  const std::size_t inner = std::accumulate(shards.begin(), shards.end(), std::size_t{0});
  return {
      program(inner, "model.py") + "y = aten.mm.default(%a, %w2): f32[4, 8] // model.py:3\nout y",
      each(shards.size(),
           [&](std::size_t rank) {
             const std::string begin = program(shards[rank], "rank.py");
             return all_reduce
                        ? begin + "p = aten.mm.default(%a, %w2): f32[4, 8] // rank.py:3\n" +
                              "s = _c10d_functional.all_reduce.default(%p, \"sum\", \"tp\"): f32[4, 8]\n" +
                              "y = _c10d_functional.wait_tensor.default(%s): f32[4, 8]\nout y"
                        : begin + "y = aten.mm.default(%a, %w2): f32[4, 8] // rank.py:3\nout y";
           }),
      "inputs:\n  x: Replicate\n  w1: Shard(1)\n  w2: Shard(0)\n", "", ""};
}

const std::vector<std::vector<std::size_t>> kShards{{3, 3}, {1, 5}, {2, 2, 2}, {1, 4, 2}, {2, 1, 3, 1, 4}};

TEST_CASE("column and row parallel MLP") {
  for (const auto& shards : kShards) {
    Case test = mlp(shards);
    test.manifest += "expect:\n  y: Replicate\n";
    const Verdict result = verdict(test, {.limits = {}, .time_limit = {}, .all_relations = true});
    CAPTURE(shards.size());
    CHECK(result.kind == VerdictKind::refines);
    CHECK_FALSE(result.failing);
    CHECK_FALSE(result.mismatch);
    const OutputReport& y = only_output(result);
    CHECK(y.tensor == "y");
    CHECK(y.ok);
    CHECK(y.notes == Strings{});
    CHECK(y.relations == Strings{"r0.y"});
    CHECK(result.obligations == Strings{});
    CHECK(result.assumptions == Strings{});
    CHECK(result.opaque == Strings{});
    CHECK(result.limits == Strings{});
    REQUIRE(y.expectations.size() == shards.size());
    Strings parts;
    for (std::size_t rank = 0; rank < shards.size(); ++rank) {
      CHECK(y.expectations[rank].expected == "r" + number(rank) + ".y");
      CHECK(y.expectations[rank].holds);
      parts.push_back("r" + number(rank) + ".h");
    }
    REQUIRE(result.relations.size() == 6);
    std::string h = "concat(";
    for (const std::string& part : parts) {
      h += part + (part == parts.back() ? "; 1)" : ", ");
    }
    CHECK(result.relations[3].first == "h");
    CHECK(result.relations[3].second == Strings{h});
    CHECK(result.relations[4].second == Strings{replaced(h, ".h", ".a")});
  }
}

TEST_CASE("a number that is computed, as the logarithm of 2, is there for every rank") {
  for (const char* op : {"log2", "log10"}) {
    const std::string first = std::string("aten.") + op + ".default(%x): ";
    const Case test{"in x: f32[4,3]\ny = " + first + "f32[4,3]\nout y",
                    copies(2, "in x: f32[2,3]\ny = " + first + "f32[2,3]\nout y"), "inputs:\n  x: Shard(0)\n",
                    "", ""};
    CHECK(outcome(test) == "refines");
    const Case other{"in x: f32[4,3]\ny = aten.log2.default(%x): f32[4,3]\nout y",
                     copies(2, "in x: f32[2,3]\ny = aten.log10.default(%x): f32[2,3]\nout y"),
                     "inputs:\n  x: Shard(0)\n", "", ""};
    CHECK(outcome(other) == "unproved");
  }
}

TEST_CASE("missing all-reduce") {
  for (const auto& shards : kShards) {
    for (const char* expect : {"", "expect:\n  y: Replicate\n"}) {
      Case test = mlp(shards, false);
      test.manifest += expect;
      const Verdict result = verdict(test);
      CAPTURE(shards.size());
      CHECK(result.kind == VerdictKind::unproved);
      REQUIRE(result.failing);
      CHECK(result.failing->at.rank == -1);
      CHECK(result.failing->at.tensor == "y");
      CHECK(result.failing->at.op == "aten.mm.default");
      CHECK(result.failing->at.loc == "model.py:3");
      CHECK(result.failing->reason == "only as a sum over ranks: is an all-reduce missing?");
      REQUIRE(result.failing->operands.size() == 2);
      CHECK(result.failing->operands[0].tensor == "a");
      CHECK(result.failing->operands[0].relations.front().starts_with("concat(r0.a, r1.a"));
      CHECK(result.failing->operands[1].tensor == "w2");
      Strings considered;
      for (const Place& place : result.failing->considered) {
        considered.push_back(number(static_cast<std::size_t>(place.rank)) + " " + place.tensor + " " +
                             place.loc);
      }
      CHECK(has(considered, "0 y rank.py:3"));
      CHECK(has(considered, "1 y rank.py:3"));
      const OutputReport& y = only_output(result);
      CHECK_FALSE(y.ok);
      CHECK(y.notes == Strings{"only as a sum over ranks: is an all-reduce missing?"});
      REQUIRE(y.relations.size() == 1);
      CHECK(y.relations.front().starts_with("add_n(r0.y, r1.y"));
    }
  }
}

// Data parallel times tensor parallel: each tensor-parallel group has added up its part, nobody adds up the
// groups. What follows linearly is still a sum over groups; the first operator that is not linear is to
// blame.
TEST_CASE("an all-reduce over the other axis of a mesh is missing") {
  for (const auto& [dp, tp] : std::vector<std::pair<std::size_t, std::size_t>>{{2, 2}, {3, 2}, {2, 3}}) {
    for (const bool scatter : {false, true}) {
      CAPTURE(dp);
      CAPTURE(tp);
      CAPTURE(scatter);
      const std::size_t world = dp * tp;
      std::string groups;
      for (std::size_t group = 0; group < dp; ++group) {
        Strings members;
        for (std::size_t k = 0; k < tp; ++k) {
          members.push_back(number(group * tp + k));
        }
        groups += (group == 0 ? "{" : ", ") + ("\"tp" + number(group)) + "\": [" +
                  support::join(members, ", ") + "]";
      }
      groups += "}";
      const std::string rows = number(scatter ? 6 / tp : 6);
      const Case test{
          "in x: f32[" + number(world) + ", 6]\nin dy: f32[" + number(world) +
              ", 3]\nt = aten.t.default(%x): f32[6, " + number(world) +
              "]\ng = aten.mm.default(%t, %dy): f32[6, 3]\nu = aten.mul.Tensor(%g, 0.5): f32[6, 3]\n"
              "y = aten.relu.default(%u): f32[6, 3]\nout y",
          each(world,
               [&](std::size_t rank) {
                 const std::string group = "\"tp" + number(rank / tp) + "\"";
                 return "in x: f32[1, 6]\nin dy: f32[1, 3]\nt = aten.t.default(%x): f32[6, 1]\n"
                        "p = aten.mm.default(%t, %dy): f32[6, 3]\n" +
                        (scatter ? "g = _c10d_functional.reduce_scatter_tensor.default(%p, \"sum\", " +
                                       number(tp) + ", " + group + ")"
                                 : "g = _c10d_functional.all_reduce.default(%p, \"sum\", " + group + ")") +
                        ": f32[" + rows + ", 3]\nu = aten.mul.Tensor(%g, 0.5): f32[" + rows +
                        ", 3]\ny = aten.relu.default(%u): f32[" + rows + ", 3]\nout y";
               }),
          "inputs:\n  x: Shard(0)\n  dy: Shard(0)\n", "", groups};
      const Verdict result = verdict(test);
      CHECK(result.kind == VerdictKind::unproved);
      REQUIRE(result.failing);
      CHECK(result.failing->at.tensor == "y");
      CHECK(result.failing->reason == "no way was found to put it together from tensors of the ranks");
      CHECK(result.failing->hints ==
            Strings{"`u` is known only as a sum over ranks: is an all-reduce missing?"});
      REQUIRE(result.failing->operands.size() == 1);
      CHECK(result.failing->operands[0].tensor == "u");
      // u is known as the sum over the groups.
      Strings terms;
      for (std::size_t group = 0; group < dp; ++group) {
        terms.push_back("r" + number(group * tp) + ".u");
      }
      const std::string sum = "add_n(" + support::join(terms, ", ") + ")";
      CHECK(result.failing->operands[0].relations.front().starts_with(scatter ? "concat(" + sum : sum));
    }
  }
}

TEST_CASE("one all-reduce too many") {
  Case test = mlp({3, 3});
  for (std::string& rank : test.ranks) {
    rank = replaced(rank, "y = _c10d_functional.wait_tensor.default(%s)",
                    "y = _c10d_functional.all_reduce.default(%s, \"sum\", \"tp\")");
  }
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::unproved);
  CHECK(result.failing->at.tensor == "y");
}

TEST_CASE("shards in the wrong order") {
  Case test = mlp({3, 3});
  test.manifest = replaced(test.manifest, "w2: Shard(0)", "w2: \"concat(r1.w2, r0.w2; 0)\"");
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::unproved);
  CHECK(result.failing->at.tensor == "y");
}

// --- an operator of one's own, described when the program runs

const char* const kFold =
    "include \"aten.rules\";\n"
    "op fold_rows(x: tensor, w: tensor) { shape [x.shape[0]]; }\n"
    "lower mine.fold.default(x: tensor, w: tensor): fold_rows(x, w);\n";
const char* const kFoldOfBlocks =
    "lemma fold_of_blocks(xs: tensor+, w: tensor):\n"
    "  fold_rows(concat(xs; 0), w) => concat([fold_rows(x, w) for x in xs]; 0);\n";

TEST_CASE("a new operator, its lowering and one lemma prove a graph; without the lemma nothing does") {
  Case test{"in x: f32[7, 4]\nin w: f32[4]\ny = mine.fold.default(%x, %w): f32[7] // model.py:1\nout y",
            {"in x: f32[3, 4]\nin w: f32[4]\ny = mine.fold.default(%x, %w): f32[3]\nout y",
             "in x: f32[4, 4]\nin w: f32[4]\ny = mine.fold.default(%x, %w): f32[4]\nout y"},
            "inputs:\n  x: Shard(0)\n  w: Replicate\nexpect:\n  y: Shard(0)\n",
            kFold,
            ""};
  const Verdict without = verdict(test);
  CHECK(without.kind == VerdictKind::unproved);
  REQUIRE(without.failing);
  CHECK(without.failing->at.tensor == "y");
  CHECK(without.failing->at.loc == "model.py:1");
  CHECK(without.failing->reason == "no way was found to put it together from tensors of the ranks");

  test.rules = std::string(kFold) + kFoldOfBlocks;
  const Verdict with = verdict(test);
  CHECK(with.kind == VerdictKind::refines);
  CHECK(only_output(with).relations == Strings{"concat(r0.y, r1.y; 0)"});
  Strings lemmas;
  for (const LemmaUse& use : with.lemmas) {
    lemmas.push_back(use.name);
  }
  CHECK(has(lemmas, "fold_of_blocks"));
  CHECK(with.opaque == Strings{});

  // Not described at all it is a function nothing is known of.
  test.rules = "";
  const Verdict opaque = verdict(test);
  CHECK(opaque.kind == VerdictKind::unproved);
  CHECK(opaque.opaque == Strings{"mine.fold.default"});
}

// --- collectives

const char* const kTwo =
    "in x: f32[4]\nin z: f32[4]\n"
    "a = _c10d_functional.all_reduce.default(%x, \"sum\", \"tp\"): f32[4] // rank.py:1\n"
    "b = _c10d_functional.all_reduce.default(%z, \"sum\", \"tp\"): f32[4] // rank.py:2\n"
    "out a, b";

Case two_sums(const std::string& rank0, const std::string& rank1) {
  return {
      "in x: f32[4]\nin z: f32[4]\na = aten.clone.default(%x): f32[4]\nb = aten.clone.default(%z): "
      "f32[4]\nout a, b",
      {rank0, rank1},
      "inputs:\n  x: Partial\n  z: Partial\nexpect:\n  a: Replicate\n  b: Replicate\n",
      "",
      ""};
}

TEST_CASE("ranks that disagree on a collective") {
  CHECK(verdict(two_sums(kTwo, kTwo)).kind == VerdictKind::refines);
  struct Row {
    const char* from;
    const char* to;
    std::string place;  // what rank 1 runs there
    const char* reason;
  };
  const Row rows[] = {
      {"(%z, \"sum\", \"tp\")", "(%z, \"avg\", \"tp\")", "b", "with op = sum"},
      {"b = _c10d_functional.all_reduce.default(%z, \"sum\", \"tp\"): f32[4]",
       "b = _c10d_functional.all_gather_into_tensor.default(%z, 2, \"tp\"): f32[8]", "b",
       "(2nd collective of the group `tp` [0, 1])"},
      {"b = _c10d_functional.all_reduce.default(%z, \"sum\", \"tp\"): f32[4]",
       "t = aten.slice.Tensor(%z, 0, 0, 2): f32[2]\n"
       "b = _c10d_functional.all_reduce.default(%t, \"sum\", \"tp\"): f32[2]",
       "b", "f32[2]"},
      {"b = _c10d_functional.all_reduce.default(%z, \"sum\", \"tp\"): f32[4]",
       "b = aten.clone.default(%z): f32[4]", "", "but rank 1 has finished"},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.to));
    const Verdict result = verdict(two_sums(kTwo, replaced(kTwo, row.from, row.to)));
    CHECK(result.kind == VerdictKind::violates);
    REQUIRE(result.mismatch);
    CHECK(result.mismatch->reason.find(row.reason) != std::string::npos);
    // A rank that has finished is at no place.
    REQUIRE(result.mismatch->places.size() == (row.place.empty() ? 1 : 2));
    const Place& first = result.mismatch->places[0];
    CHECK(first.rank == 0);
    CHECK(first.tensor == "b");
    CHECK(first.op == "_c10d_functional.all_reduce.default");
    CHECK(first.loc == "rank.py:2");
    if (!row.place.empty()) {
      const Place& second = result.mismatch->places[1];
      CHECK(second.rank == 1);
      CHECK(second.tensor == row.place);
      CHECK(second.loc == "rank.py:2");
    }
  }
}

TEST_CASE("collectives meet in the order they are called, whatever they are called") {
  const std::string swapped =
      "in x: f32[4]\nin z: f32[4]\n"
      "b = _c10d_functional.all_reduce.default(%z, \"sum\", \"tp\"): f32[4]\n"
      "a = _c10d_functional.all_reduce.default(%x, \"sum\", \"tp\"): f32[4]\nout a, b";
  CHECK(outcome(two_sums(kTwo, swapped)) == "unproved");
  CHECK(outcome(two_sums(swapped, swapped)) == "refines");
}

// A causal mask where a rank has two pieces of the sequence, neither next to each other nor in order.
TEST_CASE("a mask by positions in zig-zag order") {
  const auto program = [](const std::string& positions, const std::string& rows) {
    return "in x: f32[" + rows + ", 8]\n" + positions + "c = aten.arange.start(0, 8): i64[8]\n" +
           "q = aten.unsqueeze.default(%p, 1): i64[" + rows + ", 1]\n" +
           "k = aten.unsqueeze.default(%c, 0): i64[1, 8]\n" + "m = aten.ge.Tensor(%q, %k): b8[" + rows +
           ", 8]\n" + "n = aten.logical_not.default(%m): b8[" + rows + ", 8]\n" +
           "y = aten.masked_fill.Scalar(%x, %n, -10000.0): f32[" + rows + ", 8]\nout y";
  };
  const auto pieces = [&](std::size_t first, std::size_t second) {
    return program("a = aten.arange.start(" + number(first) + ", " + number(first + 2) + "): i64[2]\n" +
                       "b = aten.arange.start(" + number(second) + ", " + number(second + 2) +
                       "): i64[2]\np = aten.cat.default([%a, %b]): i64[4]\n",
                   "4");
  };
  const std::string layout =
      "concat(slice(r0.T; 0, 0, 2), slice(r1.T; 0, 0, 2), slice(r1.T; 0, 2, 4), slice(r0.T; 0, 2, 4); 0)\n";
  Case test{program("p = aten.arange.start(0, 8): i64[8]\n", "8"),
            {pieces(0, 6), pieces(2, 4)},
            "inputs:\n  x: " + replaced(layout, "T", "x") + "expect:\n  y: " + replaced(layout, "T", "y"),
            "",
            ""};
  CHECK(outcome(test) == "refines");
  test.ranks[1] = pieces(4, 2);
  CHECK(outcome(test) == "unproved");
  test.ranks = {pieces(0, 6), pieces(2, 5)};
  CHECK(outcome(test) == "unproved");
}

// What was resolved far below is not part of a problem any more.
TEST_CASE("problems do not grow with the depth of the program") {
  const auto largest = [](std::size_t depth, const std::string& placement) {
    const auto program = [&](std::size_t rows) {
      const std::string flat = "f32[" + number(2 * rows) + ", 6]";
      const std::string cube = "f32[2, " + number(rows) + ", 6]";
      std::string text = "in w: f32[6, 6]\nin x: " + cube + "\n";
      std::string last = "x";
      for (std::size_t k = 0; k < depth; ++k) {
        const std::string n = number(k);
        text += "u" + n + " = aten.view.default(%" + last + ", [" + number(2 * rows) + ", 6]): " + flat +
                "\nh" + n + " = aten.mm.default(%u" + n + ", %w): " + flat + "\nv" + n +
                " = aten.view.default(%h" + n + ", [2, " + number(rows) + ", 6]): " + cube + "\ny" + n +
                " = aten.relu.default(%v" + n + "): " + cube + "\n";
        last = "y" + n;
      }
      return text + "out " + last;
    };
    const std::string last = "y" + number(depth - 1);
    const Verdict result = verdict({program(4), copies(2, program(2)),
                                    "inputs:\n  w: Replicate\n  x: " + replaced(placement, "T", "x") +
                                        "expect:\n  " + last + ": " + replaced(placement, "T", last),
                                    "", ""});
    CHECK(result.kind == VerdictKind::refines);
    return result.statistics.largest_egraph;
  };
  for (const char* placement : {"concat(r0.T, r1.T; 1)\n",
                                "concat(slice(r0.T; 1, 0, 1), slice(r1.T; 1, 0, 1), slice(r1.T; 1, 1, 2), "
                                "slice(r0.T; 1, 1, 2); 1)\n"}) {
    CAPTURE(placement);
    CHECK(largest(12, placement) == largest(3, placement));
  }
}

// Where the pieces begin and end is computed from a size.
TEST_CASE("pieces of a symbolic length") {
  const std::string head =
      "in x: f32[\"3*s\", 4]\nn = aten.sym_size.int(%x, 0): i64[] | \"sym\": \"3*s\"\n"
      "k = operator.floordiv(%n, 3): i64[] | \"sym\": \"s\"\n"
      "m = operator.mul(%k, 2): i64[] | \"sym\": \"2*s\"\n";
  const auto program = [&](const std::string& part) {
    return head + "p = " + part + ": f32[\"s\", 4]\ny = aten.relu.default(%p): f32[\"s\", 4]\nout y";
  };
  const std::vector<std::string> slices = {"aten.slice.Tensor(%x, 0, 0, %k)",
                                           "aten.slice.Tensor(%x, 0, %k, %m)",
                                           "aten.slice.Tensor(%x, 0, %m, 9223372036854775807)"};
  Case test{"in x: f32[\"s\", 4]\ny = aten.relu.default(%x): f32[\"s\", 4]\nout y",
            each(3, [&](std::size_t rank) { return program(slices[rank]); }),
            "assume: [\"r0.s >= 1\", \"r1.s == r0.s\", \"r2.s == r0.s\"]\n"
            "inputs:\n  x: Replicate\nexpect:\n  y: Shard(0)\n",
            "", ""};
  CHECK(outcome(test) == "refines");
  for (const char* wrong : {"aten.slice.Tensor(%x, 0, 0, %k)", "aten.slice.Tensor(%x, 0, %m, %n)"}) {
    CAPTURE(wrong);
    test.ranks[1] = program(wrong);
    CHECK(outcome(test) == "unproved");
  }
  // All pieces at once, by their length or by their number.
  for (const char* call : {"aten.split.Tensor(%x, %k)", "aten.chunk.default(%x, 3)"}) {
    CAPTURE(call);
    test.ranks = each(3, [&](std::size_t rank) {
      return head + "c = " + call +
             ": (f32[\"s\", 4], f32[\"s\", 4], f32[\"s\", 4])\np = operator.getitem(%c, " + number(rank) +
             "): f32[\"s\", 4]\ny = aten.relu.default(%p): f32[\"s\", 4]\nout y";
    });
    CHECK(outcome(test) == "refines");
    std::swap(test.ranks[1], test.ranks[2]);
    CHECK(outcome(test) == "unproved");
  }
}

TEST_CASE("parts that end at a place of any size") {
  struct Row {
    const char* end;
    const char* size;   // of the part
    const char* other;  // a part as long, and not the same
  };
  const Row rows[] = {{"\"s0-1\"", "\"s0-1\"", "1, \"s0\""},
                      {"\"s0-2\"", "\"s0-2\"", "2, \"s0\""},
                      {"\"2*s0-1\"", "\"s0\"", nullptr},
                      {"-1", "\"s0-1\"", "1, 9223372036854775807"},
                      {"\"3-s0\"", "3", "1, 4"}};
  for (const Row& row : rows) {
    CAPTURE(std::string(row.end));
    const auto program = [&](const std::string& lines) {
      return replaced("in x: f32[\"s0\", 2]\n" + lines + "out y", "SIZE", row.size);
    };
    const std::string part = std::string("aten.slice.Tensor(%x, 0, 0, ") + row.end + "): f32[SIZE, 2]\n";
    const Case test = {
        program("p = " + part + "y = aten.exp.default(%p): f32[SIZE, 2]\n"),
        {program("x2 = aten.exp.default(%x): f32[\"s0\", 2]\ny = " + replaced(part, "%x", "%x2"))},
        "assume:\n  - \"s0 >= 4\"\ninputs:\n  x: r0.x\nexpect:\n  y: r0.y\n",
        "",
        ""};
    CHECK(outcome(test) == "refines");
    if (row.other != nullptr) {
      Case wrong = test;
      wrong.ranks[0] =
          replaced(wrong.ranks[0], std::string("0, ") + row.end + ")", std::string(row.other) + ")");
      REQUIRE(wrong.ranks[0] != test.ranks[0]);
      CHECK(outcome(wrong) == "unproved");
    }
  }
}

TEST_CASE("a sum over a part of the ranks is none over all of them") {
  const auto rank = [](const char* group) {
    return std::string("in x: f32[4]\na = _c10d_functional.all_reduce.default(%x, \"sum\", \"") + group +
           "\"): f32[4]\nout a";
  };
  Case test{"in x: f32[4]\na = aten.clone.default(%x): f32[4]\nout a", copies(4, rank("all")),
            "inputs:\n  x: Partial\nexpect:\n  a: Replicate\n", "",
            R"({"all": [0, 1, 2, 3], "low": [0, 1], "high": [2, 3]})"};
  CHECK(outcome(test) == "refines");
  test.ranks = {rank("low"), rank("low"), rank("high"), rank("high")};
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("means of integers and sums of truth values are not those of reals") {
  Case test{"in x: i64[4]\ny = aten.clone.default(%x): i64[4]\nout y",
            copies(2,
                   "in x: i64[4]\na = _c10d_functional.all_reduce.default(%x, \"avg\", \"tp\"): i64[4]\n"
                   "y = aten.mul.Scalar(%a, 2): i64[4]\nout y"),
            "inputs:\n  x: Partial\nexpect:\n  y: Replicate\n", "", ""};
  CHECK(outcome(test) == "unproved");
  test.sequential = replaced(test.sequential, "i64", "f32");
  test.ranks = copies(2, replaced(test.ranks[0], "i64", "f32"));
  CHECK(outcome(test) == "refines");
  // Both are true: so is their sum, which is not two.
  const auto negated = [](const std::string& of) {
    return "in x: b8[4]\nc = aten.full.default([4], true): b8[4]\n" + of +
           "y = aten.logical_not.default(%a): b8[4]\nout y";
  };
  test = {negated("a = aten.logical_not.default(%c): b8[4]\n"),
          copies(2, negated("a = _c10d_functional.all_reduce.default(%c, \"sum\", \"tp\"): b8[4]\n")),
          "inputs:\n  x: Replicate\nexpect:\n  y: Replicate\n", "", ""};
  CHECK(outcome(test) == "unproved");
  test.sequential = negated("a = aten.clone.default(%c): b8[4]\n");
  CHECK(outcome(test) == "refines");
}

TEST_CASE("an exchange sends what is expected") {
  const auto rank = [](const std::string& outputs) {
    return "in x: f32[2]\ny = _c10d_functional.all_to_all_single.default(%x, " + outputs +
           ", [1, 1], \"tp\"): f32[2]\nout y";
  };
  Case test{"in x: f32[4]\ny = aten.clone.default(%x): f32[4]\nout y",
            {rank("[1, 1]"), rank("[1, 1]")},
            "inputs:\n  x: Shard(0)\n",
            "",
            ""};
  CHECK(outcome(test) == "refines");
  test.ranks[1] = rank("[2, 0]");
  CHECK(outcome(test) == "unproved");
  // Sizes on one side only: as without any, or not at all.
  const auto to_all = [](const std::string& outputs) {
    return "in x: f32[4]\ny = _c10d_functional.all_to_all_single.default(%x, " + outputs +
           ", [], \"tp\"): f32[4]\nout y";
  };
  test = {
      "in a: f32[4]\nin b: f32[4]\np = aten.slice.Tensor(%a, 0, 0, 2): f32[2]\n"
      "q = aten.slice.Tensor(%b, 0, 0, 2): f32[2]\ny = aten.cat.default([%p, %q], 0): f32[4]\nout y",
      copies(2, to_all("[]")), "inputs:\n  a: r0.x\n  b: r1.x\n", "", ""};
  CHECK(outcome(test) == "refines");
  test.ranks = copies(2, to_all("[2, 2]"));
  CHECK(outcome(test) == "refines");
  test.ranks = copies(2, to_all("[1, 3]"));
  CHECK(outcome(test) == "unproved");
}

TEST_CASE("lists that a collective is given are the same on all ranks") {
  const auto rank = [](const std::string& pairs) {
    return "in x: f32[4]\ny = hlo.collective_permute(%x, " + pairs + ", \"tp\"): f32[4]\nout y";
  };
  Case test{
      "in a: f32[4]\nin b: f32[4]\np = aten.clone.default(%b): f32[4]\nq = aten.clone.default(%a): "
      "f32[4]\nout p, q",
      copies(2, rank("[[0, 1], [1, 0]]")), "inputs:\n  a: r0.x\n  b: r1.x\nexpect:\n  p: r0.y\n  q: r1.y\n",
      "", ""};
  CHECK(outcome(test) == "refines");
  for (const std::string other : {"[[0, 1]]", "[[1, 0], [0, 1]]", "[[1, 0]]"}) {
    test.ranks[1] = rank(other);
    const Verdict found = verdict(test);
    CHECK(found.kind == VerdictKind::violates);
    REQUIRE(found.mismatch);
    CHECK(found.mismatch->reason ==
          "rank 0 runs `y` (hlo.collective_permute) with pairs = [[0, 1], [1, 0]], rank 1 runs `y` "
          "(hlo.collective_permute) with pairs = " +
              other);
  }
}

TEST_CASE("what is gathered into one tensor has one size on all ranks") {
  for (const std::string call :
       {"c = _c10d_functional.all_gather_into_tensor.default(%x, 2, \"tp\"): f32[N, 3]\n",
        "c = c10d_functional.all_gather_into_tensor.default(%x, \"\", [0, 1], 2): f32[N, 3]\n",
        "l = _c10d_functional.all_gather_into_tensor_coalesced.default([%x], 2, \"tp\"): (f32[N, 3])\n"
        "c = operator.getitem(%l, 0): f32[N, 3]\n"}) {
    CAPTURE(call);
    const auto found = [&](const std::string& first, const std::string& second) {
      const auto program = [&](const std::string& size) {
        return replaced("in x: f32[" + size + ", 3]\n" + call + "y = aten.neg.default(%c): f32[N, 3]\nout y",
                        "N", "6");
      };
      return outcome({"in x: f32[6, 3]\ny = aten.neg.default(%x): f32[6, 3]\nout y",
                      {program(first), program(second)},
                      "inputs:\n  x: \"concat(r0.x, r1.x; 0)\"\nexpect:\n  y: Replicate\n",
                      "",
                      ""});
    };
    CHECK(found("3", "3") == "refines");
    CHECK(found("2", "4") == "violates");
  }
}

TEST_CASE("sends and receives") {
  const std::string sender =
      "in x: f32[4]\nh = aten.relu.default(%x): f32[4]\ns = c10d.send(%h, 1): f32[4]\nout h";
  const std::string receiver = "h = c10d.recv(0): f32[4]\ny = aten.exp.default(%h): f32[4]\nout y";
  Case test{"in x: f32[4]\nh = aten.relu.default(%x): f32[4]\ny = aten.exp.default(%h): f32[4]\nout y",
            {replaced(sender, ": f32[4]\nout", ": f32[4]\nout"), receiver},
            "inputs:\n  x: r0.x\n",
            "",
            ""};
  const Verdict result = verdict(test);
  CHECK(result.kind == VerdictKind::refines);
  CHECK(only_output(result).relations == Strings{"r1.y"});
  CHECK(only_output(result).notes == Strings{"held by rank 1 only"});
  test.ranks[1] = replaced(receiver, "recv(0)", "recv(0; tag=1)");
  CHECK(outcome(test) == "violates");
}

}  // namespace
}  // namespace entangle::infer::test
