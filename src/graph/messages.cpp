// Sends and receives: matched by source, destination, tag and process group, in order.
#include "lowerer.h"

namespace entangle::graph {

using smt::Truth;
using sym::Int;
using tensor::TensorType;
using term::Frame;
using term::Value;

// The other rank, the tag and the group of a send or receive.
bool Lowerer::peer(std::uint32_t rank, NodeIndex node, const rules::Lowering& lowering, const Frame& frame,
                   std::string_view role, Peer& out) {
  support::Result<std::optional<Group>> group = Binder(target_, ranks_[rank], node, lowering).group();
  if (!group) {
    return fail(group.error());
  }
  if (*group && !is_member(rank, node, **group)) {
    return false;
  }
  std::optional<Int> other;
  out.tag = 0;
  for (const rules::Parameter& parameter : lowering.parameters) {
    const Int* number = frame.slots[parameter.slot] ? frame.slots[parameter.slot]->as_int() : nullptr;
    if (number == nullptr) {
      continue;
    }
    if (parameter.name == role && number->is_constant()) {
      other = *number;
    } else if (parameter.name == "tag") {
      if (!number->is_constant()) {
        return fail(
            "operands", rank, node,
            title(rank, node) + " has a tag that is no known number: `" + sym::to_string(*number) + "`");
      }
      out.tag = number->value();
    }
  }
  // In a group the number is a place in it.
  const std::size_t bound = *group ? (*group)->ranks.size() : ranks_.size();
  if (!other || other->value() < 0 || static_cast<std::size_t>(other->value()) >= bound) {
    return fail("bad-group", rank, node,
                title(rank, node) + " does not name a rank of the program (`" + std::string(role) + "`)");
  }
  const auto number = static_cast<std::size_t>(other->value());
  out.rank = *group ? (*group)->ranks[number] : number;
  out.group = std::move(*group);
  return true;
}

bool Lowerer::send(std::uint32_t rank, NodeIndex node, const rules::Lowering& lowering) {
  Binder binder(target_, ranks_[rank], node, lowering);
  const std::optional<Frame> frame = binder.bind();
  if (!frame) {
    return fail("operands", rank, node, title(rank, node) + " cannot be read as a send: " + binder.reason());
  }
  Peer to;
  if (!peer(rank, node, lowering, *frame, "to", to)) {
    return false;
  }
  TermId term = kNoTerm;
  for (const rules::Parameter& parameter : lowering.parameters) {
    const Value* value = &*frame->slots[parameter.slot];
    if (value->as_list() != nullptr && value->as_list()->size() == 1) {
      value = &value->as_list()->front();
    }
    const term::Term* operand = value->as_term();
    term = term == kNoTerm && operand != nullptr ? operand->id : term;
  }
  if (term == kNoTerm) {
    return fail("operands", rank, node, title(rank, node) + " sends nothing");
  }
  messages_[{rank, to.rank, to.tag}].push_back({rank, node, term, std::move(to.group)});
  const Node& at = node_of(rank, node);
  const bool returns = !at.several && at.results[0];
  if (returns && smt::is_yes(same_type(target_.oracle(), *at.results[0], target_.type(term)))) {
    set_result(rank, node, 0, term);
    lowered_.nodes[rank][node].kind = Kind::lowered;
  } else {
    block(rank, node, "the result of a send is not described");
  }
  lowered_.nodes[rank][node].by = &lowering;
  ++ranks_[rank].at;
  return true;
}

bool Lowerer::receive(std::uint32_t rank) {
  const NodeIndex node = ranks_[rank].at;
  const Node& at = node_of(rank, node);
  const rules::Lowering& lowering = *operation_of(rank, node).communication;
  Waiting& waiting = waiting_[rank];
  if (waiting.what == Waiting::For::nothing) {
    Binder binder(target_, ranks_[rank], node, lowering);
    const std::optional<Frame> frame = binder.bind();
    if (!frame) {
      return fail("operands", rank, node,
                  title(rank, node) + " cannot be read as a receive: " + binder.reason());
    }
    if (!peer(rank, node, lowering, *frame, "from", waiting.from)) {
      return false;
    }
    waiting.what = Waiting::For::message;
  }
  // Each group has messages of its own, which do not overtake each other.
  std::vector<Message>& queue = messages_[{waiting.from.rank, rank, waiting.from.tag}];
  const auto sent = std::ranges::find_if(queue, [&](const Message& one) {
    const std::optional<Group>& group = waiting.from.group;
    return one.group && group ? same_group(rank, *group, one.rank, *one.group) : !one.group && !group;
  });
  if (sent == queue.end()) {
    return true;
  }
  const Message message = std::move(*sent);
  queue.erase(sent);
  // What is received is the result, or the new value of the buffer under `mutates`.
  const std::size_t result = at.mutates.empty() ? 0 : 1;
  if (result < at.results.size() && at.results[result]) {
    const TensorType type = normalised(target_.oracle(), *at.results[result]);
    const Truth same = same_type(target_.oracle(), type, target_.type(message.term));
    if (smt::is_no(same)) {
      mismatch(Mismatch::What::send, {{message.rank, message.node}, {rank, node}},
               "rank " + std::to_string(message.rank) + " sends " +
                   tensor::to_string(target_.type(message.term)) + " by " +
                   title(message.rank, message.node) + ", rank " + std::to_string(rank) + " receives " +
                   tensor::to_string(type) + " by " + title(rank, node));
      return false;
    }
    if (message.rank == rank) {
      block(rank, node, "it receives from its own rank, which not every library does");
    } else if (smt::is_yes(same)) {
      set_result(rank, node, result, message.term);
      lowered_.nodes[rank][node].kind = Kind::lowered;
      lowered_.nodes[rank][node].by = &lowering;
    } else {
      block(rank, node, "its recorded sizes are not known to be those sent");
    }
  }
  spoil(rank, node, &lowering);
  retire(rank, node);
  waiting = {};
  ++ranks_[rank].at;
  return true;
}

// All ranks have finished: nothing sent may be left.
void Lowerer::unreceived() {
  for (const auto& [channel, queue] : messages_) {
    if (!queue.empty()) {
      const auto to = static_cast<std::uint32_t>(std::get<1>(channel));
      mismatch(Mismatch::What::send, {{queue[0].rank, queue[0].node}, {to, kNoNode}},
               "rank " + std::to_string(queue[0].rank) + " sends to rank " + std::to_string(to) + " by " +
                   title(queue[0].rank, queue[0].node) + ", but " + place(to) + " without receiving it");
      return;
    }
  }
}

}  // namespace entangle::graph
