// Algebra: elements of tensors in a normal form.
//
// An element is a polynomial with rational coefficients over atoms: elements of leaves, scalar functions,
// sizes, truths (1 or 0), reciprocals, sums, maxima and rows over ranges. Sums are taken apart by
// linearity, into independent factors and out of factors that do not depend on the position; nested sums are
// one sum over several positions, in a fixed order; sums over p and q of what depends on p * Q + q only are
// one sum. Functions of truths are taken apart by cases. So equal elements mostly are equal polynomials.
//
// The reciprocal of 0 is 0, and a product of reciprocals is the reciprocal of the product.
#pragma once

#include <gmpxx.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "entangle/rules/ruleset.h"
#include "entangle/smt/term.h"
#include "entangle/sym/int.h"
#include "entangle/sym/scalar.h"
#include "entangle/term/store.h"

namespace entangle::prove {

using AtomId = std::size_t;
// Sorted; exponents at least 1.
using Product = std::vector<std::pair<AtomId, unsigned>>;

struct Poly {
  std::map<Product, mpq_class> terms;  // no coefficient is 0

  bool is_zero() const { return terms.empty(); }
  std::optional<mpq_class> constant() const;
  // The atom, if this is one with coefficient 1.
  std::optional<AtomId> atom() const;
  bool operator==(const Poly&) const = default;
};

// Positions that are bound in a sum: symbol and size.
using Range = std::pair<sym::Int, sym::Int>;
struct Entry {
  std::vector<Range> ranges;
  Poly body;
};

struct Atom {
  enum class Kind : std::uint8_t {
    leaf,         // tensor, index
    function,     // name, arguments
    number,       // a symbolic integer
    infinity,     // minus infinity
    zero,         // whether arguments[0] is 0
    nonnegative,  // whether arguments[0] is at least 0
    reciprocal,   // of arguments[0]
    sum,          // entries[0]
    maximum,      // entries
    row,          // name, arguments, entries: a function of rows
  };
  Kind kind = Kind::leaf;
  std::string name;
  term::TermId tensor = 0;
  bool truth = false;    // 0 or 1
  bool integer = false;  // of leaves and functions
  std::vector<sym::Int> index;
  sym::Int number;
  std::vector<Poly> arguments;
  std::vector<Entry> entries;
  std::string text;
  std::vector<sym::Int> symbols;  // that occur free
  std::size_t height = 0;         // of bound positions
};

class Algebra {
 public:
  // What the algebra cannot know. `nonzero` and `positive`: whether a symbolic integer surely is; `inverse`:
  // the reciprocal of a function, if a law says.
  struct Knowledge {
    std::function<std::optional<Poly>(const Atom&)> inverse;
    std::function<bool(sym::Int)> nonzero;
    std::function<bool(sym::Int)> positive;
    std::function<std::optional<bool>(sym::Int)> nonnegative;
  };
  explicit Algebra(Knowledge knowledge) : knowledge_(std::move(knowledge)) {}

  static Poly constant(const mpq_class& value);
  Poly lifted(sym::Int value);
  Poly scalar(const sym::Scalar& value);
  // Taken apart by cases where the index depends on truths.
  Poly leaf(term::TermId tensor, const std::vector<sym::Int>& index, bool truth, bool integer);
  // f(t * x + (1 - t) * y) as t * f(x) + (1 - t) * f(y), for truths t.
  Poly cases(std::vector<Poly> arguments, const std::function<Poly(std::vector<Poly>&)>& make);
  Poly function(const std::string& name, std::vector<Poly> arguments, bool truth, bool integer);
  Poly row(const std::string& name, std::vector<Poly> arguments, std::vector<Entry> entries, bool truth,
           bool integer);
  Poly is_zero(const Poly& value);
  Poly is_nonnegative(const Poly& value);
  Poly reciprocal(const Poly& value);
  Poly choose(const Poly& truth, const Poly& a, const Poly& b);
  Poly sum(sym::Int position, sym::Int size, const Poly& body);
  Poly maximum(std::vector<Entry> entries);
  // Of the position; the maximum over it.
  Poly maximum(sym::Int position, sym::Int size, const Poly& body);

  Poly add(const Poly& a, const Poly& b) const;
  Poly multiply(const Poly& a, const Poly& b) const;
  static Poly scaled(const Poly& a, const mpq_class& factor);
  Poly subtract(const Poly& a, const Poly& b) const { return add(a, scaled(b, -1)); }

  // The integer; an element of a tensor is named by a symbol.
  std::optional<sym::Int> integer(const Poly& value);
  // What such a symbol names.
  const Poly* named(sym::Int symbol) const;

  Poly substitute(const Poly& value, sym::Int symbol, sym::Int by);
  bool mentions(const Poly& value, sym::Int symbol) const;
  const Atom& atom(AtomId id) const { return atoms_[id]; }
  std::string text(const Poly& value) const;
  std::string readable(const Poly& value) const;

  // As a solver term; `facts` collects what is known of reciprocals.
  smt::Term term(const Poly& value, std::vector<smt::Term>& facts);
  smt::Term term(sym::Int value, std::vector<smt::Term>& facts);
  // The terms of the polynomial that are a sum times something else.
  struct SumTerm {
    Poly whole, factor;
    Entry entry;
  };
  std::vector<SumTerm> sums_of(const Poly& value) const;
  void collect(const Poly& value, std::vector<AtomId>& atoms) const;
  // A position that nothing else is called.
  sym::Int fresh();
  Poly with_atom(const Poly& value, AtomId truth, bool holds) const;

 private:
  // The position of a sum at a height above the sums inside it, the same in every sum.
  static sym::Int canonical(std::size_t height);
  Poly single(AtomId id) const;
  AtomId intern(Atom atom);
  std::optional<AtomId> truth_in(const Poly& value) const;
  sym::Int substitute(sym::Int value, sym::Int symbol, sym::Int by);
  Poly sum_of_product(std::vector<Range> ranges, const Product& product);
  std::optional<Poly> at_one_position(const std::vector<Range>& ranges, const std::vector<Poly>& factors);
  Poly connected_sum(std::vector<Range> ranges, Poly body);
  void join(std::vector<Range>& ranges, Poly& body);
  Entry ordered(const Entry& entry);
  Entry opened(const Entry& entry);
  std::string text(const Entry& entry) const;
  smt::Term boolean(const Atom& atom, std::vector<smt::Term>& facts);
  smt::Term maximum_term(const Atom& atom, std::vector<smt::Term>& facts);

  Knowledge knowledge_;
  std::deque<Atom> atoms_;
  std::unordered_map<std::string, AtomId> ids_;
  std::unordered_map<sym::Int, Poly> named_;
  std::size_t fresh_ = 0;
};

}  // namespace entangle::prove
