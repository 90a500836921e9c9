// From the syntax of all files to a RuleSet.
//
// Names may be used before they are declared: all declarations are collected first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "rules/expressions.h"
#include "rules/globals.h"
#include "rules/syntax.h"

namespace entangle::rules {

class Resolver {
 public:
  // The files must outlive the resolver; in the order of their inclusion.
  Resolver(const std::vector<syntax::File>& files, std::vector<support::Diagnostic>& diagnostics);

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
  void check_definitions();
  Type type(const syntax::TypeText& text, bool lowering);
  std::vector<Parameter> parameters(const syntax::Parameters& text, bool lowering);
  void check_of(const std::vector<Parameter>& parameters, const std::vector<std::string>& clauses,
                bool result);
  void default_values(std::vector<Parameter>& parameters, const syntax::Parameters& text);
  // Every parameter becomes a slot.
  static void declare(std::vector<Parameter>& parameters, Expressions& expressions);

  // operators.cpp
  void resolve_operator(const syntax::OperatorText& text, Operator& op);
  void clause(const syntax::Clause& text, Operator& op, Expressions& expressions);
  void axis_clause(const syntax::Clause& text, Operator& op, Expressions& expressions);
  void linear_clause(const syntax::Clause& text, Operator& op, Expressions& expressions);
  void check_operator(const syntax::OperatorText& text, Operator& op);
  void implied_value(const syntax::OperatorText& text, Operator& op);

  // lemmas.cpp
  void resolve_lemma(const syntax::LemmaText& text, const syntax::Declaration& declaration);
  void check_lemma(Lemma& lemma, Expressions& expressions);
  void check_backwards(const Lemma& lemma, std::vector<bool> bound);
  void generic(const syntax::GenericVariable& text, Lemma& lemma, Expressions& expressions,
               OperatorVariable& variable);
  void resolve_predicate(const syntax::PredicateText& text, Predicate& predicate);
  void resolve_law(const syntax::LawText& text, support::Span span);

  // lowerings.cpp
  void resolve_lowering(const syntax::LoweringText& text, support::Span span);
  // What is known of them only when all operators are; hands them over.
  void finish_lowerings();

  void report(std::string_view id, support::Span span, std::string message, std::string suggestion = {});

  const std::vector<syntax::File>& files_;
  std::vector<support::Diagnostic>& diagnostics_;
  std::shared_ptr<RuleSet> rules_;
  std::vector<Lowering> lowerings_;
  Globals globals_;
  std::vector<Variable> no_slots_;
};

}  // namespace entangle::rules
