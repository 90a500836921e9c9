#include <doctest/doctest.h>

#include <thread>

#include "entangle/tensor/attr.h"
#include "entangle/tensor/type.h"

namespace entangle::tensor {

using sym::Int;
using sym::Scalar;

TEST_CASE("dtypes are read and written") {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8, DType::i64,
                            DType::i32, DType::i16, DType::i8, DType::u8, DType::b8}) {
    CHECK(parse_dtype(to_string(dtype)) == dtype);
  }
  CHECK(to_string(DType::bf16) == "bf16");
  CHECK(parse_dtype("bool") == DType::b8);
  CHECK(!parse_dtype("float32"));
  CHECK(!parse_dtype(""));
}

TEST_CASE("kinds of dtypes") {
  CHECK(is_float(DType::f8));
  CHECK(!is_wide_float(DType::f8));
  CHECK(is_wide_float(DType::bf16));
  CHECK(is_integer(DType::u8));
  CHECK(!is_integer(DType::b8));
  CHECK(!is_integer(DType::f8));
  CHECK(!is_float(DType::b8));
}

TEST_CASE("types are compared and written") {
  const TensorType type{{2, Int::symbol("s0")}, DType::f32};
  CHECK(to_string(type) == "f32[2, s0]");
  CHECK(to_string(TensorType{{}, DType::b8}) == "b8[]");
  CHECK(type.rank() == 2);
  CHECK(type == TensorType{{2, Int::symbol("s0")}, DType::f32});
  CHECK(type != TensorType{{2, Int::symbol("s1")}, DType::f32});
  CHECK(type != TensorType{{2, Int::symbol("s0")}, DType::f16});
}

TEST_CASE("attributes hold what they were given") {
  CHECK(Attr().is_none());
  CHECK(Attr::of(true).as_bool());
  CHECK(!Attr::of(false).as_bool());
  CHECK(Attr::of(3).kind() == Attr::Kind::integer);
  CHECK(Attr::of(3).as_int() == Int(3));
  CHECK(Attr::of(std::size_t{1}).kind() == Attr::Kind::integer);
  CHECK(Attr::of(Int::symbol("s0") + 1).as_int() == Int::symbol("s0") + 1);
  CHECK(Attr::of(Scalar::ratio(1, 8)).as_scalar() == Scalar::ratio(1, 8));
  CHECK(Attr::of(DType::f16).as_dtype() == DType::f16);
  CHECK(Attr::name("sum").as_name() == "sum");
  const std::vector<Int> sizes = {2, 300};
  const Attr list = Attr::ints(sizes);
  REQUIRE(list.as_list().size() == 2);
  CHECK(list.as_list()[1] == Attr::of(300));
  CHECK_THROWS_AS(static_cast<void>(list.as_int()), support::InternalError);
  CHECK_THROWS_AS(static_cast<void>(Attr().as_name()), support::InternalError);
}

TEST_CASE("equal attributes are the same, and hash alike") {
  const auto make = [] {
    const std::vector<Attr> inner = {Attr::name("sum"), Attr::of(-1)};
    const std::vector<Attr> outer = {Attr::list(inner), Attr::of(Int::symbol("s0")), Attr()};
    return Attr::list(outer);
  };
  CHECK(make() == make());
  CHECK(make().hash() == make().hash());
  CHECK(Attr::of(1) != Attr::of(Scalar(1)));
  CHECK(Attr::of(1) != Attr::of(true));
  CHECK(Attr::of(0) != Attr::of(false));
  CHECK(Attr::list({}) != Attr());
  CHECK(Attr::name("f32") != Attr::of(DType::f32));
}

TEST_CASE("the order of attributes is by content") {
  const std::vector<Attr> short_list = {Attr::of(1)};
  const std::vector<Attr> long_list = {Attr::of(1), Attr()};
  const std::vector<Attr> later_list = {Attr::of(2)};
  const std::vector<Attr> ascending = {Attr(),
                                       Attr::of(false),
                                       Attr::of(true),
                                       Attr::of(-5),
                                       Attr::of(2),
                                       Attr::of(1000),
                                       Attr::of(Scalar::ratio(1, 3)),
                                       Attr::of(Scalar::ratio(1, 2)),
                                       Attr::of(DType::f64),
                                       Attr::of(DType::b8),
                                       Attr::name("a"),
                                       Attr::name("b"),
                                       Attr::list({}),
                                       Attr::list(short_list),
                                       Attr::list(long_list),
                                       Attr::list(later_list)};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      CAPTURE(i);
      CAPTURE(j);
      CHECK(compare(ascending[i], ascending[j]) == (i < j ? -1 : i > j ? 1 : 0));
    }
  }
}

TEST_CASE("attributes are written as in the rule language") {
  const std::vector<Attr> entries = {Attr::of(0), Attr::of(Scalar::ratio(1, 8)), Attr::of(DType::f32)};
  CHECK(to_string(Attr::list(entries)) == "[0, 1/8, f32]");
  CHECK(to_string(Attr()) == "none");
  CHECK(to_string(Attr::of(true)) == "true");
  CHECK(to_string(Attr::name("sum")) == "sum");
  CHECK(to_string(Attr::name("odd name")) == "\"odd name\"");
  CHECK(to_string(Attr::name("a\"b\\")) == "\"a\\\"b\\\\\"");
  CHECK(to_string(Attr::name("")) == "\"\"");
  CHECK(to_string(Attr::name("f32")) == "\"f32\"");
  CHECK(to_string(Attr::name("none")) == "\"none\"");
  CHECK(to_string(Attr::of(Scalar::infinity(true))) == "-inf");
}

TEST_CASE("the table of attributes may be used by many threads") {
  std::vector<std::vector<Attr>> made(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < made.size(); ++t) {
    threads.emplace_back([&made, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::vector<Attr> entries = {Attr::of(i), Attr::name(std::to_string(i % 7))};
        made[t].push_back(Attr::list(entries));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& attrs : made) CHECK(attrs == made[0]);
}

}  // namespace entangle::tensor
