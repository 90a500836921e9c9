// Nodes that several ranks run together: when they run, and collectives. (Sends and receives: messages.cpp.)
#include <algorithm>

#include "entangle/support/text.h"
#include "lowerer.h"

namespace entangle::graph {

using rules::Base;
using rules::LoweringKind;
using smt::Truth;
using sym::Int;
using tensor::TensorType;
using term::Frame;
using term::Value;

namespace {

// By which name a declaration asks for its group.
std::string group_wanted(const rules::Lowering& lowering) {
  for (const rules::Parameter& parameter : lowering.parameters) {
    if (parameter.type.base == rules::Base::group)
      return ": its declaration asks for `" + parameter.name + "`";
  }
  return {};
}

std::string ranks_text(const std::vector<std::size_t>& ranks) {
  std::vector<std::string> parts;
  for (const std::size_t rank : ranks) {
    parts.push_back(std::to_string(rank));
  }
  return "[" + support::join(parts, ", ") + "]";
}

std::string group_text(const Group& group) {
  return group.name.empty() ? "the group " + ranks_text(group.ranks)
                            : "the group `" + group.name + "` " + ranks_text(group.ranks);
}

std::string ordinal(std::size_t number) {
  const bool teen = number % 100 >= 11 && number % 100 <= 13;
  const std::size_t last = teen ? 0 : number % 10;
  return std::to_string(number) + (last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

// The tensor types of a bound parameter: one, or a list.
void collect_types(const egraph::EGraph& target, const Value& value, std::vector<const TensorType*>& out) {
  if (const term::Term* term = value.as_term()) {
    out.push_back(&target.type(term->id));
  } else if (const std::vector<Value>* list = value.as_list()) {
    for (const Value& entry : *list) {
      collect_types(target, entry, out);
    }
  }
}

Truth same_value(smt::Oracle& oracle, const tensor::Attr& a, const tensor::Attr& b) {
  using Kind = tensor::Attr::Kind;
  if (a.kind() == Kind::integer && b.kind() == Kind::integer) {
    return oracle.equal(a.as_int(), b.as_int());
  }
  if (a.kind() != Kind::list || b.kind() != Kind::list) {
    return a == b ? Truth::yes : Truth::no;
  }
  const auto left = a.as_list();
  const auto right = b.as_list();
  Truth result = left.size() == right.size() ? Truth::yes : Truth::no;
  for (std::size_t k = 0; k < left.size() && !smt::is_no(result); ++k) {
    result = result & same_value(oracle, left[k], right[k]);
  }
  return result;
}

// Whether a term that is no application was made since there were so many.
bool has_leaf_since(const egraph::EGraph& graph, TermId before) {
  for (TermId term = before; term < graph.term_count(); ++term) {
    if (graph.original(term).op == rules::kNoOp) {
      return true;
    }
  }
  return false;
}

bool mentions(const rules::Expr& expr, rules::Slot parameter) {
  const auto inside = [&](const rules::Expr& part) { return mentions(part, parameter); };
  return (expr.kind == rules::ExprKind::variable && expr.slot == parameter) ||
         std::ranges::any_of(expr.args, inside) || std::ranges::any_of(expr.attrs, inside);
}
// Whether what the declaration gives, or if it applies, depends on a parameter.
bool mentions(const rules::Lowering& lowering, const rules::Parameter& parameter) {
  return mentions(lowering.body, parameter.slot) ||
         (lowering.condition && mentions(*lowering.condition, parameter.slot));
}

// Whether an expression asks for a parameter's values over the group.
bool looks_at_all(const rules::Expr& expr, rules::Slot parameter) {
  if (expr.kind == rules::ExprKind::call && expr.builtin == rules::Builtin::all_of) {
    return expr.args[0].slot == parameter;
  }
  const auto looks = [&](const rules::Expr& part) { return looks_at_all(part, parameter); };
  return std::ranges::any_of(expr.args, looks) || std::ranges::any_of(expr.attrs, looks);
}
bool looks_at_all(const rules::Lowering& lowering, const rules::Parameter& parameter) {
  return looks_at_all(lowering.body, parameter.slot) ||
         (lowering.condition && looks_at_all(*lowering.condition, parameter.slot));
}

}  // namespace

// Whether it is called what some library calls an operator of a process group, `all_reduce` or `broadcast_`,
// or is of a library most of whose declared operators are such.
bool Lowerer::called_as_collective(const std::string& op) {
  const auto library = [](std::string_view name) {
    return std::string(name.substr(0, name.find_first_of(".:")));
  };
  const auto word = [](std::string_view name) {
    const std::size_t first = name.find_first_not_of('_');
    return first == std::string_view::npos ? name
                                           : name.substr(first, name.find_last_not_of('_') + 1 - first);
  };
  if (!communications_) {
    communications_.emplace();
    const rules::Lowerings& all = target_.rules().lowerings();
    std::map<std::string, std::int64_t> balance;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string_view name = all.head(k).op;
      const bool communicates = all.head(k).kind != LoweringKind::local;
      balance[library(name)] += communicates ? 1 : -1;
      if (communicates) {
        const std::string_view own = name.substr(name.find('.') + 1);
        communications_->insert(std::string(word(own.substr(0, own.find('.')))));
      }
    }
    for (const auto& [name, more] : balance) {
      if (more > 0) {
        communications_->insert(name + ".");
      }
    }
  }
  return communications_->contains(library(op) + ".") || find_word(op, [&](std::string_view one) {
           return communications_->contains(std::string(word(one)));
         });
}

// Nothing is declared for it, but it runs in a process group.
bool Lowerer::is_unknown_collective(std::uint32_t rank, NodeIndex node) {
  const Node& at = node_of(rank, node);
  if (!operation_of(rank, node).declarations.empty()) {
    return false;
  }
  if (called_as_collective(at.op)) {
    return true;
  }
  if (at.kwarg("group") != nullptr || at.kwarg("group_name") != nullptr) {
    return true;
  }
  return std::any_of(at.args.begin(), at.args.end(), [&](const Arg& arg) {
    const tensor::Attr* attr = arg.literal();
    return attr != nullptr && attr->kind() == tensor::Attr::Kind::name &&
           graphs_[rank].find_group(attr->as_name()) != nullptr;
  });
}

std::string Lowerer::place(std::uint32_t rank) const {
  const RankState& state = ranks_[rank];
  const std::string who = "rank " + std::to_string(rank);
  if (state.at == state.graph->nodes.size()) {
    return who + " has finished";
  }
  const Waiting& waiting = waiting_[rank];
  std::string text = who + " waits at " + title(rank, state.at);
  if (waiting.what == Waiting::For::collective) {
    text += " for " + group_text(waiting.group);
  } else if (waiting.what == Waiting::For::message) {
    text += " for rank " + std::to_string(waiting.from.rank);
    text += waiting.from.group ? " in " + group_text(*waiting.from.group) : "";
  }
  return text;
}

void Lowerer::mismatch(Mismatch::What what, std::vector<Mismatch::Place> places, std::string message) {
  if (!lowered_.mismatch) {
    lowered_.mismatch = Mismatch{what, std::move(places), std::move(message)};
  }
}

// A rank comes to such a node: it goes on at once, or waits.
bool Lowerer::arrive(std::uint32_t rank, NodeIndex node) {
  const rules::Lowering& lowering = *operation_of(rank, node).communication;
  Waiting& waiting = waiting_[rank];
  if (lowering.kind == LoweringKind::send) {
    return send(rank, node, lowering);
  }
  if (lowering.kind == LoweringKind::recv) {
    return receive(rank);
  }
  if (waiting.what == Waiting::For::nothing) {
    const rules::RuleSet& rules = target_.rules();
    std::optional<Group> group;
    for (const std::size_t index : operation_of(rank, node).declarations) {
      support::Result<std::optional<Group>> found =
          Binder(target_, ranks_[rank], node, rules.lowerings()[index]).group();
      if (!found) {
        return fail(found.error());
      }
      if (*found) {
        group = std::move(*found);
        break;
      }
    }
    if (!group) {
      block(rank, node, title(rank, node) + " does not say in which group it runs" + group_wanted(lowering));
      ++ranks_[rank].at;
      return true;
    }
    if (!is_member(rank, node, *group)) {
      return false;
    }
    waiting.what = Waiting::For::collective;
    waiting.group = std::move(*group);
  }
  return !complete(rank) || collective(Group(waiting.group));
}

// A node runs in a group of ranks of the program that its own is one of, or that is an error.
bool Lowerer::is_member(std::uint32_t rank, NodeIndex node, const Group& group) {
  for (const std::size_t member : group.ranks) {
    if (member >= ranks_.size()) {
      return fail("bad-group", rank, node,
                  title(rank, node) + " runs in " + group_text(group) + ", but the program has " +
                      std::to_string(ranks_.size()) + (ranks_.size() == 1 ? " rank" : " ranks"));
    }
  }
  return std::ranges::find(group.ranks, rank) != group.ranks.end() ||
         fail("not-a-member", rank, node,
              "rank " + std::to_string(rank) + " runs " + title(rank, node) + ", but is not in " +
                  group_text(group));
}

// The same ranks in the same order, under the same name: or under names that neither graph knows of the
// other, as in files of different kinds, where both have one such group only.
bool Lowerer::same_group(std::uint32_t rank, const Group& ours, std::uint32_t other,
                         const Group& theirs) const {
  if (ours.ranks != theirs.ranks || ours.name == theirs.name) {
    return ours.ranks == theirs.ranks;
  }
  const auto has_one = [&](const Graph& graph) {
    return std::ranges::count(graph.groups, ours.ranks, &Group::ranks) <= 1;
  };
  return graphs_[rank].find_group(theirs.name) == nullptr &&
         graphs_[other].find_group(ours.name) == nullptr && has_one(graphs_[rank]) && has_one(graphs_[other]);
}

// Whether both wait at a collective of the same group.
bool Lowerer::wait_together(std::uint32_t rank, std::uint32_t other) const {
  const Waiting& ours = waiting_[rank];
  const Waiting& theirs = waiting_[other];
  return ours.what == Waiting::For::collective && theirs.what == Waiting::For::collective &&
         same_group(rank, ours.group, other, theirs.group);
}

bool Lowerer::complete(std::uint32_t rank) const {
  return std::ranges::all_of(waiting_[rank].group.ranks, [&](std::size_t member) {
    return wait_together(rank, static_cast<std::uint32_t>(member));
  });
}

// All members wait at a collective of this group. False: an error or a mismatch.
bool Lowerer::collective(const Group& group) {
  std::vector<Member> members;
  for (const std::size_t rank : group.ranks) {
    members.push_back({static_cast<std::uint32_t>(rank), ranks_[rank].at});
    waiting_[rank] = {};
  }
  if (!same_operator(group, members)) {
    return false;
  }
  const Member& first = members[0];
  Truth same = Truth::yes;
  std::string reason = "no declaration covers these arguments";
  const rules::RuleSet& rules = target_.rules();
  for (const std::size_t index : operation_of(first.rank, first.node).declarations) {
    const rules::Lowering& lowering = rules.lowerings()[index];
    if (lowering.kind != LoweringKind::collective) {
      continue;
    }
    const std::optional<std::vector<Value>> values = results(group, members, lowering, same, reason);
    if (lowered_.mismatch) {
      return false;
    }
    if (values) {
      return accept_collective(members, lowering, *values, same);
    }
  }
  return collective_failed(members, same, reason);
}

// Counts the collectives of a group. False: its members run different ones, which is told.
bool Lowerer::same_operator(const Group& group, const std::vector<Member>& members) {
  const std::size_t count = ++collectives_run_[{group.name, group.ranks}];
  const Member& first = members[0];
  for (const Member& member : members) {
    if (node_of(member.rank, member.node).op == node_of(first.rank, first.node).op) {
      continue;
    }
    mismatch(Mismatch::What::op, {{first.rank, first.node}, {member.rank, member.node}},
             "rank " + std::to_string(first.rank) + " runs " + title(first.rank, first.node) +
                 " where rank " + std::to_string(member.rank) + " runs " + title(member.rank, member.node) +
                 " (" + ordinal(count) + " collective of " + group_text(group) + ")");
    return false;
  }
  return true;
}

// What each member gets by this declaration. Nothing if it does not apply, for that reason, or if the members
// contradict each other, which is told. `same`: whether their operands have the same types.
std::optional<std::vector<Value>> Lowerer::results(const Group& group, const std::vector<Member>& members,
                                                   const rules::Lowering& lowering, Truth& same,
                                                   std::string& reason) {
  std::vector<Frame> own;  // with each member's own arguments
  for (const Member& member : members) {
    Binder binder(target_, ranks_[member.rank], member.node, lowering);
    std::optional<Frame> frame = binder.bind();
    if (!frame) {
      reason = binder.reason();
      return std::nullopt;
    }
    own.push_back(std::move(*frame));
  }
  if (!consistent(members, lowering, own)) {
    return std::nullopt;
  }
  same = same_operands(lowering, own);
  std::vector<Value> values;
  std::vector<Frame> frames = joined(group, members, lowering, own);
  std::optional<Value> value;
  bool unknowns = false;  // whether it holds what nobody knows: on each rank that is another thing
  for (std::size_t i = 0; i < frames.size(); ++i) {
    // Else what a declaration gives depends on nothing but its frame: after an all-reduce all have the same.
    if (i == 0 || unknowns || frames[i].slots != frames[i - 1].slots) {
      const auto before = static_cast<TermId>(target_.term_count());
      const bool applies =
          !lowering.condition || smt::is_yes(target_.evaluator().holds(*lowering.condition, frames[i]));
      value = applies ? target_.evaluator().evaluate(lowering.body, frames[i]) : std::nullopt;
      if (!applies) {
        reason = "its declaration asks for `" + rules::to_string(*lowering.condition) + "`";
      }
      unknowns = has_leaf_since(target_, before);
    }
    if (!value) {
      return std::nullopt;
    }
    values.push_back(with_new_values(node_of(members[i].rank, members[i].node), *value));
  }
  if (!smt::is_yes(same_lists(members, lowering, own))) {
    reason = "whether the ranks give the same lists is not known";
    return std::nullopt;
  }
  return values;
}

// False: an error or a mismatch.
bool Lowerer::accept_collective(const std::vector<Member>& members, const rules::Lowering& lowering,
                                const std::vector<Value>& values, Truth same) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto [rank, node] = members[i];
    Truth agreed = Truth::yes;
    if (!accept(rank, node, values[i], lowering, agreed)) {
      if (smt::is_no(same)) {  // the ranks disagree: that explains it
        error_.reset();
        return collective_failed(members, same, "");
      }
      return false;
    }
    if (!smt::is_yes(agreed)) {
      block(rank, node, "its recorded sizes are not known to be those computed");
    }
    spoil(rank, node, &lowering);
    retire(rank, node);
    ++ranks_[rank].at;
  }
  return true;
}

// What is not a tensor or a list must be the same on all members, but for the group, and for what the
// declaration looks at of all members together. What one of them may leave out, and does, contradicts
// nothing where the declaration makes no use of it.
bool Lowerer::consistent(const std::vector<Member>& members, const rules::Lowering& lowering,
                         const std::vector<Frame>& frames) {
  for (const rules::Parameter& parameter : lowering.parameters) {
    const Base base = parameter.type.base;
    if (parameter.type.is_list() || base == Base::tensor || base == Base::operand || base == Base::group ||
        looks_at_all(lowering, parameter)) {
      continue;
    }
    const bool may_lack = parameter.type.optional && !mentions(lowering, parameter);
    std::optional<tensor::Attr> first;
    std::size_t given_by = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const std::optional<tensor::Attr> value = frames[i].slots[parameter.slot]->to_attr();
      if (!value || (may_lack && value->is_none())) {
        continue;
      }
      if (!first) {
        first = value;
        given_by = i;
      } else if (smt::is_no(same_value(target_.oracle(), *first, *value))) {
        arguments_differ(members[given_by], members[i], parameter.name, *first, *value);
        return false;
      }
    }
  }
  return true;
}

// Lists must be the same, too, unless the declaration looks at those of all members together.
Truth Lowerer::same_lists(const std::vector<Member>& members, const rules::Lowering& lowering,
                          const std::vector<Frame>& frames) {
  Truth result = Truth::yes;
  for (const rules::Parameter& parameter : lowering.parameters) {
    const Base base = parameter.type.base;
    if (!parameter.type.is_list() || base == Base::tensor || base == Base::operand ||
        looks_at_all(lowering, parameter)) {
      continue;
    }
    const std::optional<tensor::Attr> first = frames[0].slots[parameter.slot]->to_attr();
    for (std::size_t i = 1; i < frames.size(); ++i) {
      const std::optional<tensor::Attr> other = frames[i].slots[parameter.slot]->to_attr();
      if (!first && !other) {
        continue;  // they hold tensors
      }
      const Truth same = first && other ? same_value(target_.oracle(), *first, *other) : Truth::unknown;
      if (smt::is_no(same)) {
        arguments_differ(members[0], members[i], parameter.name, *first, *other);
        return Truth::no;
      }
      result = result & same;
    }
  }
  return result;
}

void Lowerer::arguments_differ(const Member& a, const Member& b, const std::string& parameter,
                               const tensor::Attr& first, const tensor::Attr& other) {
  const auto runs = [&](const Member& member, const tensor::Attr& value) {
    return "rank " + std::to_string(member.rank) + " runs " + title(member.rank, member.node) + " with " +
           parameter + " = " + tensor::to_string(value);
  };
  mismatch(Mismatch::What::arguments, {{a.rank, a.node}, {b.rank, b.node}},
           runs(a, first) + ", " + runs(b, other));
}

Truth Lowerer::same_operands(const rules::Lowering& lowering, const std::vector<Frame>& frames) const {
  Truth result = Truth::yes;
  for (const rules::Parameter& parameter : lowering.parameters) {
    std::vector<const TensorType*> first;
    collect_types(target_, *frames[0].slots[parameter.slot], first);
    for (std::size_t i = 1; i < frames.size(); ++i) {
      std::vector<const TensorType*> other;
      collect_types(target_, *frames[i].slots[parameter.slot], other);
      if (first.size() != other.size()) {
        return Truth::no;
      }
      for (std::size_t k = 0; k < first.size(); ++k) {
        result = result & same_type(target_.oracle(), *first[k], *other[k]);
      }
    }
  }
  return result;
}

// The members' frames with the operands of all, and what the implicit variables stand for.
std::vector<Frame> Lowerer::joined(const Group& group, const std::vector<Member>& members,
                                   const rules::Lowering& lowering, std::vector<Frame>& own) {
  std::vector<Frame> frames = own;
  const auto set = [](Frame& frame, rules::Slot slot, const auto& value) {
    if (slot != rules::kNoSlot) {
      frame.slots[slot] = value();
    }
  };
  const auto set_for_all = [&](rules::Slot slot, const Value& value) {
    for (Frame& frame : frames) {
      set(frame, slot, [&] { return value; });
    }
  };
  for (const rules::Parameter& parameter : lowering.parameters) {
    if (parameter.type.base == Base::tensor && parameter.type.is_list()) {
      std::vector<Value> values;
      for (const Frame& frame : own) {
        values.push_back(*frame.slots[parameter.slot]);
      }
      set_for_all(parameter.slot, Value(std::move(values)));
    }
  }
  std::vector<Value> ranks;
  for (const std::size_t rank : group.ranks) {
    ranks.emplace_back(Int(rank));
  }
  set_for_all(lowering.group_ranks, Value(std::move(ranks)));
  set_for_all(lowering.group_size, Value(Int(frames.size())));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Member& member = members[i];
    frames[i].members = own;
    set(frames[i], lowering.rank_in_group, [&] { return Value(Int(i)); });
    set(frames[i], lowering.site, [&] { return Value(Int(site(member.rank, member.node))); });
    set(frames[i], lowering.draw, [&] { return Value(Int(draw(member.rank, member.node))); });
  }
  return frames;
}

// No declaration applies: because the ranks' operands differ, or because it is not described.
bool Lowerer::collective_failed(const std::vector<Member>& members, Truth same, const std::string& reason) {
  if (smt::is_no(same)) {
    const auto types = [&](const Member& member) {
      std::vector<std::string> parts;
      for (const Arg& arg : node_of(member.rank, member.node).args) {
        for_each_ref(arg, [&](NodeIndex operand) {
          const TermId term = ranks_[member.rank].terms(operand)[0];
          parts.push_back(term == kNoTerm ? "none" : tensor::to_string(target_.type(term)));
        });
      }
      return support::join(parts, ", ");
    };
    const std::string first = types(members[0]);
    const auto differs = [&](const Member& member) { return types(member) != first; };
    const auto other = std::find_if(members.begin(), members.end(), differs);
    const Member& second = other == members.end() ? members.back() : *other;
    mismatch(Mismatch::What::shape, {{members[0].rank, members[0].node}, {second.rank, second.node}},
             "rank " + std::to_string(members[0].rank) + " gives " + title(members[0].rank, members[0].node) +
                 " " + first + ", rank " + std::to_string(second.rank) + " gives " +
                 title(second.rank, second.node) + " " + types(second));
    return false;
  }
  for (const Member& member : members) {
    block(member.rank, member.node, "`" + node_of(member.rank, member.node).op + "`: " + reason);
    spoil(member.rank, member.node, nullptr);
    ++ranks_[member.rank].at;
  }
  return true;
}

// Nobody can go on: says why.
void Lowerer::stuck() {
  const auto at = [&](std::uint32_t rank) {
    const bool done = ranks_[rank].at == graphs_[rank].nodes.size();
    return Mismatch::Place{rank, done ? kNoNode : ranks_[rank].at};
  };
  for (const bool only_clear : {true, false}) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const Waiting& waiting = waiting_[rank];
      std::vector<std::size_t> others = waiting.group.ranks;
      if (waiting.what == Waiting::For::message) {
        others = {waiting.from.rank};
      } else if (waiting.what == Waiting::For::nothing) {
        continue;
      }
      for (const std::size_t other_rank : others) {
        const auto other = static_cast<std::uint32_t>(other_rank);
        const Waiting& theirs = waiting_[other];
        const bool finished = ranks_[other].at == graphs_[other].nodes.size();
        if (other == rank && waiting.what == Waiting::For::collective) {
          continue;
        }
        if (wait_together(rank, other)) {
          continue;
        }
        const bool message = waiting.what == Waiting::For::message;
        const bool other_group =
            !message && theirs.what == Waiting::For::collective &&
            (theirs.group.name == waiting.group.name || theirs.group.ranks == waiting.group.ranks);
        if (only_clear && !finished && !other_group) {
          continue;
        }
        const Mismatch::What what = message && finished ? Mismatch::What::send
                                    : finished          ? Mismatch::What::count
                                    : other_group       ? Mismatch::What::group
                                                        : Mismatch::What::deadlock;
        mismatch(what, {at(rank), at(other)}, place(rank) + ", but " + place(other));
        return;
      }
    }
  }
  ENTANGLE_CHECK(lowered_.mismatch.has_value(), "no rank can go on, and none waits");
}

}  // namespace entangle::graph
