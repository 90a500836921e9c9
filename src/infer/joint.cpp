#include "joint.h"

#include <algorithm>
#include <iterator>

namespace entangle::infer {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
  from.shrink_to_fit();
}

}  // namespace

void Joint::close_distributed() {
  distributed_end_ = static_cast<TermId>(graph_.term_count());
}

void Joint::catch_up() {
  entries_.resize(graph_.term_count());
  constant_.resize(graph_.term_count(), Constant::unknown);
  const auto& log = graph_.merge_log();
  for (; seen_merges_ < log.size(); ++seen_merges_) {
    const auto [kept, gone] = log[seen_merges_];
    Entry& to = entries_[kept];
    Entry& from = entries_[gone];
    append(to.owners, from.owners);
    append(to.relations, from.relations);
    to.resolved = to.resolved || from.resolved;
    to.result = to.result || from.result;
    constant_[kept] = Constant::unknown;
  }
}

Joint::Entry& Joint::entry(TermId id) {
  refresh();
  return entries_[graph_.find(id)];
}

void Joint::add_owner(TermId id, const Owner& owner) {
  Entry& e = entry(id);
  e.owners.push_back(owner);
  e.resolved = true;
  graph_.set_named(id);
}

const std::vector<Owner>& Joint::owners(TermId id) {
  return entry(id).owners;
}

bool Joint::steps_free(TermId term) const {
  const tensor::DType dtype = graph_.type(term).dtype;
  return graph_.rules().op(graph_.original(term).op).free || tensor::is_integer(dtype) ||
         dtype == tensor::DType::b8;
}

std::span<const Joint::User> Joint::users(TermId id) {
  const TermId canonical = graph_.find(id);
  const std::uint64_t version = graph_.user_terms_version(canonical);
  Users& users = users_[canonical];
  if (users.version != version) {
    users.version = version;
    users.all.clear();
    for (const TermId term : graph_.user_terms(canonical)) {
      const auto node = graph_.original(term);
      const auto needed = [&](TermId child) { return graph_.find(child) != canonical && !constant(child); };
      const auto other = graph_.rules().op(node.op).rearranges ? node.children.end()
                                                               : std::ranges::find_if(node.children, needed);
      users.all.push_back({term, other == node.children.end() ? kNoTerm : *other, steps_free(term)});
    }
  }
  return users.all;
}

void Joint::set_resolved(TermId id) {
  entry(id).resolved = true;
}

void Joint::set_result(TermId id) {
  entry(id).result = true;
}

bool Joint::resolved(TermId id) {
  const Entry& e = entry(id);
  return e.resolved || (!e.result && is_distributed(id)) || constant(id);
}

const std::vector<TermId>& Joint::relations(TermId id) {
  return entry(id).relations;
}

void Joint::add_relation(TermId application) {
  Entry& e = entry(application);
  e.resolved = true;
  if (std::ranges::find(e.relations, application) == e.relations.end()) {
    e.relations.push_back(application);
  }
}

void Joint::relate(TermId class_id, const relation::CleanTerm& clean, const std::vector<TermId>& classes,
                   const egraph::Reason& reason) {
  const TermId built = build(clean, classes);
  graph_.merge(class_id, built, reason);
  graph_.rebuild();
  if (clean.is_leaf()) {
    set_resolved(class_id);
  } else {
    add_relation(built);
  }
}

TermId Joint::build(const relation::CleanTerm& clean, const std::vector<TermId>& classes) {
  if (clean.is_leaf()) {
    return classes.at(clean.id);
  }
  std::vector<TermId> children;
  for (const auto& child : clean.children) {
    children.push_back(build(*child, classes));
    if (!child->is_leaf() && !is_distributed(children.back()) && !constant(children.back())) {
      add_relation(children.back());
    }
  }
  graph_.make_exact(clean.op, clean.attrs, children);
  const TermId built = graph_.last_made();
  ENTANGLE_CHECK(built != kNoTerm, "a clean expression has no type: " + graph_.last_error());
  return built;
}

Joint::Constant Joint::constancy(TermId id) {
  refresh();
  const TermId root = graph_.find(id);
  if (constant_[root] == Constant::unknown) {
    constant_[root] = Constant::no;  // while it is asked for: a class may hold itself
    constant_[root] = is_constant(root, 0) ? Constant::yes
                      : is_computed(root)  ? Constant::computed
                                           : Constant::no;
  }
  return constant_[root];
}

bool Joint::constant(TermId id) {
  return constancy(id) == Constant::yes;
}

bool Joint::computed(TermId id) {
  return constancy(id) == Constant::computed;
}

bool Joint::is_computed(TermId id) {
  return std::ranges::any_of(members(id), [&](TermId member) {
    const auto node = graph_.original(member);
    if (node.op == rules::kNoOp || node.children.empty()) {
      return false;
    }
    const rules::Operator& op = graph_.rules().op(node.op);
    return !op.random && !op.drawn &&
           std::ranges::all_of(node.children, [&](TermId child) { return constancy(child) != Constant::no; });
  });
}

bool Joint::is_constant(TermId id, int depth) const {
  if (graph_.uniform(id)) {
    return true;
  }
  // Classes of layout terms may hold each other; real constants are rearranged a few times only.
  constexpr int kMostRearranged = 8;
  if (depth > kMostRearranged) {
    return false;
  }
  for (const TermId member : members(id)) {
    const auto node = graph_.original(member);
    if (node.op == rules::kNoOp || graph_.rules().op(node.op).random) {
      continue;
    }
    if (node.children.empty()) {
      return true;
    }
    if (graph_.rules().op(node.op).rearranges &&
        std::ranges::all_of(node.children, [&](TermId child) { return is_constant(child, depth + 1); })) {
      return true;
    }
  }
  return false;
}

}  // namespace entangle::infer
