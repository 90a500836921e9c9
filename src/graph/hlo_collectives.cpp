// Which devices an operator runs on together, and which of them this one is.
//
// A rank is a device by its number: replica * partitions + partition. What the numbers in `replica_groups`
// are depends on `channel_id` and `use_global_device_ids`, as XLA has it.
#include <algorithm>
#include <array>
#include <range/v3/view/join.hpp>
#include <utility>

#include "entangle/support/text.h"
#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

using sym::Int;
using tensor::Attr;

namespace {

struct Collective {
  std::string_view opcode;
  bool reduces, along_axis, starts;
};
constexpr std::array<Collective, 13> kCollectives = {{
    {"all-reduce", true, false, false},
    {"cross-replica-sum", true, false, false},  // as it was called once
    {"all-reduce-start", true, false, true},
    {"all-gather", false, true, false},
    {"all-gather-start", false, true, true},
    {"reduce-scatter", true, true, false},
    {"reduce-scatter-start", true, true, true},
    {"all-to-all", false, false, false},
    {"all-to-all-start", false, false, true},
    {"collective-permute", false, false, false},
    {"collective-permute-start", false, false, true},
    {"collective-broadcast", false, false, false},
    {"collective-broadcast-start", false, false, true},
}};

std::string text_of(const std::vector<std::vector<std::size_t>>& groups) {
  std::vector<std::string> parts;
  for (const std::vector<std::size_t>& group : groups) {
    std::vector<std::string> numbers;
    for (const std::size_t rank : group) {
      numbers.push_back(std::to_string(rank));
    }
    parts.push_back("{" + support::join(numbers, ",") + "}");
  }
  return "{" + support::join(parts, ",") + "}";
}

}  // namespace

// The number of this device among the partitions or replicas: of a rank.
bool HloReader::device(Call& call, Result& out) {
  const bool partition = call.instruction.opcode.text == "partition-id";
  communicates_ = true;
  if (!alone_or_ranks(call)) {
    return false;
  }
  if (partition && !partitions_known(call)) {
    return false;
  }
  std::string place =
      partition ? "Mod(rank, " + std::to_string(partitions_) + ")" : "rank//" + std::to_string(partitions_);
  if (partition ? partitions_ == 1 : replicas_ == 1) {
    place = "0";
  } else if (partition ? replicas_ == 1 : partitions_ == 1) {
    place = "rank";
  }
  Arg number{place == "0" ? Attr::of(0) : Attr::name(place)};
  return finish(call, {partition ? "hlo.partition_id" : "hlo.replica_id", {std::move(number)}, {}, {}}, out);
}

// A header that says nothing of partitions does not say that there is one.
bool HloReader::partitions_known(const Call& call) {
  return declared_ || replicas_ == 1 ||
         fail("bad-rank", call.instruction.opcode,
              "this module asks for its partition, but its header does not say how many there are "
              "(`num_partitions`)");
}

// A module for several devices is no sequential program, once they differ.
bool HloReader::alone_or_ranks(const Call& call) {
  const std::size_t world = replicas_ * partitions_;
  return options_.rank || world == 1 ||
         fail("bad-rank", call.instruction.opcode,
              "the sequential program runs on one device, this module on " + std::to_string(world) +
                  ", which differ from here on");
}

bool HloReader::mode(Call& call, std::string_view opcode, Numbers& out,
                     std::optional<std::int64_t>& channel) {
  const Text* number = optional(call, "channel_id");
  const Text* global = optional(call, "use_global_device_ids");
  const std::optional<bool> flag = global != nullptr ? truth(global->text) : std::optional(false);
  if (!flag) {
    return malformed(call, "use_global_device_ids");
  }
  channel = number != nullptr ? hlo::integer(number->text) : std::nullopt;
  if (number != nullptr && (!channel || *channel < 1)) {
    return malformed(call, "channel_id");
  }
  const bool across = number != nullptr;
  if (*flag && !across) {
    return fail("bad-group", call.instruction.opcode, "`use_global_device_ids` needs a `channel_id`");
  }
  const bool by_partition = opcode == "all-to-all" || opcode.starts_with("collective-");
  out = !across        ? Numbers::replicas
        : by_partition ? Numbers::partitions
        : *flag        ? Numbers::devices
                       : Numbers::both;
  return out != Numbers::partitions || partitions_known(call);
}

std::size_t HloReader::count_of(Numbers mode) const {
  switch (mode) {
    case Numbers::replicas:
    case Numbers::both:
      return replicas_;
    case Numbers::partitions:
      return partitions_;
    case Numbers::devices:
      break;
  }
  return replicas_ * partitions_;
}

// The ranks of the groups that one list of numbers stands for.
std::vector<std::vector<std::size_t>> HloReader::devices(const Integers& group, Numbers mode) const {
  std::vector<std::vector<std::size_t>> result;
  const auto at = [&](std::size_t replica, std::size_t partition) {
    return replica * partitions_ + partition;
  };
  const std::size_t copies = mode == Numbers::replicas     ? partitions_
                             : mode == Numbers::partitions ? replicas_
                                                           : 1;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    std::vector<std::size_t>& ranks = result.emplace_back();
    for (const std::int64_t number : group) {
      const auto one = static_cast<std::size_t>(number);
      switch (mode) {
        case Numbers::replicas:
          ranks.push_back(at(one, copy));
          break;
        case Numbers::partitions:
          ranks.push_back(at(copy, one));
          break;
        case Numbers::devices:
          ranks.push_back(one);
          break;
        case Numbers::both:
          for (std::size_t partition = 0; partition < partitions_; ++partition) {
            ranks.push_back(at(one, partition));
          }
          break;
      }
    }
  }
  return result;
}

// Declares the groups of this list and gives their name.
bool HloReader::declare(const Call& call, const Text& at, const std::vector<Integers>& lists, Numbers mode,
                        std::string& out) {
  const std::size_t count = count_of(mode);
  std::vector<bool> seen(count);
  for (const std::int64_t number : lists | ranges::views::join) {
    if (number < 0 || static_cast<std::size_t>(number) >= count) {
      return fail("bad-group", at,
                  "there is no number " + std::to_string(number) + " among " + std::to_string(count) +
                      (mode == Numbers::partitions ? (count == 1 ? " partition" : " partitions")
                       : mode == Numbers::devices  ? (count == 1 ? " device" : " devices")
                                                   : (count == 1 ? " replica" : " replicas")));
    }
    if (seen[static_cast<std::size_t>(number)]) {
      return fail("bad-group", at, "the number " + std::to_string(number) + " is in two groups");
    }
    seen[static_cast<std::size_t>(number)] = true;
  }
  if (const auto missing = std::ranges::find(seen, false); missing != seen.end()) {
    return fail("bad-group", at,
                "the number " + std::to_string(missing - seen.begin()) + " is in no group of " +
                    quoted(call.instruction.name.text));
  }
  std::vector<std::vector<std::size_t>> all;
  for (const Integers& list : lists) {
    std::ranges::copy(devices(list, mode), std::back_inserter(all));
  }
  out = text_of(all);
  const bool known =
      std::ranges::any_of(graph_.all_groups, [&](const Group& group) { return group.name == out; });
  for (std::vector<std::size_t>& ranks : all) {
    if (!known) {
      graph_.all_groups.push_back({out, std::move(ranks)});
    }
  }
  return true;
}

bool HloReader::group(Call& call, Numbers mode, std::string& out) {
  const Text* text = optional(call, "replica_groups");
  const std::string key = text == nullptr ? "{}" : compact(text->text);
  const auto known = groups_.find({key, mode});
  if (known != groups_.end()) {
    out = known->second;
    return true;
  }
  std::optional<std::vector<Integers>> lists = hlo::groups(key, kLargestWorld);
  if (!lists) {
    return malformed(call, "replica_groups");
  }
  if (lists->empty()) {  // everybody
    if (mode == Numbers::devices) {
      return fail("bad-group", text != nullptr ? *text : call.instruction.opcode,
                  "with `use_global_device_ids` the groups must be listed");
    }
    for (std::size_t k = 0; k < count_of(mode); ++k) {
      lists->resize(1);
      lists->front().push_back(static_cast<std::int64_t>(k));
    }
  }
  if (!declare(call, text != nullptr ? *text : call.instruction.opcode, *lists, mode, out)) {
    return false;
  }
  groups_.emplace(std::pair(key, mode), out);
  return true;
}

// Who sends to whom, as places in the group of all that do.
bool HloReader::pairs(Call& call, Numbers mode, Arg& out) {
  const Text* text = optional(call, "source_target_pairs");
  const std::optional<std::vector<Integers>> lists =
      text != nullptr ? integer_lists(text->text) : std::nullopt;
  if (!lists) {
    return malformed(call, "source_target_pairs");
  }
  const auto count = static_cast<std::int64_t>(count_of(mode));
  std::vector<Attr> entries;
  for (std::size_t k = 0; k < lists->size(); ++k) {
    const Integers& pair = (*lists)[k];
    if (pair.size() != 2 || std::ranges::any_of(pair, [&](std::int64_t n) { return n < 0 || n >= count; })) {
      return fail("bad-group", *text, "a pair is two numbers below " + std::to_string(count));
    }
    for (std::size_t j = 0; j < k; ++j) {
      if ((*lists)[j][1] == pair[1]) {
        return fail("bad-group", *text, "two sources send to " + std::to_string(pair[1]));
      }
    }
    entries.push_back(Attr::ints(std::vector<Int>{Int(pair[0]), Int(pair[1])}));
  }
  out = Arg{Attr::list(entries)};
  return true;
}

bool HloReader::collective(Call& call, Result& out) {
  const Text& name_of = call.instruction.opcode;
  const Collective& kind = *std::ranges::find(kCollectives, name_of.text, &Collective::opcode);
  std::string_view opcode = kind.opcode;
  if (kind.starts) {
    opcode.remove_suffix(std::string_view("-start").size());
  }
  opcode = opcode == "cross-replica-sum" ? "all-reduce" : opcode;
  communicates_ = true;
  Numbers numbers = Numbers::replicas;
  std::optional<std::int64_t> channel;
  if (!alone_or_ranks(call) || !mode(call, opcode, numbers, channel)) {
    return false;
  }
  Draft draft;
  draft.op = operator_name(opcode);
  const Shape* shape = &call.instruction.shape;  // of the results
  const bool pair = kind.starts && opcode != "all-reduce";
  if ((pair && !second_part(call, shape)) || !collective_operands(call, opcode, *shape, draft) ||
      (kind.reduces && !collective_reduction(call, draft))) {
    return false;
  }
  Integers axes;
  if (!integers(call, "dimensions", axes, kind.along_axis)) {
    return false;
  }
  if (axes.size() > 1 || (axes.empty() && kind.along_axis)) {
    return malformed(call, "dimensions");
  }
  std::string group_name;
  if (!(opcode == "collective-permute" ? moves(call, numbers, draft, group_name)
                                       : group(call, numbers, group_name))) {
    return false;
  }
  if (!axes.empty()) {
    draft.args.push_back(number(axes[0]));
    if (opcode == "all-to-all") {
      draft.args.push_back(number(axes[0]));
    }
  }
  draft.kwargs.emplace_back("group", name(group_name));
  if (channel) {
    draft.kwargs.emplace_back("channel", number(*channel));
  }
  return pair ? start(call, std::move(draft), *shape, out) : finish(call, std::move(draft), out);
}

// What the first part of an operator in two gives: its operands, its results, and what it works with.
bool HloReader::second_part(const Call& call, const Shape*& shape) {
  if (!shape->tuple || shape->parts.size() < 2) {
    return fail("operands", shape->text,
                quoted(call.instruction.opcode.text) + " gives its operands and its results");
  }
  shape = &shape->parts[1];
  return true;
}

bool HloReader::collective_operands(const Call& call, std::string_view opcode, const Shape& shape,
                                    Draft& draft) {
  const Instruction& instruction = call.instruction;
  Arg::List list;
  for (const Result& one : call.operands) {
    if (one.node == kNoNode) {
      return fail("operands", instruction.name, "the operands of " + quoted(opcode) + " are arrays");
    }
    list.push_back(arg(one));
  }
  if (list.empty()) {
    return fail("operands", instruction.name, quoted(opcode) + " needs an operand");
  }
  if (shape.tuple != (list.size() > 1) && opcode != "all-to-all") {
    // One operand may come as a tuple of one.
    if (!shape.tuple || shape.parts.size() != list.size()) {
      return fail("operands", shape.text,
                  quoted(instruction.opcode.text) + " has as many results as operands");
    }
  }
  draft.args.push_back(shape.tuple ? Arg{std::move(list)} : list.front());
  return true;
}

bool HloReader::collective_reduction(Call& call, Draft& draft) {
  const Computation* body = called(call, "to_apply");
  if (body == nullptr) {
    return false;
  }
  if (const std::optional<Reducer> known = reducer(*body, call.operands)) {
    draft.args.push_back(name(known->name));
  } else {
    draft.unknown = "what " + quoted(body->name.text) + " computes is not a known reduction";
  }
  return true;
}

// Of a collective-permute: everybody is in one group.
bool HloReader::moves(Call& call, Numbers mode, Draft& draft, std::string& group_name) {
  Arg who{Attr()};
  Integers everybody;
  for (std::size_t k = 0; k < count_of(mode); ++k) {
    everybody.push_back(static_cast<std::int64_t>(k));
  }
  if (!pairs(call, mode, who) || !declare(call, call.instruction.opcode, {everybody}, mode, group_name)) {
    return false;
  }
  draft.args.push_back(std::move(who));
  return true;
}

// The first part of an operator in two does everything; its results have this shape.
bool HloReader::start(Call& call, Draft draft, const Shape& shape, Result& out) {
  const Instruction& instruction = call.instruction;
  if (!take_attributes(call, draft)) {
    return false;
  }
  Result result;
  if (!add(call.name, instruction.name, call.loc, std::move(draft), shape, result)) {
    return false;
  }
  out.tuple = true;
  out.parts.resize(2);
  out.parts[1] = std::move(result);
  if (call.operands.size() == 1 && !instruction.shape.parts[0].tuple) {
    out.parts[0] = call.operands[0];
  } else {
    out.parts[0].tuple = true;
    out.parts[0].parts = call.operands;
  }
  out.parts.resize(instruction.shape.parts.size());
  return true;
}

}  // namespace entangle::graph::hlo
