// Lowerer: the state of lowering all ranks into one e-graph, and its steps.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "binding.h"
#include "entangle/graph/lower.h"
#include "rank.h"
#include "recipes.h"

namespace entangle::graph {

class Lowerer {
 public:
  Lowerer(const std::vector<Graph>& graphs, egraph::EGraph& target, const LowerOptions& options);

  support::Result<Lowered> run();

 private:
  using Span = support::Span;

  // What came of trying the declarations of an operator.
  struct Attempt {
    std::optional<term::Value> value;  // of the first that applies and is defined
    const rules::Lowering* lowering = nullptr;
    std::string reason;                      // without a value: why, "" when nothing is declared
    const rules::Lowering* unfit = nullptr;  // a declaration that applies, but whose operands contradict it
    std::string unfit_reason;
  };

  // --- lowerer.cpp: the order of execution, results
  bool fail(support::Diagnostic error);
  bool fail(std::string id, std::uint32_t rank, NodeIndex node, std::string message);
  const Node& node_of(std::uint32_t rank, NodeIndex node) const { return graphs_[rank].nodes[node]; }
  const Operation& operation_of(std::uint32_t rank, NodeIndex node) const {
    return *ranks_[rank].operations[node];
  }
  bool is_foreign(const std::string& op, const std::pair<std::string, Arg>& keyword) const;
  bool writes_keywords(const Node& at) const;
  const Operation& known_operation(const std::string& op, bool writes_keywords);
  std::int64_t site(std::uint32_t rank, NodeIndex node) const {
    return ranks_[rank].sites[operation_of(rank, node).site];
  }
  std::string title(std::uint32_t rank, NodeIndex node) const;
  bool step(std::uint32_t rank);
  void set_result(std::uint32_t rank, NodeIndex node, std::size_t result, TermId term);
  bool accept(std::uint32_t rank, NodeIndex node, const term::Value& value, const rules::Lowering& lowering,
              smt::Truth& agreed);
  void find_sizes(const TensorRef& at, const tensor::TensorType& computed);
  bool contradiction(std::uint32_t rank, NodeIndex node, std::size_t result,
                     const tensor::TensorType& computed, const rules::Lowering* lowering);
  bool complain_operands(std::uint32_t rank, NodeIndex node, const Attempt& attempt);
  void block(std::uint32_t rank, NodeIndex node, const std::string& reason);
  void record_lookups(TermId root, const TensorRef& at);
  void record_draws(TermId root, const TensorRef& at);
  // Calls visit(term, view) for these terms and for what they are made of, each once. It returns the operands
  // to go on with.
  template <class Visit>
  void for_each_below(std::span<const TermId> from, const Visit& visit) const {
    std::vector<TermId> todo(from.begin(), from.end());
    std::set<TermId> seen;
    while (!todo.empty()) {
      const TermId term = todo.back();
      todo.pop_back();
      if (term != kNoTerm && seen.insert(term).second) {
        const std::span<const TermId> next = visit(term, target_.original(term));
        todo.insert(todo.end(), next.begin(), next.end());
      }
    }
  }
  std::int64_t draw(std::uint32_t rank, NodeIndex node) const;

  // --- nodes.cpp: one node on its own
  bool leaf(std::uint32_t rank, NodeIndex node);
  bool constant(std::uint32_t rank, NodeIndex node);
  bool pick(std::uint32_t rank, NodeIndex node);
  bool operation(std::uint32_t rank, NodeIndex node);
  bool size(std::uint32_t rank, NodeIndex node, const Attempt& attempt);
  Attempt attempt(std::uint32_t rank, NodeIndex node);
  void remember(NodeIndex node, const rules::Lowering& lowering, const std::vector<NodeIndex>& operands);
  std::optional<term::Value> repeat(std::uint32_t rank, NodeIndex node);
  void opaque(std::uint32_t rank, NodeIndex node, const std::string& reason);
  TermId opaque_term(const OpaqueUse& use, const tensor::TensorType& type, bool& added);
  std::optional<tensor::Attr> arguments(std::uint32_t rank, const Arg& arg,
                                        std::vector<TermId>& operands) const;
  static term::Value with_new_values(const Node& at, term::Value value);
  bool touches_empty(std::uint32_t rank, NodeIndex node) const;
  bool of_random_family(const std::string& op);
  std::optional<TermId> literal(const tensor::Attr& value, const tensor::TensorType& type);

  // --- changes.cpp: operators that change their operands
  std::vector<NodeIndex> changed_operands(std::uint32_t rank, NodeIndex node, const rules::Lowering* by);
  void spoil(std::uint32_t rank, NodeIndex node, const rules::Lowering* by);
  void retire(std::uint32_t rank, NodeIndex node);
  std::vector<NodeIndex> sharing(std::uint32_t rank, NodeIndex node, const std::vector<NodeIndex>& operands);
  std::set<TermId> memory(std::uint32_t rank, NodeIndex node);
  void hold_nodes(std::uint32_t rank, NodeIndex end);
  bool needed_after(std::uint32_t rank, NodeIndex node, NodeIndex earlier) const;
  std::set<TermId> bases(std::uint32_t rank, NodeIndex node) const;

  // --- collectives.cpp: nodes that several ranks run together
  // The other side of a message, and where it passes: without a group it is that of all ranks.
  struct Peer {
    std::size_t rank = 0;
    std::int64_t tag = 0;
    std::optional<Group> group;
  };
  struct Waiting {
    enum class For : std::uint8_t { nothing, collective, message } what = For::nothing;
    Group group;  // collective
    Peer from;    // message
  };
  using Channel = std::tuple<std::size_t, std::size_t, std::int64_t>;  // source, destination, tag
  struct Message {
    std::uint32_t rank = 0;
    NodeIndex node = kNoNode;
    TermId term = kNoTerm;
    std::optional<Group> group;
  };
  struct Member {
    std::uint32_t rank = 0;
    NodeIndex node = kNoNode;
  };
  // How a node of the first rank was lowered, if that says how the same node of other ranks is.
  struct Known {
    const rules::Lowering* lowering = nullptr;
    Recipes::Recipe* recipe = nullptr;
    std::vector<TermId> operands;                             // of the recipe
    std::vector<std::pair<NodeIndex, std::uint32_t>> places;  // which of them are nodes
  };

  bool is_unknown_collective(std::uint32_t rank, NodeIndex node);
  bool called_as_collective(const std::string& op);
  bool arrive(std::uint32_t rank, NodeIndex node);
  bool is_member(std::uint32_t rank, NodeIndex node, const Group& group);
  bool same_group(std::uint32_t rank, const Group& ours, std::uint32_t other, const Group& theirs) const;
  bool wait_together(std::uint32_t rank, std::uint32_t other) const;
  bool complete(std::uint32_t rank) const;
  bool collective(const Group& group);
  bool same_operator(const Group& group, const std::vector<Member>& members);
  std::optional<std::vector<term::Value>> results(const Group& group, const std::vector<Member>& members,
                                                  const rules::Lowering& lowering, smt::Truth& same,
                                                  std::string& reason);
  bool accept_collective(const std::vector<Member>& members, const rules::Lowering& lowering,
                         const std::vector<term::Value>& values, smt::Truth same);
  bool consistent(const std::vector<Member>& members, const rules::Lowering& lowering,
                  const std::vector<term::Frame>& frames);
  // No: that is told.
  smt::Truth same_lists(const std::vector<Member>& members, const rules::Lowering& lowering,
                        const std::vector<term::Frame>& frames);
  void arguments_differ(const Member& a, const Member& b, const std::string& parameter,
                        const tensor::Attr& first, const tensor::Attr& other);
  smt::Truth same_operands(const rules::Lowering& lowering, const std::vector<term::Frame>& frames) const;
  std::vector<term::Frame> joined(const Group& group, const std::vector<Member>& members,
                                  const rules::Lowering& lowering, std::vector<term::Frame>& own);
  bool collective_failed(const std::vector<Member>& members, smt::Truth same, const std::string& reason);
  void mismatch(Mismatch::What what, std::vector<Mismatch::Place> places, std::string message);
  void stuck();
  std::string place(std::uint32_t rank) const;

  // --- messages.cpp: sends and receives
  bool send(std::uint32_t rank, NodeIndex node, const rules::Lowering& lowering);
  bool receive(std::uint32_t rank);
  bool peer(std::uint32_t rank, NodeIndex node, const rules::Lowering& lowering, const term::Frame& frame,
            std::string_view role, Peer& out);
  void unreceived();

  const std::vector<Graph>& graphs_;
  egraph::EGraph& target_;
  const LowerOptions& options_;
  Lowered lowered_;
  std::optional<support::Diagnostic> error_;
  Recipes recipes_;
  std::vector<Known> known_;                                       // of the first rank, by node
  std::unordered_map<std::string, Operation> operations_;          // by name
  std::unordered_map<std::string, Operation> writing_operations_;  // those that are given tensors to write to
  std::unordered_map<std::string, std::size_t> operator_sites_;    // by name without working in place
  std::vector<RankState> ranks_;
  std::vector<Waiting> waiting_;
  std::map<Channel, std::vector<Message>> messages_;
  std::map<std::pair<std::string, std::vector<std::size_t>>, std::size_t> collectives_run_;
  std::optional<std::set<std::string>> random_families_;  // names without overload, once they are asked for
  std::optional<std::set<std::string>>
      communications_;  // what operators are called that communicate, likewise
  std::map<std::tuple<std::string, std::uint32_t, std::vector<TermId>>,
           std::vector<std::pair<tensor::Attr, TermId>>>
      opaque_leaves_;
  std::unordered_map<TermId, std::size_t> opaque_uses_;
  std::map<tensor::DType, std::vector<std::pair<tensor::Attr, TermId>>> literals_;
  std::vector<bool> looked_at_;
  std::vector<TermId> looking_at_;  // by record_lookups
  rules::OpId take_ = rules::kNoOp, put_add_ = rules::kNoOp, lit_ = rules::kNoOp, opaque_ = rules::kNoOp;
};

}  // namespace entangle::graph
