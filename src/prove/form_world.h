// Everything of a form that depends on what is assumed of the sizes: built anew for every case.
#pragma once

#include <cstdint>

#include "prove/form.h"
#include "prove/no_patterns.h"

namespace entangle::prove {

// Of questions to the solver with a higher limit than those about sizes.
inline constexpr std::uint64_t kWeight = 10;
inline constexpr std::uint32_t kModelSteps = 200'000;

struct Forms::World {
  World(const rules::RuleSet& rules, const Subject& subject, const Vocabulary& vocabulary, rules::OpId op,
        const Limits& limits, Scenario& given, Chooser& chooser, std::uint64_t& asked)
      : scenario(given),
        questions(asked),
        oracle(given.facts(), {true, 20'000, 16}),
        typing(rules, oracle),
        terms(typing),
        evaluator(terms, typing, &patterns),
        builder(subject, vocabulary, op, limits, given, chooser, typing, terms, evaluator) {
    terms.tile_with([this](TermId id, std::size_t axis) { return builder.tiling(id, axis); });
  }
  ~World() { questions += oracle.statistics().solver; }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Scenario& scenario;
  std::uint64_t& questions;  // that reached the solver
  smt::Oracle oracle;
  term::Typing typing;
  eval::Terms terms;
  NoPatterns patterns;
  term::Evaluator evaluator;
  Builder builder;
  std::size_t cases = 0;
};

}  // namespace entangle::prove
