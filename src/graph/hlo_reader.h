// HloReader: turns a module of HLO text into a Graph.
//
// The instructions of the entry computation, and of every computation that only stands for what it computes
// (fusions, calls), become nodes named as their instructions: `fusion.3` for the result of a fusion,
// `fusion.3/add.1` for what is inside. Tuples are taken apart: no node has a tuple among its results. Where
// an instruction is not read exactly, what is not understood becomes an argument by name that no declaration
// has, so that the operator stays opaque; where not even its operands determine the result, the node says so
// (Node::unknown).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "entangle/graph/read.h"
#include "hlo_syntax.h"
#include "hlo_values.h"

namespace entangle::graph::hlo {

// What an instruction gives: a tuple of values, or one array (a node, or one of a node's results), or nothing
// (a token).
struct Result {
  bool tuple = false;
  std::vector<Result> parts;
  const Shape* shape = nullptr;     // of an array
  NodeIndex node = kNoNode;         // kNoNode: nothing
  std::optional<std::uint32_t> of;  // which result of the node
};

// What a computation of two numbers does to them, in the rules' words; "" for any other.
struct Reducer {
  std::string_view name;    // `sum`
  std::string_view opcode;  // `add`
};

// What is known of a value when it is read: whole numbers and truths, in tuples.
struct Known {
  bool tuple = false;
  std::vector<Known> parts;
  std::optional<std::int64_t> value;
};

// The greatest number of a value that is computed from constants: of all of it, or of those parts that are
// known.
struct Greatest {
  std::uint64_t number = 0;
  bool whole = true;
};

// An instruction that is being read.
struct Call {
  const Instruction& instruction;
  std::string name;  // of its node
  std::string path;  // what the names inside begin with, if it calls something
  std::string loc;
  std::vector<Result> operands;
  std::set<std::string_view> used;  // attributes that were read
};

// A node that is being made.
struct Draft {
  std::string op;
  std::vector<Arg> args;
  std::vector<std::pair<std::string, Arg>> kwargs;
  std::string unknown;
  std::string marks = {};
};

// Arguments.
inline Arg literal(const tensor::Attr& value) {
  return Arg{value};
}
inline Arg number(std::int64_t value) {
  return Arg{tensor::Attr::of(value)};
}
inline Arg name(std::string_view value) {
  return Arg{tensor::Attr::name(value)};
}
inline Arg numbers(const Integers& values) {
  const std::vector<sym::Int> list(values.begin(), values.end());
  return Arg{tensor::Attr::ints(list)};
}

// Functions that return a truth are false once an error is noted.
class HloReader {
 public:
  HloReader(support::FileId file, const ReadOptions& options, const Module& module)
      : file_(file), options_(options), module_(module) {}

  support::Result<Graph> run();

 private:
  bool fail(std::string id, const Text& at, std::string message, std::string suggestion = {});
  support::Span span(const Text& at) const;

  // --- the module (hlo_read.cpp)
  bool header();
  bool outputs(const Result& root);
  void sharding_note();
  bool find(const Computation& computation, std::uint32_t user, const Operand& operand, std::uint32_t& out);
  // Reads a computation whose parameters have these values. Its root is called `root`, what is inside has
  // names with this prefix, and what has no place of its own has this one.
  bool computation(const Computation& computation, const std::vector<Result>& parameters,
                   const std::string& prefix, const std::string& root, const std::string& loc, Result& out);
  bool entry_parameter(const Shape& shape, const Text& at, const std::string& name, const std::string& loc,
                       Result& out);
  std::string location(const Instruction& instruction) const;

  // --- types and values (hlo_read.cpp)
  bool type(const Shape& shape, std::optional<tensor::TensorType>& out);
  static bool same(const Shape& a, const Shape& b);
  static bool has_shape(const Result& value, const Shape& shape);
  // Whether the value has the type that is declared of `name`; from here on it has the layout that is, too.
  bool declared(const std::string& name, const Shape& shape, Result& value);
  Arg arg(const Result& value);
  NodeIndex node_of(const Result& value);
  const Node* constant_of(const Result& value) const;

  // --- nodes (hlo_nodes.cpp)
  // The node `name` with one result for each array of the shape.
  bool add(const std::string& name, const Text& at, const std::string& loc, Draft draft, const Shape& shape,
           Result& out);
  bool add(const Call& call, Draft draft, Result& out) {
    return add(call.name, call.instruction.name, call.loc, std::move(draft), call.instruction.shape, out);
  }
  // The node of a call, with the attributes that were not read.
  bool finish(Call& call, Draft draft, Result& out);
  bool take_attributes(const Call& call, Draft& draft);
  void note_types(const Call& call, Draft& draft) const;
  bool alias(const Call& call, const Result& value, Result& out);
  bool instruction(Call& call, Result& out);
  bool operand_count(const Call& call, std::size_t count);

  // --- numbers without a sign (hlo_unsigned.cpp)
  // Whether a number in the constant is none of its type; the greatest of its numbers is noted.
  bool outside(NodeIndex node, const Shape& shape);
  void note_greatest(NodeIndex node, const Shape& shape);
  std::optional<Greatest> greatest(const Arg& arg) const;
  // Whether what an operator gives may be known not to be what it is of ideal numbers.
  bool wraps(const Call& call) const;

  // --- attributes: present and of this form
  const Text* optional(Call& call, std::string_view name) const;
  bool malformed(const Call& call, std::string_view name);
  bool integer(Call& call, std::string_view name, std::int64_t& out);
  bool integers(Call& call, std::string_view name, Integers& out, bool required = true);
  const Computation* called(Call& call, std::string_view name);
  const Computation* computation_named(const Text& name);

  // --- operators (hlo_operators.cpp)
  using Handler = bool (HloReader::*)(Call&, Result&);
  static const std::unordered_map<std::string_view, Handler>& handlers();
  bool plain(Call& call, Result& out);
  bool generic(Call& call, Result& out);
  bool constant(Call& call, Result& out);
  bool iota(Call& call, Result& out);
  bool broadcast(Call& call, Result& out);
  bool reshape(Call& call, Result& out);
  bool bitcast(Call& call, Result& out);
  bool transpose(Call& call, Result& out);
  bool reverse(Call& call, Result& out);
  bool slice(Call& call, Result& out);
  bool pad(Call& call, Result& out);
  bool filled(Call& call, const Result& value, const Integers& sizes, Result& out);
  bool concatenate(Call& call, Result& out);
  bool dynamic_slice(Call& call, Result& out);
  bool dynamic_update_slice(Call& call, Result& out);
  bool compare(Call& call, Result& out);
  bool reduce_precision(Call& call, Result& out);
  bool dot(Call& call, Result& out);
  bool convolution(Call& call, Result& out);
  bool gather(Call& call, Result& out);
  bool scatter(Call& call, Result& out);
  bool reduce(Call& call, Result& out);
  bool reduce_window(Call& call, Result& out);
  bool reduce_to_place(Call& call, const Computation& body, Result& out);
  bool select_and_scatter(Call& call, Result& out);
  bool sort(Call& call, Result& out);
  bool top_k(Call& call, Result& out);
  bool custom_call(Call& call, Result& out);
  // What a custom call may depend on that its operands and attributes do not say: layouts, for one.
  static std::string marks(const Call& call);
  bool tuple(Call& call, Result& out);
  bool get_tuple_element(Call& call, Result& out);
  bool first(Call& call, Result& out);
  bool nothing(Call& call, Result& out);
  bool inlined(Call& call, Result& out);
  bool named(const Call& call, const Result& value, Result& out);
  bool async_start(Call& call, Result& out);
  bool copy_start(Call& call, Result& out);
  bool done(Call& call, Result& out);

  // --- communication (hlo_collectives.cpp)
  enum class Numbers { replicas, partitions, both, devices };  // what replica groups hold
  bool collective(Call& call, Result& out);
  bool second_part(const Call& call, const Shape*& shape);
  bool collective_operands(const Call& call, std::string_view opcode, const Shape& shape, Draft& draft);
  bool collective_reduction(Call& call, Draft& draft);
  bool moves(Call& call, Numbers mode, Draft& draft, std::string& group_name);
  bool start(Call& call, Draft draft, const Shape& shape, Result& out);
  bool device(Call& call, Result& out);
  bool alone_or_ranks(const Call& call);
  bool partitions_known(const Call& call);
  bool mode(Call& call, std::string_view opcode, Numbers& out, std::optional<std::int64_t>& channel);
  bool group(Call& call, Numbers mode, std::string& out);
  bool pairs(Call& call, Numbers mode, Arg& out);
  bool declare(const Call& call, const Text& at, const std::vector<Integers>& groups, Numbers mode,
               std::string& out);
  std::size_t count_of(Numbers mode) const;
  std::vector<std::vector<std::size_t>> devices(const Integers& group, Numbers mode) const;

  // --- loops and branches (hlo_loops.cpp)
  bool loop(Call& call, Result& out);
  bool conditional(Call& call, Result& out);
  bool chosen(const Call& call, const Result& first, const Result& second, std::size_t& count, Result& out);
  // How often a loop runs that begins with this value; nothing where that is not known, or too often.
  std::optional<std::size_t> trips(const Computation& condition, const Computation& body,
                                   const Result& start);
  Known known(const Result& value) const;
  Known known_result(const Instruction& instruction, const std::vector<const Known*>& operands, int depth);
  Known known_result(const Computation& computation, const std::vector<const Known*>& parameters, int depth);
  std::size_t size_of(const Computation& computation, int depth = 0);

  // --- computations (hlo_computations.cpp)
  // Of the operands, whose elements have its type: among real numbers any.
  static std::optional<Reducer> reducer(const Computation& computation, const std::vector<Result>& operands);
  std::string_view comparison(const Computation& computation, std::size_t at, bool total) const;
  bool is_identity(const Reducer& reducer, const Result& value) const;
  // `max` or `min` of what gives the greater or lesser of two values, and its place (of equal ones the
  // first): hlo_extremes.cpp; "" for any other.
  static std::string_view extreme(const Computation& computation);
  // A text that is the same for computations that do the same to their parameters; "" where a computation
  // does not depend on its parameters alone.
  const std::string& meaning(const Computation& computation, int depth = 0);
  std::string described(const Computation& computation, int depth);
  std::vector<const Computation*> computations_in(std::string_view value) const;

  support::FileId file_;
  const ReadOptions& options_;
  const Module& module_;
  Graph graph_;
  std::shared_ptr<NodeNames> names_ = std::make_shared<NodeNames>();  // of its nodes
  std::optional<support::Diagnostic> error_;
  std::size_t replicas_ = 1;
  std::size_t partitions_ = 1;
  bool declared_ = false;  // the header says how many
  bool communicates_ = false;
  std::size_t most_nodes_ = 0;
  std::size_t steps_ = 0;               // instructions that were run to count loops
  std::vector<std::string_view> open_;  // computations that are being read
  std::map<std::pair<NodeIndex, std::uint32_t>, NodeIndex> picked_;
  std::map<std::pair<std::string, Numbers>, std::string> groups_;  // names by their text
  std::map<const Computation*, std::string> meanings_;
  std::map<NodeIndex, Greatest> greatest_;  // of unsigned values that are computed from constants
  std::map<const Computation*, std::size_t> sizes_;
  std::deque<Shape> shapes_;  // of nodes that are no instructions
};

// Whether the results are not a function of the operands: they are drawn, received, or this device's own.
bool is_impure(const Instruction& instruction);
bool is_impure(std::string_view opcode);
// Whether a custom call stands for what partitioning does, and so gives every device something else.
bool is_of_devices(const Instruction& instruction);
std::string text_of(const Shape& shape);
// A type with its layout, unless that is the one without any written.
std::string with_layout(const Shape& shape);
inline bool is_unsigned(const Shape& shape) {
  return shape.dtype.starts_with('u');
}
// Whether some size is known only when it runs.
bool dynamic(const Shape& shape);

// Whether these are different axes of so many.
inline bool are_axes(const Integers& axes, std::size_t rank) {
  return std::ranges::all_of(axes, [&](std::int64_t axis) {
    return axis >= 0 && axis < static_cast<std::int64_t>(rank) && std::ranges::count(axes, axis) == 1;
  });
}

// Whether the attribute of this name says which computations an operator runs.
bool calls_computations(std::string_view attribute);

// What rules call an operator: `hlo.` and its name, with `_` for `-`.
std::string operator_name(std::string_view opcode);

// Whether the text of a file is HLO.
bool is_hlo(std::string_view text);
// The graph of another rank that runs the same module.
Graph for_rank(const Graph& model, support::FileId file, std::size_t rank);

}  // namespace entangle::graph::hlo
