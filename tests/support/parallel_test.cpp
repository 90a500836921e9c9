#include "entangle/support/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using entangle::support::for_each_index;
using entangle::support::WorkAhead;

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

TEST_CASE("work inside of work, and from several threads at once") {
  std::atomic<std::size_t> calls = 0;
  const auto many = [&] {
    for (int round = 0; round < 50; ++round) {
      for_each_index(5, [&](std::size_t) { for_each_index(7, [&](std::size_t) { ++calls; }); });
    }
  };
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back(many);
  for (std::thread& thread : threads) thread.join();
  CHECK(calls == 4U * 50 * 5 * 7);
}

TEST_CASE("an exception inside of work inside of work") {
  CHECK_THROWS_WITH(for_each_index(3,
                                   [](std::size_t) {
                                     for_each_index(4, [](std::size_t k) {
                                       if (k == 2) throw std::runtime_error("inside");
                                     });
                                   }),
                    "inside");
}

TEST_CASE("what is discarded ends in time, and work goes on meanwhile") {
  struct Counted {
    std::atomic<int>& alive;
    explicit Counted(std::atomic<int>& count) : alive(count) { ++alive; }
    ~Counted() { --alive; }
  };
  static std::atomic<int> alive = 0;
  for (int k = 0; k < 10; ++k) entangle::support::discard(std::make_shared<Counted>(alive));
  std::atomic<int> calls = 0;
  for_each_index(100, [&](std::size_t) { ++calls; });
  CHECK(calls == 100);
  for (int wait = 0; wait < 1000 && alive > 0; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(alive == 0);
}

TEST_CASE("work ahead: every piece once, its result there when it has been waited for") {
  for (const std::size_t threads : {0, 1, 3, 100}) {
    std::vector<int> results(20, 0);
    WorkAhead ahead(results.size(), threads, [&](std::size_t k) { results[k] += static_cast<int>(k) + 1; });
    for (std::size_t k = 0; k < results.size(); ++k) {
      ahead.wait(k);
      CHECK(ahead.wait_for(k, std::chrono::seconds(0)));
      CHECK(results[k] == static_cast<int>(k) + 1);
    }
  }
  const WorkAhead nothing(0, 4, [](std::size_t) { FAIL("there is no piece"); });
}

TEST_CASE("work ahead: what a piece throws is thrown where it is waited for; the others go on") {
  std::vector<int> results(10, 0);
  WorkAhead ahead(results.size(), 2, [&](std::size_t k) {
    if (k == 3) throw std::runtime_error("piece 3");
    results[k] = 1;
  });
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (k == 3) {
      CHECK_THROWS_WITH(ahead.wait(k), "piece 3");
    } else {
      ahead.wait(k);
      CHECK(results[k] == 1);
    }
  }
}

TEST_CASE("work ahead: nothing is begun once it ends") {
  std::atomic<int> begun = 0;
  {
    WorkAhead ahead(1000, 1, [&](std::size_t) {
      ++begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
    ahead.wait(0);
  }
  const int at_end = begun;
  CHECK(at_end < 1000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(begun == at_end);
}
