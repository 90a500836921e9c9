#include "memo.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "entangle/support/hash.h"

namespace entangle::infer {
namespace {

// Words that cannot be confused with a number that follows them: every part of a key begins with one.
enum Word : std::uint64_t { kClass, kUniform, kLow, kHigh, kOwners, kApplication, kTarget };

bool mentions(const rules::Expr& expr, rules::OpId op) {
  const auto inside = [&](const rules::Expr& part) { return mentions(part, op); };
  return ((expr.kind == rules::ExprKind::apply || expr.kind == rules::ExprKind::generic) && expr.op == op) ||
         std::ranges::any_of(expr.args, inside) || std::ranges::any_of(expr.attrs, inside);
}

bool mentions(const rules::Lemma& lemma, rules::OpId op) {
  const auto inside = [&](const rules::Expr& part) { return mentions(part, op); };
  const auto given = [&](const rules::Given& g) {
    return inside(g.pattern) || (g.equal_to && inside(*g.equal_to));
  };
  return inside(lemma.left) || inside(lemma.right) || std::ranges::any_of(lemma.given, given) ||
         std::ranges::any_of(lemma.when, inside) || std::ranges::any_of(lemma.trigger, inside);
}

}  // namespace

Memo::Memo(Joint& joint) : joint_(joint) {
  const rules::RuleSet& rules = joint.graph().rules();
  for (const rules::Operator& op : rules.operators()) {
    std::vector<bool>& site = site_.emplace_back(op.attributes.size(), false);
    for (std::size_t k = 0; k < site.size(); ++k) {
      site[k] =
          op.attributes[k].name == "site" &&
          std::ranges::none_of(rules.lemmas(), [&](const rules::Lemma& l) { return mentions(l, op.id); }) &&
          std::ranges::none_of(rules.predicates(),
                               [&](const rules::Predicate& p) { return mentions(p.body, op.id); });
    }
  }
}

std::size_t Memo::Hash::operator()(const MemoKey& key) const {
  std::uint64_t hash = key.size();
  for (const std::uint64_t word : key) {
    hash = support::hash_combine(hash, word);
  }
  return hash;
}

std::uint64_t Memo::number(const tensor::Attr& attr) {
  return attrs_.emplace(attr, attrs_.size()).first->second;
}

std::uint64_t Memo::number(const tensor::TensorType& type) {
  return types_.emplace(&type, types_.size()).first->second;
}

void Memo::add_class(TermId id, Names& names, Names& places, MemoKey& key) {
  const EGraph& graph = joint_.graph();
  const auto known = static_cast<std::uint64_t>(graph.defined(id)) * 4 +
                     static_cast<std::uint64_t>(joint_.is_distributed(id)) * 2 +
                     static_cast<std::uint64_t>(joint_.is_result(id));
  key.insert(key.end(), {kClass, number(graph.type(id)), known});
  if (const auto value = graph.uniform(id)) {
    key.insert(key.end(), {kUniform, number(tensor::Attr::of(*value))});
  }
  const term::Interval interval = graph.interval(id);
  if (interval.low) {
    key.insert(key.end(), {kLow, number(tensor::Attr::of(*interval.low))});
  }
  if (interval.high) {
    key.insert(key.end(), {kHigh, number(tensor::Attr::of(*interval.high))});
  }
  const std::vector<Owner>& owners = joint_.owners(id);
  if (!owners.empty()) {
    key.insert(key.end(), {kOwners, owners.size()});
    for (const Owner& owner : owners) {
      key.insert(key.end(), {static_cast<std::uint64_t>(owner.rank),
                             names.emplace(owner.name, names.size()).first->second,
                             places.emplace(owner.place, places.size()).first->second});
    }
  }
}

void Memo::add_application(const Selection& selection, TermId term, Names& sites, MemoKey& key) {
  const auto node = joint_.graph().original(term);
  key.insert(key.end(), {kApplication, node.op, selection.position(term), node.children.size()});
  for (const TermId child : node.children) {
    key.push_back(selection.position(child));
  }
  const std::vector<bool>& site = site_[node.op];
  if (std::ranges::find(site, true) == site.end()) {
    key.push_back(number(node.attrs));
    return;
  }
  for (std::size_t k = 0; k < site.size(); ++k) {
    const std::uint64_t value = number(node.attrs.as_list()[k]);
    key.push_back(site[k] ? sites.emplace(value, sites.size()).first->second : value);
  }
}

MemoKey Memo::key(const Selection& selection, const std::vector<TermId>& targets, Effort effort) {
  Names names;
  Names places;
  Names sites;
  MemoKey key{static_cast<std::uint64_t>(effort), static_cast<std::uint64_t>(selection.reopened())};
  std::size_t classes = 0;
  const auto add_classes = [&](std::size_t end) {
    for (; classes < end; ++classes) {
      add_class(selection.classes()[classes], names, places, key);
    }
  };
  for (const Selection::Application& application : selection.applications()) {
    add_classes(application.classes);
    add_application(selection, application.term, sites, key);
  }
  add_classes(selection.classes().size());
  key.push_back(kTarget);
  for (const TermId target : targets) {
    key.push_back(selection.position(target));
  }
  return key;
}

const Solution* Memo::find(const MemoKey& key) const {
  const auto it = solutions_.find(key);
  return it == solutions_.end() ? nullptr : &it->second;
}

const Solution& Memo::store(MemoKey key, Solution solution) {
  return solutions_.insert_or_assign(std::move(key), std::move(solution)).first->second;
}

}  // namespace entangle::infer
