// Random well-typed terms of small shapes, with everything that lemmas look for: blocks, unit axes, nested
// layouts, masks, look-ups, shared factors.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "entangle/egraph/egraph.h"

namespace entangle::library {

class RandomTerms {
 public:
  RandomTerms(egraph::EGraph& graph, std::uint64_t seed) : graph_(graph), random_(seed) {}

  // Builds leaves and `count` applications on them; some become named.
  void grow(std::size_t count);

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool coin(std::size_t of = 2) { return below(of) == 0; }
  term::TermId any();
  // A term of that type, built before if there is one.
  term::TermId like(const tensor::TensorType& type);
  term::TermId leaf(tensor::TensorType type);
  term::TermId make(const char* op, std::vector<tensor::Attr> attrs, std::vector<term::TermId> children);
  term::TermId full(int value, const tensor::TensorType& type);
  term::TermId step();
  term::TermId layout(term::TermId x);
  term::TermId arithmetic(term::TermId x);
  term::TermId reduction(term::TermId x);
  term::TermId product(term::TermId x);
  term::TermId lookup(term::TermId x);
  term::TermId mask(const tensor::TensorType& type);

  egraph::EGraph& graph_;
  std::mt19937_64 random_;
  std::vector<term::TermId> pool_;
};

}  // namespace entangle::library
