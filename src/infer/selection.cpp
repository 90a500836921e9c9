#include "selection.h"

#include <algorithm>

namespace entangle::infer {

bool Selection::is_layout(rules::OpId op) const {
  return op != rules::kNoOp && joint_.graph().rules().op(op).rearranges;
}

std::size_t Selection::position(TermId joint_id) const {
  const auto it = position_.find(joint_.graph().find(joint_id));
  ENTANGLE_CHECK(it != position_.end(), "a class that is no part of the local problem");
  return it->second;
}

void Selection::add_class(TermId joint_id) {
  const TermId id = joint_.graph().find(joint_id);
  if (position_.emplace(id, classes_.size()).second) {
    classes_.push_back(id);
  }
}

void Selection::include(TermId term) {
  if (!included_.insert(term).second) {
    return;
  }
  for (const TermId child : joint_.graph().original(term).children) {
    add_class(child);
  }
  add_class(term);
  applications_.push_back({term, classes_.size()});
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
    for (const TermId member : joint_.members(id)) {
      const auto node = joint_.graph().original(member);
      if (node.op == rules::kNoOp) {
        continue;
      }
      const bool listed = node.children.empty() && !joint_.graph().rules().op(node.op).random;
      const bool rearranged = is_layout(node.op) && (node.children.size() == 1 || joint_.constant(id));
      if (listed || rearranged) {
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

bool Selection::steps_free(TermId term) const {
  const auto node = joint_.graph().original(term);
  const tensor::DType dtype = joint_.graph().type(term).dtype;
  return joint_.graph().rules().op(node.op).free || tensor::is_integer(dtype) || dtype == tensor::DType::b8;
}

std::vector<TermId> Selection::reachable(int steps) const {
  std::set<TermId> queue;
  std::set<TermId> known;
  std::unordered_map<TermId, int> steps_to;  // compute steps from the start; absent: 0
  const auto add = [&](TermId joint_class) {
    known.insert(joint_class);
    for (const TermId user : joint_.users(joint_class)) {
      queue.insert(user);
    }
  };
  for (const TermId id : classes_) {
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

void Selection::keep_alike(std::vector<TermId>& terms) const {
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
