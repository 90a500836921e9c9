#include "entangle/egraph/match.h"

#include <algorithm>
#include <utility>

#include "egraph/impl.h"
#include "egraph/run.h"

namespace entangle::egraph {

using rules::Expr;
using rules::ExprKind;
using term::Frame;
using term::Value;

struct Matcher::Impl {
  EGraph& graph;
  struct Normal {
    std::uint32_t lemma = 0;
    std::vector<rules::OpId> needs;  // see collect_needs
  };
  // For each operator, its normalise lemmas in order.
  std::vector<std::vector<Normal>> normalise;
  std::size_t asked = 0;  // depth of `has` inside `has`
  // Frames of lemmas that are being matched, one inside the other; kept for reuse.
  std::vector<std::unique_ptr<Frame>> frames;
  std::size_t frames_used = 0;
  std::size_t lookups = 0;  // depth of normal forms inside look-ups
};

Matcher::Matcher(EGraph& graph) : impl_(std::make_unique<Impl>(Impl{graph, {}, 0, {}, 0, 0})) {
  const rules::RuleSet& rules = graph.rules();
  impl_->normalise.resize(rules.operators().size());
  for (std::uint32_t i = 0; i < rules.lemmas().size(); ++i) {
    const rules::Lemma& lemma = rules.lemmas()[i];
    if (!lemma.normalise || !lemma.given.empty()) {
      continue;
    }
    Impl::Normal normal{i, {}};
    collect_needs(lemma.left, normal.needs);
    if (lemma.left.kind == ExprKind::apply) {
      impl_->normalise[lemma.left.op].push_back(normal);
    } else if (lemma.left.kind == ExprKind::generic && lemma.generic) {
      for (const rules::Operator& op : rules.operators()) {
        if (has_trait(op, lemma.generic->trait)) {
          impl_->normalise[op.id].push_back(normal);
        }
      }
    }
  }
}
Matcher::~Matcher() = default;

bool Matcher::match(const Expr& pattern, TermId id, Frame& frame, const rules::OperatorVariable* generic,
                    const Found& found) {
  Run run(impl_->graph, frame, generic);
  auto report = [&] { return found(frame); };
  auto done = [&] { return run.settled(report); };
  return run.in_class(pattern, id, nullptr, done);
}

bool Matcher::match(const Expr& pattern, const term::NodeView& application, Frame& frame,
                    const rules::OperatorVariable* generic, const Found& found) {
  Run run(impl_->graph, frame, generic);
  auto report = [&] { return found(frame); };
  auto done = [&] { return run.settled(report); };
  return run.at(pattern, application, kNoTerm, done);
}

bool Matcher::match_lemma(const rules::Lemma& lemma, const term::NodeView& application, const Found& found) {
  if (impl_->frames_used == impl_->frames.size()) {
    impl_->frames.push_back(std::make_unique<Frame>());
  }
  Frame& frame = *impl_->frames[impl_->frames_used++];
  frame.slots.assign(lemma.slots.size(), std::nullopt);
  Run run(impl_->graph, frame, lemma.generic ? &*lemma.generic : nullptr);
  auto report = [&] { return found(frame); };
  auto conditions = [&] { return run.conditions(lemma.when, lemma.trigger, report); };
  auto done = [&] { return run.settled(conditions); };
  const bool stop = run.at(lemma.left, application, kNoTerm, done);
  --impl_->frames_used;
  return stop;
}

bool Matcher::may_normalise(rules::OpId op) const {
  return !impl_->normalise[op].empty();
}

TermId Matcher::normal_form(const term::NodeView& application, bool build, std::size_t* lemma_index,
                            TermId* exact) {
  EGraph& graph = impl_->graph;
  std::uint64_t below = 0;
  for (const TermId child : application.children) {
    below |= graph.impl().class_of(child).operators;
  }
  const auto there = [&](rules::OpId op) { return (below >> (op % 64) & 1) != 0; };
  for (const auto& [index, needs] : impl_->normalise[application.op]) {
    if (!std::all_of(needs.begin(), needs.end(), there)) {
      continue;
    }
    const rules::Lemma& lemma = graph.rules().lemmas()[index];
    TermId result = kNoTerm;
    match_lemma(lemma, application, [&](Frame& frame) {
      if (!build) {
        result = lookup(lemma.right, frame);
        return result != kNoTerm;
      }
      EGraph::Impl& inside = graph.impl();
      inside.last_made = kNoTerm;
      const std::optional<Value> value = graph.evaluator().evaluate(lemma.right, frame);
      const term::Term* term = value ? value->as_term() : nullptr;
      if (term == nullptr || term->id == kNoTerm) {
        return false;
      }
      result = graph.find(term->id);
      if (exact != nullptr) {
        const TermId made = inside.last_made;
        *exact = made != kNoTerm && graph.find(made) == result ? made : term->id;
      }
      return true;
    });
    if (result != kNoTerm) {
      if (lemma_index != nullptr) {
        *lemma_index = index;
      }
      return result;
    }
  }
  return kNoTerm;
}

bool Matcher::has_match(TermId id, const Expr& pattern, const Expr* condition, const Frame& frame) {
  constexpr std::size_t kDeepest = 64;
  EGraph& graph = impl_->graph;
  if (id == kNoTerm || impl_->asked >= kDeepest) {
    return false;
  }
  ++impl_->asked;
  Frame copy = frame;
  Run run(graph, copy, nullptr);
  auto found = [] { return true; };
  const std::span<const Expr> conditions =
      condition == nullptr ? std::span<const Expr>() : std::span<const Expr>(condition, 1);
  auto check = [&] { return run.conditions(conditions, {}, found); };
  auto done = [&] { return run.settled(check); };
  const bool result = run.in_class(pattern, id, nullptr, done);
  --impl_->asked;
  return result;
}

namespace {

// Whether evaluating an expression may build terms.
bool builds(const Expr& expr) {
  if (expr.kind == ExprKind::apply || expr.kind == ExprKind::generic) {
    return true;
  }
  if (expr.kind == ExprKind::call) {
    switch (expr.builtin) {
      case rules::Builtin::full:
      case rules::Builtin::full_like:
      case rules::Builtin::reshape:
      case rules::Builtin::broadcast_to:
      case rules::Builtin::fresh:
        return true;
      default:
        break;
    }
  }
  return std::any_of(expr.args.begin(), expr.args.end(), builds) ||
         std::any_of(expr.attrs.begin(), expr.attrs.end(), builds);
}

}  // namespace

TermId Matcher::lookup(const Expr& expr, Frame& frame) {
  EGraph& graph = impl_->graph;
  const auto find_application = [&](rules::OpId op, const tensor::Attr& attrs, const Ids& children) {
    const EGraph::Impl& inside = graph.impl();
    const tensor::Attr canonical = inside.canonical(op, attrs);
    Ids operands;
    inside.canonical_children(op, children.span(), operands);
    const TermId known =
        inside.probe(op, canonical, operands.span(), node_hash(op, canonical, operands.span()));
    if (known != kNoTerm) {
      return graph.find(known);
    }
    constexpr std::size_t kDeepest = 8;
    if (!may_normalise(op) || impl_->lookups >= kDeepest ||
        !graph.impl().type_of(op, canonical, operands.span(), nullptr)) {
      return kNoTerm;
    }
    ++impl_->lookups;
    const TermId result = normal_form({op, canonical, operands.span()}, false);
    --impl_->lookups;
    return result;
  };

  switch (expr.kind) {
    case ExprKind::apply: {
      Ids children;
      const auto add = [&](const Value& value, const auto& again) -> bool {
        if (const term::Term* term = value.as_term()) {
          children.push(term->id);
          return term->id != kNoTerm;
        }
        const std::vector<Value>* list = value.as_list();
        return list != nullptr && std::all_of(list->begin(), list->end(),
                                              [&](const Value& entry) { return again(entry, again); });
      };
      const auto add_expr = [&](const Expr& arg, const auto& again) -> bool {
        if (arg.kind == ExprKind::list || arg.kind == ExprKind::star) {
          return std::all_of(arg.args.begin(), arg.args.end(),
                             [&](const Expr& entry) { return again(entry, again); });
        }
        if (builds(arg)) {
          const TermId id = lookup(arg, frame);
          children.push(id);
          return id != kNoTerm;
        }
        const std::optional<Value> value = graph.evaluator().evaluate(arg, frame);
        return value && add(*value, add);
      };
      for (const Expr& arg : expr.args) {
        if (!add_expr(arg, add_expr)) {
          return kNoTerm;
        }
      }
      std::vector<tensor::Attr> attrs;
      for (const Expr& attr : expr.attrs) {
        const std::optional<Value> value = graph.evaluator().evaluate(attr, frame);
        const std::optional<tensor::Attr> entry = value ? value->to_attr() : std::nullopt;
        if (!entry) {
          return kNoTerm;
        }
        attrs.push_back(*entry);
      }
      return find_application(expr.op, tensor::Attr::list(attrs), children);
    }
    case ExprKind::generic: {
      if (frame.focus == nullptr || expr.args.size() != 1 || expr.shift != rules::Shift::none) {
        return kNoTerm;
      }
      const TermId operand = lookup(expr.args[0], frame);
      if (operand == kNoTerm) {
        return kNoTerm;
      }
      Ids children(std::span<const TermId>(frame.focus->children));
      children[frame.focus->operand] = operand;
      return find_application(frame.focus->op, frame.focus->attrs, children);
    }
    case ExprKind::conditional: {
      const smt::Truth truth = graph.evaluator().holds(expr.args[0], frame);
      return truth == smt::Truth::unknown ? kNoTerm : lookup(expr.args[is_yes(truth) ? 1 : 2], frame);
    }
    default: {
      if (builds(expr)) {
        return kNoTerm;
      }
      const std::optional<Value> value = graph.evaluator().evaluate(expr, frame);
      const term::Term* term = value ? value->as_term() : nullptr;
      return term == nullptr || term->id == kNoTerm ? kNoTerm : graph.find(term->id);
    }
  }
}

}  // namespace entangle::egraph
