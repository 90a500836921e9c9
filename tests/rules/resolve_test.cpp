#include <filesystem>
#include <fstream>

#include "helpers.h"

namespace entangle::rules {
namespace {

const Lemma& lemma_of(const std::shared_ptr<const RuleSet>& rules, const std::string& name) {
  for (const Lemma& lemma : rules->lemmas()) {
    if (lemma.name == name) return lemma;
  }
  FAIL("no lemma " << name);
  return rules->lemmas().front();
}

std::vector<std::string> texts(const std::vector<Expr>& exprs) {
  std::vector<std::string> result;
  for (const Expr& expr : exprs) result.push_back(to_string(expr));
  return result;
}

std::vector<std::string> names(const std::vector<Variable>& variables) {
  std::vector<std::string> result;
  for (const Variable& variable : variables)
    result.push_back(variable.name + ": " + to_string(variable.type));
  return result;
}

}  // namespace

TEST_CASE("an operator variable hides an operator or a definition of its name") {
  const std::string lemma =
      "lemma scaled<f: linear>(x: tensor, c: scalar): f(.., scale(x; c), ..) => scale(f(.., x, ..); c);\n";
  for (const char* other : {"op f(x: tensor): elementwise;\n", "def f(x: tensor) = scale(x; 2);\n"}) {
    CAPTURE(other);
    const auto rules = rules_of(kOperators + std::string(other) + lemma);
    CHECK(to_string(lemma_of(rules, "scaled").left) == "f(.., scale(x; c), ..)");
    CHECK(lemma_of(rules, "scaled").left.kind == ExprKind::generic);
  }
}

TEST_CASE("an operator: parameters, flags, clauses and slots") {
  const auto rules = rules_of(kOperators);
  const OpId id = rules->find_op("contract");
  REQUIRE(id != kNoOp);
  const Operator& op = rules->op(id);
  CHECK(op.id == id);
  CHECK(!op.elementwise);
  REQUIRE(op.tensors.size() == 2);
  REQUIRE(op.attributes.size() == 2);
  CHECK(to_string(op.attributes[0].type) == "count(batch)");
  CHECK(op.tensors[1].slot == 1);
  CHECK(op.attributes[1].slot == 3);
  CHECK(names(op.slots) == std::vector<std::string>{"x: tensor", "y: tensor", "nb: count(batch)",
                                                    "nc: count(inner)", "fx: int", "fy: int", "i: int*",
                                                    "k: int*", "k: int", "k: int", "k: int", "k: int"});
  REQUIRE(op.lets.size() == 2);
  CHECK(op.lets[1].slot == 5);
  CHECK(to_string(op.lets[1].value) == "rank(y) - nb - nc");
  CHECK(texts(op.requires_) == std::vector<std::string>{"nb >= 0", "nc >= 1", "fx >= 0", "fy >= 0",
                                                        "x.dtype == y.dtype", "x.shape[:nb] == y.shape[:nb]",
                                                        "x.shape[nb + fx:] == y.shape[nb:nb + nc]"});
  CHECK(to_string(*op.shape) == "x.shape[:nb + fx] ++ y.shape[nb + nc:]");
  CHECK(!op.dtype);
  CHECK(to_string(*op.value) ==
        "sum(k < x.shape[nb + fx:]: x[i[:nb + fx] ++ k] * y[i[:nb] ++ k ++ i[nb + fx:]])");
  CHECK(op.value_index == 6);
  REQUIRE(op.axes.size() == 4);
  CHECK(op.axes[2].name == "columns");
  CHECK(op.axes[2].kind == AxisClause::Kind::maps);
  CHECK(to_string(*op.axes[2].bound) == "fy");
  CHECK(to_string(*op.axes[2].result) == "nb + fx + k");
  REQUIRE(op.axes[2].operands.size() == 1);
  CHECK(op.axes[2].operands[0].parameter == 1);
  CHECK(to_string(op.axes[2].operands[0].axis) == "nb + nc + k");
  CHECK(op.axes[3].kind == AxisClause::Kind::sum);
  CHECK(!op.axes[3].result);
  REQUIRE(op.linear.size() == 2);
  CHECK(op.linear[1].parameter == 1);
}

TEST_CASE("flags, filters and fixed axes") {
  const auto rules = rules_of(kOperators + R"(
op sum_last(x: tensor; dim: axis(x)): random {
  shape x.shape without dim;
  reduces max inner: x.dim;
  maps heads: 1 <- x.1;
  linear x when is_wide_float(x.dtype) and rank(x) > 1;
  because "a test";
})");
  const Operator& concat = rules->op(rules->find_op("concat"));
  CHECK(concat.clean);
  CHECK(concat.rearranges);
  CHECK(concat.free);
  CHECK(concat.tensors[0].type.nonempty);
  CHECK(to_string(*concat.axes[0].filter) == "k != dim");
  const Operator& op = rules->op(rules->find_op("sum_last"));
  CHECK(op.random);
  CHECK(op.because == "a test");
  CHECK(op.axes[0].kind == AxisClause::Kind::max);
  CHECK(op.axes[0].index == kNoSlot);
  CHECK(!op.axes[0].bound);
  CHECK(to_string(op.axes[1].operands[0].axis) == "1");
  CHECK(to_string(*op.linear[0].condition) == "is_wide_float(x.dtype) and rank(x) > 1");
}

TEST_CASE("an elementwise operator applies the scalar function of its name") {
  const auto rules = rules_of(kOperators + "op rsqrt(x: tensor; eps: scalar): elementwise;");
  const Operator& op = rules->op(rules->find_op("rsqrt"));
  REQUIRE(op.value);
  CHECK(to_string(*op.value) == "rsqrt(eps, x[i])");
  CHECK(op.value->kind == ExprKind::scalar_call);
  const auto function = std::find_if(rules->functions().begin(), rules->functions().end(),
                                     [](const ScalarFunction& f) { return f.name == "rsqrt"; });
  REQUIRE(function != rules->functions().end());
  CHECK(function->arity == 2);
}

TEST_CASE("a pattern: what is left out is a wildcard, numbers are uniform, lists are stars") {
  const auto rules = rules_of(kOperators + R"(
lemma a(x: tensor, d: axis, rest: tensor*): add_n(0, slice(x; d, end = 3), *rest) => add_n([x] ++ rest);
lemma b(xs: tensor+, d: axis): concat(xs; d) => concat([exp(x) for x in xs]; d);
lemma c(x: tensor, y: tensor): concat([x, y]; 0) => add_n(x, scale(y; 1/8));
)");
  const Lemma& a = lemma_of(rules, "a");
  CHECK(a.left.kind == ExprKind::apply);
  REQUIRE(a.left.args.size() == 3);
  CHECK(a.left.args[0].kind == ExprKind::call);
  CHECK(a.left.args[0].builtin == Builtin::uniform);
  CHECK(a.left.args[0].args[0].value == tensor::Attr::of(sym::Scalar(0)));
  const Expr& slice = a.left.args[1];
  REQUIRE(slice.attrs.size() == 3);
  CHECK(slice.attrs[0].kind == ExprKind::variable);
  CHECK(slice.attrs[1].kind == ExprKind::wildcard);
  CHECK(slice.attrs[2].value == tensor::Attr::of(3));
  CHECK(a.left.args[2].kind == ExprKind::star);
  REQUIRE(a.right.args.size() == 1);
  CHECK(a.right.args[0].kind == ExprKind::star);
  CHECK(to_string(a.left) == "add_n(uniform(0), slice(x; d, _, 3), *rest)");
  const Lemma& b = lemma_of(rules, "b");
  REQUIRE(b.left.args.size() == 1);
  CHECK(b.left.args[0].kind == ExprKind::star);
  CHECK(b.left.args[0].args[0].kind == ExprKind::variable);
  CHECK(b.right.args[0].args[0].kind == ExprKind::comprehension);
  CHECK(to_string(b.right) == "concat([exp(x) for x in xs]; d)");
  const Lemma& c = lemma_of(rules, "c");
  CHECK(to_string(c.left) == "concat(x, y; 0)");
  CHECK(c.right.args[1].attrs[0].value == tensor::Attr::of(sym::Scalar::ratio(1, 8)));
}

TEST_CASE("attributes by name take their places; literals take the type of the attribute") {
  const auto rules = rules_of(kOperators + R"(
lemma a(x: tensor): slice(x; 0, 0, 1) => slice(scale(x; 2); end = 4, dim = 1, begin = 0);
lemma b(x: tensor): reduce(x; 0, sum) => cast(reduce(x; by = max, dim = 1); bool);
)");
  CHECK(to_string(lemma_of(rules, "a").right) == "slice(scale(x; 2); 1, 0, 4)");
  CHECK(lemma_of(rules, "a").right.args[0].attrs[0].value == tensor::Attr::of(sym::Scalar(2)));
  const Lemma& b = lemma_of(rules, "b");
  CHECK(b.left.attrs[1].value == tensor::Attr::name("sum"));
  CHECK(b.right.attrs[0].value == tensor::Attr::of(tensor::DType::b8));
}

TEST_CASE("a lemma: slots, premises, conditions, direction") {
  const auto rules = rules_of(kOperators + R"(
normalise lemma back(x: tensor, d: axis, k: int): split(merge(x; d); d, k) => x when k == x.shape[d + 1];
lemma joined(x: tensor; d: axis, a: int, b: int, c: int):
  given slice(x; d, a, b), slice(x; d, b, c)
  slice(x; d, a, c) == concat([slice(x; d, a, b), slice(x; d, b, c)]; d);
lemma injective(xs: tensor+, ys: tensor+, d: axis):
  given concat(xs; d) == concat(ys; d)  xs == ys
  when len(xs) == len(ys) and forall x, y in zip(xs, ys): x.shape[d] == y.shape[d];
axiom trusted(x: tensor): exp(exp(x)) => x because "it is a test";
lemma defines(x: tensor, a: int, b: int, d: axis): slice(x; d, a, b) => slice(x; d, 0, n)
  when b - a == n and m == n + a and m < 4 trigger named(x) and not constant(x) or m in [1, 2];
)");
  const Lemma& back = lemma_of(rules, "back");
  CHECK(back.normalise);
  CHECK(back.direction == Direction::forward);
  CHECK(back.parameters == 3);
  CHECK(names(back.slots) == std::vector<std::string>{"x: tensor", "d: axis", "k: int"});
  CHECK(texts(back.when) == std::vector<std::string>{"k == x.shape[d + 1]"});
  CHECK(back.text.starts_with("normalise lemma back(x: tensor"));
  CHECK(back.text.ends_with("k == x.shape[d + 1];"));
  const Lemma& joined = lemma_of(rules, "joined");
  REQUIRE(joined.given.size() == 2);
  CHECK(!joined.given[1].equal_to);
  CHECK(joined.direction == Direction::both);
  CHECK(to_string(joined.right) == "concat(slice(x; d, a, b), slice(x; d, b, c); d)");
  const Lemma& injective = lemma_of(rules, "injective");
  REQUIRE(injective.given.size() == 1);
  CHECK(to_string(*injective.given[0].equal_to) == "concat(ys; d)");
  CHECK(injective.left.kind == ExprKind::variable);
  CHECK(injective.left.type.depth == 1);
  CHECK(injective.when.size() == 2);
  const Lemma& trusted = lemma_of(rules, "trusted");
  CHECK(trusted.axiom);
  CHECK(trusted.because == "it is a test");
}

TEST_CASE("an equation in `when` gives a variable its value, whichever side it is on") {
  const auto rules = rules_of(kOperators + R"(
lemma a(x: tensor, k: int): exp(x) => slice(x; 0, 0, k) when rank(x) == k;
lemma b(x: tensor): exp(x) => slice(x; 0, 0, n) when n == rank(x) + 1 and n < 3;
)");
  CHECK(texts(lemma_of(rules, "a").when) == std::vector<std::string>{"k == rank(x)"});
  const Lemma& b = lemma_of(rules, "b");
  CHECK(b.parameters == 1);
  CHECK(names(b.slots) == std::vector<std::string>{"x: tensor", "n: int"});
  CHECK(texts(b.when) == std::vector<std::string>{"n == rank(x) + 1", "n < 3"});
}

TEST_CASE("generic lemmas") {
  const auto rules = rules_of(kOperators + R"(
lemma maps_merge<f: maps a -> r>(x: tensor, k: int):
  f(.., merge(x; a), ..) => merge(f(.., x, .. | y @ b => split(y; b, k); split); r)
  when k == x.shape[a + 1]
  trigger named(merge(x; a)) or forall y @ b: has(y, merge(z; b) if z.shape[b + 1] == k) or constant(y);
lemma linear<f: linear>(xs: tensor+): f(.., add_n(xs), ..) => add_n([f(.., x, ..) for x in xs]);
lemma pair<f: maps pair a -> r>(x: tensor, k: int): f(.., split(x; a, k), ..) => split(f(.., x, .. | y @ b => merge(y; b); join); r, k);
lemma sums<f: reduces sum a>(x: tensor): f(.., merge(x; a), ..) => f(.., x, ..; drop) trigger named(x);
lemma each<f: elementwise>(x: tensor): f(.., exp(x), ..) => exp(f(.., x, .. | y => exp(y)));
)");
  const Lemma& merge = lemma_of(rules, "maps_merge");
  REQUIRE(merge.generic);
  CHECK(merge.generic->name == "f");
  CHECK(merge.generic->trait == Trait::maps);
  CHECK(merge.generic->axis == 2);
  CHECK(merge.generic->result_axis == 3);
  CHECK(merge.parameters == 2);
  CHECK(merge.left.kind == ExprKind::generic);
  const Expr& inner = merge.right.args[0];
  CHECK(inner.kind == ExprKind::generic);
  CHECK(inner.shift == Shift::split);
  CHECK(inner.args.size() == 2);
  CHECK(inner.binders.size() == 2);
  CHECK(to_string(merge.right) == "merge(f(.., x, .. | y @ b => split(y; b, k); split); r)");
  REQUIRE(merge.trigger.size() == 1);
  CHECK(to_string(merge.trigger[0]) ==
        "named(merge(x; a)) or (forall y @ b: has(y, merge(z; b) if z.shape[b + 1] == k) or constant(y))");
  CHECK(lemma_of(rules, "linear").generic->trait == Trait::linear);
  CHECK(lemma_of(rules, "linear").generic->axis == kNoSlot);
  CHECK(lemma_of(rules, "pair").generic->trait == Trait::maps_pair);
  CHECK(lemma_of(rules, "pair").right.args[0].shift == Shift::join);
  CHECK(lemma_of(rules, "sums").generic->trait == Trait::reduces_sum);
  CHECK(lemma_of(rules, "sums").right.shift == Shift::drop);
  const Lemma& each = lemma_of(rules, "each");
  CHECK(each.right.args[0].binders.size() == 1);
  CHECK(to_string(each.right) == "exp(f(.., x, .. | y => exp(y)))");
}

TEST_CASE("predicates may be recursive, and bind variables inside `has`") {
  const auto rules = rules_of(kOperators + R"(
predicate stuck(t: tensor) = has(t, merge(x; d) if has(x, concat(_; d + 1)) or stuck(x));
lemma a(x: tensor): exp(x) => x trigger stuck(exp(x));
)");
  const Predicate* stuck = rules->find_predicate("stuck");
  REQUIRE(stuck != nullptr);
  CHECK(stuck->parameters == 1);
  CHECK(names(stuck->slots) == std::vector<std::string>{"t: tensor", "x: tensor", "d: axis(x)"});
  CHECK(to_string(stuck->body) == "has(t, merge(x; d) if has(x, concat(_; d + 1)) or stuck(x))");
  CHECK(to_string(lemma_of(rules, "a").trigger[0]) == "stuck(exp(x))");
  CHECK(rules->find_predicate("stick") == nullptr);
}

TEST_CASE("definitions are expanded; what is needed twice is computed once") {
  const auto rules = rules_of(kOperators + R"(
def twice(x: tensor) = add_n(x, x);
def matmul(a: tensor, b: tensor) = contract(a, b; rank(a) - 2, 1);
def pair(a: tensor; n: int = 2) = (a, scale(a; scalar_of(n)));
def swap(p: any) = (p[1], p[0]);
lemma simple(x: tensor): exp(x) => twice(x);
lemma shared(x: tensor): exp(x) => twice(exp(exp(x)));
lemma nested(x: tensor, a: tensor): add_n(x, a) => matmul(twice(x), a);
lemma pattern(x: tensor, y: tensor): matmul(x, y) => x;
lemma capture(x: tensor, y: tensor): add_n(x, y) => let z = exp(y) in twice(exp(z));
lower f(y: tensor): pair(y)[1];
lower g(y: tensor): swap(pair(y; n = 3));
)");
  CHECK(to_string(lemma_of(rules, "simple").right) == "add_n(x, x)");
  CHECK(to_string(lemma_of(rules, "shared").right) == "let x_1 = exp(exp(x)) in add_n(x_1, x_1)");
  CHECK(to_string(lemma_of(rules, "nested").right) ==
        "let a_1 = add_n(x, x) in contract(a_1, a; rank(a_1) - 2, 1)");
  CHECK(to_string(lemma_of(rules, "pattern").left) == "contract(x, y; rank(x) - 2, 1)");
  CHECK(to_string(lemma_of(rules, "capture").right) ==
        "let z = exp(y) in let x_1 = exp(z) in add_n(x_1, x_1)");
  CHECK(to_string(rules->lowerings()[0].body) == "scale(y; scalar_of(2))");
  CHECK(to_string(rules->lowerings()[1].body) == "let p = (y, scale(y; scalar_of(3))) in (p[1], p[0])");
}

TEST_CASE("definitions of scalars and of lists") {
  const auto rules = rules_of(kOperators + R"(
function sigmoid(a);
def silu(a: scalar) = a * sigmoid(a);
op silu_mul(x: tensor, y: tensor): elementwise { value i => silu(x[i]) * y[i]; }
def halves(x: tensor; d: int) = [slice(x; d, 0, x.shape[d] / 2), slice(x; d, x.shape[d] / 2, x.shape[d])];
lemma a(x: tensor): exp(x) => add_n(halves(x; 0));
)");
  CHECK(to_string(*rules->op(rules->find_op("silu_mul")).value) == "(let a = x[i] in a * sigmoid(a)) * y[i]");
  CHECK(to_string(lemma_of(rules, "a").right) ==
        "add_n(slice(x; 0, 0, x.shape[0] / 2), slice(x; 0, x.shape[0] / 2, x.shape[0]))");
}

using Numbers = std::vector<std::uint32_t>;

Numbers lowerings_of(const RuleSet& rules, std::string_view op) {
  const auto found = rules.lowerings_of(op);
  return {found.begin(), found.end()};
}

TEST_CASE("lowerings: parameters, defaults and what is implied") {
  const auto rules = rules_of(kOperators + R"(
lower aten.addmm.default(bias: tensor, a: tensor, b: tensor; beta: scalar = 1, alpha: scalar = 1/2) when alpha != 0:
  let y = scale(contract(a, b; 0, 1); alpha) in add_n(scale(broadcast_to(bias, y.shape); beta), y);
lower aten.addmm.default(bias: tensor, a: operand, b: tensor?*; dtype: dtype? = none, dims: axis(bias)* = [0]): bias;
collective _c10d_functional.all_reduce.default(xs: tensor+, op: name; group: group) when op == sum: add_n(xs);
collective _c10d_functional.reduce_scatter_tensor.default(xs: tensor+, op: name, size: int; group: group):
  slice(add_n(xs); 0, r * (xs[0].shape[0] / n), (r + 1) * (xs[0].shape[0] / n)) when len(members) == n and all(size)[0] == size;
lower hlo.custom-call(x: tensor): (x, none);
lower _C::rms_norm.default(x: tensor): cast(x; result[0].dtype);
lower "odd name"(x: tensor): let z = site in fresh(result.shape, f32);
send c10d.send(x: tensor, to: int; tag: int = 0);
recv c10d.recv(from: int; tag: int = 0);
lower hlo.reduce-window.in/2(x: tensor): x;
)");
  REQUIRE(rules->lowerings().size() == 10);
  CHECK(lowerings_of(*rules, "aten.addmm.default") == Numbers{0, 1});
  CHECK(lowerings_of(*rules, "hlo.custom-call") == Numbers{4});
  CHECK(lowerings_of(*rules, "_C::rms_norm.default") == Numbers{5});
  CHECK(lowerings_of(*rules, "odd name") == Numbers{6});
  CHECK(lowerings_of(*rules, "hlo.reduce-window.in/2") == Numbers{9});
  CHECK(rules->lowerings_of("aten.mm.default").empty());
  const Lowering& addmm = rules->lowerings()[0];
  CHECK(addmm.kind == LoweringKind::local);
  CHECK(addmm.positional == 3);
  REQUIRE(addmm.parameters.size() == 5);
  CHECK(addmm.parameters[3].default_value->value == tensor::Attr::of(sym::Scalar(1)));
  CHECK(addmm.parameters[4].default_value->value == tensor::Attr::of(sym::Scalar::ratio(1, 2)));
  CHECK(to_string(*addmm.condition) == "alpha != 0");
  CHECK(addmm.result_types == kNoSlot);
  const Lowering& second = rules->lowerings()[1];
  CHECK(to_string(second.parameters[2].type) == "tensor?*");
  CHECK(second.parameters[2].type.holes);
  CHECK(!second.parameters[2].type.optional);
  CHECK(second.parameters[3].type.optional);
  CHECK(second.parameters[3].default_value->value.is_none());
  CHECK(to_string(*second.parameters[4].default_value) == "[0]");
  const Lowering& reduce = rules->lowerings()[2];
  CHECK(reduce.kind == LoweringKind::collective);
  CHECK(to_string(*reduce.condition) == "op == sum");
  CHECK(reduce.condition->args[1].value == tensor::Attr::name("sum"));
  const Lowering& scatter = rules->lowerings()[3];
  CHECK(scatter.slots[scatter.rank_in_group].name == "r");
  CHECK(scatter.slots[scatter.group_size].name == "n");
  CHECK(scatter.slots[scatter.group_ranks].name == "members");
  CHECK(scatter.condition->args[1].args[0].args[0].builtin == Builtin::all_of);
  CHECK(rules->lowerings()[4].body.kind == ExprKind::tuple);
  CHECK(rules->lowerings()[5].result_types != kNoSlot);
  CHECK(rules->lowerings()[6].site != kNoSlot);
  CHECK(rules->lowerings()[7].kind == LoweringKind::send);
  CHECK(rules->lowerings()[8].kind == LoweringKind::recv);
  CHECK(rules->lowerings()[8].parameters[1].default_value->value == tensor::Attr::of(0));
}

TEST_CASE("laws and functions") {
  const auto rules = rules_of(R"(
function exp(a);
function log(a);
law exp_of_sum(a, b): exp(a + b) == exp(a) * exp(b);
law log_of_exp(a): log(exp(a)) == a;
law log_of_product(a, b): log(a * b) == log(a) + log(b) when a > 0 and b > 0;
)");
  REQUIRE(rules->laws().size() == 3);
  CHECK(to_string(rules->laws()[0].left) == "exp(a + b)");
  CHECK(to_string(rules->laws()[0].right) == "exp(a) * exp(b)");
  CHECK(to_string(*rules->laws()[2].condition) == "a > 0 and b > 0");
  CHECK(names(rules->laws()[2].slots) == std::vector<std::string>{"a: scalar", "b: scalar"});
  CHECK(rules->functions().size() == 2);
}

TEST_CASE("files are read once, what is included comes first, cycles do no harm") {
  const std::filesystem::path folder = std::filesystem::path(ENTANGLE_BINARY_DIR) / "rules_test";
  std::filesystem::create_directories(folder / "library");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::trunc) << text;
  };
  write("main.rules",
        "include \"a.rules\"; include \"lib.rules\"; include \"b.rules\"; accept bounded; op main(x: "
        "tensor): elementwise;");
  write("a.rules",
        "include \"b.rules\"; op a(x: tensor): elementwise; lemma early(x: tensor): main(x) => b(x);");
  write("b.rules", "include \"a.rules\"; include \"main.rules\"; op b(x: tensor): elementwise;");
  write("library/lib.rules", "accept proved; op lib(x: tensor): elementwise;");
  const std::string main = (folder / "main.rules").string();
  const Loaded loaded =
      load_rules({main, main, (folder / "b.rules").string()}, {(folder / "library").string()});
  REQUIRE(loaded.ok());
  std::vector<std::string> operators;
  for (const Operator& op : loaded.rules->operators()) operators.push_back(op.name);
  CHECK(operators == std::vector<std::string>{"b", "a", "lib", "main"});
  REQUIRE(loaded.rules->files().size() == 4);
  CHECK(loaded.rules->accept(loaded.rules->files()[0]) == Accept::none);
  CHECK(loaded.rules->accept(loaded.rules->files()[2]) == Accept::proved);
  CHECK(loaded.rules->accept(loaded.rules->files()[3]) == Accept::bounded);
  const Loaded again = load_rules({main}, {(folder / "library").string()});
  CHECK(again.rules->fingerprint() == loaded.rules->fingerprint());
  write("b.rules", "include \"a.rules\"; op b(x: tensor): elementwise; // changed");
  CHECK(load_rules({main}, {(folder / "library").string()}).rules->fingerprint() !=
        loaded.rules->fingerprint());
}

TEST_CASE("lowerings are tried file by file, what includes before what is included") {
  const std::filesystem::path folder = std::filesystem::path(ENTANGLE_BINARY_DIR) / "rules_order_test";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::trunc) << text;
    return (folder / name).string();
  };
  const std::string library = write("library.rules",
                                    "op library(x: tensor): elementwise; op own(x: tensor): elementwise;\n"
                                    "lower fw.f(x: tensor; n: int): library(library(x)) when n == 0;\n"
                                    "lower fw.g(x: tensor): library(x);\n"
                                    "lower fw.f(x: tensor; n: int): library(x);\n");
  const std::string first = write("first.rules",
                                  "lower fw.f(x: tensor; n: int): own(x) when n == 1;\n"
                                  "include \"library.rules\";\n"
                                  "lower fw.f(x: tensor; n: int): own(own(x)) when n == 2;\n");
  const std::string second =
      write("second.rules", "include \"library.rules\"; lower fw.f(x: tensor; n: int): own(own(own(x)));");
  const auto bodies = [](const std::vector<std::string>& paths, const std::string& op) {
    const Loaded loaded = load_rules(paths, {});
    REQUIRE(loaded.ok());
    std::vector<std::string> result;
    for (const std::size_t index : loaded.rules->lowerings_of(op))
      result.push_back(to_string(loaded.rules->lowerings()[index].body));
    return result;
  };
  using Texts = std::vector<std::string>;
  CHECK(bodies({library}, "fw.f") == Texts{"library(library(x))", "library(x)"});
  CHECK(bodies({first}, "fw.f") == Texts{"own(x)", "own(own(x))", "library(library(x))", "library(x)"});
  CHECK(bodies({first}, "fw.g") == Texts{"library(x)"});
  CHECK(bodies({first, second}, "fw.f") ==
        Texts{"own(own(own(x)))", "own(x)", "own(own(x))", "library(library(x))", "library(x)"});
}

TEST_CASE("a file that is not there") {
  const Loaded loaded = load_rules({"/nowhere/x.rules"}, {});
  CHECK(!loaded.ok());
  REQUIRE(loaded.diagnostics.size() == 1);
  CHECK(loaded.diagnostics[0].id == "rules/include");
  CHECK(loaded.diagnostics[0].message == "cannot read /nowhere/x.rules: No such file or directory");
}

TEST_CASE("an empty text and one with a byte-order mark and other characters in comments and strings") {
  CHECK(rules_of("")->operators().empty());
  CHECK(rules_of("// only a comment")->operators().empty());
  const auto rules = rules_of(
      "\xef\xbb\xbf// \xc3\xa9\nop f(x: tensor): elementwise, commutative { because \"\xc3\xa9t\xc3\xa9 "
      "\\\"x\\\"\"; }");
  CHECK(rules->operators()[0].because == "\xc3\xa9t\xc3\xa9 \"x\"");
}

// What is reported of a text beside the library: the place and the message of each.
std::vector<std::string> reported(const std::string& text) {
  std::vector<std::string> result;
  for (const support::Diagnostic& one :
       load_rules_text("input.rules", text, {std::string(ENTANGLE_SOURCE_DIR) + "/rules"}).diagnostics) {
    result.push_back(std::to_string(one.span.line) + ": " + one.message +
                     (one.suggestion.empty() ? "" : " (" + one.suggestion + ")"));
  }
  return result;
}

TEST_CASE("one mistake is one error") {
  const std::string op = "op half(x: tensor): free {\n  require rank(x) == 2;\n  shape [x.shape[0]];\n}\n";
  const std::string uses =
      "def pair_of(x: tensor) = add_n(half(x), half(scale(x; 2)));\n"
      "lemma l(x: tensor): half(scale(x; 2)) => scale(half(x); 2);\n";
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = "include \"core.rules\";\n" + op + uses;
    REQUIRE(text.find(from) != std::string::npos);
    return reported(text.replace(text.find(from), from.size(), to));
  };
  CHECK(changed("free", "free").empty());
  // Of what is broken nothing else is said: neither of the file that is not there, nor of what is not
  // declared.
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"include", "inclde"},
                                                        {"core.rules", "cor.rules"},
                                                        {"core.rules\"", "core.rules"},
                                                        {"include", "/* include"},
                                                        {"free {", "free"},
                                                        {"require", "requires"},
                                                        {"shape ", "shap "},
                                                        {"op half", "operator half"},
                                                        {"half(x: tensor)", "half(x: tnsor)"}}) {
    INFO(to);
    CHECK(changed(from, to).size() == 1);
  }
  // A library file that is not included is named once.
  CHECK(
      reported(op + uses) ==
      std::vector<std::string>{"5: unknown operator `add_n` (`add_n` is declared in core.rules: add `include "
                               "\"core.rules\";`)"});
}

TEST_CASE("hints for what is written in another way") {
  const auto only = [](const std::string& text) {
    const std::vector<std::string> all = reported("include \"core.rules\";\n" + text);
    REQUIRE(all.size() == 1);
    return all[0];
  };
  CHECK(only("lemma l(x: tensor): exp(x) = x;")
            .ends_with("(the two sides of a lemma are separated by `=>` or `==`)"));
  CHECK(only("lemma l(x: tensor, k: int): exp(x) => x when k = 1;").ends_with("or a definition)"));
  CHECK(only("lemma l(x: tensor, c: scalar): scale(x; c) => x if c == 1;")
            .ends_with("(the condition of a lemma follows `when`)"));
  CHECK(only("op f(x: tensor) { maps all(k < rank(x)): k -> x.k; }")
            .ends_with("(the result's axis stands first: `k <- x.k`)"));
  CHECK(only("lower f.f(x: tensor): let y = exp(x) (y, y);").ends_with("(`let name = value in expression`)"));
  CHECK(only("lower f.f(x: tensor; eps: scalar = none): scale(x; eps);") ==
        "2: `eps` cannot be None: its type is `scalar` (a parameter that may be None has a type with a "
        "question "
        "mark: `eps: scalar? = none`)");
  CHECK(only("op f(x: tensor) { shape []; value i => max(k < 2: x); }") ==
        "2: `max` is of numbers, this is a tensor (an element of it is `x[i]`)");
}

}  // namespace entangle::rules
