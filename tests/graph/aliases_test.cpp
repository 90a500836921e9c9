// What a change reaches is compared with a search among all nodes.
#include "graph/aliases.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

namespace entangle::graph {

namespace {

using egraph::TermId;
using Bases = std::set<TermId>;

// The definition: nodes whose bases meet those of what is changed; the bases of linked nodes that are reached
// are changed, too.
struct Model {
  std::vector<Bases> bases;
  std::map<NodeIndex, Bases> linked;

  Bases of(NodeIndex node) const {
    Bases result = bases[node];
    if (const auto more = linked.find(node); more != linked.end()) {
      result.insert(more->second.begin(), more->second.end());
    }
    return result;
  }
  std::vector<NodeIndex> change(const std::vector<NodeIndex>& operands, bool returns_views) {
    const auto by = static_cast<NodeIndex>(bases.size());
    Bases changed;
    for (const NodeIndex operand : operands) {
      changed.merge(of(operand));
    }
    std::set<NodeIndex> found;
    for (bool more = true; more;) {
      more = false;
      for (NodeIndex node = 0; node < by; ++node) {
        const Bases own = of(node);
        if (!found.contains(node) &&
            std::ranges::any_of(own, [&](TermId base) { return changed.contains(base); })) {
          found.insert(node);
          if (linked.contains(node)) {
            changed.insert(own.begin(), own.end());
            more = true;
          }
        }
      }
    }
    for (const NodeIndex node : found) {
      linked[node].merge(of(node));
    }
    if (returns_views) {
      linked[by].merge(changed);
    }
    return {found.begin(), found.end()};
  }
};

}  // namespace

TEST_CASE("what a change reaches") {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return static_cast<NodeIndex>(random() % n); };
  std::size_t reached = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    Model model;
    Aliases aliases;
    const NodeIndex count = 40;
    // Nodes from a number of their own on are not named any more: of those nothing is asked.
    std::vector<NodeIndex> last_use;
    for (NodeIndex node = 0; node < count; ++node) {
      last_use.push_back(node + below(20));
    }
    TermId fresh = 1000;
    for (NodeIndex node = 0; node < count; ++node) {
      const auto alive = [&](NodeIndex other) { return other < node && last_use[other] >= node; };
      std::vector<NodeIndex> operands;
      for (NodeIndex k = below(3); k > 0 && node > 0; --k) {
        if (const NodeIndex operand = below(node); alive(operand)) {
          operands.push_back(operand);
        }
      }
      const bool changes = !operands.empty() && below(3) == 0;
      if (changes) {
        const bool returns_views = below(2) == 0;
        std::vector<NodeIndex> expected = model.change(operands, returns_views);
        const auto needed = [&](NodeIndex other) { return last_use[other] > node; };
        std::vector<NodeIndex> found = aliases.change(operands, node, returns_views, needed);
        std::erase_if(expected, [&](NodeIndex other) { return !alive(other); });
        std::erase_if(found, [&](NodeIndex other) { return !alive(other); });
        CHECK(found == expected);
        reached += found.size();
        for (const NodeIndex other : found) {  // has a new value from here on
          if (below(2) == 0) {
            model.bases[other].insert(fresh);
            aliases.hold(other, {fresh});
            ++fresh;
          }
        }
      }
      // A value of its own, or a view of some operands.
      Bases own;
      if (operands.empty() || below(2) == 0) {
        own.insert(fresh++);
      } else {
        for (const NodeIndex operand : operands) {
          own.merge(model.of(operand));
        }
      }
      model.bases.push_back(own);
      aliases.hold(node, own);
      if (!changes && !operands.empty() && aliases.linked(operands[0]) && below(2) == 0) {
        model.linked[node] = model.of(operands[0]);
        aliases.link(node, operands[0]);
      }
    }
  }
  CHECK(reached > 1000);
}

TEST_CASE("bases that turn out to be the same") {
  const auto always = [](NodeIndex) { return true; };
  Aliases aliases;
  aliases.hold(0, {10});
  aliases.hold(1, {11});
  aliases.same(10, 11);
  CHECK(aliases.change({0}, 2, true, always) == std::vector<NodeIndex>{0, 1});
  aliases.hold(2, {12});
  aliases.hold(3, {14});
  aliases.same(13, 14);  // 13 is met later
  aliases.hold(4, {13});
  aliases.hold(5, {12});
  CHECK(aliases.change({4}, 6, true, always) == std::vector<NodeIndex>{3, 4});
  aliases.hold(6, {15});
  CHECK(aliases.change({5}, 7, false, always) == std::vector<NodeIndex>{0, 1, 2, 5});
}

}  // namespace entangle::graph
