#include "entangle/prove/prove.h"

#include <chrono>
#include <functional>
#include <random>

#include "entangle/eval/interpret.h"
#include "entangle/smt/query_cache.h"
#include "entangle/smt/solver.h"
#include "entangle/support/text.h"
#include "prove/form.h"
#include "prove/sampler.h"

namespace entangle::prove {

using eval::Array;
using term::Value;

std::string to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::refuted:
      return "refuted";
    case Outcome::unknown:
      return "unknown";
    case Outcome::tested:
      return "tested";
    case Outcome::bounded:
      return "bounded";
    case Outcome::proved:
      return "proved";
    case Outcome::axiom:
      return "axiom";
  }
  return "";
}

namespace {

constexpr std::uint32_t kSteps = 400'000;  // of the solver, for one question
constexpr std::size_t kTries = 5;          // searches per instance wanted

class Examination {
 public:
  Examination(const rules::RuleSet& rules, const rules::Lemma& lemma, const Options& options)
      : rules_(rules),
        lemma_(lemma),
        options_(options),
        typing_(rules, oracle_),
        sampler_(lemma, typing_, options.seed),
        random_(options.seed) {}

  Result run() {
    result_.name = lemma_.name;
    result_.span = lemma_.span;
    for (const rules::OpId op : sampler_.operators()) {
      // A generic lemma has many operators to be tried with.
      const std::size_t wanted = lemma_.generic ? (options_.instances + 7) / 8 : options_.instances;
      std::size_t found = 0;
      for (std::size_t n = 0; n < kTries * wanted && found < wanted; ++n) {
        if (n >= 2 * wanted && found == 0) break;
        if (!sampler_.next(op)) continue;
        if (instance()) {
          ++found;
        }
        if (!result_.counterexample.empty()) {
          result_.outcome = Outcome::refuted;
          return std::move(result_);
        }
      }
      generalise(op, found > 0);
      if (!result_.counterexample.empty()) {
        result_.outcome = Outcome::refuted;
        return std::move(result_);
      }
      if (op != rules::kNoOp && found > 0) result_.operators.push_back(rules_.op(op).name);
    }
    judge();
    return std::move(result_);
  }

 private:
  // Compares the sides of the sampler's instance; whether both were evaluated.
  bool instance() {
    const std::vector<term::TermId> right = right_side();
    if (right.empty()) {
      ++result_.undefined;
      why_ = sampler_.evaluator().reason();
      return false;
    }
    eval::Interpreter interpreter(sampler_.terms());
    fill(interpreter, sampler_.terms());
    for (std::size_t k = 0; k < right.size(); ++k) {
      if (!agree(interpreter, sampler_.terms(), sampler_.left()[k], right[k], sampler_.describe()))
        return false;
      if (!result_.counterexample.empty()) return true;
    }
    ++result_.instances;
    ++result_.ranks[sampler_.terms().type(sampler_.left()[0]).rank()];
    return true;
  }

  void judge() {
    if (lemma_.axiom) {
      result_.outcome = Outcome::axiom;
      result_.reason = lemma_.because;
      return;
    }
    const std::string forms = std::to_string(result_.forms) + " forms";
    const bool complete = unproved_.empty() && result_.forms > result_.vacuous;
    if (options_.prove && complete) {
      const bool all = result_.bounded == 0;
      result_.outcome = all ? Outcome::proved : Outcome::bounded;
      result_.reason = (all ? "" : std::to_string(result_.bounded) + " of ") + forms;
      if (!all) result_.reason += " for sizes up to 3 only: " + limited_;
      if (result_.longest > 0) result_.reason += ", lists up to " + std::to_string(result_.longest);
      return;
    }
    if (result_.instances > 0) {
      result_.outcome = Outcome::tested;
      if (result_.forms > 0) {
        result_.reason =
            std::to_string(result_.proved + result_.bounded) + " of " + forms + " proved; " + unproved_;
      } else if (options_.prove) {
        result_.reason = "no form was found";
      }
    } else if (result_.skipped > 0) {
      result_.reason = "no instance could be evaluated: " + why_;
    } else if (result_.undefined > 0 || result_.vacuous > 0) {
      result_.reason = "the right side was undefined on every instance" + (why_.empty() ? "" : ": " + why_);
    } else {
      result_.reason = "no instance was found";
    }
  }

  static bool unsatisfiable(const std::vector<smt::Term>& assertions) {
    smt::Solver solver({kSteps, {}, 0});
    for (const smt::Term& assertion : assertions) solver.add(assertion);
    return smt::QueryCache::shared().implies(solver, smt::Term::boolean(false), kSteps) == smt::Answer::unsat;
  }

  // Proves every form with that operator.
  void generalise(rules::OpId op, bool has_instances) {
    if (!options_.prove || lemma_.axiom) return;
    // Operators that differ in their names only are proved together.
    const std::string alike = op == rules::kNoOp ? std::string() : signature(rules_, rules_.op(op));
    auto found = forms_.find(alike);
    if (found == forms_.end()) {
      Limits limits;
      const Replay differs = [&](eval::Terms& terms, term::TermId left, term::TermId right,
                                 const std::string& what) {
        eval::Interpreter interpreter(terms);
        fill(interpreter, terms);
        agree(interpreter, terms, left, right, what);
        return !result_.counterexample.empty();
      };
      const auto run = [&] { return Forms(rules_, lemma_, op, limits, unsatisfiable, differs).run(); };
      FormResults forms = run();
      if (forms.instances == 0 && forms.longest > 0) {
        // Some lemmas are about longer lists only.
        limits.length += 1;
        forms = run();
      }
      // Some have too many forms with long lists.
      while (!forms.complete && !forms.refuted && forms.longest > 2 && limits.length > 2) {
        limits.length -= 1;
        forms = run();
      }
      result_.runs += forms.runs;
      found = forms_.emplace(alike, std::move(forms)).first;
    }
    const FormResults& forms = found->second;
    result_.forms += forms.instances;
    result_.proved += forms.proved + forms.vacuous;
    result_.vacuous += forms.vacuous;
    result_.bounded += forms.bounded;
    result_.longest = std::max(result_.longest, forms.longest);
    result_.proved_ranks.insert(forms.ranks.begin(), forms.ranks.end());
    if (unproved_.empty()) unproved_ = forms.unproved;
    if (limited_.empty()) limited_ = forms.limited;
    if (!forms.complete && unproved_.empty()) unproved_ = "not all forms were looked at: " + forms.limit;
    if (op == rules::kNoOp || forms.instances > 0) return;
    result_.without_form.push_back(rules_.op(op).name);
    if (has_instances && unproved_.empty()) {
      unproved_ = "there are instances with " + rules_.op(op).name + ", but no form";
    }
  }

  std::vector<term::TermId> right_side() {
    const tensor::TensorType type = sampler_.terms().type(sampler_.left()[0]);
    const auto id = sampler_.evaluator().evaluate_term(lemma_.right, sampler_.frame(), &type);
    if (!id || *id == term::kNoTerm) return {};
    return {*id};
  }

  void fill(eval::Interpreter& interpreter, const eval::Terms& terms) {
    for (std::size_t id = 0; id < terms.size(); ++id) {
      const auto leaf = static_cast<term::TermId>(id);
      if (terms.node(leaf).op != rules::kNoOp) continue;
      const tensor::TensorType& type = terms.type(leaf);
      std::int64_t low = type.dtype == tensor::DType::b8 ? 0 : tensor::is_integer(type.dtype) ? -2 : -3;
      std::int64_t high = type.dtype == tensor::DType::b8 ? 1 : tensor::is_integer(type.dtype) ? 5 : 3;
      if (const term::Interval bounds = terms.interval(leaf); bounds.low && bounds.high) {
        low = bounds.low->value();
        high = bounds.high->value();
      }
      Array array;
      for (const sym::Int size : type.shape) array.shape.push_back(size.value());
      eval::for_each_index(array.shape, [&](const std::vector<std::int64_t>&) {
        array.elements.emplace_back(static_cast<long>(
            low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1))));
      });
      interpreter.set(leaf, std::move(array));
    }
  }

  bool agree(eval::Interpreter& interpreter, const eval::Terms& terms, term::TermId left, term::TermId right,
             const std::string& what) {
    if (!(terms.type(left) == terms.type(right))) {
      refute(interpreter, terms, left, right, what, "  the types differ\n");
      return true;
    }
    const Array* first = interpreter.value(left);
    const Array* second = first != nullptr ? interpreter.value(right) : nullptr;
    if (second == nullptr) {
      ++result_.skipped;
      why_ = interpreter.why();
      return false;
    }
    if (first->elements == second->elements) return true;
    std::string text =
        "  left  = " + eval::to_string(*first) + "\n  right = " + eval::to_string(*second) + "\n";
    eval::for_each_index(first->shape, [&](const std::vector<std::int64_t>& at) {
      const std::size_t place = first->offset(at);
      if (first->elements[place] == second->elements[place] || text.find("first difference") != text.npos)
        return;
      std::vector<std::string> entries;
      for (const std::int64_t entry : at) entries.push_back(std::to_string(entry));
      text += "  first difference at [" + support::join(entries, ", ") +
              "]: " + first->elements[place].get_str() + " against " + second->elements[place].get_str() +
              "\n";
    });
    refute(interpreter, terms, left, right, what, text);
    return true;
  }

  void refute(eval::Interpreter& interpreter, const eval::Terms& terms, term::TermId left, term::TermId right,
              const std::string& what, const std::string& how) {
    std::string text = "  with " + what + "\n";
    text += "  left:  " + terms.print(left) + " : " + tensor::to_string(terms.type(left)) + "\n";
    text += "  right: " + terms.print(right) + " : " + tensor::to_string(terms.type(right)) + "\n";
    for (std::size_t id = 0; id < terms.size(); ++id) {
      const auto leaf = static_cast<term::TermId>(id);
      if (terms.node(leaf).op != rules::kNoOp) continue;
      if (const Array* value = interpreter.value(leaf)) {
        text += "  " + terms.label(leaf) + " = " + eval::to_string(*value) + "\n";
      }
    }
    result_.counterexample = text + how;
  }

  const rules::RuleSet& rules_;
  const rules::Lemma& lemma_;
  const Options& options_;
  smt::Oracle oracle_;
  term::Typing typing_;
  Sampler sampler_;
  std::mt19937_64 random_;
  Result result_;
  std::string why_;
  std::string unproved_, limited_;
  std::map<std::string, FormResults> forms_;  // by the operator's signature
};

}  // namespace

Result examine(const rules::RuleSet& rules, const rules::Lemma& lemma, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  Result result = Examination(rules, lemma, options).run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace entangle::prove
