// Memo: what was found out about a local problem is used again for every equal one.
//
// Equal layers, and symmetric parts of a layer, give selections that differ only in which tensors they are
// about. The key of a selection is a complete description of it with its classes numbered by their place:
// operators, attributes, operands, types and what else is known of each class, which ranks own it and which
// owners are counterparts. Two selections with the same key are the same problem, so that the answer found
// for one (also: none) is the answer to the other, place by place; keys are compared in full. Call sites of
// operators that no lemma mentions are numbered by first occurrence.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "local_problem.h"

namespace entangle::infer {

// What a local problem has shown, in places of Selection::classes().
struct Solution {
  Equalities equalities;
  // Clean expressions of each of the terms asked for; the problem is solved if the first has one.
  std::vector<std::vector<relation::CleanTermPtr>> relations;
  egraph::Outcome outcome;
  std::size_t nodes = 0;
  std::vector<egraph::Clash> clashes;

  bool solved() const { return !relations.front().empty(); }
};

using MemoKey = std::vector<std::uint64_t>;

class Memo {
 public:
  explicit Memo(Joint& joint);

  // The key of the problem to relate `targets` (applications of the selection) with this effort.
  MemoKey key(const Selection& selection, const std::vector<TermId>& targets, Effort effort);
  // Null when there is none.
  const Solution* find(const MemoKey& key) const;
  // Valid until the same key is stored again.
  const Solution& store(MemoKey key, Solution solution);

 private:
  struct Hash {
    std::size_t operator()(const MemoKey& key) const;
  };
  using Names = std::unordered_map<std::uint64_t, std::uint64_t>;
  std::uint64_t number(const tensor::Attr& attr);
  std::uint64_t number(const tensor::TensorType& type);
  // Of an operator: see site_.
  const std::vector<bool>& site_attributes(rules::OpId op);
  void add_class(TermId id, Names& names, Names& places, MemoKey& key);
  void add_application(const Selection& selection, TermId term, Names& sites, MemoKey& key);

  Joint& joint_;
  // By operator: which attributes are mere names of call sites; empty where none is.
  std::vector<std::vector<bool>> site_;
  bool asked_for_sites_ = false;  // until then those of operators that a lemma mentions are among them
  std::unordered_map<tensor::Attr, std::uint64_t> attrs_;
  std::unordered_map<const tensor::TensorType*, std::uint64_t> types_;  // the joint graph has each type once
  std::unordered_map<MemoKey, Solution, Hash> solutions_;
};

}  // namespace entangle::infer
