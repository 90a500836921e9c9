// Whether lemmas hold.
//
// Every form of a lemma (ranks, axes, list lengths, operators, up to the limits) is proved for all sizes and
// values, if that can be done; whatever comes of it, the lemma is tried on many concrete instances, on which
// both sides are evaluated exactly: a difference refutes it. Deterministic: everything depends on the rules
// and the options only.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "entangle/prove/claims.h"
#include "entangle/rules/ruleset.h"

namespace entangle::prove {

// From the weakest up, and axioms.
enum class Outcome : std::uint8_t {
  refuted,  // a counterexample was found
  unknown,  // neither proved nor tried: no instance was found, or none could be evaluated
  tested,   // the sides agreed on every instance that was tried
  bounded,  // every form is proved, some for small sizes only
  proved,   // every form is proved for all sizes and values
  axiom,    // taken on trust; agreed where it could be evaluated
};

std::string to_string(Outcome outcome);

// A generic lemma for one operator.
struct Instantiation {
  std::string op;
  Outcome outcome = Outcome::unknown;
  std::size_t forms = 0;
};

struct Result {
  std::string name;
  support::Span span;
  Outcome outcome = Outcome::unknown;
  std::size_t instances = 0;  // on which both sides were evaluated
  std::size_t undefined = 0;  // where the right side is not defined: there the lemma does not apply
  std::size_t skipped = 0;    // where an element is no rational number
  std::size_t forms = 0;      // cases of forms that were looked at
  std::size_t proved = 0;     // of them, for all sizes
  std::size_t bounded = 0;    // of the others, for small sizes
  std::size_t vacuous = 0;    // of those proved: the right side is undefined
  std::size_t longest = 0;    // list of the forms
  std::size_t runs = 0;       // constructions of a form: a measure of work
  std::map<std::size_t, std::size_t> ranks;  // of the left side: how many instances
  std::set<std::size_t> proved_ranks;        // of the left side, in the forms
  std::vector<Instantiation> operators;      // generic lemmas: those it applies to
  bool gave_up = false;                      // for the time it took: another run may find more
  std::string reason;
  std::string counterexample;  // several lines; empty unless refuted
  std::int64_t largest = 0;    // size of a tensor in it
  double seconds = 0;
};

struct Options {
  std::size_t instances = 60;  // per lemma and operator; 0: a proof does not need any
  bool prove = true;           // whether proofs are tried
  std::size_t rank = 4;        // of every tensor on the left side of a form
  std::size_t length = 3;      // of every list of a form
  bool minimise = true;        // whether smaller counterexamples are looked for
  // A proof is given up, per operator, after so many constructions of forms and questions to the solver.
  std::size_t runs = 120'000;
  std::uint64_t questions = 200'000;
  std::uint64_t seed = 1;
  // Of time that passes, for each lemma and claim: what is left open then depends on it.
  std::optional<std::chrono::milliseconds> time_limit = std::nullopt;
};

// Hashes of everything a result depends on: the lemma, the operators it speaks of (a generic lemma: all), the
// laws, the options and the solver. The same in every run and on every machine.
class Fingerprints {
 public:
  explicit Fingerprints(const rules::RuleSet& rules, const Options& options = {});

  std::string of(const rules::Lemma& lemma) const;
  // Of a claim about an operator of these rules.
  std::string of(const Claim& claim) const;

 private:
  Options options_;
  std::string start(const rules::Lemma& lemma) const;

  std::vector<std::string> operators_;  // their texts
  std::string all_, laws_;
};

// What is shown of the operators' `value` clauses, on which every proof rests: looked at when it is first
// asked for. The claims outlive it. Safe for concurrent use.
class Values {
 public:
  explicit Values(const Claims& claims, const Options& options = {});
  ~Values();

  // Of a claim about a `value`.
  const Result& result(const Claim& claim);
  // None where nothing is to be shown.
  const Result* result(rules::OpId op);

 private:
  struct Entry;
  const Claims& claims_;
  const Options options_;
  std::map<rules::OpId, std::unique_ptr<Entry>> entries_;
};

// `values`: of the same rules and options. What rests on values is proved only where they are, and only if
// some instance of it could be evaluated.
Result examine(const rules::RuleSet& rules, const rules::Lemma& lemma, Values& values,
               const Options& options = {});
Result examine(const Claims& claims, const Claim& claim, Values& values, const Options& options = {});
Result examine(const rules::RuleSet& rules, const rules::Lemma& lemma, const Options& options = {});
Result examine(const Claims& claims, const Claim& claim, const Options& options = {});

}  // namespace entangle::prove
