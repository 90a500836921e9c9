#include "entangle/relation/placement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "entangle/support/text.h"
#include "relation/failure.h"

namespace entangle::relation {

namespace {

using support::Span;
using tensor::Attr;

// --- placements

// A line or a grid of ranks with a placement for each of its axes.
struct Grid {
  std::vector<std::size_t> sizes;
  std::vector<Placement> placements;

  std::size_t rank_at(const std::vector<std::size_t>& place) const {
    std::size_t rank = 0;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) rank = rank * sizes[axis] + place[axis];
    return rank;
  }
};

class Expander {
 public:
  Expander(Grid grid, const rules::RuleSet& rules, const std::string& tensor, std::size_t rank,
           const Form& form)
      : grid_(std::move(grid)), rules_(rules), tensor_(tensor), rank_(rank), form_(form) {}

  Expansion expand() {
    check_axes();
    Expansion result;
    place_.assign(grid_.sizes.size(), 0);
    alternatives(0, result);
    replicas(result);
    return result;
  }

 private:
  bool replicated(std::size_t axis) const {
    return grid_.placements[axis].kind == Placement::Kind::replicate;
  }

  void check_axes() {
    for (Placement& placement : grid_.placements) {
      if (placement.kind != Placement::Kind::shard) continue;
      const auto axes = static_cast<int>(rank_);
      if (placement.dim < -axes || placement.dim >= axes) {
        fail(Problem::bad_axis, form_.span,
             "`" + to_string(placement) + "` of `" + tensor_ + "`, which has " +
                 (axes == 0   ? "no axes"
                  : axes == 1 ? "one axis"
                              : std::to_string(axes) + " axes"));
      }
      if (placement.dim < 0) placement.dim += axes;
    }
  }

  // One alternative for each choice of places along the replicated axes from `axis` on.
  void alternatives(std::size_t axis, Expansion& result) {
    if (axis == grid_.sizes.size()) {
      std::vector<std::size_t> place = place_;
      result.alternatives.push_back(build(0, place));
      return;
    }
    const std::size_t choices = replicated(axis) ? grid_.sizes[axis] : 1;
    for (place_[axis] = 0; place_[axis] < choices; ++place_[axis]) alternatives(axis + 1, result);
    place_[axis] = 0;
  }

  Clean build(std::size_t axis, std::vector<std::size_t>& place) const {
    if (axis == grid_.sizes.size()) return Clean::of({grid_.rank_at(place), tensor_}, form_.span);
    if (replicated(axis) || grid_.sizes[axis] == 1) return build(axis + 1, place);
    const Placement& placement = grid_.placements[axis];
    const bool shard = placement.kind == Placement::Kind::shard;
    Clean result;
    result.span = form_.span;
    result.op = find(shard ? "concat" : "add_n", shard ? 1 : 0);
    if (shard) {
      const Attr dim = Attr::of(sym::Int(placement.dim));
      result.attrs = Attr::list({&dim, 1});
    } else {
      result.attrs = Attr::list({});
    }
    for (place[axis] = 0; place[axis] < grid_.sizes[axis]; ++place[axis]) {
      result.children.push_back(build(axis + 1, place));
    }
    place[axis] = 0;
    return result;
  }

  rules::OpId find(const char* name, std::size_t attributes) const {
    const rules::OpId id = rules_.find_op(name);
    if (id == rules::kNoOp || rules_.op(id).attributes.size() != attributes || !rules_.op(id).clean) {
      fail(Problem::missing_operator, form_.span,
           "`" + form_.text + "` is written with `" + name +
               "`, which the rules do not declare as a clean operator",
           "include core.rules");
    }
    return id;
  }

  // Ranks that differ only in their place along replicated axes hold the same.
  void replicas(Expansion& result) const {
    std::map<std::vector<std::size_t>, std::vector<std::size_t>> groups;
    std::size_t ranks = 1;
    for (const std::size_t size : grid_.sizes) ranks *= size;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::vector<std::size_t> key;
      std::size_t rest = rank;
      for (std::size_t axis = grid_.sizes.size(); axis-- > 0; rest /= grid_.sizes[axis]) {
        if (!replicated(axis)) key.push_back(rest % grid_.sizes[axis]);
      }
      std::reverse(key.begin(), key.end());
      groups[std::move(key)].push_back(rank);
    }
    for (auto& [key, group] : groups) {
      if (group.size() > 1) result.replicas.push_back(std::move(group));
    }
  }

  Grid grid_;
  const rules::RuleSet& rules_;
  const std::string& tensor_;
  std::size_t rank_;
  const Form& form_;
  std::vector<std::size_t> place_;
};

// --- expressions

class Converter {
 public:
  Converter(const rules::RuleSet& rules, std::size_t ranks) : rules_(rules), ranks_(ranks) {}

  Clean convert(const Leaf& leaf, Span span) const {
    if (leaf.rank >= ranks_) {
      fail(Problem::unknown_rank, span,
           "there is no rank " + std::to_string(leaf.rank) + ": the ranks are 0 to " +
               std::to_string(ranks_ - 1));
    }
    return Clean::of(leaf, span);
  }

  Clean convert(const rules::Expr& expr) const {
    if (expr.kind == rules::ExprKind::variable) return leaf(expr);
    if (expr.kind != rules::ExprKind::apply) {
      fail(Problem::bad_expression, expr.span,
           "a tensor is expected here: r<rank>.<name> or a clean operator");
    }
    const rules::Operator& op = rules_.op(expr.op);
    Clean result;
    result.op = expr.op;
    result.span = expr.span;
    for (const rules::Expr& arg : expr.args) add_operand(arg, result.children);
    check_clean(op, result);
    std::vector<Attr> attrs;
    for (std::size_t i = 0; i < op.attributes.size(); ++i) {
      attrs.push_back(i < expr.attrs.size() ? attribute(expr.attrs[i]) : missing(op, i, expr.span));
    }
    result.attrs = Attr::list(attrs);
    return result;
  }

 private:
  void add_operand(const rules::Expr& arg, std::vector<Clean>& children) const {
    if (arg.kind == rules::ExprKind::list) {
      for (const rules::Expr& item : arg.args) add_operand(item, children);
    } else {
      children.push_back(convert(arg));
    }
  }

  Clean leaf(const rules::Expr& expr) const {
    const std::optional<Leaf> found = spelled_leaf(expr.name);
    if (!found) {
      fail(Problem::bad_expression, expr.span, "`" + expr.name + "` is no tensor of a rank",
           "tensors are written r<rank>.<name>, such as r0." + expr.name);
    }
    return convert(*found, expr.span);
  }

  // The text of a leaf; the name may have lost its quotes.
  static std::optional<Leaf> spelled_leaf(const std::string& text) {
    if (std::optional<Leaf> leaf = parse_leaf(text)) return leaf;
    const std::size_t dot = text.find('.');
    if (dot == std::string::npos || dot + 1 == text.size()) return std::nullopt;
    std::optional<Leaf> leaf = parse_leaf(text.substr(0, dot) + ".x");
    if (leaf) leaf->name = text.substr(dot + 1);
    return leaf;
  }

  static bool constant(const Clean& clean) {
    return !clean.is_leaf() && std::all_of(clean.children.begin(), clean.children.end(), constant);
  }

  void check_clean(const rules::Operator& op, const Clean& clean) const {
    if (op.clean) return;
    // Constants, and constants spread over new axes, are clean: padding.
    if (!op.random && constant(clean) && (op.tensors.empty() || op.rearranges)) return;
    std::vector<std::string> names;
    for (const rules::Operator& other : rules_.operators()) {
      if (other.clean) names.push_back("`" + other.name + "`");
    }
    fail(Problem::not_clean, clean.span,
         "`" + op.name + "` computes: a relation only rearranges and adds up ranks",
         names.empty() ? "" : "the clean operators are " + support::join_list(names));
  }

  [[noreturn]] static Attr missing(const rules::Operator& op, std::size_t index, Span span) {
    fail(Problem::bad_expression, span,
         "`" + op.name + "` needs its attribute `" + op.attributes[index].name + "`");
  }

  static Attr attribute(const rules::Expr& expr) {
    if (expr.kind == rules::ExprKind::list) {
      std::vector<Attr> items;
      for (const rules::Expr& item : expr.args) items.push_back(attribute(item));
      return Attr::list(items);
    }
    if (expr.kind == rules::ExprKind::literal && expr.value.kind() != Attr::Kind::integer) return expr.value;
    return Attr::of(integer(expr));
  }

  static sym::Int integer(const rules::Expr& expr) {
    using rules::Operation;
    if (expr.kind == rules::ExprKind::literal && expr.value.kind() == Attr::Kind::integer) {
      return expr.value.as_int();
    }
    if (expr.kind == rules::ExprKind::variable) return sym::Int::symbol(expr.name);
    if (expr.kind == rules::ExprKind::unary && expr.operation == Operation::negate)
      return -integer(expr.args[0]);
    if (expr.kind == rules::ExprKind::binary) {
      const sym::Int a = integer(expr.args[0]), b = integer(expr.args[1]);
      switch (expr.operation) {
        case Operation::add:
          return a + b;
        case Operation::subtract:
          return a - b;
        case Operation::multiply:
          return a * b;
        case Operation::floordiv:
          return sym::floordiv(a, b);
        case Operation::mod:
          return sym::mod(a, b);
        case Operation::divide:
          if (const std::optional<sym::Int> quotient = sym::exact_div(a, b)) return *quotient;
          fail(Problem::bad_expression, expr.span, "this division is not exact");
        default:
          break;
      }
    }
    fail(Problem::bad_expression, expr.span, "an integer is expected here, possibly with symbols of sizes");
  }

  const rules::RuleSet& rules_;
  std::size_t ranks_;
};

// Reads an expression over leaves; only clean operators, attributes must be constants or symbols of sizes.
Clean read_expression(const rules::RuleSet& rules, const Manifest& manifest, const Form& form) {
  const Converter converter(rules, manifest.ranks);
  if (const std::optional<Leaf> leaf = parse_leaf(form.text)) return converter.convert(*leaf, form.span);
  const support::Result<rules::Expr> expr =
      rules::parse_leaf_expression(rules, manifest.file, form.text, form.span);
  if (!expr) {
    const support::Diagnostic& cause = expr.error();
    fail(Problem::bad_expression, cause.span.line == 0 ? form.span : cause.span, cause.message,
         cause.suggestion);
  }
  return converter.convert(*expr);
}

}  // namespace

support::Result<Expansion> expand(const Manifest& manifest, const rules::RuleSet& rules,
                                  const std::string& tensor, std::size_t rank, const Form& form) {
  return guarded([&]() -> Expansion {
    switch (form.kind) {
      case Form::Kind::expression:
        return {{read_expression(rules, manifest, form)}, {}};
      case Form::Kind::placement:
        return Expander({{manifest.ranks}, form.placements}, rules, tensor, rank, form).expand();
      case Form::Kind::mesh:
        break;
    }
    Grid grid;
    for (const MeshAxis& axis : manifest.mesh) grid.sizes.push_back(axis.size);
    grid.placements = form.placements;
    return Expander(std::move(grid), rules, tensor, rank, form).expand();
  });
}

}  // namespace entangle::relation
