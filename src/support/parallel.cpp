#include "entangle/support/parallel.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace entangle::support {
namespace {

class Helpers {
 public:
  // Never destroyed: helpers may wait on it while the process ends.
  static Helpers& all() {
    static Helpers* const helpers = new Helpers;
    return *helpers;
  }

  void run(std::size_t count, const std::function<void()>& work) {
    Job job{&work};
    {
      const std::lock_guard lock(mutex_);
      start(count);
      waiting_.insert(waiting_.end(), count, &job);
    }
    count == 1 ? wake_.notify_one() : wake_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    std::erase(waiting_, &job);
    ended_.wait(lock, [&] { return job.running == 0; });
  }

  void discard(std::shared_ptr<void> value) {
    {
      const std::lock_guard lock(mutex_);
      start(1);
      if (helpers_ == 0) return;  // it ends here
      discarded_.push_back(std::move(value));
    }
    wake_.notify_one();
  }

 private:
  // Until what is discarded is looked after: most processes have ended by then.
  static constexpr std::chrono::milliseconds kIdle{200};

  struct Job {
    const std::function<void()>* work;
    std::size_t running = 0;  // helpers
  };

  // So that there are so many, if the system lets us.
  void start(std::size_t count) {
    try {
      for (; helpers_ < std::min(count, most_helpers()); ++helpers_) std::thread([this] { help(); }).detach();
    } catch (const std::system_error&) {
      // Those that there are do it.
    }
  }

  [[noreturn]] void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto is_asked = [&] { return !waiting_.empty(); };
      if (discarded_.empty()) {
        wake_.wait(lock, [&] { return is_asked() || !discarded_.empty(); });
      }
      if (!is_asked() && !wake_.wait_for(lock, kIdle, is_asked)) {
        std::vector<std::shared_ptr<void>> values = std::exchange(discarded_, {});
        lock.unlock();
        values.clear();
        lock.lock();
        continue;
      }
      Job& job = *waiting_.front();
      waiting_.pop_front();
      ++job.running;
      lock.unlock();
      (*job.work)();
      lock.lock();
      if (--job.running == 0) ended_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  std::deque<Job*> waiting_;  // once for each helper that may take part
  std::vector<std::shared_ptr<void>> discarded_;
  std::size_t helpers_ = 0;
};

}  // namespace

std::size_t most_helpers() {
  static const std::size_t most = std::max(1U, std::thread::hardware_concurrency()) - 1;
  return most;
}

void run_with_helpers(std::size_t helpers, const std::function<void()>& work) {
  if (helpers == 0) {
    work();
  } else {
    Helpers::all().run(helpers, work);
  }
}

WorkAhead::WorkAhead(std::size_t count, std::size_t threads, std::function<void(std::size_t)> work)
    : work_(std::move(work)), pieces_(count) {
  const std::size_t wanted = std::min(count, std::max<std::size_t>(threads, 1));
  threads_.reserve(wanted);
  while (threads_.size() < wanted) {
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;
      return;  // those that there are do it
    }
  }
}

WorkAhead::~WorkAhead() {
  {
    const std::lock_guard lock(mutex_);
    next_ = pieces_.size();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool WorkAhead::wait_for(std::size_t piece, std::chrono::seconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [&] { return pieces_[piece].ended; });
}

void WorkAhead::wait(std::size_t piece) {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return pieces_[piece].ended; });
  if (pieces_[piece].thrown) std::rethrow_exception(pieces_[piece].thrown);
}

void WorkAhead::run() {
  std::unique_lock lock(mutex_);
  while (next_ < pieces_.size()) {
    const std::size_t mine = next_++;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      work_(mine);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    pieces_[mine] = {true, thrown};
    ended_.notify_one();
  }
}

void discard(std::shared_ptr<void> value) {
  if (most_helpers() > 0) Helpers::all().discard(std::move(value));
}

}  // namespace entangle::support
