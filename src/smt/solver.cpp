#include "entangle/smt/solver.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "delayed_z3.h"
#include "entangle/support/check.h"
#include "entangle/support/text.h"
#include "node.h"

namespace entangle::smt {

namespace {

std::atomic<bool> any_context = false;

// A context and what has been translated into it.
class Translator {
 public:
  Translator() { any_context = true; }

  z3::context& context() { return context_; }
  // Whether something translated so far holds the integer quotient or remainder of what is not linear.
  bool divides_products() const { return divides_products_; }

  z3::expr translate(const Term& term) {
    const auto it = known_.find(term);
    if (it != known_.end()) {
      return it->second;
    }
    std::vector<z3::expr> arguments;
    for (const Term& argument : term.arguments()) {
      arguments.push_back(translate(argument));
    }
    const z3::expr result = build(term, arguments);
    known_.emplace(term, result);
    return result;
  }

 private:
  z3::sort sort(Sort sort) {
    switch (sort) {
      case Sort::boolean:
        return context_.bool_sort();
      case Sort::integer:
        return context_.int_sort();
      case Sort::real:
        return context_.real_sort();
    }
    return context_.bool_sort();
  }

  z3::expr constant(const Term& term) {
    if (const auto value = term.as_boolean()) {
      return context_.bool_val(*value);
    }
    const std::string text = term.as_rational()->get_str();
    return term.sort() == Sort::integer ? context_.int_val(text.c_str()) : context_.real_val(text.c_str());
  }

  z3::func_decl declare(const Function& function) {
    z3::sort_vector domain(context_);
    for (const Sort one : function.domain()) {
      domain.push_back(sort(one));
    }
    return context_.function(context_.str_symbol(function.name().c_str()), domain, sort(function.range()));
  }

  z3::expr apply(const Function& function, const std::vector<z3::expr>& arguments) {
    z3::expr_vector operands(context_);
    for (const z3::expr& argument : arguments) {
      operands.push_back(argument);
    }
    return declare(function)(operands);
  }

  // n-ary sums and products in one node.
  z3::expr nary(Z3_ast (*make)(Z3_context, unsigned, const Z3_ast*), const std::vector<z3::expr>& arguments) {
    std::vector<Z3_ast> asts;
    for (const z3::expr& argument : arguments) {
      asts.push_back(argument);
    }
    const Z3_ast result = make(context_, static_cast<unsigned>(asts.size()), asts.data());
    context_.check_error();
    return {context_, result};
  }

  z3::expr build(const Term& term, const std::vector<z3::expr>& arguments) {
    switch (term.kind()) {
      case Kind::constant:
        return constant(term);
      case Kind::variable:
        return context_.constant(context_.str_symbol(term.name().c_str()), sort(term.sort()));
      case Kind::apply:
        return apply(term.function(), arguments);
      case Kind::add:
        return nary(z3::Z3_mk_add.function(), arguments);
      case Kind::multiply:
        return nary(z3::Z3_mk_mul.function(), arguments);
      case Kind::divide:
        return arguments[0] / arguments[1];
      case Kind::div:
        divides_products_ = divides_products_ || holds_product(term.arguments()[0]);
        return arguments[0] / arguments[1];
      case Kind::mod:
        divides_products_ = divides_products_ || holds_product(term.arguments()[0]);
        return z3::mod(arguments[0], arguments[1]);
      case Kind::to_real:
        return z3::to_real(arguments[0]);
      case Kind::ite:
        return z3::ite(arguments[0], arguments[1], arguments[2]);
      case Kind::equal:
        return arguments[0] == arguments[1];
      case Kind::less_equal:
        return arguments[0] <= arguments[1];
      case Kind::less:
        return arguments[0] < arguments[1];
      case Kind::logical_not:
        return !arguments[0];
      case Kind::logical_and:
        return nary(z3::Z3_mk_and.function(), arguments);
      case Kind::logical_or:
        return nary(z3::Z3_mk_or.function(), arguments);
    }
    ENTANGLE_CHECK(false, "a term of unknown kind");
  }

  static bool holds_product(const Term& term) {
    if (term.kind() == Kind::multiply && std::ranges::count_if(term.arguments(), [](const Term& one) {
                                           return one.kind() != Kind::constant;
                                         }) > 1) {
      return true;
    }
    return std::ranges::any_of(term.arguments(), holds_product);
  }

  bool divides_products_ = false;
  z3::context context_;
  std::unordered_map<Term, z3::expr> known_;
};

// What a check needs of Z3, made by the first one.
struct Engine {
  Engine(const Limits& limits, bool divided_products)
      : translator(std::make_shared<Translator>()),
        // The plain core: strategies chosen by the general solver measure time.
        solver(translator->context(), z3::Z3_mk_simple_solver(translator->context())) {
    z3::params parameters(translator->context());
    parameters.set("random_seed", limits.seed);
    // The procedure for nonlinear real arithmetic knows nothing of quotients, and where products are divided
    // neither steps nor interrupts end it.
    parameters.set("arith.nl.nra", !divided_products);
    if (limits.steps != 0) {
      parameters.set("rlimit", limits.steps);
    }
    solver.set(parameters);
  }

  std::uint64_t steps_so_far() {
    const z3::stats statistics = solver.statistics();
    for (unsigned i = 0; i < statistics.size(); ++i) {
      if (statistics.key(i) == "rlimit count") {
        return statistics.is_uint(i) ? statistics.uint_value(i)
                                     : static_cast<std::uint64_t>(statistics.double_value(i));
      }
    }
    return 0;
  }

  std::shared_ptr<Translator> translator;
  z3::solver solver;
};

// --- SMT-LIB text
// ---------------------------------------------------------------------------------------------

void declare(const Term& term, std::set<std::string>* lines) {
  if (term.kind() == Kind::variable) {
    lines->insert("(declare-const " + quoted(term.name()) + " " + std::string(sort_name(term.sort())) +
                  ")\n");
  } else if (term.kind() == Kind::apply) {
    const Function function = term.function();
    std::vector<std::string> domain;
    for (const Sort sort : function.domain()) {
      domain.emplace_back(sort_name(sort));
    }
    lines->insert("(declare-fun " + quoted(function.name()) + " (" + support::join(domain, " ") + ") " +
                  std::string(sort_name(function.range())) + ")\n");
  }
}

// Visits every subterm once, arguments first.
template <class Visit>
void walk(const Term& term, std::unordered_map<Term, int>* uses, const Visit& visit) {
  if (++(*uses)[term] > 1) {
    return;
  }
  for (const Term& argument : term.arguments()) {
    walk(argument, uses, visit);
  }
  visit(term);
}

std::string smtlib(const std::vector<Term>& assertions) {
  std::set<std::string> declarations;
  std::vector<Term> in_order;
  std::unordered_map<Term, int> uses;
  for (const Term& assertion : assertions) {
    walk(assertion, &uses, [&](const Term& term) {
      declare(term, &declarations);
      in_order.push_back(term);
    });
  }
  std::string text;
  for (const std::string& line : declarations) {
    text += line;
  }
  // Terms used more than once get a name, so that the text is not longer than the terms.
  std::unordered_map<Term, std::string> names;
  for (const Term& term : in_order) {
    if (uses[term] > 1 && !term.arguments().empty()) {
      const std::string name = "$" + std::to_string(names.size());
      text += "(define-fun " + name + " () " + std::string(sort_name(term.sort())) + " " +
              print(term, names, false) + ")\n";
      names.emplace(term, name);
    }
  }
  for (const Term& assertion : assertions) {
    text += "(assert " + print(assertion, names, true) + ")\n";
  }
  return text;
}

}  // namespace

// --- Model
// ----------------------------------------------------------------------------------------------------

struct Model::Impl {
  std::shared_ptr<Translator> translator;
  z3::model model;

  std::optional<mpq_class> number(const Term& term) {
    try {
      const z3::expr value = model.eval(translator->translate(term), true);
      if (!value.is_numeral()) {
        return std::nullopt;
      }
      mpq_class result(z3::Z3_get_numeral_string(value.ctx(), value), 10);
      result.canonicalize();
      return result;
    } catch (const z3::exception&) {
      return std::nullopt;
    }
  }
};

std::optional<std::int64_t> Model::integer(const Term& term) const {
  const auto value = rational(term);
  const bool fits = value && value->get_den() == 1 && value->get_num().fits_slong_p();
  return fits ? std::optional<std::int64_t>(value->get_num().get_si()) : std::nullopt;
}

std::optional<mpq_class> Model::rational(const Term& term) const {
  ENTANGLE_CHECK(term.sort() != Sort::boolean, "Model::rational of a boolean");
  return impl_->number(term);
}

// --- Solver
// ---------------------------------------------------------------------------------------------------

namespace {

using Time = Patience::Clock::duration;

// Steps bound the search, but not all that the solver does besides.
constexpr Time kBackstop = std::chrono::seconds(60);
// Until a check that was interrupted is left behind.
constexpr Time kGrace = std::chrono::seconds(2);

thread_local Patience* patience_of_thread = nullptr;
std::atomic<bool> left_behind = false;

struct Checked {
  Answer answer = Answer::unknown;
  std::string reason;
  std::shared_ptr<Model::Impl> model;
  std::uint64_t steps = 0;
  bool failed = false;   // the engine is of no more use
  bool gave_up = false;  // for the time it took
  std::exception_ptr error;
};

Checked check_with(const std::shared_ptr<Engine>& engine) {
  Checked checked;
  try {
    engine->solver.push();
    const std::uint64_t before = engine->steps_so_far();
    const z3::check_result result = engine->solver.check();
    const std::uint64_t after = engine->steps_so_far();
    checked.steps = after > before ? after - before : 0;
    if (result == z3::sat) {
      checked.answer = Answer::sat;
      checked.model =
          std::make_shared<Model::Impl>(Model::Impl{engine->translator, engine->solver.get_model()});
    } else if (result == z3::unsat) {
      checked.answer = Answer::unsat;
    } else {
      checked.reason = engine->solver.reason_unknown();
    }
    engine->solver.pop();
  } catch (const z3::exception& exception) {
    checked = {};
    checked.reason = exception.msg();
    checked.failed = true;
  } catch (...) {
    checked.error = std::current_exception();
  }
  return checked;
}

// A thread of its own asks: where neither steps nor an interrupt end the check it is left to itself.
Checked check_within(const std::shared_ptr<Engine>& engine, Time allowed) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Checked> checked;
  };
  const auto shared = std::make_shared<Shared>();
  std::thread asking([shared, engine] {
    Checked checked = check_with(engine);
    const std::lock_guard lock(shared->mutex);
    shared->checked = std::move(checked);
    shared->changed.notify_all();
  });
  const auto answered = [&] { return shared->checked.has_value(); };
  std::unique_lock lock(shared->mutex);
  const bool in_time = shared->changed.wait_for(lock, allowed, answered);
  if (!in_time) {
    z3::Z3_interrupt(engine->translator->context());
    if (!shared->changed.wait_for(lock, kGrace, answered)) {
      left_behind = true;
      asking.detach();
      Checked none;
      none.gave_up = true;
      return none;
    }
  }
  lock.unlock();
  asking.join();
  Checked checked = std::move(*shared->checked);
  // An answer that came all the same is one.
  checked.gave_up = !in_time && checked.answer == Answer::unknown;
  return checked;
}

}  // namespace

Patience::Patience(std::optional<std::chrono::milliseconds> total)
    : outer_(patience_of_thread), start_(Clock::now()) {
  if (total) end_ = start_ + *total;
  patience_of_thread = this;
}

Patience::~Patience() {
  patience_of_thread = outer_;
}

Patience* Patience::current() {
  return patience_of_thread;
}

Patience::Clock::duration Patience::rest() const {
  if (lost_) return Clock::duration::zero();
  return end_ ? *end_ - Clock::now() : Clock::duration::max();
}

void Patience::lose() {
  lost_ = true;
}

bool solver_left_behind() {
  return left_behind;
}

struct Solver::Impl {
  explicit Impl(Limits given) : limits(given) {}

  Limits limits;
  std::vector<Term> assertions;
  std::vector<std::size_t> levels;  // how many assertions there were at each push
  std::shared_ptr<Engine> engine;

  std::string reason;
  std::shared_ptr<Model::Impl> model;
  std::uint64_t steps = 0;
  bool gave_up = false;
  bool divided_products = false;

  void add(const Term& assertion) {
    if (engine) {
      engine->solver.add(engine->translator->translate(assertion));
    }
  }

  void start() {
    if (engine) {
      return;
    }
    engine = std::make_shared<Engine>(limits, divided_products);
    std::size_t next = 0;
    for (const std::size_t level : levels) {
      for (; next < level; ++next) {
        add(assertions[next]);
      }
      engine->solver.push();
    }
    for (; next < assertions.size(); ++next) {
      add(assertions[next]);
    }
  }

  // An engine for all assertions, of the kind that they need.
  void prepare() {
    start();
    if (divided_products || !engine->translator->divides_products()) return;
    divided_products = true;
    engine = nullptr;
    start();
  }

  Answer check() {
    reason.clear();
    model = nullptr;
    steps = 0;
    Patience::Clock::duration allowed = limits.time ? Patience::Clock::duration(*limits.time) : kBackstop;
    if (const Patience* patience = Patience::current()) allowed = std::min(allowed, patience->rest());
    gave_up = allowed <= Patience::Clock::duration::zero();
    if (gave_up) return unknown_in_time();
    try {
      prepare();
    } catch (const z3::exception& exception) {
      reason = exception.msg();
      engine = nullptr;
      return Answer::unknown;
    }
    const Checked checked = check_within(engine, allowed);
    if (checked.error) std::rethrow_exception(checked.error);
    gave_up = checked.gave_up;
    if (gave_up) {
      engine = nullptr;
      if (Patience* patience = Patience::current()) patience->lose();
      return unknown_in_time();
    }
    reason = checked.reason;
    model = checked.model;
    steps = checked.steps;
    // Whatever state it is in: the next check starts anew.
    if (checked.failed) engine = nullptr;
    return checked.answer;
  }

  Answer unknown_in_time() {
    reason = "no answer in time";
    return Answer::unknown;
  }
};

Solver::Solver(Limits limits) : impl_(std::make_unique<Impl>(limits)) {}

Solver::~Solver() = default;

void Solver::add(const Term& assertion) {
  ENTANGLE_CHECK(assertion.sort() == Sort::boolean, "an assertion that is not boolean");
  impl_->assertions.push_back(assertion);
  impl_->add(assertion);
}

void Solver::push() {
  impl_->levels.push_back(impl_->assertions.size());
  if (impl_->engine) {
    impl_->engine->solver.push();
  }
}

void Solver::pop(unsigned levels) {
  ENTANGLE_CHECK(levels <= impl_->levels.size(), "Solver::pop of more levels than there are");
  if (levels == 0) {
    return;
  }
  const std::size_t remaining = impl_->levels.size() - levels;
  impl_->assertions.resize(impl_->levels[remaining]);
  impl_->levels.resize(remaining);
  if (impl_->engine) {
    impl_->engine->solver.pop(levels);
  }
}

Answer Solver::check() {
  return impl_->check();
}

Answer Solver::check_implies(const Term& conclusion) {
  push();
  add(!conclusion);
  const Answer answer = impl_->check();
  pop();
  return answer;
}

const std::string& Solver::reason() const {
  return impl_->reason;
}

bool Solver::gave_up() const {
  return impl_->gave_up;
}

Model Solver::model() const {
  ENTANGLE_CHECK(impl_->model != nullptr, "Solver::model without a satisfiable check");
  return Model(impl_->model);
}

std::uint64_t Solver::steps() const {
  return impl_->steps;
}

std::string Solver::to_smtlib() const {
  return smtlib(impl_->assertions);
}

std::string to_string(Answer answer) {
  switch (answer) {
    case Answer::sat:
      return "sat";
    case Answer::unsat:
      return "unsat";
    case Answer::unknown:
      return "unknown";
  }
  return {};
}

std::string solver_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned build = 0;
  unsigned revision = 0;
  z3::Z3_get_version(&major, &minor, &build, &revision);
  return "Z3 " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

bool solver_was_used() {
  return any_context;
}

}  // namespace entangle::smt
