#include "rules/lowerings.h"

#include <algorithm>

#include "rules/diagnostics.h"

namespace entangle::rules {

Lowering LoweringResolver::resolve(const syntax::LoweringText& text, support::Span span) {
  Lowering lowering;
  lowering.kind = text.kind;
  lowering.op = text.name.text;
  lowering.span = span;
  lowering.positional = text.parameters.before.size();
  lowering.parameters = parameters(text.parameters, true);
  default_values(lowering.parameters, text.parameters);
  check_of(lowering.parameters, {}, true);
  if (text.kind == LoweringKind::collective) {
    const bool operands =
        std::any_of(lowering.parameters.begin(), lowering.parameters.end(),
                    [](const Parameter& p) { return p.type.base == Base::tensor && p.type.is_list(); });
    if (!operands) {
      report(id::parameter, text.name.span, "a collective needs a list of tensors: the operands of its group",
             "`xs: tensor+`");
    }
    const bool group = std::any_of(lowering.parameters.begin(), lowering.parameters.end(),
                                   [](const Parameter& p) { return p.type.base == Base::group; });
    if (operands && !group) {
      report(id::parameter, text.name.span, "a collective needs a parameter for the group it runs in",
             "`group: group`");
    }
  }
  if (text.second_condition) {
    report(id::clause, text.second_condition->span, "the lowering has two conditions",
           "join them with `and`");
  }
  Expressions expressions(globals_, diagnostics_, lowering.slots);
  declare(lowering.parameters, expressions);
  expressions.set_lowering(&lowering);
  expressions.set_place(text.kind == LoweringKind::collective ? Place::collective : Place::lowering);
  if (text.condition) lowering.condition = expressions.want(*text.condition, base_type(Base::boolean));
  if (text.body) {
    Typed body = expressions.resolve(*text.body);
    const bool several = body.ty.is_tuple() || is_any(body.ty.type) || body.ty.type.depth == 1;
    if (!several) {
      const Type wanted = base_type(Base::operand);
      if (!fits(wanted, body.ty.type) || body.expr.kind == ExprKind::literal) {
        report(id::type, body.expr.span, "a lowering gives a tensor, this is " + describe(body.ty.type));
      }
    }
    lowering.body = std::move(body.expr);
  }
  bool drawn = false;
  for (const OpId id : expressions.applied()) {
    lowering.random = lowering.random || globals_.op(id).random;
    drawn = drawn || globals_.op(id).drawn;
  }
  if (lowering.draw == kNoSlot && drawn) {
    report(id::clause, lowering.span,
           "what draws for each place names its places by `draw`: `places(x; draw)`");
  }
  return lowering;
}

}  // namespace entangle::rules
