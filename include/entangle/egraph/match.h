// Matcher: finds the matches of a pattern of the rule language in an e-graph.
//
// A pattern is matched against a class (any of its nodes) or an application. Matching extends a frame: slots
// that are bound constrain, unbound ones are bound. Matches are found in a fixed order: nodes in order of
// creation, operands from left to right, runs of operands shortest first. Nothing is built while a pattern is
// matched, except terms that conditions of the form `v == e` ask for.
//
// Two kinds of nodes are passed over below the root of a pattern, so that no lemma unfolds a class into
// itself: nodes of a class that an enclosing application of the same match belongs to, and nodes that have
// their own class among their operands.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "entangle/term/evaluator.h"

namespace entangle::egraph {

class EGraph;
class Run;

class Matcher final : public term::PatternHost {
 public:
  // Called at each match with the frame extended; true stops the search.
  using Found = std::function<bool(term::Frame& frame)>;

  // `like`: a matcher for the same rules, whose compiled form is shared.
  explicit Matcher(EGraph& graph, const Matcher* like = nullptr);
  ~Matcher() override;
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // All matches of `pattern` in the class of `id`. `generic` describes the operator variable of the lemma, if
  // the pattern uses one. Returns whether the search was stopped; the frame is as before afterwards.
  bool match(const rules::Expr& pattern, term::TermId id, term::Frame& frame,
             const rules::OperatorVariable* generic, const Found& found);
  // The same for one application, which need not exist as a node.
  bool match(const rules::Expr& pattern, const term::NodeView& application, term::Frame& frame,
             const rules::OperatorVariable* generic, const Found& found);

  // All matches of the left side of a lemma without `given` at an application, conditions and triggers too.
  bool match_lemma(const rules::Lemma& lemma, const term::NodeView& application, const Found& found);

  // The normal form of op(children; attrs) by the first normalise lemma that applies, or kNoTerm. `build`:
  // whether the right side is built or only looked up. `lemma` receives the index of the lemma, `exact` the
  // very term its right side spells. `signature` is the e-graph's number for the operator, its attributes and
  // the types of the children.
  term::TermId normal_form(const term::NodeView& application, bool build, std::uint32_t signature,
                           std::size_t* lemma = nullptr, term::TermId* exact = nullptr);
  bool may_normalise(rules::OpId op) const;
  // Whether a normalise lemma says that the operator applied to one operand is that operand.
  bool vanishes_on_one(rules::OpId op) const;

  // --- term::PatternHost. A question nested too deeply is answered with no. (Recursive predicates are ended
  // by the evaluator.)
  bool has_match(term::TermId id, const rules::Expr& pattern, const rules::Expr* condition,
                 const term::Frame& frame) override;
  // Terms that normalise lemmas would replace are found as what they are replaced by.
  term::TermId lookup(const rules::Expr& expr, term::Frame& frame) override;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace entangle::egraph
