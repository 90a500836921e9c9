#include "entangle/relation/resolve.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "entangle/support/text.h"
#include "relation/elements.h"
#include "relation/failure.h"
#include "relation/names.h"
#include "relation/types.h"

namespace entangle::relation {

namespace {

using graph::NodeIndex;
using support::Span;
using tensor::TensorType;

const Related* find_related(const std::vector<Related>& all, NodeIndex tensor) {
  const auto found =
      std::lower_bound(all.begin(), all.end(), tensor,
                       [](const Related& related, NodeIndex node) { return related.tensor < node; });
  return found != all.end() && found->tensor == tensor ? &*found : nullptr;
}

class Resolver {
 public:
  Resolver(const Manifest& manifest, const rules::RuleSet& rules, const Sides& sides, const Sizes& sizes)
      : manifest_(manifest), rules_(rules), sides_(sides) {
    for (const auto& [symbol, size] : sizes) result_.facts.add_equal(symbol, size);
  }

  Resolved resolve() {
    ENTANGLE_CHECK(sides_.ranks.size() == manifest_.ranks, "one graph per rank");
    relate(Section::inputs, manifest_.inputs, result_.inputs);
    relate(Section::given, manifest_.given, result_.given);
    relate(Section::expect, manifest_.expect, result_.expect);
    for (const Related& related : result_.inputs) check_inputs_only(related);
    for (const Assumption& assumption : manifest_.assume) assume(assumption);
    learn(result_.inputs);
    learn(result_.given);
    check_types();
    collect_outputs();
    state();
    return std::move(result_);
  }

 private:
  const graph::Node& node(NodeIndex index) const { return sides_.sequential.nodes[index]; }

  void relate(Section section, const std::vector<Entry>& entries, std::vector<Related>& result) {
    for (const Assigned& assigned : assign(sides_.sequential, section, entries)) {
      const graph::Node& tensor = node(assigned.node);
      const TensorType& type = type_of(sides_.sequential, assigned.node, assigned.entry->name.span);
      Related related;
      related.tensor = assigned.node;
      related.span = assigned.entry->name.span;
      for (const Form& form : assigned.entry->forms) {
        RelatedForm resolved{form.text, unwrap(expand(manifest_, rules_, tensor.name, type.rank(), form)), "",
                             form.span};
        for (const Clean& clean : resolved.expansion.alternatives) {
          for (const Clean* leaf : leaves(clean)) find_leaf(sides_, *leaf);
        }
        related.forms.push_back(std::move(resolved));
      }
      result.push_back(std::move(related));
    }
  }

  // `inputs` speak of placeholders and constants, on both sides.
  void check_inputs_only(const Related& related) const {
    const graph::Node& tensor = node(related.tensor);
    if (!is_input(tensor)) {
      fail(Problem::not_an_input, related.span,
           "`" + tensor.name + "` is no input of the sequential graph: it is computed (" + tensor.op + ")",
           "what is asserted of computed tensors stands under `given`");
    }
    for (const RelatedForm& form : related.forms) {
      for (const Clean& clean : form.expansion.alternatives) {
        for (const Clean* leaf : leaves(clean)) {
          const graph::Node& used = sides_.ranks[leaf->leaf.rank].nodes[find_leaf(sides_, *leaf)];
          if (is_input(used)) continue;
          fail(Problem::computed_leaf, leaf->span,
               "the relation of the input `" + tensor.name + "` uses " + to_string(leaf->leaf) +
                   ", which is computed (" + used.op + ")",
               "what is asserted of computed tensors stands under `given`");
        }
      }
    }
  }

  // --- assume

  void assume(const Assumption& assumption) {
    switch (assumption.kind) {
      case Assumption::Kind::pure:
        check_operator(assumption.left_name, assumption.span);
        return;
      case Assumption::Kind::dropout:
        return;  // stated, and told
      case Assumption::Kind::range:
        assume_range(assumption);
        return;
      case Assumption::Kind::equal:
        if (assume_tensors_equal(assumption)) return;
        break;
      default:
        break;
    }
    assume_size(assumption);
  }

  // Whether some graph applies the operator of an assumption.
  void check_operator(const std::string& name, Span span) const {
    std::set<std::string> operators;
    const auto add = [&](const graph::Graph& graph) {
      for (const graph::Node& node : graph.nodes) operators.insert(node.op);
    };
    add(sides_.sequential);
    std::ranges::for_each(sides_.ranks, add);
    if (!operators.contains(name)) {
      fail(Problem::unknown_name, span, "no graph applies the operator `" + name + "`",
           support::did_you_mean(name, {operators.begin(), operators.end()}));
    }
  }

  bool assume_tensors_equal(const Assumption& assumption) {
    if (assumption.left_name.empty()) return false;
    const std::optional<TensorId> left = find_tensor(sides_, assumption.left_name);
    const std::optional<TensorId> right = find_tensor(sides_, assumption.right_name);
    if (!left && !right) return false;
    if (!left || !right) unknown_name(left ? assumption.right_name : assumption.left_name, assumption.span);
    const TensorType& a = type(*left, assumption.span);
    const TensorType& b = type(*right, assumption.span);
    if (a.rank() != b.rank() || a.dtype != b.dtype) {
      fail(a.rank() != b.rank() ? Problem::shape_mismatch : Problem::dtype_mismatch, assumption.span,
           "`" + assumption.left_name + "` is " + to_string(a) + ", `" + assumption.right_name + "` is " +
               to_string(b));
    }
    result_.equal.push_back({*left, *right, assumption.text, assumption.span});
    return true;
  }

  void assume_range(const Assumption& assumption) {
    const std::optional<TensorId> tensor = find_tensor(sides_, assumption.left_name);
    if (!tensor) {
      // A size may be said to lie in an interval, too.
      check_symbols(sym::Int::symbol(assumption.left_name), assumption.span);
      const sym::Int symbol = sym::Int::symbol(assumption.left_name);
      if (assumption.low) at_most(*assumption.low, symbol, assumption.span);
      if (assumption.high) at_most(symbol, *assumption.high, assumption.span);
      return;
    }
    const TensorType& found = type(*tensor, assumption.span);
    if (!tensor::is_integer(found.dtype)) {
      fail(Problem::not_an_integer_tensor, assumption.span,
           "`" + assumption.left_name + "` does not hold integers: it is " + to_string(found));
    }
    for (const std::optional<sym::Int>& bound : {assumption.low, assumption.high}) {
      if (bound) check_symbols(*bound, assumption.span);
    }
    result_.ranges.push_back({*tensor, assumption.low, assumption.high, assumption.text, assumption.span});
  }

  void assume_size(const Assumption& assumption) {
    check_symbols(assumption.left, assumption.span);
    check_symbols(assumption.right, assumption.span);
    switch (assumption.kind) {
      case Assumption::Kind::equal:
        result_.facts.add_equal(assumption.left, assumption.right);
        break;
      case Assumption::Kind::less_equal:
        at_most(assumption.left, assumption.right, assumption.span);
        break;
      default:
        result_.facts.add_divides(assumption.left, assumption.right);
        break;
    }
    check_not_contradictory(assumption.span);
  }

  void at_most(sym::Int a, sym::Int b, Span span) {
    check_symbols(a, span);
    check_symbols(b, span);
    // A bound below 1 is a declaration: symbols are at least 1 by default.
    if (b.is_symbol() && a.is_constant() && a.value() < 1) {
      result_.facts.declare_symbol(b.name(), a.value());
    } else {
      result_.facts.add_le(a, b);
    }
    check_not_contradictory(span);
  }

  void check_not_contradictory(Span span) const {
    if (result_.facts.contradictory()) {
      fail(Problem::contradiction, span, "this contradicts what is assumed of sizes before it");
    }
  }

  const std::vector<std::string>& known_symbols() {
    if (!symbols_) symbols_ = symbols(sides_);
    return *symbols_;
  }

  void check_symbols(sym::Int value, Span span) {
    if (value.is_constant()) return;
    for (const sym::Int symbol : sym::symbols_of(value)) {
      const std::vector<std::string>& known = known_symbols();
      if (!std::binary_search(known.begin(), known.end(), symbol.name())) unknown_name(symbol.name(), span);
    }
  }

  [[noreturn]] void unknown_name(const std::string& name, Span span) {
    std::vector<std::string> names = known_symbols();
    for (const graph::Node& tensor : sides_.sequential.nodes) names.push_back(tensor.name);
    if (const std::optional<Leaf> leaf = parse_leaf(name); leaf && leaf->rank < sides_.ranks.size()) {
      for (const std::string& other : sides_.ranks[leaf->rank].node_names()) {
        names.push_back(to_string(Leaf{leaf->rank, other}));
      }
    }
    fail(Problem::unknown_name, span, "`" + name + "` is neither a tensor nor the symbol of a size",
         support::did_you_mean(name, names));
  }

  const TensorType& type(const TensorId& tensor, Span span) const {
    return type_of(tensor.rank ? sides_.ranks[*tensor.rank] : sides_.sequential, tensor.node, span);
  }

  // --- shapes

  void learn(std::vector<Related>& all) {
    Learner learner(rules_, sides_, result_.facts, result_.learned);
    for (Related& related : all) {
      for (RelatedForm& form : related.forms) {
        for (Clean& clean : form.expansion.alternatives)
          learner.relate(node(related.tensor), clean, form.span);
      }
    }
  }

  void check_types() {
    smt::Oracle oracle(result_.facts);
    term::Typing typing(rules_, oracle);
    if (is_no(oracle.consistent())) {
      fail(Problem::contradiction,
           manifest_.assume.empty() ? Span{manifest_.file, 0, 0, 0} : manifest_.assume[0].span,
           "no sizes satisfy the assumptions and the shapes of the input relations");
    }
    std::vector<TypedAlternative> alternatives;
    for (Related& related : result_.inputs) {
      for (RelatedForm& form : related.forms) {
        for (Clean& clean : form.expansion.alternatives) {
          Typed typed = type_expression(clean, sides_, typing);
          check_type(related, typed, form, oracle);
          alternatives.push_back({&related, &form, std::move(typed)});
        }
      }
    }
    for (Related& related : result_.given) {
      for (RelatedForm& form : related.forms) {
        for (Clean& clean : form.expansion.alternatives) {
          check_type(related, type_expression(clean, sides_, typing), form, oracle);
        }
      }
    }
    for (Related& related : result_.expect) {
      for (RelatedForm& form : related.forms) note_mismatch(related, form, typing, oracle);
    }
    for (const TensorEquality& tie : result_.equal) {
      if (!is_yes(oracle.equal(type(tie.left, tie.span).shape, type(tie.right, tie.span).shape))) {
        fail(Problem::shape_mismatch, tie.span,
             "the shapes of the two are " + to_string(type(tie.left, tie.span)) + " and " +
                 to_string(type(tie.right, tie.span)));
      }
    }
    check_elements(alternatives, result_.equal, sides_, typing);
  }

  void check_type(const Related& related, const Typed& typed, const RelatedForm& form,
                  smt::Oracle& oracle) const {
    const graph::Node& tensor = node(related.tensor);
    const TensorType& expected = *tensor.results[0];
    const bool dtype = typed.type.dtype != expected.dtype;
    if (!dtype && is_yes(oracle.equal(typed.type.shape, expected.shape))) return;
    const bool unknown = !dtype && !is_no(oracle.equal(typed.type.shape, expected.shape));
    fail(dtype ? Problem::dtype_mismatch : Problem::shape_mismatch, form.span,
         "`" + tensor.name + "` is " + to_string(expected) + ", but `" + to_string(*typed.clean, rules_) +
             "` is " + to_string(typed.type) + (unknown ? ": the shapes cannot be shown to be equal" : ""),
         unknown ? "say under `assume` how the symbols are related" : "");
  }

  // An expectation of another type is no bad input: a wrong program may have it. It just does not hold.
  void note_mismatch(const Related& related, RelatedForm& form, term::Typing& typing,
                     smt::Oracle& oracle) const {
    for (Clean& clean : form.expansion.alternatives) {
      try {
        check_type(related, type_expression(clean, sides_, typing), form, oracle);
      } catch (const Failure& failure) {
        if (form.mismatch.empty()) form.mismatch = failure.diagnostic.message;
      }
    }
  }

  // --- the rest

  void collect_outputs() {
    std::vector<NodeIndex>& outputs = result_.outputs;
    const auto add = [&](NodeIndex index) {
      if (std::find(outputs.begin(), outputs.end(), index) == outputs.end()) outputs.push_back(index);
    };
    for (const Text& name : manifest_.outputs) {
      for (const NodeIndex index : match(sides_.sequential, Section::outputs, name)) {
        type_of(sides_.sequential, index, name.span);
        add(index);
      }
    }
    for (const Related& related : result_.expect) add(related.tensor);
    result_.outputs_stated = !outputs.empty();
    if (!result_.outputs_stated) {
      for (const NodeIndex index : sides_.sequential.outputs) add(index);
    }
  }

  void state() {
    for (const Assumption& assumption : manifest_.assume) result_.stated.push_back(assumption.text);
    for (const Related& related : result_.given) {
      std::vector<std::string> texts;
      for (const RelatedForm& form : related.forms) texts.push_back(form.text);
      result_.stated.push_back("given: " + node(related.tensor).name + " = " + support::join(texts, " = "));
    }
  }

  const Manifest& manifest_;
  const rules::RuleSet& rules_;
  const Sides& sides_;
  Resolved result_;
  std::optional<std::vector<std::string>> symbols_;
};

// The nodes on which the outputs in question depend, not looking behind a `given`.
std::vector<bool> needed(const Resolved& resolved, const graph::Graph& sequential) {
  // An in-place operator changes what later uses of its operand depend on.
  std::vector<std::vector<NodeIndex>> changed_by(sequential.nodes.size());
  for (NodeIndex index = 0; index < sequential.nodes.size(); ++index) {
    const graph::Node& node = sequential.nodes[index];
    if (node.mutates.empty()) continue;
    const auto note = [&](NodeIndex operand) { changed_by[operand].push_back(index); };
    for (const graph::Arg& arg : node.args) for_each_ref(arg, note);
    for (const auto& [key, arg] : node.kwargs) for_each_ref(arg, note);
  }
  std::vector<bool> result(sequential.nodes.size());
  std::vector<NodeIndex> todo;
  const auto visit = [&](NodeIndex index) {
    if (result[index]) return;
    result[index] = true;
    todo.push_back(index);
  };
  for (const NodeIndex output : resolved.outputs) visit(output);
  while (!todo.empty()) {
    const NodeIndex index = todo.back();
    todo.pop_back();
    if (resolved.given_for(index) != nullptr) continue;
    const graph::Node& node = sequential.nodes[index];
    for (const graph::Arg& arg : node.args) for_each_ref(arg, visit);
    for (const auto& [key, arg] : node.kwargs) for_each_ref(arg, visit);
    for (const NodeIndex other : changed_by[index]) visit(other);
  }
  return result;
}

}  // namespace

const Related* Resolved::input(NodeIndex tensor) const {
  return find_related(inputs, tensor);
}

const Related* Resolved::given_for(NodeIndex tensor) const {
  return find_related(given, tensor);
}

const Related* Resolved::expected(NodeIndex tensor) const {
  return find_related(expect, tensor);
}

support::Result<Resolved> resolve(const Manifest& manifest, const rules::RuleSet& rules, const Sides& sides,
                                  const Sizes& sizes) {
  return guarded([&] { return Resolver(manifest, rules, sides, sizes).resolve(); });
}

support::Status check_inputs_related(const Manifest& manifest, const Resolved& resolved, const Sides& sides) {
  const std::vector<bool> all = needed(resolved, sides.sequential);
  std::vector<std::string> missing;
  for (NodeIndex index = 0; index < all.size(); ++index) {
    const graph::Node& node = sides.sequential.nodes[index];
    if (!all[index] || node.op != "placeholder" || node.size || node.value) continue;
    if (resolved.input(index) == nullptr && resolved.given_for(index) == nullptr)
      missing.push_back(node.name);
  }
  if (missing.empty()) return support::Unit{};
  std::vector<std::string> first;
  for (std::size_t i = 0; i < missing.size() && i < 5; ++i) first.push_back("`" + missing[i] + "`");
  if (first.size() < missing.size()) first.push_back(std::to_string(missing.size() - first.size()) + " more");
  const support::Span at = manifest.inputs.empty() ? manifest.sequential.span : manifest.inputs[0].name.span;
  return error(Problem::missing_relation, at,
               "the outputs in question depend on the input" + std::string(missing.size() > 1 ? "s " : " ") +
                   support::join_list(first) + ", of which `inputs` says nothing",
               "add e.g. `" + missing[0] + ": Replicate` under `inputs`");
}

}  // namespace entangle::relation
