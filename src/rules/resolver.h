// From the syntax of all files to a RuleSet.
//
// Names may be used before they are declared: all declarations are collected first.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "entangle/rules/bytes.h"
#include "entangle/rules/ruleset.h"
#include "rules/lowerings.h"
#include "rules/signatures.h"
#include "rules/uses.h"

namespace entangle::rules {

class Resolver : private Signatures {
 public:
  // The files must outlive the resolver; in the order of their inclusion.
  Resolver(const std::vector<syntax::File>& files, Bodies bodies,
           std::vector<support::Diagnostic>& diagnostics);

  std::shared_ptr<const RuleSet> run();

  // The names that are visible to an expression over a finished rule set.
  static Globals globals_of(const RuleSet& rules);

 private:
  // declarations.cpp: signatures
  void collect(const syntax::File& file, const syntax::Declaration& declaration);
  void collect_operator(const syntax::OperatorText& text, support::Span span);
  void collect_definition(const syntax::DefText& text);
  void collect_function(const syntax::FunctionText& text);
  void collect_predicate(const syntax::PredicateText& text, support::Span span);
  void collect_acceptance(const syntax::Acceptance& text, support::FileId file);
  bool fresh_name(const syntax::Name& name, std::string_view what);
  void implied_functions();

  // definitions.cpp
  void check_definitions();
  void check_each(const std::vector<Definition*>& all);
  void share_bodies(const std::vector<Definition*>& all);

  // operators.cpp
  void resolve_operator(const syntax::OperatorText& text, Operator& op);
  void clause(const syntax::Clause& text, Operator& op, Expressions& expressions);
  void axis_clause(const syntax::Clause& text, Operator& op, Expressions& expressions);
  void linear_clause(const syntax::Clause& text, Operator& op, Expressions& expressions);
  void check_operator(const syntax::OperatorText& text, Operator& op);
  void implied_value(const syntax::OperatorText& text, Operator& op);

  // lemmas.cpp
  void resolve_lemma(const syntax::LemmaText& text, const syntax::Declaration& declaration);
  void check_head(const syntax::LemmaText& text, const Lemma& lemma);
  std::vector<Given> premises(const std::vector<syntax::Node>& texts, Expressions& expressions);
  void check_lemma(Lemma& lemma, Expressions& expressions);
  void check_generic(const Lemma& lemma, std::vector<bool>& bound);
  void report_unused(const Lemma& lemma, const Expressions& expressions);
  void check_backwards(const Lemma& lemma, std::vector<bool> bound);
  void generic(const syntax::GenericVariable& text, Expressions& expressions, OperatorVariable& variable);
  void resolve_predicate(const syntax::PredicateText& text, Predicate& predicate);
  void check_law(const Law& law);
  void resolve_law(const syntax::LawText& text, support::Span span);

  struct Lowered {
    const syntax::LoweringText* text;
    support::Span span;
  };
  std::vector<Lowered> ordered_lowerings() const;
  void check_kinds(const std::vector<Lowered>& all);
  void resolve_lowerings(const std::vector<Lowered>& all, const std::function<void()>& beside);

  const std::vector<syntax::File>& files_;
  const Bodies bodies_;
  std::shared_ptr<RuleSet> rules_;
  std::vector<Operator> operators_;
  LemmaWriter lemmas_;
  std::vector<Lemma> normalise_;
  std::unordered_map<std::string_view, support::Span> lemma_spans_;  // by name
  Globals declared_;                                                 // globals_, while they are collected
};

}  // namespace entangle::rules
