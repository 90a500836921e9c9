// A RuleSet: everything a set of rule files declares, resolved and type-checked; nothing executable.
//
// Built by load_rules; immutable afterwards and safe to share between threads. Declarations keep their order
// (include order, then file order), which is the order in which rules are tried.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "entangle/rules/ast.h"

namespace entangle::rules {

struct Variable {
  std::string name;
  Type type;
  support::Span span;
};

struct Parameter {
  std::string name;
  Type type;
  Slot slot = kNoSlot;
  std::optional<Expr> default_value;
  support::Span span;
  bool changed = false;  // of a lowering: the framework's operator changes this operand in place
};

// maps NAME(k < bound if filter): result <- x.axis, y.axis        (kind maps)
// reduces sum|max NAME(k < bound if filter): x.axis, y.axis       (kind sum, max)
struct AxisClause {
  enum class Kind : std::uint8_t { maps, sum, max };
  struct Operand {
    std::size_t parameter;  // index into Operator::tensors; a list parameter means each of its tensors
    Expr axis;
  };
  Kind kind = Kind::maps;
  std::string name;
  Slot index = kNoSlot;  // k; kNoSlot: the clause speaks of one axis only
  std::optional<Expr> bound;
  std::optional<Expr> filter;
  std::optional<Expr> result;  // maps only
  std::vector<Operand> operands;
  support::Span span;
};

struct LinearClause {
  std::size_t parameter;
  std::optional<Expr> condition;  // on attributes, ranks and dtypes only
};

struct Let {
  Slot slot;
  Expr value;
};

// An operator of the algebra. Slots: the tensor parameters, then the attribute parameters, then `let`s and
// bound variables of its clauses. `result` does not exist in clauses; rank(result) is rank of the shape.
struct Operator {
  OpId id = kNoOp;
  std::string name;
  std::vector<Parameter> tensors;  // at most one list parameter
  std::vector<Parameter> attributes;
  std::vector<Variable> slots;
  bool elementwise = false;  // every axis of the result is the same axis of every operand
  bool commutative = false;  // children are kept sorted
  bool clean = false;        // may stand in a relation
  bool rearranges = false;   // every element of the result is an element of an operand
  bool free = false;         // costs no step of the window
  bool random = false;       // not a function of its operands and attributes alone
  bool drawn = false;        // a pointwise function of an element and the place it is drawn at
  bool converts = false;     // each element is the operand's, as one of the result's type
  std::vector<Let> lets;     // in order; visible in all clauses
  std::vector<Expr> requires_;
  std::optional<Expr> shape;  // a list of integers; default: the shape of the first tensor
  std::optional<Expr> dtype;  // default: the dtype of the first tensor
  Slot value_index = kNoSlot;
  std::optional<Expr> value;
  std::vector<AxisClause> axes;
  std::vector<LinearClause> linear;
  std::string because;  // why a trait of an operator without value may be believed
  support::Span span;
};

enum class Trait : std::uint8_t { maps, maps_pair, reduces_sum, reduces_max, linear, elementwise };

// Whether an operator has the trait for some attributes.
bool has_trait(const Operator& op, Trait trait);

// <f: maps a -> r>
struct OperatorVariable {
  std::string name;
  Trait trait;
  Slot axis = kNoSlot;         // a: the axis of the focused operand (maps, maps_pair, reduces)
  Slot result_axis = kNoSlot;  // r (maps, maps_pair)
};

enum class Direction : std::uint8_t { forward, both };  // `=>`, `==`

struct Given {
  Expr pattern;
  std::optional<Expr> equal_to;  // given A == B: two matches in one class
};

struct Lemma {
  std::string name;
  bool normalise = false;  // applied when a term is built
  bool axiom = false;
  std::string because;          // axioms
  std::vector<Variable> slots;  // parameters first, then the variables they bind inside
  std::size_t parameters = 0;
  std::optional<OperatorVariable> generic;
  std::vector<Given> given;
  Expr left;  // a pattern, or a variable (or list of tensors) bound by `given`
  Expr right;
  Direction direction = Direction::forward;
  // Conjuncts, in order. `v == e` with v not yet bound binds v; v then stands on the left, and where it is
  // not a parameter its slot comes after them. (Read from right to left, either side may be the unbound one.)
  std::vector<Expr> when;
  std::vector<Expr> trigger;  // conjuncts; bounds growth only
  std::vector<Expr> examples;
  std::string text;  // the declaration as written
  support::Span span;
};

struct Predicate {
  std::string name;
  std::vector<Variable> slots;
  std::size_t parameters = 0;
  Expr body;
  support::Span span;
};

struct ScalarFunction {
  std::string name;
  std::size_t arity = 1;
  support::Span span;
};

struct Law {
  std::string name;
  std::vector<Variable> slots;
  Expr left, right;
  std::optional<Expr> condition;
  support::Span span;
};

enum class LoweringKind : std::uint8_t { local, collective, send, recv };

// lower NAME(parameters) [when condition]: body. Several may share a name: the first that applies is used.
struct Lowering {
  LoweringKind kind = LoweringKind::local;
  std::string op;                     // the framework operator, e.g. aten.addmm.default
  std::vector<Parameter> parameters;  // positional first; those after `;` may be given by keyword too
  std::size_t positional = 0;
  std::vector<Variable> slots;
  // Slots of the implicit variables a body may use; kNoSlot when unused.
  Slot result_types = kNoSlot;   // result: its recorded type(s)
  Slot rank_in_group = kNoSlot;  // collectives: r
  Slot group_size = kNoSlot;     // collectives: n
  Slot group_ranks = kNoSlot;    // collectives: members, the ranks of the group in order
  Slot site = kNoSlot;           // number of this call of this operator in its graph
  Slot draw = kNoSlot;  // what this call draws: calls with other numbers draw apart; 0: not told apart
  bool random = false;  // the body applies a random operator
  std::optional<Expr> condition;
  Expr body;
  support::Span span;
};

// The lowerings of a rule set, in order. They are kept as bytes (bytes.h), and each is decoded when it is
// first asked for: a library has hundreds, a program uses a few dozen. Copies share them.
class Lowerings {
 public:
  // What is known of a lowering without decoding it.
  struct Head {
    std::string op;
    bool random = false;
    std::size_t size = 0;    // of its bytes
    std::uint64_t hash = 0;  // of its bytes
  };
  // The bytes of the lowering with an index.
  using Bytes = std::function<std::string(std::size_t)>;

  Lowerings() = default;
  // `files` are those of the rule set, in order.
  Lowerings(std::vector<Head> heads, Bytes bytes, std::vector<support::FileId> files);

  std::string bytes(std::size_t index) const { return bytes_(index); }

  std::size_t size() const { return heads_.size(); }
  const Head& head(std::size_t index) const { return heads_[index]; }
  const Lowering& operator[](std::size_t index) const;

  class Iterator {
   public:
    Iterator(const Lowerings& all, std::size_t index) : all_(&all), index_(index) {}
    const Lowering& operator*() const { return (*all_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Lowerings* all_;
    std::size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  struct Cell {
    std::once_flag decoded;
    std::unique_ptr<const Lowering> lowering;
  };

  std::vector<Head> heads_;
  std::shared_ptr<std::vector<Cell>> cells_;
  Bytes bytes_;
  std::vector<support::FileId> files_;
};

enum class Accept : std::uint8_t { none, bounded, proved };

class RuleSet {
 public:
  const std::vector<Operator>& operators() const { return operators_; }
  const Operator& op(OpId id) const { return operators_[id]; }
  // kNoOp when there is none.
  OpId find_op(std::string_view name) const;
  const std::vector<Lemma>& lemmas() const { return lemmas_; }
  const std::vector<Predicate>& predicates() const { return predicates_; }
  const Predicate* find_predicate(std::string_view name) const;
  const std::vector<ScalarFunction>& functions() const { return functions_; }
  const std::vector<Law>& laws() const { return laws_; }
  const Lowerings& lowerings() const { return lowerings_; }
  // Indices into lowerings(), in order; empty for an operator nobody has described.
  const std::vector<std::size_t>& lowerings_of(const std::string& framework_op) const;
  const std::vector<support::FileId>& files() const { return files_; }
  // What the file's `accept` says.
  Accept accept(support::FileId file) const;
  // Hash of the texts of all files, in order.
  std::uint64_t fingerprint() const { return fingerprint_; }
  // The same without one lemma, for looking at what the others find; operators keep their ids.
  std::shared_ptr<const RuleSet> without_lemma(std::size_t index) const;
  // The same with the operators and lemmas of another set, whose names are not looked up here.
  std::shared_ptr<const RuleSet> with(const RuleSet& other) const;

 private:
  friend class Resolver;
  friend struct RuleSetParts;  // see cache.h
  std::vector<Operator> operators_;
  std::unordered_map<std::string, OpId> op_by_name_;
  std::vector<Lemma> lemmas_;
  std::vector<Predicate> predicates_;
  std::vector<ScalarFunction> functions_;
  std::vector<Law> laws_;
  Lowerings lowerings_;
  std::unordered_map<std::string, std::vector<std::size_t>> lowerings_by_op_;
  std::vector<support::FileId> files_;
  std::uint64_t fingerprint_ = 0;
  std::unordered_map<support::FileId, Accept> accept_;
};

struct Loaded {
  std::shared_ptr<const RuleSet> rules;          // null when there are errors
  std::vector<support::Diagnostic> diagnostics;  // errors and warnings, sorted by file and place
  bool ok() const { return rules != nullptr; }
};

// Loads rule files and what they include (looked up beside the including file, then in `folders`). All errors
// are reported, not only the first.
Loaded load_rules(const std::vector<std::string>& paths, const std::vector<std::string>& folders);
// The same for a text that is not in a file; `name` is shown in diagnostics.
Loaded load_rules_text(const std::string& name, const std::string& text,
                       const std::vector<std::string>& folders);

// A single expression of a manifest, over the operators of a rule set. `at` is where `text` stands (its first
// character); without a line, diagnostics name the file only.
//
// Leaves are ExprKind::variable without slot; `name` is their text without quotes: `r0.layers.3.wq`, `r0.odd
// name` for r0."odd name", `tokens`. Where an attribute is an integer such a name is a symbol. `sum(a, b)` is
// add_n(a, b), `max(a, b)` is max_n(a, b), and attributes by name may stand among the operands: slice(r0.x,
// dim=0, start=0, end=4), where `start` is `begin`.
support::Result<Expr> parse_leaf_expression(const RuleSet& rules, support::FileId file,
                                            const std::string& text, support::Span at);

}  // namespace entangle::rules
