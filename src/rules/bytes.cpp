#include "rules/bytes.h"

#include <algorithm>

#include "entangle/rules/cache.h"

namespace entangle::rules {

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
  a(x.base, x.depth, x.nonempty, x.optional, x.holes, x.of);
}
template <class A>
static void fields(A& a, Expr& x) {
  a(x.kind, x.operation, x.builtin, x.shift, x.span, x.type, x.value, x.name, x.op, x.slot, x.binders,
    x.binder_names, x.args, x.attrs);
}
template <class A>
static void fields(A& a, Variable& x) {
  a(x.name, x.type, x.span);
}
template <class A>
static void fields(A& a, Parameter& x) {
  a(x.name, x.type, x.slot, x.default_value, x.span);
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
  a(x.id, x.name, x.tensors, x.attributes, x.slots, x.elementwise, x.commutative, x.clean, x.rearranges,
    x.free, x.random, x.drawn, x.lets, x.requires_, x.shape, x.dtype, x.value_index, x.value, x.axes, x.linear,
    x.because, x.span);
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
  a(x.kind, x.op, x.parameters, x.positional, x.slots, x.result_types, x.rank_in_group, x.group_size,
    x.group_ranks, x.site, x.condition, x.body, x.span);
}
template <class A>
static void fields(A& a, Contents& x) {
  a(x.operators, x.lemmas, x.predicates, x.functions, x.laws, x.lowerings, x.accept, x.fingerprint);
}

std::optional<std::string> to_bytes(const RuleSet& rules) {
  Contents contents{rules.operators(),
                    rules.lemmas(),
                    rules.predicates(),
                    rules.functions(),
                    rules.laws(),
                    rules.lowerings(),
                    {},
                    rules.fingerprint()};
  for (const support::FileId file : rules.files()) contents.accept.push_back(rules.accept(file));
  Writer writer(rules.files());
  writer(contents);
  return writer.ok() ? std::optional(writer.take()) : std::nullopt;
}

struct RuleSetParts {
  static std::shared_ptr<const RuleSet> assemble(Contents contents,
                                                 const std::vector<support::FileId>& files) {
    auto rules = std::make_shared<RuleSet>();
    rules->operators_ = std::move(contents.operators);
    rules->lemmas_ = std::move(contents.lemmas);
    rules->predicates_ = std::move(contents.predicates);
    rules->functions_ = std::move(contents.functions);
    rules->laws_ = std::move(contents.laws);
    rules->lowerings_ = std::move(contents.lowerings);
    rules->fingerprint_ = contents.fingerprint;
    rules->files_ = files;
    for (const Operator& op : rules->operators_) rules->op_by_name_.emplace(op.name, op.id);
    for (std::size_t k = 0; k < rules->lowerings_.size(); ++k) {
      rules->lowerings_by_op_[rules->lowerings_[k].op].push_back(k);
    }
    for (std::size_t k = 0; k < files.size(); ++k) {
      if (contents.accept[k] != Accept::none) rules->accept_.emplace(files[k], contents.accept[k]);
    }
    return rules;
  }
};

std::shared_ptr<const RuleSet> from_bytes(const std::string& bytes,
                                          const std::vector<support::FileId>& files) {
  Reader reader(bytes, files);
  Contents contents;
  reader(contents);
  if (!reader.ok() || !reader.at_end() || contents.accept.size() != files.size()) return nullptr;
  return RuleSetParts::assemble(std::move(contents), files);
}

}  // namespace entangle::rules
