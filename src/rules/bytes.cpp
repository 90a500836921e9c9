#include "entangle/rules/bytes.h"

#include <algorithm>

#include "entangle/rules/cache.h"
#include "entangle/support/check.h"
#include "entangle/support/hash.h"

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
  const auto at = std::find(files_.begin(), files_.end(), value.file);
  put(at == files_.end() ? 0 : static_cast<std::uint64_t>(at - files_.begin()) + 1);
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
static void fields(A& a, Lowerings::Head& x) {
  a(x.op, x.random, x.size, x.hash);
}
template <class A>
static void fields(A& a, Contents& x) {
  a(x.operators, x.lemmas, x.predicates, x.functions, x.laws, x.accept, x.fingerprint, x.lowerings);
}

Lowerings::Head write_lowering(Writer& writer, const Lowering& lowering) {
  const std::size_t before = writer.size();
  writer(lowering);
  const std::string_view bytes = writer.since(before);
  return {lowering.op, lowering.random, bytes.size(), support::hash_bytes(bytes)};
}

Lowering read_lowering(std::string_view bytes, const std::vector<support::FileId>& files) {
  Lowering lowering;
  Reader reader(bytes, files);
  reader(lowering);
  ENTANGLE_CHECK(reader.ok() && reader.rest().empty(), "a lowering is damaged in spite of its hash");
  return lowering;
}

std::optional<Lowerings::Bytes> lowerings_within(std::shared_ptr<const std::string> owner,
                                                 std::string_view bytes,
                                                 const std::vector<Lowerings::Head>& entries) {
  std::vector<std::string_view> parts;
  parts.reserve(entries.size());
  for (const Lowerings::Head& entry : entries) {
    if (entry.size > bytes.size()) return std::nullopt;
    parts.push_back(bytes.substr(0, entry.size));
    bytes.remove_prefix(entry.size);
  }
  if (!bytes.empty()) return std::nullopt;
  return [owner = std::move(owner), parts = std::move(parts)](std::size_t index) {
    return std::string(parts[index]);
  };
}

void write_contents(Writer& writer, const RuleSet& rules) {
  std::vector<Accept> accept;
  for (const support::FileId file : rules.files()) accept.push_back(rules.accept(file));
  const Lowerings& lowerings = rules.lowerings();
  std::vector<Lowerings::Head> heads;
  heads.reserve(lowerings.size());
  for (std::size_t k = 0; k < lowerings.size(); ++k) heads.push_back(lowerings.head(k));
  // As Contents are read.
  writer(rules.operators(), rules.lemmas(), rules.predicates(), rules.functions(), rules.laws(), accept,
         rules.fingerprint(), heads);
}

std::optional<std::string> to_bytes(const RuleSet& rules) {
  Writer writer(rules.files());
  write_contents(writer, rules);
  for (std::size_t k = 0; k < rules.lowerings().size(); ++k) writer.append(rules.lowerings().bytes(k));
  return writer.ok() ? std::optional(writer.take()) : std::nullopt;
}

struct RuleSetParts {
  static std::shared_ptr<const RuleSet> assemble(Contents contents, Lowerings::Bytes bytes,
                                                 const std::vector<support::FileId>& files) {
    auto rules = std::make_shared<RuleSet>();
    rules->operators_ = std::move(contents.operators);
    rules->lemmas_ = std::move(contents.lemmas);
    rules->predicates_ = std::move(contents.predicates);
    rules->functions_ = std::move(contents.functions);
    rules->laws_ = std::move(contents.laws);
    rules->fingerprint_ = contents.fingerprint;
    rules->files_ = files;
    for (const Operator& op : rules->operators_) rules->op_by_name_.emplace(op.name, op.id);
    for (std::size_t k = 0; k < contents.lowerings.size(); ++k) {
      rules->lowerings_by_op_[contents.lowerings[k].op].push_back(k);
    }
    rules->lowerings_ = Lowerings(std::move(contents.lowerings), std::move(bytes), files);
    for (std::size_t k = 0; k < files.size(); ++k) {
      if (contents.accept[k] != Accept::none) rules->accept_.emplace(files[k], contents.accept[k]);
    }
    return rules;
  }
};

std::shared_ptr<const RuleSet> read_contents(Reader& reader, const std::vector<support::FileId>& files,
                                             const LoweringSource& source) {
  Contents contents;
  reader(contents);
  if (!reader.ok() || contents.accept.size() != files.size()) return nullptr;
  std::optional<Lowerings::Bytes> bytes = source(contents.lowerings);
  if (!bytes) return nullptr;
  return RuleSetParts::assemble(std::move(contents), std::move(*bytes), files);
}

std::shared_ptr<const RuleSet> from_bytes(std::string bytes, const std::vector<support::FileId>& files) {
  const auto kept = std::make_shared<const std::string>(std::move(bytes));
  Reader reader(*kept, files);
  return read_contents(reader, files, [&](const std::vector<Lowerings::Head>& entries) {
    return lowerings_within(kept, reader.rest(), entries);
  });
}

}  // namespace entangle::rules
