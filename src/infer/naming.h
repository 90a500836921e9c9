// Names of terms: which tensor of which graph a term is, for everything shown to the user.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entangle/graph/lower.h"
#include "entangle/infer/verdict.h"
#include "joint.h"

namespace entangle::infer {

// The sequential side: terms by id as first built.
class SequentialNames {
 public:
  // Both outlive it. Nothing is looked at before something is asked: most checks never do.
  SequentialNames(const graph::Lowered& lowered, const EGraph& graph) : lowered_(lowered), graph_(graph) {}

  // The node that computes the term: the first one that needs it and is not given it by another node.
  std::optional<graph::NodeIndex> node_of(TermId term) const;
  // Whether the term is a result of a node (and not a value inside a lowering).
  bool is_result(TermId term) const;
  // The tensor's name: that of the first node with one result that is this term, else of the node that built
  // it.
  std::string name(TermId term) const;
  Place place(TermId term) const;

 private:
  struct Tables {
    std::unordered_map<TermId, graph::NodeIndex> result_of;  // first single-result node
    std::unordered_map<TermId, graph::TensorRef> any_result_of;
    std::unordered_map<TermId, graph::NodeIndex> inside;  // values inside a lowering
  };
  const Tables& tables() const;

  const graph::Lowered& lowered_;
  const EGraph& graph_;
  mutable std::optional<Tables> tables_;
};

// The distributed side: owners number tensors by their place in `tensors`.
class DistributedNames {
 public:
  // Registers every result of every rank as an owner of its class.
  DistributedNames(const graph::Lowered& lowered, Joint& joint);

  const graph::TensorRef& tensor(const Owner& owner) const { return tensors_[owner.tensor]; }
  bool is_output(const Owner& owner) const { return output_[owner.tensor]; }
  // `r0.mm`: the first owner of a class by rank, the shortest spelling; outputs are preferred if asked for.
  std::string name(const std::vector<Owner>& owners, bool prefer_outputs) const;
  Place place(TermId term) const;
  // The first tensor that was built as this very term.
  std::optional<graph::TensorRef> tensor_at(TermId term) const;
  std::string name(const graph::TensorRef& tensor) const;

 private:
  bool is_tensor(TermId term) const { return term < first_.size() && first_[term] != kNone; }
  // Where the values inside lowerings are computed: found when somebody asks for the first.
  void look_inside() const;

  const graph::Lowered& lowered_;
  const EGraph& graph_;
  std::vector<graph::TensorRef> tensors_;
  std::vector<bool> output_;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> first_;  // by term as built: its first tensor
  // Values inside a lowering: the first node.
  mutable std::optional<std::unordered_map<TermId, graph::TensorRef>> inside_;
};

}  // namespace entangle::infer
