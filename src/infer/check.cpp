#include "entangle/infer/check.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>

#include "definedness.h"
#include "drawn.h"
#include "failure.h"
#include "memo_folder.h"
#include "outputs.h"
#include "programs.h"
#include "sizes.h"
#include "walk.h"

namespace entangle::infer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestLimit = 1e9;  // seconds
constexpr std::chrono::milliseconds kUntilProgress(500);
constexpr std::chrono::milliseconds kBetweenProgress(100);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<Question> questions(const Programs& programs) {
  std::vector<Question> result;
  const graph::Graph& graph = programs.sequential_graph();
  for (const graph::NodeIndex node : programs.resolved.outputs) {
    const graph::LoweredNode& lowered = programs.lowered_sequential.nodes[0][node];
    for (std::uint32_t k = 0; k < lowered.results.size(); ++k) {
      Question question;
      question.node = node;
      question.tensor = graph.nodes[node].name;
      if (graph.nodes[node].several) {
        question.tensor += "[" + std::to_string(k) + "]";
      }
      question.term = lowered.results[k];
      question.is_output = std::ranges::find(graph.outputs, node) != graph.outputs.end();
      if (const relation::Related* expected = programs.resolved.expected(node)) {
        for (const relation::RelatedForm& form : expected->forms) {
          for (const relation::Clean& clean : form.expansion.alternatives) {
            question.expected.push_back(
                {clean, relation::to_string(clean, programs.graph->rules()), form.mismatch});
          }
        }
      }
      if (question.term != kNoTerm) {
        result.push_back(std::move(question));
      }
    }
  }
  return result;
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

std::vector<std::string> opaque_operators(const Programs& programs) {
  std::set<std::string> result;
  for (const graph::Lowered* lowered : {&programs.lowered_sequential, &programs.lowered_ranks}) {
    result.insert(lowered->opaque_ops.begin(), lowered->opaque_ops.end());
    for (const graph::BlockedUse& use : lowered->blocked) {
      result.insert(lowered->node(use.at).op + ": " + use.reason);
    }
  }
  return {result.begin(), result.end()};
}

std::vector<LemmaUse> lemma_uses(const rules::RuleSet& rules, const std::vector<std::uint64_t>& counts) {
  std::vector<LemmaUse> uses;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) {
      uses.push_back({rules.lemmas()[k].name, counts[k]});
    }
  }
  std::ranges::sort(uses, [](const LemmaUse& a, const LemmaUse& b) {
    return std::tuple(~a.applied, a.name) < std::tuple(~b.applied, b.name);
  });
  return uses;
}

void report_mismatch(const Programs& programs, Verdict& verdict) {
  const graph::Mismatch& mismatch = *programs.lowered_ranks.mismatch;
  verdict.kind = VerdictKind::violates;
  CollectiveMismatch report;
  report.reason = mismatch.message;
  for (const graph::Mismatch::Place& at : mismatch.places) {
    Place place;
    place.rank = static_cast<int>(at.rank);
    if (at.node != graph::kNoNode) {
      const graph::Node& node = programs.ranks[at.rank].nodes[at.node];
      place.tensor = node.name;
      place.op = node.op;
      place.loc = node.loc;
    }
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
    walk.run({term});
    verdict.relations.emplace_back(programs.lowered_sequential.describe(tensor), outputs.relations(term));
  }
}

std::string describe(const egraph::Reason& reason, const rules::RuleSet& rules) {
  const bool lemma =
      reason.kind == egraph::Reason::Kind::lemma || reason.kind == egraph::Reason::Kind::normalise;
  return lemma ? "lemma " + rules.lemmas()[reason.index].name : reason.note;
}

// Two different constants made equal mean that the manifest contradicts itself; two different types mean that
// a lemma is wrong.
std::optional<support::Diagnostic> clash_error(Programs& programs, const Walk& walk,
                                               const relation::Manifest& manifest) {
  std::vector<egraph::Clash> clashes = programs.graph->clashes();
  clashes.insert(clashes.end(), walk.result().clashes.begin(), walk.result().clashes.end());
  for (const egraph::Clash& clash : clashes) {
    const std::string what = clash.left + " and " + clash.right;
    if (clash.kind == egraph::Clash::Kind::constant) {
      return contradiction(manifest, what + " would be equal");
    }
    ENTANGLE_CHECK(clash.kind != egraph::Clash::Kind::type,
                   "an equality between tensors of different types: " + what + " (by " +
                       describe(clash.reason, programs.graph->rules()) + ")");
  }
  return std::nullopt;
}

egraph::Counters lemmas_used(const Programs& programs, const Walk& walk) {
  egraph::Counters result;
  result.normalised = programs.graph->normalised();
  result.add(walk.result().counters);
  return result;
}

// Inputs that the manifest relates to expressions over different tensors. (What it says to be copies of one
// tensor is one leaf.)
std::vector<TermId> inputs_with_alternatives(Programs& programs) {
  std::vector<TermId> result;
  for (const relation::Related& input : programs.resolved.inputs) {
    std::set<TermId> expressions;
    for (const relation::RelatedForm& form : input.forms) {
      for (const relation::Clean& alternative : form.expansion.alternatives) {
        if (!alternative.is_leaf()) {
          programs.build(alternative);
          expressions.insert(programs.graph->last_made());
        }
      }
    }
    const TermId term = programs.term({std::nullopt, input.tensor});
    if (expressions.size() > 1 && term != kNoTerm) {
      result.push_back(term);
    }
  }
  return result;
}

// The walk of a check, and what other walks before it were for.
struct Start {
  std::unique_ptr<Walk> walk;           // none where the ranks disagree on a collective
  std::vector<std::string> impossible;  // look-ups of the sequential program that are never in range
  egraph::Counters earlier;             // what the sizes rest on under which the programs were lowered again
};

// Where sizes depend on data, walks to the operands that decide them first, and lowers both programs again
// under what follows, as long as there is anything.
support::Result<Start> start_walk(Programs& programs, const relation::Manifest& manifest,
                                  const Engine& engine, const WalkOptions& options,
                                  const MemoFolder& folder) {
  Start start;
  while (!programs.lowered_ranks.mismatch) {
    start.impossible = assume_sequential_lookups(programs);
    start.walk = std::make_unique<Walk>(*programs.joint, *programs.oracle, *engine.program, options);
    folder.load(start.walk->memo(), programs);
    start.walk->compare_alternatives(inputs_with_alternatives(programs));
    const std::vector<TermId> operands = operands_of_sizes(programs);
    if (operands.empty()) {
      break;
    }
    start.walk->run(operands);
    if (auto error = clash_error(programs, *start.walk, manifest)) {
      return *error;
    }
    if (!find_sizes(programs)) {
      break;
    }
    start.earlier.add(lemmas_used(programs, *start.walk));
    start.walk.reset();
    if (auto status = lower_again(programs, manifest, engine); !status) {
      return status.error();
    }
  }
  return start;
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
  WalkOptions walk_options;
  egraph::Limits limits = options.limits;
  if (options.time_limit) {
    // More than the clock can count is no limit.
    const std::chrono::duration<double> limit(std::min(*options.time_limit, kLongestLimit));
    limits.expired = [end = start + std::chrono::duration_cast<Clock::duration>(limit)] {
      return Clock::now() > end;
    };
  }
  walk_options.limits = limits;
  walk_options.memo = options.memo;
  if (options.progress) {
    walk_options.progress = [&programs, &options, last = start + kUntilProgress - kBetweenProgress](
                                std::size_t done, std::size_t total, TermId next) mutable {
      const auto now = Clock::now();
      if (now - last >= kBetweenProgress) {
        last = now;
        options.progress(done, total, programs.names->place(next).tensor);
      }
    };
  }
  auto started = start_walk(programs, manifest, engine, walk_options, folder);
  if (!started) {
    return started.error();
  }
  verdict.times.lower = programs.lower_seconds;
  if (!started->walk) {
    report_mismatch(programs, verdict);
    verdict.times.total = seconds_since(start);
    return verdict;
  }
  Walk& walk = *started->walk;
  const std::vector<Question> asked = questions(programs);
  std::vector<TermId> wanted;
  const graph::Graph& graph = programs.sequential_graph();
  for (const graph::NodeIndex node : needed_nodes(programs, programs.resolved.outputs)) {
    // Of several results those that are used have nodes of their own.
    if (graph.nodes[node].several &&
        std::ranges::find(programs.resolved.outputs, node) == programs.resolved.outputs.end()) {
      continue;
    }
    for (const TermId term : programs.lowered_sequential.nodes[0][node].results) {
      if (term != kNoTerm) {
        wanted.push_back(term);
      }
    }
  }
  walk.run(wanted);
  if (auto error = clash_error(programs, walk, manifest)) {
    return *error;
  }

  Outputs outputs(programs, walk, *engine.program, limits);
  bool all_ok = !asked.empty();
  Localisation localisation(programs, walk, outputs);
  std::optional<graph::NodeIndex> first_failing;
  std::size_t failing_question = 0;
  for (const Question& question : asked) {
    verdict.outputs.push_back(outputs.answer(question));
    if (verdict.outputs.back().ok) {
      continue;
    }
    all_ok = false;
    const graph::NodeIndex at = localisation.culprit(question.node);
    if (!first_failing || at < *first_failing) {
      first_failing = at;
      failing_question = verdict.outputs.size() - 1;
    }
  }
  verdict.obligations = open_lookups(programs);
  verdict.obligations.insert(verdict.obligations.end(), started->impossible.begin(),
                             started->impossible.end());
  verdict.kind = all_ok && verdict.obligations.empty() && !walk.result().out_of_time ? VerdictKind::refines
                                                                                     : VerdictKind::unproved;
  if (verdict.kind == VerdictKind::refines) {
    verdict.failing = drawn_apart(programs, wanted, asked);
    verdict.kind = verdict.failing ? VerdictKind::unproved : VerdictKind::refines;
  }
  if (first_failing) {
    verdict.failing = localisation.describe(asked[failing_question].node, verdict.outputs[failing_question]);
  }
  if (verdict.kind != VerdictKind::refines) {
    report_limits(programs, walk, verdict);
  }
  verdict.assumptions = assumptions(programs);
  verdict.opaque = opaque_operators(programs);
  egraph::Counters counters = started->earlier;
  counters.add(lemmas_used(programs, walk));
  verdict.lemmas = lemma_uses(*engine.rules, counters.applied);
  verdict.normalised = lemma_uses(*engine.rules, counters.normalised);
  if (options.all_relations) {
    report_relations(programs, walk, outputs, verdict);
  }
  folder.keep(walk.memo(), programs);
  const graph::Graph& sequential = programs.sequential_graph();
  for (const graph::NodeIndex output : sequential.outputs) {
    const TermId term = programs.lowered_sequential.term({0, output, 0});
    const bool asked_for = std::ranges::any_of(
        asked, [&](const Question& q) { return q.tensor == sequential.nodes[output].name; });
    if (term != kNoTerm && !asked_for && !walk.resolved(term)) {
      verdict.unrelated.push_back(sequential.nodes[output].name);
    }
  }
  verdict.statistics.sequential_operators = walk.result().operators;
  verdict.statistics.distributed_operators = programs.joint->distributed_end();
  verdict.statistics.by_lookup = walk.result().by_lookup;
  verdict.statistics.local_problems = walk.result().problems;
  verdict.statistics.by_memo = walk.result().by_memo;
  verdict.statistics.carried = walk.result().solved_across.size();
  verdict.statistics.largest_egraph = walk.result().largest;
  const smt::Statistics& asked_of_solver = programs.oracle->statistics();
  verdict.statistics.conditions = asked_of_solver.asked;
  verdict.statistics.conditions_by_solver = asked_of_solver.solver;
  verdict.statistics.conditions_unknown = asked_of_solver.unknown;
  if (verdict.kind == VerdictKind::refines || !options.time_limit) {
    folder.keep(verdict, programs);
  }
  verdict.times.infer = seconds_since(infer_start);
  verdict.times.total = seconds_since(start);
  return verdict;
}

}  // namespace entangle::infer
