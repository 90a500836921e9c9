#include "local_problem.h"

#include <algorithm>

namespace entangle::infer {
namespace {

constexpr std::size_t kLittleNodes = 400;
constexpr std::size_t kLittleGrowth = 3;
constexpr std::size_t kLeastNodes = 1000;
constexpr std::size_t kMostGrowth = 20;
// Re-opened problems are large to begin with and seldom the answer.
constexpr std::size_t kMostGrowthReopened = 4;
constexpr std::size_t kFocusedRounds = 2;

const egraph::Reason kDefinition{egraph::Reason::Kind::definition, 0, ""};

}  // namespace

LocalProblem::LocalProblem(Joint& joint, smt::Oracle& oracle, Leaves leaves)
    : joint_(joint), graph_(joint.graph().typing(), oracle), leaves_(leaves) {}

bool LocalProblem::is_layout(rules::OpId op) const {
  return op != rules::kNoOp && graph_.rules().op(op).rearranges;
}

TermId LocalProblem::local(TermId joint_id) {
  EGraph& from = joint_.graph();
  const TermId id = from.find(joint_id);
  if (const auto it = local_of_.find(id); it != local_of_.end()) {
    return it->second;
  }
  TermId made = kNoTerm;
  if (const auto value = from.uniform(id)) {
    if (const auto full = graph_.evaluator().full(*value, from.type(id))) {
      made = *full;
    }
  }
  if (made == kNoTerm) {
    const std::string label = "t" + std::to_string(id);
    made = from.defined(id) ? graph_.leaf(from.type(id), label) : graph_.fresh(from.type(id), label);
    graph_.set_interval(made, from.interval(id));
  }
  if (joint_.is_tensor(id) || (leaves_ == Leaves::values && joint_.is_distributed(id))) {
    graph_.set_named(made);
  }
  local_of_.emplace(id, made);
  order_.push_back(id);
  return made;
}

void LocalProblem::include(TermId joint_class, TermId term) {
  if (!included_.insert(term).second) {
    return;
  }
  const auto node = joint_.graph().original(term);
  std::vector<TermId> children;
  for (const TermId child : node.children) {
    children.push_back(local(child));
  }
  const TermId made = graph_.make(node.op, node.attrs, children);
  ENTANGLE_CHECK(made != kNoTerm, "a term of the program has no type: " + graph_.last_error());
  graph_.merge(made, local(joint_class), kDefinition);
}

void LocalProblem::add_operand(TermId joint_id) {
  local(joint_id);
  drain();
  // A tensor put together or summed from tensors: gathered, reduced, scattered from others.
  for (const TermId member : joint_.members(joint_id)) {
    const auto node = joint_.graph().original(member);
    if (!joint_.is_distributed(member) || node.op == rules::kNoOp || node.children.size() < 2 ||
        !graph_.rules().op(node.op).clean) {
      continue;
    }
    if (std::ranges::all_of(node.children,
                            [&](TermId c) { return joint_.is_distributed(c) || joint_.constant(c); })) {
      include(joint_id, member);
    }
  }
  drain();
}

void LocalProblem::drain() {
  for (; drained_ < order_.size(); ++drained_) {
    const TermId id = order_[drained_];
    for (const TermId member : joint_.members(id)) {
      const auto node = joint_.graph().original(member);
      if (node.op == rules::kNoOp) {
        continue;
      }
      const bool listed = node.children.empty() && !graph_.rules().op(node.op).random;
      const bool rearranged = is_layout(node.op) && (node.children.size() == 1 || joint_.constant(id));
      if (listed || rearranged) {
        include(id, member);
      }
    }
    for (const TermId relation : joint_.relations(id)) {
      include(id, relation);
    }
  }
}

void LocalProblem::add_definition(TermId term) {
  include(joint_.graph().find(term), term);
  defined_by_.insert(joint_.graph().original(term).op);
  drain();
}

void LocalProblem::reopen(int levels) {
  reopened_ = reopened_ || levels > 0;
  std::size_t begin = 0;
  for (int level = 0; level < levels; ++level) {
    const std::size_t end = order_.size();
    for (std::size_t k = begin; k < end; ++k) {
      const TermId id = order_[k];
      if (joint_.constant(id)) {
        continue;
      }
      for (const TermId member : joint_.members(id)) {
        if (joint_.graph().original(member).op != rules::kNoOp) {
          include(id, member);
        }
      }
    }
    drain();
    begin = end;
  }
}

bool LocalProblem::steps_free(TermId term) const {
  const auto node = joint_.graph().original(term);
  const tensor::DType dtype = joint_.graph().type(term).dtype;
  return graph_.rules().op(node.op).free || tensor::is_integer(dtype) || dtype == tensor::DType::b8;
}

std::vector<TermId> LocalProblem::reachable(int steps) const {
  std::set<TermId> queue;
  std::set<TermId> known;
  std::unordered_map<TermId, int> steps_to;  // compute steps from the start; absent: 0
  const auto add = [&](TermId joint_class) {
    known.insert(joint_class);
    for (const TermId user : joint_.users(joint_class)) {
      queue.insert(user);
    }
  };
  for (const TermId id : order_) {
    add(joint_.graph().find(id));
  }
  std::vector<TermId> result;
  std::set<TermId> done;
  while (!queue.empty()) {
    const TermId term = *queue.begin();
    queue.erase(queue.begin());
    const auto node = joint_.graph().original(term);
    int cost = 0;
    bool all = true;
    bool any = false;
    for (const TermId child : node.children) {
      const TermId operand = joint_.graph().find(child);
      if (known.contains(operand)) {
        const auto it = steps_to.find(operand);
        cost = std::max(cost, it == steps_to.end() ? 0 : it->second);
        any = true;
      } else if (!joint_.constant(operand)) {
        all = false;
      }
    }
    // Of what is put together from blocks, a block that is at hand is enough: the others stay unknown.
    if (!all && !(any && is_layout(node.op))) {
      continue;
    }
    cost += steps_free(term) ? 0 : 1;
    if (cost > steps || !done.insert(term).second) {
      continue;
    }
    result.push_back(term);
    const TermId class_id = joint_.graph().find(term);
    if (!known.contains(class_id)) {
      steps_to[class_id] = cost;
      add(class_id);
    }
  }
  return result;
}

void LocalProblem::keep_alike(std::vector<TermId>& terms) const {
  EGraph& from = joint_.graph();
  std::unordered_map<TermId, std::vector<TermId>> by_class;
  for (const TermId term : terms) {
    by_class[from.find(term)].push_back(term);
  }
  std::set<TermId> kept;
  std::set<TermId> below;  // classes whose terms lead to what is kept
  std::set<TermId> above;  // classes that what is alike leads to
  std::vector<TermId> stack;
  for (const TermId term : terms) {
    if (defined_by_.contains(from.original(term).op)) {
      kept.insert(term);
      stack.push_back(term);
      above.insert(from.find(term));
    }
  }
  // What is computed from it; terms come in an order in which operands precede their users.
  for (const TermId term : terms) {
    const auto node = from.original(term);
    if (std::ranges::any_of(node.children, [&](TermId c) { return above.contains(from.find(c)); })) {
      above.insert(from.find(term));
      if (kept.insert(term).second) {
        stack.push_back(term);
      }
    }
  }
  // What it is computed from.
  while (!stack.empty()) {
    const TermId term = stack.back();
    stack.pop_back();
    for (const TermId child : from.original(term).children) {
      const TermId operand = from.find(child);
      if (!below.insert(operand).second) {
        continue;
      }
      const auto it = by_class.find(operand);
      if (it == by_class.end()) {
        continue;
      }
      for (const TermId definition : it->second) {
        if (kept.insert(definition).second) {
          stack.push_back(definition);
        }
      }
    }
  }
  std::erase_if(terms, [&](TermId term) { return !kept.contains(term); });
}

void LocalProblem::add_window(int steps, bool alike) {
  std::vector<TermId> terms = reachable(steps);
  if (alike) {
    keep_alike(terms);
  }
  for (const TermId term : terms) {
    if (!included_.contains(term)) {
      include(joint_.graph().find(term), term);
      window_.push_back(term);
    }
  }
  drain();
}

egraph::Outcome LocalProblem::saturate(const egraph::Program& program, const egraph::Limits& limits,
                                       Effort effort, const std::function<bool()>& done) {
  graph_.rebuild();
  egraph::Limits until = limits;
  const std::size_t growth = effort == Effort::small ? kLittleGrowth
                             : reopened_             ? kMostGrowthReopened
                                                     : kMostGrowth;
  const std::size_t least = effort == Effort::small ? kLittleNodes : kLeastNodes;
  until.nodes = std::min(limits.nodes, least + growth * graph_.node_count());
  until.done = done;
  const egraph::Outcome outcome = egraph::saturate(graph_, program, until);
  index_owners();
  return outcome;
}

egraph::Outcome LocalProblem::relate(const egraph::Program& program, const egraph::Limits& limits,
                                     Effort effort, TermId joint_id) {
  egraph::Limits focused = limits;
  focused.focus = local(joint_id);
  focused.focused = kFocusedRounds;
  return saturate(program, focused, effort, [this, joint_id] {
    index_owners();
    return relation::extractable(graph_, local(joint_id), options_for(joint_id));
  });
}

egraph::Outcome LocalProblem::equate(const egraph::Program& program, const egraph::Limits& limits, TermId a,
                                     TermId b) {
  return saturate(program, limits, Effort::full,
                  [this, a, b] { return graph_.find(local(a)) == graph_.find(local(b)); });
}

relation::ExtractOptions LocalProblem::options_for(TermId joint_id) {
  relation::ExtractOptions options;
  options.counterparts = joint_.is_result(joint_id);
  if (options.counterparts) {
    options.owners = [this](TermId id) -> const std::vector<Owner>& { return owners(id); };
  } else {
    options.owners = [this](TermId id) -> const std::vector<Owner>& {
      static const std::vector<Owner> kInner{Owner{}};
      static const std::vector<Owner> kNone;
      return distributed_.contains(graph_.find(id)) ? kInner : kNone;
    };
  }
  return options;
}

void LocalProblem::index_owners() {
  owners_.clear();
  distributed_.clear();
  for (const TermId id : order_) {
    const auto& owners = joint_.owners(id);
    auto& to = owners_[graph_.find(local_of_.at(id))];
    to.insert(to.end(), owners.begin(), owners.end());
    if (joint_.is_distributed(id)) {
      distributed_.insert(graph_.find(local_of_.at(id)));
    }
  }
  indexed_ = true;
}

const std::vector<Owner>& LocalProblem::owners(TermId local_id) {
  static const std::vector<Owner> kNone;
  ENTANGLE_CHECK(indexed_, "owners are known after saturation");
  const auto it = owners_.find(graph_.find(local_id));
  return it == owners_.end() ? kNone : it->second;
}

std::unordered_map<TermId, TermId> LocalProblem::to_joint() {
  std::unordered_map<TermId, TermId> result;
  for (const TermId id : order_) {
    const TermId local_class = graph_.find(local_of_.at(id));
    const auto [it, fresh] = result.emplace(local_class, id);
    const auto better = [&](TermId a, TermId b) {
      return std::tuple(joint_.is_tensor(a), joint_.is_distributed(a)) >
             std::tuple(joint_.is_tensor(b), joint_.is_distributed(b));
    };
    if (!fresh && better(id, it->second)) {
      it->second = id;
    }
  }
  return result;
}

void LocalProblem::import_equalities(std::uint32_t problem_number) {
  const egraph::Reason reason{egraph::Reason::Kind::relation, problem_number, "found equal"};
  std::unordered_map<TermId, TermId> first;
  for (const TermId id : order_) {
    const TermId local_class = graph_.find(local_of_.at(id));
    const auto [it, fresh] = first.emplace(local_class, id);
    if (!fresh) {
      joint_.graph().merge(it->second, id, reason);
    }
  }
  joint_.graph().rebuild();
}

bool LocalProblem::import(TermId joint_id, std::uint32_t problem_number) {
  const relation::ExtractOptions options = options_for(joint_id);
  const auto found = relation::extract(graph_, local(joint_id), options);
  const auto leaf = to_joint();
  import_equalities(problem_number);
  const egraph::Reason reason{egraph::Reason::Kind::relation, problem_number, "relation found"};
  for (const auto& clean : found) {
    joint_.relate(joint_id, *clean, leaf, reason);
  }
  return !found.empty();
}

}  // namespace entangle::infer
