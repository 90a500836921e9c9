// Nodes that a rank runs on its own.
#include <algorithm>
#include <set>
#include <utility>

#include "lowerer.h"

namespace entangle::graph {

using sym::Int;
using sym::Scalar;
using tensor::Attr;
using tensor::TensorType;
using term::Frame;
using term::Value;

namespace {

std::optional<Scalar> number(const Attr& attr) {
  switch (attr.kind()) {
    case Attr::Kind::boolean:
      return Scalar(attr.as_bool() ? 1 : 0);
    case Attr::Kind::integer:
      return Scalar(attr.as_int());
    case Attr::Kind::scalar:
      return attr.as_scalar();
    default:
      return std::nullopt;
  }
}

constexpr const char* kNotCovered = "no declaration covers these arguments";

// What Evaluator::reason says when an application has no type: `…` is undefined: why.
constexpr std::string_view kUntyped = "is undefined: ";
// Truth values are no numbers to add up, whatever a framework makes of their sum: that is no contradiction.
constexpr std::string_view kRefusesTruths = "requires `not is_bool(";

// Behind a short text of the declaration stands what it is undefined for; that says it all where the text is
// long.
std::string without_long_source(const std::string& reason) {
  constexpr std::size_t kLong = 80;
  const std::size_t at = reason.find(kUntyped);
  return at == std::string::npos || at < kLong ? reason : reason.substr(at + kUntyped.size());
}

void flatten(const Attr& value, std::vector<Attr>& out) {
  if (value.kind() != Attr::Kind::list) {
    out.push_back(Attr::of(*number(value)));
    return;
  }
  for (const Attr& entry : value.as_list()) {
    flatten(entry, out);
  }
}

// From the least to the greatest of some integers; no bounds where one is none.
term::Interval range_of(const std::vector<Attr>& values) {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
  for (const Attr& value : values) {
    const std::optional<Int> number = value.as_scalar().as_int();
    const std::optional<std::int64_t> constant = number ? number->constant() : std::nullopt;
    if (!constant) {
      return {};
    }
    low = std::min(*constant, low.value_or(*constant));
    high = std::max(*constant, high.value_or(*constant));
  }
  return {Int(*low), Int(*high)};
}

}  // namespace

bool Lowerer::leaf(std::uint32_t rank, NodeIndex node) {
  const Node& at = node_of(rank, node);
  const bool input = at.op == "placeholder";
  if (input && at.value) {
    return constant(rank, node);
  }
  if (input && at.size) {
    return size(rank, node, {});
  }
  LoweredNode& out = lowered_.nodes[rank][node];
  for (std::uint32_t i = 0; i < at.results.size(); ++i) {
    if (!at.results[i]) {
      continue;
    }
    const TensorRef ref{rank, node, i};
    const TensorType type = normalised(target_.oracle(), *at.results[i]);
    TermId term = options_.leaf ? options_.leaf(ref, type) : kNoTerm;
    if (term == kNoTerm) {
      term = target_.leaf(type, lowered_.describe(ref));
    }
    if (smt::is_no(same_type(target_.oracle(), type, target_.type(term)))) {
      return contradiction(rank, node, i, target_.type(term), nullptr);
    }
    set_result(rank, node, i, term);
    out.kind = Kind::leaf;
  }
  return true;
}

bool Lowerer::constant(std::uint32_t rank, NodeIndex node) {
  const Node& at = node_of(rank, node);
  if (!at.value) {
    if (at.size) {
      return size(rank, node, {});
    }
    block(rank, node, "the value of this constant is not recorded");
    return true;
  }
  const TensorType type = normalised(target_.oracle(), *at.results[0]);
  const std::optional<TermId> term = literal(*at.value, type);
  if (!term) {
    return fail("bad-value", rank, node,
                "the value of " + title(rank, node) + " is not one of type " + tensor::to_string(type));
  }
  set_result(rank, node, 0, *term);
  lowered_.nodes[rank][node].kind = Kind::constant;
  return true;
}

std::optional<TermId> Lowerer::literal(const Attr& value, const TensorType& type) {
  term::Evaluator& evaluator = target_.evaluator();
  if (const std::optional<Scalar> scalar = number(value)) {
    return evaluator.full(*scalar, type);
  }
  std::vector<Attr> values;
  flatten(value, values);
  if (values.empty()) {  // no elements: one such tensor is like another
    values.push_back(Attr::of(Scalar(0)));
    return evaluator.full(Scalar(0), type);
  }
  const auto is_first = [&](const Attr& entry) { return entry == values.front(); };
  if (std::all_of(values.begin(), values.end(), is_first)) {
    return evaluator.full(values.front().as_scalar(), type);
  }
  const std::vector<Attr> attrs = {Attr::list(values), Attr::of(type.dtype)};
  if (lit_ != rules::kNoOp) {
    const TermId flat = target_.make(lit_, Attr::list(attrs), {});
    if (flat != kNoTerm) {
      if (tensor::is_integer(type.dtype)) {
        target_.set_interval(flat, range_of(values));
      }
      return evaluator.reshape(flat, type.shape);
    }
  }
  // Without an operator for listed numbers: equal values are one leaf.
  const Attr key = Attr::list(std::vector<Attr>{Attr::list(values), Attr::ints(type.shape)});
  auto& known = literals_[type.dtype];
  for (const auto& [entry, term] : known) {
    if (entry == key) {
      return term;
    }
  }
  return known.emplace_back(key, target_.leaf(type, "constant")).second;
}

bool Lowerer::pick(std::uint32_t rank, NodeIndex node) {
  const Node& at = node_of(rank, node);
  const NodeIndex source = at.args[0].ref()->node;
  const auto place = static_cast<std::size_t>(at.args[1].literal()->as_int().value());
  const TermId term = ranks_[rank].terms(source)[place];
  const std::optional<TensorType>& type = at.results[0];
  if (at.several || (type.has_value() != node_of(rank, source).results[place].has_value())) {
    return fail("bad-getitem", rank, node,
                "the recorded type of " + title(rank, node) + " is not that of the result it picks");
  }
  if (term == kNoTerm) {
    return true;
  }
  if (smt::is_no(same_type(target_.oracle(), normalised(target_.oracle(), *type), target_.type(term)))) {
    return contradiction(rank, node, 0, target_.type(term), nullptr);
  }
  set_result(rank, node, 0, term);
  lowered_.nodes[rank][node].kind = Kind::pick;
  return true;
}

// What the overloads of an operator have in common: library.operator of library.operator.overload.
static std::string family(const std::string& name) {
  const std::string plain = named_in_place(name) ? out_of_place(name) : name;
  const std::size_t overload = plain.find('.') == plain.rfind('.') ? std::string::npos : plain.rfind('.');
  return plain.substr(0, overload);
}

// Whether some overload of an operator is random: then so are those that are not described, or not with these
// arguments.
bool Lowerer::of_random_family(const std::string& op) {
  if (!random_families_) {
    random_families_.emplace();
    const rules::Lowerings& all = target_.rules().lowerings();
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (all.head(k).random) {
        random_families_->insert(family(std::string(all.head(k).op)));
      }
    }
  }
  return random_families_->contains(family(op));
}

// Whether the node or one of its operands is a tensor without elements.
bool Lowerer::touches_empty(std::uint32_t rank, NodeIndex node) const {
  const Node& at = node_of(rank, node);
  const auto empty = [](const TensorType& type) {
    return std::find(type.shape.begin(), type.shape.end(), Int(0)) != type.shape.end();
  };
  bool found = std::any_of(at.results.begin(), at.results.end(),
                           [&](const auto& type) { return type && empty(*type); });
  const auto look = [&](NodeIndex operand) {
    for (const TermId term : ranks_[rank].terms(operand)) {
      found = found || (term != kNoTerm && empty(target_.type(term)));
    }
  };
  for_each_operand(at, look);
  return found;
}

// A tensor by a keyword that no declaration of the operator has.
bool Lowerer::is_foreign(const std::string& op, const std::pair<std::string, Arg>& keyword) const {
  bool tensors = false;
  for_each_ref(keyword.second, [&](NodeIndex) { tensors = true; });
  const rules::RuleSet& rules = target_.rules();
  const auto has_it = [&](std::size_t index) {
    const auto& parameters = rules.lowerings()[index].parameters;
    return std::ranges::find(parameters, keyword.first, &rules::Parameter::name) != parameters.end();
  };
  return tensors && std::ranges::none_of(rules.lowerings_of(op), has_it);
}

bool Lowerer::writes_keywords(const Node& at) const {
  return std::ranges::any_of(at.kwargs, [&](const auto& keyword) {
    return writes_keyword(at.op, keyword.first) && is_foreign(at.op, keyword);
  });
}

const Operation& Lowerer::known_operation(const std::string& op, bool writes_keywords) {
  const auto [place, fresh] = (writes_keywords ? writing_operations_ : operations_).try_emplace(op);
  Operation& result = place->second;
  if (fresh) {
    const rules::RuleSet& rules = target_.rules();
    const std::string plain = named_in_place(op) ? out_of_place(op) : op;
    result.borrowed = plain != op && rules.lowerings_of(op).empty();
    result.declarations = rules.lowerings_of(result.borrowed ? plain : op);
    for (const std::size_t index : result.declarations) {
      if (result.communication == nullptr && rules.lowerings()[index].kind != rules::LoweringKind::local) {
        result.communication = &rules.lowerings()[index];
      }
    }
    const bool undeclared_out = result.declarations.empty() && (writes_keywords || writes_out(op));
    result.marking = undeclared_out ? rules.lowerings_of(family(op) + ".default") : result.declarations;
    result.writes_keywords = writes_keywords;
    result.changes_operands = writes_keywords || changes_operands(op);
    result.may_change_operands = writes_keywords || may_change_operands(op);
    result.site = operator_sites_.emplace(plain, operator_sites_.size()).first->second;
  }
  return result;
}

// The results of a node that changes one argument, from the value of its operator: what it returns, then the
// argument's new value, which is the same. Of a list that is changed nothing is returned.
Value Lowerer::with_new_values(const Node& at, Value value) {
  if (at.mutates.size() != 1 || !at.several) {
    return value;
  }
  const std::vector<Value>* list = value.as_list();
  if (list == nullptr) {
    return Value(std::vector<Value>(at.results.size(), value));
  }
  if (list->size() + 1 != at.results.size()) {
    return value;
  }
  std::vector<Value> values = {Value()};
  values.insert(values.end(), list->begin(), list->end());
  return Value(std::move(values));
}

// To be called when the recipe was just followed.
void Lowerer::remember(NodeIndex node, const rules::Lowering& lowering,
                       const std::vector<NodeIndex>& operands) {
  Known known{&lowering, recipes_.last(), recipes_.last_operands(), {}};
  for (const NodeIndex operand : operands) {
    const TermId id = target_.find(ranks_.front().terms(operand).front());
    const auto place = std::ranges::find(known.operands, id, [&](TermId term) { return target_.find(term); });
    if (place == known.operands.end()) {
      return;
    }
    known.places.emplace_back(operand, static_cast<std::uint32_t>(place - known.operands.begin()));
  }
  known_.resize(graphs_.front().nodes.size());
  known_[node] = std::move(known);
}

// The value of a node that stands in the first rank's graph letter by letter, and was lowered there.
std::optional<Value> Lowerer::repeat(std::uint32_t rank, NodeIndex node) {
  const Graph& graph = graphs_[rank];
  if (rank == 0 || node >= known_.size() || !graph.texts[node].repeated ||
      graph.model != graphs_.front().file || known_[node].recipe == nullptr) {
    return std::nullopt;
  }
  const Known& known = known_[node];
  std::vector<TermId> operands = known.operands;
  for (const auto& [operand, place] : known.places) {
    operands[place] = kNoTerm;
  }
  for (const auto& [operand, place] : known.places) {
    const TermId term = ranks_[rank].terms(operand).front();
    if (graph.nodes[operand].several || term == kNoTerm) {
      return std::nullopt;
    }
    const TermId id = target_.find(term);
    if (operands[place] != kNoTerm && operands[place] != id) {
      return std::nullopt;
    }
    operands[place] = id;
  }
  return recipes_.value(*known.recipe, operands);
}

Lowerer::Attempt Lowerer::attempt(std::uint32_t rank, NodeIndex node) {
  Attempt result;
  if ((result.value = repeat(rank, node))) {
    result.lowering = known_[node].lowering;
    return result;
  }
  const rules::RuleSet& rules = target_.rules();
  const Node& at = node_of(rank, node);
  const RankState& state = ranks_[rank];
  const bool borrowed = operation_of(rank, node).borrowed;
  bool untried = true;
  if (borrowed && at.mutates.size() > 1) {
    return result;
  }
  for (const std::size_t index : operation_of(rank, node).declarations) {
    const rules::Lowering& lowering = rules.lowerings()[index];
    if (lowering.kind != rules::LoweringKind::local) {
      continue;
    }
    // What rules out a declaration before it may look at more than types.
    const bool first = std::exchange(untried, false);
    Binder binder(target_, state, node, lowering);
    std::optional<Frame> frame = binder.bind();
    if (!frame) {
      result.reason = binder.reason();
      continue;
    }
    if (borrowed && lowering.result_types != rules::kNoSlot) {
      frame->slots[lowering.result_types] = recorded_out_of_place(at);
    }
    if (lowering.site != rules::kNoSlot) {
      frame->slots[lowering.site] = Int(site(rank, node));
    }
    if (lowering.draw != rules::kNoSlot) {
      frame->slots[lowering.draw] = Int(draw(rank, node));
    }
    if (options_.recipes) {
      Recipes::Answer known = recipes_.value(lowering, *frame);
      if (known.refused) {
        result.reason = kNotCovered;
        continue;
      }
      result.value = std::move(known.value);
      const bool plain = rank == 0 && graphs_.size() > 1 && !borrowed && at.mutates.empty() && first &&
                         lowering.site == rules::kNoSlot && lowering.draw == rules::kNoSlot;
      if (result.value && plain) {
        if (const auto operands = binder.operands()) {
          remember(node, lowering, *operands);
        }
      }
    }
    if (!result.value && lowering.condition) {
      const smt::Truth holds = target_.evaluator().holds(*lowering.condition, *frame);
      if (!smt::is_yes(holds)) {
        result.reason =
            smt::is_no(holds) ? kNotCovered : "the condition of its declaration cannot be decided";
        continue;
      }
    }
    const std::uint64_t unknown = target_.oracle().statistics().unknown;
    if (!result.value) {
      result.value = target_.evaluator().evaluate(lowering.body, *frame);
    }
    result.lowering = &lowering;
    if (result.value) {
      const Arg* changed = at.mutates.empty() ? nullptr : mutated_argument(at, 0);
      const bool list_changed = changed != nullptr && changed->list() != nullptr;
      if (borrowed && result.value->as_list() != nullptr && !list_changed) {
        result.value.reset();  // which of several results is the argument's new value?
        continue;
      }
      result.value = with_new_values(at, std::move(*result.value));
      return result;
    }
    result.reason = target_.evaluator().reason();
    // A term without a type, not for want of an answer: the operands contradict the operator. Tensors without
    // elements are not asked for that much.
    const bool decided = target_.oracle().statistics().unknown == unknown;
    const auto says = [&](std::string_view what) { return result.reason.find(what) != std::string::npos; };
    if (decided && says(kUntyped) && !says(kRefusesTruths) && !touches_empty(rank, node)) {
      result.unfit = &lowering;
      result.unfit_reason = result.reason;
    }
    if (result.reason.empty()) {
      result.reason = "its declaration is undefined for these operands";
    }
    result.reason = without_long_source(std::move(result.reason));
  }
  return result;
}

bool Lowerer::operation(std::uint32_t rank, NodeIndex node) {
  const Node& at = node_of(rank, node);
  const bool in_place = at.mutates.empty() && operation_of(rank, node).may_change_operands;
  if (is_unknown_collective(rank, node)) {
    block(rank, node, "`" + at.op + "` is a collective that is not described");
    spoil(rank, node, nullptr);
    return true;
  }
  Attempt result = attempt(rank, node);
  if (at.size && !at.several) {
    return size(rank, node, result);
  }
  if (without_result(at) && at.mutates.empty() && !(result.value && result.value->is_none())) {
    spoil(rank, node, nullptr);  // what else would it be for?
    return true;
  }
  if (result.value) {
    if (result.lowering->random) {
      block(rank, node, "`" + at.op + "` is random");
      spoil(rank, node, result.lowering);
      lowered_.nodes[rank][node].by = result.lowering;
      return true;
    }
    smt::Truth agreed = smt::Truth::yes;
    if (!accept(rank, node, *result.value, *result.lowering, agreed)) {
      return false;
    }
    if (in_place || !without_result(at)) {
      spoil(rank, node, smt::is_yes(agreed) ? result.lowering : nullptr);
    }
    if (smt::is_yes(agreed)) {
      return true;
    }
    result.reason = "its recorded sizes are not known to be those computed";
  } else if (result.unfit != nullptr) {
    return complain_operands(rank, node, result);
  } else if (in_place) {
    block(rank, node, "`" + at.op + "` works in place and is not described");
    spoil(rank, node, nullptr);
    return true;
  }
  if (at.size_condition && result.reason.empty()) {
    set_result(rank, node, 0, target_.fresh(*at.results[0], at.name));
    lowered_.nodes[rank][node].kind = Kind::blocked;
    lowered_.nodes[rank][node].reason = "a condition on sizes";
    return true;  // nothing to report: only assertions use it
  }
  spoil(rank, node, nullptr);
  if (of_random_family(at.op)) {
    block(rank, node, "`" + at.op + "` is not described, but others of its name are random");
    return true;
  }
  opaque(rank, node, result.reason.empty() ? "nothing is declared for `" + at.op + "`" : result.reason);
  return true;
}

// A node that is a size. What its operands make it counts more than what is recorded.
bool Lowerer::size(std::uint32_t rank, NodeIndex node, const Attempt& attempt) {
  const Node& at = node_of(rank, node);
  smt::Oracle& oracle = target_.oracle();
  Int value = oracle.normalise(*at.size);
  std::optional<Int> computed;
  if (attempt.value) {
    if (const term::Term* term = attempt.value->as_term()) {
      const std::optional<Scalar> known = target_.uniform(term->id);
      computed = known && !known->is_infinite() ? known->as_int() : std::nullopt;
    } else if (const Int* number = attempt.value->as_int()) {
      computed = *number;
    }
  }
  if (computed) {
    const smt::Truth same = oracle.equal(value, *computed);
    if (smt::is_no(same)) {
      return fail("result-type", rank, node,
                  title(rank, node) + " is recorded as the size " + sym::to_string(value) +
                      ", but its operands make it " + sym::to_string(*computed));
    }
    if (!smt::is_yes(same)) {
      value = *computed;
    }
  }
  const std::optional<TermId> term =
      target_.evaluator().full(Scalar(value), normalised(oracle, *at.results[0]));
  if (!term) {
    return fail("bad-value", rank, node, "the size of " + title(rank, node) + " has no value");
  }
  ranks_[rank].sizes[node] = value;
  set_result(rank, node, 0, *term);
  lowered_.nodes[rank][node].kind = Kind::constant;
  return true;
}

// --- operators nothing is known of

// The argument with operands replaced by `%0`, `%1`, …; nullopt when an operand has no value.
std::optional<Attr> Lowerer::arguments(std::uint32_t rank, const Arg& arg,
                                       std::vector<TermId>& operands) const {
  const RankState& state = ranks_[rank];
  const auto operand = [&](TermId term) {
    const TermId canonical = target_.find(term);
    auto found = std::find(operands.begin(), operands.end(), canonical);
    if (found == operands.end()) {
      found = operands.insert(operands.end(), canonical);
    }
    return Attr::name("%" + std::to_string(found - operands.begin()));
  };
  if (const Arg::Ref* ref = arg.ref()) {
    if (state.sizes[ref->node]) {
      return Attr::of(*state.sizes[ref->node]);
    }
    std::vector<Attr> parts;
    for (const TermId term : state.terms(ref->node)) {
      parts.push_back(term == kNoTerm ? Attr() : operand(term));
    }
    return state.graph->nodes[ref->node].several ? Attr::list(parts) : parts[0];
  }
  const auto sizes = [&](const Attr& attr, const auto& self) -> Attr {
    if (attr.kind() == Attr::Kind::name) {
      const std::optional<Int> size = state.size_expression(attr.as_name());
      return size ? Attr::of(*size) : attr;
    }
    if (attr.kind() != Attr::Kind::list) {
      return attr;
    }
    std::vector<Attr> entries;
    for (const Attr& entry : attr.as_list()) {
      entries.push_back(self(entry, self));
    }
    return Attr::list(entries);
  };
  if (const Attr* attr = arg.literal()) {
    return sizes(*attr, sizes);
  }
  std::vector<Attr> entries;
  for (const Arg& entry : *arg.list()) {
    entries.push_back(*arguments(rank, entry, operands));
  }
  return Attr::list(entries);
}

void Lowerer::opaque(std::uint32_t rank, NodeIndex node, const std::string& reason) {
  const Node& at = node_of(rank, node);
  if (without_result(at)) {
    return;  // an assertion or the like
  }
  OpaqueUse use;
  use.op = at.op;
  std::vector<Attr> attrs;
  for (const Arg& arg : at.args) {
    attrs.push_back(*arguments(rank, arg, use.operands));
  }
  std::vector<std::pair<std::string, const Arg*>> kwargs;
  for (const auto& [key, arg] : at.kwargs) {
    kwargs.emplace_back(key, &arg);
  }
  std::sort(kwargs.begin(), kwargs.end());
  for (const auto& [key, arg] : kwargs) {
    attrs.push_back(Attr::list(std::vector<Attr>{Attr::name(key), *arguments(rank, *arg, use.operands)}));
  }
  if (!at.marks.empty()) {
    attrs.push_back(Attr::list(std::vector<Attr>{Attr::name(""), Attr::name(at.marks)}));
  }
  use.attrs = Attr::list(attrs);
  if (use.operands.empty()) {
    block(rank, node, reason + ", and without operands it may give anything");
    return;
  }
  LoweredNode& out = lowered_.nodes[rank][node];
  out.kind = Kind::opaque;
  out.reason = reason;
  for (std::uint32_t i = 0; i < at.results.size(); ++i) {
    if (!at.results[i]) {
      continue;
    }
    use.result = i;
    use.at = {rank, node, i};
    bool added = false;
    use.term = opaque_term(use, normalised(target_.oracle(), *at.results[i]), added);
    set_result(rank, node, i, use.term);
    if (added) {
      lowered_.opaque.push_back(use);
    }
  }
}

TermId Lowerer::opaque_term(const OpaqueUse& use, const TensorType& type, bool& added) {
  if (opaque_ != rules::kNoOp) {
    const rules::Operator& op = target_.rules().op(opaque_);
    const std::vector<Attr> attrs = {Attr::name(use.op), use.attrs, Attr::of(Int(use.result)),
                                     Attr::ints(type.shape), Attr::of(type.dtype)};
    const TermId term = op.attributes.size() == attrs.size()
                            ? target_.make(opaque_, Attr::list(attrs), use.operands)
                            : kNoTerm;
    if (term != kNoTerm) {
      added = opaque_uses_.emplace(term, lowered_.opaque.size()).second;
      return term;
    }
  }
  const Attr key = Attr::list(std::vector<Attr>{use.attrs, Attr::ints(type.shape), Attr::of(type.dtype)});
  auto& known = opaque_leaves_[{use.op, use.result, use.operands}];
  for (const auto& [attrs, term] : known) {
    if (attrs == key) {
      return term;
    }
  }
  added = true;
  return known.emplace_back(key, target_.leaf(type, use.op)).second;
}

}  // namespace entangle::graph
