// Applications of operators and definitions.
#include <algorithm>

#include "entangle/support/text.h"
#include "rules/build.h"

namespace entangle::rules {

using syntax::Item;
using syntax::Node;
using syntax::NodeKind;

namespace {

constexpr std::size_t kMostExpansions = 2000;
// What an attribute is called elsewhere, and here: manifests take both.
constexpr std::string_view kOtherWord = "start";
constexpr std::string_view kOwnWord = "begin";

Expr star_of(Expr list) {
  Expr star = make(ExprKind::star, list.span);
  star.type = list.type;
  star.args.push_back(std::move(list));
  return star;
}

bool takes_list(const Operator& op) {
  return std::any_of(op.tensors.begin(), op.tensors.end(),
                     [](const Parameter& p) { return p.type.is_list(); });
}

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back("`" + name + "`");
  return quoted.empty() ? "none" : support::join_list(quoted, " and ");
}

// A help for a name that there is not among these.
std::string instead_of(const std::string& name, const std::vector<std::string>& names,
                       std::string otherwise) {
  const bool own = name == kOtherWord && std::ranges::find(names, kOwnWord) != names.end();
  std::string suggestion = support::did_you_mean(own ? kOwnWord : name, names);
  return suggestion.empty() ? std::move(otherwise) : suggestion;
}

std::string signature(const Operator& op) {
  std::string result = "`" + op.name + "(";
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    result += (i > 0 ? ", " : "") + op.tensors[i].name + ": " + to_string(op.tensors[i].type);
  }
  for (std::size_t i = 0; i < op.attributes.size(); ++i) {
    result += (i > 0 ? ", " : "; ") + op.attributes[i].name + ": " + to_string(op.attributes[i].type);
  }
  return result + ")`";
}

}  // namespace

Typed Expressions::operand(const Node& node) {
  if (node.kind == NodeKind::star) {
    Typed inner = resolve(node.children[0]);
    if (!fits(base_type(Base::tensor, 1), inner.ty.type)) {
      report(id::type, node.span, "expected a list of tensors after `*`, this is " + describe(inner.ty.type));
    }
    Expr star = star_of(std::move(inner.expr));
    star.span = node.span;
    return finish(std::move(star), std::move(inner.ty));
  }
  const Type tensor = base_type(Base::tensor);
  Typed result = resolve(node, &tensor);
  if (result.ty.type.depth == 1 && fits(base_type(Base::tensor, 1), result.ty.type)) return result;
  as_tensor(result);
  return result;
}

Typed Expressions::apply(const Node& node, const Operator& op) {
  Expr expr = make(ExprKind::apply, node.span);
  expr.op = op.id;
  expr.name = op.name;
  applied_.push_back(op.id);
  operands(node, op, expr);
  attributes(node, op, expr);
  return finish(std::move(expr), ty(Base::tensor));
}

void Expressions::operands(const Node& node, const Operator& op, Expr& into) {
  const bool lists = takes_list(op);
  bool open = false;  // the number of operands is not known here
  const auto add = [&](Typed one) {
    Expr& expr = one.expr;
    if (expr.kind != ExprKind::star && one.ty.type.depth == 1) expr = star_of(std::move(expr));
    if (expr.kind == ExprKind::star) {
      if (!lists) report(id::arity, expr.span, "`" + op.name + "` takes no list", signature(op));
      if (lists && expr.args[0].kind == ExprKind::list) {
        std::vector<Expr> entries = std::move(expr.args[0].args);
        for (Expr& entry : entries) {
          open = open || entry.kind == ExprKind::star;
          into.args.push_back(std::move(entry));
        }
        return;
      }
      open = true;
    } else if (lists && is_any(one.ty.type) && expr.kind != ExprKind::wildcard) {
      open = true;
    }
    into.args.push_back(std::move(expr));
  };
  into.args.reserve(node.parts->items.size());
  for (const Item& item : node.parts->items) {
    if (item.kind == Item::Kind::named && place_ == Place::leaf) continue;  // an attribute
    if (item.kind == Item::Kind::comprehension) {
      report(id::syntax, item.span, "a list of operands is written in brackets",
             "`" + op.name + "([... for ...])`");
      open = true;
      continue;
    }
    if (item.kind != Item::Kind::plain) {
      report(id::syntax, item.span, "operands are expressions; attributes come after `;`", signature(op));
      open = true;
      continue;
    }
    if (item.parts[0].kind == NodeKind::list) {
      for (const Node& entry : item.parts[0].children) add(operand(entry));
      if (!lists) report(id::arity, item.span, "`" + op.name + "` takes no list", signature(op));
      continue;
    }
    add(operand(item.parts[0]));
  }
  std::size_t least = 0;
  for (const Parameter& p : op.tensors) least += !p.type.is_list() || p.type.nonempty ? 1 : 0;
  const std::size_t given = into.args.size();
  if (open || (lists ? given >= least : given == least)) return;
  std::string message = "`";
  message += op.name;
  message += lists ? "` takes at least " : "` takes ";
  message += count(least, "operand") + ", not " + std::to_string(given);
  report(id::arity, node.children[0].span, message, signature(op));
}

void Expressions::attributes(const Node& node, const Operator& op, Expr& into) {
  std::vector<const Node*> given(op.attributes.size(), nullptr);
  std::size_t position = 0;
  bool named = false;
  bool wrong = false;
  const auto by_name = [&](const Item& item) {
    named = true;
    std::string name = item.parts[0].text;
    if (place_ == Place::leaf && name == kOtherWord) name = kOwnWord;
    const auto at = std::find_if(op.attributes.begin(), op.attributes.end(),
                                 [&](const Parameter& p) { return p.name == name; });
    if (item.parts[0].kind != NodeKind::name) {
      report(id::unknown_attribute, item.parts[0].span, "before the `=` stands the name of an attribute",
             signature(op));
      wrong = true;
      return;
    }
    if (at == op.attributes.end()) {
      report(id::unknown_attribute, item.parts[0].span, "`" + op.name + "` has no attribute `" + name + "`",
             instead_of(name, names_of(op.attributes), signature(op)));
      wrong = true;
      return;
    }
    const Node*& place = given[static_cast<std::size_t>(at - op.attributes.begin())];
    if (place != nullptr) report(id::attribute, item.span, "the attribute `" + at->name + "` is given twice");
    place = &item.parts[1];
  };
  if (place_ == Place::leaf) {
    for (const Item& item : node.parts->items) {
      if (item.kind == Item::Kind::named) by_name(item);
    }
  }
  for (const Item& item : node.parts->attributes) {
    if (item.kind == Item::Kind::named) {
      by_name(item);
    } else if (item.kind != Item::Kind::plain) {
      report(id::syntax, item.span, "attributes are expressions, by position or as `name = expression`");
      wrong = true;
    } else if (named) {
      report(id::attribute, item.span, "attributes by position come before those by name");
      wrong = true;
    } else if (position == given.size()) {
      report(id::arity, item.span, "`" + op.name + "` takes " + count(given.size(), "attribute"),
             signature(op));
      wrong = true;
      break;
    } else {
      given[position++] = &item.parts[0];
    }
  }
  std::vector<std::string> missing;
  into.attrs.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Parameter& parameter = op.attributes[i];
    if (given[i] != nullptr) {
      into.attrs.push_back(attribute(*given[i], parameter));
    } else if (place_ == Place::pattern) {
      Expr any = make(ExprKind::wildcard, node.span);
      any.type = parameter.type;
      into.attrs.push_back(std::move(any));
    } else if (parameter.default_value) {
      into.attrs.push_back(*parameter.default_value);
    } else {
      missing.push_back("`" + parameter.name + "`");
      into.attrs.emplace_back();
    }
  }
  if (!missing.empty() && !wrong) {
    report(id::attribute, node.children[0].span,
           std::string(missing.size() == 1 ? "the attribute " : "the attributes ") +
               support::join_list(missing) + (missing.size() == 1 ? " is missing" : " are missing"),
           signature(op));
  }
}

// In a pattern: a variable, a constant, `_`, or an expression over variables that are bound elsewhere.
Expr Expressions::attribute(const Node& node, const Parameter& parameter) {
  if (place_ != Place::pattern) return want(node, parameter.type);
  if (node.kind == NodeKind::name) {
    Typed result = resolve(node, &parameter.type);
    if (result.expr.kind == ExprKind::wildcard) {
      result.expr.type = parameter.type;
    } else {
      check(result, parameter.type);
    }
    return std::move(result.expr);
  }
  if (node.kind == NodeKind::list) {
    // Entries of a list attribute may be variables.
    Typed result = resolve(node, &parameter.type);
    check(result, parameter.type);
    return std::move(result.expr);
  }
  place_ = Place::when;
  Expr result = want(node, parameter.type);
  place_ = Place::pattern;
  return result;
}

// The arguments of a use by parameter, null where there is none. Nothing after an error.
std::optional<std::vector<const Node*>> Expressions::arguments_of(const Node& node,
                                                                  const Definition& definition) {
  const std::string& name = definition.text->name.text;
  std::vector<const Node*> given(definition.parameters.size(), nullptr);
  std::size_t position = 0;
  bool named = false;
  for (const std::vector<Item>* items : {&node.parts->items, &node.parts->attributes}) {
    for (const Item& item : *items) {
      const std::size_t before = diagnostics_.size();
      if (item.kind == Item::Kind::named && item.parts[0].kind == NodeKind::name) {
        const auto at = std::find_if(definition.parameters.begin(), definition.parameters.end(),
                                     [&](const Parameter& p) { return p.name == item.parts[0].text; });
        if (at == definition.parameters.end()) {
          report(id::unknown_attribute, item.parts[0].span,
                 "`" + name + "` has no parameter `" + item.parts[0].text + "`",
                 instead_of(item.parts[0].text, names_of(definition.parameters),
                            "it has " + listed(names_of(definition.parameters))));
          return std::nullopt;
        }
        const Node*& place = given[static_cast<std::size_t>(at - definition.parameters.begin())];
        if (place != nullptr) {
          report(id::attribute, item.span, "the argument `" + at->name + "` is given twice");
        }
        named = true;
        place = &item.parts[1];
      } else if (item.kind != Item::Kind::plain || position == given.size()) {
        report(id::arity, item.span, "`" + name + "` takes " + count(given.size(), "argument"));
        return std::nullopt;
      } else if (named) {
        report(id::attribute, item.span, "arguments by position come before those by name");
      } else {
        given[position++] = &item.parts[0];
      }
      if (diagnostics_.size() > before) return std::nullopt;
    }
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] != nullptr || definition.parameters[i].default_value) continue;
    report(id::arity, node.children[0].span, "`" + name + "` needs `" + definition.parameters[i].name + "`");
    return std::nullopt;
  }
  return given;
}

// Whether the body is the one that all uses share: names and types are found as with the parameters' types,
// and nothing in it asks how an argument is written.
bool Expressions::may_share(const Definition& definition, const std::vector<Typed>& arguments) const {
  const bool place = place_ == Place::lowering || place_ == Place::collective || place_ == Place::definition;
  if (definition.shared == nullptr || !place || scalars_) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Expr& expr = arguments[i].expr;
    const Base base = definition.parameters[i].type.base;
    const bool tensors = base == Base::tensor || base == Base::operand;
    if (expr.kind == ExprKind::wildcard || expr.kind == ExprKind::star) return false;
    if (expr.kind == ExprKind::literal && (tensors || expr.value.is_none())) return false;
    if (expr.kind == ExprKind::list && tensors) return false;
    if (!arguments[i].ty.parts.empty()) return false;
    // A number is an operand, but its own kind of operand.
    if (base == Base::operand && is_number(arguments[i].ty.type) &&
        arguments[i].ty.type.base != Base::operand) {
      return false;
    }
  }
  return true;
}

Typed Expressions::use(const Node& node, const Template& shared, std::vector<Typed> arguments) {
  expansions_ += shared.expansions;
  applied_.insert(applied_.end(), shared.applied.begin(), shared.applied.end());
  if (expansions_ > kMostExpansions) {
    report(id::too_large, node.children[0].span, "definitions make this declaration too large");
  }
  Expr expr = make(ExprKind::use, node.span);
  expr.slot = shared.number;
  expr.name = node.children[0].text;
  expr.args.reserve(arguments.size());
  for (Typed& argument : arguments) expr.args.push_back(std::move(argument.expr));
  return finish(std::move(expr), shared.type);
}

// A use of a definition is its body, with the arguments in the places of the parameters. An argument that is
// needed more than once is computed once.
Typed Expressions::expand(const Node& node, const Definition& definition) {
  const std::string& name = definition.text->name.text;
  Typed failed = broken(node.span);
  if (std::find(open_.begin(), open_.end(), &definition) != open_.end()) {
    report(id::recursion, node.children[0].span, "the definition of `" + name + "` uses itself");
    return failed;
  }
  if (++expansions_ > kMostExpansions) {
    if (expansions_ == kMostExpansions + 1) {
      report(id::too_large, node.children[0].span, "definitions make this declaration too large");
    }
    return failed;
  }
  const auto given = arguments_of(node, definition);
  if (!given) return failed;
  std::vector<Typed> arguments;
  arguments.reserve(given->size());
  for (std::size_t i = 0; i < given->size(); ++i) {
    const Parameter& parameter = definition.parameters[i];
    if ((*given)[i] == nullptr) {
      arguments.push_back({*parameter.default_value, {parameter.type, {}}});
      continue;
    }
    Typed argument = resolve(*(*given)[i], &parameter.type);
    check(argument, parameter.type);
    arguments.push_back(std::move(argument));
  }
  if (definition.broken) return failed;
  if (may_share(definition, arguments)) return use(node, *definition.shared, std::move(arguments));
  return in_place(node, definition, std::move(arguments));
}

// The body, resolved for these arguments.
Typed Expressions::in_place(const Node& node, const Definition& definition, std::vector<Typed> arguments) {
  struct Bound {
    Slot slot;
    std::string name;
    Expr value;
  };
  std::vector<Bound> lets;
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = definition.parameters[i];
    Typed& argument = arguments[i];
    Entry entry;
    entry.name = parameter.name;
    entry.ty = {parameter.type, {}};
    if (!is_any(argument.ty.type) || !argument.ty.parts.empty()) entry.ty = argument.ty;
    if (place_ == Place::pattern || stands_in_place(argument.expr, definition.text->uses[i])) {
      entry.alias = std::move(argument.expr);
    } else {
      // A name of its own, so that the text of the result means the same.
      std::string fresh = fresh_name(parameter.name, slots_);
      entry.slot = static_cast<Slot>(slots_.size());
      slots_.push_back({fresh, entry.ty.type, node.span});
      used_.resize(slots_.size());
      lets.push_back({entry.slot, std::move(fresh), std::move(argument.expr)});
    }
    entries.push_back(std::move(entry));
  }
  const std::size_t mark = enter();
  const std::size_t visible = std::exchange(visible_, mark);
  for (Entry& entry : entries) scope_.push_back(std::move(entry));
  open_.push_back(&definition);
  const std::size_t before = diagnostics_.size();
  Typed body = resolve(definition.text->body);
  open_.pop_back();
  for (std::size_t i = before; i < diagnostics_.size(); ++i) {
    diagnostics_[i].notes.push_back(
        {node.children[0].span, "in this use of `" + definition.text->name.text + "`"});
  }
  visible_ = visible;
  leave(mark);
  for (std::size_t i = lets.size(); i-- > 0;) {
    Expr let = make(ExprKind::let, node.span);
    let.binders = {lets[i].slot};
    let.binder_names = {std::move(lets[i].name)};
    let.args.push_back(std::move(lets[i].value));
    let.args.push_back(std::move(body.expr));
    body.expr = std::move(let);
    body.expr.type = body.ty.type;
  }
  return body;
}

}  // namespace entangle::rules
