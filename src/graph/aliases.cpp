#include "aliases.h"

#include <algorithm>
#include <utility>

namespace entangle::graph {

using egraph::TermId;

Aliases::Base Aliases::base(TermId term) {
  const auto [place, fresh] = numbers_.emplace(term, static_cast<Base>(parents_.size()));
  if (fresh) {
    parents_.push_back(place->second);
    holders_.emplace_back();
  }
  return place->second;
}

Aliases::Base Aliases::group(Base base) {
  while (parents_[base] != base) {
    base = parents_[base] = parents_[parents_[base]];
  }
  return base;
}

Aliases::Base Aliases::unite(Base a, Base b) {
  a = group(a);
  b = group(b);
  if (a == b) {
    return a;
  }
  if (holders_[a].size() < holders_[b].size()) {
    std::swap(a, b);
  }
  parents_[b] = a;
  holders_[a].insert(holders_[a].end(), holders_[b].begin(), holders_[b].end());
  holders_[b] = {};
  return a;
}

void Aliases::unite_bases(const Entry& entry) {
  for (const Base base : entry.bases) {
    unite(entry.bases.front(), base);
  }
}

void Aliases::hold(NodeIndex node, const std::set<TermId>& bases) {
  held_ = std::max(held_, node + 1);
  nodes_.resize(std::max<std::size_t>(nodes_.size(), held_));
  for (const TermId term : bases) {
    const Base found = base(term);
    nodes_[node].bases.push_back(found);
    holders_[group(found)].push_back(node);
  }
  if (nodes_[node].linked) {
    unite_bases(nodes_[node]);
  }
}

void Aliases::link(NodeIndex node, NodeIndex other) {
  Entry& entry = nodes_[node];
  for (const Base base : nodes_[other].bases) {
    entry.bases.push_back(base);
    holders_[group(base)].push_back(node);
  }
  entry.linked = true;
  unite_bases(entry);
}

void Aliases::same(TermId kept, TermId gone) {
  const auto found = numbers_.find(gone);
  if (found == numbers_.end()) {
    return;
  }
  const Base other = found->second;
  const auto [place, fresh] = numbers_.emplace(kept, other);
  if (!fresh) {
    unite(place->second, other);
  }
}

std::vector<NodeIndex> Aliases::change(const std::vector<NodeIndex>& operands, NodeIndex by,
                                       bool returns_views, const std::function<bool(NodeIndex)>& needed) {
  std::vector<NodeIndex> found;
  std::vector<Base> groups;
  for (const NodeIndex operand : operands) {
    for (const Base base : nodes_[operand].bases) {
      groups.push_back(group(base));
    }
  }
  std::ranges::sort(groups);
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  for (const Base group : groups) {
    found.insert(found.end(), holders_[group].begin(), holders_[group].end());
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  for (const NodeIndex node : found) {
    nodes_[node].linked = true;
    unite_bases(nodes_[node]);
  }
  if (returns_views && !groups.empty()) {
    for (const Base group : groups) {
      unite(groups.front(), group);
    }
    nodes_.resize(std::max<std::size_t>(nodes_.size(), by + 1));
    nodes_[by].linked = true;
    nodes_[by].bases.push_back(groups.front());
    holders_[group(groups.front())].push_back(by);
  }
  for (const Base reached : groups) {
    std::erase_if(holders_[group(reached)], [&](NodeIndex node) { return !needed(node); });
  }
  return found;
}

}  // namespace entangle::graph
