#include "entangle/support/parallel.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using entangle::support::for_each_index;

TEST_CASE("every index once, whatever the number") {
  for (const std::size_t count : {0, 1, 2, 7, 1000}) {
    std::vector<int> calls(count, 0);
    for_each_index(count, [&](std::size_t k) { ++calls[k]; });
    CHECK(calls == std::vector<int>(count, 1));
  }
}

TEST_CASE("of several exceptions the first by number; the rest of the work is done") {
  std::vector<int> calls(50, 0);
  std::string what;
  try {
    for_each_index(calls.size(), [&](std::size_t k) {
      ++calls[k];
      if (k == 31 || k == 8 || k == 40) throw std::runtime_error(std::to_string(k));
    });
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  CHECK(what == "8");
  CHECK(calls == std::vector<int>(50, 1));
}
