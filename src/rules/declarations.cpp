// The first pass: what is declared, with which parameters.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <range/v3/view/reverse.hpp>

#include "entangle/rules/bytes.h"
#include "entangle/support/check.h"
#include "entangle/support/hash.h"
#include "entangle/support/parallel.h"
#include "entangle/support/text.h"
#include "rules/endless.h"
#include "rules/resolver.h"

namespace entangle::rules {

using support::Span;

namespace {

std::string describe(LoweringKind kind) {
  switch (kind) {
    case LoweringKind::local:
      return "a lowering";
    case LoweringKind::collective:
      return "a collective";
    case LoweringKind::send:
      return "a `send`";
    case LoweringKind::recv:
      return "a `recv`";
  }
  return {};
}

}  // namespace

Resolver::Resolver(const std::vector<syntax::File>& files, Bodies bodies,
                   std::vector<support::Diagnostic>& diagnostics)
    : Signatures(declared_, diagnostics),
      files_(files),
      bodies_(bodies),
      rules_(std::make_shared<RuleSet>()),
      lemmas_(rules_->files_) {}

Globals Resolver::globals_of(const RuleSet& rules) {
  Globals globals;
  globals.rules = &rules;
  globals.predicates = &rules.predicates_;
  for (OpId id = 0; id < rules.operators_.size(); ++id) {
    globals.operator_ids.emplace(rules.operators_.head(id).name, id);
  }
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
  operators_.reserve(operators);
  rules_->predicates_.reserve(predicates);
  declared_.declared = &operators_;
  declared_.predicates = &rules_->predicates_;
  for (const syntax::File& file : files_) {
    for (const syntax::Declaration& declaration : file.declarations) collect(file, declaration);
  }
  implied_functions();
  for (const ScalarFunction& f : rules_->functions_) declared_.function_arity.emplace(f.name, f.arity);
  check_definitions();
  std::vector<const syntax::Declaration*> lemmas;
  for (const syntax::File& file : files_) {
    for (const syntax::Declaration& declaration : file.declarations) {
      if (const auto* op = std::get_if<syntax::OperatorText>(&declaration.content)) {
        const auto found = globals_.operator_ids.find(op->name.text);
        if (found == globals_.operator_ids.end()) continue;
        Operator& into = operators_[found->second];
        if (into.span == declaration.span) resolve_operator(*op, into);
      } else if (const auto* predicate = std::get_if<syntax::PredicateText>(&declaration.content)) {
        const auto found = globals_.predicate_ids.find(predicate->name.text);
        if (found == globals_.predicate_ids.end()) continue;
        Predicate& into = rules_->predicates_[found->second];
        if (into.span == declaration.span) resolve_predicate(*predicate, into);
      } else if (std::holds_alternative<syntax::LemmaText>(declaration.content)) {
        lemmas.push_back(&declaration);
      } else if (const auto* law = std::get_if<syntax::LawText>(&declaration.content)) {
        resolve_law(*law, declaration.span);
      }
    }
  }
  const std::vector<Lowered> lowerings = ordered_lowerings();
  check_kinds(lowerings);
  resolve_lowerings(lowerings, [&] {
    for (const syntax::Declaration* lemma : lemmas) {
      resolve_lemma(std::get<syntax::LemmaText>(lemma->content), *lemma);
    }
    std::ranges::move(check_endless(normalise_), std::back_inserter(diagnostics_));
  });
  rules_->operators_ = operator_list(operators_, rules_->files_);
  std::vector<OpId>& by_name = rules_->op_by_name_;
  by_name.resize(operators_.size());
  std::iota(by_name.begin(), by_name.end(), OpId{0});
  std::ranges::sort(by_name, {}, [&](OpId id) -> std::string_view { return operators_[id].name; });
  rules_->lemmas_ = lemmas_.finish();
  return rules_;
}

// In the order in which they are tried: those of a file before those that it includes, so that a lowering of
// one's own comes before the library's.
std::vector<Resolver::Lowered> Resolver::ordered_lowerings() const {
  std::vector<Lowered> result;
  for (const syntax::File& file : files_ | ranges::views::reverse) {
    for (const syntax::Declaration& declaration : file.declarations) {
      if (const auto* lowering = std::get_if<syntax::LoweringText>(&declaration.content))
        result.push_back({lowering, declaration.span});
    }
  }
  return result;
}

// An operator is run by a rank alone, or by several together in one way.
void Resolver::check_kinds(const std::vector<Lowered>& all) {
  std::unordered_map<std::string_view, const Lowered*> last;
  for (const Lowered& one : all | ranges::views::reverse) {
    const syntax::LoweringText& text = *one.text;
    const auto [known, fresh] = last.try_emplace(text.name.text, &one);
    if (fresh || known->second->text->kind == text.kind) continue;
    report(id::clause, text.name.span,
           "`" + text.name.text + "` is declared as " + describe(known->second->text->kind) +
               ", it cannot be " + describe(text.kind) + " as well");
    Span other = known->second->span;
    other.length = 1;
    diagnostics_.back().notes.push_back({other, "here"});
  }
}

// Several at the same time, and something else beside: they are most of a library. Each becomes bytes at
// once, since all of them together are large.
void Resolver::resolve_lowerings(const std::vector<Lowered>& all, const std::function<void()>& beside) {
  constexpr std::size_t kBlock = 32;
  struct Block {
    std::string bytes;
    std::vector<LoweringHead> entries;
    std::vector<support::Diagnostic> diagnostics;
  };
  std::vector<Block> blocks((all.size() + kBlock - 1) / kBlock);
  support::for_each_index(blocks.size() + 1, [&](std::size_t task) {
    if (task == 0) {
      beside();
      return;
    }
    const std::size_t number = task - 1;
    Block& block = blocks[number];
    Writer writer(rules_->files_);
    const std::size_t end = std::min(all.size(), (number + 1) * kBlock);
    for (std::size_t k = number * kBlock; k < end; ++k) {
      LoweringResolver resolver(globals_, block.diagnostics);
      block.entries.push_back(write_lowering(writer, resolver.resolve(*all[k].text, all[k].span)));
    }
    ENTANGLE_CHECK(writer.ok(), "a lowering holds what has no form as bytes");
    block.bytes = writer.take();
  });
  std::vector<LoweringHead> entries;
  entries.reserve(all.size());
  for (Block& block : blocks) {
    std::ranges::move(block.diagnostics, std::back_inserter(diagnostics_));
    std::ranges::copy(block.entries, std::back_inserter(entries));
  }
  struct Kept {
    std::string names;
    std::vector<Block> blocks;
    std::vector<std::string_view> parts;  // of the blocks
  };
  const auto kept = std::make_shared<Kept>();
  for (const Lowered& one : all) kept->names += one.text->name.text;
  std::string_view names = kept->names;
  for (std::size_t k = 0; k < all.size(); ++k) {
    entries[k].op = names.substr(0, all[k].text->name.text.size());
    names.remove_prefix(entries[k].op.size());
  }
  kept->blocks = std::move(blocks);
  kept->parts.reserve(all.size());
  for (const Block& block : kept->blocks) {
    std::string_view rest = block.bytes;
    for (const LoweringHead& entry : block.entries) {
      kept->parts.push_back(rest.substr(0, entry.size));
      rest.remove_prefix(entry.size);
    }
  }
  std::vector<std::uint32_t>& by_op = rules_->lowerings_by_op_;
  by_op.resize(all.size());
  std::iota(by_op.begin(), by_op.end(), 0U);
  std::ranges::stable_sort(by_op, {}, [&](std::uint32_t k) { return entries[k].op; });
  auto bytes = [kept](std::size_t index) { return std::string(kept->parts[index]); };
  rules_->lowerings_ =
      Lowerings(std::move(entries), std::move(bytes), kept, rules_->files_, expanding(rules_->definitions_));
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
    earlier = operators_[op->second].span;
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

void Resolver::collect_operator(const syntax::OperatorText& text, Span span) {
  if (!fresh_name(text.name, "operator")) return;
  Operator op;
  op.id = static_cast<OpId>(operators_.size());
  op.name = text.name.text;
  op.span = span;
  std::vector<Parameter> all = parameters(text.parameters, false);
  default_values(all, text.parameters);
  const std::size_t tensors = text.parameters.before.size();
  op.tensors.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(tensors));
  op.attributes.assign(all.begin() + static_cast<std::ptrdiff_t>(tensors), all.end());
  std::size_t lists = 0;
  for (Parameter& p : op.tensors) {
    const auto& written = text.parameters.before[static_cast<std::size_t>(&p - op.tensors.data())];
    // Of a type that there is not, which has been said.
    if (written.type && p.type.base == Base::any && written.type->base.text != "any")
      p.type.base = Base::tensor;
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
  operators_.push_back(std::move(op));
  declared_.operator_ids.emplace(operators_.back().name, operators_.back().id);
}

void Resolver::collect_definition(const syntax::DefText& text) {
  if (!fresh_name(text.name, "definition")) return;
  Definition definition;
  definition.text = &text;
  definition.positional = text.parameters.before.size();
  definition.parameters = parameters(text.parameters, true);
  default_values(definition.parameters, text.parameters);
  check_of(definition.parameters, {}, true);
  declared_.definitions.emplace(text.name.text, std::move(definition));
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
  declared_.predicate_ids.emplace(rules_->predicates_.back().name, rules_->predicates_.size() - 1);
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
      const Operator& op = operators_[found->second];
      if (op.span != declaration.span) continue;
      const bool declared = std::any_of(rules_->functions_.begin(), rules_->functions_.end(),
                                        [&](const ScalarFunction& f) { return f.name == op.name; });
      if (!declared) {
        rules_->functions_.push_back({op.name, op.attributes.size() + op.tensors.size(), text->name.span});
      }
    }
  }
}

}  // namespace entangle::rules
