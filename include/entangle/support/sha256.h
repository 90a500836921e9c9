// SHA-256 (FIPS 180-4): for what must not be mistaken for something else, even by intent.
#pragma once

#include <string>
#include <string_view>

namespace entangle::support {

// The 32 bytes of the digest.
std::string sha256(std::string_view bytes);
// Two digits for each byte.
std::string to_hex(std::string_view bytes);

}  // namespace entangle::support
