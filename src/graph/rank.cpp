#include "rank.h"

#include "entangle/support/text.h"

namespace entangle::graph {

std::optional<sym::Int> RankState::size_expression(const std::string& text) const {
  const support::Result<sym::Int> parsed = sym::parse_int_expr(text, graph->symbol_prefix);
  if (!parsed) {
    return std::nullopt;
  }
  sym::Int value = *parsed;
  const sym::Int rank = sym::Int::symbol(graph->symbol_prefix + "rank");
  for (const sym::Int symbol : sym::symbols_of(value)) {
    if (symbol == rank) {
      value = sym::substitute(value, {{rank, sym::Int(graph->rank)}});
    } else if (!symbols.contains(symbol)) {
      return std::nullopt;
    }
  }
  return value.is_poison() ? std::nullopt : std::optional(value);
}

RankState start(const Graph& graph, std::vector<LoweredNode>& nodes, std::vector<TermId>& terms) {
  RankState state;
  state.graph = &graph;
  state.nodes = &nodes;
  nodes.resize(graph.nodes.size());
  state.sizes.resize(graph.nodes.size());
  const auto add = [&](sym::Int value) {
    if (!value.is_constant()) {
      for (const sym::Int symbol : sym::symbols_of(value)) {
        state.symbols.insert(symbol);
      }
    }
  };
  std::size_t results = 0;
  for (const Node& node : graph.nodes) {
    results += node.results.size();
  }
  terms.assign(results, kNoTerm);
  std::size_t first = 0;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    nodes[i].results = std::span(terms).subspan(first, node.results.size());
    first += node.results.size();
    if (node.size) {
      add(*node.size);
    }
    for (const auto& type : node.results) {
      if (type) {
        for (const sym::Int size : type->shape) {
          add(size);
        }
      }
    }
  }
  return state;
}

smt::Truth same_type(smt::Oracle& oracle, const tensor::TensorType& a, const tensor::TensorType& b) {
  if (a.dtype != b.dtype) {
    return smt::Truth::no;
  }
  return a.shape == b.shape ? smt::Truth::yes : oracle.equal(a.shape, b.shape);
}

tensor::TensorType normalised(const smt::Oracle& oracle, tensor::TensorType type) {
  for (sym::Int& size : type.shape) {
    size = size.is_constant() ? size : oracle.normalise(size);
  }
  return type;
}

std::string out_of_place(std::string_view op) {
  const auto found = find_word(op, [](std::string_view word) {
    return word.size() > 1 && word.ends_with('_') && !word.ends_with("__");
  });
  return found ? std::string(op.substr(0, found->second - 1)).append(op.substr(found->second)) : "";
}

bool writes_out(std::string_view op) {
  const auto is_out = [](std::string_view word) { return word == "out" || word.ends_with("_out"); };
  return find_word(op, is_out).has_value();
}

namespace {

// The words of an identifier, each behind an underscore: `_dim_max` of `dim_max`, `_out_tensor` of
// `OutTensor`.
std::string spelled(std::string_view identifier) {
  std::string result = "_";
  bool inside = false;  // a word that has begun with small letters
  for (const char c : identifier) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && inside) {
      result += '_';
    }
    inside = !capital && c != '_';
    result += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

}  // namespace

bool writes_keyword(std::string_view op, std::string_view keyword) {
  constexpr std::string_view kBetween = ".:/";
  const std::size_t last = op.find_last_of(kBetween);
  if (keyword == "out" || last == std::string_view::npos || op.find_first_of(kBetween) == last) {
    return keyword == "out";  // there is no overload
  }
  const std::string overload = spelled(op.substr(last + 1)) + "_";
  return overload.find(spelled(keyword) + "_") != std::string::npos;
}

bool may_change_operands(std::string_view op) {
  // Python's operators that assign to their first operand.
  static const std::set<std::string_view> kAssigning{"iadd",    "iand", "iconcat",  "ifloordiv", "ilshift",
                                                     "imatmul", "imod", "imul",     "ior",       "irshift",
                                                     "ipow",    "isub", "itruediv", "ixor",      "setitem"};
  const bool python = op.starts_with("operator.") || op.starts_with("_operator.");
  const auto changing = [&](std::string_view word) {
    if (word.size() > 4 && word.starts_with("__") && word.ends_with("__")) {
      return kAssigning.contains(word.substr(2, word.size() - 4));
    }
    return word.find("inplace") != std::string_view::npos ||
           word.find("in_place") != std::string_view::npos || (python && kAssigning.contains(word));
  };
  return changes_operands(op) || find_word(op, changing).has_value();
}

}  // namespace entangle::graph
