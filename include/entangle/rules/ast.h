// The resolved syntax of the rule language (docs/rule-language.md): expressions and types.
//
// One expression type serves patterns, right sides, conditions, shapes, values, lowerings and manifests; what
// an expression may contain depends on where it stands and is checked by the resolver. Variables are slots of
// their declaration's frame: slot k of a lemma is `Lemma::slots[k]`. The tree owns its children and is
// immutable once a RuleSet is built.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entangle/support/diagnostic.h"
#include "entangle/tensor/attr.h"

namespace entangle::rules {

using OpId = std::uint32_t;
inline constexpr OpId kNoOp = ~OpId{0};
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

enum class Base : std::uint8_t {
  tensor,
  axis,     // an axis number; `of` names the tensor parameter it belongs to ("result" for the result)
  count,    // how many correspondences the maps / reduces clause `of` has (batch axes, contracted axes)
  perm,     // result axis -> operand axis of `of`; always a list
  integer,  // any integer; sizes and offsets
  scalar,   // an exact scalar or an infinity
  boolean,
  name,
  dtype,
  group,    // lowerings: a process group (its list of ranks)
  operand,  // lowerings: a tensor, or a number taken as a rank-0 constant of the result's dtype
  any,
};

// A name that many types share: one copy for the life of the process. Safe for concurrent use.
class SharedName {
 public:
  SharedName() = default;
  SharedName(std::string_view text);  // NOLINT(implicit)

  operator const std::string&() const { return *text_; }  // NOLINT(implicit)
  const std::string& text() const { return *text_; }
  bool empty() const { return text_->empty(); }
  bool operator==(const SharedName&) const = default;

 private:
  static const std::string kEmpty;
  const std::string* text_ = &kEmpty;
};

// A base type under `depth` levels of list. `x: tensor+` has depth 1 and nonempty. (perm is a list by
// itself.)
struct Type {
  Base base = Base::any;
  std::uint8_t depth = 0;
  bool nonempty = false;
  bool optional = false;  // lowerings: the argument may be None (`tensor?`, `tensor*?`)
  bool holes = false;     // lowerings: entries of the list may be None (`tensor?*`)
  SharedName of;

  bool is_list() const { return depth > 0; }
};

std::string to_string(const Type& type);

enum class ExprKind : std::uint8_t {
  literal,   // value
  variable,  // slot
  wildcard,  // `_`, in patterns
  apply,     // op(args; attrs): args may hold stars; attrs has one entry per attribute parameter.
          // A list in the place of operands is written as a star: concat(xs; d) is concat(*xs; d), concat([a,
          // b]; d) is concat(a, b; d). An operand of unknown type (base any, depth 0) may turn out to be a
          // list as well.
  generic,        // f(.., args[0], .. | y @ b => args[1]; shift): application of the operator variable
  call,           // builtin(args)
  scalar_call,    // name(args): a scalar function, in values and laws
  star,           // *args[0], inside the operands of apply or inside list
  unary,          // operation args[0]
  binary,         // args[0] operation args[1]
  conditional,    // if args[0] then args[1] else args[2]
  index,          // args[0][args[1]]: of a list, or the element of a tensor (index vector args[1])
  range,          // args[0][args[1] : args[2]]; a missing bound is the literal none
  with,           // args[0] with [args[1]] = args[2]: a list with one entry replaced
  without,        // args[0] without args[1]: a list without the entry (or the list of entries) at that place
  list,           // [args...], stars allowed
  tuple,          // (args...): several results of a lowering
  comprehension,  // [args[0] for binders in args[1] if args[2]]   (no `if`: args has two entries)
  forall,         // forall binders in args[0]: args[1]
  exists,         // exists binders in args[0]: args[1]
  others,         // forall y @ b: args[0]; ranges over the other operands of the generic left side
  fold,           // fold(acc = args[0]; binders in args[1]: args[2]); binders[0] is acc
  let,            // let binders[0] = args[0] in args[1]
  aggregate,  // sum/max/min/product(args[0] for binders in args[1] if args[2]), over a list; `builtin` says
              // which
  reduction,  // sum/max(k < args[0]: args[1]) in values, `builtin` says which; a list bound makes k an index
              // vector
  has,        // has(args[0], args[1] if args[2]): the class of args[0] holds a match of the pattern
  predicate,  // name(args...): a declared predicate, in triggers
  use,  // name(args...): a definition, by its number `slot`, with an argument for each parameter; only in
        // what is kept of lowerings (DefinitionBody): those that are asked for hold the body instead
};

enum class Operation : std::uint8_t {
  none,
  add,
  subtract,
  multiply,
  divide,
  floordiv,
  mod,
  append,  // append is `++`
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  logical_and,
  logical_or,
  logical_not,
  negate,
};

// Built-in functions: docs/rule-language.md lists what each does.
enum class Builtin : std::uint8_t {
  rank,
  shape,
  dtype,
  len,
  zip,
  enumerate,
  range,
  axes,
  offsets,
  pairs,
  columns,
  reversed,
  sum,
  product,
  min,
  max,
  index_of,
  permute,
  inverse,
  complement,
  insert_at,
  block_at,
  tiling,
  divides,
  is_float,
  is_wide_float,
  is_integer,
  is_bool,
  is_none,
  is_tensor,
  uniform,  // the value of a class whose elements are all one known scalar; fails otherwise
  named,
  constant,
  defined,
  interval_low,
  interval_high,
  full,
  full_like,
  reshape,
  broadcast_to,
  fresh,
  scalar_of,
  block,       // values only: the element of the block of a list that an index falls into
  all_of,      // collectives only, written all(p): the list of a parameter's values over the group
  characters,  // the codes of the characters of a name
};

// What happens to the attributes of a generic operator when the focused axis changes.
enum class Shift : std::uint8_t { none, split, join, drop };

struct Expr {
  ExprKind kind = ExprKind::literal;
  Operation operation = Operation::none;
  Builtin builtin = Builtin::rank;
  Shift shift = Shift::none;
  support::Span span;
  Type type;                  // as the resolver found it; base `any` where it could not tell
  tensor::Attr value;         // literal
  std::string name;           // the spelling of what is called (operator, function, predicate, builtin), of a
                              // variable, of a leaf (`r0.name`, without quotes)
  OpId op = kNoOp;            // apply
  Slot slot = kNoSlot;        // variable; generic: nothing (a declaration has at most one operator variable)
  std::vector<Slot> binders;  // comprehension, forall, exists, fold, let, aggregate, reduction;
                              // generic and others: {y, b} or empty; {y} for a trait without axis
  std::vector<std::string> binder_names;  // the spelling of each binder
  std::vector<Expr> args;
  std::vector<Expr> attrs;  // apply
  // apply in a pattern: attributes that the pattern leaves out are wildcards.
};

// The expression as the rule language writes it (canonical spacing).
std::string to_string(const Expr& expr);

}  // namespace entangle::rules
