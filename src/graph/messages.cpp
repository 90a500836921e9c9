// Sends and receives: matched by source, destination and tag, in order.
#include "lowerer.h"

namespace entangle::graph {

using smt::Truth;
using sym::Int;
using tensor::TensorType;
using term::Frame;
using term::Value;

// The other rank and the tag of a send or receive.
bool Lowerer::peer(std::uint32_t rank, NodeIndex node, const rules::Lowering& lowering, const Frame& frame,
                   std::string_view role, std::size_t& peer, std::int64_t& tag) {
  const support::Result<std::optional<Group>> group = Binder(target_, ranks_[rank], node, lowering).group();
  if (!group) {
    return fail(group.error());
  }
  std::optional<Int> other;
  tag = 0;
  for (const rules::Parameter& parameter : lowering.parameters) {
    const Int* number = frame.slots[parameter.slot] ? frame.slots[parameter.slot]->as_int() : nullptr;
    if (number == nullptr || !number->is_constant()) {
      continue;
    }
    if (parameter.name == role) {
      other = *number;
    } else if (parameter.name == "tag") {
      tag = number->value();
    }
  }
  // In a group the number is a place in it.
  const std::size_t bound = *group ? (*group)->ranks.size() : ranks_.size();
  const bool good = other && other->value() >= 0 && static_cast<std::size_t>(other->value()) < bound;
  peer = good ? static_cast<std::size_t>(other->value()) : 0;
  peer = good && *group ? (*group)->ranks[peer] : peer;
  if (!good || peer >= ranks_.size()) {
    return fail("bad-group", rank, node,
                title(rank, node) + " does not name a rank of the program (`" + std::string(role) + "`)");
  }
  return true;
}

bool Lowerer::send(std::uint32_t rank, NodeIndex node, const rules::Lowering& lowering) {
  Binder binder(target_, ranks_[rank], node, lowering);
  const std::optional<Frame> frame = binder.bind();
  if (!frame) {
    return fail("operands", rank, node, title(rank, node) + " cannot be read as a send: " + binder.reason());
  }
  std::size_t to = 0;
  std::int64_t tag = 0;
  if (!peer(rank, node, lowering, *frame, "to", to, tag)) {
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
  messages_[{rank, to, tag}].push_back({rank, node, term});
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
    if (!peer(rank, node, lowering, *frame, "from", waiting.from, waiting.tag)) {
      return false;
    }
    waiting.what = Waiting::For::message;
  }
  std::vector<Message>& queue = messages_[{waiting.from, rank, waiting.tag}];
  if (queue.empty()) {
    return true;
  }
  const Message message = queue.front();
  queue.erase(queue.begin());
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
    if (smt::is_yes(same)) {
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
