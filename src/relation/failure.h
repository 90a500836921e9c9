// How errors travel inside this module: thrown as a Failure, turned into a Result where a public function
// ends.
#pragma once

#include <string>
#include <utility>

#include "entangle/relation/diagnostics.h"

namespace entangle::relation {

struct Failure {
  support::Diagnostic diagnostic;
};

[[noreturn]] inline void fail(Problem problem, support::Span span, std::string message,
                              std::string suggestion = {}) {
  throw Failure{error(problem, span, std::move(message), std::move(suggestion))};
}

// The value of `compute()`, or the diagnostic of the Failure it throws.
template <class Compute>
auto guarded(Compute&& compute) -> support::Result<decltype(compute())> {
  try {
    return compute();
  } catch (Failure& failure) {
    return std::move(failure.diagnostic);
  }
}

// The value of a result, or a Failure with its diagnostic.
template <class T>
T unwrap(support::Result<T> result) {
  if (!result) throw Failure{std::move(result.error())};
  return std::move(result.value());
}

}  // namespace entangle::relation
