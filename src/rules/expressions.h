// Names, slots and types of one declaration's expressions.
//
// Reports what is wrong and goes on: what could not be resolved has type any, which fits everywhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/builtins.h"
#include "rules/diagnostics.h"
#include "rules/globals.h"

namespace entangle::rules {

struct Typed {
  Expr expr;
  Ty ty;
};

class Expressions {
 public:
  Expressions(const Globals& globals, std::vector<support::Diagnostic>& diagnostics,
              std::vector<Variable>& slots)
      : globals_(globals), diagnostics_(diagnostics), slots_(slots) {}

  // --- the declaration's frame
  // A new slot that is visible from here on (until leave()). The name must outlive this object.
  Slot declare(const syntax::Name& name, Ty type);
  // The same for a parameter, which must outlive this object.
  Slot declare(const Parameter& parameter);
  std::size_t enter() const { return scope_.size(); }
  void leave(std::size_t mark) { scope_.resize(mark); }
  void set_place(Place place) { place_ = place; }
  void set_generic(const OperatorVariable* generic) { generic_ = generic; }
  // The declaration is a lowering or collective: these variables exist when they are asked for.
  void set_lowering(Lowering* lowering) { lowering_ = lowering; }
  // What is resolved is the body of a definition.
  void set_inside(const Definition& definition) { open_.push_back(&definition); }
  // Names of scalar functions are told from operators as in values.
  void set_scalars(bool scalars) { scalars_ = scalars; }
  // How many uses of definitions were met, those in their bodies included.
  std::size_t expansions() const { return expansions_; }
  // The operators that were applied, in the bodies of definitions, too; some more than once.
  const std::vector<OpId>& applied() const { return applied_; }
  // Whether what was resolved might have been something else if a variable in it had been a literal.
  bool depends_on_literals() const { return depends_on_literals_; }
  // Whether the slot has been mentioned.
  bool used(Slot slot) const { return slot < used_.size() && used_[slot]; }

  // --- expressions
  // `hint` helps to tell names and numbers; it is not checked.
  Typed resolve(const syntax::Node& node, const Type* hint = nullptr);
  // Checked to be of that type.
  Expr want(const syntax::Node& node, const Type& expected);
  // A tensor, or in a pattern also a number; the list of tensors where that is allowed.
  Typed operand(const syntax::Node& node);
  // The conjuncts of a condition.
  std::vector<Expr> conjuncts(const syntax::Node& node);

  void report(std::string_view id, support::Span span, std::string message, std::string suggestion = {});

 private:
  struct Entry {
    std::string_view name;
    Slot slot = kNoSlot;
    Ty ty;
    std::optional<Expr> alias;  // an argument of a definition, put in the place of the parameter
  };

  // expressions.cpp: names, numbers, checking
  const Entry* find(std::string_view name) const;
  std::string own_name(const std::string& name) const;
  bool is_implicit(std::string_view name) const;
  Typed name(const syntax::Node& node, const Type* hint);
  Typed leaf(const std::string& name, support::Span span, const Type* hint);
  Typed implicit(const syntax::Node& node);
  Typed unknown_name(const syntax::Node& node, const Type* hint);
  Typed number(const syntax::Node& node, const Type* hint);
  void check(Typed& typed, const Type& expected);
  void as_tensor(Typed& typed);
  std::optional<Expr> defining_equation(const syntax::Node& node);

  // operations.cpp
  Typed unary(const syntax::Node& node, const Type* hint);
  Typed binary(const syntax::Node& node, const Type* hint);
  Typed comparison(const syntax::Node& node);
  Typed arithmetic(const syntax::Node& node, const Type* hint);
  bool bare_unknown(const syntax::Node& node) const;

  // lists.cpp
  Typed member(const syntax::Node& node, const Type* hint);
  Typed property(Typed base, const std::string& name, support::Span span);
  Typed index(const syntax::Node& node);
  Typed element(Typed base, const syntax::Node& node);
  Typed range(const syntax::Node& node, const Type* hint);
  Typed with(const syntax::Node& node, const Type* hint);
  Typed without(const syntax::Node& node, const Type* hint);
  Typed conditional(const syntax::Node& node, const Type* hint);
  Typed list(const syntax::Node& node, const Type* hint);
  Typed tuple(const syntax::Node& node);
  Typed comprehension(const syntax::Node& node, const Type* hint);
  Typed let(const syntax::Node& node, const Type* hint);
  Typed quantifier(const syntax::Node& node);
  Typed others(const syntax::Node& node);
  // Resolves the list and declares the names for its entries.
  Expr bind(const std::vector<syntax::Name>& names, const syntax::Node& list, Expr& into);
  void bind_names(const std::vector<syntax::Name>& names, const Ty& entry, Expr& into);

  // calls.cpp
  Typed call(const syntax::Node& node, const Type* hint);
  Typed unknown_call(const syntax::Node& node, const std::string& name);
  void check_attributes_first(const Expr& call);
  Typed scalar_call(const syntax::Node& node, const std::string& name, std::size_t arity);
  Typed predicate_call(const syntax::Node& node, std::size_t id);
  Typed builtin_call(const syntax::Node& node, const BuiltinInfo& info, const Type* hint);
  void builtin_arguments(const syntax::Node& node, const BuiltinInfo& info,
                         const std::vector<const syntax::Node*>& arguments, Typed& result);
  Typed special_result(const syntax::Node& node, Typed result, const std::vector<Ty>& arguments);
  Typed has(const syntax::Node& node);
  Typed generic_call(const syntax::Node& node);
  std::vector<const syntax::Node*> plain_arguments(const syntax::Node& node);
  bool allow_terms(const syntax::Node& node, std::string_view what);

  // aggregates.cpp
  Typed number_call(const syntax::Node& node, const BuiltinInfo& info, const Type* hint);
  Typed aggregate(const syntax::Node& node, Builtin builtin, const Type* hint);
  Typed reduction(const syntax::Node& node, Builtin builtin);
  Typed fold(const syntax::Node& node);

  // operands.cpp
  Typed apply(const syntax::Node& node, const Operator& op);
  void operands(const syntax::Node& node, const Operator& op, Expr& into);
  void attributes(const syntax::Node& node, const Operator& op, Expr& into);
  Expr attribute(const syntax::Node& node, const Parameter& parameter);
  Typed expand(const syntax::Node& node, const Definition& definition);
  std::optional<std::vector<const syntax::Node*>> arguments_of(const syntax::Node& node,
                                                               const Definition& definition);
  bool may_share(const Definition& definition, const std::vector<Typed>& arguments) const;
  Typed use(const syntax::Node& node, const Template& shared, std::vector<Typed> arguments);
  Typed in_place(const syntax::Node& node, const Definition& definition, std::vector<Typed> arguments);

  const Globals& globals_;
  std::vector<support::Diagnostic>& diagnostics_;
  std::vector<Variable>& slots_;
  std::vector<bool> used_;
  std::vector<Entry> scope_;
  std::size_t visible_ = 0;  // names below this are those of whoever uses the definition
  Place place_ = Place::definition;
  const OperatorVariable* generic_ = nullptr;
  Lowering* lowering_ = nullptr;
  bool local_variables_ = false;  // in a `has` pattern: unknown names are its own variables
  bool scalars_ = false;
  std::vector<const Definition*> open_;  // those whose bodies are being resolved
  std::size_t expansions_ = 0;
  std::vector<OpId> applied_;
  bool depends_on_literals_ = false;
};

}  // namespace entangle::rules
