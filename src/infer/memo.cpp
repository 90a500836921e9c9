#include "memo.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "entangle/support/hash.h"

namespace entangle::infer {
namespace {

// Words that cannot be confused with a number that follows them: every part of a key begins with one.
enum Word : std::uint64_t { kClass, kUniform, kLow, kHigh, kOwners, kApplication, kTarget };

void collect_operators(const rules::Expr& expr, std::vector<bool>& found) {
  if (expr.op < found.size()) {
    found[expr.op] = true;
  }
  for (const std::vector<rules::Expr>* parts : {&expr.args, &expr.attrs}) {
    for (const rules::Expr& part : *parts) {
      collect_operators(part, found);
    }
  }
}

// Of each operator, whether a lemma or a predicate mentions it.
std::vector<bool> mentioned_operators(const rules::RuleSet& rules) {
  std::vector<bool> found(rules.operators().size(), false);
  const auto collect = [&](const rules::Expr& expr) { collect_operators(expr, found); };
  for (const rules::Lemma& lemma : rules.lemmas()) {
    collect(lemma.left);
    collect(lemma.right);
    for (const rules::Given& given : lemma.given) {
      collect(given.pattern);
      if (given.equal_to) {
        collect(*given.equal_to);
      }
    }
    std::ranges::for_each(lemma.when, collect);
    std::ranges::for_each(lemma.trigger, collect);
  }
  for (const rules::Predicate& predicate : rules.predicates()) {
    collect(predicate.body);
  }
  return found;
}

}  // namespace

Memo::Memo(Joint& joint) : joint_(joint) {
  for (const rules::Operator& op : joint.graph().rules().operators()) {
    std::vector<bool>& site = site_.emplace_back();
    for (std::size_t k = 0; k < op.attributes.size(); ++k) {
      if (op.attributes[k].name == "site") {
        site.resize(op.attributes.size(), false);
        site[k] = true;
      }
    }
  }
}

const std::vector<bool>& Memo::site_attributes(rules::OpId op) {
  if (!site_[op].empty() && !std::exchange(asked_for_sites_, true)) {
    const std::vector<bool> mentioned = mentioned_operators(joint_.graph().rules());
    for (std::size_t k = 0; k < site_.size(); ++k) {
      if (mentioned[k]) {
        site_[k].clear();
      }
    }
  }
  return site_[op];
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
  const std::vector<bool>& site = site_attributes(node.op);
  if (site.empty()) {
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
