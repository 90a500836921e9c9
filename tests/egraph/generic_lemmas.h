// Lemmas about every operator with a trait, as tests of saturation use them.
#pragma once

#include <string>

namespace entangle::egraph {

inline const std::string kWhole = R"(
normalise lemma whole(x: tensor, d: axis): slice(x; d, 0, x.shape[d]) => x;
normalise lemma one(x: tensor, d: axis): concat(x; d) => x;
normalise lemma block(xs: tensor+, d: axis, a: int, b: int): slice(concat(xs; d); d, a, b) => xs[block_at(xs, d, a, b)];
)";

inline const std::string kGeneric = kWhole + R"(
lemma maps_concat<f: maps a -> r>(xs: tensor+):
  f(.., concat(xs; a), ..) => concat([f(.., x, .. | y @ b => slice(y; b, o, o + x.shape[a])) for x, o in zip(xs, offsets(xs, a))]; r);
lemma sums_concat<f: reduces sum a>(xs: tensor+):
  f(.., concat(xs; a), ..) => add_n([f(.., x, .. | y @ b => slice(y; b, o, o + x.shape[a])) for x, o in zip(xs, offsets(xs, a))]);
lemma maxima_concat<f: reduces max a>(xs: tensor+):
  f(.., concat(xs; a), ..) => max_n([f(.., x, .. | y @ b => slice(y; b, o, o + x.shape[a])) for x, o in zip(xs, offsets(xs, a))]);
lemma linear_add<f: linear>(xs: tensor+): f(.., add_n(xs), ..) => add_n([f(.., x, ..) for x in xs]);
)";

inline const std::string kMerges = R"(
lemma maps_merge<f: maps a -> r>(x: tensor, k: int):
  f(.., merge(x; a), ..) => merge(f(.., x, .. | y @ b => split(y; b, k); split); r)
  when k == x.shape[a + 1]
  trigger forall y @ b: has(y, merge(z; b) if z.shape[b + 1] == k) or constant(y);
normalise lemma split_merge(x: tensor, d: axis): split(merge(x; d); d, x.shape[d + 1]) => x;
)";

inline const std::string kSplits = R"(
lemma maps_split<f: maps pair a -> r>(x: tensor, k: int):
  f(.., split(x; a, k), ..) => split(f(.., x, .. | y @ b => merge(y; b); join); r, k)
  trigger forall y @ b: has(y, split(_; b, k)) or constant(y);
normalise lemma merge_split(x: tensor, d: axis, k: int): merge(split(x; d, k); d) => x;
)";

}  // namespace entangle::egraph
