#include "rules/signatures.h"

#include <algorithm>
#include <iterator>

#include "entangle/support/text.h"
#include "rules/diagnostics.h"

namespace entangle::rules {

using support::Span;

namespace {

struct BaseWord {
  std::string_view word;
  Base base;
  bool lowering;  // only there
  bool of;        // takes a parameter or clause in parentheses
};

constexpr BaseWord kBases[] = {
    {"tensor", Base::tensor, false, false}, {"axis", Base::axis, false, true},
    {"count", Base::count, false, true},    {"perm", Base::perm, false, true},
    {"int", Base::integer, false, false},   {"scalar", Base::scalar, false, false},
    {"bool", Base::boolean, false, false},  {"name", Base::name, false, false},
    {"dtype", Base::dtype, false, false},   {"any", Base::any, false, false},
    {"group", Base::group, true, false},    {"operand", Base::operand, true, false},
};

}  // namespace

void Signatures::report(std::string_view id, Span span, std::string message, std::string suggestion) {
  diagnostics_.push_back(support::error(std::string(id), span, std::move(message), std::move(suggestion)));
}

Type Signatures::type(const syntax::TypeText& text, bool lowering) {
  Type result;
  const BaseWord* base = std::find_if(std::begin(kBases), std::end(kBases), [&](const BaseWord& word) {
    return word.word == text.base.text && (lowering || !word.lowering);
  });
  if (base == std::end(kBases)) {
    std::vector<std::string> words;
    for (const BaseWord& word : kBases) {
      if (lowering || !word.lowering) words.emplace_back(word.word);
    }
    std::string suggestion = support::did_you_mean(text.base.text, words);
    if (suggestion.empty())
      suggestion = "the types are " + support::join_list(words) + "; a list of them is `int*`";
    if (text.base.text == "group" || text.base.text == "operand")
      suggestion = "it is for parameters of lowerings";
    report(id::unknown_type, text.base.span, "unknown type `" + text.base.text + "`", suggestion);
    return result;
  }
  result.base = base->base;
  if (text.of) {
    if (base->of) {
      result.of = SharedName(text.of->text);
    } else {
      report(id::unknown_type, text.span, "`" + text.base.text + "` belongs to nothing");
    }
  }
  for (const char c : text.suffix) {
    if (c == '!') continue;  // says something of the parameter
    if (c == '?') {
      if (!lowering) report(id::unknown_type, text.span, "only arguments of lowerings may be None");
      result.optional = true;
      continue;
    }
    if (result.depth == 3) {
      report(id::unknown_type, text.span, "too many levels of list");
      return result;
    }
    result.holes = result.holes || result.optional;
    result.optional = false;
    ++result.depth;
    result.nonempty = c == '+';
  }
  return result;
}

static bool may_be_changed(const Type& type) {
  return type.base == Base::tensor || type.base == Base::operand || type.base == Base::any;
}

std::vector<Parameter> Signatures::parameters(const syntax::Parameters& text, bool lowering) {
  std::vector<Parameter> result;
  for (const std::vector<syntax::ParameterText>* group : {&text.before, &text.after}) {
    for (const syntax::ParameterText& written : *group) {
      Parameter parameter;
      parameter.name = written.name.text;
      parameter.span = written.name.span;
      if (written.type) {
        parameter.type = type(*written.type, lowering);
        parameter.changed = written.type->suffix.find('!') != std::string::npos;
        if (parameter.changed &&
            (!lowering || !written.type->suffix.ends_with('!') || !may_be_changed(parameter.type))) {
          report(id::unknown_type, written.type->span,
                 "`!` ends the type of an operand that a framework's operator changes");
        }
      } else {
        report(id::parameter, written.name.span, "the parameter `" + parameter.name + "` has no type",
               "`" + parameter.name + ": tensor`");
      }
      for (const Parameter& earlier : result) {
        if (earlier.name == parameter.name) {
          report(id::duplicate, parameter.span, "the parameter `" + parameter.name + "` is there twice");
        }
      }
      result.push_back(std::move(parameter));
    }
  }
  return result;
}

// Whether axis(x), perm(x) and count(c) speak of something.
void Signatures::check_of(const std::vector<Parameter>& parameters, const std::vector<std::string>& clauses,
                          bool result) {
  if (std::all_of(parameters.begin(), parameters.end(),
                  [](const Parameter& p) { return p.type.of.empty(); })) {
    return;
  }
  std::vector<std::string> tensors;
  if (result) tensors.emplace_back("result");
  for (const Parameter& p : parameters) {
    if (p.type.base == Base::tensor || p.type.base == Base::operand || p.type.base == Base::any) {
      tensors.push_back(p.name);
    }
  }
  for (const Parameter& p : parameters) {
    if (p.type.of.empty()) continue;
    const std::vector<std::string>& names = p.type.base == Base::count ? clauses : tensors;
    if (std::find(names.begin(), names.end(), p.type.of.text()) != names.end()) continue;
    report(id::unknown_parameter, p.span,
           (p.type.base == Base::count ? "there is no clause `" : "there is no tensor parameter `") +
               p.type.of.text() + "`",
           support::did_you_mean(p.type.of.text(), names));
  }
}

void Signatures::default_values(std::vector<Parameter>& parameters, const syntax::Parameters& text) {
  std::size_t i = 0;
  for (const std::vector<syntax::ParameterText>* group : {&text.before, &text.after}) {
    for (const syntax::ParameterText& written : *group) {
      Parameter& parameter = parameters[i++];
      if (!written.default_value || parameter.type.base == Base::tensor) continue;
      Expressions expressions(globals_, diagnostics_, no_slots_);
      expressions.set_place(Place::lowering);
      Type expected = parameter.type;
      if (expected.base == Base::operand && expected.depth == 0) expected.base = Base::scalar;
      parameter.default_value = expressions.want(*written.default_value, expected);
      const Expr& value = *parameter.default_value;
      const bool none = value.kind == ExprKind::literal && value.value.is_none();
      if (none && !expected.optional && expected.base != Base::any) {
        report(id::type, value.span,
               "`" + parameter.name + "` cannot be None: its type is `" + to_string(parameter.type) + "`",
               "a parameter that may be None has a type with a question mark: `" + parameter.name + ": " +
                   to_string(parameter.type) + "? = none`");
      }
    }
  }
}

void Signatures::declare(std::vector<Parameter>& parameters, Expressions& expressions) {
  for (Parameter& p : parameters) {
    p.slot = expressions.declare(p);
  }
}

}  // namespace entangle::rules
