#include "entangle/egraph/egraph.h"

#include <algorithm>
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
      up(graph.up_),
      uses(graph.uses_),
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

void EGraph::Impl::table_grow() {
  std::vector<TermId> old = std::move(table);
  std::size_t entries = 0;
  for (const TermId id : old) {
    entries += id < kErased ? 1 : 0;
  }
  std::size_t size = 64;
  while (size < entries * 4) {
    size *= 2;
  }
  table.assign(size, kNoTerm);
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

// --- Building terms

std::uint32_t EGraph::Impl::intern(const tensor::TensorType& type) {
  const std::uint64_t hash = hash_type(type);
  const auto [begin, end] = type_index.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (types[at->second] == type) {
      return at->second;
    }
  }
  const auto index = static_cast<std::uint32_t>(types.size());
  types.push_back(type);
  type_index.emplace(hash, index);
  return index;
}

smt::Truth EGraph::Impl::equal_types(std::uint32_t a, std::uint32_t b) const {
  if (a == b) {
    return smt::Truth::yes;
  }
  if (types[a].dtype != types[b].dtype) {
    return smt::Truth::no;
  }
  return oracle.equal(types[a].shape, types[b].shape);
}

std::uint32_t EGraph::Impl::signature_of(rules::OpId op, const tensor::Attr& attrs,
                                         std::span<const TermId> children) {
  Small<std::uint32_t, 16> child_types;
  for (const TermId child : children) {
    child_types.push(class_of(child).type);
  }
  return signatures.find(op, attrs, child_types.span());
}

std::uint32_t EGraph::Impl::type_of(std::uint32_t signature, std::span<const TermId> children,
                                    std::string* why) {
  Signature& of = signatures[signature];
  if (of.type == Signature::kUntyped) {
    Small<const tensor::TensorType*, 16> child_types;
    for (const TermId child : children) {
      child_types.push(&type(child));
    }
    // What has no type, or none that can be decided, is asked for again.
    if (const auto found = typing.type_of(of.op, of.attrs, child_types.span(), why)) {
      of.type = intern(*found);
    }
  }
  return of.type;
}

TermId EGraph::Impl::add_leaf(const tensor::TensorType& type, const std::string& label, bool defined) {
  const auto id = static_cast<TermId>(nodes.size());
  labels.push_back(label);
  Node& node = nodes.emplace_back();
  node.hash = labels.size() - 1;
  up.push_back(id);
  Class& data = classes.emplace_back();
  data.first = data.last = id;
  data.type = intern(type);
  data.defined = defined;
  touch(data);
  proof_parent.push_back(id);
  proof_edge.push_back(kNone);
  ++live;
  return id;
}

TermId EGraph::Impl::add(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> given,
                         std::span<const TermId> children, std::uint64_t hash, std::uint32_t type,
                         NodeState state) {
  const auto id = static_cast<TermId>(nodes.size());
  Node node;
  node.op = op;
  node.attrs = attrs;
  node.count = static_cast<std::uint32_t>(children.size());
  node.hash = hash;
  node.state = state;
  node.children = arena.allocate(2 * children.size());
  node.given = node.children + children.size();
  std::copy(children.begin(), children.end(), node.children);
  std::copy(given.begin(), given.end(), node.given);
  nodes.push_back(node);
  up.push_back(id);
  Class& data = classes.emplace_back();
  data.type = type;
  for (const TermId child : children) {
    data.defined = data.defined && classes[child].defined;
  }
  touch(data);
  proof_parent.push_back(id);
  proof_edge.push_back(kNone);
  table_insert(id);
  if (state == NodeState::live) {
    data.first = data.last = id;
    data.operators = rules::operator_bit(op);
    ++live;
    append_of_op(id);
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (std::find(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(i), children[i]) !=
        children.begin() + static_cast<std::ptrdiff_t>(i)) {
      continue;
    }
    Class& child = classes[children[i]];
    const auto use = static_cast<Use>(uses.size());
    uses.push_back({id, kNoUse});
    (child.first_use == kNoUse ? child.first_use : uses[child.last_use].next) = use;
    child.last_use = use;
  }
  return id;
}

void EGraph::Impl::promote(TermId ghost) {
  Node& node = nodes[ghost];
  node.state = NodeState::live;
  ++live;
  Class& data = classes[find(ghost)];
  data.operators |= rules::operator_bit(node.op);
  touch(data);
  TermId* at = &data.first;
  while (*at != kNoTerm && *at < ghost) {
    at = &nodes[*at].next_in_class;
  }
  node.next_in_class = *at;
  *at = ghost;
  if (node.next_in_class == kNoTerm) {
    data.last = ghost;
  }
  append_of_op(ghost);
}

void EGraph::Impl::append_of_op(TermId id) {
  const rules::OpId op = nodes[id].op;
  TermId& last = last_of_op[op];
  (last == kNoTerm ? first_of_op[op] : nodes[last].next_of_op) = id;
  last = id;
}

// Replaces op(operands; attrs) by its normal form, if it has one: the id of the (ghost) term, or kNoTerm.
TermId EGraph::Impl::normalise(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> operands,
                               std::span<const TermId> children, std::uint32_t signature) {
  constexpr std::size_t kDeepest = 32;
  if (normalising >= kDeepest || !matcher->may_normalise(op)) {
    return kNoTerm;
  }
  ++normalising;
  std::size_t lemma = 0;
  TermId exact = kNoTerm;
  const TermId result = matcher->normal_form({op, attrs, children}, true, signature, &lemma, &exact);
  --normalising;
  if (result == kNoTerm) {
    return kNoTerm;
  }
  // Building the right side may have built this very term, or joined operands.
  Ids current;
  canonical_children(op, operands, current);
  const std::uint64_t hash = node_hash(op, attrs, current.span());
  TermId ghost = probe(op, attrs, current.span(), hash);
  if (ghost == kNoTerm) {
    ghost = add(op, attrs, operands, current.span(), hash, signatures[signature].type, NodeState::ghost);
  }
  Edge edge;
  edge.kind = Reason::Kind::normalise;
  edge.index = static_cast<std::uint32_t>(lemma);
  // Where the merge is refused the clash is recorded, and the term is kept as it is.
  if (!merge(ghost, exact, edge)) {
    return kNoTerm;
  }
  normalised.resize(rule_set.lemmas().size());
  ++normalised[lemma];
  return ghost;
}

TermId EGraph::Impl::make(rules::OpId op, const tensor::Attr& given_attrs, std::span<const TermId> given,
                          bool normal) {
  last_made = kNoTerm;
  ENTANGLE_CHECK(op < rule_set.operators().size(), "make of an unknown operator");
  if (std::find(given.begin(), given.end(), kNoTerm) != given.end()) {
    last_error = "an operand has no type";
    ++failures;
    return kNoTerm;
  }
  const tensor::Attr attrs = canonical(op, given_attrs);
  Ids operands(given);
  Ids children;
  canonical_children(op, operands.span(), children);
  const TermId known = probe(op, attrs, children.span(), node_hash(op, attrs, children.span()));
  if (known != kNoTerm && (normal || nodes[known].state == NodeState::live)) {
    note_made(known);
    return find(known);
  }
  if (known == kNoTerm) {
    const std::uint32_t signature = signature_of(op, attrs, children.span());
    const std::uint32_t type = type_of(signature, children.span(), &last_error);
    if (type == Signature::kUntyped) {
      ++failures;
      return kNoTerm;
    }
    TermId id = normal ? normalise(op, attrs, operands.span(), children.span(), signature) : kNoTerm;
    if (id == kNoTerm) {
      // Looking for a normal form may have built terms and joined classes.
      Ids current;
      canonical_children(op, operands.span(), current);
      const std::uint64_t hash = node_hash(op, attrs, current.span());
      id = probe(op, attrs, current.span(), hash);
      if (id == kNoTerm) {
        id = add(op, attrs, operands.span(), current.span(), hash, type, NodeState::live);
      } else if (nodes[id].state == NodeState::ghost) {
        promote(id);
      }
    }
    analyse(id);
    note_made(id);
    return find(id);
  }
  // make_exact of a term that was normalised away: from now on it is a node of its class.
  promote(known);
  note_made(known);
  return find(known);
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

const rules::RuleSet& EGraph::rules() const {
  return impl_->rule_set;
}
smt::Oracle& EGraph::oracle() const {
  return impl_->oracle;
}
TermId EGraph::make(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) {
  return impl_->make(op, attrs, children, true);
}
TermId EGraph::make_exact(rules::OpId op, const tensor::Attr& attrs, std::span<const TermId> children) {
  return impl_->make(op, attrs, children, false);
}
TermId EGraph::fresh(const tensor::TensorType& type, const std::string& label) {
  return impl_->add_leaf(type, label, false);
}
TermId EGraph::leaf(const tensor::TensorType& type, const std::string& label) {
  return impl_->add_leaf(type, label, true);
}
const tensor::TensorType& EGraph::type(TermId id) const {
  return impl_->type(id);
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

std::uint32_t EGraph::version(TermId id) const {
  return impl_->class_of(id).version;
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

TermId EGraph::Impl::live_from(TermId node) const {
  while (node != kNoTerm && nodes[node].state != NodeState::live) {
    node = nodes[node].next_in_class;
  }
  return node;
}

TermId EGraph::first_node(TermId id) const {
  return impl_->live_from(impl_->class_of(id).first);
}

TermId EGraph::next_node(TermId node) const {
  return impl_->live_from(impl_->nodes[node].next_in_class);
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

term::NodeView EGraph::original(TermId id) const {
  const Node& node = impl_->nodes.at(id);
  return {node.op, node.attrs, {node.given, node.count}};
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

EGraph::Use EGraph::first_use(TermId id) const {
  return impl_->class_of(id).first_use;
}

bool EGraph::is_node(TermId id) const {
  return impl_->nodes[id].state == NodeState::live;
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
