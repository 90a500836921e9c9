// The first pass: what is declared, with which parameters.
#include <algorithm>

#include "entangle/support/hash.h"
#include "entangle/support/text.h"
#include "rules/resolver.h"

namespace entangle::rules {

using support::Span;

namespace {

struct BaseWord {
  std::string_view word;
  Base base;
  bool lowering;  // only there
  bool of;        // takes a parameter or clause in parentheses
};

constexpr BaseWord kBases[] = {
    {"tensor", Base::tensor, false, false}, {"axis", Base::axis, false, true},
    {"count", Base::count, false, true},    {"perm", Base::perm, false, true},
    {"int", Base::integer, false, false},   {"scalar", Base::scalar, false, false},
    {"bool", Base::boolean, false, false},  {"name", Base::name, false, false},
    {"dtype", Base::dtype, false, false},   {"any", Base::any, false, false},
    {"group", Base::group, true, false},    {"operand", Base::operand, true, false},
};

// How often a name is mentioned; often, where what mentions it is computed for each entry of a list.
void count_uses(const syntax::Node& node, const std::string& name, std::size_t weight, std::size_t& uses) {
  using syntax::NodeKind;
  if (node.kind == NodeKind::name && node.text == name) uses += weight;
  const bool repeats =
      node.kind == NodeKind::comprehension || node.kind == NodeKind::forall || node.kind == NodeKind::exists;
  for (const syntax::Node& child : node.children)
    count_uses(child, name, repeats ? 2 * weight : weight, uses);
  for (const syntax::Node& child : node.others) count_uses(child, name, 2 * weight, uses);
  for (const std::vector<syntax::Item>* items : {&node.items, &node.attributes}) {
    for (const syntax::Item& item : *items) {
      const bool each =
          item.kind == syntax::Item::Kind::comprehension || item.kind == syntax::Item::Kind::colon;
      for (const syntax::Node& part : item.parts) count_uses(part, name, each ? 2 * weight : weight, uses);
    }
  }
}

}  // namespace

Resolver::Resolver(const std::vector<syntax::File>& files, std::vector<support::Diagnostic>& diagnostics)
    : files_(files), diagnostics_(diagnostics), rules_(std::make_shared<RuleSet>()) {}

void Resolver::report(std::string_view id, Span span, std::string message, std::string suggestion) {
  diagnostics_.push_back(support::error(std::string(id), span, std::move(message), std::move(suggestion)));
}

Globals Resolver::globals_of(const RuleSet& rules) {
  Globals globals;
  globals.operators = &rules.operators_;
  globals.predicates = &rules.predicates_;
  for (const Operator& op : rules.operators_) globals.operator_ids.emplace(op.name, op.id);
  for (const ScalarFunction& f : rules.functions_) globals.function_arity.emplace(f.name, f.arity);
  return globals;
}

std::shared_ptr<const RuleSet> Resolver::run() {
  std::size_t operators = 0;
  std::size_t predicates = 0;
  for (const syntax::File& file : files_) {
    rules_->files_.push_back(file.file);
    rules_->fingerprint_ =
        support::hash_combine(rules_->fingerprint_, support::hash_bytes(support::source_text(file.file)));
    for (const syntax::Declaration& declaration : file.declarations) {
      operators += std::holds_alternative<syntax::OperatorText>(declaration.content) ? 1 : 0;
      predicates += std::holds_alternative<syntax::PredicateText>(declaration.content) ? 1 : 0;
    }
  }
  // Names are views into what is stored here.
  rules_->operators_.reserve(operators);
  rules_->predicates_.reserve(predicates);
  globals_.operators = &rules_->operators_;
  globals_.predicates = &rules_->predicates_;
  for (const syntax::File& file : files_) {
    for (const syntax::Declaration& declaration : file.declarations) collect(file, declaration);
  }
  implied_functions();
  for (const ScalarFunction& f : rules_->functions_) globals_.function_arity.emplace(f.name, f.arity);
  check_definitions();
  for (const syntax::File& file : files_) {
    for (const syntax::Declaration& declaration : file.declarations) {
      if (const auto* op = std::get_if<syntax::OperatorText>(&declaration.content)) {
        const auto found = globals_.operator_ids.find(op->name.text);
        if (found == globals_.operator_ids.end()) continue;
        Operator& into = rules_->operators_[found->second];
        if (into.span == declaration.span) resolve_operator(*op, into);
      } else if (const auto* predicate = std::get_if<syntax::PredicateText>(&declaration.content)) {
        const auto found = globals_.predicate_ids.find(predicate->name.text);
        if (found == globals_.predicate_ids.end()) continue;
        Predicate& into = rules_->predicates_[found->second];
        if (into.span == declaration.span) resolve_predicate(*predicate, into);
      } else if (const auto* lemma = std::get_if<syntax::LemmaText>(&declaration.content)) {
        resolve_lemma(*lemma, declaration);
      } else if (const auto* law = std::get_if<syntax::LawText>(&declaration.content)) {
        resolve_law(*law, declaration.span);
      } else if (const auto* lowering = std::get_if<syntax::LoweringText>(&declaration.content)) {
        resolve_lowering(*lowering, declaration.span);
      }
    }
  }
  finish_lowerings();
  return rules_;
}

void Resolver::collect(const syntax::File& file, const syntax::Declaration& declaration) {
  if (const auto* op = std::get_if<syntax::OperatorText>(&declaration.content)) {
    collect_operator(*op, declaration.span);
  } else if (const auto* definition = std::get_if<syntax::DefText>(&declaration.content)) {
    collect_definition(*definition);
  } else if (const auto* function = std::get_if<syntax::FunctionText>(&declaration.content)) {
    collect_function(*function);
  } else if (const auto* predicate = std::get_if<syntax::PredicateText>(&declaration.content)) {
    collect_predicate(*predicate, declaration.span);
  } else if (const auto* acceptance = std::get_if<syntax::Acceptance>(&declaration.content)) {
    collect_acceptance(*acceptance, file.file);
  }
}

// Operators, definitions and predicates share one space of names, with the built-in functions.
bool Resolver::fresh_name(const syntax::Name& name, std::string_view what) {
  std::string message = "the ";
  message += what;
  message += " `" + name.text + "` ";
  if (find_builtin(name.text) != nullptr || name.text == "fold" || name.text == "has") {
    report(id::duplicate, name.span, message + "has the name of a built-in function");
    return false;
  }
  Span earlier;
  if (const auto op = globals_.operator_ids.find(name.text); op != globals_.operator_ids.end()) {
    earlier = rules_->operators_[op->second].span;
  } else if (const auto def = globals_.definitions.find(name.text); def != globals_.definitions.end()) {
    earlier = def->second.text->name.span;
  } else if (const auto p = globals_.predicate_ids.find(name.text); p != globals_.predicate_ids.end()) {
    earlier = rules_->predicates_[p->second].span;
  } else {
    return true;
  }
  earlier.length = 1;
  report(id::duplicate, name.span, message + "is declared already");
  diagnostics_.back().notes.push_back({earlier, "here"});
  return false;
}

Type Resolver::type(const syntax::TypeText& text, bool lowering) {
  Type result;
  const BaseWord* base = nullptr;
  std::vector<std::string> words;
  for (const BaseWord& word : kBases) {
    if (lowering || !word.lowering) words.emplace_back(word.word);
    if (word.word == text.base.text && (lowering || !word.lowering)) base = &word;
  }
  if (base == nullptr) {
    std::string suggestion = support::did_you_mean(text.base.text, words);
    if (text.base.text == "group" || text.base.text == "operand")
      suggestion = "it is for parameters of lowerings";
    report(id::unknown_type, text.base.span, "unknown type `" + text.base.text + "`", suggestion);
    return result;
  }
  result.base = base->base;
  if (text.of) {
    if (base->of) {
      result.of = text.of->text;
    } else {
      report(id::unknown_type, text.span, "`" + text.base.text + "` belongs to nothing");
    }
  }
  for (const char c : text.suffix) {
    if (c == '?') {
      if (!lowering) report(id::unknown_type, text.span, "only arguments of lowerings may be None");
      result.optional = true;
      continue;
    }
    if (result.depth == 3) {
      report(id::unknown_type, text.span, "too many levels of list");
      return result;
    }
    result.holes = result.holes || result.optional;
    result.optional = false;
    ++result.depth;
    result.nonempty = c == '+';
  }
  return result;
}

std::vector<Parameter> Resolver::parameters(const syntax::Parameters& text, bool lowering) {
  std::vector<Parameter> result;
  for (const std::vector<syntax::ParameterText>* group : {&text.before, &text.after}) {
    for (const syntax::ParameterText& written : *group) {
      Parameter parameter;
      parameter.name = written.name.text;
      parameter.span = written.name.span;
      if (written.type) {
        parameter.type = type(*written.type, lowering);
      } else {
        report(id::parameter, written.name.span, "the parameter `" + parameter.name + "` has no type",
               "`" + parameter.name + ": tensor`");
      }
      for (const Parameter& earlier : result) {
        if (earlier.name == parameter.name) {
          report(id::duplicate, parameter.span, "the parameter `" + parameter.name + "` is there twice");
        }
      }
      result.push_back(std::move(parameter));
    }
  }
  return result;
}

// Whether axis(x), perm(x) and count(c) speak of something.
void Resolver::check_of(const std::vector<Parameter>& parameters, const std::vector<std::string>& clauses,
                        bool result) {
  std::vector<std::string> tensors;
  if (result) tensors.emplace_back("result");
  for (const Parameter& p : parameters) {
    if (p.type.base == Base::tensor || p.type.base == Base::operand || p.type.base == Base::any) {
      tensors.push_back(p.name);
    }
  }
  for (const Parameter& p : parameters) {
    if (p.type.of.empty()) continue;
    const std::vector<std::string>& names = p.type.base == Base::count ? clauses : tensors;
    if (std::find(names.begin(), names.end(), p.type.of) != names.end()) continue;
    report(id::unknown_parameter, p.span,
           (p.type.base == Base::count ? "there is no clause `" : "there is no tensor parameter `") +
               p.type.of + "`",
           support::did_you_mean(p.type.of, names));
  }
}

void Resolver::default_values(std::vector<Parameter>& parameters, const syntax::Parameters& text) {
  std::size_t i = 0;
  for (const std::vector<syntax::ParameterText>* group : {&text.before, &text.after}) {
    for (const syntax::ParameterText& written : *group) {
      Parameter& parameter = parameters[i++];
      if (!written.default_value || parameter.type.base == Base::tensor) continue;
      Expressions expressions(globals_, diagnostics_, no_slots_);
      expressions.set_place(Place::lowering);
      Type expected = parameter.type;
      if (expected.base == Base::operand && expected.depth == 0) expected.base = Base::scalar;
      parameter.default_value = expressions.want(*written.default_value, expected);
    }
  }
}

void Resolver::declare(std::vector<Parameter>& parameters, Expressions& expressions) {
  for (Parameter& p : parameters) {
    p.slot = expressions.declare(p);
  }
}

void Resolver::collect_operator(const syntax::OperatorText& text, Span span) {
  if (!fresh_name(text.name, "operator")) return;
  Operator op;
  op.id = static_cast<OpId>(rules_->operators_.size());
  op.name = text.name.text;
  op.span = span;
  std::vector<Parameter> all = parameters(text.parameters, false);
  default_values(all, text.parameters);
  const std::size_t tensors = text.parameters.before.size();
  op.tensors.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(tensors));
  op.attributes.assign(all.begin() + static_cast<std::ptrdiff_t>(tensors), all.end());
  std::size_t lists = 0;
  for (const Parameter& p : op.tensors) {
    const bool typed =
        text.parameters.before[static_cast<std::size_t>(&p - op.tensors.data())].type.has_value();
    if (typed && (p.type.base != Base::tensor || p.type.depth > 1)) {
      report(id::parameter, p.span, "before the `;` stand tensors: `" + p.name + "` is " + describe(p.type),
             "attributes come after the `;`");
    }
    if (p.type.is_list() && ++lists == 2) {
      report(id::parameter, p.span, "an operator has at most one list of tensors");
    }
    if (text.parameters.before[static_cast<std::size_t>(&p - op.tensors.data())].default_value) {
      report(id::parameter, p.span, "a tensor has no default value");
    }
  }
  for (const Parameter& p : op.attributes) {
    if (p.type.base == Base::tensor) {
      report(id::parameter, p.span,
             "after the `;` stand attributes: `" + p.name + "` is " + describe(p.type));
    }
  }
  std::vector<std::string> clauses;
  for (const syntax::Clause& c : text.clauses) {
    if (c.kind == syntax::Clause::Kind::maps || c.kind == syntax::Clause::Kind::reduces) {
      clauses.push_back(c.name.text);
    }
  }
  check_of(all, clauses, true);
  rules_->op_by_name_.emplace(op.name, op.id);
  rules_->operators_.push_back(std::move(op));
  globals_.operator_ids.emplace(rules_->operators_.back().name, rules_->operators_.back().id);
}

void Resolver::collect_definition(const syntax::DefText& text) {
  if (!fresh_name(text.name, "definition")) return;
  Definition definition;
  definition.text = &text;
  definition.positional = text.parameters.before.size();
  definition.parameters = parameters(text.parameters, true);
  default_values(definition.parameters, text.parameters);
  check_of(definition.parameters, {}, true);
  for (const Parameter& p : definition.parameters) {
    std::size_t uses = 0;
    count_uses(text.body, p.name, 1, uses);
    definition.uses.push_back(uses);
  }
  globals_.definitions.emplace(text.name.text, std::move(definition));
}

void Resolver::collect_function(const syntax::FunctionText& text) {
  if (find_builtin(text.name.text) != nullptr) {
    report(id::duplicate, text.name.span,
           "the function `" + text.name.text + "` has the name of a built-in function");
    return;
  }
  for (const ScalarFunction& other : rules_->functions_) {
    if (other.name == text.name.text) {
      report(id::duplicate, text.name.span, "the function `" + text.name.text + "` is declared already");
      diagnostics_.back().notes.push_back({other.span, "here"});
      return;
    }
  }
  rules_->functions_.push_back({text.name.text, text.parameters.size(), text.name.span});
}

void Resolver::collect_predicate(const syntax::PredicateText& text, Span span) {
  if (!fresh_name(text.name, "predicate")) return;
  Predicate predicate;
  predicate.name = text.name.text;
  predicate.span = span;
  for (const Parameter& p : parameters(text.parameters, false))
    predicate.slots.push_back({p.name, p.type, p.span});
  predicate.parameters = predicate.slots.size();
  rules_->predicates_.push_back(std::move(predicate));
  globals_.predicate_ids.emplace(rules_->predicates_.back().name, rules_->predicates_.size() - 1);
}

void Resolver::collect_acceptance(const syntax::Acceptance& text, support::FileId file) {
  const bool proved = text.level.text == "proved";
  if (!proved && text.level.text != "bounded") {
    report(id::unknown_word, text.level.span, "expected `proved` or `bounded`",
           support::did_you_mean(text.level.text, {"proved", "bounded"}));
    return;
  }
  if (!rules_->accept_.emplace(file, proved ? Accept::proved : Accept::bounded).second) {
    report(id::duplicate, text.level.span, "the file says already what it accepts");
  }
}

// An elementwise operator without `value` declares the scalar function of its name.
void Resolver::implied_functions() {
  for (const syntax::File& file : files_) {
    for (const syntax::Declaration& declaration : file.declarations) {
      const auto* text = std::get_if<syntax::OperatorText>(&declaration.content);
      if (text == nullptr) continue;
      const bool elementwise =
          std::any_of(text->flags.begin(), text->flags.end(),
                      [](const syntax::Name& flag) { return flag.text == "elementwise"; });
      const bool value = std::any_of(text->clauses.begin(), text->clauses.end(), [](const syntax::Clause& c) {
        return c.kind == syntax::Clause::Kind::value;
      });
      if (!elementwise || value) continue;
      const auto found = globals_.operator_ids.find(text->name.text);
      if (found == globals_.operator_ids.end()) continue;
      const Operator& op = rules_->operators_[found->second];
      if (op.span != declaration.span) continue;
      const bool declared = std::any_of(rules_->functions_.begin(), rules_->functions_.end(),
                                        [&](const ScalarFunction& f) { return f.name == op.name; });
      if (!declared) {
        rules_->functions_.push_back({op.name, op.attributes.size() + op.tensors.size(), text->name.span});
      }
    }
  }
}

// Each definition by itself, so that its errors are reported once and where they are.
void Resolver::check_definitions() {
  for (const syntax::File& file : files_) {
    for (const syntax::Declaration& declaration : file.declarations) {
      const auto* text = std::get_if<syntax::DefText>(&declaration.content);
      if (text == nullptr) continue;
      const auto found = globals_.definitions.find(text->name.text);
      if (found == globals_.definitions.end() || found->second.text != text) continue;
      Definition& definition = found->second;
      const std::size_t before = diagnostics_.size();
      std::vector<Variable> slots;
      Expressions expressions(globals_, diagnostics_, slots);
      const bool scalars = !definition.parameters.empty() &&
                           std::all_of(definition.parameters.begin(), definition.parameters.end(),
                                       [](const Parameter& p) { return p.type.base == Base::scalar; });
      expressions.set_scalars(scalars);
      declare(definition.parameters, expressions);
      definition.open = true;
      static_cast<void>(expressions.resolve(text->body));
      definition.open = false;
      definition.broken = diagnostics_.size() > before;
    }
  }
}

}  // namespace entangle::rules
