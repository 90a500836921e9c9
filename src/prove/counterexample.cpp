#include "prove/counterexample.h"

#include <algorithm>

#include "entangle/support/check.h"
#include "entangle/support/text.h"

namespace entangle::prove {

using eval::Array;
using tensor::DType;
using Answer = Replayer::Answer;

namespace {

constexpr std::size_t kDraws = 12;  // of leaves for which given equations hold

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) result += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return result + "\n";
}

std::vector<TermId> leaves_of(const eval::Terms& terms) {
  std::vector<TermId> result;
  for (std::size_t id = 0; id < terms.size(); ++id) {
    const auto leaf = static_cast<TermId>(id);
    if (terms.node(leaf).op == rules::kNoOp) result.push_back(leaf);
  }
  return result;
}

struct Bounds {
  std::int64_t low, high;
};

Bounds bounds_of(const eval::Terms& terms, TermId leaf) {
  if (const term::Interval known = terms.interval(leaf); known.low && known.high) {
    return {known.low->value(), known.high->value()};
  }
  const DType dtype = terms.type(leaf).dtype;
  if (dtype == DType::b8) return {0, 1};
  return tensor::is_integer(dtype) ? Bounds{-2, 5} : Bounds{-3, 3};
}

// The sum of the sizes of numbers in an attribute.
std::uint64_t magnitude(const tensor::Attr& attr) {
  std::uint64_t result = 0;
  if (attr.kind() == tensor::Attr::Kind::list) {
    for (const tensor::Attr& entry : attr.as_list()) result += magnitude(entry) + 1;
  } else if (attr.kind() == tensor::Attr::Kind::integer) {
    const auto value = attr.as_int().constant();
    if (value) result += static_cast<std::uint64_t>(std::abs(*value));
  }
  return result;
}

// Whether values are equal, or as good as equal in floating point.
bool same(const eval::Interpreter& interpreter, const mpq_class& a, const mpq_class& b) {
  static const mpq_class kTolerance(1, 1'000'000);
  return a == b || (!interpreter.exact() && abs(a - b) <= kTolerance * (abs(a) + abs(b) + 1));
}

bool same(const eval::Interpreter& interpreter, const Array& a, const Array& b) {
  return a.shape == b.shape && std::ranges::equal(a.elements, b.elements, [&](const auto& x, const auto& y) {
           return same(interpreter, x, y);
         });
}

bool mentions(const rules::Expr& expr, const std::string& function) {
  return (expr.kind == rules::ExprKind::scalar_call && expr.name == function) ||
         std::ranges::any_of(expr.args, [&](const rules::Expr& arg) { return mentions(arg, function); });
}

// Elements, axes, leaves, terms, leaves of other types than f32, numbers.
Replayer::Measure measure(const Instance& instance) {
  std::uint64_t elements = 0, axes = 0, leaves = 0, unusual = 0, numbers = 0;
  for (std::size_t id = 0; id < instance.terms.size(); ++id) {
    const auto one = static_cast<TermId>(id);
    const term::NodeView node = instance.terms.node(one);
    if (node.op != rules::kNoOp) {
      numbers += magnitude(node.attrs);
      continue;
    }
    ++leaves;
    unusual += instance.terms.type(one).dtype == DType::f32 ? 0 : 1;
    const tensor::Shape& shape = instance.terms.type(one).shape;
    axes += shape.size();
    std::uint64_t count = 1;
    for (const sym::Int size : shape) count *= static_cast<std::uint64_t>(size.value());
    elements += count;
  }
  return {elements, axes, leaves, instance.terms.size(), unusual, numbers};
}

}  // namespace

Answer Replayer::compare(const Instance& instance) {
  // Equations that are given hold by chance only: more often with few different elements.
  const std::size_t draws = instance.given.empty() ? 1 : kDraws;
  Answer answer = Answer::undefined;
  for (std::size_t n = 0; n < draws && answer != Answer::differ; ++n) {
    Leaves leaves = drawn(instance, instance.given.empty() ? std::nullopt : std::optional(n));
    const Answer here = evaluate(instance, leaves);
    if (here != Answer::undefined) answer = here;
    if (here != Answer::differ) continue;
    Measure size = measure(instance);
    if (found_ && (!minimise_ || smallest_ <= size)) return answer;
    if (minimise_) shrink(instance, leaves);
    ENTANGLE_CHECK(evaluate(instance, leaves) == Answer::differ, "a counterexample that is none");
    smallest_ = std::move(size);
    found_ = shown(instance, leaves);
  }
  return answer;
}

Replayer::Leaves Replayer::drawn(const Instance& instance, std::optional<std::size_t> draw) {
  Leaves result;
  for (const TermId leaf : leaves_of(instance.terms)) {
    Bounds bounds = bounds_of(instance.terms, leaf);
    if (draw) {
      // 0 and 1, 1 and -1, or both and 0.
      const Bounds few = *draw % 3 == 0 ? Bounds{0, 1} : Bounds{-1, 1};
      bounds.low = std::max(bounds.low, std::min(few.low, bounds.high));
      bounds.high = std::min(bounds.high, std::max(few.high, bounds.low + 1));
    }
    const std::int64_t step = draw && *draw % 3 == 1 && bounds.low == -1 && bounds.high == 1 ? 2 : 1;
    Array array;
    for (const sym::Int size : instance.terms.type(leaf).shape) array.shape.push_back(size.value());
    const auto span = static_cast<std::uint64_t>((bounds.high - bounds.low) / step + 1);
    eval::for_each_index(array.shape, [&](const std::vector<std::int64_t>&) {
      array.elements.emplace_back(
          static_cast<long>(bounds.low + step * static_cast<std::int64_t>(random_() % span)));
    });
    result.emplace(leaf, std::move(array));
  }
  return result;
}

Answer Replayer::evaluate(const Instance& instance, const Leaves& leaves) {
  eval::Interpreter interpreter(instance.terms);
  for (const auto& [leaf, array] : leaves) interpreter.set(leaf, array);
  const Answer answer = evaluate_with(interpreter, instance);
  if (answer != Answer::differ || instance.right.empty() || interpreter.made_up().empty()) return answer;
  return confirmed(instance, leaves, interpreter.made_up());
}

// The sides differ for functions whose values are made up: whether they do for the functions as they are.
Answer Replayer::confirmed(const Instance& instance, const Leaves& leaves,
                           const std::set<eval::Interpreter::Made>& made_up) {
  bool known = false;
  for (const auto& one : made_up) {
    known = known || one.known;
    for (const rules::Law& law : instance.terms.rules().laws()) {
      if (one.known || !(mentions(law.left, one.function) || mentions(law.right, one.function))) continue;
      why_ = "values of `" + one.function + "` are made up, and the law `" + law.name +
             "` need not hold of them";
      return Answer::undefined;
    }
  }
  if (!known) return Answer::differ;
  eval::Interpreter interpreter(instance.terms, eval::Interpreter::Functions::floating);
  for (const auto& [leaf, array] : leaves) interpreter.set(leaf, array);
  const Answer answer = evaluate_with(interpreter, instance);
  if (answer != Answer::agree) return answer;
  why_ = "the sides differ only where values of `" + made_up.begin()->function + "` are made up";
  return Answer::undefined;
}

Answer Replayer::evaluate_with(eval::Interpreter& interpreter, const Instance& instance) {
  const auto both = [&](TermId a, TermId b) {
    const Array* first = interpreter.value(a);
    const Array* second = first != nullptr ? interpreter.value(b) : nullptr;
    if (second == nullptr) {
      why_ = interpreter.why();
      return Answer::undefined;
    }
    return same(interpreter, *first, *second) ? Answer::agree : Answer::differ;
  };
  for (const auto& [a, b] : instance.given) {
    if (both(a, b) == Answer::agree) continue;
    why_ = "the equation that is given does not hold for the elements that were tried";
    return Answer::undefined;
  }
  if (instance.inside) {
    if (interpreter.value(instance.left[0]) != nullptr) return Answer::agree;
    why_ = interpreter.why();
    return interpreter.meaningless() ? Answer::differ : Answer::undefined;
  }
  if (instance.right.empty()) {
    return interpreter.value(instance.left[0]) != nullptr ? Answer::differ : Answer::undefined;
  }
  Answer answer = Answer::agree;
  for (std::size_t k = 0; k < instance.left.size() && answer != Answer::differ; ++k) {
    const bool typed = instance.terms.type(instance.left[k]) == instance.terms.type(instance.right[k]);
    const Answer here = typed ? both(instance.left[k], instance.right[k]) : Answer::differ;
    if (here != Answer::agree) answer = here;
  }
  return answer;
}

// Each element in turn becomes the simplest number with which the sides still differ.
void Replayer::shrink(const Instance& instance, Leaves& leaves) {
  for (const TermId leaf : leaves_of(instance.terms)) {
    const Bounds bounds = bounds_of(instance.terms, leaf);
    Array& array = leaves.at(leaf);
    for (mpq_class& element : array.elements) {
      const mpq_class before = element;
      for (const long simple : {0L, 1L, -1L, 2L, -2L}) {
        if (simple < bounds.low || simple > bounds.high || before == simple) continue;
        if (abs(mpq_class(simple)) > abs(before)) break;
        element = simple;
        if (evaluate(instance, leaves) == Answer::differ) break;
        element = before;
      }
    }
  }
}

Counterexample Replayer::shown(const Instance& instance, const Leaves& leaves) {
  const eval::Terms& terms = instance.terms;
  eval::Interpreter made_up(terms);
  for (const auto& [leaf, array] : leaves) made_up.set(leaf, array);
  evaluate_with(made_up, instance);
  // What is shown are the functions as they are, where that is known.
  const bool known = std::ranges::any_of(made_up.made_up(), &eval::Interpreter::Made::known);
  using Functions = eval::Interpreter::Functions;
  eval::Interpreter interpreter(terms, known ? Functions::floating : Functions::made_up);
  for (const auto& [leaf, array] : leaves) interpreter.set(leaf, array);
  Counterexample result;
  std::string text = "  the statement\n" + indented(text_) + "  fails with " + instance.variables + "\n";
  for (const TermId leaf : leaves_of(terms)) {
    for (const sym::Int size : terms.type(leaf).shape)
      result.largest = std::max(result.largest, size.value());
    text += "  " + terms.label(leaf) + " : " + tensor::to_string(terms.type(leaf)) + " = " +
            eval::to_string(leaves.at(leaf)) + "\n";
  }
  for (const eval::Interpreter::Made& one : made_up.made_up()) {
    if (!one.known) text += "  `" + one.function + "` may be any function: no law says more of it\n";
  }
  const auto side = [&](const char* name, TermId id) {
    const Array* value = interpreter.value(id);
    text += std::string("  ") + name + terms.print(id) + " : " + tensor::to_string(terms.type(id));
    text += value == nullptr ? "\n" : " = " + eval::to_string(*value) + "\n";
    return value;
  };
  if (instance.inside) {
    text += "  " + terms.print(instance.left[0]) + " : " + tensor::to_string(terms.type(instance.left[0]));
    interpreter.value(instance.left[0]);
    text += "\n  its `value` has no meaning: " + interpreter.why() + "\n";
    result.text = std::move(text);
    return result;
  }
  if (instance.right.empty()) {
    side("left:  ", instance.left[0]);
    text += "  the right side is undefined: " + instance.undefined + "\n";
  }
  for (std::size_t k = 0; k < instance.right.size(); ++k) {
    const tensor::TensorType& type = terms.type(instance.left[k]);
    const tensor::TensorType& other = terms.type(instance.right[k]);
    const bool typed = type == other;
    if (typed) {
      const Array* a = interpreter.value(instance.left[k]);
      const Array* b = interpreter.value(instance.right[k]);
      if (a == nullptr || b == nullptr || same(interpreter, *a, *b)) continue;
    }
    const Array* a = side("left:  ", instance.left[k]);
    const Array* b = side("right: ", instance.right[k]);
    if (!typed) {
      text +=
          "  the types differ: " + tensor::to_string(type) + " against " + tensor::to_string(other) + "\n";
      break;
    }
    bool first = true;
    eval::for_each_index(a->shape, [&](const std::vector<std::int64_t>& at) {
      const std::size_t place = a->offset(at);
      if (!first || same(interpreter, a->elements[place], b->elements[place])) return;
      first = false;
      std::vector<std::string> entries;
      for (const std::int64_t entry : at) entries.push_back(std::to_string(entry));
      text += "  first difference at [" + support::join(entries, ", ") +
              "]: " + eval::to_string(a->elements[place]) + " against " +
              eval::to_string(b->elements[place]) + "\n";
    });
    break;
  }
  result.text = std::move(text);
  return result;
}

}  // namespace entangle::prove
