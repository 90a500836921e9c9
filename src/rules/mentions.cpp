#include "rules/mentions.h"

namespace entangle::rules {
namespace {

using syntax::Item;
using syntax::Node;
using syntax::NodeKind;

class Mentions {
 public:
  explicit Mentions(syntax::DefText& definition) : definition_(definition) {
    for (const auto* parameters : {&definition.parameters.before, &definition.parameters.after}) {
      for (const syntax::ParameterText& parameter : *parameters) names_.push_back(parameter.name.text);
    }
    definition.uses.assign(names_.size(), 0);
  }

  // `weight`: more where the expression is computed for each entry of a list.
  void find(const Node& node, std::size_t weight) {
    if (node.kind == NodeKind::name) {
      for (std::size_t k = 0; k < names_.size(); ++k) {
        if (names_[k] == node.text) definition_.uses[k] += weight;
      }
    } else if (node.kind == NodeKind::call) {
      definition_.calls.push_back(node.children[0].text);
    }
    const bool repeats = node.kind == NodeKind::comprehension || node.kind == NodeKind::forall ||
                         node.kind == NodeKind::exists;
    for (const Node& child : node.children) find(child, repeats ? 2 * weight : weight);
    for (const Node& child : node.parts->others) find(child, 2 * weight);
    for (const std::vector<Item>* items : {&node.parts->items, &node.parts->attributes}) {
      for (const Item& item : *items) {
        const bool each = item.kind == Item::Kind::comprehension || item.kind == Item::Kind::colon;
        for (const Node& part : item.parts) find(part, each ? 2 * weight : weight);
      }
    }
  }

 private:
  syntax::DefText& definition_;
  std::vector<std::string_view> names_;  // of its parameters
};

}  // namespace

void find_mentions(syntax::DefText& definition) {
  Mentions(definition).find(definition.body, 1);
}

}  // namespace entangle::rules
