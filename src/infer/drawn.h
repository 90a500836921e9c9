// Drawn: what the ranks draw at random, and how what the sequential program draws is made of it.
//
// An operator marked `drawn`, such as dropout, is a function of an element and of the place at which its mask
// is drawn. Which place of the sequential call a place of a rank's call is, that the walk has to find. Where
// the walk meets a sequential call, it looks how what is drawn would be related if all calls drew at one
// place and a mask depended on the element alone. If it is made of what the ranks draw at calls like it,
// without loss and each call of the ranks once, its places are taken to be those of these calls in the same
// order. (Of calls like it, first those that have the same number in their graphs, then, since it may be done
// in pieces, those of any number that are not used yet.) Places are unknown tensors otherwise, so that
// nothing is found that holds only since equal elements share a mask (copies made before or after a dropout).
//
// Programs for which this does not answer all questions are walked twice more. In the first of these walks
// all places are one from the start. If all outputs have relations then, the places of every sequential call
// are put together from those of calls of the ranks as the drawn tensors are, again without loss and once. In
// the second walk they are related in this way: its verdict counts. Replicas of one drawn tensor are taken to
// share a seed; that is listed among the assumptions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "entangle/graph/lower.h"
#include "entangle/infer/verdict.h"
#include "walk.h"

namespace entangle::infer {

struct Programs;

// A clean expression over places of the ranks, which have numbers.
struct Places {
  rules::OpId op = rules::kNoOp;  // kNoOp: a leaf
  tensor::Attr attrs;
  std::vector<Places> parts;
  std::size_t leaf = 0;  // of a leaf: its number
};

// How what is drawn is told apart while both programs are lowered.
enum class Drawing : std::uint8_t {
  on_the_way,  // every call draws at places of its own, which are related as the walk meets them
  alike,       // all calls draw at one place
  matched,     // calls draw at places of their own, which are related before the walk
};

// A call that draws, of a rank.
using Call = std::pair<std::uint32_t, graph::NodeIndex>;

// Numbers for calls: those with other numbers draw apart. Calls of different ranks have one that are
// replicas: of the same operator, the same number in the graphs, with the same operands.
class CallNumbers {
 public:
  struct Kind {
    std::string op;
    std::int64_t site;
    std::vector<TermId> operands;
    auto operator<=>(const Kind&) const = default;
  };
  std::int64_t of_rank(const Call& call, Kind kind);
  std::int64_t of_sequential(graph::NodeIndex node);
  const std::map<Call, std::int64_t>& of_ranks() const { return ranks_; }

 private:
  struct Replicas {
    std::int64_t number = 0;
    std::set<std::uint32_t> ranks;
  };

  std::int64_t last_ = 0;
  std::map<Call, std::int64_t> ranks_;
  std::map<graph::NodeIndex, std::int64_t> sequential_;
  std::map<Kind, std::vector<Replicas>> replicas_;
};

// Relates the places of sequential calls one by one, as they would be related if all calls drew at one place.
class PlacesOnTheWay {
 public:
  PlacesOnTheWay(Programs& programs, Walk& walk);

  // Whether the term may be resolved now. False: it is the places of a sequential call that are not found to
  // be those of calls of the ranks, each once.
  bool relate(TermId term);

 private:
  struct Sequential {
    graph::Draw draw;
    std::int64_t repeat;
  };
  // Of the calls of the ranks that draw at the same places: their numbers in their graphs, and among those
  // that draw for the same operands.
  struct Numbers {
    std::set<std::int64_t> sites, repeats;
  };
  // Of each draw the number of its call among those of its graph with the same operands.
  std::vector<std::int64_t> repeats_of(const std::vector<graph::Draw>& draws) const;
  // By the first expression that uses each place once.
  bool relate(TermId term, const Walk::Drawn& drawn);
  // Over numbers of `leaves`, to which it adds the places that it is made of.
  Places over_places(const relation::CleanTerm& clean, const Walk::Drawn& drawn,
                     std::vector<TermId>& leaves) const;

  Programs& programs_;
  Walk& walk_;
  std::unordered_map<TermId, Sequential> sequential_;  // by places: one of those that are drawn there
  std::unordered_map<TermId, Numbers> numbers_;        // by places of the ranks
  std::set<TermId> used_;                              // of these
};

// Which calls draw apart, for the last walk.
struct Draws {
  std::int64_t last = 0;                                // number that was given to a call
  std::map<Call, std::int64_t> ranks;                   // calls with one number draw the same
  std::map<graph::NodeIndex, std::int64_t> sequential;  // other numbers
  std::size_t of_ranks = 0, of_sequential = 0;          // how much was drawn in the walk before
  // By number in `lowered_sequential.draws`, over those in `lowered_ranks.draws`.
  std::map<std::size_t, Places> places;

  // A number for a call that has none yet.
  std::int64_t number() { return ++last; }
  std::int64_t number_of(const Call& call) {
    const auto it = ranks.find(call);
    return it != ranks.end() ? it->second : number();
  }
  std::int64_t number_of(graph::NodeIndex node) {
    const auto it = sequential.find(node);
    return it != sequential.end() ? it->second : number();
  }
};

// After a walk with all places alike that answered all questions: how the draws correspond, or the first
// sequential one that is not made of what the ranks draw. `wanted` are the sequential terms that were to be
// resolved.
std::variant<Draws, Failing> match_draws(Programs& programs, const std::vector<TermId>& wanted);

// When both programs have been lowered under `draws`: says how the places correspond.
void relate_places(Programs& programs, const Draws& draws);

// What is assumed of the masks of the ranks; empty when they draw nothing.
std::vector<std::string> drawn_assumptions(Programs& programs);

}  // namespace entangle::infer
