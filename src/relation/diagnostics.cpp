#include "entangle/relation/diagnostics.h"

#include <array>
#include <utility>

namespace entangle::relation {

namespace {

constexpr std::array kProblems = {
    ProblemInfo{Problem::cannot_read, "relation/cannot-read",
                "The manifest, or a file it names, cannot be read."},
    ProblemInfo{Problem::yaml_syntax, "relation/yaml-syntax", "The manifest is not one YAML document."},
    ProblemInfo{Problem::not_a_mapping, "relation/not-a-mapping",
                "The manifest is not a mapping from keys to values."},
    ProblemInfo{Problem::unknown_key, "relation/unknown-key", "A key that manifests do not have."},
    ProblemInfo{Problem::duplicate_key, "relation/duplicate-key", "A key stands twice in one mapping."},
    ProblemInfo{Problem::missing_key, "relation/missing-key", "A key that every manifest needs is missing."},
    ProblemInfo{Problem::wrong_type, "relation/wrong-type", "A value is of another kind than its key needs."},
    ProblemInfo{Problem::bad_ranks, "relation/bad-ranks",
                "The number of ranks is missing or not a positive integer."},
    ProblemInfo{Problem::rank_count, "relation/rank-count",
                "Ranks, mesh and files disagree about the number of ranks."},
    ProblemInfo{Problem::bad_mesh, "relation/bad-mesh", "A placement per mesh axis does not fit the mesh."},
    ProblemInfo{Problem::bad_placement, "relation/bad-placement",
                "A placement is none of Replicate, Shard(d), Partial."},
    ProblemInfo{Problem::bad_assumption, "relation/bad-assumption", "A line of `assume` cannot be read."},
    ProblemInfo{Problem::bad_expression, "relation/bad-expression", "An expression cannot be read."},
    ProblemInfo{Problem::not_clean, "relation/not-clean", "An expression uses an operator that computes."},
    ProblemInfo{Problem::missing_operator, "relation/missing-operator",
                "The rules lack an operator that a placement is written with."},
    ProblemInfo{Problem::unknown_rank, "relation/unknown-rank",
                "An expression names a rank that does not exist."},
    ProblemInfo{Problem::unknown_leaf, "relation/unknown-leaf",
                "A tensor that does not exist in that rank's graph."},
    ProblemInfo{Problem::unknown_tensor, "relation/unknown-tensor",
                "A tensor that the sequential graph does not have."},
    ProblemInfo{Problem::unknown_output, "relation/unknown-output",
                "A tensor under `outputs` or `expect` that the sequential graph does not have."},
    ProblemInfo{Problem::no_match, "relation/no-match", "A glob that matches no name."},
    ProblemInfo{Problem::not_an_input, "relation/not-an-input",
                "An entry under `inputs` for a computed tensor."},
    ProblemInfo{Problem::computed_leaf, "relation/computed-leaf",
                "An input relation that uses a tensor the distributed program computes."},
    ProblemInfo{Problem::bad_axis, "relation/bad-axis",
                "A placement shards an axis that the tensor does not have."},
    ProblemInfo{Problem::ill_typed, "relation/ill-typed",
                "An expression whose operands do not fit together."},
    ProblemInfo{Problem::shape_mismatch, "relation/shape-mismatch",
                "A relation between tensors of different shapes."},
    ProblemInfo{Problem::dtype_mismatch, "relation/dtype-mismatch",
                "A relation between tensors of different element types."},
    ProblemInfo{Problem::used_twice, "relation/used-twice", "An input relation that uses one element twice."},
    ProblemInfo{Problem::claimed_twice, "relation/claimed-twice",
                "Two sequential inputs that claim the same distributed elements."},
    ProblemInfo{Problem::unknown_name, "relation/unknown-name",
                "A name in `assume` that is neither a tensor nor a symbol of a size."},
    ProblemInfo{Problem::not_an_integer_tensor, "relation/not-an-integer-tensor",
                "A value range for a tensor that does not hold integers."},
    ProblemInfo{Problem::contradiction, "relation/contradiction",
                "The assumptions about sizes contradict each other."},
    ProblemInfo{Problem::several_results, "relation/several-results",
                "A node with several results, or none, where one tensor is meant."},
    ProblemInfo{Problem::missing_relation, "relation/missing-relation",
                "A sequential input on which an output in question depends has no relation."},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kProblems.size(); ++i) {
    if (static_cast<std::size_t>(kProblems[i].problem) != i) return false;
  }
  return true;
}
static_assert(in_order() && kProblems.size() == static_cast<std::size_t>(Problem::missing_relation) + 1);

}  // namespace

std::span<const ProblemInfo> problems() {
  return kProblems;
}

support::Diagnostic error(Problem problem, support::Span span, std::string message, std::string suggestion) {
  return support::error(std::string(kProblems[static_cast<std::size_t>(problem)].id), span,
                        std::move(message), std::move(suggestion));
}

}  // namespace entangle::relation
