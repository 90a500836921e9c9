// The scalar functions of the rule library in floating point, by name.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "entangle/tensor/attr.h"

namespace entangle::eval {

// Attributes first, then elements, as a `value` clause applies them; nullopt: nothing is known of it.
std::optional<double> scalar_function(const std::string& name,
                                      const std::vector<std::variant<double, tensor::Attr>>& arguments);

}  // namespace entangle::eval
