#include "entangle/smt/term.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "entangle/support/check.h"
#include "entangle/support/hash.h"
#include "entangle/support/text.h"
#include "node.h"

namespace entangle::smt {

std::string quoted(const std::string& name) {
  static constexpr std::string_view kAllowed = "~!@$%^&*_-+=<>.?/";
  const bool simple = !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
                      std::all_of(name.begin(), name.end(), [](char c) {
                        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               kAllowed.find(c) != std::string_view::npos;
                      });
  return simple ? name : "|" + name + "|";
}

std::string_view sort_name(Sort sort) {
  return sort == Sort::boolean ? "Bool" : sort == Sort::integer ? "Int" : "Real";
}

namespace {

std::uint64_t hash_number(const mpz_class& value) {
  std::uint64_t hash = sgn(value) < 0 ? 3 : 5;
  for (std::size_t i = 0; i < mpz_size(value.get_mpz_t()); ++i) {
    hash = support::hash_combine(hash, mpz_getlimbn(value.get_mpz_t(), static_cast<mp_size_t>(i)));
  }
  return hash;
}

bool same_function(const std::optional<Function>& a, const std::optional<Function>& b) {
  return a.has_value() == b.has_value() && (!a || *a == *b);
}

bool same_content(const Term::Node& a, const Term::Node& b) {
  return a.kind == b.kind && a.sort == b.sort && a.value == b.value && a.name == b.name &&
         a.arguments == b.arguments && same_function(a.function, b.function);
}

std::uint64_t hash_content(const Term::Node& node) {
  std::uint64_t hash =
      support::hash_combine(static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.sort));
  hash = support::hash_combine(hash, support::hash_bytes(node.name));
  hash = support::hash_combine(hash, hash_number(node.value.get_num()));
  hash = support::hash_combine(hash, hash_number(node.value.get_den()));
  if (node.function) {
    hash = support::hash_combine(hash, support::hash_bytes(node.function->name()));
  }
  for (const Term& argument : node.arguments) {
    hash = support::hash_combine(hash, argument.hash());
  }
  return hash;
}

// All live nodes. A node whose count has dropped to zero is dead, even while it is still listed: it is taken
// off the list by the handle that dropped it, and a new one may stand beside it until then.
struct Table {
  struct Shard {
    std::mutex mutex;
    std::unordered_multimap<std::uint64_t, const Term::Node*> nodes;
  };
  std::array<Shard, 16> shards;

  Shard& shard(std::uint64_t hash) { return shards[hash % shards.size()]; }
};

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

bool acquire_if_alive(const Term::Node* node) {
  std::uint64_t count = node->references.load(std::memory_order_relaxed);
  while (count != 0) {
    if (node->references.compare_exchange_weak(count, count + 1, std::memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

void acquire(const Term::Node* node) {
  if (node != nullptr) {
    node->references.fetch_add(1, std::memory_order_relaxed);
  }
}

// Frees without recursion: terms may be deep.
void release(const Term::Node* node);

}  // namespace

struct TermFactory {
  static Term make(Term::Node content) {
    content.hash = hash_content(content);
    for (const Term& argument : content.arguments) {
      content.bound_variables = std::max(content.bound_variables, argument.node_->bound_variables);
    }
    if (content.kind == Kind::forall || content.kind == Kind::exists) {
      content.bound_variables += content.arguments.size() - 1;
    }
    Table::Shard& shard = table().shard(content.hash);
    const std::lock_guard lock(shard.mutex);
    const auto [first, last] = shard.nodes.equal_range(content.hash);
    for (auto it = first; it != last; ++it) {
      if (same_content(*it->second, content) && acquire_if_alive(it->second)) {
        return Term(it->second);
      }
    }
    auto* const node = new Term::Node(std::move(content));
    node->references.store(1, std::memory_order_relaxed);
    shard.nodes.emplace(node->hash, node);
    return Term(node);
  }

  static Term make(Kind kind, Sort sort, std::vector<Term> arguments) {
    Term::Node content;
    content.kind = kind;
    content.sort = sort;
    content.arguments = std::move(arguments);
    return make(std::move(content));
  }

  static std::size_t bound_variables(const Term& term) { return term.node_->bound_variables; }

  static const Term::Node* take(Term* term) { return std::exchange(term->node_, nullptr); }
};

namespace {

void release(const Term::Node* node) {
  std::vector<const Term::Node*> dropped = {node};
  while (!dropped.empty()) {
    const Term::Node* const next = dropped.back();
    dropped.pop_back();
    if (next == nullptr || next->references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
      continue;
    }
    {
      Table::Shard& shard = table().shard(next->hash);
      const std::lock_guard lock(shard.mutex);
      const auto [first, last] = shard.nodes.equal_range(next->hash);
      shard.nodes.erase(
          std::find_if(first, last, [next](const auto& entry) { return entry.second == next; }));
    }
    auto* const owned = const_cast<Term::Node*>(next);
    for (Term& argument : owned->arguments) {
      dropped.push_back(TermFactory::take(&argument));
    }
    delete owned;
  }
}

Term rational_constant(const mpq_class& value, Sort sort) {
  Term::Node content;
  content.kind = Kind::constant;
  content.sort = sort;
  content.value = value;
  return TermFactory::make(std::move(content));
}

bool is_arithmetic(const Term& term) {
  return term.sort() != Sort::boolean;
}

bool is_constant(const Term& term, long value) {
  return term.kind() == Kind::constant && is_arithmetic(term) && *term.as_rational() == value;
}

void check_sort(const Term& term, Sort sort) {
  ENTANGLE_CHECK(term.sort() == sort, "a term of the wrong sort: " + to_string(term));
}

// Brings numbers to a common sort: reals, if one of them is real.
Sort join_sorts(std::vector<Term>* terms, Sort sort) {
  for (const Term& term : *terms) {
    ENTANGLE_CHECK(is_arithmetic(term), "arithmetic on a boolean: " + to_string(term));
    sort = term.sort() == Sort::real ? Sort::real : sort;
  }
  if (sort == Sort::real) {
    for (Term& term : *terms) {
      term = to_real(term);
    }
  }
  return sort;
}

// Sums and products, flattened, with the constants folded into one at the end.
Term combine(Kind kind, std::vector<Term> terms, Sort sort) {
  sort = join_sorts(&terms, sort);
  const bool adding = kind == Kind::add;
  mpq_class constant = adding ? 0 : 1;
  std::vector<Term> rest;
  for (const Term& term : terms) {
    const std::vector<Term> parts = term.kind() == kind ? term.arguments() : std::vector<Term>{term};
    for (const Term& part : parts) {
      if (const auto value = part.kind() == Kind::constant ? part.as_rational() : std::nullopt) {
        constant = adding ? mpq_class(constant + *value) : mpq_class(constant * *value);
      } else {
        rest.push_back(part);
      }
    }
  }
  if (!adding && constant == 0) {
    return rational_constant(0, sort);
  }
  if (constant != (adding ? 0 : 1) || rest.empty()) {
    rest.push_back(rational_constant(constant, sort));
  }
  return rest.size() == 1 ? rest.front() : TermFactory::make(kind, sort, std::move(rest));
}

// Conjunctions and disjunctions, flattened and without repetitions.
Term junction(Kind kind, const std::vector<Term>& terms) {
  const bool neutral = kind == Kind::logical_and;
  std::vector<Term> kept;
  std::set<const void*> seen;
  for (const Term& term : terms) {
    check_sort(term, Sort::boolean);
    for (const Term& part : term.kind() == kind ? term.arguments() : std::vector<Term>{term}) {
      if (const auto value = part.as_boolean()) {
        if (*value != neutral) {
          return part;
        }
      } else if (std::find(kept.begin(), kept.end(), part) == kept.end()) {
        kept.push_back(part);
      }
    }
  }
  if (kept.empty()) {
    return Term::boolean(neutral);
  }
  return kept.size() == 1 ? kept.front() : TermFactory::make(kind, Sort::boolean, std::move(kept));
}

mpz_class euclidean_quotient(const mpz_class& a, const mpz_class& b) {
  mpz_class remainder;
  const mpz_class magnitude = abs(b);
  mpz_fdiv_r(remainder.get_mpz_t(), a.get_mpz_t(), magnitude.get_mpz_t());
  return (a - remainder) / b;
}

Term integer_operation(Kind kind, const Term& a, const Term& b) {
  check_sort(a, Sort::integer);
  check_sort(b, Sort::integer);
  if (is_constant(b, 1)) {
    return kind == Kind::div ? a : Term::integer(0);
  }
  if (a.kind() == Kind::constant && b.kind() == Kind::constant && !is_constant(b, 0)) {
    const mpz_class x = a.as_rational()->get_num();
    const mpz_class y = b.as_rational()->get_num();
    const mpz_class quotient = euclidean_quotient(x, y);
    return Term::integer(kind == Kind::div ? quotient : mpz_class(x - y * quotient));
  }
  return TermFactory::make(kind, Sort::integer, {a, b});
}

Term order(Kind kind, const Term& a, const Term& b) {
  std::vector<Term> sides = {a, b};
  join_sorts(&sides, Sort::integer);
  if (sides[0].kind() == Kind::constant && sides[1].kind() == Kind::constant) {
    const int sign = cmp(*sides[0].as_rational(), *sides[1].as_rational());
    return Term::boolean(kind == Kind::less ? sign < 0 : sign <= 0);
  }
  if (sides[0] == sides[1]) {
    return Term::boolean(kind == Kind::less_equal);
  }
  return TermFactory::make(kind, Sort::boolean, std::move(sides));
}

// Quantifiers bind variables by position: they are called `!k`, counted from the innermost outwards.
Term quantify(Kind kind, const std::vector<Term>& variables, const Term& body) {
  check_sort(body, Sort::boolean);
  if (variables.empty() || body.kind() == Kind::constant) {
    return body;
  }
  const std::size_t depth = TermFactory::bound_variables(body);
  std::vector<Term> bound;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    ENTANGLE_CHECK(variables[i].kind() == Kind::variable, "a quantifier over something else than a variable");
    Term::Node content;
    content.kind = Kind::bound;
    content.sort = variables[i].sort();
    content.name = "!" + std::to_string(depth + i);
    bound.push_back(TermFactory::make(std::move(content)));
  }
  std::vector<Term> arguments = bound;
  arguments.push_back(substitute(body, variables, bound));
  return TermFactory::make(kind, Sort::boolean, std::move(arguments));
}

// The same operation on other arguments, simplified anew.
Term with_arguments(const Term& term, const std::vector<Term>& arguments) {
  switch (term.kind()) {
    case Kind::constant:
    case Kind::variable:
    case Kind::bound:
      return term;
    case Kind::apply:
      return term.function()(arguments);
    case Kind::add:
    case Kind::multiply:
      return combine(term.kind(), arguments, term.sort());
    case Kind::divide:
      return arguments[0] / arguments[1];
    case Kind::div:
    case Kind::mod:
      return integer_operation(term.kind(), arguments[0], arguments[1]);
    case Kind::to_real:
      return to_real(arguments[0]);
    case Kind::ite:
      return ite(arguments[0], arguments[1], arguments[2]);
    case Kind::equal:
      return eq(arguments[0], arguments[1]);
    case Kind::less_equal:
    case Kind::less:
      return order(term.kind(), arguments[0], arguments[1]);
    case Kind::logical_not:
      return !arguments[0];
    case Kind::logical_and:
    case Kind::logical_or:
      return junction(term.kind(), arguments);
    case Kind::forall:
    case Kind::exists:
      return arguments.back().kind() == Kind::constant
                 ? arguments.back()
                 : TermFactory::make(term.kind(), Sort::boolean, arguments);
  }
  return term;
}

using Replacements = std::unordered_map<Term, Term>;

Term replace(const Term& term, Replacements* known) {
  const auto it = known->find(term);
  if (it != known->end()) {
    return it->second;
  }
  std::vector<Term> arguments;
  for (const Term& argument : term.arguments()) {
    arguments.push_back(replace(argument, known));
  }
  const Term result = arguments == term.arguments() ? term : with_arguments(term, arguments);
  known->emplace(term, result);
  return result;
}

void collect_variables(const Term& term, std::set<const void*>* seen, std::vector<Term>* variables) {
  if (!seen->insert(&term.arguments()).second) {
    return;
  }
  if (term.kind() == Kind::variable) {
    variables->push_back(term);
  }
  for (const Term& argument : term.arguments()) {
    collect_variables(argument, seen, variables);
  }
}

std::string number_text(const mpq_class& value, Sort sort) {
  const auto positive = [sort](const mpz_class& z) { return z.get_str() + (sort == Sort::real ? ".0" : ""); };
  const mpq_class magnitude = abs(value);
  std::string text = positive(magnitude.get_num());
  if (magnitude.get_den() != 1) {
    text = "(/ " + text + " " + positive(magnitude.get_den()) + ")";
  }
  return sgn(value) < 0 ? "(- " + text + ")" : text;
}

std::string_view operator_name(Kind kind) {
  switch (kind) {
    case Kind::add:
      return "+";
    case Kind::multiply:
      return "*";
    case Kind::divide:
      return "/";
    case Kind::div:
      return "div";
    case Kind::mod:
      return "mod";
    case Kind::to_real:
      return "to_real";
    case Kind::ite:
      return "ite";
    case Kind::equal:
      return "=";
    case Kind::less_equal:
      return "<=";
    case Kind::less:
      return "<";
    case Kind::logical_not:
      return "not";
    case Kind::logical_and:
      return "and";
    case Kind::logical_or:
      return "or";
    case Kind::forall:
      return "forall";
    case Kind::exists:
      return "exists";
    case Kind::constant:
    case Kind::variable:
    case Kind::bound:
    case Kind::apply:
      break;
  }
  return "";
}

Term atom_term(const sym::Atom* atom) {
  if (atom->kind == sym::AtomKind::symbol) {
    return Term::variable(atom->name, Sort::integer);
  }
  Term result = from_int(atom->arguments.front());
  for (std::size_t i = 1; i < atom->arguments.size(); ++i) {
    const Term argument = from_int(atom->arguments[i]);
    result = atom->kind == sym::AtomKind::max ? max(result, argument) : floordiv(result, argument);
  }
  return result;
}

}  // namespace

// --- Functions
// ------------------------------------------------------------------------------------------------

Function::Function(std::string name, std::vector<Sort> domain, Sort range)
    : data_(std::make_shared<const Data>(Data{std::move(name), std::move(domain), range})) {}

bool Function::operator==(const Function& other) const {
  return data_ == other.data_ || (data_->name == other.data_->name && data_->domain == other.data_->domain &&
                                  data_->range == other.data_->range);
}

Term Function::operator()(std::vector<Term> arguments) const {
  ENTANGLE_CHECK(arguments.size() == domain().size(), "wrong number of arguments of " + name());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (domain()[i] == Sort::real) {
      arguments[i] = to_real(arguments[i]);
    }
    check_sort(arguments[i], domain()[i]);
  }
  Term::Node content;
  content.kind = Kind::apply;
  content.sort = range();
  content.arguments = std::move(arguments);
  content.function = *this;
  return TermFactory::make(std::move(content));
}

// --- Handles
// --------------------------------------------------------------------------------------------------

Term::Term() : Term(boolean(true)) {}

Term::Term(const Term& other) noexcept : node_(other.node_) {
  acquire(node_);
}

Term::Term(Term&& other) noexcept : node_(other.node_) {
  acquire(node_);
}

Term& Term::operator=(const Term& other) noexcept {
  acquire(other.node_);
  release(std::exchange(node_, other.node_));
  return *this;
}

Term& Term::operator=(Term&& other) noexcept {
  std::swap(node_, other.node_);
  return *this;
}

Term::~Term() {
  if (node_ != nullptr) {
    release(node_);
  }
}

Term Term::boolean(bool value) {
  return rational_constant(value ? 1 : 0, Sort::boolean);
}

Term Term::integer(std::int64_t value) {
  return rational_constant(mpz_class(value), Sort::integer);
}

Term Term::integer(const mpz_class& value) {
  return rational_constant(value, Sort::integer);
}

Term Term::real(const mpq_class& value) {
  return rational_constant(value, Sort::real);
}

Term Term::variable(std::string_view name, Sort sort) {
  Node content;
  content.kind = Kind::variable;
  content.sort = sort;
  content.name = name;
  return TermFactory::make(std::move(content));
}

Term Term::symbol(sym::Int symbol) {
  return variable(symbol.name(), Sort::integer);
}

Kind Term::kind() const {
  return node_->kind;
}

Sort Term::sort() const {
  return node_->sort;
}

const std::string& Term::name() const {
  return node_->name;
}

Function Term::function() const {
  ENTANGLE_CHECK(node_->function.has_value(), "Term::function of something else than an application");
  return *node_->function;
}

const std::vector<Term>& Term::arguments() const {
  return node_->arguments;
}

std::optional<bool> Term::as_boolean() const {
  return kind() == Kind::constant && sort() == Sort::boolean ? std::optional(node_->value == 1)
                                                             : std::nullopt;
}

std::optional<mpq_class> Term::as_rational() const {
  return kind() == Kind::constant && sort() != Sort::boolean ? std::optional(node_->value) : std::nullopt;
}

std::optional<std::int64_t> Term::as_integer() const {
  const bool fits = kind() == Kind::constant && sort() != Sort::boolean && node_->value.get_den() == 1 &&
                    node_->value.get_num().fits_slong_p();
  return fits ? std::optional<std::int64_t>(node_->value.get_num().get_si()) : std::nullopt;
}

bool Term::is_true() const {
  return as_boolean() == std::optional(true);
}

bool Term::is_false() const {
  return as_boolean() == std::optional(false);
}

std::uint64_t Term::hash() const {
  return node_->hash;
}

// --- Operations
// -----------------------------------------------------------------------------------------------

Term operator+(const Term& a, const Term& b) {
  return combine(Kind::add, {a, b}, Sort::integer);
}

Term operator-(const Term& a) {
  return combine(Kind::multiply, {a, Term::integer(-1)}, Sort::integer);
}

Term operator-(const Term& a, const Term& b) {
  if (a == b && is_arithmetic(a)) {
    return rational_constant(0, a.sort());
  }
  return a + (-b);
}

Term operator*(const Term& a, const Term& b) {
  return combine(Kind::multiply, {a, b}, Sort::integer);
}

Term operator/(const Term& a, const Term& b) {
  const Term x = to_real(a);
  const Term y = to_real(b);
  if (const auto divisor = y.as_rational(); divisor && *divisor != 0) {
    return x * Term::real(1 / *divisor);
  }
  return TermFactory::make(Kind::divide, Sort::real, {x, y});
}

Term sum(std::vector<Term> terms, Sort sort) {
  return combine(Kind::add, std::move(terms), sort);
}

Term product(std::vector<Term> terms, Sort sort) {
  return combine(Kind::multiply, std::move(terms), sort);
}

Term div(const Term& a, const Term& b) {
  return integer_operation(Kind::div, a, b);
}

Term mod(const Term& a, const Term& b) {
  return integer_operation(Kind::mod, a, b);
}

Term floordiv(const Term& a, const Term& b) {
  if (const auto divisor = b.as_rational()) {
    return *divisor < 0 ? div(-a, -b) : div(a, b);
  }
  return ite(Term(0) < b, div(a, b), div(-a, -b));
}

Term floormod(const Term& a, const Term& b) {
  return a - b * floordiv(a, b);
}

Term min(const Term& a, const Term& b) {
  return ite(a <= b, a, b);
}

Term max(const Term& a, const Term& b) {
  return ite(b <= a, a, b);
}

Term to_real(const Term& a) {
  ENTANGLE_CHECK(is_arithmetic(a), "a boolean where a real is expected: " + to_string(a));
  if (a.sort() == Sort::real) {
    return a;
  }
  return a.kind() == Kind::constant ? Term::real(*a.as_rational())
                                    : TermFactory::make(Kind::to_real, Sort::real, {a});
}

Term eq(const Term& a, const Term& b) {
  std::vector<Term> sides = {a, b};
  if (is_arithmetic(a) || is_arithmetic(b)) {
    join_sorts(&sides, Sort::integer);
  } else if (a.kind() == Kind::constant || b.kind() == Kind::constant) {
    const Term& constant = a.kind() == Kind::constant ? a : b;
    const Term& other = a.kind() == Kind::constant ? b : a;
    return constant.is_true() ? other : !other;
  }
  if (sides[0] == sides[1]) {
    return Term::boolean(true);
  }
  if (sides[0].kind() == Kind::constant && sides[1].kind() == Kind::constant) {
    return Term::boolean(false);
  }
  return TermFactory::make(Kind::equal, Sort::boolean, std::move(sides));
}

Term ne(const Term& a, const Term& b) {
  return !eq(a, b);
}

Term operator<(const Term& a, const Term& b) {
  return order(Kind::less, a, b);
}

Term operator<=(const Term& a, const Term& b) {
  return order(Kind::less_equal, a, b);
}

Term operator>(const Term& a, const Term& b) {
  return b < a;
}

Term operator>=(const Term& a, const Term& b) {
  return b <= a;
}

Term distinct(const std::vector<Term>& terms) {
  std::vector<Term> pairs;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (std::size_t j = i + 1; j < terms.size(); ++j) {
      pairs.push_back(ne(terms[i], terms[j]));
    }
  }
  return all_of(std::move(pairs));
}

Term operator!(const Term& a) {
  check_sort(a, Sort::boolean);
  if (const auto value = a.as_boolean()) {
    return Term::boolean(!*value);
  }
  return a.kind() == Kind::logical_not ? a.arguments().front()
                                       : TermFactory::make(Kind::logical_not, Sort::boolean, {a});
}

Term operator&&(const Term& a, const Term& b) {
  return junction(Kind::logical_and, {a, b});
}

Term operator||(const Term& a, const Term& b) {
  return junction(Kind::logical_or, {a, b});
}

Term all_of(std::vector<Term> terms) {
  return junction(Kind::logical_and, terms);
}

Term any_of(std::vector<Term> terms) {
  return junction(Kind::logical_or, terms);
}

Term implies(const Term& a, const Term& b) {
  return !a || b;
}

Term ite(const Term& condition, const Term& then, const Term& otherwise) {
  check_sort(condition, Sort::boolean);
  std::vector<Term> branches = {then, otherwise};
  if (is_arithmetic(then) || is_arithmetic(otherwise)) {
    join_sorts(&branches, Sort::integer);
  }
  if (const auto value = condition.as_boolean()) {
    return branches[*value ? 0 : 1];
  }
  if (branches[0] == branches[1]) {
    return branches[0];
  }
  const Sort sort = branches[0].sort();
  return TermFactory::make(Kind::ite, sort, {condition, branches[0], branches[1]});
}

Term forall(const std::vector<Term>& variables, const Term& body) {
  return quantify(Kind::forall, variables, body);
}

Term exists(const std::vector<Term>& variables, const Term& body) {
  return quantify(Kind::exists, variables, body);
}

Term substitute(const Term& term, const std::vector<Term>& from, const std::vector<Term>& to) {
  ENTANGLE_CHECK(from.size() == to.size(), "a substitution of lists of different length");
  Replacements known;
  for (std::size_t i = 0; i < from.size(); ++i) {
    check_sort(to[i], from[i].sort());
    known.emplace(from[i], to[i]);
  }
  return replace(term, &known);
}

std::vector<Term> variables_of(const Term& term) {
  std::set<const void*> seen;
  std::vector<Term> variables;
  collect_variables(term, &seen, &variables);
  return variables;
}

Term from_int(sym::Int value) {
  std::vector<Term> sum_terms;
  for (const sym::Term& term : sym::terms_of(value)) {
    std::vector<Term> factors = {Term::integer(term.coefficient)};
    for (const sym::Factor& factor : term.monomial->factors) {
      const Term atom = atom_term(factor.atom);
      factors.insert(factors.end(), factor.exponent, atom);
    }
    sum_terms.push_back(product(std::move(factors)));
  }
  return sum(std::move(sum_terms));
}

std::string to_string(const Term& term) {
  return print(term, {}, true);
}

std::string print(const Term& term, const std::unordered_map<Term, std::string>& names, bool use_name) {
  if (const auto it = names.find(term); use_name && it != names.end()) {
    return it->second;
  }
  switch (term.kind()) {
    case Kind::constant:
      return term.sort() == Sort::boolean ? (term.is_true() ? "true" : "false")
                                          : number_text(*term.as_rational(), term.sort());
    case Kind::variable:
    case Kind::bound:
      return quoted(term.name());
    default:
      break;
  }
  if (term.kind() == Kind::forall || term.kind() == Kind::exists) {
    std::vector<std::string> bound;
    for (std::size_t i = 0; i + 1 < term.arguments().size(); ++i) {
      const Term& variable = term.arguments()[i];
      bound.push_back("(" + quoted(variable.name()) + " " + std::string(sort_name(variable.sort())) + ")");
    }
    return "(" + std::string(operator_name(term.kind())) + " (" + support::join(bound, " ") + ") " +
           print(term.arguments().back(), names, true) + ")";
  }
  std::vector<std::string> parts = {term.kind() == Kind::apply ? quoted(term.function().name())
                                                               : std::string(operator_name(term.kind()))};
  for (const Term& argument : term.arguments()) {
    parts.push_back(print(argument, names, true));
  }
  return parts.size() == 1 ? parts.front() : "(" + support::join(parts, " ") + ")";
}

}  // namespace entangle::smt
