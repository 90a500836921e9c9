// HLO operators that combine elements along axes, or choose among them: products, look-ups, reductions,
// orders.
#include <algorithm>
#include <array>
#include <utility>

#include "hlo_reader.h"
#include "reader.h"

namespace entangle::graph::hlo {

using tensor::Attr;

bool HloReader::dot(Call& call, Result& out) {
  if (!operand_count(call, 2)) {
    return false;
  }
  Draft draft{"hlo.dot", {arg(call.operands[0]), arg(call.operands[1])}, {}, {}};
  std::size_t operand = 0;
  std::array<Integers, 2> used;
  for (const char* attribute :
       {"lhs_contracting_dims", "rhs_contracting_dims", "lhs_batch_dims", "rhs_batch_dims"}) {
    Integers axes;
    if (!integers(call, attribute, axes, false)) {
      return false;
    }
    // Those of the other operand are as many; none is contracted and of the batch.
    Integers& mine = used[operand % 2];
    mine.insert(mine.end(), axes.begin(), axes.end());
    if (!are_axes(mine, call.operands[operand % 2].shape->sizes.size()) ||
        (operand % 2 == 1 && used[0].size() != used[1].size())) {
      return malformed(call, attribute);
    }
    draft.args.push_back(numbers(axes));
    ++operand;
  }
  if (call.operands[0].shape->dtype != call.operands[1].shape->dtype) {
    draft.kwargs.emplace_back("operand_type", name(call.operands[1].shape->dtype));
  }
  return finish(call, std::move(draft), out);
}

bool HloReader::convolution(Call& call, Result& out) {
  if (!operand_count(call, 2)) {
    return false;
  }
  const Text* text = optional(call, "window");
  const std::optional<Window> window = hlo::window(text != nullptr ? text->text : "{}");
  if (!window) {
    return malformed(call, "window");
  }
  const Text* order = optional(call, "dim_labels");
  const std::optional<Labels> labels = order != nullptr ? hlo::labels(order->text) : std::nullopt;
  const std::size_t rank = call.instruction.shape.sizes.size();
  if (!labels || labels->operand.size() != rank || call.operands[0].shape->sizes.size() != rank ||
      call.operands[1].shape->sizes.size() != rank || window->sizes.size() + 2 != rank) {
    return malformed(call, "dim_labels");
  }
  const Integers& kernel = call.operands[1].shape->sizes;
  bool emptied = false;  // by negative padding
  for (std::size_t k = 0; k < window->sizes.size(); ++k) {
    const std::optional<Padded> axis =
        padded(call.operands[0].shape->sizes[static_cast<std::size_t>(labels->operand[k + 2])],
               window->low[k], window->high[k], window->base_dilations[k] - 1);
    emptied = emptied || (axis && axis->left == 0);
    if (!axis || kernel[static_cast<std::size_t>(labels->kernel[k + 2])] != window->sizes[k]) {
      return malformed(call, "window");
    }
  }
  Draft draft{
      "hlo.convolution",
      {arg(call.operands[0]), arg(call.operands[1]), numbers(labels->operand), numbers(labels->kernel),
       numbers(labels->result), numbers(window->strides), numbers(window->low), numbers(window->high),
       numbers(window->base_dilations), numbers(window->window_dilations)},
      {},
      {}};
  for (const auto& [attribute, parameter] :
       {std::pair{"feature_group_count", "feature_groups"}, std::pair{"batch_group_count", "batch_groups"}}) {
    std::int64_t count = 1;
    if (call.instruction.find(attribute) != nullptr && !integer(call, attribute, count)) {
      return false;
    }
    if (count < 1) {
      return malformed(call, attribute);
    }
    if (count != 1) {
      draft.kwargs.emplace_back(parameter, number(count));
    }
  }
  if (emptied) {
    draft.kwargs.emplace_back("emptied", literal(Attr::of(true)));
  }
  if (std::ranges::find(window->reversed, true) != window->reversed.end()) {
    std::vector<Attr> flags;
    for (const bool flag : window->reversed) {
      flags.push_back(Attr::of(flag));
    }
    draft.kwargs.emplace_back("reversed_axes", literal(Attr::list(flags)));
  }
  return finish(call, std::move(draft), out);
}

namespace {

// How many axes a list names that nothing else reads.
std::size_t axes_of(const Call& call, std::string_view attribute) {
  const Attribute* found = call.instruction.find(attribute);
  const std::optional<Integers> axes = found != nullptr ? integers(found->value.text) : std::nullopt;
  return axes ? axes->size() : 0;
}

// Whether index vectors of so many numbers lie along this axis of the indices; behind the last: they are
// numbers.
bool is_vector(std::int64_t axis, const Integers& indices, std::size_t size) {
  const auto rank = static_cast<std::int64_t>(indices.size());
  if (axis < 0 || axis > rank) {
    return false;
  }
  return static_cast<std::size_t>(axis == rank ? 1 : indices[static_cast<std::size_t>(axis)]) == size;
}

}  // namespace

bool HloReader::gather(Call& call, Result& out) {
  Integers offsets;
  Integers collapsed;
  Integers map;
  Integers sizes;
  std::int64_t vector = 0;
  if (!operand_count(call, 2) || !integers(call, "offset_dims", offsets) ||
      !integers(call, "collapsed_slice_dims", collapsed, false) || !integers(call, "start_index_map", map) ||
      !integer(call, "index_vector_dim", vector) || !integers(call, "slice_sizes", sizes)) {
    return false;
  }
  const Integers& from = call.operands[0].shape->sizes;
  const Integers& indices = call.operands[1].shape->sizes;
  const std::size_t batches = axes_of(call, "operand_batching_dims");
  if (!is_vector(vector, indices, map.size())) {
    return malformed(call, "index_vector_dim");
  }
  if (!are_axes(map, from.size())) {
    return malformed(call, "start_index_map");
  }
  bool good = sizes.size() == from.size();
  for (std::size_t d = 0; good && d < sizes.size(); ++d) {
    good = sizes[d] >= 0 && sizes[d] <= from[d];
  }
  if (!good) {
    return malformed(call, "slice_sizes");
  }
  const auto is_one = [&](std::int64_t d) { return sizes[static_cast<std::size_t>(d)] <= 1; };
  if (!are_axes(collapsed, from.size()) || !std::ranges::all_of(collapsed, is_one)) {
    return malformed(call, "collapsed_slice_dims");
  }
  if (!are_axes(offsets, call.instruction.shape.sizes.size()) || !std::ranges::is_sorted(offsets) ||
      offsets.size() + collapsed.size() + batches != from.size()) {
    return malformed(call, "offset_dims");
  }
  return finish(call,
                {"hlo.gather",
                 {arg(call.operands[0]), arg(call.operands[1]), numbers(offsets), numbers(collapsed),
                  numbers(map), number(vector), numbers(sizes)},
                 {},
                 {}},
                out);
}

// Whether a computation of an old and a new number gives the new one.
bool gives_second(const Computation& computation) {
  const Instruction& root = computation.instructions[computation.root];
  return computation.parameters.size() == 2 && root.opcode.text == "parameter" &&
         computation.parameters[1] == computation.root;
}

bool HloReader::scatter(Call& call, Result& out) {
  const Text* text = optional(call, "to_apply");
  const Computation* update = text != nullptr ? computation_named(*text) : nullptr;
  if (update == nullptr) {
    return text == nullptr ? malformed(call, "to_apply") : false;
  }
  const std::optional<Reducer> known =
      call.operands.size() == 3 ? reducer(*update, {call.operands[0], call.operands[2]}) : std::nullopt;
  std::string_view op = gives_second(*update) ? "write" : known ? known->name : "";
  if (op != "write" && op != "sum" && op != "max" && op != "min") {
    op = "";
  }
  if (call.operands.size() != 3 || op.empty()) {
    call.used.erase("to_apply");
    return generic(call, out);
  }
  Integers windows;
  Integers inserted;
  Integers dims;
  std::int64_t vector = 0;
  if (!operand_count(call, 3) || !integers(call, "update_window_dims", windows) ||
      !integers(call, "inserted_window_dims", inserted, false) ||
      !integers(call, "scatter_dims_to_operand_dims", dims) || !integer(call, "index_vector_dim", vector)) {
    return false;
  }
  const std::size_t rank = call.operands[0].shape->sizes.size();
  if (!is_vector(vector, call.operands[1].shape->sizes, dims.size())) {
    return malformed(call, "index_vector_dim");
  }
  if (!are_axes(dims, rank)) {
    return malformed(call, "scatter_dims_to_operand_dims");
  }
  if (!are_axes(inserted, rank)) {
    return malformed(call, "inserted_window_dims");
  }
  if (!are_axes(windows, call.operands[2].shape->sizes.size()) || !std::ranges::is_sorted(windows) ||
      windows.size() + inserted.size() + axes_of(call, "input_batching_dims") != rank) {
    return malformed(call, "update_window_dims");
  }
  Draft draft{"hlo.scatter",
              {arg(call.operands[0]), arg(call.operands[1]), arg(call.operands[2]), numbers(windows),
               numbers(inserted), numbers(dims), number(vector)},
              {},
              {}};
  draft.kwargs.emplace_back("op", name(op));
  return finish(call, std::move(draft), out);
}

// The value that a reduction starts with takes part in it, unless it changes nothing.
bool HloReader::reduce(Call& call, Result& out) {
  const Computation* body = called(call, "to_apply");
  if (body == nullptr) {
    return false;
  }
  if (call.operands.size() == 4) {
    return reduce_to_place(call, *body, out);
  }
  const std::optional<Reducer> known = reducer(*body, call.operands);
  if (call.operands.size() != 2 || !known) {
    call.used.erase("to_apply");
    return generic(call, out);
  }
  Integers axes;
  if (!operand_count(call, 2) || !integers(call, "dimensions", axes)) {
    return false;
  }
  const auto rank = static_cast<std::int64_t>(call.operands[0].shape->sizes.size());
  for (const std::int64_t axis : axes) {
    if (axis < 0 || axis >= rank || std::ranges::count(axes, axis) > 1) {
      return malformed(call, "dimensions");
    }
  }
  Draft draft{"hlo.reduce_" + std::string(known->name), {arg(call.operands[0]), numbers(axes)}, {}, {}};
  if (is_identity(*known, call.operands[1])) {
    return finish(call, std::move(draft), out);
  }
  Call whole = call;
  whole.name += "/reduced";
  Result reduced;
  Result first;
  if (!finish(whole, std::move(draft), reduced)) {
    return false;
  }
  const Shape& shape = call.instruction.shape;
  Draft spread{"hlo.broadcast", {arg(call.operands[1]), numbers({}), numbers(shape.sizes)}, {}, {}};
  if (!add(call.name + "/init", call.instruction.name, call.loc, std::move(spread), shape, first)) {
    return false;
  }
  return add(call, {operator_name(known->opcode), {arg(reduced), arg(first)}, {}, {}}, out);
}

bool HloReader::reduce_window(Call& call, Result& out) {
  const Computation* body = called(call, "to_apply");
  if (body == nullptr) {
    return false;
  }
  const Text* text = optional(call, "window");
  const std::optional<Window> window = hlo::window(text != nullptr ? text->text : "{}");
  if (!window) {
    return malformed(call, "window");
  }
  const std::optional<Reducer> known = reducer(*body, call.operands);
  const bool reversed = std::ranges::find(window->reversed, true) != window->reversed.end();
  if (call.operands.size() != 2 || !known || reversed || !is_identity(*known, call.operands[1])) {
    call.used = {};
    return generic(call, out);
  }
  if (!operand_count(call, 2)) {
    return false;
  }
  if (window->sizes.size() != call.operands[0].shape->sizes.size()) {
    return malformed(call, "window");
  }
  Integers sizes;
  bool emptied = false;
  for (std::size_t d = 0; d < window->sizes.size(); ++d) {
    const std::optional<Padded> axis = padded(call.operands[0].shape->sizes[d], window->low[d],
                                              window->high[d], window->base_dilations[d] - 1);
    if (!axis) {
      return malformed(call, "window");
    }
    sizes.push_back(windows(axis->size, window->sizes[d], window->strides[d], window->window_dilations[d]));
    emptied = emptied || axis->left == 0;
  }
  if (emptied) {  // the value that changes nothing
    return filled(call, call.operands[1], sizes, out);
  }
  return finish(call,
                {"hlo.reduce_window",
                 {arg(call.operands[0]), name(known->name), numbers(window->sizes), numbers(window->strides),
                  numbers(window->low), numbers(window->high), numbers(window->base_dilations),
                  numbers(window->window_dilations)},
                 {},
                 {}},
                out);
}

// The direction of a computation that compares its parameters `at` and `at + 1`; "" for any other.
std::string_view HloReader::comparison(const Computation& computation, std::size_t at, bool total) const {
  const Instruction& root = computation.instructions[computation.root];
  const Attribute* direction = root.find("direction");
  const Attribute* type = root.find("type");
  if (root.opcode.text != "compare" || root.operands.size() != 2 || direction == nullptr ||
      computation.parameters.size() < at + 2 ||
      (type != nullptr && type->value.text == "TOTALORDER" && !total)) {
    return {};
  }
  const auto name_of = [&](std::size_t k) {
    return computation.instructions[computation.parameters[k]].name.text;
  };
  static constexpr std::array<std::array<std::string_view, 2>, 4> kTurned = {
      {{"LT", "GT"}, {"GT", "LT"}, {"LE", "GE"}, {"GE", "LE"}}};
  const std::string_view a = root.operands[0].name.text;
  const std::string_view b = root.operands[1].name.text;
  for (const auto& [straight, turned] : kTurned) {
    if (direction->value.text == straight && a == name_of(at) && b == name_of(at + 1)) {
      return straight;
    }
    if (direction->value.text == straight && b == name_of(at) && a == name_of(at + 1)) {
      return turned;
    }
  }
  return {};
}

bool HloReader::select_and_scatter(Call& call, Result& out) {
  const Computation* select = called(call, "select");
  const Computation* scatter = select != nullptr ? called(call, "scatter") : nullptr;
  if (scatter == nullptr) {
    return false;
  }
  const Text* text = optional(call, "window");
  const std::optional<Window> window = text != nullptr ? hlo::window(text->text) : std::nullopt;
  if (!window) {
    return malformed(call, "window");
  }
  const std::optional<Reducer> known = reducer(*scatter, call.operands);
  const std::string_view direction = comparison(*select, 0, false);
  const auto plain = [](const Integers& list) {
    return std::ranges::all_of(list, [](auto n) { return n == 1; });
  };
  if (call.operands.size() != 3 || !known || known->name != "sum" || !is_identity(*known, call.operands[2]) ||
      (direction != "GE" && direction != "LE") || !plain(window->base_dilations) ||
      !plain(window->window_dilations)) {
    call.used = {};
    return generic(call, out);
  }
  return operand_count(call, 3) &&
         finish(
             call,
             {"hlo.select_and_scatter",
              {arg(call.operands[0]), arg(call.operands[1]), name(direction), name(known->name),
               numbers(window->sizes), numbers(window->strides), numbers(window->low), numbers(window->high)},
              {},
              {}},
             out);
}

bool HloReader::sort(Call& call, Result& out) {
  const Computation* comparator = called(call, "to_apply");
  Integers axes;
  if (comparator == nullptr || !integers(call, "dimensions", axes)) {
    return false;
  }
  const Text* stable = optional(call, "is_stable");
  // In the total order only zeros of different signs differ that are else equal: of one operand nobody sees
  // it.
  const std::string_view direction = comparison(*comparator, 0, call.operands.size() == 1);
  const auto is_array = [](const Result& one) { return one.node != kNoNode; };
  if (direction.empty() || axes.size() != 1 || !std::ranges::all_of(call.operands, is_array)) {
    call.used = {};
    return generic(call, out);
  }
  Arg::List list;
  for (const Result& one : call.operands) {
    list.push_back(arg(one));
    if (!are_axes(axes, one.shape->sizes.size())) {
      return malformed(call, "dimensions");
    }
  }
  Draft draft{"hlo.sort",
              {Arg{std::move(list)}, number(axes[0]), name(direction),
               literal(Attr::of(stable != nullptr && stable->text == "true"))},
              {},
              {}};
  return finish(call, std::move(draft), out);
}

bool HloReader::top_k(Call& call, Result& out) {
  std::int64_t count = 0;
  if (call.operands.size() != 1 || call.operands[0].node == kNoNode || !integer(call, "k", count)) {
    return generic(call, out);
  }
  const Integers& sizes = call.operands[0].shape->sizes;
  if (count < 0 || sizes.empty() || count > sizes.back()) {
    return malformed(call, "k");
  }
  const Text* largest = optional(call, "largest");
  const std::optional<bool> value = largest != nullptr ? truth(largest->text) : std::optional(true);
  if (!value) {
    return malformed(call, "largest");
  }
  return finish(
      call, {"hlo.top_k", {arg(call.operands[0]), number(count), literal(Attr::of(*value))}, {}, {}}, out);
}

}  // namespace entangle::graph::hlo
