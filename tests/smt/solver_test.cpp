#include "entangle/smt/solver.h"

#include <doctest/doctest.h>

#include <thread>
#include <tuple>

namespace entangle::smt {

namespace {

const Term x = Term::variable("x", Sort::integer);
const Term y = Term::variable("y", Sort::integer);
const Term r = Term::variable("r", Sort::real);
const Function f("f", {Sort::integer}, Sort::real);

}  // namespace

TEST_CASE("satisfiable: the model gives values") {
  Solver solver;
  solver.add(eq(x + y, 10) && eq(x - y, 4));
  solver.add(eq(2 * r, 1));
  solver.add(eq(f({x}), r) && f({y}) > r);
  REQUIRE(solver.check() == Answer::sat);
  const Model model = solver.model();
  CHECK(model.integer(x) == std::optional<std::int64_t>(7));
  CHECK(model.integer(y) == std::optional<std::int64_t>(3));
  CHECK(model.rational(r) == std::optional(mpq_class(1, 2)));
  CHECK(model.rational(f({x})) == std::optional(mpq_class(1, 2)));
  CHECK(*model.rational(f({y})) > mpq_class(1, 2));
  CHECK(model.integer(r) == std::nullopt);
  CHECK(model.integer(x * x - 50) == std::optional<std::int64_t>(-1));
  CHECK(solver.reason().empty());
}

TEST_CASE("levels, before and after the first check") {
  Solver solver;
  solver.add(x >= 1);
  solver.push();
  solver.add(x <= 0);
  CHECK(solver.check() == Answer::unsat);
  solver.pop();
  CHECK(solver.check() == Answer::sat);
  solver.push();
  solver.push();
  solver.add(x <= 0);
  solver.pop(2);
  CHECK(solver.check_implies(x > 0) == Answer::unsat);
  CHECK(solver.check_implies(x > 1) == Answer::sat);
  CHECK(solver.check() == Answer::sat);
  CHECK_THROWS_AS(solver.pop(), support::InternalError);
}

// Without a limit on steps these are not answered in any time: the factors of the product of two large
// primes.
void make_endless(Solver& solver) {
  solver.add(x > 1 && y > x && eq(x * y, Term::integer(mpz_class("1000000016000000063"))));
}

Limits endless(std::optional<std::chrono::milliseconds> time) {
  Limits limits;
  limits.steps = 0;
  limits.time = time;
  return limits;
}

TEST_CASE("a check ends when its time is over") {
  const auto start = std::chrono::steady_clock::now();
  Solver solver(endless(std::chrono::milliseconds(100)));
  make_endless(solver);
  CHECK(solver.check() == Answer::unknown);
  CHECK(solver.gave_up());
  CHECK(solver.reason() == "no answer in time");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  // It is none the worse for it.
  solver.add(x < 1);
  CHECK(solver.check() == Answer::unsat);
  CHECK(!solver.gave_up());
}

TEST_CASE("after a check that was given up, a thread that has lost patience asks nothing") {
  const auto start = std::chrono::steady_clock::now();
  {
    const Patience patience(std::chrono::milliseconds(100));
    Solver solver(endless({}));
    make_endless(solver);
    CHECK(solver.check() == Answer::unknown);
    CHECK(patience.is_lost());
    Solver easy;
    easy.add(x < x);
    CHECK(easy.check() == Answer::unknown);
    CHECK(easy.gave_up());
    {
      const Patience inner;
      CHECK(!inner.is_lost());
      CHECK(easy.check() == Answer::unsat);
    }
    CHECK(easy.check() == Answer::unknown);
    std::thread([&] { CHECK(Patience::current() == nullptr); }).join();
  }
  CHECK(Patience::current() == nullptr);
  Solver easy;
  easy.add(x < x);
  CHECK(easy.check() == Answer::unsat);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("integers to high powers do not keep the solver for ever") {
  // (i^3 - i) mod 6 == 0, in the ways in which proofs ask it.
  const Term i = Term::variable("i", Sort::integer);
  for (const int power : {2, 3, 5}) {
    std::vector<Term> factors(static_cast<std::size_t>(power), i);
    const Term value = product(factors, Sort::integer) - i;
    const Term divisor = Term::integer(power == 3 ? 6 : power);
    Limits limits;
    limits.steps = 400'000;
    Solver solver(limits);
    solver.add(i >= 0);
    solver.add(ne(f({i}) * to_real(value) - f({i}) * to_real(divisor) * to_real(div(value, divisor)),
                  Term::real(0)));
    CHECK(solver.check() != Answer::sat);
    CHECK(!solver.gave_up());
  }
}

TEST_CASE("limits make answers unknown, reproducibly") {
  const auto hard = [](std::uint32_t steps) {
    Limits limits;
    limits.steps = steps;
    Solver solver(limits);
    const Term a = Term::variable("a", Sort::integer);
    const Term b = Term::variable("b", Sort::integer);
    const Term c = Term::variable("c", Sort::integer);
    solver.add(a >= 1 && b >= 1 && c >= 1);
    solver.add(eq(a * a * a + b * b * b, c * c * c));
    const Answer answer = solver.check();
    return std::tuple(answer, solver.reason(), solver.steps());
  };
  const auto [answer, reason, steps] = hard(20000);
  CHECK(answer == Answer::unknown);
  CHECK(!reason.empty());
  CHECK(hard(20000) == std::tuple(answer, reason, steps));
}

TEST_CASE("a solver may be used again after a limit") {
  Limits limits;
  limits.steps = 3000;
  Solver solver(limits);
  solver.push();
  solver.add(x >= 2 && y >= 2 && eq(x * x * x, y * y * y + 3 * x + 1));
  static_cast<void>(solver.check());
  solver.pop();
  solver.add(x >= 2);
  CHECK(solver.check() == Answer::sat);
}

TEST_CASE("division by constants and the terms for it agree with the solver") {
  for (int a = -7; a <= 7; ++a) {
    for (int b = -3; b <= 3; ++b) {
      if (b == 0) {
        continue;
      }
      Solver solver;
      solver.add(eq(x, a) && eq(y, b));
      const Term equations = eq(div(x, y), div(Term(a), Term(b))) && eq(mod(x, y), mod(Term(a), Term(b))) &&
                             eq(floordiv(x, y), floordiv(Term(a), Term(b))) &&
                             eq(floormod(x, y), floormod(Term(a), Term(b)));
      REQUIRE(solver.check_implies(equations) == Answer::unsat);
    }
  }
}

TEST_CASE("functions and reals") {
  Solver solver;
  solver.add(eq(x, y));
  CHECK(solver.check_implies(eq(f({x}), f({y}))) == Answer::unsat);
  CHECK(solver.check_implies(eq(f({x}), f({y + 1}))) == Answer::sat);
  CHECK(solver.check_implies(eq(2 * (f({x}) + r), f({y}) + f({x}) + r + r)) == Answer::unsat);
  Solver nullary;
  const Function g("g", {}, Sort::integer);
  nullary.add(eq(g({}), 3));
  REQUIRE(nullary.check() == Answer::sat);
  CHECK(nullary.model().integer(g({})) == std::optional<std::int64_t>(3));
}

TEST_CASE("large numbers") {
  Solver solver;
  const mpz_class large("123456789012345678901234567890");
  solver.add(eq(x, Term::integer(large)));
  REQUIRE(solver.check() == Answer::sat);
  CHECK(solver.model().rational(x) == std::optional(mpq_class(large)));
  CHECK(solver.model().integer(x) == std::nullopt);
  CHECK(solver.model().rational(r * 0 - Term::real(mpq_class(-22, 7))) == std::optional(mpq_class(22, 7)));
}

TEST_CASE("SMT-LIB text names what is used more than once") {
  Solver solver;
  const Term shared = x * y;
  solver.add(shared + shared * 2 <= 7);
  solver.add(f({shared}) > 0);
  CHECK(solver.to_smtlib() ==
        "(declare-const x Int)\n"
        "(declare-const y Int)\n"
        "(declare-fun f (Int) Real)\n"
        "(define-fun $0 () Int (* x y))\n"
        "(assert (<= (+ $0 (* x y 2)) 7))\n"
        "(assert (< 0.0 (f $0)))\n");
}

TEST_CASE("solvers of different threads are independent") {
  std::vector<std::thread> threads;
  std::vector<int> results(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&results, t] {
      for (int i = 0; i < 10; ++i) {
        Solver solver;
        solver.add(x > i && x < i + 2);
        if (solver.check() == Answer::sat &&
            solver.model().integer(x) == std::optional<std::int64_t>(i + 1)) {
          ++results[static_cast<std::size_t>(t)];
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(results == std::vector<int>{10, 10, 10, 10});
}

TEST_CASE("names") {
  CHECK(solver_version().substr(0, 3) == "Z3 ");
  CHECK(to_string(Answer::sat) == "sat");
  CHECK(to_string(Answer::unsat) == "unsat");
  CHECK(to_string(Answer::unknown) == "unknown");
}

}  // namespace entangle::smt
