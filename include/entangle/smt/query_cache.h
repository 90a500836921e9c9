// Answers of the solver, remembered by the text of the question: an answer is a function of the question, the
// limit and the solver's version alone, so nothing depends on whether it was remembered.
//
// Off by default; while on, the oracle's questions go through it, too. It may be kept in a file. Safe for
// concurrent use.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "entangle/smt/solver.h"
#include "entangle/support/diagnostic.h"

namespace entangle::smt {

class QueryCache {
 public:
  static QueryCache& shared();

  void enable(bool on) { on_ = on; }
  // Reads answers, if there is such a file.
  support::Status load(const std::string& path);
  // Writes all answers.
  support::Status save(const std::string& path) const;
  // Whether the assertions of the solver imply the conclusion: unsat means yes.
  Answer implies(Solver& solver, const Term& conclusion, std::uint32_t steps);

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  mutable std::mutex mutex_;
  std::atomic<bool> on_ = false;
  std::map<Key, Answer> answers_;
};

}  // namespace entangle::smt
