// Drawn: what the ranks draw at random, and how what the sequential program draws is made of it.
//
// An operator marked `drawn`, such as dropout, is a function of an element and of the place at which its mask
// is drawn. Which place of the sequential call a place of a rank's call is, that the walk has to find, by
// where the rank's operand stands in the sequential operand. So programs that draw are walked twice. In the
// first walk all places are one, and a mask depends on the element alone. If all outputs have relations then,
// the places of every sequential call are put together from those of calls of the ranks as the drawn tensors
// are: without loss, and each call of the ranks once. In the second walk these are unknown tensors, so that
// what was right only since equal elements share a mask (copies made before or after a dropout) is not found
// again: its verdict counts. Replicas of one drawn tensor are taken to share a seed; that is listed among the
// assumptions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "entangle/graph/lower.h"
#include "entangle/infer/verdict.h"
#include "joint.h"

namespace entangle::infer {

struct Programs;

// A clean expression over the places of what the ranks draw.
struct Places {
  rules::OpId op = rules::kNoOp;  // kNoOp: a leaf
  tensor::Attr attrs;
  std::vector<Places> parts;
  std::size_t draw = 0;  // of a leaf: its number in `lowered_ranks.draws`
};

// Which calls draw apart, for the second walk.
struct Draws {
  using Call = std::pair<std::uint32_t, graph::NodeIndex>;
  std::int64_t last = 0;                                // number that was given to a call
  std::map<Call, std::int64_t> ranks;                   // calls with one number draw the same
  std::map<graph::NodeIndex, std::int64_t> sequential;  // other numbers
  std::size_t of_ranks = 0, of_sequential = 0;          // how much was drawn in the first walk
  std::map<std::size_t, Places> places;                 // by number in `lowered_sequential.draws`

  // A number for a call that has none yet.
  std::int64_t number() { return ++last; }
};

// After a first walk that answered all questions: how the draws correspond, or the first sequential one that
// is not made of what the ranks draw. `wanted` are the sequential terms that were to be resolved.
std::variant<Draws, Failing> match_draws(Programs& programs, const std::vector<TermId>& wanted);

// When both programs have been lowered under `draws`: says how the places correspond.
void relate_places(Programs& programs, const Draws& draws);

// What is assumed of the masks of the ranks; empty when they draw nothing.
std::vector<std::string> drawn_assumptions(Programs& programs);

}  // namespace entangle::infer
