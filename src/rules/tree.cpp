#include "rules/tree.h"

#include <array>
#include <string>
#include <utility>

#include "entangle/support/check.h"
#include "rules/diagnostics.h"
#include "rules/mentions.h"
#include "rules/syntax_error.h"

namespace entangle::rules {
namespace {

using P = grammar::RulesParser;
using namespace syntax;  // NOLINT: this file makes nothing else

constexpr std::uint16_t kDeepestTree = 400;

// How tightly a piece of a flat chain of operators binds.
enum Level : int { kAny, kOr, kAnd, kNot, kComparison, kWith, kAppend, kAdd, kMultiply, kUnary };

struct Piece {
  enum class Kind : std::uint8_t { operand, prefix, binary, with, without };
  Kind kind = Kind::operand;
  Operation operation = Operation::none;  // none of a prefix: `*`
  int level = kAny;
  Span span;
  Node node;  // operand; with: the index
};

struct OperatorSpelling {
  std::size_t token;
  Operation operation;
  int level;
};

constexpr std::array<OperatorSpelling, 16> kOperators = {{
    {P::OR, Operation::logical_or, kOr},
    {P::AND, Operation::logical_and, kAnd},
    {P::EQUAL, Operation::equal, kComparison},
    {P::NOT_EQUAL, Operation::not_equal, kComparison},
    {P::LESS, Operation::less, kComparison},
    {P::LESS_EQUAL, Operation::less_equal, kComparison},
    {P::GREATER, Operation::greater, kComparison},
    {P::GREATER_EQUAL, Operation::greater_equal, kComparison},
    {P::IN, Operation::in, kComparison},
    {P::APPEND, Operation::append, kAppend},
    {P::PLUS, Operation::add, kAdd},
    {P::MINUS, Operation::subtract, kAdd},
    {P::STAR, Operation::multiply, kMultiply},
    {P::SLASH, Operation::divide, kMultiply},
    {P::FLOORDIV, Operation::floordiv, kMultiply},
    {P::MOD, Operation::mod, kMultiply},
}};

// The place from the start of one to the end of the other.
Span cover(Span first, Span last) {
  if (last.line == first.line) {
    first.length = std::max(first.length, last.column + last.length - first.column);
  }
  return first;
}

std::string unescape(std::string_view quoted) {
  std::string result;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\' && i + 2 < quoted.size()) {
      ++i;
      result += quoted[i] == 'n' ? '\n' : quoted[i] == 't' ? '\t' : quoted[i];
    } else {
      result += quoted[i];
    }
  }
  return result;
}

class Builder {
 public:
  explicit Builder(const Source& source) : source_(source) {}

  Declaration declaration(P::DeclarationContext* context) {
    Declaration result{content(context), source_.span(context), {}};
    const std::size_t start = context->start->getStartIndex();
    result.text = source_.text.substr(start, context->stop->getStopIndex() + 1 - start);
    return result;
  }

  Node expression(P::ExprContext* context) {
    if (context->prefixes.empty() && context->rest == nullptr) return operand(context);
    std::vector<Piece> pieces;
    pieces.reserve(4);
    flatten(context, pieces);
    return chain(std::move(pieces));
  }

 private:
  // --- small things

  std::string text(const antlr4::Token* token) { return std::string(source_.text_of(token)); }
  std::string unquoted(const antlr4::Token* token) { return unescape(source_.text_of(token)); }
  Name name(const antlr4::Token* token) { return {text(token), source_.span(token)}; }
  std::vector<Name> names(const std::vector<antlr4::Token*>& tokens) {
    std::vector<Name> result;
    result.reserve(tokens.size());
    for (const antlr4::Token* token : tokens) result.push_back(name(token));
    return result;
  }
  std::optional<Node> optional(P::ExprContext* context) {
    return context == nullptr ? std::nullopt : std::optional(expression(context));
  }
  static Node make(NodeKind kind, Span span, std::vector<Node> children = {}) {
    Node node;
    node.kind = kind;
    node.span = span;
    node.children = std::move(children);
    measure(node);
    return node;
  }
  [[noreturn]] static void refuse(Span span) {
    throw SyntaxError(
        support::error(std::string(id::too_large), span, "the expression is too long or nested too deeply"));
  }
  // Whoever goes through a tree does so recursively: there is a limit to how deep it may be.
  static void measure(Node& node) {
    std::uint16_t below = 0;
    const auto add = [&](const std::vector<Node>& nodes) {
      for (const Node& one : nodes) below = std::max(below, one.depth);
    };
    add(node.children);
    add(node.parts->others);
    for (const Item& item : node.parts->items) add(item.parts);
    for (const Item& item : node.parts->attributes) add(item.parts);
    if (below == kDeepestTree) refuse(node.span);
    node.depth = static_cast<std::uint16_t>(below + 1);
  }
  Node word(const antlr4::Token* token, NodeKind kind = NodeKind::name) {
    Node node = make(kind, source_.span(token));
    node.text = kind == NodeKind::string ? unquoted(token) : text(token);
    return node;
  }
  template <class... Nodes>
  static std::vector<Node> list(Nodes... nodes) {
    std::vector<Node> result;
    result.reserve(sizeof...(nodes));
    (result.push_back(std::move(nodes)), ...);
    return result;
  }

  // --- declarations

  Declaration::Content content(P::DeclarationContext* context) {
    if (auto* c = context->theInclusion) return Inclusion{unquoted(c->path), source_.span(c->path)};
    if (auto* c = context->theAcceptance) return Acceptance{name(c->level)};
    if (auto* c = context->theOperation) return operation(c);
    if (auto* c = context->theDefinition) {
      DefText result{name(c->name), parameters(c->params), expression(c->body)};
      find_mentions(result);
      return result;
    }
    if (auto* c = context->theFunction) return FunctionText{name(c->name), names(c->params)};
    if (auto* c = context->theLaw) {
      return LawText{name(c->name), names(c->params), expression(c->statement), optional(c->condition)};
    }
    if (auto* c = context->theLemma) return lemma(c);
    if (auto* c = context->thePredicate) {
      return PredicateText{name(c->name), parameters(c->params), expression(c->body)};
    }
    if (auto* c = context->theLowering) return lowering(c);
    auto* c = context->theTransfer;
    ENTANGLE_CHECK(c != nullptr, "a declaration of an unknown kind");
    LoweringText result;
    result.kind = c->kind->getType() == P::SEND ? LoweringKind::send : LoweringKind::recv;
    result.name = framework_name(c->name);
    result.parameters = parameters(c->params);
    return result;
  }

  OperatorText operation(P::OperationContext* context) {
    OperatorText result;
    result.name = name(context->name);
    result.parameters = parameters(context->params);
    result.flags = names(context->flags);
    for (P::ClauseContext* c : context->clauses) result.clauses.push_back(clause(c));
    return result;
  }

  static Clause::Kind clause_kind(std::size_t token) {
    switch (token) {
      case P::LET:
        return Clause::Kind::let;
      case P::REQUIRE:
        return Clause::Kind::require;
      case P::SHAPE:
        return Clause::Kind::shape;
      case P::DTYPE:
        return Clause::Kind::dtype;
      case P::VALUE:
        return Clause::Kind::value;
      case P::MAPS:
        return Clause::Kind::maps;
      case P::REDUCES:
        return Clause::Kind::reduces;
      case P::LINEAR:
        return Clause::Kind::linear;
      default:
        return Clause::Kind::because;
    }
  }

  Clause clause(P::ClauseContext* context) {
    Clause result;
    result.span = source_.span(context);
    result.kind = clause_kind(context->kind->getType());
    if (context->name != nullptr) result.name = name(context->name);
    if (context->reduction != nullptr) result.reduction = name(context->reduction);
    if (P::AxisRangeContext* range = context->range) {
      result.range = AxisRange{name(range->name), expression(range->bound), optional(range->filter)};
    }
    result.expr = optional(context->value);
    for (P::AxisOperandContext* operand : context->operands) {
      result.operands.push_back({name(operand->name), axis(operand)});
    }
    result.names = names(context->names);
    if (context->reason != nullptr) result.text = unquoted(context->reason);
    return result;
  }

  Node axis(P::AxisOperandContext* context) {
    if (context->axis != nullptr) return expression(context->axis);
    return word(context->plain, context->plain->getType() == P::INT ? NodeKind::number : NodeKind::name);
  }

  Parameters parameters(P::ParametersContext* context) {
    Parameters result;
    result.span = source_.span(context);
    result.semicolon = context->semicolon != nullptr;
    for (P::ParameterContext* p : context->before) result.before.push_back(parameter(p));
    for (P::ParameterContext* p : context->after) result.after.push_back(parameter(p));
    return result;
  }

  ParameterText parameter(P::ParameterContext* context) {
    ParameterText result{name(context->name), std::nullopt, optional(context->value)};
    if (P::TypeNameContext* type = context->type) {
      TypeText written{name(type->base), std::nullopt, {}, source_.span(type)};
      if (type->of != nullptr) written.of = name(type->of);
      for (const antlr4::Token* suffix : type->suffixes) written.suffix += source_.text_of(suffix);
      result.type = std::move(written);
    }
    return result;
  }

  LemmaText lemma(P::LemmaContext* context) {
    LemmaText result;
    result.normalise = context->normalise != nullptr;
    result.axiom = context->kind->getType() == P::AXIOM;
    result.name = name(context->name);
    result.parameters = parameters(context->params);
    if (P::OperatorVariableContext* variable = context->variable) {
      GenericVariable generic{name(variable->name), names(variable->words), std::nullopt,
                              source_.span(variable)};
      if (variable->result != nullptr) generic.result = name(variable->result);
      result.generic = std::move(generic);
    }
    for (P::ExprContext* premise : context->given) result.given.push_back(expression(premise));
    result.left = context->left != nullptr ? named_expression(context->left) : expression(context->statement);
    result.right = optional(context->right);
    for (P::LemmaTailContext* tail : context->tails) lemma_tail(tail, result);
    return result;
  }

  void lemma_tail(P::LemmaTailContext* tail, LemmaText& result) {
    const auto set = [&](auto& into, auto value) {
      if (into) result.second_when = source_.span(tail->kind);
      into = std::move(value);
    };
    switch (tail->kind->getType()) {
      case P::WHEN:
        set(result.when, expression(tail->value));
        return;
      case P::TRIGGER:
        set(result.trigger, expression(tail->value));
        return;
      default:
        set(result.because, unquoted(tail->reason));
    }
  }

  LoweringText lowering(P::LoweringContext* context) {
    LoweringText result;
    result.kind = context->kind->getType() == P::LOWER ? LoweringKind::local : LoweringKind::collective;
    result.name = framework_name(context->name);
    result.parameters = parameters(context->params);
    result.body = expression(context->body);
    for (P::ExprContext* condition : context->conditions) {
      (result.condition ? result.second_condition : result.condition) = expression(condition);
    }
    return result;
  }

  Name framework_name(P::FrameworkNameContext* context) {
    const Span span = source_.span(context);
    if (context->quoted != nullptr) return {unquoted(context->quoted), span};
    const std::size_t start = context->start->getStartIndex();
    return {std::string(source_.text.substr(start, context->stop->getStopIndex() + 1 - start)), span};
  }

  // --- expressions

  Node operand(P::ExprContext* context) {
    return context->special != nullptr ? keyworded(context->special) : postfix(context->operand);
  }

  void flatten(P::ExprContext* context, std::vector<Piece>& pieces) {
    while (context != nullptr) {
      for (const antlr4::Token* prefix : context->prefixes) {
        const std::size_t token = prefix->getType();
        Piece piece;
        piece.kind = Piece::Kind::prefix;
        piece.operation = token == P::NOT     ? Operation::logical_not
                          : token == P::MINUS ? Operation::negate
                                              : Operation::none;
        piece.level = token == P::NOT ? kNot : kUnary;
        piece.span = source_.span(prefix);
        pieces.push_back(std::move(piece));
      }
      Piece last;
      last.node = operand(context);
      last.span = last.node.span;
      pieces.push_back(std::move(last));
      context = context->rest == nullptr ? nullptr : flatten_tail(context->rest, pieces);
    }
  }

  // Adds the operator; returns what stands to the right of it.
  P::ExprContext* flatten_tail(P::TailContext* tail, std::vector<Piece>& pieces) {
    Piece piece;
    piece.span = source_.span(tail->start);
    if (tail->binary != nullptr) {
      piece.kind = Piece::Kind::binary;
      const std::size_t token = tail->binary->getType();
      for (const OperatorSpelling& spelling : kOperators) {
        if (spelling.token == token) {
          piece.operation = spelling.operation;
          piece.level = spelling.level;
        }
      }
    } else {
      piece.kind = tail->at != nullptr ? Piece::Kind::with : Piece::Kind::without;
      piece.level = kWith;
      if (tail->at != nullptr) piece.node = expression(tail->at);
    }
    pieces.push_back(std::move(piece));
    return tail->right;
  }

  Node chain(std::vector<Piece> pieces) {
    if (pieces.size() > 2 * kDeepestTree) refuse(pieces[0].span);
    std::size_t at = 0;
    return chain(pieces, at, kAny);
  }

  // The longest expression from `at` on whose operators all bind at least as tightly as `level`.
  Node chain(std::vector<Piece>& pieces, std::size_t& at, int level) {
    Piece& first = pieces[at++];
    Node left;
    if (first.kind == Piece::Kind::prefix) {
      Node operand = chain(pieces, at, first.level);
      left = make(first.operation == Operation::none ? NodeKind::star : NodeKind::unary,
                  cover(first.span, operand.span), list(std::move(operand)));
      left.operation = first.operation;
    } else {
      left = std::move(first.node);
    }
    while (at < pieces.size() && pieces[at].level >= level) {
      Piece& piece = pieces[at];
      if (piece.level == kComparison) {
        left = comparison(pieces, at, std::move(left));
        continue;
      }
      ++at;
      Node right = chain(pieces, at, piece.level + 1);
      const Span span = cover(left.span, right.span);
      if (piece.kind == Piece::Kind::with) {
        left = make(NodeKind::with, span, list(std::move(left), std::move(piece.node), std::move(right)));
      } else if (piece.kind == Piece::Kind::without) {
        left = make(NodeKind::without, span, list(std::move(left), std::move(right)));
      } else {
        left = make(NodeKind::binary, span, list(std::move(left), std::move(right)));
        left.operation = piece.operation;
      }
    }
    return left;
  }

  // a < b <= c is a < b and b <= c.
  Node comparison(std::vector<Piece>& pieces, std::size_t& at, Node left) {
    std::optional<Node> result;
    while (at < pieces.size() && pieces[at].level == kComparison) {
      const Operation operation = pieces[at++].operation;
      Node right = chain(pieces, at, kComparison + 1);
      Node one = make(NodeKind::binary, cover(left.span, right.span), list(std::move(left), right));
      one.operation = operation;
      left = std::move(right);
      if (!result) {
        result = std::move(one);
      } else {
        const Span span = cover(result->span, one.span);
        result = make(NodeKind::binary, span, list(std::move(*result), std::move(one)));
        result->operation = Operation::logical_and;
      }
    }
    return std::move(*result);
  }

  Node keyworded(P::KeywordedContext* context) {
    const Span span = source_.span(context);
    const std::size_t keyword = context->kind->getType();
    if (keyword == P::IF) {
      return make(NodeKind::conditional, span,
                  list(expression(context->first), expression(context->second), expression(context->third)));
    }
    if (keyword == P::LET) {
      Node node = make(NodeKind::let, span, list(expression(context->first), expression(context->second)));
      node.parts.change().names = names(context->names);
      return node;
    }
    const NodeKind kind = keyword == P::FORALL ? NodeKind::forall : NodeKind::exists;
    Node body = expression(context->second);
    if (context->at != nullptr) {
      Node node =
          make(kind == NodeKind::forall ? NodeKind::others : NodeKind::exists, span, list(std::move(body)));
      node.parts.change().names = names(context->names);
      return node;
    }
    // Several bindings: one quantifier inside the other.
    const std::vector<P::BindingContext*>& more = context->more;
    for (std::size_t i = more.size(); i-- > 0;) {
      Node inner = make(kind, span, list(expression(more[i]->over), std::move(body)));
      inner.parts.change().names = names(more[i]->names);
      body = std::move(inner);
    }
    Node node = make(kind, span, list(expression(context->first), std::move(body)));
    node.parts.change().names = names(context->names);
    return node;
  }

  Node named_expression(P::NamedExprContext* context) {
    std::vector<Piece> pieces(1);
    pieces[0].node = suffixes(word(context->name), context->suffixes);
    pieces[0].span = pieces[0].node.span;
    if (context->rest != nullptr) flatten(flatten_tail(context->rest, pieces), pieces);
    return chain(std::move(pieces));
  }

  Node postfix(P::PostfixContext* context) { return suffixes(primary(context), context->suffixes); }

  Node primary(P::PostfixContext* context) {
    if (context->word != nullptr) return word(context->word);
    if (context->number != nullptr) return word(context->number, NodeKind::number);
    if (context->quoted != nullptr) return word(context->quoted, NodeKind::string);
    std::vector<Node> entries = expressions(context->entries);
    const bool round = context->round != nullptr;
    if (round && entries.size() == 1) return std::move(entries[0]);
    const Span span = context->suffixes.empty() ? source_.span(context) : source_.span(context->start);
    Node node = make(round ? NodeKind::tuple : NodeKind::list, span, std::move(entries));
    if (P::ComprehensionContext* each = context->each) {
      node.kind = NodeKind::comprehension;
      add_comprehension(each, node.children, node.parts.change().names);
      measure(node);
    }
    return node;
  }

  std::vector<Node> expressions(const std::vector<P::ExprContext*>& all) {
    std::vector<Node> result;
    result.reserve(all.size());
    for (P::ExprContext* one : all) result.push_back(expression(one));
    return result;
  }

  // Adds the list, the condition if there is one, and the names.
  void add_comprehension(P::ComprehensionContext* context, std::vector<Node>& parts,
                         std::vector<Name>& bound) {
    parts.push_back(expression(context->from->over));
    bound = names(context->from->names);
    if (context->condition != nullptr) parts.push_back(expression(context->condition));
  }

  Node suffixes(Node node, const std::vector<P::SuffixContext*>& all) {
    for (P::SuffixContext* suffix : all) {
      const Span span = cover(node.span, source_.span(suffix));
      switch (suffix->kind->getType()) {
        case P::DOT:
          node = member(std::move(node), suffix, span);
          break;
        case P::OPEN_SQUARE:
          node = subscript(std::move(node), suffix, span);
          break;
        default:
          node = call(std::move(node), suffix, span);
      }
    }
    return node;
  }

  Node member(Node of, P::SuffixContext* context, Span span) {
    if (context->computed != nullptr) {
      return make(NodeKind::computed, span, list(std::move(of), expression(context->computed)));
    }
    Node node = make(NodeKind::member, span, list(std::move(of)));
    const antlr4::Token* token = context->member != nullptr ? context->member : context->word->start;
    node.text = token->getType() == P::STRING ? unquoted(token) : text(token);
    return node;
  }

  Node subscript(Node of, P::SuffixContext* context, Span span) {
    std::vector<Node> entries = expressions(context->entries);
    if (context->colon == nullptr) {
      Node node = make(NodeKind::index, span, list(std::move(of)));
      for (Node& entry : entries) node.children.push_back(std::move(entry));
      measure(node);
      return node;
    }
    Node begin = entries.empty() ? make(NodeKind::missing, span) : std::move(entries[0]);
    Node end = context->end == nullptr ? make(NodeKind::missing, span) : expression(context->end);
    return make(NodeKind::range, span, list(std::move(of), std::move(begin), std::move(end)));
  }

  Node call(Node callee, P::SuffixContext* context, Span span) {
    Node node = make(NodeKind::call, span, list(std::move(callee)));
    NodeParts& parts = node.parts.change();
    parts.items = items(context->items);
    if (context->other != nullptr) {
      parts.names = names(context->others);
      parts.others.push_back(expression(context->other));
    }
    node.semicolon = context->semicolon != nullptr;
    parts.attributes = items(context->attributes);
    measure(node);
    return node;
  }

  std::vector<Item> items(const std::vector<P::ItemContext*>& all) {
    std::vector<Item> result;
    result.reserve(all.size());
    for (P::ItemContext* one : all) result.push_back(item(one));
    return result;
  }

  Item item(P::ItemContext* context) {
    Item result;
    result.span = source_.span(context);
    if (context->dots != nullptr) {
      result.kind = Item::Kind::dots;
      return result;
    }
    result.parts.push_back(expression(context->first));
    if (P::ComprehensionContext* each = context->each) {
      result.kind = Item::Kind::comprehension;
      add_comprehension(each, result.parts, result.names);
    } else if (context->second != nullptr) {
      result.parts.push_back(expression(context->second));
      const std::size_t token = context->kind->getType();
      result.kind = token == P::ASSIGN  ? Item::Kind::named
                    : token == P::COLON ? Item::Kind::colon
                                        : Item::Kind::guarded;
    }
    return result;
  }

  const Source& source_;
};

}  // namespace

syntax::Declaration build_declaration(const Source& source,
                                      grammar::RulesParser::DeclarationContext* context) {
  return Builder(source).declaration(context);
}

syntax::Node build_expression(const Source& source, grammar::RulesParser::ExprContext* context) {
  return Builder(source).expression(context);
}

}  // namespace entangle::rules
