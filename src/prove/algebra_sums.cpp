// Sums and maxima over ranges.
#include "prove/algebra.h"

#include <algorithm>
#include <numeric>

#include "entangle/eval/clause.h"

namespace entangle::prove {

using eval::Undefined;
using sym::Int;

namespace {

constexpr std::size_t kRanges = 4;  // of one sum

}  // namespace

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
  if (const std::optional<Poly> one = at_one_position(ranges, factors)) return multiply(outside, *one);
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

// A sum of what is 0 but where a position is a number that does not depend on it: what is there, if it is in
// the range.
std::optional<Poly> Algebra::at_one_position(const std::vector<Range>& ranges,
                                             const std::vector<Poly>& factors) {
  for (const Poly& factor : factors) {
    const auto id = factor.atom();
    if (!id || atoms_[*id].kind != Atom::Kind::zero) continue;
    const std::optional<Int> distance = integer(Poly(atoms_[*id].arguments[0]));
    if (!distance) continue;
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      const auto& [position, size] = ranges[k];
      const bool alone = std::ranges::none_of(
          ranges, [&](const Range& range) { return sym::mentions(range.second, position); });
      if (!alone || !sym::mentions(*distance, position)) continue;
      for (const int sign : {1, -1}) {
        // distance = sign * (position - place)
        const Int place = position - sign * *distance;
        if (sym::mentions(place, position)) continue;
        Poly there = multiply(is_nonnegative(lifted(place)), is_nonnegative(lifted(size - 1 - place)));
        for (const Poly& one : factors) there = multiply(there, substitute(one, position, place));
        for (std::size_t j = 0; j < ranges.size(); ++j) {
          if (j != k) there = sum(ranges[j].first, ranges[j].second, there);
        }
        return there;
      }
    }
  }
  return std::nullopt;
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
  // What is added to all of them, whatever the position.
  Poly shared;
  for (const auto& [product, coefficient] : flat[0].body.terms) {
    const bool everywhere = std::ranges::all_of(flat, [&](const Entry& entry) {
      const auto found = entry.body.terms.find(product);
      if (found == entry.body.terms.end() || found->second != coefficient) return false;
      return std::ranges::none_of(product, [&](const auto& factor) {
        return std::ranges::any_of(
            entry.ranges, [&](const Range& range) { return mentions(single(factor.first), range.first); });
      });
    });
    if (everywhere) shared.terms[product] = coefficient;
  }
  if (!shared.is_zero()) {
    for (Entry& entry : flat) entry.body = subtract(entry.body, shared);
    return add(shared, maximum(std::move(flat)));
  }
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

}  // namespace entangle::prove
