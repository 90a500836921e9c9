// Reshapes, broadcasts and constants, spelled with the operators `const`, `bcast`, `squeeze`, `merge` and
// `split` of the rule set; undefined where it lacks the one that is needed.
#pragma once

#include <optional>
#include <vector>

#include "entangle/term/store.h"

namespace entangle::term {

class Layout {
 public:
  explicit Layout(Store& store);

  std::optional<TermId> reshape(TermId x, std::vector<sym::Int> sizes);
  std::optional<TermId> broadcast_to(TermId x, const std::vector<sym::Int>& shape);
  std::optional<TermId> full(const sym::Scalar& c, const tensor::TensorType& type);
  // Why the last call was undefined.
  const std::string& reason() const { return reason_; }

 private:
  using Axes = std::vector<std::size_t>;
  using Sizes = std::vector<sym::Int>;

  // kNoTerm stays kNoTerm.
  TermId apply(rules::OpId op, const char* name, std::vector<tensor::Attr> attrs, TermId x);
  TermId squeeze(TermId x, std::size_t axis);
  TermId insert(TermId x, const Axes& axes, const Sizes& sizes);
  TermId merge(TermId x, std::size_t axis);
  TermId split(TermId x, std::size_t axis, sym::Int inner);
  bool fill_in(const Sizes& from, Sizes& to);
  // How many axes of `from` at `i` and of `to` at `j` hold the same elements; the fewest.
  std::optional<std::pair<std::size_t, std::size_t>> group(const Sizes& from, std::size_t i, const Sizes& to,
                                                           std::size_t j);
  std::optional<TermId> regroup(TermId x, std::size_t place, const Sizes& from, const Sizes& to);
  bool same(sym::Int a, sym::Int b) const { return a == b || is_yes(store_.oracle().equal(a, b)); }
  bool unit(sym::Int a) const { return same(a, 1); }
  std::nullopt_t fail(std::string reason);
  std::optional<TermId> done(TermId x) const { return x == kNoTerm ? std::nullopt : std::optional(x); }

  Store& store_;
  rules::OpId const_, bcast_, squeeze_, merge_, split_;
  std::string reason_;
};

}  // namespace entangle::term
