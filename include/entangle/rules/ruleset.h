// A RuleSet: everything a set of rule files declares, resolved and type-checked; nothing executable.
//
// Built by load_rules; immutable afterwards and safe to share between threads. Declarations keep their order
// (include order, then file order), which is the order in which rules are tried.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "entangle/rules/ast.h"
#include "entangle/rules/declaration_list.h"

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

// What is known of an operator without decoding it.
struct OperatorHead {
  std::string_view name;
  std::uint8_t traits = 0;  // by Trait, one bit each
  std::size_t size = 0;     // of its bytes

  bool has(Trait trait) const { return (traits >> static_cast<unsigned>(trait) & 1) != 0; }
};
// The name is a part of the operator.
OperatorHead head_of(const Operator& op);

using Operators = DeclarationList<Operator, OperatorHead>;
// The list of these, whose spans are in `files`.
Operators operator_list(const std::vector<Operator>& operators, const std::vector<support::FileId>& files);

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

// Marks, by their ids, the operators that an expression applies; those beyond the end are left out.
void collect_operators(const Expr& expr, std::vector<bool>& found);

// A pattern of a lemma, and where it is looked for: at any application, or in the class of the pattern before
// it.
struct Goal {
  const Expr* pattern = nullptr;
  bool same_class = false;
};

// Whether something has the form of a pattern that applications can be matched with.
bool is_pattern(const Expr& expr);
// What is to be matched, in order, before the lemma says something, read from left to right or (backwards)
// from right to left; nothing where it cannot be read that way. The last one is the side that is read from,
// if that is a pattern.
std::vector<Goal> goals_of(const Lemma& lemma, bool backwards);

// What is known of a lemma without decoding it: enough to tell at which applications it may say something.
struct LemmaHead {
  // The first of the goals.
  struct Opening {
    enum class Kind : std::uint8_t { none, application, generic };
    Kind kind = Kind::none;
    OpId op = kNoOp;  // of an application
    // Operators that must be among the nodes of the operands, as operator_bit()s.
    std::uint64_t operands = 0;
  };
  bool normalise = false;     // and nothing is given
  bool transparent = false;   // op(x; a, b) => x, always
  Trait trait = Trait::maps;  // of the operator variable, where an opening is generic
  Opening forward, backward;
  std::size_t size = 0;  // of its bytes
};
LemmaHead head_of(const Lemma& lemma);

// A set of operators in one word: those whose bits are equal are not told apart.
inline std::uint64_t operator_bit(OpId op) {
  return std::uint64_t{1} << (op % 64);
}

using Lemmas = DeclarationList<Lemma, LemmaHead>;
// The list of these, whose spans are in `files`.
Lemmas lemma_list(const std::vector<Lemma>& lemmas, const std::vector<support::FileId>& files);

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

// lower NAME(parameters) [when condition]: body. Several may share a name: the first that applies is used,
// and those of a file stand before those of the files that it includes.
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

// The body of a definition, as it is in the place of every use that needs no other than the parameters'
// types.
struct DefinitionBody {
  std::vector<Variable> slots;    // the parameters first
  std::vector<std::size_t> uses;  // how often each parameter is mentioned
  Expr body;
};

struct DefinitionHead {
  std::size_t size = 0;  // of its bytes
};

using Definitions = DeclarationList<DefinitionBody, DefinitionHead>;

// What is known of a lowering without decoding it.
struct LoweringHead {
  std::string_view op;
  LoweringKind kind = LoweringKind::local;
  bool random = false;
  std::size_t size = 0;    // of its bytes
  std::uint64_t hash = 0;  // of its bytes
};

using Lowerings = DeclarationList<Lowering, LoweringHead>;

enum class Accept : std::uint8_t { none, bounded, proved };

class RuleSet {
 public:
  const Operators& operators() const { return operators_; }
  const Operator& op(OpId id) const { return operators_[id]; }
  // kNoOp when there is none.
  OpId find_op(std::string_view name) const;
  const Lemmas& lemmas() const { return lemmas_; }
  const std::vector<Predicate>& predicates() const { return predicates_; }
  const Predicate* find_predicate(std::string_view name) const;
  const std::vector<ScalarFunction>& functions() const { return functions_; }
  const std::vector<Law>& laws() const { return laws_; }
  const Lowerings& lowerings() const { return lowerings_; }
  // Indices into lowerings(), in order; empty for an operator nobody has described.
  std::span<const std::uint32_t> lowerings_of(std::string_view framework_op) const;
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
  friend struct RuleSetParts;  // to and from bytes
  Operators operators_;
  std::vector<OpId> op_by_name_;  // sorted by name
  Lemmas lemmas_;
  std::vector<Predicate> predicates_;
  std::vector<ScalarFunction> functions_;
  std::vector<Law> laws_;
  Definitions definitions_;  // that lowerings use
  Lowerings lowerings_;
  std::vector<std::uint32_t> lowerings_by_op_;  // sorted by operator, then in the order they are tried
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
