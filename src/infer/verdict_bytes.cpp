#include "verdict_bytes.h"

#include <utility>
#include <vector>

#include "entangle/rules/bytes.h"

namespace entangle::infer {

namespace {

const std::vector<support::FileId> kNoFiles;

}  // namespace

// A relation of Verdict::relations.
struct NamedRelations {
  std::string tensor;
  std::vector<std::string> relations;
};

struct KeptVerdict {
  Verdict verdict;
  std::vector<NamedRelations> relations;
};

template <class A>
static void fields(A& a, Place& x) {
  a(x.rank, x.tensor, x.op, x.loc, x.relations);
}
template <class A>
static void fields(A& a, Expectation& x) {
  a(x.expected, x.holds);
}
template <class A>
static void fields(A& a, OutputReport& x) {
  a(x.tensor, x.relations, x.expectations, x.ok, x.notes);
}
template <class A>
static void fields(A& a, Failing& x) {
  a(x.at, x.reason, x.hints, x.chain, x.operands, x.considered);
}
template <class A>
static void fields(A& a, CollectiveMismatch& x) {
  a(x.reason, x.places);
}
template <class A>
static void fields(A& a, LemmaUse& x) {
  a(x.name, x.applied, x.index);
}
template <class A>
static void fields(A& a, Statistics& x) {
  a(x.sequential_operators, x.distributed_operators, x.by_lookup, x.local_problems, x.by_memo, x.carried,
    x.largest_egraph, x.conditions, x.conditions_by_solver, x.conditions_unknown);
}
template <class A>
static void fields(A& a, NamedRelations& x) {
  a(x.tensor, x.relations);
}
template <class A>
static void fields(A& a, KeptVerdict& x) {
  Verdict& v = x.verdict;
  a(v.kind, v.manifest, v.ranks, v.outputs, v.failing, v.mismatch, v.assumptions, v.obligations, v.opaque,
    v.unrelated, v.lemmas, v.normalised, v.operators, v.limits, v.statistics, x.relations);
}

std::optional<std::string> to_bytes(const Verdict& verdict) {
  if (!verdict.warnings.empty()) {
    return std::nullopt;
  }
  KeptVerdict kept{verdict, {}};
  for (const auto& [tensor, relations] : verdict.relations) {
    kept.relations.push_back({tensor, relations});
  }
  rules::Writer writer(kNoFiles);
  writer(kept);
  return writer.take();
}

std::optional<Verdict> verdict_from_bytes(const std::string& bytes) {
  rules::Reader reader(bytes, kNoFiles);
  KeptVerdict kept;
  reader(kept);
  if (!reader.ok() || !reader.rest().empty() || kept.verdict.kind > VerdictKind::unproved) {
    return std::nullopt;
  }
  for (NamedRelations& one : kept.relations) {
    kept.verdict.relations.emplace_back(std::move(one.tensor), std::move(one.relations));
  }
  return std::move(kept.verdict);
}

}  // namespace entangle::infer
