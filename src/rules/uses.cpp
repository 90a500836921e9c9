#include "rules/uses.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rules/build.h"

namespace entangle::rules {
namespace {

class Expansion {
 public:
  Expansion(const Definitions& definitions, std::vector<Variable>& slots)
      : definitions_(definitions), slots_(slots) {}

  void expand(Expr& expr) {
    for (Expr& arg : expr.args) expand(arg);
    for (Expr& attr : expr.attrs) expand(attr);
    if (expr.kind == ExprKind::use) expr = body_of(std::move(expr));
  }

 private:
  // What a variable of a definition is in the lowering: an argument, or a variable.
  struct Meaning {
    std::optional<Expr> argument;
    Slot slot = kNoSlot;
  };

  Slot declare(const std::string& name, const Type& type, support::Span span) {
    const auto slot = static_cast<Slot>(slots_.size());
    slots_.push_back({fresh_name(name, slots_), type, span});
    return slot;
  }

  Expr body_of(Expr use) {
    const DefinitionBody& definition = definitions_[use.slot];
    std::vector<Meaning> meanings(definition.slots.size());
    std::vector<std::pair<Slot, Expr>> lets;
    for (std::size_t k = 0; k < definition.slots.size(); ++k) {
      const Variable& variable = definition.slots[k];
      if (k < use.args.size() && stands_in_place(use.args[k], definition.uses[k])) {
        meanings[k].argument = std::move(use.args[k]);
        continue;
      }
      Type type = variable.type;
      if (k < use.args.size() && !is_any(use.args[k].type)) type = use.args[k].type;
      meanings[k].slot = declare(variable.name, type, k < use.args.size() ? use.span : variable.span);
      if (k < use.args.size()) lets.emplace_back(meanings[k].slot, std::move(use.args[k]));
    }
    Expr body = copy(definition.body, meanings);
    for (std::size_t k = lets.size(); k-- > 0;) {
      Expr let = make(ExprKind::let, use.span);
      let.type = body.type;
      let.binders = {lets[k].first};
      let.binder_names = {slots_[lets[k].first].name};
      let.args.reserve(2);
      let.args.push_back(std::move(lets[k].second));
      let.args.push_back(std::move(body));
      body = std::move(let);
    }
    return body;
  }

  Expr copy(const Expr& expr, const std::vector<Meaning>& meanings) {
    if (expr.kind == ExprKind::variable) {
      const Meaning& meaning = meanings[expr.slot];
      Expr result = meaning.argument ? *meaning.argument : expr;
      if (!meaning.argument) {
        result.slot = meaning.slot;
        result.name = slots_[meaning.slot].name;
      }
      result.span = expr.span;
      return result;
    }
    Expr result = make(expr.kind, expr.span);
    result.operation = expr.operation;
    result.builtin = expr.builtin;
    result.type = expr.type;
    result.value = expr.value;
    result.name = expr.name;
    result.op = expr.op;
    result.slot = expr.slot;
    for (const Slot binder : expr.binders) {
      result.binders.push_back(meanings[binder].slot);
      result.binder_names.push_back(slots_[meanings[binder].slot].name);
    }
    result.args.reserve(expr.args.size());
    for (const Expr& arg : expr.args) result.args.push_back(copy(arg, meanings));
    result.attrs.reserve(expr.attrs.size());
    for (const Expr& attr : expr.attrs) result.attrs.push_back(copy(attr, meanings));
    if (result.kind == ExprKind::use) return body_of(std::move(result));
    if (result.kind == ExprKind::unary && result.operation == Operation::negate) {
      if (std::optional<Typed> number = negated(result.args[0], result.span)) return std::move(number->expr);
    }
    return result;
  }

  const Definitions& definitions_;
  std::vector<Variable>& slots_;
};

}  // namespace

Lowerings::Finish expanding(Definitions definitions) {
  return [definitions = std::move(definitions)](Lowering& lowering) {
    Expansion expansion(definitions, lowering.slots);
    if (lowering.condition) expansion.expand(*lowering.condition);
    expansion.expand(lowering.body);
  };
}

}  // namespace entangle::rules
