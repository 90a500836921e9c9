#include "relation/elements.h"

#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "relation/failure.h"

namespace entangle::relation {

namespace {

using tensor::Attr;

struct Range {
  sym::Int low, high;  // high is not included
};
using Box = std::vector<Range>;

struct Use {
  const Clean* leaf;
  std::size_t alternative;
  Box box;
};

Box whole(const tensor::Shape& shape) {
  Box box;
  for (const sym::Int size : shape) box.push_back({0, size});
  return box;
}

class Elements {
 public:
  Elements(term::Typing& typing, smt::Oracle& oracle) : typing_(typing), oracle_(oracle) {}

  // Adds the elements of leaves that the box of the expression is made of.
  void add(const Typed& typed, std::size_t alternative, const Box& box) {
    for (const Range& range : box) {
      if (is_yes(oracle_.less_equal(range.high, range.low))) return;
    }
    if (typed.clean->is_leaf()) {
      uses_[typed.clean->leaf].push_back({typed.clean, alternative, box});
      return;
    }
    const std::string& name = typing_.rules().op(typed.clean->op).name;
    if (name == "concat" && add_concat(typed, alternative, box)) return;
    if (name == "slice" && add_slice(typed, alternative, box)) return;
    add_mapped(typed, alternative, box);
  }

  const std::map<Leaf, std::vector<Use>>& uses() const { return uses_; }

  bool disjoint(const Box& a, const Box& b) {
    for (std::size_t axis = 0; axis < a.size(); ++axis) {
      if (is_yes(oracle_.less_equal(a[axis].high, b[axis].low)) ||
          is_yes(oracle_.less_equal(b[axis].high, a[axis].low))) {
        return true;
      }
    }
    return false;
  }

 private:
  static std::optional<sym::Int> integer(const Typed& typed, std::size_t index) {
    const auto attrs = typed.clean->attrs.as_list();
    if (index >= attrs.size() || attrs[index].kind() != Attr::Kind::integer) return std::nullopt;
    return attrs[index].as_int();
  }

  static std::optional<std::size_t> axis(const Typed& typed, const Box& box) {
    const std::optional<sym::Int> dim = integer(typed, 0);
    if (!dim || !dim->is_constant() || dim->value() < 0 ||
        dim->value() >= static_cast<std::int64_t>(box.size())) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(dim->value());
  }

  bool add_concat(const Typed& typed, std::size_t alternative, const Box& box) {
    const std::optional<std::size_t> dim = axis(typed, box);
    if (!dim) return false;
    sym::Int offset = 0;
    for (const Typed& child : typed.children) {
      const sym::Int size = child.type.shape[*dim];
      Box part = box;
      // Where a bound is known to lie outside the block it is the block's.
      if (is_yes(oracle_.less_equal(box[*dim].low, offset))) {
        part[*dim].low = 0;
      } else {
        part[*dim].low = sym::max(box[*dim].low - offset, 0);
      }
      if (is_yes(oracle_.less_equal(offset + size, box[*dim].high))) {
        part[*dim].high = size;
      } else {
        part[*dim].high = sym::min(box[*dim].high - offset, size);
      }
      add(child, alternative, part);
      offset += size;
    }
    return true;
  }

  bool add_slice(const Typed& typed, std::size_t alternative, const Box& box) {
    const std::optional<std::size_t> dim = axis(typed, box);
    const std::optional<sym::Int> begin = integer(typed, 1);
    if (!dim || !begin || typed.children.size() != 1) return false;
    Box part = box;
    part[*dim].low += *begin;
    part[*dim].high += *begin;
    add(typed.children[0], alternative, part);
    return true;
  }

  // Along axes that the operator maps, the box is that of the operand; along all others it is everything.
  void add_mapped(const Typed& typed, std::size_t alternative, const Box& box) {
    std::vector<const tensor::TensorType*> types;
    for (const Typed& child : typed.children) types.push_back(&child.type);
    const term::AxisInfo& info = typing_.axes(typed.clean->op, typed.clean->attrs, types);
    for (std::size_t i = 0; i < typed.children.size(); ++i) {
      Box part = whole(types[i]->shape);
      for (const term::Correspondence& maps : info.maps) {
        if (maps.result < 0 || i >= maps.operands.size() || maps.operands[i] < 0) continue;
        part[static_cast<std::size_t>(maps.operands[i])] = box[static_cast<std::size_t>(maps.result)];
      }
      add(typed.children[i], alternative, part);
    }
  }

  term::Typing& typing_;
  smt::Oracle& oracle_;
  std::map<Leaf, std::vector<Use>> uses_;
};

// Sets of sequential tensors that are assumed to be equal.
class Ties {
 public:
  Ties(std::size_t nodes, const std::vector<TensorEquality>& equal) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (const TensorEquality& tie : equal) {
      if (!tie.left.rank && !tie.right.rank) parent_[find(tie.left.node)] = find(tie.right.node);
    }
  }
  bool tied(graph::NodeIndex a, graph::NodeIndex b) { return find(a) == find(b); }

 private:
  std::size_t find(std::size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  std::vector<std::size_t> parent_;
};

std::string describe(const Box& box) {
  std::string result = "[";
  for (std::size_t axis = 0; axis < box.size(); ++axis) {
    if (axis > 0) result += ", ";
    result += to_string(box[axis].low) + ":" + to_string(box[axis].high);
  }
  return result + "]";
}

}  // namespace

void check_elements(const std::vector<TypedAlternative>& alternatives,
                    const std::vector<TensorEquality>& equal, const Sides& sides, term::Typing& typing) {
  Elements elements(typing, typing.oracle());
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    elements.add(alternatives[i].typed, i, whole(alternatives[i].typed.type.shape));
  }
  Ties ties(sides.sequential.nodes.size(), equal);
  for (const auto& [leaf, uses] : elements.uses()) {
    for (std::size_t j = 1; j < uses.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const TypedAlternative& first = alternatives[uses[i].alternative];
        const TypedAlternative& second = alternatives[uses[j].alternative];
        const bool same = uses[i].alternative == uses[j].alternative;
        if (!same && ties.tied(first.related->tensor, second.related->tensor)) continue;
        if (elements.disjoint(uses[i].box, uses[j].box)) continue;
        const std::string a = sides.sequential.nodes[first.related->tensor].name;
        const std::string b = sides.sequential.nodes[second.related->tensor].name;
        const std::string parts = describe(uses[i].box) + " and " + describe(uses[j].box);
        support::Diagnostic diagnostic =
            same ? error(
                       Problem::used_twice, second.form->span,
                       "the relation of `" + a + "` uses elements of " + to_string(leaf) + " twice: " + parts,
                       "each distributed element stands for at most one element of the sequential program")
                 : error(
                       Problem::claimed_twice, second.form->span,
                       "`" + a + "` and `" + b + "` both claim elements of " + to_string(leaf) + ": " + parts,
                       "if the two are equal, say so: assume: [\"" + a + " == " + b + "\"]");
        diagnostic.notes.push_back({same ? uses[i].leaf->span : first.form->span, "used here first"});
        throw Failure{std::move(diagnostic)};
      }
    }
  }
}

}  // namespace entangle::relation
