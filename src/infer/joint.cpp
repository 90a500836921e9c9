#include "joint.h"

#include <algorithm>
#include <iterator>

namespace entangle::infer {
void Joint::close_distributed() {
  distributed_end_ = static_cast<TermId>(graph_.term_count());
}

void Joint::catch_up() {
  entries_.resize(graph_.term_count());
  constant_.resize(graph_.term_count(), Constant::unknown);
  traits_.resize(graph_.term_count());
  const auto& log = graph_.merge_log();
  for (; seen_merges_ < log.size(); ++seen_merges_) {
    const auto [kept, gone] = log[seen_merges_];
    Entry& to = entries_[kept];
    Entry& from = entries_[gone];
    append_owners(to, from);
    if (to.relations == 0) {
      to.relations = from.relations;
    } else if (from.relations != 0) {
      const std::vector<TermId>& more = lists_[from.relations];
      std::vector<TermId>& relations = lists_[to.relations];
      relations.insert(relations.end(), more.begin(), more.end());
    }
    to.resolved = to.resolved || from.resolved;
    to.result = to.result || from.result;
    constant_[kept] = Constant::unknown;
  }
}

void Joint::append_owners(Entry& to, const Entry& from) {
  if (from.owners != 0) {
    (to.owners == 0 ? to.first_owner : owners_[to.last_owner].next) = from.first_owner;
    to.last_owner = from.last_owner;
    to.owners += from.owners;
  }
}

std::vector<TermId>& Joint::list(std::uint32_t& number) {
  if (number == 0) {
    number = static_cast<std::uint32_t>(lists_.size());
    lists_.emplace_back();
  }
  return lists_[number];
}

void Joint::add_owner(TermId id, const Owner& owner) {
  const auto at = static_cast<std::uint32_t>(owners_.size());
  owners_.push_back({owner});
  Entry& e = entry(id);
  append_owners(e, {.first_owner = at, .last_owner = at, .owners = 1});
  e.resolved = true;
  graph_.set_named(id);
}

std::uint8_t Joint::find_traits(TermId term) const {
  const auto node = graph_.original(term);
  if (node.op == rules::kNoOp) {
    return kAsked | kLeaf;
  }
  const rules::Operator& op = graph_.rules().op(node.op);
  const tensor::DType dtype = graph_.type(term).dtype;
  const bool free = op.free || tensor::is_integer(dtype) || dtype == tensor::DType::b8;
  const bool view = op.clean && op.rearranges && node.children.size() == 1;
  return static_cast<std::uint8_t>(kAsked | (op.rearranges ? kLayout : 0) | (free ? kFree : 0) |
                                   (view ? kView : 0) | (op.random ? kRandom : 0) | (op.drawn ? kDrawn : 0));
}

TermId Joint::find_other(TermId of, TermId term) {
  if (is_layout(term)) {
    return kNoTerm;
  }
  const auto operands = graph_.original(term).children;
  const auto other = std::ranges::find_if(
      operands, [&](TermId operand) { return graph_.find(operand) != of && !constant(operand); });
  return other == operands.end() ? kNoTerm : *other;
}

const std::vector<TermId>& Joint::layouts(TermId id) {
  Entry& e = entry(id);
  if (const std::uint32_t version = graph_.version(id); e.layouts_version != version) {
    e.layouts_version = version;
    if (e.layouts != 0) {
      lists_[e.layouts].clear();
    }
    for (const TermId member : members(id)) {
      const std::uint8_t known = traits(member);
      if ((known & kLeaf) != 0) {
        continue;
      }
      const std::size_t operands = graph_.original(member).children.size();
      if (operands == 0 ? (known & kRandom) == 0 : (known & kLayout) != 0 && operands == 1) {
        list(e.layouts).push_back(member);
      }
    }
  }
  return lists_[e.layouts];
}

void Joint::set_resolved(TermId id) {
  entry(id).resolved = true;
}

void Joint::set_result(TermId id) {
  entry(id).result = true;
}

bool Joint::resolved(TermId id) {
  const Entry& e = entry(id);
  return e.resolved || (!e.result && is_distributed(id)) || constant(id);
}

const std::vector<TermId>& Joint::relations(TermId id) {
  return lists_[entry(id).relations];
}

void Joint::add_relation(TermId application) {
  Entry& e = entry(application);
  e.resolved = true;
  std::vector<TermId>& relations = list(e.relations);
  if (std::ranges::find(relations, application) == relations.end()) {
    relations.push_back(application);
  }
}

void Joint::relate(TermId class_id, const relation::CleanTerm& clean, const std::vector<TermId>& classes,
                   const egraph::Reason& reason) {
  const TermId built = build(clean, classes);
  graph_.merge(class_id, built, reason);
  graph_.rebuild();
  if (clean.is_leaf()) {
    set_resolved(class_id);
  } else {
    add_relation(built);
  }
}

TermId Joint::build(const relation::CleanTerm& clean, const std::vector<TermId>& classes) {
  if (clean.is_leaf()) {
    return classes.at(clean.id);
  }
  std::vector<TermId> children;
  for (const auto& child : clean.children) {
    children.push_back(build(*child, classes));
    if (!child->is_leaf() && !is_distributed(children.back()) && !constant(children.back())) {
      add_relation(children.back());
    }
  }
  graph_.make_exact(clean.op, clean.attrs, children);
  const TermId built = graph_.last_made();
  ENTANGLE_CHECK(built != kNoTerm, "a clean expression has no type: " + graph_.last_error());
  return built;
}

Joint::Constant Joint::find_constancy(TermId root) {
  std::vector<Asked>& asked = asked_;
  const auto ask = [&](TermId id) {
    constant_[id] = Constant::no;  // while it is asked for: a class may hold itself
    if (is_constant(id, 0)) {
      constant_[id] = Constant::yes;
    } else {
      asked.push_back({id, graph_.first_node(id), 0});
    }
  };
  ask(root);
  while (!asked.empty()) {
    if (const TermId operand = next_unknown(asked.back()); operand != kNoTerm) {
      ask(operand);
    } else {
      asked.pop_back();
    }
  }
  return constant_[root];
}

TermId Joint::next_unknown(Asked& asked) {
  for (; asked.member != kNoTerm; asked.member = graph_.next_node(asked.member), asked.operand = 0) {
    const auto children = graph_.original(asked.member).children;
    if (children.empty() || (traits(asked.member) & (kLeaf | kRandom | kDrawn)) != 0) {
      continue;
    }
    for (; asked.operand < children.size(); ++asked.operand) {
      const TermId operand = graph_.find(children[asked.operand]);
      if (!is_known(operand)) {
        return operand;
      }
      if (constant_[operand] == Constant::no) {
        break;
      }
    }
    if (asked.operand == children.size()) {
      constant_[asked.id] = Constant::computed;
      return kNoTerm;
    }
  }
  return kNoTerm;
}

bool Joint::is_constant(TermId id, int depth) {
  if (graph_.is_uniform(id)) {
    return true;
  }
  // Classes of layout terms may hold each other; real constants are rearranged a few times only.
  constexpr int kMostRearranged = 8;
  if (depth > kMostRearranged) {
    return false;
  }
  for (const TermId member : members(id)) {
    const std::uint8_t known = traits(member);
    if ((known & (kLeaf | kRandom)) != 0) {
      continue;
    }
    const auto children = graph_.original(member).children;
    const bool layout = (known & kLayout) != 0;
    const auto rearranged = [&](TermId child) {
      const TermId operand = graph_.find(child);
      return is_known(operand) ? constant_[operand] == Constant::yes : is_constant(operand, depth + 1);
    };
    if (children.empty() || (layout && std::ranges::all_of(children, rearranged))) {
      return true;
    }
  }
  return false;
}

}  // namespace entangle::infer
