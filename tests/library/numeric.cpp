#include "numeric.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace entangle::library {

using tensor::Attr;
using tensor::DType;
using tensor::TensorType;
using Index = std::vector<std::size_t>;
using Shape = std::vector<std::size_t>;
using Arrays = std::vector<const Array*>;

namespace {

std::size_t position(const Shape& shape, const Index& index) {
  std::size_t result = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) result = result * shape[k] + index[k];
  return result;
}

void each(const Shape& shape, const std::function<void(const Index&)>& visit) {
  Index index(shape.size(), 0);
  while (true) {
    visit(index);
    std::size_t k = shape.size();
    while (k > 0 && ++index[k - 1] == shape[k - 1]) index[--k] = 0;
    if (k == 0) return;
  }
}

Array build(const Shape& shape, const std::function<double(const Index&)>& element) {
  Array result{shape, {}};
  each(shape, [&](const Index& index) { result.elements.push_back(element(index)); });
  return result;
}

Shape concrete(const TensorType& type) {
  Shape shape;
  for (const sym::Int& size : type.shape) shape.push_back(static_cast<std::size_t>(size.value()));
  return shape;
}

std::int64_t integer(const Attr& attr) {
  return attr.as_int().value();
}
std::size_t size(const Attr& attr) {
  return static_cast<std::size_t>(integer(attr));
}
double number(const Attr& attr) {
  return attr.kind() == Attr::Kind::integer ? static_cast<double>(integer(attr))
                                            : *attr.as_scalar().as_double();
}
std::vector<std::size_t> sizes(const Attr& attr) {
  std::vector<std::size_t> result;
  for (const Attr& entry : attr.as_list()) result.push_back(size(entry));
  return result;
}

Index inserted(Index index, std::size_t at, std::size_t entry) {
  index.insert(index.begin() + static_cast<std::ptrdiff_t>(at), entry);
  return index;
}

Index joined(const Index& a, std::size_t from, std::size_t to, Index before) {
  before.insert(before.end(), a.begin() + static_cast<std::ptrdiff_t>(from),
                a.begin() + static_cast<std::ptrdiff_t>(to));
  return before;
}

// A function nothing is known of.
double some_function(double x, double y, std::uint64_t which) {
  const double k = 0.3 + 0.1 * static_cast<double>(which % 7);
  return std::sin(k * x + 1.7 * y + static_cast<double>(which % 5)) + 0.2 * x;
}

std::uint64_t hash_text(const std::string& text) {
  std::uint64_t hash = 1469598103934665603ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

using Unary = double (*)(double);
const std::map<std::string, Unary>& unaries() {
  static const std::map<std::string, Unary> table = {
      {"exp", std::exp},
      {"log", std::log},
      {"sin", std::sin},
      {"cos", std::cos},
      {"tan", std::tan},
      {"asin", std::asin},
      {"acos", std::acos},
      {"atan", std::atan},
      {"sinh", std::sinh},
      {"cosh", std::cosh},
      {"tanh", std::tanh},
      {"erf", std::erf},
      {"floor", std::floor},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"negate", [](double x) { return x == 1 ? 0.0 : 1.0; }},
  };
  return table;
}

double cast(double x, DType from, DType to) {
  if (to == DType::b8) return x == 0 ? 0 : 1;
  if (from == DType::b8 || from == to) return x;
  if (tensor::is_wide_float(from) && tensor::is_wide_float(to)) return x;
  if (tensor::is_integer(to)) return std::trunc(x);
  return x;
}

std::optional<Array> elementwise(const std::string& op, const Attr& attrs, const Arrays& xs,
                                 const std::vector<TensorType>& types, const TensorType& type) {
  const std::span<const Attr> at = attrs.as_list();
  const auto each_element = [&](const std::function<double(const std::vector<double>&)>& f) {
    Array result{concrete(type), {}};
    for (std::size_t i = 0; i < xs[0]->elements.size(); ++i) {
      std::vector<double> operands;
      for (const Array* x : xs) operands.push_back(x->elements[i]);
      result.elements.push_back(f(operands));
    }
    return result;
  };
  using V = const std::vector<double>&;
  if (const auto found = unaries().find(op); found != unaries().end()) {
    return each_element([&](V v) { return found->second(v[0]); });
  }
  if (op == "add_n") return each_element([](V v) { return std::accumulate(v.begin(), v.end(), 0.0); });
  if (op == "floor_div") return each_element([](V v) { return std::floor(v[0] / v[1]); });
  if (op == "remainder") return each_element([](V v) { return v[0] - v[1] * std::floor(v[0] / v[1]); });
  if (op == "max_n") return each_element([](V v) { return *std::max_element(v.begin(), v.end()); });
  if (op == "mul")
    return each_element([](V v) { return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>()); });
  if (op == "scale") return each_element([&](V v) { return number(at[0]) * v[0]; });
  if (op == "pow") return each_element([&](V v) { return std::pow(v[0], number(at[0])); });
  if (op == "ge") return each_element([](V v) { return v[0] >= v[1] ? 1.0 : 0.0; });
  if (op == "eq") return each_element([](V v) { return v[0] == v[1] ? 1.0 : 0.0; });
  if (op == "both") return each_element([](V v) { return v[0] == 1 && v[1] == 1 ? 1.0 : 0.0; });
  if (op == "where") return each_element([](V v) { return v[0] == 1 ? v[1] : v[2]; });
  if (op == "cast") return each_element([&](V v) { return cast(v[0], types[0].dtype, type.dtype); });
  if (op == "dropmask")
    return each_element([&](V v) { return std::sin(37 * v[0] + number(at[1])) > 0 ? 1.0 : 0.0; });
  if (op == "bits_and" || op == "bits_or" || op == "bits_xor") return std::nullopt;
  const std::uint64_t which = hash_text(op + tensor::to_string(attrs));
  return each_element([&](V v) { return some_function(v[0], v.size() > 1 ? v[1] : 0, which); });
}

Array contract(const Array& x, const Array& y, std::size_t nb, std::size_t nc, const Shape& shape) {
  const std::size_t fx = x.shape.size() - nb - nc;
  const Shape inner(x.shape.begin() + static_cast<std::ptrdiff_t>(nb + fx), x.shape.end());
  return build(shape, [&](const Index& i) {
    double total = 0;
    each(inner, [&](const Index& k) {
      const Index left = joined(k, 0, k.size(), joined(i, 0, nb + fx, {}));
      const Index right = joined(i, nb + fx, i.size(), joined(k, 0, k.size(), joined(i, 0, nb, {})));
      total += x.at(left) * y.at(right);
    });
    return total;
  });
}

Array put_add(const Array& x, const Array& index, std::size_t nb, const Shape& shape) {
  const std::size_t ni = index.shape.size() - nb;
  const Shape places(index.shape.begin() + static_cast<std::ptrdiff_t>(nb), index.shape.end());
  return build(shape, [&](const Index& i) {
    double total = 0;
    each(places, [&](const Index& k) {
      const Index at = joined(k, 0, ni, joined(i, 0, nb, {}));
      if (index.at(at) == static_cast<double>(i[nb])) total += x.at(joined(i, nb + 1, i.size(), at));
    });
    return total;
  });
}

// Row by row along `dim`: `f` makes a row of the result from a row of each operand.
using Row = std::vector<double>;
Array by_rows(const Arrays& xs, std::size_t dim, const Shape& shape, bool kept,
              const std::function<Row(const std::vector<Row>&)>& f) {
  const std::size_t n = xs[0]->shape[dim];
  return build(shape, [&](const Index& i) {
    Index base = i;
    if (!kept) base = inserted(i, dim, 0);
    std::vector<Row> rows;
    for (const Array* x : xs) {
      Row row;
      for (std::size_t k = 0; k < n; ++k) {
        base[dim] = k;
        row.push_back(x->at(base));
      }
      rows.push_back(std::move(row));
    }
    const Row result = f(rows);
    return kept ? result[i[dim]] : result[0];
  });
}

// `indices` of them, behind `nb` batch axes.
Array write(const Arrays& xs, std::size_t indices, std::size_t nb, const Shape& shape) {
  return build(shape, [&](const Index& i) {
    double total = 0;
    double count = 0;
    Index row(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(nb));
    row.push_back(0);
    for (std::size_t k = 0; k < xs[2]->shape[nb]; ++k) {
      bool hit = true;
      row[nb] = k;
      for (std::size_t j = 0; j < indices; ++j)
        hit = hit && xs[2 + j]->at(row) == static_cast<double>(i[nb + j]);
      if (hit) {
        Index from = row;
        from.insert(from.end(), i.begin() + static_cast<std::ptrdiff_t>(nb + indices), i.end());
        total += xs[1]->at(from);
        count += 1;
      }
    }
    return count == 0 ? xs[0]->at(i) : total / count;
  });
}

}  // namespace

double Array::at(const Index& index) const {
  return elements[position(shape, index)];
}

std::optional<Array> apply(const std::string& op, const Attr& attrs, const Arrays& xs,
                           const std::vector<TensorType>& types, const TensorType& type) {
  const std::span<const Attr> at = attrs.as_list();
  const Shape shape = concrete(type);
  if (op == "const") return build(shape, [&](const Index&) { return number(at[0]); });
  if (op == "iota")
    return build(shape, [&](const Index& i) {
      return static_cast<double>(integer(at[0])) + static_cast<double>(i[0]);
    });
  if (op == "lit") return build(shape, [&](const Index& i) { return number(at[0].as_list()[i[0]]); });
  if (op == "sample" || op == "opaque" || xs.empty()) return std::nullopt;
  const Array& x = *xs[0];
  if (op == "concat") {
    const std::size_t d = size(at[0]);
    return build(shape, [&](Index i) {
      std::size_t block = 0;
      while (i[d] >= xs[block]->shape[d]) i[d] -= xs[block++]->shape[d];
      return xs[block]->at(i);
    });
  }
  if (op == "slice") {
    return build(shape, [&](Index i) {
      i[size(at[0])] += size(at[1]);
      return x.at(i);
    });
  }
  if (op == "transpose") {
    const std::vector<std::size_t> perm = sizes(at[0]);
    return build(shape, [&](const Index& i) {
      Index from(i.size());
      for (std::size_t k = 0; k < i.size(); ++k) from[perm[k]] = i[k];
      return x.at(from);
    });
  }
  if (op == "merge" || op == "split") return Array{shape, x.elements};
  if (op == "squeeze") return Array{shape, x.elements};
  if (op == "bcast") {
    const std::vector<std::size_t> axes = sizes(at[0]);
    return build(shape, [&](const Index& i) {
      Index from;
      for (std::size_t k = 0; k < i.size(); ++k) {
        if (std::find(axes.begin(), axes.end(), k) == axes.end()) from.push_back(i[k]);
      }
      return x.at(from);
    });
  }
  if (op == "flip") {
    const std::size_t d = size(at[0]);
    return build(shape, [&](Index i) {
      i[d] = shape[d] - 1 - i[d];
      return x.at(i);
    });
  }
  if (op == "stride") {
    return build(shape, [&](Index i) {
      i[size(at[0])] *= size(at[1]);
      return x.at(i);
    });
  }
  if (op == "unfold") {
    const std::size_t d = size(at[0]);
    return build(shape, [&](const Index& i) {
      Index from = joined(i, 0, d, {});
      from.push_back(i[d] + i[d + 1]);
      return x.at(joined(i, d + 2, i.size(), from));
    });
  }
  if (op == "overlap_add") {
    const std::size_t d = size(at[0]);
    return build(shape, [&](const Index& i) {
      double total = 0;
      each({x.shape[d], x.shape[d + 1]}, [&](const Index& window) {
        if (window[0] + window[1] != i[d]) return;
        const Index from = joined(window, 0, 2, joined(i, 0, d, {}));
        total += x.at(joined(i, d + 1, i.size(), from));
      });
      return total;
    });
  }
  if (op == "contract") return contract(x, *xs[1], size(at[0]), size(at[1]), shape);
  if (op == "put_add") return put_add(x, *xs[1], size(at[0]), shape);
  if (op == "take") {
    const std::size_t nb = size(at[0]);
    const std::size_t rank = xs[1]->shape.size();
    return build(shape, [&](const Index& i) {
      const double place = xs[1]->at(joined(i, 0, rank, {}));
      if (place < 0 || place >= static_cast<double>(x.shape[nb])) return 0.0;
      Index from = joined(i, 0, nb, {});
      from.push_back(static_cast<std::size_t>(place));
      return x.at(joined(i, rank, i.size(), from));
    });
  }
  if (op == "write_rows") return write(xs, 1, size(at[0]), shape);
  if (op == "write_places") return write(xs, 2, 0, shape);
  if (op == "reduce_sum") {
    return by_rows(xs, size(at[0]), shape, false,
                   [](const auto& r) { return Row{std::accumulate(r[0].begin(), r[0].end(), 0.0)}; });
  }
  if (op == "reduce_product") {
    return by_rows(xs, size(at[0]), shape, false, [](const auto& r) {
      return Row{std::accumulate(r[0].begin(), r[0].end(), 1.0, std::multiplies<>())};
    });
  }
  if (op == "reduce_max") {
    return by_rows(xs, size(at[0]), shape, false,
                   [](const auto& r) { return Row{*std::max_element(r[0].begin(), r[0].end())}; });
  }
  if (op == "argmax") {
    return by_rows(xs, size(at[0]), shape, false, [](const auto& r) {
      return Row{static_cast<double>(std::max_element(r[0].begin(), r[0].end()) - r[0].begin())};
    });
  }
  if (op == "cumsum") {
    return by_rows(xs, size(at[0]), shape, true, [](const auto& r) {
      Row row(r[0].size());
      std::partial_sum(r[0].begin(), r[0].end(), row.begin());
      return row;
    });
  }
  if (op == "rowwise") {
    const std::size_t n = size(at[3]);
    const double which =
        static_cast<double>(hash_text(tensor::to_string(at[0]) + tensor::to_string(at[1])) % 11);
    return by_rows(xs, size(at[2]), shape, true, [&](const auto& r) {
      Row row(n, which);
      for (std::size_t k = 0; k < n; ++k) {
        for (const Row& one : r) {
          for (std::size_t j = 0; j < one.size(); ++j)
            row[k] += std::sin(one[j] * static_cast<double>(j + 2 * k + 1));
        }
      }
      return row;
    });
  }
  if (op == "paged_attention") return std::nullopt;
  if (x.shape == shape) return elementwise(op, attrs, xs, types, type);
  return std::nullopt;
}

Array scrambled(const TensorType& type, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 0x1234567;
  return build(concrete(type), [&](const Index&) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const std::uint64_t bits = state >> 20;
    if (type.dtype == DType::b8) return static_cast<double>(bits % 2);
    if (tensor::is_integer(type.dtype)) return static_cast<double>(bits % 15) - 2;
    return (static_cast<double>(bits % 4001) - 2000) / 900;
  });
}

std::optional<Difference> Check::run() {
  for (const egraph::TermId id : graph_.classes()) {
    const Array* expected = value(id, 0);
    if (expected == nullptr) continue;
    const Array copy = *expected;
    const term::Interval known = graph_.interval(id);
    for (const double element : copy.elements) {
      if (known.low || known.high) ++bounded_;
      if ((known.low && element < static_cast<double>(known.low->value())) ||
          (known.high && element > static_cast<double>(known.high->value()))) {
        return Difference{graph_.print(id), std::to_string(element) + " is outside of its bounds"};
      }
    }
    for (const term::NodeView& node : graph_.nodes(id)) {
      if (node.op == rules::kNoOp) continue;
      const std::optional<Array> computed = node_value(node, id, 0);
      if (!computed) continue;
      for (std::size_t i = 0; i < copy.elements.size(); ++i) {
        const double a = copy.elements[i];
        const double b = computed->elements[i];
        if (!std::isfinite(a) || !std::isfinite(b)) continue;
        ++compared_;
        if (std::abs(a - b) > 1e-6 * (1 + std::abs(a) + std::abs(b))) {
          std::string operands;
          for (const egraph::TermId child : node.children) operands += "\n      " + graph_.print(child);
          return Difference{graph_.print(id), graph_.rules().op(node.op).name +
                                                  tensor::to_string(node.attrs) + operands +
                                                  "\n    element " + std::to_string(i) + ": " +
                                                  std::to_string(a) + " against " + std::to_string(b)};
        }
      }
    }
  }
  return std::nullopt;
}

const Array* Check::value(egraph::TermId id, std::size_t depth) {
  id = graph_.find(id);
  if (const auto found = values_.find(id); found != values_.end()) return &found->second;
  if (depth > 200 || busy_[id]) return nullptr;
  busy_[id] = true;
  std::optional<Array> result;
  // The leaf, else the node that was built first: later ones are what the lemmas claim.
  for (const term::NodeView& node : graph_.nodes(id)) {
    if (node.op == rules::kNoOp) {
      result = scrambled(graph_.type(id), seed_ + 31 * id);
      const term::Interval known = graph_.interval(id);
      for (double& element : result->elements) {
        if (known.low) element = std::max(element, static_cast<double>(known.low->value()));
        if (known.high) element = std::min(element, static_cast<double>(known.high->value()));
      }
      break;
    }
  }
  if (!result) {
    for (const term::NodeView& node : graph_.nodes(id)) {
      if ((result = node_value(node, id, depth + 1))) break;
    }
  }
  busy_[id] = false;
  return result ? &values_.emplace(id, std::move(*result)).first->second : nullptr;
}

std::optional<Array> Check::node_value(const term::NodeView& node, egraph::TermId of, std::size_t depth) {
  const Attr attrs = node.attrs;
  const rules::OpId op = node.op;
  const std::vector<egraph::TermId> children(node.children.begin(), node.children.end());
  Arrays operands;
  std::vector<TensorType> types;
  std::vector<Array> kept;
  kept.reserve(children.size());
  for (const egraph::TermId child : children) {
    const Array* array = value(child, depth);
    if (array == nullptr) return std::nullopt;
    kept.push_back(*array);
    operands.push_back(&kept.back());
    types.push_back(graph_.type(child));
  }
  return apply(graph_.rules().op(op).name, attrs, operands, types, graph_.type(of));
}

}  // namespace entangle::library
