// evaluate [RULES]: evaluates graphs in floating point, one job per line of the standard input.
//
//   {"graphs": [GRAPH, …], "inputs": [{NAME: DATA, …}, …]}
//
// GRAPH is a path, or the text of a graph (docs/formats.md); there is one for each rank, and one alone is the
// sequential program. DATA lists the elements in row-major order. One line is written for each job:
//
//   {"results": [{NAME: [{"shape": …, "data": …}, …]}, …], "by": [{NAME: "FILE:LINE"}, …],
//    "opaque": [OPERATOR, …], "blocked": [NODE, …], "mismatch": TEXT}
//
// or {"error": TEXT}. A result without a value is null. `by` names the declarations that lowered the nodes.
// Without RULES the default rules are used. `evaluate --lowerings [RULES]` lists all declarations instead.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "entangle/eval/floating.h"
#include "entangle/graph/lower.h"
#include "entangle/graph/read.h"
#include "entangle/support/paths.h"
#include "rows.h"

namespace {

using namespace entangle;
using Json = nlohmann::ordered_json;

std::string place(const rules::Lowering& lowering) {
  return std::filesystem::path(support::source_path(lowering.span.file)).filename().string() + ":" +
         std::to_string(lowering.span.line);
}

// `when false`: it says which operands are changed, and nothing of results.
bool never(const rules::Lowering& lowering) {
  return lowering.condition && lowering.condition->kind == rules::ExprKind::literal &&
         lowering.condition->value == tensor::Attr::of(false);
}

// JSON has no infinities and no NaN.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_string()) return value.get<double>();
  const std::string text = value.get<std::string>();
  return text == "nan" ? std::nan("") : text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

class Job {
 public:
  Job(const rules::RuleSet& rules, const Json& job)
      : job_(job), typing_(rules, oracle_), terms_(typing_, oracle_) {}

  Json run() {
    const Json& graphs = job_.at("graphs");
    for (std::size_t rank = 0; rank < graphs.size(); ++rank) {
      graph::ReadOptions options;
      if (graphs.size() > 1) options.rank = rank;
      options.world = graphs.size();
      const std::string text = graphs[rank].get<std::string>();
      const bool written = text.starts_with("{") || text.starts_with("HloModule");
      auto graph = written ? graph::parse_graph(support::add_source("job", text), options)
                           : graph::read_graph(text, options);
      if (!graph) return {{"error", support::render(graph.error())}};
      graphs_.push_back(std::move(*graph));
    }
    auto lowered = graph::lower(graphs_, terms_);
    if (!lowered) return {{"error", support::render(lowered.error())}};
    eval::Floating values(terms_, tools::row_wise);
    for (std::uint32_t rank = 0; rank < graphs_.size(); ++rank) set_inputs(*lowered, rank, values);
    Json results = Json::array();
    Json by = Json::array();
    for (std::uint32_t rank = 0; rank < graphs_.size(); ++rank) {
      Json tensors = Json::object();
      Json declarations = Json::object();
      for (const graph::NodeIndex node : graphs_[rank].outputs) {
        Json parts = Json::array();
        for (const graph::TermId term : lowered->nodes[rank][node].results)
          parts.push_back(result(values, term));
        tensors[graphs_[rank].nodes[node].name] = parts;
      }
      for (graph::NodeIndex node = 0; node < graphs_[rank].nodes.size(); ++node) {
        const rules::Lowering* lowering = lowered->nodes[rank][node].by;
        if (lowering != nullptr) declarations[graphs_[rank].nodes[node].name] = place(*lowering);
      }
      results.push_back(std::move(tensors));
      by.push_back(std::move(declarations));
    }
    Json blocked = Json::array();
    for (const graph::BlockedUse& use : lowered->blocked) blocked.push_back(lowered->node(use.at).name);
    Json mismatch = lowered->mismatch ? Json(lowered->mismatch->message) : Json();
    return {{"results", results},
            {"by", by},
            {"opaque", lowered->opaque_ops},
            {"blocked", blocked},
            {"mismatch", mismatch}};
  }

 private:
  void set_inputs(const graph::Lowered& lowered, std::uint32_t rank, eval::Floating& values) {
    const Json& inputs = job_.at("inputs").at(rank);
    for (const auto& [name, data] : inputs.items()) {
      const graph::NodeIndex node = graphs_[rank].find(name);
      if (node == graph::kNoNode) continue;
      const graph::TermId leaf = lowered.nodes[rank][node].results[0];
      eval::RealArray array;
      for (const sym::Int size : terms_.type(leaf).shape) array.shape.push_back(size.value());
      for (const Json& element : data) array.elements.push_back(number(element));
      values.set(leaf, std::move(array));
    }
  }

  static Json result(eval::Floating& values, graph::TermId term) {
    const eval::RealArray* array = term == graph::kNoTerm ? nullptr : values.value(term);
    if (array == nullptr) return nullptr;
    Json data = Json::array();
    for (const double element : array->elements) data.push_back(number(element));
    return {{"shape", array->shape}, {"data", data}};
  }

  const Json& job_;
  smt::Oracle oracle_;
  term::Typing typing_;
  egraph::EGraph terms_;
  std::vector<graph::Graph> graphs_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool list = argc > 1 && std::string(argv[1]) == "--lowerings";
  const int first = list ? 2 : 1;
  const std::string path = argc > first ? argv[first] : std::string(ENTANGLE_SOURCE) + "/rules/aten.rules";
  const rules::Loaded loaded = rules::load_rules({path}, support::rule_folders());
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) std::cerr << support::render(diagnostic);
  if (!loaded.ok()) return 2;
  if (list) {
    for (const rules::Lowering& lowering : loaded.rules->lowerings()) {
      if (never(lowering)) continue;
      std::cout << lowering.op << " " << place(lowering) << "\n";
    }
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const Json job = Json::parse(line);
    std::cout << Job(*loaded.rules, job).run().dump() << std::endl;
  }
  return 0;
}
