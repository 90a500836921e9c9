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

// The normalise lemmas of a rule set, ready for matching.
struct NormaliseRules {
  struct Normal {
    const rules::Lemma* lemma = nullptr;
    std::vector<Demand> demands;
    std::vector<const Expr*> trigger;  // but for the demands
  };
  // A lemma that may match an application of some operator.
  struct Entry {
    std::uint32_t lemma = 0;
    std::uint64_t operands = 0;  // see rules::LemmaHead::Opening
  };

  explicit NormaliseRules(const rules::RuleSet& rules);
  static Normal compile(const rules::Lemma& lemma);
  // Compiled when it is first asked for.
  const Normal& rule(std::uint32_t lemma) {
    std::unique_ptr<const Normal>& known = compiled_[lemma];
    if (known == nullptr) {
      known = std::make_unique<const Normal>(compile(rules_.lemmas()[lemma]));
    }
    return *known;
  }

  std::vector<std::vector<Entry>> by_op;  // in order
  std::vector<bool> vanishes_on_one;      // see Matcher

 private:
  const rules::RuleSet& rules_;
  std::vector<std::unique_ptr<const Normal>> compiled_;
};

NormaliseRules::Normal NormaliseRules::compile(const rules::Lemma& lemma) {
  Normal result;
  result.lemma = &lemma;
  std::vector<const Expr*> operands;  // the whole term is not built yet
  for (const Expr& arg : lemma.left.args) {
    operands.push_back(&arg);
  }
  collect_demands(lemma.trigger, operands, result.demands, result.trigger);
  return result;
}

NormaliseRules::NormaliseRules(const rules::RuleSet& rules)
    : by_op(rules.operators().size()),
      vanishes_on_one(rules.operators().size()),
      rules_(rules),
      compiled_(rules.lemmas().size()) {
  using Kind = rules::LemmaHead::Opening::Kind;
  for (std::uint32_t lemma = 0; lemma < rules.lemmas().size(); ++lemma) {
    const rules::LemmaHead& head = rules.lemmas().head(lemma);
    if (!head.normalise) {
      continue;
    }
    const Entry entry{lemma, head.forward.operands};
    if (head.transparent) {
      vanishes_on_one[head.forward.op] = true;
    }
    if (head.forward.kind == Kind::application) {
      by_op[head.forward.op].push_back(entry);
    } else if (head.forward.kind == Kind::generic) {
      for (rules::OpId op = 0; op < rules.operators().size(); ++op) {
        if (rules.operators().head(op).has(head.trait)) {
          by_op[op].push_back(entry);
        }
      }
    }
  }
}

struct Matcher::Impl {
  EGraph& graph;
  std::shared_ptr<NormaliseRules> normalise;
  std::size_t asked = 0;  // depth of `has` inside `has`
  // Frames of lemmas that are being matched, one inside the other; kept for reuse.
  std::vector<std::unique_ptr<Frame>> frames;
  std::size_t frames_used = 0;
  std::size_t lookups = 0;  // depth of normal forms inside look-ups

  // All matches of the left side at an application, conditions and triggers too.
  bool match(const NormaliseRules::Normal& normal, const term::NodeView& application, const Found& found);
};

Matcher::Matcher(EGraph& graph, const Matcher* like)
    : impl_(std::make_unique<Impl>(
          Impl{graph,
               like != nullptr ? like->impl_->normalise : std::make_shared<NormaliseRules>(graph.rules()),
               0,
               {},
               0,
               0})) {}
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
  return impl_->match(NormaliseRules::compile(lemma), application, found);
}

bool Matcher::Impl::match(const NormaliseRules::Normal& normal, const term::NodeView& application,
                          const Found& found) {
  const rules::Lemma& lemma = *normal.lemma;
  if (frames_used == frames.size()) {
    frames.push_back(std::make_unique<Frame>());
  }
  Frame& frame = *frames[frames_used++];
  frame.slots.assign(lemma.slots.size(), std::nullopt);
  Run run(graph, frame, lemma.generic ? &*lemma.generic : nullptr, normal.demands);
  auto report = [&] { return found(frame); };
  auto conditions = [&] { return run.conditions(lemma.when, normal.trigger, report); };
  auto done = [&] { return run.settled(conditions); };
  const bool stop = run.at(lemma.left, application, kNoTerm, done);
  --frames_used;
  return stop;
}

bool Matcher::may_normalise(rules::OpId op) const {
  return !impl_->normalise->by_op[op].empty();
}

bool Matcher::vanishes_on_one(rules::OpId op) const {
  return impl_->normalise->vanishes_on_one[op];
}

TermId Matcher::normal_form(const term::NodeView& application, bool build, std::size_t* lemma_index,
                            TermId* exact) {
  EGraph& graph = impl_->graph;
  std::uint64_t below = 0;
  for (const TermId child : application.children) {
    below |= graph.impl().class_of(child).operators;
  }
  for (const NormaliseRules::Entry& entry : impl_->normalise->by_op[application.op]) {
    if ((entry.operands & ~below) != 0) {
      continue;
    }
    const NormaliseRules::Normal& normal = impl_->normalise->rule(entry.lemma);
    const rules::Lemma& lemma = *normal.lemma;
    TermId result = kNoTerm;
    impl_->match(normal, application, [&](Frame& frame) {
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
        *lemma_index = entry.lemma;
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
