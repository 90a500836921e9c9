#include "entangle/eval/element.h"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

namespace entangle::eval {
namespace {

using egraph::kNoTerm;
using egraph::TermId;
using rules::Builtin;
using rules::Expr;
using rules::ExprKind;
using rules::Operation;
using smt::Sort;
using tensor::Attr;

// Deeper terms are functions of the index: the solver would not see through them anyway.
constexpr int kMaxDepth = 64;

Sort sort_of(tensor::DType dtype) {
  if (dtype == tensor::DType::b8) {
    return Sort::boolean;
  }
  return tensor::is_integer(dtype) ? Sort::integer : Sort::real;
}

smt::Term as_number(const smt::Term& term) {
  return term.sort() == Sort::boolean ? smt::ite(term, smt::Term::integer(1), smt::Term::integer(0)) : term;
}

smt::Term as_boolean(const smt::Term& term) {
  return term.sort() == Sort::boolean ? term : smt::ne(term, smt::Term::integer(0));
}

smt::Term as_sort(const smt::Term& term, Sort sort) {
  if (sort == Sort::boolean) {
    return as_boolean(term);
  }
  const smt::Term number = as_number(term);
  return sort == Sort::real && number.sort() == Sort::integer ? smt::to_real(number) : number;
}

}  // namespace

// A value clause, run with solver terms for elements and index entries.
class Elements::Interpreter {
 public:
  struct Tensor {
    TermId id;
  };
  struct Value;
  using List = std::vector<Value>;
  struct Value {
    std::variant<smt::Term, Attr, Tensor, List> data;
  };
  using Maybe = std::optional<Value>;

  Interpreter(Elements& elements, const rules::Operator& op, const term::NodeView& node)
      : elements_(elements), graph_(elements.graph_), op_(op), slots_(op.slots.size()) {
    bind(node);
  }

  std::optional<smt::Term> run(const std::vector<smt::Term>& index) {
    for (const rules::Let& let : op_.lets) {
      slots_[let.slot] = evaluate(let.value);
    }
    List entries;
    for (const smt::Term& entry : index) {
      entries.push_back({entry});
    }
    slots_[op_.value_index] = Value{std::move(entries)};
    const Maybe result = evaluate(*op_.value);
    return result ? term_of(*result) : std::nullopt;
  }

 private:
  void bind(const term::NodeView& node) {
    std::size_t next = 0;
    const std::size_t fixed = op_.tensors.size();
    for (std::size_t k = 0; k < op_.tensors.size(); ++k) {
      const rules::Parameter& parameter = op_.tensors[k];
      if (!parameter.type.is_list()) {
        slots_[parameter.slot] = Value{Tensor{node.children[next++]}};
        continue;
      }
      const std::size_t count = node.children.size() + 1 - fixed;
      List list;
      for (std::size_t j = 0; j < count; ++j) {
        list.push_back({Tensor{node.children[next++]}});
      }
      slots_[parameter.slot] = Value{std::move(list)};
    }
    const auto attrs = node.attrs.as_list();
    for (std::size_t k = 0; k < op_.attributes.size(); ++k) {
      slots_[op_.attributes[k].slot] = unpack(attrs[k]);
    }
  }

  Value unpack(const Attr& attr) {
    switch (attr.kind()) {
      case Attr::Kind::integer:
        return {elements_.integer(attr.as_int())};
      case Attr::Kind::list: {
        List list;
        for (const Attr& entry : attr.as_list()) {
          list.push_back(unpack(entry));
        }
        return {std::move(list)};
      }
      case Attr::Kind::scalar: {
        const auto number = attr.as_scalar().as_rational();
        return number ? Value{smt::Term::real(*number)} : Value{attr};
      }
      default:
        return {attr};
    }
  }

  static std::optional<smt::Term> term_of(const Value& value) {
    if (const auto* term = std::get_if<smt::Term>(&value.data)) {
      return *term;
    }
    if (const auto* attr = std::get_if<Attr>(&value.data)) {
      if (attr->kind() == Attr::Kind::boolean) {
        return smt::Term::boolean(attr->as_bool());
      }
    }
    return std::nullopt;
  }

  std::optional<smt::Term> term(const Expr& expr) {
    const Maybe value = evaluate(expr);
    return value ? term_of(*value) : std::nullopt;
  }

  std::optional<std::int64_t> number(const Expr& expr) {
    const auto value = term(expr);
    return value ? value->as_integer() : std::nullopt;
  }

  std::optional<List> list(const Expr& expr) {
    const Maybe value = evaluate(expr);
    if (!value) {
      return std::nullopt;
    }
    const auto* entries = std::get_if<List>(&value->data);
    return entries == nullptr ? std::nullopt : std::optional(*entries);
  }

  const tensor::TensorType* type(const Expr& expr) {
    const Maybe value = evaluate(expr);
    const auto* tensor = value ? std::get_if<Tensor>(&value->data) : nullptr;
    return tensor == nullptr ? nullptr : &graph_.type(tensor->id);
  }

  Maybe evaluate(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::literal:
        return unpack(expr.value);
      case ExprKind::variable:
        return expr.slot == rules::kNoSlot ? std::nullopt : slots_[expr.slot];
      case ExprKind::call:
        return call(expr);
      case ExprKind::scalar_call:
        return scalar_call(expr);
      case ExprKind::unary:
        return unary(expr);
      case ExprKind::binary:
        return binary(expr);
      case ExprKind::conditional:
        return conditional(expr);
      case ExprKind::index:
        return index(expr);
      case ExprKind::range:
        return range(expr);
      case ExprKind::with:
        return with(expr);
      case ExprKind::without:
        return without(expr);
      case ExprKind::list:
        return list_of(expr);
      case ExprKind::comprehension:
        return comprehension(expr);
      case ExprKind::let: {
        slots_[expr.binders[0]] = evaluate(expr.args[0]);
        return slots_[expr.binders[0]] ? evaluate(expr.args[1]) : std::nullopt;
      }
      case ExprKind::aggregate:
        return aggregate(expr);
      default:
        return std::nullopt;
    }
  }

  static Value ints(const std::vector<sym::Int>& values, Elements& elements) {
    List list;
    for (const sym::Int value : values) {
      list.push_back({elements.integer(value)});
    }
    return {std::move(list)};
  }

  Maybe call(const Expr& expr) {
    const auto integer = [](std::size_t n) {
      return Value{smt::Term::integer(static_cast<std::int64_t>(n))};
    };
    switch (expr.builtin) {
      case Builtin::rank:
        if (const auto* t = type(expr.args[0])) {
          return integer(t->rank());
        }
        return std::nullopt;
      case Builtin::shape:
        if (const auto* t = type(expr.args[0])) {
          return ints(t->shape, elements_);
        }
        return std::nullopt;
      case Builtin::dtype:
        if (const auto* t = type(expr.args[0])) {
          return Value{Attr::of(t->dtype)};
        }
        return std::nullopt;
      case Builtin::len:
        if (const auto entries = list(expr.args[0])) {
          return integer(entries->size());
        }
        return std::nullopt;
      case Builtin::is_bool:
      case Builtin::is_integer:
      case Builtin::is_float:
      case Builtin::is_wide_float:
        return dtype_test(expr);
      case Builtin::permute: {
        const auto entries = list(expr.args[0]);
        const auto places = static_list(expr.args[1]);
        if (!entries || !places) {
          return std::nullopt;
        }
        List result;
        for (const std::int64_t place : *places) {
          result.push_back(entries->at(static_cast<std::size_t>(place)));
        }
        return Value{std::move(result)};
      }
      case Builtin::inverse: {
        const auto places = static_list(expr.args[0]);
        if (!places) {
          return std::nullopt;
        }
        List result(places->size(), integer(0));
        for (std::size_t k = 0; k < places->size(); ++k) {
          result.at(static_cast<std::size_t>((*places)[k])) = integer(k);
        }
        return Value{std::move(result)};
      }
      case Builtin::block:
        return block(expr);
      default:
        return std::nullopt;
    }
  }

  Maybe dtype_test(const Expr& expr) {
    const Maybe value = evaluate(expr.args[0]);
    const auto* attr = value ? std::get_if<Attr>(&value->data) : nullptr;
    if (attr == nullptr || attr->kind() != Attr::Kind::dtype) {
      return std::nullopt;
    }
    const tensor::DType dtype = attr->as_dtype();
    const bool holds = expr.builtin == Builtin::is_bool      ? dtype == tensor::DType::b8
                       : expr.builtin == Builtin::is_integer ? tensor::is_integer(dtype)
                       : expr.builtin == Builtin::is_float   ? tensor::is_float(dtype)
                                                             : tensor::is_wide_float(dtype);
    return Value{smt::Term::boolean(holds)};
  }

  std::optional<std::vector<std::int64_t>> static_list(const Expr& expr) {
    const auto entries = list(expr);
    if (!entries) {
      return std::nullopt;
    }
    std::vector<std::int64_t> result;
    for (const Value& entry : *entries) {
      const auto value = term_of(entry);
      const auto constant = value ? value->as_integer() : std::nullopt;
      if (!constant) {
        return std::nullopt;
      }
      result.push_back(*constant);
    }
    return result;
  }

  // block(xs, d, i): a choice on where i[d] falls.
  Maybe block(const Expr& expr) {
    const auto blocks = list(expr.args[0]);
    const auto axis = number(expr.args[1]);
    const auto at = index_terms(expr.args[2]);
    if (!blocks || !axis || !at || blocks->empty()) {
      return std::nullopt;
    }
    const auto d = static_cast<std::size_t>(*axis);
    std::vector<sym::Int> starts{0};
    for (const Value& entry : *blocks) {
      starts.push_back(starts.back() + graph_.type(std::get<Tensor>(entry.data).id).shape.at(d));
    }
    std::optional<smt::Term> result;
    for (std::size_t k = blocks->size(); k-- > 0;) {
      std::vector<smt::Term> inner = *at;
      inner.at(d) = inner.at(d) - elements_.integer(starts[k]);
      const smt::Term element = elements_.at(std::get<Tensor>((*blocks)[k].data).id, inner);
      result = result ? smt::ite(at->at(d) < elements_.integer(starts[k + 1]), element, *result) : element;
    }
    return Value{*result};
  }

  Maybe scalar_call(const Expr& expr) {
    std::vector<smt::Term> arguments;
    std::vector<Sort> domain;
    for (const Expr& argument : expr.args) {
      const auto value = term(argument);
      if (!value) {
        return std::nullopt;
      }
      arguments.push_back(as_sort(*value, Sort::real));
      domain.push_back(Sort::real);
    }
    return Value{smt::Function(expr.name, domain, Sort::real)(arguments)};
  }

  Maybe unary(const Expr& expr) {
    const auto value = term(expr.args[0]);
    if (!value) {
      return std::nullopt;
    }
    return Value{expr.operation == Operation::logical_not ? !as_boolean(*value) : -as_number(*value)};
  }

  Maybe binary(const Expr& expr) {
    if (expr.operation == Operation::append) {
      auto left = list(expr.args[0]);
      const auto right = list(expr.args[1]);
      if (!left || !right) {
        return std::nullopt;
      }
      left->insert(left->end(), right->begin(), right->end());
      return Value{std::move(*left)};
    }
    const Maybe left_value = evaluate(expr.args[0]);
    const Maybe right_value = evaluate(expr.args[1]);
    if (!left_value || !right_value) {
      return std::nullopt;
    }
    const auto* left_attr = std::get_if<Attr>(&left_value->data);
    const auto* right_attr = std::get_if<Attr>(&right_value->data);
    if (left_attr != nullptr && right_attr != nullptr &&
        (expr.operation == Operation::equal || expr.operation == Operation::not_equal)) {
      return Value{smt::Term::boolean((*left_attr == *right_attr) == (expr.operation == Operation::equal))};
    }
    const auto left = term_of(*left_value);
    const auto right = term_of(*right_value);
    if (!left || !right) {
      return std::nullopt;
    }
    switch (expr.operation) {
      case Operation::logical_and:
        return Value{as_boolean(*left) && as_boolean(*right)};
      case Operation::logical_or:
        return Value{as_boolean(*left) || as_boolean(*right)};
      default:
        break;
    }
    const smt::Term a = as_number(*left);
    const smt::Term b = as_number(*right);
    switch (expr.operation) {
      case Operation::add:
        return Value{a + b};
      case Operation::subtract:
        return Value{a - b};
      case Operation::multiply:
        return Value{a * b};
      case Operation::divide:
        return Value{a / b};
      case Operation::floordiv:
        return Value{smt::floordiv(a, b)};
      case Operation::mod:
        return Value{smt::floormod(a, b)};
      case Operation::equal:
        return Value{smt::eq(a, b)};
      case Operation::not_equal:
        return Value{smt::ne(a, b)};
      case Operation::less:
        return Value{a < b};
      case Operation::less_equal:
        return Value{a <= b};
      case Operation::greater:
        return Value{a > b};
      case Operation::greater_equal:
        return Value{a >= b};
      default:
        return std::nullopt;
    }
  }

  Maybe conditional(const Expr& expr) {
    const auto condition = term(expr.args[0]);
    if (!condition) {
      return std::nullopt;
    }
    const smt::Term test = as_boolean(*condition);
    if (test.is_true()) {
      return evaluate(expr.args[1]);
    }
    if (test.is_false()) {
      return evaluate(expr.args[2]);
    }
    const auto yes = term(expr.args[1]);
    const auto no = term(expr.args[2]);
    if (!yes || !no) {
      return std::nullopt;
    }
    if (yes->sort() == no->sort()) {
      return Value{smt::ite(test, *yes, *no)};
    }
    const smt::Term a = as_number(*yes);
    const smt::Term b = as_number(*no);
    const Sort sort = a.sort() == b.sort() ? a.sort() : Sort::real;
    return Value{smt::ite(test, as_sort(a, sort), as_sort(b, sort))};
  }

  std::optional<std::vector<smt::Term>> index_terms(const Expr& expr) {
    const auto entries = list(expr);
    if (!entries) {
      return std::nullopt;
    }
    std::vector<smt::Term> result;
    for (const Value& entry : *entries) {
      const auto value = term_of(entry);
      if (!value || as_number(*value).sort() != Sort::integer) {
        return std::nullopt;
      }
      result.push_back(as_number(*value));
    }
    return result;
  }

  Maybe index(const Expr& expr) {
    const Maybe base = evaluate(expr.args[0]);
    if (!base) {
      return std::nullopt;
    }
    if (const auto* tensor = std::get_if<Tensor>(&base->data)) {
      const auto at = index_terms(expr.args[1]);
      return at ? Maybe(Value{elements_.at(tensor->id, *at)}) : std::nullopt;
    }
    const auto* entries = std::get_if<List>(&base->data);
    const auto place = number(expr.args[1]);
    if (entries == nullptr || !place || *place < 0 || *place >= static_cast<std::int64_t>(entries->size())) {
      return std::nullopt;
    }
    return (*entries)[static_cast<std::size_t>(*place)];
  }

  Maybe range(const Expr& expr) {
    const auto entries = list(expr.args[0]);
    if (!entries) {
      return std::nullopt;
    }
    const auto bound = [&](const Expr& e, std::int64_t otherwise) -> std::optional<std::int64_t> {
      const bool missing = e.kind == ExprKind::literal && e.value.is_none();
      return missing ? std::optional(otherwise) : number(e);
    };
    const auto size = static_cast<std::int64_t>(entries->size());
    const auto low = bound(expr.args[1], 0);
    const auto high = bound(expr.args[2], size);
    if (!low || !high || *low < 0 || *low > *high || *high > size) {
      return std::nullopt;
    }
    return Value{List(entries->begin() + *low, entries->begin() + *high)};
  }

  Maybe with(const Expr& expr) {
    auto entries = list(expr.args[0]);
    const auto place = number(expr.args[1]);
    Maybe value = evaluate(expr.args[2]);
    if (!entries || !place || !value || *place < 0 || *place >= static_cast<std::int64_t>(entries->size())) {
      return std::nullopt;
    }
    (*entries)[static_cast<std::size_t>(*place)] = std::move(*value);
    return Value{std::move(*entries)};
  }

  Maybe without(const Expr& expr) {
    const auto entries = list(expr.args[0]);
    std::vector<std::int64_t> places;
    if (const auto one = number(expr.args[1])) {
      places.push_back(*one);
    } else if (const auto several = static_list(expr.args[1])) {
      places = *several;
    } else {
      return std::nullopt;
    }
    if (!entries) {
      return std::nullopt;
    }
    List kept;
    for (std::size_t k = 0; k < entries->size(); ++k) {
      if (std::ranges::find(places, static_cast<std::int64_t>(k)) == places.end()) {
        kept.push_back((*entries)[k]);
      }
    }
    return Value{std::move(kept)};
  }

  Maybe list_of(const Expr& expr) {
    List result;
    for (const Expr& entry : expr.args) {
      if (entry.kind == ExprKind::star) {
        const auto inner = list(entry.args[0]);
        if (!inner) {
          return std::nullopt;
        }
        result.insert(result.end(), inner->begin(), inner->end());
        continue;
      }
      Maybe value = evaluate(entry);
      if (!value) {
        return std::nullopt;
      }
      result.push_back(std::move(*value));
    }
    return Value{std::move(result)};
  }

  Maybe comprehension(const Expr& expr) {
    const auto over = list(expr.args[1]);
    if (!over || expr.binders.size() != 1 || expr.args.size() > 2) {
      return std::nullopt;
    }
    List result;
    for (const Value& entry : *over) {
      slots_[expr.binders[0]] = entry;
      Maybe value = evaluate(expr.args[0]);
      if (!value) {
        return std::nullopt;
      }
      result.push_back(std::move(*value));
    }
    return Value{std::move(result)};
  }

  // sum, max or product over a list.
  Maybe aggregate(const Expr& expr) {
    const Maybe values = comprehension(expr);
    if (!values) {
      return std::nullopt;
    }
    std::optional<smt::Term> result;
    for (const Value& entry : std::get<List>(values->data)) {
      const auto value = term_of(entry);
      if (!value) {
        return std::nullopt;
      }
      const smt::Term next = as_number(*value);
      result = !result                            ? next
               : expr.builtin == Builtin::max     ? smt::max(*result, next)
               : expr.builtin == Builtin::product ? *result * next
                                                  : *result + next;
    }
    return result ? Maybe(Value{*result}) : std::nullopt;
  }

  Elements& elements_;
  const egraph::EGraph& graph_;
  const rules::Operator& op_;
  std::vector<Maybe> slots_;
};

Elements::Elements(const egraph::EGraph& graph) : graph_(graph) {}

smt::Term Elements::integer(sym::Int value) {
  const sym::Int core = graph_.oracle().facts().core(value);
  for (const sym::Int symbol : sym::symbols_of(core)) {
    if (std::ranges::find(symbols_, symbol) == symbols_.end()) {
      symbols_.push_back(symbol);
    }
  }
  return smt::from_int(core);
}

std::vector<smt::Term> Elements::fresh_index(TermId term) {
  std::vector<smt::Term> index;
  for (const sym::Int size : graph_.type(term).shape) {
    index.push_back(smt::Term::variable("i" + std::to_string(indices_++), Sort::integer));
    facts_.push_back(smt::Term::integer(0) <= index.back());
    facts_.push_back(index.back() < integer(size));
  }
  return index;
}

std::vector<smt::Term> Elements::facts() const {
  std::vector<smt::Term> result = facts_;
  const sym::Facts& facts = graph_.oracle().facts();
  for (const sym::Int symbol : symbols_) {
    const sym::Interval bounds = facts.core_bounds(symbol);
    if (bounds.lower) {
      result.push_back(smt::Term::integer(*bounds.lower) <= smt::from_int(symbol));
    }
    if (bounds.upper) {
      result.push_back(smt::from_int(symbol) <= smt::Term::integer(*bounds.upper));
    }
  }
  for (const sym::Int zero : facts.zero()) {
    result.push_back(smt::eq(smt::from_int(zero), smt::Term::integer(0)));
  }
  for (const sym::Int value : facts.nonnegative()) {
    result.push_back(smt::Term::integer(0) <= smt::from_int(value));
  }
  return result;
}

smt::Term Elements::constant(const sym::Scalar& value, Sort sort) {
  if (const auto number = value.as_int(); number && sort != Sort::real) {
    return as_sort(integer(*number), sort);
  }
  if (const auto number = value.as_rational()) {
    return as_sort(smt::Term::real(*number), Sort::real);
  }
  // An infinity, or a ratio of sizes: a constant nothing is known of.
  return smt::Term::variable("constant " + sym::to_string(value), sort);
}

void Elements::note_interval(TermId term, const smt::Term& element) {
  if (element.sort() != Sort::integer) {
    return;
  }
  const term::Interval interval = graph_.interval(term);
  if (interval.low) {
    facts_.push_back(integer(*interval.low) <= element);
  }
  if (interval.high) {
    facts_.push_back(element <= integer(*interval.high));
  }
}

smt::Term Elements::leaf(TermId term, const std::vector<smt::Term>& index) {
  const Sort sort = sort_of(graph_.type(term).dtype);
  const std::string name = "t" + std::to_string(graph_.find(term));
  const smt::Term element = smt::Function(name, std::vector<Sort>(index.size(), Sort::integer), sort)(index);
  note_interval(term, element);
  return element;
}

smt::Term Elements::at(TermId term, const std::vector<smt::Term>& index) {
  const Sort sort = sort_of(graph_.type(term).dtype);
  if (const auto value = graph_.uniform(term)) {
    return constant(*value, sort);
  }
  const term::NodeView node = graph_.original(term);
  if (node.op == rules::kNoOp || depth_ >= kMaxDepth) {
    return leaf(term, index);
  }
  const rules::Operator& op = graph_.rules().op(node.op);
  if (!op.value || op.random) {
    return leaf(term, index);
  }
  ++depth_;
  const auto value = Interpreter(*this, op, node).run(index);
  --depth_;
  if (!value) {
    return leaf(term, index);
  }
  const smt::Term element = as_sort(*value, sort);
  note_interval(term, element);
  return element;
}

}  // namespace entangle::eval
