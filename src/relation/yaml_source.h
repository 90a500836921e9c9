// YAML nodes with their places in the registered source.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

#include "entangle/relation/manifest.h"
#include "entangle/support/diagnostic.h"

namespace entangle::relation {

// The place of a node: of the characters of a scalar that stands on one line as it is, else of its first
// character.
support::Span span_of(const YAML::Node& node, support::FileId file);
support::Span span_of(const YAML::Mark& mark, support::FileId file);
// A scalar with its place.
Text text_of(const YAML::Node& node, support::FileId file);
// `a mapping`, `a list`, `an empty value`, `` `3` ``: for messages.
std::string describe(const YAML::Node& node);
// The one document of a registered source; throws Failure.
YAML::Node load_document(support::FileId file);

}  // namespace entangle::relation
