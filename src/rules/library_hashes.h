// Hashes (support::hash_bytes) of the files of the rule library as they were when the program was built,
// ascending. The build makes them.
#pragma once

#include <cstdint>
#include <vector>

namespace entangle::rules {

const std::vector<std::uint64_t>& library_hashes();

}  // namespace entangle::rules
