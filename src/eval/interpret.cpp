#include "entangle/eval/interpret.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "entangle/support/text.h"
#include "eval/concrete.h"
#include "eval/functions.h"

namespace entangle::eval {

using rules::Operation;
using sym::Int;
using tensor::Attr;
using tensor::DType;
using Index = std::vector<std::int64_t>;

void for_each_index(const Index& shape, const std::function<void(const Index&)>& visit) {
  Index index(shape.size(), 0);
  for (const std::int64_t size : shape) {
    if (size <= 0) return;
  }
  while (true) {
    visit(index);
    std::size_t k = shape.size();
    while (k > 0 && ++index[k - 1] == shape[k - 1]) index[--k] = 0;
    if (k == 0) return;
  }
}

std::string to_string(const mpq_class& number) {
  static const mpz_class kSimple = 1'000'000'000;
  if (number.get_den() <= kSimple) return number.get_str();
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number.get_d());
  return text;
}

std::string to_string(const Array& array) {
  std::size_t next = 0;
  const std::function<std::string(std::size_t)> part = [&](std::size_t axis) -> std::string {
    if (axis == array.shape.size()) return to_string(array.elements[next++]);
    std::string text = "[";
    for (std::int64_t k = 0; k < array.shape[axis]; ++k) text += (k > 0 ? ", " : "") + part(axis + 1);
    return text + "]";
  };
  return part(0);
}

namespace {

constexpr std::int64_t kLargestExponent = 256;

class Hash {
 public:
  void add(const std::string& text) {
    for (const char c : text) state_ = (state_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    state_ = (state_ ^ 0xFF) * 1099511628211ULL;
  }
  // A number that an element of this type may be.
  mpq_class number(DType dtype) const {
    std::uint64_t bits = state_ * 0x9E3779B97F4A7C15ULL;
    bits ^= bits >> 32;
    if (dtype == DType::b8) return mpq_class(static_cast<long>(bits % 2));
    return mpq_class(static_cast<long>(bits % 9) - 4);
  }

 private:
  std::uint64_t state_ = 1469598103934665603ULL;
};

std::optional<std::int64_t> small_integer(const mpq_class& value) {
  if (value.get_den() != 1 || !value.get_num().fits_slong_p()) return std::nullopt;
  return value.get_num().get_si();
}

mpq_class power(const mpq_class& base, std::int64_t exponent) {
  if (base == 0 && exponent < 0) return 0;
  mpq_class result = 1;
  for (std::int64_t k = 0; k < std::abs(exponent); ++k) result *= base;
  return exponent < 0 ? mpq_class(1 / result) : result;
}

// To the power of a fraction, where that is rational; what is negative has none. 0 to a negative power is 0,
// as 1/0 is.
mpq_class fractional_power(const mpq_class& base, const mpq_class& exponent) {
  const auto top = small_integer(exponent.get_num());
  const mpz_class& order = exponent.get_den();
  mpq_class root;
  const bool exact = sgn(base) >= 0 && order.fits_ulong_p() && top && std::abs(*top) <= kLargestExponent &&
                     mpz_root(root.get_num_mpz_t(), base.get_num_mpz_t(), order.get_ui()) != 0 &&
                     mpz_root(root.get_den_mpz_t(), base.get_den_mpz_t(), order.get_ui()) != 0;
  if (!exact) throw Undefined{base.get_str() + " to the power " + exponent.get_str() + " is not rational"};
  return power(root, *top);
}

mpq_class truncated(const mpq_class& value) {
  return mpq_class(mpz_class(value.get_num() / value.get_den()));
}

mpq_class exponential(const mpq_class& x) {
  const auto exponent = small_integer(x);
  if (!exponent || std::abs(*exponent) > kLargestExponent) {
    throw Undefined{"exp(" + x.get_str() + ") is not rational"};
  }
  return power(2, *exponent);
}

mpq_class logarithm(const mpq_class& x) {
  for (std::int64_t k = 0; x > 0 && k <= kLargestExponent; ++k) {
    if (power(2, k) == x) return k;
    if (power(2, -k) == x) return -k;
  }
  throw Undefined{"log(" + x.get_str() + ") is not rational"};
}

// The scalar functions that laws or lemmas say something of.
std::optional<mpq_class> known_function(const std::string& name, const std::vector<mpq_class>& arguments) {
  if (name == "exp" && arguments.size() == 1) return exponential(arguments[0]);
  if (name == "log" && arguments.size() == 1) return logarithm(arguments[0]);
  if (name == "pow" && arguments.size() == 2) {
    const auto exponent = small_integer(arguments[0]);
    if (exponent && std::abs(*exponent) <= kLargestExponent) return power(arguments[1], *exponent);
    if (arguments[0].get_den() != 1) return fractional_power(arguments[1], arguments[0]);
  }
  return std::nullopt;
}

mpq_class converted(const mpq_class& x, DType from, DType to) {
  if (to == DType::b8) return x == 0 ? 0 : 1;
  if (tensor::is_integer(to) && !tensor::is_integer(from)) return truncated(x);
  return x;
}

// Elements as exact numbers.
struct Exact : Concrete<mpq_class> {
  const Terms& terms;
  std::function<const Array&(TermId)> array;
  DType dtype;    // of the result, for functions nothing is known of
  DType operand;  // of the first operand
  bool converts;  // what the operator does
  Interpreter::Functions functions;
  std::set<Interpreter::Made>& made_up;

  static Number number(const sym::Scalar& scalar) {
    if (scalar.is_infinite()) {
      const mpq_class large = power(10, 40);
      return scalar == sym::Scalar::infinity(true) ? mpq_class(-large) : large;
    }
    const auto value = scalar.as_rational();
    if (!value) throw Undefined{"a symbolic number"};
    return *value;
  }
  static Number lifted(Int value) { return mpq_class(static_cast<long>(whole(value))); }
  static Int index(const Number& value) {
    const auto integer = small_integer(value);
    if (!integer) throw Undefined{"an index that is no integer", true};
    return *integer;
  }
  static Number arithmetic(Operation operation, const Number& a, const Number& b) {
    switch (operation) {
      case Operation::add:
        return a + b;
      case Operation::subtract:
        return a - b;
      case Operation::multiply:
        return a * b;
      case Operation::divide:
        return b == 0 ? mpq_class(0) : mpq_class(a / b);
      case Operation::floordiv:
      case Operation::mod: {
        // Of integers, whatever they were written as.
        if (a.get_den() != 1 || b.get_den() != 1) throw Undefined{"an integer division of fractions"};
        if (b == 0) throw Undefined{"an integer division by 0"};
        mpz_class quotient;
        mpz_fdiv_q(quotient.get_mpz_t(), a.get_num_mpz_t(), b.get_num_mpz_t());
        return operation == Operation::floordiv ? mpq_class(quotient) : mpq_class(a - b * quotient);
      }
      default:
        throw Undefined{"no arithmetic"};
    }
  }
  static Number larger(const Number& a, const Number& b) { return a < b ? b : a; }
  Number function(const std::string& name, const std::vector<std::variant<Number, Attr>>& arguments) const {
    std::vector<mpq_class> numbers;
    Hash hash;
    hash.add(name);
    for (const auto& argument : arguments) {
      const auto* number = std::get_if<Number>(&argument);
      if (number != nullptr) numbers.push_back(*number);
      hash.add(number != nullptr ? number->get_str() : tensor::to_string(std::get<Attr>(argument)));
    }
    if (converts) return converted(numbers[0], operand, dtype);
    const auto floating =
        functions == Interpreter::Functions::floating ? in_floating_point(name, arguments) : std::nullopt;
    if (floating) {
      if (!std::isfinite(*floating)) throw Undefined{"a value of `" + name + "` that is no number"};
      return mpq_class(*floating);
    }
    if (numbers.size() == arguments.size()) {
      if (const auto value = known_function(name, numbers)) return *value;
    }
    made_up.insert({name, in_floating_point(name, arguments).has_value()});
    return hash.number(dtype);
  }
  static std::optional<double> in_floating_point(const std::string& name,
                                                 const std::vector<std::variant<Number, Attr>>& arguments) {
    std::vector<std::variant<double, Attr>> given;
    for (const auto& argument : arguments) {
      if (const auto* number = std::get_if<Number>(&argument)) {
        given.emplace_back(number->get_d());
      } else {
        given.emplace_back(std::get<Attr>(argument));
      }
    }
    return scalar_function(name, given);
  }
  Number element(TermId id, const std::vector<Int>& index) const {
    return element_of(array(id), index, [&] { return terms.print(id); });
  }
  static Number reduce(rules::Builtin builtin, Int n, const std::function<Number(Int)>& body) {
    const std::int64_t count = whole(n);
    if (count <= 0 && builtin != rules::Builtin::sum) throw Undefined{"a maximum of nothing", true};
    Number result = count > 0 ? body(0) : Number(0);
    for (std::int64_t k = 1; k < count; ++k) {
      const Number next = body(k);
      result = builtin == rules::Builtin::sum ? Number(result + next) : larger(result, next);
    }
    return result;
  }
  const tensor::TensorType& type(TermId id) const { return terms.type(id); }
};

}  // namespace

const Array* Interpreter::value(TermId id) {
  if (const auto found = values_.find(id); found != values_.end()) return &found->second;
  try {
    return &values_.emplace(id, compute(id)).first->second;
  } catch (const Undefined& undefined) {
    why_ = undefined.what;
    meaningless_ = undefined.meaningless;
    return nullptr;
  }
}

Array Interpreter::compute(TermId id) {
  const term::NodeView node = terms_.node(id);
  if (node.op == rules::kNoOp) throw Undefined{"nothing is said of " + terms_.label(id)};
  const rules::Operator& op = terms_.rules().op(node.op);
  const tensor::TensorType& type = terms_.type(id);
  Array result;
  for (const Int size : type.shape) result.shape.push_back(Exact::whole(size));
  for (const TermId child : node.children) {
    if (value(child) == nullptr) throw Undefined{why_, meaningless_};
  }
  const auto array = [&](TermId child) -> const Array& { return values_.at(child); };
  const DType operand = node.children.empty() ? type.dtype : terms_.type(node.children[0]).dtype;
  Exact exact{{}, terms_, array, type.dtype, operand, op.converts, functions_, made_up_};

  if (op.value) {
    Clause<Exact> clause(exact, op, node.attrs, node.children);
    for_each_index(result.shape, [&](const Index& at) {
      const std::vector<Int> index(at.begin(), at.end());
      try {
        result.elements.push_back(clause.element(index));
      } catch (Undefined& undefined) {
        if (!undefined.meaningless) throw;
        std::vector<std::string> entries;
        for (const std::int64_t entry : at) entries.push_back(std::to_string(entry));
        undefined.what += " (of " + op.name + ", at [" + support::join(entries, ", ") + "])";
        throw;
      }
    });
    return result;
  }
  // A function of what it may depend on: where an axis is mapped, of that position only. Axis numbers are
  // left out: they follow the axes.
  std::vector<const tensor::TensorType*> types;
  for (const TermId child : node.children) types.push_back(&terms_.type(child));
  const term::AxisInfo& info = terms_.typing().axes(node.op, node.attrs, types);
  Hash start;
  start.add(op.name);
  for (std::size_t k = 0; k < op.attributes.size(); ++k) {
    const rules::Base base = op.attributes[k].type.base;
    if (base != rules::Base::axis && base != rules::Base::count && base != rules::Base::perm) {
      start.add(tensor::to_string(node.attrs.as_list()[k]));
    }
  }
  for_each_index(result.shape, [&](const Index& at) {
    Hash hash = start;
    std::vector<bool> mapped(at.size(), false);
    for (const term::Correspondence& one : info.maps) mapped[static_cast<std::size_t>(one.result)] = true;
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (!mapped[k]) hash.add(std::to_string(at[k]));
    }
    for (std::size_t j = 0; j < node.children.size(); ++j) {
      const Array& operand = array(node.children[j]);
      Index fixed(operand.shape.size(), -1);
      for (const term::Correspondence& one : info.maps) {
        if (one.operands[j] != term::kNoAxis) {
          fixed[static_cast<std::size_t>(one.operands[j])] = at[static_cast<std::size_t>(one.result)];
        }
      }
      for_each_index(operand.shape, [&](const Index& from) {
        for (std::size_t k = 0; k < from.size(); ++k) {
          if (fixed[k] >= 0 && fixed[k] != from[k]) return;
        }
        hash.add(operand.elements[operand.offset(from)].get_str());
      });
    }
    result.elements.push_back(hash.number(type.dtype));
  });
  return result;
}

}  // namespace entangle::eval
