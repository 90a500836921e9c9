#include "memo_bytes.h"

#include "entangle/rules/bytes.h"

namespace entangle::infer {

namespace {

// Clean expressions are shallow; deeper ones are not kept.
constexpr int kDeepest = 64;

const std::vector<support::FileId> kNoFiles;

// A clean expression with its children behind it.
bool put(rules::Writer& writer, const relation::CleanTerm& clean, int depth) {
  if (depth > kDeepest) {
    return false;
  }
  writer(static_cast<std::uint32_t>(clean.op + 1));
  if (clean.is_leaf()) {
    writer(clean.id);
    return true;
  }
  writer(clean.attrs, clean.children.size());
  for (const relation::CleanTermPtr& child : clean.children) {
    if (!put(writer, *child, depth + 1)) {
      return false;
    }
  }
  return true;
}

relation::CleanTermPtr get_clean(rules::Reader& reader, int depth) {
  auto result = std::make_shared<relation::CleanTerm>();
  std::uint32_t op = 0;
  reader(op);
  result->op = op - 1;
  if (!reader.ok() || depth > kDeepest) {
    return nullptr;
  }
  if (result->is_leaf()) {
    reader(result->id);
    return reader.ok() ? result : nullptr;
  }
  std::size_t children = 0;
  reader(result->attrs, children);
  for (std::size_t k = 0; k < children; ++k) {
    result->children.push_back(get_clean(reader, depth + 1));
    if (result->children.back() == nullptr) {
      return nullptr;
    }
  }
  return reader.ok() ? result : nullptr;
}

}  // namespace

template <class A>
static void fields(A& a, KeptSolutions::Entry& x) {
  a(x.key, x.solution);
}
template <class A>
static void fields(A& a, KeptSolutions& x) {
  a(x.texts, x.entries);
}

std::string to_bytes(const KeptSolutions& kept) {
  rules::Writer writer(kNoFiles);
  writer(kept);
  return writer.take();
}

std::optional<KeptSolutions> solutions_from_bytes(const std::string& bytes) {
  rules::Reader reader(bytes, kNoFiles);
  KeptSolutions kept;
  reader(kept);
  return reader.ok() && reader.rest().empty() ? std::optional(std::move(kept)) : std::nullopt;
}

std::optional<std::string> to_bytes(const Solution& solution) {
  rules::Writer writer(kNoFiles);
  writer(solution.equalities.size());
  for (const auto& [a, b] : solution.equalities) {
    writer(a, b);
  }
  writer(solution.relations.size());
  for (const std::vector<relation::CleanTermPtr>& alternatives : solution.relations) {
    writer(alternatives.size());
    for (const relation::CleanTermPtr& clean : alternatives) {
      if (!put(writer, *clean, 0)) {
        return std::nullopt;
      }
    }
  }
  const egraph::Outcome& outcome = solution.outcome;
  const egraph::Counters& counters = outcome.counters;
  writer(outcome.stop, outcome.rounds, counters.ill_typed, counters.refused, solution.nodes);
  writer(counters.lemmas.size());
  for (const auto& [lemma, counts] : counters.lemmas) {
    writer(lemma, counts.matched, counts.applied, counts.normalised);
  }
  return writer.ok() ? std::optional(writer.take()) : std::nullopt;
}

std::optional<Solution> solution_from_bytes(const std::string& bytes) {
  rules::Reader reader(bytes, kNoFiles);
  Solution solution;
  std::size_t count = 0;
  reader(count);
  for (std::size_t k = 0; k < count && reader.ok(); ++k) {
    auto& [a, b] = solution.equalities.emplace_back();
    reader(a, b);
  }
  reader(count);
  for (std::size_t k = 0; k < count && reader.ok(); ++k) {
    auto& alternatives = solution.relations.emplace_back();
    std::size_t many = 0;
    reader(many);
    for (std::size_t j = 0; j < many && reader.ok(); ++j) {
      alternatives.push_back(get_clean(reader, 0));
      if (alternatives.back() == nullptr) {
        return std::nullopt;
      }
    }
  }
  egraph::Outcome& outcome = solution.outcome;
  egraph::Counters& counters = outcome.counters;
  reader(outcome.stop, outcome.rounds, counters.ill_typed, counters.refused, solution.nodes, count);
  for (std::size_t k = 0; k < count && reader.ok(); ++k) {
    auto& [lemma, counts] = counters.lemmas.emplace_back();
    reader(lemma, counts.matched, counts.applied, counts.normalised);
  }
  return reader.ok() && reader.rest().empty() && !solution.relations.empty()
             ? std::optional(std::move(solution))
             : std::nullopt;
}

}  // namespace entangle::infer
