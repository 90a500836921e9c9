#include <algorithm>
#include <cstdio>
#include <set>

#include "entangle/prove/prove.h"
#include "entangle/smt/solver.h"
#include "entangle/support/hash.h"
#include "prove/builder.h"

namespace entangle::prove {

namespace {

using rules::Expr;
using rules::ExprKind;

// Raised whenever what is proved, or how far, changes.
constexpr int kMethod = 5;

std::string text_of(const rules::RuleSet& rules, const rules::Operator& op) {
  std::string text = op.name + ": " + signature(rules, op);
  if (op.value) text += " = " + rules::to_string(*op.value);
  return text + "\n";
}

// Whether terms of operators that are not named may be built.
bool builds(const Expr& expr) {
  if (expr.kind == ExprKind::generic) return true;
  if (expr.kind == ExprKind::call) {
    switch (expr.builtin) {
      case rules::Builtin::full:
      case rules::Builtin::full_like:
      case rules::Builtin::uniform:
      case rules::Builtin::reshape:
      case rules::Builtin::broadcast_to:
        return true;
      default:
        break;
    }
  }
  return std::ranges::any_of(expr.args, builds) || std::ranges::any_of(expr.attrs, builds);
}

void collect(const Expr& expr, std::set<rules::OpId>& ops) {
  if (expr.kind == ExprKind::apply) ops.insert(expr.op);
  for (const Expr& arg : expr.args) collect(arg, ops);
  for (const Expr& attr : expr.attrs) collect(attr, ops);
}

std::string digest(const std::string& text) {
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(support::hash_bytes(text)),
                static_cast<unsigned long long>(support::hash_bytes("second " + text)));
  return hex;
}

}  // namespace

Fingerprints::Fingerprints(const rules::RuleSet& rules, const Options& options) : options_(options) {
  for (const rules::Operator& op : rules.operators()) {
    operators_.push_back(text_of(rules, op));
    all_ += operators_.back();
  }
  for (const rules::Law& law : rules.laws()) {
    laws_ += rules::to_string(law.left) + " == " + rules::to_string(law.right) + "\n";
  }
}

std::string Fingerprints::start(const rules::Lemma& lemma) const {
  return smt::solver_version() + " " + std::to_string(kMethod) + " " + std::to_string(options_.instances) +
         " " + std::to_string(options_.seed) + " " + std::to_string(options_.rank) + " " +
         std::to_string(options_.length) + " " + std::to_string(options_.runs) + " " +
         std::to_string(options_.questions) + "\n" + lemma.text;
}

std::string Fingerprints::of(const rules::Lemma& lemma) const {
  std::vector<const Expr*> parts{&lemma.left, &lemma.right};
  for (const rules::Given& given : lemma.given) {
    parts.push_back(&given.pattern);
    if (given.equal_to) parts.push_back(&*given.equal_to);
  }
  for (const Expr& condition : lemma.when) parts.push_back(&condition);
  std::string text = start(lemma);
  std::set<rules::OpId> ops;
  bool all = lemma.generic.has_value();
  for (const Expr* part : parts) {
    // Definitions are written out in these.
    text += "\n" + rules::to_string(*part);
    collect(*part, ops);
    all = all || builds(*part);
  }
  text += "\n";
  if (all) {
    text += all_;
  } else {
    for (const rules::OpId id : ops) text += operators_[id];
  }
  return digest(text + laws_);
}

std::string Fingerprints::of(const Claim& claim) const {
  return digest(start(claim.lemma) + "\n" + rules::to_string(claim.lemma.left) + "\n" +
                rules::to_string(claim.lemma.right) + "\n" + operators_[claim.op] + laws_);
}

}  // namespace entangle::prove
