// HLO text as graphs: collectives, groups and devices.
#include <doctest/doctest.h>

#include "hlo_world.h"

namespace entangle::graph {

using namespace hlo_world;  // NOLINT: this file makes nothing else

TEST_CASE("operators in two parts") {
  const Graph read = graph(
      module("x = f32[4] parameter(0)\n"
             "a = f32[4] all-reduce-start(x), replica_groups={{0,1}}, to_apply=sum\n"
             "b = f32[4] all-reduce-done(a)\n"
             "c = (f32[4], f32[8]) all-gather-start(b), replica_groups={{0,1}}, dimensions={0}\n"
             "d = f32[8] all-gather-done(c)\n"
             "e = (f32[8], f32[8], u32[], u32[]) collective-permute-start(d), "
             "source_target_pairs={{0,1},{1,0}}\n"
             "f = f32[8] collective-permute-done(e)\n"
             "g = (f32[8], f32[8], u32[]) copy-start(f)\n"
             "h = f32[8] copy-done(g)\n"
             "i = ((f32[8]), f32[8], s32[]) async-start(h), calls=wrapped\n"
             "j = ((f32[8]), f32[8], s32[]) async-update(i)\n"
             "k = ((f32[8]), f32[4], s32[]) reduce-scatter-start(h), replica_groups={{0,1}}, dimensions={0}, "
             "to_apply=sum\n"
             "l = f32[4] reduce-scatter-done(k)\n"
             "y = f32[8] async-done(j)",
             "", std::string(kReducers) + "wrapped { p = f32[8] parameter(0)  ROOT n = f32[8] negate(p) }\n"),
      of_rank(1, 2));
  CHECK(shown(read) ==
        "a = hlo.all_reduce(%x, sum; group = \"{{0,1}}\") : f32[4]\n"
        "b = hlo.copy(%a) : f32[4]\n"
        "c = hlo.all_gather(%b, 0; group = \"{{0,1}}\") : f32[8]\n"
        "d = hlo.copy(%c) : f32[8]\n"
        "e = hlo.collective_permute(%d, [[0, 1], [1, 0]]; group = \"{{0,1}}\") : f32[8]\n"
        "f = hlo.copy(%e) : f32[8]\n"
        "g = hlo.copy(%f) : f32[8]\n"
        "h = hlo.copy(%g) : f32[8]\n"
        "i = hlo.negate(%h) : f32[8]\n"
        "k = hlo.reduce_scatter(%h, sum, 0; group = \"{{0,1}}\") : f32[4]\n"
        "l = hlo.copy(%k) : f32[4]\n"
        "y = hlo.copy(%i) : f32[8]\n");
}

TEST_CASE("collectives") {
  const std::string x = "x = f32[4,6] parameter(0)\nz = f32[4,6] parameter(1)\nm = pred[4] parameter(2)\n";
  const auto line = [&](const std::string& instruction) { return node(x + instruction, "y", of_rank(0, 2)); };
  const std::string all = "group = \"{{0,1}}\"";
  CHECK(line("y = f32[4,6] all-reduce(x), replica_groups={{0,1}}, to_apply=greatest") ==
        "hlo.all_reduce(%x, max; " + all + ") : f32[4, 6]");
  CHECK(line("y = (f32[4,6], f32[4,6]) all-reduce(x, z), replica_groups={}, to_apply=sum") ==
        "hlo.all_reduce([%x, %z], sum; " + all + ") : f32[4, 6] f32[4, 6]");
  CHECK(line("y = pred[4] all-reduce(m), replica_groups={{0,1}}, to_apply=either") ==
        "hlo.all_reduce(%m, \"or\"; " + all + ") : b8[4]");
  CHECK(line("y = f32[4,6] all-reduce(x), replica_groups={{0,1}}, to_apply=difference") ==
        "hlo.all_reduce(%x; " + all +
            ") : f32[4, 6] unknown: what `difference` computes is not a known reduction");
  CHECK(line("y = f32[8,6] all-gather(x), replica_groups={{0,1}}, dimensions={0}") ==
        "hlo.all_gather(%x, 0; " + all + ") : f32[8, 6]");
  CHECK(line("y = f32[4,3] reduce-scatter(x), replica_groups={{0,1}}, dimensions={1}, to_apply=sum") ==
        "hlo.reduce_scatter(%x, sum, 1; " + all + ") : f32[4, 3]");
  CHECK(line("y = f32[4,6] all-to-all(x), replica_groups={{0,1}}, dimensions={1}") ==
        "hlo.all_to_all(%x, 1, 1; " + all + ") : f32[4, 6]");
  CHECK(line("y = (f32[4,6], f32[4,6]) all-to-all(x, z), replica_groups={{0,1}}") ==
        "hlo.all_to_all([%x, %z]; " + all + ") : f32[4, 6] f32[4, 6]");
  CHECK(line("y = f32[4,6] collective-permute(x), source_target_pairs={{1,0}}") ==
        "hlo.collective_permute(%x, [[1, 0]]; " + all + ") : f32[4, 6]");
  CHECK(line("y = f32[4,6] collective-broadcast(x), replica_groups={{0,1}}") ==
        "hlo.collective_broadcast(%x; " + all + ") : f32[4, 6]");
}

TEST_CASE("whom replica groups mean") {
  // [groups of this rank], by attributes, of rank 5 among 2 replicas of 4 partitions.
  const auto groups = [](const std::string& attributes,
                         const std::string& counts = ", replica_count=2, num_partitions=4") {
    const std::string text = module(
        "x = f32[4] parameter(0)\ny = f32[4] all-reduce(x), to_apply=sum, " + attributes, counts, kReducers);
    const support::Result<Graph> read = parse_graph(support::add_source("t.hlo", text), of_rank(5, 8));
    if (!read) {
      return read.error().id + ": " + read.error().message;
    }
    REQUIRE(read->groups.size() == 1);
    std::string list;
    for (const std::size_t rank : read->groups[0].ranks) {
      list += std::to_string(rank) + " ";
    }
    return list;
  };
  CHECK(groups("replica_groups={{0,1}}") == "1 5 ");
  CHECK(groups("replica_groups={{1,0}}") == "5 1 ");
  CHECK(groups("replica_groups={{0},{1}}") == "5 ");
  CHECK(groups("replica_groups={}") == "1 5 ");
  CHECK(groups("channel_id=1, replica_groups={{0,1}}") == "0 1 2 3 4 5 6 7 ");
  CHECK(groups("channel_id=1, replica_groups={{0},{1}}") == "4 5 6 7 ");
  CHECK(groups("channel_id=1, replica_groups={}, use_global_device_ids=false") == "0 1 2 3 4 5 6 7 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups={{0,2,4,6},{7,5,3,1}}") ==
        "7 5 3 1 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups=[2,4]<=[8]") == "4 5 6 7 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups=[4,2]<=[2,4]T(1,0)") == "1 5 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups=[2,4]<=[2,2,2]T(1,0,2)") ==
        "0 1 4 5 ");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups=[1,8]<=[8]") == "0 1 2 3 4 5 6 7 ");
  CHECK(groups("replica_groups={{0,1,2,3,4,5,6,7}}", "") ==
        "0 1 2 3 4 5 6 7 ");  // a header that says nothing: replicas
  CHECK(groups("use_global_device_ids=true, replica_groups={{0,1}}") ==
        "graph/bad-group: `use_global_device_ids` needs a `channel_id`");
  CHECK(groups("channel_id=1, use_global_device_ids=true, replica_groups={}") ==
        "graph/bad-group: with `use_global_device_ids` the groups must be listed");
  CHECK(groups("replica_groups={{0,2}}") == "graph/bad-group: there is no number 2 among 2 replicas");
  CHECK(groups("replica_groups={{0,0}}") == "graph/bad-group: the number 0 is in two groups");
  CHECK(groups("replica_groups={{0}}") == "graph/bad-group: the number 1 is in no group of `y`");
  CHECK(groups("replica_groups={{-1}}") == "graph/bad-group: there is no number -1 among 2 replicas");
  for (const char* bad : {"[2,4]<=[9]", "[2,4]<=[2,4]T(0,0)", "[2,4]<=[2,4]T(1)", "[8]<=[8]", "{{0,1}",
                          "{0,1}", "[2,4]", "[0,8]<=[0]", "[9223372036854775807,2]<=[2]"}) {
    CAPTURE(bad);
    const std::string found =
        groups("channel_id=1, use_global_device_ids=true, replica_groups=" + std::string(bad));
    CHECK((found.starts_with("graph/hlo-attribute: ") || found.starts_with("graph/hlo-syntax: ")));
  }
}

TEST_CASE("all-to-all and permutations with a channel are among partitions") {
  const auto groups = [](const std::string& instruction) {
    const Graph read = graph(module("x = f32[4] parameter(0)\ny = f32[4] " + instruction,
                                    ", replica_count=2, num_partitions=4", kReducers),
                             of_rank(5, 8));
    REQUIRE(read.groups.size() == 1);
    return std::vector<std::size_t>(read.groups[0].ranks);
  };
  using Ranks = std::vector<std::size_t>;
  CHECK(groups("all-to-all(x), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}") ==
        Ranks{4, 5, 6, 7});
  CHECK(groups("all-to-all(x), replica_groups={{0,1}}, dimensions={0}") == Ranks{1, 5});
  const std::string silent = module(
      "x = f32[4] parameter(0)\ny = f32[4] all-to-all(x), channel_id=1, replica_groups={}, dimensions={0}");
  CHECK(error(silent, of_rank(0, 2)).starts_with("graph/bad-rank: this module asks for its partition"));
  CHECK(error(silent) == "no error");
  CHECK(groups("collective-permute(x), channel_id=1, source_target_pairs={{0,1}}") == Ranks{4, 5, 6, 7});
  CHECK(groups("collective-permute(x), source_target_pairs={{0,1}}") == Ranks{1, 5});
}

TEST_CASE("which device a rank is") {
  const auto places = [](const std::string& counts, std::size_t rank, std::size_t world) {
    const Graph read = graph(
        module("p = u32[] partition-id()\nr = u32[] replica-id()\nt = (u32[], u32[]) tuple(p, r)", counts),
        of_rank(rank, world));
    return shown(read);
  };
  CHECK(places(", num_partitions=4", 2, 4) ==
        "p = hlo.partition_id(rank) : i64[]\nr = hlo.replica_id(0) : i64[]\n");
  CHECK(places(", replica_count=4", 2, 4) ==
        "p = hlo.partition_id(0) : i64[]\nr = hlo.replica_id(rank) : i64[]\n");
  CHECK(places(", replica_count=2, num_partitions=4", 6, 8) ==
        "p = hlo.partition_id(\"Mod(rank, 4)\") : i64[]\nr = hlo.replica_id(\"rank//4\") : i64[]\n");
  CHECK(error(module("p = u32[] partition-id()"), of_rank(0, 2)) ==
        "graph/bad-rank: this module asks for its partition, but its header does not say how many there are "
        "(`num_partitions`)");
  CHECK(error(module("p = u32[] partition-id()", ", num_partitions=2")) ==
        "graph/bad-rank: the sequential program runs on one device, this module on 2, which differ from here "
        "on");
  CHECK(shown(graph(module("p = u32[] partition-id()"))) == "p = hlo.partition_id(0) : i64[]\n");
}

TEST_CASE("one module of all ranks is read once") {
  const std::string text = module(
      "x = f32[4] parameter(0)\np = u32[] partition-id()\na = f32[4] all-reduce(x), channel_id=1, "
      "use_global_device_ids=true, replica_groups={{0,2},{1,3}}, to_apply=sum",
      ", num_partitions=4", kReducers);
  const Graph first = graph(text, of_rank(0, 4));
  for (std::size_t rank = 0; rank < 4; ++rank) {
    ReadOptions options = of_rank(rank, 4);
    const Graph alone = graph(text, options);
    options.model = &first;
    const Graph copied = graph(text, options);
    CHECK(shown(copied) == shown(alone));
    CHECK(copied.rank == rank);
    CHECK(copied.symbol_prefix == alone.symbol_prefix);
    CHECK(copied.groups == alone.groups);
    CHECK(copied.world_size == 4);
    CHECK(copied.inputs == alone.inputs);
    CHECK(copied.outputs == alone.outputs);
    CHECK(copied.groups ==
          std::vector<Group>{{"{{0,2},{1,3}}", rank % 2 == 0 ? std::vector<std::size_t>{0, 2}
                                                             : std::vector<std::size_t>{1, 3}}});
    CHECK(copied.span(1).file == copied.file);
    CHECK(copied.span(1).line == alone.span(1).line);
  }
}

TEST_CASE("a module that is not partitioned says so") {
  const std::string before = module(
      "x = f32[4] parameter(0), sharding={devices=[2]<=[2]}\ny = f32[4] negate(x)", ", num_partitions=2");
  const Graph read = graph(before, of_rank(0, 2));
  REQUIRE(read.warnings.size() == 1);
  CHECK(read.warnings[0].id == "graph/hlo-sharding");
  CHECK(read.warnings[0].span.line == 5);
  const std::string after = module(
      "x = f32[4] parameter(0), sharding={devices=[2]<=[2]}\ny = f32[4] all-reduce(x), channel_id=1, "
      "use_global_device_ids=true, replica_groups={{0,1}}, to_apply=sum",
      ", num_partitions=2", kReducers);
  CHECK(graph(after, of_rank(0, 2)).warnings.empty());
}

}  // namespace entangle::graph
