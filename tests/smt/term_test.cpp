#include "entangle/smt/term.h"

#include <doctest/doctest.h>

#include <thread>

#include "entangle/smt/solver.h"

namespace entangle::smt {

namespace {

const Term x = Term::variable("x", Sort::integer);
const Term y = Term::variable("y", Sort::integer);
const Term r = Term::variable("r", Sort::real);
const Term p = Term::variable("p", Sort::boolean);

}  // namespace

TEST_CASE("terms are shared and simplified a little") {
  CHECK(x == Term::variable("x", Sort::integer));
  CHECK(x != Term::variable("x", Sort::real));
  CHECK(x + y == x + y);
  CHECK((x + y).hash() == (x + y).hash());
  CHECK(x + 0 == x);
  CHECK(x * 1 == x);
  CHECK(x * 0 == Term(0));
  CHECK(x - x == Term(0));
  CHECK(Term(2) + Term(3) == Term(5));
  CHECK((x + 1) + 2 == x + 3);
  CHECK(-(-x) == x);
  CHECK(div(x, 1) == x);
  CHECK(mod(x, 1) == Term(0));
  CHECK(Term(1) / Term(3) == Term::real(mpq_class(1, 3)));
  CHECK(r / Term(2) == r * Term::real(mpq_class(1, 2)));
  CHECK(eq(x, x).is_true());
  CHECK(eq(Term(1), Term(2)).is_false());
  CHECK((x < x).is_false());
  CHECK((x <= x).is_true());
  CHECK((Term(1) < Term(2)).is_true());
  CHECK(!!p == p);
  CHECK((p && Term::boolean(true)) == p);
  CHECK((p && Term::boolean(false)).is_false());
  CHECK((p || Term::boolean(true)).is_true());
  CHECK((p && p) == p);
  CHECK(eq(p, Term::boolean(false)) == !p);
  CHECK(ite(p, x, x) == x);
  CHECK(ite(Term::boolean(false), x, y) == y);
  CHECK(Term().is_true());
  CHECK(sum({}) == Term(0));
  CHECK(product({}) == Term(1));
  CHECK(all_of({}).is_true());
  CHECK(any_of({}).is_false());
}

TEST_CASE("division of constants: Euclidean, and towards minus infinity") {
  struct Case {
    int a, b, div, mod, floordiv, floormod;
  };
  const Case cases[] = {{7, 2, 3, 1, 3, 1},    {-7, 2, -4, 1, -4, 1}, {7, -2, -3, 1, -4, -1},
                        {-7, -2, 4, 1, 3, -1}, {6, -2, -3, 0, -3, 0}, {0, 5, 0, 0, 0, 0}};
  for (const Case& one : cases) {
    CAPTURE(one.a);
    CAPTURE(one.b);
    CHECK(div(one.a, one.b) == Term(one.div));
    CHECK(mod(one.a, one.b) == Term(one.mod));
    CHECK(floordiv(one.a, one.b) == Term(one.floordiv));
    CHECK(floormod(one.a, one.b) == Term(one.floormod));
  }
}

TEST_CASE("integers become reals beside reals") {
  CHECK((x + r).sort() == Sort::real);
  CHECK(x + r == to_real(x) + r);
  CHECK(eq(r, 1) == eq(r, Term::real(1)));
  CHECK(ite(p, r, 1) == ite(p, r, Term::real(1)));
  const Function f("f", {Sort::integer, Sort::real}, Sort::real);
  CHECK(f({x, 1}) == f({x, Term::real(1)}));
  CHECK(f({x, 1}).sort() == Sort::real);
  CHECK(f({x, 1}).function() == f);
  CHECK(f == Function("f", {Sort::integer, Sort::real}, Sort::real));
  CHECK_FALSE(f == Function("f", {Sort::integer, Sort::integer}, Sort::real));
}

TEST_CASE("sorts are checked") {
  const Function f("f", {Sort::integer}, Sort::real);
  CHECK_THROWS_AS(static_cast<void>(p + x), support::InternalError);
  CHECK_THROWS_AS(static_cast<void>(x && p), support::InternalError);
  CHECK_THROWS_AS(static_cast<void>(!x), support::InternalError);
  CHECK_THROWS_AS(static_cast<void>(f({r})), support::InternalError);
  CHECK_THROWS_AS(static_cast<void>(f({x, x})), support::InternalError);
  CHECK_THROWS_AS(static_cast<void>(div(r, x)), support::InternalError);
  CHECK_THROWS_AS(static_cast<void>(eq(p, x)), support::InternalError);
}

TEST_CASE("text") {
  const Function f("a b", {Sort::integer}, Sort::real);
  CHECK(to_string(x + 2 * y <= 3) == "(<= (+ x (* y 2)) 3)");
  CHECK(to_string(-x) == "(* x (- 1))");
  CHECK(to_string(Term::real(mpq_class(-1, 3))) == "(- (/ 1.0 3.0))");
  CHECK(to_string(f({x}) < r) == "(< (|a b| x) r)");
  CHECK(to_string(Term::variable("(s0//8)", Sort::integer)) == "|(s0//8)|");
  CHECK(to_string(ite(p, x, y)) == "(ite p x y)");
}

TEST_CASE("substitution") {
  CHECK(substitute(x + y, {x, y}, {y, x}) == y + x);
  CHECK(substitute(x + y, {x}, {Term(2)}) == substitute(y + 2, {}, {}));
  CHECK(substitute(x <= y, {x, y}, {Term(1), Term(2)}).is_true());
  const Function f("f", {Sort::integer}, Sort::integer);
  CHECK(substitute(f({f({x})}), {f({x})}, {y}) == f({y}));
}

TEST_CASE("symbolic integers become terms") {
  const sym::Int s0 = sym::Int::symbol("s0");
  const sym::Int s1 = sym::Int::symbol("s1");
  CHECK(to_string(from_int(2 * s0 * s0 + 1)) == "(+ (* s0 s0 2) 1)");
  CHECK(from_int(5) == Term(5));
  CHECK(to_string(from_int(sym::floordiv(s0, sym::Int(8)))) == "(div s0 8)");
  CHECK(to_string(from_int(sym::max(s0, s1))) == "(ite (<= s1 s0) s0 s1)");
}

TEST_CASE("terms are freed, deep ones and many threads too") {
  const auto build = [] {
    Term term = x;
    for (int i = 0; i < 100000; ++i) {
      term = ite(p, term + 1, x);
    }
    return term;
  };
  build();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 3000; ++i) {
        const Term a = Term::variable("v" + std::to_string(i % 7), Sort::integer);
        const Term b = (a + i % 5) * a;
        const Term c = b;
        static_cast<void>(substitute(c <= b + 1, {a}, {Term(i % 3)}));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace entangle::smt
