#include "attempt.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "definedness.h"
#include "failure.h"
#include "sizes.h"

namespace entangle::infer {
namespace {

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

// The lemma that said so, if one did.
const rules::Lemma* lemma_of(const egraph::Reason& reason, const rules::RuleSet& rules) {
  const bool lemma =
      reason.kind == egraph::Reason::Kind::lemma || reason.kind == egraph::Reason::Kind::normalise;
  return lemma ? &rules.lemmas()[reason.index] : nullptr;
}

// Two different types made equal mean that a lemma is wrong; two different constants that a lemma is, or that
// the manifest contradicts itself.
std::optional<support::Diagnostic> clash_error(Programs& programs, const Walk& walk,
                                               const relation::Manifest& manifest) {
  std::vector<egraph::Clash> clashes = programs.graph->clashes();
  clashes.insert(clashes.end(), walk.result().clashes.begin(), walk.result().clashes.end());
  for (const egraph::Clash& clash : clashes) {
    if (clash.kind == egraph::Clash::Kind::undecided) {
      continue;
    }
    const std::string what = clash.left + " and " + clash.right;
    const rules::Lemma* lemma = lemma_of(clash.reason, programs.graph->rules());
    if (clash.kind == egraph::Clash::Kind::type) {
      ENTANGLE_CHECK(lemma != nullptr, "an equality between tensors of different types: " + what + " (" +
                                           clash.reason.note + ")");
      return support::error(
          "infer/false-lemma", lemma->span,
          "the lemma `" + lemma->name + "` is false: it makes tensors of different types equal, " + what,
          "`entangle prove FILE --lemma " + lemma->name + "` looks for the smallest case");
    }
    const std::string by = lemma == nullptr ? "" : " (the last step is the lemma `" + lemma->name + "`)";
    return contradiction({manifest.file, 0, 0, 0}, what + " would be equal" + by);
  }
  return std::nullopt;
}

egraph::Counters lemmas_used(const Programs& programs, const Walk& walk) {
  egraph::Counters result = walk.result().counters;
  const std::vector<std::uint64_t>& normalised = programs.graph->normalised();
  for (std::uint32_t lemma = 0; lemma < normalised.size(); ++lemma) {
    result.add(lemma, {.normalised = normalised[lemma]});
  }
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
          programs.build(alternative, true);
          expressions.insert(programs.graph->last_made());
        }
      }
    }
    const TermId term = programs.term_at_start({std::nullopt, input.tensor});
    if (expressions.size() > 1 && term != kNoTerm) {
      result.push_back(term);
    }
  }
  return result;
}

std::vector<TermId> wanted_terms(const Programs& programs) {
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
  return wanted;
}

// The terms that must have relations: those in question, and what is drawn if its places are to be told from
// its relations.
std::vector<TermId> needed_relations(const Programs& programs, const Attempt& attempt) {
  std::vector<TermId> result;
  for (const Question& question : attempt.asked) {
    result.push_back(question.term);
  }
  if (programs.drawing == Drawing::alike) {
    for (const graph::Draw& draw : programs.lowered_sequential.draws) {
      result.push_back(draw.term);
    }
  }
  return result;
}

// Whether all questions are answered and nothing is left open; else with the operator that is to blame.
void judge(Programs& programs, Attempt& attempt, const Engine& engine, const egraph::Limits& limits) {
  bool all_ok = !attempt.asked.empty();
  Localisation localisation(programs, *attempt.walk, *attempt.answers, *engine.program, limits);
  std::optional<graph::NodeIndex> first_failing;
  std::size_t failing_question = 0;
  for (const Question& question : attempt.asked) {
    attempt.outputs.push_back(attempt.answers->answer(question));
    if (attempt.outputs.back().ok) {
      continue;
    }
    all_ok = false;
    const graph::NodeIndex at = localisation.culprit(question.node);
    if (!first_failing || at < *first_failing) {
      first_failing = at;
      failing_question = attempt.outputs.size() - 1;
    }
  }
  attempt.obligations = open_lookups(programs);
  attempt.obligations.insert(attempt.obligations.end(), attempt.impossible.begin(), attempt.impossible.end());
  attempt.kind = all_ok && attempt.obligations.empty() && !attempt.walk->result().out_of_time
                     ? VerdictKind::refines
                     : VerdictKind::unproved;
  if (first_failing) {
    attempt.failing =
        localisation.describe(attempt.asked[failing_question].node, attempt.outputs[failing_question]);
    if (attempt.walk->result().out_of_time) {
      attempt.failing = Failing{.at = attempt.failing->at,
                                .stopped = true,
                                .reason = "of it, and of what is computed from it, nothing is known yet",
                                .hints = {},
                                .chain = {},
                                .operands = attempt.failing->operands,
                                .considered = {}};
    }
  }
}

// Where sizes depend on data, walks to the operands that decide them first, and lowers both programs again
// under what follows, as long as there is anything.
// `counters` is told of the lemmas used. `known` was found before under the same facts; it includes what
// came from the folder.
support::Result<Attempt> attempt(Programs& programs, const relation::Manifest& manifest, const Engine& engine,
                                 const WalkOptions& options, const MemoFolder& folder,
                                 egraph::Counters& counters, std::optional<KeptSolutions> known = {}) {
  Attempt result;
  while (!programs.lowered_ranks.mismatch) {
    result.impossible = assume_sequential_lookups(programs);
    result.walk = std::make_unique<Walk>(*programs.joint, *programs.oracle, *engine.program, options);
    if (programs.drawing == Drawing::on_the_way && !programs.lowered_sequential.draws.empty()) {
      result.places = std::make_unique<PlacesOnTheWay>(programs, *result.walk);
      result.walk->call_before([&places = *result.places](TermId term) { return places.relate(term); });
    }
    if (known) {
      result.walk->memo().load(*known, false);
      known.reset();
    } else {
      folder.load(result.walk->memo(), programs);
    }
    result.walk->compare_alternatives(inputs_with_alternatives(programs));
    const std::vector<TermId> operands = operands_of_sizes(programs);
    if (operands.empty()) {
      break;
    }
    result.walk->run(operands, operands);
    if (auto error = clash_error(programs, *result.walk, manifest)) {
      return *error;
    }
    if (!find_sizes(programs)) {
      break;
    }
    counters.add(lemmas_used(programs, *result.walk));
    result.walk.reset();
    if (auto status = lower_again(programs, manifest, engine); !status) {
      return status.error();
    }
  }
  if (result.walk) {
    result.asked = questions(programs);
    result.wanted = wanted_terms(programs);
    result.walk->run(result.wanted, needed_relations(programs, result));
    if (result.walk->result().given_up) {
      return result;
    }
    if (auto error = clash_error(programs, *result.walk, manifest)) {
      return *error;
    }
    result.answers = std::make_unique<Outputs>(programs, *result.walk, *engine.program, options.limits);
    judge(programs, result, engine, options.limits);
    counters.add(lemmas_used(programs, *result.walk));
  }
  return result;
}

}  // namespace

support::Result<Attempt> decide(Programs& programs, const relation::Manifest& manifest, const Engine& engine,
                                const WalkOptions& options, const MemoFolder& folder,
                                egraph::Counters& counters) {
  auto result = attempt(programs, manifest, engine, options, folder, counters);
  // What sizes are found to be where all calls draw alike holds there only.
  const std::pair certain(programs.sizes, programs.found_sizes);
  // Lowers both programs again and makes another attempt, with what was found so far.
  const auto walk_again = [&](Drawing drawing) -> support::Status {
    std::optional<KeptSolutions> known = options.memo ? result->walk->memo().save() : std::nullopt;
    result = Attempt();  // it looks at the programs as they were
    const relation::Sizes sizes = programs.sizes;
    if (drawing == Drawing::matched) {
      programs.sizes = certain.first;
      programs.found_sizes = certain.second;
    }
    programs.drawing = drawing;
    if (auto status = lower_again(programs, manifest, engine); !status) {
      return status.error();
    }
    if (programs.sizes != sizes) {
      known.reset();  // the facts are others
    }
    result = attempt(programs, manifest, engine, options, folder, counters, std::move(known));
    return support::Unit{};
  };
  const bool draws = !programs.lowered_ranks.draws.empty() || !programs.lowered_sequential.draws.empty();
  if (!result || !result->walk || !draws || result->kind == VerdictKind::refines) {
    return result;
  }
  if (auto status = walk_again(Drawing::alike); !status) {
    return status.error();
  }
  // What is found where all draw alike is no verdict yet, even if there is no time left.
  if (!result || !result->walk || result->kind != VerdictKind::refines) {
    return result;
  }
  std::variant<Draws, Failing> matched = match_draws(programs, result->wanted);
  if (auto* failing = std::get_if<Failing>(&matched)) {
    result->kind = VerdictKind::unproved;
    result->failing = std::move(*failing);
    return result;
  }
  programs.draws = std::move(std::get<Draws>(matched));
  if (auto status = walk_again(Drawing::matched); !status) {
    return status.error();
  }
  if (result && result->failing) {
    result->failing->reason += " (it could be if equal elements of a tensor had one random mask)";
  }
  return result;
}

}  // namespace entangle::infer
