#include <doctest/doctest.h>

#include <set>

#include "entangle/graph/lower.h"
#include "world.h"

namespace entangle::graph {

using test::call;
using test::input;
using test::ref;
using test::World;
using What = Mismatch::What;

namespace {

struct Several {
  explicit Several(const std::vector<std::string>& nodes,
                   const std::string& header = R"("groups": {"tp": [0, 1]}, )", sym::Facts facts = {})
      : world(ENTANGLE_SOURCE_DIR "/tests/graph/mini.rules", std::move(facts)),
        graphs(test::ranks_of(nodes, header)) {
    support::Result<Lowered> lowered = lower(graphs, world.target);
    if (!lowered) {
      FAIL(support::render(lowered.error()));
    }
    result = std::move(*lowered);
  }
  TermId term(std::size_t rank, const std::string& name) const {
    return result.nodes[rank][graphs[rank].find(name)].results[0];
  }
  std::string print(std::size_t rank, const std::string& name) const {
    return world.target.print(term(rank, name));
  }
  std::string mismatch() const { return result.mismatch ? result.mismatch->message : ""; }

  World world;
  std::vector<Graph> graphs;
  Lowered result;
};

const std::string kX = input("x");

std::string reduce(const std::string& name, const std::string& of, const std::string& op = "sum",
                   const std::string& group = "\"tp\"") {
  return call(name, "c.all_reduce", ref(of) + ", \"" + op + "\", " + group);
}

}  // namespace

TEST_CASE("a collective is one expression of all members' operands") {
  const Several ranks({kX + "," + reduce("y", "x"), kX + "," + reduce("y", "x")});
  CHECK(!ranks.result.mismatch);
  CHECK(ranks.print(0, "y") == "add_n(r0.x, r1.x)");
  CHECK(ranks.term(0, "y") == ranks.term(1, "y"));
}

TEST_CASE("what nobody knows of a collective's result is another thing on each rank") {
  for (const std::string op : {"c.scratch", "c.noisy_sum"}) {
    CAPTURE(op);
    const std::string node = kX + "," + call("y", op, ref("x") + ", \"tp\"");
    const Several ranks({node, node, node}, R"("groups": {"tp": [0, 1, 2]}, )");
    CHECK(!ranks.result.mismatch);
    const std::set<TermId> results{ranks.term(0, "y"), ranks.term(1, "y"), ranks.term(2, "y")};
    CHECK(results.size() == 3);
    CHECK_FALSE(results.contains(egraph::kNoTerm));
  }
}

TEST_CASE("what a rank gets depends on its place in the group") {
  const std::string scatter = call("y", "c.reduce_scatter", ref("x") + R"(, "sum", 2, "tp")", "[1, 4]");
  const Several ranks({kX + "," + scatter, kX + "," + scatter}, R"("groups": {"tp": [1, 0]}, )");
  CHECK(ranks.print(0, "y") == "slice(add_n(r0.x, r1.x); 0, 1, 2)");
  CHECK(ranks.print(1, "y") == "slice(add_n(r0.x, r1.x); 0, 0, 1)");
  const std::string gather = call("y", "c.all_gather", ref("x") + R"(, "tp")", "[4, 4]");
  const Several gathered({kX + "," + gather, kX + "," + gather}, R"("groups": {"tp": [1, 0]}, )");
  CHECK(gathered.print(0, "y") == "concat(r1.x, r0.x; 0)");
  const std::string broadcast = call("y", "c.broadcast", ref("x") + R"(, 1, "tp")");
  const Several sent({kX + "," + broadcast, kX + "," + broadcast});
  CHECK(sent.term(0, "y") == sent.term(1, "x"));
}

TEST_CASE("every member's own parameters: all(p)") {
  const auto exchange = [](const std::string& out, const std::string& into, int rows) {
    return input("x", "[3, 4]") + "," +
           call("y", "c.all_to_all", ref("x") + ", " + out + ", " + into + ", \"tp\"",
                "[" + std::to_string(rows) + ", 4]");
  };
  const Several ranks({exchange("[1, 2]", "[1, 2]", 3), exchange("[2, 1]", "[2, 1]", 3)});
  CHECK(ranks.print(0, "y") == "concat(slice(r0.x; 0, 0, 1), slice(r1.x; 0, 0, 2); 0)");
  CHECK(ranks.print(1, "y") == "concat(slice(r0.x; 0, 1, 3), slice(r1.x; 0, 2, 3); 0)");
}

TEST_CASE("groups are given by name or by their ranks; groups of one name differ by their ranks") {
  const std::string listed = call("y", "c.all_reduce", ref("x") + R"(, "sum")", "[2, 4]", "f32",
                                  R"(, "kwargs": {"group": [0, 1], "group_name": "42"})");
  const Several ranks({kX + "," + listed, kX + "," + listed}, "");
  CHECK(ranks.print(1, "y") == "add_n(r0.x, r1.x)");
  const std::string by_name = kX + "," + reduce("y", "x");
  World world;
  std::vector<Graph> graphs;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    graphs.push_back(test::graph_of(
        by_name, rank, rank < 2 ? R"("groups": {"tp": [0, 1]}, )" : R"("groups": {"tp": [2, 3]}, )"));
  }
  const support::Result<Lowered> lowered = lower(graphs, world.target);
  REQUIRE(lowered.ok());
  CHECK(!lowered->mismatch);
  CHECK(world.target.print(lowered->nodes[3][1].results[0]) == "add_n(r2.x, r3.x)");
}

TEST_CASE("groups interleave") {
  const std::string header = R"("groups": {"a": [0, 1], "b": [1, 2], "c": [0, 1, 2]}, )";
  const Several ranks({kX + "," + reduce("p", "x", "sum", "\"a\"") + "," + reduce("q", "p", "sum", "\"c\""),
                       kX + "," + reduce("p", "x", "sum", "\"a\"") + "," + reduce("o", "p", "sum", "\"b\"") +
                           "," + reduce("q", "o", "sum", "\"c\""),
                       kX + "," + reduce("o", "x", "sum", "\"b\"") + "," + reduce("q", "o", "sum", "\"c\"")},
                      header);
  CHECK(ranks.mismatch() == "");
  CHECK(ranks.print(1, "o") == "add_n(add_n(r0.x, r1.x), r2.x)");
  CHECK(ranks.term(0, "q") == ranks.term(2, "q"));
}

TEST_CASE("ranks that disagree: operator, arguments, shape") {
  const std::string gather = call("z", "c.all_gather", ref("x") + R"(, "tp")", "[4, 4]");
  const Several op({kX + "," + reduce("y", "x"), kX + "," + gather});
  REQUIRE(op.result.mismatch);
  CHECK(op.result.mismatch->what == What::op);
  CHECK(op.mismatch() ==
        "rank 0 runs `y` (c.all_reduce) where rank 1 runs `z` (c.all_gather) (1st collective of the group "
        "`tp` [0, 1])");
  REQUIRE(op.result.mismatch->places.size() == 2);
  CHECK(op.result.mismatch->places[1].rank == 1);
  CHECK(op.result.mismatch->places[1].node == 1);

  const Several arguments({kX + "," + reduce("y", "x"), kX + "," + reduce("y", "x", "max")});
  REQUIRE(arguments.result.mismatch);
  CHECK(arguments.result.mismatch->what == What::arguments);
  CHECK(arguments.mismatch() ==
        "rank 0 runs `y` (c.all_reduce) with op = sum, rank 1 runs `y` (c.all_reduce) with op = max");

  const Several shape(
      {kX + "," + reduce("y", "x"),
       input("x", "[3, 4]") + "," + call("y", "c.all_reduce", ref("x") + R"(, "sum", "tp")", "[3, 4]")});
  REQUIRE(shape.result.mismatch);
  CHECK(shape.result.mismatch->what == What::shape);
  CHECK(shape.mismatch() ==
        "rank 0 gives `y` (c.all_reduce) f32[2, 4], rank 1 gives `y` (c.all_reduce) f32[3, 4]");

  // concat would accept it, but the recorded results do not.
  const auto uneven = [](int rows) {
    return input("x", "[" + std::to_string(rows) + ", 4]") + "," +
           call("y", "c.all_gather", ref("x") + R"(, "tp")", "[" + std::to_string(2 * rows) + ", 4]");
  };
  const Several gathered({uneven(2), uneven(3)});
  REQUIRE(gathered.result.mismatch);
  CHECK(gathered.result.mismatch->what == What::shape);
}

TEST_CASE("ranks that disagree: count, group, order") {
  const Several count({kX + "," + reduce("y", "x"), kX + "," + call("y", "t.exp", ref("x"))});
  REQUIRE(count.result.mismatch);
  CHECK(count.result.mismatch->what == What::count);
  CHECK(count.mismatch() ==
        "rank 0 waits at `y` (c.all_reduce) for the group `tp` [0, 1], but rank 1 has finished");
  CHECK(count.result.mismatch->places[1].node == kNoNode);

  World world;
  const std::vector<Graph> graphs = {
      test::graph_of(kX + "," + reduce("y", "x"), 0, R"("groups": {"tp": [0, 1]}, )"),
      test::graph_of(kX + "," + reduce("y", "x"), 1, R"("groups": {"tp": [1, 0]}, )")};
  const support::Result<Lowered> group = lower(graphs, world.target);
  REQUIRE(group.ok());
  REQUIRE(group->mismatch);
  CHECK(group->mismatch->what == What::group);

  const std::string header = R"("groups": {"a": [0, 1, 2], "b": [0, 1]}, )";
  const Several order({kX + "," + reduce("y", "x", "sum", "\"a\"") + "," + reduce("z", "y", "sum", "\"b\""),
                       kX + "," + reduce("z", "x", "sum", "\"b\"") + "," + reduce("y", "z", "sum", "\"a\""),
                       kX + "," + reduce("y", "x", "sum", "\"a\"")},
                      header);
  REQUIRE(order.result.mismatch);
  CHECK(order.result.mismatch->what == What::deadlock);
  CHECK(order.mismatch() ==
        "rank 0 waits at `y` (c.all_reduce) for the group `a` [0, 1, 2], but rank 1 waits at `z` "
        "(c.all_reduce) for "
        "the group `b` [0, 1]");
}

TEST_CASE("messages are matched by source, destination and tag, in order") {
  const auto send = [](const std::string& name, const std::string& of, const std::string& more) {
    return call(name, "c.send", ref(of) + ", " + more, "null", "null");
  };
  const auto receive = [](const std::string& name, const std::string& more) {
    return call(name, "c.recv", more, "[2, 4]");
  };
  const Several ranks({kX + "," + call("e", "t.exp", ref("x")) + "," + send("a", "x", "1") + "," +
                           send("b", "e", "1, 7") + "," + send("c", "e", "1") + "," + receive("d", "1"),
                       receive("p", "0, 7") + "," + receive("q", "0") + "," + receive("r", "0") + "," +
                           call("s", "t.add", ref("p") + "," + ref("q")) + "," + send("t", "s", "0")});
  CHECK(ranks.mismatch() == "");
  CHECK(ranks.term(1, "p") == ranks.term(0, "e"));
  CHECK(ranks.term(1, "q") == ranks.term(0, "x"));
  CHECK(ranks.term(1, "r") == ranks.term(0, "e"));
  CHECK(ranks.term(0, "d") == ranks.term(1, "s"));

  const Several unsent({kX, receive("p", "0")});
  REQUIRE(unsent.result.mismatch);
  CHECK(unsent.result.mismatch->what == What::send);
  CHECK(unsent.mismatch() == "rank 1 waits at `p` (c.recv) for rank 0, but rank 0 has finished");
  const Several unreceived({kX + "," + send("a", "x", "1"), kX});
  CHECK(unreceived.mismatch() ==
        "rank 0 sends to rank 1 by `a` (c.send), but rank 1 has finished without receiving it");
  const Several other({kX + "," + send("a", "x", "1"), call("p", "c.recv", "0", "[4, 2]")});
  REQUIRE(other.result.mismatch);
  CHECK(other.mismatch() ==
        "rank 0 sends f32[2, 4] by `a` (c.send), rank 1 receives f32[4, 2] by `p` (c.recv)");
  const Several deadlock(
      {receive("p", "1") + "," + send("a", "p", "1"), receive("p", "0") + "," + send("a", "p", "0")});
  REQUIRE(deadlock.result.mismatch);
  CHECK(deadlock.result.mismatch->what == What::deadlock);
}

TEST_CASE("ranks may give different numbers where the declaration looks at all of them") {
  const auto weighted = [](const std::string& weight) {
    return kX + "," + call("y", "c.weighted", ref("x") + ", " + weight + R"(, "tp")");
  };
  const Several ranks({weighted("0.25"), weighted("0.75")});
  REQUIRE(!ranks.result.mismatch);
  for (const std::size_t rank : {0, 1}) {
    CHECK(ranks.print(rank, "y") == "add_n(scale(r0.x; 1/4), scale(r1.x; 3/4))");
  }
  const auto broadcast = [](const std::string& source) {
    return kX + "," + call("y", "c.broadcast", ref("x") + ", " + source + R"(, "tp")");
  };
  CHECK(!Several({broadcast("1"), broadcast("1")}).result.mismatch);
  CHECK(Several({broadcast("0"), broadcast("1")}).result.mismatch);
}

TEST_CASE("an optional argument must be the same where ranks give it") {
  const auto on = [](const std::string& channel) {
    return kX + "," +
           call("y", "c.on_channel", ref("x"), "[2, 4]", "f32",
                R"(, "kwargs": {"group": "tp")" + (channel.empty() ? "" : ", \"channel\": " + channel) + "}");
  };
  CHECK(Several({on("1"), on("1")}).print(1, "y") == "add_n(r0.x, r1.x)");
  CHECK(Several({on("1"), on("")}).print(1, "y") == "add_n(r0.x, r1.x)");
  CHECK(Several({on("null"), on("2")}).print(1, "y") == "add_n(r0.x, r1.x)");
  const Several other({on("1"), on("2")});
  REQUIRE(other.result.mismatch);
  CHECK(other.result.mismatch->what == What::arguments);
  CHECK(other.mismatch() ==
        "rank 0 runs `y` (c.on_channel) with channel = 1, rank 1 runs `y` (c.on_channel) with channel = 2");
  // Of three, too, whoever leaves it out.
  const std::string three = R"("groups": {"tp": [0, 1, 2]}, )";
  CHECK(Several({on("1"), on(""), on("1")}, three).mismatch() == "");
  CHECK(Several({on(""), on("1"), on("2")}, three).mismatch() != "");
}

TEST_CASE("an optional argument that a declaration makes use of must be given by all ranks or by none") {
  const auto of = [](const std::string& times) {
    return kX + "," +
           call("y", "c.optional", ref("x"), "[2, 4]", "f32",
                R"(, "kwargs": {"group": "tp")" + (times.empty() ? "" : ", \"times\": " + times) + "}");
  };
  CHECK(Several({of(""), of("null")}).print(1, "y") == "add_n(r0.x, r1.x)");
  CHECK(Several({of("2"), of("2")}).mismatch() == "");
  for (const auto& [one, other] : {std::pair("", "2"), std::pair("2", ""), std::pair("null", "2")}) {
    const Several ranks({of(one), of(other)});
    REQUIRE(ranks.result.mismatch);
    CHECK(ranks.result.mismatch->what == What::arguments);
  }
}

TEST_CASE("collectives in place: what is changed is a result, the old name is not used any more") {
  const std::string both = "[[2, 4], [2, 4]]";
  const std::string one = kX + "," +
                          call("r", "c.all_reduce_", ref("x") + R"(, "sum", "tp")", both, R"(["f32", "f32"])",
                               R"(, "mutates": ["x"])") +
                          "," + call("y", "getitem", ref("r") + ", 1") + "," + call("z", "t.exp", ref("x"));
  const Several ranks({one, one});
  CHECK(ranks.print(0, "y") == "add_n(r0.x, r1.x)");
  CHECK(ranks.result.blocked.size() == 2);  // the old name, on each rank
  const std::string list =
      input("x") + "," + input("w") + "," +
      call("r", "c.reduce_all_", "[" + ref("x") + ", " + ref("w") + R"(], "tp")", "[null, [2, 4], [2, 4]]",
           R"([null, "f32", "f32"])", R"(, "mutates": ["xs"])") +
      "," + call("y", "getitem", ref("r") + ", 2");
  const Several lists({list, list});
  CHECK(lists.print(1, "y") == "add_n(r0.w, r1.w)");
  // Without `mutates`, all of the list is unknown afterwards.
  const std::string silent =
      input("x") + "," + input("w") + "," +
      call("r", "c.reduce_all_", "[" + ref("x") + ", " + ref("w") + R"(], "tp")", both, R"(["f32", "f32"])");
  const Several spoiled({silent, silent});
  for (const char* name : {"x", "w"}) {
    CHECK(spoiled.result.nodes[0][spoiled.graphs[0].find(name)].kind == Kind::blocked);
  }
}

TEST_CASE("messages in a group: the other's number is its place in it") {
  const std::string groups = R"("groups": {"tp": [1, 0]}, )";
  const auto send = [](int to) {
    return call("s", "c.send_in", ref("x") + ", " + std::to_string(to) + R"(, "tp")");
  };
  const auto receive = [](int from) { return call("y", "c.recv_in", std::to_string(from) + R"(, "tp")"); };
  const Several ranks({kX + "," + send(0), kX + "," + receive(1)}, groups);
  CHECK(ranks.mismatch() == "");
  CHECK(ranks.print(1, "y") == "r0.x");
}

TEST_CASE("what a rank sends to itself is not known to arrive") {
  const auto of = [](const std::string& rank) {
    return kX + "," + call("s", "c.send", ref("x") + ", " + rank, "null", "null") + "," +
           call("y", "c.recv", rank) + "," + call("z", "t.exp", ref("y"));
  };
  const Several ranks({of("0"), of("1")});
  CHECK(ranks.mismatch() == "");
  const LoweredNode& received = ranks.result.nodes[1][ranks.graphs[1].find("y")];
  CHECK(received.kind == Kind::blocked);
  CHECK(received.reason == "it receives from its own rank, which not every library does");
  CHECK(ranks.print(0, "z") != "exp(r0.x)");
  const Several alone({kX + "," + call("y", "c.recv", "0")}, "");
  CHECK(alone.mismatch() ==
        "rank 0 waits at `y` (c.recv) for rank 0, but rank 0 waits at `y` (c.recv) for rank 0");
}

TEST_CASE("every group has messages of its own") {
  const auto send = [](const std::string& name, const std::string& of, const std::string& more) {
    return call(name, "c.send_in", ref(of) + ", 1, " + more, "null", "null");
  };
  const auto receive = [](const std::string& name, const std::string& more) {
    return call(name, "c.recv_in", "0, " + more);
  };
  const std::string inputs = input("x") + "," + input("w") + ",";
  // In whatever order the receiver asks for them; within a group, in order.
  const std::string groups = R"("groups": {"a": [0, 1], "b": [0, 1]}, )";
  const std::string sender = inputs + send("s", "x", R"("a")") + "," + send("t", "w", R"("b")") + "," +
                             send("u", "w", R"("a")") + "," +
                             call("v", "c.send", ref("w") + ", 1", "null", "null");
  const Several ranks({sender, receive("p", R"("b")") + "," + call("o", "c.recv", "0") + "," +
                                   receive("q", R"("a")") + "," + receive("r", R"("a")")},
                      groups);
  CHECK(ranks.mismatch() == "");
  CHECK(ranks.print(1, "p") == "r0.w");
  CHECK(ranks.print(1, "q") == "r0.x");
  CHECK(ranks.print(1, "r") == "r0.w");
  CHECK(ranks.print(1, "o") == "r0.w");
  // Names that the other file does not know, where each has one such group; lists of ranks.
  const auto one = [&](const std::string& ours, const std::string& theirs) {
    World world;
    const std::vector<Graph> graphs = {
        test::graph_of(inputs + send("s", "x", R"("a")"), 0, R"("groups": )" + ours + ", "),
        test::graph_of(receive("p", R"("b")"), 1, R"("groups": )" + theirs + ", ")};
    const support::Result<Lowered> lowered = lower(graphs, world.target);
    REQUIRE(lowered.ok());
    return lowered->mismatch ? lowered->mismatch->message : "";
  };
  CHECK(one(R"({"a": [0, 1]})", R"({"b": [0, 1]})") == "");
  CHECK(one(R"({"a": [0, 1], "b": [0, 1]})", R"({"b": [0, 1]})") ==
        "rank 1 waits at `p` (c.recv_in) for rank 0 in the group `b` [0, 1], but rank 0 has finished");
  CHECK(one(R"({"a": [0, 1]})", R"({"b": [1, 0]})") != "");
  // With a group, and without.
  const Several without({inputs + send("s", "x", R"("a")"), call("p", "c.recv", "0")}, groups);
  CHECK(without.mismatch() == "rank 1 waits at `p` (c.recv) for rank 0, but rank 0 has finished");
  const Several listed({inputs + send("s", "x", "[0, 1], 3"), receive("p", "[0, 1], 3")}, "");
  CHECK(listed.print(1, "p") == "r0.x");
}

TEST_CASE("a collective that is not described blocks what depends on it") {
  const std::string strange = call("y", "c.reduce_strangely", ref("x") + R"(, "tp")");
  const std::string after = "," + call("z", "t.exp", ref("y"));
  const Several ranks({kX + "," + strange + after, kX + "," + strange + after});
  CHECK(ranks.mismatch() == "");
  CHECK(ranks.result.nodes[0][1].kind == Kind::blocked);
  CHECK(ranks.result.nodes[0][1].reason == "`c.reduce_strangely` is a collective that is not described");
  CHECK(ranks.term(0, "z") != ranks.term(1, "z"));
  // So does a described one that is given its group by another name than it asks for.
  const std::string named =
      call("y", "c.all_reduce", ref("x") + R"(, "sum")", "[2, 4]", "f32", R"(, "kwargs": {"pg": "tp"})");
  const Several unnamed({kX + "," + named, kX + "," + named});
  CHECK(unnamed.result.nodes[0][1].kind == Kind::blocked);
  CHECK(unnamed.result.nodes[0][1].reason ==
        "`y` (c.all_reduce) does not say in which group it runs: its declaration asks for `group`");
  // So does a described one with arguments that no declaration covers.
  const Several product({kX + "," + reduce("y", "x", "product"), kX + "," + reduce("y", "x", "product")});
  CHECK(product.result.nodes[1][1].kind == Kind::blocked);
  CHECK(product.result.blocked.size() == 2);
}

TEST_CASE("symbolic sizes of ranks are different until something says otherwise") {
  const std::string nodes = input("x", R"(["u0", 4])") + "," +
                            call("y", "c.all_reduce", ref("x") + R"(, "sum", "tp")", R"(["u0", 4])");
  const Several unknown({nodes, nodes});
  CHECK(unknown.mismatch() == "");
  CHECK(unknown.result.nodes[0][1].kind == Kind::blocked);
  sym::Facts facts;
  facts.add_equal(sym::Int::symbol("r0.u0"), sym::Int::symbol("r1.u0"));
  const Several known({nodes, nodes}, R"("groups": {"tp": [0, 1]}, )", facts);
  CHECK(known.result.nodes[0][1].kind == Kind::lowered);
  CHECK(known.term(0, "y") == known.term(1, "y"));
}

}  // namespace entangle::graph
