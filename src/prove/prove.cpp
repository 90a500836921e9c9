#include "entangle/prove/prove.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>

#include "entangle/smt/query_cache.h"
#include "entangle/smt/solver.h"
#include "entangle/support/text.h"
#include "prove/counterexample.h"
#include "prove/form.h"
#include "prove/right_side.h"
#include "prove/sampler.h"
#include "prove/subject.h"

namespace entangle::prove {

using term::Value;
using Answer = Replayer::Answer;

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
constexpr std::size_t kLeast = 16;         // searches, while no instance is found
constexpr std::size_t kSmaller = 40;       // searches with limits, where a counterexample is known

// Limits under which smaller counterexamples are looked for, from the smallest up.
std::vector<Sampler::Limits> smaller_limits() {
  std::vector<Sampler::Limits> result;
  for (std::size_t size = 1; size <= 5; ++size) {
    for (std::size_t rank = 0; rank <= 3; ++rank) {
      for (std::size_t length = 1; length <= 3; ++length) result.push_back({rank, size, length});
    }
  }
  std::ranges::stable_sort(result, {},
                           [](const Sampler::Limits& one) { return one.size * 2 + one.rank + one.length; });
  return result;
}

class Examination {
 public:
  // `values`: none where nothing rests on them.
  Examination(const rules::RuleSet& rules, const Subject& subject, Values* values, const Options& options)
      : rules_(rules),
        subject_(subject),
        values_(values),
        lemma_(subject.lemma),
        options_(options),
        typing_(rules, oracle_),
        sampler_(subject, typing_, options.seed),
        replayer_(subject.lemma.text, options.seed, options.minimise) {}

  Result run() {
    result_.name = lemma_.name;
    result_.span = lemma_.span;
    for (const rules::OpId op : sampler_.operators()) {
      const bool tried = try_instances(op);
      if (!replayer_.found()) {
        generalise(op, tried);
        if (replayer_.found() && options_.minimise) look_for_smaller(op);
      }
      if (replayer_.found()) {
        result_.outcome = Outcome::refuted;
        result_.counterexample = replayer_.found()->text;
        result_.largest = replayer_.found()->largest;
        return std::move(result_);
      }
    }
    judge();
    return std::move(result_);
  }

 private:
  // Whether any instance was evaluated.
  bool try_instances(rules::OpId op) {
    // A generic lemma has many operators to be tried with.
    const bool many = subject_.operators.size() > 1;
    const std::size_t wanted = many ? (options_.instances + 7) / 8 : options_.instances;
    std::size_t found = 0;
    for (std::size_t n = 0; n < std::max(kTries * wanted, kLeast) && found < wanted; ++n) {
      if (n >= std::max(2 * wanted, kLeast) && found == 0) break;
      if (!sampler_.next(op)) continue;
      if (instance() != Answer::undefined) ++found;
      if (!replayer_.found()) continue;
      if (options_.minimise) look_for_smaller(op);
      return true;
    }
    return found > 0;
  }

  // The replayer keeps the smallest.
  void look_for_smaller(rules::OpId op) {
    for (const Sampler::Limits& limits : smaller_limits()) {
      sampler_.limit(limits);
      bool any = false;
      for (std::size_t n = 0; n < kSmaller; ++n) {
        if (sampler_.next(op) && instance() == Answer::differ) any = true;
      }
      if (any) return;
    }
  }

  // Compares the sides of the sampler's instance.
  Answer instance() {
    const std::vector<term::TermId> right = right_side();
    if (right.empty()) {
      ++result_.undefined;
      why_ = sampler_.evaluator().reason();
      if (!subject_.total) return Answer::undefined;
    }
    const Answer answer = replayer_.compare({sampler_.terms(), sampler_.left(), right, sampler_.equations(),
                                             sampler_.describe(), why_, subject_.inside});
    if (answer == Answer::undefined) {
      ++result_.skipped;
      why_ = replayer_.why();
      return answer;
    }
    ++result_.instances;
    ++result_.ranks[sampler_.terms().type(sampler_.left()[0]).rank()];
    return answer;
  }

  void judge() {
    if (lemma_.axiom) {
      result_.outcome = Outcome::axiom;
      result_.reason = lemma_.because;
      return;
    }
    const std::string forms = std::to_string(result_.forms) + " forms";
    const bool complete = unproved_.empty() && result_.forms > result_.vacuous;
    if (options_.prove && complete && (result_.instances > 0 || options_.instances == 0)) {
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
        result_.reason = result_.gave_up ? unproved_ : "no form was found";
      }
    } else if (result_.gave_up) {
      result_.reason = unproved_;
    } else if (result_.skipped > 0) {
      result_.reason = "no instance could be evaluated: " + why_;
    } else if (options_.prove && complete) {
      result_.reason = forms + " proved, but no instance was found that could be evaluated";
    } else if (result_.undefined > 0 || result_.vacuous > 0) {
      result_.reason = "the right side was undefined on every instance" + (why_.empty() ? "" : ": " + why_);
    } else {
      result_.reason = never_applies();
    }
  }

  // Why no instance was found.
  std::string never_applies() const {
    if (sampler_.reached() == 0) return "no instance was found: its left side was never well-typed";
    // Where no condition held, the last one that was asked about never did.
    for (std::size_t k = lemma_.when.size(); k-- > 0;) {
      if (const std::size_t count = sampler_.failed()[k]; count > 0) {
        return "no instance was found: `" + rules::to_string(lemma_.when[k]) + "` held for none of " +
               std::to_string(count) + " left sides";
      }
    }
    return "no instance was found";
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
      limits.rank = options_.rank;
      limits.length = options_.length;
      limits.runs = options_.runs;
      limits.questions = options_.questions;
      limits.evaluate = options_.instances > 0 && result_.instances == 0;
      const auto run = [&] { return Forms(rules_, subject_, op, limits, unsatisfiable, replayer_).run(); };
      FormResults forms = run();
      if (forms.instances == 0 && forms.longest > 0) {
        // Some lemmas are about longer lists only.
        limits.length += 1;
        forms = run();
      }
      // Some have too many forms with long lists.
      while (!forms.complete && !forms.refuted && !forms.gave_up && forms.longest > 2 && limits.length > 2) {
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
    if (forms.evaluated) ++result_.instances;
    result_.longest = std::max(result_.longest, forms.longest);
    result_.proved_ranks.insert(forms.ranks.begin(), forms.ranks.end());
    if (unproved_.empty()) unproved_ = forms.unproved;
    if (limited_.empty()) limited_ = forms.limited;
    const Outcome values = shown_of_values(forms.operators);
    if (values == Outcome::bounded) ++result_.bounded;
    if (forms.gave_up) {
      result_.gave_up = true;
      unproved_ = "gave up after " + std::to_string(smt::Patience::current()->passed().count()) + " s";
    }
    if (!forms.complete && unproved_.empty()) unproved_ = "not all forms were looked at: " + forms.limit;
    // With some operators the right side is never defined.
    if (op == rules::kNoOp || (forms.instances == forms.vacuous && !has_instances)) return;
    const bool all = forms.instances > forms.vacuous && forms.unproved.empty() && forms.complete &&
                     values >= Outcome::bounded;
    result_.operators.push_back({rules_.op(op).name,
                                 all && forms.bounded == 0 && values == Outcome::proved ? Outcome::proved
                                 : all                                                  ? Outcome::bounded
                                 : has_instances                                        ? Outcome::tested
                                                                                        : Outcome::unknown,
                                 forms.instances});
    if (forms.instances == 0 && unproved_.empty()) {
      unproved_ = "there are instances with " + rules_.op(op).name + ", but no form";
    }
  }

  // The least that is shown of the operators' values.
  Outcome shown_of_values(const std::set<rules::OpId>& operators) {
    Outcome least = Outcome::proved;
    if (values_ == nullptr) return least;
    for (const rules::OpId op : operators) {
      const Result* result = values_->result(op);
      if (result == nullptr || result->outcome >= least) continue;
      least = result->outcome;
      std::string& reason = least == Outcome::bounded ? limited_ : unproved_;
      if (reason.empty()) {
        reason = "`" + result->name + "` is " + to_string(least) + ": it may read what is not there";
      }
    }
    return least;
  }

  std::vector<term::TermId> right_side() {
    const std::vector<term::TermId>& left = sampler_.left();
    return right_terms(sampler_.evaluator(), lemma_, sampler_.frame(), left.size(),
                       sampler_.terms().type(left[0]));
  }

  const rules::RuleSet& rules_;
  const Subject subject_;
  Values* const values_;
  const rules::Lemma& lemma_;
  const Options& options_;
  smt::Oracle oracle_;
  term::Typing typing_;
  Sampler sampler_;
  Replayer replayer_;
  Result result_;
  std::string why_;
  std::string unproved_, limited_;
  std::map<std::string, FormResults> forms_;  // by the operator's signature
};

}  // namespace

namespace {

Result timed(const rules::RuleSet& rules, const Subject& subject, Values* values, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const smt::Patience patience(options.time_limit);
  Result result = Examination(rules, subject, values, options).run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

Result examine(const rules::RuleSet& rules, const rules::Lemma& lemma, Values& values,
               const Options& options) {
  return timed(rules, subject_of(rules, lemma), &values, options);
}

Result examine(const rules::RuleSet& rules, const rules::Lemma& lemma, const Options& options) {
  const Claims claims(rules);
  Values values(claims, options);
  return examine(rules, lemma, values, options);
}

namespace {

// `values`: none for the claims about these themselves.
Result examine_claim(const Claims& claims, const Claim& claim, Values* values, const Options& options) {
  if (claim.lemma.axiom) {
    // Nothing but the declaration says what such an operator is: there is nothing to try it against.
    Result result;
    result.name = claim.lemma.name;
    result.span = claim.lemma.span;
    result.outcome = Outcome::axiom;
    result.reason = claim.lemma.because;
    return result;
  }
  const rules::OpId op = claim.lemma.generic ? claim.op : rules::kNoOp;
  return timed(*claims.rules(), {claim.lemma, {op}, claim.clause, true, claim.inside}, values, options);
}

}  // namespace

Result examine(const Claims& claims, const Claim& claim, Values& values, const Options& options) {
  return claim.inside ? values.result(claim) : examine_claim(claims, claim, &values, options);
}

Result examine(const Claims& claims, const Claim& claim, const Options& options) {
  Values values(claims, options);
  return examine(claims, claim, values, options);
}

struct Values::Entry {
  std::once_flag once;
  Result result;
};

Values::Values(const Claims& claims, const Options& options) : claims_(claims), options_(options) {
  for (const Claim& claim : claims.all()) {
    if (claim.inside) entries_[claim.op] = std::make_unique<Entry>();
  }
}

Values::~Values() = default;

const Result& Values::result(const Claim& claim) {
  Entry& entry = *entries_.at(claim.op);
  std::call_once(entry.once, [&] { entry.result = examine_claim(claims_, claim, nullptr, options_); });
  return entry.result;
}

const Result* Values::result(rules::OpId op) {
  const Claim* claim = claims_.inside(op);
  return claim == nullptr ? nullptr : &result(*claim);
}

}  // namespace entangle::prove
