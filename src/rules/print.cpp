// Expressions as text. What is printed reads back as the same expression.
#include <algorithm>
#include <string>
#include <string_view>

#include "rules/builtins.h"

namespace entangle::rules {
namespace {

// As in tree.cpp: how tightly it binds. A keyword form extends to the right as far as it can, so inside of an
// operator it is in parentheses.
enum Level : int { kAny, kOr, kAnd, kNot, kComparison, kWith, kAppend, kAdd, kMultiply, kUnary, kPostfix };

struct Spelling {
  std::string_view word;
  int level;
};

Spelling spelling(Operation operation) {
  switch (operation) {
    case Operation::none:
      return {"", kPostfix};
    case Operation::add:
      return {"+", kAdd};
    case Operation::subtract:
      return {"-", kAdd};
    case Operation::multiply:
      return {"*", kMultiply};
    case Operation::divide:
      return {"/", kMultiply};
    case Operation::floordiv:
      return {"floordiv", kMultiply};
    case Operation::mod:
      return {"mod", kMultiply};
    case Operation::append:
      return {"++", kAppend};
    case Operation::equal:
      return {"==", kComparison};
    case Operation::not_equal:
      return {"!=", kComparison};
    case Operation::less:
      return {"<", kComparison};
    case Operation::less_equal:
      return {"<=", kComparison};
    case Operation::greater:
      return {">", kComparison};
    case Operation::greater_equal:
      return {">=", kComparison};
    case Operation::in:
      return {"in", kComparison};
    case Operation::logical_and:
      return {"and", kAnd};
    case Operation::logical_or:
      return {"or", kOr};
    case Operation::logical_not:
      return {"not", kNot};
    case Operation::negate:
      return {"-", kUnary};
  }
  return {"", kPostfix};
}

bool is_none(const Expr& expr) {
  return expr.kind == ExprKind::literal && expr.value.is_none();
}

// Whether there is an operator `in` that no bracket encloses: in the value of a `let` it would end it.
bool has_open_in(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::unary:
    case ExprKind::binary:
    case ExprKind::conditional:
    case ExprKind::star:
    case ExprKind::with:
    case ExprKind::without:
    case ExprKind::forall:
    case ExprKind::exists:
    case ExprKind::others:
      return expr.operation == Operation::in || std::any_of(expr.args.begin(), expr.args.end(), has_open_in);
    case ExprKind::let:
      return has_open_in(expr.args[1]);
    default:
      return false;
  }
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// A leaf of a manifest: the part after the rank in quotes where it is not a plain name.
std::string leaf(const std::string& name) {
  const auto word = [](std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(),
                       [](char c) {
                         return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                                (c >= 'A' && c <= 'Z');
                       }) &&
           text.front() != '.' && text.back() != '.' && text.find("..") == std::string_view::npos;
  };
  const std::size_t dot = name.find('.');
  const bool ranked = dot != std::string::npos && dot > 1 && name[0] == 'r' &&
                      std::all_of(name.begin() + 1, name.begin() + static_cast<std::ptrdiff_t>(dot),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (ranked) {
    const std::string_view rest = std::string_view(name).substr(dot + 1);
    return name.substr(0, dot + 1) + (word(rest) ? std::string(rest) : quoted(rest));
  }
  const bool plain = word(name) && !(name[0] >= '0' && name[0] <= '9');
  return plain ? name : quoted(name);
}

class Printer {
 public:
  std::string print(const Expr& expr, int level = kAny) {
    const int own = level_of(expr);
    std::string text = body(expr);
    return own < level ? "(" + text + ")" : text;
  }

 private:
  static int level_of(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::unary:
      case ExprKind::binary:
        return spelling(expr.operation).level;
      case ExprKind::star:
        return kUnary;
      case ExprKind::with:
      case ExprKind::without:
        return kWith;
      case ExprKind::conditional:
      case ExprKind::forall:
      case ExprKind::exists:
      case ExprKind::others:
      case ExprKind::let:
        return kAny;
      case ExprKind::literal: {
        const std::string text = tensor::to_string(expr.value);
        if (text.find('/') != std::string::npos && expr.value.kind() == tensor::Attr::Kind::scalar)
          return kMultiply;
        return text[0] == '-' ? kUnary : kPostfix;
      }
      default:
        return kPostfix;
    }
  }

  std::string list(const std::vector<Expr>& entries) {
    std::string result;
    for (const Expr& entry : entries) {
      if (!result.empty()) result += ", ";
      result += print(entry);
    }
    return result;
  }

  static std::string names(const Expr& expr, std::size_t from = 0) {
    std::string result;
    for (std::size_t i = from; i < expr.binder_names.size(); ++i) {
      if (i > from) result += ", ";
      result += expr.binder_names[i];
    }
    return result;
  }

  // e for x in xs if c
  std::string comprehension(const Expr& expr) {
    std::string result = print(expr.args[0]) + " for " + names(expr) + " in " + print(expr.args[1]);
    if (expr.args.size() > 2) result += " if " + print(expr.args[2]);
    return result;
  }

  std::string call(const Expr& expr) {
    if (expr.builtin == Builtin::shape) return print(expr.args[0], kPostfix) + ".shape";
    if (expr.builtin == Builtin::dtype) return print(expr.args[0], kPostfix) + ".dtype";
    const BuiltinInfo& callee = info(expr.builtin);
    const std::size_t semicolon = callee.parameters.find(';');
    std::string result(callee.name);
    result += '(';
    // The number of arguments before the semicolon.
    std::size_t before = expr.args.size();
    if (semicolon != std::string_view::npos) {
      before = 0;
      for (const char c : callee.parameters.substr(0, semicolon)) before += c >= 'a' && c <= 'z' ? 1 : 0;
    }
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      if (i > 0) result += i == before ? "; " : ", ";
      result += print(expr.args[i]);
    }
    return result + ')';
  }

  std::string apply(const Expr& expr) {
    std::string result = expr.name + "(";
    // A single list of operands needs no star.
    if (expr.args.size() == 1 && expr.args[0].kind == ExprKind::star && is_list(expr.args[0].args[0])) {
      result += print(expr.args[0].args[0]);
    } else {
      result += list(expr.args);
    }
    std::size_t last = expr.attrs.size();
    while (last > 0 && expr.attrs[last - 1].kind == ExprKind::wildcard) --last;
    if (last > 0) result += "; ";
    for (std::size_t i = 0; i < last; ++i) result += (i > 0 ? ", " : "") + print(expr.attrs[i]);
    return result + ')';
  }

  static bool is_list(const Expr& expr) {
    return expr.type.depth == 1 && (expr.type.base == Base::tensor || expr.kind == ExprKind::comprehension);
  }

  std::string generic(const Expr& expr) {
    std::string result = expr.name + "(.., " + print(expr.args[0]) + ", ..";
    if (expr.args.size() > 1) {
      result += " | " + expr.binder_names[0];
      if (expr.binder_names.size() > 1) result += " @ " + expr.binder_names[1];
      result += " => " + print(expr.args[1]);
    }
    switch (expr.shift) {
      case Shift::none:
        break;
      case Shift::split:
        result += "; split";
        break;
      case Shift::join:
        result += "; join";
        break;
      case Shift::drop:
        result += "; drop";
        break;
    }
    return result + ')';
  }

  std::string body(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::literal:
        return tensor::to_string(expr.value);
      case ExprKind::variable:
        return expr.slot == kNoSlot ? leaf(expr.name) : expr.name;
      case ExprKind::wildcard:
        return "_";
      case ExprKind::apply:
        return apply(expr);
      case ExprKind::generic:
        return generic(expr);
      case ExprKind::call:
        return call(expr);
      case ExprKind::scalar_call:
      case ExprKind::predicate:
      case ExprKind::use:
        return expr.name + "(" + list(expr.args) + ")";
      case ExprKind::star:
        return "*" + print(expr.args[0], kUnary);
      case ExprKind::unary:
        return expr.operation == Operation::logical_not ? "not " + print(expr.args[0], kNot)
                                                        : "-" + print(expr.args[0], kUnary);
      case ExprKind::binary: {
        const Spelling op = spelling(expr.operation);
        // Comparisons do not chain; the others group to the left.
        const int left = op.level == kComparison ? kComparison + 1 : op.level;
        // A bare word in front is a variable.
        const Expr& first = expr.args[0];
        const bool name = first.kind == ExprKind::literal && first.value.kind() == tensor::Attr::Kind::name;
        std::string result = name ? quoted(first.value.as_name()) : print(first, left);
        result += ' ';
        result += op.word;
        result += ' ';
        return result + print(expr.args[1], op.level + 1);
      }
      case ExprKind::conditional:
        return "if " + print(expr.args[0]) + " then " + print(expr.args[1]) + " else " + print(expr.args[2]);
      case ExprKind::index:
        return print(expr.args[0], kPostfix) + "[" + print(expr.args[1]) + "]";
      case ExprKind::range:
        return print(expr.args[0], kPostfix) + "[" + (is_none(expr.args[1]) ? "" : print(expr.args[1])) +
               ":" + (is_none(expr.args[2]) ? "" : print(expr.args[2])) + "]";
      case ExprKind::with:
        return print(expr.args[0], kWith) + " with [" + print(expr.args[1]) +
               "] = " + print(expr.args[2], kWith + 1);
      case ExprKind::without:
        return print(expr.args[0], kWith) + " without " + print(expr.args[1], kWith + 1);
      case ExprKind::list:
        return "[" + list(expr.args) + "]";
      case ExprKind::tuple:
        return "(" + list(expr.args) + ")";
      case ExprKind::comprehension:
        return "[" + comprehension(expr) + "]";
      case ExprKind::aggregate:
        return std::string(info(expr.builtin).name) + "(" + comprehension(expr) + ")";
      case ExprKind::forall:
      case ExprKind::exists:
        return (expr.kind == ExprKind::forall ? "forall " : "exists ") + names(expr) + " in " +
               print(expr.args[0]) + ": " + print(expr.args[1]);
      case ExprKind::others:
        return "forall " + expr.binder_names[0] + " @ " + expr.binder_names[1] + ": " + print(expr.args[0]);
      case ExprKind::fold:
        return "fold(" + expr.binder_names[0] + " = " + print(expr.args[0]) + "; " + names(expr, 1) + " in " +
               print(expr.args[1]) + ": " + print(expr.args[2]) + ")";
      case ExprKind::let:
        return "let " + names(expr) + " = " +
               print(expr.args[0], has_open_in(expr.args[0]) ? kPostfix : kAny) + " in " +
               print(expr.args[1]);
      case ExprKind::reduction:
        return std::string(info(expr.builtin).name) + "(" + expr.binder_names[0] + " < " +
               print(expr.args[0], kWith) + ": " + print(expr.args[1]) + ")";
      case ExprKind::has: {
        std::string result = "has(" + print(expr.args[0]) + ", " + print(expr.args[1]);
        if (expr.args.size() > 2) result += " if " + print(expr.args[2]);
        return result + ")";
      }
    }
    return {};
  }
};

}  // namespace

std::string to_string(const Expr& expr) {
  return Printer().print(expr);
}

}  // namespace entangle::rules
