// One search for matches: the backtracking behind Matcher. Each function calls `next` at every match with the
// frame extended and undoes its bindings before it returns; true from `next` stops the search and is passed
// on.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <vector>

#include "egraph/small.h"
#include "entangle/egraph/egraph.h"
#include "entangle/egraph/match.h"

namespace entangle::egraph {

// A reference to a function of no arguments that returns whether to stop.
class Next {
 public:
  template <class F>
  requires(!std::same_as<F, Next>) Next(F& function)  // NOLINT(implicit)
      : object_(&function), call_([](void* object) { return (*static_cast<F*>(object))(); }) {}
  bool operator()() const { return call_(object_); }

 private:
  void* object_;
  bool (*call_)(void*);
};

// The classes of the applications around the place where a pattern is matched.
struct Path {
  TermId id = kNoTerm;
  const Path* outer = nullptr;
};

// What a trigger or a condition says of what a pattern, or a variable, matches. Asked as soon as the class is
// known.
struct Demand {
  enum class Kind : std::uint8_t {
    named,    // the class is named
    unnamed,  // it is not
    uniform,  // it is one scalar everywhere
    alone,    // of the operands of f(.., p, ..) no other has the axis
  };
  const rules::Expr* pattern = nullptr;  // or
  rules::Slot slot = rules::kNoSlot;     // a variable; neither for `alone`
  Kind kind = Kind::named;
};

// The demands of a lemma on the patterns it is matched with. Adds to `rest` what else its trigger asks.
void collect_demands(const rules::Lemma& lemma, std::span<const rules::Expr* const> patterns,
                     std::vector<Demand>& demands, std::vector<const rules::Expr*>& rest);

// What f(.., p, ..) has to know of an application, whichever operand p is matched at.
class Application {
 public:
  term::Focus focus;  // the operand and its axis are whoever's turn it is
  std::uint64_t hash = 0;
  std::vector<char> again;  // by operand: whether it is one of those before it, and their order is none

  // Of this node of the e-graph, as it is now.
  void look_at(EGraph& graph, const term::NodeView& node);
  const term::AxisInfo& axes(EGraph& graph);

 private:
  const TermId* operands_ = nullptr;
  std::size_t count_ = 0;
  std::size_t merges_ = 0;
  const term::AxisInfo* info_ = nullptr;  // once it was asked for
  std::vector<std::uint32_t> order_;
};

class Run {
 public:
  Run(EGraph& graph, term::Frame& frame, const rules::OperatorVariable* generic,
      std::span<const Demand> demands = {})
      : graph_(graph), frame_(frame), generic_(generic), demands_(demands) {}

  // A pattern in tensor position against a class.
  bool in_class(const rules::Expr& pattern, TermId id, const Path* path, Next next);
  // An application pattern or f(.., p, ..) against an application of the class `owner` (kNoTerm: of none).
  bool at(const rules::Expr& pattern, const term::NodeView& application, TermId owner, Next next);
  // A pattern in attribute position against a value.
  bool value(const rules::Expr& pattern, const term::Value& value, Next next);
  // Calls `next` if all conjuncts and then all of `more` hold; what they bind (`v == e`) is undone
  // afterwards. `failed`, if given, is set when one of the conjuncts (not of `more`) does not hold.
  bool conditions(std::span<const rules::Expr> conjuncts, std::span<const rules::Expr* const> more, Next next,
                  bool* failed = nullptr);
  // Calls `next` if what had to be put off (expressions over variables that were not yet bound) holds now.
  bool settled(Next next);
  // Uses what is known of an application that other rules were matched with. Nobody else may use it
  // meanwhile.
  void share(Application& application) { application_ = &application; }
  // Matches of f(.., p, ..) at operands below which so many levels down nothing is new are passed over.
  void pass_over_old(std::span<const std::uint8_t> levels, unsigned depth) {
    levels_ = levels;
    depth_ = depth;
  }
  // The nodes among which all matches of a pattern outside any class are, ascending: the users of an operand
  // that is bound already, or all nodes of the operator.
  std::vector<TermId> anchors(const rules::Expr& pattern) const;

  // Whether all variables of an expression have values.
  bool bound(const rules::Expr& expr) const;
  smt::Truth equal(const term::Value& a, const term::Value& b) const;

  using Items = Small<const rules::Expr*, 8>;
  // The patterns of an operand list one by one, those of lists in it in their places.
  static void flatten(std::span<const rules::Expr> args, Items& out);

 private:
  using Exprs = std::span<const rules::Expr* const>;
  struct Pending {
    const rules::Expr* pattern;
    term::Value value;
    bool done = false;
  };
  struct Zip;

  bool bound(const rules::Expr& expr, std::vector<rules::Slot>& local) const;
  bool application(const rules::Expr& pattern, const term::NodeView& node, const Path* path, Next next);
  bool attributes(const rules::Expr& pattern, std::span<const tensor::Attr> attrs, std::size_t from,
                  Next next);
  bool entries(Exprs patterns, std::span<const term::Value> values, Next next);
  bool demanded(const rules::Expr& pattern, TermId id) const;
  bool is_old(TermId id) const { return id < levels_.size() && levels_[id] > depth_; }
  bool holds_now(const Pending& pending);
  bool check_pending(std::size_t base, Next next);
  bool bind(rules::Slot slot, term::Value value, Next next);

  // match_sequence.cpp: lists of operands
  static bool is_run(const rules::Expr& item);
  static const rules::Expr* comprehension_in(const rules::Expr& run);
  static std::size_t least_length(const rules::Expr& item);
  // Whether a pattern may match the class, as far as a glance at the class tells.
  bool plausible(const rules::Expr& pattern, TermId operand) const;
  bool sequence(Exprs items, std::span<const TermId> operands, const Path* path, Next next);
  struct Selection;
  bool any_order(Exprs items, std::span<const TermId> operands, const Path* path, Next next);
  // The classes that hold what the element may match, where one of its operands is known; false where none
  // is, or where it has more than `most` users.
  bool owners_of(const rules::Expr& element, std::size_t most, Small<TermId, 16>& owners) const;
  bool select(Selection& selection, std::size_t from, Next next);
  // Whether it is a comprehension over lists that are not known yet.
  bool grows_by_elements(const rules::Expr& item) const;
  bool run(const rules::Expr& item, std::span<const TermId> operands, const Path* path, Next next);
  bool comprehension(const rules::Expr& pattern, std::span<const TermId> operands, const Path* path,
                     Next next);
  bool each_that_matches(const rules::Expr& pattern, const rules::Expr& rest,
                         std::span<const TermId> operands, const Path* path, Next next);
  // A sequence that begins with a comprehension over lists that are not known yet, of `least` to `most`
  // operands: its elements are matched once, not for each length anew.
  bool growing(Exprs items, std::span<const TermId> operands, std::size_t least, std::size_t most,
               const Path* path, Next next);
  bool element(Zip& zip, std::size_t k, Next next);
  // An operand as the application of an operator to it alone, if that is the operand itself.
  bool alone(const rules::Expr& pattern, TermId operand, const Path* path, Next next);
  bool zipped(Zip& zip, std::size_t source, Next next);

  // match_generic.cpp
  bool generic(const rules::Expr& pattern, const term::NodeView& node, const Path* path, Next next);
  bool focused(const rules::Expr& pattern, term::Focus& focus, std::size_t operand,
               const term::Correspondence* correspondence, const Path* path, Next next);

  EGraph& graph_;
  term::Frame& frame_;
  const rules::OperatorVariable* generic_;
  std::span<const Demand> demands_;
  Application* application_ = nullptr;    // see share
  std::span<const std::uint8_t> levels_;  // see pass_over_old
  unsigned depth_ = 0;
  std::vector<Pending> pending_;
  std::size_t successes_ = 0;  // of settled()
};

}  // namespace entangle::egraph
