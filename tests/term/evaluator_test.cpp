#include "entangle/term/evaluator.h"

#include <limits>

#include "fixture.h"

namespace entangle::term::test {

namespace {

using smt::Truth;
using sym::Int;
using sym::Scalar;

const Int s0 = Int::symbol("s0");
const Int s1 = Int::symbol("s1");

Value term(TermId id) {
  return Value(Term{id});
}

Value terms(const std::vector<TermId>& ids) {
  std::vector<Value> values;
  for (const TermId id : ids) values.push_back(term(id));
  return Value(values);
}

Value integer(Int value) {
  return Value(value);
}

}  // namespace

TEST_CASE("values") {
  CHECK(Value().is_none());
  CHECK(Value(number(3)).as_int() != nullptr);
  CHECK(Value(numbers({1, 2})).as_list()->size() == 2);
  CHECK(to_string(*Value(numbers({1, 2})).to_attr()) == "[1, 2]");
  CHECK(!Value(Term{0}).to_attr());
  CHECK(!Value(std::vector<Value>{Value(Term{0})}).to_attr());
  CHECK(Value::of(true).to_scalar() == Scalar(1));
  CHECK(Value(Int(1)).to_bool() == true);
  CHECK(!Value(Int(2)).to_bool());
  CHECK(!Value(Attr::of(DType::f32)).to_scalar());
}

TEST_CASE("arithmetic and lists") {
  World world(R"(
    lower sums(n: int, m: int): probe(; [n + m, n - m, n * m, n floordiv m, n mod m, -n]);
    lower exact(n: int, m: int): probe(; n / m);
    lower ratio(n: int): probe(; 1 / scalar_of(n));
    lower least(n: int, m: int): probe(; [min(n, m), max(n, m), min([n, m, 3]), sum([n, m]), product([n, m])]);
    lower entries(l: int*): probe(; [l[1:], l[:1], l[1:2], l ++ [9], l with [1] = 7, l without 1, l without [0, 2], [0, *l]]);
    lower entry(l: int*, i: int): probe(; l[i]);
    lower tail(l: int*, i: int): probe(; l[i:]);
    lower odd(l: int*): probe(; [2 * x for x in l if x mod 2 == 1]);
    lower zipped(l: int*, m: int*): probe(; [a * b for a, b in zip(l, m)]);
    lower folded(l: int*): probe(; fold(acc = 0; x in l: 10 * acc + x));
    lower named(n: int): probe(; let m = n * n in m + m);
    lower chosen(n: int): probe(; if n == 0 then 1 else 2);
    lower totals(l: int*): probe(; [sum(x * x for x in l), max(x for x in l), product(x for x in l), min(x for x in l if x > 1)]);
    lower functions(l: int*): probe(; [reversed(l), permute(l, [2, 0, 1]), inverse([2, 0, 1]), complement([1], 4), range(3), range(2, 4)]);
    lower more(l: int*): probe(; [insert_at(l, [0, 2], [8, 9]), [index_of(l, 6), len(l)]]);
    lower lists(l: int*): probe(; [pairs(l), columns([l, l])]);
    lower numbered(l: int*): probe(; enumerate(l));
    lower place(l: int*, v: int): probe(; index_of(l, v));
    lower bad(l: int*): probe(; insert_at(l, [0, 9], [8, 9]));
    lower between(n: int, m: int): probe(; len(range(n, m)));
    lower doubled(n: int): probe(; len(fold(acc = [1]; k in range(n): acc ++ acc)));
    lower spread(n: int): probe(; len(fold(acc = [1]; k in range(n): [*acc, *acc])));
    lower scalars(c: scalar, d: scalar): probe(; [c + d, c - d, c * d, c / d, -c, min(c, d)]);
  )");
  const Value l = Value(numbers({4, 5, 6}));
  CHECK(world.run("sums", {integer(7), integer(2)}) == "[9, 5, 14, 3, 1, -7]");
  CHECK(world.run("sums", {integer(s0), integer(2)}) == "[s0 + 2, s0 - 2, 2*s0, s0//2, mod(s0, 2), -s0]");
  CHECK(world.run("sums", {integer(7), integer(0)}) == "undefined");
  CHECK(world.run("exact", {integer(8), integer(2)}) == "4");
  CHECK(world.run("exact", {integer(7), integer(2)}) == "undefined");
  CHECK(world.run("exact", {integer(s0 * s1), integer(s1)}) == "s0");
  CHECK(world.run("exact", {integer(s0), integer(2)}) == "undefined");
  CHECK(world.run("ratio", {integer(8)}) == "1/8");
  CHECK(world.run("ratio", {integer(s0)}) == "1/s0");
  CHECK(world.run("least", {integer(8), integer(4)}) == "[4, 8, 3, 12, 32]");
  CHECK(world.run("least", {integer(s0), integer(0)}) == "[0, s0, 0, s0, 0]");
  CHECK(world.run("entries", {l}) ==
        "[[5, 6], [4], [5], [4, 5, 6, 9], [4, 7, 6], [4, 6], [5], [0, 4, 5, 6]]");
  CHECK(world.run("entry", {l, integer(2)}) == "6");
  CHECK(world.run("entry", {l, integer(3)}) == "undefined");
  CHECK(world.run("entry", {l, integer(-1)}) == "undefined");
  CHECK(world.run("entry", {l, integer(s0)}) == "undefined");
  CHECK(world.run("tail", {l, integer(3)}) == "[]");
  CHECK(world.run("tail", {l, integer(4)}) == "undefined");
  CHECK(world.run("odd", {Value(numbers({1, 2, 3}))}) == "[2, 6]");
  CHECK(world.run("odd", {Value(std::vector<Value>{integer(s0)})}) == "undefined");
  CHECK(world.run("zipped", {l, Value(numbers({1, 2, 3}))}) == "[4, 10, 18]");
  CHECK(world.run("zipped", {l, Value(numbers({1, 2}))}) == "undefined");
  CHECK(world.run("folded", {l}) == "456");
  CHECK(world.run("named", {integer(3)}) == "18");
  CHECK(world.run("chosen", {integer(0)}) == "1");
  CHECK(world.run("chosen", {integer(s0)}) == "2");
  CHECK(world.run("chosen", {integer(s0 - 1)}) == "undefined");
  CHECK(world.run("totals", {Value(numbers({1, 2, 3}))}) == "[14, 3, 6, 2]");
  CHECK(world.run("functions", {l}) == "[[6, 5, 4], [6, 4, 5], [1, 2, 0], [0, 2, 3], [0, 1, 2], [2, 3]]");
  CHECK(world.run("more", {l}) == "[[8, 4, 9, 5, 6], [2, 3]]");
  CHECK(world.run("lists", {l}) == "[[[4, 5], [5, 6]], [[4, 4], [5, 5], [6, 6]]]");
  CHECK(world.run("numbered", {l}) == "[[0, 4], [1, 5], [2, 6]]");
  CHECK(world.run("place", {l, integer(7)}) == "undefined");
  CHECK(world.run("bad", {l}) == "undefined");
  // Lists are no longer than makes sense.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(world.run("between", {integer(3), integer(9)}) == "6");
  CHECK(world.run("between", {integer(9), integer(3)}) == "0");
  CHECK(world.run("between", {integer(kMost), integer(-kMost)}) == "0");
  CHECK(world.run("between", {integer(-kMost), integer(kMost)}) == "undefined");
  CHECK(world.run("between", {integer(0), integer(kMost)}) == "undefined");
  for (const char* grown : {"doubled", "spread"}) {
    CHECK(world.run(grown, {integer(10)}) == "1024");
    CHECK(world.run(grown, {integer(60)}) == "undefined");
  }
  const auto scalar = [](Scalar value) { return Value(Attr::of(value)); };
  CHECK(world.run("scalars", {scalar(Scalar::ratio(1, 2)), scalar(3)}) == "[7/2, -5/2, 3/2, 1/6, -1/2, 1/2]");
  CHECK(world.run("scalars", {scalar(1), scalar(0)}) == "undefined");
}

TEST_CASE("conditions are three-valued") {
  World world(R"(
    lower equal(n: int, m: int) when n == m: probe(; 0);
    lower differ(n: int, m: int) when not n == m: probe(; 0);
    lower either(n: int, m: int) when n == m or m == 2: probe(; 0);
    lower chain(n: int, m: int) when 0 <= n < m <= 8: probe(; 0);
    lower all(l: int*, n: int) when forall x in l: x < n: probe(; 0);
    lower some(l: int*, n: int) when exists x in l: x == n: probe(; 0);
    lower member(l: int*, n: int) when n in l: probe(; 0);
    lower beyond(l: int*) when l[3] == 1 : probe(; 0);
    lower nowhere(l: int*) when not l[3] == 1 : probe(; 0);
    lower types(t: dtype) when is_float(t) and not is_wide_float(t) or is_integer(t) or is_bool(t): probe(; 0);
    lower absent(n: int?) when is_none(n): probe(; 0);
    lower halves(n: int) when divides(2, n): probe(; 0);
    lower lists(l: int*, m: int*) when l == m: probe(; 0);
    lower order(c: scalar, d: scalar) when c < d: probe(; 0);
    lower shapes(x: tensor, y: tensor) when x.shape == y.shape and rank(x) == 2 and x.dtype == f32: probe(; 0);
  )");
  const Value l = Value(numbers({4, 5}));
  CHECK(world.condition("equal", {integer(3), integer(3)}) == Truth::yes);
  CHECK(world.condition("equal", {integer(3), integer(4)}) == Truth::no);
  CHECK(world.condition("equal", {integer(s0), integer(4)}) == Truth::unknown);
  CHECK(world.condition("equal", {integer(s0), integer(0)}) == Truth::no);
  CHECK(world.condition("differ", {integer(3), integer(4)}) == Truth::yes);
  CHECK(world.condition("differ", {integer(s0), integer(4)}) == Truth::unknown);
  CHECK(world.condition("either", {integer(s0), integer(2)}) == Truth::yes);
  CHECK(world.condition("either", {integer(s0), integer(3)}) == Truth::unknown);
  CHECK(world.condition("chain", {integer(3), integer(4)}) == Truth::yes);
  CHECK(world.condition("chain", {integer(4), integer(4)}) == Truth::no);
  CHECK(world.condition("all", {l, integer(6)}) == Truth::yes);
  CHECK(world.condition("all", {l, integer(5)}) == Truth::no);
  CHECK(world.condition("all", {Value(std::vector<Value>{integer(s0), integer(9)}), integer(5)}) ==
        Truth::no);
  CHECK(world.condition("all", {Value(std::vector<Value>{integer(s0)}), integer(5)}) == Truth::unknown);
  CHECK(world.condition("some", {l, integer(5)}) == Truth::yes);
  CHECK(world.condition("some", {l, integer(6)}) == Truth::no);
  CHECK(world.condition("member", {l, integer(5)}) == Truth::yes);
  CHECK(world.condition("member", {l, integer(s0)}) == Truth::unknown);
  CHECK(world.condition("beyond", {l}) == Truth::unknown);
  CHECK(world.condition("nowhere", {l}) == Truth::unknown);
  CHECK(world.condition("types", {Value(Attr::of(DType::f8))}) == Truth::yes);
  CHECK(world.condition("types", {Value(Attr::of(DType::f16))}) == Truth::no);
  CHECK(world.condition("types", {Value(Attr::of(DType::b8))}) == Truth::yes);
  CHECK(world.condition("types", {Value(Attr::of(DType::u8))}) == Truth::yes);
  CHECK(world.condition("absent", {Value()}) == Truth::yes);
  CHECK(world.condition("absent", {integer(0)}) == Truth::no);
  CHECK(world.condition("halves", {integer(2 * s0)}) == Truth::yes);
  CHECK(world.condition("halves", {integer(2 * s0 + 1)}) == Truth::no);
  CHECK(world.condition("lists", {l, Value(numbers({4, 5}))}) == Truth::yes);
  CHECK(world.condition("lists", {l, Value(numbers({4}))}) == Truth::no);
  const auto scalar = [](Scalar value) { return Value(Attr::of(value)); };
  CHECK(world.condition("order", {scalar(Scalar::ratio(1, 3)), scalar(Scalar::ratio(1, 2))}) == Truth::yes);
  CHECK(world.condition("order", {scalar(Scalar::infinity(true)), scalar(Scalar(s0))}) == Truth::yes);
  CHECK(world.condition("order", {scalar(Scalar(0)), scalar(*(Scalar(1) / Scalar(s0)))}) == Truth::yes);
  const TermId x = world.leaf("x", {2, 3});
  const TermId y = world.leaf("y", {2, 3});
  CHECK(world.condition("shapes", {term(x), term(y)}) == Truth::yes);
}

TEST_CASE("terms") {
  World world(R"(
    lower apply(x: tensor, y: tensor): add_n(x, scale(y; 1 / 2));
    lower listed(xs: tensor+, d: int): concat(xs; d);
    lower blocks(xs: tensor+): concat([exp(x) for x in xs]; 0);
    lower spread(x: tensor, xs: tensor*): add_n(x, *xs);
    lower offset(xs: tensor+): [slice(x; 0, o, o + 1) for x, o in zip(xs, offsets(xs, 1))];
    lower which(xs: tensor+, a: int, b: int): probe(; block_at(xs, 0, a, b));
    lower filled(x: tensor): [full(1 / 2; x.shape, f16), full_like(-inf, x)];
    lower shaped(x: tensor): [reshape(x; [-1]), broadcast_to(x; [5, *x.shape]), reshape(x; [x.shape[1], x.shape[0]])];
    lower wrong(x: tensor): slice(x; 0, 0, 100);
    lower unfit(x: tensor): reshape(x; [7]);
    lower facts(x: tensor): probe(; [uniform(x), scalar_of(interval_low(x))]);
    lower several(x: tensor): (x, exp(x), none);
    lower recorded(x: tensor): broadcast_to(x; result.shape);
    lower numbers(x: operand, y: operand): add_n(x, y);
    lower over(x: tensor, ds: int*): fold(acc = x; d in reversed(ds): reduce_sum(acc; d));
    lower memory(x: tensor): fresh(x.shape, x.dtype);
    lower root(x: tensor): scale(x; 1 / 8);
  )");
  const TermId x = world.leaf("x", {2, 3});
  const TermId y = world.leaf("y", {2, 3});
  CHECK(world.run("apply", {term(x), term(y)}) == "add_n(x, scale(y; 1/2))");
  CHECK(world.run("listed", {terms({x, y}), integer(1)}) == "concat(x, y; 1)");
  CHECK(world.run("blocks", {terms({x, y})}) == "concat(exp(x), exp(y); 0)");
  CHECK(world.run("spread", {term(x), terms({x, y})}) == "add_n(x, x, y)");
  CHECK(world.run("offset", {terms({x, y})}) == "undefined");
  CHECK(world.run("which", {terms({x, y}), integer(2), integer(4)}) == "1");
  CHECK(world.run("which", {terms({x, y}), integer(1), integer(2)}) == "undefined");
  CHECK(world.run("filled", {term(x)}) ==
        "[bcast(const(; 1/2, f16); [0, 1], [2, 3]), bcast(const(; -inf, f32); [0, 1], [2, 3])]");
  CHECK(world.run("shaped", {term(x)}) == "[merge(x; 0), bcast(x; [0], [5]), split(merge(x; 0); 0, 2)]");
  CHECK(world.run("wrong", {term(x)}) == "undefined");
  CHECK(world.evaluator.reason() ==
        "`slice(x; 0, 0, 100)` is undefined: slice(f32[2, 3]; 0, 0, 100): requires `end <= x.shape[dim]`");
  CHECK(world.run("unfit", {term(x)}) == "undefined");
  CHECK(world.evaluator.reason().ends_with(" is undefined: cannot reshape [2, 3] to [7]"));
  const TermId c = *world.evaluator.full(3, type({4}, DType::i64));
  world.store.set_interval(c, {Int(3), std::nullopt});
  CHECK(world.run("facts", {term(c)}) == "[3, 3]");
  CHECK(world.run("facts", {term(x)}) == "undefined");
  CHECK(world.run("several", {term(x)}) == "[x, exp(x), none]");
  CHECK(world.run("over", {term(x), Value(numbers({0, 1}))}) == "reduce_sum(reduce_sum(x; 1); 0)");
  CHECK(world.run("memory", {term(x)}) == "fresh");
  CHECK(world.run("root", {term(x)}) == "scale(x; 1/8)");
  CHECK(world.run("numbers", {term(x), integer(1)}) == "add_n(x, bcast(const(; 1, f32); [0, 1], [2, 3]))");

  const rules::Lowering& recorded = world.lowering("recorded");
  Frame frame = world.frame(recorded, {term(x)});
  frame.slots[recorded.result_types] = Value(type({4, 2, 3}));
  CHECK(world.print(*world.evaluator.evaluate(recorded.body, frame)) == "bcast(x; [0], [4])");
}

TEST_CASE("a number where a tensor of a known type is expected") {
  World world("lower zero(): probe(; 0);");
  const rules::Lowering& zero = world.lowering("zero");
  Frame frame = world.frame(zero, {});
  const TensorType wanted = type({4});
  CHECK(world.text(world.evaluator.evaluate_term(zero.body.attrs[0], frame, &wanted)) ==
        "bcast(const(; 0, f32); [0], [4])");
  CHECK(!world.evaluator.evaluate_term(zero.body.attrs[0], frame));
  CHECK(world.evaluator.reason() == "`0` is undefined");
}

TEST_CASE("collectives: the values of all members") {
  World world(R"(
    collective gather(xs: tensor+, sizes: int*; group: group): concat([reshape(x; all(sizes)[k]) for k, x in enumerate(xs)]; 0);
  )");
  const rules::Lowering& gather = world.lowering("gather");
  const TermId x = world.leaf("x", {4});
  const TermId y = world.leaf("y", {6});
  std::vector<Frame> members = {world.frame(gather, {terms({x, y}), Value(numbers({2, 2}))}),
                                world.frame(gather, {terms({x, y}), Value(numbers({3, 2}))})};
  Frame frame = members[0];
  frame.members = members;
  CHECK(world.print(*world.evaluator.evaluate(gather.body, frame)) ==
        "concat(split(x; 0, 2), split(y; 0, 2); 0)");
}

}  // namespace entangle::term::test
