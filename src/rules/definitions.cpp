// Definitions: each by itself, so that its errors are reported once and where they are.
#include <algorithm>
#include <atomic>
#include <unordered_set>

#include "entangle/rules/bytes.h"
#include "entangle/support/parallel.h"
#include "rules/resolver.h"

namespace entangle::rules {
namespace {

using support::Diagnostic;

struct Checked {
  std::vector<Variable> slots;
  Typed body;
  std::size_t expansions = 0;
  std::vector<OpId> applied;  // operators
  bool depends_on_literals = false;
};

// Those of numbers may stand in values, too, where names mean something else.
bool is_of_numbers(const Definition& definition) {
  return !definition.parameters.empty() && std::ranges::all_of(definition.parameters, [](const Parameter& p) {
    return p.type.base == Base::scalar;
  });
}

Checked check(const Globals& globals, const Definition& definition, std::vector<Diagnostic>& diagnostics) {
  Checked result;
  Expressions expressions(globals, diagnostics, result.slots);
  expressions.set_scalars(is_of_numbers(definition));
  for (const Parameter& parameter : definition.parameters) expressions.declare(parameter);
  expressions.set_inside(definition);
  result.body = expressions.resolve(definition.text->body);
  result.expansions = expressions.expansions();
  result.applied = expressions.applied();
  std::ranges::sort(result.applied);
  result.applied.erase(std::unique(result.applied.begin(), result.applied.end()), result.applied.end());
  result.depends_on_literals = expressions.depends_on_literals();
  return result;
}

// Whether whoever uses a definition looks into its body.
bool is_looked_into(const Expr& body) {
  switch (body.kind) {
    case ExprKind::literal:
    case ExprKind::variable:
    case ExprKind::wildcard:
    case ExprKind::star:
    case ExprKind::list:
    case ExprKind::tuple:
      return true;
    default:
      return false;
  }
}

bool may_be_shared(const Definition& definition, const Checked& checked) {
  const bool typed = std::ranges::none_of(definition.parameters,
                                          [](const Parameter& p) { return p.type.base == Base::any; });
  const bool used = std::ranges::none_of(definition.uses, [](std::size_t uses) { return uses == 0; });
  return typed && used && !is_of_numbers(definition) && !checked.depends_on_literals &&
         !is_looked_into(checked.body.expr);
}

// The definitions in an order in which those that a body uses come before it, as far as there is one.
class Order {
 public:
  explicit Order(const std::unordered_map<std::string_view, Definition>& definitions)
      : definitions_(definitions) {}

  // Without recursion: a file may hold a chain of any length.
  void add(const Definition& definition) {
    enter(definition);
    while (!open_.empty()) {
      std::vector<const Definition*>& used = open_.back().used;
      if (used.empty()) {
        order_.push_back(open_.back().definition);
        open_.pop_back();
        continue;
      }
      const Definition& next = *used.back();
      used.pop_back();
      enter(next);
    }
  }
  const std::vector<const Definition*>& order() const { return order_; }

 private:
  struct Open {
    const Definition* definition;
    std::vector<const Definition*> used;  // that were not looked at yet
  };

  void enter(const Definition& definition) {
    if (!seen_.insert(&definition).second) return;
    Open& open = open_.emplace_back(Open{&definition, {}});
    find_used(definition.text->body, open.used);
  }

  void find_used(const syntax::Node& node, std::vector<const Definition*>& used) const {
    if (node.kind == syntax::NodeKind::call) {
      const auto found = definitions_.find(node.children[0].text);
      if (found != definitions_.end()) used.push_back(&found->second);
    }
    for (const syntax::Node& child : node.children) find_used(child, used);
    for (const syntax::Node& child : node.parts->others) find_used(child, used);
    for (const std::vector<syntax::Item>* items : {&node.parts->items, &node.parts->attributes}) {
      for (const syntax::Item& item : *items) {
        for (const syntax::Node& part : item.parts) find_used(part, used);
      }
    }
  }

  const std::unordered_map<std::string_view, Definition>& definitions_;
  std::unordered_set<const Definition*> seen_;
  std::vector<Open> open_;
  std::vector<const Definition*> order_;
};

}  // namespace

void Resolver::check_definitions() {
  std::vector<Definition*> all;
  for (const syntax::File& file : files_) {
    for (const syntax::Declaration& declaration : file.declarations) {
      const auto* text = std::get_if<syntax::DefText>(&declaration.content);
      if (text == nullptr) continue;
      const auto found = declared_.definitions.find(text->name.text);
      if (found != declared_.definitions.end() && found->second.text == text) all.push_back(&found->second);
    }
  }
  if (bodies_ == Bodies::shared) {
    share_bodies(all);
  } else {
    check_each(all);
  }
}

// Where there are no errors all of them at the same time; otherwise in order, since a definition with errors
// is not looked into by those after it.
void Resolver::check_each(const std::vector<Definition*>& all) {
  constexpr std::size_t kBlock = 16;
  std::atomic<bool> wrong = false;
  support::for_each_index((all.size() + kBlock - 1) / kBlock, [&](std::size_t block) {
    std::vector<Diagnostic> diagnostics;
    const std::size_t end = std::min(all.size(), (block + 1) * kBlock);
    for (std::size_t k = block * kBlock; k < end && diagnostics.empty(); ++k) {
      static_cast<void>(check(globals_, *all[k], diagnostics));
    }
    if (!diagnostics.empty()) wrong = true;
  });
  if (!wrong) return;
  for (Definition* definition : all) {
    const std::size_t before = diagnostics_.size();
    static_cast<void>(check(globals_, *definition, diagnostics_));
    definition->broken = diagnostics_.size() > before;
  }
}

void Resolver::share_bodies(const std::vector<Definition*>& all) {
  Order order(declared_.definitions);
  for (const Definition* definition : all) order.add(*definition);
  DefinitionWriter bodies(rules_->files_);
  for (const Definition* one : order.order()) {
    Definition& definition = declared_.definitions.at(one->text->name.text);
    const std::size_t before = diagnostics_.size();
    Checked checked = check(globals_, definition, diagnostics_);
    definition.broken = diagnostics_.size() > before;
    if (definition.broken || !may_be_shared(definition, checked)) continue;
    declared_.templates.push_back({static_cast<std::uint32_t>(bodies.size()), checked.body.ty,
                                   checked.expansions, std::move(checked.applied)});
    definition.shared = &declared_.templates.back();
    bodies.add({std::move(checked.slots), definition.uses, std::move(checked.body.expr)});
  }
  rules_->definitions_ = bodies.finish();
}

}  // namespace entangle::rules
