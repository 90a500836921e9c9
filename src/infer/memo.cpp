#include "memo.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "entangle/rules/bytes.h"
#include "entangle/support/hash.h"
#include "memo_bytes.h"

namespace entangle::infer {
namespace {

// Words that cannot be confused with a number that follows them: every part of a key begins with one.
enum Word : std::uint64_t { kClass, kUniform, kLow, kHigh, kApplication, kTarget, kLike };

// Guesses.
constexpr std::size_t kWordsOfClass = 8;
constexpr std::size_t kWordsOfApplication = 8;

// Marks the number of an attribute or a type that has no text, since it is symbolic: no other word is so
// large.
constexpr std::uint64_t kNameless = std::uint64_t{1} << 63;

bool is_nameless(std::uint64_t word) {
  return (word & kNameless) != 0;
}

// Different for different attributes.
std::optional<std::string> text_of(const std::string& kind, const tensor::Attr& attr) {
  static const std::vector<support::FileId> kNoFiles;
  rules::Writer writer(kNoFiles);
  writer(attr);
  return writer.ok() ? std::optional(kind + writer.take()) : std::nullopt;
}

// Of each operator, whether a lemma or a predicate mentions it.
std::vector<bool> mentioned_operators(const rules::RuleSet& rules) {
  std::vector<bool> found(rules.operators().size(), false);
  const auto collect = [&](const rules::Expr& expr) { rules::collect_operators(expr, found); };
  for (const rules::Lemma& lemma : rules.lemmas()) {
    collect(lemma.left);
    collect(lemma.right);
    for (const rules::Given& given : lemma.given) {
      collect(given.pattern);
      if (given.equal_to) {
        collect(*given.equal_to);
      }
    }
    std::ranges::for_each(lemma.when, collect);
    std::ranges::for_each(lemma.trigger, collect);
  }
  for (const rules::Predicate& predicate : rules.predicates()) {
    collect(predicate.body);
  }
  return found;
}

}  // namespace

Memo::Memo(Joint& joint) : joint_(joint), site_(joint.graph().rules().operators().size()) {}

const std::vector<bool>& Memo::site_attributes(rules::OpId op) {
  std::optional<std::vector<bool>>& known = site_[op];
  if (!known) {
    const rules::RuleSet& rules = joint_.graph().rules();
    const std::vector<rules::Parameter>& attributes = rules.op(op).attributes;
    std::vector<bool> site;
    for (std::size_t k = 0; k < attributes.size(); ++k) {
      if (attributes[k].name == "site" || attributes[k].name == "draw") {
        site.resize(attributes.size(), false);
        site[k] = true;
      }
    }
    if (!site.empty() && mentioned_.empty()) {
      mentioned_ = mentioned_operators(rules);
    }
    known = site.empty() || mentioned_[op] ? std::vector<bool>() : std::move(site);
  }
  return *known;
}

std::size_t Memo::Hash::operator()(const MemoKey& key) const {
  return support::hash_words(key);
}

std::size_t Memo::AppliedHash::operator()(const Applied& applied) const {
  return support::hash_combine(support::hash_combine(applied.op, applied.operands), applied.attrs.hash());
}

std::uint64_t Memo::number_of_text(const std::optional<std::string>& text) {
  return text ? texts_.emplace(*text, texts_.size()).first->second : kNameless | nameless_++;
}

std::uint64_t Memo::number(const tensor::Attr& attr) {
  const auto known = attrs_.find(attr);
  return known != attrs_.end() ? known->second
                               : attrs_.emplace(attr, number_of_text(text_of("a", attr))).first->second;
}

std::uint64_t Memo::number(const tensor::TensorType& type) {
  const auto known = types_.find(&type);
  if (known != types_.end()) {
    return known->second;
  }
  const std::vector<tensor::Attr> parts{tensor::Attr::of(type.dtype), tensor::Attr::ints(type.shape)};
  return types_.emplace(&type, number_of_text(text_of("t", tensor::Attr::list(parts)))).first->second;
}

std::uint64_t Memo::number_of_form(char kind, const MemoKey& words) {
  MemoKey whole{static_cast<std::uint64_t>(kind)};
  whole.insert(whole.end(), words.begin(), words.end());
  const auto known = forms_.find(whole);
  if (known != forms_.end()) {
    return known->second;
  }
  std::optional<std::string> text;
  if (std::ranges::none_of(words, is_nameless)) {
    text.emplace(1, kind);
    for (const std::uint64_t word : words) {
      *text += std::to_string(word) + ' ';
    }
  }
  return forms_.emplace(std::move(whole), number_of_text(text)).first->second;
}

std::uint64_t Memo::describe_class(TermId id) {
  const EGraph& graph = joint_.graph();
  const term::Interval interval = graph.interval(id);
  const bool of_type = !graph.is_uniform(id) && !interval.low && !interval.high;
  std::uint64_t& known = type_forms_.try_emplace(&graph.type(id), TypeForms{kNoForm, kNoForm})
                             .first->second[graph.defined(id) ? 1 : 0];
  if (of_type && known != kNoForm) {
    return known;
  }
  MemoKey words{number(graph.type(id)), static_cast<std::uint64_t>(graph.defined(id))};
  if (const auto value = graph.uniform(id)) {
    words.insert(words.end(), {kUniform, number(tensor::Attr::of(*value))});
  }
  if (interval.low) {
    words.insert(words.end(), {kLow, number(tensor::Attr::of(*interval.low))});
  }
  if (interval.high) {
    words.insert(words.end(), {kHigh, number(tensor::Attr::of(*interval.high))});
  }
  const std::uint64_t form = number_of_form('c', words);
  if (of_type) {
    known = form;
  }
  return form;
}

std::uint64_t Memo::form_of_class(TermId id) {
  const EGraph& graph = joint_.graph();
  if (id >= class_forms_.size()) {
    class_forms_.resize(graph.term_count());
  }
  ClassForm& form = class_forms_[id];
  if (const std::uint32_t version = graph.version(id); form.version != version) {
    form = {version, describe_class(id)};
  }
  return form.number;
}

// Numbers the ranks that stand at these places of a key by their order among each other: what is found does
// not depend on which ranks they are.
void Memo::number_ranks(const std::vector<std::size_t>& places, MemoKey& key) {
  std::uint64_t count = 0;
  for (const std::size_t at : places) {
    count = std::max(count, key[at] + 1);
  }
  std::vector<std::uint64_t> number(count, 0);  // by rank
  for (const std::size_t at : places) {
    number[key[at]] = 1;
  }
  std::uint64_t next = 0;
  for (std::uint64_t& one : number) {
    one = one == 0 ? 0 : next++;
  }
  if (next == number.size()) {
    return;  // all of them
  }
  for (const std::size_t at : places) {
    key[at] = number[key[at]];
  }
}

void Memo::add_class(TermId id, Names& names, Names& places, std::vector<std::size_t>& ranks, MemoKey& key) {
  const Joint::Owners owners = joint_.owners(id);
  const std::uint64_t known = static_cast<std::uint64_t>(joint_.is_distributed(id)) * 2 +
                              static_cast<std::uint64_t>(joint_.is_result(id));
  key.push_back(kClass);
  key.push_back(form_of_class(id));
  key.push_back(owners.size() * 4 + known);
  for (const Owner& owner : owners) {
    ranks.push_back(key.size());
    key.push_back(static_cast<std::uint64_t>(owner.rank));
    key.push_back(*names.emplace(owner.name, names.size()).first);
    key.push_back(*places.emplace(owner.place, places.size()).first);
  }
}

std::uint64_t Memo::form_of_application(TermId term) {
  if (term >= application_forms_.size()) {
    application_forms_.resize(joint_.graph().term_count(), kNoForm);
  }
  std::uint64_t& form = application_forms_[term];
  if (form == kNoForm) {
    const auto node = joint_.graph().original(term);
    // Of calls that are numbered by first occurrence the attributes are no part of the form.
    const bool numbered = !site_attributes(node.op).empty();
    const Applied applied{node.op, static_cast<std::uint32_t>(node.children.size()),
                          numbered ? tensor::Attr() : node.attrs};
    const auto [known, fresh] = applied_forms_.try_emplace(applied, kNoForm);
    if (fresh) {
      MemoKey words{applied.op, applied.operands};
      if (!numbered) {
        words.push_back(number(applied.attrs));
      }
      known->second = number_of_form('a', words);
    }
    form = known->second;
  }
  return form;
}

void Memo::add_application(const Selection& selection, const Selection::Application& application,
                           Sites& sites, MemoKey& key) {
  const std::span<const std::uint32_t> operands = selection.places_of_operands(application);
  key.push_back(kApplication);
  key.push_back(form_of_application(application.term));
  key.push_back(application.place);
  key.insert(key.end(), operands.begin(), operands.end());
  const auto node = joint_.graph().original(application.term);
  const std::vector<bool>& site = site_attributes(node.op);
  for (std::size_t k = 0; k < site.size(); ++k) {
    const std::uint64_t value = number(node.attrs.as_list()[k]);
    key.push_back(site[k] ? sites.emplace(value, sites.size()).first->second : value);
  }
}

MemoKey Memo::key(const Selection& selection, const std::vector<TermId>& targets, Effort effort,
                  Leaves leaves) {
  Names names(joint_.ids());
  Names places(joint_.ids());
  Sites sites;
  MemoKey key{static_cast<std::uint64_t>(effort), static_cast<std::uint64_t>(selection.reopened()),
              static_cast<std::uint64_t>(leaves == Leaves::drawn)};
  key.reserve(kWordsOfClass * selection.classes().size() +
              kWordsOfApplication * selection.applications().size());
  std::vector<std::size_t> ranks;  // places in the key
  ranks.reserve(2 * selection.classes().size());
  std::size_t classes = 0;
  const auto add_classes = [&](std::size_t end) {
    for (; classes < end; ++classes) {
      add_class(selection.classes()[classes], names, places, ranks, key);
    }
  };
  for (const Selection::Application& application : selection.applications()) {
    add_classes(application.classes);
    add_application(selection, application, sites, key);
  }
  add_classes(selection.classes().size());
  number_ranks(ranks, key);
  key.push_back(kTarget);
  for (const TermId target : targets) {
    key.push_back(selection.position(target));
  }
  if (leaves == Leaves::drawn) {
    key.push_back(kLike);
    for (std::size_t place = 0; place < selection.like().size(); ++place) {
      if (selection.like()[place] != kNoTerm) {
        key.push_back(place);
      }
    }
  }
  return key;
}

// Whether an expression of the solution applies an operator of which the key holds no more than which calls
// are the same: a constant that is another one at another call.
bool Memo::names_calls(const Solution& solution) {
  const auto names = [&](const relation::CleanTermPtr& clean, const auto& again) -> bool {
    return !clean->is_leaf() &&
           (!site_attributes(clean->op).empty() ||
            std::ranges::any_of(clean->children, [&](const auto& child) { return again(child, again); }));
  };
  return std::ranges::any_of(solution.relations, [&](const auto& relations) {
    return std::ranges::any_of(relations, [&](const auto& clean) { return names(clean, names); });
  });
}

void Memo::use(Solutions::value_type& entry) {
  if (!std::exchange(entry.second.used, true) && entry.second.keep) {
    used_.push_back(&entry);
  }
}

const Solution* Memo::find(const MemoKey& key, const Selection& selection,
                           const std::vector<TermId>& targets) {
  const auto it = solutions_.find(key);
  if (it == solutions_.end()) {
    return nullptr;
  }
  Known& known = it->second;
  if (!known.solution && !known.kept.empty()) {
    known.solution = solution_from_bytes(std::exchange(known.kept, {}));
  }
  if (!known.solution || known.names_calls ||
      (known.from_file && !fits(*known.solution, selection, targets))) {
    return nullptr;
  }
  use(*it);
  return &*known.solution;
}

const Solution& Memo::store(MemoKey key, Solution solution, bool keep) {
  const bool named = names_calls(solution);
  keep = keep && !named && std::ranges::none_of(key, is_nameless);
  const auto it =
      solutions_.insert_or_assign(std::move(key), Known{{}, std::move(solution), false, keep, false, named})
          .first;
  use(*it);
  return *it->second.solution;
}

std::optional<tensor::TensorType> Memo::type_of(const relation::CleanTerm& clean,
                                                const Selection& selection) {
  EGraph& graph = joint_.graph();
  if (clean.is_leaf()) {
    return clean.id < selection.classes().size() ? std::optional(graph.type(selection.classes()[clean.id]))
                                                 : std::nullopt;
  }
  if (clean.op >= graph.rules().operators().size() || !graph.rules().op(clean.op).clean) {
    return std::nullopt;
  }
  std::vector<tensor::TensorType> types;
  for (const relation::CleanTermPtr& child : clean.children) {
    const auto type = type_of(*child, selection);
    if (!type) {
      return std::nullopt;
    }
    types.push_back(*type);
  }
  std::vector<const tensor::TensorType*> children;
  for (const tensor::TensorType& type : types) {
    children.push_back(&type);
  }
  return graph.typing().type_of(clean.op, clean.attrs, children);
}

bool Memo::fits(const Solution& solution, const Selection& selection, const std::vector<TermId>& targets) {
  EGraph& graph = joint_.graph();
  const std::vector<TermId>& classes = selection.classes();
  for (const auto& [a, b] : solution.equalities) {
    if (a >= classes.size() || b >= classes.size() || graph.type(classes[a]) != graph.type(classes[b])) {
      return false;
    }
  }
  if (solution.relations.size() != targets.size() && (solution.solved() || solution.relations.size() != 1)) {
    return false;
  }
  for (std::size_t k = 0; k < solution.relations.size(); ++k) {
    for (const relation::CleanTermPtr& clean : solution.relations[k]) {
      if (type_of(*clean, selection) != graph.type(targets[k])) {
        return false;
      }
    }
  }
  if (names_calls(solution)) {  // of operators that exist, as is known by now
    return false;
  }
  const auto& counted = solution.outcome.counters.lemmas;
  return solution.outcome.stop < egraph::Stop::expired &&
         std::ranges::adjacent_find(counted, std::greater_equal<>(), [](const auto& e) { return e.first; }) ==
             counted.end() &&
         (counted.empty() || counted.back().first < graph.rules().lemmas().size());
}

void Memo::load(const KeptSolutions& kept, bool on_disk) {
  for (const std::string& text : kept.texts) {
    if (!texts_.emplace(text, texts_.size()).second) {  // two numbers for one text: not written by save
      texts_.clear();
      return;
    }
  }
  for (const KeptSolutions::Entry& entry : kept.entries) {
    solutions_.emplace(entry.key, Known{entry.solution, {}, true, true, false});
  }
  loaded_ = on_disk ? kept.entries.size() : 0;
}

std::optional<KeptSolutions> Memo::save() const {
  const auto is_new = [](const Solutions::value_type* entry) { return !entry->second.from_file; };
  if (used_.size() == loaded_ && std::ranges::none_of(used_, is_new)) {
    return std::nullopt;
  }
  KeptSolutions result;
  result.texts.resize(texts_.size());
  for (const auto& [text, number] : texts_) {
    result.texts[number] = text;
  }
  for (const Solutions::value_type* entry : used_) {
    if (auto bytes = to_bytes(*entry->second.solution)) {
      result.entries.push_back({entry->first, std::move(*bytes)});
    }
  }
  return result;
}

}  // namespace entangle::infer
