#include "nearest.h"

#include <gmpxx.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "entangle/support/text.h"

namespace entangle::infer {
namespace {

// Beyond these nothing near is expected.
constexpr std::size_t kMostForms = 16;   // of one class
constexpr std::size_t kMostTerms = 512;  // of one sum
constexpr std::size_t kMostNamed = 2;    // of the terms that are missing
constexpr std::uint32_t kSteps = 4;      // see Selection::add_window
constexpr rules::OpId kNone = rules::kNoOp;

// A sum: classes with their factors, none of them 0.
using Form = std::map<TermId, mpq_class>;

void add(Form& to, const Form& from, const mpq_class& factor) {
  for (const auto& [atom, times] : from) {
    mpq_class& sum = to[atom];
    sum += times * factor;
    if (sum == 0) {
      to.erase(atom);
    }
  }
}

// The sums that classes of an e-graph are equal to.
class Forms {
 public:
  explicit Forms(EGraph& graph)
      : graph_(graph), add_(graph.rules().find_op("add_n")), scale_(graph.rules().find_op("scale")) {}

  const std::vector<Form>& of(TermId id) {
    const TermId root = graph_.find(id);
    if (const auto known = forms_.find(root); known != forms_.end()) {
      return known->second;
    }
    // Within its own definition a class stands for itself.
    forms_[root] = {{{root, 1}}};
    std::vector<Form> result = forms_[root];
    for (const term::NodeView& node : graph_.nodes(root)) {
      if (node.op != kNone && (node.op == add_ || node.op == scale_)) {
        for (Form& form : of_node(node)) {
          if (result.size() < kMostForms && std::ranges::find(result, form) == result.end()) {
            result.push_back(std::move(form));
          }
        }
      }
    }
    return forms_[root] = std::move(result);
  }

 private:
  std::vector<Form> of_node(const term::NodeView& node) {
    mpq_class factor = 1;
    if (node.op == scale_) {
      const tensor::Attr& times = node.attrs.as_list().front();
      const auto value = times.kind() == tensor::Attr::Kind::scalar ? times.as_scalar().as_rational()
                         : times.kind() == tensor::Attr::Kind::integer && times.as_int().constant()
                             ? std::optional(mpq_class(static_cast<long>(*times.as_int().constant())))
                             : std::nullopt;
      if (!value) {
        return {};
      }
      factor = *value;
    }
    std::vector<Form> sums{{}};
    for (const TermId child : std::vector<TermId>(node.children.begin(), node.children.end())) {
      const std::vector<Form> parts = of(child);
      std::vector<Form> longer;
      for (const Form& sum : sums) {
        for (const Form& part : parts) {
          if (longer.size() == kMostForms) {
            break;
          }
          longer.push_back(sum);
          add(longer.back(), part, factor);
        }
      }
      sums = std::move(longer);
    }
    std::erase_if(sums, [](const Form& sum) { return sum.empty() || sum.size() > kMostTerms; });
    return sums;
  }

  EGraph& graph_;
  rules::OpId add_, scale_;
  std::map<TermId, std::vector<Form>> forms_;
};

// How a tensor of the ranks differs from the one that was looked for.
struct Difference {
  mpq_class factor = 1;  // of the whole
  Form extra, missing;   // or these terms
  Form sum;              // the tensor of the ranks
  std::size_t size() const { return extra.size() + missing.size(); }
};

std::optional<Difference> compare(const Form& wanted, const Form& held) {
  Difference result;
  result.sum = held;
  const auto& [first, times] = *wanted.begin();
  if (const auto found = held.find(first); found != held.end() && held.size() == wanted.size()) {
    const mpq_class factor = found->second / times;
    Form multiple;
    add(multiple, wanted, factor);
    if (multiple == held && factor != 1) {
      result.factor = factor;
      return result;
    }
  }
  Form difference = held;
  add(difference, wanted, -1);
  for (const auto& [atom, more] : difference) {
    (more > 0 ? result.extra : result.missing)[atom] = abs(more);
  }
  const bool alike = std::ranges::any_of(wanted, [&](const auto& term) {
    const auto found = held.find(term.first);
    return found != held.end() && found->second == term.second;
  });
  if (!alike || result.extra.size() > 1 || (!result.extra.empty() && !result.missing.empty())) {
    return std::nullopt;
  }
  // A term is missing as a whole or not at all.
  for (const auto& [atom, less] : result.missing) {
    if (const auto found = wanted.find(atom); found == wanted.end() || found->second != less) {
      return std::nullopt;
    }
  }
  return result;
}

std::string times(const mpq_class& factor) {
  return factor.get_den() == 1 ? factor.get_str() + " times" : factor.get_str() + " of";
}

class Search {
 public:
  Search(Programs& programs, Walk& walk, const egraph::Program& program, const egraph::Limits& limits,
         graph::NodeIndex node)
      : programs_(programs),
        joint_(*programs.joint),
        name_(programs.sequential_graph().nodes[node].name),
        op_(programs.sequential_graph().nodes[node].op),
        term_(programs.lowered_sequential.term({0, node, 0})),
        selection_(joint_) {
    walk.select(term_, selection_);
    selection_.add_window(kSteps, Selection::Window::alike);
    problem_.emplace(selection_, *programs.oracle);
    problem_->saturate(program, limits, Effort::small);
    for (const TermId id : selection_.classes()) {
      joint_of_[problem_->graph().find(problem_->local(id))].push_back(id);
    }
  }

  std::optional<std::string> run() {
    EGraph& graph = problem_->graph();
    const TermId wanted = graph.find(problem_->local(term_));
    Forms forms(graph);
    // Of the first rank that has one: what a collective gives, else what the same operator does, else any;
    // the last of these.
    std::optional<std::string> best;
    std::tuple<std::uint32_t, int, std::int64_t> best_place;
    for (const auto& [local, ids] : joint_of_) {
      if (local == wanted || !(graph.type(local) == graph.type(wanted)) || problem_->owners(local).empty() ||
          is_mere_operand(local)) {
        continue;
      }
      const graph::TensorRef tensor = first_owner(local);
      const std::tuple place(tensor.rank, static_cast<int>(role_of(tensor)),
                             -static_cast<std::int64_t>(tensor.node));
      if (best && best_place <= place) {
        continue;
      }
      if (const auto difference = nearest_forms(forms.of(wanted), forms.of(local))) {
        if (auto said = say(tensor, *difference, forms.of(wanted))) {
          best = std::move(said);
          best_place = place;
        }
      }
    }
    return best;
  }

 private:
  enum class Role : std::uint8_t { collective, alike, other };

  // A view of what a collective gives counts as that.
  Role role_of(const graph::TensorRef& tensor) const {
    const graph::Graph& graph = programs_.ranks[tensor.rank];
    for (graph::TensorRef at = tensor;;) {
      if (is_collective(programs_, at)) {
        return Role::collective;
      }
      const TermId term = programs_.lowered_ranks.term(at);
      std::optional<graph::NodeIndex> below;
      graph::for_each_operand(graph.nodes[at.node],
                              [&](graph::NodeIndex ref) { below = below.value_or(ref); });
      if (!below || term == kNoTerm || !joint_.is_layout(term) || graph.nodes[*below].several) {
        break;
      }
      at = {tensor.rank, *below, 0};
    }
    return graph.nodes[tensor.node].op == op_ ? Role::alike : Role::other;
  }

  // What the sequential operator is applied to is no news, but where it is an output.
  bool is_mere_operand(TermId local) {
    const auto is_output = [&](const Owner& owner) { return programs_.distributed->is_output(owner); };
    if (std::ranges::any_of(problem_->owners(local), is_output)) {
      return false;
    }
    const auto& children = programs_.graph->original(term_).children;
    return std::ranges::any_of(children, [&](TermId child) {
      const auto& ids = joint_of_.at(local);
      return std::ranges::find(ids, programs_.graph->find(child)) != ids.end();
    });
  }

  graph::TensorRef first_owner(TermId local) {
    const auto& owners = problem_->owners(local);
    const auto earlier = [&](const Owner& a, const Owner& b) {
      return std::tuple(a.rank, a.tensor) < std::tuple(b.rank, b.tensor);
    };
    return programs_.distributed->tensor(*std::ranges::min_element(owners, earlier));
  }

  static std::optional<Difference> nearest_forms(const std::vector<Form>& wanted,
                                                 const std::vector<Form>& held) {
    std::optional<Difference> best;
    for (const Form& a : wanted) {
      for (const Form& b : held) {
        auto difference = compare(a, b);
        if (difference && (!best || difference->size() < best->size())) {
          best = std::move(difference);
        }
      }
    }
    return best;
  }

  // The tensor that a term of a sum is; of a value inside the lowering of an operator of a rank the result.
  struct Part {
    std::string name;         // `r1.p`
    std::optional<int> rank;  // none: a tensor of the sequential program
    std::string tensor;       // `p`
    bool inside = false;
  };
  std::optional<Part> part(TermId local) {
    if (!problem_->owners(local).empty()) {
      const graph::TensorRef tensor = first_owner(local);
      return Part{programs_.distributed->name(tensor), static_cast<int>(tensor.rank),
                  programs_.lowered_ranks.node(tensor).name, false};
    }
    // One that is laid out in another way goes by its name: a bias for every row.
    for (const term::NodeView& node : problem_->graph().nodes(local)) {
      if (node.op != kNone && node.children.size() == 1 && problem_->graph().rules().op(node.op).rearranges) {
        if (const TermId child = problem_->graph().find(node.children[0]); !problem_->owners(child).empty()) {
          return part(child);
        }
      }
    }
    const auto found = joint_of_.find(local);
    if (found == joint_of_.end()) {
      return std::nullopt;
    }
    for (const TermId id : found->second) {
      for (const TermId member : joint_.members(id)) {
        if (member < joint_.distributed_end()) {
          const Place place = programs_.distributed->place(member);
          if (!place.tensor.empty()) {
            return Part{"r" + std::to_string(place.rank) + "." + place.tensor, place.rank, place.tensor,
                        true};
          }
        } else if (programs_.names->is_result(member)) {
          const std::string name = programs_.names->name(member);
          return Part{name, std::nullopt, name, false};
        }
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> say(const graph::TensorRef& tensor, const Difference& difference,
                                 const std::vector<Form>& wanted) {
    const std::string what = with_place(programs_, tensor) + " is ";
    const std::string name = "`" + name_ + "`";
    const Role role = role_of(tensor);
    const bool collective = role == Role::collective;
    if (difference.factor != 1) {
      if (role == Role::other) {
        return std::nullopt;  // gradients are full of multiples
      }
      const std::string said = what + times(difference.factor) + " " + name;
      const auto reduction = reduction_of(programs_, tensor);
      if (reduction && *reduction != "sum") {
        return said + ": it reduces with `" + *reduction + "`, is `sum` meant?";
      }
      return said + (collective && difference.factor > 1 ? ": is it added up once too often?" : "");
    }
    if (!difference.extra.empty()) {
      const auto& [atom, more] = *difference.extra.begin();
      const auto which = part(atom);
      if (!which || which->inside || role == Role::other) {
        return std::nullopt;
      }
      const std::string said =
          what + name + " plus " + (more == 1 ? "" : times(more) + " ") + "`" + which->name + "`";
      const bool each =
          std::ranges::any_of(wanted, [&, &atom = atom](const Form& form) { return form.contains(atom); });
      return said + (each && collective ? ": is it added on every rank, before an all-reduce?" : "");
    }
    return without(tensor, difference, role, what + name + " without ");
  }

  std::optional<std::string> without(const graph::TensorRef& tensor, const Difference& difference, Role role,
                                     const std::string& said) {
    std::vector<std::string> names;
    bool of_others = true;
    bool inside = false;
    std::string counterpart;
    for (const auto& [atom, times] : difference.missing) {
      const auto which = part(atom);
      if (!which) {
        return std::nullopt;
      }
      names.push_back("`" + which->name + "`");
      inside = inside || which->inside;
      counterpart = which->tensor;
      of_others = of_others && which->rank && *which->rank != static_cast<int>(tensor.rank) &&
                  std::ranges::any_of(difference.sum, [&](const auto& term) {
                    const auto own = part(term.first);
                    return own && own->rank == static_cast<int>(tensor.rank) &&
                           own->tensor == which->tensor && own->inside == which->inside;
                  });
    }
    std::ranges::sort(names);
    if (names.size() > kMostNamed && of_others) {
      const std::string more = std::to_string(names.size() - 1) + " more";
      names.resize(1);
      names.push_back(more);
    }
    if (of_others) {
      return said + (inside ? "what is added up in " : "") + support::join(names, " and ") +
             (inside ? ": is an all-reduce missing?"
                     : ": is an all-reduce of `" + counterpart + "` missing?");
    }
    if (names.size() > 1 || inside || role == Role::other) {
      return std::nullopt;
    }
    return said + names.front();
  }

  Programs& programs_;
  Joint& joint_;
  std::string name_, op_;
  TermId term_;
  Selection selection_;
  std::optional<LocalProblem> problem_;
  std::map<TermId, std::vector<TermId>> joint_of_;  // classes of the selection by local class
};

const rules::Lowering* lowering_of(const Programs& programs, const graph::TensorRef& tensor) {
  return programs.lowered_ranks.nodes[tensor.rank][tensor.node].by;
}

}  // namespace

bool is_collective(const Programs& programs, const graph::TensorRef& tensor) {
  const rules::Lowering* by = lowering_of(programs, tensor);
  return by != nullptr && by->kind == rules::LoweringKind::collective;
}

std::optional<std::string> reduction_of(const Programs& programs, const graph::TensorRef& tensor) {
  const rules::Lowering* by = lowering_of(programs, tensor);
  if (!is_collective(programs, tensor)) {
    return std::nullopt;
  }
  const graph::Node& node = programs.lowered_ranks.node(tensor);
  const auto name_in = [](const graph::Arg& arg) -> std::optional<std::string> {
    const tensor::Attr* literal = arg.literal();
    return literal != nullptr && literal->kind() == tensor::Attr::Kind::name
               ? std::optional(literal->as_name())
               : std::nullopt;
  };
  for (const auto& [key, arg] : node.kwargs) {
    if (key == "op") {
      return name_in(arg);
    }
  }
  for (std::size_t k = 0; k < std::min(by->parameters.size(), node.args.size()); ++k) {
    if (by->parameters[k].name == "op") {
      return name_in(node.args[k]);
    }
  }
  return std::nullopt;
}

std::string with_place(const Programs& programs, const graph::TensorRef& tensor) {
  const std::string& loc = programs.lowered_ranks.node(tensor).loc;
  return "`" + programs.distributed->name(tensor) + "`" + (loc.empty() ? "" : " (" + loc + ")");
}

std::optional<std::string> nearest(Programs& programs, Walk& walk, const egraph::Program& program,
                                   const egraph::Limits& limits, graph::NodeIndex node) {
  const TermId term = programs.lowered_sequential.term({0, node, 0});
  if (term == kNoTerm || walk.out_of_time() || programs.graph->original(term).op == rules::kNoOp) {
    return std::nullopt;
  }
  return Search(programs, walk, program, limits, node).run();
}

}  // namespace entangle::infer
