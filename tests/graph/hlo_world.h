// What the tests of HLO text share.
#pragma once

#include <string>

#include "entangle/graph/lower.h"
#include "entangle/graph/read.h"
#include "world.h"

namespace entangle::graph::hlo_world {

support::Result<Graph> read(const std::string& text, const ReadOptions& options = {});
// A module that all ranks run, as one of them reads it.
ReadOptions of_rank(std::size_t rank, std::size_t world);
// Fails where it is not read.
Graph graph(const std::string& text, const ReadOptions& options = {});
// `id: message`, or "no error".
std::string error(const std::string& text, const ReadOptions& options = {});
std::string shown(const Graph& graph, const Arg& arg);
// `name = op(arguments; key = value) : types`, then what else there is to say.
std::string shown(const Graph& graph, const Node& node);
// All nodes but inputs, a line each.
std::string shown(const Graph& graph);
// A module of one computation, the last instruction of which is the root.
std::string module(const std::string& instructions, const std::string& header = "",
                   const std::string& others = "");
// Computations for reductions.
extern const char* const kReducers;
// The line of the node `y` in a module with these instructions, to which y belongs.
std::string node(const std::string& instructions, const std::string& name = "y",
                 const ReadOptions& options = {}, const std::string& header = "");

}  // namespace entangle::graph::hlo_world
