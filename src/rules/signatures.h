// Parameters of declarations: their types, what they belong to, their default values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/expressions.h"
#include "rules/globals.h"
#include "rules/syntax.h"

namespace entangle::rules {

class Signatures {
 public:
  // Both must outlive this object; the globals may still grow.
  Signatures(const Globals& globals, std::vector<support::Diagnostic>& diagnostics)
      : globals_(globals), diagnostics_(diagnostics) {}

 protected:
  void report(std::string_view id, support::Span span, std::string message, std::string suggestion = {});
  Type type(const syntax::TypeText& text, bool lowering);
  std::vector<Parameter> parameters(const syntax::Parameters& text, bool lowering);
  // Whether axis(x), perm(x) and count(c) speak of something.
  void check_of(const std::vector<Parameter>& parameters, const std::vector<std::string>& clauses,
                bool result);
  void default_values(std::vector<Parameter>& parameters, const syntax::Parameters& text);
  // Every parameter becomes a slot.
  static void declare(std::vector<Parameter>& parameters, Expressions& expressions);

  const Globals& globals_;
  std::vector<support::Diagnostic>& diagnostics_;

 private:
  std::vector<Variable> no_slots_;
};

}  // namespace entangle::rules
