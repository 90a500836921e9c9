// Definitions: each by itself, so that its errors are reported once and where they are.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <unordered_map>

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
  const bool used = std::ranges::none_of(definition.text->uses, [](std::size_t uses) { return uses == 0; });
  return typed && used && !is_of_numbers(definition) && !checked.depends_on_literals &&
         !is_looked_into(checked.body.expr);
}

using Numbers = std::vector<std::size_t>;

// Some definitions that do not use each other.
struct Row {
  explicit Row(const std::vector<support::FileId>& files) : bodies(files) {}

  void add(const Globals& globals, Definition& definition) {
    const std::size_t before = diagnostics.size();
    Checked one = check(globals, definition, diagnostics);
    definition.broken = diagnostics.size() > before;
    auto& [of, shared] = checked.emplace_back(&definition, std::nullopt);
    if (definition.broken || !may_be_shared(definition, one)) return;
    shared = Template{0, one.body.ty, one.expansions, std::move(one.applied)};
    bodies.add({std::move(one.slots), definition.text->uses, std::move(one.body.expr)});
  }

  // With what those whose body is shared give; their numbers are found later.
  std::vector<std::pair<Definition*, std::optional<Template>>> checked;
  DefinitionWriter bodies;
  std::vector<Diagnostic> diagnostics;
};

// The numbers of definitions in rows in which those that a body uses are in a row before it, as far as that
// can be.
class Order {
 public:
  // `used`: by each of them.
  explicit Order(const std::vector<Numbers>& used) : used_(used), row_of_(used.size(), kUnseen) {
    for (std::size_t number = 0; number < used.size(); ++number) add(number);
    if (in_circles_) {
      rows_.clear();
      for (const std::size_t number : order_) rows_.push_back({number});
    }
  }

  const std::vector<Numbers>& rows() const { return rows_; }

 private:
  struct Open {
    std::size_t number;
    std::size_t next = 0;  // of those used
    std::size_t row = 0;
  };
  static constexpr std::size_t kUnseen = ~std::size_t{0};
  static constexpr std::size_t kOpen = kUnseen - 1;

  // Without recursion: a file may hold a chain of any length.
  void add(std::size_t number) {
    if (row_of_[number] == kUnseen) enter(number);
    while (!open_.empty()) {
      Open& last = open_.back();
      if (last.next == used_[last.number].size()) {
        close();
        continue;
      }
      const std::size_t used = used_[last.number][last.next++];
      if (row_of_[used] == kUnseen) {
        enter(used);
      } else if (row_of_[used] == kOpen) {
        in_circles_ = true;
      } else {
        last.row = std::max(last.row, row_of_[used] + 1);
      }
    }
  }
  void enter(std::size_t number) {
    row_of_[number] = kOpen;
    open_.push_back({number});
  }
  void close() {
    const auto [number, next, row] = open_.back();
    open_.pop_back();
    row_of_[number] = row;
    rows_.resize(std::max(rows_.size(), row + 1));
    rows_[row].push_back(number);
    order_.push_back(number);
    if (!open_.empty()) open_.back().row = std::max(open_.back().row, row + 1);
  }

  const std::vector<Numbers>& used_;
  std::vector<std::size_t> row_of_;
  std::vector<Open> open_;
  Numbers order_;
  std::vector<Numbers> rows_;
  bool in_circles_ = false;
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

// Row by row, each at the same time: a body holds the numbers of those that it uses.
void Resolver::share_bodies(const std::vector<Definition*>& all) {
  constexpr std::size_t kBlock = 8;
  std::unordered_map<std::string_view, std::size_t> numbers;
  numbers.reserve(all.size());
  for (const Definition* definition : all) numbers.emplace(definition->text->name.text, numbers.size());
  std::vector<Numbers> used(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (const std::string& name : all[k]->text->calls) {
      if (const auto found = numbers.find(name); found != numbers.end()) used[k].push_back(found->second);
    }
  }
  DefinitionWriter bodies(rules_->files_);
  const Order order(used);
  for (const Numbers& row : order.rows()) {
    std::vector<Row> parts((row.size() + kBlock - 1) / kBlock, Row(rules_->files_));
    support::for_each_index(parts.size(), [&](std::size_t part) {
      const std::size_t end = std::min(row.size(), (part + 1) * kBlock);
      for (std::size_t k = part * kBlock; k < end; ++k) parts[part].add(globals_, *all[row[k]]);
    });
    for (Row& part : parts) {
      auto number = static_cast<std::uint32_t>(bodies.size());
      for (auto& [definition, shared] : part.checked) {
        if (!shared) continue;
        shared->number = number++;
        definition->shared = &declared_.templates.emplace_back(std::move(*shared));
      }
      bodies.add(std::move(part.bodies));
      std::ranges::move(part.diagnostics, std::back_inserter(diagnostics_));
    }
  }
  rules_->definitions_ = bodies.finish();
}

}  // namespace entangle::rules
