// Files for what can be computed again: what one says is used only for the owner that it was written for.
//
// The owner is a text that names everything the contents depend on; it stands in the file and is compared in
// full. A digest covers the whole file. All this is against accidents: whoever can write the file as its
// owner can say anything.
#pragma once

#include <optional>
#include <string>

#include "entangle/support/diagnostic.h"

namespace entangle::infer {

// Nothing: there is no such file, or it is another owner's. An error: it is damaged, or others may have
// written it.
support::Result<std::optional<std::string>> read_kept(const std::string& path, const std::string& owner);
// In place of what is there; readers see the one or the other. Makes the folder if there is none.
support::Status write_kept(const std::string& path, const std::string& owner, const std::string& contents);

}  // namespace entangle::infer
