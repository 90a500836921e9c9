#include "entangle/smt/bounds.h"

#include <doctest/doctest.h>

#include <random>

#include "entangle/smt/solver.h"

namespace entangle::smt {

namespace {

const Term t = Term::variable("t", Sort::integer);
const Term u = Term::variable("u", Sort::integer);
const Function element("x", {Sort::integer}, Sort::integer);

}  // namespace

TEST_CASE("masked and shifted indices stay in their block") {
  const Term id = element({t});
  const std::vector<Term> in_vocabulary = {0 <= id, id < 100};
  for (const std::int64_t low : {0, 25, 75}) {
    const Term outside = id < low || id >= low + 25;
    const auto in_block = [&](const Term& index) { return 0 <= index && index < 25; };
    CHECK(follows_by_bounds(in_vocabulary, in_block(ite(outside, 0, id - low))));
    CHECK(follows_by_bounds(in_vocabulary, in_block(ite(!outside, id - low, 24))));
    CHECK(follows_by_bounds(in_vocabulary, in_block(ite(id >= low && id < low + 25, id, low) - low)));
    // Not masked, masked the wrong way round, a block too far, too short a block.
    CHECK(!follows_by_bounds(in_vocabulary, in_block(id - low)));
    CHECK(!follows_by_bounds(in_vocabulary, in_block(ite(outside, id - low, 0))));
    CHECK(!follows_by_bounds(in_vocabulary, in_block(ite(outside, 0, id - low + 1))));
    CHECK(!follows_by_bounds(in_vocabulary, in_block(ite(outside, 25, id - low))));
    CHECK(
        !follows_by_bounds(in_vocabulary, 0 <= ite(outside, 0, id - low) && ite(outside, 0, id - low) < 24));
  }
  // Masks as numbers, and a mask that is multiplied in.
  const auto number = [](const Term& truth) { return ite(truth, 1, 0); };
  const auto is_set = [](const Term& value) { return !eq(value, 0); };
  const Term inside = number(is_set(number(25 <= id)) && eq(number(is_set(number(50 <= id))), 0));
  for (const Term& index : {ite(eq(inside, 1), id - 25, 0), inside * (id - 25)}) {
    CHECK(follows_by_bounds(in_vocabulary, 0 <= index && index < 25));
    CHECK(!follows_by_bounds(in_vocabulary, 0 <= index && index < 24));
    CHECK(!follows_by_bounds(in_vocabulary, 1 <= index));
  }
  // The same in reals: masks and offsets that are multiplied as numbers.
  const Term real_id = to_real(id);
  const Term real_mask = to_real(inside);
  for (const Term& index :
       {real_mask * (real_id - Term::real(25)), real_mask * (real_id + real_mask * Term::real(-25)),
        ite(eq(real_mask, Term::real(1)), real_id - Term::real(25), Term::real(0))}) {
    CHECK(follows_by_bounds(in_vocabulary, Term::real(0) <= index && index < Term::real(25)));
    CHECK(!follows_by_bounds(in_vocabulary, Term::real(0) <= index && index < Term::real(24)));
    CHECK(!follows_by_bounds(in_vocabulary, Term::real(1) <= index));
  }
  // Nothing is known of what is no integer.
  const Term real = Term::variable("r", Sort::real);
  CHECK(!follows_by_bounds({Term::real(0) < real}, Term::real(1) <= real));
  CHECK(
      !follows_by_bounds({Term::real(0) < to_real(t) * Term::real(mpq_class(1, 2))}, Term::real(1) <= real));
  // The last block needs no upper mask, the first no lower one.
  CHECK(follows_by_bounds(in_vocabulary, 0 <= ite(id < 75, 0, id - 75) && ite(id < 75, 0, id - 75) < 25));
  CHECK(!follows_by_bounds({0 <= id}, ite(id < 75, 0, id - 75) < 25));
  CHECK(!follows_by_bounds({}, ite(id < 0, 0, id) < 100));
}

TEST_CASE("masks of masks are followed; what branches too often is not shown, and soon") {
  // A mask that went through n conversions.
  Term mask = ite(t < 10, 1, 0);
  for (int k = 0; k < 60; ++k) mask = ite(!eq(mask, 0), 1, 0);
  CHECK(follows_by_bounds({0 <= t}, ite(eq(mask, 1), t, 0) < 10));
  CHECK(!follows_by_bounds({0 <= t}, ite(eq(mask, 1), t, 0) < 9));
  // Every level asks about two others.
  Term deep = u;
  for (int k = 0; k < 60; ++k) deep = ite(deep < t + k, ite(deep < t - k, deep - 1, deep + 1), deep);
  CHECK(!follows_by_bounds({0 <= t}, deep < 10));
}

TEST_CASE("facts that contradict each other imply everything; nothing implies what is false") {
  CHECK(follows_by_bounds({t<0, t> 5}, u < 0));
  CHECK(follows_by_bounds({2 * t < 5, 3 <= t}, u < 0));
  CHECK(follows_by_bounds({eq(t, 3)}, 2 * t + 1 <= 7 && 7 <= 2 * t + 1));
  CHECK(!follows_by_bounds({}, Term::boolean(false)));
  CHECK(follows_by_bounds({}, Term::boolean(true)));
  CHECK(!follows_by_bounds({t <= u}, t < u));
}

TEST_CASE("what bounds show the solver confirms") {
  std::mt19937 random(11);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::function<Term(int)> integer;
  std::function<Term(int)> condition = [&](int depth) -> Term {
    const int kind = pick(depth > 0 ? 7 : 3);
    if (kind == 0) return integer(depth - 1) < integer(depth - 1);
    if (kind == 1) return integer(depth - 1) <= integer(depth - 1);
    if (kind == 2)
      return pick(2) == 0 ? eq(integer(depth - 1), integer(depth - 1)) : !(integer(depth - 1) < pick(9) - 4);
    if (kind == 3) return !condition(depth - 1);
    return kind < 5 ? condition(depth - 1) && condition(depth - 1)
                    : condition(depth - 1) || condition(depth - 1);
  };
  integer = [&](int depth) -> Term {
    const int kind = pick(depth > 0 ? 8 : 3);
    if (kind == 0) return Term::integer(pick(9) - 4);
    if (kind <= 2) return kind == 1 ? t : u;
    if (kind == 3) return integer(depth - 1) + integer(depth - 1);
    if (kind == 4) return (pick(7) - 3) * integer(depth - 1);
    if (kind == 5) return integer(depth - 1) - integer(depth - 1);
    if (kind == 6) return ite(condition(depth - 1), 1, 0) * integer(depth - 1);
    return ite(condition(depth - 1), integer(depth - 1), integer(depth - 1));
  };
  int shown = 0;
  for (int k = 0; k < 4000; ++k) {
    const std::vector<Term> facts = {-4 <= t, t <= pick(5), -3 <= u, u <= pick(4), condition(2)};
    const Term goal = condition(3);
    if (!follows_by_bounds(facts, goal)) continue;
    ++shown;
    Solver solver;
    for (const Term& fact : facts) solver.add(fact);
    CAPTURE(to_string(all_of(facts)));
    CAPTURE(to_string(goal));
    CHECK(solver.check_implies(goal) == Answer::unsat);
  }
  CHECK(shown > 400);
}

}  // namespace entangle::smt
