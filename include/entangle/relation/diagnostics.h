// Every diagnostic of this module: the table from which docs and tests know that none lacks an example.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "entangle/support/diagnostic.h"

namespace entangle::relation {

enum class Problem : std::uint8_t {
  cannot_read,
  yaml_syntax,
  not_a_mapping,
  unknown_key,
  duplicate_key,
  missing_key,
  wrong_type,
  bad_ranks,
  rank_count,
  bad_mesh,
  bad_placement,
  bad_assumption,
  bad_expression,
  not_clean,
  missing_operator,
  unknown_rank,
  unknown_leaf,
  unknown_tensor,
  unknown_output,
  no_match,
  not_an_input,
  computed_leaf,
  bad_axis,
  ill_typed,
  shape_mismatch,
  dtype_mismatch,
  used_twice,
  claimed_twice,
  unknown_name,
  not_an_integer_tensor,
  contradiction,
  several_results,
  missing_relation,
};

struct ProblemInfo {
  Problem problem;
  std::string_view id;       // relation/unknown-key
  std::string_view meaning;  // one sentence for the documentation
};

// In the order of Problem.
std::span<const ProblemInfo> problems();

support::Diagnostic error(Problem problem, support::Span span, std::string message,
                          std::string suggestion = {});

}  // namespace entangle::relation
