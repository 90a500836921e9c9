// Patterns over lists of operands: runs (`*xs`, a list variable, `*_`), operands in any order,
// comprehensions.

#include <algorithm>
#include <functional>
#include <utility>

#include "egraph/impl.h"
#include "egraph/run.h"

namespace entangle::egraph {

using rules::Expr;
using rules::ExprKind;
using term::Value;

void Run::flatten(std::span<const Expr> args, Items& out) {
  for (const Expr& arg : args) {
    if (arg.kind == ExprKind::list) {
      flatten(arg.args, out);
    } else if (arg.kind == ExprKind::star && arg.args[0].kind == ExprKind::list) {
      flatten(arg.args[0].args, out);
    } else {
      out.push(&arg);
    }
  }
}

bool Run::is_run(const Expr& item) {
  return item.kind == ExprKind::star || item.kind == ExprKind::comprehension || item.type.is_list();
}

const Expr* Run::comprehension_in(const Expr& run) {
  const Expr& inner = run.kind == ExprKind::star ? run.args[0] : run;
  return inner.kind == ExprKind::comprehension ? &inner : nullptr;
}

std::size_t Run::least_length(const Expr& item) {
  if (!is_run(item)) {
    return 1;
  }
  const Expr& inner = item.kind == ExprKind::star ? item.args[0] : item;
  return inner.kind == ExprKind::comprehension || inner.type.nonempty ? 1 : 0;
}

bool Run::grows_by_elements(const Expr& item) const {
  const Expr* comprehension = comprehension_in(item);
  if (comprehension == nullptr) {
    return false;
  }
  const auto is_free = [&](const Expr& list) {
    return list.kind == ExprKind::variable && list.slot < frame_.slots.size() && !frame_.slots[list.slot];
  };
  const Expr& over = comprehension->args[1];
  return over.kind == ExprKind::call && over.builtin == rules::Builtin::zip
             ? std::ranges::all_of(over.args, is_free)
             : is_free(over);
}

bool Run::run(const Expr& item, std::span<const TermId> operands, const Path* path, Next next) {
  const Expr& inner = item.kind == ExprKind::star ? item.args[0] : item;
  if (inner.kind == ExprKind::wildcard) {
    return next();
  }
  if (inner.kind == ExprKind::comprehension) {
    return comprehension(inner, operands, path, next);
  }
  std::vector<Value> values;
  values.reserve(operands.size());
  for (const TermId operand : operands) {
    values.emplace_back(term::Term{graph_.find(operand)});
  }
  return value(inner, Value(std::move(values)), next);
}

bool Run::plausible(const Expr& pattern, TermId operand) const {
  const bool applied = pattern.kind == ExprKind::apply;
  const bool there =
      !applied || (graph_.impl().class_of(operand).operators & rules::operator_bit(pattern.op)) != 0;
  return there && ((!applied && pattern.kind != ExprKind::variable) || demanded(pattern, operand));
}

bool Run::sequence(Exprs items, std::span<const TermId> operands, const Path* path, Next next) {
  if (items.empty()) {
    return operands.empty() && next();
  }
  const Expr& first = *items[0];
  if (!is_run(first)) {
    if (operands.empty()) {
      return false;
    }
    auto rest = [&] { return sequence(items.subspan(1), operands.subspan(1), path, next); };
    return in_class(first, operands[0], path, rest);
  }
  std::size_t others = 0;
  bool last_run = true;
  for (const Expr* item : items.subspan(1)) {
    others += least_length(*item);
    last_run = last_run && !is_run(*item);
  }
  std::size_t least = least_length(first);
  if (operands.size() < others + least) {
    return false;
  }
  const std::size_t most = operands.size() - others;
  least = last_run ? most : least;
  const Expr* after = items.size() > 1 && !is_run(*items[1]) ? items[1] : nullptr;
  if (least < most && grows_by_elements(first)) {
    return growing(items, operands, least, most, path, next);
  }
  for (std::size_t length = least; length <= most; ++length) {
    if (after != nullptr && !plausible(*after, operands[length])) {
      continue;
    }
    auto rest = [&] { return sequence(items.subspan(1), operands.subspan(length), path, next); };
    if (run(first, operands.first(length), path, rest)) {
      return true;
    }
  }
  return false;
}

// --- Operands in any order

struct Run::Selection {
  Small<const Expr*, 8> elements;  // one operand each
  const Expr* each = nullptr;      // beside another run: takes every operand that its element matches
  const Expr* rest = nullptr;      // takes what is left, in order
  std::span<const TermId> operands;
  const Path* path = nullptr;
  Small<char, 32> used;

  // The places of the operands that are one of these classes, ascending.
  void places_of(const EGraph& graph, Ids& classes, Small<std::uint32_t, 16>& places);

 private:
  std::vector<std::pair<TermId, std::uint32_t>> by_class_;  // of the operands, sorted; when first asked for
};

void Run::Selection::places_of(const EGraph& graph, Ids& classes, Small<std::uint32_t, 16>& places) {
  if (by_class_.empty()) {
    for (std::uint32_t place = 0; place < operands.size(); ++place) {
      by_class_.emplace_back(graph.find(operands[place]), place);
    }
    std::ranges::sort(by_class_);
  }
  std::sort(classes.begin(), classes.end());
  TermId* const end = std::unique(classes.begin(), classes.end());
  for (const TermId* id = classes.begin(); id != end; ++id) {
    auto at = std::ranges::lower_bound(by_class_, std::pair(*id, 0U));
    for (; at != by_class_.end() && at->first == *id; ++at) {
      places.push(at->second);
    }
  }
  std::sort(places.begin(), places.end());
}

bool Run::any_order(Exprs items, std::span<const TermId> operands, const Path* path, Next next) {
  Selection selection;
  selection.operands = operands;
  selection.path = path;
  // The elements that say most come first; a variable that is free matches anything.
  const auto is_free = [&](const Expr& item) {
    return item.kind == ExprKind::wildcard ||
           (item.kind == ExprKind::variable && item.slot < frame_.slots.size() && !frame_.slots[item.slot]);
  };
  for (const bool free : {false, true}) {
    for (const Expr* item : items) {
      if (is_run(*item)) {
        if (free) {
          continue;
        }
        const Expr*& place = comprehension_in(*item) != nullptr ? selection.each : selection.rest;
        if (place != nullptr) {
          return false;  // two runs in any order would be ambiguous
        }
        place = item;
      } else if (is_free(*item) == free) {
        selection.elements.push(item);
      }
    }
  }
  if (selection.rest == nullptr) {
    std::swap(selection.rest, selection.each);
  }
  const std::size_t least =
      (selection.each != nullptr ? 1 : 0) + (selection.rest != nullptr ? least_length(*selection.rest) : 0);
  if (operands.size() < selection.elements.size() + least ||
      (selection.rest == nullptr && operands.size() != selection.elements.size())) {
    return false;
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    selection.used.push(0);
  }
  return select(selection, 0, next);
}

bool Run::owners_of(const Expr& element, std::size_t most, Ids& owners) const {
  const auto known = [&](const Expr& expr) -> const term::Term* {
    const bool variable = expr.kind == ExprKind::variable && expr.slot < frame_.slots.size();
    return variable && frame_.slots[expr.slot] ? frame_.slots[expr.slot]->as_term() : nullptr;
  };
  if (const term::Term* term = known(element)) {
    owners.push(graph_.find(term->id));
    return true;
  }
  if (element.kind != ExprKind::apply) {
    return false;
  }
  const auto operand = std::find_if(element.args.begin(), element.args.end(), known);
  if (operand == element.args.end()) {
    return false;
  }
  const EGraph::Impl& inside = graph_.impl();
  EGraph::Use at = inside.class_of(known(*operand)->id).first_use;
  for (std::size_t seen = 0; at != EGraph::kNoUse; at = inside.uses[at].next) {
    if (++seen > most) {
      return false;
    }
    const Node& node = inside.nodes[inside.uses[at].term];
    if (node.state == NodeState::live && node.op == element.op) {
      owners.push(inside.find(inside.uses[at].term));
    }
  }
  return true;
}

bool Run::select(Selection& selection, std::size_t from, Next next) {
  if (from == selection.elements.size()) {
    if (selection.rest == nullptr) {
      return next();
    }
    Ids left;
    for (std::size_t i = 0; i < selection.operands.size(); ++i) {
      if (selection.used[i] == 0) {
        left.push(selection.operands[i]);
      }
    }
    return selection.each != nullptr ? each_that_matches(*comprehension_in(*selection.each), *selection.rest,
                                                         left.span(), selection.path, next)
                                     : run(*selection.rest, left.span(), selection.path, next);
  }
  const Expr& element = *selection.elements[from];
  Ids owners;
  Small<std::uint32_t, 16> places;
  const bool narrowed = owners_of(element, selection.operands.size(), owners);
  if (narrowed && !owners.empty()) {
    selection.places_of(graph_, owners, places);
  }
  const std::size_t count = narrowed ? places.size() : selection.operands.size();
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = narrowed ? places[k] : k;
    if (selection.used[i] != 0) {
      continue;
    }
    // Operands of a commutative operator are sorted: equal ones are neighbours, and one of them is enough.
    if (i > 0 && selection.used[i - 1] == 0 && selection.operands[i - 1] == selection.operands[i]) {
      continue;
    }
    selection.used[i] = 1;
    auto rest = [&] { return select(selection, from + 1, next); };
    const bool stop = in_class(element, selection.operands[i], selection.path, rest);
    selection.used[i] = 0;
    if (stop) {
      return true;
    }
  }
  return false;
}

// --- [p for v, w in zip(vs, ws) if c]

struct Run::Zip {
  struct Source {
    const Expr* expr = nullptr;
    rules::Slot binder = rules::kNoSlot;
    std::optional<std::vector<Value>> given;  // known before
    std::vector<Value> collected;
  };
  const Expr* element = nullptr;
  const Expr* condition = nullptr;
  std::span<const TermId> operands;
  const Path* path = nullptr;
  std::vector<Source> sources;
  std::size_t matched = 0;
  // Of a run that takes the operands its element matches: what takes the others, and which were taken.
  const Expr* rest = nullptr;
  std::vector<TermId> left;
  std::vector<char> taken;
  // Of a run of unknown length: from where on it may end, and what matches the operands after it.
  const std::function<bool(std::size_t)>* after = nullptr;
  std::size_t least = 0;

  // False if the lists are not what a pattern may range over.
  bool open(const Expr& pattern, std::span<const TermId> over_operands, const Path* around) {
    element = &pattern.args[0];
    condition = pattern.args.size() > 2 ? &pattern.args[2] : nullptr;
    operands = over_operands;
    path = around;
    const Expr& over = pattern.args[1];
    const std::vector<rules::Slot>& binders = pattern.binders;
    if (over.kind == ExprKind::call && over.builtin == rules::Builtin::zip &&
        over.args.size() == binders.size()) {
      for (std::size_t i = 0; i < binders.size(); ++i) {
        sources.push_back({&over.args[i], binders[i], {}, {}});
      }
      return true;
    }
    sources.push_back({&over, binders[0], {}, {}});
    return binders.size() == 1;
  }
};

// Every operand that the element matches in agreement with the first of them; all others go to `rest`. What
// the elements share may differ between operands: each operand is taken at least once, if it matches at all.
// Two operands are tried in all ways, so that what cancels in a sum of two sums meets.
bool Run::each_that_matches(const Expr& pattern, const Expr& rest, std::span<const TermId> operands,
                            const Path* path, Next next) {
  Zip zip;
  if (!zip.open(pattern, operands, path)) {
    return false;
  }
  zip.rest = &rest;
  zip.taken.assign(operands.size(), 0);
  for (std::size_t first = 0; first < operands.size(); ++first) {
    if (zip.taken[first] == 0 && element(zip, first, next)) {
      return true;
    }
    zip.left.push_back(operands[first]);
  }
  return false;
}

bool Run::comprehension(const Expr& pattern, std::span<const TermId> operands, const Path* path, Next next) {
  Zip zip;
  if (!zip.open(pattern, operands, path)) {
    return false;
  }
  for (Zip::Source& source : zip.sources) {
    if (!bound(*source.expr)) {
      continue;
    }
    const std::optional<Value> known = graph_.evaluator().evaluate(*source.expr, frame_);
    const std::vector<Value>* list = known ? known->as_list() : nullptr;
    if (list == nullptr || list->size() != operands.size()) {
      return false;
    }
    source.given = *list;
  }
  return element(zip, 0, next);
}

bool Run::growing(Exprs items, std::span<const TermId> operands, std::size_t least, std::size_t most,
                  const Path* path, Next next) {
  Zip zip;
  if (!zip.open(*comprehension_in(*items[0]), operands.first(most), path)) {
    return false;
  }
  const std::function<bool(std::size_t)> after = [&](std::size_t length) {
    const bool may_follow = items.size() == 1 || is_run(*items[1]) || plausible(*items[1], operands[length]);
    return may_follow && sequence(items.subspan(1), operands.subspan(length), path, next);
  };
  zip.after = &after;
  zip.least = least;
  return element(zip, 0, next);
}

bool Run::element(Zip& zip, std::size_t k, Next next) {
  if (zip.after != nullptr) {
    auto others = [&] { return (*zip.after)(k); };
    if (k >= zip.least && zipped(zip, 0, others)) {
      return true;
    }
    if (k == zip.operands.size()) {
      return false;
    }
  }
  if (k == zip.operands.size()) {
    if (zip.rest == nullptr) {
      return zipped(zip, 0, next);
    }
    if (zip.left.size() < least_length(*zip.rest)) {
      return false;
    }
    auto others = [&] { return run(*zip.rest, zip.left, zip.path, next); };
    return zipped(zip, 0, others);
  }
  for (const Zip::Source& source : zip.sources) {
    if (source.given) {
      frame_.slots[source.binder] = (*source.given)[k];
    } else {
      frame_.slots[source.binder].reset();
    }
  }
  // The first element decides what the elements share. For each of the others the first match that agrees is
  // taken: all combinations of several matches per element would be exponentially many.
  const bool first = zip.matched == 0;
  const bool all_ways = zip.matched < (zip.rest != nullptr ? 2 : 1);
  bool taken = false;
  bool stop = false;
  auto matched = [&] {
    if (zip.condition != nullptr && !is_yes(graph_.evaluator().holds(*zip.condition, frame_))) {
      return false;
    }
    Small<std::size_t, 4> added;
    bool complete = true;
    for (std::size_t i = 0; i < zip.sources.size(); ++i) {
      Zip::Source& source = zip.sources[i];
      if (source.given) {
        continue;
      }
      if (!frame_.slots[source.binder]) {
        complete = false;
        break;
      }
      source.collected.push_back(*frame_.slots[source.binder]);
      added.push(i);
    }
    if (complete) {
      // The next element binds them anew; afterwards they are what the pattern around us bound them to.
      std::vector<std::optional<Value>> kept;
      for (const Zip::Source& source : zip.sources) {
        kept.push_back(std::move(frame_.slots[source.binder]));
        frame_.slots[source.binder].reset();
      }
      taken = true;
      if (zip.rest != nullptr) {
        zip.taken[k] = 1;
      }
      ++zip.matched;
      stop = element(zip, k + 1, next);
      --zip.matched;
      for (std::size_t i = 0; i < zip.sources.size(); ++i) {
        frame_.slots[zip.sources[i].binder] = std::move(kept[i]);
      }
    }
    for (const std::size_t i : added) {
      zip.sources[i].collected.pop_back();
    }
    return stop || (complete && !all_ways);
  };
  in_class(*zip.element, zip.operands[k], zip.path, matched);
  if (!taken && zip.rest == nullptr) {
    alone(*zip.element, zip.operands[k], zip.path, matched);
  }
  if (!taken && !first && zip.rest != nullptr) {
    zip.left.push_back(zip.operands[k]);
    stop = element(zip, k + 1, next);
    zip.left.pop_back();
  }
  for (const Zip::Source& source : zip.sources) {
    frame_.slots[source.binder].reset();
  }
  return stop;
}

bool Run::alone(const Expr& pattern, TermId operand, const Path* path, Next next) {
  if (pattern.kind != ExprKind::apply || !graph_.matcher().vanishes_on_one(pattern.op)) {
    return false;
  }
  Items items;
  flatten(pattern.args, items);
  const auto known = [&](const Expr& attr) { return bound(attr); };
  return items.size() == 1 && is_run(*items[0]) &&
         std::all_of(pattern.attrs.begin(), pattern.attrs.end(), known) &&
         run(*items[0], std::span(&operand, 1), path, next);
}

// All elements are matched: gives the lists their values.
bool Run::zipped(Zip& zip, std::size_t from, Next next) {
  while (from < zip.sources.size() && zip.sources[from].given) {
    ++from;
  }
  if (from == zip.sources.size()) {
    return next();
  }
  auto rest = [&] { return zipped(zip, from + 1, next); };
  return value(*zip.sources[from].expr, Value(zip.sources[from].collected), rest);
}

}  // namespace entangle::egraph
