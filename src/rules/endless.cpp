#include "rules/endless.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "entangle/support/text.h"
#include "rules/diagnostics.h"

namespace entangle::rules {
namespace {

// Whether they read the same; where they stand does not matter.
bool same(const Expr& a, const Expr& b) {
  return a.kind == b.kind && a.operation == b.operation && a.builtin == b.builtin && a.shift == b.shift &&
         a.op == b.op && a.slot == b.slot && a.binders == b.binders && a.value == b.value &&
         (a.kind == ExprKind::variable || a.name == b.name) && std::ranges::equal(a.args, b.args, same) &&
         std::ranges::equal(a.attrs, b.attrs, same);
}

// What the variables of a pattern stand for; a list variable that stands for a run of operands is a list.
using Substitution = std::map<Slot, Expr>;

bool bind_to(const Expr& variable, const Expr& to, Substitution& found) {
  const auto [known, fresh] = found.try_emplace(variable.slot, to);
  return fresh || same(known->second, to);
}

bool match(const Expr& pattern, const Expr& term, Substitution& found);

bool match_operands(const std::vector<Expr>& patterns, const std::vector<Expr>& terms, Substitution& found) {
  const auto is_star = [](const Expr& e) { return e.kind == ExprKind::star; };
  const auto run = std::ranges::find_if(patterns, is_star);
  const auto before = static_cast<std::size_t>(run - patterns.begin());
  if (run == patterns.end()) {
    return std::ranges::none_of(terms, is_star) &&
           std::ranges::equal(patterns, terms,
                              [&](const Expr& p, const Expr& t) { return match(p, t, found); });
  }
  // One run, of which nothing more is known.
  const std::size_t after = patterns.size() - before - 1;
  if (std::any_of(run + 1, patterns.end(), is_star) || terms.size() < before + after) return false;
  const std::size_t end = terms.size() - after;
  for (std::size_t k = 0; k < before; ++k) {
    if (is_star(terms[k]) || !match(patterns[k], terms[k], found)) return false;
  }
  for (std::size_t k = 0; k < after; ++k) {
    if (is_star(terms[end + k]) || !match(patterns[before + 1 + k], terms[end + k], found)) return false;
  }
  if (run->args[0].kind != ExprKind::variable) return false;
  Expr list;
  list.kind = ExprKind::list;
  list.args.assign(terms.begin() + static_cast<std::ptrdiff_t>(before),
                   terms.begin() + static_cast<std::ptrdiff_t>(end));
  // *xs of *xs is xs.
  if (list.args.size() == 1 && is_star(list.args[0])) list = Expr(list.args[0].args[0]);
  return bind_to(run->args[0], list, found);
}

bool match(const Expr& pattern, const Expr& term, Substitution& found) {
  switch (pattern.kind) {
    case ExprKind::wildcard:
      return true;
    case ExprKind::variable:
      return bind_to(pattern, term, found);
    case ExprKind::literal:
      return same(pattern, term);
    case ExprKind::apply:
      return term.kind == ExprKind::apply && term.op == pattern.op &&
             match_operands(pattern.args, term.args, found) &&
             std::ranges::equal(pattern.attrs, term.attrs,
                                [&](const Expr& p, const Expr& t) { return match(p, t, found); });
    default:
      return false;
  }
}

// Nothing where it needs more than what was matched.
std::optional<Expr> substitute(const Expr& expr, const Substitution& found) {
  if (expr.kind == ExprKind::variable) {
    const auto known = found.find(expr.slot);
    return known == found.end() ? std::nullopt : std::optional(known->second);
  }
  if (!expr.binders.empty()) return std::nullopt;
  Expr result = expr;
  for (auto* parts : {&result.args, &result.attrs}) {
    std::vector<Expr> own;
    for (const Expr& part : *parts) {
      std::optional<Expr> one = substitute(part, found);
      if (!one) return std::nullopt;
      const bool spread = one->kind == ExprKind::star && one->args[0].kind == ExprKind::list;
      if (spread) {
        for (Expr& entry : one->args[0].args) own.push_back(std::move(entry));
      } else {
        own.push_back(std::move(*one));
      }
    }
    *parts = std::move(own);
  }
  return result;
}

constexpr std::size_t kLargest = 1000;

std::size_t size(const Expr& expr) {
  std::size_t result = 1;
  for (const auto* parts : {&expr.args, &expr.attrs}) {
    for (const Expr& part : *parts) result += size(part);
  }
  return result;
}

class Chain {
 public:
  Chain(const std::vector<const Lemma*>& lemmas,
        const std::unordered_map<OpId, std::vector<const Lemma*>>& by_op, const Lemma& first)
      : by_op_(by_op), first_(first) {
    steps_ = 4 * lemmas.size() + 16;
  }

  // The lemmas that lead from the right side of the first one back to its left side, the first one not among
  // them; nothing where they do not.
  std::optional<std::set<const Lemma*>> run() {
    normal_form(first_.right);
    return endless_ ? std::optional(applied_) : std::nullopt;
  }

 private:
  bool holds(const Lemma& lemma, const Substitution& found) const {
    const auto among_own = [&](const Expr& condition) {
      const std::optional<Expr> here = substitute(condition, found);
      const auto is_it = [&](const Expr& own) { return here && same(*here, own); };
      return std::ranges::any_of(first_.when, is_it) || std::ranges::any_of(first_.trigger, is_it);
    };
    return std::ranges::all_of(lemma.when, among_own) && std::ranges::all_of(lemma.trigger, among_own);
  }

  bool applies(const Lemma& lemma, const Expr& term, Substitution& found) const {
    return match(lemma.left, term, found) && holds(lemma, found);
  }

  // As it is when it is built: operands first.
  Expr normal_form(const Expr& term) {
    Expr result = term;
    for (auto* parts : {&result.args, &result.attrs}) {
      for (Expr& part : *parts) {
        part = normal_form(part);
        if (endless_) return result;
      }
    }
    if (result.kind != ExprKind::apply) return result;
    Substitution found;
    if (applies(first_, result, found)) {
      endless_ = true;
      return result;
    }
    const auto lemmas = by_op_.find(result.op);
    if (lemmas == by_op_.end()) return result;
    for (const Lemma* lemma : lemmas->second) {
      found.clear();
      if (!applies(*lemma, result, found)) continue;
      const std::optional<Expr> next = substitute(lemma->right, found);
      if (!next || steps_ == 0 || size(*next) > kLargest) continue;
      --steps_;
      const bool fresh = applied_.insert(lemma).second;
      Expr normal = normal_form(*next);
      if (fresh && !endless_) applied_.erase(lemma);
      return normal;
    }
    return result;
  }

  const std::unordered_map<OpId, std::vector<const Lemma*>>& by_op_;
  const Lemma& first_;
  std::set<const Lemma*> applied_;
  std::size_t steps_ = 0;
  bool endless_ = false;
};

}  // namespace

std::vector<support::Diagnostic> check_endless(const std::vector<Lemma>& normalise) {
  std::vector<const Lemma*> lemmas;
  std::unordered_map<OpId, std::vector<const Lemma*>> by_op;
  for (const Lemma& lemma : normalise) {
    if (lemma.generic || !lemma.given.empty() || lemma.left.kind != ExprKind::apply) continue;
    lemmas.push_back(&lemma);
    by_op[lemma.left.op].push_back(&lemma);
  }
  std::vector<support::Diagnostic> result;
  std::set<const Lemma*> reported;
  for (const Lemma* lemma : lemmas) {
    if (reported.contains(lemma)) continue;
    const std::optional<std::set<const Lemma*>> others = Chain(lemmas, by_op, *lemma).run();
    if (!others) continue;
    result.push_back(
        support::error(std::string(id::endless), lemma->right.span,
                       "the `normalise` lemma `" + lemma->name + "` is applied without end: " +
                           (others->empty() ? "its right side holds what its left side matches"
                                            : "from its right side others lead back to its left side"),
                       others->empty() ? "a `lemma`, without `normalise`, may do that"
                                       : "one of them may be a `lemma` without `normalise`"));
    reported.insert(lemma);
    // In the order of their declaration.
    for (const Lemma* other : lemmas) {
      if (!others->contains(other)) continue;
      reported.insert(other);
      support::Span place = other->span;
      place.length = 1;
      result.back().notes.push_back({place, "`" + other->name + "`"});
    }
  }
  return result;
}

}  // namespace entangle::rules
