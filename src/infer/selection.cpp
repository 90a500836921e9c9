#include "selection.h"

#include <algorithm>
#include <functional>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

namespace entangle::infer {

bool Selection::is_layout(rules::OpId op) const {
  return op != rules::kNoOp && joint_.graph().rules().op(op).rearranges;
}

std::size_t Selection::position(TermId joint_id) const {
  const std::uint32_t* place = position_.find(joint_.graph().find(joint_id));
  ENTANGLE_CHECK(place != nullptr, "a class that is no part of the local problem");
  return *place;
}

void Selection::add_class(TermId joint_id) {
  const TermId id = joint_.graph().find(joint_id);
  if (position_.emplace(id, static_cast<std::uint32_t>(classes_.size())).second) {
    classes_.push_back(id);
  }
}

void Selection::include(TermId term) {
  if (!included_.insert(term)) {
    return;
  }
  for (const TermId child : joint_.graph().original(term).children) {
    add_class(child);
  }
  add_class(term);
  applications_.push_back({term, classes_.size()});
}

std::vector<TermId> Selection::included() const {
  auto terms = applications_ | ranges::views::transform(&Application::term) | ranges::to<std::vector>();
  std::ranges::sort(terms);
  return terms;
}

std::vector<TermId> Selection::applications_like(TermId term) const {
  const auto like = joint_.graph().original(term);
  std::vector<TermId> result(classes_.size(), kNoTerm);
  for (const Application& application : applications_) {
    const auto node = joint_.graph().original(application.term);
    if (application.term < joint_.distributed_end() && node.op == like.op && node.attrs == like.attrs) {
      TermId& known = result[position(application.term)];
      known = std::min(known, application.term);
    }
  }
  return result;
}

void Selection::add_operand(TermId joint_id) {
  add_class(joint_id);
  drain();
  // A tensor put together or summed from tensors: gathered, reduced, scattered from others.
  for (const TermId member : joint_.members(joint_id)) {
    const auto node = joint_.graph().original(member);
    if (!joint_.is_distributed(member) || node.op == rules::kNoOp || node.children.size() < 2 ||
        !joint_.graph().rules().op(node.op).clean) {
      continue;
    }
    if (std::ranges::all_of(node.children,
                            [&](TermId c) { return joint_.is_distributed(c) || joint_.constant(c); })) {
      include(member);
    }
  }
  drain();
}

void Selection::drain() {
  for (; drained_ < classes_.size(); ++drained_) {
    const TermId id = classes_[drained_];
    const bool of_constants = joint_.computed(id);
    for (const TermId member : joint_.members(id)) {
      const auto node = joint_.graph().original(member);
      if (node.op == rules::kNoOp) {
        continue;
      }
      const bool listed = node.children.empty() && !joint_.graph().rules().op(node.op).random;
      const bool rearranged = is_layout(node.op) && (node.children.size() == 1 || joint_.constant(id));
      const bool computed = of_constants && std::ranges::all_of(node.children, [&](TermId c) {
                              return joint_.constant(c) || joint_.computed(c);
                            });
      if (listed || rearranged || computed) {
        include(member);
      }
    }
    for (const TermId relation : joint_.relations(id)) {
      include(relation);
    }
  }
}

void Selection::add_definition(TermId term) {
  include(term);
  defined_by_.insert(joint_.graph().original(term).op);
  drain();
}

void Selection::reopen(int levels) {
  reopened_ = reopened_ || levels > 0;
  std::size_t begin = 0;
  for (int level = 0; level < levels; ++level) {
    const std::size_t end = classes_.size();
    for (std::size_t k = begin; k < end; ++k) {
      const TermId id = classes_[k];
      if (joint_.constant(id)) {
        continue;
      }
      for (const TermId member : joint_.members(id)) {
        if (joint_.graph().original(member).op != rules::kNoOp) {
          include(member);
        }
      }
    }
    drain();
    begin = end;
  }
}

bool Selection::leads_nowhere(TermId term) const {
  const auto node = joint_.graph().original(term);
  const rules::Operator& op = joint_.graph().rules().op(node.op);
  if (!op.clean || !op.rearranges || node.children.size() != 1 || !joint_.is_tensor(node.children[0])) {
    return false;
  }
  const auto users = joint_.users(term);
  return !users.empty() && std::ranges::none_of(users, [&](const Joint::User& user) {
    return joint_.graph().is_node(user.term);
  });
}

std::vector<TermId> Selection::reachable(int steps) const {
  EGraph& from = joint_.graph();
  std::vector<TermId> queue;  // a heap, the oldest first: operands come before their users
  IdMap<int> steps_to;        // of the classes that are known
  const auto known = [&](TermId operand) {
    return steps_to.contains(operand) || joint_.constant(operand) || joint_.computed(operand);
  };
  const auto ready = [&](TermId term) {
    const auto node = from.original(term);
    // Of what is put together from blocks, a block that is at hand is enough: the others stay unknown.
    return is_layout(node.op) ||
           std::ranges::all_of(node.children, [&](TermId child) { return known(from.find(child)); });
  };
  const auto add = [&](TermId joint_class, int cost) {
    // What uses one scalar everywhere is met through its other operands.
    if (steps_to.emplace(joint_class, cost).second && !from.uniform(joint_class)) {
      for (const auto& [user, other, free] : joint_.users(joint_class)) {
        // What is not ready is met again through the last of its operands.
        if ((free || cost < steps) && (other == kNoTerm || known(from.find(other))) && joint_.in_use(user) &&
            ready(user)) {
          queue.push_back(user);
          std::push_heap(queue.begin(), queue.end(), std::greater<>());
        }
      }
    }
  };
  for (const TermId id : classes_) {
    add(from.find(id), 0);
  }
  std::vector<TermId> result;
  IdSet done;
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const TermId term = queue.back();
    queue.pop_back();
    if (done.contains(term) || leads_nowhere(term)) {
      continue;
    }
    int most = 0;
    for (const TermId child : from.original(term).children) {
      if (const int* known = steps_to.find(from.find(child))) {
        most = std::max(most, *known);
      }
    }
    const int cost = most + (joint_.steps_free(term) ? 0 : 1);
    if (cost <= steps) {
      done.insert(term);
      result.push_back(term);
      add(from.find(term), cost);
    }
  }
  return result;
}

void Selection::keep_alike(std::vector<TermId>& terms) const {
  EGraph& from = joint_.graph();
  IdSet kept;
  IdSet above;  // classes that what is alike leads to
  // Terms come in an order in which operands precede their users.
  for (const TermId term : terms) {
    const auto node = from.original(term);
    if (defined_by_.contains(node.op) ||
        std::ranges::any_of(node.children, [&](TermId c) { return above.contains(from.find(c)); })) {
      kept.insert(term);
      above.insert(from.find(term));
    }
  }
  // What that is computed from; a class may be defined again later than it is used.
  IdSet below;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = terms.rbegin(); at != terms.rend(); ++at) {
      if (!kept.contains(*at) && !below.contains(from.find(*at))) {
        continue;
      }
      kept.insert(*at);
      for (const TermId child : from.original(*at).children) {
        changed = below.insert(from.find(child)) || changed;
      }
    }
  }
  std::erase_if(terms, [&](TermId term) { return !kept.contains(term); });
}

void Selection::add_window(int steps, bool alike) {
  std::vector<TermId> terms = reachable(steps);
  if (alike) {
    keep_alike(terms);
  }
  for (const TermId term : terms) {
    if (!included_.contains(term)) {
      include(term);
      window_.push_back(term);
    }
  }
  drain();
}

}  // namespace entangle::infer
