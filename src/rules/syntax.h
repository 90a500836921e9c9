// What a rule file says, before names are resolved: declarations and expressions as written.
//
// Made by parser.h, consumed by the resolver; nothing outside this module sees it. Every piece knows its
// place in the source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "entangle/rules/ast.h"
#include "entangle/rules/ruleset.h"
#include "entangle/support/diagnostic.h"

namespace entangle::rules::syntax {

using support::Span;

struct Name {
  std::string text;
  Span span;
};

enum class NodeKind : std::uint8_t {
  missing,        // an absent bound of a range
  name,           // text; `_` too
  number,         // text
  string,         // text, without quotes and escapes
  member,         // children[0] . text
  computed,       // children[0] . (children[1])
  index,          // children[0] [children[1], ...]
  range,          // children[0] [children[1] : children[2]]
  call,           // children[0] (items | others ; attributes)
  tuple,          // (children...), at least two
  list,           // [children...]
  comprehension,  // [children[0] for names in children[1] if children[2]]
  star,           // *children[0]
  unary,          // operation children[0]
  binary,         // children[0] operation children[1]
  with,           // children[0] with [children[1]] = children[2]
  without,        // children[0] without children[1]
  conditional,    // if children[0] then children[1] else children[2]
  let,            // let names[0] = children[0] in children[1]
  forall,         // forall names in children[0]: children[1]
  exists,
  others,  // forall names[0] @ names[1]: children[0]
};

struct Item;
struct NodeParts;

// A value that is mostly the initial one, and then takes no room.
template <class T>
class Rare {
 public:
  Rare() = default;
  Rare(Rare&&) noexcept = default;
  Rare& operator=(Rare&&) noexcept = default;
  Rare(const Rare& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Rare& operator=(const Rare& other) { return *this = Rare(other); }
  ~Rare() = default;

  const T& operator*() const {
    static const T initial;
    return value_ ? *value_ : initial;
  }
  const T* operator->() const { return &**this; }
  T& change() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
};

struct Node {
  NodeKind kind = NodeKind::missing;
  Operation operation = Operation::none;
  bool semicolon = false;   // call: there is a `;`
  std::uint16_t depth = 1;  // levels of nodes from here on
  Span span;
  std::string text;
  std::vector<Node> children;
  Rare<NodeParts> parts;
};

// What calls and nodes that bind names have besides.
struct NodeParts {
  std::vector<Name> names;  // bound here; call: the names before `=>` in `| y @ b => e`
  std::vector<Item> items;
  std::vector<Item> attributes;
  std::vector<Node> others;  // call: the e of `| y @ b => e`, or nothing
};

// An entry of a call's list.
struct Item {
  enum class Kind : std::uint8_t {
    plain,          // parts[0]
    dots,           // ..
    named,          // parts[0] = parts[1]
    colon,          // parts[0] : parts[1]
    comprehension,  // parts[0] for names in parts[1] if parts[2]
    guarded,        // parts[0] if parts[1]
  };
  Kind kind = Kind::plain;
  Span span;
  std::vector<Node> parts;
  std::vector<Name> names;
};

struct TypeText {
  Name base;
  std::optional<Name> of;
  std::string suffix;  // `*`, `+`, `?` and `!` in order
  Span span;
};

struct ParameterText {
  Name name;
  std::optional<TypeText> type;
  std::optional<Node> default_value;
};

struct Parameters {
  std::vector<ParameterText> before, after;  // the `;`
  bool semicolon = false;
  Span span;
};

struct AxisRange {
  Name index;
  Node bound;
  std::optional<Node> filter;
};

struct AxisOperand {
  Name parameter;
  Node axis;
};

struct Clause {
  enum class Kind : std::uint8_t { let, require, shape, dtype, value, maps, reduces, linear, because };
  Kind kind = Kind::let;
  Span span;
  Name name;       // let, value: the variable; maps, reduces: the clause's name
  Name reduction;  // reduces: `sum` or `max`
  std::optional<Node>
      expr;  // let, require, shape, dtype, value; maps: the result axis; linear: the condition
  std::optional<AxisRange> range;
  std::vector<AxisOperand> operands;
  std::vector<Name> names;  // linear
  std::string text;         // because
};

struct Inclusion {
  std::string path;
  Span path_span;
};

struct Acceptance {
  Name level;
};

struct OperatorText {
  Name name;
  Parameters parameters;
  std::vector<Name> flags;
  std::vector<Clause> clauses;
};

struct DefText {
  Name name;
  Parameters parameters;
  Node body;
  // How often the body mentions each parameter, those before the `;` first; often, where what mentions it is
  // computed for each entry of a list.
  std::vector<std::size_t> uses = {};
  std::vector<std::string> calls = {};  // the names of what the body calls
};

struct FunctionText {
  Name name;
  std::vector<Name> parameters;
};

struct LawText {
  Name name;
  std::vector<Name> parameters;
  Node statement;
  std::optional<Node> condition;
};

struct GenericVariable {
  Name name;
  std::vector<Name> words;     // trait words and the axis: `maps pair a`
  std::optional<Name> result;  // after `->`
  Span span;
};

struct LemmaText {
  bool normalise = false;
  bool axiom = false;
  Name name;
  std::optional<GenericVariable> generic;
  Parameters parameters;
  std::vector<Node> given;
  Node left;  // the whole statement when there is no `=>`
  std::optional<Node> right;
  std::optional<Node> when, trigger;
  std::optional<std::string> because;
  Span second_when;  // of a clause that is there twice; no line: there is none
};

struct PredicateText {
  Name name;
  Parameters parameters;
  Node body;
};

struct LoweringText {
  LoweringKind kind = LoweringKind::local;
  Name name;
  Parameters parameters;
  std::optional<Node> condition, second_condition;
  std::optional<Node> body;
};

struct Declaration {
  using Content = std::variant<Inclusion, Acceptance, OperatorText, DefText, FunctionText, LawText, LemmaText,
                               PredicateText, LoweringText>;
  Content content;
  Span span;              // from the first token to the last
  std::string_view text;  // as written, in the source
};

struct File {
  support::FileId file = support::kNoFile;
  std::vector<Declaration> declarations;
};

}  // namespace entangle::rules::syntax
