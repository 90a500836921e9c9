#include "random_terms.h"

#include <algorithm>
#include <numeric>

namespace entangle::library {

using tensor::Attr;
using tensor::DType;
using tensor::TensorType;
using term::kNoTerm;
using term::TermId;

namespace {

Attr attr(std::int64_t value) {
  return Attr::of(sym::Int(value));
}
Attr attr(std::size_t value) {
  return attr(static_cast<std::int64_t>(value));
}
Attr attr(const sym::Scalar& value) {
  return Attr::of(value);
}
Attr attr(DType value) {
  return Attr::of(value);
}
Attr attr(const std::vector<std::int64_t>& values) {
  std::vector<Attr> entries;
  for (const std::int64_t value : values) entries.push_back(attr(value));
  return Attr::list(entries);
}

std::int64_t size(const TensorType& type, std::size_t axis) {
  return type.shape[axis].value();
}
std::int64_t elements(const TensorType& type) {
  std::int64_t total = 1;
  for (std::size_t k = 0; k < type.rank(); ++k) total *= size(type, k);
  return total;
}

}  // namespace

TermId RandomTerms::make(const char* op, std::vector<Attr> attrs, std::vector<TermId> children) {
  if (std::any_of(children.begin(), children.end(), [](TermId id) { return id == kNoTerm; })) return kNoTerm;
  return graph_.make(graph_.rules().find_op(op), Attr::list(attrs), children);
}

TermId RandomTerms::full(int value, const TensorType& type) {
  return *graph_.evaluator().full(sym::Scalar(value), type);
}

TermId RandomTerms::leaf(TensorType type) {
  const TermId id = graph_.leaf(type, "x" + std::to_string(pool_.size()));
  if (tensor::is_integer(type.dtype) && coin(3)) {
    const int low = static_cast<int>(below(5)) - 1;
    graph_.set_interval(id, {sym::Int(low), sym::Int(low + static_cast<int>(below(4)))});
  }
  pool_.push_back(id);
  return id;
}

TermId RandomTerms::any() {
  return pool_[coin() ? below(pool_.size())
                      : pool_.size() - 1 - below(std::min<std::size_t>(pool_.size(), 6))];
}

TermId RandomTerms::like(const TensorType& type) {
  if (type.dtype == DType::f32 && coin(8)) return full(static_cast<int>(below(3)), type);
  std::vector<TermId> same;
  for (const TermId id : pool_) {
    if (graph_.type(id) == type) same.push_back(id);
  }
  if (!same.empty() && !coin(3)) return same[below(same.size())];
  // A block-wise one, cut at a random place.
  if (type.rank() > 0 && coin()) {
    const std::size_t d = below(type.rank());
    if (const std::int64_t n = size(type, d); n > 1) {
      const std::int64_t cut = 1 + static_cast<std::int64_t>(below(static_cast<std::size_t>(n - 1)));
      TensorType left = type;
      TensorType right = type;
      left.shape[d] = cut;
      right.shape[d] = n - cut;
      return make("concat", {attr(d)}, {leaf(left), leaf(right)});
    }
  }
  return leaf(type);
}

TermId RandomTerms::mask(const TensorType& type) {
  TensorType booleans = type;
  booleans.dtype = DType::b8;
  if (coin()) return like(booleans);
  TensorType integers = type;
  integers.dtype = DType::i64;
  return make("ge", {}, {like(integers), full(static_cast<int>(below(7)), integers)});
}

TermId RandomTerms::layout(TermId x) {
  const TensorType type = graph_.type(x);
  const std::size_t rank = type.rank();
  const std::size_t choice = below(10);
  if (choice == 0 || rank == 0) {
    if (rank > 3) return kNoTerm;
    std::vector<std::int64_t> axes = {static_cast<std::int64_t>(below(rank + 1))};
    if (coin(3))
      axes.push_back(axes[0] + 1 +
                     static_cast<std::int64_t>(below(rank + 1 - static_cast<std::size_t>(axes[0]))));
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < axes.size(); ++i)
      counts.push_back(coin() ? 1 : 2 + static_cast<std::int64_t>(below(2)));
    return make("bcast", {attr(axes), attr(counts)}, {x});
  }
  const std::size_t d = below(rank);
  const std::int64_t n = size(type, d);
  switch (choice) {
    case 1: {
      if (n < 2) return kNoTerm;
      const auto begin = static_cast<std::int64_t>(below(static_cast<std::size_t>(n)));
      const auto end = begin + 1 + static_cast<std::int64_t>(below(static_cast<std::size_t>(n - begin)));
      return make("slice", {attr(d), attr(begin), attr(end)}, {x});
    }
    case 2: {
      std::vector<std::int64_t> perm(rank);
      std::iota(perm.begin(), perm.end(), 0);
      std::shuffle(perm.begin(), perm.end(), random_);
      return make("transpose", {attr(perm)}, {x});
    }
    case 3:
    case 4:
      return d + 1 < rank ? make("merge", {attr(d)}, {x}) : kNoTerm;
    case 5: {
      if (rank > 3) return kNoTerm;
      std::vector<std::int64_t> inner;
      for (std::int64_t k = 1; k <= n; ++k) {
        if (n % k == 0) inner.push_back(k);
      }
      return make("split", {attr(d), attr(inner[below(inner.size())])}, {x});
    }
    case 6:
      return n == 1 ? make("squeeze", {attr(d)}, {x}) : make(coin() ? "flip" : "cumsum", {attr(d)}, {x});
    case 7: {
      TensorType other = type;
      other.shape[d] = sym::Int(1 + static_cast<std::int64_t>(below(3)));
      std::vector<TermId> blocks = {x, like(other)};
      if (coin(3)) blocks.push_back(coin() ? x : like(type));
      return make("concat", {attr(d)}, blocks);
    }
    case 8: {
      // Several slices that tile x.
      if (n < 2) return kNoTerm;
      const auto cut = 1 + static_cast<std::int64_t>(below(static_cast<std::size_t>(n - 1)));
      pool_.push_back(make("slice", {attr(d), attr(std::int64_t{0}), attr(cut)}, {x}));
      return make("slice", {attr(d), attr(cut), attr(n)}, {x});
    }
    default:
      return make("stride", {attr(d), attr(1 + static_cast<std::int64_t>(below(3)))}, {x});
  }
}

TermId RandomTerms::arithmetic(TermId x) {
  const TensorType type = graph_.type(x);
  const auto constant = [&] {
    return attr(
        sym::Scalar::ratio(static_cast<std::int64_t>(below(7)) - 3, 1 + static_cast<std::int64_t>(below(2))));
  };
  if (type.dtype == DType::b8) {
    switch (below(4)) {
      case 0:
        return make("negate", {}, {x});
      case 1:
        return make("both", {}, {x, mask(type)});
      case 2:
        return make("cast", {attr(coin() ? DType::f32 : DType::i64)}, {x});
      default: {
        TensorType chosen = type;
        chosen.dtype = coin(4) ? DType::i64 : DType::f32;
        const TermId y = like(chosen);
        return make("where", {}, {x, coin(3) ? full(0, chosen) : y, coin() ? full(0, chosen) : like(chosen)});
      }
    }
  }
  switch (below(type.dtype == DType::f32 ? 16 : 6)) {
    case 0:
    case 1: {
      std::vector<TermId> xs = {x, like(type)};
      if (coin(3)) xs.push_back(coin() ? x : like(type));
      if (coin(4)) xs.push_back(make("scale", {constant()}, {x}));
      return make("add_n", {}, xs);
    }
    case 2:
      return make("scale", {constant()}, {x});
    case 3: {
      std::vector<TermId> xs = {x, like(type)};
      if (coin(3)) xs.push_back(coin() ? x : like(type));
      return make(coin(3) ? "max_n" : "mul", {}, xs);
    }
    case 4:
      return make("where", {}, {mask(type), coin() ? x : like(type), coin() ? full(0, type) : x});
    case 5:
      return make(coin() ? "ge" : "eq", {},
                  {x, coin() ? full(static_cast<int>(below(5)), type) : like(type)});
    case 6:
    case 7:
      return make("exp", {}, {x});
    case 8:
      return make("log", {}, {x});
    case 9:
      return make("pow", {attr(sym::Scalar(coin() ? -1 : 2))}, {x});
    case 10:
      return make("cast", {attr(DType::f16)}, {x});
    case 11:
      return make("sigmoid", {}, {x});
    case 12:
      return make("mul", {}, {x, make("pow", {attr(sym::Scalar(-1))}, {like(type)})});
    case 13:
      return make("exp", {}, {make("add_n", {}, {x, like(type)})});
    case 14:
      return make("dropout", {attr(sym::Scalar::ratio(1, 2)), attr(below(2)), tensor::Attr::name("dropout")},
                  {x, full(0, {type.shape, DType::i64})});
    default:
      return make("cast", {attr(DType::b8)}, {x});
  }
}

TermId RandomTerms::reduction(TermId x) {
  const TensorType type = graph_.type(x);
  if (type.rank() == 0 || type.dtype == DType::b8) return kNoTerm;
  const std::size_t d = below(type.rank());
  const std::size_t choice = below(8);
  if (choice < 4) return make("reduce_sum", {attr(d)}, {x});
  if (choice < 6) return make("reduce_max", {attr(d)}, {x});
  if (choice < 7) return make("argmax", {attr(d)}, {x});
  if (type.dtype != DType::f32) return kNoTerm;
  // A softmax, shifted or not.
  TermId e = make("exp", {}, {x});
  const auto along = [&](TermId row) {
    return make("bcast",
                {attr(std::vector<std::int64_t>{static_cast<std::int64_t>(d)}),
                 attr(std::vector<std::int64_t>{size(type, d)})},
                {row});
  };
  if (coin()) {
    const TermId m = along(make("reduce_max", {attr(d)}, {x}));
    e = make("exp", {}, {make("add_n", {}, {x, make("scale", {attr(sym::Scalar(-1))}, {m})})});
  }
  return make("mul", {},
              {e, make("pow", {attr(sym::Scalar(-1))}, {along(make("reduce_sum", {attr(d)}, {e}))})});
}

TermId RandomTerms::product(TermId x) {
  const TensorType type = graph_.type(x);
  if (type.dtype != DType::f32 || type.rank() < 1 || type.rank() > 4) return kNoTerm;
  const std::size_t nc = 1 + (type.rank() > 2 && coin(3) ? 1 : 0);
  const std::size_t nb = type.rank() - nc > 0 && coin() ? 1 : 0;
  TensorType other = type;
  other.shape.assign(type.shape.begin(), type.shape.begin() + static_cast<std::ptrdiff_t>(nb));
  other.shape.insert(other.shape.end(), type.shape.end() - static_cast<std::ptrdiff_t>(nc), type.shape.end());
  for (std::size_t k = below(3); k > 0 && other.rank() < 4; --k)
    other.shape.emplace_back(1 + static_cast<std::int64_t>(below(3)));
  TermId y = like(other);
  if (coin(4)) {
    // A factor that is the same along the contracted axes.
    std::vector<std::int64_t> axes;
    std::vector<std::int64_t> counts;
    for (std::size_t k = type.rank() - nc; k < type.rank(); ++k) {
      axes.push_back(static_cast<std::int64_t>(k));
      counts.push_back(size(type, k));
    }
    TensorType rows = type;
    rows.shape.resize(type.rank() - nc);
    x = make("mul", {}, {x, make("bcast", {attr(axes), attr(counts)}, {like(rows)})});
  }
  return make("contract", {attr(nb), attr(nc)}, {x, y});
}

TermId RandomTerms::lookup(TermId x) {
  const TensorType type = graph_.type(x);
  if (type.dtype != DType::f32 || type.rank() == 0 || type.rank() > 3) return kNoTerm;
  const std::size_t nb = below(std::min<std::size_t>(type.rank(), 2));
  TensorType index{tensor::Shape(type.shape.begin(), type.shape.begin() + static_cast<std::ptrdiff_t>(nb)),
                   DType::i64};
  if (coin(4)) {
    // One place in every row, or whole rows.
    if (type.rank() < 2) return kNoTerm;
    TensorType rows{{type.shape[0]}, DType::i64};
    TensorType values = type;
    const TermId places =
        coin() ? make("iota", {attr(std::int64_t{0}), attr(size(type, 0)), attr(DType::i64)}, {})
               : like(rows);
    if (coin()) return make("write_rows", {attr(std::int64_t{0})}, {x, like(values), places});
    values.shape.erase(values.shape.begin() + 1);
    return make("write_places", {}, {x, like(values), places, like(rows)});
  }
  const bool put = coin();
  if (put) {
    for (std::size_t k = nb; k < type.rank() && coin(); ++k) index.shape.push_back(type.shape[k]);
  } else {
    for (std::size_t k = below(3); k > 0 && index.rank() < 3; --k)
      index.shape.emplace_back(1 + static_cast<std::int64_t>(below(3)));
  }
  TermId i = like(index);
  if (index.rank() == 1 && nb == 0 && coin(5))
    i = make("iota", {attr(below(2)), attr(size(index, 0)), attr(DType::i64)}, {});
  const int low = static_cast<int>(below(3));
  const int high = low + static_cast<int>(below(5));
  const auto range = [&] {
    return make("both", {},
                {make("ge", {}, {i, full(low, index)}),
                 make("negate", {}, {make("ge", {}, {i, full(high, index)})})});
  };
  const TermId inside = range();
  const TermId moved = make("add_n", {}, {i, full(-static_cast<int>(below(4)), index)});
  TermId place = coin() ? i : moved;
  if (coin())
    place = make("where", {}, {coin(3) ? mask(index) : inside, place, full(coin() ? 0 : -1, index)});
  const auto masked = [&](TermId y) {
    const TensorType shape = graph_.type(y);
    std::vector<std::int64_t> axes;
    std::vector<std::int64_t> counts;
    for (std::size_t k = index.rank(); k < shape.rank(); ++k) {
      axes.push_back(static_cast<std::int64_t>(k));
      counts.push_back(size(shape, k));
    }
    return make("where", {}, {make("bcast", {attr(axes), attr(counts)}, {inside}), y, full(0, shape)});
  };
  if (put) {
    if (coin()) x = masked(x);
    return x == kNoTerm ? kNoTerm : make("put_add", {attr(nb), attr(1 + below(5))}, {x, place});
  }
  const TermId y = make("take", {attr(nb)}, {x, place});
  return y != kNoTerm && coin() ? masked(y) : y;
}

TermId RandomTerms::step() {
  const TermId x = any();
  switch (below(8)) {
    case 0:
    case 1:
    case 2:
      return layout(x);
    case 3:
    case 4:
      return arithmetic(x);
    case 5:
      return reduction(x);
    case 6:
      return product(x);
    default:
      return lookup(x);
  }
}

void RandomTerms::grow(std::size_t count) {
  const auto small = [&] { return sym::Int(1 + static_cast<std::int64_t>(below(4))); };
  for (std::size_t k = 2 + below(2); k > 0; --k) {
    TensorType type;
    for (std::size_t r = 1 + below(3); r > 0; --r) type.shape.push_back(small());
    leaf(type);
  }
  for (std::size_t made = 0, tries = 0; made < count && tries < 20 * count; ++tries) {
    const TermId id = step();
    if (id == kNoTerm) continue;
    if (elements(graph_.type(id)) > 200 || graph_.type(id).rank() > 5) continue;
    pool_.push_back(id);
    if (coin(4)) graph_.set_named(id);
    ++made;
  }
}

}  // namespace entangle::library
