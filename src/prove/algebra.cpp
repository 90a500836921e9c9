#include "prove/algebra.h"

#include <algorithm>

#include "entangle/eval/clause.h"

namespace entangle::prove {

using eval::Undefined;
using sym::Int;

namespace {

constexpr std::size_t kTerms = 400;  // of one polynomial

void unite(std::vector<Int>& into, const std::vector<Int>& symbols) {
  for (const Int symbol : symbols) {
    if (std::ranges::find(into, symbol) == into.end()) into.push_back(symbol);
  }
}

}  // namespace

std::optional<mpq_class> Poly::constant() const {
  if (terms.empty()) return mpq_class(0);
  if (terms.size() > 1 || !terms.begin()->first.empty()) return std::nullopt;
  return terms.begin()->second;
}

std::optional<AtomId> Poly::atom() const {
  if (terms.size() != 1 || terms.begin()->second != 1) return std::nullopt;
  const Product& product = terms.begin()->first;
  return product.size() == 1 && product[0].second == 1 ? std::optional(product[0].first) : std::nullopt;
}

Int Algebra::canonical(std::size_t height) {
  return Int::symbol("$" + std::to_string(height));
}

// ---------------------------------------------------------------- polynomials

Poly Algebra::constant(const mpq_class& value) {
  Poly result;
  if (value != 0) result.terms[{}] = value;
  return result;
}

Poly Algebra::single(AtomId id) const {
  Poly result;
  result.terms[{{id, 1}}] = 1;
  return result;
}

Poly Algebra::scaled(const Poly& a, const mpq_class& factor) {
  Poly result;
  if (factor == 0) return result;
  for (const auto& [product, coefficient] : a.terms) result.terms[product] = coefficient * factor;
  return result;
}

Poly Algebra::add(const Poly& a, const Poly& b) const {
  Poly result = a;
  for (const auto& [product, coefficient] : b.terms) {
    mpq_class& sum = result.terms[product];
    sum += coefficient;
    if (sum == 0) result.terms.erase(product);
  }
  return result;
}

Poly Algebra::multiply(const Poly& a, const Poly& b) const {
  Poly result;
  for (const auto& [p, x] : a.terms) {
    for (const auto& [q, y] : b.terms) {
      Product product = p;
      for (const auto& [id, exponent] : q) {
        const auto at = std::ranges::lower_bound(product, id, {}, &std::pair<AtomId, unsigned>::first);
        if (at == product.end() || at->first != id) {
          product.insert(at, {id, exponent});
        } else if (!atoms_[id].truth) {
          at->second += exponent;
        }
      }
      // x * 1/x is 1 where x is surely not 0.
      for (std::size_t k = 0; k < product.size();) {
        const Atom& atom = atoms_[product[k].first];
        const auto inner = atom.kind == Atom::Kind::reciprocal ? atom.arguments[0].atom() : std::nullopt;
        const auto other =
            inner ? std::ranges::find(product, *inner, &std::pair<AtomId, unsigned>::first) : product.end();
        if (other == product.end() || atoms_[*inner].kind != Atom::Kind::number ||
            !knowledge_.nonzero(atoms_[*inner].number)) {
          ++k;
          continue;
        }
        const unsigned common = std::min(product[k].second, other->second);
        product[k].second -= common;
        other->second -= common;
        std::erase_if(product, [](const auto& factor) { return factor.second == 0; });
        k = 0;
      }
      mpq_class& sum = result.terms[product];
      sum += x * y;
      if (sum == 0) result.terms.erase(product);
      if (result.terms.size() > kTerms) throw Undefined{"a polynomial with too many terms"};
    }
  }
  return result;
}

// ---------------------------------------------------------------- atoms

AtomId Algebra::intern(Atom atom) {
  using Kind = Atom::Kind;
  switch (atom.kind) {
    case Kind::leaf:
      atom.text = "x" + std::to_string(atom.tensor);
      break;
    case Kind::function:
      atom.text = atom.name;
      break;
    case Kind::number:
      atom.text = sym::to_string(atom.number);
      break;
    case Kind::infinity:
      atom.text = "-inf";
      break;
    case Kind::zero:
      atom.text = "0==";
      break;
    case Kind::nonnegative:
      atom.text = "0<=";
      break;
    case Kind::reciprocal:
      atom.text = "1/";
      break;
    case Kind::sum:
      atom.text = "sum";
      break;
    case Kind::maximum:
      atom.text = "max";
      break;
    case Kind::row:
      atom.text = "row " + atom.name;
      break;
  }
  for (const Int entry : atom.index) atom.text += "[" + sym::to_string(entry) + "]";
  for (const Poly& argument : atom.arguments) atom.text += "(" + text(argument) + ")";
  for (const Entry& entry : atom.entries) atom.text += "{" + text(entry) + "}";
  if (const auto found = ids_.find(atom.text); found != ids_.end()) return found->second;

  const auto note = [&](Int value) {
    for (const Int symbol : sym::symbols_of(value)) {
      unite(atom.symbols, {symbol});
      if (const Poly* inner = named(symbol)) {
        for (const auto& [product, coefficient] : inner->terms) {
          for (const auto& [id, exponent] : product) {
            unite(atom.symbols, atoms_[id].symbols);
            atom.height = std::max(atom.height, atoms_[id].height);
          }
        }
      }
    }
  };
  const auto note_all = [&](const Poly& poly) {
    for (const auto& [product, coefficient] : poly.terms) {
      for (const auto& [id, exponent] : product) {
        unite(atom.symbols, atoms_[id].symbols);
        atom.height = std::max(atom.height, atoms_[id].height);
      }
    }
  };
  note(atom.number);
  for (const Int entry : atom.index) note(entry);
  for (const Poly& argument : atom.arguments) note_all(argument);
  std::size_t ranges = 0;
  for (const Entry& entry : atom.entries) {
    note_all(entry.body);
    for (const auto& [position, size] : entry.ranges) note(size);
    ranges = std::max(ranges, entry.ranges.size());
  }
  atom.height += ranges;
  atoms_.push_back(std::move(atom));
  ids_[atoms_.back().text] = atoms_.size() - 1;
  return atoms_.size() - 1;
}

std::string Algebra::text(const Poly& value) const {
  std::string result;
  for (const auto& [product, coefficient] : value.terms) {
    result += (result.empty() ? "" : "+") + coefficient.get_str();
    for (const auto& [id, exponent] : product) {
      result += "*#" + std::to_string(id);
      if (exponent > 1) result += "^" + std::to_string(exponent);
    }
  }
  return result.empty() ? "0" : result;
}

std::string Algebra::readable(const Poly& value) const {
  std::string result;
  for (const auto& [product, coefficient] : value.terms) {
    result += (result.empty() ? "" : " + ") + coefficient.get_str();
    for (const auto& [id, exponent] : product) {
      const Atom& atom = atoms_[id];
      std::string one = atom.text.substr(0, atom.text.find_first_of("({"));
      for (const Poly& argument : atom.arguments) one += "(" + readable(argument) + ")";
      for (const Entry& entry : atom.entries) {
        one += "{";
        for (const auto& [at, size] : entry.ranges)
          one += sym::to_string(at) + "<" + sym::to_string(size) + ", ";
        one += readable(entry.body) + "}";
      }
      result += " * " + one + (exponent > 1 ? "^" + std::to_string(exponent) : "");
    }
  }
  return result.empty() ? "0" : result;
}

std::string Algebra::text(const Entry& entry) const {
  std::string result;
  for (const auto& [position, size] : entry.ranges) {
    result += sym::to_string(position) + "<" + sym::to_string(size) + ",";
  }
  return result + ":" + text(entry.body);
}

Poly Algebra::lifted(Int value) {
  if (value.is_poison()) throw Undefined{"an integer that overflows"};
  Poly result;
  for (const sym::Term& term : sym::terms_of(value)) {
    Poly product = constant(mpq_class(static_cast<long>(term.coefficient)));
    if (term.monomial != nullptr) {
      for (const sym::Factor& factor : term.monomial->factors) {
        const Int number = sym::from_atom(factor.atom);
        const Poly* inner = number.is_symbol() ? named(number) : nullptr;
        Poly one;
        if (inner != nullptr) {
          one = *inner;
        } else {
          Atom atom;
          atom.kind = Atom::Kind::number;
          atom.number = number;
          atom.integer = true;
          one = single(intern(std::move(atom)));
        }
        for (std::uint32_t k = 0; k < factor.exponent; ++k) product = multiply(product, one);
      }
    }
    result = add(result, product);
  }
  return result;
}

Poly Algebra::scalar(const sym::Scalar& value) {
  if (value.is_infinite()) {
    Atom atom;
    atom.kind = Atom::Kind::infinity;
    return scaled(single(intern(std::move(atom))), value.coefficient() < 0 ? 1 : -1);
  }
  return multiply(scaled(lifted(value.numerator()), value.coefficient()),
                  reciprocal(lifted(value.denominator())));
}

Poly Algebra::leaf(term::TermId tensor, const std::vector<Int>& index, bool truth, bool integer) {
  const auto made = [&](const std::vector<Int>& at) {
    Atom atom;
    atom.tensor = tensor;
    atom.index = at;
    atom.truth = truth;
    atom.integer = integer;
    return single(intern(std::move(atom)));
  };
  if (std::ranges::none_of(index, [&](Int entry) {
        const std::vector<Int> symbols = sym::symbols_of(entry);
        return std::ranges::any_of(symbols, [&](Int symbol) { return named(symbol) != nullptr; });
      })) {
    return made(index);
  }
  std::vector<Poly> entries;
  for (const Int entry : index) entries.push_back(lifted(entry));
  return cases(std::move(entries), [&](std::vector<Poly>& given) {
    std::vector<Int> at;
    for (const Poly& entry : given) {
      const auto value = this->integer(entry);
      if (!value) throw Undefined{"an index that is no integer"};
      at.push_back(*value);
    }
    return made(at);
  });
}

std::optional<AtomId> Algebra::truth_in(const Poly& value) const {
  for (const auto& [product, coefficient] : value.terms) {
    for (const auto& [id, exponent] : product) {
      if (atoms_[id].truth) return id;
    }
  }
  return std::nullopt;
}

Poly Algebra::with_atom(const Poly& value, AtomId truth, bool holds) const {
  Poly result;
  for (const auto& [product, coefficient] : value.terms) {
    Product rest;
    bool found = false;
    for (const auto& factor : product) {
      if (factor.first == truth) {
        found = true;
      } else {
        rest.push_back(factor);
      }
    }
    if (found && !holds) continue;
    mpq_class& sum = result.terms[rest];
    sum += coefficient;
    if (sum == 0) result.terms.erase(rest);
  }
  return result;
}

Poly Algebra::choose(const Poly& truth, const Poly& a, const Poly& b) {
  return add(multiply(truth, a), multiply(subtract(constant(1), truth), b));
}

Poly Algebra::cases(std::vector<Poly> arguments, const std::function<Poly(std::vector<Poly>&)>& make) {
  for (const Poly& argument : arguments) {
    const auto truth = truth_in(argument);
    if (!truth) continue;
    std::vector<Poly> yes;
    std::vector<Poly> no;
    for (const Poly& other : arguments) {
      yes.push_back(with_atom(other, *truth, true));
      no.push_back(with_atom(other, *truth, false));
    }
    const Poly a = cases(std::move(yes), make);
    return choose(single(*truth), a, cases(std::move(no), make));
  }
  return make(arguments);
}

Poly Algebra::function(const std::string& name, std::vector<Poly> arguments, bool truth, bool integer) {
  Atom atom;
  atom.kind = Atom::Kind::function;
  atom.name = name;
  atom.arguments = std::move(arguments);
  atom.truth = truth;
  atom.integer = integer;
  return single(intern(std::move(atom)));
}

Poly Algebra::row(const std::string& name, std::vector<Poly> arguments, std::vector<Entry> entries,
                  bool truth, bool integer) {
  Atom atom;
  atom.kind = Atom::Kind::row;
  atom.name = name;
  atom.arguments = std::move(arguments);
  for (const Entry& entry : entries) {
    // The order of the positions is the operator's.
    std::size_t height = 0;
    for (const auto& [product, coefficient] : entry.body.terms) {
      for (const auto& [id, exponent] : product) height = std::max(height, atoms_[id].height);
    }
    Entry renamed{{}, entry.body};
    for (std::size_t k = 0; k < entry.ranges.size(); ++k) {
      renamed.ranges.emplace_back(canonical(height + k), entry.ranges[k].second);
      renamed.body = substitute(renamed.body, entry.ranges[k].first, canonical(height + k));
    }
    atom.entries.push_back(std::move(renamed));
  }
  atom.truth = truth;
  atom.integer = integer;
  return single(intern(std::move(atom)));
}

Poly Algebra::is_zero(const Poly& value) {
  return cases({value}, [&](std::vector<Poly>& given) {
    if (const auto number = given[0].constant()) return constant(*number == 0 ? 1 : 0);
    if (const auto number = integer(given[0])) {
      if (knowledge_.nonzero(*number)) return Poly{};
    }
    Atom atom;
    atom.kind = Atom::Kind::zero;
    atom.truth = true;
    atom.arguments = {scaled(given[0], 1 / given[0].terms.begin()->second)};
    return single(intern(std::move(atom)));
  });
}

Poly Algebra::is_nonnegative(const Poly& value) {
  return cases({value}, [&](std::vector<Poly>& given) {
    if (const auto number = given[0].constant()) return constant(*number >= 0 ? 1 : 0);
    if (const auto number = integer(given[0])) {
      if (const auto known = knowledge_.nonnegative(*number)) return constant(*known ? 1 : 0);
    }
    Atom atom;
    atom.kind = Atom::Kind::nonnegative;
    atom.truth = true;
    atom.arguments = {scaled(given[0], 1 / abs(given[0].terms.begin()->second))};
    return single(intern(std::move(atom)));
  });
}

Poly Algebra::reciprocal(const Poly& value) {
  return cases({value}, [&](std::vector<Poly>& given) {
    const Poly& poly = given[0];
    if (poly.is_zero()) return poly;
    const auto of = [&](const Poly& argument) {
      Atom atom;
      atom.kind = Atom::Kind::reciprocal;
      atom.arguments = {argument};
      return single(intern(std::move(atom)));
    };
    if (poly.terms.size() > 1) {
      const mpq_class leading = poly.terms.begin()->second;
      return scaled(of(scaled(poly, 1 / leading)), 1 / leading);
    }
    Poly result = constant(1 / poly.terms.begin()->second);
    for (const auto& [id, exponent] : poly.terms.begin()->first) {
      std::optional<Poly> law;
      if (atoms_[id].kind == Atom::Kind::function) law = knowledge_.inverse(atoms_[id]);
      const Poly one = law                                         ? *law
                       : atoms_[id].kind == Atom::Kind::reciprocal ? atoms_[id].arguments[0]
                                                                   : of(single(id));
      for (unsigned k = 0; k < exponent; ++k) result = multiply(result, one);
    }
    return result;
  });
}

// ---------------------------------------------------------------- substitution

const Poly* Algebra::named(Int symbol) const {
  const auto found = named_.find(symbol);
  return found == named_.end() ? nullptr : &found->second;
}

std::optional<Int> Algebra::integer(const Poly& value) {
  Int result = 0;
  for (const auto& [product, coefficient] : value.terms) {
    if (coefficient.get_den() != 1 || !coefficient.get_num().fits_slong_p()) return std::nullopt;
    Int term = static_cast<std::int64_t>(coefficient.get_num().get_si());
    for (const auto& [id, exponent] : product) {
      const Atom& atom = atoms_[id];
      if (!atom.integer && !atom.truth) return std::nullopt;
      Int one = atom.number;
      if (atom.kind != Atom::Kind::number) {
        one = Int::symbol("@" + std::to_string(id));
        named_[one] = single(id);
      }
      term *= sym::pow(one, exponent);
    }
    result += term;
  }
  return result.is_poison() ? std::nullopt : std::optional(result);
}

bool Algebra::mentions(const Poly& value, Int symbol) const {
  for (const auto& [product, coefficient] : value.terms) {
    for (const auto& [id, exponent] : product) {
      if (std::ranges::find(atoms_[id].symbols, symbol) != atoms_[id].symbols.end()) return true;
    }
  }
  return false;
}

Int Algebra::substitute(Int value, Int symbol, Int by) {
  sym::Substitution substitution{{symbol, by}};
  for (const Int inside : sym::symbols_of(value)) {
    const Poly* poly = named(inside);
    if (poly == nullptr || !mentions(*poly, symbol)) continue;
    const auto replaced = integer(substitute(Poly(*poly), symbol, by));
    if (!replaced) throw Undefined{"an index that is no integer"};
    substitution[inside] = *replaced;
  }
  return sym::substitute(value, substitution);
}

Poly Algebra::substitute(const Poly& value, Int symbol, Int by) {
  if (!mentions(value, symbol)) return value;
  Poly result;
  for (const auto& [product, coefficient] : value.terms) {
    Poly replaced = constant(coefficient);
    for (const auto& [id, exponent] : product) {
      Poly one = single(id);
      if (std::ranges::find(atoms_[id].symbols, symbol) != atoms_[id].symbols.end()) {
        Atom atom = atoms_[id];
        for (Int& entry : atom.index) entry = substitute(entry, symbol, by);
        for (Poly& argument : atom.arguments) argument = substitute(argument, symbol, by);
        for (Entry& entry : atom.entries) {
          entry.body = substitute(entry.body, symbol, by);
          for (auto& [position, size] : entry.ranges) size = substitute(size, symbol, by);
        }
        switch (atom.kind) {
          case Atom::Kind::number:
            one = lifted(substitute(atom.number, symbol, by));
            break;
          case Atom::Kind::zero:
            one = is_zero(atom.arguments[0]);
            break;
          case Atom::Kind::nonnegative:
            one = is_nonnegative(atom.arguments[0]);
            break;
          case Atom::Kind::reciprocal:
            one = reciprocal(atom.arguments[0]);
            break;
          default:
            atom.symbols.clear();
            atom.height = 0;
            one = single(intern(std::move(atom)));
        }
      }
      for (unsigned k = 0; k < exponent; ++k) replaced = multiply(replaced, one);
    }
    result = add(result, replaced);
  }
  return result;
}

}  // namespace entangle::prove
