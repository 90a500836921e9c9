#include "entangle/egraph/saturate.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "egraph/hash_set.h"
#include "egraph/impl.h"
#include "egraph/program.h"
#include "egraph/run.h"

namespace entangle::egraph {

using rules::Expr;
using term::Frame;
using term::Value;

LemmaCounts Counters::of(std::uint32_t lemma) const {
  const auto at = std::ranges::lower_bound(lemmas, lemma, {}, [](const auto& entry) { return entry.first; });
  return at != lemmas.end() && at->first == lemma ? at->second : LemmaCounts{};
}

void Counters::add(std::uint32_t lemma, const LemmaCounts& counts) {
  if (counts == LemmaCounts{}) {
    return;
  }
  auto at = std::ranges::lower_bound(lemmas, lemma, {}, [](const auto& entry) { return entry.first; });
  if (at == lemmas.end() || at->first != lemma) {
    at = lemmas.insert(at, {lemma, {}});
  }
  at->second.matched += counts.matched;
  at->second.applied += counts.applied;
  at->second.normalised += counts.normalised;
}

void Counters::add(const Counters& other) {
  for (const auto& [lemma, counts] : other.lemmas) {
    add(lemma, counts);
  }
  ill_typed += other.ill_typed;
  refused += other.refused;
}

namespace {

struct Found {
  std::uint32_t rule = 0;
  std::uint32_t weight = 0;    // of the node that was matched
  std::uint64_t makes = 0;     // about how many terms, if many
  std::uint64_t together = 0;  // if it waits: with the others of its lemma and round
  TermId root = kNoTerm;       // the node of the left side, if that was a goal
  std::uint64_t key = 0;
  std::vector<std::optional<Value>> slots;
  std::unique_ptr<term::Focus> focus;
};

// So many terms are made by one match for a list of operands only. If they are no more than a share of what
// there was to begin with, what is made weighs no more than what it was made from.
constexpr std::size_t kTermsOfOne = 16;
constexpr std::size_t kShareOfOne = 8;
// The matches of one lemma that make so many each may in one round make these together (or a share of
// what there may be at most), or as many as there were to begin with. Of those that wait, so many terms or a
// share of what there is are made at first, and twice as many each time.
constexpr std::size_t kTermsOfRound = 1000;
constexpr std::size_t kShareOfRound = 4;
constexpr std::size_t kRoundsOfStage = 10;

class Saturation {
 public:
  Saturation(EGraph& graph, const Program::Impl& program, const Limits& limits)
      : graph_(graph), inside_(graph.impl()), program_(program), limits_(limits) {
    counts_.resize(program.rules.lemmas().size());
  }

  Outcome run();

 private:
  void find_levels();
  void match_node(TermId node);
  void match_rule(std::uint32_t rule, TermId node);
  // Goals from number `from` on; `last`: the class of the goal before, `root`: the node of the last goal.
  bool goals(Run& run, Frame& frame, const Rule& rule, std::size_t from, TermId last, TermId root);
  bool complete(Run& run, Frame& frame, const Rule& rule, TermId root);
  std::uint64_t key_of(const Frame& frame, TermId root) const;
  // Of the current rule and the values of some of its variables.
  std::uint64_t key_of_slots(std::span<const rules::Slot> slots, const Frame& frame) const;
  // Of a rule that says the same whichever operand matches: the same for all of these matches.
  std::uint64_t key_of_alike(const Rule& rule, const Frame& frame, TermId root) const;
  std::uint64_t hash_of(const Value& value) const;
  void apply(Found& found);
  // What `found` makes takes part in the first stage that is light enough for it.
  void weigh(const Found& found, std::size_t terms_before);
  // What of the matches found is applied in this round, and, where nothing else is left to do, of those that
  // wait.
  void collect(bool waiting_too);
  // Admits the lightest of what was passed over; false if there is nothing.
  bool next_stage();
  void join(const Rule& rule, const Value& left, const Value& right, TermId exact_left, TermId exact_right);

  EGraph& graph_;
  EGraph::Impl& inside_;
  const Program::Impl& program_;
  const Limits limits_;
  Outcome outcome_;
  std::vector<LemmaCounts> counts_;
  std::vector<Found> found_;
  std::vector<Found> waiting_;         // matches put off
  HashSet waiting_keys_;               // theirs, and of those that waited
  std::vector<std::uint64_t> makes_;   // by rule: about how many terms its large matches of this round make
  std::uint64_t few_ = kTermsOfRound;  // that they may make together
  std::uint64_t share_ = kTermsOfRound / 2;  // terms that those that wait made in the last round they had
  std::uint64_t usual_ = kTermsOfOne;        // terms of a match that makes nodes of the weight of its own
  HashSet settled_;                          // keys of matches that were applied
  HashSet refused_;                          // keys of what `when` asked for where it can never hold
  HashSet asked_;                            // keys of matches whose conditions were asked for in this round
  // How many levels below a class something changed since the last round.
  std::vector<std::uint8_t> level_;
  // Weights of nodes, see saturate.h, and up to which nodes take part now.
  std::vector<std::uint32_t> weight_;
  std::uint32_t admitted_ = 1;
  std::uint32_t passed_over_ = kNone;  // the least of the others in this round
  std::size_t stage_rounds_ = 0;
  TermId node_ = kNoTerm;     // that is being matched
  std::vector<TermId> made_;  // by the match that is being applied
  bool first_round_ = true;
  std::uint32_t seen_epoch_ = 0;  // changes of this epoch and later are news
  std::uint32_t rule_ = 0;
  Frame frame_;  // of the rule that is being matched
  Application application_;
};

constexpr TermId kBetweenQuestions = 64;  // nodes matched
// About how many terms the right side makes: those that it lists one by one count as often as they are
// listed, and those for the other operands as often as there are others.
std::uint64_t terms_made(const Expr& expr, const Frame& frame) {
  std::uint64_t sum = expr.kind == rules::ExprKind::apply || expr.kind == rules::ExprKind::generic ? 1 : 0;
  if (const Expr* list = listed(expr)) {
    const std::optional<Value>& value = frame.slots[list->slot];
    const std::vector<Value>* entries = value ? value->as_list() : nullptr;
    return (entries != nullptr ? entries->size() : 1) * terms_made(expr.args[0], frame);
  }
  if (expr.kind == rules::ExprKind::generic && expr.args.size() > 1 && frame.focus != nullptr) {
    const std::uint64_t others = frame.focus->children.size() - 1;
    return sum + terms_made(expr.args[0], frame) + others * terms_made(expr.args[1], frame);
  }
  for (const Expr& arg : expr.args) {
    sum += terms_made(arg, frame);
  }
  return sum;
}

constexpr std::uint8_t kFar = Rule::kDeepest + 1;

void Saturation::find_levels() {
  level_.assign(inside_.nodes.size(), kFar);
  std::vector<TermId> front;
  for (TermId id = 0; id < inside_.nodes.size(); ++id) {
    if (inside_.find(id) == id && inside_.classes[id].changed >= seen_epoch_) {
      level_[id] = 0;
      front.push_back(id);
    }
  }
  for (unsigned level = 1; level < kFar && !front.empty(); ++level) {
    std::vector<TermId> next;
    for (const TermId id : front) {
      for (EGraph::Use at = inside_.classes[id].first_use; at != EGraph::kNoUse; at = inside_.uses[at].next) {
        const TermId user = inside_.find(inside_.uses[at].term);
        if (level_[user] == kFar) {
          level_[user] = static_cast<std::uint8_t>(level);
          next.push_back(user);
        }
      }
    }
    front = std::move(next);
  }
}

void Saturation::match_node(TermId node) {
  const Node data = inside_.nodes[node];
  if (data.state != NodeState::live || data.op == rules::kNoOp) {
    return;
  }
  const TermId root = inside_.find(node);
  if (inside_.classes[root].uniform != kNone) {
    return;  // closed
  }
  if (weight_[node] > admitted_) {
    passed_over_ = std::min(passed_over_, weight_[node]);
    return;
  }
  node_ = node;
  const std::uint8_t level = first_round_ ? 0 : level_[root];
  std::uint64_t below = 0;
  for (const TermId child : data.span()) {
    below |= inside_.class_of(child).operators;
  }
  for (const Program::Impl::Entry& entry : program_.by_op[data.op]) {
    if ((entry.operands & ~below) != 0) {
      continue;
    }
    const Rule& candidate = program_.rule(entry.rule);
    if (!candidate.local || level <= candidate.depth) {
      match_rule(entry.rule, node);
    }
  }
}

void Saturation::match_rule(std::uint32_t number, TermId node) {
  const Rule& rule = program_.rule(number);
  const rules::Lemma& lemma = *rule.lemma;
  rule_ = number;
  frame_.slots.assign(lemma.slots.size(), std::nullopt);
  Run run(graph_, frame_, lemma.generic ? &*lemma.generic : nullptr, rule.demands);
  run.share(application_);
  const TermId owner = inside_.find(node);
  if (rule.by_operand && !first_round_ && level_[owner] > 0) {
    run.pass_over_old(level_, rule.depth - 1);
  }
  auto next = [&] { return goals(run, frame_, rule, 1, owner, node); };
  run.at(*rule.goals[0].pattern, graph_.node(node), owner, next);
}

bool Saturation::goals(Run& run, Frame& frame, const Rule& rule, std::size_t from, TermId last, TermId root) {
  if (from == rule.goals.size()) {
    return complete(run, frame, rule, rule.left_is_goal ? root : kNoTerm);
  }
  const rules::Goal& goal = rule.goals[from];
  if (goal.same_class) {
    auto next = [&] { return goals(run, frame, rule, from + 1, last, root); };
    return run.in_class(*goal.pattern, last, nullptr, next);
  }
  if (goal.pattern->kind == rules::ExprKind::variable) {
    const std::optional<Value>& known = frame.slots[goal.pattern->slot];
    const term::Term* term = known ? known->as_term() : nullptr;
    return term != nullptr && goals(run, frame, rule, from + 1, inside_.find(term->id), root);
  }
  for (const TermId node : run.anchors(*goal.pattern)) {
    const TermId owner = inside_.find(node);
    auto next = [&] { return goals(run, frame, rule, from + 1, owner, node); };
    if (run.at(*goal.pattern, graph_.node(node), owner, next)) {
      return true;
    }
  }
  return false;
}

bool Saturation::complete(Run& run, Frame& frame, const Rule& rule, TermId root) {
  auto settled = [&] {
    const std::uint64_t refusal =
        rule.pure && !rule.lemma->when.empty() ? key_of_slots(rule.asked_slots, frame) : 0;
    if (refusal != 0 && refused_.contains(refusal)) {
      return false;
    }
    const std::uint64_t alike = rule.alike ? key_of_alike(rule, frame, root) : 0;
    if (rule.alike && settled_.contains(alike)) {
      return false;
    }
    const std::uint64_t key = key_of(frame, root);
    if (settled_.contains(key) || waiting_keys_.contains(key) || !asked_.insert(key)) {
      return false;
    }
    ++counts_[rule.index].matched;
    auto record = [&] {
      if (rule.alike) {
        settled_.insert(alike);
      }
      Found& found = found_.emplace_back();
      found.rule = rule_;
      found.weight = weight_[node_];
      found.makes = rule.expands ? terms_made(*rule.right, frame) : 0;
      found.root = root;
      found.key = key;
      found.slots = frame.slots;
      if (frame.focus != nullptr) {
        found.focus = std::make_unique<term::Focus>(*frame.focus);
      }
      return false;
    };
    bool failed = false;
    const bool stop = run.conditions(rule.lemma->when, rule.trigger, record, &failed);
    if (failed && refusal != 0) {
      refused_.insert(refusal);
    }
    return stop;
  };
  return run.settled(settled);
}

std::uint64_t Saturation::hash_of(const Value& value) const {
  if (const sym::Int* integer = value.as_int()) {
    return integer->hash();
  }
  if (const term::Term* term = value.as_term()) {
    return support::mix(0x5bd1e995ULL + (term->id == kNoTerm ? kNoTerm : inside_.find(term->id)));
  }
  if (const std::vector<Value>* list = value.as_list()) {
    std::uint64_t hash = support::mix(list->size() + 0x27d4eb2fULL);
    for (const Value& entry : *list) {
      hash = support::hash_combine(hash, hash_of(entry));
    }
    return hash;
  }
  if (const tensor::Attr* attr = value.as_attr()) {
    return attr->hash();
  }
  const tensor::TensorType* type = value.as_type();
  return type == nullptr ? 0 : hash_type(*type);
}

std::uint64_t Saturation::key_of(const Frame& frame, TermId root) const {
  std::uint64_t hash = support::hash_combine(rule_, root == kNoTerm ? root : inside_.find(root));
  for (std::size_t slot = 0; slot < frame.slots.size(); ++slot) {
    if (frame.slots[slot]) {
      hash = support::hash_combine(hash, support::hash_combine(slot, hash_of(*frame.slots[slot])));
    }
  }
  if (const term::Focus* focus = frame.focus) {
    hash = support::hash_combine(hash, support::hash_combine(focus->hash, focus->operand));
  }
  return hash == 0 ? 1 : hash;
}

std::uint64_t Saturation::key_of_alike(const Rule& rule, const Frame& frame, TermId root) const {
  std::uint64_t hash = key_of_slots(rule.alike_slots, frame);
  hash = support::hash_combine(hash, support::hash_combine(inside_.find(root), frame.focus->hash));
  return hash == 0 ? 1 : hash;
}

std::uint64_t Saturation::key_of_slots(std::span<const rules::Slot> slots, const Frame& frame) const {
  std::uint64_t hash = support::mix(~std::uint64_t{rule_});
  for (const rules::Slot slot : slots) {
    hash = support::hash_combine(hash, frame.slots[slot] ? hash_of(*frame.slots[slot]) : 0);
  }
  return hash == 0 ? 1 : hash;
}

void Saturation::join(const Rule& rule, const Value& left, const Value& right, TermId exact_left,
                      TermId exact_right) {
  const std::vector<Value>* lefts = left.as_list();
  const std::vector<Value>* rights = right.as_list();
  if (lefts != nullptr || rights != nullptr) {
    if (lefts == nullptr || rights == nullptr || lefts->size() != rights->size()) {
      return;
    }
    for (std::size_t i = 0; i < lefts->size(); ++i) {
      join(rule, (*lefts)[i], (*rights)[i], kNoTerm, kNoTerm);
    }
    return;
  }
  const term::Term* a = left.as_term();
  const term::Term* b = right.as_term();
  if (a == nullptr || b == nullptr || a->id == kNoTerm || b->id == kNoTerm) {
    return;
  }
  const auto exact = [&](TermId id, TermId candidate) {
    return candidate != kNoTerm && inside_.find(candidate) == inside_.find(id) ? candidate : id;
  };
  const std::size_t before = inside_.merge_log.size();
  Edge edge;
  edge.kind = Reason::Kind::lemma;
  edge.index = rule.index;
  if (!inside_.merge(exact(a->id, exact_left), exact(b->id, exact_right), edge)) {
    ++outcome_.counters.refused;
  } else if (inside_.merge_log.size() != before) {
    ++counts_[rule.index].applied;
  }
}

void Saturation::apply(Found& found) {
  if (settled_.contains(found.key)) {
    return;  // the same match was found twice
  }
  const Rule& rule = program_.rule(found.rule);
  Frame frame;
  frame.slots = std::move(found.slots);
  frame.focus = found.focus.get();
  const std::size_t failures = inside_.failures;
  TermId exact_left = found.root;
  std::optional<Value> left;
  if (rule.left_is_goal) {
    left = Value(term::Term{found.root});
  } else {
    inside_.last_made = kNoTerm;
    left = graph_.evaluator().evaluate(*rule.left, frame);
    exact_left = inside_.last_made;
  }
  std::optional<Value> right;
  TermId exact_right = kNoTerm;
  if (left) {
    inside_.last_made = kNoTerm;
    right = graph_.evaluator().evaluate(*rule.right, frame);
    exact_right = inside_.last_made;
  }
  if (right && left->as_term() != nullptr && right->as_list() == nullptr && right->as_term() == nullptr) {
    // A number stands for a tensor full of it.
    const std::optional<sym::Scalar> scalar = right->to_scalar();
    const std::optional<TermId> full =
        scalar ? graph_.evaluator().full(*scalar, graph_.type(left->as_term()->id)) : std::nullopt;
    right = full ? std::optional(Value(term::Term{*full})) : std::nullopt;
  }
  if (!left || !right) {
    outcome_.counters.ill_typed += inside_.failures != failures ? 1 : 0;
    if (rule.pure_right) {
      settled_.insert(found.key);
    }
    return;
  }
  settled_.insert(found.key);
  join(rule, *left, *right, exact_left, exact_right);
}

void Saturation::weigh(const Found& found, std::size_t terms_before) {
  const std::uint64_t times = std::max<std::uint64_t>({1, made_.size() / usual_, found.together / few_});
  const std::uint64_t weight = std::min<std::uint64_t>(kNone - 1, found.weight * times);
  weight_.resize(inside_.nodes.size(), static_cast<std::uint32_t>(weight));
  for (const TermId term : made_) {
    if (term < terms_before) {
      weight_[term] = std::min(weight_[term], static_cast<std::uint32_t>(weight));
    }
  }
  made_.clear();
}

void Saturation::collect(bool waiting_too) {
  const auto is_large = [](const Found& found) { return found.makes >= kTermsOfOne; };
  std::stable_partition(found_.begin(), found_.end(), std::not_fn(is_large));
  makes_.assign(program_.size(), 0);
  for (const Found& found : found_) {
    makes_[found.rule] += is_large(found) ? found.makes : 0;
  }
  const auto waits = [&](Found& found) {
    if (!is_large(found) || makes_[found.rule] <= few_) {
      return false;
    }
    found.together = makes_[found.rule];
    waiting_keys_.insert(found.key);
    waiting_.push_back(std::move(found));
    return true;
  };
  std::erase_if(found_, waits);
  if (!waiting_too) {
    return;
  }
  std::ranges::stable_sort(waiting_, {}, &Found::together);
  share_ = std::max<std::uint64_t>(2 * share_, inside_.nodes.size() / kShareOfRound);
  std::uint64_t sum = 0;
  std::size_t taken = 0;
  for (; taken < waiting_.size() && sum <= share_; ++taken) {
    sum += waiting_[taken].makes;
  }
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(taken);
  found_.insert(found_.end(), std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
}

bool Saturation::next_stage() {
  if (passed_over_ == kNone) {
    return false;
  }
  admitted_ = passed_over_;
  stage_rounds_ = 0;
  first_round_ = true;
  return true;
}

Outcome Saturation::run() {
  graph_.rebuild();
  outcome_.stop = Stop::rounds;
  const auto given = static_cast<TermId>(inside_.nodes.size());
  few_ = std::max<std::uint64_t>(std::min(kTermsOfRound, limits_.nodes / kShareOfRound), given);
  usual_ = std::max<std::uint64_t>(kTermsOfOne, given / kShareOfOne);
  bool quiet = false;  // nothing new came of the last round
  std::size_t focused = limits_.focus == kNoTerm ? 0 : limits_.focused;
  while (outcome_.rounds < limits_.rounds) {
    if (inside_.live > limits_.nodes) {
      outcome_.stop = Stop::nodes;
      break;
    }
    const std::size_t live = inside_.live;
    const std::size_t merges = inside_.merge_log.size();
    if (!first_round_) {
      find_levels();
    }
    seen_epoch_ = ++inside_.epoch;
    passed_over_ = kNone;
    asked_.clear();
    application_ = Application();
    const auto nodes = static_cast<TermId>(inside_.nodes.size());
    level_.resize(nodes, 0);
    weight_.resize(nodes, 1);
    const bool narrow = focused > 0;
    if (narrow) {
      --focused;
      for (const TermId node : graph_.node_ids(limits_.focus)) {
        if (node < given) {
          match_node(node);
        }
      }
    }
    bool expired = false;
    for (TermId node = narrow ? given : 0; node < nodes && !expired; ++node) {
      match_node(node);
      expired = node % kBetweenQuestions == 0 && limits_.expired && limits_.expired();
    }
    if (expired) {
      outcome_.stop = Stop::expired;
      break;
    }
    first_round_ = narrow;
    collect(quiet);
    quiet = false;
    inside_.made = &made_;
    bool full = false;
    for (Found& found : found_) {
      const std::size_t before = inside_.nodes.size();
      apply(found);
      weigh(found, before);
      if (inside_.live > limits_.nodes) {
        full = true;
        break;
      }
    }
    inside_.made = nullptr;
    found_.clear();
    graph_.rebuild();
    ++outcome_.rounds;
    ++stage_rounds_;
    if (limits_.done && limits_.done()) {
      outcome_.stop = Stop::done;
      break;
    }
    if (full) {
      outcome_.stop = Stop::nodes;
      break;
    }
    if (inside_.live == live && inside_.merge_log.size() == merges) {
      if (narrow) {
        focused = 0;
        continue;
      }
      quiet = !waiting_.empty();
      if (quiet || next_stage()) {
        continue;
      }
      outcome_.stop = Stop::saturated;
      break;
    }
    if (!narrow && stage_rounds_ >= kRoundsOfStage) {
      quiet = !waiting_.empty();
      next_stage();
    }
  }
  for (std::uint32_t lemma = 0; lemma < counts_.size(); ++lemma) {
    counts_[lemma].normalised = lemma < inside_.normalised.size() ? inside_.normalised[lemma] : 0;
    outcome_.counters.add(lemma, counts_[lemma]);
  }
  return std::move(outcome_);
}

}  // namespace

Outcome saturate(EGraph& graph, const Program& program, const Limits& limits) {
  ENTANGLE_CHECK(&graph.rules() == &program.impl().rules, "saturation with a program of other rules");
  return Saturation(graph, program.impl(), limits).run();
}

}  // namespace entangle::egraph
