// The program's operator new and delete: no two objects overlap, whoever frees them, and what is freed is
// used again.

#include "cli/memory.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

// An object of a size, full of a byte that says which it is.
class Filled {
 public:
  Filled(std::size_t size, unsigned char byte) : size_(size), byte_(byte), memory_(::operator new(size)) {
    std::memset(memory_, byte_, size_);
  }
  Filled(Filled&& other) noexcept
      : size_(other.size_), byte_(other.byte_), memory_(std::exchange(other.memory_, nullptr)) {}
  Filled& operator=(Filled&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(byte_, other.byte_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Filled() {
    // Both ways to give it back.
    if (byte_ % 2 == 0) {
      ::operator delete(memory_, size_);
    } else {
      ::operator delete(memory_);
    }
  }
  bool whole() const {
    const auto* bytes = static_cast<const unsigned char*>(memory_);
    for (std::size_t k = 0; k < size_; ++k) {
      if (bytes[k] != byte_) return false;
    }
    return reinterpret_cast<std::uintptr_t>(memory_) % alignof(std::max_align_t) == 0;
  }

 private:
  std::size_t size_;
  unsigned char byte_;
  void* memory_;
};

std::size_t random_size(std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      return random() % 20000;  // the system's
    case 1:
      return 1008 + random() % 32;  // on the border
    default:
      return random() % 200;
  }
}

long peak_kilobytes() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("objects of all sizes do not overlap") {
  entangle::cli::keep_memory();
  std::mt19937 random(3);
  std::vector<Filled> all;
  std::size_t broken = 0;
  for (int step = 0; step < 200000; ++step) {
    if (all.size() < 3000 || random() % 2 == 0) {
      all.emplace_back(random_size(random), static_cast<unsigned char>(random()));
    } else {
      std::swap(all[random() % all.size()], all.back());
      broken += all.back().whole() ? 0 : 1;
      all.pop_back();
    }
  }
  for (const Filled& one : all) broken += one.whole() ? 0 : 1;
  CHECK(broken == 0);
}

TEST_CASE("objects that other threads free") {
  std::mutex mutex;
  std::vector<Filled> exchange;
  std::size_t broken = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 300; ++round) {
        std::vector<Filled> mine;
        for (int k = 0; k < 100; ++k) {
          mine.emplace_back(random_size(random), static_cast<unsigned char>(random()));
        }
        const std::lock_guard lock(mutex);
        for (Filled& one : exchange) broken += one.whole() ? 0 : 1;
        exchange.swap(mine);  // those of another thread are freed here
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Filled& one : exchange) broken += one.whole() ? 0 : 1;
  CHECK(broken == 0);
}

TEST_CASE("what threads leave is used again") {
  const auto work = [] {
    // Of one thread for another: what is freed where it was not made must not pile up.
    std::vector<std::unique_ptr<std::string>> made;
    std::thread([&] {
      for (int k = 0; k < 20000; ++k) made.push_back(std::make_unique<std::string>(60, 'x'));
    }).join();
  };
  for (int k = 0; k < 5; ++k) work();
  const long before = peak_kilobytes();
  for (int k = 0; k < 100; ++k) work();
  CHECK(peak_kilobytes() - before < 8000);
}

TEST_CASE("no memory is an exception") {
  CHECK_THROWS_AS(static_cast<void>(::operator new (~std::size_t{0} / 4)), std::bad_alloc);
  CHECK(::operator new (~std::size_t{0} / 4, std::nothrow) == nullptr);
}
