#include "selection.h"

#include <algorithm>
#include <functional>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>
#include <set>
#include <span>

namespace entangle::infer {

std::size_t Selection::position(TermId joint_id) const {
  const std::uint32_t* place = position_.find(joint_.graph().find(joint_id));
  ENTANGLE_CHECK(place != nullptr, "a class that is no part of the local problem");
  return *place;
}

std::uint32_t Selection::add_class(TermId joint_id) {
  const TermId id = joint_.graph().find(joint_id);
  const auto [place, fresh] = position_.emplace(id, static_cast<std::uint32_t>(classes_.size()));
  if (fresh) {
    classes_.push_back(id);
  }
  return *place;
}

void Selection::include(TermId term) {
  if (!included_.insert(term)) {
    return;
  }
  const auto operands = static_cast<std::uint32_t>(operand_places_.size());
  for (const TermId child : joint_.graph().original(term).children) {
    operand_places_.push_back(add_class(child));
  }
  const std::uint32_t place = add_class(term);
  applications_.push_back({term, static_cast<std::uint32_t>(classes_.size()), place, operands});
}

std::vector<TermId> Selection::included() const {
  auto terms = applications_ | ranges::views::transform(&Application::term) | ranges::to<std::vector>();
  std::ranges::sort(terms);
  return terms;
}

void Selection::take_like(TermId term, const std::function<bool(TermId)>& may_be_used) {
  const auto like = joint_.graph().original(term);
  std::vector<const Application*> found;
  for (const Application& application : applications_) {
    const auto node = joint_.graph().original(application.term);
    if (application.term < joint_.distributed_end() && node.op == like.op && node.attrs == like.attrs &&
        may_be_used(application.term)) {
      found.push_back(&application);
    }
  }
  // Of several calls with the same operands the first, so that the others are left for the next.
  std::ranges::sort(found, {}, &Application::term);
  std::set<std::vector<std::uint32_t>> taken;
  like_.assign(classes_.size(), kNoTerm);
  for (const Application* application : found) {
    const std::span<const std::uint32_t> operands = places_of_operands(*application);
    if (like_[application->place] == kNoTerm && taken.emplace(operands.begin(), operands.end() - 1).second) {
      like_[application->place] = application->term;
    }
  }
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

void Selection::include_constants(TermId joint_id) {
  const bool computed = joint_.computed(joint_id);
  for (const TermId member : joint_.members(joint_id)) {
    const auto node = joint_.graph().original(member);
    if (node.op == rules::kNoOp) {
      continue;
    }
    const bool listed = node.children.empty() && !joint_.graph().rules().op(node.op).random;
    const bool rearranged = joint_.is_layout(member) && (node.children.size() == 1 || !computed);
    const auto of_constants = [&](TermId child) { return joint_.of_constants(child); };
    if (listed || rearranged || (computed && std::ranges::all_of(node.children, of_constants))) {
      include(member);
    }
  }
}

void Selection::drain() {
  for (; drained_ < classes_.size(); ++drained_) {
    const TermId id = classes_[drained_];
    if (joint_.of_constants(id)) {
      include_constants(id);
    } else {
      std::ranges::for_each(joint_.layouts(id), [&](TermId layout) { include(layout); });
    }
    for (const TermId relation : joint_.relations(id)) {
      include(relation);
    }
  }
}

void Selection::add_definition(TermId term) {
  include(term);
  defined_by_.push_back(joint_.graph().original(term).op);
  any_free_ = any_free_ || joint_.steps_free(term);
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
  EGraph& from = joint_.graph();
  if (!joint_.is_view(term) || !joint_.is_tensor(from.original(term).children[0])) {
    return false;
  }
  const EGraph::Use first = from.first_use(term);
  EGraph::Use use = first;
  while (use != EGraph::kNoUse && !from.is_node(from.user(use))) {
    use = from.next_use(use);
  }
  return first != EGraph::kNoUse && use == EGraph::kNoUse;
}

std::vector<TermId> Selection::reachable(std::uint32_t steps, Window window) const {
  EGraph& from = joint_.graph();
  IdQueue& queue = joint_.queue();  // operands come before their users
  IdMap steps_to(joint_.ids());     // of the classes that are known
  const auto known = [&](TermId operand) {
    const TermId id = from.find(operand);
    return steps_to.contains(id) || joint_.of_constants(id);
  };
  const auto ready = [&](TermId term) {
    // Of what is put together from blocks, a block that is at hand is enough: the others stay unknown.
    return joint_.is_layout(term) || std::ranges::all_of(from.original(term).children, known);
  };
  const auto add = [&](TermId joint_class, std::uint32_t cost) {
    // What uses one scalar everywhere is met through its other operands.
    if (!steps_to.emplace(joint_class, cost).second || from.is_uniform(joint_class)) {
      return;
    }
    for (EGraph::Use use = from.first_use(joint_class); use != EGraph::kNoUse; use = from.next_use(use)) {
      const TermId user = from.user(use);
      // What is not ready is met again through the last of its operands.
      const TermId other = joint_.other_operand(joint_class, use);
      if ((cost < steps || joint_.steps_free(user)) && (other == kNoTerm || known(other)) &&
          joint_.in_use(user) && ready(user)) {
        queue.push(user);
      }
    }
  };
  for (const TermId id : classes_) {
    add(from.find(id), 0);
  }
  std::vector<TermId> result;
  result.reserve(kUsual);
  IdSet done(joint_.ids());
  for (TermId term = queue.pop(); term != kNoTerm; term = queue.pop()) {
    if (done.contains(term) || leads_nowhere(term)) {
      continue;
    }
    std::uint32_t most = 0;
    for (const TermId child : from.original(term).children) {
      if (const std::uint32_t* to_child = steps_to.find(from.find(child))) {
        most = std::max(most, *to_child);
      }
    }
    const std::uint32_t cost = most + (joint_.steps_free(term) ? 0 : 1);
    const bool own = window == Window::own && is_like_definitions(term);
    // What is made of an application that may be the one in question is not looked at, nor what takes the
    // last step if one has to be left for that.
    if (cost <= steps && (window != Window::own || own || cost < steps || any_free_)) {
      done.insert(term);
      result.push_back(term);
      if (!own) {
        add(from.find(term), cost);
      }
    }
  }
  return result;
}

void Selection::keep_alike(std::vector<TermId>& terms, Window window) const {
  EGraph& from = joint_.graph();
  std::vector<bool> kept(terms.size());
  std::vector<TermId> class_of(terms.size());
  IdSet above(joint_.ids());    // classes that what is alike leads to
  IdMap last_of(joint_.ids());  // the last term of each class
  // Terms come in an order in which operands precede their users.
  for (std::uint32_t k = 0; k < terms.size(); ++k) {
    const auto node = from.original(terms[k]);
    class_of[k] = from.find(terms[k]);
    *last_of.emplace(class_of[k], k).first = k;
    if (is_like_definitions(terms[k]) ||
        (window == Window::alike &&
         std::ranges::any_of(node.children, [&](TermId c) { return above.contains(from.find(c)); }))) {
      kept[k] = true;
      above.insert(class_of[k]);
    }
  }
  // What that is computed from; a class may be defined again later than it is used.
  IdSet below(joint_.ids());
  for (bool again = true; again;) {
    again = false;
    for (std::size_t k = terms.size(); k-- > 0;) {
      if (!kept[k] && !below.contains(class_of[k])) {
        continue;
      }
      kept[k] = true;
      for (const TermId child : from.original(terms[k]).children) {
        const TermId id = from.find(child);
        const std::uint32_t* last = last_of.find(id);
        again = (last != nullptr && below.insert(id) && *last > k) || again;
      }
    }
  }
  std::size_t left = 0;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    if (kept[k]) {
      terms[left++] = terms[k];
    }
  }
  terms.resize(left);
}

void Selection::add_window(std::uint32_t steps, Window window) {
  std::vector<TermId> terms = reachable(steps, window);
  if (window != Window::all) {
    keep_alike(terms, window);
  }
  window_.reserve(window_.size() + terms.size());
  for (const TermId term : terms) {
    if (!included_.contains(term)) {
      include(term);
      window_.push_back(term);
    }
  }
  drain();
}

}  // namespace entangle::infer
