#include "sizes.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace entangle::infer {
namespace {

using graph::OpaqueUse;
using graph::TensorRef;

class Sizes {
 public:
  explicit Sizes(Programs& programs) : programs_(programs) {}

  bool from_lowering() {
    for (const graph::Lowered* lowered : {&programs_.lowered_ranks, &programs_.lowered_sequential}) {
      for (const graph::FoundSize& found : lowered->found_sizes) {
        add(*lowered, found.at, found.symbol, found.size);
      }
    }
    return any_;
  }

  // The applications of one operator to the same operands, of either program.
  bool from_equal_operands() {
    struct Use {
      const graph::Lowered* lowered;
      const OpaqueUse* use;
    };
    std::map<std::tuple<std::string, std::string, std::uint32_t, std::vector<TermId>>, std::vector<Use>>
        alike;
    for (const graph::Lowered* lowered : {&programs_.lowered_ranks, &programs_.lowered_sequential}) {
      for (const OpaqueUse& use : lowered->opaque) {
        std::vector<TermId> operands;
        for (const TermId operand : use.operands) {
          operands.push_back(programs_.graph->find(operand));
        }
        alike[{use.op, tensor::to_string(use.attrs), use.result, operands}].push_back({lowered, &use});
      }
    }
    for (auto& [key, uses] : alike) {
      // The sizes of the first rank stand for all; the ranks may have come there in any order.
      std::ranges::stable_sort(uses, {}, [&](const Use& use) {
        return std::tuple(use.lowered == &programs_.lowered_sequential, use.use->at.rank, use.use->at.node);
      });
      for (const Use& other : uses) {
        equal(*uses.front().lowered, *uses.front().use, *other.lowered, *other.use);
      }
    }
    return any_;
  }

  // Whether some size of the result is a symbol that stands for nothing else yet.
  static bool is_open(const graph::Lowered& lowered, const OpaqueUse& use) {
    const tensor::Shape& shape = lowered.node(use.at).results[use.at.result]->shape;
    return std::ranges::any_of(
        shape, [&](sym::Int size) { return lowered.graphs[use.at.rank]->defines(use.at.node, size); });
  }

 private:
  void equal(const graph::Lowered& first_in, const OpaqueUse& first, const graph::Lowered& second_in,
             const OpaqueUse& second) {
    const tensor::Shape& a = first_in.node(first.at).results[first.at.result]->shape;
    const tensor::Shape& b = second_in.node(second.at).results[second.at.result]->shape;
    for (std::size_t k = 0; a.size() == b.size() && k < a.size(); ++k) {
      if (second_in.graphs[second.at.rank]->defines(second.at.node, b[k])) {
        add(second_in, second.at, b[k], a[k]);
      } else if (first_in.graphs[first.at.rank]->defines(first.at.node, a[k])) {
        add(first_in, first.at, a[k], b[k]);
      }
    }
  }

  void add(const graph::Lowered& lowered, const TensorRef& at, sym::Int symbol, sym::Int size) {
    const auto stands_for = [&](const auto& known) { return known.first == symbol; };
    if (smt::is_yes(programs_.oracle->equal(symbol, size)) ||
        std::ranges::any_of(programs_.sizes, stands_for)) {
      return;
    }
    size = programs_.resolved.facts.normalise(size);
    programs_.sizes.emplace_back(symbol, size);
    programs_.found_sizes.push_back(sym::to_string(symbol) + " == " + sym::to_string(size) +
                                    " (the size of `" + lowered.describe(at) + "`)");
    any_ = true;
  }

  Programs& programs_;
  bool any_ = false;
};

}  // namespace

bool find_sizes(Programs& programs) {
  Sizes sizes(programs);
  const bool known = sizes.from_lowering();
  return (!programs.lowered_ranks.mismatch && sizes.from_equal_operands()) || known;
}

std::vector<TermId> operands_of_sizes(Programs& programs) {
  std::vector<TermId> result;
  for (const OpaqueUse& use : programs.lowered_sequential.opaque) {
    if (Sizes::is_open(programs.lowered_sequential, use)) {
      result.insert(result.end(), use.operands.begin(), use.operands.end());
    }
  }
  return result;
}

}  // namespace entangle::infer
