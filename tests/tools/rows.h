// What operators without a `value` clause compute: the row-wise functions of rules/core.rules, by kind.
#pragma once

#include <optional>

#include "entangle/eval/floating.h"

namespace entangle::tools {

// nullopt for what is not known here.
std::optional<eval::RealArray> row_wise(const eval::Application& application);

}  // namespace entangle::tools
