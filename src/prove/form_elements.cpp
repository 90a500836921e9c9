// The elements of both sides of a form.

#include <algorithm>

#include "prove/form_world.h"

namespace entangle::prove {

using eval::Undefined;
using sym::Int;
using tensor::TensorType;

namespace {

constexpr std::size_t kCases = 200;  // parts of the result's index

}  // namespace

void Forms::compare(World& world, TermId left, TermId right, const Judge& judge) {
  const TensorType& a = world.terms.type(left);
  const TensorType& b = world.terms.type(right);
  const auto differ = [&]() -> Undefined {
    return {"the types are not shown to be equal: " + tensor::to_string(a) + " and " + tensor::to_string(b)};
  };
  if (a.dtype != b.dtype || a.rank() != b.rank()) throw differ();
  Space space(world.oracle);
  for (std::size_t k = 0; k < a.rank(); ++k) {
    if (!space.equal(space.simplified(a.shape[k]), space.simplified(b.shape[k]))) throw differ();
  }
  std::vector<Int> index;
  for (std::size_t k = 0; k < a.rank(); ++k) {
    const Int size = space.simplified(a.shape[k]);
    if (size == Int(1)) {
      index.emplace_back(0);
      continue;
    }
    index.push_back(Int::symbol("i" + std::to_string(k)));
    space.push(index.back(), size);
  }
  compare_at(world, left, right, index, space, judge);
}

// Cuts the index where an element depends on where it falls.
void Forms::compare_at(World& world, TermId left, TermId right, std::vector<Int> index, const Space& space,
                       const Judge& judge) {
  if (++world.cases > kCases) throw Undefined{"too many cases"};
  Symbolic symbolic(world.terms, space);
  if (subject_.inside) {
    symbolic.watch(
        [&](Symbolic& reading, Int place, Int size) { return within(world, reading, place, size); });
  }
  const auto owned = [&](Int position) {
    const auto at = std::ranges::find(space.positions(), position, &Space::Position::symbol);
    return at == space.positions().end() ? nullptr : &*at;
  };
  std::optional<Breakpoint> cut;
  std::optional<SplitPosition> split;
  const auto asked = [&](const std::function<void()>& question) {
    try {
      question();
      return false;
    } catch (const Breakpoint& thrown) {
      if (owned(thrown.position) == nullptr) throw;
      cut = thrown;
    } catch (const SplitPosition& thrown) {
      if (owned(thrown.position) == nullptr) throw;
      cut.reset();
      split = thrown;
    }
    return true;
  };
  if (!asked([&] {
        const Poly x = symbolic.element(left, index);
        if (subject_.inside) return;
        const Poly y = symbolic.element(right, index);
        const Poly difference = symbolic.algebra().subtract(x, y);
        if (difference.is_zero() || judge(symbolic, difference)) return;
        throw Undefined{"the solver does not show that the elements are equal"};
      })) {
    return;
  }
  // Where it is cut may depend on other positions, which are cut first.
  for (std::size_t n = 0; cut && !split; ++n) {
    const Breakpoint tried = *cut;
    Space rest = space;
    bool inside = true;
    if (!asked([&] {
          inside = rest.less_equal(0, tried.at) && rest.less_equal(tried.at, owned(tried.position)->high + 1);
        })) {
      if (!inside) throw Undefined{"an index that is cut outside"};
      break;
    }
    if (n > 8) throw Undefined{"an index that is cut everywhere"};
  }
  std::vector<std::pair<Int, std::vector<Space::Position>>> parts;  // by what it is replaced
  const Int position = split ? split->position : cut->position;
  const Space::Position* at = owned(position);
  if (split) {
    const Int row = Int::symbol(position.name() + "r");
    const Int column = Int::symbol(position.name() + "c");
    parts.push_back(
        {row * split->inner + column,
         {{row, 0, *sym::exact_div(at->high + 1, split->inner) - 1}, {column, 0, split->inner - 1}}});
  } else {
    const Int below = Int::symbol(position.name() + "a");
    const Int above = Int::symbol(position.name() + "b");
    parts.push_back({below, {{below, 0, cut->at - 1}}});
    parts.push_back({cut->at + above, {{above, 0, at->high - cut->at}}});
  }
  for (const auto& [by, positions] : parts) {
    Space inner(world.oracle);
    for (const Space::Position& one : space.positions()) {
      if (one.symbol == position) {
        for (const Space::Position& part : positions) inner.push(part);
      } else {
        inner.push({one.symbol, one.low, sym::substitute(one.high, {{position, by}})});
      }
    }
    std::vector<Int> replaced;
    for (const Int entry : index) replaced.push_back(sym::substitute(entry, {{position, by}}));
    compare_at(world, left, right, std::move(replaced), inner, judge);
  }
}

bool Forms::within(World& world, Symbolic& symbolic, Int place, Int size) {
  Algebra& algebra = symbolic.algebra();
  std::vector<smt::Term> facts = assertions(world, symbolic);
  for (const Symbolic::Guard& guard : symbolic.guards()) {
    const smt::Term truth = algebra.term(guard.truth, facts);
    facts.push_back(smt::eq(truth, smt::Term::real(guard.holds ? 1 : 0)));
  }
  const smt::Term at = algebra.term(place, facts);
  const smt::Term end = algebra.term(size, facts);
  facts.push_back(smt::any_of({at < smt::Term::integer(0), end <= at}));
  if (contradict(facts)) return true;
  smt::Solver solver({kModelSteps, {}, 0});
  for (const smt::Term& fact : facts) solver.add(fact);
  results_.questions += kWeight;
  suspected_ = model_sizes(world, solver);
  return false;
}

// The difference with its positions numbered, and their ranges.
std::string Forms::spelled(Symbolic& symbolic, Poly difference) {
  std::string ranges;
  std::size_t count = 0;
  for (const Space::Position& one : symbolic.space().positions()) {
    const Int number = Int::symbol("at" + std::to_string(count++));
    difference = symbolic.algebra().substitute(difference, one.symbol, number);
    ranges += sym::to_string(one.low) + ".." + sym::to_string(one.high) + " ";
  }
  return ranges + symbolic.algebra().readable(difference);
}

std::vector<smt::Term> Forms::assertions(World& world, Symbolic& symbolic) {
  std::vector<smt::Term> result;
  for (const Scenario::Symbol& one : world.scenario.open()) {
    if (one.size) result.push_back(smt::Term::integer(1) <= smt::from_int(one.symbol));
  }
  for (const Scenario::Assumption& assumption : world.scenario.assumptions()) {
    const smt::Term l = smt::from_int(assumption.left);
    const smt::Term r = smt::from_int(assumption.right);
    switch (assumption.relation) {
      case Scenario::Relation::equal:
        result.push_back(smt::eq(l, r));
        break;
      case Scenario::Relation::less_equal:
        result.push_back(l <= r);
        break;
      case Scenario::Relation::divides:
        result.push_back(smt::eq(smt::mod(r, l), smt::Term::integer(0)));
        break;
    }
  }
  for (const Space::Position& one : symbolic.space().positions()) {
    result.push_back(smt::from_int(one.low) <= smt::from_int(one.symbol));
    result.push_back(smt::from_int(one.symbol) <= smt::from_int(one.high));
  }
  return result;
}

bool Forms::equal_elements(World& world, Symbolic& symbolic, const Poly& difference) {
  Algebra& algebra = symbolic.algebra();
  const auto zero = [&](const Poly& value, const std::vector<Range>& ranges) {
    std::vector<smt::Term> facts = assertions(world, symbolic);
    for (const auto& [at, size] : ranges) {
      facts.push_back(smt::Term::integer(0) <= smt::from_int(at));
      facts.push_back(smt::from_int(at) < smt::from_int(size));
    }
    const smt::Term term = algebra.term(value, facts);
    // Elements with known bounds.
    std::vector<AtomId> atoms;
    algebra.collect(value, atoms);
    for (const AtomId id : atoms) {
      const Atom& atom = algebra.atom(id);
      if (atom.kind != Atom::Kind::leaf) continue;
      const term::Interval bounds = world.terms.interval(atom.tensor);
      if (!bounds.low || !bounds.high) continue;
      Poly element;
      element.terms[{{id, 1}}] = 1;
      const smt::Term one = algebra.term(element, facts);
      facts.push_back(smt::to_real(smt::from_int(*bounds.low)) <= one);
      facts.push_back(one <= smt::to_real(smt::from_int(*bounds.high)));
    }
    facts.push_back(smt::ne(term, smt::Term::real(0)));
    return contradict(facts);
  };
  // Sums over the same positions are one sum, and that of zeros is zero.
  Poly rest = difference;
  const std::vector<Algebra::SumTerm> sums = algebra.sums_of(difference);
  std::vector<bool> done(sums.size());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (done[k]) continue;
    std::vector<Range> ranges;
    for (const auto& [at, size] : sums[k].entry.ranges) ranges.emplace_back(algebra.fresh(), size);
    Poly body;
    Poly whole;
    for (std::size_t j = k; j < sums.size(); ++j) {
      const Entry& entry = sums[j].entry;
      if (done[j] || !std::ranges::equal(entry.ranges, ranges, {}, &Range::second, &Range::second)) continue;
      Poly renamed = entry.body;
      for (std::size_t n = 0; n < ranges.size(); ++n) {
        renamed = algebra.substitute(renamed, entry.ranges[n].first, ranges[n].first);
      }
      body = algebra.add(body, algebra.multiply(sums[j].factor, renamed));
      whole = algebra.add(whole, sums[j].whole);
      done[j] = true;
    }
    if (body.is_zero() || zero(body, ranges)) rest = algebra.subtract(rest, whole);
  }
  return rest.is_zero() || zero(rest, {});
}

}  // namespace entangle::prove
