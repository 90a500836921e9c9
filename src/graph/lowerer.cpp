#include "lowerer.h"

#include <algorithm>
#include <span>

#include "entangle/support/text.h"

namespace entangle::graph {

using support::Diagnostic;
using tensor::TensorType;
using term::Value;

namespace {

// The tensors of a value: one, a list, or none. Numbers stay as they are.
std::span<const Value> entries(const Value& value, bool several) {
  const std::vector<Value>* list = value.as_list();
  if (list != nullptr && (several || list->size() == 1)) {
    return *list;
  }
  return {&value, 1};
}

}  // namespace

Lowerer::Lowerer(const std::vector<Graph>& graphs, egraph::EGraph& target, const LowerOptions& options)
    : graphs_(graphs), target_(target), options_(options), recipes_(target) {
  const rules::RuleSet& rules = target.rules();
  take_ = rules.find_op("take");
  put_add_ = rules.find_op("put_add");
  lit_ = rules.find_op("lit");
  opaque_ = rules.find_op("opaque");
  lowered_.nodes.resize(graphs.size());
  lowered_.terms.resize(graphs.size());
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    lowered_.graphs.push_back(&graphs[i]);
    ranks_.push_back(start(graphs[i], lowered_.nodes[i], lowered_.terms[i]));
  }
  for (RankState& state : ranks_) {
    const RankState& first = ranks_.front();
    state.operations.reserve(state.graph->nodes.size());
    for (NodeIndex node = 0; node < state.graph->nodes.size(); ++node) {
      const Node& at = state.graph->nodes[node];
      // Mostly the ranks run the same operators.
      const Node* like = node < first.operations.size() ? &first.graph->nodes[node] : nullptr;
      if (like == &at) {
        state.operations.push_back(first.operations[node]);
        continue;
      }
      const bool writes = writes_keywords(at);
      const bool known =
          like != nullptr && like->op == at.op && first.operations[node]->writes_keywords == writes;
      state.operations.push_back(known ? first.operations[node] : &known_operation(at.op, writes));
    }
  }
  for (RankState& state : ranks_) {
    state.sites.resize(operator_sites_.size());
  }
  waiting_.resize(graphs.size());
}

bool Lowerer::fail(Diagnostic error) {
  if (!error_) {
    error_ = std::move(error);
  }
  return false;
}

bool Lowerer::fail(std::string id, std::uint32_t rank, NodeIndex node, std::string message) {
  return fail(support::error("graph/" + std::move(id), graphs_[rank].span(node), std::move(message)));
}

std::string Lowerer::title(std::uint32_t rank, NodeIndex node) const {
  const Node& at = node_of(rank, node);
  std::string text = "`" + at.name + "` (" + at.op;
  if (!at.loc.empty()) {
    text += ", " + at.loc;
  }
  return text + ")";
}

support::Result<Lowered> Lowerer::run() {
  // The ranks take turns in their order, each up to its next communication; a group whose members all wait at
  // it goes on together. In every layer of a program the ranks then build their terms in the same order.
  while (!error_ && !lowered_.mismatch) {
    bool progress = false;
    bool done = true;
    for (std::uint32_t rank = 0; rank < ranks_.size() && !error_ && !lowered_.mismatch; ++rank) {
      RankState& state = ranks_[rank];
      while (state.at < graphs_[rank].nodes.size() && !error_ && !lowered_.mismatch) {
        const NodeIndex before = state.at;
        const bool meets = operation_of(rank, before).communication != nullptr;
        if (!step(rank) || state.at == before) {
          break;
        }
        progress = true;
        if (meets) {
          break;
        }
      }
      done = done && state.at == graphs_[rank].nodes.size();
    }
    if (error_ || lowered_.mismatch) {
      break;
    }
    if (done) {
      unreceived();
      break;
    }
    if (!progress) {
      stuck();
      break;
    }
  }
  if (error_) {
    return *error_;
  }
  std::vector<std::string>& ops = lowered_.opaque_ops;
  for (const OpaqueUse& use : lowered_.opaque) {
    ops.push_back(use.op);
  }
  std::sort(ops.begin(), ops.end());
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  return std::move(lowered_);
}

// Lowers the next node of a rank, or leaves it waiting. False once there is an error or a mismatch.
bool Lowerer::step(std::uint32_t rank) {
  RankState& state = ranks_[rank];
  const NodeIndex node = state.at;
  const Node& at = node_of(rank, node);
  if (waiting_[rank].what == Waiting::For::nothing) {
    ++state.sites[operation_of(rank, node).site];
  }
  bool good = true;
  if (at.op == "output") {
    good = true;
  } else if (at.op == "placeholder" || (options_.cut && options_.cut(rank, node))) {
    good = leaf(rank, node);
  } else if (!at.unknown.empty()) {
    block(rank, node, at.unknown);
  } else if (at.op == "constant") {
    good = constant(rank, node);
  } else if (is_getitem(at)) {
    good = pick(rank, node);
  } else if (operation_of(rank, node).communication != nullptr) {
    return arrive(rank, node);
  } else {
    good = operation(rank, node);
    if (good) {
      retire(rank, node);
    }
  }
  state.at += good ? 1 : 0;
  return good;
}

void Lowerer::set_result(std::uint32_t rank, NodeIndex node, std::size_t result, TermId term) {
  lowered_.nodes[rank][node].results[result] = term;
  if (term != kNoTerm && options_.mark_named) {
    target_.set_named(term);
  }
}

bool Lowerer::contradiction(std::uint32_t rank, NodeIndex node, std::size_t result,
                            const TensorType& computed, const rules::Lowering* lowering) {
  const Node& at = node_of(rank, node);
  std::string which = at.several ? "result " + std::to_string(result) + " of " : std::string();
  Diagnostic error =
      support::error("graph/result-type", graphs_[rank].span(node),
                     which + title(rank, node) + " is recorded as " + tensor::to_string(*at.results[result]) +
                         ", but its operands make it " + tensor::to_string(computed));
  std::vector<std::string> operands;
  for_each_operand(at, [&](NodeIndex operand) {
    for (const TermId term : ranks_[rank].terms(operand)) {
      if (term != kNoTerm) {
        operands.push_back("`" + node_of(rank, operand).name + "` " + tensor::to_string(target_.type(term)));
      }
    }
  });
  if (!operands.empty()) {
    error.notes.push_back({{}, "its operands: " + support::join(operands, ", ")});
  }
  if (lowering != nullptr) {
    error.notes.push_back({lowering->span, "computed by this declaration"});
  }
  return fail(std::move(error));
}

// A size that is recorded as a symbol of its own, but known.
void Lowerer::find_sizes(const TensorRef& at, const TensorType& computed) {
  const tensor::Shape& recorded = node_of(at.rank, at.node).results[at.result]->shape;
  for (std::size_t k = 0; k < recorded.size(); ++k) {
    if (!sym::mentions(computed.shape[k], recorded[k]) && graphs_[at.rank].defines(at.node, recorded[k])) {
      lowered_.found_sizes.push_back({recorded[k], computed.shape[k], at});
    }
  }
}

bool Lowerer::complain_operands(std::uint32_t rank, NodeIndex node, const Attempt& attempt) {
  Diagnostic error =
      support::error("graph/operands", graphs_[rank].span(node),
                     "the operands of " + title(rank, node) + " do not fit it: " + attempt.unfit_reason);
  error.notes.push_back({attempt.unfit->span, "by this declaration"});
  return fail(std::move(error));
}

// Takes the value of a lowering as the node's results. `agreed` is `unknown` when a recorded type could not
// be compared with the computed one; then nothing is taken. False: an error.
bool Lowerer::accept(std::uint32_t rank, NodeIndex node, const Value& value, const rules::Lowering& lowering,
                     smt::Truth& agreed) {
  const Node& at = node_of(rank, node);
  const std::span<const Value> values = entries(value, at.several);
  const bool unused = values.size() == 1 && values[0].is_none();
  if (values.size() != at.results.size() && !unused) {
    Diagnostic error = support::error("graph/result-count", graphs_[rank].span(node),
                                      title(rank, node) + " records " + std::to_string(at.results.size()) +
                                          (at.results.size() == 1 ? " result" : " results") +
                                          ", its operator has " + std::to_string(values.size()));
    error.notes.push_back({lowering.span, "by this declaration"});
    return fail(std::move(error));
  }
  agreed = smt::Truth::yes;
  std::vector<TermId> terms(at.results.size(), kNoTerm);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!at.results[i]) {
      continue;  // nobody can use it
    }
    const Value& entry = unused ? values[0] : values[i];
    const term::Term* term = entry.as_term();
    if (term != nullptr && term->id != kNoTerm && *at.results[i] == target_.type(term->id)) {
      terms[i] = term->id;
      continue;
    }
    const TensorType type = normalised(target_.oracle(), *at.results[i]);
    if (const std::optional<sym::Scalar> number = term == nullptr ? entry.to_scalar() : std::nullopt) {
      const std::optional<TermId> full = target_.evaluator().full(*number, type);
      if (const sym::Int* size = entry.as_int(); size != nullptr && !at.several && type.rank() == 0) {
        ranks_[rank].sizes[node] = *size;
      }
      terms[i] = full.value_or(kNoTerm);
    } else if (term != nullptr) {
      terms[i] = term->id;
    }
    if (terms[i] == kNoTerm) {
      return fail("result-type", rank, node,
                  title(rank, node) + " is recorded as " + tensor::to_string(*at.results[i]) +
                      ", but its operator has no such result");
    }
    const smt::Truth same = same_type(target_.oracle(), type, target_.type(terms[i]));
    if (smt::is_no(same)) {
      return contradiction(rank, node, i, target_.type(terms[i]), &lowering);
    }
    if (!smt::is_yes(same)) {
      find_sizes({rank, node, static_cast<std::uint32_t>(i)}, target_.type(terms[i]));
    }
    agreed = agreed & same;
  }
  if (!smt::is_yes(agreed)) {
    return true;
  }
  lowered_.nodes[rank][node].kind = Kind::lowered;
  lowered_.nodes[rank][node].by = &lowering;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    set_result(rank, node, i, terms[i]);
    record_lookups(terms[i], {rank, node, static_cast<std::uint32_t>(i)});
    if (lowering.draw != rules::kNoSlot) {
      record_draws(terms[i], {rank, node, static_cast<std::uint32_t>(i)});
    }
  }
  return true;
}

// Every result is an unknown of its own.
void Lowerer::block(std::uint32_t rank, NodeIndex node, const std::string& reason) {
  const Node& at = node_of(rank, node);
  LoweredNode& out = lowered_.nodes[rank][node];
  ranks_[rank].stale.erase(node);
  for (std::size_t i = 0; i < at.results.size(); ++i) {
    if (!at.results[i]) {
      continue;
    }
    const TensorRef ref{rank, node, static_cast<std::uint32_t>(i)};
    if (at.op == "placeholder" && out.results[i] != kNoTerm) {
      lowered_.at_start.emplace(std::pair(rank, node), out.results[i]);
    }
    const TermId unknown =
        target_.fresh(normalised(target_.oracle(), *at.results[i]), lowered_.describe(ref));
    set_result(rank, node, i, unknown);
    lowered_.blocked.push_back({ref, reason});
    out.kind = Kind::blocked;
    out.reason = reason;
  }
}

// Look-ups among the terms a result is built of, each reported once.
void Lowerer::record_lookups(TermId root, const TensorRef& at) {
  std::vector<TermId>& todo = looking_at_;
  todo.assign(1, root);
  looked_at_.resize(target_.term_count(), false);
  while (!todo.empty()) {
    const TermId term = todo.back();
    todo.pop_back();
    if (term == kNoTerm || looked_at_[term]) {
      continue;
    }
    looked_at_[term] = true;
    const term::NodeView view = target_.original(term);
    if (view.op != rules::kNoOp && (view.op == take_ || view.op == put_add_)) {
      lowered_.lookups.push_back({term, at});
    }
    todo.insert(todo.end(), view.children.begin(), view.children.end());
  }
}

std::int64_t Lowerer::draw(std::uint32_t rank, NodeIndex node) const {
  if (!options_.draw) {
    return -site(rank, node);
  }
  std::vector<TermId> operands;
  for_each_operand(node_of(rank, node), [&](NodeIndex operand) {
    for (const TermId term : ranks_[rank].terms(operand)) {
      operands.push_back(term == kNoTerm ? kNoTerm : target_.find(term));
    }
  });
  return options_.draw(rank, node, site(rank, node), operands);
}

// What a node draws, between its operands and a result. (What another rank draws may be the same term.)
void Lowerer::record_draws(TermId root, const TensorRef& at) {
  std::set<TermId> given;
  for_each_operand(node_of(at.rank, at.node), [&](NodeIndex operand) {
    const std::span<const TermId> terms = ranks_[at.rank].terms(operand);
    given.insert(terms.begin(), terms.end());
  });
  for_each_below({&root, 1}, [&](TermId term, const term::NodeView& view) -> std::span<const TermId> {
    if (given.contains(term)) {
      return {};
    }
    if (view.op != rules::kNoOp && target_.rules().op(view.op).drawn) {
      lowered_.draws.push_back({term, at, site(at.rank, at.node)});
    }
    return view.children;
  });
}

support::Result<Lowered> lower(const std::vector<Graph>& graphs, egraph::EGraph& target,
                               const LowerOptions& options) {
  return Lowerer(graphs, target, options).run();
}

}  // namespace entangle::graph
