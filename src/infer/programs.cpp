#include "programs.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>

#include "constants.h"
#include "entangle/relation/read_programs.h"
#include "group_sums.h"
#include "sizes.h"

namespace entangle::infer {
namespace {

using graph::NodeIndex;
using graph::TensorRef;
using relation::Clean;
using support::Result;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Inputs of the ranks that the manifest says are equal, as a union-find over (rank, node).
class Replicas {
 public:
  using Key = std::pair<std::uint32_t, NodeIndex>;

  Key find(Key key) const {
    for (auto it = parent_.find(key); it != parent_.end() && it->second != key; it = parent_.find(key)) {
      key = it->second;
    }
    return key;
  }
  void join(Key a, Key b) {
    a = find(a);
    b = find(b);
    if (a != b) {
      parent_[std::max(a, b)] = std::min(a, b);
    }
  }

 private:
  std::map<Key, Key> parent_;
};

Replicas replicas_of(const Programs& programs) {
  Replicas replicas;
  const auto key = [&](const relation::Leaf& leaf) {
    return Replicas::Key{static_cast<std::uint32_t>(leaf.rank), programs.ranks[leaf.rank].find(leaf.name)};
  };
  for (const relation::Related& input : programs.resolved.inputs) {
    const std::string& name = programs.sequential_graph().nodes[input.tensor].name;
    std::optional<Replicas::Key> whole;
    for (const relation::RelatedForm& form : input.forms) {
      for (const Clean& alternative : form.expansion.alternatives) {
        if (alternative.is_leaf()) {
          if (whole) {
            replicas.join(*whole, key(alternative.leaf));
          }
          whole = key(alternative.leaf);
        }
      }
      for (const auto& group : form.expansion.replicas) {
        for (const std::size_t rank : group) {
          if (programs.ranks[rank].find(name) != graph::kNoNode &&
              programs.ranks[group.front()].find(name) != graph::kNoNode) {
            replicas.join(key({group.front(), name}), key({rank, name}));
          }
        }
      }
    }
  }
  for (const relation::TensorEquality& equality : programs.resolved.equal) {
    const auto is_placeholder = [&](const relation::TensorId& t) {
      return t.rank && relation::is_input(programs.ranks[*t.rank].nodes[t.node]);
    };
    if (is_placeholder(equality.left) && is_placeholder(equality.right)) {
      replicas.join({static_cast<std::uint32_t>(*equality.left.rank), equality.left.node},
                    {static_cast<std::uint32_t>(*equality.right.rank), equality.right.node});
    }
  }
  return replicas;
}

tensor::TensorType normalised(const tensor::TensorType& type, const smt::Oracle& oracle) {
  tensor::TensorType result = type;
  for (sym::Int& size : result.shape) {
    size = oracle.normalise(size);
  }
  return result;
}

// Registers the applications of a clean expression, from the inside out, as the relations of their classes.
void add_relations(Programs& programs, const Clean& clean, bool at_start) {
  if (clean.is_leaf()) {
    return;
  }
  for (const Clean& child : clean.children) {
    add_relations(programs, child, at_start);
  }
  programs.build(clean, at_start);
  programs.joint->add_relation(programs.graph->last_made());
}

// What is said to be equal although it holds other numbers.
support::Diagnostic unequal(support::Span at, const std::string& a, const std::string& b) {
  return contradiction(at, "`" + a + "` and `" + b + "` hold different numbers");
}

// The joint class a sequential tensor is related to by the manifest: its alternatives, made equal.
Result<TermId> related_class(Programs& programs, const relation::Related& related, bool at_start) {
  EGraph& graph = *programs.graph;
  TermId first = kNoTerm;
  std::string text_of_first;
  for (const relation::RelatedForm& form : related.forms) {
    for (const Clean& alternative : form.expansion.alternatives) {
      const TermId term = programs.build(alternative, at_start);
      ENTANGLE_CHECK(term != kNoTerm, "a resolved relation has no type: " + form.text);
      if (first == kNoTerm) {
        first = term;
        text_of_first = relation::to_string(alternative, graph.rules());
      } else if (differ(graph, first, term)) {
        return unequal(form.span, text_of_first, relation::to_string(alternative, graph.rules()));
      } else {
        graph.merge(first, term, {egraph::Reason::Kind::relation, 0, form.text});
      }
      add_relations(programs, alternative, at_start);
    }
  }
  graph.rebuild();
  return first;
}

void set_range(Programs& programs, TermId term, const relation::TensorRange& range) {
  programs.graph->set_interval(term, {range.low, range.high});
}

bool any_operator(const Clean& clean, const std::function<bool(rules::OpId)>& is) {
  return !clean.is_leaf() && (is(clean.op) || std::ranges::any_of(clean.children, [&](const Clean& child) {
                                return any_operator(child, is);
                              }));
}

// Whether every element of its leaves is an element of the expression: not so in a sum, nor where a slice
// leaves something out.
bool uses_whole_leaves(Programs& programs, const Clean& clean, bool is_input) {
  const rules::RuleSet& rules = programs.graph->rules();
  if (any_operator(clean, [&](rules::OpId op) { return rules.op(op).elementwise; })) {
    return false;
  }
  if (!any_operator(clean, [&](rules::OpId op) { return rules.op(op).name == "slice"; })) {
    return true;
  }
  // Input relations use no element twice: if there are no more elements than in the result, all are used.
  std::set<relation::Leaf> seen;
  sym::Int elements = 0;
  for (const Clean* leaf : relation::leaves(clean)) {
    if (seen.insert(leaf->leaf).second) {
      elements += sym::product(programs.graph->type(programs.build(*leaf, true)).shape);
    }
  }
  const tensor::Shape shape = programs.graph->type(programs.build(clean, true)).shape;
  return is_input && smt::is_yes(programs.oracle->less_equal(elements, sym::product(shape)));
}

// A range that leaves no value for the elements of its tensor.
const relation::TensorRange* empty_range(Programs& programs) {
  for (const relation::TensorRange& range : programs.resolved.ranges) {
    const TermId term = programs.term_at_start(range.tensor);
    if (term == kNoTerm) {
      continue;
    }
    const term::Interval known = programs.graph->interval(term);
    if (known.low && known.high && smt::is_yes(programs.oracle->less(*known.high, *known.low))) {
      return &range;
    }
  }
  return nullptr;
}

// Ranges hold of the values: a sequential input's range is one of every distributed tensor that it is
// rearranged from.
void apply_ranges(Programs& programs, bool sequential) {
  for (const relation::TensorRange& range : programs.resolved.ranges) {
    if (range.tensor.rank) {
      if (!sequential) {
        set_range(programs, programs.term_at_start(range.tensor), range);
      }
      continue;
    }
    if (sequential) {
      if (const TermId term = programs.term_at_start(range.tensor); term != kNoTerm) {
        set_range(programs, term, range);
      }
      continue;
    }
    for (const auto* section : {&programs.resolved.inputs, &programs.resolved.given}) {
      for (const relation::Related& related : *section) {
        if (related.tensor != range.tensor.node) {
          continue;
        }
        for (const relation::RelatedForm& form : related.forms) {
          for (const Clean& alternative : form.expansion.alternatives) {
            if (!uses_whole_leaves(programs, alternative, section == &programs.resolved.inputs)) {
              continue;
            }
            for (const Clean* leaf : relation::leaves(alternative)) {
              set_range(programs, programs.build(*leaf, true), range);
            }
          }
        }
      }
    }
  }
}

support::Status apply_equalities(Programs& programs, bool sequential) {
  for (const relation::TensorEquality& equality : programs.resolved.equal) {
    const bool involves_sequential = !equality.left.rank || !equality.right.rank;
    if (involves_sequential != sequential) {
      continue;
    }
    const TermId left = programs.term_at_start(equality.left);
    const TermId right = programs.term_at_start(equality.right);
    if (left != kNoTerm && right != kNoTerm) {
      if (differ(*programs.graph, left, right)) {
        return contradiction(equality.span, "`" + equality.text + "`, but the two hold different numbers");
      }
      programs.graph->merge(left, right, {egraph::Reason::Kind::assumption, 0, equality.text});
    }
  }
  programs.graph->rebuild();
  return support::Unit{};
}

Result<support::Unit> read(Programs& programs, const relation::Manifest& manifest) {
  auto graphs = relation::read_programs(manifest);
  if (!graphs) {
    return graphs.error();
  }
  programs.sequential.push_back(std::move(graphs->sequential));
  programs.ranks = std::move(graphs->ranks);
  return support::Unit{};
}

Result<support::Unit> lower_ranks(Programs& programs) {
  const Replicas replicas = replicas_of(programs);
  std::map<Replicas::Key, TermId> leaves;
  graph::LowerOptions options;
  options.leaf = [&](const TensorRef& tensor, const tensor::TensorType& type) {
    const Replicas::Key key = replicas.find({tensor.rank, tensor.node});
    const auto it = leaves.find(key);
    if (it != leaves.end()) {
      return it->second;
    }
    const std::string label =
        relation::to_string(relation::Leaf{key.first, programs.ranks[key.first].nodes[key.second].name});
    const TermId leaf = programs.graph->leaf(normalised(type, *programs.oracle), label);
    leaves.emplace(key, leaf);
    return leaf;
  };
  if (programs.drawing != Drawing::alike) {
    options.draw = [&](std::uint32_t rank, NodeIndex node, std::int64_t site,
                       const std::vector<TermId>& operands) {
      return programs.drawing == Drawing::matched
                 ? programs.draws.number_of({rank, node})
                 : programs.calls.of_rank({rank, node},
                                          {programs.ranks[rank].nodes[node].op, site, operands});
    };
  }
  auto lowered = graph::lower(programs.ranks, *programs.graph, options);
  if (!lowered) {
    return lowered.error();
  }
  programs.lowered_ranks = std::move(*lowered);
  return support::Unit{};
}

Result<support::Unit> lower_sequential(Programs& programs) {
  std::map<NodeIndex, TermId> related;
  for (const relation::Related& entry : programs.resolved.inputs) {
    const Result<TermId> value = related_class(programs, entry, true);
    if (!value) {
      return value.error();
    }
    related.emplace(entry.tensor, *value);
  }
  graph::LowerOptions options;
  options.leaf = [&](const TensorRef& tensor, const tensor::TensorType& type) {
    const auto it = related.find(tensor.node);
    return it != related.end() ? it->second
                               : programs.graph->leaf(normalised(type, *programs.oracle),
                                                      programs.sequential_graph().nodes[tensor.node].name);
  };
  if (programs.drawing != Drawing::alike) {
    options.draw = [&](std::uint32_t, NodeIndex node, std::int64_t, const std::vector<TermId>&) {
      return programs.drawing == Drawing::matched ? programs.draws.number_of(node)
                                                  : programs.calls.of_sequential(node);
    };
  }
  auto lowered = graph::lower(programs.sequential, *programs.graph, options);
  if (!lowered) {
    return lowered.error();
  }
  programs.lowered_sequential = std::move(*lowered);
  for (const TensorRef& tensor : programs.lowered_sequential.tensors()) {
    if (const TermId term = programs.lowered_sequential.term(tensor); term != kNoTerm) {
      programs.joint->set_result(term);
    }
  }
  // Inputs with listed values are these, whatever they are related to.
  for (const relation::Related& entry : programs.resolved.inputs) {
    const TermId held = programs.lowered_sequential.term_at_start(0, entry.tensor);
    if (held != kNoTerm && differ(*programs.graph, held, related.at(entry.tensor))) {
      return unequal(entry.forms.front().span, programs.sequential_graph().nodes[entry.tensor].name,
                     entry.forms.front().text);
    }
  }
  // A given equates what is computed with what is asserted: if the two cannot be equal, that is noticed.
  for (const relation::Related& entry : programs.resolved.given) {
    const Result<TermId> related_to = related_class(programs, entry, false);
    if (!related_to) {
      return related_to.error();
    }
    const TermId asserted = *related_to;
    const TermId computed = programs.lowered_sequential.term({0, entry.tensor, 0});
    if (computed != kNoTerm) {
      const std::string& name = programs.sequential_graph().nodes[entry.tensor].name;
      if (differ(*programs.graph, computed, asserted)) {
        return unequal(entry.forms.front().span, name, entry.forms.front().text);
      }
      programs.graph->merge(computed, asserted, {egraph::Reason::Kind::assumption, 0, "given " + name});
    }
  }
  programs.graph->rebuild();
  return support::Unit{};
}

// A guess how many terms both programs make: most nodes one each.
std::size_t usual_terms(const Programs& programs) {
  std::size_t nodes = programs.sequential_graph().nodes.size();
  for (const graph::Graph& rank : programs.ranks) {
    nodes += rank.nodes.size();
  }
  return nodes + nodes / 4;
}

// Lowers both programs under the facts known so far; the sequential one unless the ranks disagree.
Result<support::Unit> lower_both(Programs& programs, const Engine& engine) {
  programs.names.reset();
  programs.distributed.reset();
  programs.joint.reset();
  programs.graph.reset();
  programs.typing.reset();
  programs.oracle = std::make_unique<smt::Oracle>(programs.resolved.facts);
  programs.typing = std::make_unique<term::Typing>(*engine.rules, *programs.oracle);
  programs.graph = std::make_unique<EGraph>(*programs.typing, *programs.oracle);
  programs.graph->reserve(usual_terms(programs));
  programs.joint = std::make_unique<Joint>(*programs.graph);
  programs.calls = {};
  programs.drawn_elsewhere.clear();
  if (auto status = lower_ranks(programs); !status) {
    return status.error();
  }
  add_group_sums(programs);
  programs.joint->close_distributed();
  if (programs.lowered_ranks.mismatch) {
    return support::Unit{};
  }
  programs.distributed = std::make_unique<DistributedNames>(programs.lowered_ranks, *programs.joint);
  apply_ranges(programs, false);
  if (auto status = apply_equalities(programs, false); !status) {
    return status.error();
  }
  if (auto status = lower_sequential(programs); !status) {
    return status.error();
  }
  apply_ranges(programs, true);
  if (auto status = apply_equalities(programs, true); !status) {
    return status.error();
  }
  if (programs.drawing == Drawing::matched) {
    relate_places(programs, programs.draws);
  }
  return support::Unit{};
}

Result<support::Unit> resolve(Programs& programs, const relation::Manifest& manifest, const Engine& engine) {
  const relation::Sides sides{programs.sequential_graph(), programs.ranks};
  auto resolved = relation::resolve(manifest, *engine.rules, sides, programs.sizes);
  if (!resolved) {
    return resolved.error();
  }
  programs.resolved = std::move(*resolved);
  if (auto status = relation::check_inputs_related(manifest, programs.resolved, sides); !status) {
    return status.error();
  }
  if (programs.resolved.facts.contradictory()) {
    return contradiction({manifest.file, 0, 0, 0}, "no sizes satisfy them");
  }
  return support::Unit{};
}

}  // namespace

TermId Programs::term(const relation::TensorId& tensor) const {
  const auto rank = static_cast<std::uint32_t>(tensor.rank.value_or(0));
  return (tensor.rank ? lowered_ranks : lowered_sequential).term({rank, tensor.node, 0});
}

TermId Programs::term_at_start(const relation::TensorId& tensor) const {
  const auto rank = static_cast<std::uint32_t>(tensor.rank.value_or(0));
  return (tensor.rank ? lowered_ranks : lowered_sequential).term_at_start(rank, tensor.node);
}

std::int64_t Programs::number_of(const Call& call) const {
  if (drawing == Drawing::alike) {
    return 0;
  }
  const std::map<Call, std::int64_t>& numbers = drawing == Drawing::matched ? draws.ranks : calls.of_ranks();
  const auto known = numbers.find(call);
  return known == numbers.end() ? 0 : known->second;
}

TermId Programs::build(const Clean& clean, bool at_start) {
  if (clean.is_leaf()) {
    const NodeIndex node = ranks[clean.leaf.rank].find(clean.leaf.name);
    ENTANGLE_CHECK(node != graph::kNoNode, "a resolved relation names a tensor that does not exist");
    const relation::TensorId leaf{clean.leaf.rank, node};
    return at_start ? term_at_start(leaf) : term(leaf);
  }
  std::vector<TermId> children;
  for (const Clean& child : clean.children) {
    children.push_back(build(child, at_start));
    if (children.back() == kNoTerm) {
      return kNoTerm;
    }
  }
  return graph->make(clean.op, clean.attrs, children);
}

std::vector<TermId> Programs::mentioned(const std::vector<relation::Related>& section) {
  std::vector<TermId> result;
  for (const relation::Related& related : section) {
    for (const relation::RelatedForm& form : related.forms) {
      for (const relation::Clean& alternative : form.expansion.alternatives) {
        for (const relation::Clean* leaf : relation::leaves(alternative)) {
          result.push_back(build(*leaf));
        }
      }
    }
  }
  return result;
}

support::Diagnostic contradiction(support::Span at, const std::string& what) {
  return support::error("infer/contradiction", at,
                        "the assumptions of the manifest contradict each other: " + what);
}

Result<std::unique_ptr<Programs>> load_programs(const relation::Manifest& manifest, const Engine& engine) {
  auto programs = std::make_unique<Programs>();
  const auto start = Clock::now();
  if (auto status = read(*programs, manifest); !status) {
    return status.error();
  }
  programs->read_seconds = seconds_since(start);
  if (auto status = lower_again(*programs, manifest, engine); !status) {
    return status.error();
  }
  return programs;
}

support::Status lower_again(Programs& programs, const relation::Manifest& manifest, const Engine& engine) {
  const auto start = Clock::now();
  do {
    if (auto status = resolve(programs, manifest, engine); !status) {
      return status.error();
    }
    if (auto status = lower_both(programs, engine); !status) {
      return status.error();
    }
  } while (find_sizes(programs));
  if (!programs.lowered_ranks.mismatch) {
    if (const relation::TensorRange* range = empty_range(programs)) {
      return contradiction(range->span,
                           "`" + range->text + "` leaves no value for the elements of its tensor");
    }
    programs.names = std::make_unique<SequentialNames>(programs.lowered_sequential, *programs.graph);
  }
  programs.lower_seconds += seconds_since(start);
  return support::Unit{};
}

}  // namespace entangle::infer
