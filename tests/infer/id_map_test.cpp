#include "infer/id_map.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace entangle::infer {

TEST_CASE("maps from a pool hold what was put into them, and nothing of those before") {
  IdPool pool;
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    IdMap one(pool);
    IdMap other(pool);
    std::map<term::TermId, std::uint32_t> expected_one, expected_other;
    for (int k = 0; k < 100; ++k) {
      const term::TermId id = random() % (20U << (round % 5));
      const std::uint32_t value = random() % 1000;
      const bool to_one = random() % 2 == 0;
      std::map<term::TermId, std::uint32_t>& expected = to_one ? expected_one : expected_other;
      const auto [entry, fresh] = (to_one ? one : other).emplace(id, value);
      const auto [known, added] = expected.emplace(id, value);
      CHECK(fresh == added);
      CHECK(*entry == known->second);
    }
    CHECK(one.size() == expected_one.size());
    CHECK(other.size() == expected_other.size());
    for (term::TermId id = 0; id < 700; ++id) {
      const std::uint32_t* found = one.find(id);
      REQUIRE(one.contains(id) == expected_one.contains(id));
      REQUIRE(other.contains(id) == expected_other.contains(id));
      CHECK((found == nullptr || *found == expected_one.at(id)));
    }
  }
}

TEST_CASE("sets from a pool") {
  IdPool pool;
  for (int round = 0; round < 3; ++round) {
    IdSet set(pool);
    CHECK(set.insert(5));
    CHECK_FALSE(set.insert(5));
    CHECK(set.insert(1000));
    CHECK(set.contains(1000));
    CHECK_FALSE(set.contains(999));
    CHECK_FALSE(set.contains(1000000));
  }
}

}  // namespace entangle::infer
