#include "entangle/infer/check.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "attempt.h"
#include "constants.h"
#include "entangle/smt/solver.h"
#include "grounds.h"
#include "memo_folder.h"
#include "programs.h"

namespace entangle::infer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestLimit = 1e9;  // seconds
constexpr std::chrono::milliseconds kUntilProgress(500);
constexpr std::chrono::milliseconds kBetweenProgress(100);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// --- what the verdict rests on

bool uses_casts(const EGraph& graph) {
  for (TermId term = 0; term < graph.term_count(); ++term) {
    const auto node = graph.original(term);
    if (node.op != rules::kNoOp && graph.rules().op(node.op).converts &&
        graph.type(node.children[0]).dtype != graph.type(term).dtype) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> assumptions(Programs& programs) {
  std::vector<std::string> result = programs.resolved.stated;
  const std::vector<std::string> constants = inputs_taken_as_constants(programs);
  result.insert(result.end(), constants.begin(), constants.end());
  for (const std::string& fact : programs.resolved.learned) {
    result.push_back(fact + " (from the shapes of the inputs)");
  }
  result.insert(result.end(), programs.found_sizes.begin(), programs.found_sizes.end());
  const std::vector<std::string> masks = drawn_assumptions(programs);
  result.insert(result.end(), masks.begin(), masks.end());
  std::set<std::string> pure(programs.lowered_ranks.opaque_ops.begin(),
                             programs.lowered_ranks.opaque_ops.end());
  pure.insert(programs.lowered_sequential.opaque_ops.begin(), programs.lowered_sequential.opaque_ops.end());
  for (const std::string& op : pure) {
    result.push_back("taken as a pure function: " + op);
  }
  if (uses_casts(*programs.graph)) {
    result.push_back("casts between f64, f32, f16 and bf16 are additive (elements are real numbers)");
  }
  if (!programs.lowered_sequential.lookups.empty()) {
    result.push_back("every look-up of the sequential program is in range");
  }
  return result;
}

// Not kept with the verdict: a file of rules may have been moved since.
void add_axioms(const rules::RuleSet& rules, Verdict& verdict) {
  const std::vector<std::string> all = axioms(rules, verdict);
  verdict.assumptions.insert(verdict.assumptions.end(), all.begin(), all.end());
}

std::vector<std::string> opaque_operators(const Programs& programs) {
  const rules::RuleSet& rules = programs.graph->rules();
  std::set<std::string> result;
  for (const graph::Lowered* lowered : {&programs.lowered_sequential, &programs.lowered_ranks}) {
    for (const graph::OpaqueUse& use : lowered->opaque) {
      const bool declared = !rules.lowerings_of(use.op).empty();
      const std::string& reason = lowered->nodes[use.at.rank][use.at.node].reason;
      result.insert(declared ? use.op + ": " + reason + " (`" + lowered->describe(use.at) + "`)" : use.op);
    }
    for (const graph::BlockedUse& use : lowered->blocked) {
      result.insert(lowered->node(use.at).op + ": " + use.reason);
    }
  }
  return {result.begin(), result.end()};
}

void report_mismatch(const Programs& programs, Verdict& verdict) {
  const graph::Mismatch& mismatch = *programs.lowered_ranks.mismatch;
  verdict.kind = VerdictKind::violates;
  CollectiveMismatch report;
  report.reason = mismatch.message;
  for (const graph::Mismatch::Place& at : mismatch.places) {
    if (at.node == graph::kNoNode) {
      continue;  // a rank that has finished
    }
    const graph::Node& node = programs.ranks[at.rank].nodes[at.node];
    Place place;
    place.rank = static_cast<int>(at.rank);
    place.tensor = node.name;
    place.op = node.op;
    place.loc = node.loc;
    report.places.push_back(std::move(place));
  }
  verdict.mismatch = std::move(report);
}

void report_limits(Programs& programs, Walk& walk, Verdict& verdict) {
  if (walk.out_of_time()) {
    verdict.limits.push_back("time limit reached");
  }
  std::set<std::string> named;
  for (const TermId term : walk.result().limit_hit) {
    if (std::ranges::binary_search(walk.result().unresolved, term)) {
      const Place place = programs.names->place(term);
      if (named.insert(place.tensor).second) {
        verdict.limits.push_back("limit of nodes or rounds reached at " + place.tensor);
      }
    }
  }
  for (const smt::Unknown& unknown : programs.oracle->unknowns()) {
    verdict.limits.push_back("undecided: " + unknown.question + " (" + smt::to_string(unknown.why) + ")");
  }
}

void collect_warnings(const Programs& programs, Verdict& verdict) {
  const auto add = [&](const graph::Graph& graph) {
    verdict.warnings.insert(verdict.warnings.end(), graph.warnings.begin(), graph.warnings.end());
  };
  add(programs.sequential_graph());
  for (const graph::Graph& graph : programs.ranks) {
    add(graph);
  }
}

void report_relations(Programs& programs, Walk& walk, Outputs& outputs, Verdict& verdict) {
  for (const graph::TensorRef& tensor : programs.lowered_sequential.tensors()) {
    const TermId term = programs.lowered_sequential.term(tensor);
    if (term == kNoTerm) {
      continue;
    }
    walk.run({term}, {term});
    verdict.relations.emplace_back(programs.lowered_sequential.describe(tensor), outputs.relations(term));
  }
}

// Outputs of the sequential program that nobody asked for and that have no relation.
std::vector<std::string> unrelated(const Programs& programs, Walk& walk, const std::vector<Question>& asked) {
  std::vector<std::string> result;
  const graph::Graph& sequential = programs.sequential_graph();
  for (const graph::NodeIndex output : sequential.outputs) {
    const TermId term = programs.lowered_sequential.term({0, output, 0});
    const std::string& name = sequential.nodes[output].name;
    const bool asked_for = std::ranges::any_of(asked, [&](const Question& q) { return q.tensor == name; });
    if (term != kNoTerm && !asked_for && !walk.resolved(term)) {
      result.push_back(name);
    }
  }
  return result;
}

Statistics statistics(const Programs& programs, const Walk& walk) {
  Statistics result;
  result.sequential_operators = walk.result().operators;
  result.distributed_operators = programs.joint->distributed_end();
  result.by_lookup = walk.result().by_lookup;
  result.local_problems = walk.result().problems;
  result.by_memo = walk.result().by_memo;
  result.carried = walk.result().solved_across.size();
  result.largest_egraph = walk.result().largest;
  const smt::Statistics& asked_of_solver = programs.oracle->statistics();
  result.conditions = asked_of_solver.asked;
  result.conditions_by_solver = asked_of_solver.solver;
  result.conditions_unknown = asked_of_solver.unknown;
  return result;
}

// `start`: when the check began.
WalkOptions walk_options(const CheckOptions& options, const Programs& programs, Clock::time_point start) {
  WalkOptions result;
  result.memo = options.memo;
  result.limits = options.limits;
  if (options.time_limit) {
    // More than the clock can count is no limit.
    const std::chrono::duration<double> limit(std::min(*options.time_limit, kLongestLimit));
    result.limits.expired = [end = start + std::chrono::duration_cast<Clock::duration>(limit)] {
      return Clock::now() > end;
    };
  }
  if (options.progress) {
    result.progress = [&programs, &options, last = start + kUntilProgress - kBetweenProgress](
                          std::size_t done, std::size_t total, TermId next) mutable {
      const auto now = Clock::now();
      if (now - last >= kBetweenProgress) {
        last = now;
        options.progress(done, total, programs.names->place(next).tensor);
      }
    };
  }
  return result;
}

// Keeps something until the process ends.
template <class T>
void leave(T value) {
  static auto* const left = new std::vector<T>();
  left->push_back(std::move(value));
}

}  // namespace

Engine Engine::of(std::shared_ptr<const rules::RuleSet> rules) {
  auto program = std::make_shared<const egraph::Program>(*rules);
  return {std::move(rules), std::move(program)};
}

support::Result<Verdict> check(const relation::Manifest& manifest, const Engine& engine,
                               const CheckOptions& options) {
  const auto start = Clock::now();
  const MemoFolder folder(options, manifest, *engine.rules);
  if (auto known = folder.verdict()) {
    add_axioms(*engine.rules, *known);
    known->times.total = seconds_since(start);
    return std::move(*known);
  }
  auto loaded = load_programs(manifest, engine);
  if (!loaded) {
    return loaded.error();
  }
  Programs& programs = **loaded;
  Verdict verdict;
  verdict.manifest = manifest.path;
  verdict.ranks = static_cast<int>(manifest.ranks);
  verdict.times.read = programs.read_seconds;
  verdict.times.lower = programs.lower_seconds;
  collect_warnings(programs, verdict);
  if (programs.lowered_ranks.mismatch) {
    report_mismatch(programs, verdict);
    verdict.times.total = seconds_since(start);
    return verdict;
  }

  const auto infer_start = Clock::now();
  std::optional<smt::Patience> patience;
  if (options.time_limit) {
    const std::chrono::duration<double> limit(std::min(*options.time_limit, kLongestLimit));
    patience.emplace(std::chrono::duration_cast<std::chrono::milliseconds>(limit - (Clock::now() - start)));
  }
  egraph::Counters counters;
  auto decided = decide(programs, manifest, engine, walk_options(options, programs, start), folder, counters);
  if (!decided) {
    return decided.error();
  }
  verdict.times.lower = programs.lower_seconds;
  if (!decided->walk) {
    report_mismatch(programs, verdict);
    verdict.times.total = seconds_since(start);
    return verdict;
  }
  Walk& walk = *decided->walk;
  Outputs& outputs = *decided->answers;
  verdict.kind = decided->kind;
  verdict.outputs = std::move(decided->outputs);
  verdict.obligations = std::move(decided->obligations);
  verdict.failing = std::move(decided->failing);
  if (verdict.kind != VerdictKind::refines) {
    report_limits(programs, walk, verdict);
  }
  verdict.assumptions = assumptions(programs);
  verdict.opaque = opaque_operators(programs);
  record_grounds(*programs.graph, counters, verdict);
  if (options.all_relations) {
    report_relations(programs, walk, outputs, verdict);
  }
  folder.keep(walk.memo(), programs);
  verdict.unrelated = unrelated(programs, walk, decided->asked);
  verdict.statistics = statistics(programs, walk);
  if (verdict.kind == VerdictKind::refines || !options.time_limit) {
    folder.keep(verdict, programs);
  }
  add_axioms(*engine.rules, verdict);
  if (options.last) {
    leave(std::move(*decided));
    leave(std::move(*loaded));
  }
  verdict.times.infer = seconds_since(infer_start);
  verdict.times.total = seconds_since(start);
  return verdict;
}

}  // namespace entangle::infer
