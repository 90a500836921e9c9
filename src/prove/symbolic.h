// Symbolic: elements of terms as polynomials, where sizes and index entries are symbolic: the domain for the
// operators' clauses (eval/clause.h).
//
// A leaf is a function of its index that nothing is known of, a scalar function one of its arguments, but for
// the laws the rules state of it (left side to right side) and the operands its operator is linear in. An
// operator without a value is a function of the rows that its `maps` clauses leave. Questions about positions
// and sizes that are not decided are thrown as prove/space.h says; what cannot be said throws
// eval::Undefined.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "entangle/eval/clause.h"
#include "entangle/eval/terms.h"
#include "prove/algebra.h"
#include "prove/space.h"

namespace entangle::prove {

struct TruthValue {
  Poly value;
};

class Symbolic : public eval::IntegerIndex {
 public:
  using Number = Poly;
  using Truth = TruthValue;

  Symbolic(const eval::Terms& terms, Space space);

  Number element(term::TermId id, const std::vector<sym::Int>& index);
  // Under which truths an element is read: each holds, or does not.
  struct Guard {
    Poly truth;
    bool holds;
  };
  // Whether 0 <= place < size follows from the guards and from what is known of sizes and positions.
  using Within = std::function<bool(Symbolic&, sym::Int place, sym::Int size)>;
  // From now on, reading a leaf or a list outside of it throws Undefined.
  void watch(Within within) { within_ = std::move(within); }
  const std::vector<Guard>& guards() const { return guards_; }
  Algebra& algebra() { return algebra_; }
  Space& space() { return space_; }

  // --- the domain
  Number number(const sym::Scalar& scalar) { return algebra_.scalar(scalar); }
  Number lifted(sym::Int value) { return algebra_.lifted(space_.simplified(value)); }
  sym::Int index(const Number& number);
  Number arithmetic(rules::Operation operation, const Number& a, const Number& b);
  Number larger(const Number& a, const Number& b) {
    return algebra_.maximum(std::vector<Entry>{{{}, a}, {{}, b}});
  }
  Number choose(const Truth& condition, const Number& a, const Number& b) {
    return algebra_.choose(condition.value, a, b);
  }
  Truth compare(rules::Operation operation, const Number& a, const Number& b);
  Truth compare(rules::Operation operation, sym::Int a, sym::Int b);
  Truth divides(sym::Int k, sym::Int n);
  sym::Int floordiv(sym::Int a, sym::Int b);
  sym::Int mod(sym::Int a, sym::Int b) { return a - b * floordiv(a, b); }
  sym::Int quotient(sym::Int a, sym::Int b);
  Truth both(const Truth& a, const Truth& b) { return {algebra_.multiply(a.value, b.value)}; }
  Truth opposite(const Truth& a) { return {algebra_.subtract(Algebra::constant(1), a.value)}; }
  Truth truth(bool value) { return {Algebra::constant(value ? 1 : 0)}; }
  std::optional<bool> known(const Truth& a);
  Number function(const std::string& name, const std::vector<std::variant<Number, tensor::Attr>>& arguments);
  Number reduce(rules::Builtin builtin, sym::Int n, const std::function<Number(sym::Int)>& body);
  const tensor::TensorType& type(term::TermId id) { return terms_.type(id); }
  void enter(const Truth& truth, bool holds) { guards_.push_back({truth.value, holds}); }
  void leave() { guards_.pop_back(); }
  void within(sym::Int place, sym::Int size);

 private:
  using Bindings = std::map<rules::Slot, Poly>;

  bool asks_elements(sym::Int value) const;
  bool asks_positions(sym::Int value) const;
  std::optional<bool> nonnegative(sym::Int value);
  bool at_most(sym::Int a, sym::Int b);
  Poly row(term::TermId id, const std::vector<sym::Int>& index);
  Poly apply(const std::string& name, std::vector<Poly> arguments, bool truth, bool integer);
  bool match(const rules::Expr& pattern, const Poly& value, Bindings& bindings);
  Poly evaluate(const rules::Expr& expr, const Bindings& bindings, bool truth, bool integer);
  Poly linear(const std::string& name, const Poly& value, bool truth, bool integer);
  Poly piece(rules::Builtin builtin, sym::Int begin, sym::Int size,
             const std::function<Number(sym::Int)>& body);
  Poly joined(rules::Builtin builtin, const Poly& a, const Poly& b);

  const eval::Terms& terms_;
  Space space_;
  Algebra algebra_;
  std::vector<const rules::Law*> laws_;      // of functions
  std::vector<const rules::Law*> inverses_;  // of reciprocals of functions
  Within within_;
  std::vector<Guard> guards_;
  std::size_t lawful_ = 0;  // laws that are being used, one within another
  std::size_t laws_used_ = 0;
  std::vector<term::TermId> inside_;  // the applications whose clauses are running
};

}  // namespace entangle::prove
