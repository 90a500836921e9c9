#include "constants.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "entangle/eval/interpret.h"
#include "entangle/eval/terms.h"
#include "entangle/relation/clean.h"
#include "entangle/support/text.h"
#include "programs.h"

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

// Numbers as a report shows them: those of long tensors are not all of interest.
std::string shown(const tensor::Attr& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = tensor::to_string(value);
  const std::size_t end = text.size() > kLongest ? text.rfind(',', kLongest) : std::string::npos;
  if (end == std::string::npos) {
    return text;
  }
  text.resize(end);
  const auto open = std::ranges::count(text, '[') - std::ranges::count(text, ']');
  return text + ", …" + std::string(static_cast<std::size_t>(open), ']');
}

const std::optional<tensor::Attr>& value_of(const Programs& programs, const relation::Leaf& leaf) {
  const graph::Graph& rank = programs.ranks[leaf.rank];
  return rank.nodes[rank.find(leaf.name)].value;
}

// What the ranks' constants in a relation are, each once.
std::vector<std::string> constants_in(const Programs& programs, const relation::Clean& relation) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> result;
  std::set<relation::Leaf> seen;
  for (const relation::Clean* leaf : relation::leaves(relation)) {
    const std::optional<tensor::Attr>& value = value_of(programs, leaf->leaf);
    if (!value || !seen.insert(leaf->leaf).second) {
      continue;
    }
    if (result.size() == kMost) {
      result.emplace_back("…");
      break;
    }
    result.push_back(relation::to_string(leaf->leaf) + " is " + shown(*value));
  }
  return result;
}

// What relations to constants say of an input.
std::vector<std::string> values_of(const Programs& programs, const relation::Related& related) {
  std::vector<std::string> result;
  for (const relation::RelatedForm& form : related.forms) {
    for (const relation::Clean& alternative : form.expansion.alternatives) {
      if (alternative.is_leaf()) {
        if (const std::optional<tensor::Attr>& value = value_of(programs, alternative.leaf)) {
          return {shown(*value) + ", the value of " + relation::to_string(alternative.leaf)};  // all of it
        }
      } else if (const std::vector<std::string> constants = constants_in(programs, alternative);
                 !constants.empty()) {
        result.push_back(relation::to_string(alternative, programs.graph->rules()) + ", where " +
                         support::join_list(constants));
      }
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> inputs_taken_as_constants(const Programs& programs) {
  std::vector<std::string> result;
  for (const relation::Related& related : programs.resolved.inputs) {
    const graph::Node& input = programs.sequential_graph().nodes[related.tensor];
    if (!input.value) {  // else they are the same, or that would be an error
      const std::vector<std::string> values = values_of(programs, related);
      std::ranges::transform(values, std::back_inserter(result), [&](const std::string& value) {
        return input.name + " is taken to be " + value;
      });
    }
  }
  return result;
}

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
