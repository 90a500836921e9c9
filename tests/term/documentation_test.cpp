// The examples in the table of built-in functions in docs/rule-language.md are true.
#include <fstream>
#include <regex>

#include "fixture.h"

namespace entangle::term::test {

namespace {

struct Example {
  std::string expression, value;
};

// Those that say what comes out: `expression` is `value`.
std::vector<Example> examples() {
  std::ifstream stream(std::string(ENTANGLE_SOURCE_DIR) + "/docs/rule-language.md");
  const std::regex row("^\\| `.*\\| `([^`]*)` is `([^`]*)` \\|$");
  std::vector<Example> result;
  std::smatch parts;
  for (std::string line; std::getline(stream, line);) {
    if (std::regex_match(line, parts, row)) result.push_back({parts[1], parts[2]});
  }
  return result;
}

}  // namespace

TEST_CASE("the examples of built-in functions in the documentation") {
  const std::vector<Example> all = examples();
  CHECK(all.size() > 30);
  std::string text;
  for (std::size_t k = 0; k < all.size(); ++k) {
    text += "lower example" + std::to_string(k) + "(x: tensor, xs: tensor+, l: int*): probe(; [" +
            all[k].expression + "]);\n";
  }
  World world(text);
  const Value x(Term{world.leaf("x", {4, 6})});
  const Value xs(
      std::vector<Value>{Value(Term{world.leaf("x0", {2, 6})}), Value(Term{world.leaf("x1", {3, 6})})});
  for (std::size_t k = 0; k < all.size(); ++k) {
    CAPTURE(all[k].expression);
    CHECK(world.run("example" + std::to_string(k), {x, xs, Value(numbers({4, 5, 6}))}) ==
          "[" + all[k].value + "]");
  }
}

}  // namespace entangle::term::test
