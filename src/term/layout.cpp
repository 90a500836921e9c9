#include "term/layout.h"

namespace entangle::term {

using sym::Int;
using tensor::Attr;
using tensor::TensorType;

namespace {

std::string shape_text(const std::vector<Int>& shape) {
  std::string text = "[";
  for (std::size_t k = 0; k < shape.size(); ++k) text += (k > 0 ? ", " : "") + to_string(shape[k]);
  return text + "]";
}

}  // namespace

Layout::Layout(Store& store)
    : store_(store),
      const_(store.rules().find_op("const")),
      bcast_(store.rules().find_op("bcast")),
      squeeze_(store.rules().find_op("squeeze")),
      merge_(store.rules().find_op("merge")),
      split_(store.rules().find_op("split")) {}

std::nullopt_t Layout::fail(std::string reason) {
  reason_ = std::move(reason);
  return std::nullopt;
}

TermId Layout::apply(rules::OpId op, const char* name, std::vector<Attr> attrs, TermId x) {
  if (x == kNoTerm) return x;
  if (op == rules::kNoOp || store_.rules().op(op).attributes.size() != attrs.size()) {
    reason_ = std::string("the rules have no operator `") + name + "` as it is needed here";
    return kNoTerm;
  }
  const TermId operands[] = {x};
  const TermId result = store_.make(op, Attr::list(attrs), operands);
  if (result == kNoTerm) reason_ = std::string("`") + name + "` has no type here";
  return result;
}

TermId Layout::squeeze(TermId x, std::size_t axis) {
  return apply(squeeze_, "squeeze", {Attr::of(Int(axis))}, x);
}

TermId Layout::merge(TermId x, std::size_t axis) {
  return apply(merge_, "merge", {Attr::of(Int(axis))}, x);
}

TermId Layout::split(TermId x, std::size_t axis, Int inner) {
  return apply(split_, "split", {Attr::of(Int(axis)), Attr::of(inner)}, x);
}

TermId Layout::insert(TermId x, const Axes& axes, const Sizes& sizes) {
  if (axes.empty()) return x;
  std::vector<Attr> places;
  for (const std::size_t axis : axes) places.push_back(Attr::of(Int(axis)));
  return apply(bcast_, "bcast", {Attr::list(places), Attr::ints(sizes)}, x);
}

std::optional<TermId> Layout::full(const sym::Scalar& c, const TensorType& type) {
  if (const_ == rules::kNoOp || store_.rules().op(const_).attributes.size() != 2) {
    return fail("the rules have no operator `const(; value, dtype)`");
  }
  const Attr attrs[] = {Attr::of(c), Attr::of(type.dtype)};
  const TermId value = store_.make(const_, Attr::list(attrs), {});
  if (value == kNoTerm) return fail("`const` has no type here");
  Axes axes(type.rank());
  for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = k;
  return done(insert(value, axes, type.shape));
}

std::optional<TermId> Layout::broadcast_to(TermId x, const std::vector<Int>& shape) {
  const Sizes from = store_.type(x).shape;
  const auto impossible = [&] {
    return fail("cannot broadcast " + shape_text(from) + " to " + shape_text(shape));
  };
  if (from.size() > shape.size()) return impossible();
  const std::size_t pad = shape.size() - from.size();
  Axes axes;
  Sizes sizes;
  for (std::size_t k = 0; k < pad; ++k) {
    axes.push_back(k);
    sizes.push_back(shape[k]);
  }
  Axes repeated;
  for (std::size_t k = 0; k < from.size(); ++k) {
    // As in torch.expand, -1 keeps the axis.
    if (shape[pad + k] == Int(-1) || same(from[k], shape[pad + k])) continue;
    if (!unit(from[k])) return impossible();
    repeated.push_back(k);
    axes.push_back(pad + k);
    sizes.push_back(shape[pad + k]);
  }
  for (std::size_t i = repeated.size(); i-- > 0;) x = squeeze(x, repeated[i]);
  return done(insert(x, axes, sizes));
}

bool Layout::fill_in(const Sizes& from, Sizes& to) {
  std::size_t unknown = to.size();
  Int rest = 1;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (!(to[k] == Int(-1))) {
      rest *= to[k];
    } else if (unknown == to.size()) {
      unknown = k;
    } else {
      return false;
    }
  }
  if (unknown == to.size()) return true;
  const std::optional<Int> size = store_.oracle().exact_div(product(from), rest);
  if (size) to[unknown] = *size;
  return size.has_value();
}

std::optional<std::pair<std::size_t, std::size_t>> Layout::group(const Sizes& from, std::size_t i,
                                                                 const Sizes& to, std::size_t j) {
  const std::size_t m_max = from.size() - i;
  const std::size_t n_max = to.size() - j;
  if (m_max == 0 || n_max == 0) return std::nullopt;
  // Normal forms first; the solver only where no grouping is seen without it.
  for (const bool ask : {false, true}) {
    for (std::size_t total = 2; total <= m_max + n_max; ++total) {
      for (std::size_t m = total > n_max ? total - n_max : 1; m < total && m <= m_max; ++m) {
        Int a = 1;
        Int b = 1;
        for (std::size_t k = 0; k < m; ++k) a *= from[i + k];
        for (std::size_t k = 0; k < total - m; ++k) b *= to[j + k];
        const bool equal = ask ? same(a, b) : store_.oracle().normalise(a) == store_.oracle().normalise(b);
        if (equal && !a.is_poison()) return std::pair(m, total - m);
      }
    }
    bool constant = true;
    for (std::size_t k = i; k < from.size(); ++k) constant = constant && from[k].is_constant();
    for (std::size_t k = j; k < to.size(); ++k) constant = constant && to[k].is_constant();
    if (constant) break;
  }
  return std::nullopt;
}

// Axes `from` of x, which start at `place` and have no unit axis among them, become the axes `to`.
std::optional<TermId> Layout::regroup(TermId x, std::size_t place, const Sizes& from, const Sizes& to) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() || j < to.size()) {
    const auto found = group(from, i, to, j);
    if (!found) return std::nullopt;
    const auto [m, n] = *found;
    for (std::size_t k = 1; k < m; ++k) x = merge(x, place);
    for (std::size_t k = n; k-- > 1;) x = split(x, place, to[j + k]);
    i += m;
    j += n;
    place += n;
  }
  return x;
}

std::optional<TermId> Layout::reshape(TermId x, std::vector<Int> sizes) {
  const Sizes from = store_.type(x).shape;
  const auto impossible = [&] {
    return fail("cannot reshape " + shape_text(from) + " to " + shape_text(sizes));
  };
  if (!fill_in(from, sizes)) return impossible();
  // What both begin and end with stays as it is, unit axes too.
  std::size_t head = 0;
  std::size_t tail = 0;
  const std::size_t shorter = std::min(from.size(), sizes.size());
  while (head < shorter && same(from[head], sizes[head])) ++head;
  while (head + tail < shorter && same(from[from.size() - 1 - tail], sizes[sizes.size() - 1 - tail])) {
    ++tail;
  }
  Sizes source;
  Sizes target;
  Axes units;
  for (std::size_t k = from.size() - tail; k-- > head;) {
    if (unit(from[k])) {
      x = squeeze(x, k);
    } else {
      source.insert(source.begin(), from[k]);
    }
  }
  for (std::size_t k = head; k < sizes.size() - tail; ++k) {
    if (unit(sizes[k])) {
      units.push_back(k);
    } else {
      target.push_back(sizes[k]);
    }
  }
  if (x == kNoTerm) return std::nullopt;
  const std::optional<TermId> regrouped = regroup(x, head, source, target);
  if (!regrouped) return impossible();
  return done(insert(*regrouped, units, Sizes(units.size(), Int(1))));
}

}  // namespace entangle::term
