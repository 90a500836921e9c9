#include "prove/algebra.h"

#include <algorithm>
#include <numeric>

#include "entangle/eval/clause.h"

namespace entangle::prove {

using eval::Undefined;
using smt::Sort;
using smt::Term;
using sym::Int;

namespace {

constexpr std::size_t kRanges = 4;   // of one sum
constexpr std::size_t kTerms = 400;  // of one polynomial

Int canonical(std::size_t height) {
  return Int::symbol("$" + std::to_string(height));
}

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

// ---------------------------------------------------------------- sums and maxima

Int Algebra::fresh() {
  return Int::symbol("k" + std::to_string(fresh_++));
}

// The entry with positions that nothing else is called.
Entry Algebra::opened(const Entry& entry) {
  Entry result{{}, entry.body};
  for (const auto& [position, size] : entry.ranges) {
    const Int other = fresh();
    result.body = substitute(result.body, position, other);
    result.ranges.emplace_back(other, size);
  }
  return result;
}

Poly Algebra::sum(Int position, Int size, const Poly& body) {
  Poly result;
  for (const auto& [product, coefficient] : body.terms) {
    std::vector<Range> ranges{{position, size}};
    result = add(result, scaled(sum_of_product(std::move(ranges), product), coefficient));
  }
  return result;
}

Poly Algebra::sum_of_product(std::vector<Range> ranges, const Product& product) {
  // Sums inside become part of this one.
  Poly outside = constant(1);
  std::vector<Poly> factors;
  for (const auto& [id, exponent] : product) {
    const Atom atom = atoms_[id];
    const bool depends = mentions(single(id), ranges[0].first);
    for (unsigned k = 0; k < exponent; ++k) {
      if (!depends) {
        outside = multiply(outside, single(id));
      } else if (atom.kind == Atom::Kind::sum) {
        const Entry inner = opened(atom.entries[0]);
        ranges.insert(ranges.end(), inner.ranges.begin(), inner.ranges.end());
        for (const auto& [inside, times] : inner.body.terms.begin()->first) {
          for (unsigned j = 0; j < times; ++j) factors.push_back(single(inside));
        }
      } else {
        factors.push_back(single(id));
      }
    }
  }
  // Positions that occur in a common factor belong together.
  std::vector<std::size_t> part(ranges.size());
  std::iota(part.begin(), part.end(), 0);
  const auto unite_all = [&](const std::vector<std::size_t>& places) {
    for (const std::size_t place : places) {
      const std::size_t old = part[place];
      for (std::size_t& one : part) {
        if (one == old) one = part[places[0]];
      }
    }
  };
  std::vector<std::vector<std::size_t>> used;
  for (const Poly& factor : factors) {
    used.emplace_back();
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      if (mentions(factor, ranges[k].first)) used.back().push_back(k);
    }
    if (!used.back().empty()) unite_all(used.back());
  }
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    for (std::size_t j = 0; j < ranges.size(); ++j) {
      if (sym::mentions(ranges[k].second, ranges[j].first)) unite_all({k, j});
    }
  }
  Poly result = outside;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    if (used[k].empty()) result = multiply(result, factors[k]);
  }
  for (std::size_t head = 0; head < ranges.size(); ++head) {
    std::vector<Range> here;
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      if (part[k] == head) here.push_back(ranges[k]);
    }
    if (here.empty()) continue;
    Poly body = constant(1);
    bool any = false;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      if (used[k].empty() || part[used[k][0]] != head) continue;
      body = multiply(body, factors[k]);
      any = true;
    }
    result = multiply(result, any ? connected_sum(here, body) : lifted(here[0].second));
  }
  return result;
}

Poly Algebra::connected_sum(std::vector<Range> ranges, Poly body) {
  join(ranges, body);
  Atom atom;
  atom.kind = Atom::Kind::sum;
  mpq_class factor = 1;
  if (body.terms.size() == 1) {
    factor = body.terms.begin()->second;
    body.terms.begin()->second = 1;
  }
  atom.entries = {ordered({std::move(ranges), std::move(body)})};
  return scaled(single(intern(std::move(atom))), factor);
}

// What depends on p * Q + q only is a sum over one position.
void Algebra::join(std::vector<Range>& ranges, Poly& body) {
  for (std::size_t p = 0; p < ranges.size(); ++p) {
    for (std::size_t q = 0; q < ranges.size(); ++q) {
      if (p == q || sym::mentions(ranges[q].second, ranges[p].first)) continue;
      if (std::ranges::any_of(ranges, [&](const Range& one) {
            return sym::mentions(one.second, ranges[p].first) || sym::mentions(one.second, ranges[q].first);
          })) {
        continue;
      }
      const Int whole = fresh();
      const Poly joined = substitute(body, ranges[q].first, whole - ranges[p].first * ranges[q].second);
      if (mentions(joined, ranges[p].first)) continue;
      const Range range{whole, ranges[p].second * ranges[q].second};
      ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(std::max(p, q)));
      ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(std::min(p, q)));
      ranges.push_back(range);
      body = joined;
      join(ranges, body);
      return;
    }
  }
}

// The same in the first of all orders of its positions.
Entry Algebra::ordered(const Entry& entry) {
  if (entry.ranges.size() > kRanges) throw Undefined{"a sum over too many positions"};
  std::size_t height = 0;
  for (const auto& [product, coefficient] : entry.body.terms) {
    for (const auto& [id, exponent] : product) height = std::max(height, atoms_[id].height);
  }
  std::vector<std::size_t> order(entry.ranges.size());
  std::iota(order.begin(), order.end(), 0);
  std::optional<std::pair<std::string, Entry>> best;
  do {
    Entry renamed{{}, entry.body};
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto& [position, size] = entry.ranges[order[k]];
      renamed.body = substitute(renamed.body, position, canonical(height + k));
      renamed.ranges.emplace_back(canonical(height + k), size);
    }
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (auto& [position, size] : renamed.ranges) {
        size = sym::substitute(size, {{entry.ranges[order[k]].first, canonical(height + k)}});
      }
    }
    std::string spelled = text(renamed);
    if (!best || spelled < best->first) best = {std::move(spelled), std::move(renamed)};
  } while (std::ranges::next_permutation(order).found);
  return best->second;
}

Poly Algebra::maximum(Int position, Int size, const Poly& body) {
  if (!mentions(body, position)) return body;
  if (const auto id = body.atom(); id && atoms_[*id].kind == Atom::Kind::maximum) {
    std::vector<Entry> entries;
    const std::vector<Entry> inside = atoms_[*id].entries;
    for (const Entry& one : inside) {
      Entry inner = opened(one);
      if (mentions(inner.body, position) || std::ranges::any_of(inner.ranges, [&](const Range& range) {
            return sym::mentions(range.second, position);
          })) {
        inner.ranges.emplace_back(position, size);
      }
      entries.push_back(std::move(inner));
    }
    return maximum(std::move(entries));
  }
  return maximum(std::vector<Entry>{{{{position, size}}, body}});
}

Poly Algebra::maximum(std::vector<Entry> entries) {
  // By cases of what is true of all positions.
  for (const Entry& entry : entries) {
    const auto truth = truth_in(entry.body);
    if (!truth || std::ranges::any_of(entry.ranges, [&](const Range& range) {
          return mentions(single(*truth), range.first);
        })) {
      continue;
    }
    std::vector<Entry> yes = entries;
    std::vector<Entry> no = entries;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      yes[k].body = with_atom(entries[k].body, *truth, true);
      no[k].body = with_atom(entries[k].body, *truth, false);
    }
    const Poly a = maximum(std::move(yes));
    return choose(single(*truth), a, maximum(std::move(no)));
  }
  // The greatest of several numbers is one of them.
  std::optional<mpq_class> greatest;
  std::erase_if(entries, [&](const Entry& entry) {
    const auto number = entry.body.constant();
    if (number && (!greatest || *number > *greatest)) greatest = *number;
    return number.has_value();
  });
  if (greatest) {
    if (entries.empty()) return constant(*greatest);
    entries.push_back({{}, constant(*greatest)});
  }
  std::vector<Entry> flat;
  for (Entry& entry : entries) {
    const auto id = entry.body.atom();
    if (id && atoms_[*id].kind == Atom::Kind::infinity) continue;
    if (id && atoms_[*id].kind == Atom::Kind::maximum && entry.ranges.empty()) {
      const std::vector<Entry> inside = atoms_[*id].entries;
      for (const Entry& one : inside) flat.push_back(opened(one));
    } else {
      flat.push_back(std::move(entry));
    }
  }
  if (flat.empty()) return entries.empty() ? throw Undefined{"a maximum of nothing"} : entries[0].body;
  // A positive factor of all of them.
  Product common;
  for (const auto& [id, exponent] :
       flat[0].body.terms.empty() ? Product{} : flat[0].body.terms.begin()->first) {
    const Atom& atom = atoms_[id];
    const Atom* number = &atom;
    if (atom.kind == Atom::Kind::reciprocal) {
      const auto inner = atom.arguments[0].atom();
      if (!inner) continue;
      number = &atoms_[*inner];
    }
    if (number->kind == Atom::Kind::number && knowledge_.positive(number->number)) common.emplace_back(id, 1);
  }
  std::erase_if(common, [&](const auto& factor) {
    return !std::ranges::all_of(flat, [&](const Entry& entry) {
      return std::ranges::all_of(entry.body.terms, [&](const auto& term) {
        return std::ranges::find(term.first, factor.first, &std::pair<AtomId, unsigned>::first) !=
               term.first.end();
      });
    });
  });
  Poly outside = constant(1);
  for (const auto& [id, exponent] : common) {
    outside = multiply(outside, single(id));
    for (Entry& entry : flat) {
      Poly divided;
      for (const auto& [product, coefficient] : entry.body.terms) {
        Product rest = product;
        const auto at = std::ranges::find(rest, id, &std::pair<AtomId, unsigned>::first);
        if (--at->second == 0) rest.erase(at);
        divided.terms[rest] = coefficient;
      }
      entry.body = std::move(divided);
    }
  }
  if (!common.empty()) return multiply(outside, maximum(std::move(flat)));
  std::map<std::string, Entry> sorted;
  for (Entry& entry : flat) {
    join(entry.ranges, entry.body);
    Entry one = ordered(entry);
    sorted.emplace(text(one), std::move(one));
  }
  if (sorted.size() == 1 && sorted.begin()->second.ranges.empty()) {
    return sorted.begin()->second.body;
  }
  Atom atom;
  atom.kind = Atom::Kind::maximum;
  for (auto& [spelled, entry] : sorted) atom.entries.push_back(std::move(entry));
  return single(intern(std::move(atom)));
}

std::vector<Algebra::SumTerm> Algebra::sums_of(const Poly& value) const {
  std::vector<SumTerm> result;
  for (const auto& [product, coefficient] : value.terms) {
    for (std::size_t k = 0; k < product.size(); ++k) {
      if (atoms_[product[k].first].kind != Atom::Kind::sum || product[k].second != 1) continue;
      Product rest = product;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      SumTerm term{{}, {}, atoms_[product[k].first].entries[0]};
      term.whole.terms[product] = coefficient;
      term.factor.terms[rest] = coefficient;
      result.push_back(std::move(term));
      break;
    }
  }
  return result;
}

// ---------------------------------------------------------------- as solver terms

void Algebra::collect(const Poly& value, std::vector<AtomId>& atoms) const {
  for (const auto& [product, coefficient] : value.terms) {
    for (const auto& [id, exponent] : product) {
      if (std::ranges::find(atoms, id) != atoms.end()) continue;
      atoms.push_back(id);
      for (const Poly& argument : atoms_[id].arguments) collect(argument, atoms);
      for (const Int entry : atoms_[id].index) {
        for (const Int symbol : sym::symbols_of(entry)) {
          if (const Poly* inner = named(symbol)) collect(*inner, atoms);
        }
      }
    }
  }
}

Term Algebra::term(Int value, std::vector<Term>& facts) {
  std::vector<Term> from;
  std::vector<Term> to;
  for (const Int symbol : sym::symbols_of(value)) {
    const Poly* inner = named(symbol);
    if (inner == nullptr) continue;
    const Atom& atom = atoms_[*inner->atom()];
    from.push_back(smt::from_int(symbol));
    std::vector<Term> index;
    for (const Int entry : atom.index) index.push_back(term(entry, facts));
    to.push_back(atom.kind == Atom::Kind::leaf && !atom.truth
                     ? smt::Function("x" + std::to_string(atom.tensor),
                                     std::vector<Sort>(index.size(), Sort::integer), Sort::integer)(index)
                     : Term::variable("integer " + atom.text, Sort::integer));
  }
  return smt::substitute(smt::from_int(value), from, to);
}

Term Algebra::boolean(const Atom& given, std::vector<Term>& facts) {
  const Atom atom = given;
  if (atom.kind == Atom::Kind::zero || atom.kind == Atom::Kind::nonnegative) {
    if (const auto whole = integer(atom.arguments[0])) {
      const Term value = term(*whole, facts);
      return atom.kind == Atom::Kind::zero ? smt::eq(value, Term::integer(0)) : Term::integer(0) <= value;
    }
  }
  if (atom.kind == Atom::Kind::zero) return smt::eq(term(atom.arguments[0], facts), Term::real(0));
  if (atom.kind == Atom::Kind::nonnegative) return Term::real(0) <= term(atom.arguments[0], facts);
  if (atom.kind != Atom::Kind::leaf) return Term::variable("truth " + atom.text, Sort::boolean);
  std::vector<Term> index;
  for (const Int entry : atom.index) index.push_back(term(entry, facts));
  return smt::Function("x" + std::to_string(atom.tensor), std::vector<Sort>(index.size(), Sort::integer),
                       Sort::boolean)(index);
}

Term Algebra::term(const Poly& value, std::vector<Term>& facts) {
  if (const auto truth = truth_in(value)) {
    const Term condition = boolean(atoms_[*truth], facts);
    const Term yes = term(with_atom(value, *truth, true), facts);
    return smt::ite(condition, yes, term(with_atom(value, *truth, false), facts));
  }
  std::vector<Term> sum;
  for (const auto& [product, coefficient] : value.terms) {
    std::vector<Term> factors{Term::real(coefficient)};
    for (const auto& [id, exponent] : product) {
      const Atom atom = atoms_[id];
      Term one;
      switch (atom.kind) {
        case Atom::Kind::leaf: {
          std::vector<Term> index;
          for (const Int entry : atom.index) index.push_back(term(entry, facts));
          one =
              smt::Function("x" + std::to_string(atom.tensor), std::vector<Sort>(index.size(), Sort::integer),
                            atom.integer ? Sort::integer : Sort::real)(index);
          if (atom.integer) one = smt::to_real(one);
          break;
        }
        case Atom::Kind::number:
          one = smt::to_real(term(atom.number, facts));
          break;
        case Atom::Kind::function: {
          std::vector<Term> arguments;
          for (const Poly& argument : atom.arguments) arguments.push_back(term(argument, facts));
          one = smt::Function(atom.name, std::vector<Sort>(arguments.size(), Sort::real),
                              Sort::real)(arguments);
          break;
        }
        case Atom::Kind::reciprocal: {
          one = Term::variable(atom.text, Sort::real);
          const Term of = term(atom.arguments[0], facts);
          facts.push_back(smt::ite(smt::eq(of, Term::real(0)), smt::eq(one, Term::real(0)),
                                   smt::eq(one * of, Term::real(1))));
          break;
        }
        default:
          one = Term::variable(atom.text, Sort::real);
      }
      for (unsigned k = 0; k < exponent; ++k) factors.push_back(one);
    }
    sum.push_back(smt::product(factors, Sort::real));
  }
  return smt::sum(sum, Sort::real);
}

}  // namespace entangle::prove
