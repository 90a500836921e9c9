#include "rules/lengths.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "rules/build.h"
#include "rules/diagnostics.h"

namespace entangle::rules {
namespace {

using tensor::Attr;

// A number plus multiples of what slots stand for: of an integer itself, of a tensor its rank, of a list its
// length.
struct Linear {
  std::int64_t constant = 0;
  std::map<Slot, std::int64_t> terms;

  bool is_constant() const { return terms.empty(); }
};

using Length = std::optional<Linear>;  // nothing: not known

constexpr std::int64_t kMost = 1 << 20;    // larger ones are not looked at
constexpr Slot kCommonRank = kNoSlot - 1;  // of all operands of an elementwise operator

// a + factor * b
Length add(const Length& a, const Length& b, std::int64_t factor = 1) {
  if (!a || !b) return std::nullopt;
  Linear result = *a;
  result.constant += factor * b->constant;
  if (result.constant > kMost || result.constant < -kMost) return std::nullopt;
  for (const auto& [slot, times] : b->terms) {
    std::int64_t& sum = result.terms[slot];
    sum += factor * times;
    if (sum > kMost || sum < -kMost) return std::nullopt;
    if (sum == 0) result.terms.erase(slot);
  }
  return result;
}

Length number(std::int64_t value) {
  return value > kMost || value < -kMost ? Length() : Length(Linear{value, {}});
}

bool equal(const Length& a, const Length& b) {
  return a && b && a->constant == b->constant && a->terms == b->terms;
}

bool is_tensor(const Type& type) {
  return type.base == Base::tensor && type.depth == 0;
}

class Lengths {
 public:
  explicit Lengths(const Operator& op) : op_(op) {
    // What one says of a tensor may be needed for the next one, whatever their order.
    for (int round = 0; round < 2; ++round) {
      for (const Let& let : op.lets) define(let.slot, let.value);
      for (const Expr& require : op.requires_) learn(require);
    }
    result_ = op.shape                                               ? length(*op.shape)
              : op.elementwise                                       ? of_slot(kCommonRank)
              : !op.tensors.empty() && !op.tensors[0].type.is_list() ? of_slot(op.tensors[0].slot)
                                                                     : std::nullopt;
  }

  std::vector<support::Diagnostic> check() {
    for (const Let& let : op_.lets) check(let.value);
    for (const Expr& require : op_.requires_) check(require);
    if (op_.shape) check(*op_.shape);
    if (op_.dtype) check(*op_.dtype);
    if (op_.value) {
      known_[op_.value_index] = result_;
      check(*op_.value);
      for (const Parameter& p : op_.tensors) {
        if (p.type.is_list()) check_entries(p);
      }
    }
    return std::move(found_);
  }

 private:
  void report(support::Severity severity, support::Span span, std::string message, std::string help = {}) {
    support::Diagnostic one =
        support::error(std::string(id::length), span, std::move(message), std::move(help));
    one.severity = severity;
    found_.push_back(std::move(one));
  }

  Length of_slot(Slot slot) const {
    const auto found = known_.find(slot);
    if (found == known_.end()) return Linear{0, {{slot, 1}}};
    if (!found->second) return std::nullopt;
    // Something may have become known of what it was said to be.
    Length result = number(found->second->constant);
    for (const auto& [other, times] : found->second->terms) result = add(result, of_slot(other), times);
    return result;
  }

  // --- what clauses say
  void define(Slot slot, const Expr& value) {
    if (is_integer_like(value.type)) {
      known_[slot] = integer(value);
    } else if (list_depth(value.type) > 0) {
      known_[slot] = length(value);
    } else if (is_tensor(value.type)) {
      known_[slot] = rank(value);
    }
  }

  // `rank(x) == e`, `len(xs) == e`, `x.shape == e`.
  void learn(const Expr& require) {
    if (require.kind != ExprKind::binary) return;
    if (require.operation == Operation::logical_and) {
      for (const Expr& side : require.args) learn(side);
    }
    if (require.operation != Operation::equal) return;
    const bool lists = list_depth(require.args[0].type) > 0;
    if (!lists && !is_integer_like(require.args[0].type)) return;
    const Length a = lists ? length(require.args[0]) : integer(require.args[0]);
    const Length b = lists ? length(require.args[1]) : integer(require.args[1]);
    if (!learn(a, b)) learn(b, a);
  }
  // Whether the first is a single unknown, which then is the other.
  bool learn(const Length& unknown, const Length& value) {
    if (!unknown || !value || unknown->constant != 0 || unknown->terms.size() != 1) return false;
    const auto [slot, times] = *unknown->terms.begin();
    if (times != 1 || value->terms.contains(slot)) return false;
    return known_.emplace(slot, value).second;
  }

  // --- how long, how much
  Length integer(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::literal: {
        if (expr.value.kind() != Attr::Kind::integer) return std::nullopt;
        const auto value = expr.value.as_int().constant();
        return value ? number(*value) : std::nullopt;
      }
      case ExprKind::variable:
        return is_integer_like(expr.type) ? of_slot(expr.slot) : std::nullopt;
      case ExprKind::unary:
        return expr.operation == Operation::negate ? add(number(0), integer(expr.args[0]), -1) : std::nullopt;
      case ExprKind::binary:
        if (expr.operation == Operation::add) return add(integer(expr.args[0]), integer(expr.args[1]));
        if (expr.operation == Operation::subtract)
          return add(integer(expr.args[0]), integer(expr.args[1]), -1);
        return std::nullopt;
      case ExprKind::call:
        if (expr.builtin == Builtin::rank) return rank(expr.args[0]);
        if (expr.builtin == Builtin::len) return length(expr.args[0]);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  Length rank(const Expr& tensor) const {
    if (op_.elementwise) return of_slot(kCommonRank);
    return tensor.kind == ExprKind::variable && is_tensor(tensor.type) ? of_slot(tensor.slot) : std::nullopt;
  }

  Length length(const Expr& list) {
    switch (list.kind) {
      case ExprKind::variable:
        return list_depth(list.type) > 0 ? of_slot(list.slot) : std::nullopt;
      case ExprKind::list: {
        Length sum = number(0);
        for (const Expr& entry : list.args) {
          sum = add(sum, entry.kind == ExprKind::star ? length(entry.args[0]) : number(1));
        }
        return sum;
      }
      case ExprKind::range: {
        const auto bound = [&](const Expr& expr, const Length& otherwise) {
          return is_literal(expr, Attr::Kind::none) ? otherwise : integer(expr);
        };
        return add(bound(list.args[2], length(list.args[0])), bound(list.args[1], number(0)), -1);
      }
      case ExprKind::with:
        return length(list.args[0]);
      case ExprKind::without: {
        const bool several = list_depth(list.args[1].type) > 0;
        return add(length(list.args[0]), several ? length(list.args[1]) : number(1), -1);
      }
      case ExprKind::comprehension:
        return list.args.size() == 2 ? length(list.args[1]) : std::nullopt;
      case ExprKind::binary:
        if (list.operation != Operation::append) return std::nullopt;
        return add(length(list.args[0]), length(list.args[1]));
      case ExprKind::conditional: {
        const Length yes = length(list.args[1]);
        return equal(yes, length(list.args[2])) ? yes : std::nullopt;
      }
      case ExprKind::call:
        return length_of_call(list);
      default:
        return std::nullopt;
    }
  }

  Length length_of_call(const Expr& call) {
    switch (call.builtin) {
      case Builtin::shape:
      case Builtin::axes:
        return rank(call.args[0]);
      case Builtin::reversed:
      case Builtin::inverse:
      case Builtin::zip:
      case Builtin::enumerate:
      case Builtin::offsets:
        return length(call.args[0]);
      case Builtin::permute:
        return length(call.args[1]);
      case Builtin::complement:
        return add(integer(call.args[1]), length(call.args[0]), -1);
      case Builtin::insert_at:
        return add(length(call.args[0]), length(call.args[2]));
      case Builtin::range:
        return add(integer(call.args.back()), call.args.size() == 2 ? integer(call.args[0]) : number(0), -1);
      default:
        return std::nullopt;
    }
  }

  // --- what does not fit
  void check(const Expr& expr) {
    if (expr.kind == ExprKind::let || expr.kind == ExprKind::reduction) {
      // The index of a sum over a list of sizes has a number for each.
      const Expr& of = expr.args[0];
      if (expr.kind == ExprKind::let) define(expr.binders[0], of);
      if (expr.kind == ExprKind::reduction && list_depth(of.type) > 0) known_[expr.binders[0]] = length(of);
    }
    if (expr.kind == ExprKind::index) {
      if (is_tensor(expr.args[0].type)) {
        check_element(expr);
      } else {
        check_entry(expr);
      }
    }
    for (const Expr& arg : expr.args) check(arg);
  }

  void check_element(const Expr& expr) {
    const Length axes = rank(expr.args[0]);
    const Length numbers = length(expr.args[1]);
    const Length more = add(numbers, axes, -1);
    if (!more || !more->is_constant() || more->constant == 0) return;
    const std::string name = "`" + to_string(expr.args[0]) + "`";
    if (axes->is_constant()) {
      report(support::Severity::error, expr.span,
             name + " has " + axis_count(axes->constant) + ", the index has " +
                 count(static_cast<std::size_t>(numbers->constant), "number"));
    } else {
      const std::int64_t by = more->constant > 0 ? more->constant : -more->constant;
      report(support::Severity::error, expr.span,
             "the index has " + count(static_cast<std::size_t>(by), "number") +
                 (more->constant > 0 ? " more" : " less") + " than " + name + " has axes");
    }
  }

  static std::string axis_count(std::int64_t n) { return std::to_string(n) + (n == 1 ? " axis" : " axes"); }

  void check_entry(const Expr& expr) {
    const Length place = integer(expr.args[1]);
    const Length behind = add(place, length(expr.args[0]), -1);
    if (!behind || !behind->is_constant() || behind->constant < 0) return;
    const std::string list = "`" + to_string(expr.args[0]) + "`";
    const Length size = length(expr.args[0]);
    std::string message = list + " has no entry `" + to_string(expr.args[1]) + "`";
    if (size->is_constant()) {
      message += ": it has " +
                 (size->constant == 1 ? std::string("1 entry") : std::to_string(size->constant) + " entries");
    }
    report(support::Severity::error, expr.span, message,
           size->is_constant() && size->constant == 0 ? "" : "entries are counted from 0");
  }

  // Entries of a list of operands that the value needs, where nothing says that there are so many.
  void check_entries(const Parameter& parameter) {
    const auto furthest = [&](const Expr& clause) { return furthest_entry(clause, parameter.slot); };
    std::int64_t there = parameter.type.nonempty ? 0 : -1;
    const auto look = [&](const Expr& clause) {
      there = mentions_length(clause, parameter.slot) ? kMost : std::max(there, furthest(clause).first);
    };
    for (const Let& let : op_.lets) look(let.value);
    for (const Expr& require : op_.requires_) look(require);
    if (op_.shape) look(*op_.shape);
    if (op_.dtype) look(*op_.dtype);
    if (mentions_length(*op_.value, parameter.slot)) return;
    const auto [needed, expr] = furthest(*op_.value);
    if (needed <= there || known_.contains(parameter.slot)) return;
    const std::string least = std::to_string(needed + 1);
    report(support::Severity::warning, expr->span,
           "`" + parameter.name + "` may have no entry " + std::to_string(needed),
           "`require len(" + parameter.name + ") >= " + least + ";` says that it has");
  }

  // The greatest number by which an entry of the list is taken, and where; -1 if none is.
  static std::pair<std::int64_t, const Expr*> furthest_entry(const Expr& expr, Slot list) {
    std::pair<std::int64_t, const Expr*> result = {-1, nullptr};
    if (expr.kind == ExprKind::index && expr.args[0].kind == ExprKind::variable &&
        expr.args[0].slot == list && is_literal(expr.args[1], Attr::Kind::integer)) {
      result = {expr.args[1].value.as_int().constant().value_or(-1), &expr};
    }
    for (const Expr& arg : expr.args) {
      const auto inside = furthest_entry(arg, list);
      if (inside.first > result.first) result = inside;
    }
    return result;
  }

  static bool mentions_length(const Expr& expr, Slot list) {
    if (expr.kind == ExprKind::call && expr.builtin == Builtin::len && expr.args[0].slot == list) return true;
    return std::ranges::any_of(expr.args, [&](const Expr& arg) { return mentions_length(arg, list); });
  }

  const Operator& op_;
  std::map<Slot, Length> known_;
  Length result_;
  std::vector<support::Diagnostic> found_;
};

}  // namespace

std::vector<support::Diagnostic> check_lengths(const Operator& op) {
  return Lengths(op).check();
}

}  // namespace entangle::rules
