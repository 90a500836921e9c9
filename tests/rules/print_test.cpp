// Expressions as text: what is printed is canonical, and reads back as the same expression.
#include <filesystem>

#include "helpers.h"

namespace entangle::rules {
namespace {

struct Row {
  const char* written;
  const char* printed;
};

// In the condition of a lemma over x, y: tensor, xs, ys: tensor+, k, l: int, ks: int*, c: scalar, b: bool.
const Row kConditions[] = {
    {"b", "b"},
    {"not b and b or b", "not b and b or b"},
    {"not (b and b)", "not (b and b)"},
    {"b and (b or b)", "b and (b or b)"},
    {"(b or b) or b", "b or b or b"},
    {"b or (b or b)", "b or (b or b)"},
    {"k+l*2 == 3-1-1", "k + l * 2 == 3 - 1 - 1"},
    {"k-(l-1) == (k+l)*2", "k - (l - 1) == (k + l) * 2"},
    {"k floordiv 2 mod 3 == k/(l*2)", "k floordiv 2 mod 3 == k / (l * 2)"},
    {"-k == -(k + 1)", "-k == -(k + 1)"},
    {"-1 == - 2", "-1 == -2"},
    {"k - -1 == k*-2", "k - -1 == k * -2"},
    {"c == 1/8", "c == 1/8"},
    {"c * (1/8) == c * 1/8", "c * (1/8) == c * 1 / 8"},
    {"c == 0.1 or c == 1e-5", "c == 1/10 or c == 1/100000"},
    {"c == 1.5e2 or c == -inf", "c == 150 or c == -inf"},
    {"0 <= k < l <= 3", "0 <= k and k < l and l <= 3"},
    {"(k < l) == b", "(k < l) == b"},
    {"k in ks and x.dtype in [f32, bf16]", "k in ks and x.dtype in [f32, bf16]"},
    {"ks ++ [1] ++ ks == [*ks, 1, *ks]", "ks ++ [1] ++ ks == [*ks, 1, *ks]"},
    {"ks ++ (ks ++ ks) == ks", "ks ++ (ks ++ ks) == ks"},
    {"ks with [0] = k + 1 == ks", "ks with [0] = k + 1 == ks"},
    {"ks with [0] = 1 with [k] = 2 == ks", "ks with [0] = 1 with [k] = 2 == ks"},
    {"(ks with [0] = 1)[k] == 1", "(ks with [0] = 1)[k] == 1"},
    {"ks without k without [0, 1] == ks without ks", "ks without k without [0, 1] == ks without ks"},
    {"ks[1:] == ks[:k] ++ ks[:] ++ ks[k:l]", "ks[1:] == ks[:k] ++ ks[:] ++ ks[k:l]"},
    {"xs[0].shape[k + 1] == rank(x)", "xs[0].shape[k + 1] == rank(x)"},
    {"[i + 1 for i in ks if i < 3] == ks", "[i + 1 for i in ks if i < 3] == ks"},
    {"[o for z, o in zip(xs, offsets(xs, k))] == ks", "[o for z, o in zip(xs, offsets(xs, k))] == ks"},
    {"sum(z.shape[0] for z in xs if rank(z) == 1) == max(i for i in ks)",
     "sum(z.shape[0] for z in xs if rank(z) == 1) == max(i for i in ks)"},
    {"product(ks) == min(k, l, 3)", "product(ks) == min(k, l, 3)"},
    {"forall z in xs, i in axes(z): z.shape[i] == 1 or b",
     "forall z in xs: forall i in axes(z): z.shape[i] == 1 or b"},
    {"(forall z in xs: b) and exists i, z in enumerate(xs): i == k",
     "(forall z in xs: b) and (exists i, z in enumerate(xs): i == k)"},
    {"(if b then k else l) + 1 == if b then 1 else 2", "(if b then k else l) + 1 == (if b then 1 else 2)"},
    {"(let v = k + 1 in v * v) == 4", "(let v = k + 1 in v * v) == 4"},
    {"let v = 1 in let w = k in [1] in [2] in b", nullptr},
    {"(let v = k in ks in v)", nullptr},
    {"let v = (k in ks) in v and b", "let v = (k in ks) in v and b"},
    {"let v = (if k in ks then 1 else 2) in v == 1", "let v = (if k in ks then 1 else 2) in v == 1"},
    {"let v = [i for i in ks if i in ks] in v == ks", "let v = [i for i in ks if i in ks] in v == ks"},
    {"let v = let w = k in w in v == k", "let v = let w = k in w in v == k"},
    {"let v = (forall i in ks: i in ks) in v", "let v = (forall i in ks: i in ks) in v"},
    {"let v = forall i in ks: i == 1 in v", "let v = forall i in ks: i == 1 in v"},
    {"fold(acc = 1; i in ks: acc * i) == 1", "fold(acc = 1; i in ks: acc * i) == 1"},
    {"fold(acc = [k]; i, j in zip(ks, ks): acc ++ [i + j]) == ks",
     "fold(acc = [k]; i, j in zip(ks, ks): acc ++ [i + j]) == ks"},
    {"permute(ks, inverse(ks)) == complement(ks, k)", "permute(ks, inverse(ks)) == complement(ks, k)"},
    {"uniform(x) == c and interval_low(x) >= 0", "uniform(x) == c and interval_low(x) >= 0"},
    {"rank(concat(xs; 0)) == rank(concat(x, *xs, y; k))",
     "rank(concat(xs; 0)) == rank(concat(x, *xs, y; k))"},
    {"rank(reshape(x; [k, -1])) == rank(full(0; ks, f32))",
     "rank(reshape(x; [k, -1])) == rank(full(0; ks, f32))"},
    {"rank(broadcast_to(x, ks)) == rank(full_like(c, x))",
     "rank(broadcast_to(x; ks)) == rank(full_like(c, x))"},
    {"rank(reduce(x; 0, \"sum\")) == rank(reduce(x; 0, \"odd name\"))",
     "rank(reduce(x; 0, sum)) == rank(reduce(x; 0, \"odd name\"))"},
    {"columns([ks, ks]) == [ks]", "columns([ks, ks]) == [ks]"},
};

std::string wrap(const std::string& condition) {
  return kOperators +
         "lemma l(x: tensor, y: tensor, xs: tensor+, ys: tensor+, k: int, l: int, ks: int*, c: scalar, b: "
         "bool):\n"
         "  given concat(x, y; k), concat(xs; l), scale(x; c), known(x; b, ks)\n"
         "  concat(ys; 0) => x when b and (" +
         condition + ");\nop known(x: tensor; b: bool, ks: int*) { value i => 0; }";
}

// Loads what `condition` says; warnings do not matter here.
std::shared_ptr<const RuleSet> load(const std::string& condition) {
  return load_rules_text("test.rules", wrap(condition), {}).rules;
}

// The condition without the `b` in front, as one expression.
Expr condition_of(const RuleSet& rules) {
  std::vector<Expr> when = rules.lemmas()[0].when;
  Expr result = std::move(when[1]);
  for (std::size_t i = 2; i < when.size(); ++i) {
    Expr both;
    both.kind = ExprKind::binary;
    both.operation = Operation::logical_and;
    both.args.push_back(std::move(result));
    both.args.push_back(std::move(when[i]));
    result = std::move(both);
  }
  return result;
}

}  // namespace

TEST_CASE("conditions are printed in one way, and read back") {
  for (const Row& row : kConditions) {
    CAPTURE(row.written);
    const auto rules = load(row.written);
    if (row.printed == nullptr) {
      CHECK(rules == nullptr);
      continue;
    }
    if (rules == nullptr) {
      std::string problems;
      for (const auto& d : load_rules_text("test.rules", wrap(row.written), {}).diagnostics) {
        problems += support::render(d);
      }
      FAIL_CHECK(problems);
      continue;
    }
    const Expr expr = condition_of(*rules);
    CHECK(to_string(expr) == row.printed);
    const auto again = load(row.printed);
    REQUIRE(again != nullptr);
    const Expr second = condition_of(*again);
    CHECK(to_string(second) == row.printed);
    CHECK(same(expr, second));
  }
}

namespace {

std::string header(const std::vector<Variable>& slots, std::size_t parameters) {
  std::string result = "(";
  for (std::size_t i = 0; i < parameters; ++i) {
    result += (i > 0 ? ", " : "") + slots[i].name + ": " + to_string(slots[i].type);
  }
  return result + ")";
}

std::string joined(const std::string& keyword, const std::vector<Expr>& conjuncts) {
  std::string result;
  for (const Expr& conjunct : conjuncts) {
    // In parentheses: `forall` and the like extend to the end.
    result += (result.empty() ? "\n  " + keyword + " (" : " and (") + to_string(conjunct) + ")";
  }
  return result;
}

std::string print(const Lemma& lemma) {
  std::string result = lemma.normalise ? "normalise " : "";
  result += (lemma.axiom ? "axiom " : "lemma ") + lemma.name;
  if (lemma.generic) {
    const auto& [name, trait, axis, result_axis] = *lemma.generic;
    static const char* const words[] = {"maps",        "maps pair", "reduces sum",
                                        "reduces max", "linear",    "elementwise"};
    result += "<" + name + ": " + words[static_cast<std::size_t>(trait)];
    if (axis != kNoSlot) result += " " + lemma.slots[axis].name;
    if (result_axis != kNoSlot) result += " -> " + lemma.slots[result_axis].name;
    result += ">";
  }
  result += header(lemma.slots, lemma.parameters) + ":\n  ";
  for (const Given& given : lemma.given) {
    result += (&given == lemma.given.data() ? "given " : ", ") + to_string(given.pattern);
    if (given.equal_to) result += " == " + to_string(*given.equal_to);
  }
  result += " " + to_string(lemma.left) + (lemma.direction == Direction::both ? " == " : " => ") +
            to_string(lemma.right) + joined("when", lemma.when) + joined("trigger", lemma.trigger);
  if (lemma.axiom) result += " because \"test\"";
  return result + ";\n";
}

// All that is declared, from its resolved form: operators by their signature and value, then everything else.
std::string print(const RuleSet& rules) {
  std::string result;
  for (const Operator& op : rules.operators()) {
    result += "op " + op.name + "(";
    for (const Parameter& p : op.tensors) {
      result += (&p == op.tensors.data() ? "" : ", ") + p.name + ": " + to_string(p.type);
    }
    for (const Parameter& p : op.attributes) {
      result += (&p == op.attributes.data() ? "; " : ", ") + p.name + ": " + to_string(p.type);
      if (p.default_value) result += " = " + to_string(*p.default_value);
    }
    result += ")";
    std::string flags;
    for (const auto& [on, word] : {std::pair(op.elementwise, "elementwise"),
                                   {op.commutative, "commutative"},
                                   {op.clean, "clean"},
                                   {op.rearranges, "rearranges"},
                                   {op.free, "free"},
                                   {op.random, "random"},
                                   {op.drawn, "drawn"},
                                   {op.converts, "converts"}}) {
      if (on) flags += (flags.empty() ? ": " : ", ") + std::string(word);
    }
    result += flags + " {\n";
    for (const Let& let : op.lets)
      result += "  let " + op.slots[let.slot].name + " = " + to_string(let.value) + ";\n";
    for (const Expr& r : op.requires_) result += "  require " + to_string(r) + ";\n";
    if (op.shape) result += "  shape " + to_string(*op.shape) + ";\n";
    if (op.dtype) result += "  dtype " + to_string(*op.dtype) + ";\n";
    if (op.value && !op.converts)
      result += "  value " + op.slots[op.value_index].name + " => " + to_string(*op.value) + ";\n";
    for (const AxisClause& c : op.axes) {
      result += c.kind == AxisClause::Kind::maps  ? "  maps "
                : c.kind == AxisClause::Kind::sum ? "  reduces sum "
                                                  : "  reduces max ";
      result += c.name;
      if (c.bound) {
        result += "(" + op.slots[c.index].name + " < " + to_string(*c.bound);
        if (c.filter) result += " if " + to_string(*c.filter);
        result += ")";
      }
      result += ": ";
      if (c.result) result += to_string(*c.result) + " <- ";
      for (const auto& o : c.operands) {
        result += (&o == c.operands.data() ? "" : ", ") + op.tensors[o.parameter].name + ".(" +
                  to_string(o.axis) + ")";
      }
      result += ";\n";
    }
    for (const LinearClause& c : op.linear) {
      result += "  linear " + op.tensors[c.parameter].name;
      if (c.condition) result += " when " + to_string(*c.condition);
      result += ";\n";
    }
    if (!op.because.empty()) result += "  because \"test\";\n";
    result += "}\n";
  }
  for (const ScalarFunction& f : rules.functions()) {
    result += "function " + f.name + "(";
    for (std::size_t i = 0; i < f.arity; ++i) result += (i > 0 ? ", a" : "a") + std::to_string(i);
    result += ");\n";
  }
  for (const Law& law : rules.laws()) {
    result += "law " + law.name + "(";
    for (std::size_t i = 0; i < law.slots.size(); ++i) result += (i > 0 ? ", " : "") + law.slots[i].name;
    result += "): " + to_string(law.left) + " == " + to_string(law.right);
    if (law.condition) result += " when " + to_string(*law.condition);
    result += ";\n";
  }
  for (const Predicate& p : rules.predicates()) {
    result += "predicate " + p.name + header(p.slots, p.parameters) + " = " + to_string(p.body) + ";\n";
  }
  for (const Lemma& lemma : rules.lemmas()) result += print(lemma);
  for (const Lowering& l : rules.lowerings()) {
    static const char* const words[] = {"lower", "collective", "send", "recv"};
    result += words[static_cast<std::size_t>(l.kind)] + std::string(" \"") + l.op + "\"(";
    for (std::size_t i = 0; i < l.parameters.size(); ++i) {
      const Parameter& p = l.parameters[i];
      result += i == l.positional ? "; " : i > 0 ? ", " : "";
      result += p.name + ": " + to_string(p.type);
      if (p.default_value) result += " = " + to_string(*p.default_value);
    }
    result += ")";
    if (l.kind == LoweringKind::local || l.kind == LoweringKind::collective) {
      if (l.condition) result += " when " + to_string(*l.condition);
      result += ":\n  " + to_string(l.body);
    }
    result += ";\n";
  }
  return result;
}

void compare(const std::string& what, const std::vector<Expr>& a, const std::vector<Expr>& b) {
  CAPTURE(what);
  REQUIRE(a.size() == b.size());
  std::vector<std::pair<Slot, Slot>> renamed;
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(to_string(a[i]));
    CAPTURE(to_string(b[i]));
    CHECK(same(a[i], b[i], renamed));
  }
}

std::vector<Expr> parts(const Lemma& lemma) {
  std::vector<Expr> result;
  for (const Given& given : lemma.given) {
    result.push_back(given.pattern);
    if (given.equal_to) result.push_back(*given.equal_to);
  }
  result.push_back(lemma.left);
  result.push_back(lemma.right);
  result.insert(result.end(), lemma.when.begin(), lemma.when.end());
  result.insert(result.end(), lemma.trigger.begin(), lemma.trigger.end());
  return result;
}

void round_trip(const Loaded& loaded) {
  REQUIRE(loaded.ok());
  const RuleSet& first = *loaded.rules;
  const std::string text = print(first);
  const Loaded again = load_rules_text("printed.rules", text, {});
  std::string problems;
  for (const auto& d : again.diagnostics) {
    if (d.severity == support::Severity::error) problems += support::render(d);
  }
  REQUIRE(problems == "");
  const RuleSet& second = *again.rules;
  CHECK(print(second) == text);
  REQUIRE(first.lemmas().size() == second.lemmas().size());
  for (std::size_t i = 0; i < first.lemmas().size(); ++i) {
    compare(first.lemmas()[i].name, parts(first.lemmas()[i]), parts(second.lemmas()[i]));
  }
  REQUIRE(first.lowerings().size() == second.lowerings().size());
  for (std::size_t i = 0; i < first.lowerings().size(); ++i) {
    compare(first.lowerings()[i].op, {first.lowerings()[i].body}, {second.lowerings()[i].body});
  }
  for (std::size_t i = 0; i < first.operators().size(); ++i) {
    const Operator& a = first.operators()[i];
    const Operator& b = second.operators()[i];
    compare(a.name, a.requires_, b.requires_);
    if (a.value) compare(a.name, {*a.value}, {*b.value});
    if (a.shape) compare(a.name, {*a.shape}, {*b.shape});
  }
  for (std::size_t i = 0; i < first.predicates().size(); ++i) {
    compare(first.predicates()[i].name, {first.predicates()[i].body}, {second.predicates()[i].body});
  }
}

}  // namespace

TEST_CASE("the whole library, printed and read back, is the same") {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (const char* folder : {"rules", "frameworks"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ENTANGLE_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".rules") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  const std::string root = ENTANGLE_SOURCE_DIR;
  round_trip(load_rules(paths, {root + "/rules", root + "/frameworks"}));
}

TEST_CASE("what a definition binds does not hide the variables of its users") {
  round_trip(load_rules_text("capture.rules", std::string(kOperators) + R"(
def twice_shifted(x: tensor, w: any; ks: int*) =
  let y = scale(x; -1) in
  let z = if is_none(w) then y else add_n(y, x) in
  fold(acc = z; k in ks: slice(acc; 0, k, x.shape[0]));
def outer_one(x: tensor) = let y = exp(x) in twice_shifted(y, y; [k for k in range(rank(y))]);
lower capture.let(x: tensor): let y = exp(x) in let z = exp(y) in twice_shifted(y, z; [1]);
lower capture.comprehension(x: tensor): [twice_shifted(x, x; [k]) for k in range(2)];
lower capture.nested(y: tensor): outer_one(y);
def last(x: tensor; end: int) = let n = rank(x) in let site = n - 1 in slice(x; site, 0, end);
collective capture.implicit(xs: tensor+; group: group): last(xs[0]; n);
)",
                             {}));
}

TEST_CASE("the operators of these tests, printed and read back, are the same") {
  round_trip(load_rules_text("operators.rules", kOperators, {}));
}

}  // namespace entangle::rules
