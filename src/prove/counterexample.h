// Replayer: evaluates the sides of instances of a lemma, and keeps the smallest instance on which they
// differ.
//
// Elements of leaves are drawn at random. Where the sides differ, elements are made as small as can be, one
// by one; of two such instances the one with fewer elements, then fewer terms and smaller numbers is kept.
// What is kept is evaluated once more, by itself, before it is shown. Deterministic.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "entangle/eval/interpret.h"
#include "entangle/eval/terms.h"

namespace entangle::prove {

using term::TermId;

// An instance of constant sizes. The sides are lists for a lemma about lists.
struct Instance {
  eval::Terms& terms;
  std::vector<TermId> left, right;               // no right side where it is undefined but ought not to be
  std::vector<std::pair<TermId, TermId>> given;  // equal by assumption
  std::string variables;                         // what the lemma's variables stand for
  std::string undefined = {};                    // why there is no right side
  bool inside = false;                           // whether the statement is that the left side is defined
};

struct Counterexample {
  std::string text;          // several lines
  std::int64_t largest = 0;  // of the sizes
};

class Replayer {
 public:
  enum class Answer : std::uint8_t { agree, differ, undefined };
  // What an instance is measured by, the most important first.
  using Measure = std::vector<std::uint64_t>;

  // `text`: the lemma, as it is shown. Without `minimise` the first difference is kept as it is.
  Replayer(std::string text, std::uint64_t seed, bool minimise)
      : text_(std::move(text)), minimise_(minimise), random_(seed) {}

  Answer compare(const Instance& instance);
  bool minimises() const { return minimise_; }
  // Why an instance was undefined.
  const std::string& why() const { return why_; }
  // The smallest so far.
  const std::optional<Counterexample>& found() const { return found_; }

 private:
  using Leaves = std::unordered_map<TermId, eval::Array>;

  // `draw`: which of those with few different elements.
  Leaves drawn(const Instance& instance, std::optional<std::size_t> draw);
  Answer evaluate(const Instance& instance, const Leaves& leaves);
  Answer evaluate_with(eval::Interpreter& interpreter, const Instance& instance);
  Answer confirmed(const Instance& instance, const Leaves& leaves,
                   const std::set<eval::Interpreter::Made>& made_up);
  void shrink(const Instance& instance, Leaves& leaves);
  Counterexample shown(const Instance& instance, const Leaves& leaves);

  std::string text_, why_;
  bool minimise_;
  std::mt19937_64 random_;
  std::optional<Counterexample> found_;
  Measure smallest_;
};

}  // namespace entangle::prove
