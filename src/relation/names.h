// Names of tensors in the manifest: exact ones, globs, leaves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/relation/resolve.h"

namespace entangle::relation {

enum class Section : std::uint8_t { inputs, given, outputs, expect };

// The nodes of the sequential graph that a name means in a section; never empty. Throws Failure.
std::vector<graph::NodeIndex> match(const graph::Graph& sequential, Section section, const Text& name);

// What each entry says of which node: exact names before globs, later globs before earlier ones. In the order
// of the graph.
struct Assigned {
  graph::NodeIndex node;
  const Entry* entry;
};
std::vector<Assigned> assign(const graph::Graph& sequential, Section section,
                             const std::vector<Entry>& entries);

// The node of a leaf; throws Failure (unknown-leaf) where the rank's graph has none.
graph::NodeIndex find_leaf(const Sides& sides, const Clean& leaf);

// The tensor that a name under `assume` means: `x` of the sequential graph or `r0.x`; none where there is
// none.
std::optional<TensorId> find_tensor(const Sides& sides, const std::string& name);

// The names of all symbols of sizes of all graphs, sorted.
std::vector<std::string> symbols(const Sides& sides);

}  // namespace entangle::relation
