// Symbolic: elements of terms as solver terms, where sizes and index entries are symbolic.
//
// A leaf is a function of its index that nothing is known of, a scalar function one of its arguments. A sum
// or maximum over an axis is a constant named by its range and body: two of them are equal exactly if these
// are spelled alike (what does not depend on the position is taken out first). Everything that cannot be said
// throws eval::Undefined.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "entangle/eval/terms.h"
#include "entangle/smt/term.h"
#include "entangle/eval/clause.h"

namespace entangle::prove {

// A condition: as a solver term and, where it is a conjunction of such, as relations between integers.
struct Condition {
  struct Atom {
    enum class Relation : std::uint8_t { equal, less_equal, divides };
    Relation relation;
    sym::Int left, right;
  };
  smt::Term term;
  std::vector<Atom> atoms;
  bool only_atoms = false;
};

class Symbolic {
 public:
  using Number = smt::Term;
  using Truth = Condition;

  explicit Symbolic(const eval::Terms& terms) : terms_(terms) {}

  // The element of a term.
  Number element(term::TermId id, const std::vector<sym::Int>& index);
  // Says that 0 <= part < whole.
  void assume_below(sym::Int part, sym::Int whole) { below_.emplace_back(part, whole); }
  // What holds of the elements that serve as indices.
  const std::vector<smt::Term>& facts() const { return facts_; }

  // --- the domain
  Number number(const sym::Scalar& scalar);
  Number lifted(sym::Int value) { return smt::from_int(value); }
  sym::Int index(const Number& number);
  Number arithmetic(rules::Operation operation, const Number& a, const Number& b);
  Number larger(const Number& a, const Number& b) {
    return choose(compare(rules::Operation::less, a, b), b, a);
  }
  Number choose(const Truth& condition, const Number& a, const Number& b);
  Truth compare(rules::Operation operation, const Number& a, const Number& b);
  Truth compare(rules::Operation operation, sym::Int a, sym::Int b);
  Truth divides(sym::Int k, sym::Int n);
  sym::Int quotient(sym::Int a, sym::Int b) { return sym::floordiv(a, b); }
  Truth both(const Truth& a, const Truth& b);
  Truth opposite(const Truth& a) { return {!a.term, {}, false}; }
  Truth truth(bool value) { return {smt::Term::boolean(value), {}, true}; }
  std::optional<bool> known(const Truth& a) { return a.term.as_boolean(); }
  Number function(const std::string& name, const std::vector<std::variant<Number, tensor::Attr>>& arguments);
  Number reduce(rules::Builtin builtin, sym::Int n, const std::function<Number(sym::Int)>& body);
  const tensor::TensorType& type(term::TermId id) { return terms_.type(id); }

 private:
  sym::Int simplified(sym::Int value) const;
  Number named(const std::string& name, tensor::DType dtype, const std::vector<Number>& arguments);
  Number outside(rules::Builtin builtin, sym::Int n, const Number& k, const Number& body);

  const eval::Terms& terms_;
  std::vector<smt::Term> facts_;
  std::vector<std::pair<sym::Int, sym::Int>> below_;
  std::vector<term::TermId> inside_;  // the applications whose clauses are running
  std::size_t depth_ = 0;             // of sums
};

}  // namespace entangle::prove
