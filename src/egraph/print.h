// Terms as text, in the spelling of the rule language.
#pragma once

#include <string>
#include <vector>

#include "egraph/impl.h"

namespace entangle::egraph {

class Printer {
 public:
  // How many applications are written out before a term is cut.
  static constexpr std::size_t kBudget = 64;

  explicit Printer(const EGraph::Impl& graph) : graph_(graph) {}

  std::string application(rules::OpId op, const tensor::Attr& attrs,
                          const std::vector<std::string>& operands) const;
  // The term as it was built, cut where it gets long.
  std::string original(TermId id) const;
  std::string original(TermId id, std::size_t& budget) const;
  // A cheapest term of the class.
  std::string cheapest(TermId id);

 private:
  void find_costs();

  const EGraph::Impl& graph_;
  std::vector<std::uint32_t> cost_;  // by canonical id; of the cheapest term found
  std::vector<TermId> choice_;       // its node
};

}  // namespace entangle::egraph
