// Expressions of manifests.
#include "helpers.h"

namespace entangle::rules {
namespace {

struct Row {
  const char* written;
  const char* printed;
};

const Row kRows[] = {
    {"r0.x", "r0.x"},
    {"tokens", "tokens"},
    {"r12.layers.0.wq", "r12.layers.0.wq"},
    {"layers.0.1.wq", "layers.0.1.wq"},
    {"r0.b.1e5.and.3.2d.in", "r0.b.1e5.and.3.2d.in"},
    {"r0.\"custom-call.18\"", "r0.\"custom-call.18\""},
    {"r0.\"plain\"", "r0.plain"},
    {"concat(r0.x, r1.x; 0)", "concat(r0.x, r1.x; 0)"},
    {"concat([r0.x, r1.x], dim=0)", "concat(r0.x, r1.x; 0)"},
    {"concat(r0.x, slice(r1.w, dim = 1, start = 0, end = 4); dim = 1)",
     "concat(r0.x, slice(r1.w; 1, 0, 4); 1)"},
    {"sum(r0.x, r1.x)", "add_n(r0.x, r1.x)"},
    {"add_n(r0.x, add_n(r1.x, r2.x))", "add_n(r0.x, add_n(r1.x, r2.x))"},
    {"scale(transpose(r0.x; [1, 0]); 1/8)", "scale(transpose(r0.x; [1, 0]); 1/8)"},
    {"slice(r0.x; 0, 0, 2*s0)", "slice(r0.x; 0, 0, 2 * s0)"},
    {"slice(r0.x; 0, 0, r0.s0 / 2)", "slice(r0.x; 0, 0, r0.s0 / 2)"},
    {"slice(r0.shape; 0, 0, r0.w.shape[1])", "slice(r0.shape; 0, 0, r0.w.shape[1])"},
    {"reduce(cast(r0.x; f32); 0, sum)", "reduce(cast(r0.x; f32); 0, sum)"},
    {"merge( r0.x ; 0 )", "merge(r0.x; 0)"},
};

struct Wrong {
  const char* written;
  const char* id;
  std::uint32_t column;
};

const Wrong kWrong[] = {
    {"concat(r0.x, r1.x)", "rules/attribute", 1},
    {"concta(r0.x; 0)", "rules/unknown-operator", 1},
    {"slice(r0.x; dim=0, begins=1)", "rules/unknown-attribute", 20},
    {"concat(r0.x, 3; 0)", "rules/number-as-tensor", 14},
    {"concat(r0.x,, r1.x; 0)", "rules/syntax", 13},
    {"concat(r0.x; 0", "rules/syntax", 15},
    {"", "rules/syntax", 1},
    {"r0.x r1.x", "rules/syntax", 6},
    {"concat(_, r0.x; 0)", "rules/not-here", 8},
    {"f(.., r0.x, ..)", "rules/generic", 1},
    {"\"", "rules/syntax", 1},
};

}  // namespace

TEST_CASE("expressions of manifests") {
  const auto rules = rules_of(kOperators);
  for (const Row& row : kRows) {
    CAPTURE(row.written);
    const support::Result<Expr> expr = parse_leaf_expression(*rules, support::kNoFile, row.written, {});
    if (!expr) {
      FAIL_CHECK(support::render(expr.error()));
      continue;
    }
    CHECK(to_string(*expr) == row.printed);
    const support::Result<Expr> again = parse_leaf_expression(*rules, support::kNoFile, to_string(*expr), {});
    REQUIRE(again.ok());
    CHECK(same(*expr, *again));
  }
}

TEST_CASE("leaves are variables without slot, by their name without quotes") {
  const auto rules = rules_of(kOperators);
  const support::Result<Expr> expr =
      parse_leaf_expression(*rules, support::kNoFile, "slice(r0.\"odd \\\"name\\\"\"; 0, s1, 4)", {});
  REQUIRE(expr.ok());
  const Expr& leaf = expr->args[0];
  CHECK(leaf.kind == ExprKind::variable);
  CHECK(leaf.slot == kNoSlot);
  CHECK(leaf.name == "r0.odd \"name\"");
  CHECK(leaf.type.base == Base::tensor);
  CHECK(to_string(leaf) == "r0.\"odd \\\"name\\\"\"");
  const Expr& symbol = expr->attrs[1];
  CHECK(symbol.kind == ExprKind::variable);
  CHECK(symbol.name == "s1");
  CHECK(symbol.type.base == Base::integer);
}

TEST_CASE("errors of manifests point into the manifest") {
  const auto rules = rules_of(kOperators);
  for (const Wrong& wrong : kWrong) {
    CAPTURE(wrong.written);
    const support::FileId file =
        support::add_source("m.yaml", "a: 1\nx: " + std::string(wrong.written) + "\n");
    const support::Result<Expr> expr =
        parse_leaf_expression(*rules, file, wrong.written, support::Span{file, 2, 4, 1});
    REQUIRE(!expr.ok());
    CHECK(expr.error().id == wrong.id);
    CHECK(expr.error().span.file == file);
    CHECK(expr.error().span.line == 2);
    CHECK(expr.error().span.column == wrong.column + 3);
  }
}

}  // namespace entangle::rules
