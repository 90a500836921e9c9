// Memo: what was found out about a local problem is used again for every equal one.
//
// Equal layers, and symmetric parts of a layer, give selections that differ only in which tensors they are
// about. The key of a selection is a complete description of it with its classes numbered by their place:
// operators, attributes, operands, types and what else is known of each class, which ranks own it (numbered
// in their order among those of the selection) and which owners are counterparts. Two selections with the
// same key are the same problem, so that the answer found for one (also: none) is the answer to the other,
// place by place; keys are compared in full. Call sites of operators that no lemma mentions are numbered by
// first occurrence; an answer that names one itself is not used again.
//
// Solutions may come from an earlier run: then attributes and types have the numbers that they had there, and
// a solution is used only where its places exist and its equalities and expressions have the types of what
// they are about. What mentions symbolic sizes is not kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
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

// Solutions as they are kept: see memo_bytes.h.
struct KeptSolutions {
  struct Entry {
    MemoKey key;
    std::string solution;
  };
  std::vector<std::string> texts;  // attributes and types by their numbers in the keys
  std::vector<Entry> entries;
};

class Memo {
 public:
  explicit Memo(Joint& joint);

  // The key of the problem to relate `targets` (applications of the selection) with this effort. Whether the
  // leaves are tensors or values, the first of the targets says.
  MemoKey key(const Selection& selection, const std::vector<TermId>& targets, Effort effort, Leaves leaves);
  // Null when there is none that fits.
  const Solution* find(const MemoKey& key, const Selection& selection, const std::vector<TermId>& targets);
  // Valid until the same key is stored again. `keep`: it depends on nothing but its key and the owner of a
  // file.
  const Solution& store(MemoKey key, Solution solution, bool keep);

  // Before anything is asked for. `on_disk`: they come from where what is saved goes to.
  void load(const KeptSolutions& kept, bool on_disk = true);
  // What was found or used since, in that order; nothing where that is what was loaded from disk.
  std::optional<KeptSolutions> save() const;

 private:
  struct Hash {
    std::size_t operator()(const MemoKey& key) const;
  };
  using Names = IdMap;
  using Sites = std::unordered_map<std::uint64_t, std::uint64_t>;
  struct Known {
    std::string kept;                  // of an earlier run, until it is asked for
    std::optional<Solution> solution;  // none: `kept` is not read yet, or does not fit
    bool from_file = false;
    bool keep = false;
    bool used = false;
    bool names_calls = false;  // in its relations: it answers for no other calls
  };
  using Solutions = std::unordered_map<MemoKey, Known, Hash>;

  std::uint64_t number(const tensor::Attr& attr);
  std::uint64_t number(const tensor::TensorType& type);
  // Of an operator: see site_.
  const std::vector<bool>& site_attributes(rules::OpId op);
  std::uint64_t number_of_text(const std::optional<std::string>& text);
  bool names_calls(const Solution& solution);
  void use(Solutions::value_type& entry);
  bool fits(const Solution& solution, const Selection& selection, const std::vector<TermId>& targets);
  // The type of a clean expression over the classes; none where it has no type or is not clean.
  std::optional<tensor::TensorType> type_of(const relation::CleanTerm& clean, const Selection& selection);
  // The number of these words, the same for the same words: symbolic if one of them is.
  std::uint64_t number_of_form(char kind, const MemoKey& words);
  // Of what is known of a class but its owners, and of the operator and attributes of an application.
  std::uint64_t form_of_class(TermId id);
  std::uint64_t describe_class(TermId id);
  std::uint64_t form_of_application(TermId term);
  static void number_ranks(const std::vector<std::size_t>& places, MemoKey& key);
  void add_class(TermId id, Names& names, Names& places, std::vector<std::size_t>& ranks, MemoKey& key);
  void add_application(const Selection& selection, const Selection::Application& application, Sites& sites,
                       MemoKey& key);

  Joint& joint_;
  // By operator, once it is asked for: which attributes (`site`, `draw`) are mere names of calls; empty where
  // none is, as with operators that a lemma mentions.
  std::vector<std::optional<std::vector<bool>>> site_;
  std::vector<bool> mentioned_;  // operators by lemmas, once it is asked for
  std::unordered_map<tensor::Attr, std::uint64_t> attrs_;
  std::unordered_map<const tensor::TensorType*, std::uint64_t> types_;  // the joint graph has each type once
  std::unordered_map<std::string, std::uint64_t> texts_;
  std::unordered_map<MemoKey, std::uint64_t, Hash> forms_;  // by their words, after a letter for their kind
  using TypeForms = std::array<std::uint64_t, 2>;
  // Of classes of which no more is known than their type, and whether they are defined.
  std::unordered_map<const tensor::TensorType*, TypeForms> type_forms_;
  struct Applied {
    rules::OpId op = rules::kNoOp;
    std::uint32_t operands = 0;
    tensor::Attr attrs;
    bool operator==(const Applied&) const = default;
  };
  struct AppliedHash {
    std::size_t operator()(const Applied& applied) const;
  };
  std::unordered_map<Applied, std::uint64_t, AppliedHash> applied_forms_;
  struct ClassForm {
    std::uint32_t version = 0;  // of the class when it was described
    std::uint64_t number = 0;
  };
  static constexpr std::uint64_t kNoForm = ~std::uint64_t{0};
  std::vector<ClassForm> class_forms_;            // by canonical id
  std::vector<std::uint64_t> application_forms_;  // by term
  std::uint64_t nameless_ = 0;                    // attributes and types without a text
  Solutions solutions_;
  std::vector<const Solutions::value_type*> used_;  // in order
  std::size_t loaded_ = 0;
};

}  // namespace entangle::infer
