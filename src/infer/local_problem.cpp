#include "local_problem.h"

#include <algorithm>
#include <memory>
#include <tuple>

namespace entangle::infer {
namespace {

constexpr std::size_t kLittleNodes = 400;
constexpr std::size_t kLittleGrowth = 3;
constexpr std::size_t kLeastNodes = 1000;
constexpr std::size_t kMostGrowth = 20;
// Re-opened problems are large to begin with and seldom the answer.
constexpr std::size_t kMostGrowthReopened = 4;
// What many ranks exchange is large to begin with: such a problem may pass the limit of nodes.
constexpr std::size_t kGrowthOfLarge = 10;
constexpr std::size_t kFocusedRounds = 2;

const egraph::Reason kDefinition{egraph::Reason::Kind::definition, 0, ""};

}  // namespace

LocalProblem::LocalProblem(const Selection& selection, smt::Oracle& oracle, Leaves leaves)
    : selection_(selection), joint_(selection.joint()), graph_(joint_.graph(), oracle), leaves_(leaves) {
  for (const Selection::Application& application : selection.applications()) {
    add_classes(application.classes);
    const auto node = joint_.graph().original(application.term);
    std::vector<TermId> children;
    for (const std::uint32_t place : selection.places_of_operands(application)) {
      children.push_back(locals_[place]);
    }
    const TermId made = graph_.make(node.op, node.attrs, children);
    ENTANGLE_CHECK(made != kNoTerm, "a term of the program has no type: " + graph_.last_error());
    graph_.merge(made, locals_[application.place], kDefinition);
  }
  add_classes(selection.classes().size());
  open_sums();
  if (leaves == Leaves::drawn) {
    draw_alike();
  }
}

void LocalProblem::draw_alike() {
  for (const Selection::Application& application : selection_.applications()) {
    const auto node = joint_.graph().original(application.term);
    if (joint_.graph().rules().op(node.op).drawn) {
      const TermId at = local(node.children.back());
      // Where there may be no places at all there is nothing to say of them.
      if (const auto one = graph_.evaluator().full(sym::Scalar(sym::Int(0)), graph_.type(at))) {
        graph_.merge(at, *one, kDefinition);
      }
    }
  }
}

std::set<TermId> LocalProblem::locals_like() {
  std::set<TermId> result;
  for (const TermId term : selection_.like()) {
    if (term != kNoTerm) {
      result.insert(graph_.find(local(term)));
    }
  }
  return result;
}

void LocalProblem::open_sums() {
  std::vector<TermId> sums;
  for (const Selection::Application& application : selection_.applications()) {
    const rules::Operator& op = joint_.graph().rules().op(joint_.graph().original(application.term).op);
    if (op.clean && op.elementwise) {
      sums.push_back(application.term);
    }
  }
  std::ranges::sort(sums);
  std::unordered_map<TermId, std::vector<TermId>> terms_of;  // by joint class
  for (const TermId sum : sums) {
    const auto node = joint_.graph().original(sum);
    std::vector<TermId> terms;
    for (const TermId child : node.children) {
      const auto inner = terms_of.find(joint_.graph().find(child));
      if (inner == terms_of.end()) {
        terms.push_back(local(child));
      } else {
        terms.insert(terms.end(), inner->second.begin(), inner->second.end());
      }
    }
    if (terms.size() > node.children.size()) {
      const TermId made = graph_.make(node.op, node.attrs, terms);
      ENTANGLE_CHECK(made != kNoTerm, "a sum has no type: " + graph_.last_error());
      graph_.merge(made, local(sum), kDefinition);
    }
    terms_of.emplace(joint_.graph().find(sum), std::move(terms));
  }
}

void LocalProblem::add_classes(std::size_t end) {
  EGraph& from = joint_.graph();
  for (; locals_.size() < end;) {
    const TermId id = selection_.classes()[locals_.size()];
    TermId made = kNoTerm;
    if (const auto value = from.uniform(id)) {
      if (const auto full = graph_.evaluator().full(*value, from.type(id))) {
        made = *full;
      }
    }
    if (made == kNoTerm) {
      const std::string label = "t" + std::to_string(id);
      made = from.defined(id) ? graph_.leaf(from.type(id), label) : graph_.fresh(from.type(id), label);
      graph_.set_interval(made, from.interval(id));
    }
    if (joint_.is_tensor(id) || (leaves_ != Leaves::tensors && joint_.is_distributed(id))) {
      graph_.set_named(made);
    }
    locals_.push_back(made);
  }
}

TermId LocalProblem::local(TermId joint_id) const {
  return locals_[selection_.position(joint_id)];
}

egraph::Outcome LocalProblem::saturate(const egraph::Program& program, const egraph::Limits& limits,
                                       Effort effort, const std::function<bool()>& done) {
  graph_.rebuild();
  egraph::Limits until = limits;
  const std::size_t growth = effort == Effort::small ? kLittleGrowth
                             : selection_.reopened() ? kMostGrowthReopened
                                                     : kMostGrowth;
  const std::size_t least = effort == Effort::small ? kLittleNodes : kLeastNodes;
  const std::size_t most = std::max(limits.nodes, kGrowthOfLarge * graph_.node_count());
  until.nodes = std::min(most, least + growth * graph_.node_count());
  until.done = done;
  const egraph::Outcome outcome = egraph::saturate(graph_, program, until);
  index_owners();
  return outcome;
}

egraph::Outcome LocalProblem::relate(const egraph::Program& program, const egraph::Limits& limits,
                                     Effort effort, TermId joint_id) {
  egraph::Limits focused = limits;
  focused.focus = local(joint_id);
  focused.focused = kFocusedRounds;
  return saturate(program, focused, effort, [this, joint_id] {
    index_owners();
    return relation::extractable(graph_, local(joint_id), options_for(joint_id));
  });
}

egraph::Outcome LocalProblem::equate(const egraph::Program& program, const egraph::Limits& limits, TermId a,
                                     TermId b) {
  return saturate(program, limits, Effort::full,
                  [this, a, b] { return graph_.find(local(a)) == graph_.find(local(b)); });
}

relation::ExtractOptions LocalProblem::options_for(TermId joint_id) {
  static const std::vector<Owner> kInner{Owner{}};
  static const std::vector<Owner> kNone;
  relation::ExtractOptions options;
  options.counterparts = leaves_ != Leaves::drawn && joint_.is_result(joint_id);
  if (leaves_ == Leaves::drawn) {
    options.owners = [this, like = locals_like()](TermId id) -> const std::vector<Owner>& {
      return like.contains(graph_.find(id)) ? kInner : kNone;
    };
  } else if (options.counterparts) {
    options.owners = [this](TermId id) -> const std::vector<Owner>& { return owners(id); };
  } else {
    options.owners = [this](TermId id) -> const std::vector<Owner>& {
      return distributed_.contains(graph_.find(id)) ? kInner : kNone;
    };
  }
  return options;
}

void LocalProblem::index_owners() {
  owners_.clear();
  distributed_.clear();
  for (const TermId id : selection_.classes()) {
    const auto& owners = joint_.owners(id);
    auto& to = owners_[graph_.find(local(id))];
    to.insert(to.end(), owners.begin(), owners.end());
    if (joint_.is_distributed(id)) {
      distributed_.insert(graph_.find(local(id)));
    }
  }
  indexed_ = true;
}

const std::vector<Owner>& LocalProblem::owners(TermId local_id) {
  static const std::vector<Owner> kNone;
  ENTANGLE_CHECK(indexed_, "owners are known after saturation");
  const auto it = owners_.find(graph_.find(local_id));
  return it == owners_.end() ? kNone : it->second;
}

std::unordered_map<TermId, std::uint32_t> LocalProblem::places() {
  std::unordered_map<TermId, std::uint32_t> best;
  if (leaves_ == Leaves::drawn) {
    const std::vector<TermId>& like = selection_.like();
    for (std::uint32_t k = 0; k < like.size(); ++k) {
      if (like[k] != kNoTerm) {
        best.emplace(graph_.find(locals_[k]), k);
      }
    }
    return best;
  }
  const auto better = [&](TermId a, TermId b) {
    return std::tuple(joint_.is_tensor(a), joint_.is_distributed(a)) >
           std::tuple(joint_.is_tensor(b), joint_.is_distributed(b));
  };
  for (std::uint32_t k = 0; k < locals_.size(); ++k) {
    const auto [it, fresh] = best.emplace(graph_.find(locals_[k]), k);
    if (!fresh && better(selection_.classes()[k], selection_.classes()[it->second])) {
      it->second = k;
    }
  }
  return best;
}

Equalities LocalProblem::equalities() {
  Equalities result;
  std::unordered_map<TermId, std::uint32_t> first;
  for (std::uint32_t k = 0; k < locals_.size(); ++k) {
    const auto [it, fresh] = first.emplace(graph_.find(locals_[k]), k);
    if (!fresh) {
      result.emplace_back(it->second, k);
    }
  }
  return result;
}

std::vector<relation::CleanTermPtr> LocalProblem::relations(TermId joint_id) {
  const auto places_of = places();
  const std::function<relation::CleanTermPtr(const relation::CleanTerm&)> over_places =
      [&](const relation::CleanTerm& clean) {
        auto result = std::make_shared<relation::CleanTerm>();
        result->op = clean.op;
        result->attrs = clean.attrs;
        if (clean.is_leaf()) {
          result->id = places_of.at(clean.id);
        }
        for (const auto& child : clean.children) {
          result->children.push_back(over_places(*child));
        }
        return result;
      };
  std::vector<relation::CleanTermPtr> result;
  for (const auto& clean : relation::extract(graph_, local(joint_id), options_for(joint_id))) {
    result.push_back(over_places(*clean));
  }
  return result;
}

void import_equalities(const Selection& selection, const Equalities& equalities,
                       std::uint32_t problem_number) {
  EGraph& graph = selection.joint().graph();
  const egraph::Reason reason{egraph::Reason::Kind::relation, problem_number, "found equal"};
  for (const auto& [a, b] : equalities) {
    graph.merge(selection.classes()[a], selection.classes()[b], reason);
  }
  graph.rebuild();
}

}  // namespace entangle::infer
