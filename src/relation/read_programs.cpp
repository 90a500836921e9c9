#include "entangle/relation/read_programs.h"

#include <optional>
#include <string>
#include <utility>

#include "entangle/graph/read.h"
#include "entangle/support/parallel.h"
#include "relation/failure.h"

namespace entangle::relation {

namespace {

std::string ranks(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

graph::Graph read(const Manifest& manifest, const Text& name, const graph::ReadOptions& options) {
  support::Result<graph::Graph> graph = graph::read_graph(manifest.path_of(name.text), options);
  if (graph) return std::move(*graph);
  support::Diagnostic& error = graph.error();
  if (error.span.file == support::kNoFile)
    fail(Problem::cannot_read, name.span, error.message, error.suggestion);
  throw Failure{std::move(error)};
}

}  // namespace

support::Result<ProgramGraphs> read_programs(const Manifest& manifest) {
  return guarded([&] {
    ProgramGraphs result;
    const bool shared = manifest.distribution == Manifest::Distributed::one;
    result.ranks.resize(manifest.ranks);
    support::for_each_index(2, [&](std::size_t k) {
      if (k == 0) {
        result.sequential = read(manifest, manifest.sequential, {});
      } else {
        result.ranks[0] = read(manifest, manifest.file_of_rank(0), {0, shared, nullptr, manifest.ranks});
      }
    });
    support::for_each_index(manifest.ranks - 1, [&](std::size_t k) {
      const std::size_t rank = k + 1;
      result.ranks[rank] =
          read(manifest, manifest.file_of_rank(rank), {rank, shared, &result.ranks[0], manifest.ranks});
    });
    for (std::size_t k = 0; k < manifest.ranks; ++k) {
      const std::optional<std::size_t>& recorded = result.ranks[k].world_size;
      const Text& name = manifest.file_of_rank(k);
      if (recorded && *recorded != manifest.ranks) {
        fail(Problem::rank_count, name.span,
             "`" + name.text + "` is of a program with " + ranks(*recorded) + ", the manifest has " +
                 ranks(manifest.ranks));
      }
    }
    return result;
  });
}

}  // namespace entangle::relation
