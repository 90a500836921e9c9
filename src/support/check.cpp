#include "entangle/support/check.h"

#include <string>

namespace entangle::support {

void fail_check(const char* file, int line, const char* condition, const std::string& what) {
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": " + what + " (" + condition + ")");
}

}  // namespace entangle::support
