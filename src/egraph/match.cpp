#include "entangle/egraph/match.h"

#include <algorithm>
#include <utility>

#include "egraph/impl.h"
#include "egraph/program.h"
#include "egraph/run.h"

namespace entangle::egraph {

using rules::Builtin;
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
    bool left_by_types = false;        // see left_says_by_types
    bool by_types = false;             // so do conditions, and there is no trigger
    // The place of the operand that the right side is.
    std::optional<std::size_t> operand;
    bool of_uniform = false;            // one of the operands is a scalar everywhere, or it does not match
    std::vector<sym::Scalar> literals;  // for each of these an operand is that everywhere, or likewise
    bool of_repeated = false;           // two of the operands are the same, or likewise
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

namespace {

// Whether an expression can be evaluated from attributes and the types of operands alone.
bool is_of_types(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::variable:
      return expr.type.base != rules::Base::tensor && expr.type.base != rules::Base::any;
    case ExprKind::call:
      switch (expr.builtin) {
        case Builtin::rank:
        case Builtin::axes:
        case Builtin::shape:
        case Builtin::dtype:
          return expr.args.size() == 1 && expr.args[0].kind == ExprKind::variable;
        case Builtin::len:
        case Builtin::zip:
        case Builtin::enumerate:
        case Builtin::range:
        case Builtin::offsets:
        case Builtin::pairs:
        case Builtin::columns:
        case Builtin::reversed:
        case Builtin::sum:
        case Builtin::product:
        case Builtin::min:
        case Builtin::max:
        case Builtin::index_of:
        case Builtin::permute:
        case Builtin::inverse:
        case Builtin::complement:
        case Builtin::insert_at:
        case Builtin::divides:
        case Builtin::is_float:
        case Builtin::is_wide_float:
        case Builtin::is_integer:
        case Builtin::is_bool:
          break;
        default:
          return false;
      }
      break;
    case ExprKind::literal:
    case ExprKind::wildcard:
    case ExprKind::unary:
    case ExprKind::binary:
    case ExprKind::conditional:
    case ExprKind::index:
    case ExprKind::range:
    case ExprKind::with:
    case ExprKind::without:
    case ExprKind::list:
    case ExprKind::star:
    case ExprKind::comprehension:
    case ExprKind::forall:
    case ExprKind::exists:
    case ExprKind::fold:
    case ExprKind::let:
    case ExprKind::aggregate:
      break;
    default:
      return false;
  }
  return std::ranges::all_of(expr.args, is_of_types);
}

// Whether an application's attributes and the types of its operands decide if it looks like the left side.
bool left_says_by_types(const rules::Lemma& lemma) {
  const Expr& left = lemma.left;
  std::vector<rules::Slot> operands;
  const auto is_operand = [&](const Expr& arg) {
    const bool first = arg.kind == ExprKind::variable && !arg.type.is_list() &&
                       std::ranges::find(operands, arg.slot) == operands.end();
    operands.push_back(arg.slot);
    return first;
  };
  return left.kind == ExprKind::apply && std::ranges::all_of(left.args, is_operand) &&
         std::ranges::all_of(left.attrs, is_of_types);
}

// The operand that the right side of a lemma with one operand after the other on its left is.
std::optional<std::size_t> operand_of_right(const rules::Lemma& lemma) {
  const std::vector<Expr>& args = lemma.left.args;
  const auto is_right = [&](const Expr& arg) {
    return arg.kind == ExprKind::variable && !arg.type.is_list() && arg.slot == lemma.right.slot;
  };
  const auto at = std::ranges::find_if(args, is_right);
  const bool known = lemma.right.kind == ExprKind::variable && at != args.end();
  return known ? std::optional(static_cast<std::size_t>(at - args.begin())) : std::nullopt;
}

// Whether the condition, or a part of it without which it does not hold, compares with the scalar that a
// tensor is everywhere: it is undefined for others.
bool compares_uniform(const Expr& condition, std::span<const Expr> operands) {
  const auto is_uniform = [&](const Expr& side) {
    const auto is_operand = [&](const Expr& operand) {
      return operand.kind == ExprKind::variable && operand.slot == side.args[0].slot;
    };
    return side.kind == ExprKind::call && side.builtin == Builtin::uniform && side.args.size() == 1 &&
           side.args[0].kind == ExprKind::variable && !side.args[0].type.is_list() &&
           std::ranges::any_of(operands, is_operand);
  };
  if (condition.kind != ExprKind::binary) {
    return false;
  }
  if (condition.operation == rules::Operation::logical_and) {
    return compares_uniform(condition.args[0], operands) || compares_uniform(condition.args[1], operands);
  }
  return condition.operation == rules::Operation::equal && std::ranges::any_of(condition.args, is_uniform);
}

// The scalars among the operands of its left side, written `uniform(c)` or as numbers.
std::vector<const Expr*> scalars_of(const rules::Lemma& lemma) {
  std::vector<const Expr*> result;
  Run::Items operands;
  Run::flatten(lemma.left.args, operands);
  for (const Expr* operand : operands) {
    if (operand->kind == ExprKind::call && operand->builtin == Builtin::uniform &&
        lemma.left.kind == ExprKind::apply) {
      result.push_back(&operand->args[0]);
    }
  }
  return result;
}

bool needs_uniform(const rules::Lemma& lemma) {
  const auto compares = [&](const Expr& when) { return compares_uniform(when, lemma.left.args); };
  return lemma.left.kind == ExprKind::apply &&
         (!scalars_of(lemma).empty() || std::ranges::any_of(lemma.when, compares));
}

// Whether they are not equal for any values of their symbols.
bool surely_differ(const sym::Scalar& a, const sym::Scalar& b) {
  const auto is_known = [](const sym::Scalar& value) { return value.is_number() || value.is_infinite(); };
  return is_known(a) && is_known(b) && !(a == b);
}

bool needs_repeated(const rules::Lemma& lemma) {
  std::vector<rules::Slot> slots;
  Run::Items operands;
  Run::flatten(lemma.left.args, operands);
  for (const Expr* operand : operands) {
    if (operand->kind == ExprKind::variable && !operand->type.is_list()) {
      slots.push_back(operand->slot);
    }
  }
  std::ranges::sort(slots);
  return lemma.left.kind == ExprKind::apply && std::ranges::adjacent_find(slots) != slots.end();
}

// Whether some operand occurs twice; so it is said, too, where they are not in order.
bool may_repeat(std::span<const TermId> operands) {
  return !std::ranges::is_sorted(operands) || std::ranges::adjacent_find(operands) != operands.end();
}

}  // namespace

NormaliseRules::Normal NormaliseRules::compile(const rules::Lemma& lemma) {
  Normal result;
  result.lemma = &lemma;
  std::vector<const Expr*> operands;  // the whole term is not built yet
  for (const Expr& arg : lemma.left.args) {
    operands.push_back(&arg);
  }
  collect_demands(lemma, operands, result.demands, result.trigger);
  result.left_by_types = result.demands.empty() && left_says_by_types(lemma);
  result.by_types =
      result.left_by_types && lemma.trigger.empty() && std::ranges::all_of(lemma.when, is_of_types);
  result.operand = operand_of_right(lemma);
  result.of_uniform = needs_uniform(lemma);
  for (const Expr* scalar : scalars_of(lemma)) {
    const auto literal = scalar->kind == ExprKind::literal ? Value(scalar->value).to_scalar() : std::nullopt;
    if (literal) {
      result.literals.push_back(*literal);
    }
  }
  result.of_repeated = needs_repeated(lemma);
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

  // All matches of the left side at an application, conditions and triggers too. `looks_like`: told if it
  // looks like the left side, whatever the conditions.
  bool match(const NormaliseRules::Normal& normal, const term::NodeView& application, const Found& found,
             bool* looks_like = nullptr);
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
                          const Found& found, bool* looks_like) {
  const rules::Lemma& lemma = *normal.lemma;
  if (frames_used == frames.size()) {
    frames.push_back(std::make_unique<Frame>());
  }
  Frame& frame = *frames[frames_used++];
  frame.slots.assign(lemma.slots.size(), std::nullopt);
  Run run(graph, frame, lemma.generic ? &*lemma.generic : nullptr, normal.demands);
  auto report = [&] { return found(frame); };
  auto conditions = [&] { return run.conditions(lemma.when, normal.trigger, report); };
  auto done = [&] {
    if (looks_like != nullptr) {
      *looks_like = true;
    }
    return run.settled(conditions);
  };
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

TermId Matcher::normal_form(const term::NodeView& application, bool build, std::uint32_t signature,
                            std::size_t* lemma_index, TermId* exact) {
  EGraph& graph = impl_->graph;
  std::uint64_t below = 0;
  bool uniform = false;
  for (const TermId child : application.children) {
    const Class& data = graph.impl().class_of(child);
    below |= data.operators;
    uniform = uniform || data.uniform != kNone;
  }
  const bool repeated = may_repeat(application.children);
  // Whether no operand can be that scalar everywhere.
  const auto is_missing = [&](const sym::Scalar& literal) {
    return std::ranges::none_of(application.children, [&](TermId child) {
      const std::uint32_t known = graph.impl().class_of(child).uniform;
      return known != kNone && !surely_differ(graph.impl().scalars[known], literal);
    });
  };
  const std::vector<NormaliseRules::Entry>& lemmas = impl_->normalise->by_op[application.op];
  Signatures& signatures = graph.impl().signatures;
  const auto found = [&](std::size_t k, TermId result) {
    if (lemma_index != nullptr) {
      *lemma_index = lemmas[k].lemma;
    }
    return result;
  };
  for (std::size_t k = 0; k < lemmas.size(); ++k) {
    if ((lemmas[k].operands & ~below) != 0) {
      continue;
    }
    const NormaliseRules::Normal& normal = impl_->normalise->rule(lemmas[k].lemma);
    if ((normal.of_uniform && !uniform) || (normal.of_repeated && !repeated) ||
        std::ranges::any_of(normal.literals, is_missing)) {
      continue;
    }
    const std::uint64_t bit = normal.left_by_types && k < 64 ? std::uint64_t{1} << k : 0;
    if ((signatures[signature].refused & bit) != 0) {
      continue;
    }
    if (build && normal.by_types && (signatures[signature].taken & bit) != 0) {
      const TermId operand = application.children[*normal.operand];
      if (exact != nullptr) {
        *exact = operand;
      }
      return found(k, graph.find(operand));
    }
    const rules::Lemma& lemma = *normal.lemma;
    TermId result = kNoTerm;
    bool matches = false;
    bool looks_like = false;
    const auto use = [&](Frame& frame) {
      matches = true;
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
    };
    impl_->match(normal, application, use, &looks_like);
    if (result != kNoTerm) {
      if (build && normal.by_types && normal.operand && !graph.impl().commutative(application.op)) {
        signatures[signature].taken |= bit;
      }
      return found(k, result);
    }
    if (normal.by_types ? !matches : !looks_like) {
      signatures[signature].refused |= bit;
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
  if (expr.kind == ExprKind::call && makes_terms(expr.builtin)) {
    return true;
  }
  return std::any_of(expr.args.begin(), expr.args.end(), builds) ||
         std::any_of(expr.attrs.begin(), expr.attrs.end(), builds);
}

}  // namespace

TermId Matcher::lookup(const Expr& expr, Frame& frame) {
  EGraph& graph = impl_->graph;
  const auto find_application = [&](rules::OpId op, const tensor::Attr& attrs, const Ids& children) {
    const EGraph::Impl& inside = graph.impl();
    EGraph::Prepared application = graph.prepare(op, attrs);
    const tensor::Attr& canonical = application.attrs;
    Ids operands;
    inside.canonical_children(op, children.span(), operands);
    const TermId known =
        inside.probe(op, canonical, operands.span(), node_hash(op, canonical, operands.span()));
    if (known != kNoTerm) {
      return graph.find(known);
    }
    constexpr std::size_t kDeepest = 8;
    if (!may_normalise(op) || impl_->lookups >= kDeepest) {
      return kNoTerm;
    }
    const std::uint32_t signature = graph.impl().signature_of(application, operands.span());
    if (graph.impl().type_of(signature, operands.span(), nullptr) == Signature::kUntyped) {
      return kNoTerm;
    }
    ++impl_->lookups;
    const TermId result = normal_form({op, canonical, operands.span()}, false, signature);
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
