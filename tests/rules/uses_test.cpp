// Definitions in the places of their uses: whether uses share a body or each has its own, lowerings are the
// same.
#include "rules/uses.h"

#include <algorithm>
#include <map>

#include "entangle/rules/bytes.h"
#include "entangle/support/paths.h"
#include "helpers.h"
#include "rules/load.h"

using namespace entangle;
using namespace entangle::rules;

namespace {

// An expression without names and types: variables are numbered in the order in which they are met.
class Form {
 public:
  std::string of(const Expr& expr) {
    if (expr.kind == ExprKind::variable) return "v" + std::to_string(number(expr.slot));
    if (expr.kind == ExprKind::literal) return to_string(expr);
    std::string result = "(" + std::to_string(static_cast<int>(expr.kind)) + "," +
                         std::to_string(static_cast<int>(expr.operation)) + "," +
                         std::to_string(static_cast<int>(expr.builtin)) + "," + std::to_string(expr.op);
    if (expr.kind == ExprKind::let) result += " " + of(expr.args[0]);  // before the name of it
    for (const Slot binder : expr.binders) result += " b" + std::to_string(number(binder));
    for (std::size_t k = expr.kind == ExprKind::let ? 1 : 0; k < expr.args.size(); ++k) {
      const Expr& arg = expr.args[k];
      // The same, if the operator is applied to what a list holds.
      if (arg.kind == ExprKind::star && arg.args[0].kind == ExprKind::list) {
        for (const Expr& entry : arg.args[0].args) result += " " + of(entry);
      } else {
        result += " " + of(arg);
      }
    }
    for (const Expr& attr : expr.attrs) result += " ;" + of(attr);
    return result + ")";
  }

 private:
  std::size_t number(Slot slot) { return numbers_.emplace(slot, numbers_.size()).first->second; }
  std::map<Slot, std::size_t> numbers_;
};

std::string form_of(const Lowering& lowering) {
  Form form;
  std::string result = lowering.condition ? form.of(*lowering.condition) : "";
  return result + " => " + form.of(lowering.body);
}

bool has_use(const Expr& expr) {
  return expr.kind == ExprKind::use || std::ranges::any_of(expr.args, has_use) ||
         std::ranges::any_of(expr.attrs, has_use);
}

// Every variable is one of the lowering's, with its name.
void check_variables(const Lowering& lowering) {
  const auto check = [&](const Expr& expr, const auto& self) -> void {
    if (expr.kind == ExprKind::variable) {
      REQUIRE(expr.slot < lowering.slots.size());
      CHECK(expr.name == lowering.slots[expr.slot].name);
    }
    for (std::size_t k = 0; k < expr.binders.size(); ++k) {
      REQUIRE(expr.binders[k] < lowering.slots.size());
      CHECK(expr.binder_names[k] == lowering.slots[expr.binders[k]].name);
    }
    for (const Expr& arg : expr.args) self(arg, self);
    for (const Expr& attr : expr.attrs) self(attr, self);
  };
  check(lowering.body, check);
}

}  // namespace

TEST_CASE("lowerings of the whole library are the same, whether uses of definitions share bodies or not") {
  const std::vector<std::string> folders = support::rule_folders();
  const std::vector<std::string> paths = {folders.front() + "/aten.rules"};
  const auto shared = load_rules(paths, folders, Bodies::shared);
  const auto anew = load_rules(paths, folders, Bodies::anew);
  REQUIRE(shared != nullptr);
  REQUIRE(anew != nullptr);
  REQUIRE(shared->lowerings().size() == anew->lowerings().size());
  std::size_t bytes_shared = 0;
  std::size_t bytes_anew = 0;
  for (std::size_t k = 0; k < anew->lowerings().size(); ++k) {
    const Lowering& one = shared->lowerings()[k];
    const Lowering& other = anew->lowerings()[k];
    INFO(one.op);
    CHECK(form_of(one) == form_of(other));
    CHECK(!has_use(one.body));
    CHECK(shared->lowerings().head(k).random == anew->lowerings().head(k).random);
    check_variables(one);
    bytes_shared += shared->lowerings().bytes(k).size();
    bytes_anew += anew->lowerings().bytes(k).size();
  }
  MESSAGE(bytes_shared, " and ", bytes_anew, " bytes");
  CHECK(2 * bytes_shared < bytes_anew);
}

namespace {

// The text of the only lowering, and whether what is kept of it is a use.
struct One {
  std::string text;
  bool shared = false;
};

One lowering_of(const std::string& declarations) {
  const Loaded loaded = load_rules_text("uses.rules", kOperators + declarations, {});
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) MESSAGE(support::render(diagnostic));
  REQUIRE(loaded.ok());
  REQUIRE(loaded.rules->lowerings().size() == 1);
  Lowering kept = read_declaration<Lowering>(loaded.rules->lowerings().bytes(0), loaded.rules->files());
  return {to_string(loaded.rules->lowerings()[0].body), has_use(kept.body)};
}

void check_use(const std::string& declarations, const std::string& text, bool shared) {
  CAPTURE(declarations);
  const One one = lowering_of(declarations);
  CHECK(one.text == text);
  CHECK(one.shared == shared);
}

}  // namespace

TEST_CASE("a use of a definition is its body, with the arguments in the places of the parameters") {
  const std::string twice = "def twice(x: tensor; c: scalar) = scale(scale(x; c); c);\n";
  check_use(twice + "lower a(x: tensor, c: scalar): twice(x; c);", "scale(scale(x; c); c)", true);
  check_use(twice + "lower a(x: tensor): twice(x; 2);", "scale(scale(x; 2); 2)", true);
  check_use(twice + "lower a(y: tensor): twice(exp(y); -2);", "scale(scale(exp(y); -2); -2)", true);
  SUBCASE("what is needed more than once is computed once, under a name of its own") {
    check_use(twice + "lower a(x: tensor, c: scalar): twice(x; c + 1);",
              "let c_1 = c + 1 in scale(scale(x; c_1); c_1)", true);
    check_use("def sum_of(x: tensor) = add_n(x, x); lower a(x: tensor): sum_of(exp(x));",
              "let x_1 = exp(x) in add_n(x_1, x_1)", true);
    check_use("def sum_of(x: tensor) = add_n(x, x); lower a(x: tensor): sum_of(sum_of(exp(x)));",
              "let x_2 = let x_1 = exp(x) in add_n(x_1, x_1) in add_n(x_2, x_2)", true);
  }
  SUBCASE("what a body binds hides nothing of the user's") {
    check_use(
        "def shifted(x: tensor; k: int) = let y = slice(x; 0, k, k + 1) in add_n(y, x);\n"
        "lower a(y: tensor, k: int): shifted(y; k);",
        "let y_1 = slice(y; 0, k, k + 1) in add_n(y_1, y)", true);
    check_use(
        "def total(ks: int*) = sum(k + len([j for j in ks if j < k]) for k in ks);\n"
        "lower a(x: tensor, k: int): slice(x; 0, total([k]), k);",
        "slice(x; 0, let ks = [k] in sum(k_1 + len([j for j in ks if j < k_1]) for k_1 in ks), k)", true);
  }
  SUBCASE("definitions in definitions, with values for parameters that are left out") {
    check_use(
        "def down(x: tensor; c: scalar = 1/2) = scale(x; -c);\n"
        "def both(x: tensor, y: tensor) = add_n(down(x), down(y; 3));\n"
        "lower a(x: tensor): both(x, exp(x));",
        "add_n(scale(x; -1/2), scale(exp(x); -3))", true);
  }
  SUBCASE("conditions") {
    const Loaded loaded = load_rules_text("uses.rules",
                                          kOperators +
                                              "def small(x: tensor; n: int) = rank(x) < n and n < 9;\n"
                                              "lower a(x: tensor) when small(x; 3): exp(x);",
                                          {});
    REQUIRE(loaded.ok());
    CHECK(to_string(*loaded.rules->lowerings()[0].condition) == "rank(x) < 3 and 3 < 9");
  }
}

TEST_CASE("a body that says something else for these arguments is not shared") {
  SUBCASE("it is looked into") {
    check_use(
        "def halves(x: tensor) = [slice(x; 0, 0, 1), slice(x; 0, 1, 2)];\n"
        "lower a(x: tensor): add_n(halves(x));",
        "add_n(slice(x; 0, 0, 1), slice(x; 0, 1, 2))", false);
    check_use("def number() = 3; lower a(x: tensor): scale(x; 1 / number());", "scale(x; 1/3)", false);
  }
  SUBCASE("a quotient of literals is a number") {
    check_use("def part(x: tensor; k: int, n: int) = scale(x; k / n); lower a(x: tensor): part(x; 1, 8);",
              "scale(x; 1/8)", false);
  }
  SUBCASE("none, and parameters of any type") {
    check_use(
        "def maybe(x: tensor; ks: int*?) = if is_none(ks) then x else add_n(x, x);\n"
        "lower a(x: tensor): maybe(x; none);",
        "if is_none(none) then x else add_n(x, x)", false);
    check_use("def any_of(x: any) = if is_tensor(x) then x else x; lower a(x: tensor): any_of(x);",
              "if is_tensor(x) then x else x", false);
  }
  SUBCASE("where there are errors each use is looked into") {
    const Loaded loaded =
        load_rules_text("uses.rules",
                        kOperators +
                            "def twice(x: tensor; c: scalar) = scale(scale(x; c); c);\n"
                            "lower a(x: tensor): twice(x; 2);\nlower b(x: tensor): twice(x; x);\n",
                        {});
    REQUIRE(loaded.diagnostics.size() == 1);
    CHECK(loaded.diagnostics[0].id == "rules/type");
    CHECK(loaded.rules == nullptr);
  }
}

TEST_CASE("what a shared body draws makes the lowering random") {
  const std::string declarations =
      "op toss(x: tensor): random { } def tossed(x: tensor) = add_n(x, toss(x));\n"
      "def twice(x: tensor) = tossed(tossed(x)); lower a(x: tensor): twice(x); lower b(x: tensor): exp(x);";
  const Loaded loaded = load_rules_text("uses.rules", kOperators + declarations, {});
  for (const support::Diagnostic& diagnostic : loaded.diagnostics) MESSAGE(support::render(diagnostic));
  REQUIRE(loaded.ok());
  CHECK(loaded.rules->lowerings().head(0).random);
  CHECK(loaded.rules->lowerings()[0].random);
  CHECK(!loaded.rules->lowerings().head(1).random);
}

TEST_CASE("chains of definitions of any length, whatever their order") {
  const auto chain = [](int length, const std::string& arguments) {
    std::string text;
    for (int k = 0; k < length; ++k) {
      text += "def f" + std::to_string(k) + "(x: tensor) = f" + std::to_string(k + 1) + arguments + ";\n";
    }
    return text + "def f" + std::to_string(length) + "(x: tensor) = exp(x); lower a(x: tensor): f0(x);";
  };
  check_use(chain(1500, "(x)"), "exp(x)", true);
  // Putting them in order must not need a stack that is as deep.
  const Loaded loaded = load_rules_text("uses.rules", kOperators + chain(100000, "(x, x)"), {});
  CHECK(loaded.rules == nullptr);
  CHECK(loaded.diagnostics.size() == 100000);
  CHECK(loaded.diagnostics[0].id == "rules/arity");
}
