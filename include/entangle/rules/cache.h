// Loaded rule sets kept on disk: parsing and resolving the whole library takes longer than checking a model.
//
// An entry is found by the paths and folders it was loaded for and by the running program; it is used only if
// every file that was read then has the same contents now, and no file has appeared where one was looked for
// in vain. Entries that are stale, damaged or written by another program are ignored and replaced. Nothing is
// ever reported: without a cache, or where it cannot be written, the rules are loaded as always. Only rule
// sets without errors and warnings are kept. Safe for concurrent use.
//
// One entry may come with the library itself, so that the first program that asks for it finds it: it speaks
// of files below the library's root, wherever that is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/support/paths.h"

namespace entangle::rules {

// As load_rules; `cache_folder` is made when it does not exist, "" is no cache.
Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                  const std::string& cache_folder, const support::ShippedLibrary& library = {});

// Loads the rules of a library and writes the entry that comes with it. Also an error: that it cannot be
// written, or that the rules are not all below the root.
Loaded compile_library(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                       const support::ShippedLibrary& library);

// A rule set as bytes, without the texts of its files. Nothing if it holds what has no such form.
std::optional<std::string> to_bytes(const RuleSet& rules);
// The rule set again, for files registered in the same order; its lowerings are decoded when they are asked
// for. Null if the bytes are no rule set.
std::shared_ptr<const RuleSet> from_bytes(std::string bytes, const std::vector<support::FileId>& files);

}  // namespace entangle::rules
