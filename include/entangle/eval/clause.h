// Clause: runs the clauses of an operator (lets, requirements, shape, value) over a domain of elements.
//
// What index entries, elements and truths are is up to the domain D:
//
//   Index, Number, Truth               three types; Index has + - * == and unary -
//   Index sized(sym::Int)              a size, or an integer of an attribute
//   std::optional<std::int64_t> constant(Index)   Index floordiv(Index, Index)    Index mod(Index, Index)
//   Number number(sym::Scalar)         Number lifted(Index)           Index index(Number)
//   Number arithmetic(Operation, Number, Number)
//   Number larger(Number, Number)      Number choose(Truth, Number, Number)
//   Truth compare(Operation, Number, Number)    Truth compare(Operation, Index, Index)
//   Truth divides(Index, Index)        Index quotient(Index, Index)
//   Truth both(Truth, Truth)           Truth opposite(Truth)          Truth truth(bool)
//   std::optional<bool> known(Truth)
//   Number function(name, std::vector<std::variant<Number, Attr>>)
//   Number element(TermId, std::vector<Index>)
//   Number reduce(Builtin sum|max, Index n, std::function<Number(Index)>)
//   const TensorType& type(TermId)
//
// A domain may also have
//
//   void enter(Truth, bool holds)  void leave()   around what matters only where the truth holds, or does not
//   void within(Index at, Index size)             told that a list of that size is read at a place that is
//   not
//                                                 known
//
// Domains whose index entries are sym::Int derive from IntegerIndex.
// What has no meaning throws Undefined, which the users of this header catch.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/term/store.h"

namespace entangle::eval {

struct Undefined {
  std::string what;
  // Whether the clause has no meaning there: it reads what is not there. Else the domain cannot say.
  bool meaningless = false;
};

struct IntegerIndex {
  using Index = sym::Int;
  static sym::Int sized(sym::Int value) { return value; }
  static std::optional<std::int64_t> constant(sym::Int value) { return value.constant(); }
  static sym::Int floordiv(sym::Int a, sym::Int b) { return sym::floordiv(a, b); }
  static sym::Int mod(sym::Int a, sym::Int b) { return sym::mod(a, b); }
};

template <class D>
class Clause {
 public:
  using Number = typename D::Number;
  using Truth = typename D::Truth;
  using Attr = tensor::Attr;
  using Expr = rules::Expr;
  using Int = typename D::Index;
  struct Tensor {
    term::TermId id;
  };
  struct Value;
  using List = std::vector<Value>;
  // Lists are shared.
  struct Value {
    Value() = default;
    Value(Int value) : data(value) {}                                          // NOLINT(implicit)
    Value(Number value) : data(std::move(value)) {}                            // NOLINT(implicit)
    Value(Truth value) : data(std::move(value)) {}                             // NOLINT(implicit)
    Value(Attr value) : data(value) {}                                         // NOLINT(implicit)
    Value(Tensor value) : data(value) {}                                       // NOLINT(implicit)
    Value(List list) : data(std::make_shared<const List>(std::move(list))) {}  // NOLINT(implicit)

    const List* as_list() const {
      const auto* list = std::get_if<std::shared_ptr<const List>>(&data);
      return list == nullptr ? nullptr : list->get();
    }

    std::variant<Int, Number, Truth, Attr, Tensor, std::shared_ptr<const List>> data;
  };

  Clause(D& domain, const rules::Operator& op, const Attr& attrs, std::span<const term::TermId> children)
      : domain_(domain), op_(op), slots_(op.slots.size()) {
    std::size_t next = 0;
    for (const rules::Parameter& parameter : op.tensors) {
      if (!parameter.type.is_list()) {
        slots_[parameter.slot] = Value{Tensor{children[next++]}};
        continue;
      }
      List list;
      const std::size_t count = children.size() + 1 - op.tensors.size();
      for (std::size_t j = 0; j < count; ++j) list.push_back({Tensor{children[next++]}});
      slots_[parameter.slot] = Value{std::move(list)};
    }
    for (std::size_t k = 0; k < op.attributes.size(); ++k) {
      slots_[op.attributes[k].slot] = unpack(attrs.as_list()[k]);
    }
    for (const rules::Let& let : op.lets) slots_[let.slot] = evaluate(let.value);
  }

  // The element at an index, by the operator's `value`.
  Number element(const std::vector<Int>& index) {
    slots_[op_.value_index] = ints(index);
    return number_of(evaluate(*op_.value));
  }
  std::vector<Int> shape() {
    std::vector<Int> result;
    for (const Value& entry : list(*op_.shape)) result.push_back(int_of(entry));
    return result;
  }
  Truth holds(const Expr& expr) { return truth_of(evaluate(expr)); }

 private:
  [[noreturn]] static void fail(const Expr& expr) {
    throw Undefined{"`" + rules::to_string(expr) + "` is undefined", true};
  }

  // Runs what matters only where the truth holds, or where it does not.
  template <class Run>
  auto under(const Truth& truth, bool holds, const Run& run) {
    if constexpr (requires { domain_.enter(truth, holds); }) {
      struct Leave {
        D& domain;
        ~Leave() { domain.leave(); }
      };
      domain_.enter(truth, holds);
      const Leave leave{domain_};
      return run();
    } else {
      return run();
    }
  }

  static Value ints(const std::vector<Int>& values) {
    List list;
    for (const Int& value : values) list.push_back({value});
    return {std::move(list)};
  }

  Int integer(std::size_t value) { return domain_.sized(sym::Int(value)); }
  Value sizes(const tensor::Shape& shape) {
    List list;
    for (const sym::Int size : shape) list.push_back({domain_.sized(size)});
    return {std::move(list)};
  }

  Value unpack(const Attr& attr) {
    switch (attr.kind()) {
      case Attr::Kind::integer:
        return {domain_.sized(attr.as_int())};
      case Attr::Kind::boolean:
        return {domain_.truth(attr.as_bool())};
      case Attr::Kind::scalar:
        return {domain_.number(attr.as_scalar())};
      case Attr::Kind::list: {
        List list;
        for (const Attr& entry : attr.as_list()) list.push_back(unpack(entry));
        return {std::move(list)};
      }
      default:
        return {attr};
    }
  }

  Int int_of(const Value& value) {
    if (const auto* integer = std::get_if<Int>(&value.data)) return *integer;
    if (const auto* number = std::get_if<Number>(&value.data)) return domain_.index(*number);
    throw Undefined{"an integer is needed"};
  }
  Number number_of(const Value& value) {
    if (const auto* number = std::get_if<Number>(&value.data)) return *number;
    if (const auto* integer = std::get_if<Int>(&value.data)) return domain_.lifted(*integer);
    if (const auto* truth = std::get_if<Truth>(&value.data)) {
      return domain_.choose(*truth, domain_.lifted(integer(1)), domain_.lifted(integer(0)));
    }
    throw Undefined{"a number is needed"};
  }
  Truth truth_of(const Value& value) {
    if (const auto* truth = std::get_if<Truth>(&value.data)) return *truth;
    if (const auto* number = std::get_if<Number>(&value.data)) {
      const Number zero = domain_.lifted(integer(0));
      return domain_.opposite(domain_.compare(rules::Operation::equal, *number, zero));
    }
    throw Undefined{"a condition is needed"};
  }
  List list(const Expr& expr) {
    Value value = evaluate(expr);
    if (const List* entries = value.as_list()) return *entries;
    fail(expr);
  }
  std::int64_t constant(const Expr& expr) {
    const auto value = domain_.constant(int_of(evaluate(expr)));
    if (!value) fail(expr);
    return *value;
  }
  const tensor::TensorType& type(const Expr& expr) {
    const Value value = evaluate(expr);
    const auto* tensor = std::get_if<Tensor>(&value.data);
    if (tensor == nullptr) fail(expr);
    return domain_.type(tensor->id);
  }
  std::vector<Int> index_of(const Expr& expr) {
    std::vector<Int> result;
    for (const Value& entry : list(expr)) result.push_back(int_of(entry));
    return result;
  }

  Value evaluate(const Expr& expr) {
    using rules::ExprKind;
    switch (expr.kind) {
      case ExprKind::literal:
        return unpack(expr.value);
      case ExprKind::variable:
        if (expr.slot >= slots_.size() || !slots_[expr.slot]) fail(expr);
        return *slots_[expr.slot];
      case ExprKind::unary: {
        const Value value = evaluate(expr.args[0]);
        if (expr.operation == rules::Operation::logical_not) return {domain_.opposite(truth_of(value))};
        if (const auto* integer = std::get_if<Int>(&value.data)) return {-*integer};
        return {negated(number_of(value))};
      }
      case ExprKind::binary:
        return binary(expr);
      case ExprKind::conditional:
        return conditional(expr);
      case ExprKind::index:
        return index(expr);
      case ExprKind::range:
        return range(expr);
      case ExprKind::with: {
        List entries = list(expr.args[0]);
        entries.at(place(expr.args[1], entries.size())) = evaluate(expr.args[2]);
        return {std::move(entries)};
      }
      case ExprKind::without:
        return without(expr);
      case ExprKind::tuple:
      case ExprKind::list: {
        List result;
        for (const Expr& entry : expr.args) {
          if (entry.kind == ExprKind::star) {
            const List inner = list(entry.args[0]);
            if (result.size() + inner.size() > kMaxList) fail(expr);
            result.insert(result.end(), inner.begin(), inner.end());
          } else {
            result.push_back(evaluate(entry));
          }
        }
        return {std::move(result)};
      }
      case ExprKind::comprehension:
        return {each(expr, 0, 1, 2)};
      case ExprKind::aggregate:
        return combine(expr.builtin, each(expr, 0, 1, 2), expr);
      case ExprKind::forall:
      case ExprKind::exists: {
        const bool all = expr.kind == ExprKind::forall;
        Truth result = domain_.truth(all);
        for (const Value& value : each(expr, 1, 0, 2)) {
          const Truth next = truth_of(value);
          result = all ? domain_.both(result, next)
                       : domain_.opposite(domain_.both(domain_.opposite(result), domain_.opposite(next)));
        }
        return {result};
      }
      case ExprKind::let:
        bind(expr, 0, evaluate(expr.args[0]));
        return evaluate(expr.args[1]);
      case ExprKind::fold: {
        Value accumulator = evaluate(expr.args[0]);
        for (const Value& entry : list(expr.args[1])) {
          slots_[expr.binders[0]] = accumulator;
          bind(expr, 1, entry);
          accumulator = evaluate(expr.args[2]);
        }
        return accumulator;
      }
      case ExprKind::reduction:
        return reduction(expr);
      case ExprKind::scalar_call: {
        std::vector<std::variant<Number, Attr>> arguments;
        for (const Expr& argument : expr.args) {
          const Value value = evaluate(argument);
          if (const auto* attr = std::get_if<Attr>(&value.data)) {
            arguments.push_back(*attr);
          } else {
            arguments.push_back(number_of(value));
          }
        }
        return {domain_.function(expr.name, arguments)};
      }
      case ExprKind::call:
        return call(expr);
      default:
        fail(expr);
    }
  }

  std::size_t place(const Expr& expr, std::size_t size) {
    const std::int64_t at = constant(expr);
    if (at < 0 || static_cast<std::size_t>(at) >= size) fail(expr);
    return static_cast<std::size_t>(at);
  }

  // The binders from `first` on: one value, or a list of one for each.
  void bind(const Expr& expr, std::size_t first, const Value& value) {
    const std::size_t count = expr.binders.size() - first;
    if (count == 1) {
      slots_[expr.binders[first]] = value;
      return;
    }
    const auto* parts = value.as_list();
    if (parts == nullptr || parts->size() != count) fail(expr);
    for (std::size_t k = 0; k < count; ++k) slots_[expr.binders[first + k]] = (*parts)[k];
  }

  // The values of args[body] for each entry of args[source] (where args[filter], if there, is known to hold).
  List each(const Expr& expr, std::size_t body, std::size_t source, std::size_t filter) {
    List result;
    for (const Value& entry : list(expr.args[source])) {
      bind(expr, 0, entry);
      if (filter < expr.args.size()) {
        const auto keep = domain_.known(truth_of(evaluate(expr.args[filter])));
        if (!keep) fail(expr);
        if (!*keep) continue;
      }
      result.push_back(evaluate(expr.args[body]));
    }
    return result;
  }

  Value combine(rules::Builtin builtin, const List& values, const Expr& expr) {
    if (values.empty()) {
      if (builtin == rules::Builtin::max || builtin == rules::Builtin::min) fail(expr);
      return {integer(builtin == rules::Builtin::product ? 1 : 0)};
    }
    Value result = values[0];
    for (std::size_t k = 1; k < values.size(); ++k) {
      switch (builtin) {
        case rules::Builtin::sum:
          result = arithmetic(rules::Operation::add, result, values[k], expr);
          break;
        case rules::Builtin::product:
          result = arithmetic(rules::Operation::multiply, result, values[k], expr);
          break;
        case rules::Builtin::max:
          result = extreme(result, values[k], true);
          break;
        case rules::Builtin::min:
          result = extreme(result, values[k], false);
          break;
        default:
          fail(expr);
      }
    }
    return result;
  }

  Value extreme(const Value& a, const Value& b, bool larger) {
    const auto* x = std::get_if<Int>(&a.data);
    const auto* y = std::get_if<Int>(&b.data);
    if (x != nullptr && y != nullptr) {
      const auto ordered = domain_.known(domain_.compare(rules::Operation::less_equal, *x, *y));
      if (ordered) return *ordered == larger ? b : a;
    }
    if (larger) return {domain_.larger(number_of(a), number_of(b))};
    return {negated(domain_.larger(negated(number_of(a)), negated(number_of(b))))};
  }
  Number negated(const Number& number) {
    return domain_.arithmetic(rules::Operation::subtract, domain_.lifted(integer(0)), number);
  }

  Value arithmetic(rules::Operation operation, const Value& a, const Value& b, const Expr& expr) {
    const auto* x = std::get_if<Int>(&a.data);
    const auto* y = std::get_if<Int>(&b.data);
    if (x != nullptr && y != nullptr) {
      switch (operation) {
        case rules::Operation::add:
          return {*x + *y};
        case rules::Operation::subtract:
          return {*x - *y};
        case rules::Operation::multiply:
          return {*x * *y};
        case rules::Operation::floordiv:
          return {domain_.floordiv(*x, *y)};
        case rules::Operation::mod:
          return {domain_.mod(*x, *y)};
        case rules::Operation::divide:
          return {domain_.quotient(*x, *y)};
        default:
          fail(expr);
      }
    }
    return {domain_.arithmetic(operation, number_of(a), number_of(b))};
  }

  Truth equal(const Value& a, const Value& b) {
    const auto* left = a.as_list();
    const auto* right = b.as_list();
    if (left != nullptr && right != nullptr) {
      if (left->size() != right->size()) return domain_.truth(false);
      Truth result = domain_.truth(true);
      for (std::size_t k = 0; k < left->size(); ++k)
        result = domain_.both(result, equal((*left)[k], (*right)[k]));
      return result;
    }
    const auto* p = std::get_if<Attr>(&a.data);
    const auto* q = std::get_if<Attr>(&b.data);
    if (p != nullptr || q != nullptr) return domain_.truth(p != nullptr && q != nullptr && *p == *q);
    return compare(rules::Operation::equal, a, b);
  }

  Truth compare(rules::Operation operation, const Value& a, const Value& b) {
    const auto* x = std::get_if<Int>(&a.data);
    const auto* y = std::get_if<Int>(&b.data);
    if (x != nullptr && y != nullptr) return domain_.compare(operation, *x, *y);
    return domain_.compare(operation, number_of(a), number_of(b));
  }

  Value binary(const Expr& expr) {
    using rules::Operation;
    if (expr.operation == Operation::logical_and || expr.operation == Operation::logical_or) {
      const bool conjunction = expr.operation == Operation::logical_and;
      const Truth left = truth_of(evaluate(expr.args[0]));
      if (const auto known = domain_.known(left); known && *known != conjunction) return {left};
      if (domain_.known(left)) return evaluate(expr.args[1]);
      const Truth right = under(left, conjunction, [&] { return truth_of(evaluate(expr.args[1])); });
      if (conjunction) return {domain_.both(left, right)};
      return {domain_.opposite(domain_.both(domain_.opposite(left), domain_.opposite(right)))};
    }
    const Value left = evaluate(expr.args[0]);
    const Value right = evaluate(expr.args[1]);
    switch (expr.operation) {
      case Operation::append: {
        const auto* a = left.as_list();
        const auto* b = right.as_list();
        if (a == nullptr || b == nullptr || a->size() + b->size() > kMaxList) fail(expr);
        List both = *a;
        both.insert(both.end(), b->begin(), b->end());
        return {std::move(both)};
      }
      case Operation::in: {
        const auto* entries = right.as_list();
        if (entries == nullptr) fail(expr);
        Truth none = domain_.truth(true);
        for (const Value& entry : *entries) {
          none = domain_.both(none, domain_.opposite(equal(left, entry)));
        }
        return {domain_.opposite(none)};
      }
      case Operation::equal:
        return {equal(left, right)};
      case Operation::not_equal:
        return {domain_.opposite(equal(left, right))};
      case Operation::less:
      case Operation::less_equal:
      case Operation::greater:
      case Operation::greater_equal:
        return {compare(expr.operation, left, right)};
      default:
        return arithmetic(expr.operation, left, right, expr);
    }
  }

  Value conditional(const Expr& expr) {
    const Truth condition = truth_of(evaluate(expr.args[0]));
    if (const auto known = domain_.known(condition)) return evaluate(expr.args[*known ? 1 : 2]);
    const Number yes = under(condition, true, [&] { return number_of(evaluate(expr.args[1])); });
    const Number no = under(condition, false, [&] { return number_of(evaluate(expr.args[2])); });
    return {domain_.choose(condition, yes, no)};
  }

  Value index(const Expr& expr) {
    const Value base = evaluate(expr.args[0]);
    if (const auto* tensor = std::get_if<Tensor>(&base.data)) {
      return {domain_.element(tensor->id, index_of(expr.args[1]))};
    }
    const auto* entries = base.as_list();
    if (entries == nullptr || entries->empty()) fail(expr);
    const Int at = int_of(evaluate(expr.args[1]));
    if (const auto constant = domain_.constant(at)) {
      if (*constant < 0 || static_cast<std::size_t>(*constant) >= entries->size()) fail(expr);
      return (*entries)[static_cast<std::size_t>(*constant)];
    }
    // The place is not known: a choice on where it is.
    if constexpr (requires { domain_.within(at, at); }) domain_.within(at, integer(entries->size()));
    const std::function<Number(std::size_t)> from = [&](std::size_t k) -> Number {
      if (k + 1 == entries->size()) return number_of((*entries)[k]);
      const Truth here = domain_.compare(rules::Operation::less, at, integer(k + 1));
      if (const auto known = domain_.known(here)) return *known ? number_of((*entries)[k]) : from(k + 1);
      return domain_.choose(here, number_of((*entries)[k]), from(k + 1));
    };
    return {from(0)};
  }

  // sum(k < n: e); of a list of sizes, over all index vectors.
  Value reduction(const Expr& expr) {
    const Value bound = evaluate(expr.args[0]);
    const rules::Slot slot = expr.binders[0];
    const auto* sizes = bound.as_list();
    if (sizes == nullptr) {
      return {domain_.reduce(expr.builtin, int_of(bound), [&](Int k) {
        slots_[slot] = Value{k};
        return number_of(evaluate(expr.args[1]));
      })};
    }
    const std::function<Number(std::vector<Int>)> nested = [&](std::vector<Int> index) -> Number {
      if (index.size() == sizes->size()) {
        slots_[slot] = ints(index);
        return number_of(evaluate(expr.args[1]));
      }
      return domain_.reduce(expr.builtin, int_of((*sizes)[index.size()]), [&](Int k) {
        std::vector<Int> longer = index;
        longer.push_back(k);
        return nested(std::move(longer));
      });
    };
    return {nested({})};
  }

  Value call(const Expr& expr) {
    using rules::Builtin;
    switch (expr.builtin) {
      case Builtin::rank:
        return {integer(type(expr.args[0]).rank())};
      case Builtin::shape:
        return sizes(type(expr.args[0]).shape);
      case Builtin::dtype:
        return {Attr::of(type(expr.args[0]).dtype)};
      case Builtin::len:
        return {integer(list(expr.args[0]).size())};
      case Builtin::axes: {
        std::vector<Int> result;
        for (std::size_t k = 0; k < type(expr.args[0]).rank(); ++k) result.push_back(integer(k));
        return ints(result);
      }
      case Builtin::is_bool:
      case Builtin::is_integer:
      case Builtin::is_float:
      case Builtin::is_wide_float: {
        const Value value = evaluate(expr.args[0]);
        const auto* attr = std::get_if<Attr>(&value.data);
        if (attr == nullptr || attr->kind() != Attr::Kind::dtype) fail(expr);
        const tensor::DType dtype = attr->as_dtype();
        return {domain_.truth(expr.builtin == Builtin::is_bool      ? dtype == tensor::DType::b8
                              : expr.builtin == Builtin::is_integer ? tensor::is_integer(dtype)
                              : expr.builtin == Builtin::is_float   ? tensor::is_float(dtype)
                                                                    : tensor::is_wide_float(dtype))};
      }
      case Builtin::sum:
      case Builtin::product:
      case Builtin::min:
      case Builtin::max: {
        List values;
        for (const Expr& arg : expr.args) values.push_back(evaluate(arg));
        const auto* entries = values.size() == 1 ? values[0].as_list() : nullptr;
        return combine(expr.builtin, entries != nullptr ? *entries : values, expr);
      }
      case Builtin::scalar_of:
        return {number_of(evaluate(expr.args[0]))};
      case Builtin::is_none: {
        const Value value = evaluate(expr.args[0]);
        const auto* attr = std::get_if<Attr>(&value.data);
        return {domain_.truth(attr != nullptr && attr->is_none())};
      }
      case Builtin::is_tensor: {
        const Value value = evaluate(expr.args[0]);
        return {domain_.truth(std::holds_alternative<Tensor>(value.data))};
      }
      case Builtin::divides:
        return {domain_.divides(int_of(evaluate(expr.args[0])), int_of(evaluate(expr.args[1])))};
      case Builtin::block:
        return block(expr);
      default:
        return list_call(expr);
    }
  }

  // What takes lists apart and makes new ones (clause_lists.h).
  Value list_call(const Expr& expr);
  Value range(const Expr& expr);
  Value without(const Expr& expr);
  Value rows(const List& lists, const Expr& expr);
  Value offsets(const Expr& expr);

  // block(xs, d, i): a choice on where i[d] falls.
  Value block(const Expr& expr) {
    const List blocks = list(expr.args[0]);
    std::vector<Int> at = index_of(expr.args[2]);
    const std::size_t d = place(expr.args[1], at.size());
    if (blocks.empty()) fail(expr);
    std::vector<Int> starts{integer(0)};
    const auto id = [&](std::size_t k) { return std::get<Tensor>(blocks[k].data).id; };
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const tensor::Shape& shape = domain_.type(id(k)).shape;
      if (d >= shape.size()) fail(expr);
      starts.push_back(starts.back() + domain_.sized(shape[d]));
    }
    const Int whole = at[d];
    const std::function<Number(std::size_t)> from = [&](std::size_t k) -> Number {
      const auto inside = [&] {
        at[d] = whole - starts[k];
        return domain_.element(id(k), at);
      };
      if (k + 1 == blocks.size()) return inside();
      const Truth here = domain_.compare(rules::Operation::less, whole, starts[k + 1]);
      if (const auto known = domain_.known(here)) return *known ? inside() : from(k + 1);
      const Number element = under(here, true, inside);
      return domain_.choose(here, element, under(here, false, [&] { return from(k + 1); }));
    };
    return {from(0)};
  }

  // Longer lists than any shape or any number of ranks are a mistake in a rule.
  static constexpr std::size_t kMaxList = 1 << 16;

  D& domain_;
  const rules::Operator& op_;
  std::vector<std::optional<Value>> slots_;
};

}  // namespace entangle::eval

#include "entangle/eval/clause_lists.h"
