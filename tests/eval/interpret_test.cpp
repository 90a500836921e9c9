#include "entangle/eval/interpret.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "entangle/support/diagnostic.h"

namespace entangle::eval {
namespace {

using tensor::Attr;
using tensor::DType;

// Terms over the operators of the library, and of some more.
struct World {
  explicit World(const std::string& more = "")
      : loaded(rules::load_rules_text("test.rules", "include \"core.rules\";\n" + more,
                                      {std::string(ENTANGLE_SOURCE_DIR) + "/rules"})) {
    for (const auto& diagnostic : loaded.diagnostics) MESSAGE(support::render(diagnostic));
    REQUIRE(loaded.ok());
    typing = std::make_unique<term::Typing>(*loaded.rules, oracle);
    terms = std::make_unique<Terms>(*typing);
    interpreter = std::make_unique<Interpreter>(*terms);
  }

  TermId leaf(std::vector<std::int64_t> shape, const std::vector<long>& elements, DType dtype = DType::f32) {
    const TermId id = terms->fresh({{shape.begin(), shape.end()}, dtype}, "x");
    Array array{std::move(shape), {}};
    for (const long element : elements) array.elements.emplace_back(element);
    interpreter->set(id, std::move(array));
    return id;
  }
  static Attr ints(const std::vector<std::int64_t>& values) {
    return Attr::ints(std::vector<sym::Int>(values.begin(), values.end()));
  }
  TermId make(const std::string& op, const std::vector<Attr>& attrs, const std::vector<TermId>& children) {
    const TermId id = terms->make(loaded.rules->find_op(op), Attr::list(attrs), children);
    REQUIRE_MESSAGE(id != kNoTerm, op);
    return id;
  }
  std::string value(TermId id) {
    const Array* array = interpreter->value(id);
    return array == nullptr ? "undefined: " + interpreter->why() : to_string(*array);
  }

  rules::Loaded loaded;
  smt::Oracle oracle;
  std::unique_ptr<term::Typing> typing;
  std::unique_ptr<Terms> terms;
  std::unique_ptr<Interpreter> interpreter;
};

Attr n(std::int64_t value) {
  return Attr::of(sym::Int(value));
}
Attr c(std::int64_t over, std::int64_t under = 1) {
  return Attr::of(sym::Scalar::ratio(over, under));
}

TEST_CASE("layout") {
  World w;
  const TermId x = w.leaf({2, 3}, {1, 2, 3, 4, 5, 6});
  const TermId y = w.leaf({2, 1}, {7, 8});
  CHECK(w.value(w.make("concat", {n(1)}, {x, y})) == "[[1, 2, 3, 7], [4, 5, 6, 8]]");
  CHECK(w.value(w.make("slice", {n(1), n(1), n(3)}, {x})) == "[[2, 3], [5, 6]]");
  CHECK(w.value(w.make("transpose", {World::ints({1, 0})}, {x})) == "[[1, 4], [2, 5], [3, 6]]");
  CHECK(w.value(w.make("merge", {n(0)}, {x})) == "[1, 2, 3, 4, 5, 6]");
  CHECK(w.value(w.make("split", {n(1), n(3)}, {x})) == "[[[1, 2, 3]], [[4, 5, 6]]]");
  CHECK(w.value(w.make("bcast", {World::ints({1}), World::ints({2})}, {w.make("squeeze", {n(1)}, {y})})) ==
        "[[7, 7], [8, 8]]");
  CHECK(w.value(w.make("flip", {n(1)}, {x})) == "[[3, 2, 1], [6, 5, 4]]");
  CHECK(w.value(w.make("stride", {n(1), n(2)}, {x})) == "[[1, 3], [4, 6]]");
  CHECK(w.value(w.make("iota", {n(3), n(3), Attr::of(DType::i64)}, {})) == "[3, 4, 5]");
  CHECK(w.value(w.make("lit", {Attr::list(std::vector<Attr>{c(1, 2), c(3)}), Attr::of(DType::f32)}, {})) ==
        "[1/2, 3]");
}

TEST_CASE("arithmetic is exact") {
  World w;
  const TermId x = w.leaf({3}, {1, 2, -3});
  const TermId y = w.leaf({3}, {2, 2, 0});
  CHECK(w.value(w.make("scale", {c(1, 3)}, {w.make("add_n", {}, {x, y})})) == "[1, 4/3, -1]");
  CHECK(w.value(w.make("mul", {}, {x, x, y})) == "[2, 8, 0]");
  CHECK(w.value(w.make("max_n", {}, {x, y})) == "[2, 2, 0]");
  CHECK(w.value(w.make("pow", {c(-1)}, {w.leaf({3}, {4, -1, 0})})) == "[1/4, -1, 0]");
  CHECK(w.value(w.make("exp", {}, {x})) == "[2, 4, 1/8]");
  CHECK(w.value(w.make("log", {}, {w.make("exp", {}, {x})})) == "[1, 2, -3]");
  CHECK(w.value(w.make("log", {}, {x})) == "undefined: log(-3) is not rational");
  CHECK(w.value(w.make("ge", {}, {x, y})) == "[0, 1, 0]");
  CHECK(w.value(w.make("where", {}, {w.make("eq", {}, {x, y}), x, y})) == "[2, 2, 0]");
}

TEST_CASE("an unknown function is a function") {
  World w;
  const Attr how = Attr::name("tanh");
  const TermId x = w.leaf({4}, {1, 2, 1, 2});
  const Array* value = w.interpreter->value(w.make("gelu", {how}, {x}));
  REQUIRE(value != nullptr);
  CHECK(value->elements[0] == value->elements[2]);
  CHECK(value->elements[1] == value->elements[3]);
}

TEST_CASE("casts") {
  World w;
  const TermId m = w.leaf({2}, {0, 1}, DType::b8);
  CHECK(w.value(w.make("cast", {Attr::of(DType::f32)}, {m})) == "[0, 1]");
  CHECK(w.value(w.make("cast", {Attr::of(DType::b8)}, {w.leaf({3}, {0, 5, -1})})) == "[0, 1, 1]");
  const TermId half = w.make("scale", {c(1, 2)}, {w.leaf({2}, {3, -3})});
  CHECK(w.value(w.make("cast", {Attr::of(DType::i64)}, {half})) == "[1, -1]");
  CHECK(w.value(w.make("cast", {Attr::of(DType::bf16)}, {half})) == "[3/2, -3/2]");
}

TEST_CASE("reductions, contractions, look-ups") {
  World w;
  const TermId x = w.leaf({2, 3}, {1, 2, 3, 6, 5, 6});
  CHECK(w.value(w.make("reduce_sum", {n(1)}, {x})) == "[6, 17]");
  CHECK(w.value(w.make("reduce_max", {n(0)}, {x})) == "[6, 5, 6]");
  CHECK(w.value(w.make("argmax", {n(1)}, {x})) == "[2, 0]");
  CHECK(w.value(w.make("cumsum", {n(1)}, {x})) == "[[1, 3, 6], [6, 11, 17]]");
  const TermId y = w.leaf({3, 2}, {1, 0, 0, 1, 1, 1});
  CHECK(w.value(w.make("contract", {n(0), n(1)}, {x, y})) == "[[4, 5], [12, 11]]");
  CHECK(w.value(w.make("contract", {n(0), n(2)}, {x, x})) == "111");
  const TermId at = w.leaf({4}, {1, -1, 0, 2}, DType::i64);
  CHECK(w.value(w.make("take", {n(0)}, {x, at})) == "[[6, 5, 6], [0, 0, 0], [1, 2, 3], [0, 0, 0]]");
  const TermId z = w.leaf({4}, {1, 2, 3, 4});
  CHECK(w.value(w.make("put_add", {n(0), n(3)}, {z, at})) == "[3, 1, 4]");
  const TermId row = w.leaf({1, 3}, {7, 8, 9});
  CHECK(w.value(w.make("write_rows", {n(0)}, {x, row, w.leaf({1}, {1}, DType::i64)})) ==
        "[[1, 2, 3], [7, 8, 9]]");
}

TEST_CASE("an operator without value depends on what its clauses say") {
  World w;
  const TermId x = w.leaf({2, 2}, {1, 2, 3, 4});
  const TermId y = w.leaf({2, 2}, {1, 2, 5, 4});
  const Array* first = w.interpreter->value(w.make("reduce_product", {n(1)}, {x}));
  const Array* second = w.interpreter->value(w.make("reduce_product", {n(1)}, {y}));
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first->elements[0] == second->elements[0]);
}

TEST_CASE("what is not known is undefined") {
  World w;
  const TermId x = w.terms->fresh({{2}, DType::f32}, "nobody");
  CHECK(w.value(w.make("exp", {}, {x})) == "undefined: nothing is said of nobody");
  CHECK(w.value(w.make("exp", {}, {w.make("scale", {c(1, 2)}, {w.leaf({1}, {1})})})) ==
        "undefined: exp(1/2) is not rational");
}

TEST_CASE("an element that does not exist, or is too large, is undefined") {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  World w(R"(
op glue(xs: tensor*; to: dtype): free { shape [2]; dtype to; value i => block(xs, 0, i); }
op times(; n: int, to: dtype): free { shape [2]; dtype to; value i => n * (i[0] + 2); }
op quotient(; n: int, k: int, to: dtype): free { shape [2]; dtype to; value i => n / k; }
op divided(; n: int, k: int, to: dtype): free { shape [2]; dtype to; value i => if divides(k, n) then 1 else 0; }
)");
  const Attr f32 = Attr::of(DType::f32);
  CHECK(w.value(w.make("glue", {f32}, {w.leaf({1}, {3}), w.leaf({1}, {4})})) == "[3, 4]");
  CHECK(w.value(w.make("glue", {f32}, {})) == "undefined: `block(xs, 0, i)` is undefined (of glue, at [0])");
  CHECK(w.value(w.make("glue", {f32}, {w.leaf({}, {3})})) ==
        "undefined: `block(xs, 0, i)` is undefined (of glue, at [0])");
  CHECK(w.value(w.make("times", {n(3), f32}, {})) == "[6, 9]");
  CHECK(w.value(w.make("times", {n(kLeast), f32}, {})) == "undefined: a number that is too large");
  CHECK(w.value(w.make("quotient", {n(-6), n(-3), f32}, {})) == "[2, 2]");
  CHECK(w.value(w.make("quotient", {n(kLeast), n(-1), f32}, {})) ==
        "undefined: an inexact division (of quotient, at [0])");
  CHECK(w.value(w.make("divided", {n(-6), n(-3), f32}, {})) == "[1, 1]");
  CHECK(w.value(w.make("divided", {n(-6), n(4), f32}, {})) == "[0, 0]");
  CHECK(w.value(w.make("divided", {n(0), n(0), f32}, {})) == "[1, 1]");
  CHECK(w.value(w.make("divided", {n(kLeast), n(-1), f32}, {})) == "undefined: a number that is too large");
}

}  // namespace
}  // namespace entangle::eval
