#include "fixture.h"

#include <algorithm>

namespace entangle::term::test {

using rules::Expr;
using rules::ExprKind;

const char* const kOperators = R"(
op concat(xs: tensor+; dim: axis(xs)): clean, rearranges, free {
  require forall x in xs: rank(x) == rank(xs[0]) and x.dtype == xs[0].dtype;
  require forall x in xs, k in axes(x): k == dim or x.shape[k] == xs[0].shape[k];
  shape   xs[0].shape with [dim] = sum(x.shape[dim] for x in xs);
  value   i => block(xs, dim, i);
  maps    other(k < rank(xs[0]) if k != dim): k <- xs.k;
}
op slice(x: tensor; dim: axis(x), begin: int, end: int): clean, rearranges, free {
  require 0 <= begin < end <= x.shape[dim];
  shape   x.shape with [dim] = end - begin;
  value   i => x[i with [dim] = i[dim] + begin];
  maps    other(k < rank(x) if k != dim): k <- x.k;
  linear  x;
}
op transpose(x: tensor; perm: perm(x)): clean, rearranges, free {
  shape   [x.shape[p] for p in perm];
  value   i => x[permute(i, inverse(perm))];
  maps    all(k < rank(x)): k <- x.(perm[k]);
  linear  x;
}
op merge(x: tensor; dim: axis(x)): clean, rearranges, free {
  require dim + 1 < rank(x);
  let n = x.shape[dim + 1];
  shape   x.shape[:dim] ++ [x.shape[dim] * n] ++ x.shape[dim + 2:];
  value   i => x[i[:dim] ++ [i[dim] floordiv n, i[dim] mod n] ++ i[dim + 1:]];
  maps    before(k < dim): k <- x.k;
  maps    after(k < rank(x) - dim - 2): dim + 1 + k <- x.(dim + 2 + k);
  linear  x;
}
op split(x: tensor; dim: axis(x), inner: int): clean, rearranges, free {
  require 1 <= inner and divides(inner, x.shape[dim]);
  shape   x.shape[:dim] ++ [x.shape[dim] / inner, inner] ++ x.shape[dim + 1:];
  value   i => x[i[:dim] ++ [i[dim] * inner + i[dim + 1]] ++ i[dim + 2:]];
  maps    before(k < dim): k <- x.k;
  maps    after(k < rank(x) - dim - 1): dim + 2 + k <- x.(dim + 1 + k);
  linear  x;
}
op bcast(x: tensor; axes: axis(result)*, sizes: int*): rearranges, free {
  require len(axes) == len(sizes);
  require forall a, b in pairs(axes): a < b;
  shape   insert_at(x.shape, axes, sizes);
  value   i => x[i without axes];
  maps    old(k < rank(x)): complement(axes, rank(x) + len(axes))[k] <- x.k;
  linear  x;
}
op squeeze(x: tensor; dim: axis(x)): clean, rearranges, free {
  require x.shape[dim] == 1;
  shape   x.shape without dim;
  value   i => x[i[:dim] ++ [0] ++ i[dim:]];
  maps    before(k < dim): k <- x.k;
  maps    after(k < rank(x) - dim - 1): dim + k <- x.(dim + 1 + k);
  linear  x;
}
op const(; value: scalar, to: dtype): free { shape []; dtype to; value i => value; }
op iota(; start: int, n: int, to: dtype): free { shape [n]; dtype to; value i => start + i[0]; }
op lit(; values: scalar+, to: dtype): free { shape [len(values)]; dtype to; value i => values[i[0]]; }
op add_n(xs: tensor+): elementwise, commutative, clean, free { value i => sum(x[i] for x in xs); }
op max_n(xs: tensor+): elementwise, commutative { value i => max(x[i] for x in xs); }
op mul(xs: tensor+): elementwise, commutative { value i => product(x[i] for x in xs); linear xs; }
op scale(x: tensor; c: scalar): elementwise { value i => c * x[i]; linear x; }
op pow(x: tensor; c: scalar): elementwise;
op exp(x: tensor): elementwise;
op log(x: tensor): elementwise;
op cast(x: tensor; to: dtype): elementwise {
  dtype to;
  linear x when is_wide_float(x.dtype) and is_wide_float(to);
  because "casts between wide floats are taken as exact";
}
op ge(x: tensor, y: tensor): elementwise {
  require x.dtype == y.dtype;
  dtype b8;
  value i => if x[i] >= y[i] then 1 else 0;
}
op where(m: tensor, x: tensor, y: tensor): elementwise {
  require m.dtype == b8 and x.dtype == y.dtype;
  dtype x.dtype;
  value i => if m[i] == 1 then x[i] else y[i];
}
op dropout(x: tensor; p: scalar, site: int): elementwise, random;
op reduce_sum(x: tensor; dim: axis(x)) {
  shape   x.shape without dim;
  value   i => sum(k < x.shape[dim]: x[i[:dim] ++ [k] ++ i[dim:]]);
  maps    before(k < dim): k <- x.k;
  maps    after(k < rank(x) - dim - 1): dim + k <- x.(dim + 1 + k);
  reduces sum inner: x.dim;
  linear  x;
}
op reduce_max(x: tensor; dim: axis(x)) {
  shape   x.shape without dim;
  value   i => max(k < x.shape[dim]: x[i[:dim] ++ [k] ++ i[dim:]]);
  maps    before(k < dim): k <- x.k;
  maps    after(k < rank(x) - dim - 1): dim + k <- x.(dim + 1 + k);
  reduces max inner: x.dim;
}
op contract(x: tensor, y: tensor; nb: count(batch), nc: count(inner)) {
  let fx = rank(x) - nb - nc;
  let fy = rank(y) - nb - nc;
  require nb >= 0 and nc >= 1 and fx >= 0 and fy >= 0 and x.dtype == y.dtype;
  require x.shape[:nb] == y.shape[:nb] and x.shape[nb + fx:] == y.shape[nb : nb + nc];
  shape   x.shape[: nb + fx] ++ y.shape[nb + nc :];
  value   i => sum(k < x.shape[nb + fx :]: x[i[: nb + fx] ++ k] * y[i[:nb] ++ k ++ i[nb + fx :]]);
  maps    batch(k < nb): k <- x.k, y.k;
  maps    rows(k < fx): nb + k <- x.(nb + k);
  maps    columns(k < fy): nb + fx + k <- y.(nb + nc + k);
  reduces sum inner(k < nc): x.(nb + fx + k), y.(nb + k);
  linear  x, y;
}
op take(x: tensor, index: tensor; nb: count(batch)) {
  let ni = rank(index) - nb;
  require nb >= 0 and ni >= 0 and rank(x) > nb and is_integer(index.dtype);
  require x.shape[:nb] == index.shape[:nb];
  shape   index.shape ++ x.shape[nb + 1 :];
  value   i => if 0 <= index[i[: nb + ni]] < x.shape[nb]
               then x[i[:nb] ++ [index[i[: nb + ni]]] ++ i[nb + ni :]] else 0;
  maps    batch(k < nb): k <- x.k, index.k;
  maps    indices(k < ni): nb + k <- index.(nb + k);
  maps    rest(k < rank(x) - nb - 1): nb + ni + k <- x.(nb + 1 + k);
  linear  x;
}
op probe(; value: any) { shape []; dtype f32; }
op sum_over(x: tensor; dims: axis(x)*) {
  shape   x.shape without dims;
  value   i => sum(k < [x.shape[d] for d in dims]: x[insert_at(i, dims, k)]);
  maps    rest(k < rank(x) - len(dims)): k <- x.(complement(dims, rank(x))[k]);
  reduces sum inner(k < len(dims)): x.(dims[k]);
  linear  x;
}
)";

std::shared_ptr<const rules::RuleSet> load(const std::string& text) {
  const rules::Loaded loaded = rules::load_rules_text("test.rules", text, {});
  std::string messages;
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) messages += render(diagnostic) + "\n";
  REQUIRE_MESSAGE(loaded.ok(), messages);
  return loaded.rules;
}

Attr number(std::int64_t value) {
  return Attr::of(sym::Int(value));
}

Attr list(std::vector<Attr> values) {
  return Attr::list(values);
}

Attr attrs(std::vector<Attr> values) {
  return Attr::list(values);
}

Attr numbers(std::vector<std::int64_t> values) {
  std::vector<Attr> entries;
  for (const std::int64_t value : values) entries.push_back(number(value));
  return Attr::list(entries);
}

TensorType type(std::vector<sym::Int> shape, DType dtype) {
  return {std::move(shape), dtype};
}

std::vector<const TensorType*> pointers(const std::vector<TensorType>& types) {
  std::vector<const TensorType*> result;
  for (const TensorType& type : types) result.push_back(&type);
  return result;
}

// --- TestStore

TermId TestStore::make(rules::OpId op, const Attr& attrs, std::span<const TermId> children) {
  std::vector<TermId> operands(children.begin(), children.end());
  if (rules().op(op).commutative) std::sort(operands.begin(), operands.end());
  const TermId known = find_node(op, attrs, operands);
  if (known != kNoTerm) return known;
  std::vector<const TensorType*> types;
  std::vector<sym::Scalar> values;
  for (const TermId child : operands) {
    types.push_back(&nodes_[child].type);
    if (nodes_[child].uniform) values.push_back(*nodes_[child].uniform);
  }
  const std::optional<TensorType> type = typing_.type_of(op, attrs, types);
  if (!type) return kNoTerm;
  Node node;
  node.op = op;
  node.attrs = attrs;
  node.type = *type;
  if (values.size() == operands.size()) node.uniform = typing_.fold(op, attrs, types, values);
  node.children = std::move(operands);
  nodes_.push_back(std::move(node));
  return static_cast<TermId>(nodes_.size() - 1);
}

TermId TestStore::fresh(const TensorType& type, const std::string& label) {
  Node node;
  node.type = type;
  node.label = label;
  nodes_.push_back(std::move(node));
  return static_cast<TermId>(nodes_.size() - 1);
}

bool TestStore::any_node(TermId id, rules::OpId op, const std::function<bool(const NodeView&)>& visit) {
  const Node& node = nodes_[id];
  return node.op == op && visit({node.op, node.attrs, node.children});
}

std::vector<sym::Int> TestStore::tiling(TermId id, std::size_t axis) const {
  const rules::OpId slice = rules().find_op("slice");
  std::vector<sym::Int> cuts = {0};
  for (const Node& node : nodes_) {
    if (node.op != slice || node.children[0] != id) continue;
    if (!(node.attrs.as_list()[0] == Attr::of(sym::Int(axis)))) continue;
    if (node.attrs.as_list()[1].as_int() == cuts.back()) cuts.push_back(node.attrs.as_list()[2].as_int());
  }
  return cuts.size() > 2 && cuts.back() == nodes_[id].type.shape[axis] ? cuts : std::vector<sym::Int>();
}

TermId TestStore::find_node(rules::OpId op, const Attr& attrs, const std::vector<TermId>& children) const {
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].op == op && nodes_[id].attrs == attrs && nodes_[id].children == children) {
      return static_cast<TermId>(id);
    }
  }
  return kNoTerm;
}

std::string TestStore::print(TermId id) const {
  const Node& node = nodes_[id];
  if (node.op == rules::kNoOp) return node.label;
  std::string text = rules().op(node.op).name + "(";
  for (std::size_t j = 0; j < node.children.size(); ++j)
    text += (j > 0 ? ", " : "") + print(node.children[j]);
  const auto values = node.attrs.as_list();
  for (std::size_t a = 0; a < values.size(); ++a) {
    text += (a > 0 ? ", " : "; ") + to_string(values[a]);
  }
  return text + ")";
}

// --- TestPatterns

bool TestPatterns::match(TermId id, const Expr& pattern, Frame& frame,
                         const std::function<bool(Frame&)>& then) {
  switch (pattern.kind) {
    case ExprKind::wildcard:
      return then(frame);
    case ExprKind::variable: {
      std::optional<Value>& slot = frame.slots[pattern.slot];
      if (slot) return slot->as_term() != nullptr && slot->as_term()->id == id && then(frame);
      slot = Value(Term{id});
      const bool found = then(frame);
      if (!found) frame.slots[pattern.slot].reset();
      return found;
    }
    case ExprKind::apply:
      return store_.any_node(id, pattern.op, [&](const NodeView& node) {
        if (node.children.size() != pattern.args.size()) return false;
        Frame inner = frame;
        const auto values = node.attrs.as_list();
        for (std::size_t a = 0; a < pattern.attrs.size(); ++a) {
          const Expr& attr = pattern.attrs[a];
          if (attr.kind == ExprKind::wildcard) continue;
          if (attr.kind == ExprKind::variable && !inner.slots[attr.slot]) {
            inner.slots[attr.slot] = Value(values[a]);
            continue;
          }
          const std::optional<Value> wanted = evaluator_->evaluate(attr, inner);
          if (!wanted || !(wanted->to_attr() == std::optional(values[a]))) return false;
        }
        return match_all(node, pattern, 0, inner, then);
      });
    default:
      return false;
  }
}

bool TestPatterns::match_all(const NodeView& node, const Expr& pattern, std::size_t place, Frame& frame,
                             const std::function<bool(Frame&)>& then) {
  if (place == pattern.args.size()) return then(frame);
  return match(node.children[place], pattern.args[place], frame,
               [&](Frame& inner) { return match_all(node, pattern, place + 1, inner, then); });
}

bool TestPatterns::has_match(TermId id, const Expr& pattern, const Expr* condition, const Frame& frame) {
  Frame copy = frame;
  return match(id, pattern, copy, [&](Frame& inner) {
    return condition == nullptr || is_yes(evaluator_->holds(*condition, inner));
  });
}

TermId TestPatterns::lookup(const Expr& expr, Frame& frame) {
  if (expr.kind == ExprKind::variable) return frame.slots[expr.slot]->as_term()->id;
  if (expr.kind != ExprKind::apply) return kNoTerm;
  std::vector<TermId> children;
  for (const Expr& arg : expr.args) {
    children.push_back(lookup(arg, frame));
    if (children.back() == kNoTerm) return kNoTerm;
  }
  std::vector<Attr> values;
  for (const Expr& attr : expr.attrs) values.push_back(*evaluator_->evaluate(attr, frame)->to_attr());
  return store_.find_node(expr.op, Attr::list(values), children);
}

// --- World

World::World(const std::string& text, sym::Facts facts)
    : rules(load(kOperators + text)),
      oracle(std::move(facts)),
      typing(*rules, oracle),
      store(typing, oracle),
      patterns(store),
      evaluator(store, typing, &patterns) {
  patterns.use(evaluator);
}

rules::OpId World::op(const std::string& name) const {
  const rules::OpId id = rules->find_op(name);
  REQUIRE_MESSAGE(id != rules::kNoOp, name);
  return id;
}

TermId World::leaf(const std::string& name, std::vector<sym::Int> shape, DType dtype) {
  return store.fresh({std::move(shape), dtype}, name);
}

TermId World::make(const std::string& name, std::vector<Attr> values, std::vector<TermId> children) {
  return store.make(op(name), Attr::list(values), children);
}

const rules::Lowering& World::lowering(const std::string& name) const {
  REQUIRE_MESSAGE(!rules->lowerings_of(name).empty(), name);
  return rules->lowerings()[rules->lowerings_of(name)[0]];
}

const rules::Lemma& World::lemma(const std::string& name) const {
  std::size_t place = 0;
  while (place < rules->lemmas().size() && rules->lemmas()[place].name != name) ++place;
  REQUIRE_MESSAGE(place < rules->lemmas().size(), name);
  return rules->lemmas()[place];
}

Frame World::frame(const rules::Lowering& lowering, std::vector<Value> values) const {
  Frame frame;
  frame.slots.resize(lowering.slots.size());
  for (std::size_t i = 0; i < values.size(); ++i) frame.slots[lowering.parameters[i].slot] = values[i];
  return frame;
}

std::string World::print(const Value& value) const {
  if (const Term* term = value.as_term()) return store.print(term->id);
  if (const TensorType* type = value.as_type()) return tensor::to_string(*type);
  if (const std::vector<Value>* list = value.as_list()) {
    std::string text = "[";
    for (std::size_t i = 0; i < list->size(); ++i) text += (i > 0 ? ", " : "") + print((*list)[i]);
    return text + "]";
  }
  return to_string(*value.to_attr());
}

std::string World::run(const std::string& name, std::vector<Value> values) {
  const rules::Lowering& of = lowering(name);
  Frame slots = frame(of, std::move(values));
  const bool probe = of.body.kind == ExprKind::apply && of.body.name == "probe";
  const std::optional<Value> result = evaluator.evaluate(probe ? of.body.attrs[0] : of.body, slots);
  return result ? print(*result) : "undefined";
}

smt::Truth World::condition(const std::string& name, std::vector<Value> values) {
  const rules::Lowering& of = lowering(name);
  Frame slots = frame(of, std::move(values));
  return evaluator.holds(*of.condition, slots);
}

}  // namespace entangle::term::test
