// Random well-typed terms over any rule set. Operators are known by their declarations only: attributes are
// drawn by their declared kinds, operands from the terms made so far (preferring operands of equal type), and
// what does not type is drawn again. The same seed gives the same terms on every machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "entangle/egraph/egraph.h"

namespace entangle::egraph {

// xorshift64*: std distributions differ between standard libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x2545f4914f6cdd1dULL) {}
  std::size_t below(std::size_t n) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::size_t>((state_ * 0x2545f4914f6cdd1dULL) >> 33) % n;
  }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

class RandomTerms {
 public:
  // `operators`: those to use. Empty: a few, drawn from all whose attributes can be drawn; with few operators
  // terms come to have the forms that lemmas are about.
  RandomTerms(EGraph& graph, std::uint64_t seed, const std::vector<std::string>& operators = {})
      : graph_(graph), random_(seed) {
    for (const rules::Operator& op : graph.rules().operators()) {
      const bool wanted = operators.empty()
                              ? can_draw(op)
                              : std::find(operators.begin(), operators.end(), op.name) != operators.end();
      if (wanted && !op.random) {
        operators_.push_back(op.id);
      }
    }
    const std::size_t few = 4 + random_.below(5);
    while (operators.empty() && operators_.size() > few) {
      operators_.erase(operators_.begin() + static_cast<std::ptrdiff_t>(random_.below(operators_.size())));
    }
  }

  // A new leaf. Sizes are 1 to 4 (or 6, which splits), mostly of the sizes used before.
  TermId leaf() {
    tensor::TensorType type;
    if (!terms_.empty() && random_.chance(60)) {
      type = graph_.type(random_.pick(terms_));
    } else {
      static const std::vector<int> kSizes = {2, 2, 4, 3, 6, 1, 4};
      const std::size_t rank = random_.below(4);
      for (std::size_t k = 0; k < rank; ++k) {
        type.shape.emplace_back(random_.pick(kSizes));
      }
      const std::size_t kind = random_.below(10);
      type.dtype = kind == 0 ? tensor::DType::b8 : kind == 1 ? tensor::DType::i64 : tensor::DType::f32;
    }
    const TermId id = graph_.leaf(type, "v" + std::to_string(leaves_++));
    terms_.push_back(id);
    return id;
  }

  // One more application of terms made so far, or nothing after many attempts.
  std::optional<TermId> grow() {
    for (int attempt = 0; attempt < 60; ++attempt) {
      const rules::Operator& op = graph_.rules().op(random_.pick(operators_));
      if (const std::optional<TermId> id = attempt_application(op)) {
        terms_.push_back(*id);
        return id;
      }
    }
    return std::nullopt;
  }

  // A term over `leaves` leaves with up to `size` applications; the last one made.
  TermId term(std::size_t leaves, std::size_t size) {
    TermId last = kNoTerm;
    for (std::size_t i = 0; i < leaves; ++i) {
      last = leaf();
    }
    for (std::size_t i = 0; i < size; ++i) {
      last = grow().value_or(last);
    }
    return last;
  }

  const std::vector<TermId>& terms() const { return terms_; }
  Random& random() { return random_; }

 private:
  static bool can_draw(const rules::Operator& op) {
    for (const rules::Parameter& parameter : op.attributes) {
      switch (parameter.type.base) {
        case rules::Base::axis:
        case rules::Base::count:
        case rules::Base::perm:
        case rules::Base::integer:
        case rules::Base::scalar:
        case rules::Base::dtype:
          break;
        default:
          return false;
      }
    }
    return true;
  }

  std::optional<TermId> attempt_application(const rules::Operator& op) {
    std::vector<TermId> children;
    if (!op.tensors.empty() && terms_.empty()) {
      return std::nullopt;
    }
    for (const rules::Parameter& parameter : op.tensors) {
      const std::size_t count = parameter.type.is_list() ? 1 + random_.below(3) : 1;
      for (std::size_t i = 0; i < count; ++i) {
        // Late terms are used more often, so that terms get deep.
        TermId child =
            random_.chance(50)
                ? terms_[terms_.size() - 1 - random_.below(std::min<std::size_t>(4, terms_.size()))]
                : random_.pick(terms_);
        if (!children.empty() && random_.chance(85)) {
          std::vector<TermId> alike;
          for (const TermId id : terms_) {
            if (graph_.type(id) == graph_.type(children[0])) {
              alike.push_back(id);
            }
          }
          child = random_.pick(alike);
        }
        children.push_back(child);
      }
    }
    std::vector<tensor::Attr> attrs;
    const std::size_t rank = children.empty() ? 0 : graph_.type(children[0]).rank();
    std::size_t list_length = random_.below(3);
    for (const rules::Parameter& parameter : op.attributes) {
      attrs.push_back(draw(parameter.type, parameter.type.depth, rank, list_length, children));
    }
    const TermId id = graph_.make(op.id, tensor::Attr::list(attrs), children);
    // Small sizes only, so that numbers can be checked.
    std::int64_t elements = 1;
    if (id != kNoTerm) {
      for (const sym::Int size : graph_.type(id).shape) {
        elements *= size.value();
      }
    }
    return id == kNoTerm || elements > 300 ? std::nullopt : std::optional(id);
  }

  tensor::Attr draw(const rules::Type& type, std::size_t depth, std::size_t rank, std::size_t length,
                    const std::vector<TermId>& children) {
    if (type.base == rules::Base::perm) {
      std::vector<sym::Int> permutation;
      for (std::size_t k = 0; k < rank; ++k) {
        permutation.insert(permutation.begin() + static_cast<std::ptrdiff_t>(random_.below(k + 1)),
                           sym::Int(k));
      }
      return tensor::Attr::ints(permutation);
    }
    if (depth > 0) {
      std::vector<tensor::Attr> list;
      if (type.base == rules::Base::axis) {
        // Ascending places.
        for (std::size_t place = random_.below(2); list.size() < length; place += 1 + random_.below(2)) {
          list.push_back(tensor::Attr::of(sym::Int(place)));
        }
        return tensor::Attr::list(list);
      }
      for (std::size_t i = 0; i < std::max<std::size_t>(length, type.nonempty ? 1 : 0); ++i) {
        list.push_back(draw(type, depth - 1, rank, length, children));
      }
      return tensor::Attr::list(list);
    }
    switch (type.base) {
      case rules::Base::axis:
        return tensor::Attr::of(sym::Int(random_.below(std::max<std::size_t>(1, rank))));
      case rules::Base::count:
        return tensor::Attr::of(sym::Int(random_.below(3)));
      case rules::Base::integer:
        return tensor::Attr::of(sym::Int(random_.below(5)));
      case rules::Base::scalar:
        return tensor::Attr::of(sym::Scalar::ratio(static_cast<std::int64_t>(random_.below(5)) - 1,
                                                   1 + static_cast<std::int64_t>(random_.below(2))));
      case rules::Base::dtype:
        return tensor::Attr::of(random_.chance(80)   ? tensor::DType::f32
                                : random_.chance(50) ? tensor::DType::i64
                                                     : tensor::DType::b8);
      default:
        return {};
    }
  }

  EGraph& graph_;
  Random random_;
  std::vector<rules::OpId> operators_;
  std::vector<TermId> terms_;
  std::size_t leaves_ = 0;
};

}  // namespace entangle::egraph
