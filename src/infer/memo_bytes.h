// Solutions of local problems as bytes and back.
#pragma once

#include <optional>
#include <string>

#include "memo.h"

namespace entangle::infer {

std::string to_bytes(const KeptSolutions& kept);
// Nothing where the bytes are no such thing. Whether a solution fits a problem is for the reader to check.
std::optional<KeptSolutions> solutions_from_bytes(const std::string& bytes);

// Nothing where it holds what has no such form.
std::optional<std::string> to_bytes(const Solution& solution);
std::optional<Solution> solution_from_bytes(const std::string& bytes);

}  // namespace entangle::infer
