// Reading the graphs that a manifest names.
#pragma once

#include <vector>

#include "entangle/graph/graph.h"
#include "entangle/relation/manifest.h"

namespace entangle::relation {

struct ProgramGraphs {
  graph::Graph sequential;
  std::vector<graph::Graph> ranks;  // one per rank
};

// A file that cannot be read is reported where the manifest names it (`relation/cannot-read`); errors inside
// a graph are those of graph::read_graph.
support::Result<ProgramGraphs> read_programs(const Manifest& manifest);

}  // namespace entangle::relation
