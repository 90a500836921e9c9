// Built-in functions on lists, and comparison of scalars.
#include <gmpxx.h>

#include "term/interpreter.h"

namespace entangle::term {

using rules::Builtin;
using smt::Truth;
using sym::Int;
using sym::Scalar;

namespace {

using Places = std::vector<std::size_t>;

// A list of different constant integers below `bound`.
std::optional<Places> places_below(const Value& value, std::size_t bound) {
  const std::vector<Value>* list = value.as_list();
  if (list == nullptr) return std::nullopt;
  Places places;
  std::vector<bool> taken(bound, false);
  for (const Value& entry : *list) {
    const Int* integer = entry.as_int();
    if (integer == nullptr || !integer->is_constant()) return std::nullopt;
    const std::int64_t place = integer->value();
    if (place < 0 || static_cast<std::size_t>(place) >= bound || taken[static_cast<std::size_t>(place)]) {
      return std::nullopt;
    }
    taken[static_cast<std::size_t>(place)] = true;
    places.push_back(static_cast<std::size_t>(place));
  }
  return places;
}

const std::vector<Value>* list_at(std::span<const Value> arguments, std::size_t index) {
  return index < arguments.size() ? arguments[index].as_list() : nullptr;
}

Maybe zip(std::span<const Value> lists) {
  const std::vector<Value>* first = list_at(lists, 0);
  if (first == nullptr) return std::nullopt;
  std::vector<Value> rows;
  for (std::size_t i = 0; i < first->size(); ++i) {
    std::vector<Value> row;
    row.reserve(lists.size());
    for (const Value& list : lists) {
      if (list.as_list() == nullptr || list.as_list()->size() != first->size()) return std::nullopt;
      row.push_back((*list.as_list())[i]);
    }
    rows.emplace_back(std::move(row));
  }
  // An empty first list must not hide a longer second one.
  for (const Value& list : lists) {
    if (list.as_list() == nullptr || list.as_list()->size() != first->size()) return std::nullopt;
  }
  return Value(std::move(rows));
}

Maybe index_of(Interpreter& interpreter, const std::vector<Value>& list, const Value& wanted) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Truth truth = interpreter.equal(list[i], wanted);
    if (is_yes(truth)) return Value(Int(i));
    // For terms `unknown` only says that they are different classes.
    if (truth == Truth::unknown && list[i].as_term() == nullptr) return std::nullopt;
  }
  return std::nullopt;
}

Maybe complement(const Value& places, const Value& size) {
  const Int* bound = size.as_int();
  if (bound == nullptr || !bound->is_constant() || bound->value() < 0 || bound->value() > 4096) {
    return std::nullopt;
  }
  const std::optional<Places> out = places_below(places, static_cast<std::size_t>(bound->value()));
  if (!out) return std::nullopt;
  std::vector<bool> left_out(static_cast<std::size_t>(bound->value()), false);
  for (const std::size_t place : *out) left_out[place] = true;
  std::vector<Value> rest;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (!left_out[i]) rest.emplace_back(Int(i));
  }
  return Value(std::move(rest));
}

Maybe insert_at(const std::vector<Value>& list, const Value& places, const std::vector<Value>& values) {
  const std::size_t size = list.size() + values.size();
  const std::optional<Places> at = places_below(places, size);
  if (!at || at->size() != values.size()) return std::nullopt;
  std::vector<std::optional<std::size_t>> inserted(size);
  for (std::size_t i = 0; i < at->size(); ++i) inserted[(*at)[i]] = i;
  std::vector<Value> result;
  result.reserve(size);
  std::size_t next = 0;
  for (std::size_t i = 0; i < size; ++i) result.push_back(inserted[i] ? values[*inserted[i]] : list[next++]);
  return Value(std::move(result));
}

Maybe inverse(const Value& permutation, std::size_t size) {
  const std::optional<Places> places = places_below(permutation, size);
  if (!places) return std::nullopt;
  std::vector<Value> result(size);
  for (std::size_t i = 0; i < size; ++i) result[(*places)[i]] = Value(Int(i));
  return Value(std::move(result));
}

// a ? b as two integers, for finite scalars whose denominators' signs are known where `ordered`.
std::optional<std::pair<Int, Int>> cross_multiplied(smt::Oracle& oracle, const Scalar& a, const Scalar& b,
                                                    bool ordered) {
  const mpq_class p = a.coefficient();
  const mpq_class q = b.coefficient();
  if (!p.get_num().fits_slong_p() || !p.get_den().fits_slong_p() || !q.get_num().fits_slong_p() ||
      !q.get_den().fits_slong_p()) {
    return std::nullopt;
  }
  if (ordered && !(is_yes(oracle.less(0, a.denominator())) && is_yes(oracle.less(0, b.denominator())))) {
    return std::nullopt;
  }
  if (a.denominator() == b.denominator()) {
    return std::pair(Int(p.get_num().get_si()) * q.get_den().get_si() * a.numerator(),
                     Int(q.get_num().get_si()) * p.get_den().get_si() * b.numerator());
  }
  return std::pair(Int(p.get_num().get_si()) * q.get_den().get_si() * a.numerator() * b.denominator(),
                   Int(q.get_num().get_si()) * p.get_den().get_si() * b.numerator() * a.denominator());
}

}  // namespace

Maybe list_function(Interpreter& interpreter, Builtin builtin, std::span<const Value> arguments) {
  if (builtin == Builtin::zip) return zip(arguments);
  const std::vector<Value>* list = list_at(arguments, 0);
  if (list == nullptr) return std::nullopt;
  switch (builtin) {
    case Builtin::len:
      return Value(Int(list->size()));
    case Builtin::enumerate: {
      std::vector<Value> pairs;
      for (std::size_t i = 0; i < list->size(); ++i) {
        pairs.emplace_back(std::vector<Value>{Value(Int(i)), (*list)[i]});
      }
      return Value(std::move(pairs));
    }
    case Builtin::pairs: {
      std::vector<Value> pairs;
      for (std::size_t i = 0; i + 1 < list->size(); ++i) {
        pairs.emplace_back(std::vector<Value>{(*list)[i], (*list)[i + 1]});
      }
      return Value(std::move(pairs));
    }
    case Builtin::columns:
      return list->empty() ? Maybe(arguments[0]) : zip(*list);
    case Builtin::reversed:
      return Value(std::vector<Value>(list->rbegin(), list->rend()));
    case Builtin::index_of:
      return arguments.size() == 2 ? index_of(interpreter, *list, arguments[1]) : std::nullopt;
    case Builtin::permute: {
      const std::optional<Places> places =
          arguments.size() == 2 ? places_below(arguments[1], list->size()) : std::nullopt;
      if (!places) return std::nullopt;
      std::vector<Value> result;
      result.reserve(places->size());
      for (const std::size_t place : *places) result.push_back((*list)[place]);
      return Value(std::move(result));
    }
    case Builtin::inverse:
      return inverse(arguments[0], list->size());
    case Builtin::complement:
      return arguments.size() == 2 ? complement(arguments[0], arguments[1]) : std::nullopt;
    case Builtin::insert_at: {
      const std::vector<Value>* values = list_at(arguments, 2);
      return values != nullptr ? insert_at(*list, arguments[1], *values) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<Scalar> exact_value(smt::Oracle& oracle, const std::string& name,
                                  std::span<const Scalar> arguments) {
  if (arguments.size() == 2 && (name == "max" || name == "min")) {
    const bool less = is_yes(scalars_less(oracle, arguments[0], arguments[1], true));
    if (!less && !is_yes(scalars_less(oracle, arguments[1], arguments[0], true))) return std::nullopt;
    return arguments[less == (name == "max") ? 1 : 0];
  }
  // Attributes come first: pow(c, x) is x to the power c.
  if (arguments.size() == 2 && name == "pow") return pow(arguments[1], arguments[0]);
  if (arguments.size() == 2 && (name == "floor_div" || name == "remainder")) {
    if (!arguments[0].is_number() || !arguments[1].is_number() || arguments[1].is_zero()) return std::nullopt;
    const mpq_class a = arguments[0].coefficient();
    const mpq_class b = arguments[1].coefficient();
    const mpq_class quotient = a / b;
    mpz_class whole;
    mpz_fdiv_q(whole.get_mpz_t(), quotient.get_num_mpz_t(), quotient.get_den_mpz_t());
    return Scalar(mpq_class(name == "floor_div" ? mpq_class(whole) : mpq_class(a - b * whole)));
  }
  if (arguments.size() != 1) return std::nullopt;
  const Scalar& x = arguments[0];
  const Scalar minus = Scalar::infinity(true);
  if (name == "exp" && x.is_zero()) return Scalar(1);
  if ((name == "exp" || name == "sigmoid") && x == minus) return Scalar(0);
  if (name == "sigmoid" && x.is_zero()) return Scalar::ratio(1, 2);
  if (name == "log" && x.is_one()) return Scalar(0);
  if ((name == "sin" || name == "tan" || name == "tanh" || name == "erf") && x.is_zero()) return Scalar(0);
  if (name == "cos" && x.is_zero()) return Scalar(1);
  if (!x.is_number()) return std::nullopt;
  if (name == "sqrt") return pow(x, Scalar::ratio(1, 2));
  if (name == "rsqrt") return pow(x, Scalar::ratio(-1, 2));
  const mpq_class q = x.coefficient();
  if (name == "abs") return Scalar(mpq_class(abs(q)));
  if (name == "sign") return Scalar(sgn(q));
  mpz_class whole;
  if (name == "floor") {
    mpz_fdiv_q(whole.get_mpz_t(), q.get_num_mpz_t(), q.get_den_mpz_t());
  } else if (name == "ceil") {
    mpz_cdiv_q(whole.get_mpz_t(), q.get_num_mpz_t(), q.get_den_mpz_t());
  } else if (name == "trunc") {
    mpz_tdiv_q(whole.get_mpz_t(), q.get_num_mpz_t(), q.get_den_mpz_t());
  } else {
    return std::nullopt;
  }
  return Scalar(mpq_class(whole));
}

Truth scalars_equal(smt::Oracle& oracle, const Scalar& a, const Scalar& b) {
  if (a == b) return Truth::yes;
  if (a.is_infinite() || b.is_infinite() || (a.is_number() && b.is_number())) return Truth::no;
  const auto sides = cross_multiplied(oracle, a, b, false);
  return sides ? oracle.equal(sides->first, sides->second) : Truth::unknown;
}

Truth scalars_less(smt::Oracle& oracle, const Scalar& a, const Scalar& b, bool or_equal) {
  if (a == b) return smt::truth(or_equal);
  if (a.is_infinite() || b.is_infinite()) {
    // Every finite scalar, symbolic or not, lies between the infinities.
    const Scalar minus = Scalar::infinity(true);
    return smt::truth(a == minus || b == Scalar::infinity());
  }
  if (const auto order = compare(a, b)) return smt::truth(*order < 0);
  const auto sides = cross_multiplied(oracle, a, b, true);
  if (!sides) return Truth::unknown;
  return or_equal ? oracle.less_equal(sides->first, sides->second) : oracle.less(sides->first, sides->second);
}

}  // namespace entangle::term
