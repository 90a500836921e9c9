#include "rules/tree.h"

#include <array>
#include <string>
#include <utility>

#include "entangle/support/check.h"

namespace entangle::rules {
namespace {

using P = grammar::RulesParser;
using namespace syntax;  // NOLINT: this file makes nothing else

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
    result.text = std::string(source_.text.substr(start, context->stop->getStopIndex() + 1 - start));
    return result;
  }

  Node expression(P::ExprContext* context) {
    std::vector<Piece> pieces;
    flatten(context, pieces);
    return chain(std::move(pieces));
  }

 private:
  // --- small things

  std::string text(antlr4::tree::TerminalNode* node) {
    return std::string(source_.text_of(node->getSymbol()));
  }
  Name name(P::WordContext* context) {
    return {std::string(source_.text_of(context->start)), source_.span(context)};
  }
  std::vector<Name> names(const std::vector<P::WordContext*>& words) {
    std::vector<Name> result;
    for (P::WordContext* word : words) result.push_back(name(word));
    return result;
  }
  std::vector<Name> names(P::WordsContext* context) {
    return context == nullptr ? std::vector<Name>() : names(context->word());
  }
  std::optional<Node> optional(P::ExprContext* context) {
    return context == nullptr ? std::nullopt : std::optional(expression(context));
  }
  static Node make(NodeKind kind, Span span, std::vector<Node> children = {}) {
    Node node;
    node.kind = kind;
    node.span = span;
    node.children = std::move(children);
    return node;
  }
  template <class... Nodes>
  static std::vector<Node> list(Nodes... nodes) {
    std::vector<Node> result;
    (result.push_back(std::move(nodes)), ...);
    return result;
  }

  // --- declarations

  Declaration::Content content(P::DeclarationContext* context) {
    if (auto* c = context->inclusion()) return inclusion(c);
    if (auto* c = context->acceptance()) return Acceptance{name(c->word())};
    if (auto* c = context->operation()) return operation(c);
    if (auto* c = context->derived()) {
      return DefText{name(c->word()), parameters(c->parameters()), expression(c->expr())};
    }
    if (auto* c = context->function()) return FunctionText{name(c->word()), names(c->words())};
    if (auto* c = context->law()) {
      LawText law{name(c->word()), names(c->words()), expression(c->expr(0)), std::nullopt};
      if (c->expr().size() > 1) law.condition = expression(c->expr(1));
      return law;
    }
    if (auto* c = context->lemma()) return lemma(c);
    if (auto* c = context->predicate()) {
      return PredicateText{name(c->word()), parameters(c->parameters()), expression(c->expr())};
    }
    if (auto* c = context->lowering()) return lowering(c);
    auto* c = context->transfer();
    ENTANGLE_CHECK(c != nullptr, "a declaration of an unknown kind");
    LoweringText result;
    result.kind = source_.text_of(c->start) == "send" ? LoweringKind::send : LoweringKind::recv;
    result.name = framework_name(c->frameworkName());
    result.parameters = parameters(c->parameters());
    return result;
  }

  Inclusion inclusion(P::InclusionContext* context) {
    return {unescape(text(context->STRING())), source_.span(context->STRING()->getSymbol())};
  }

  OperatorText operation(P::OperationContext* context) {
    OperatorText result;
    result.name = name(context->word());
    result.parameters = parameters(context->parameters());
    if (context->flags() != nullptr) result.flags = names(context->flags()->word());
    for (P::ClauseContext* c : context->clause()) result.clauses.push_back(clause(c));
    return result;
  }

  Clause clause(P::ClauseContext* context) {
    Clause result;
    result.span = source_.span(context);
    if (auto* c = dynamic_cast<P::LetClauseContext*>(context)) {
      result.kind = Clause::Kind::let;
      result.name = name(c->word());
      result.expr = expression(c->expr());
    } else if (auto* c = dynamic_cast<P::RequireClauseContext*>(context)) {
      result.kind = Clause::Kind::require;
      result.expr = expression(c->expr());
    } else if (auto* c = dynamic_cast<P::ShapeClauseContext*>(context)) {
      result.kind = Clause::Kind::shape;
      result.expr = expression(c->expr());
    } else if (auto* c = dynamic_cast<P::DtypeClauseContext*>(context)) {
      result.kind = Clause::Kind::dtype;
      result.expr = expression(c->expr());
    } else if (auto* c = dynamic_cast<P::ValueClauseContext*>(context)) {
      result.kind = Clause::Kind::value;
      result.name = name(c->word());
      result.expr = expression(c->expr());
    } else if (auto* c = dynamic_cast<P::MapsClauseContext*>(context)) {
      result.kind = Clause::Kind::maps;
      result.name = name(c->word());
      if (c->axisRange() != nullptr) result.range = axis_range(c->axisRange());
      result.expr = expression(c->expr());
      for (auto* operand : c->axisOperand()) result.operands.push_back(axis_operand(operand));
    } else if (auto* c = dynamic_cast<P::ReducesClauseContext*>(context)) {
      result.kind = Clause::Kind::reduces;
      result.reduction = name(c->word(0));
      result.name = name(c->word(1));
      if (c->axisRange() != nullptr) result.range = axis_range(c->axisRange());
      for (auto* operand : c->axisOperand()) result.operands.push_back(axis_operand(operand));
    } else if (auto* c = dynamic_cast<P::LinearClauseContext*>(context)) {
      result.kind = Clause::Kind::linear;
      result.names = names(c->words());
      result.expr = optional(c->expr());
    } else if (auto* c = dynamic_cast<P::BecauseClauseContext*>(context)) {
      result.kind = Clause::Kind::because;
      result.text = unescape(text(c->STRING()));
    }
    return result;
  }

  AxisRange axis_range(P::AxisRangeContext* context) {
    AxisRange result{name(context->word()), expression(context->expr(0)), std::nullopt};
    if (context->expr().size() > 1) result.filter = expression(context->expr(1));
    return result;
  }

  AxisOperand axis_operand(P::AxisOperandContext* context) {
    AxisOperand result{name(context->word(0)), {}};
    if (context->expr() != nullptr) {
      result.axis = expression(context->expr());
    } else if (context->INT() != nullptr) {
      result.axis = make(NodeKind::number, source_.span(context->INT()->getSymbol()));
      result.axis.text = text(context->INT());
    } else {
      const Name axis = name(context->word(1));
      result.axis = make(NodeKind::name, axis.span);
      result.axis.text = axis.text;
    }
    return result;
  }

  Parameters parameters(P::ParametersContext* context) {
    Parameters result;
    result.span = source_.span(context);
    for (antlr4::tree::ParseTree* child : context->children) {
      if (auto* group = dynamic_cast<P::ParameterGroupContext*>(child)) {
        auto& into = result.semicolon ? result.after : result.before;
        for (P::ParameterContext* p : group->parameter()) into.push_back(parameter(p));
      } else if (auto* token = dynamic_cast<antlr4::tree::TerminalNode*>(child)) {
        if (token->getSymbol()->getType() == P::SEMICOLON) result.semicolon = true;
      }
    }
    return result;
  }

  ParameterText parameter(P::ParameterContext* context) {
    ParameterText result{name(context->word()), std::nullopt, optional(context->expr())};
    if (P::TypeContext* type = context->type()) {
      TypeText written{name(type->word(0)), std::nullopt, {}, source_.span(type)};
      if (type->word().size() > 1) written.of = name(type->word(1));
      for (P::TypeSuffixContext* suffix : type->typeSuffix())
        written.suffix += source_.text_of(suffix->start);
      result.type = std::move(written);
    }
    return result;
  }

  LemmaText lemma(P::LemmaContext* context) {
    LemmaText result;
    result.name = name(context->word());
    result.parameters = parameters(context->parameters());
    for (antlr4::tree::ParseTree* child : context->children) {
      auto* token = dynamic_cast<antlr4::tree::TerminalNode*>(child);
      if (token == nullptr) break;
      const std::string_view word = source_.text_of(token->getSymbol());
      result.normalise = result.normalise || word == "normalise";
      result.axiom = result.axiom || word == "axiom";
    }
    if (auto* variable = context->operatorVariable()) {
      GenericVariable generic;
      generic.span = source_.span(variable);
      std::vector<Name> words = names(variable->word());
      if (variable->getTokens(P::ARROW).size() == 1) {
        generic.result = words.back();
        words.pop_back();
      }
      generic.name = words.front();
      generic.words.assign(words.begin() + 1, words.end());
      result.generic = std::move(generic);
    }
    if (auto* premises = context->premises()) {
      for (P::ExprContext* premise : premises->expr()) result.given.push_back(expression(premise));
      P::NamedEquationContext* equation = context->namedEquation();
      result.left = named_expression(equation->namedExpr());
      result.right = optional(equation->expr());
    } else {
      P::EquationContext* equation = context->equation();
      result.left = expression(equation->expr(0));
      if (equation->expr().size() > 1) result.right = expression(equation->expr(1));
    }
    for (P::LemmaTailContext* tail : context->lemmaTail()) lemma_tail(tail, result);
    return result;
  }

  void lemma_tail(P::LemmaTailContext* tail, LemmaText& result) {
    const std::string_view keyword = source_.text_of(tail->start);
    const auto set = [&](auto& into, auto value) {
      if (into) result.second_when = source_.span(tail->start);
      into = std::move(value);
    };
    if (keyword == "when") {
      set(result.when, expression(tail->expr()));
    } else if (keyword == "trigger") {
      set(result.trigger, expression(tail->expr()));
    } else {
      set(result.because, unescape(text(tail->STRING())));
    }
  }

  LoweringText lowering(P::LoweringContext* context) {
    LoweringText result;
    result.kind = source_.text_of(context->start) == "lower" ? LoweringKind::local : LoweringKind::collective;
    result.name = framework_name(context->frameworkName());
    result.parameters = parameters(context->parameters());
    result.body = expression(context->expr());
    for (P::ConditionContext* condition : context->condition()) {
      (result.condition ? result.second_condition : result.condition) = expression(condition->expr());
    }
    return result;
  }

  Name framework_name(P::FrameworkNameContext* context) {
    const Span span = source_.span(context);
    const std::size_t start = context->start->getStartIndex();
    const std::string written(source_.text.substr(start, context->stop->getStopIndex() + 1 - start));
    return {context->STRING() != nullptr ? unescape(written) : written, span};
  }

  // --- expressions

  void flatten(P::ExprContext* context, std::vector<Piece>& pieces) {
    for (;;) {
      for (P::PrefixContext* prefix : context->prefix()) {
        const std::size_t token = prefix->start->getType();
        Piece piece;
        piece.kind = Piece::Kind::prefix;
        piece.operation = token == P::NOT     ? Operation::logical_not
                          : token == P::MINUS ? Operation::negate
                                              : Operation::none;
        piece.level = token == P::NOT ? kNot : kUnary;
        piece.span = source_.span(prefix->start);
        pieces.push_back(std::move(piece));
      }
      Piece operand;
      operand.node =
          context->keyworded() != nullptr ? keyworded(context->keyworded()) : postfix(context->postfix());
      operand.span = operand.node.span;
      pieces.push_back(std::move(operand));
      P::TailContext* tail = context->tail();
      if (tail == nullptr) return;
      context = flatten_tail(tail, pieces);
    }
  }

  // Adds the operator; returns what stands to the right of it.
  P::ExprContext* flatten_tail(P::TailContext* tail, std::vector<Piece>& pieces) {
    Piece piece;
    piece.span = source_.span(tail->start);
    if (tail->binary() != nullptr) {
      piece.kind = Piece::Kind::binary;
      const std::size_t token = tail->start->getType();
      for (const OperatorSpelling& spelling : kOperators) {
        if (spelling.token == token) {
          piece.operation = spelling.operation;
          piece.level = spelling.level;
        }
      }
    } else {
      const bool with = tail->expr().size() > 1;
      piece.kind = with ? Piece::Kind::with : Piece::Kind::without;
      piece.level = kWith;
      if (with) piece.node = expression(tail->expr(0));
    }
    pieces.push_back(std::move(piece));
    return tail->expr().back();
  }

  Node chain(std::vector<Piece> pieces) {
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
    if (auto* c = dynamic_cast<P::ConditionalContext*>(context)) {
      return make(NodeKind::conditional, span,
                  list(expression(c->expr(0)), expression(c->expr(1)), expression(c->expr(2))));
    }
    if (auto* c = dynamic_cast<P::LetInContext*>(context)) {
      Node node = make(NodeKind::let, span, list(expression(c->expr(0)), expression(c->expr(1))));
      node.names.push_back(name(c->word()));
      return node;
    }
    auto* c = dynamic_cast<P::QuantifiedContext*>(context);
    ENTANGLE_CHECK(c != nullptr, "an expression of an unknown kind");
    const NodeKind kind = c->start->getType() == P::FORALL ? NodeKind::forall : NodeKind::exists;
    Node body = expression(c->expr().back());
    if (!c->getTokens(P::AT).empty()) {
      Node node =
          make(kind == NodeKind::forall ? NodeKind::others : NodeKind::exists, span, list(std::move(body)));
      node.names = names(c->word());
      return node;
    }
    // Several bindings: one quantifier inside the other.
    const std::vector<P::BindingContext*> more = c->binding();
    for (std::size_t i = more.size(); i-- > 0;) {
      Node inner = make(kind, span, list(expression(more[i]->expr()), std::move(body)));
      inner.names = names(more[i]->word());
      body = std::move(inner);
    }
    Node node = make(kind, span, list(expression(c->expr(0)), std::move(body)));
    node.names = names(c->word());
    return node;
  }

  Node postfix(P::PostfixContext* context) {
    return suffixes(primary(context->primary()), context->suffix());
  }

  Node named_expression(P::NamedExprContext* context) {
    const Name word = name(context->word());
    Node node = make(NodeKind::name, word.span);
    node.text = word.text;
    std::vector<Piece> pieces(1);
    pieces[0].node = suffixes(std::move(node), context->suffix());
    pieces[0].span = pieces[0].node.span;
    if (P::TailContext* tail = context->tail()) flatten(flatten_tail(tail, pieces), pieces);
    return chain(std::move(pieces));
  }

  Node primary(P::PrimaryContext* context) {
    const Span span = source_.span(context);
    Node node = make(NodeKind::name, span);
    if (context->word() != nullptr) {
      node.text = source_.text_of(context->start);
      return node;
    }
    switch (context->start->getType()) {
      case P::INT:
      case P::DECIMAL:
        node.kind = NodeKind::number;
        node.text = source_.text_of(context->start);
        return node;
      case P::STRING:
        node.kind = NodeKind::string;
        node.text = unescape(source_.text_of(context->start));
        return node;
      default:
        break;
    }
    std::vector<Node> entries;
    for (P::ExprContext* entry : context->expr()) entries.push_back(expression(entry));
    if (context->start->getType() == P::OPEN_ROUND) {
      if (entries.size() == 1) return std::move(entries[0]);
      return make(NodeKind::tuple, span, std::move(entries));
    }
    if (P::ComprehensionContext* c = context->comprehension()) {
      Node result = make(NodeKind::comprehension, span, std::move(entries));
      add_comprehension(c, result.children, result.names);
      return result;
    }
    return make(NodeKind::list, span, std::move(entries));
  }

  // Adds the list, the condition if there is one, and the names.
  void add_comprehension(P::ComprehensionContext* context, std::vector<Node>& parts,
                         std::vector<Name>& bound) {
    P::BindingContext* binding = context->binding();
    parts.push_back(expression(binding->expr()));
    bound = names(binding->word());
    if (context->expr() != nullptr) parts.push_back(expression(context->expr()));
  }

  Node suffixes(Node node, const std::vector<P::SuffixContext*>& all) {
    for (P::SuffixContext* suffix : all) {
      const Span span = cover(node.span, source_.span(suffix));
      if (auto* c = dynamic_cast<P::MemberContext*>(suffix)) {
        node = member(std::move(node), c, span);
      } else if (auto* c = dynamic_cast<P::SubscriptContext*>(suffix)) {
        node = subscript(std::move(node), c, span);
      } else if (auto* c = dynamic_cast<P::CallContext*>(suffix)) {
        node = call(std::move(node), c, span);
      }
    }
    return node;
  }

  Node member(Node of, P::MemberContext* context, Span span) {
    if (context->expr() != nullptr) {
      return make(NodeKind::computed, span, list(std::move(of), expression(context->expr())));
    }
    Node node = make(NodeKind::member, span, list(std::move(of)));
    const antlr4::Token* token = context->stop;
    node.text = token->getType() == P::STRING ? unescape(source_.text_of(token))
                                              : std::string(source_.text_of(token));
    return node;
  }

  Node subscript(Node of, P::SubscriptContext* context, Span span) {
    std::vector<P::ExprContext*> entries = context->expr();
    if (context->COLON() == nullptr) {
      Node node = make(NodeKind::index, span, list(std::move(of)));
      for (P::ExprContext* entry : entries) node.children.push_back(expression(entry));
      return node;
    }
    Node begin = make(NodeKind::missing, span);
    Node end = make(NodeKind::missing, span);
    const std::size_t colon = context->COLON()->getSymbol()->getTokenIndex();
    for (P::ExprContext* entry : entries) {
      (entry->start->getTokenIndex() < colon ? begin : end) = expression(entry);
    }
    return make(NodeKind::range, span, list(std::move(of), std::move(begin), std::move(end)));
  }

  Node call(Node callee, P::CallContext* context, Span span) {
    Node node = make(NodeKind::call, span, list(std::move(callee)));
    if (context->items() != nullptr) node.items = items(context->items());
    if (P::OthersContext* others = context->others()) {
      node.names = names(others->word());
      node.others.push_back(expression(others->expr()));
    }
    if (P::AttributesContext* attributes = context->attributes()) {
      node.semicolon = true;
      if (attributes->items() != nullptr) node.attributes = items(attributes->items());
    }
    return node;
  }

  std::vector<Item> items(P::ItemsContext* context) {
    std::vector<Item> result;
    for (P::ItemContext* item : context->item()) result.push_back(this->item(item));
    return result;
  }

  Item item(P::ItemContext* context) {
    Item result;
    result.span = source_.span(context);
    const std::vector<P::ExprContext*> parts = context->expr();
    if (parts.empty()) {
      result.kind = Item::Kind::dots;
      return result;
    }
    for (P::ExprContext* part : parts) result.parts.push_back(expression(part));
    if (P::ComprehensionContext* c = context->comprehension()) {
      result.kind = Item::Kind::comprehension;
      add_comprehension(c, result.parts, result.names);
    } else if (parts.size() > 1) {
      auto* middle = dynamic_cast<antlr4::tree::TerminalNode*>(context->children[1]);
      const std::size_t token = middle->getSymbol()->getType();
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
