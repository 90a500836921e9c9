#include "drawn.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "programs.h"

namespace entangle::infer {
namespace {

TermId places_of(const EGraph& graph, const graph::Draw& draw) {
  return graph.original(draw.term).children.back();
}

// Whether each element of the operands is one element of the result.
bool loses_nothing(EGraph& graph, TermId application) {
  const auto node = graph.original(application);
  const rules::Operator& op = graph.rules().op(node.op);
  sym::Int elements = 0;
  for (const TermId child : node.children) {
    elements += sym::product(graph.type(child).shape);
  }
  return op.clean && op.rearranges &&
         smt::is_yes(graph.oracle().equal(elements, sym::product(graph.type(application).shape)));
}

class Matcher {
 public:
  explicit Matcher(Programs& programs)
      : programs_(programs), graph_(*programs.graph), joint_(*programs.joint) {}

  std::variant<Draws, Failing> match(const std::vector<TermId>& wanted) {
    number_ranks();
    const std::unordered_set<TermId> needed = needed_terms(wanted);
    const std::vector<graph::Draw>& drawn = programs_.lowered_sequential.draws;
    std::map<graph::NodeIndex, std::vector<std::int64_t>> made_of;  // by sequential call
    for (std::size_t k = 0; k < drawn.size(); ++k) {
      const graph::NodeIndex call = drawn[k].at.node;
      result_.sequential.try_emplace(call, result_.number());
      if (!needed.contains(drawn[k].term)) {
        continue;
      }
      std::vector<std::size_t> leaves;
      std::set<TermId> on_the_way;
      std::optional<Places> places = put_together(drawn[k].term, drawn[k].term, leaves, on_the_way);
      std::vector<std::int64_t> numbers;
      for (const std::size_t leaf : leaves) {
        numbers.push_back(number_of(leaf));
      }
      // One call may draw several values, such as what is left and the mask: at the same places.
      const auto [made, first] = made_of.try_emplace(call, numbers);
      const bool once = !first || std::ranges::all_of(numbers, [&](std::int64_t number) {
        return used_.insert(number).second;
      });
      if (!places || !once || made->second != numbers) {
        Failing failing;
        failing.at = programs_.names->place(drawn[k].term);
        failing.chain.push_back(failing.at);
        failing.reason =
            "its random mask is not that of tensors which the ranks draw at the same call, each element once";
        return failing;
      }
      result_.places.emplace(k, std::move(*places));
    }
    result_.of_ranks = programs_.lowered_ranks.draws.size();
    result_.of_sequential = drawn.size();
    return std::move(result_);
  }

 private:
  std::int64_t number_of(std::size_t draw) const {
    const graph::TensorRef& at = programs_.lowered_ranks.draws[draw].at;
    return result_.ranks.at({at.rank, at.node});
  }

  // Calls of different ranks whose results are one tensor draw the same.
  void number_ranks() {
    const std::vector<graph::Draw>& drawn = programs_.lowered_ranks.draws;
    std::map<std::int64_t, std::set<std::uint32_t>> ranks;  // that share a number
    for (std::size_t k = 0; k < drawn.size(); ++k) {
      const graph::TensorRef& at = drawn[k].at;
      std::vector<std::size_t>& same = of_class_[graph_.find(drawn[k].term)];
      std::int64_t number = 0;
      for (const std::size_t other : same) {
        if (same_call(drawn[k].term, drawn[other].term) && !ranks[number_of(other)].contains(at.rank)) {
          number = number_of(other);
          break;
        }
      }
      const auto [own, first] = result_.ranks.try_emplace({at.rank, at.node}, number);
      if (first && number == 0) {
        own->second = result_.number();
      }
      ranks[own->second].insert(at.rank);
      same.push_back(k);
    }
  }

  bool same_call(TermId a, TermId b) const {
    const auto left = graph_.original(a);
    const auto right = graph_.original(b);
    return left.op == right.op && left.attrs == right.attrs;
  }

  // What the sequential results are computed from, as it was built. (What lies behind tensors of the ranks
  // that the manifest mentions in `given` is asserted.)
  std::unordered_set<TermId> needed_terms(const std::vector<TermId>& wanted) {
    const std::vector<TermId> asserted = programs_.mentioned(programs_.resolved.given);
    const std::unordered_set<TermId> cut(asserted.begin(), asserted.end());
    std::unordered_set<TermId> seen;
    std::vector<TermId> stack = wanted;
    while (!stack.empty()) {
      const TermId term = stack.back();
      stack.pop_back();
      if (cut.contains(term) || !seen.insert(term).second) {
        continue;
      }
      const auto children = graph_.original(term).children;
      stack.insert(stack.end(), children.begin(), children.end());
    }
    return seen;
  }

  // How a class is made of what the ranks draw at the call of the sequential `drawn`.
  std::optional<Places> put_together(TermId term, TermId drawn, std::vector<std::size_t>& leaves,
                                     std::set<TermId>& on_the_way) {
    const TermId id = graph_.find(term);
    if (const auto found = of_class_.find(id); found != of_class_.end()) {
      for (const std::size_t k : found->second) {
        if (same_call(programs_.lowered_ranks.draws[k].term, drawn)) {
          leaves.push_back(k);
          return Places{rules::kNoOp, {}, {}, k};
        }
      }
    }
    if (!on_the_way.insert(id).second) {
      return std::nullopt;
    }
    std::optional<Places> result;
    for (const TermId application : joint_.relations(id)) {
      if (!loses_nothing(graph_, application)) {
        continue;
      }
      const std::size_t before = leaves.size();
      const auto node = graph_.original(application);
      Places whole{node.op, node.attrs, {}, 0};
      for (const TermId child : node.children) {
        std::optional<Places> part = put_together(child, drawn, leaves, on_the_way);
        if (!part) {
          break;
        }
        whole.parts.push_back(std::move(*part));
      }
      if (whole.parts.size() == node.children.size()) {
        result = std::move(whole);
        break;
      }
      leaves.resize(before);
    }
    on_the_way.erase(id);
    return result;
  }

  Programs& programs_;
  EGraph& graph_;
  Joint& joint_;
  Draws result_;
  std::unordered_map<TermId, std::vector<std::size_t>> of_class_;  // draws of the ranks
  std::set<std::int64_t> used_;                                    // that a sequential call is made of
};

// The class of an expression over places, whose applications are relations of theirs; kNoTerm: it has no
// type, or an application of it loses something.
TermId build(Programs& programs, const Places& places, const std::function<TermId(std::size_t)>& leaf) {
  if (places.op == rules::kNoOp) {
    return leaf(places.leaf);
  }
  std::vector<TermId> parts;
  for (const Places& part : places.parts) {
    parts.push_back(build(programs, part, leaf));
    if (parts.back() == kNoTerm) {
      return kNoTerm;
    }
  }
  const TermId made = programs.graph->make(places.op, places.attrs, parts);
  if (made == kNoTerm || !loses_nothing(*programs.graph, programs.graph->last_made())) {
    return kNoTerm;
  }
  programs.joint->add_relation(programs.graph->last_made());
  return made;
}

bool same_shape(const Programs& programs, TermId a, TermId b) {
  return std::ranges::equal(programs.graph->type(a).shape, programs.graph->type(b).shape,
                            [&](const sym::Int& left, const sym::Int& right) {
                              return smt::is_yes(programs.oracle->equal(left, right));
                            });
}

// Says that the places are those of this expression, if they have one shape.
bool relate(Programs& programs, TermId own, const Places& places,
            const std::function<TermId(std::size_t)>& leaf) {
  const TermId made = build(programs, places, leaf);
  if (made == kNoTerm || !same_shape(programs, made, own)) {
    return false;
  }
  programs.graph->merge(own, made, {egraph::Reason::Kind::relation, 0, "places of what is drawn"});
  return true;
}

}  // namespace

std::variant<Draws, Failing> match_draws(Programs& programs, const std::vector<TermId>& wanted) {
  return Matcher(programs).match(wanted);
}

void relate_places(Programs& programs, const Draws& draws) {
  // Known sizes may let other lowerings apply than in the first walk: then the places are just not related.
  if (programs.lowered_ranks.draws.size() != draws.of_ranks ||
      programs.lowered_sequential.draws.size() != draws.of_sequential) {
    return;
  }
  const auto leaf = [&](std::size_t draw) {
    return places_of(*programs.graph, programs.lowered_ranks.draws[draw]);
  };
  for (const auto& [draw, places] : draws.places) {
    relate(programs, places_of(*programs.graph, programs.lowered_sequential.draws[draw]), places, leaf);
  }
  programs.graph->rebuild();
}

std::int64_t CallNumbers::of_rank(const Call& call, Kind kind) {
  std::int64_t& number = ranks_[call];
  if (number != 0) {
    return number;
  }
  std::vector<Replicas>& alike = replicas_[std::move(kind)];
  const auto other = std::ranges::find_if(
      alike, [&](const Replicas& replicas) { return !replicas.ranks.contains(call.first); });
  Replicas& own = other != alike.end() ? *other : alike.emplace_back(Replicas{++last_, {}});
  own.ranks.insert(call.first);
  number = own.number;
  return number;
}

std::int64_t CallNumbers::of_sequential(graph::NodeIndex node) {
  std::int64_t& number = sequential_[node];
  if (number == 0) {
    number = ++last_;
  }
  return number;
}

PlacesOnTheWay::PlacesOnTheWay(Programs& programs, Walk& walk) : programs_(programs), walk_(walk) {
  const std::vector<std::int64_t> repeats = repeats_of(programs.lowered_sequential.draws);
  for (std::size_t k = 0; k < repeats.size(); ++k) {
    const graph::Draw& draw = programs.lowered_sequential.draws[k];
    sequential_.emplace(places_of(*programs.graph, draw), Sequential{draw, repeats[k]});
  }
  const std::vector<std::int64_t> of_ranks = repeats_of(programs.lowered_ranks.draws);
  for (std::size_t k = 0; k < of_ranks.size(); ++k) {
    const graph::Draw& draw = programs.lowered_ranks.draws[k];
    Numbers& numbers = numbers_[places_of(*programs.graph, draw)];
    numbers.sites.insert(draw.site);
    numbers.repeats.insert(of_ranks[k]);
  }
}

std::vector<std::int64_t> PlacesOnTheWay::repeats_of(const std::vector<graph::Draw>& draws) const {
  std::vector<std::size_t> order(draws.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t k) { return std::pair(draws[k].at.rank, draws[k].at.node); });
  std::map<std::tuple<std::uint32_t, rules::OpId, std::vector<TermId>>, std::int64_t> counts;
  std::vector<std::int64_t> result(draws.size());
  for (const std::size_t k : order) {
    const auto node = programs_.graph->original(draws[k].term);
    std::vector<TermId> operands;
    for (const TermId child : node.children.first(node.children.size() - 1)) {
      operands.push_back(programs_.graph->find(child));
    }
    result[k] = ++counts[{draws[k].at.rank, node.op, std::move(operands)}];
  }
  return result;
}

Places PlacesOnTheWay::over_places(const relation::CleanTerm& clean, const Walk::Drawn& drawn,
                                   std::vector<TermId>& leaves) const {
  if (clean.is_leaf()) {
    leaves.push_back(programs_.graph->original(drawn.terms.at(clean.id)).children.back());
    return {rules::kNoOp, {}, {}, leaves.size() - 1};
  }
  Places result{clean.op, clean.attrs, {}, 0};
  for (const relation::CleanTermPtr& part : clean.children) {
    result.parts.push_back(over_places(*part, drawn, leaves));
  }
  return result;
}

bool PlacesOnTheWay::relate(TermId term) {
  const auto at = sequential_.find(term);
  if (at == sequential_.end()) {
    return true;
  }
  const graph::Draw& call = at->second.draw;
  // By calls that are not used yet, and whose numbers are right.
  const auto related_by = [&](const std::function<bool(const Numbers&)>& right) {
    return relate(term, walk_.drawn_alike(call.term, [&](TermId application) {
      const TermId places = programs_.graph->original(application).children.back();
      return !used_.contains(places) && right(numbers_.at(places));
    }));
  };
  if (related_by([&](const Numbers& numbers) { return numbers.sites.contains(call.site); })) {
    return true;
  }
  const std::int64_t repeat = at->second.repeat;
  if (related_by([&](const Numbers& numbers) { return numbers.repeats.contains(repeat); }) ||
      related_by([](const Numbers&) { return true; })) {
    programs_.drawn_elsewhere.push_back(call.term);
    return true;
  }
  return false;
}

bool PlacesOnTheWay::relate(TermId term, const Walk::Drawn& drawn) {
  for (const relation::CleanTermPtr& relation : drawn.relations) {
    std::vector<TermId> leaves;
    const Places places = over_places(*relation, drawn, leaves);
    std::set<TermId> used(leaves.begin(), leaves.end());
    if (used.size() == leaves.size() &&
        entangle::infer::relate(programs_, term, places, [&](std::size_t k) { return leaves[k]; })) {
      programs_.graph->rebuild();
      used_.merge(used);
      return true;
    }
  }
  return false;
}

std::vector<std::string> drawn_assumptions(Programs& programs) {
  const std::vector<graph::Draw>& draws = programs.lowered_ranks.draws;
  const auto number = [&](const graph::Draw& draw) {
    return programs.number_of({draw.at.rank, draw.at.node});
  };
  std::map<std::int64_t, std::set<std::uint32_t>> ranks;  // by number of their calls
  for (const graph::Draw& draw : draws) {
    ranks[number(draw)].insert(draw.at.rank);
  }
  std::set<std::string> replicated;
  std::set<std::int64_t> named{0};  // 0: calls that are not told apart
  for (const graph::Draw& draw : draws) {
    if (ranks[number(draw)].size() > 1 && named.insert(number(draw)).second) {
      const Place place = programs.distributed->place(draw.term);
      replicated.insert("r" + std::to_string(place.rank) + "." + place.tensor +
                        (place.loc.empty() ? "" : " (" + place.loc + ")"));
    }
  }
  std::vector<std::string> result;
  if (!draws.empty()) {
    result.push_back(
        "dropout: at its k-th call an element sees the mask of the sequential element that it equals");
  }
  if (const std::size_t more = programs.drawn_elsewhere.size(); more > 0) {
    const std::string first = programs.names->place(programs.drawn_elsewhere.front()).tensor;
    result.push_back("dropout: the masks of `" + first + "`" +
                     (more > 1 ? " and " + std::to_string(more - 1) + " more" : "") +
                     " are drawn by other calls than the k-th, each once");
  }
  for (const std::string& site : replicated) {
    result.push_back("dropout of a replicated tensor: the ranks share a seed at " + site);
  }
  return result;
}

}  // namespace entangle::infer
