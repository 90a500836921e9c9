// Form: an instance of a lemma with its sizes made symbolic.
//
// Ranks, axes, list lengths, dtypes and operators stay as they were found; sizes, offsets and scalars become
// unknowns, about which only what the left side and the condition require is assumed. A proof for a form
// holds for all sizes and all values.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prove/sampler.h"
#include "prove/symbolic.h"

namespace entangle::prove {

class Form {
 public:
  // The sampler's present instance. Both outlive the form.
  Form(const rules::RuleSet& rules, const rules::Lemma& lemma, Sampler& sampler);

  // Instances with the same key have the same form.
  const std::string& key() const { return key_; }
  // Empty when the sides are equal; else what could not be shown.
  std::string prove();

 private:
  struct Restart {};
  struct World;

  void find_structure(const rules::Expr& pattern);
  void structural(const rules::Expr& expr);
  std::string text(const term::Value& value, bool fixed);
  sym::Int symbol(bool size);
  term::Value lifted(const term::Value& value, bool fixed, World& world);
  tensor::Attr lifted(const tensor::Attr& attr, const rules::Type& type);
  std::string attempt();
  void require(World& world, const term::NodeView& application);
  void assume(World& world, const Condition& condition);
  void assume(World& world, const Condition::Atom& atom);
  void assume(World& world, const rules::Expr& condition);
  void assume_equal(World& world, const term::Value& a, const term::Value& b);
  void replace(sym::Int symbol, sym::Int value);
  std::string compare(World& world, term::TermId left, term::TermId right);
  std::string compare_at(World& world, term::TermId left, term::TermId right,
                         const std::vector<sym::Int>& inner);

  const rules::RuleSet& rules_;
  const rules::Lemma& lemma_;
  Sampler& sampler_;
  std::vector<bool> structural_;
  std::string key_;
  std::size_t next_ = 0;
  std::vector<std::pair<sym::Int, bool>> symbols_;  // and whether it is a size, at least 1
  sym::Substitution solved_;
  std::vector<Condition::Atom> atoms_;
};

}  // namespace entangle::prove
