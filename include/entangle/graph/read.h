// Reading graphs: the JSON format of docs/formats.md, or HLO text, validated. Which of them a file is, is
// told from its content.
//
// Every error names the place in the file (line and column of the offending value) and has an id of the table
// `diagnostics()`. Numbers keep their exact decimal value. Keys that are not known are ignored, with one
// warning in Graph::warnings. Reads files; otherwise pure. Cost: linear in the size of the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/graph/graph.h"

namespace entangle::graph {

struct ReadOptions {
  // The rank that runs the graph; none: the sequential program, whose symbols have no prefix.
  std::optional<std::size_t> rank;
  // The file serves all ranks: the rank recorded in it does not matter. Otherwise a file that is recorded as
  // that of another rank is an error.
  bool shared = false;
  // A graph that was read before, most of whose nodes are likely to stand in this file, too: those are
  // copied. The result is the same without.
  const Graph* model = nullptr;
  // How many ranks run the program, where that is known: HLO text may not say it.
  std::optional<std::size_t> world = std::nullopt;
};

support::Result<Graph> read_graph(const std::string& path, const ReadOptions& options = {});
// The same for a source that is registered already.
support::Result<Graph> parse_graph(support::FileId file, const ReadOptions& options = {});

// Every diagnostic of this module: its id and what it is about; sorted by id.
struct DiagnosticInfo {
  std::string id;
  std::string about;
};
const std::vector<DiagnosticInfo>& diagnostics();

}  // namespace entangle::graph
