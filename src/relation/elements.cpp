#include "relation/elements.h"

#include <algorithm>
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

// How elements of an expression are placed in what is around it: moved along its axes, and then, but for the
// outermost part, as an operand of this operator.
struct Step {
  rules::OpId op = rules::kNoOp;
  Attr attrs;
  std::size_t operand = 0;
  tensor::TensorType type;  // of the operand
  std::vector<sym::Int> moved;
};
using Placing = std::vector<Step>;  // from the outside in

struct Use {
  const Clean* leaf;
  std::size_t alternative;
  Box box;
  Placing placing;
};

Step unmoved(rules::OpId op, const Attr& attrs, std::size_t operand, const tensor::TensorType& type) {
  return {op, attrs, operand, type, std::vector<sym::Int>(type.shape.size(), 0)};
}

Box whole(const tensor::Shape& shape) {
  Box box;
  for (const sym::Int size : shape) box.push_back({0, size});
  return box;
}

class Elements {
 public:
  Elements(term::Typing& typing, smt::Oracle& oracle) : typing_(typing), oracle_(oracle) {}

  // Adds the elements of leaves that an alternative is made of.
  void add(const Typed& typed, std::size_t alternative) {
    add(typed, alternative, whole(typed.type.shape), {unmoved(rules::kNoOp, {}, 0, typed.type)});
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

  // Whether elements of a leaf that both use stand at the same place in both.
  bool same_place(const Placing& a, const Placing& b) {
    return std::ranges::equal(a, b, [&](const Step& s, const Step& t) {
      return s.op == t.op && s.attrs == t.attrs && s.operand == t.operand && s.type == t.type &&
             std::ranges::equal(s.moved, t.moved,
                                [&](sym::Int m, sym::Int n) { return is_yes(oracle_.equal(m, n)); });
    });
  }

 private:
  // Those that the box of the expression is made of.
  void add(const Typed& typed, std::size_t alternative, const Box& box, const Placing& placing) {
    for (const Range& range : box) {
      if (is_yes(oracle_.less_equal(range.high, range.low))) return;
    }
    if (typed.clean->is_leaf()) {
      uses_[typed.clean->leaf].push_back({typed.clean, alternative, box, placing});
      return;
    }
    const std::string& name = typing_.rules().op(typed.clean->op).name;
    if (name == "concat" && add_concat(typed, alternative, box, placing)) return;
    if (name == "slice" && add_slice(typed, alternative, box, placing)) return;
    add_mapped(typed, alternative, box, placing);
  }

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

  bool add_concat(const Typed& typed, std::size_t alternative, const Box& box, Placing placing) {
    const std::optional<std::size_t> dim = axis(typed, box);
    if (!dim) return false;
    const sym::Int before = placing.back().moved[*dim];
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
      placing.back().moved[*dim] = before + offset;
      add(child, alternative, part, placing);
      offset += size;
    }
    return true;
  }

  bool add_slice(const Typed& typed, std::size_t alternative, const Box& box, Placing placing) {
    const std::optional<std::size_t> dim = axis(typed, box);
    const std::optional<sym::Int> begin = integer(typed, 1);
    if (!dim || !begin || typed.children.size() != 1) return false;
    Box part = box;
    part[*dim].low += *begin;
    part[*dim].high += *begin;
    placing.back().moved[*dim] -= *begin;
    add(typed.children[0], alternative, part, placing);
    return true;
  }

  // Along axes that the operator maps, the box is that of the operand; along all others it is everything.
  void add_mapped(const Typed& typed, std::size_t alternative, const Box& box, Placing placing) {
    std::vector<const tensor::TensorType*> types;
    for (const Typed& child : typed.children) types.push_back(&child.type);
    const term::AxisInfo& info = typing_.axes(typed.clean->op, typed.clean->attrs, types);
    placing.emplace_back();
    for (std::size_t i = 0; i < typed.children.size(); ++i) {
      Box part = whole(types[i]->shape);
      for (const term::Correspondence& maps : info.maps) {
        if (maps.result < 0 || i >= maps.operands.size() || maps.operands[i] < 0) continue;
        part[static_cast<std::size_t>(maps.operands[i])] = box[static_cast<std::size_t>(maps.result)];
      }
      placing.back() = unmoved(typed.clean->op, typed.clean->attrs, i, typed.children[i].type);
      add(typed.children[i], alternative, part, placing);
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
    elements.add(alternatives[i].typed, i);
  }
  Ties ties(sides.sequential.nodes.size(), equal);
  for (const auto& [leaf, uses] : elements.uses()) {
    for (std::size_t j = 1; j < uses.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const TypedAlternative& first = alternatives[uses[i].alternative];
        const TypedAlternative& second = alternatives[uses[j].alternative];
        const bool same = uses[i].alternative == uses[j].alternative;
        const bool tied = !same && ties.tied(first.related->tensor, second.related->tensor);
        if (tied && elements.same_place(uses[i].placing, uses[j].placing)) continue;
        if (elements.disjoint(uses[i].box, uses[j].box)) continue;
        const std::string a = sides.sequential.nodes[first.related->tensor].name;
        const std::string b = sides.sequential.nodes[second.related->tensor].name;
        const std::string parts = describe(uses[i].box) + " and " + describe(uses[j].box);
        support::Diagnostic diagnostic =
            same ? error(
                       Problem::used_twice, second.form->span,
                       "the relation of `" + a + "` uses elements of " + to_string(leaf) + " twice: " + parts,
                       "each distributed element stands for at most one element of the sequential program")
            : tied ? error(Problem::claimed_twice, second.form->span,
                           "two relations of `" + b + "` place elements of " + to_string(leaf) +
                               " differently: " + parts,
                           "each distributed element stands for at most one element of the sequential "
                           "program, in all relations of a tensor and of its equals")
                   : error(Problem::claimed_twice, second.form->span,
                           "`" + a + "` and `" + b + "` both claim elements of " + to_string(leaf) + ": " +
                               parts,
                           "if the two are equal, say so: assume: [\"" + a + " == " + b + "\"]");
        diagnostic.notes.push_back({same ? uses[i].leaf->span : first.form->span, "used here first"});
        throw Failure{std::move(diagnostic)};
      }
    }
  }
}

}  // namespace entangle::relation
