#include "cli/memory.h"

#include <cstdlib>  // tells whether there is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ENTANGLE_OWN_MEMORY
#endif

#ifdef ENTANGLE_OWN_MEMORY
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#endif

namespace entangle::cli {

// Local problems come and go: memory given back to the system each time would be asked for again at once.
void keep_memory() {
#ifdef __GLIBC__
  constexpr int kKept = 256 << 20;
  constexpr int kStep = 4 << 20;
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_TOP_PAD, kStep);
  mallopt(M_MMAP_THRESHOLD, kKept);
#endif
}

}  // namespace entangle::cli

#ifdef ENTANGLE_OWN_MEMORY

namespace {

// Blocks are multiples of kUnit up to kLargest; those of one size are cut from chunks of one region of
// addresses, so that an address tells whose it is. What does not fit, in size or because the region cannot be
// had or is used up, is the system's.
constexpr std::size_t kUnit = 16;
constexpr std::size_t kLargest = 1024;
constexpr std::size_t kSizes = kLargest / kUnit;
constexpr std::size_t kChunk = std::size_t{8} << 10;
constexpr std::size_t kRegion = std::size_t{16} << 30;
constexpr std::size_t kChunks = kRegion / kChunk;
// The system is asked for so many chunks at a time: a page that is touched by surprise costs more.
constexpr std::size_t kTogether = 32;
// A thread that has so many free blocks of a size leaves them to others.
constexpr std::uint32_t kMostFree = 4096;

struct Block {
  Block* next;
  Block* next_list;  // of the first of a list that is left to others
};
static_assert(sizeof(Block) <= kUnit);

struct Bin {
  Block* free = nullptr;
  std::uint32_t count = 0;     // of the free ones
  std::byte* begin = nullptr;  // what was never used of a chunk
  std::byte* end = nullptr;
};

constinit thread_local std::array<Bin, kSizes> bins;

struct Shared {
  std::mutex mutex;
  std::array<Block*, kSizes> lists{};  // of free blocks that belong to no thread
  std::size_t chunks = 0;              // that are in use
};
constinit Shared shared;
constinit std::atomic<std::byte*> region = nullptr;
constinit std::array<std::uint8_t, kChunks> size_of_chunk{};

std::size_t size_class(std::size_t size) {
  return size == 0 ? 0 : (size - 1) / kUnit;
}

bool is_ours(const void* memory) {
  const auto* start = region.load(std::memory_order_relaxed);
  return static_cast<std::size_t>(static_cast<const std::byte*>(memory) - start) < kRegion &&
         start != nullptr;
}

void leave(std::size_t at) {
  Bin& bin = bins[at];
  if (bin.free == nullptr) return;
  const std::lock_guard lock(shared.mutex);
  bin.free->next_list = shared.lists[at];
  shared.lists[at] = bin.free;
  bin.free = nullptr;
  bin.count = 0;
}

// What a thread has left when it ends is for others.
struct AtExit {
  ~AtExit() {
    for (std::size_t at = 0; at < kSizes; ++at) {
      Bin& bin = bins[at];
      for (; bin.begin != bin.end; bin.begin += (at + 1) * kUnit) {
        bin.free = new (bin.begin) Block{bin.free, nullptr};
      }
      leave(at);
    }
  }
  bool used = false;
};
thread_local AtExit at_exit;

// Gives the bin free blocks of others, or a chunk; false: there is none.
bool refill(std::size_t at) {
  at_exit.used = true;  // from here on it is known that the thread has blocks
  Bin& bin = bins[at];
  const std::lock_guard lock(shared.mutex);
  if (Block* list = shared.lists[at]; list != nullptr) {
    shared.lists[at] = list->next_list;
    bin.free = list;
    bin.count = 0;  // not known, and no more than kMostFree
    return true;
  }
  std::byte* start = region.load(std::memory_order_relaxed);
  if (shared.chunks == 0) {
    void* mapped =
        ::mmap(nullptr, kRegion, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      shared.chunks = kChunks;
      return false;
    }
    start = static_cast<std::byte*>(mapped);
    region.store(start, std::memory_order_relaxed);
  }
  if (shared.chunks == kChunks) return false;
  std::byte* chunk = start + shared.chunks * kChunk;
#ifdef MADV_POPULATE_WRITE
  if (shared.chunks % kTogether == 0) ::madvise(chunk, kTogether * kChunk, MADV_POPULATE_WRITE);
#endif
  size_of_chunk[shared.chunks++] = static_cast<std::uint8_t>(at);
  bin.begin = chunk;
  bin.end = chunk + kChunk / ((at + 1) * kUnit) * ((at + 1) * kUnit);
  return true;
}

void* from_system(std::size_t size) {
  for (;;) {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

[[gnu::noinline]] void* allocate_slowly(std::size_t size) {
  const std::size_t at = size_class(size);
  Bin& bin = bins[at];
  if (bin.begin == bin.end && !refill(at)) return from_system(size);
  if (Block* block = bin.free; block != nullptr) {
    bin.free = block->next;
    return block;
  }
  std::byte* block = bin.begin;
  bin.begin += (at + 1) * kUnit;
  return block;
}

inline void give_back(void* memory, std::size_t at) {
  Bin& bin = bins[at];
  auto* block = static_cast<Block*>(memory);
  block->next = bin.free;
  bin.free = block;
  if (++bin.count >= kMostFree) leave(at);
}

}  // namespace

void* operator new(std::size_t size) {
  if (size > kLargest) return from_system(size);
  Bin& bin = bins[size_class(size)];
  Block* block = bin.free;
  if (block == nullptr) return allocate_slowly(size);
  bin.free = block->next;
  bin.count -= bin.count > 0 ? 1 : 0;
  return block;
}

void operator delete(void* memory) noexcept {
  if (is_ours(memory)) {
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(memory) - region.load());
    give_back(memory, size_of_chunk[offset / kChunk]);
  } else {
    std::free(memory);
  }
}

void operator delete(void* memory, std::size_t size) noexcept {
  if (is_ours(memory)) {
    give_back(memory, size_class(size));
  } else {
    std::free(memory);
  }
}

#endif
