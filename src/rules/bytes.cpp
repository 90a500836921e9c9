#include "entangle/rules/bytes.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "entangle/rules/cache.h"
#include "entangle/support/check.h"
#include "entangle/support/hash.h"
#include "rules/uses.h"

namespace entangle::rules {

void Writer::put_long(std::uint64_t value) {
  constexpr std::size_t kLongest = 10;
  if (pending_ + kLongest > sizeof buffer_) flush();
  for (; value >= 0x80; value >>= 7) buffer_[pending_++] = static_cast<char>(value | 0x80);
  buffer_[pending_++] = static_cast<char>(value);
}

void Writer::append(std::string_view bytes) {
  if (pending_ + bytes.size() > sizeof buffer_) flush();
  if (bytes.size() > sizeof buffer_) {
    bytes_ += bytes;
  } else {
    bytes.copy(buffer_ + pending_, bytes.size());
    pending_ += bytes.size();
  }
}

void Writer::flush() {
  bytes_.append(buffer_, pending_);
  pending_ = 0;
}

void Writer::put(const support::Span& value) {
  if (value.file != last_file_) {
    const auto at = std::find(files_.begin(), files_.end(), value.file);
    last_file_ = value.file;
    last_number_ = at == files_.end() ? 0 : static_cast<std::uint64_t>(at - files_.begin()) + 1;
  }
  put(last_number_);
  (*this)(value.line, value.column, value.length);
}

void Reader::get(support::Span& value) {
  const std::uint64_t file = number();
  ok_ = ok_ && file <= files_.size();
  value.file = ok_ && file > 0 ? files_[file - 1] : support::kNoFile;
  (*this)(value.line, value.column, value.length);
}

void Writer::put(const tensor::Attr& value) {
  using Kind = tensor::Attr::Kind;
  put(value.kind());
  switch (value.kind()) {
    case Kind::none:
      break;
    case Kind::boolean:
      put(value.as_bool());
      break;
    case Kind::integer:
      if (const auto constant = value.as_int().constant()) {
        put(*constant);
      } else {
        ok_ = false;
      }
      break;
    case Kind::scalar: {
      const sym::Scalar& scalar = value.as_scalar();
      ok_ = ok_ && (scalar.is_number() || scalar.is_infinite());
      put(scalar.is_infinite());
      put(scalar.coefficient().get_str());
      break;
    }
    case Kind::dtype:
      put(value.as_dtype());
      break;
    case Kind::name:
      put(value.as_name());
      break;
    case Kind::list:
      put(std::vector<tensor::Attr>(value.as_list().begin(), value.as_list().end()));
      break;
  }
}

void Reader::get(tensor::Attr& value) {
  using Kind = tensor::Attr::Kind;
  Kind kind = Kind::none;
  get(kind);
  switch (kind) {
    case Kind::none:
      value = tensor::Attr();
      return;
    case Kind::boolean:
      value = tensor::Attr::of(number() != 0);
      return;
    case Kind::integer:
      value = tensor::Attr::of(static_cast<std::int64_t>(number()));
      return;
    case Kind::scalar: {
      const bool infinite = number() != 0;
      std::string text;
      get(text);
      mpq_class number;
      if (number.set_str(text, 10) != 0 || number.get_den() == 0) {
        ok_ = false;
        return;
      }
      value = tensor::Attr::of(infinite ? sym::Scalar::infinity(number < 0) : sym::Scalar(number));
      return;
    }
    case Kind::dtype: {
      tensor::DType dtype{};
      get(dtype);
      value = tensor::Attr::of(dtype);
      return;
    }
    case Kind::name: {
      std::string name;
      get(name);
      value = tensor::Attr::name(name);
      return;
    }
    case Kind::list: {
      std::vector<tensor::Attr> entries;
      get(entries);
      value = tensor::Attr::list(entries);
      return;
    }
  }
  ok_ = false;
}

template <class A>
static void fields(A& a, Type& x) {
  a(x.base);
  a.sparse(x.depth, x.nonempty, x.optional, x.holes, x.of);
}
template <class A>
static void fields(A& a, Expr& x) {
  a(x.kind);
  a.sparse(x.args, x.type, x.span, x.name, MaybeNumber{x.slot}, MaybeNumber{x.op}, x.attrs, x.operation,
           x.builtin, x.shift, x.value, x.binders, x.binder_names);
}
template <class A>
static void fields(A& a, Variable& x) {
  a(x.name, x.type, x.span);
}
template <class A>
static void fields(A& a, Parameter& x) {
  a(x.name, x.type, x.slot, x.default_value, x.span, x.changed);
}
template <class A>
static void fields(A& a, AxisClause::Operand& x) {
  a(x.parameter, x.axis);
}
template <class A>
static void fields(A& a, AxisClause& x) {
  a(x.kind, x.name, x.index, x.bound, x.filter, x.result, x.operands, x.span);
}
template <class A>
static void fields(A& a, LinearClause& x) {
  a(x.parameter, x.condition);
}
template <class A>
static void fields(A& a, Let& x) {
  a(x.slot, x.value);
}
template <class A>
static void fields(A& a, Operator& x) {
  a(x.id, x.name, x.span);
  a.sparse(x.tensors, x.attributes, x.slots, x.elementwise, x.commutative, x.clean, x.rearranges, x.free,
           x.random, x.drawn, x.converts, x.lets, x.requires_, x.shape, x.dtype, MaybeNumber{x.value_index},
           x.value, x.axes, x.linear, x.because);
}
template <class A>
static void fields(A& a, OperatorVariable& x) {
  a(x.name, x.trait, x.axis, x.result_axis);
}
template <class A>
static void fields(A& a, Given& x) {
  a(x.pattern, x.equal_to);
}
template <class A>
static void fields(A& a, Lemma& x) {
  a(x.name, x.normalise, x.axiom, x.because, x.slots, x.parameters, x.generic, x.given, x.left, x.right,
    x.direction, x.when, x.trigger, x.examples, x.text, x.span);
}
template <class A>
static void fields(A& a, Predicate& x) {
  a(x.name, x.slots, x.parameters, x.body, x.span);
}
template <class A>
static void fields(A& a, ScalarFunction& x) {
  a(x.name, x.arity, x.span);
}
template <class A>
static void fields(A& a, Law& x) {
  a(x.name, x.slots, x.left, x.right, x.condition, x.span);
}
template <class A>
static void fields(A& a, Lowering& x) {
  a(x.op, x.span, x.body);
  a.sparse(x.parameters, x.positional, x.slots, x.kind, MaybeNumber{x.result_types},
           MaybeNumber{x.rank_in_group}, MaybeNumber{x.group_size}, MaybeNumber{x.group_ranks},
           MaybeNumber{x.site}, MaybeNumber{x.draw}, x.condition, x.random);
}
template <class A>
static void fields(A& a, DefinitionBody& x) {
  a(x.slots, x.uses, x.body);
}
template <class A>
static void fields(A& a, DefinitionHead& x) {
  a(x.size);
}
template <class A>
static void fields(A& a, LoweringHead& x) {
  a(x.op, x.kind, x.random, x.size, x.hash);
}
template <class A>
static void fields(A& a, OperatorHead& x) {
  a(x.name, x.traits, x.size);
}
template <class A>
static void fields(A& a, LemmaHead::Opening& x) {
  a(x.kind);
  a.sparse(MaybeNumber{x.op}, x.operands);
}
template <class A>
static void fields(A& a, LemmaHead& x) {
  a(x.normalise, x.transparent, x.trait, x.forward, x.backward, x.size);
}
template <class A>
static void fields(A& a, Contents& x) {
  a(x.predicates, x.functions, x.laws, x.accept, x.fingerprint, x.lowerings, x.lowerings_by_op, x.operators,
    x.op_by_name, x.lemmas, x.definitions);
}

template <class T>
T read_declaration(std::string_view bytes, const std::vector<support::FileId>& files) {
  T declaration;
  Reader reader(bytes, files);
  reader(declaration);
  ENTANGLE_CHECK(reader.ok() && reader.rest().empty(), "a declaration is damaged in spite of its hash");
  return declaration;
}
template Operator read_declaration(std::string_view bytes, const std::vector<support::FileId>& files);
template Lemma read_declaration(std::string_view bytes, const std::vector<support::FileId>& files);
template Lowering read_declaration(std::string_view bytes, const std::vector<support::FileId>& files);
template DefinitionBody read_declaration(std::string_view bytes, const std::vector<support::FileId>& files);

LoweringHead write_lowering(Writer& writer, const Lowering& lowering) {
  const std::size_t before = writer.size();
  writer(lowering);
  const std::string_view bytes = writer.since(before);
  return {{}, lowering.kind, lowering.random, bytes.size(), support::hash_bytes(bytes)};
}

std::optional<Lowerings::Bytes> parts_of(std::shared_ptr<const void> owner, std::string_view bytes,
                                         const std::vector<std::size_t>& sizes) {
  std::vector<std::string_view> parts;
  parts.reserve(sizes.size());
  for (const std::size_t size : sizes) {
    if (size > bytes.size()) return std::nullopt;
    parts.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return [owner = std::move(owner), parts = std::move(parts)](std::size_t index) {
    return std::string(parts[index]);
  };
}

template <class Head>
static std::vector<std::size_t> sizes_of(const std::vector<Head>& heads) {
  std::vector<std::size_t> sizes;
  sizes.reserve(heads.size());
  for (const Head& head : heads) sizes.push_back(head.size);
  return sizes;
}

static DefinitionHead head_of(const DefinitionBody&) {
  return {};
}

template <class T, class Head>
void ListWriter<T, Head>::add(const T& declaration) {
  const std::size_t before = writer_.size();
  writer_(declaration);
  heads_.push_back(head_of(declaration));
  heads_.back().size = writer_.size() - before;
}

template <class T, class Head>
void ListWriter<T, Head>::add(ListWriter other) {
  ENTANGLE_CHECK(other.writer_.ok(), "a declaration holds what has no form as bytes");
  writer_.append(other.writer_.take());
  heads_.insert(heads_.end(), other.heads_.begin(), other.heads_.end());
}

Operators operator_list(const std::vector<Operator>& operators, const std::vector<support::FileId>& files) {
  struct Kept {
    std::string bytes;
    std::vector<std::string> names;
  };
  const auto kept = std::make_shared<Kept>();
  Writer writer(files);
  std::vector<OperatorHead> heads;
  heads.reserve(operators.size());
  for (const Operator& op : operators) {
    const std::size_t before = writer.size();
    writer(op);
    heads.push_back(head_of(op));
    heads.back().size = writer.size() - before;
    kept->names.push_back(op.name);
  }
  ENTANGLE_CHECK(writer.ok(), "an operator holds what has no form as bytes");
  kept->bytes = writer.take();
  for (std::size_t k = 0; k < heads.size(); ++k) heads[k].name = kept->names[k];
  auto bytes = parts_of(kept, kept->bytes, sizes_of(heads));
  return {std::move(heads), std::move(*bytes), kept, files};
}

template <class T, class Head>
DeclarationList<T, Head> ListWriter<T, Head>::finish() {
  ENTANGLE_CHECK(writer_.ok(), "a declaration holds what has no form as bytes");
  const auto kept = std::make_shared<const std::string>(writer_.take());
  auto bytes = parts_of(kept, *kept, sizes_of(heads_));
  return {std::move(heads_), std::move(*bytes), kept, files_};
}
template class ListWriter<Lemma, LemmaHead>;
template class ListWriter<DefinitionBody, DefinitionHead>;

Lemmas lemma_list(const std::vector<Lemma>& lemmas, const std::vector<support::FileId>& files) {
  LemmaWriter writer(files);
  for (const Lemma& lemma : lemmas) writer.add(lemma);
  return writer.finish();
}

// The way from the private parts of rule sets to bytes and back.
struct RuleSetParts {
  static void write(Writer& writer, const RuleSet& rules) {
    std::vector<Accept> accept;
    for (const support::FileId file : rules.files()) accept.push_back(rules.accept(file));
    const auto heads = [](const auto& list) {
      std::vector<typename std::remove_cvref_t<decltype(list)>::Head> result;
      result.reserve(list.size());
      for (std::size_t k = 0; k < list.size(); ++k) result.push_back(list.head(k));
      return result;
    };
    // As Contents are read.
    writer(rules.predicates(), rules.functions(), rules.laws(), accept, rules.fingerprint(),
           heads(rules.lowerings()), rules.lowerings_by_op_, heads(rules.operators()), rules.op_by_name_,
           heads(rules.lemmas()), heads(rules.definitions_));
    for (std::size_t k = 0; k < rules.operators().size(); ++k) writer.append(rules.operators().bytes(k));
    for (std::size_t k = 0; k < rules.lemmas().size(); ++k) writer.append(rules.lemmas().bytes(k));
    const Definitions& definitions = rules.definitions_;
    for (std::size_t k = 0; k < definitions.size(); ++k) writer.append(definitions.bytes(k));
  }

  static std::shared_ptr<const RuleSet> assemble(Contents contents, Lowerings::Bytes lowerings,
                                                 Operators::Bytes operators, Lemmas::Bytes lemmas,
                                                 Definitions::Bytes definitions,
                                                 const std::shared_ptr<const void>& owner,
                                                 const std::vector<support::FileId>& files) {
    auto rules = std::make_shared<RuleSet>();
    rules->operators_ = Operators(std::move(contents.operators), std::move(operators), owner, files);
    rules->op_by_name_ = std::move(contents.op_by_name);
    rules->lemmas_ = Lemmas(std::move(contents.lemmas), std::move(lemmas), owner, files);
    rules->predicates_ = std::move(contents.predicates);
    rules->functions_ = std::move(contents.functions);
    rules->laws_ = std::move(contents.laws);
    rules->fingerprint_ = contents.fingerprint;
    rules->files_ = files;
    rules->lowerings_by_op_ = std::move(contents.lowerings_by_op);
    rules->definitions_ = Definitions(std::move(contents.definitions), std::move(definitions), owner, files);
    rules->lowerings_ = Lowerings(std::move(contents.lowerings), std::move(lowerings), owner, files,
                                  expanding(rules->definitions_));
    for (std::size_t k = 0; k < files.size(); ++k) {
      if (contents.accept[k] != Accept::none) rules->accept_.emplace(files[k], contents.accept[k]);
    }
    return rules;
  }
};

void write_contents(Writer& writer, const RuleSet& rules) {
  RuleSetParts::write(writer, rules);
}

std::optional<std::string> to_bytes(const RuleSet& rules) {
  Writer writer(rules.files());
  write_contents(writer, rules);
  for (std::size_t k = 0; k < rules.lowerings().size(); ++k) writer.append(rules.lowerings().bytes(k));
  return writer.ok() ? std::optional(writer.take()) : std::nullopt;
}

// Each number once, in order of names, and those of one name in their own order.
template <class NameOf>
static bool sorted_by_name(const std::vector<std::uint32_t>& numbers, std::size_t size, NameOf name_of) {
  if (numbers.size() != size) return false;
  for (std::size_t k = 0; k < size; ++k) {
    if (numbers[k] >= size) return false;
    if (k == 0) continue;
    const int order = name_of(numbers[k - 1]).compare(name_of(numbers[k]));
    if (order > 0 || (order == 0 && numbers[k - 1] >= numbers[k])) return false;
  }
  return true;
}

static bool sound(const Contents& contents) {
  const auto is_operator = [&](const LemmaHead::Opening& opening) {
    return opening.kind != LemmaHead::Opening::Kind::application || opening.op < contents.operators.size();
  };
  return sorted_by_name(contents.lowerings_by_op, contents.lowerings.size(),
                        [&](std::uint32_t k) { return contents.lowerings[k].op; }) &&
         sorted_by_name(contents.op_by_name, contents.operators.size(),
                        [&](OpId id) { return contents.operators[id].name; }) &&
         std::ranges::all_of(contents.lemmas, [&](const LemmaHead& head) {
           return is_operator(head.forward) && is_operator(head.backward);
         });
}

std::shared_ptr<const RuleSet> read_contents(Reader& reader, const std::shared_ptr<const void>& owner,
                                             const std::vector<support::FileId>& files,
                                             const LoweringSource& source) {
  Contents contents;
  reader(contents);
  if (!reader.ok() || contents.accept.size() != files.size() || !sound(contents)) return nullptr;
  std::optional<Operators::Bytes> operators = parts_of(owner, reader.rest(), sizes_of(contents.operators));
  if (!operators) return nullptr;
  for (const OperatorHead& head : contents.operators) reader.skip(head.size);
  std::optional<Lemmas::Bytes> lemmas = parts_of(owner, reader.rest(), sizes_of(contents.lemmas));
  if (!lemmas) return nullptr;
  for (const LemmaHead& head : contents.lemmas) reader.skip(head.size);
  std::optional<Definitions::Bytes> definitions =
      parts_of(owner, reader.rest(), sizes_of(contents.definitions));
  if (!definitions) return nullptr;
  for (const DefinitionHead& head : contents.definitions) reader.skip(head.size);
  std::optional<Lowerings::Bytes> lowerings = source(contents.lowerings);
  if (!lowerings) return nullptr;
  return RuleSetParts::assemble(std::move(contents), std::move(*lowerings), std::move(*operators),
                                std::move(*lemmas), std::move(*definitions), owner, files);
}

std::shared_ptr<const RuleSet> from_bytes(std::string bytes, const std::vector<support::FileId>& files) {
  const auto kept = std::make_shared<const std::string>(std::move(bytes));
  Reader reader(*kept, files);
  return read_contents(reader, kept, files,
                       [&](const std::vector<LoweringHead>& heads) -> std::optional<Lowerings::Bytes> {
                         const std::vector<std::size_t> sizes = sizes_of(heads);
                         const std::size_t all = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
                         if (all != reader.rest().size()) return std::nullopt;
                         return parts_of(kept, reader.rest(), sizes);
                       });
}

}  // namespace entangle::rules
