// Joining classes and restoring congruence.

#include <algorithm>
#include <utility>

#include "egraph/impl.h"

namespace entangle::egraph {

namespace {

// Joins two ascending lists.
void splice(std::vector<Node>& nodes, Class& into, const Class& from) {
  TermId a = into.first;
  TermId b = from.first;
  if (b == kNoTerm) {
    return;
  }
  if (a == kNoTerm) {
    into.first = from.first;
    into.last = from.last;
    return;
  }
  if (into.last < b) {
    nodes[into.last].next_in_class = b;
    into.last = from.last;
    return;
  }
  TermId* at = &into.first;
  while (a != kNoTerm && b != kNoTerm) {
    TermId& least = a < b ? a : b;
    *at = least;
    at = &nodes[least].next_in_class;
    least = *at;
  }
  *at = a != kNoTerm ? a : b;
  into.last = std::max(into.last, from.last);
}

}  // namespace

void EGraph::Impl::record_clash(Clash::Kind kind, TermId a, TermId b, const Edge& edge) {
  const auto text = [&](TermId id) { return self.print_original(id) + ": " + tensor::to_string(type(id)); };
  Clash clash{kind, reason_of(edge), text(a), text(b)};
  if (std::find(clashes.begin(), clashes.end(), clash) == clashes.end()) {
    clashes.push_back(std::move(clash));
  }
}

bool EGraph::Impl::merge(TermId a, TermId b, const Edge& edge) {
  const TermId root_a = find(a);
  const TermId root_b = find(b);
  if (root_a == root_b) {
    return true;
  }
  const TermId winner = std::min(root_a, root_b);
  const TermId loser = std::max(root_a, root_b);
  Class& into = classes[winner];
  Class& from = classes[loser];
  const smt::Truth same = equal_types(classes[root_a].type, classes[root_b].type);
  if (!is_yes(same)) {
    record_clash(is_no(same) ? Clash::Kind::type : Clash::Kind::undecided, a, b, edge);
    return false;
  }
  if (into.uniform != kNone && from.uniform != kNone && into.uniform != from.uniform &&
      is_no(equal_scalars(oracle, scalars[into.uniform], scalars[from.uniform]))) {
    record_clash(Clash::Kind::constant, a, b, edge);
    if (!contradiction) {
      contradiction = self.print_original(a) + " and " + self.print_original(b) + " are equal, but one is " +
                      sym::to_string(scalars[classes[root_a].uniform]) + " and the other " +
                      sym::to_string(scalars[classes[root_b].uniform]);
    }
    return false;
  }

  join_proofs(a, b, edge, classes[root_a].terms, classes[root_b].terms);
  up[loser] = winner;
  merge_log.emplace_back(winner, loser);
  for (Use at = from.first_use; at != kNoUse; at = uses[at].next) {
    dirty.push_back(uses[at].term);
  }
  splice(nodes, into, from);
  const auto more = [](const Class& known, const Class& news) {
    return (news.uniform != kNone && known.uniform == kNone) || (news.defined && !known.defined) ||
           known.interval != news.interval;
  };
  const bool more_for_from = more(from, into);
  const bool more_for_into = more(into, from);
  if (more_for_from) {
    analyse_users(from);
  }
  if (more_for_into) {
    analyse_users(into);
  }
  if (into.first_use == kNoUse) {
    into.first_use = from.first_use;
    into.last_use = from.last_use;
  } else if (from.first_use != kNoUse) {
    uses[into.last_use].next = from.first_use;
    into.last_use = from.last_use;
  }
  into.terms += from.terms;
  into.operators |= from.operators;
  into.named |= from.named;
  into.defined |= from.defined;
  if (into.uniform == kNone) {
    into.uniform = from.uniform;
  }
  touch(into);
  if (from.interval != kNone) {
    const term::Interval known = intervals[from.interval];
    narrow(winner, known);
  }
  return true;
}

void EGraph::Impl::recanonicalise(TermId id) {
  Node& node = nodes[id];
  if (node.state == NodeState::dead) {
    return;
  }
  bool same = true;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    same = same && find(node.children[i]) == node.children[i];
  }
  if (same) {
    return;
  }
  table_erase(id);
  for (std::uint32_t i = 0; i < node.count; ++i) {
    node.children[i] = find(node.children[i]);
  }
  if (commutative(node.op)) {
    std::sort(node.children, node.children + node.count);
  }
  node.hash = node_hash(node.op, node.attrs, node.span());
  const TermId twin = probe(node.op, node.attrs, node.span(), node.hash);
  if (twin == kNoTerm) {
    table_insert(id);
    return;
  }
  Edge edge;
  edge.kind = Reason::Kind::congruence;
  if (commutative(node.op)) {
    // Pair the operands as they are equal now; later equalities must not be used to explain this one.
    const auto order = [&](const Node& of, std::vector<TermId>& out) {
      out.assign(of.given, of.given + of.count);
      std::stable_sort(out.begin(), out.end(), [&](TermId x, TermId y) { return find(x) < find(y); });
    };
    std::vector<TermId> left;
    std::vector<TermId> right;
    order(node, left);
    order(nodes[twin], right);
    edge.pairs = static_cast<std::uint32_t>(pair_pool.size());
    pair_pool.insert(pair_pool.end(), left.begin(), left.end());
    pair_pool.insert(pair_pool.end(), right.begin(), right.end());
  }
  if (!merge(id, twin, edge)) {
    return;  // the clash is recorded; the node stays, unshared
  }
  // One of the two goes: a ghost rather than a node, else the younger one.
  const bool twin_is_ghost = nodes[twin].state == NodeState::ghost;
  const bool node_is_ghost = node.state == NodeState::ghost;
  const bool keep_twin = twin_is_ghost == node_is_ghost ? twin < id : node_is_ghost;
  const TermId gone = keep_twin ? id : twin;
  if (!keep_twin) {
    table_erase(twin);
    table_insert(id);
  }
  if (nodes[gone].state == NodeState::live) {
    --live;
    touched.push_back(gone);
  }
  nodes[gone].state = NodeState::dead;
}

void EGraph::Impl::unlink_dead() {
  for (const TermId id : touched) {
    Class& data = classes[find(id)];
    data.version = ++changes;
    TermId* at = &data.first;
    data.last = kNoTerm;
    while (*at != kNoTerm) {
      Node& node = nodes[*at];
      if (node.state == NodeState::live) {
        data.last = *at;
        at = &node.next_in_class;
      } else {
        const TermId next = node.next_in_class;
        node.next_in_class = kNoTerm;
        *at = next;
      }
    }
  }
  touched.clear();
}

void EGraph::Impl::rebuild() {
  std::size_t next_dirty = 0;
  std::size_t next_stale = 0;
  while (next_dirty < dirty.size() || next_stale < stale.size()) {
    if (next_dirty < dirty.size()) {
      recanonicalise(dirty[next_dirty++]);
    } else {
      analyse(stale[next_stale++]);
    }
  }
  dirty.clear();
  stale.clear();
  unlink_dead();
}

}  // namespace entangle::egraph
