#include "drawn.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

namespace entangle::infer {
namespace {

class Drawn {
 public:
  Drawn(Programs& programs, const std::vector<TermId>& wanted, const std::vector<Question>& questions)
      : programs_(programs),
        graph_(*programs.graph),
        joint_(*programs.joint),
        slice_(graph_.rules().find_op("slice")) {
    for (TermId term = 0; term < graph_.term_count(); ++term) {
      if (is_drawn(term)) {
        any_ = true;
      }
    }
    if (any_) {
      const std::vector<TermId> asserted = programs.mentioned(programs.resolved.given);
      cut_.insert(asserted.begin(), asserted.end());
      find_needed(wanted);
      find_live(questions);
    }
  }

  std::optional<Failing> objection() {
    for (const TermId term : needed_) {
      if (!put_together(term)) {
        return failing(programs_.names->place(term),
                       "its random mask is not that of tensors which the ranks draw at the same call, each "
                       "element once");
      }
    }
    for (const TermId term : live_) {
      if (!used_.contains(graph_.find(term))) {
        return failing(programs_.distributed->place(term),
                       "its random mask is none of the sequential program's, and the outputs depend on it");
      }
    }
    if (const TermId shared = places_taken_for_equal(); shared != kNoTerm) {
      return failing(
          shared < joint_.distributed_end() ? programs_.distributed->place(shared)
                                            : programs_.names->place(shared),
          "two parts of one drawn tensor are taken for equal, since what was drawn for holds copies; "
          "their random masks are not");
    }
    return std::nullopt;
  }

 private:
  bool same_window(const tensor::Attr& a, const tensor::Attr& b) const {
    return a == b || (a.as_list()[0] == b.as_list()[0] &&
                      smt::is_yes(graph_.oracle().equal(a.as_list()[1].as_int(), b.as_list()[1].as_int())));
  }

  // Whether a term is found to be copies of something smaller.
  bool copied(TermId term) const {
    return std::ranges::any_of(joint_.members(term), [&](TermId member) {
      const auto node = graph_.original(member);
      return node.op != rules::kNoOp && graph_.rules().op(node.op).rearranges && !node.children.empty() &&
             !smt::is_yes(graph_.oracle().less_equal(sym::product(graph_.type(member).shape),
                                                     elements(node.children)));
    });
  }

  sym::Int elements(std::span<const TermId> terms) const {
    sym::Int sum = 0;
    for (const TermId term : terms) {
      sum += sym::product(graph_.type(term).shape);
    }
    return sum;
  }

  // A drawn term that was found to be copies, or of whose parts two different ones were found equal; kNoTerm:
  // none.
  TermId places_taken_for_equal() const {
    if (!any_) {
      return kNoTerm;
    }
    for (TermId term = 0; term < graph_.term_count(); ++term) {
      if (is_drawn(term) && copied(term)) {
        return term;
      }
    }
    std::map<std::pair<TermId, TermId>, tensor::Attr> parts;  // by class, and class of the whole
    for (TermId term = 0; term < graph_.term_count(); ++term) {
      const auto node = graph_.original(term);
      if (node.op != slice_) {
        continue;
      }
      const std::vector<TermId> whole = joint_.members(node.children[0]);
      const auto drawn = std::ranges::find_if(whole, [&](TermId member) { return is_drawn(member); });
      if (drawn == whole.end()) {
        continue;
      }
      const auto [part, added] =
          parts.emplace(std::pair(graph_.find(term), graph_.find(node.children[0])), node.attrs);
      if (!added && !same_window(part->second, node.attrs)) {
        return *drawn;
      }
    }
    return kNoTerm;
  }

  bool is_drawn(TermId term) const {
    const auto node = graph_.original(term);
    return node.op != rules::kNoOp && graph_.rules().op(node.op).drawn;
  }

  static Failing failing(Place at, std::string reason) {
    Failing result;
    result.chain.push_back(at);
    result.at = std::move(at);
    result.reason = std::move(reason);
    return result;
  }

  // The drawn terms that the sequential results are computed from, as they were built.
  void find_needed(const std::vector<TermId>& wanted) {
    std::unordered_set<TermId> seen;
    std::vector<TermId> stack = wanted;
    while (!stack.empty()) {
      const TermId term = stack.back();
      stack.pop_back();
      if (cut_.contains(term) || !seen.insert(term).second) {
        continue;
      }
      if (is_drawn(term)) {
        needed_.insert(term);
      }
      const auto children = graph_.original(term).children;
      stack.insert(stack.end(), children.begin(), children.end());
    }
  }

  // The drawn terms of the ranks that the tensors in the relations of the outputs are computed from.
  void find_live(const std::vector<Question>& questions) {
    std::unordered_set<TermId> seen;
    std::vector<TermId> classes;
    for (const Question& question : questions) {
      classes.push_back(question.term);
    }
    while (!classes.empty()) {
      const TermId id = graph_.find(classes.back());
      classes.pop_back();
      if (!seen.insert(id).second) {
        continue;
      }
      std::vector<TermId> terms = joint_.relations(id);
      for (const TermId member : joint_.members(id)) {
        if (member < joint_.distributed_end()) {
          terms.push_back(member);
        }
      }
      for (const TermId term : terms) {
        if (cut_.contains(term)) {
          continue;
        }
        if (is_drawn(term)) {
          live_.insert(term);
        }
        const auto children = graph_.original(term).children;
        classes.insert(classes.end(), children.begin(), children.end());
      }
    }
  }

  // Whether the sequential drawn term is made of tensors that the ranks draw at the same call, each once.
  bool put_together(TermId term) {
    const auto node = graph_.original(term);
    std::vector<TermId> leaves;
    std::set<TermId> on_the_way;
    if (!collect(term, {node.op, node.attrs}, leaves, on_the_way)) {
      return false;
    }
    return std::ranges::all_of(leaves, [&](TermId leaf) { return used_.insert(leaf).second; }) &&
           !overlap(leaves);
  }

  // Whether two of the drawn tensors are known to be drawn for windows of one tensor that may overlap.
  bool overlap(const std::vector<TermId>& leaves) {
    struct Window {
      TermId leaf;
      sym::Int begin, end;
    };
    std::map<std::pair<TermId, std::string>, std::vector<Window>> windows;  // by tensor and axis
    for (const TermId leaf : leaves) {
      for (const TermId operand : graph_.original(leaf).children) {
        for (const TermId member : joint_.members(operand)) {
          const auto node = graph_.original(member);
          if (node.op == slice_) {
            const auto attrs = node.attrs.as_list();
            windows[{graph_.find(node.children[0]), tensor::to_string(attrs[0])}].push_back(
                {leaf, attrs[1].as_int(), attrs[2].as_int()});
          }
        }
      }
    }
    const auto apart = [&](const Window& a, const Window& b) {
      return a.leaf == b.leaf || smt::is_yes(graph_.oracle().less_equal(a.end, b.begin)) ||
             smt::is_yes(graph_.oracle().less_equal(b.end, a.begin));
    };
    return std::ranges::any_of(windows, [&](const auto& entry) {
      const std::vector<Window>& some = entry.second;
      return std::ranges::any_of(some, [&](const Window& a) {
        return std::ranges::any_of(some, [&](const Window& b) { return !apart(a, b); });
      });
    });
  }

  using Call = std::pair<rules::OpId, tensor::Attr>;

  bool collect(TermId term, const Call& call, std::vector<TermId>& leaves, std::set<TermId>& on_the_way) {
    const TermId id = graph_.find(term);
    for (const TermId member : joint_.members(id)) {
      const auto node = graph_.original(member);
      if (member < joint_.distributed_end() && Call{node.op, node.attrs} == call) {
        leaves.push_back(id);
        return true;
      }
    }
    if (!on_the_way.insert(id).second) {
      return false;
    }
    const std::vector<TermId> relations = joint_.relations(id);
    const bool found = std::ranges::any_of(relations, [&](TermId application) {
      const std::size_t before = leaves.size();
      const auto node = graph_.original(application);
      const bool whole = loses_nothing(application) && std::ranges::all_of(node.children, [&](TermId child) {
                           return collect(child, call, leaves, on_the_way);
                         });
      if (!whole) {
        leaves.resize(before);
      }
      return whole;
    });
    on_the_way.erase(id);
    return found;
  }

  // Whether each element of the operands is one element of the result.
  bool loses_nothing(TermId application) {
    const auto node = graph_.original(application);
    const rules::Operator& op = graph_.rules().op(node.op);
    if (!op.clean || !op.rearranges) {
      return false;
    }
    return smt::is_yes(
        graph_.oracle().equal(elements(node.children), sym::product(graph_.type(application).shape)));
  }

  Programs& programs_;
  EGraph& graph_;
  Joint& joint_;
  rules::OpId slice_;
  bool any_ = false;
  std::unordered_set<TermId> cut_;  // what lies behind these tensors of the ranks is asserted, not computed
  std::set<TermId> needed_, live_;
  std::set<TermId> used_;  // drawn classes of the ranks that a sequential one is made of
};

}  // namespace

std::optional<Failing> drawn_apart(Programs& programs, const std::vector<TermId>& wanted,
                                   const std::vector<Question>& questions) {
  return Drawn(programs, wanted, questions).objection();
}

std::vector<std::string> drawn_assumptions(Programs& programs) {
  const EGraph& graph = *programs.graph;
  std::set<std::string> replicated;
  std::set<std::pair<int, std::string>> calls;
  for (TermId term = 0; term < programs.joint->distributed_end(); ++term) {
    const auto node = graph.original(term);
    if (node.op == rules::kNoOp || !graph.rules().op(node.op).drawn) {
      continue;
    }
    const Place place = programs.distributed->place(term);
    // One call may draw several values: the numbers and their mask.
    const bool first = calls.emplace(place.rank, tensor::to_string(node.attrs)).second;
    std::set<int> ranks;
    for (const Owner& owner : programs.joint->owners(term)) {
      ranks.insert(owner.rank);
    }
    if (first && ranks.size() > 1) {
      replicated.insert("r" + std::to_string(place.rank) + "." + place.tensor +
                        (place.loc.empty() ? "" : " (" + place.loc + ")"));
    }
  }
  std::vector<std::string> result;
  if (!calls.empty()) {
    result.push_back(
        "dropout: at its k-th call an element sees the mask of the sequential element that it equals");
  }
  for (const std::string& site : replicated) {
    result.push_back("dropout of a replicated tensor: the ranks share a seed at " + site);
  }
  return result;
}

}  // namespace entangle::infer
