#include "entangle/prove/implied.h"

#include <algorithm>
#include <vector>

#include "entangle/egraph/saturate.h"
#include "prove/sampler.h"

namespace entangle::prove {

namespace {

enum class Named : std::uint8_t { nothing, inside, left, beside };

constexpr std::size_t kNodes = 3000;
constexpr std::size_t kRounds = 8;
constexpr std::uint64_t kSeed = 1;

// Small instances first: they are quick to tell that a lemma is needed. In larger ones slices are parts and
// sums have more terms than two.
struct Batch {
  std::size_t instances;
  Sampler::Limits limits;
};
constexpr Batch kBatches[] = {{4, {}}, {24, {3, 9, 6}}};

class Question {
 public:
  Question(const rules::RuleSet& rules, std::size_t lemma)
      : lemma_(rules.lemmas()[lemma]),
        others_(rules.without_lemma(lemma)),
        program_(*others_),
        typing_(rules, oracle_),
        sampler_(subject_of(rules, lemma_), typing_, kSeed) {}

  Implied answer() {
    Implied answer = Implied::unknown;
    for (const rules::OpId op : sampler_.operators()) {
      for (const Batch& batch : kBatches) {
        sampler_.limit(batch.limits);
        for (std::size_t n = 0; n < batch.instances; ++n) {
          if (!sampler_.next(op)) continue;
          instance_end_ = static_cast<TermId>(sampler_.terms().size());
          const TermId right = right_side();
          if (right == term::kNoTerm) continue;
          for (const Named named : {Named::nothing, Named::inside, Named::left, Named::beside}) {
            const bool found = finds(right, named);
            if (degenerate_) continue;
            if (!found) return Implied::no;
            answer = Implied::found;
          }
        }
      }
    }
    return answer;
  }

 private:
  TermId right_side() {
    if (sampler_.left().size() != 1) return term::kNoTerm;
    const tensor::TensorType type = sampler_.terms().type(sampler_.left()[0]);
    return sampler_.evaluator().evaluate_term(lemma_.right, sampler_.frame(), &type).value_or(term::kNoTerm);
  }

  // Whether the right side is found in the class of the left one: it is built after the saturation only.
  bool finds(TermId right, Named named) {
    smt::Oracle oracle;
    term::Typing typing(*others_, oracle);
    egraph::EGraph graph(typing, oracle);
    built_.assign(sampler_.terms().size(), term::kNoTerm);
    const TermId root = sampler_.left()[0];
    name(root, right, named);
    degenerate_ = false;
    // What is given stands beside the left side.
    for (TermId id = 0; id < std::max(root + 1, given_end(right)); ++id) build(graph, id);
    egraph::Limits limits;
    limits.nodes = kNodes;
    limits.rounds = kRounds;
    egraph::saturate(graph, program_, limits);
    const TermId left = built_[root];
    const TermId other = build(graph, right);
    return left != term::kNoTerm && other != term::kNoTerm && graph.find(other) == graph.find(left);
  }

  // The instance comes before the right side, which is built of it; ids are given out in order.
  TermId given_end(TermId right) const { return std::min<TermId>(right, instance_end_); }

  TermId build(egraph::EGraph& graph, TermId id) {
    if (built_[id] != term::kNoTerm) return built_[id];
    const eval::Terms& terms = sampler_.terms();
    const term::NodeView node = terms.node(id);
    TermId result = term::kNoTerm;
    if (node.op == rules::kNoOp) {
      result = graph.leaf(terms.type(id), terms.label(id));
      if (terms.interval(id) != term::Interval{}) graph.set_interval(result, terms.interval(id));
    } else {
      std::vector<TermId> children;
      for (const TermId child : node.children) children.push_back(build(graph, child));
      result = graph.make(node.op, node.attrs, children);
    }
    // At once, as in a program: what is built of a named tensor is not normalised away.
    if (result != term::kNoTerm && named_[id]) graph.set_named(result);
    // A split into one part and the like: normalised away as it is built, it says nothing of the lemma.
    const bool gone = result == term::kNoTerm || graph.original(result).op != node.op;
    degenerate_ = degenerate_ || (in_left_[id] && gone);
    return built_[id] = result;
  }

  void name(TermId root, TermId right, Named named) {
    const eval::Terms& terms = sampler_.terms();
    in_left_.assign(terms.size(), false);
    in_left_[root] = true;
    for (TermId id = root + 1; id-- > 0;) {
      if (!in_left_[id]) continue;
      for (const TermId child : terms.node(id).children) in_left_[child] = true;
    }
    named_.assign(terms.size(), false);
    for (TermId id = 0; id < terms.size(); ++id) {
      switch (named) {
        case Named::nothing:
          break;
        case Named::inside:
          named_[id] = in_left_[id] && id != root;
          break;
        case Named::left:
          named_[id] = in_left_[id];
          break;
        case Named::beside:
          named_[id] = !in_left_[id] && id < given_end(right);
          break;
      }
    }
  }

  const rules::Lemma& lemma_;
  std::shared_ptr<const rules::RuleSet> others_;
  egraph::Program program_;
  smt::Oracle oracle_;
  term::Typing typing_;
  Sampler sampler_;
  TermId instance_end_ = 0;  // terms below this are the instance, not its right side
  std::vector<TermId> built_;
  std::vector<bool> in_left_, named_;
  bool degenerate_ = false;
};

}  // namespace

Implied implied(const rules::RuleSet& rules, std::size_t lemma) {
  return Question(rules, lemma).answer();
}

}  // namespace entangle::prove
