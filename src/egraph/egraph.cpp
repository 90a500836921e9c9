#include "entangle/egraph/egraph.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "egraph/impl.h"

namespace entangle::egraph {

namespace {

constexpr TermId kErased = kNoTerm - 1;

}  // namespace

std::uint64_t node_hash(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) {
  std::uint64_t hash = support::hash_combine(op, attrs.hash());
  for (const TermId child : children) {
    hash = support::hash_combine(hash, child);
  }
  return hash;
}

std::uint64_t hash_type(const tensor::TensorType& type) {
  auto hash = static_cast<std::uint64_t>(type.dtype);
  for (const sym::Int size : type.shape) {
    hash = support::hash_combine(hash, size.hash());
  }
  return hash;
}

smt::Truth equal_scalars(smt::Oracle& oracle, const sym::Scalar& a, const sym::Scalar& b) {
  if (a == b) {
    return smt::Truth::yes;
  }
  if (a.is_infinite() || b.is_infinite() || (a.is_number() && b.is_number())) {
    return smt::Truth::no;
  }
  const std::optional<sym::Scalar> ratio = b.is_zero() ? std::nullopt : a / b;
  if (!ratio) {
    return smt::Truth::unknown;
  }
  const mpq_class q = ratio->coefficient();
  if (!q.get_num().fits_slong_p() || !q.get_den().fits_slong_p()) {
    return smt::Truth::unknown;
  }
  return oracle.equal(sym::Int(q.get_num().get_si()) * ratio->numerator(),
                      sym::Int(q.get_den().get_si()) * ratio->denominator());
}

EGraph::Impl::Impl(EGraph& graph, term::Typing& graph_typing, smt::Oracle& graph_oracle)
    : self(graph),
      typing(graph_typing),
      oracle(graph_oracle),
      rule_set(graph_typing.rules()),
      nodes(graph.nodes_),
      up(graph.up_),
      uses(graph.uses_),
      classes(graph.classes_),
      types(graph.types_),
      merge_log(graph.merge_log_) {
  first_of_op.assign(rule_set.operators().size(), kNoTerm);
  last_of_op = first_of_op;
  slice = rule_set.find_op("slice");
}

// --- Attributes and children

tensor::Attr EGraph::Impl::canonical(const rules::Type& type, const tensor::Attr& attr) const {
  using Kind = tensor::Attr::Kind;
  switch (attr.kind()) {
    case Kind::integer: {
      const sym::Int value = attr.as_int();
      const sym::Int normal = value.is_constant() ? value : oracle.normalise(value);
      if (type.base == rules::Base::scalar && !normal.is_poison()) {
        return tensor::Attr::of(sym::Scalar(normal));
      }
      return normal == value ? attr : tensor::Attr::of(normal);
    }
    case Kind::scalar: {
      const sym::Scalar& value = attr.as_scalar();
      if (type.base == rules::Base::scalar || type.base == rules::Base::any) {
        return attr;
      }
      const std::optional<sym::Int> integer = value.as_int();
      return integer ? tensor::Attr::of(*integer) : attr;
    }
    case Kind::list: {
      const std::span<const tensor::Attr> entries = attr.as_list();
      std::vector<tensor::Attr> changed;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const tensor::Attr entry = canonical(type, entries[i]);
        if (changed.empty() && entry == entries[i]) {
          continue;
        }
        if (changed.empty()) {
          changed.assign(entries.begin(), entries.end());
        }
        changed[i] = entry;
      }
      return changed.empty() ? attr : tensor::Attr::list(changed);
    }
    default:
      return attr;
  }
}

tensor::Attr EGraph::Impl::canonical(rules::OpId op, const tensor::Attr& attrs) const {
  Canonical& known = canonicals[support::hash_combine(op, attrs.hash()) % canonicals.size()];
  if (known.op != op || known.attrs != attrs) {
    known = {op, attrs, find_canonical(op, attrs)};
  }
  return known.result;
}

tensor::Attr EGraph::Impl::find_canonical(rules::OpId op, const tensor::Attr& attrs) const {
  const std::vector<rules::Parameter>& parameters = rule_set.op(op).attributes;
  if (attrs.kind() != tensor::Attr::Kind::list || attrs.as_list().size() != parameters.size()) {
    return attrs;  // typing says what is wrong
  }
  const std::span<const tensor::Attr> entries = attrs.as_list();
  std::vector<tensor::Attr> changed;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const tensor::Attr entry = canonical(parameters[i].type, entries[i]);
    if (entry == entries[i]) {
      continue;
    }
    if (changed.empty()) {
      changed.assign(entries.begin(), entries.end());
    }
    changed[i] = entry;
  }
  return changed.empty() ? attrs : tensor::Attr::list(changed);
}

void EGraph::Impl::canonical_children(rules::OpId op, std::span<const TermId> children, Ids& out) const {
  for (const TermId child : children) {
    out.push(find(child));
  }
  if (commutative(op)) {
    std::sort(out.begin(), out.end());
  }
}

// --- The hash table

TermId EGraph::Impl::probe(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children,
                           std::uint64_t hash) const {
  if (table.empty()) {
    return kNoTerm;
  }
  const std::size_t mask = table.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const TermId id = table[at];
    if (id == kNoTerm) {
      return kNoTerm;
    }
    if (id == kErased) {
      continue;
    }
    const Node& node = nodes[id];
    if (node.hash == hash && node.op == op && node.attrs == attrs && node.count == children.size() &&
        std::equal(children.begin(), children.end(), node.children)) {
      return id;
    }
  }
}

void EGraph::Impl::table_grow(std::size_t least) {
  std::vector<TermId> old = std::move(table);
  std::size_t entries = 0;
  for (const TermId id : old) {
    entries += id < kErased ? 1 : 0;
  }
  table.assign(std::bit_ceil(std::max({entries * 4, least, std::size_t{64}})), kNoTerm);
  table_used = 0;
  for (const TermId id : old) {
    if (id < kErased) {
      table_insert(id);
    }
  }
}

void EGraph::Impl::table_insert(TermId node) {
  if (table.empty() || (table_used + 1) * 4 > table.size() * 3) {
    table_grow();
  }
  const std::size_t mask = table.size() - 1;
  std::size_t at = nodes[node].hash & mask;
  while (table[at] < kErased) {
    at = (at + 1) & mask;
  }
  table_used += table[at] == kNoTerm ? 1 : 0;
  table[at] = node;
}

void EGraph::Impl::table_erase(TermId node) {
  if (table.empty()) {
    return;
  }
  const std::size_t mask = table.size() - 1;
  for (std::size_t at = nodes[node].hash & mask; table[at] != kNoTerm; at = (at + 1) & mask) {
    if (table[at] == node) {
      table[at] = kErased;
      return;
    }
  }
}

// --- The public interface

EGraph::EGraph(term::Typing& typing, smt::Oracle& oracle)
    : impl_(std::make_unique<Impl>(*this, typing, oracle)) {
  impl_->matcher.emplace(*this);
  impl_->evaluator.emplace(*this, typing, &*impl_->matcher);
}
EGraph::EGraph(const EGraph& like, smt::Oracle& oracle)
    : impl_(std::make_unique<Impl>(*this, like.impl_->typing, oracle)) {
  impl_->matcher.emplace(*this, &*like.impl_->matcher);
  impl_->evaluator.emplace(*this, impl_->typing, &*impl_->matcher);
}
EGraph::~EGraph() = default;

void EGraph::reserve(std::size_t terms) {
  impl_->nodes.reserve(terms);
  impl_->up.reserve(terms);
  impl_->classes.reserve(terms);
  impl_->uses.reserve(2 * terms);
  impl_->proof_parent.reserve(terms);
  impl_->proof_edge.reserve(terms);
  impl_->table_grow(2 * terms);
}

const rules::RuleSet& EGraph::rules() const {
  return impl_->rule_set;
}
smt::Oracle& EGraph::oracle() const {
  return impl_->oracle;
}
TermId EGraph::make(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) {
  Prepared application = prepare(op, attrs);
  return impl_->make(application, children, true);
}
EGraph::Prepared EGraph::prepare(rules::OpId op, const tensor::Attr& attrs) const {
  ENTANGLE_CHECK(op < impl_->rule_set.operators().size(), "make of an unknown operator");
  return {op, impl_->canonical(op, attrs)};
}
TermId EGraph::make(Prepared& application, std::span<const TermId> children) {
  return impl_->make(application, children, true);
}
TermId EGraph::make_exact(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) {
  Prepared application = prepare(op, attrs);
  return impl_->make(application, children, false);
}
TermId EGraph::fresh(const tensor::TensorType& type, const std::string& label) {
  return impl_->add_leaf(type, label, false);
}
TermId EGraph::leaf(const tensor::TensorType& type, const std::string& label) {
  return impl_->add_leaf(type, label, true);
}
const std::string& EGraph::last_error() const {
  return impl_->last_error;
}
TermId EGraph::last_made() const {
  return impl_->last_made;
}

bool EGraph::any_node(TermId id, rules::OpId op, const std::function<bool(const term::NodeView&)>& visit) {
  const Class& data = impl_->class_of(id);
  if (op != rules::kNoOp && (data.operators & rules::operator_bit(op)) == 0) {
    return false;
  }
  Ids found;
  for (TermId at = data.first; at != kNoTerm; at = impl_->nodes[at].next_in_class) {
    if (impl_->nodes[at].op == op && impl_->nodes[at].state == NodeState::live) {
      found.push(at);
    }
  }
  for (const TermId at : found) {
    const Node& node = impl_->nodes[at];
    if (visit({node.op, node.attrs, node.span()})) {
      return true;
    }
  }
  return false;
}

bool EGraph::merge(TermId a, TermId b, const Reason& reason) {
  return impl_->merge(a, b, impl_->edge_of(reason));
}
void EGraph::rebuild() {
  impl_->rebuild();
}
const std::vector<Clash>& EGraph::clashes() const {
  return impl_->clashes;
}
const std::optional<std::string>& EGraph::contradiction() const {
  return impl_->contradiction;
}
std::size_t EGraph::node_count() const {
  return impl_->live;
}
std::size_t EGraph::class_count() const {
  return classes().size();
}
const std::vector<std::uint64_t>& EGraph::normalised() const {
  return impl_->normalised;
}

std::vector<TermId> EGraph::classes() const {
  std::vector<TermId> result;
  for (TermId id = 0; id < impl_->nodes.size(); ++id) {
    if (impl_->find(id) == id) {
      result.push_back(id);
    }
  }
  return result;
}

std::vector<TermId> EGraph::node_ids(TermId id) const {
  std::vector<TermId> result;
  for (TermId at = first_node(id); at != kNoTerm; at = next_node(at)) {
    result.push_back(at);
  }
  return result;
}

std::vector<term::NodeView> EGraph::nodes(TermId id) const {
  std::vector<term::NodeView> result;
  for (const TermId at : node_ids(id)) {
    result.push_back(node(at));
  }
  return result;
}

term::NodeView EGraph::node(TermId id) const {
  const Node& node = impl_->nodes.at(id);
  return {node.op, node.attrs, node.span()};
}

const std::string& EGraph::label(TermId id) const {
  const Node& node = impl_->nodes.at(id);
  ENTANGLE_CHECK(node.op == rules::kNoOp, "label of a term that is no leaf");
  return impl_->labels[node.hash];
}

TermId EGraph::find_node(rules::OpId op, const tensor::Attr& given_attrs,
                         std::span<const TermId> children) const {
  const tensor::Attr attrs = impl_->canonical(op, given_attrs);
  Ids canonical;
  impl_->canonical_children(op, children, canonical);
  const TermId id = impl_->probe(op, attrs, canonical.span(), node_hash(op, attrs, canonical.span()));
  return id == kNoTerm || impl_->nodes[id].state == NodeState::ghost ? kNoTerm : impl_->find(id);
}

std::vector<TermId> EGraph::user_nodes(TermId id, rules::OpId op) const {
  std::vector<TermId> result;
  for (Use use = first_use(id); use != kNoUse; use = next_use(use)) {
    if (is_node(user(use)) && (op == rules::kNoOp || impl_->nodes[user(use)].op == op)) {
      result.push_back(user(use));
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<TermId> EGraph::users(TermId id) const {
  std::vector<TermId> result = user_nodes(id);
  for (TermId& user : result) {
    user = impl_->find(user);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

term::Typing& EGraph::typing() const {
  return impl_->typing;
}
term::Evaluator& EGraph::evaluator() {
  return *impl_->evaluator;
}
Matcher& EGraph::matcher() {
  return *impl_->matcher;
}

}  // namespace entangle::egraph
