#include "entangle/smt/query_cache.h"

#include <fstream>
#include <sstream>

#include "entangle/support/hash.h"
#include "entangle/support/output_file.h"

namespace entangle::smt {

QueryCache& QueryCache::shared() {
  static QueryCache cache;
  return cache;
}

support::Status QueryCache::load(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::ifstream in(path);
  if (!in) return support::Unit{};
  std::string version;
  std::getline(in, version);
  // Another solver's answers are no answers.
  if (version != solver_version()) return support::Unit{};
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Key key;
    std::string answer;
    if (!(fields >> std::hex >> key.first >> key.second >> answer) ||
        (answer != "unsat" && answer != "sat" && answer != "unknown")) {
      return support::error("smt/cache", {}, "`" + path + "` is not a file of answers");
    }
    answers_[key] = answer == "unsat" ? Answer::unsat : answer == "sat" ? Answer::sat : Answer::unknown;
  }
  return support::Unit{};
}

support::Status QueryCache::save(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  std::ostringstream text;
  text << solver_version() << "\n" << std::hex;
  for (const auto& [key, answer] : answers_) {
    text << key.first << " " << key.second << " " << to_string(answer) << "\n";
  }
  return support::write_file(path, std::move(text).str());
}

Answer QueryCache::implies(Solver& solver, const Term& conclusion, std::uint32_t steps) {
  if (!on_) return solver.check_implies(conclusion);
  const std::string text =
      solver.to_smtlib() + "\n; implies " + to_string(conclusion) + "\n; within " + std::to_string(steps);
  const Key key = {support::hash_bytes(text), support::hash_bytes("second " + text)};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = answers_.find(key); found != answers_.end()) return found->second;
  }
  const Answer answer = solver.check_implies(conclusion);
  if (solver.gave_up()) return answer;
  const std::lock_guard lock(mutex_);
  answers_[key] = answer;
  return answer;
}

}  // namespace entangle::smt
