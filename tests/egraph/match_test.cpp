#include "entangle/egraph/match.h"

#include <algorithm>

#include "world.h"

using namespace entangle;
using namespace entangle::egraph;

namespace {

std::string show(const World& w, const term::Value& value) {
  if (const term::Term* term = value.as_term()) {
    return w.graph->print_original(term->id);
  }
  if (const std::vector<term::Value>* list = value.as_list()) {
    std::string text;
    for (const term::Value& entry : *list) {
      text += (text.empty() ? "" : " ") + show(w, entry);
    }
    return "[" + text + "]";
  }
  const std::optional<tensor::Attr> attr = value.to_attr();
  return attr ? tensor::to_string(*attr) : "?";
}

// The bindings of the lemma's parameters at each match of its left side in a class.
std::vector<std::string> matches(World& w, const std::string& name, TermId id) {
  const rules::Lemma& lemma = w.lemma(name);
  term::Frame frame;
  frame.slots.resize(lemma.slots.size());
  std::vector<std::string> result;
  w.graph->matcher().match(
      lemma.left, id, frame, lemma.generic ? &*lemma.generic : nullptr, [&](term::Frame& found) {
        std::string text;
        for (std::size_t i = 0; i < lemma.parameters; ++i) {
          if (found.slots[i]) {
            text += (text.empty() ? "" : ", ") + lemma.slots[i].name + "=" + show(w, *found.slots[i]);
          }
        }
        result.push_back(text);
        return false;
      });
  for (const std::optional<term::Value>& slot : frame.slots) {
    CHECK_FALSE(slot.has_value());
  }
  CHECK(frame.focus == nullptr);
  return result;
}

using Found = std::vector<std::string>;

}  // namespace

TEST_CASE("variables, constants and wildcards in tensor and attribute places") {
  World w(R"(
lemma any(x: tensor, d: axis, a: int, b: int): slice(x; d, a, b) => slice(x; d, a, b);
lemma from_zero(x: tensor, d: axis): slice(x; d, 0, _) => slice(x; d, 0, 1);
lemma by_name(x: tensor, b: int): slice(x; end = b) => slice(x; 0, 0, b);
lemma ignored(d: axis): slice(_; d, _, _) => const(; 0, f32);
lemma again(x: tensor): sub(x, x) => scale(x; 0);
)");
  const TermId x = w.leaf("x", {4, 6});
  const TermId y = w.leaf("y", {4, 6});
  const TermId a = w.make("slice", {x}, {1, 0, 2});
  const TermId b = w.make("slice", {x}, {1, 2, 4});
  CHECK(matches(w, "any", a) == Found{"x=x, d=1, a=0, b=2"});
  CHECK(matches(w, "from_zero", a) == Found{"x=x, d=1"});
  CHECK(matches(w, "from_zero", b) == Found{});
  CHECK(matches(w, "by_name", b) == Found{"x=x, b=4"});
  CHECK(matches(w, "ignored", b) == Found{"d=1"});
  CHECK(matches(w, "any", x) == Found{});
  CHECK(matches(w, "again", w.make("sub", {x, x})) == Found{"x=x"});
  const TermId difference = w.make("sub", {x, y});
  CHECK(matches(w, "again", difference) == Found{});
  w.graph->merge(x, y, {Reason::Kind::assumption, 0, ""});
  w.graph->rebuild();
  CHECK(matches(w, "again", difference) == Found{"x=x"});
}

TEST_CASE("all nodes of a class are tried, in order of creation") {
  World w("lemma l(x: tensor, y: tensor): exp(sub(x, y)) => exp(x);\n");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId z = w.leaf("z", {4});
  const TermId a = w.make("sub", {x, y});
  const TermId b = w.make("sub", {y, z});
  w.graph->merge(b, a, {});
  w.graph->rebuild();
  CHECK(matches(w, "l", w.make("exp", {a})) == Found{"x=x, y=y", "x=y, y=z"});
}

TEST_CASE("expressions in attributes, also over variables that are bound further right") {
  World w(R"(
lemma whole(x: tensor, d: axis): slice(x; d, 0, x.shape[d]) => x;
lemma next(x: tensor, d: axis): merge(merge(x; d + 1); d) => merge(merge(x; d); d);
lemma neighbours(x: tensor, y: tensor, d: axis, a: int): sub(slice(x; d, a + 2, _), slice(y; d, a, _)) => sub(y, y);
lemma sizes(x: tensor, n: int): bcast(x; [0], [n]) => bcast(x; [0], [n]);
lemma last(x: tensor, as: int*, n: int): bcast(x; _, [*as, n]) => x;
)");
  const TermId x = w.leaf("x", {4, 6, 2});
  const TermId v = w.leaf("v", {4});
  CHECK(matches(w, "whole", w.exact("slice", {x}, {1, 0, 6})) == Found{"x=x, d=1"});
  CHECK(matches(w, "whole", w.exact("slice", {x}, {1, 0, 4})) == Found{});
  CHECK(matches(w, "next", w.make("merge", {w.make("merge", {x}, {1})}, {0})) == Found{"x=x, d=0"});
  CHECK(matches(w, "next", w.make("merge", {w.make("merge", {x}, {0})}, {0})) == Found{});
  const TermId p = w.make("slice", {x}, {1, 3, 5});
  const TermId q = w.make("slice", {x}, {1, 1, 3});
  CHECK(matches(w, "neighbours", w.make("sub", {p, q})) == Found{"x=x, y=x, d=1, a=1"});
  CHECK(matches(w, "neighbours", w.make("sub", {q, p})) == Found{});
  CHECK(matches(w, "sizes", w.make("bcast", {v}, {std::vector<int>{0}, std::vector<int>{7}})) ==
        Found{"x=v, n=7"});
  CHECK(matches(w, "sizes", w.make("bcast", {v}, {std::vector<int>{1}, std::vector<int>{7}})) == Found{});
  CHECK(matches(w, "last", w.make("bcast", {v}, {std::vector<int>{0, 2, 3}, std::vector<int>{7, 8, 9}})) ==
        Found{"x=v, as=[7 8], n=9"});
}

TEST_CASE("attributes are compared with the solver") {
  sym::Facts facts;
  const Int s = Int::symbol("egp");
  const Int t = Int::symbol("egq");
  facts.add_le(s, t);
  facts.add_le(t, s);
  World w(
      "lemma l(x: tensor, y: tensor, d: axis, a: int): sub(slice(x; d, 0, a), slice(y; d, 0, a)) => sub(x, "
      "y);\n",
      facts);
  const TermId x = w.leaf("x", {s + s});
  const TermId p = w.make("slice", {x}, {0, 0, s});
  const TermId q = w.make("slice", {x}, {0, 0, t});
  CHECK(matches(w, "l", w.make("sub", {p, q})).size() == 1);
  CHECK(matches(w, "l", w.make("sub", {p, w.make("slice", {x}, {0, 1, s + 1})})) == Found{});
}

TEST_CASE("runs of operands") {
  World w(R"(
lemma whole(xs: tensor+, d: axis): concat(xs; d) => concat(xs; d);
lemma star(xs: tensor+, d: axis): concat(*xs; d) => concat(xs; d);
lemma inner(as: tensor*, bs: tensor+, cs: tensor*, d: axis): concat(*as, concat(*bs; d), *cs; d) => concat(*as, *bs, *cs; d);
lemma first(x: tensor, ys: tensor+, d: axis): concat(x, *ys; d) => concat(x, *ys; d);
lemma pair(as: tensor*, x: tensor, y: tensor, bs: tensor*, d: axis): concat(*as, x, y, *bs; d) => concat(*as, x, y, *bs; d);
lemma ends(x: tensor, d: axis): concat(x, *_, x; d) => x;
)");
  const TermId x = w.leaf("x", {2});
  const TermId y = w.leaf("y", {2});
  const TermId z = w.leaf("z", {2});
  const TermId xyz = w.make("concat", {x, y, z}, {0});
  CHECK(matches(w, "whole", xyz) == Found{"xs=[x y z], d=0"});
  CHECK(matches(w, "star", xyz) == Found{"xs=[x y z], d=0"});
  CHECK(matches(w, "first", xyz) == Found{"x=x, ys=[y z], d=0"});
  CHECK(matches(w, "first", w.make("concat", {x}, {0})) == Found{});
  CHECK(matches(w, "pair", xyz) == Found{"as=[], x=x, y=y, bs=[z], d=0", "as=[x], x=y, y=z, bs=[], d=0"});
  CHECK(matches(w, "ends", xyz) == Found{});
  CHECK(matches(w, "ends", w.make("concat", {x, y, z, x}, {0})) == Found{"x=x, d=0"});
  const TermId nested = w.make("concat", {x, w.make("concat", {y, z}, {0}), z}, {0});
  CHECK(matches(w, "inner", nested) == Found{"as=[x], bs=[y z], cs=[z], d=0"});
}

TEST_CASE("operands of commutative operators match in any order") {
  World w(R"(
lemma one(x: tensor, rest: tensor*): add_n(x, *rest) => add_n(x, *rest);
lemma some(x: tensor, rest: tensor*): add_n(exp(x), *rest) => add_n(exp(x), *rest);
lemma two(x: tensor, y: tensor, rest: tensor*): add_n(exp(x), neg(y), *rest) => add_n(x, y, *rest);
lemma both(x: tensor, y: tensor): add_n(neg(x), y) => sub(y, x);
lemma all(xs: tensor+): add_n(xs) => add_n(xs);
lemma zero(rest: tensor+): add_n(0, *rest) => add_n(rest);
lemma known(c: scalar, x: tensor): mul(uniform(c), x) => scale(x; c);
lemma twice(x: tensor, rest: tensor*): add_n(x, x, *rest) => add_n(scale(x; 2), *rest);
)");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId ex = w.make("exp", {x});
  const TermId ny = w.make("neg", {y});
  const TermId sum = w.make("add_n", {ny, x, ex});
  CHECK(matches(w, "all", sum) == Found{"xs=[x exp(x) neg(y)]"});
  CHECK(matches(w, "one", sum) ==
        Found{"x=x, rest=[exp(x) neg(y)]", "x=exp(x), rest=[x neg(y)]", "x=neg(y), rest=[x exp(x)]"});
  CHECK(matches(w, "some", sum) == Found{"x=x, rest=[x neg(y)]"});
  CHECK(matches(w, "two", sum) == Found{"x=x, y=y, rest=[x]"});
  CHECK(matches(w, "both", w.make("add_n", {ny, x})) == Found{"x=y, y=x"});
  CHECK(matches(w, "both", sum) == Found{});
  CHECK(matches(w, "one", w.make("add_n", {x, x})) == Found{"x=x, rest=[x]"});
  CHECK(matches(w, "twice", w.make("add_n", {x, y, x})) == Found{"x=x, rest=[y]"});
  const TermId with_zero = w.make("add_n", {w.full(0, {4}), x, y});
  CHECK(matches(w, "zero", with_zero) == Found{"rest=[x y]"});
  CHECK(matches(w, "zero", sum) == Found{});
  CHECK(matches(w, "known", w.make("mul", {x, w.full(3, {4})})) == Found{"c=3, x=x"});
  CHECK(matches(w, "known", w.make("mul", {x, y})) == Found{});
}

TEST_CASE("comprehensions collect what is bound for each element") {
  World w(R"(
lemma pieces(x: tensor, d: axis, as: int+, bs: int+): concat([slice(x; d, a, b) for a, b in zip(as, bs)]; d) => x;
lemma scaled(xs: tensor+, c: scalar): add_n([scale(x; c) for x in xs]) => scale(add_n(xs); c);
lemma rows(rows: tensor**, d: axis, e: axis): concat([concat(row; e) for row in rows]; d) => concat(rows[0]; e);
lemma negated(xs: tensor+, ys: tensor*): concat(*[neg(x) for x in xs], *ys; _) => concat(xs; 0);
)");
  const TermId x = w.leaf("x", {8, 4});
  const auto cut = [&](int a, int b) { return w.make("slice", {x}, {0, a, b}); };
  CHECK(matches(w, "pieces", w.make("concat", {cut(0, 2), cut(4, 5), cut(1, 2)}, {0})) ==
        Found{"x=x, d=0, as=[0 4 1], bs=[2 5 2]"});
  CHECK(matches(w, "pieces", w.make("concat", {cut(0, 2), x}, {0})) == Found{});
  // Another slice in the same class: both are found.
  const TermId y = w.leaf("y", {8, 4});
  const TermId same = w.make("slice", {y}, {0, 3, 5});
  w.graph->merge(cut(0, 2), same, {});
  w.graph->rebuild();
  CHECK(matches(w, "pieces", w.make("concat", {cut(0, 2), cut(4, 5)}, {0})) ==
        Found{"x=x, d=0, as=[0 4], bs=[2 5]"});
  const TermId v = w.leaf("v", {3});
  const TermId u = w.leaf("u", {3});
  CHECK(matches(w, "scaled", w.make("add_n", {w.make("scale", {u}, {2}), w.make("scale", {v}, {2})})) ==
        Found{"xs=[u v], c=2"});
  CHECK(matches(w, "scaled", w.make("add_n", {w.make("scale", {u}, {2}), w.make("scale", {v}, {3})})) ==
        Found{});
  const TermId top = w.make("concat", {x, x}, {1});
  const TermId low = w.make("concat", {y, x}, {1});
  CHECK(matches(w, "rows", w.make("concat", {top, low}, {0})) == Found{"rows=[[x x] [y x]], d=0, e=1"});
  CHECK(matches(w, "negated", w.make("concat", {w.make("neg", {u}), w.make("neg", {v}), u}, {0})) ==
        Found{"xs=[u], ys=[neg(v) u]", "xs=[u v], ys=[u]"});
}

TEST_CASE("a comprehension takes an operand as an application to it alone, where that is the operand") {
  World w(R"(
normalise lemma one(x: tensor, d: axis): concat(x; d) => x;
lemma flat(rows: tensor**, d: axis): concat([concat(row; d) for row in rows]; d) => concat(rows[0]; d);
lemma finest(rows: tensor**, d: axis):
  concat([concat(row; d) for row in rows if forall x in row: not has(x, concat(*_; d))]; d) => concat(rows[0]; d);
lemma across(rows: tensor**, d: axis, e: axis): concat([concat(row; e) for row in rows]; d) => concat(rows[0]; e);
lemma sums(rows: tensor**): mul([add_n(row) for row in rows]) => mul(rows[0]);
)");
  const TermId x = w.leaf("x", {4, 4});
  const TermId y = w.leaf("y", {4, 4});
  const TermId z = w.leaf("z", {8, 4});
  const TermId xy = w.make("concat", {x, y}, {0});
  CHECK(matches(w, "flat", w.make("concat", {z, xy, x}, {0})) == Found{"rows=[[z] [x y] [x]], d=0"});
  CHECK(matches(w, "flat", w.make("concat", {x, y}, {0})) == Found{"rows=[[x] [y]], d=0"});
  const TermId nested = w.make("concat", {xy, z}, {0});
  CHECK(matches(w, "flat", w.make("concat", {nested, y}, {0})) ==
        Found{"rows=[[concat(x, y; 0) z] [y]], d=0"});
  CHECK(matches(w, "finest", w.make("concat", {xy, z}, {0})) == Found{"rows=[[x y] [z]], d=0"});
  CHECK(matches(w, "finest", w.make("concat", {y, nested}, {0})) == Found{});
  // What attribute an operand would have alone must be known.
  const TermId wide = w.make("concat", {x, y}, {1});
  const TermId flat = w.leaf("flat", {4, 8});
  CHECK(matches(w, "across", w.make("concat", {wide, flat}, {0})) == Found{"rows=[[x y] [flat]], d=0, e=1"});
  CHECK(matches(w, "across", w.make("concat", {flat, wide}, {0})) == Found{});
  // No lemma says that a sum of one term is the term.
  CHECK(matches(w, "sums", w.make("mul", {w.make("add_n", {x, y}), x})) == Found{});
}

TEST_CASE("in any order: a comprehension beside a run takes every operand that matches") {
  World w(R"(
lemma negated(xs: tensor+, rest: tensor*): add_n(*[neg(x) for x in xs], *rest) => add_n(*xs, *rest);
lemma scaled(xs: tensor+, c: scalar, rest: tensor*): add_n(*[scale(x; c) for x in xs], *rest) => add_n(*xs, *rest);
lemma beside(y: tensor, xs: tensor+, rest: tensor*): add_n(exp(y), *[neg(x) for x in xs], *rest) => add_n(*xs, *rest);
lemma chosen(xs: tensor+, rest: tensor+): add_n(*[neg(x) for x in xs if not has(x, exp(_))], *rest) => add_n(*xs, *rest);
lemma sums(xss: tensor**, rest: tensor*): add_n(*[add_n(*xs) for xs in xss], *rest) => add_n(*xss[0], *rest);
)");
  const TermId u = w.leaf("u", {3});
  const TermId v = w.leaf("v", {3});
  const TermId x = w.leaf("x", {3});
  const TermId nu = w.make("neg", {u});
  const TermId nv = w.make("neg", {v});
  const TermId eu = w.make("exp", {u});
  CHECK(matches(w, "negated", w.make("add_n", {nu, x, nv})) == Found{"xs=[u v], rest=[x]"});
  CHECK(matches(w, "negated", w.make("add_n", {nu, nv})) == Found{"xs=[u v], rest=[]"});
  CHECK(matches(w, "negated", w.make("add_n", {u, x})) == Found{});
  CHECK(matches(w, "beside", w.make("add_n", {nu, x, nv, eu})) == Found{"y=u, xs=[u v], rest=[x]"});
  // What the elements share: all that agree, each of them once.
  const TermId u2 = w.make("scale", {u}, {2});
  const TermId v3 = w.make("scale", {v}, {3});
  const TermId x2 = w.make("scale", {x}, {2});
  CHECK(matches(w, "scaled", w.make("add_n", {u2, v3, x2, v})) ==
        Found{"xs=[u x], c=2, rest=[v scale(v; 3)]", "xs=[v], c=3, rest=[v scale(u; 2) scale(x; 2)]"});
  // An `if` says which are taken.
  const TermId neu = w.make("neg", {eu});
  CHECK(matches(w, "chosen", w.make("add_n", {nu, neu, nv})) == Found{"xs=[u v], rest=[neg(exp(u))]"});
  CHECK(matches(w, "chosen", w.make("add_n", {nu, nv})) == Found{});
  // Of two operands all ways are found, so that sums that have something in common meet.
  const TermId one = w.make("add_n", {u, v});
  const TermId two = w.make("add_n", {v, x});
  w.graph->merge(one, w.make("add_n", {u, x}), {});
  w.graph->merge(two, w.make("add_n", {nu, x}), {});
  w.graph->rebuild();
  CHECK(matches(w, "sums", w.make("add_n", {one, two})) ==
        Found{"xss=[[u x] [v x]], rest=[]", "xss=[[u x] [x neg(u)]], rest=[]", "xss=[[u v] [v x]], rest=[]",
              "xss=[[u v] [x neg(u)]], rest=[]"});
}

TEST_CASE("generic patterns: f and its axes") {
  World w(R"(
lemma maps<f: maps a -> r>(xs: tensor+): f(.., concat(xs; a), ..) => concat(xs; r);
lemma slices<f: maps a -> r>(x: tensor, p: int, q: int): slice(f(.., x, ..); r, p, q) => f(.., slice(x; a, p, q), .. | y @ b => slice(y; b, p, q));
lemma pairs<f: maps pair a -> r>(x: tensor, k: int): f(.., split(x; a, k), ..) => split(f(.., x, .. | y @ b => merge(y; b); join); r, k);
lemma sums<f: reduces sum a>(xs: tensor+): f(.., concat(xs; a), ..) => add_n([f(.., x, .. | y @ b => y) for x in xs]);
lemma maxima<f: reduces max a>(xs: tensor+): f(.., concat(xs; a), ..) => max_n([f(.., x, ..) for x in xs]);
lemma adds<f: linear>(xs: tensor+): f(.., add_n(xs), ..) => add_n([f(.., x, ..) for x in xs]);
lemma pointwise<f: elementwise>(x: tensor): f(.., neg(x), ..) => f(.., neg(x), ..);
)");
  const TermId x = w.leaf("x", {2, 6});
  const TermId y = w.leaf("y", {2, 6});
  const TermId z = w.leaf("z", {6, 5});
  const TermId rows = w.make("concat", {x, y}, {0});
  const TermId columns = w.make("concat", {x, y}, {1});
  const auto with_axes = [&](const std::string& name, TermId id) {
    const rules::Lemma& lemma = w.lemma(name);
    term::Frame frame;
    frame.slots.resize(lemma.slots.size());
    std::vector<std::string> result;
    w.graph->matcher().match(lemma.left, id, frame, &*lemma.generic, [&](term::Frame& found) {
      REQUIRE(found.focus != nullptr);
      std::string text = w.rules().op(found.focus->op).name + " at " + std::to_string(found.focus->operand);
      const rules::OperatorVariable& variable = *lemma.generic;
      if (variable.axis != rules::kNoSlot) {
        text += ", a=" + show(w, *found.slots[variable.axis]);
      }
      if (variable.result_axis != rules::kNoSlot) {
        text += ", r=" + show(w, *found.slots[variable.result_axis]);
      }
      result.push_back(text);
      return false;
    });
    return result;
  };
  CHECK(with_axes("maps", w.make("exp", {rows})) == Found{"exp at 0, a=0, r=0"});
  CHECK(with_axes("maps", w.make("sub", {columns, columns})) ==
        Found{"sub at 0, a=1, r=1", "sub at 1, a=1, r=1"});
  CHECK(with_axes("maps", w.make("add_n", {columns, columns})) == Found{"add_n at 0, a=1, r=1"});
  CHECK(with_axes("maps", w.make("contract", {rows, z}, {0, 1})) == Found{"contract at 0, a=0, r=0"});
  CHECK(with_axes("maps", w.make("transpose", {columns}, {std::vector<int>{1, 0}})) ==
        Found{"transpose at 0, a=1, r=0"});
  CHECK(with_axes("maps", w.make("reduce_sum", {columns}, {0})) == Found{"reduce_sum at 0, a=1, r=0"});
  CHECK(with_axes("maps", w.make("reduce_sum", {rows}, {0})) == Found{});
  CHECK(with_axes("maps", rows) == Found{});
  CHECK(with_axes("maps", w.make("concat", {rows, rows}, {1})) ==
        Found{"concat at 0, a=0, r=0", "concat at 1, a=0, r=0"});

  CHECK(with_axes("slices", w.make("slice", {w.make("contract", {rows, z}, {0, 1})}, {1, 0, 2})) ==
        Found{"contract at 1, a=1, r=1"});
  CHECK(with_axes("slices", w.make("slice", {w.make("reduce_sum", {x}, {0})}, {0, 0, 2})) ==
        Found{"reduce_sum at 0, a=1, r=0"});
  CHECK(with_axes("slices", w.make("slice", {x}, {0, 0, 1})) == Found{});

  const TermId t = w.leaf("t", {8, 6});
  const TermId wide = w.make("split", {t}, {0, 4});
  CHECK(with_axes("pairs", w.make("exp", {wide})) == Found{"exp at 0, a=0, r=0"});
  CHECK(with_axes("pairs", w.make("transpose", {wide}, {std::vector<int>{2, 0, 1}})) ==
        Found{"transpose at 0, a=0, r=1"});
  CHECK(with_axes("pairs", w.make("transpose", {wide}, {std::vector<int>{1, 0, 2}})) == Found{});
  CHECK(with_axes("pairs", w.make("reduce_sum", {wide}, {2})) == Found{"reduce_sum at 0, a=0, r=0"});
  CHECK(with_axes("pairs", w.make("reduce_sum", {wide}, {1})) == Found{});

  CHECK(with_axes("sums", w.make("reduce_sum", {rows}, {0})) == Found{"reduce_sum at 0, a=0"});
  const TermId tall = w.make("concat", {z, z}, {0});
  CHECK(with_axes("sums", w.make("contract", {columns, tall}, {0, 1})) ==
        Found{"contract at 0, a=1", "contract at 1, a=0"});
  CHECK(with_axes("sums", w.make("contract", {rows, z}, {0, 1})) == Found{});
  CHECK(with_axes("maxima", w.make("reduce_max", {rows}, {0})) == Found{"reduce_max at 0, a=0"});
  CHECK(with_axes("maxima", w.make("reduce_sum", {rows}, {0})) == Found{});

  const TermId sum = w.make("add_n", {x, y});
  CHECK(with_axes("adds", w.make("contract", {sum, z}, {0, 1})) == Found{"contract at 0"});
  CHECK(with_axes("adds", w.make("exp", {sum})) == Found{});
  CHECK(with_axes("adds", w.make("sub", {sum, sum})) == Found{});
  CHECK(with_axes("pointwise", w.make("sub", {x, w.make("neg", {y})})) == Found{"sub at 1"});
  CHECK(with_axes("pointwise", w.make("reduce_sum", {w.make("neg", {y})}, {0})) == Found{});
}

TEST_CASE("a class is not unfolded into itself") {
  World w(R"(
lemma flatten(xs: tensor+, rest: tensor*): add_n(add_n(xs), *rest) => add_n(*xs, *rest);
lemma outer(x: tensor): exp(neg(x)) => exp(neg(x));
)");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const TermId z = w.leaf("z", {4});
  const TermId sum = w.make("add_n", {x, y});
  w.graph->merge(x, sum, {});
  w.graph->rebuild();
  CHECK(matches(w, "flatten", x) == Found{});
  CHECK(matches(w, "flatten", w.make("add_n", {x, z})) == Found{});
  const Outcome outcome = w.saturate();
  CHECK(outcome.stop == Stop::saturated);
  const TermId n = w.make("neg", {y});
  w.graph->merge(n, y, {});
  w.graph->rebuild();
  CHECK(matches(w, "outer", w.make("exp", {y})) == Found{});
}

TEST_CASE("has_match and lookup") {
  World w(R"(
predicate chain(t: tensor) = has(t, neg(x) if named(x) or chain(x));
lemma a(x: tensor): exp(x) => x trigger has(x, neg(y) if named(y));
lemma b(x: tensor): exp(x) => x trigger chain(x);
lemma c(x: tensor, y: tensor): sub(x, y) => x trigger named(neg(x));
lemma d(x: tensor): neg(x) => x trigger constant(x);
lemma e(x: tensor): scale(x; 1) => x trigger not named(scale(x; 1));
)");
  const TermId x = w.leaf("x", {4});
  const TermId y = w.leaf("y", {4});
  const auto holds = [&](const std::string& name, TermId id) {
    bool found = false;
    w.graph->matcher().match_lemma(w.lemma(name), w.graph->nodes(id)[0],
                                   [&](term::Frame&) { return found = true; });
    return found;
  };
  const TermId nx = w.make("neg", {x});
  CHECK_FALSE(holds("a", w.make("exp", {nx})));
  CHECK_FALSE(holds("b", w.make("exp", {nx})));
  w.graph->set_named(x);
  CHECK(holds("a", w.make("exp", {nx})));
  CHECK(holds("b", w.make("exp", {nx})));
  const TermId nnx = w.make("neg", {nx});
  CHECK_FALSE(holds("a", w.make("exp", {nnx})));
  CHECK(holds("b", w.make("exp", {nnx})));
  // A cycle of classes ends.
  const TermId ny = w.make("neg", {y});
  const TermId nny = w.make("neg", {ny});
  w.graph->merge(nny, y, {});
  w.graph->rebuild();
  CHECK_FALSE(holds("b", w.make("exp", {y})));

  CHECK_FALSE(holds("c", w.make("sub", {x, y})));
  w.graph->set_named(nx);
  CHECK(holds("c", w.make("sub", {x, y})));
  const std::size_t terms = w.graph->term_count();
  const TermId z = w.leaf("z", {4});
  const TermId minus = w.make("sub", {z, y});
  CHECK_FALSE(holds("c", minus));
  CHECK(w.graph->term_count() == terms + 2);  // neg(z) was not built
  CHECK_FALSE(holds("d", nx));
  CHECK(holds("e", w.make("scale", {x}, {1})));
}
