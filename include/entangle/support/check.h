// Invariants. ENTANGLE_CHECK(condition, "what broke") is on in every build: a broken invariant throws
// InternalError, which only the program's top level catches (exit code 4). It is never used for bad input.
#pragma once

#include <stdexcept>
#include <string>

namespace entangle::support {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* file, int line, const char* condition, const std::string& what);

}  // namespace entangle::support

#define ENTANGLE_CHECK(condition, what)                                        \
  do {                                                                         \
    if (!(condition)) [[unlikely]]                                             \
      ::entangle::support::fail_check(__FILE__, __LINE__, #condition, (what)); \
  } while (false)
