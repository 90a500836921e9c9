// Declarations of one kind, in order, most of which nobody will ask for: a library has hundreds of lemmas and
// lowerings, a program uses a few dozen. They are kept as bytes (bytes.h), and each is decoded when it is
// first asked for; of all of them there is a head, which says what must be known to tell whether it will be.
// Copies share what has been decoded. Safe to share between threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entangle/support/diagnostic.h"

namespace entangle::rules {

// A declaration of a kind from its bytes, which are known to be whole; spans are places in `files`.
template <class T>
T read_declaration(std::string_view bytes, const std::vector<support::FileId>& files);

template <class T, class H>
class DeclarationList {
 public:
  using Head = H;
  // The bytes of the declaration with an index.
  using Bytes = std::function<std::string(std::size_t)>;
  // What is done to a declaration that has been decoded.
  using Finish = std::function<void(T&)>;

  DeclarationList() = default;
  // `owner` keeps what the heads point into; `files` are those of the rule set, in order.
  DeclarationList(std::vector<Head> heads, Bytes bytes, std::shared_ptr<const void> owner,
                  std::vector<support::FileId> files, Finish finish = {})
      : heads_(std::move(heads)),
        cells_(std::make_shared<std::vector<Cell>>(heads_.size())),
        bytes_(std::move(bytes)),
        owner_(std::move(owner)),
        files_(std::move(files)),
        finish_(std::move(finish)) {}

  std::size_t size() const { return heads_.size(); }
  bool empty() const { return heads_.empty(); }
  const std::vector<support::FileId>& files() const { return files_; }
  const Head& head(std::size_t index) const { return heads_[index]; }
  std::string bytes(std::size_t index) const { return bytes_(index); }
  const T& operator[](std::size_t index) const {
    std::atomic<const T*>& value = (*cells_)[index].value;
    const T* known = value.load(std::memory_order_acquire);
    return known != nullptr ? *known : decode(index, value);
  }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size() - 1]; }

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const DeclarationList& all, std::size_t index) : all_(&all), index_(index) {}
    const T& operator*() const { return (*all_)[index_]; }
    const T* operator->() const { return &**this; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return {*all_, index_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const DeclarationList* all_ = nullptr;
    std::size_t index_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  struct Cell {
    Cell() = default;
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;
    ~Cell() { delete value.load(std::memory_order_relaxed); }
    std::atomic<const T*> value = nullptr;
  };

  // Of several threads that decode the same one the first is believed.
  const T& decode(std::size_t index, std::atomic<const T*>& value) const {
    auto made = std::make_unique<T>(read_declaration<T>(bytes_(index), files_));
    if (finish_) finish_(*made);
    const T* known = nullptr;
    if (!value.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *known;
    return *made.release();
  }

  std::vector<Head> heads_;
  std::shared_ptr<std::vector<Cell>> cells_;
  Bytes bytes_;
  std::shared_ptr<const void> owner_;
  std::vector<support::FileId> files_;
  Finish finish_;
};

}  // namespace entangle::rules
