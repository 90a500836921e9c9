#include "entangle/rules/library.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>

#include "entangle/support/hash.h"
#include "rules/library_hashes.h"

namespace entangle::rules {

bool is_of_library(support::FileId file) {
  static std::mutex mutex;
  static std::map<support::FileId, bool> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(file);
  if (found != known.end()) return found->second;
  const auto& hashes = library_hashes();
  const bool is = std::ranges::binary_search(hashes, support::hash_bytes(support::source_text(file)));
  return known.emplace(file, is).first->second;
}

std::string place_of(const support::Span& span) {
  const std::string& path = support::source_path(span.file);
  return (is_of_library(span.file) ? std::filesystem::path(path).filename().string() : path) + ":" +
         std::to_string(span.line);
}

}  // namespace entangle::rules
