// Hash-consing of terms: the table of live nodes and the handles that count them.
#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "entangle/support/check.h"
#include "entangle/support/hash.h"
#include "node.h"

namespace entangle::smt {

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

}  // namespace

Term TermFactory::make(Term::Node content) {
  content.hash = hash_content(content);
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

Term TermFactory::make(Kind kind, Sort sort, std::vector<Term> arguments) {
  Term::Node content;
  content.kind = kind;
  content.sort = sort;
  content.arguments = std::move(arguments);
  return make(std::move(content));
}

Term TermFactory::constant(const mpq_class& value, Sort sort) {
  Term::Node content;
  content.kind = Kind::constant;
  content.sort = sort;
  content.value = value;
  return make(std::move(content));
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
  return TermFactory::constant(value ? 1 : 0, Sort::boolean);
}

Term Term::integer(std::int64_t value) {
  return TermFactory::constant(mpz_class(value), Sort::integer);
}

Term Term::integer(const mpz_class& value) {
  return TermFactory::constant(value, Sort::integer);
}

Term Term::real(const mpq_class& value) {
  return TermFactory::constant(value, Sort::real);
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

}  // namespace entangle::smt
