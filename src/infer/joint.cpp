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

void sort_unique(std::vector<TermId>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

void Joint::close_distributed() {
  distributed_end_ = static_cast<TermId>(graph_.term_count());
  refresh();
  for (TermId id = 0; id < distributed_end_; ++id) {
    for (const TermId child : graph_.original(id).children) {
      entry(child).users.push_back(id);
    }
  }
}

void Joint::refresh() {
  while (entries_.size() < graph_.term_count()) {
    entries_.emplace_back().members.push_back(static_cast<TermId>(entries_.size() - 1));
  }
  const auto& log = graph_.merge_log();
  for (; seen_merges_ < log.size(); ++seen_merges_) {
    const auto [kept, gone] = log[seen_merges_];
    Entry& to = entries_[kept];
    Entry& from = entries_[gone];
    append(to.members, from.members);
    append(to.owners, from.owners);
    append(to.users, from.users);
    append(to.relations, from.relations);
    to.resolved = to.resolved || from.resolved;
    sort_unique(to.members);
    sort_unique(to.users);
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

std::vector<TermId> Joint::users(TermId id) {
  std::vector<TermId> result = entry(id).users;
  sort_unique(result);
  return result;
}

const std::vector<TermId>& Joint::members(TermId id) {
  return entry(id).members;
}

void Joint::set_resolved(TermId id) {
  entry(id).resolved = true;
}

bool Joint::resolved(TermId id) {
  return entry(id).resolved;
}

std::vector<TermId> Joint::relations(TermId id) {
  return entry(id).relations;
}

void Joint::add_relation(TermId class_id, TermId clean_term) {
  const auto node = graph_.original(clean_term);
  for (const TermId child : node.children) {
    if (!is_tensor(child) && !constant(child)) {
      add_relation(child, child);
    }
  }
  Entry& e = entry(class_id);
  e.resolved = true;
  if (node.op != rules::kNoOp && std::ranges::find(e.relations, clean_term) == e.relations.end()) {
    e.relations.push_back(clean_term);
  }
}

TermId Joint::build(const relation::CleanTerm& clean, const std::unordered_map<TermId, TermId>& leaf) {
  if (clean.is_leaf()) {
    return leaf.at(clean.id);
  }
  std::vector<TermId> children;
  for (const auto& child : clean.children) {
    children.push_back(build(*child, leaf));
  }
  const TermId built = graph_.make_exact(clean.op, clean.attrs, children);
  ENTANGLE_CHECK(built != kNoTerm, "a clean expression has no type: " + graph_.last_error());
  return built;
}

bool Joint::constant(TermId id) {
  if (graph_.uniform(id)) {
    return true;
  }
  // Constants are built before what uses them, so following first-built operands terminates.
  for (const TermId member : members(id)) {
    const auto node = graph_.original(member);
    if (node.op == rules::kNoOp || graph_.rules().op(node.op).random) {
      continue;
    }
    if (node.children.empty()) {
      return true;
    }
    if (graph_.rules().op(node.op).rearranges && node.children.size() == 1 && node.children[0] < member &&
        constant(node.children[0])) {
      return true;
    }
  }
  return false;
}

}  // namespace entangle::infer
