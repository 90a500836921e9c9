// Whether lemmas hold.
//
// Every lemma is tried on many concrete instances (sizes 1 to 3, every operator a generic lemma can stand
// for), on which both sides are evaluated exactly: a difference refutes the lemma. Each new form of an
// instance (operators, ranks, axes, list lengths, element types) is then proved for all sizes and values, if
// the solver can. Deterministic: the instances depend on the lemma and the options only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "entangle/rules/ruleset.h"

namespace entangle::prove {

// From the weakest up, and axioms.
enum class Outcome : std::uint8_t {
  refuted,  // a counterexample was found
  unknown,  // no instance was found, or none could be evaluated
  tested,   // the sides agreed on every instance that was tried
  bounded,  // besides, each form that was met is proved for all sizes and values
  proved,   // all forms, too; not claimed yet
  axiom,    // taken on trust; agreed where it could be evaluated
};

std::string to_string(Outcome outcome);

struct Result {
  std::string name;
  support::Span span;
  Outcome outcome = Outcome::unknown;
  std::size_t instances = 0;  // on which both sides were evaluated
  std::size_t undefined = 0;  // where the right side is not defined: there the lemma does not apply
  std::size_t skipped = 0;    // where an element is no rational number
  std::size_t forms = 0;      // of the instances, see below
  std::size_t proved = 0;     // of the forms
  std::map<std::size_t, std::size_t> ranks;  // of the left side: how many instances
  std::vector<std::string> operators;        // generic lemmas: those it was tried with
  std::string reason;
  std::string counterexample;  // several lines; empty unless refuted
  double seconds = 0;
};

struct Options {
  std::size_t instances = 200;  // per lemma and operator
  bool prove = true;            // whether proofs are tried
  std::uint64_t seed = 1;
};

Result examine(const rules::RuleSet& rules, const rules::Lemma& lemma, const Options& options = {});

}  // namespace entangle::prove
