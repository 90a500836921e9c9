// Building terms: types, normal forms, hash-consing.

#include <algorithm>
#include <utility>

#include "egraph/impl.h"

namespace entangle::egraph {

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

std::uint32_t EGraph::Impl::signature_of(EGraph::Prepared& prepared, std::span<const TermId> children) {
  Small<std::uint32_t, 16> child_types;
  for (const TermId child : children) {
    child_types.push(classes[child].type);
  }
  if (prepared.signature == kNone || !std::ranges::equal(signatures.types(prepared.signature), child_types)) {
    prepared.signature = signatures.find(prepared.op, prepared.attrs, child_types.span());
  }
  return prepared.signature;
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

TermId EGraph::Impl::add(const Spelling& application, std::uint32_t type, NodeState state) {
  const auto id = static_cast<TermId>(nodes.size());
  const std::span<const TermId> children = application.children.span();
  Node node;
  node.op = application.op;
  node.attrs = application.attrs;
  node.count = static_cast<std::uint32_t>(children.size());
  node.hash = application.hash;
  node.state = state;
  node.children = arena.allocate(2 * children.size());
  node.given = node.children + children.size();
  std::copy(children.begin(), children.end(), node.children);
  std::copy(application.operands.begin(), application.operands.end(), node.given);
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
    data.operators = rules::operator_bit(node.op);
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

void EGraph::Impl::spell(Spelling& application) const {
  application.children.clear();
  canonical_children(application.op, application.operands.span(), application.children);
  application.hash = node_hash(application.op, application.attrs, application.children.span());
  application.terms = nodes.size();
  application.merges = merge_log.size();
}

TermId EGraph::Impl::respell(Spelling& application) const {
  if (application.terms == nodes.size() && application.merges == merge_log.size()) {
    return kNoTerm;
  }
  spell(application);
  return probe(application.op, application.attrs, application.children.span(), application.hash);
}

// Replaces the application by its normal form, if it has one: the id of the (ghost) term, or kNoTerm.
TermId EGraph::Impl::normalise(Spelling& application, std::uint32_t signature) {
  constexpr std::size_t kDeepest = 32;
  if (normalising >= kDeepest || !matcher->may_normalise(application.op)) {
    return kNoTerm;
  }
  ++normalising;
  std::size_t lemma = 0;
  TermId exact = kNoTerm;
  const TermId result = matcher->normal_form({application.op, application.attrs, application.children.span()},
                                             true, signature, &lemma, &exact);
  --normalising;
  if (result == kNoTerm) {
    return kNoTerm;
  }
  // Building the right side may have built this very term, or joined operands.
  TermId ghost = respell(application);
  if (ghost == kNoTerm) {
    ghost = add(application, signatures[signature].type, NodeState::ghost);
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

TermId EGraph::Impl::make(EGraph::Prepared& prepared, std::span<const TermId> given, bool normal) {
  last_made = kNoTerm;
  if (std::find(given.begin(), given.end(), kNoTerm) != given.end()) {
    last_error = "an operand has no type";
    ++failures;
    return kNoTerm;
  }
  Spelling application{prepared.op, prepared.attrs, Ids(given), {}};
  spell(application);
  const TermId known =
      probe(application.op, application.attrs, application.children.span(), application.hash);
  if (known != kNoTerm && (normal || nodes[known].state == NodeState::live)) {
    note_made(known);
    return find(known);
  }
  if (known == kNoTerm) {
    const std::uint32_t signature = signature_of(prepared, application.children.span());
    const std::uint32_t type = type_of(signature, application.children.span(), &last_error);
    if (type == Signature::kUntyped) {
      ++failures;
      return kNoTerm;
    }
    TermId id = normal ? normalise(application, signature) : kNoTerm;
    if (id == kNoTerm) {
      // Looking for a normal form may have built terms and joined classes.
      id = respell(application);
      if (id == kNoTerm) {
        id = add(application, type, NodeState::live);
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

}  // namespace entangle::egraph
