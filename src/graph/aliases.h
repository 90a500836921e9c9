// Aliases: which nodes of a rank may share elements, for operators that change their operands.
//
// A node holds elements of some tensors, its bases. Nodes that hold a common base may share elements, no more
// is known. What was changed is linked: all its bases count as one from then on, since what the operator
// returned may be a view of any of them. So bases form groups (a union-find), and what a change reaches is
// the nodes of a group. The time taken grows with what is reached, not with the nodes before it.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "entangle/egraph/egraph.h"
#include "entangle/graph/graph.h"

namespace entangle::graph {

class Aliases {
 public:
  // The next node holds elements of these; or a node that is held already does of these, too.
  void hold(NodeIndex node, const std::set<egraph::TermId>& bases);
  // How many nodes, from the first on, are held.
  NodeIndex held() const { return held_; }
  // What one node is a view of, the other may be, too.
  void link(NodeIndex node, NodeIndex other);
  // Whether the node was changed, or returned by what changed something.
  bool linked(NodeIndex node) const { return nodes_[node].linked; }
  // Two bases have turned out to be the same.
  void same(egraph::TermId kept, egraph::TermId gone);
  // The next node to be held, `by`, changes what these nodes hold: the nodes before it that may share it,
  // ascending. Those that are not `needed` after it are not found again. What it returns may be a view of
  // them if it `returns_views`.
  std::vector<NodeIndex> change(const std::vector<NodeIndex>& operands, NodeIndex by, bool returns_views,
                                const std::function<bool(NodeIndex)>& needed);

 private:
  using Base = std::uint32_t;  // numbered as they are met
  struct Entry {
    std::vector<Base> bases;
    bool linked = false;
  };

  Base base(egraph::TermId term);
  Base group(Base base);
  Base unite(Base a, Base b);
  void unite_bases(const Entry& entry);

  NodeIndex held_ = 0;
  std::vector<Entry> nodes_;
  std::unordered_map<egraph::TermId, Base> numbers_;
  std::vector<Base> parents_;
  std::vector<std::vector<NodeIndex>> holders_;  // of a group, some perhaps twice
};

}  // namespace entangle::graph
