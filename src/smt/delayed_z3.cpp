#include "delayed_z3.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace entangle::smt {

void* function_of_z3(const char* name) {
  static void* const library = [] {
    // By its name, else where it was when the program was built.
    void* found = ::dlopen(ENTANGLE_Z3_NAME, RTLD_LAZY | RTLD_LOCAL);
    return found != nullptr ? found : ::dlopen(ENTANGLE_Z3_FILE, RTLD_LAZY | RTLD_LOCAL);
  }();
  void* const result = library == nullptr ? nullptr : ::dlsym(library, name);
  if (result == nullptr) {
    const char* reason = ::dlerror();
    throw std::runtime_error(std::string("the solver Z3 cannot be loaded: ") +
                             (reason == nullptr ? ENTANGLE_Z3_NAME : reason));
  }
  return result;
}

}  // namespace entangle::smt
