#include "rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace entangle::tools {

using eval::Application;
using eval::RealArray;
using tensor::Attr;
using Row = std::vector<double>;
using Rows = std::vector<Row>;

namespace {

// Applies `f` to the rows along axis `d` (one of each operand); its result has `size` elements.
template <class F>
RealArray along(const std::vector<const RealArray*>& operands, std::size_t d, std::size_t size, bool drop,
                const F& f) {
  const RealArray& x = *operands[0];
  std::size_t outer = 1;
  std::size_t inner = 1;
  for (std::size_t k = 0; k < x.shape.size(); ++k) {
    if (k != d) (k < d ? outer : inner) *= static_cast<std::size_t>(x.shape[k]);
  }
  const auto length = static_cast<std::size_t>(x.shape[d]);
  RealArray result;
  result.shape = x.shape;
  if (drop) {
    result.shape.erase(result.shape.begin() + static_cast<std::ptrdiff_t>(d));
  } else {
    result.shape[d] = static_cast<std::int64_t>(size);
  }
  result.elements.resize(outer * size * inner);
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < inner; ++i) {
      Rows rows;
      for (const RealArray* operand : operands) {
        Row row;
        for (std::size_t k = 0; k < length; ++k)
          row.push_back(operand->elements[(o * length + k) * inner + i]);
        rows.push_back(std::move(row));
      }
      const Row out = f(rows);
      for (std::size_t k = 0; k < size; ++k) result.elements[(o * size + k) * inner + i] = out[k];
    }
  }
  return result;
}

Row sorted(const Row& row, bool descending, bool places) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return descending ? row[a] > row[b] : row[a] < row[b];
  });
  Row result;
  for (const std::size_t place : order) result.push_back(places ? static_cast<double>(place) : row[place]);
  return result;
}

// The rows in the order of the first: that of operand `which`.
Row sorted_by_first(const Rows& rows, bool descending, std::size_t which) {
  Row result;
  for (const double place : sorted(rows[0], descending, true)) {
    result.push_back(rows[which][static_cast<std::size_t>(place)]);
  }
  return result;
}

// The product (or the greatest) of what goes to each of `size` places: the second row holds the places.
Row put_together(const Rows& rows, std::size_t size, bool greatest) {
  Row result(size, greatest ? -HUGE_VAL : 1);
  for (std::size_t k = 0; k < rows[0].size(); ++k) {
    const double place = rows[1][k];
    if (place < 0 || place >= static_cast<double>(size)) continue;
    double& at = result[static_cast<std::size_t>(place)];
    at = greatest ? std::max(at, rows[0][k]) : at * rows[0][k];
  }
  return result;
}

Row products(const Row& row) {
  Row result;
  double product = 1;
  for (const double element : row) result.push_back(product *= element);
  return result;
}

// The greatest (or least) element so far, or its place: the last of equal ones.
Row running(const Row& row, bool least, bool places) {
  Row result;
  std::size_t best = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (least ? row[k] <= row[best] : row[k] >= row[best]) best = k;
    result.push_back(places ? static_cast<double>(best) : row[best]);
  }
  return result;
}

bool flag(const Attr& options, std::size_t k) {
  const Attr& entry = options.as_list()[k];
  return entry.kind() == Attr::Kind::boolean && entry.as_bool();
}

}  // namespace

std::optional<RealArray> row_wise(const Application& application) {
  const auto attrs = application.attrs.as_list();
  if (application.op.name == "reduce_product") {
    const auto d = static_cast<std::size_t>(attrs[0].as_int().value());
    return along(application.operands, d, 1, true,
                 [](const Rows& rows) { return Row{products(rows[0]).back()}; });
  }
  if (application.op.name != "rowwise") return std::nullopt;
  const std::string& kind = attrs[0].as_name();
  const bool places = attrs[1].as_int().value() == 1;
  const auto d = static_cast<std::size_t>(attrs[2].as_int().value());
  const auto size = static_cast<std::size_t>(attrs[3].as_int().value());
  const Attr options = attrs[4];
  if (kind == "cumprod") {
    return along(application.operands, d, size, false, [](const Rows& rows) { return products(rows[0]); });
  }
  if (kind == "put_product" || kind == "put_max") {
    return along(application.operands, d, size, false,
                 [&](const Rows& rows) { return put_together(rows, size, kind == "put_max"); });
  }
  if (kind == "sort_by_first") {
    const auto which = static_cast<std::size_t>(attrs[1].as_int().value());
    return along(application.operands, d, size, false,
                 [&](const Rows& rows) { return sorted_by_first(rows, flag(options, 0), which); });
  }
  if (kind == "sort" || kind == "topk") {  // top-k's first option is `largest`, sort's `descending`
    return along(application.operands, d, size, false,
                 [&](const Rows& rows) { return sorted(rows[0], flag(options, 0), places); });
  }
  if (kind == "cummax" || kind == "cummin") {
    return along(application.operands, d, size, false,
                 [&](const Rows& rows) { return running(rows[0], kind == "cummin", places); });
  }
  if (kind == "kthvalue" || kind == "median") {  // of an even number of elements the lower one
    return along(application.operands, d, size, false, [&](const Rows& rows) {
      const Row order = sorted(rows[0], false, places);
      return Row{order[kind == "median" ? (order.size() - 1) / 2
                                        : static_cast<std::size_t>(options.as_int().value()) - 1]};
    });
  }
  return std::nullopt;
}

}  // namespace entangle::tools
