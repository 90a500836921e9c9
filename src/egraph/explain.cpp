// The proof forest: why two terms of a class are equal (Nieuwenhuis and Oliveras, "Proof-producing congruence
// closure").
//
// Each class is a tree over its term ids, one edge per merge. The path between two terms never changes once
// they are connected, so the operands of a congruence edge are explained by edges that are older than it, and
// explaining terminates.

#include <algorithm>
#include <set>
#include <utility>

#include "egraph/impl.h"
#include "egraph/print.h"

namespace entangle::egraph {

namespace {

class Explainer {
 public:
  explicit Explainer(const EGraph::Impl& graph) : graph_(graph), printer_(graph) {}

  // A term for printing: the id itself, or an application some of whose operands were replaced.
  struct Shape {
    TermId id = kNoTerm;
    std::vector<Shape> operands;  // when not empty: instead of those of `id`
  };

  std::vector<EGraph::Step> run(TermId a, TermId b) {
    Shape at{a, {}};
    path(at, {}, a, b);
    return std::move(steps_);
  }

 private:
  // Where inside the whole term the explained subterm stands.
  using Place = std::vector<std::size_t>;

  static Shape& inside(Shape& whole, const Place& place) {
    Shape* at = &whole;
    for (const std::size_t i : place) {
      at = &at->operands[i];
    }
    return *at;
  }

  void emit(Shape& whole, const Place& place, TermId left, TermId right, const Edge& edge, bool backwards) {
    EGraph::Step step;
    step.from = print(whole);
    inside(whole, place) = Shape{right, {}};
    step.to = print(whole);
    step.left = left;
    step.right = right;
    step.reason = graph_.reason_of(edge);
    step.backwards = backwards;
    steps_.push_back(std::move(step));
  }

  std::string print(const Shape& shape) const {
    std::size_t budget = Printer::kBudget;
    return print(shape, budget);
  }
  std::string print(const Shape& shape, std::size_t& budget) const {
    if (shape.operands.empty() || budget == 0) {
      return printer_.original(shape.id, budget);
    }
    --budget;
    std::vector<std::string> operands;
    for (const Shape& operand : shape.operands) {
      operands.push_back(print(operand, budget));
    }
    return printer_.application(graph_.nodes[shape.id].op, graph_.nodes[shape.id].attrs, operands);
  }

  // Rewrites the subterm `a` at `place` to `b`.
  void path(Shape& whole, const Place& place, TermId a, TermId b) {
    if (a == b) {
      return;
    }
    std::vector<TermId> up_a = ancestors(a);
    std::vector<TermId> up_b = ancestors(b);
    ENTANGLE_CHECK(up_a.back() == up_b.back(), "explain of terms that are not equal");
    while (up_a.size() > 1 && up_b.size() > 1 && up_a[up_a.size() - 2] == up_b[up_b.size() - 2]) {
      up_a.pop_back();
      up_b.pop_back();
    }
    for (std::size_t i = 0; i + 1 < up_a.size(); ++i) {
      cross(whole, place, up_a[i], up_a[i + 1], graph_.edges[graph_.proof_edge[up_a[i]]], false);
    }
    for (std::size_t i = up_b.size() - 1; i > 0; --i) {
      cross(whole, place, up_b[i], up_b[i - 1], graph_.edges[graph_.proof_edge[up_b[i - 1]]], true);
    }
  }

  // One edge of the forest, between a child and its parent; `down`: from the parent to the child.
  void cross(Shape& whole, const Place& place, TermId from, TermId to, const Edge& edge, bool down) {
    if (edge.kind != Reason::Kind::congruence) {
      emit(whole, place, from, to, edge, edge.reversed != down);
      return;
    }
    if (!unfolded_.insert(std::minmax(from, to)).second) {
      emit(whole, place, from, to, edge, edge.reversed != down);
      return;
    }
    const Node& left = graph_.nodes[from];
    const Node& right = graph_.nodes[to];
    std::vector<TermId> to_operands(right.given, right.given + right.count);
    std::vector<TermId> from_operands(left.given, left.given + left.count);
    if (edge.pairs != kNone) {
      // The recorded pairs are of (stated left, stated right); operands stand in the order of `from`.
      const TermId* first = graph_.pair_pool.data() + edge.pairs;
      const TermId* second = first + left.count;
      if (edge.reversed != down) {
        std::swap(first, second);
      }
      std::vector<bool> used(left.count, false);
      for (std::uint32_t i = 0; i < left.count; ++i) {
        for (std::uint32_t j = 0; j < left.count; ++j) {
          if (!used[j] && first[j] == from_operands[i]) {
            used[j] = true;
            to_operands[i] = second[j];
            break;
          }
        }
      }
    }
    {
      Shape& here = inside(whole, place);
      here = Shape{from, {}};
      for (const TermId operand : from_operands) {
        here.operands.push_back({operand, {}});
      }
    }
    for (std::size_t i = 0; i < from_operands.size(); ++i) {
      Place deeper = place;
      deeper.push_back(i);
      path(whole, deeper, from_operands[i], to_operands[i]);
    }
    if (edge.pairs != kNone && !std::equal(to_operands.begin(), to_operands.end(), right.given)) {
      emit(whole, place, from, to, edge, edge.reversed != down);  // the order of the operands
    }
    inside(whole, place) = Shape{to, {}};
  }

  std::vector<TermId> ancestors(TermId id) const {
    std::vector<TermId> result = {id};
    while (graph_.proof_parent[id] != id) {
      id = graph_.proof_parent[id];
      result.push_back(id);
    }
    return result;
  }

  const EGraph::Impl& graph_;
  Printer printer_;
  std::vector<EGraph::Step> steps_;
  std::set<std::pair<TermId, TermId>> unfolded_;
};

}  // namespace

void EGraph::Impl::join_proofs(TermId a, TermId b, const Edge& edge, std::uint32_t terms_a,
                               std::uint32_t terms_b) {
  Edge stated = edge;
  if (terms_a > terms_b) {
    std::swap(a, b);
    stated.reversed = true;
  }
  // Make a the root of its tree: turn the path from a to the root around.
  TermId child = a;
  TermId parent = proof_parent[a];
  std::uint32_t label = proof_edge[a];
  while (parent != child) {
    const TermId next = proof_parent[parent];
    const std::uint32_t next_label = proof_edge[parent];
    edges[label].reversed = !edges[label].reversed;
    proof_parent[parent] = child;
    proof_edge[parent] = label;
    child = parent;
    parent = next == parent ? child : next;
    label = next_label;
  }
  proof_parent[a] = b;
  proof_edge[a] = static_cast<std::uint32_t>(edges.size());
  edges.push_back(stated);
}

Reason EGraph::Impl::reason_of(const Edge& edge) const {
  return {edge.kind, edge.index, edge.note == kNone ? std::string() : notes[edge.note]};
}

Edge EGraph::Impl::edge_of(const Reason& reason) {
  Edge edge;
  edge.kind = reason.kind;
  edge.index = reason.index;
  if (!reason.note.empty()) {
    edge.note = static_cast<std::uint32_t>(notes.size());
    notes.push_back(reason.note);
  }
  return edge;
}

std::vector<EGraph::Step> EGraph::explain(TermId a, TermId b) const {
  ENTANGLE_CHECK(find(a) == find(b), "explain of terms that are not equal");
  return Explainer(*impl_).run(a, b);
}

}  // namespace entangle::egraph
