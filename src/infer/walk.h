// The walk over the sequential program: relations are inferred operator by operator, in topological order.
//
// An operator whose class already holds a tensor of the distributed program (the distributed program has the
// same application of equal operands) is resolved at once. Otherwise a local problem is built and saturated:
// first with small windows, then with wider ones, then with the definitions of the resolved operands
// re-opened. An operator that stays unresolved is carried: its definition is part of its consumers' problems,
// up to a number of carried definitions, since a distributed program may compute in another order. Large
// problems are put off until it shows that they are needed.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "entangle/egraph/saturate.h"
#include "memo.h"

namespace entangle::infer {

struct WalkOptions {
  egraph::Limits limits;
  std::size_t most_carried = 16;
  bool memo = true;
  // Called before each operator: how many are done, of how many, and which is next.
  std::function<void(std::size_t done, std::size_t total, TermId next)> progress = {};
};

struct WalkResult {
  std::vector<TermId> unresolved;  // sequential terms without a relation, ascending
  std::set<TermId> solved_across;  // unresolved, but a consumer was resolved in spite of it
  std::uint64_t operators = 0, by_lookup = 0, problems = 0, largest = 0;
  std::uint64_t by_memo = 0;      // of the problems, those that were equal to an earlier one
  std::vector<TermId> limit_hit;  // unresolved terms one of whose problems stopped at a limit
  bool out_of_time = false;
  bool given_up = false;
  egraph::Counters counters;
  std::vector<egraph::Clash> clashes;  // of the local problems
};

class Walk {
 public:
  Walk(Joint& joint, smt::Oracle& oracle, const egraph::Program& program, const WalkOptions& options);

  // Several expressions are known to equal each of the inputs: finds which tensors are equal for that reason
  // (of two concatenations of equal blocks, the blocks).
  void compare_alternatives(const std::vector<TermId>& inputs);
  // Is called before each term is resolved, when all it depends on has been tried. False: the walk is given
  // up.
  void call_before(std::function<bool(TermId)> before) { before_ = std::move(before); }
  // Resolves the sequential terms (ids as first built) and all they depend on, with large problems only where
  // it has to be: for `asked`, for what more depends on than can be carried, and for everything if one of
  // `asked` stays unresolved.
  void run(const std::vector<TermId>& wanted, const std::vector<TermId>& asked);
  Memo& memo() { return memo_; }
  const WalkResult& result() const { return result_; }
  WalkResult& result() { return result_; }
  // How what a sequential call draws would be made of what calls of the ranks like it draw, if all calls drew
  // at one place: none where it is not found. The leaves are numbers of `terms`, applications of the ranks
  // that may be used.
  struct Drawn {
    std::vector<relation::CleanTermPtr> relations;
    std::vector<TermId> terms;
  };
  Drawn drawn_alike(TermId term, const std::function<bool(TermId)>& may_be_used);
  // Puts an application of the sequential program into an empty selection: its definition, those that it
  // carries, and its operands.
  void select(TermId term, Selection& selection);
  // Distributed operators that the last problem for an unresolved term looked at.
  std::vector<TermId> considered(TermId term);
  bool resolved(TermId term) { return joint_.resolved(term); }
  // Whether the limits have expired; from then on nothing is solved any more.
  bool out_of_time();

  struct Reach;

 private:
  // Attempts at one term: the applications each was made of, ascending, and how far it was taken; at the end
  // nothing new comes, and more effort finds no more.
  enum class Taken : std::uint8_t { little, far, to_the_end };
  using Tried = std::map<std::vector<TermId>, Taken>;
  // The attempts that are made when the walk meets a term, and those that wait until they are needed: all of
  // them, or those with little effort.
  enum class Stage : std::uint8_t { at_once, put_off_small, put_off };
  // Whether one of them resolves the term.
  bool solve(TermId term, Stage stage);
  // Makes the attempts that were put off; with `again` all of them, if the term would carry other definitions
  // now. Whether it is resolved by that.
  bool settle(TermId term, bool again, Stage stage);
  // The same of terms in ascending order; whether any is resolved by that. With full effort only those that
  // carry nothing, and those that no other carries, be it `above`, which was settled before: the problems of
  // these hold those of what is between.
  bool settle_all(const std::vector<TermId>& terms, std::optional<TermId> above = {});
  // Settles a term, and if that does not do what it depends on.
  void settle_with_operands(TermId term);
  // What the applications are computed from, but for one another.
  void add_operands(const std::vector<TermId>& terms, Selection& selection) const;
  // None is made if it would be of more than `most` applications.
  bool attempt(TermId term, const std::vector<TermId>& carried, const Reach& reach, std::size_t most,
               Tried& tried);
  // What saturation shows about the terms; from the memo if an equal problem was solved before.
  const Solution& solution_of(const Selection& selection, const std::vector<TermId>& terms, Effort effort,
                              Leaves leaves);
  // The unresolved definitions below `term`; nothing when there are too many.
  std::optional<std::vector<TermId>> carried_by(TermId term);
  // The unresolved applications below `term`, ascending; some of them if there are more than `enough`.
  std::vector<TermId> unresolved_below(TermId term,
                                       std::size_t enough = std::numeric_limits<std::size_t>::max());

  bool carries(TermId term) { return !unresolved_below(term, 0).empty(); }

  Joint& joint_;
  smt::Oracle& oracle_;
  const egraph::Program& program_;
  WalkOptions options_;
  Memo memo_;
  WalkResult result_;
  std::function<bool(TermId)> before_;
  IdSet done_;
  std::map<TermId, std::optional<std::vector<TermId>>> carried_at_;  // the last attempts at a term
  std::set<TermId> promising_;  // those that a problem would relate which was about another that carries them
  std::map<TermId, Tried>
      put_off_;  // unresolved terms for which attempts are left, with those that were made
};

}  // namespace entangle::infer
