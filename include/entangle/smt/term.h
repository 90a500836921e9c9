// Terms of the solver's language: booleans, integers, reals, functions that nothing is known of.
//
// A Term is a small handle on an immutable, hash-consed node: == is one comparison of pointers and means the
// same term (the *equation* of two terms is eq(a, b)). Constructors fold constants and drop neutral elements,
// nothing more. Building terms needs no solver and is safe for concurrent use; nodes are freed with their
// last handle. Sorts are checked: mixing them is an internal error, except that integer constants and terms
// are turned into reals where an operand is real.
//
// Arithmetic follows SMT-LIB: div and mod are Euclidean (a = b * div(a, b) + mod(a, b), 0 <= mod(a, b) <
// |b|), and division by zero is some unspecified total function. floordiv and floormod round towards minus
// infinity, as sym::floordiv and sym::mod do; for positive divisors both are the same.
#pragma once

#include <gmpxx.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entangle/sym/int.h"

namespace entangle::smt {

enum class Sort : std::uint8_t { boolean, integer, real };

enum class Kind : std::uint8_t {
  constant,  // of any sort
  variable,
  apply,  // of a Function
  add,
  multiply,
  divide,  // of reals
  div,
  mod,
  to_real,
  ite,
  equal,
  less_equal,
  less,
  logical_not,
  logical_and,
  logical_or,
};

class Term;

// An uninterpreted function: its name, the sorts of its arguments and of its value. Functions of one name and
// signature are the same function.
class Function {
 public:
  Function(std::string name, std::vector<Sort> domain, Sort range);

  const std::string& name() const { return data_->name; }
  const std::vector<Sort>& domain() const { return data_->domain; }
  Sort range() const { return data_->range; }

  // The function at these arguments; as many as the domain has sorts.
  Term operator()(std::vector<Term> arguments) const;

  bool operator==(const Function& other) const;

 private:
  friend class Term;
  struct Data {
    std::string name;
    std::vector<Sort> domain;
    Sort range;
  };
  explicit Function(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

class Term {
 public:
  // The constant `true`.
  Term();
  Term(std::integral auto value)  // NOLINT(implicit)
      requires(!std::same_as<decltype(value), bool>)
      : Term(integer(value)) {}
  Term(const Term& other) noexcept;
  Term(Term&& other) noexcept;
  Term& operator=(const Term& other) noexcept;
  Term& operator=(Term&& other) noexcept;
  ~Term();

  static Term boolean(bool value);
  static Term integer(std::int64_t value);
  static Term integer(const mpz_class& value);
  static Term real(const mpq_class& value);
  // A free variable; variables of one name and sort are the same.
  static Term variable(std::string_view name, Sort sort);
  // A variable of a size: integer, named as the symbol.
  static Term symbol(sym::Int symbol);

  Kind kind() const;
  Sort sort() const;
  // The name of a variable.
  const std::string& name() const;
  // The function of an application.
  Function function() const;
  const std::vector<Term>& arguments() const;
  // The value of a constant, of the sort asked for (an integer is a rational, too).
  std::optional<bool> as_boolean() const;
  std::optional<mpq_class> as_rational() const;
  std::optional<std::int64_t> as_integer() const;
  bool is_true() const;
  bool is_false() const;

  // Depends on the content only.
  std::uint64_t hash() const;
  // The same term; see eq() for the equation.
  friend bool operator==(const Term& a, const Term& b) { return a.node_ == b.node_; }

  struct Node;

 private:
  friend struct TermFactory;
  explicit Term(const Node* node) noexcept : node_(node) {}
  const Node* node_;
};

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator-(const Term& a);
Term operator*(const Term& a, const Term& b);
// Of reals; integer operands are turned into reals.
Term operator/(const Term& a, const Term& b);
Term sum(std::vector<Term> terms, Sort sort = Sort::integer);
Term product(std::vector<Term> terms, Sort sort = Sort::integer);

// Euclidean, of integers.
Term div(const Term& a, const Term& b);
Term mod(const Term& a, const Term& b);
// Rounding towards minus infinity, of integers.
Term floordiv(const Term& a, const Term& b);
Term floormod(const Term& a, const Term& b);
Term max(const Term& a, const Term& b);
Term to_real(const Term& a);

Term eq(const Term& a, const Term& b);
Term ne(const Term& a, const Term& b);
Term operator<(const Term& a, const Term& b);
Term operator<=(const Term& a, const Term& b);
Term operator>(const Term& a, const Term& b);
Term operator>=(const Term& a, const Term& b);

Term operator!(const Term& a);
Term operator&&(const Term& a, const Term& b);
Term operator||(const Term& a, const Term& b);
Term all_of(std::vector<Term> terms);
Term any_of(std::vector<Term> terms);
Term ite(const Term& condition, const Term& then, const Term& otherwise);

// The terms replaced wherever they occur; from and to have the same length and sorts.
Term substitute(const Term& term, const std::vector<Term>& from, const std::vector<Term>& to);

// The integer that the Int stands for, symbols as variables. Divisors are assumed to be nonzero. Not of
// poison.
Term from_int(sym::Int value);

// SMT-LIB text, e.g. `(<= (+ s0 1) (* 2 s1))`: names that need it are |quoted|.
std::string to_string(const Term& term);

}  // namespace entangle::smt

template <>
struct std::hash<entangle::smt::Term> {
  std::size_t operator()(const entangle::smt::Term& term) const noexcept { return term.hash(); }
};
