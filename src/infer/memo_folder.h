// MemoFolder: where what a check has found waits for the next check of the same manifest.
//
// There are two files for each manifest: its verdict, for the case that nothing has changed at all, and the
// solutions of its local problems. Both serve the same rules, build of the program and options only; the
// verdict the same manifest and graphs, byte for byte; the solutions the same number of ranks and facts about
// sizes. What cannot be read or written costs time, never an answer.
#pragma once

#include <optional>
#include <string>

#include "entangle/infer/check.h"
#include "memo.h"
#include "programs.h"
#include "walk.h"

namespace entangle::infer {

class MemoFolder {
 public:
  // All outlive it.
  MemoFolder(const CheckOptions& options, const relation::Manifest& manifest, const rules::RuleSet& rules);

  // The verdict, if it is known.
  std::optional<Verdict> verdict() const;
  // Of the programs as they were read.
  void keep(const Verdict& verdict, const Programs& programs) const;

  // Before the memo is asked for anything.
  void load(Memo& memo, const Programs& programs) const;
  void keep(const Memo& memo, const Programs& programs) const;

 private:
  std::string path(const char* kind) const;
  std::string owner_of_solutions(const Programs& programs) const;
  // Of a verdict, with the digest of each graph in the order of the ranks, the sequential one first.
  std::string owner_of_verdict(const std::vector<std::string>& digests) const;
  void warn(support::Diagnostic diagnostic) const;

  const CheckOptions& options_;
  const relation::Manifest& manifest_;
  std::string whose_;   // the manifest's path; "": nothing is kept
  std::string common_;  // what every owner begins with
};

}  // namespace entangle::infer
