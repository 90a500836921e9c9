#include "entangle/graph/read.h"

namespace entangle::graph {

const std::vector<DiagnosticInfo>& diagnostics() {
  static const std::vector<DiagnosticInfo> kTable = {
      {"graph/bad-dtype", "an element type that is none of the format's"},
      {"graph/bad-getitem", "getitem of a node without results, or of a result it does not have"},
      {"graph/bad-group", "a process group whose ranks are not distinct ranks of the program"},
      {"graph/bad-mutates", "`mutates` does not fit the arguments or the results"},
      {"graph/bad-number", "a number whose exponent is beyond what is computed with"},
      {"graph/bad-rank", "a rank or world size that is not sane"},
      {"graph/bad-size", "a size that is neither a number of elements nor an expression of sizes"},
      {"graph/bad-value", "the value of a constant does not fit its shape"},
      {"graph/cycle", "a node that depends on itself"},
      {"graph/duplicate-input", "an input that is listed twice"},
      {"graph/duplicate-key", "a key that stands twice in one JSON object"},
      {"graph/duplicate-name", "two nodes of one name"},
      {"graph/format", "not an entangle-graph"},
      {"graph/hlo-attribute", "an attribute of an HLO instruction that is missing or of no known form"},
      {"graph/hlo-computation",
       "computations of an HLO module without entry, root or parameters, or too many of them"},
      {"graph/hlo-sharding", "annotations of an HLO module that is not partitioned (a warning)"},
      {"graph/hlo-syntax", "not HLO text"},
      {"graph/json-depth", "JSON nested too deep"},
      {"graph/json-syntax", "not JSON"},
      {"graph/missing-key", "a graph or node lacks a key it needs"},
      {"graph/missing-node", "a reference to a node that does not exist"},
      {"graph/not-a-member", "a rank takes part in a collective of a group it does not belong to"},
      {"graph/not-an-input", "a listed input is computed"},
      {"graph/operands", "the operands of a node do not fit its operator"},
      {"graph/result-count", "a node records another number of results than its operator has"},
      {"graph/result-lists", "`shape` and `dtype` of a node do not have the same form"},
      {"graph/result-type", "a recorded type contradicts what the operands imply"},
      {"graph/unknown-group", "a collective names a group that the graph does not declare"},
      {"graph/unknown-key", "a key that is not known (a warning)"},
      {"graph/use-before-definition", "a reference to a later node"},
      {"graph/version", "a version of the format that is not supported"},
      {"graph/wrong-kind", "a value of another kind than expected"},
      {"graph/wrong-rank", "a file recorded for another rank"},
  };
  return kTable;
}

}  // namespace entangle::graph
