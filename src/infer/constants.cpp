#include "constants.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "entangle/eval/interpret.h"
#include "entangle/eval/terms.h"

namespace entangle::infer {
namespace {

using egraph::EGraph;
using egraph::kNoTerm;
using egraph::TermId;

// The same terms outside of the e-graph.
class Constants {
 public:
  explicit Constants(EGraph& graph) : graph_(graph), terms_(graph.typing()) {}

  // kNoTerm: not of constants alone, or too large.
  TermId copy(TermId term, int depth = 0) {
    const auto [known, fresh] = copies_.try_emplace(term, kNoTerm);
    if (!fresh) {
      return known->second;
    }
    const auto node = graph_.original(term);
    if (node.op == rules::kNoOp || graph_.rules().op(node.op).random || graph_.rules().op(node.op).drawn ||
        depth > kDeepest || !is_small(term)) {
      return kNoTerm;
    }
    std::vector<TermId> operands;
    for (const TermId child : node.children) {
      operands.push_back(copy(child, depth + 1));
      if (operands.back() == kNoTerm) {
        return kNoTerm;
      }
    }
    return copies_[term] = terms_.make(node.op, node.attrs, operands);
  }

  const eval::Terms& terms() const { return terms_; }

 private:
  static constexpr int kDeepest = 1000;
  static constexpr std::int64_t kMostElements = std::int64_t{1} << 20;

  bool is_small(TermId term) const {
    std::int64_t elements = 1;
    for (const sym::Int size : graph_.type(term).shape) {
      if (!size.is_constant() || size.value() > kMostElements / std::max<std::int64_t>(elements, 1)) {
        return false;
      }
      elements *= size.value();
    }
    return true;
  }

  EGraph& graph_;
  eval::Terms terms_;
  std::map<TermId, TermId> copies_;
};

}  // namespace

bool differ(EGraph& graph, TermId a, TermId b) {
  // Mostly they are leaves.
  if (a == b || graph.original(a).op == rules::kNoOp || graph.original(b).op == rules::kNoOp) {
    return false;
  }
  Constants constants(graph);
  const TermId left = constants.copy(a);
  const TermId right = left == kNoTerm ? kNoTerm : constants.copy(b);
  if (right == kNoTerm) {
    return false;
  }
  eval::Interpreter interpreter(constants.terms());
  const eval::Array* array = interpreter.value(left);
  if (array == nullptr) {
    return false;
  }
  const std::vector<mpq_class> elements = array->elements;
  const eval::Array* other = interpreter.value(right);
  return other != nullptr && elements != other->elements;
}

}  // namespace entangle::infer
