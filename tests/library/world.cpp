#include "world.h"

#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "entangle/support/paths.h"
#include "numeric.h"

namespace entangle::library {

using term::TermId;

namespace {

std::string read(const std::string& name) {
  for (const std::string& folder : support::rule_folders()) {
    std::ifstream in(folder + "/" + name);
    if (in) return {std::istreambuf_iterator<char>(in), {}};
  }
  throw std::runtime_error("no rule file " + name);
}

// The end of the declaration that starts at `from`: past its `;`, which is none inside brackets.
std::size_t end_of_declaration(const std::string& text, std::size_t from) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') i = text.find('\n', i);
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ';' && depth == 0) return i + 1;
  }
  return text.size();
}

void drop(std::string& text, const std::string& lemma) {
  for (const char* kind : {"normalise lemma ", "lemma ", "axiom "}) {
    for (const char* after : {"(", "<"}) {
      const std::size_t at = text.find("\n" + (kind + lemma) + after);
      if (at == std::string::npos) continue;
      text.erase(at + 1, end_of_declaration(text, at + 1) - at - 1);
      return;
    }
  }
}

tensor::TensorType type_of(const std::string& text) {
  const std::size_t open = text.find('[');
  tensor::TensorType type;
  type.dtype = tensor::parse_dtype(text.substr(0, open)).value();
  std::istringstream sizes(text.substr(open + 1, text.size() - open - 2));
  for (std::string size; std::getline(sizes, size, ',');) {
    const bool number = std::isdigit(static_cast<unsigned char>(size[0])) != 0;
    type.shape.push_back(number ? sym::Int(std::stoi(size)) : sym::Int::symbol(size));
  }
  return type;
}

struct Leaf {
  std::string name;
  std::size_t count = 0;  // of a list
  tensor::TensorType type;
  term::Interval interval;
};

std::vector<Leaf> leaves_of(const Statement& statement) {
  std::vector<Leaf> result;
  for (const std::string& word : words(statement.leaves)) {
    const std::size_t colon = word.find(':');
    const std::size_t at = word.find('@');
    const std::size_t star = std::min(word.find('*'), colon);
    Leaf leaf{word.substr(0, star), 0, type_of(word.substr(colon + 1, at - colon - 1)), {}};
    if (star != colon) leaf.count = std::stoul(word.substr(star + 1));
    if (at != std::string::npos) {
      leaf.interval.low = sym::Int(std::stoi(word.substr(at + 1)));
      leaf.interval.high = sym::Int(std::stoi(word.substr(word.find("..", at) + 2)));
    }
    result.push_back(std::move(leaf));
  }
  return result;
}

constexpr const char* kDefinitions = R"(
def softmax(x: tensor; d: int) = let e = exp(x) in mul(e, pow(bcast(reduce_sum(e; d); [d], [x.shape[d]]); -1));
def log_sum(x: tensor; d: int) = log(reduce_sum(exp(x); d));
def lower(t: tensor; c: int) = negate(ge(t, full_like(scalar_of(c), t)));
def above(t: tensor; c: int) = ge(t, full_like(scalar_of(c), t));
def outside(t: tensor; a: int, b: int) = negate(both(negate(lower(t; a)), negate(above(t; b))));
def plus(t: tensor; c: int) = add_n(t, full_like(scalar_of(c), t));
def zero(x: tensor) = full_like(0, x);
)";

}  // namespace

egraph::Limits limits(std::size_t nodes, std::size_t rounds) {
  egraph::Limits result;
  result.nodes = nodes;
  result.rounds = rounds;
  return result;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

std::string library_text(const std::set<std::string>& without) {
  std::string all;
  for (const char* name :
       {"core.rules", "layout.rules", "traits.rules", "arith.rules", "masks.rules", "softmax.rules"}) {
    std::string text = "\n" + read(name);
    for (std::size_t at; (at = text.find("\ninclude ")) != std::string::npos;) {
      text.erase(at + 1, text.find('\n', at + 1) - at - 1);
    }
    all += text;
  }
  for (const std::string& lemma : without) drop(all, lemma);
  return all;
}

World::World(const std::vector<Statement>& statements, const std::set<std::string>& without)
    : statements_(statements) {
  std::string text = library_text(without) + kDefinitions;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    std::string parameters;
    for (const Leaf& leaf : leaves_of(statements[i]))
      parameters +=
          (parameters.empty() ? "" : ", ") + leaf.name + (leaf.count > 0 ? ": tensor*" : ": tensor");
    std::string named = statements[i].named;
    for (char& c : named) c = c == '&' ? ',' : c;
    const std::string number = std::to_string(i);
    text += "lower t.left" + number + "(" + parameters + "): " + statements[i].left + ";\n";
    text += "lower t.right" + number + "(" + parameters + "): " + statements[i].right + ";\n";
    text += "lower t.named" + number + "(" + parameters + "): [" + named + "];\n";
  }
  rules::Loaded loaded = rules::load_rules_text("library", text, {});
  if (!loaded.ok()) throw std::runtime_error(support::render(loaded.diagnostics.front()));
  rules_ = loaded.rules;
  program_ = std::make_unique<egraph::Program>(*rules_);
}

TermId World::evaluate(const std::string& lowering) {
  const auto known = rules_->lowerings_of(lowering);
  if (known.empty()) throw std::runtime_error("no lowering " + lowering);
  const rules::Lowering& found = rules_->lowerings()[known.front()];
  term::Frame frame;
  frame.slots.resize(found.slots.size());
  for (std::size_t i = 0; i < leaves_.size(); ++i) frame.slots[found.parameters[i].slot] = leaves_[i];
  const std::optional<term::Value> value = graph_->evaluator().evaluate(found.body, frame);
  if (!value) {
    note_ = lowering + " is undefined: " + graph_->evaluator().reason() + " " + graph_->last_error();
    return term::kNoTerm;
  }
  if (const std::vector<term::Value>* list = value->as_list()) {
    for (const term::Value& entry : *list) graph_->set_named(entry.as_term()->id);
    return term::kNoTerm;
  }
  return value->as_term()->id;
}

bool World::equal(const std::string& left, const std::string& right) {
  const TermId a = evaluate(left);
  const TermId b = evaluate(right);
  return a != term::kNoTerm && b != term::kNoTerm && graph_->find(a) == graph_->find(b);
}

bool World::follows(std::size_t assumed, std::size_t statement) {
  run(assumed);
  const std::string number = std::to_string(assumed);
  graph_->merge(evaluate("t.left" + number), evaluate("t.right" + number),
                {egraph::Reason::Kind::assumption, 0, ""});
  egraph::saturate(*graph_, *program_, limits(4000, 24));
  return equal("t.left" + std::to_string(statement), "t.right" + std::to_string(statement));
}

Result World::run(std::size_t statement, bool check) {
  oracle_ = std::make_unique<smt::Oracle>();
  typing_ = std::make_unique<term::Typing>(*rules_, *oracle_);
  graph_ = std::make_unique<egraph::EGraph>(*typing_, *oracle_);
  leaves_.clear();
  note_.clear();
  for (const Leaf& leaf : leaves_of(statements_[statement])) {
    const auto make = [&](const std::string& name) {
      const TermId made = graph_->leaf(leaf.type, name);
      if (leaf.interval.low) graph_->set_interval(made, leaf.interval);
      return term::Value(term::Term{made});
    };
    std::vector<term::Value> list;
    for (std::size_t i = 0; i < leaf.count; ++i) list.push_back(make(leaf.name + std::to_string(i)));
    leaves_.push_back(leaf.count > 0 ? term::Value(std::move(list)) : make(leaf.name));
  }
  const std::string number = std::to_string(statement);
  const std::string& effort = statements_[statement].effort;
  evaluate("t.named" + number);
  Result result;
  result.evaluated = evaluate("t.left" + number) != term::kNoTerm &&
                     (effort == "left alone" || evaluate("t.right" + number) != term::kNoTerm);
  if (!result.evaluated) {
    result.note = note_;
    return result;
  }
  if (effort != "at once") {
    const egraph::Outcome outcome = egraph::saturate(*graph_, *program_, limits(4000, 24));
    if (outcome.stop != egraph::Stop::saturated) result.note = "a limit was reached";
  }
  result.equal = equal("t.left" + number, "t.right" + number);
  for (const egraph::Clash& clash : graph_->clashes())
    result.note = "clash: " + clash.left + " against " + clash.right;
  if (check) {
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      if (const auto difference = Check(*graph_, seed).run())
        result.note = difference->lemma_hint + " against " + difference->what;
    }
  }
  return result;
}

}  // namespace entangle::library
