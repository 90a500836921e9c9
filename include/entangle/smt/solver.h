// The solver. Answers are reproducible: limits count solver steps, seeds are fixed, and each Solver has a
// context of its own, so that nothing depends on what was asked before elsewhere. Steps do not bound all that
// Z3 does, so there is a limit on the time that passes, too, far above what the steps take; it can only turn
// an answer into `unknown`.
//
// Z3 is first touched by the first check() of a process: creating a Solver and adding to it costs nothing. A
// Solver is used by one thread at a time; different ones are independent.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "entangle/smt/term.h"

namespace entangle::smt {

enum class Answer : std::uint8_t { sat, unsat, unknown };

std::string to_string(Answer answer);

struct Limits {
  std::uint32_t steps = 2'000'000;                // Z3's rlimit, per check; 0: none
  std::optional<std::chrono::milliseconds> time;  // that may pass, per check; a minute if not given
  std::uint32_t seed = 0;
};

// What a satisfiable check found. Keeps what it needs alive; not for concurrent use, also not with its
// Solver.
class Model {
 public:
  // The value of a number (also of applications); what the model leaves open is completed. None when the
  // value is not of that form: too large, or irrational.
  std::optional<std::int64_t> integer(const Term& term) const;
  std::optional<mpq_class> rational(const Term& term) const;

  struct Impl;
  explicit Model(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

// How long a thread waits for the solvers that it asks: while there is one, all checks of the thread have to
// end within its time, and after one that was given up none is tried.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Patience(std::optional<std::chrono::milliseconds> total = {});
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // The innermost of this thread, if any.
  static Patience* current();
  Clock::duration rest() const;
  bool is_lost() const { return rest() <= Clock::duration::zero(); }
  void lose();
  std::chrono::seconds passed() const {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_);
  }

 private:
  Patience* outer_;
  Clock::time_point start_;
  std::optional<Clock::time_point> end_;
  bool lost_ = false;
};

class Solver {
 public:
  explicit Solver(Limits limits = {});
  ~Solver();

  void add(const Term& assertion);
  void push();
  void pop(unsigned levels = 1);

  // Whether the assertions have a model.
  Answer check();
  // Whether the assertions imply it: unsat means yes.
  Answer check_implies(const Term& conclusion);

  // After `unknown`: the solver's reason, e.g. "max. resource limit exceeded"; "" otherwise.
  const std::string& reason() const;
  // Whether that is because of the time it took: then the answer says nothing of the question.
  bool gave_up() const;
  // After `sat`.
  Model model() const;
  // Steps spent by the last check.
  std::uint64_t steps() const;

  // The assertions as SMT-LIB text, for caching and for reports; needs no solver.
  std::string to_smtlib() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// `Z3 4.8.12`, for keys of cached answers.
std::string solver_version();
// Whether a check that could not be interrupted is still running: such a process has to end without cleaning
// up.
bool solver_left_behind();
// Whether this process has created a solver context yet.
bool solver_was_used();

}  // namespace entangle::smt
