// Independent pieces of work on as many threads as the machine has.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace entangle::support {

// Calls work(0), …, work(count - 1), each once and in no particular order, and returns when all have ended.
// What one throws is thrown again, of several the one with the smallest number; the others still run.
template <class Work>
void for_each_index(std::size_t count, const Work& work) {
  std::vector<std::exception_ptr> thrown(count);
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t k = next++; k < count; k = next++) {
      try {
        work(k);
      } catch (...) {
        thrown[k] = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> helpers;
  const std::size_t threads = std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t k = 1; k < threads; ++k) {
    helpers.emplace_back(run);
  }
  run();
  helpers.clear();
  for (const std::exception_ptr& exception : thrown) {
    if (exception) {
      std::rethrow_exception(exception);
    }
  }
}

}  // namespace entangle::support
