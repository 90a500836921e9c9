#include "entangle/relation/extract.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <unordered_map>

#include "relation/counterparts.h"

namespace entangle::relation {
namespace {

using egraph::EGraph;
using egraph::kNoTerm;
using egraph::TermId;
using rules::kNoOp;
using term::NodeView;

// Costs are counted in halves: a slice costs half a step more than another operator, so that of two equal
// expressions the one that names whole tensors is preferred.
constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max() / 4;

struct Choice {
  std::uint32_t cost = kNever;
  int node = -1;  // -1: the leaf
  bool known() const { return cost < kNever; }
};

enum class Known : std::uint8_t { not_yet, no, yes };

struct ClassInfo {
  std::vector<NodeView> nodes;
  std::vector<bool> constant_node;
  std::vector<Known> counterparts;  // of each node: whether its operands are, see there
  bool constant = false;
  Choice rearranged;
  Choice summed;
};

bool is_partial_sum(const rules::Operator& op) {
  return op.clean && op.elementwise;
}

class Extractor {
 public:
  // Looks at what can be part of a clean expression of `root`.
  Extractor(EGraph& graph, TermId root, const ExtractOptions& options)
      : graph_(graph),
        rules_(graph.rules()),
        options_(options),
        root_(graph.find(root)),
        counterparts_(options) {
    collect();
    find_constants();
    find_rearranged();
    if (options_.partial_sums) {
      find_summed();
    }
  }

  std::vector<CleanTermPtr> run() {
    const TermId root = root_;
    std::vector<CleanTermPtr> found;
    ClassInfo& info = classes_.at(root);
    if (is_leaf(root)) {
      add(found, leaf(root));
    }
    struct Candidate {
      std::uint32_t cost;
      bool sum;
      int node;
    };
    std::vector<Candidate> candidates;
    for (int n = 0; n < static_cast<int>(info.nodes.size()); ++n) {
      if (std::ranges::any_of(info.nodes[n].children, [&](TermId c) { return graph_.find(c) == root; })) {
        continue;
      }
      if (const std::uint32_t cost = rearranged_cost(info, n); cost < kNever) {
        candidates.push_back({cost, false, n});
      }
      if (options_.partial_sums) {
        if (const std::uint32_t cost = summed_cost(info, n); cost < kNever) {
          candidates.push_back({cost, true, n});
        }
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return a.sum != b.sum ? !a.sum : a.cost < b.cost;
    });
    std::set<std::pair<rules::OpId, std::string>> kinds;
    for (const Candidate& candidate : candidates) {
      if (found.size() >= options_.most) {
        break;
      }
      const NodeView& node = info.nodes[candidate.node];
      // Beside a tensor of its own a class is told apart only by how it is put together from others.
      if (is_leaf(root) && node.children.size() < 2) {
        continue;
      }
      const auto kind = std::pair(node.op, node.children.size() < 2 ? "" : tensor::to_string(node.attrs));
      if (kinds.contains(kind)) {
        continue;
      }
      if (add(found, build_node(root, candidate.node, candidate.sum))) {
        kinds.insert(kind);
      }
    }
    return found;
  }

 private:
  // The classes below the root through operators that rearrange or add up; other nodes are left out.
  void collect() {
    std::vector<TermId> stack{root_};
    while (!stack.empty()) {
      const TermId id = stack.back();
      stack.pop_back();
      const auto [it, fresh] = classes_.try_emplace(id);
      if (!fresh) {
        continue;
      }
      ClassInfo& info = it->second;
      info.nodes = graph_.nodes(id);
      std::erase_if(info.nodes, [&](const NodeView& node) {
        const bool leaf = node.op == kNoOp;
        return leaf || !(node.children.empty() || rules_.op(node.op).clean || rules_.op(node.op).rearranges ||
                         node.op == scale_);
      });
      if (options_.partial_sums && options_.counterparts) {
        add_replicas(info.nodes);
      }
      std::erase_if(info.nodes, [&](const NodeView& node) { return node.op == scale_; });
      info.constant_node.assign(info.nodes.size(), false);
      info.counterparts.assign(info.nodes.size(), Known::not_yet);
      order_.push_back(id);
      for (const NodeView& node : info.nodes) {
        for (const TermId child : node.children) {
          stack.push_back(graph_.find(child));
        }
      }
    }
    std::ranges::sort(order_);
  }

  bool add(std::vector<CleanTermPtr>& found, CleanTermPtr term) {
    if (options_.elements_once && !uses_elements_once(*term, graph_, options_)) {
      return false;
    }
    found.push_back(std::move(term));
    return true;
  }

  // n times a tensor that n ranks hold is the sum of their replicas.
  void add_replicas(std::vector<NodeView>& nodes) {
    const rules::OpId sum = rules_.find_op("add_n");
    if (scale_ == kNoOp || sum == kNoOp) {
      return;
    }
    for (std::size_t n = 0, end = nodes.size(); n < end; ++n) {
      if (nodes[n].op != scale_) {
        continue;
      }
      const TermId replica = nodes[n].children.front();
      const auto factor = nodes[n].attrs.as_list()[0].as_scalar().as_int();
      const auto count = factor ? factor->constant() : std::nullopt;
      if (count && *count >= 2 && *count <= static_cast<std::int64_t>(options_.owners(replica).size())) {
        const auto& operands = replicas_.emplace_back(static_cast<std::size_t>(*count), replica);
        nodes.push_back({sum, tensor::Attr::list({}), operands});
      }
    }
  }

  bool is_leaf(TermId id) const { return !options_.owners(id).empty(); }

  // Operators without operands, and rearrangements of constants (these may broadcast). Of each class the
  // first one that is found: two classes may be rearrangements of each other, but what is found first rests
  // on earlier ones.
  void find_constants() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const TermId id : order_) {
        ClassInfo& info = classes_.at(id);
        for (std::size_t n = 0; n < info.nodes.size() && !info.constant; ++n) {
          const NodeView& node = info.nodes[n];
          if (node.op == kNoOp) {
            continue;
          }
          const rules::Operator& op = rules_.op(node.op);
          const bool constant = !op.random && (node.children.empty() || op.rearranges) &&
                                std::ranges::all_of(node.children, [&](TermId c) {
                                  return classes_.at(graph_.find(c)).constant;
                                });
          if (constant) {
            info.constant_node[n] = true;
            info.constant = true;
            changed = true;
          }
        }
      }
    }
  }

  bool rearranges_cleanly(const ClassInfo& info, int n) {
    const NodeView& node = info.nodes[n];
    if (node.op == kNoOp || node.children.empty()) {
      return false;
    }
    const rules::Operator& op = rules_.op(node.op);
    if (op.clean) {
      return !op.elementwise;
    }
    if (!op.rearranges) {
      return false;
    }
    // A broadcast is a rearrangement when it only adds axes of size one.
    const auto size = [&](TermId id) { return sym::product(graph_.type(id).shape); };
    sym::Int before = 0;
    for (const TermId child : node.children) {
      before += size(child);
    }
    return smt::is_yes(graph_.oracle().equal(before, size(result_of_[&info])));
  }

  std::uint32_t rearranged_cost(const ClassInfo& info, int n) {
    if (info.constant_node[n]) {
      return 0;
    }
    if (!rearranges_cleanly(info, n)) {
      return kNever;
    }
    const NodeView& node = info.nodes[n];
    std::uint32_t cost = node.children.size() == 1 && is_slice(node.op) ? 3 : 2;
    for (const TermId child : node.children) {
      cost = std::min(kNever, cost + classes_.at(graph_.find(child)).rearranged.cost);
    }
    return cost;
  }

  void find_rearranged() {
    for (const TermId id : order_) {
      ClassInfo& info = classes_.at(id);
      result_of_[&info] = id;
      if (is_leaf(id)) {
        info.rearranged = {2, -1};
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const TermId id : order_) {
        ClassInfo& info = classes_.at(id);
        for (int n = 0; n < static_cast<int>(info.nodes.size()); ++n) {
          const std::uint32_t cost = rearranged_cost(info, n);
          if (cost < info.rearranged.cost) {
            info.rearranged = {cost, n};
            changed = true;
          }
        }
      }
    }
  }

  std::uint32_t summed_cost(ClassInfo& info, int n) {
    const NodeView& node = info.nodes[n];
    if (node.op == kNoOp || node.children.empty()) {
      return kNever;
    }
    const rules::Operator& op = rules_.op(node.op);
    std::uint32_t cost = 2;
    if (is_partial_sum(op)) {
      for (const TermId child : node.children) {
        cost = std::min(kNever, cost + classes_.at(graph_.find(child)).rearranged.cost);
      }
      return cost < kNever && (!options_.counterparts || counterparts(info, n)) ? cost : kNever;
    }
    if (!rearranges_cleanly(info, n)) {
      return kNever;
    }
    bool sum = false;
    for (const TermId child : node.children) {
      const ClassInfo& operand = classes_.at(graph_.find(child));
      if (!operand.rearranged.known()) {
        sum = true;
      }
      cost = std::min(kNever, cost + std::min(operand.rearranged.cost, operand.summed.cost));
    }
    return sum ? cost : kNever;
  }

  void find_summed() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const TermId id : order_) {
        ClassInfo& info = classes_.at(id);
        for (int n = 0; n < static_cast<int>(info.nodes.size()); ++n) {
          const std::uint32_t cost = summed_cost(info, n);
          if (cost < info.summed.cost) {
            info.summed = {cost, n};
            changed = true;
          }
        }
      }
    }
  }

  CleanTermPtr leaf(TermId id) const {
    auto term = std::make_shared<CleanTerm>();
    term->id = id;
    return term;
  }

  CleanTermPtr build_node(TermId id, int n, bool sum) {
    const ClassInfo& info = classes_.at(id);
    const NodeView& node = info.nodes[n];
    auto term = std::make_shared<CleanTerm>();
    term->id = id;
    term->op = node.op;
    term->attrs = node.attrs;
    const bool terms = sum && is_partial_sum(rules_.op(node.op));
    for (const TermId child : node.children) {
      term->children.push_back(build(child, sum && !terms));
    }
    return term;
  }

  CleanTermPtr build(TermId id, bool may_sum) {
    id = graph_.find(id);
    const ClassInfo& info = classes_.at(id);
    if (info.rearranged.known()) {
      return info.rearranged.node < 0 ? leaf(id) : build_node(id, info.rearranged.node, false);
    }
    ENTANGLE_CHECK(may_sum && info.summed.known(), "extraction of a class without a clean expression");
    return build_node(id, info.summed.node, true);
  }

  bool is_slice(rules::OpId op) const { return rules_.op(op).name == "slice"; }

  // --- partial sums

  // Whether the operands of a sum can be assigned to different ranks on which they are counterparts.
  bool counterparts(ClassInfo& info, int n) {
    Known& known = info.counterparts[n];
    if (known == Known::not_yet) {
      known = are_counterparts(info.nodes[n]) ? Known::yes : Known::no;
    }
    return known == Known::yes;
  }

  bool are_counterparts(const NodeView& node) {
    std::vector<CleanTermPtr> terms;
    for (const TermId child : node.children) {
      terms.push_back(build(child, false));
    }
    std::vector<std::vector<TermId>> leaves;
    for (const CleanTermPtr& term : terms) {
      leaves.push_back(leaves_of(*term));
      if (leaves.back().empty() || !same_form(*terms.front(), *term)) {
        return false;
      }
    }
    return counterparts_.on_different_ranks(leaves);
  }

  bool same_form(const CleanTerm& a, const CleanTerm& b) const {
    if (a.op != b.op || !(a.attrs == b.attrs) || a.children.size() != b.children.size()) {
      return false;
    }
    for (std::size_t k = 0; k < a.children.size(); ++k) {
      if (!same_form(*a.children[k], *b.children[k])) {
        return false;
      }
    }
    return true;
  }

  EGraph& graph_;
  const rules::RuleSet& rules_;
  const ExtractOptions& options_;
  const TermId root_;
  const rules::OpId scale_ = rules_.find_op("scale");
  Counterparts counterparts_;
  std::vector<TermId> order_;
  std::deque<std::vector<TermId>> replicas_;  // operands of sums that the graph does not hold
  std::unordered_map<TermId, ClassInfo> classes_;
  std::unordered_map<const ClassInfo*, TermId> result_of_;
};

// The part of a leaf that an expression takes: one range per axis.
using Box = std::vector<std::pair<sym::Int, sym::Int>>;

bool disjoint(const Box& a, const Box& b, smt::Oracle& oracle) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (smt::is_yes(oracle.less_equal(a[k].second, b[k].first)) ||
        smt::is_yes(oracle.less_equal(b[k].second, a[k].first))) {
      return true;
    }
  }
  return false;
}

void collect_boxes(const CleanTerm& clean, EGraph& graph, std::vector<std::pair<TermId, Box>>& out) {
  const rules::RuleSet& rules = graph.rules();
  // A tower of slices directly over a leaf takes a box of it; anything else between takes all of it.
  const CleanTerm* at = &clean;
  std::vector<const CleanTerm*> slices;
  while (!at->is_leaf() && rules.op(at->op).name == "slice" && at->children.size() == 1) {
    slices.push_back(at);
    at = at->children.front().get();
  }
  if (!at->is_leaf()) {
    for (const CleanTermPtr& child : at->children) {
      collect_boxes(*child, graph, out);
    }
    return;
  }
  Box box;
  for (const sym::Int size : graph.type(at->id).shape) {
    box.emplace_back(0, size);
  }
  for (auto slice = slices.rbegin(); slice != slices.rend(); ++slice) {
    const auto attrs = (*slice)->attrs.as_list();
    const auto axis = static_cast<std::size_t>(attrs[0].as_int().value());
    const sym::Int start = box[axis].first;
    box[axis] = {start + attrs[1].as_int(), start + attrs[2].as_int()};
  }
  out.emplace_back(at->id, std::move(box));
}

}  // namespace

std::vector<CleanTermPtr> extract(EGraph& graph, TermId root, const ExtractOptions& options) {
  return Extractor(graph, root, options).run();
}

bool extractable(EGraph& graph, TermId root, const ExtractOptions& options) {
  return !options.owners(graph.find(root)).empty() || !Extractor(graph, root, options).run().empty();
}

bool has_partial_sum(const CleanTerm& clean, const rules::RuleSet& rules) {
  return !clean.is_leaf() && ((is_partial_sum(rules.op(clean.op)) && clean.children.size() > 1) ||
                              std::ranges::any_of(clean.children, [&](const CleanTermPtr& child) {
                                return has_partial_sum(*child, rules);
                              }));
}

bool uses_elements_once(const CleanTerm& clean, EGraph& graph, const ExtractOptions& options) {
  std::vector<std::pair<TermId, Box>> boxes;
  collect_boxes(clean, graph, boxes);
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    std::size_t overlapping = 1;
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      if (a != b && boxes[a].first == boxes[b].first &&
          !disjoint(boxes[a].second, boxes[b].second, graph.oracle())) {
        ++overlapping;
      }
    }
    if (overlapping > options.owners(boxes[a].first).size()) {
      return false;
    }
  }
  return true;
}

std::vector<TermId> leaves_of(const CleanTerm& clean) {
  std::vector<TermId> leaves;
  const std::function<void(const CleanTerm&)> visit = [&](const CleanTerm& term) {
    if (term.is_leaf()) {
      leaves.push_back(term.id);
    }
    for (const CleanTermPtr& child : term.children) {
      visit(*child);
    }
  };
  visit(clean);
  return leaves;
}

std::string print(const CleanTerm& clean, const rules::RuleSet& rules,
                  const std::function<std::string(TermId)>& leaf) {
  if (clean.is_leaf()) {
    return leaf(clean.id);
  }
  std::string text = rules.op(clean.op).name + "(";
  for (std::size_t k = 0; k < clean.children.size(); ++k) {
    text += (k > 0 ? ", " : "") + print(*clean.children[k], rules, leaf);
  }
  const auto attrs = clean.attrs.as_list();
  for (std::size_t k = 0; k < attrs.size(); ++k) {
    text += (k > 0 ? ", " : "; ") + tensor::to_string(attrs[k]);
  }
  return text + ")";
}

}  // namespace entangle::relation
