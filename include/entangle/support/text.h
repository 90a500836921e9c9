// Small functions on text. Pure; safe for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace entangle::support {

// The parts with `separator` between them.
std::string join(const std::vector<std::string>& parts, std::string_view separator);
// "a", "a and b", "a, b and c" (with `last` = " and ").
std::string join_list(const std::vector<std::string>& parts, std::string_view last = " and ");
// "1 file", "2 files".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);
// The parts between separators; always at least one part.
std::vector<std::string> split(std::string_view text, char separator);
// Without white space at either end.
std::string_view trim(std::string_view text);

}  // namespace entangle::support
