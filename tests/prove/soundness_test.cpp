// What is proved holds for every name, element type, sign and count; what is refuted is false in real
// arithmetic.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "entangle/prove/claims.h"
#include "entangle/prove/prove.h"
#include "entangle/support/diagnostic.h"
#include "entangle/support/paths.h"

namespace entangle::prove {
namespace {

struct Expected {
  const char* name;
  const char* outcome;
};

// The lemmas and claims of the text that are named, looked at with and without a proof.
void check(const std::string& text, const std::vector<Expected>& expected) {
  const rules::Loaded loaded =
      rules::load_rules_text("test.rules", text, {std::string(ENTANGLE_SOURCE_DIR) + "/rules"});
  for (const auto& diagnostic : loaded.diagnostics) MESSAGE(support::render(diagnostic));
  REQUIRE(loaded.ok());
  const Claims claims(*loaded.rules);
  for (const Expected& one : expected) {
    std::size_t count = 0;
    const auto is = [&](const Result& result) {
      ++count;
      INFO(one.name);
      INFO(result.reason);
      INFO(result.counterexample);
      CHECK(to_string(result.outcome) == one.outcome);
    };
    for (const rules::Lemma& lemma : loaded.rules->lemmas()) {
      if (lemma.name == one.name) is(examine(*loaded.rules, lemma));
    }
    for (const Claim& claim : claims.all()) {
      if (claim.lemma.name == one.name) is(examine(claims, claim));
    }
    INFO(one.name);
    CHECK(count == 1);
  }
}

TEST_CASE("names that clauses compare with, and one that none does") {
  check(R"(
op zero(x: tensor): elementwise { value i => 0 * x[i]; }
op twice(x: tensor): elementwise { value i => 2 * x[i]; }
op at_foo(x: tensor; s: name): elementwise { value i => if s == foo then x[i] else 0; linear x; }
op not_foo(x: tensor; s: name): elementwise { value i => if s != foo then x[i] else 0; }
op among(x: tensor; s: name): elementwise { value i => if s in [foo, bar] then x[i] else 0; }
op same(x: tensor; s: name, t: name): elementwise { value i => if s == t then x[i] else 0; }
op one_of(x: tensor; s: name): elementwise { require s == foo or s == bar; value i => if s == bar then x[i] else 2 * x[i]; }
op quoted(x: tensor; s: name): elementwise { value i => if s == "odd name" then x[i] else 0; }
op square(x: tensor; s: name): elementwise { value i => if s == sq then x[i] * x[i] else x[i]; linear x; }
op minus(x: tensor, y: tensor; s: name): elementwise, commutative { value i => if s == sub then x[i] - y[i] else x[i] + y[i]; }
op reverse(x: tensor; dim: axis(x), s: name) {
  require 0 <= dim < rank(x);
  value i => if s == rev then x[i with [dim] = x.shape[dim] - 1 - i[dim]] else x[i];
  maps all(k < rank(x)): k <- x.k;
}
op total(x: tensor; dim: axis(x), s: name) {
  require 0 <= dim < rank(x);
  shape x.shape without dim;
  value i => if s == mean then sum(k < x.shape[dim]: x[i[:dim] ++ [k] ++ i[dim:]]) / x.shape[dim]
             else sum(k < x.shape[dim]: x[i[:dim] ++ [k] ++ i[dim:]]);
  reduces sum inner: x.dim;
}
lemma foo(x: tensor, s: name): at_foo(x; s) => zero(x);
lemma foo_but_not(x: tensor, s: name): at_foo(x; s) => zero(x) when s != foo;
lemma foo_itself(x: tensor): at_foo(x; foo) => x;
lemma not_foo_either(x: tensor, s: name): not_foo(x; s) => x;
lemma in_list(x: tensor, s: name): among(x; s) => zero(x);
lemma in_list_but_one(x: tensor, s: name): among(x; s) => zero(x) when s != foo;
lemma in_list_but_both(x: tensor, s: name): among(x; s) => zero(x) when s != foo and s != bar;
lemma two_differ(x: tensor, s: name, t: name): same(x; s, t) => zero(x);
lemma two_are_equal(x: tensor, s: name, t: name): same(x; s, t) => x;
lemma two_that_differ(x: tensor, s: name, t: name): same(x; s, t) => zero(x) when s != t;
lemma required(x: tensor, s: name): one_of(x; s) => twice(x);
lemma required_but_one(x: tensor, s: name): one_of(x; s) => twice(x) when s != bar;
lemma required_one(x: tensor, s: name): one_of(x; s) => x when s == bar;
lemma in_quotes(x: tensor, s: name): quoted(x; s) => zero(x);
)",
        {{"foo", "refuted"},
         {"foo_but_not", "proved"},
         {"foo_itself", "proved"},
         {"not_foo_either", "refuted"},
         {"in_list", "refuted"},
         {"in_list_but_one", "refuted"},
         {"in_list_but_both", "proved"},
         {"two_differ", "refuted"},
         {"two_are_equal", "refuted"},
         {"two_that_differ", "proved"},
         {"required", "refuted"},
         {"required_but_one", "proved"},
         {"required_one", "proved"},
         {"in_quotes", "refuted"},
         {"at_foo: linear x", "proved"},
         {"at_foo: elementwise", "proved"},
         {"one_of: elementwise", "proved"},
         {"square: linear x", "refuted"},
         {"minus: commutative", "refuted"},
         {"reverse: maps all", "refuted"},
         {"total: reduces sum inner", "refuted"}});
}

TEST_CASE("element types that clauses name or ask the kind of") {
  check(R"(
op typed(x: tensor; t: dtype): elementwise { dtype t; value i => x[i]; }
op attr16(x: tensor; t: dtype): elementwise { value i => if t == i16 then 0 else x[i]; }
op own16(x: tensor): elementwise { value i => if x.dtype == i16 then x[i] * x[i] else x[i]; linear x; }
op own32(x: tensor): elementwise { value i => if x.dtype == f32 then x[i] else 0; }
op whole(x: tensor): elementwise { value i => if is_integer(x.dtype) then 0 else x[i]; }
op narrow(x: tensor): elementwise { value i => if is_float(x.dtype) and not is_wide_float(x.dtype) then 0 else x[i]; }
op other(x: tensor, y: tensor): elementwise { dtype x.dtype; value i => if y.dtype == u8 then 0 else x[i]; linear x; }
op through_let(x: tensor): elementwise { let small = x.dtype == i8; value i => if small then 0 else x[i]; }
op widened(x: tensor): elementwise { dtype if x.dtype == i16 then i64 else x.dtype; value i => x[i]; }
lemma by_attribute(x: tensor, t: dtype): attr16(x; t) => x;
lemma by_attribute_but(x: tensor, t: dtype): attr16(x; t) => x when t != i16;
lemma by_own(x: tensor): own16(x) => x;
lemma by_own_but(x: tensor): own16(x) => x when x.dtype != i16;
lemma by_usual(x: tensor): own32(x) => x;
lemma by_kind(x: tensor): whole(x) => x;
lemma by_narrow(x: tensor): narrow(x) => x;
lemma by_other(x: tensor, y: tensor): other(x, y) => x;
lemma by_let(x: tensor): through_let(x) => x;
lemma by_result(x: tensor): widened(x) => x;
lemma of_one_kind(x: tensor, t: dtype): typed(x; t) => x when is_integer(t) and is_integer(x.dtype);
lemma of_one_type(x: tensor, t: dtype): typed(x; t) => x when t == x.dtype;
)",
        {{"by_attribute", "refuted"},
         {"by_attribute_but", "proved"},
         {"by_own", "refuted"},
         {"by_own_but", "proved"},
         {"by_usual", "refuted"},
         {"by_kind", "refuted"},
         {"by_narrow", "refuted"},
         {"by_other", "refuted"},
         {"by_let", "refuted"},
         {"by_result", "refuted"},
         {"of_one_kind", "refuted"},
         {"of_one_type", "proved"},
         {"own16: elementwise", "proved"},
         {"own16: linear x", "refuted"},
         {"other: linear x", "proved"}});
}

TEST_CASE("counts may be negative: then there is nothing to add") {
  check(R"(
op count(x: tensor; n: int) { require rank(x) == 1; shape []; value i => sum(k < n: x[[0]]); }
op times(x: tensor; n: int) { require rank(x) == 1; shape []; value i => n * x[[0]]; }
op below_0(x: tensor; n: int) { require rank(x) == 1 and n < 0; shape []; value i => sum(k < n: x[[0]]); }
op nested(x: tensor; a: int, b: int) { require rank(x) == 1; shape []; value i => sum(k < a: sum(j < b: x[[0]])); }
op product_(x: tensor; a: int, b: int) { require rank(x) == 1; shape []; value i => sum(k < a * b: x[[0]]); }
op falling(x: tensor) { require rank(x) == 1; value i => sum(k < 100 - i[0]: 1) * x[i]; }
op fall(x: tensor) { require rank(x) == 1; value i => (100 - i[0]) * x[i]; }
op inner(x: tensor) { require rank(x) == 1; shape []; value i => sum(k < x.shape[0]: sum(j < 40 - k: x[[k]])); }
op inner_times(x: tensor) { require rank(x) == 1; shape []; value i => sum(k < x.shape[0]: (40 - k) * x[[k]]); }
op rest(x: tensor; w: int) { require rank(x) == 1 and w >= 50; shape []; value i => sum(k < x.shape[0] - w: x[[0]]) + w * x[[0]]; }
op whole(x: tensor; w: int) { require rank(x) == 1 and w >= 50; shape []; value i => x.shape[0] * x[[0]]; }
op magnitude(x: tensor; n: int) { value i => (if n >= 0 then n else 0 - n) * x[i]; }
op scaled(x: tensor; n: int) { value i => n * x[i]; }
lemma any_count(x: tensor, n: int): count(x; n) => times(x; n);
lemma count_from_0(x: tensor, n: int): count(x; n) => times(x; n) when n >= 0;
lemma negative_count(x: tensor, n: int): below_0(x; n) => times(x; n);
lemma negative_is_0(x: tensor, n: int): below_0(x; n) => times(x; 0);
lemma nested_counts(x: tensor, a: int, b: int): nested(x; a, b) => product_(x; a, b);
lemma nested_counts_from_0(x: tensor, a: int, b: int): nested(x; a, b) => product_(x; a, b) when a >= 0 and b >= 0;
lemma both_negative(x: tensor, a: int, b: int): nested(x; a, b) => product_(x; a, b) when a < 0 and b < 0;
lemma counts_by_position(x: tensor): falling(x) => fall(x);
lemma counts_by_short_position(x: tensor): falling(x) => fall(x) when x.shape[0] <= 100;
lemma counts_by_inner_position(x: tensor): inner(x) => inner_times(x);
lemma differences_of_sizes(x: tensor, w: int): rest(x; w) => whole(x; w);
lemma signs(x: tensor, n: int): magnitude(x; n) => scaled(x; n);
lemma nothing_below_0(x: tensor, n: int): scaled(x; n) => scaled(x; 0) when n <= 0;
lemma above_minus_5(x: tensor, n: int): scaled(x; n) => magnitude(x; n) when n > -5;
)",
        {{"any_count", "refuted"},
         {"count_from_0", "proved"},
         {"negative_count", "refuted"},
         {"negative_is_0", "proved"},
         {"nested_counts", "refuted"},
         {"nested_counts_from_0", "proved"},
         {"both_negative", "refuted"},
         {"counts_by_position", "refuted"},
         {"counts_by_short_position", "proved"},
         {"counts_by_inner_position", "refuted"},
         {"differences_of_sizes", "refuted"},
         {"signs", "refuted"},
         {"nothing_below_0", "refuted"},
         {"above_minus_5", "refuted"}});
}

TEST_CASE("negative elements are tried where equations are given") {
  check(R"(
op square(x: tensor): elementwise { value i => x[i] * x[i]; }
lemma roots(x: tensor, y: tensor): given square(x) == square(y)  x == y;
)",
        {{"roots", "refuted"}});
}

TEST_CASE("divisors may be 0 or negative") {
  check(R"(
op quotient(x: tensor; n: int) { require rank(x) == 1; value i => (i[0] floordiv n) * x[i]; }
op remainder(x: tensor; n: int) { require rank(x) == 1; value i => (i[0] mod n) * x[i]; }
op negated(x: tensor; n: int) { require rank(x) == 1; value i => (i[0] mod (0 - n)) * x[i]; }
op by_minus_3(x: tensor) { require rank(x) == 1; value i => (i[0] floordiv (0 - 3)) * x[i]; }
op minus_by_3(x: tensor) { require rank(x) == 1; value i => ((0 - i[0]) floordiv 3) * x[i]; }
op by_size(x: tensor) { require rank(x) == 1; value i => (i[0] floordiv (x.shape[0] - 2)) * x[i]; }
op shortened(x: tensor; n: int) { require rank(x) == 1; shape [x.shape[0] floordiv n]; value i => x[i]; }
op sized(x: tensor; n: int) { require rank(x) == 1 and n >= 1; value i => (i[0] floordiv n) * x[i]; }
op rows(x: tensor; n: int) { require rank(x) == 1 and n >= 1; value i => ((i[0] - i[0] mod n) / n) * x[i]; }
lemma quotients(x: tensor, n: int): quotient(x; n) => x;
lemma remainders(x: tensor, n: int): remainder(x; n) => x;
lemma negated_remainders(x: tensor, n: int): negated(x; n) => x;
lemma own_quotients(x: tensor, n: int): quotient(x; n) => quotient(x; n + 0);
lemma negative_divisor(x: tensor): by_minus_3(x) => minus_by_3(x);
lemma sizes(x: tensor): by_size(x) => x;
lemma shorter(x: tensor, n: int): shortened(x; n) => x;
lemma positive_divisor(x: tensor, n: int): sized(x; n) => rows(x; n);
lemma positive_quotients(x: tensor, n: int): quotient(x; n) => sized(x; n) when n >= 1;
)",
        {{"quotients", "refuted"},
         {"remainders", "refuted"},
         {"negated_remainders", "refuted"},
         {"negative_divisor", "proved"},
         {"sizes", "refuted"},
         {"shorter", "refuted"},
         {"positive_divisor", "proved"},
         // The value of `quotient` is not defined everywhere.
         {"positive_quotients", "tested"},
         {"own_quotients", "tested"}});
}

TEST_CASE("values that are made up refute nothing that is true of the functions as they are") {
  check(R"(
include "core.rules";
lemma floor_twice(x: tensor): floor(floor(x)) => floor(x);
lemma odd(x: tensor): sin(scale(x; -1)) => scale(sin(x); -1);
lemma even(x: tensor): cos(scale(x; -1)) => scale(cos(x); -1);
lemma idempotent(x: tensor): sin(sin(x)) => sin(x);
)",
        {{"floor_twice", "tested"}, {"odd", "unknown"}, {"even", "refuted"}, {"idempotent", "refuted"}});
  // Functions of a file's own: where laws are stated of them, these must hold.
  check(R"(
function q(a);
function free(a);
law own_inverse(a): q(q(a)) == a;
op f(x: tensor): elementwise { value i => q(x[i]); }
op g(x: tensor): elementwise { value i => free(x[i]); }
lemma back(x: tensor): f(f(x)) => x;
lemma forth(x: tensor): f(f(f(x))) => x;
lemma unlike(x: tensor): g(g(x)) => x;
)",
        {{"back", "proved"}, {"forth", "unknown"}, {"unlike", "refuted"}});
}

TEST_CASE("laws that do not end") {
  check(R"(
function f(a, b);
function q(a);
law exchanged(a, b): f(a, b) == f(b, a);
law grows(a): q(a) == q(a + 1) + q(a + 2);
op ff(x: tensor, y: tensor): elementwise { value i => f(x[i], y[i]); }
op qq(x: tensor): elementwise { value i => q(x[i]); }
lemma other_way(x: tensor, y: tensor): ff(x, y) => ff(y, x);
lemma nothing(x: tensor): qq(x) => x;
)",
        {{"other_way", "tested"}, {"nothing", "unknown"}});
}

TEST_CASE("everything that is allowed in a value has one") {
  check(R"(
op plus(x: tensor, y: tensor): elementwise { value i => x[i] + y[i]; }
op twice(x: tensor): elementwise { value i => 2 * x[i]; }
op greatest(x: tensor, y: tensor): elementwise { value i => if x[i] <= y[i] then y[i] else x[i]; }
op least(x: tensor, y: tensor): elementwise { value i => if x[i] <= y[i] then x[i] else y[i]; }
op max2(x: tensor, y: tensor): elementwise, commutative { value i => max(x[i], y[i]); }
op min2(x: tensor, y: tensor): elementwise, commutative { value i => min(x[i], y[i]); }
op relu(x: tensor): elementwise { value i => max(x[i], 0); linear x; }
op summed(x: tensor, y: tensor): elementwise { value i => sum([x[i], y[i]]); }
op square(x: tensor): elementwise { value i => x[i] * x[i]; }
op multiplied(x: tensor): elementwise { value i => product([x[i], x[i]]); }
op numbered(x: tensor, y: tensor): elementwise { value i => sum(k * v for k, v in enumerate([x[i], y[i], y[i]])); }
op thrice_second(x: tensor, y: tensor): elementwise { value i => 3 * y[i]; }
op zipped(x: tensor, y: tensor): elementwise { value i => sum(a * b for a, b in zip([1, 2], [x[i], y[i]])); }
op column(x: tensor, y: tensor): elementwise { value i => sum(a + b for a, b in columns([[x[i], y[i]], [0, y[i]]])); }
op second_twice(x: tensor, y: tensor): elementwise { value i => x[i] + 2 * y[i]; }
op last(x: tensor, y: tensor): elementwise { value i => reversed([x[i], y[i]])[0]; }
op second(x: tensor, y: tensor): elementwise { value i => y[i]; }
op folded(x: tensor, y: tensor): elementwise { value i => fold(acc = x[i]; k in range(2): acc + y[i]); }
op found(x: tensor, y: tensor): elementwise { value i => scalar_of(index_of([7, 8, 9], 9)) * y[i] + x[i]; }
op left_out(x: tensor, y: tensor): elementwise { value i => complement([0, 1], 3)[0] * y[i] + x[i]; }
op clipped(x: tensor; n: int): elementwise { require n >= 0; value i => min(n, 0) * x[i] + 2 * x[i]; }
op optional(x: tensor; a: any): elementwise { value i => if is_none(a) then x[i] else 2 * x[i]; }
op truth(x: tensor): elementwise { value i => if x[i] then x[i] else 0; }
op half(x: tensor): elementwise { value i => x[i] floordiv 2; linear x; }
op odd(x: tensor): elementwise { value i => x[i] mod 2; linear x; }
lemma max_(x: tensor, y: tensor): max2(x, y) => greatest(x, y);
lemma min_(x: tensor, y: tensor): min2(x, y) => least(x, y);
lemma min_is_no_max(x: tensor, y: tensor): min2(x, y) => greatest(x, y);
lemma sum_(x: tensor, y: tensor): summed(x, y) => plus(x, y);
lemma product_(x: tensor): multiplied(x) => square(x);
lemma enumerate_(x: tensor, y: tensor): numbered(x, y) => thrice_second(x, y);
lemma zip_(x: tensor, y: tensor): zipped(x, y) => second_twice(x, y);
lemma columns_(x: tensor, y: tensor): column(x, y) => second_twice(x, y);
lemma reversed_(x: tensor, y: tensor): last(x, y) => second(x, y);
lemma fold_(x: tensor, y: tensor): folded(x, y) => second_twice(x, y);
lemma index_of_(x: tensor, y: tensor): found(x, y) => second_twice(x, y);
lemma complement_(x: tensor, y: tensor): left_out(x, y) => second_twice(x, y);
lemma min_of_numbers(x: tensor, n: int): clipped(x; n) => twice(x);
lemma none(x: tensor, a: any): optional(x; a) => x;
lemma some(x: tensor, a: any): optional(x; a) => twice(x);
lemma truth_(x: tensor): truth(x) => x;
)",
        {{"max_", "proved"},
         {"min_", "proved"},
         {"min_is_no_max", "refuted"},
         {"sum_", "proved"},
         {"product_", "proved"},
         {"enumerate_", "proved"},
         {"zip_", "proved"},
         {"columns_", "proved"},
         {"reversed_", "proved"},
         {"fold_", "proved"},
         {"index_of_", "proved"},
         {"complement_", "proved"},
         {"min_of_numbers", "proved"},
         {"none", "refuted"},
         {"some", "refuted"},
         {"truth_", "proved"},
         {"relu: linear x", "refuted"},
         {"max2: commutative", "proved"},
         {"half: linear x", "refuted"},
         {"odd: linear x", "refuted"}});
}

}  // namespace
}  // namespace entangle::prove
