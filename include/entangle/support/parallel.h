// Independent pieces of work on several threads: on as many as the machine has (for_each_index, by helpers
// that are made when they are first needed and wait for more work until the process ends: nobody waits for
// their end), or on threads of its own that the caller keeps pace with (WorkAhead).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace entangle::support {

// How many helpers there may be.
std::size_t most_helpers();

// Does the work, which must not throw, on this thread and on up to so many helpers that are idle. Returns
// when all that began have ended.
void run_with_helpers(std::size_t helpers, const std::function<void()>& work);

// Ends the life of a value when a helper has had nothing else to do for a while, or not at all, where the
// process ends before.
void discard(std::shared_ptr<void> value);

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
  if (count > 1) {
    run_with_helpers(std::min(count - 1, most_helpers()), run);
  } else {
    run();
  }
  for (const std::exception_ptr& exception : thrown) {
    if (exception) {
      std::rethrow_exception(exception);
    }
  }
}

// work(0), …, work(count - 1), begun in this order on threads of their own while the caller takes the results
// one by one. All member functions are for the thread that made it.
class WorkAhead {
 public:
  // At least one thread, and no more than there are pieces.
  WorkAhead(std::size_t count, std::size_t threads, std::function<void(std::size_t)> work);
  // Begins no further piece, and waits for those that were begun.
  ~WorkAhead();
  WorkAhead(const WorkAhead&) = delete;
  WorkAhead& operator=(const WorkAhead&) = delete;

  // Waits no longer than that: whether it has ended.
  bool wait_for(std::size_t piece, std::chrono::seconds time);
  // Until the piece has ended; what it threw is thrown again.
  void wait(std::size_t piece);

 private:
  struct Piece {
    bool ended = false;
    std::exception_ptr thrown;
  };
  void run();

  const std::function<void(std::size_t)> work_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace entangle::support
