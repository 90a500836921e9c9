// Verdicts as bytes and back.
#pragma once

#include <optional>
#include <string>

#include "entangle/infer/verdict.h"

namespace entangle::infer {

// Without times. Nothing for a verdict with warnings: these point into files that a reader has not
// registered.
std::optional<std::string> to_bytes(const Verdict& verdict);
// Nothing where the bytes are no verdict.
std::optional<Verdict> verdict_from_bytes(const std::string& bytes);

}  // namespace entangle::infer
