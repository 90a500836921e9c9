// The built-ins of Clause that take lists apart and make new ones. Included by clause.h.
#pragma once

#include "entangle/eval/clause.h"

namespace entangle::eval {

template <class D>
typename Clause<D>::Value Clause<D>::list_call(const Expr& expr) {
  using rules::Builtin;
  switch (expr.builtin) {
    case Builtin::range: {
      const std::int64_t low = expr.args.size() > 1 ? constant(expr.args[0]) : 0;
      const std::int64_t high = constant(expr.args.back());
      // As unsigned numbers: the difference of signed ones need not fit.
      const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
      if (low < high && count > kMaxList) fail(expr);
      std::vector<Int> result;
      for (std::int64_t k = low; k < high; ++k) {
        result.push_back(domain_.sized(sym::Int(k)));
      }
      return ints(result);
    }
    case Builtin::zip:
    case Builtin::columns: {
      List lists;
      for (const Expr& arg : expr.args) lists.push_back(evaluate(arg));
      return rows(expr.builtin == Builtin::columns ? list(expr.args[0]) : lists, expr);
    }
    case Builtin::enumerate: {
      List result;
      for (const Value& entry : list(expr.args[0])) {
        result.push_back({List{Value{integer(result.size())}, entry}});
      }
      return {std::move(result)};
    }
    case Builtin::reversed: {
      List entries = list(expr.args[0]);
      std::ranges::reverse(entries);
      return {std::move(entries)};
    }
    case Builtin::offsets:
    case Builtin::block_at:
      return offsets(expr);
    case Builtin::index_of: {
      const List entries = list(expr.args[0]);
      const Value wanted = evaluate(expr.args[1]);
      for (std::size_t k = 0; k < entries.size(); ++k) {
        const auto here = domain_.known(equal(entries[k], wanted));
        if (!here) fail(expr);
        if (*here) return {integer(k)};
      }
      fail(expr);
    }
    case Builtin::complement: {
      const std::int64_t size = constant(expr.args[1]);
      if (size < 0 || static_cast<std::uint64_t>(size) > kMaxList) fail(expr);
      std::vector<bool> left_out(static_cast<std::size_t>(size));
      for (const Value& at : list(expr.args[0])) {
        const auto place = domain_.constant(int_of(at));
        if (!place || *place < 0 || *place >= size || left_out[static_cast<std::size_t>(*place)]) fail(expr);
        left_out[static_cast<std::size_t>(*place)] = true;
      }
      List result;
      for (std::size_t k = 0; k < left_out.size(); ++k) {
        if (!left_out[k]) result.push_back({integer(k)});
      }
      return {std::move(result)};
    }
    case Builtin::pairs: {
      const List entries = list(expr.args[0]);
      List result;
      for (std::size_t k = 1; k < entries.size(); ++k) result.push_back({List{entries[k - 1], entries[k]}});
      return {std::move(result)};
    }
    case Builtin::permute: {
      const List entries = list(expr.args[0]);
      List result;
      for (const Value& at : list(expr.args[1])) {
        const auto from = domain_.constant(int_of(at));
        if (!from || *from < 0 || static_cast<std::size_t>(*from) >= entries.size()) fail(expr);
        result.push_back(entries[static_cast<std::size_t>(*from)]);
      }
      return {std::move(result)};
    }
    case Builtin::inverse: {
      const List places = list(expr.args[0]);
      List result(places.size());
      for (std::size_t k = 0; k < places.size(); ++k) {
        const auto to = domain_.constant(int_of(places[k]));
        if (!to || *to < 0 || static_cast<std::size_t>(*to) >= places.size()) fail(expr);
        result[static_cast<std::size_t>(*to)] = {integer(k)};
      }
      return {std::move(result)};
    }
    case Builtin::insert_at: {
      const List places = list(expr.args[1]);
      const List values = list(expr.args[2]);
      const List entries = list(expr.args[0]);
      if (places.size() != values.size()) fail(expr);
      List result;
      std::size_t old = 0;
      for (std::size_t k = 0; k < entries.size() + values.size(); ++k) {
        std::size_t j = 0;
        while (j < places.size() && domain_.constant(int_of(places[j])) != static_cast<std::int64_t>(k)) ++j;
        if (j == places.size() && old == entries.size()) fail(expr);
        result.push_back(j < places.size() ? values[j] : entries[old++]);
      }
      return {std::move(result)};
    }
    default:
      fail(expr);
  }
}

template <class D>
typename Clause<D>::Value Clause<D>::range(const Expr& expr) {
  const List entries = list(expr.args[0]);
  const auto size = static_cast<std::int64_t>(entries.size());
  const auto bound = [&](const Expr& e, std::int64_t otherwise) {
    return e.kind == rules::ExprKind::literal && e.value.is_none() ? otherwise : constant(e);
  };
  const std::int64_t low = bound(expr.args[1], 0);
  const std::int64_t high = bound(expr.args[2], size);
  if (low < 0 || low > high || high > size) fail(expr);
  return {List(entries.begin() + low, entries.begin() + high)};
}

template <class D>
typename Clause<D>::Value Clause<D>::without(const Expr& expr) {
  const List entries = list(expr.args[0]);
  std::vector<bool> removed(entries.size(), false);
  const Value places = evaluate(expr.args[1]);
  const auto remove = [&](const Value& at) {
    const auto constant = domain_.constant(int_of(at));
    if (!constant || *constant < 0 || static_cast<std::size_t>(*constant) >= removed.size()) fail(expr);
    removed[static_cast<std::size_t>(*constant)] = true;
  };
  if (const auto* several = places.as_list()) {
    for (const Value& at : *several) remove(at);
  } else {
    remove(places);
  }
  List kept;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (!removed[k]) kept.push_back(entries[k]);
  }
  return {std::move(kept)};
}

// The first entries of all lists, the second ones, …
template <class D>
typename Clause<D>::Value Clause<D>::rows(const List& lists, const Expr& expr) {
  for (const Value& one : lists) {
    const auto* first = lists[0].as_list();
    const auto* entries = one.as_list();
    if (first == nullptr || entries == nullptr || entries->size() != first->size()) fail(expr);
  }
  List result;
  for (std::size_t k = 0; !lists.empty() && k < lists[0].as_list()->size(); ++k) {
    List row;
    for (const Value& one : lists) row.push_back((*one.as_list())[k]);
    result.push_back({std::move(row)});
  }
  return {std::move(result)};
}

// offsets(xs, d): where the blocks begin; block_at(xs, d, begin, end): the one from `begin` to `end`.
template <class D>
typename Clause<D>::Value Clause<D>::offsets(const Expr& expr) {
  const bool find = expr.builtin == rules::Builtin::block_at;
  const std::int64_t d = constant(expr.args[1]);
  Int offset = integer(0);
  List result;
  for (const Value& block : list(expr.args[0])) {
    const auto* tensor = std::get_if<Tensor>(&block.data);
    if (tensor == nullptr || d < 0 || static_cast<std::size_t>(d) >= domain_.type(tensor->id).rank())
      fail(expr);
    const Int next = offset + domain_.sized(domain_.type(tensor->id).shape[static_cast<std::size_t>(d)]);
    if (find) {
      const auto here = domain_.known(
          domain_.both(equal({offset}, evaluate(expr.args[2])), equal({next}, evaluate(expr.args[3]))));
      if (!here) fail(expr);
      if (*here) return {integer(result.size())};
    }
    result.push_back({offset});
    offset = next;
  }
  if (find) fail(expr);
  return {std::move(result)};
}

}  // namespace entangle::eval
