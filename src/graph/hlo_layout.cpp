// HLO operators that move elements.
#include <algorithm>
#include <utility>

#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

bool HloReader::iota(Call& call, Result& out) {
  std::int64_t axis = 0;
  const auto rank = static_cast<std::int64_t>(call.instruction.shape.sizes.size());
  if (!operand_count(call, 0) || !integer(call, "iota_dimension", axis)) {
    return false;
  }
  if (axis < 0 || axis >= rank) {
    return malformed(call, "iota_dimension");
  }
  return finish(call, {"hlo.iota", {number(axis)}, {}, {}}, out);
}

bool HloReader::broadcast(Call& call, Result& out) {
  Integers axes;
  if (!operand_count(call, 1) ||
      !integers(call, "dimensions", axes, !call.operands[0].shape->sizes.empty())) {
    return false;
  }
  const Integers& sizes = call.instruction.shape.sizes;
  const Integers& from = call.operands[0].shape->sizes;
  bool good = axes.size() == from.size();
  for (std::size_t k = 0; k < axes.size() && good; ++k) {
    const bool inside = axes[k] >= 0 && axes[k] < static_cast<std::int64_t>(sizes.size());
    good = inside && sizes[static_cast<std::size_t>(axes[k])] == from[k] &&
           std::ranges::count(axes, axes[k]) == 1;
  }
  if (!good) {
    return fail("operands", call.instruction.name,
                "`dimensions` of " + quoted(call.instruction.name.text) +
                    " must say which axis of the result each axis of the operand is, of the same size");
  }
  return finish(call, {"hlo.broadcast", {arg(call.operands[0]), numbers(axes), numbers(sizes)}, {}, {}}, out);
}

bool HloReader::reshape(Call& call, Result& out) {
  return operand_count(call, 1) &&
         finish(call, {"hlo.reshape", {arg(call.operands[0]), numbers(call.instruction.shape.sizes)}, {}, {}},
                out);
}

// The same bytes as another array: the elements in the order in which they stand in memory.
bool HloReader::bitcast(Call& call, Result& out) {
  if (!operand_count(call, 1)) {
    return false;
  }
  const Shape& from = *call.operands[0].shape;
  const Shape& to = call.instruction.shape;
  const std::optional<Integers> before = hlo::major_to_minor(from.layout, from.sizes.size());
  const std::optional<Integers> after = hlo::major_to_minor(to.layout, to.sizes.size());
  if (from.dtype != to.dtype || !before || !after) {
    Draft draft{operator_name("bitcast"), {arg(call.operands[0])}, {}, {}};
    draft.kwargs.emplace_back("layouts", name(compact(from.layout) + "->" + compact(to.layout)));
    note_types(call, draft);
    return finish(call, std::move(draft), out);
  }
  Integers inverse(after->size());
  Integers rows;  // the sizes of the result in memory's order
  for (std::size_t k = 0; k < after->size(); ++k) {
    inverse[static_cast<std::size_t>((*after)[k])] = static_cast<std::int64_t>(k);
    rows.push_back(to.sizes[static_cast<std::size_t>((*after)[k])]);
  }
  // The shapes between live as long as what refers to them.
  Result value = call.operands[0];
  if (!std::ranges::is_sorted(*before)) {
    Shape& shape = shapes_.emplace_back(from);
    for (std::size_t k = 0; k < before->size(); ++k) {
      shape.sizes[k] = from.sizes[static_cast<std::size_t>((*before)[k])];
    }
    Draft draft{operator_name("transpose"), {arg(value), numbers(*before)}, {}, {}};
    if (!add(call.name + "/rows", call.instruction.name, call.loc, std::move(draft), shape, value)) {
      return false;
    }
  }
  Draft draft{operator_name("reshape"), {arg(value), numbers(rows)}, {}, {}};
  if (std::ranges::is_sorted(*after)) {
    return finish(call, std::move(draft), out);
  }
  Shape& shape = shapes_.emplace_back(to);
  shape.sizes = rows;
  return add(call.name + "/reshaped", call.instruction.name, call.loc, std::move(draft), shape, value) &&
         finish(call, {operator_name("transpose"), {arg(value), numbers(inverse)}, {}, {}}, out);
}

bool HloReader::transpose(Call& call, Result& out) {
  Integers order;
  return operand_count(call, 1) && integers(call, "dimensions", order) &&
         ((are_axes(order, call.operands[0].shape->sizes.size()) &&
           order.size() == call.operands[0].shape->sizes.size()) ||
          malformed(call, "dimensions")) &&
         finish(call, {"hlo.transpose", {arg(call.operands[0]), numbers(order)}, {}, {}}, out);
}

bool HloReader::reverse(Call& call, Result& out) {
  Integers axes;
  return operand_count(call, 1) && integers(call, "dimensions", axes) &&
         (are_axes(axes, call.operands[0].shape->sizes.size()) || malformed(call, "dimensions")) &&
         finish(call, {"hlo.reverse", {arg(call.operands[0]), numbers(axes)}, {}, {}}, out);
}

bool HloReader::slice(Call& call, Result& out) {
  if (!operand_count(call, 1)) {
    return false;
  }
  const Text* text = optional(call, "slice");
  const std::optional<Slices> parts = text != nullptr ? hlo::slices(text->text) : std::nullopt;
  const Integers& sizes = call.operands[0].shape->sizes;
  bool good = parts && parts->starts.size() == sizes.size();
  for (std::size_t d = 0; good && d < sizes.size(); ++d) {
    good = parts->starts[d] >= 0 && parts->starts[d] <= parts->limits[d] && parts->limits[d] <= sizes[d] &&
           parts->strides[d] >= 1;
  }
  if (!good) {
    return malformed(call, "slice");
  }
  return finish(
      call,
      {"hlo.slice",
       {arg(call.operands[0]), numbers(parts->starts), numbers(parts->limits), numbers(parts->strides)},
       {},
       {}},
      out);
}

// Nothing but this value, where negative padding leaves nothing of the operand.
bool HloReader::filled(Call& call, const Result& value, const Integers& sizes, Result& out) {
  const Shape& shape = call.instruction.shape;
  if (shape.sizes != sizes || shape.dtype != value.shape->dtype) {
    Shape computed = *value.shape;
    computed.sizes = sizes;
    return fail("result-type", shape.text,
                quoted(call.instruction.name.text) + " is " + text_of(computed) + ", not " + text_of(shape));
  }
  return finish(call, {"hlo.broadcast", {arg(value), numbers({}), numbers(sizes)}, {}, {}}, out);
}

bool HloReader::pad(Call& call, Result& out) {
  if (!operand_count(call, 2)) {
    return false;
  }
  const Text* text = optional(call, "padding");
  const std::optional<Padding> around = hlo::padding(text != nullptr ? text->text : std::string_view());
  const std::size_t rank = call.operands[0].shape->sizes.size();
  const auto negative = [](std::int64_t n) { return n < 0; };
  if (!around || around->low.size() != rank || std::ranges::any_of(around->interior, negative)) {
    return malformed(call, "padding");
  }
  Integers sizes;
  bool emptied = false;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::optional<Padded> axis =
        padded(call.operands[0].shape->sizes[d], around->low[d], around->high[d], around->interior[d]);
    if (!axis) {
      return malformed(call, "padding");
    }
    sizes.push_back(axis->size);
    emptied = emptied || axis->left == 0;
  }
  if (emptied) {
    return filled(call, call.operands[1], sizes, out);
  }
  return finish(call,
                {"hlo.pad",
                 {arg(call.operands[0]), arg(call.operands[1]), numbers(around->low), numbers(around->high),
                  numbers(around->interior)},
                 {},
                 {}},
                out);
}

bool HloReader::concatenate(Call& call, Result& out) {
  Integers axes;
  if (!operand_count(call, call.operands.size()) || !integers(call, "dimensions", axes)) {
    return false;
  }
  const auto rank = static_cast<std::int64_t>(call.instruction.shape.sizes.size());
  if (axes.size() != 1 || axes[0] < 0 || axes[0] >= rank) {
    return malformed(call, "dimensions");
  }
  Arg::List parts;
  for (const Result& one : call.operands) {
    parts.push_back(arg(one));
  }
  if (parts.empty()) {
    return fail("operands", call.instruction.name, "`concatenate` needs an operand");
  }
  return finish(call, {"hlo.concatenate", {Arg{std::move(parts)}, number(axes[0])}, {}, {}}, out);
}

bool HloReader::dynamic_slice(Call& call, Result& out) {
  if (call.operands.empty() || call.operands[0].shape == nullptr ||
      call.operands.size() != call.operands[0].shape->sizes.size() + 1) {
    return generic(call, out);  // with all starts in one operand, as older versions have it
  }
  Integers sizes;
  if (!operand_count(call, call.operands.size()) || !integers(call, "dynamic_slice_sizes", sizes)) {
    return false;
  }
  const Integers& from = call.operands[0].shape->sizes;
  bool good = sizes.size() == from.size();
  for (std::size_t d = 0; good && d < from.size(); ++d) {
    good = sizes[d] >= 0 && sizes[d] <= from[d];
  }
  if (!good) {
    return malformed(call, "dynamic_slice_sizes");
  }
  Arg::List starts;
  for (std::size_t k = 1; k < call.operands.size(); ++k) {
    starts.push_back(arg(call.operands[k]));
  }
  const Arg list = starts.empty() ? numbers({}) : Arg{std::move(starts)};
  return finish(call, {"hlo.dynamic_slice", {arg(call.operands[0]), list, numbers(sizes)}, {}, {}}, out);
}

bool HloReader::dynamic_update_slice(Call& call, Result& out) {
  if (call.operands.empty() || call.operands[0].shape == nullptr ||
      call.operands.size() != call.operands[0].shape->sizes.size() + 2) {
    return generic(call, out);
  }
  if (!operand_count(call, call.operands.size())) {
    return false;
  }
  Arg::List starts;
  for (std::size_t k = 2; k < call.operands.size(); ++k) {
    starts.push_back(arg(call.operands[k]));
  }
  const Arg list = starts.empty() ? numbers({}) : Arg{std::move(starts)};
  return finish(
      call, {"hlo.dynamic_update_slice", {arg(call.operands[0]), arg(call.operands[1]), list}, {}, {}}, out);
}

}  // namespace entangle::graph::hlo
