// Calls: built-in functions, predicates, scalar functions and the forms that look like calls.
#include <algorithm>
#include <array>

#include "entangle/support/check.h"
#include "entangle/support/text.h"
#include "rules/build.h"

namespace entangle::rules {

using syntax::Item;
using syntax::Node;
using syntax::NodeKind;

namespace {

const Type kBoolean = base_type(Base::boolean);
const Type kScalar = base_type(Base::scalar);
const Type kTensor = base_type(Base::tensor);

bool is_aggregate(Builtin builtin) {
  return builtin == Builtin::sum || builtin == Builtin::max || builtin == Builtin::min ||
         builtin == Builtin::product;
}

}  // namespace

std::vector<std::string> Globals::callable() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : operator_ids) names.emplace_back(name);
  for (const auto& [name, value] : definitions) names.emplace_back(name);
  for (const auto& [name, value] : predicate_ids) names.emplace_back(name);
  for (const BuiltinInfo& one : all_builtins()) names.emplace_back(one.name);
  return names;
}

// Whether terms may be built or looked up here.
bool Expressions::allow_terms(const Node& node, std::string_view what) {
  if (place_ != Place::clause && place_ != Place::axis && place_ != Place::value && place_ != Place::law)
    return true;
  std::string message = "`";
  message += what;
  message += "` makes a tensor, which has no place in ";
  message += describe(place_);
  report(id::not_here, node.children[0].span, message);
  return false;
}

Typed Expressions::call(const Node& node, const Type* hint) {
  const Node& callee = node.children[0];
  if (callee.kind != NodeKind::name) {
    report(id::unknown_operator, callee.span, "only names can be applied to operands");
    return broken(node.span);
  }
  const std::string& name = callee.text;
  if (generic_ != nullptr && name == generic_->name) return generic_call(node);
  if (!node.parts->others.empty() || std::any_of(node.parts->items.begin(), node.parts->items.end(),
                                                 [](const Item& i) { return i.kind == Item::Kind::dots; })) {
    report(id::generic, callee.span,
           "`" + name + "` is no operator variable: `..` stands for its other operands",
           "`lemma name<" + name + ": maps a -> r>(...)` makes it one");
    return broken(node.span);
  }
  if (place_ == Place::value || place_ == Place::law || scalars_) {
    if (const auto found = globals_.function_arity.find(name); found != globals_.function_arity.end()) {
      return scalar_call(node, name, found->second);
    }
  }
  if (name == "fold") return fold(node);
  if (name == "has") return has(node);
  if (const auto found = globals_.definitions.find(name); found != globals_.definitions.end()) {
    return expand(node, found->second);
  }
  if (const auto found = globals_.operator_ids.find(name); found != globals_.operator_ids.end()) {
    if (!allow_terms(node, name)) return broken(node.span);
    return apply(node, globals_.op(found->second));
  }
  if (const auto found = globals_.predicate_ids.find(name); found != globals_.predicate_ids.end()) {
    return predicate_call(node, found->second);
  }
  if (const BuiltinInfo* info = find_builtin(name)) {
    // In manifests, sum(a, b) is what it looks like.
    if (place_ == Place::leaf && (info->builtin == Builtin::sum || info->builtin == Builtin::max)) {
      const auto n_ary = globals_.operator_ids.find(info->builtin == Builtin::sum ? "add_n" : "max_n");
      if (n_ary != globals_.operator_ids.end()) return apply(node, globals_.op(n_ary->second));
    }
    return builtin_call(node, *info, hint);
  }
  return unknown_call(node, name);
}

Typed Expressions::unknown_call(const Node& node, const std::string& name) {
  const support::Span span = node.children[0].span;
  if (globals_.function_arity.contains(name)) {
    report(id::unknown_operator, span, "`" + name + "` is a scalar function, not an operator",
           "`op " + name + "(x: tensor): elementwise;` makes an operator of it");
    return broken(node.span);
  }
  if (place_ == Place::value || place_ == Place::law) {
    std::vector<std::string> names;
    for (const auto& [function, arity] : globals_.function_arity) names.emplace_back(function);
    for (const BuiltinInfo& one : all_builtins()) {
      if (allowed(one, place_)) names.emplace_back(one.name);
    }
    std::string suggestion = support::did_you_mean(name, names);
    if (suggestion.empty()) suggestion = "`function " + name + "(a);` declares a scalar function";
    report(id::unknown_operator, span, "unknown scalar function `" + name + "`", suggestion);
    return broken(node.span);
  }
  if (find(name) != nullptr) {
    report(id::unknown_operator, span, "`" + name + "` is a variable, not an operator",
           "an entry of a list is written " + name + "[i]");
    return broken(node.span);
  }
  report(id::unknown_operator, span, "unknown operator `" + name + "`",
         support::did_you_mean(name, globals_.callable()));
  return broken(node.span);
}

// The arguments of a call that knows no names: those before `;`, then the others.
std::vector<const Node*> Expressions::plain_arguments(const Node& node) {
  std::vector<const Node*> result;
  for (const std::vector<Item>* items : {&node.parts->items, &node.parts->attributes}) {
    for (const Item& item : *items) {
      if (item.kind == Item::Kind::plain) {
        result.push_back(&item.parts[0]);
      } else {
        report(id::arity, item.span, "`" + node.children[0].text + "` takes plain arguments only");
      }
    }
  }
  return result;
}

namespace {

bool has_element(const Expr& expr) {
  const auto is_tensor = [](const Type& type) { return type.base == Base::tensor && type.depth == 0; };
  return (expr.kind == ExprKind::index && is_tensor(expr.args[0].type)) ||
         std::ranges::any_of(expr.args, has_element);
}

}  // namespace

// Of a function that is what an operator does to elements: an element where an attribute belongs, and a
// number where the element does, are most often exchanged.
void Expressions::check_attributes_first(const Expr& call) {
  const auto found = globals_.operator_ids.find(call.name);
  if (found == globals_.operator_ids.end()) return;
  const Operator& op = globals_.op(found->second);
  if (op.attributes.size() + op.tensors.size() != call.args.size()) return;
  const auto elements = call.args.begin() + static_cast<std::ptrdiff_t>(op.attributes.size());
  const auto wrong = std::find_if(call.args.begin(), elements, has_element);
  if (wrong == elements || std::any_of(elements, call.args.end(), has_element)) return;
  std::vector<std::string> names;
  for (const auto* parameters : {&op.attributes, &op.tensors}) {
    for (const Parameter& p : *parameters) names.push_back(p.name);
  }
  std::string order;
  for (const std::string& name : names) order += (order.empty() ? "" : ", ") + name;
  report(id::type, wrong->span, "`" + call.name + "` takes attributes first, this is an element",
         "`" + call.name + "(" + order + ")`");
}

Typed Expressions::scalar_call(const Node& node, const std::string& name, std::size_t arity) {
  Expr expr = make(ExprKind::scalar_call, node.span);
  expr.name = name;
  const std::vector<const Node*> arguments = plain_arguments(node);
  if (arguments.size() != arity) {
    report(id::arity, node.children[0].span,
           "the scalar function `" + name + "` takes " + count(arity, "argument") + ", not " +
               std::to_string(arguments.size()));
  }
  for (const Node* argument : arguments) expr.args.push_back(resolve(*argument, &kScalar).expr);
  if (place_ == Place::value && arguments.size() == arity) check_attributes_first(expr);
  return finish(std::move(expr), ty(Base::any));
}

Typed Expressions::predicate_call(const Node& node, std::size_t id) {
  const Predicate& predicate = (*globals_.predicates)[id];
  Expr expr = make(ExprKind::predicate, node.span);
  expr.name = predicate.name;
  if (place_ != Place::trigger) {
    report(id::not_here, node.children[0].span, "predicates are for triggers");
  }
  const std::vector<const Node*> arguments = plain_arguments(node);
  if (arguments.size() != predicate.parameters) {
    report(id::arity, node.children[0].span,
           "`" + predicate.name + "` takes " + count(predicate.parameters, "argument") + ", not " +
               std::to_string(arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i < predicate.parameters) {
      expr.args.push_back(want(*arguments[i], predicate.slots[i].type));
    } else {
      expr.args.push_back(resolve(*arguments[i]).expr);
    }
  }
  return finish(std::move(expr), ty(Base::boolean));
}

Typed Expressions::builtin_call(const Node& node, const BuiltinInfo& info, const Type* hint) {
  const support::Span span = node.children[0].span;
  if (!allowed(info, place_)) {
    if (place_ == Place::axis) {
      report(id::size_dependent, span,
             "axis clauses may depend on attributes, ranks and dtypes, not on sizes");
    } else {
      std::string message = "`";
      message += info.name;
      message += "` has no place in ";
      message += describe(place_);
      report(id::not_here, span, message,
             info.builtin == Builtin::named || info.builtin == Builtin::constant ? "it may stand in a trigger"
                                                                                 : "");
    }
    return broken(node.span);
  }
  if (is_aggregate(info.builtin)) return number_call(node, info, hint);
  Typed result = finish(make(ExprKind::call, node.span), ty(Base::any));
  result.expr.builtin = info.builtin;
  result.expr.name = info.name;
  const std::vector<const Node*> arguments = plain_arguments(node);
  builtin_arguments(node, info, arguments, result);
  return result;
}

namespace {

struct Letter {
  char base;
  int depth;
  bool repeated;
};

struct Letters {
  static constexpr std::size_t kMost = 8;

  Letter& back() { return all[size - 1]; }
  const Letter& operator[](std::size_t k) const { return all[k]; }

  std::array<Letter, kMost> all{};
  std::size_t size = 0;
};

// The parameters of a built-in function, from their letters.
Letters letters(std::string_view text) {
  Letters result;
  for (const char c : text) {
    if (c == '*') {
      ++result.back().depth;
    } else if (c == '.') {
      result.back().repeated = true;
    } else if (c != ' ' && c != ';') {
      ENTANGLE_CHECK(result.size < Letters::kMost, "a built-in function with so many parameters");
      result.all[result.size++] = {c, 0, false};
    }
  }
  return result;
}

Type type_of(const Letter& letter) {
  Base base = Base::any;
  switch (letter.base) {
    case 't':
      base = Base::tensor;
      break;
    case 'i':
      base = Base::integer;
      break;
    case 's':
      base = Base::scalar;
      break;
    case 'b':
      base = Base::boolean;
      break;
    case 'd':
      base = Base::dtype;
      break;
    case 'n':
      base = Base::name;
      break;
    default:
      break;
  }
  return base_type(base, static_cast<std::uint8_t>(letter.depth));
}

}  // namespace

void Expressions::builtin_arguments(const Node& node, const BuiltinInfo& info,
                                    const std::vector<const Node*>& arguments, Typed& result) {
  Letters parameters = letters(info.parameters);
  const bool uniform_pattern = info.builtin == Builtin::uniform && place_ == Place::pattern;
  if (uniform_pattern) parameters = letters("s");
  const bool open = parameters.back().repeated;
  const std::size_t least = open ? parameters.size - 1 : parameters.size;
  const std::size_t most = info.builtin == Builtin::range ? 2
                           : open                         ? std::max(arguments.size(), least)
                                                          : parameters.size;
  if (arguments.size() < least || arguments.size() > most) {
    std::string takes = count(least, "argument");
    if (most > least && info.builtin == Builtin::range) takes = "1 or 2 arguments";
    if (most > least && info.builtin == Builtin::zip) takes = "lists";
    report(id::arity, node.children[0].span,
           "`" + std::string(info.name) + "` takes " + takes + ", not " + std::to_string(arguments.size()));
    return;
  }
  std::vector<Ty> types;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Letter letter = parameters[std::min(i, parameters.size - 1)];
    Typed argument;
    if (letter.base == 'l' || letter.base == 'e') {
      std::optional<Type> hint;
      if (!types.empty()) hint = letter.base == 'l' ? types[0].type : entry_of(types[0]).type;
      argument = resolve(*arguments[i], hint ? &*hint : nullptr);
      const bool list = is_any(argument.ty.type) || list_depth(argument.ty.type) > 0;
      if (letter.base == 'l' && !list) {
        report(id::type, argument.expr.span, "expected a list, this is " + describe(argument.ty.type),
               argument.ty.type.base == Base::tensor ? "the rank of a tensor is `rank(x)`" : "");
        argument.ty = ty(Base::any);
      }
    } else if (letter.base == 'a') {
      argument = resolve(*arguments[i]);
    } else {
      const Type expected = type_of(letter);
      const Place place = place_;
      // c of uniform(c), as a pattern, is an attribute.
      if (uniform_pattern && arguments[i]->kind != NodeKind::name) place_ = Place::when;
      argument = resolve(*arguments[i], &expected);
      if (argument.expr.kind != ExprKind::wildcard) check(argument, expected);
      place_ = place;
    }
    types.push_back(argument.ty);
    result.expr.args.push_back(std::move(argument.expr));
  }
  if (uniform_pattern) {
    result.ty = ty(Base::tensor);
  } else if (info.result == "?") {
    result = special_result(node, std::move(result), types);
  } else {
    const Letter letter = letters(info.result)[0];
    if (letter.base == 'l') {
      result.ty = types[0].type.base == Base::perm ? ty(Base::integer, 1) : types[0];
      result.ty.type.nonempty = false;
    } else {
      result.ty = {type_of(letter), {}};
    }
  }
  result.expr.type = result.ty.type;
}

// zip, enumerate, pairs, all: lists of tuples, and of values of one parameter.
Typed Expressions::special_result(const Node& node, Typed result, const std::vector<Ty>& arguments) {
  Ty entry = ty(Base::any);
  switch (result.expr.builtin) {
    case Builtin::zip:
      for (const Ty& list : arguments) entry.parts.push_back(entry_of(list));
      break;
    case Builtin::enumerate:
      entry.parts = {ty(Base::integer), entry_of(arguments[0])};
      break;
    case Builtin::pairs:
      entry.parts = {entry_of(arguments[0]), entry_of(arguments[0])};
      break;
    default: {
      entry = arguments[0];
      const Expr& of = result.expr.args[0];
      const bool parameter = of.kind == ExprKind::variable && lowering_ != nullptr &&
                             std::any_of(lowering_->parameters.begin(), lowering_->parameters.end(),
                                         [&](const Parameter& p) { return p.slot == of.slot; });
      if (!parameter) report(id::type, node.span, "`all` takes a parameter of the collective");
      break;
    }
  }
  result.ty = list_of(std::move(entry));
  return result;
}

// has(x, pattern if c)
Typed Expressions::has(const Node& node) {
  Expr expr = make(ExprKind::has, node.span);
  if (node.parts->items.size() != 2 || !node.parts->attributes.empty() ||
      node.parts->items[0].kind != Item::Kind::plain ||
      (node.parts->items[1].kind != Item::Kind::plain && node.parts->items[1].kind != Item::Kind::guarded)) {
    report(id::syntax, node.span, "expected `has(x, pattern)` or `has(x, pattern if c)`");
    return finish(std::move(expr), ty(Base::boolean));
  }
  if (place_ != Place::trigger) {
    report(id::not_here, node.children[0].span, "`has` is for triggers");
    return finish(std::move(expr), ty(Base::boolean));
  }
  expr.args.push_back(want(node.parts->items[0].parts[0], kTensor));
  const std::size_t mark = enter();
  const bool outer = std::exchange(local_variables_, true);
  place_ = Place::pattern;
  expr.args.push_back(want(node.parts->items[1].parts[0], kTensor));
  place_ = Place::trigger;
  local_variables_ = outer;
  if (node.parts->items[1].kind == Item::Kind::guarded)
    expr.args.push_back(want(node.parts->items[1].parts[1], kBoolean));
  leave(mark);
  return finish(std::move(expr), ty(Base::boolean));
}

// f(.., x, .. | y @ b => e; shift)
Typed Expressions::generic_call(const Node& node) {
  Expr expr = make(ExprKind::generic, node.span);
  expr.name = node.children[0].text;
  if (place_ != Place::pattern && place_ != Place::right && place_ != Place::trigger) {
    report(id::generic, node.children[0].span,
           "`" + expr.name + "` may be applied on the two sides and in the trigger only");
  }
  const bool shape = node.parts->items.size() == 3 && node.parts->items[0].kind == Item::Kind::dots &&
                     node.parts->items[1].kind == Item::Kind::plain &&
                     node.parts->items[2].kind == Item::Kind::dots;
  if (!shape) {
    report(id::generic, node.span, "expected `" + expr.name + "(.., x, ..)`: one operand among others");
    return finish(std::move(expr), ty(Base::tensor));
  }
  expr.args.push_back(want(node.parts->items[1].parts[0], kTensor));
  if (place_ == Place::pattern && (!node.parts->others.empty() || node.semicolon)) {
    report(id::generic, node.span,
           "what becomes of the other operands and of the attributes is for the right side");
    return finish(std::move(expr), ty(Base::tensor));
  }
  if (!node.parts->others.empty()) {
    const bool axis = generic_->axis != kNoSlot;
    if (axis != (node.parts->names.size() == 2)) {
      report(id::generic, node.parts->names[0].span,
             axis ? "expected `y @ b`: the other operand and its axis"
                  : "the operator variable has no axis: `y => e`");
    }
    const std::size_t mark = enter();
    for (std::size_t i = 0; i < node.parts->names.size(); ++i) {
      expr.binders.push_back(declare(node.parts->names[i], ty(i == 0 ? Base::tensor : Base::axis)));
      expr.binder_names.push_back(slots_[expr.binders.back()].name);
    }
    expr.args.push_back(want(node.parts->others[0], kTensor));
    leave(mark);
  }
  if (node.semicolon) {
    const Node* word =
        node.parts->attributes.size() == 1 && node.parts->attributes[0].kind == Item::Kind::plain
            ? &node.parts->attributes[0].parts[0]
            : nullptr;
    if (word != nullptr && word->kind == NodeKind::name && word->text == "split") {
      expr.shift = Shift::split;
    } else if (word != nullptr && word->kind == NodeKind::name && word->text == "join") {
      expr.shift = Shift::join;
    } else if (word != nullptr && word->kind == NodeKind::name && word->text == "drop") {
      expr.shift = Shift::drop;
    } else {
      report(id::generic, word != nullptr ? word->span : node.span,
             "expected `split`, `join` or `drop`: what happens to the attributes");
    }
  }
  return finish(std::move(expr), ty(Base::tensor));
}

}  // namespace entangle::rules
